"""What those who run applications know about them, asked before one is stored.

They register themselves: nothing of this app may import them.
"""

from __future__ import annotations

from collections.abc import Callable

from scenarios_app.spec.application import Application
from scenarios_app.spec.errors import Problem

Check = Callable[[Application], list[Problem]]

_errors: list[Check] = []
_warnings: list[Check] = []


def register(*, errors: Check, warnings: Check) -> None:
    """`errors` are what nobody could run; `warnings` what this site cannot run as it is set up now."""
    _errors.append(errors)
    _warnings.append(warnings)


def errors_in(application: Application) -> list[Problem]:
    return [problem for check in _errors for problem in check(application)]


def warnings_about(application: Application) -> list[Problem]:
    return [problem for check in _warnings for problem in check(application)]
