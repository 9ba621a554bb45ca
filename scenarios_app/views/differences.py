"""What differs between two contents of a scenario, as its pages show it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from scenarios_app.diffing import Diff, diff_texts
from scenarios_app.forms.editor import Editor, open_editor
from scenarios_app.models import Scenario
from scenarios_app.presentation import pretty_json
from scenarios_app.spec.merging import merge_documents
from scenarios_app.spec.numbers import number_of

Parts = list[tuple[str, Diff]]


def scenario_parts(old: dict[str, Any], new: dict[str, Any]) -> Parts:
    """What the caller says and everything else, each compared by its lines."""
    return [
        ("The caller says", diff_texts(_speech(old), _speech(new))),
        ("Everything else", diff_texts(_without_speech(old), _without_speech(new))),
    ]


def _speech(content: dict[str, Any]) -> str:
    given = content.get("input")
    text = given.get("text") if isinstance(given, dict) else None
    return text if isinstance(text, str) else ""


def _without_speech(content: dict[str, Any]) -> str:
    given = content.get("input")
    if not isinstance(given, dict):
        return pretty_json(content, sort_keys=True)
    spoken = {key: value for key, value in given.items() if key != "text"}
    return pretty_json({**content, "input": spoken}, sort_keys=True)


def told_meanwhile(scenario: Scenario, document: dict[str, Any], since: int | None) -> dict[str, Any]:
    """What somebody else changed since version `since`, and what saving `document` would change of it."""
    begun, newest = scenario.versions.filter(number=since or 0).first(), scenario.versions.newest_first()[0]
    theirs = scenario_parts(begun.content, newest.content) if begun else []
    mine = scenario_parts(newest.content, document) if document else []  # empty: JSON that cannot be read
    return {
        "theirs": theirs,
        "mine": mine,
        "since": since,
        "begun": begun,
        "newest": newest,
        "yours": {"number": "yours"},
    }


def bring_in(editor: Editor, scenario: Scenario, since: int | None) -> tuple[Editor, dict[str, Any]]:
    """The document with what others saved after version `since`, and what the page says of it."""
    begun, newest = scenario.versions.filter(number=since or 0).first(), scenario.latest
    if editor.unread or begun is None or newest is None:
        return editor, {}
    merge = merge_documents(begun.content, editor.document, newest.content)
    brought = open_editor(editor.form_class, merge.document, as_json=editor.view == "json")
    return brought, {"number": newest.number, "conflicts": merge.conflicts, "merged": True}


def since_of(request: HttpRequest) -> int | None:
    """The version that what was sent began on, also after a save was held back."""
    return number_of(request.POST.get("since") or request.POST.get("number", ""))
