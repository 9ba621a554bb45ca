"""The few kinds of input that the editors use. Text is never stripped: what a field shows is what comes back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms


def line(label: str, help_text: str = "", **attrs: Any) -> forms.CharField:
    widget = forms.TextInput(attrs={"dir": "auto", "autocomplete": "off", **attrs})
    return forms.CharField(label=label, help_text=help_text, required=False, strip=False, widget=widget)


def code_line(label: str, help_text: str = "", **attrs: Any) -> forms.CharField:
    return line(label, help_text, dir="ltr", spellcheck="false", **{"class": "mono", **attrs})


def prose(label: str, help_text: str = "", rows: int = 3, **attrs: Any) -> forms.CharField:
    widget = forms.Textarea(attrs={"dir": "auto", "rows": rows, **attrs})
    return forms.CharField(label=label, help_text=help_text, required=False, strip=False, widget=widget)


def code(label: str, help_text: str = "", rows: int = 4, **attrs: Any) -> forms.CharField:
    """Several lines of JSON."""
    return prose(label, help_text, rows, dir="ltr", spellcheck="false", **{"class": "mono code", **attrs})


def choice(label: str, options: Iterable[tuple[str, str]], help_text: str = "") -> forms.CharField:
    """A list to choose from. The contract judges the value, so that a stored one outside the list is kept and shown."""
    widget = OpenSelect(choices=list(options))
    return forms.CharField(label=label, help_text=help_text, required=False, widget=widget)


def flag(label: str, help_text: str = "") -> forms.CharField:
    widget = forms.CheckboxInput(check_test=bool)
    return forms.CharField(label=label, help_text=help_text, required=False, widget=widget)


def hidden() -> forms.CharField:
    return forms.CharField(required=False, strip=False, widget=forms.HiddenInput())


class OpenSelect(forms.Select):
    """A select that also offers the value it was given, so that opening and saving a form changes nothing."""

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> list[Any]:
        known = {str(option) for option, _ in self.choices}
        extra = [(given, given) for given in value if given and given not in known]
        if extra:
            self.choices = [*self.choices, *extra]
        return super().optgroups(name, value, attrs)
