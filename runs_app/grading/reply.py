"""Reading what a judge answered: strictly, because a score that was guessed is worse than none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import load

Json = Any

# Spellings of a score as text that are read; everything else that is not a number of the scale is an error.
_AS_TEXT: Final = {"0": 0.0, "0.0": 0.0, "0.25": 0.25, "0.5": 0.5, "0.50": 0.5, "0.75": 0.75, "1": 1.0, "1.0": 1.0}
_SCALE: Final = frozenset(_AS_TEXT.values())
PASS_FROM: Final = 0.75  # below it "something that matters is not met", by the words of the scale

REPLY_SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "passed": {"type": "boolean"},
        "score": {"type": "number", "enum": [0, 0.25, 0.5, 0.75, 1]},
        "rationale": {"type": "string"},
        "evidence": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["passed", "score", "rationale", "evidence"],
    "additionalProperties": False,
}


class UnusableReply(ValueError):
    """The judge's answer holds no usable score; the message says why."""


@dataclass(frozen=True)
class Judgement:
    passed: bool
    score: float
    rationale: str
    evidence: tuple[str, ...]


def read_reply(body: str) -> Judgement:
    """The judgement in the body, which must be one JSON object and nothing around it.

    A score outside the scale, no score, or a verdict that contradicts its score is an UnusableReply. An endpoint that
    does not follow the schema may leave out `passed`: then the words of the scale decide (0.75 and above pass).
    """
    reply = _object(body)
    score = _score(reply)
    return Judgement(
        passed=_passed(reply, score),
        score=score,
        rationale=_rationale(reply),
        evidence=_evidence(reply),
    )


def _object(body: str) -> dict[str, Json]:
    if not body.strip():
        raise UnusableReply("the reply is empty")
    try:
        reply = load(body)
    except SpecError as error:
        raise UnusableReply("the reply is not one JSON object") from error
    if not isinstance(reply, dict):
        raise UnusableReply("the reply is not one JSON object")
    return reply


def _score(reply: dict[str, Json]) -> float:
    if "score" not in reply:
        raise UnusableReply("the reply has no score")
    score = reply["score"]
    if isinstance(score, str):
        score = _AS_TEXT.get(score.strip(), score)
    if isinstance(score, bool) or not isinstance(score, int | float) or score not in _SCALE:
        raise UnusableReply(f"the score {_short(score)} is not one of 0, 0.25, 0.5, 0.75, 1")
    return float(score)


def _passed(reply: dict[str, Json], score: float) -> bool:
    passed = reply.get("passed", score >= PASS_FROM)
    if not isinstance(passed, bool):
        raise UnusableReply(f"the verdict {_short(passed)} is neither true nor false")
    if passed and score == 0.0:
        raise UnusableReply("the reply contradicts itself: passed with a score of 0")
    if not passed and score == 1.0:
        raise UnusableReply("the reply contradicts itself: not passed with a score of 1")
    return passed


def _rationale(reply: dict[str, Json]) -> str:
    rationale = reply.get("rationale", "")
    if not isinstance(rationale, str):
        raise UnusableReply("the rationale is not text")
    return rationale.strip()


def _evidence(reply: dict[str, Json]) -> tuple[str, ...]:
    evidence = reply.get("evidence", [])
    if not isinstance(evidence, list) or not all(isinstance(item, str) for item in evidence):
        raise UnusableReply("the evidence is not a list of texts")
    return tuple(evidence)


def _short(value: Json) -> str:
    text = repr(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    return "null" if value is None else text if len(text) <= 40 else text[:39] + "…"
