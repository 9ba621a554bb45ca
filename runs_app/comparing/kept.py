"""Rows of the table as they were drawn, kept in the process: most looks at a comparison are at one that is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings

from runs_app.comparing.page import Page

MOST_KEPT: Final = 8  # of 100 rows: a megabyte each at 20 configurations
_kept: dict[tuple[object, ...], str] = {}


def kept_rows(page: Page, address: str, draw: Callable[[], str]) -> str:
    """What `draw` makes, by runs that are over, configurations and the query of the address. It must not depend on
    anything else: neither on who looks, nor on reviews, known failures, decisions or prices. An open row is drawn
    each time, as it shows more."""
    if not page.loaded.key or page.choice.opened or settings.DEBUG:  # under DEBUG templates change while it runs
        return draw()
    key = (*page.loaded.key, address)
    if (rows := _kept.get(key)) is None:
        _kept[key] = rows = draw()
        while len(_kept) > MOST_KEPT:
            _kept.pop(next(iter(list(_kept))), None)
    return rows
