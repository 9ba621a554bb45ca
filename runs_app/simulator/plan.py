"""What the caller asks for, as tools in order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from runs_app.simulator.arguments import Source, fill
from runs_app.simulator.instructions import Policy
from runs_app.simulator.smalltalk import is_question
from runs_app.simulator.tool_fit import ON_EXISTING, Tool, fit, meanings

ENOUGH = 2.0

# "at 2 p.m. with Doctor Moss" goes on; "at 2 p.m. And ..." does not.
_CLAUSE = re.compile(
    r"(?<=[.!?;])\s+(?!(?<=[ap]\.m\.\s)[a-z])|,?\s+\band (?:also |then |after that |please )?(?=\w)"
    r"|,?\s+\b(?:then|after that|also)\b\s+|\s*[;:—–]\s+"
)
READS_ONLY = re.compile(r"^(?:get|find|list|search|look|read|query|fetch|show)", re.IGNORECASE)
_FIRST = re.compile(r"\bfirst\b", re.IGNORECASE)
_BEFORE = re.compile(r"^\W*(?:but |and )?before\b", re.IGNORECASE)


@dataclass(frozen=True)
class Intent:
    """One tool to call, and the words of the caller that ask for it."""

    tool: Tool
    text: str


def make_plan(text: str, tools: list[Tool], policy: Policy) -> list[Intent]:
    """The tools that `text` asks for, in the order in which they shall be called; each at most once."""
    intents = _intents(text, [tool for tool in tools if not tool.ends_call])
    if policy.check_first:
        intents = _with_check(intents, text, tools)
    return intents


def best_tool(text: str, tools: list[Tool]) -> tuple[float, Tool] | None:
    """The best fitting tool with its score; the earlier one where two fit alike."""
    scored = [(fit(text, tool), -number, tool) for number, tool in enumerate(tools)]
    if not scored:
        return None
    score, _, tool = max(scored, key=lambda one: one[:2])
    return score, tool


def names_action(text: str, tool: Tool) -> bool:
    """Whether `text` names an action of `tool` in so many words."""
    return tool.action in meanings(text)


def changes_something(tool: Tool) -> bool:
    """Whether a caller would want to be asked before `tool` is used: it does more than look."""
    return tool.action not in ("check", "track", "transfer") and not tool.ends_call and not READS_ONLY.match(tool.name)


def transfer_tool(tools: list[Tool]) -> Tool | None:
    """The tool that hands the call over to a person, if there is one."""
    return next((tool for tool in tools if tool.action == "transfer"), None)


def acts_on_existing(tool: Tool) -> bool:
    """Whether `tool` changes or ends what somebody already has."""
    return tool.action in ON_EXISTING


def _intents(text: str, tools: list[Tool]) -> list[Intent]:
    groups: list[tuple[Tool | None, list[str]]] = []
    for clause in filter(None, _CLAUSE.split(text)):
        found = best_tool(clause, tools)
        tool = found[1] if found and found[0] >= ENOUGH else None
        known = next((words for one, words in groups if one is tool), None) if tool else None
        if known is not None:
            known.append(clause)
        elif tool is None and groups:
            groups[-1][1].append(clause)
        else:
            groups.append((tool, [clause]))
    named = [Intent(tool, ". ".join(words)) for tool, words in groups if tool is not None]
    if not named:
        implied = _implied_tool(text, tools)
        named = [Intent(implied, text)] if implied else []
    return sorted(named, key=_rank) if len(named) > 1 else [Intent(one.tool, text) for one in named]


def _implied_tool(text: str, tools: list[Tool]) -> Tool | None:
    """The tool of a request without a verb ("a table for two at seven"): what was said is what it asks for."""
    scored = []
    for number, tool in enumerate(tools):
        base = fit(text, tool)
        filled = fill(tool, Source(own=text, whole=text), corrected=True)
        heard = sum(name in filled.values and filled.kinds[name] != "text" for name in tool.required)
        # Who does not ask wants it done, not checked.
        idle_check = tool.action == "check" and not is_question(text)
        scored.append((base + min(heard, 4) * 0.5 - idle_check if base > 0 else base, -number, tool))
    enough = [one for one in scored if one[0] >= ENOUGH]
    return max(enough, key=lambda one: one[:2])[2] if enough else None


def _rank(intent: Intent) -> int:
    """Stable order: what shall be first, the rest as said, what has a "before" in front of it last."""
    if _BEFORE.search(intent.text):
        return 2
    return 0 if _FIRST.search(intent.text) else 1


def _with_check(intents: list[Intent], text: str, tools: list[Tool]) -> list[Intent]:
    """A check of availability in front of the first booking, unless the caller's own wish has one there."""
    place = next((place for place, one in enumerate(intents) if one.tool.action in ("book", "order", "borrow")), None)
    checks = [tool for tool in tools if tool.action == "check"]
    if place is None or not checks or any(one.tool.action == "check" for one in intents[:place]):
        return intents
    wanted = intents[place].tool
    check = max(checks, key=lambda tool: len(set(tool.properties) & set(wanted.properties)))
    later = [one for one in intents[place:] if one.tool is not check]
    return [*intents[:place], Intent(check, text), *later]
