"""Forms that say what a service refused, at the field that can mend it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from django import forms

from scenarios_app.spec.errors import Problem, by_field


class RefusableForm(forms.Form):
    """`mended_by`: what else problems name, and the field that can mend it."""

    mended_by: ClassVar[Mapping[str, str]] = {}

    def refuse(self, problems: Iterable[Problem]) -> None:
        for name, words in by_field(problems, [*self.fields, *self.mended_by]).items():
            for word in words:
                self.add_error(self.mended_by.get(name, name) or None, f"{word[:1].upper()}{word[1:]}.")
