"""Reading pages in tests: what the editor holds, as a browser would send it back."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from django.test import Client

TYPED = "/scenarios/validate/"


class _Inputs(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self._name = ""
        self._text = ""
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name") or ""
        if tag == "input" and name and given.get("type") in ("checkbox", "radio"):
            if "checked" in given:
                self.values[name] = given.get("value") or "on"
        elif tag == "input" and name:
            self.values[name] = given.get("value") or ""
        elif tag == "textarea":
            self._name, self._text = name, ""
        elif tag == "select":
            self._select = name
            self.values.setdefault(name, "")
        elif tag == "option" and self._select and "selected" in given:
            self.values[self._select] = given.get("value") or ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            text = self._text.replace("\r\n", "\n").replace("\r", "\n")  # as a browser reads a page
            self.values[self._name] = text.removeprefix("\n").replace("\n", "\r\n")
        elif tag == "select":
            self._select = ""


def inputs(response: Any) -> dict[str, str]:
    """Every named input of the page with its value, line ends as a browser sends them."""
    parser = _Inputs()
    parser.feed(response.content.decode())
    return parser.values


def typed(browser: Client, page: Any, **changes: str) -> str:
    """The answer to what a browser sends while somebody types into that page."""
    return browser.post(TYPED, {**inputs(page), "autosave": "1", **changes}).content.decode()
