"""What a scenario is found by: text folded once, when it is saved, so that any database finds it alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any


def folded(text: str) -> str:
    """Text for comparing: full width, case and composed accents make no difference. SQLite alone folds ASCII only."""
    return unicodedata.normalize("NFKC", text).casefold()


def search_text(content: Mapping[str, Any]) -> str:
    """One line each for id, title, what the caller says, the expected answer, owner, notes, source and tags."""
    spoken = content.get("input", {}).get("text", "")
    answer = content.get("expected", {}).get("answer", "")
    parts = [content.get("id"), content.get("title"), spoken, answer]
    parts += [content.get("owner"), content.get("notes"), content.get("source"), *content.get("tags", [])]
    return "\n".join(folded(part) for part in parts if isinstance(part, str))


def tag_text(tags: Iterable[str]) -> str:
    """Every tag between line breaks, so that "cat" does not find "catering"."""
    lines = [folded(tag) for tag in tags]
    return "\n" + "\n".join(lines) + "\n" if lines else ""
