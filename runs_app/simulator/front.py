"""A voice that hands its work on without having the tools: which errands there are, its instructions tell.

"To book a table you need the guest name, the date and the time." is an errand: the voice asks for what is missing and
refuses strangers by itself, as the clerk does with a tool, and hands on what is left to do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from runs_app.simulator import clerk, replies
from runs_app.simulator.clerk import Call, Decision, Say
from runs_app.simulator.lines import Answered, Called, Line, Said
from runs_app.simulator.smalltalk import is_question
from runs_app.simulator.wire import Json

DELEGATE = "delegate"
_BLOCK = re.compile(r"```.*?```", re.DOTALL)
_ERRAND = re.compile(r"\bto ([a-z][^.,;:\n]{2,60}?),? (?:you|we|I) need ([^.;:\n]{3,200})", re.IGNORECASE)
_BETWEEN = re.compile(r",? and |, ")
_EMPTY_WORDS = frozenset({"a", "an", "the", "his", "her", "its", "their", "your", "for", "of", "somebody", "someone"})
OWN_WORDS = {replies.GREETING, replies.WELCOME, replies.GOODBYE, replies.LEFT_ALONE, replies.NOT_CAUGHT}
NEEDS_HELP = {replies.UNKNOWN_FACT, replies.NOT_UNDERSTOOD}


def errands(instructions: str) -> list[Json]:
    """Each as a function tool with what it needs as required parameters."""
    found = []
    for errand, needs in _ERRAND.findall(_BLOCK.sub("", instructions)):
        names = [name for part in _BETWEEN.split(needs) if (name := _name(part))]
        schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}
        found.append({"type": "function", "name": _name(errand), "parameters": schema})
    return found


def _name(words: str) -> str:
    kept = [word for word in re.findall(r"[a-z]+", re.sub(r"['’]s\b", "", words.lower())) if word not in _EMPTY_WORDS]
    return "_".join(kept)


def needs_help(text: str | None, decision: Decision, *, knows_errands: bool) -> bool:
    """Whether what the voice would say by itself is no answer."""
    words = {one.text for one in decision.outputs if isinstance(one, Say)}
    if any(isinstance(one, Call) for one in decision.outputs) or words & NEEDS_HELP:
        return bool(text)
    return bool(text) and not knows_errands and not (is_question(text or "") or words <= OWN_WORDS)


def decide(
    *,
    instructions: str,
    tools: list[dict[str, Json]],
    tool_choice: Json,
    lines: Sequence[Line],
    forgetful: bool = False,
    all_at_once: bool = False,
) -> Decision:
    """As the clerk does; but a voice whose only tool for a task is `delegate` calls that, and repeats its answer."""
    handing = next((tool for tool in tools if tool.get("name") == DELEGATE), None)
    known = [tool for tool in tools if tool is not handing]
    own = errands(instructions) if handing else []
    if handing and (told := _handed_back(lines)):
        return Decision((Say(told),))
    decision = clerk.decide(
        instructions=instructions,
        tools=[*known, *own],
        tool_choice=tool_choice,
        lines=lines,
        forgetful=forgetful,
        all_at_once=all_at_once,
    )
    calls_known = any(
        isinstance(one, Call) and one.name in {tool["name"] for tool in known} for one in decision.outputs
    )
    request = _request(lines)
    if handing is None or calls_known or not needs_help(request, decision, knows_errands=bool(own)):
        return decision
    return Decision((Call(DELEGATE, {_parameter(handing): request}),), decision.extra_ms)


def _handed_back(lines: Sequence[Line]) -> str | None:
    return lines[-1].output if lines and isinstance(lines[-1], Answered) else None


def _request(lines: Sequence[Line]) -> str:
    """All that the caller said since the last task was handed on."""
    handed = [place for place, line in enumerate(lines) if isinstance(line, Called) and line.name == DELEGATE]
    since = lines[handed[-1] + 1 :] if handed else lines
    return " ".join(line.text for line in since if isinstance(line, Said) and line.role == "user" and line.text)


def _parameter(tool: dict[str, Json]) -> str:
    """What takes the request: the first parameter that is required, else the first."""
    schema = tool.get("parameters") or {}
    names = [*(schema.get("required") or []), *(schema.get("properties") or {}), "request"]
    return str(names[0])
