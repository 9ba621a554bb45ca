"""Whether what pages load is where it is served from: in production that is a copy, which `collectstatic` makes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured

HINT = "Run `manage.py collectstatic --no-input` after each installation and update."


def not_collected() -> list[str]:
    """Files of this version that STATIC_ROOT has not, or has in another size; none where no copy is served."""
    if settings.WHITENOISE_USE_FINDERS:
        return []
    root, wrong = Path(settings.STATIC_ROOT), []
    for finder in get_finders():
        for name, storage in finder.list(ignore_patterns=None):
            copy = root / name
            if not copy.is_file() or copy.stat().st_size != storage.size(name):
                wrong.append(name)
    return sorted(wrong)


def _message(wrong: Sequence[str]) -> str:
    return f"{len(wrong)} static files are missing or old in {settings.STATIC_ROOT}, {wrong[0]} among them."


def check(app_configs: Any, **more: Any) -> list[CheckMessage]:
    """For `manage.py check --deploy`."""
    wrong = not_collected()
    return [Error(_message(wrong), hint=HINT, id="soundcheck.E001")] if wrong else []


def refuse_if_missing() -> None:
    """Raises ImproperlyConfigured: a site without its styles and scripts had better not start."""
    wrong = not_collected()
    if wrong:
        raise ImproperlyConfigured(f"{_message(wrong)} {HINT}")
