"""The simulated judge: it compares what was named and what was done, and says which of them decided.

It knows only the evidence in the request. It is no language model: where a scenario turns on anything but dates,
times, numbers, names, ids, a refusal, a question or a confirmation, it compares words, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from runs_app.simulator.entities import Mention, entities
from runs_app.simulator.judge_compare import (
    Demand,
    confirms,
    demands,
    in_words,
    mentions_of,
    same,
    shared_words,
)
from runs_app.simulator.judge_details import READS_ONLY, Finding, Weight, acting, details, taken_back
from runs_app.simulator.judge_evidence import Evidence, strings
from runs_app.simulator.polarity import asks, claimed_actions, denies

PASS_FROM = 0.75
LABEL = "(Simulated judge: it compares dates, times, numbers, names, ids and what was done or refused, nothing more.)"

_NOT_UNDERSTOOD = re.compile(r"\b(?:did not|didn[’']t) (?:catch|hear|get|understand)\b", re.IGNORECASE)
_ASKED_FOR: dict[str, re.Pattern[str]] = {
    "date": re.compile(r"\b(?:dates?|days?)\b", re.IGNORECASE),
    "time": re.compile(r"\btimes?\b", re.IGNORECASE),
    "name": re.compile(r"\bnames?\b", re.IGNORECASE),
    "count": re.compile(r"\bhow many\b|\bparty size\b|\bnumber of (?:people|guests)\b", re.IGNORECASE),
    "id": re.compile(r"\b(?:reservation|booking|order|reference|confirmation) (?:number|id|code)\b", re.IGNORECASE),
    "phone": re.compile(r"\bphone\b|\btelephone\b", re.IGNORECASE),
}
_CHECKED_AGAINST_TOOLS = ("date", "time", "id", "money", "count")


@dataclass(frozen=True)
class Verdict:
    passed: bool
    score: float
    rationale: str
    evidence: tuple[str, ...]


def judge(evidence: Evidence) -> Verdict:
    """The verdict on one dimension; an unknown dimension is judged as task_understanding. Deterministic."""
    if not evidence.response.strip() and evidence.dimension != "caller_fidelity":
        found = [Finding("wrong", "The agent said nothing.")]
    else:
        found = list(dict.fromkeys(_RULES.get(evidence.dimension, _task_understanding)(evidence)))
    score = _score(found)
    return Verdict(score >= PASS_FROM, score, f"{_rationale(found, evidence)} {LABEL}", tuple(_quotes(evidence)))


def _score(found: list[Finding]) -> float:
    weights = [each.weight for each in found]
    if "wrong" in weights:
        return 0.0
    if "unmet" in weights:
        return 0.5 if weights.count("unmet") == 1 else 0.25
    return 0.75 if "slip" in weights else 1.0


def _rationale(found: list[Finding], evidence: Evidence) -> str:
    order: tuple[Weight, ...] = ("wrong", "unmet", "slip", "note")
    said = [_sentence(each.text) for weight in order for each in found if each.weight == weight]
    if all(each.weight == "note" for each in found):
        said.insert(0, "The reply names and does what was expected.")
    return " ".join(said)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _quotes(evidence: Evidence) -> Iterator[str]:
    if evidence.dimension == "caller_fidelity":
        yield from (line for line in evidence.caller_lines[1:] if list(_not_given(line, evidence)))
        return
    if evidence.response.strip():
        yield f"reply: {evidence.response}"
    for call in evidence.tools or ():
        outcome = "completed" if call.completed else "failed" if call.failed else "not answered"
        yield f"tool {call.name} {outcome}: {', '.join(strings(call.arguments)) or 'no arguments'}"


def _task_understanding(evidence: Evidence) -> Iterator[Finding]:
    if _NOT_UNDERSTOOD.search(evidence.response):
        yield Finding("unmet", "The agent did not understand the caller.")
    yield from _false_success(evidence)
    for demand in demands(evidence.expected, evidence.criteria, evidence.reference_date):
        yield from _demanded(demand, evidence)
    yield from taken_back(evidence)


def _context_fidelity(evidence: Evidence) -> Iterator[Finding]:
    yield from taken_back(evidence)
    yield from _asked_again(evidence)
    for demand in demands(evidence.expected, (), evidence.reference_date):
        yield from details(demand, evidence)


def _clarification_quality(evidence: Evidence) -> Iterator[Finding]:
    for call in acting(evidence):
        yield Finding("wrong", f"The agent called {call.name} before it asked.")
    if not asks(evidence.response):
        yield Finding("unmet", "The reply asks nothing.")
        yield Finding("unmet", "The caller is not told what is missing.")
        return
    yield from _asked_again(evidence)
    wanted = _asking_part(" ".join([evidence.expected, *evidence.criteria]))
    for kind in [each for each in _ASKED_FOR if each not in _given(evidence)]:
        if _ASKED_FOR[kind].search(wanted) and not _ASKED_FOR[kind].search(evidence.response):
            yield Finding("unmet", f"The reply does not ask for the {kind} that is missing.")


def _grounded_communication(evidence: Evidence) -> Iterator[Finding]:
    yield from _false_success(evidence)
    tools = evidence.tools or ()
    failed = [call.name for call in tools if call.failed]
    mended = any(call.completed and call.name in failed for call in tools)
    owned_up = denies(evidence.response) or claimed_actions(evidence.response)  # a false claim is found above
    if failed and not mended and not owned_up:
        yield Finding("unmet", f"{failed[-1]} failed, and the reply does not say so.")
    known = _known(evidence)
    for said in entities(evidence.response, reference_date=evidence.reference_date):
        if said.kind in _CHECKED_AGAINST_TOOLS and not said.negated and not any(same(said, each) for each in known):
            yield Finding("wrong", f"The reply says {in_words(said)}, which neither a tool nor the caller gave.")


def _conversational_coherence(evidence: Evidence) -> Iterator[Finding]:
    lines = [line.strip().casefold() for line in evidence.agent_lines if line.strip()]
    for line, following in pairwise(lines):
        if line == following:
            yield Finding("unmet", f"The agent says the same again: {line[:80]}")
    yield from taken_back(evidence)


def _caller_fidelity(evidence: Evidence) -> Iterator[Finding]:
    """The caller is judged here: what he says must come from his part or from the agent."""
    for line in evidence.caller_lines[1:]:
        for said in _not_given(line, evidence):
            yield Finding("wrong", f"The caller says {in_words(said)}, which neither the part nor the agent gave.")


def _not_given(line: str, evidence: Evidence) -> Iterator[Mention]:
    sources = [*evidence.caller_knows, *evidence.agent_lines]
    known = [each for text in sources for each in entities(text, reference_date=evidence.reference_date)]
    given = " ".join(sources).casefold()
    for said in entities(line, reference_date=evidence.reference_date):
        told = any(same(said, each) for each in known) or str(said.value).casefold() in given
        if said.kind in (*_CHECKED_AGAINST_TOOLS, "phone", "name") and not said.negated and not told:
            yield said


_RULES: dict[str, Callable[[Evidence], Iterator[Finding]]] = {
    "task_understanding": _task_understanding,
    "context_fidelity": _context_fidelity,
    "clarification_quality": _clarification_quality,
    "grounded_communication": _grounded_communication,
    "conversational_coherence": _conversational_coherence,
    "caller_fidelity": _caller_fidelity,
}


def _demanded(demand: Demand, evidence: Evidence) -> Iterator[Finding]:
    reply = evidence.response
    yield from details(demand, evidence)
    if demand.asks and not asks(reply):
        yield Finding("unmet", f"The reply asks nothing, though it should: {demand.sentence}")
    if demand.must_not_ask and asks(reply):
        yield Finding("unmet", f"The reply asks, though it should not: {demand.sentence}")
    if demand.must_not_act and (done := claimed_actions(reply)):
        yield Finding("wrong", f'The reply claims "{done[0]}", against: {demand.sentence}')
    yield from _polarity(demand, reply)
    if demand.confirms and not confirms(reply) and not denies(reply):
        yield Finding("unmet", "The reply lacks the confirmation that it was done.")
    if demand.empty:
        yield from _by_words(demand, evidence)


def _polarity(demand: Demand, reply: str) -> Iterator[Finding]:
    if demand.denies and not denies(reply):
        done = claimed_actions(reply)
        if done:
            yield Finding("wrong", f'The reply claims "{done[0]}" where it should say no: {demand.sentence}')
        else:
            yield Finding("unmet", f"The reply does not say no, though it should: {demand.sentence}")
    if demand.confirms and denies(reply) and not claimed_actions(reply):
        yield Finding("unmet", f"The reply says no where it should not: {demand.sentence}")
        yield Finding("unmet", "What the caller asked for was not done.")


def _by_words(demand: Demand, evidence: Evidence) -> Iterator[Finding]:
    share = shared_words(demand.sentence, evidence.response)
    if demand.sentence != evidence.expected:
        yield Finding("note", f"Not compared, because it names nothing that can be compared: {demand.sentence}")
    elif denies(evidence.response):
        weight: Weight = "wrong" if share >= 0.25 else "unmet"
        yield Finding(weight, f"The reply says no where it should not: {demand.sentence}")
    elif share < 0.25:
        yield Finding("unmet", "The reply has almost no word in common with the expected answer.")
    elif share < 0.5:
        yield Finding("slip", "The reply has less than half of the telling words of the expected answer.")


def _false_success(evidence: Evidence) -> Iterator[Finding]:
    """A claim to have done something that no tool call shows. What the context already says is no claim."""
    if evidence.tools is None:
        return
    known = " ".join(evidence.background).casefold()
    claimed = [verb for verb in claimed_actions(evidence.response) if verb not in known]
    if not claimed:
        return
    needed = [name for name in evidence.required_tools if not READS_ONLY.match(name)]
    done = {call.name for call in acting(evidence)}
    lacking = [name for name in needed if name not in done]
    failed = [call.name for call in evidence.tools if call.failed]
    if not done or (needed and len(lacking) == len(needed)):
        because = f"{failed[-1]} failed" if failed else "no tool call did it"
        yield Finding("wrong", f'The reply claims "{claimed[0]}", but {because}.')


def _given(evidence: Evidence) -> set[str]:
    named = entities(evidence.request, reference_date=evidence.reference_date)
    return {each.kind for each in named if not each.negated}


def _asked_again(evidence: Evidence) -> Iterator[Finding]:
    question = _asking_part(evidence.response)
    for kind in _ASKED_FOR.keys() & _given(evidence):
        if _ASKED_FOR[kind].search(question):
            yield Finding("unmet", f"The reply asks for the {kind}, which the caller had given.")


def _asking_part(text: str) -> str:
    return " ".join(sentence for sentence in re.split(r"(?<=[.!?])\s+", text) if asks(sentence))


def _known(evidence: Evidence) -> list[Mention]:
    """All that the agent may repeat: the caller's words, the context, and what tools were given and answered."""
    sources = [evidence.request, *evidence.background]
    sources += [text for call in evidence.tools or () for text in strings([call.arguments, call.output])]
    known = [each for text in sources for each in entities(text, reference_date=evidence.reference_date)]
    return known + [each for call in evidence.tools or () for each in mentions_of(call, evidence.reference_date)]
