"""Heard is not said: what the caller's script says against what the agent's side understood."""

from __future__ import annotations

from typing import Any, Final

import jiwer
import regex

from runs_app.grading.percentiles import mean, rounded
from runs_app.grading.plain_values import fold_text
from runs_app.realtime.record import Record, Turn

Json = Any

_NOT_A_WORD: Final = regex.compile(r"[^\p{L}\p{N}\p{M}' ]+")
_DIGITS: Final = regex.compile(r"\d+")


def heard_numbers(turn: Turn) -> dict[str, Json]:
    """Word error rate and digits that differ, null when the agent's side gave no transcript of the caller."""
    if turn.heard_text is None or not _words(turn.caller_text):
        return {"word_error_rate": None, "digits_said": None, "digits_heard": None, "digits_differ": None}
    said, heard = _DIGITS.findall(turn.caller_text), _DIGITS.findall(turn.heard_text)
    return {
        "word_error_rate": rounded(word_error_rate(turn.caller_text, turn.heard_text), 4),
        "digits_said": said,
        "digits_heard": heard,
        "digits_differ": "".join(said) != "".join(heard),
    }


def word_error_rate(said: str, heard: str) -> float:
    """Substitutions, deletions and insertions per word said; case and punctuation do not count."""
    return float(jiwer.wer(" ".join(_words(said)), " ".join(_words(heard))))


def _words(text: str) -> list[str]:
    return str(_NOT_A_WORD.sub(" ", fold_text(text))).split()


def heard_metrics(record: Record) -> dict[str, float | None]:
    rows = [heard_numbers(turn) for turn in record.turns] if record.mode == "audio" else []
    rates = [row["word_error_rate"] for row in rows if row["word_error_rate"] is not None]
    differ = [bool(row["digits_differ"]) for row in rows if row["digits_differ"] is not None]
    return {
        "heard_word_error_rate": rounded(mean(rates), 4),
        "heard_digits_differ": sum(differ) if differ else None,
    }


def compared_words(said: str, heard: str) -> list[tuple[str, str, str]]:
    """Both texts cut where they part: (kind, words said, words heard), kind equal, substitute, delete or insert."""
    words, others = _words(said), _words(heard)
    if not words or not others:
        return [("delete", " ".join(words), "")] * bool(words) + [("insert", "", " ".join(others))] * bool(others)
    (chunks,) = jiwer.process_words(" ".join(words), " ".join(others)).alignments
    return [
        (
            chunk.type,
            " ".join(words[chunk.ref_start_idx : chunk.ref_end_idx]),
            " ".join(others[chunk.hyp_start_idx : chunk.hyp_end_idx]),
        )
        for chunk in chunks
    ]
