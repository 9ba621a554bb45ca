"""Whether the call took the steps that it should: the scenario's procedure and its golden path.

Both explain; only the critical steps of a procedure decide. A step has a moment, in ms of the timeline, and comes in
order when no step that it waits for has a later one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from runs_app.grading.case import Case
from runs_app.grading.check import Check, counted, not_applicable, not_assessed, verdict
from runs_app.grading.matching import matches
from runs_app.grading.speech_acts import asks, claims, refuses
from runs_app.realtime.record import ToolCall, Turn
from scenarios_app.spec.procedure import ProcedureStep, read_procedure
from scenarios_app.spec.simulation import played

Json = Any
UNKNOWN: Final = "unknown"  # no rule can tell


@dataclass(frozen=True)
class Taken:
    """`at_ms` None: it was not taken, or (`note`) nobody can tell."""

    step: ProcedureStep
    at_ms: float | None
    note: str = ""


def procedure(case: Case) -> Check:
    id = "procedure"
    steps = read_procedure(case.scenario.expected.procedure)
    if not steps.steps and not steps.problems:
        return not_applicable(id, "the scenario has no procedure")
    taken = _taken(case, steps.steps)
    slips = _slips([one for one in taken if one.step.required], taken)
    untold = [str(problem) for problem in steps.problems]
    if not steps.steps:
        return not_assessed(id, "; ".join(untold))
    return verdict(
        id,
        not slips,
        required=False,
        reason="; ".join([*slips, *untold]) or f"{counted(len(taken), 'step')} in order",
        **_rows(taken),
    )


def critical_procedure(case: Case) -> Check:
    id = "critical_procedure"
    taken = _taken(case, read_procedure(case.scenario.expected.procedure).steps)
    critical = [one for one in taken if one.step.critical]
    if not critical:
        return not_applicable(id, "no step of a procedure is critical")
    slips = _slips(critical, taken)
    return verdict(id, not slips, required=True, reason="; ".join(slips) or "every critical step", **_rows(critical))


def golden_path(case: Case) -> Check:
    """How the call went against the shortest way that it could have gone."""
    id, golden = "golden_path", case.scenario.expected.golden_path
    if golden is None or not (golden.turns or golden.delegations is not None or golden.steps):
        return not_applicable(id, "the scenario has no golden path")
    turns = sum(bool(t.caller_text.strip()) + bool(t.agent_text.strip() or t.agent) for t in case.record.turns)
    slips = []
    if golden.turns and turns > golden.turns:
        slips.append(f"{counted(turns, 'turn')}, the golden path has {golden.turns}")
    if golden.delegations is not None and case.delegations != golden.delegations:
        slips.append(f"{counted(case.delegations, 'delegation')}, the golden path has {golden.delegations}")
    tools = [name for step in golden.steps if (name := _tool_of(step))]
    called = [call.name for call in case.calls]
    if tools and not _in_order(tools, called):
        slips.append(f"tools of the golden path: {', '.join(tools)}; called: {', '.join(called) or 'none'}")
    reason = "; ".join(slips) or "as the golden path"
    return verdict(id, not slips, required=False, reason=reason, turns=turns, tools=called)


def _tool_of(step: Json) -> str | None:
    """A step that names a tool; others are words for people."""
    name = (step.get("tool") or step.get("name")) if isinstance(step, dict) else None
    return name if isinstance(name, str) else None


def _in_order(wanted: list[str], called: list[str]) -> bool:
    left = iter(called)
    return all(name in left for name in wanted)


def _taken(case: Case, steps: tuple[ProcedureStep, ...]) -> list[Taken]:
    return [_RULES[step.kind](case, step) for step in steps]


def _slips(looked_at: list[Taken], taken: list[Taken]) -> list[str]:
    moments = {one.step.id: one.at_ms for one in taken}
    slips = []
    for one in looked_at:
        if one.at_ms is None and not one.note:
            slips.append(f"{one.step.id} ({one.step.kind}) was not taken")
        for before in one.step.after:
            earlier = moments.get(before)
            if one.at_ms is not None and earlier is not None and earlier > one.at_ms:
                slips.append(f"{one.step.id} came before {before}")
    return slips


def _rows(taken: list[Taken]) -> dict[str, Json]:
    rows = [
        {"id": one.step.id, "kind": one.step.kind, "at_ms": one.at_ms, "note": one.note, "critical": one.step.critical}
        for one in taken
    ]
    return {"steps": rows, "spans_ms": [[one.at_ms, one.at_ms] for one in taken if one.at_ms is not None]}


def _by_tool(case: Case, step: ProcedureStep) -> Taken:
    call = next((call for call in case.calls if _fits(step, call)), None)
    return Taken(step, call.called_ms if call else None)


def _fits(step: ProcedureStep, call: ToolCall) -> bool:
    return call.name == step.tool and call.status == "completed" and matches(step.arguments, call.arguments)


def _by_words(says: Callable[[str], bool]) -> Callable[[Case, ProcedureStep], Taken]:
    def rule(case: Case, step: ProcedureStep) -> Taken:
        turn = next((turn for turn in case.record.turns if says(turn.agent_text)), None)
        return Taken(step, _spoken_ms(turn) if turn else None)

    return rule


def _spoken_ms(turn: Turn) -> float:
    return turn.first_token_ms if turn.first_token_ms is not None else turn.sent_ms


def _correction(case: Case, step: ProcedureStep) -> Taken:
    """The agent acts on it, where a tool is named; else the caller has corrected himself."""
    if step.tool is not None:
        return _by_tool(case, step)
    who = played(case.scenario)
    corrects = {one.id for one in who.persona.agenda if one.action == "correct"} if who else set()
    turn = next((t for t in case.record.turns if t.thought and corrects & set(t.thought.steps)), None)
    return Taken(step, turn.sent_ms if turn else None, "" if corrects else UNKNOWN)


def _authorization(case: Case, step: ProcedureStep) -> Taken:
    return _by_tool(case, step) if step.tool is not None else Taken(step, None, UNKNOWN)


def _state(case: Case, step: ProcedureStep) -> Taken:
    ends = [turn.done_ms for turn in case.record.turns if turn.done_ms is not None]
    held = matches(step.arguments, case.record.final_state)
    return Taken(step, max(ends, default=0.0) if held else None)


def _confirmation(case: Case, step: ProcedureStep) -> Taken:
    """A claim of success in words that came after the tool had answered."""
    done = [c for c in case.calls if c.answered_ms is not None and c.status == "completed"]
    ended = [c.answered_ms for c in done if step.tool in (None, c.name) and c.answered_ms is not None]
    if not ended:
        return Taken(step, None)
    said = (
        caption.t_ms
        for turn in case.record.turns
        if claims(turn.agent_text)
        for caption in turn.captions
        if caption.t_ms >= min(ended)
    )
    return Taken(step, next(said, None))


_RULES: Final[dict[str, Callable[[Case, ProcedureStep], Taken]]] = {
    "clarification": _by_words(asks),
    "tool": _by_tool,
    "correction": _correction,
    "authorization": _authorization,
    "state": _state,
    "grounded_confirmation": _confirmation,
    "refusal": _by_words(refuses),
}
