"""A judge's word on a caller that a model played: whether he kept to his part.

It counts against him only with his own words: a harsh judge would otherwise cost good trials on a feeling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from runs_app.grading.caller_mistakes import Mistake
from runs_app.grading.case import Case
from runs_app.grading.check import Check, not_assessed, verdict
from runs_app.grading.judge import JudgeClient, Question
from runs_app.grading.named_values import plain
from runs_app.grading.outcome import CALLER_VALIDITY as CHECK
from runs_app.grading.payload import fenced, observed_evidence
from runs_app.grading.rubric import Dimension, Rubric
from runs_app.grading.semantic import Grade, graded_reply
from runs_app.realtime.record import Turn
from scenarios_app.spec.simulation import played

Json = Any

ID: Final = "caller_fidelity"
QUESTION: Final = (
    "Here the caller is graded, not the agent. The caller is played by a model that was told `scenario.caller` alone. "
    "Did the caller keep to it: nothing made up that neither the part nor the agent had given, the goal kept in mind "
    "to the end, no talk out of the part? The agent's mistakes do not count, nor does how politely he spoke. If he did "
    "not keep to it, `evidence` must quote his own words that show it, letter for letter, from a turn after his first: "
    "at least eight letters, or the whole of a shorter turn. Without them the verdict does not count."
)
FEWEST_SIGNS: Final = 8  # letters and digits of a quote; fewer are found in anything that anybody says
_SPEAKER: Final = re.compile(r"^\W*caller\b[^:]{0,20}:", re.IGNORECASE)
_GAP: Final = re.compile(r"\.{3,}|…")


async def ask_about_caller(case: Case, rubric: Rubric, judge: JudgeClient) -> Grade | None:
    """None where no model played the caller."""
    who = played(case.scenario)
    if case.record.persona is None or who is None:
        return None
    document = {
        "dimension": ID,
        "scenario": {
            "id": case.scenario.id,
            "caller": who.persona.to_json(),
            "first_words": case.scenario.input.text,
            "reference_date": case.scenario.reference_date,
        },
        "observed": {"conversation": observed_evidence(case)["conversation"]},
    }
    question = Question(ID, rubric.instructions(Dimension(ID, QUESTION)), fenced(document))
    return await graded_reply(judge, question, rubric)


def caller_validity(case: Case, grade: Grade | None) -> Check:
    """Failed for any mistake, whoever found it. A judge that could not be asked, or that quotes nothing the caller
    said, leaves it to the rules."""
    judged = _judged(case, grade)
    mistakes = [*case.caller_mistakes, *judged]
    told = case.record.persona
    evidence: dict[str, Json] = {
        "mistakes": [{"kind": one.kind, "turn": one.turn, "reason": one.reason} for one in mistakes],
        "ended_by": told.ended_by if told else "",
        "judge_model": grade.judge_model if grade else "",
        "score": grade.score if grade else None,
        "quotes": list(grade.evidence) if grade else [],
    }
    if mistakes:
        return verdict(CHECK, False, required=True, reason="; ".join(one.reason for one in mistakes), **evidence)
    return verdict(CHECK, True, required=True, reason=_why_valid(grade), **evidence)


def _why_valid(grade: Grade | None) -> str:
    if grade is None or grade.judge_error:
        return "no rule found a mistake of the caller, and no judge was asked"
    if grade.status != "failed":
        return "the caller kept to his part"
    doubt = f": {grade.rationale}" if grade.rationale else ""
    return f"no rule found a mistake of the caller; the judge doubts him, but quotes nothing that he said{doubt}"


def unassessed(case: Case, reason: str) -> list[Check]:
    """The check of a trial that was not looked at; none where a script leads."""
    return [] if case.record.persona is None else [not_assessed(CHECK, reason)]


def _judged(case: Case, grade: Grade | None) -> list[Mistake]:
    if grade is None or grade.status != "failed":
        return []
    found = quoted(grade.evidence, case.record.turns)
    if found is None:
        return []
    turn, quote = found
    short = quote if len(quote) <= 80 else f"{quote[:79]}…"
    return [Mistake("judged", turn, f'the judge on "{short}": {grade.rationale or "no reason given"}')]


def quoted(quotes: Iterable[str], turns: Sequence[Turn]) -> tuple[int, str] | None:
    """(turn, quote) of the first quote that the caller said in words of his own: the first turn is the scenario's.
    Case, blanks and punctuation do not count, and dots may stand for what is left out."""
    for quote in quotes:
        words = _SPEAKER.sub("", quote).strip().strip("\"'“”‘’«»").strip()
        for turn in turns[1:]:
            if _said(words, turn.caller_text):
                return turn.index, words
    return None


def _said(quote: str, line: str) -> bool:
    said, place = plain(line), 0
    parts = [part for piece in _GAP.split(quote) if (part := plain(piece))]
    if not parts or (sum(map(len, parts)) < FEWEST_SIGNS and parts != [said]):
        return False
    for part in parts:
        found = said.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return True
