"""The rule of a suite: which scenarios belong to it by their tags."""

from __future__ import annotations

from collections.abc import Iterator

from scenarios_app.spec.contract import Contract, Text, parse
from scenarios_app.spec.errors import Problem
from scenarios_app.spec.jsontext import Json


class SuiteRule(Contract):
    """All of the tags of `all`, and none of those of `none`. A rule without tags holds nothing."""

    all: tuple[Text, ...] = ()
    none: tuple[Text, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.all or self.none)


def parse_rule(value: Json) -> SuiteRule:
    """Raises SpecError, its paths `all` and `none`."""
    return parse(SuiteRule, value, _problems)


def _problems(rule: SuiteRule) -> Iterator[Problem]:
    wanted = {tag.casefold() for tag in rule.all}
    for tag in rule.none:
        if tag.casefold() in wanted:
            yield Problem("none", f'"{tag}" is among the tags that a scenario must have')
