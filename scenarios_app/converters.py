"""How a name travels in a URL: any name fits, and none is taken for one of our own words."""

from __future__ import annotations

import re

# first words of our own paths below /scenarios/, /suites/, /applications/ and /configurations/
OUR_WORDS = frozenset({"new", "import", "export", "validate", "understood", "chosen", "replace", "table", "discard"})


def _escaped(character: str) -> str:
    return f"~{ord(character):02X}"


class NameConverter:
    """One path segment. A slash, a tilde and a leading dot are written as ~2F, ~7E and ~2E: a server decodes %2F
    before it splits the path, and browsers swallow "..". Everything else is left to percent-encoding.
    """

    regex = "[^/]+"

    def to_url(self, value: str) -> str:
        text = re.sub(r"[~/]", lambda match: _escaped(match[0]), value)
        if text.startswith(".") or text in OUR_WORDS:
            text = _escaped(text[0]) + text[1:]
        return text

    def to_python(self, value: str) -> str:
        return re.sub(r"~([0-9A-F]{2})", lambda match: chr(int(match[1], 16)), value)
