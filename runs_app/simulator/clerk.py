"""The clerk's brain: what it says or calls next, from its instructions, its tools and the conversation alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from runs_app.simulator import replies
from runs_app.simulator.arguments import Filled, Source, fill
from runs_app.simulator.instructions import Knowledge, Policy, read_knowledge, read_policy
from runs_app.simulator.lines import Answered, Called, Line, Said
from runs_app.simulator.plan import (
    Intent,
    acts_on_existing,
    best_tool,
    changes_something,
    make_plan,
    names_action,
    transfer_tool,
)
from runs_app.simulator.smalltalk import (
    answer_from_facts,
    answer_questions,
    asks_for_person,
    in_a_sentence,
    is_assent,
    is_question,
    is_yes,
    leaves_it,
    said_goodbye,
    small_talk,
)
from runs_app.simulator.strangers import is_stranger
from runs_app.simulator.tool_fit import Tool, read_tools
from runs_app.simulator.wire import Json

# What careful behaviour costs in thought, before the first output of a turn.
THOUGHT_MS = {
    "corrected_value": 300.0,
    "check_first": 100.0,
    "read_back": 200.0,
    "refuse_strangers": 100.0,
    "ask_missing": 150.0,
    "be_brief": 50.0,
    "confirm_first": 150.0,
    "offer_alternatives": 150.0,
    "transfer": 100.0,
    "only_tools": 100.0,
}

LONGEST_SPEECH = 2_000  # letters of one turn; nobody says more, and reading takes time


@dataclass(frozen=True)
class Say:
    text: str


@dataclass(frozen=True)
class Call:
    name: str
    arguments: dict[str, Json]


@dataclass(frozen=True)
class Decision:
    """What comes next, and how much longer than usual the clerk thinks about it."""

    outputs: tuple[Say | Call, ...]
    extra_ms: float = 0.0


@dataclass(frozen=True)
class Situation:
    """All that the clerk knows when it decides. `done` are the calls of this turn with their outputs, in order."""

    policy: Policy
    knowledge: Knowledge
    tools: list[Tool]
    tool_choice: Json
    text: str
    earlier: list[Said]
    done: list[tuple[Called, str | None]]
    all_at_once: bool


def decide(
    *,
    instructions: str,
    tools: list[dict[str, Json]],
    tool_choice: Json,
    lines: Sequence[Line],
    forgetful: bool = False,
    all_at_once: bool = False,
) -> Decision:
    """The next outputs. `forgetful`: the instructions are not heeded; `all_at_once`: a whole plan in one go."""
    policy = Policy() if forgetful else read_policy(instructions)
    place = _last_turn(lines)
    thought_ms = sum(cost for name, cost in THOUGHT_MS.items() if getattr(policy, name))
    if place is None:
        return Decision((Say(replies.GREETING),), thought_ms)
    said = lines[place]
    assert isinstance(said, Said)
    if said.text is None:
        return Decision((Say(replies.NOT_CAUGHT),))
    if not said.text:
        return Decision((Say(replies.STILL_THERE),))
    done = _calls_since(lines[place + 1 :])
    earlier = [line for line in lines[:place] if isinstance(line, Said)]
    situation = Situation(
        policy=policy,
        knowledge=read_knowledge(instructions),
        tools=read_tools(tools),
        tool_choice=tool_choice,
        text=in_a_sentence(said.text[:LONGEST_SPEECH], asked=earlier[-1].text if earlier else None),
        earlier=earlier,
        done=done,
        all_at_once=all_at_once,
    )
    return Decision(_outputs(situation), 0.0 if done else thought_ms)


def _outputs(now: Situation) -> tuple[Say | Call, ...]:
    plan = _plan(now)
    if not now.done:
        return _begin(now, plan)
    last, output = now.done[-1]
    result = replies.Result(output or "")
    rest = [intent for intent in plan if intent.tool.name not in {call.name for call, _ in now.done}]
    if result.error:
        return _cannot(now, _told(now))
    if result.available is False:
        return (Say(_unavailable(now, _arguments_of(last), result)),)
    if rest and now.tool_choice != "none" and not _handed_over(now):
        return _calls(now, rest, [_fill(now, intent) for intent in rest])
    return (Say(_told(now)),)


def _begin(now: Situation, plan: list[Intent]) -> tuple[Say | Call, ...]:
    """The first outputs of a turn."""
    if not plan or now.tool_choice == "none":
        return _without_tools(now)
    filled = [_fill(now, intent) for intent in plan]
    for intent, one in zip(plan, filled, strict=True):
        if now.policy.refuse_strangers and acts_on_existing(intent.tool):
            ids = one.by_kind("id")
            if is_stranger(now.text, ids, now.knowledge.state):
                return (Say(replies.refuse(str(ids[0]) if ids else None)),)
    missing = list(dict.fromkeys(name for one in filled for name in one.missing))
    if now.policy.ask_missing and missing:
        return (Say(replies.ask_for(missing)),)
    if now.policy.confirm_first and not _agreed(now):
        for intent, one in zip(plan, filled, strict=True):
            if changes_something(intent.tool):
                return (Say(replies.shall_i(intent.tool, one.values)),)
    return _calls(now, plan, filled)


def _agreed(now: Situation) -> bool:
    """Whether the caller has just said yes to what the agent asked."""
    asked = now.earlier[-1] if now.earlier else None
    return bool(asked and asked.role == "assistant" and "?" in (asked.text or "") and is_yes(now.text))


def _cannot(now: Situation, words: str) -> tuple[Say | Call, ...]:
    """What follows where the clerk cannot help: its words alone, or a person where the instructions want one."""
    if not now.policy.transfer or _handed_over(now):
        return (Say(words),)
    tool = transfer_tool(now.tools)
    if tool is None or now.tool_choice == "none":
        return (Say(f"{words} {replies.TO_A_PERSON}"),)
    return (Call(tool.name, _fill(now, Intent(tool, now.text)).with_unknown()),)


def _handed_over(now: Situation) -> bool:
    tool = transfer_tool(now.tools)
    return tool is not None and any(call.name == tool.name for call, _ in now.done)


def _unavailable(now: Situation, arguments: dict[str, Json], result: replies.Result) -> str:
    words = replies.not_available(arguments, result.details, brief=now.policy.be_brief)
    return f"{words} {replies.alternatives(result.details)}" if now.policy.offer_alternatives else words


def _calls(now: Situation, plan: list[Intent], filled: list[Filled]) -> tuple[Call, ...]:
    """The next call of the plan; all of them at once where that is asked for."""
    calls = [Call(intent.tool.name, one.with_unknown()) for intent, one in zip(plan, filled, strict=True)]
    calls = calls if now.all_at_once else calls[:1]
    return tuple(calls * 2 if now.all_at_once and len(calls) == 1 else calls)


def _plan(now: Situation) -> list[Intent]:
    forced = now.tool_choice.get("name") if isinstance(now.tool_choice, dict) else None
    if forced:
        return [Intent(tool, now.text) for tool in now.tools if tool.name == forced]
    plan = make_plan(now.text, now.tools, now.policy)
    asked_only = is_question(now.text) and not any(names_action(now.text, one.tool) for one in plan)
    if plan and asked_only and answer_from_facts(now.text, now.knowledge.facts, sure=True):
        return []
    if not plan and (now.earlier or now.knowledge.summary) and is_assent(now.text):
        plan = make_plan(_context_text(now), now.tools, now.policy)
    if not plan and now.tool_choice == "required" and (found := best_tool(now.text, now.tools)):
        plan = [Intent(found[1], now.text)]
    return plan


def _without_tools(now: Situation) -> tuple[Say | Call, ...]:
    if said_goodbye(now.text):
        ends = [Call(tool.name, {}) for tool in now.tools if tool.ends_call and now.tool_choice != "none"]
        return (Say(replies.GOODBYE), *ends[:1])
    if leaves_it(now.text):
        return (Say(replies.LEFT_ALONE),)
    if now.policy.transfer and asks_for_person(now.text):
        return _cannot(now, replies.ONE_MOMENT)
    answer = answer_questions(now.text, now.knowledge.facts, most=1 if now.policy.be_brief else 2)
    words = answer or small_talk(now.text)
    return _cannot(now, words) if words in (replies.UNKNOWN_FACT, replies.NOT_UNDERSTOOD) else (Say(words),)


def _told(now: Situation) -> str:
    """What came of all the calls of this turn."""
    parts = []
    for number, (call, output) in enumerate(now.done):
        tool = next((tool for tool in now.tools if tool.name == call.name), None)
        result, arguments = replies.Result(output or ""), _arguments_of(call)
        last = number == len(now.done) - 1
        if result.error:
            parts.append(replies.relay_error(result.error))
        elif result.available is not None:
            parts.append(replies.available(arguments, result.details) if last else "Yes, that is available.")
        else:
            parts.append(replies.success(tool, arguments, result, _style(now.policy)))
    return " ".join(parts)


def _style(policy: Policy) -> replies.Style:
    return replies.Style(read_back=policy.read_back, brief=policy.be_brief, only_told=policy.only_tools)


def _fill(now: Situation, intent: Intent) -> Filled:
    source = Source(
        own=intent.text,
        whole=now.text,
        earlier=tuple(line.text for line in reversed(now.earlier) if line.text and line.role == "user"),
        summary=now.knowledge.summary,
        replies=tuple(line.text for line in reversed(now.earlier) if line.text and line.role == "assistant"),
        state=now.knowledge.state,
        reference_date=now.knowledge.reference_date,
    )
    return fill(intent.tool, source, corrected=now.policy.corrected_value)


def _context_text(now: Situation) -> str:
    said = [line.text for line in now.earlier if line.text and line.role == "user"]
    return " ".join([now.knowledge.summary, *said, now.text])


def _last_turn(lines: Sequence[Line]) -> int | None:
    """The place of the caller's last words."""
    return next(
        (n for n in range(len(lines) - 1, -1, -1) if isinstance(one := lines[n], Said) and one.role == "user"), None
    )


def _calls_since(lines: Sequence[Line]) -> list[tuple[Called, str | None]]:
    """The answered calls among `lines`; those that nobody answered are as if never made."""
    outputs = {line.call_id: line.output for line in lines if isinstance(line, Answered)}
    return [(line, outputs[line.call_id]) for line in lines if isinstance(line, Called) and line.call_id in outputs]


def _arguments_of(call: Called) -> dict[str, Json]:
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}
