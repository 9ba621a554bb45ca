"""Answers cut into pieces that a Live session takes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.delegation.commentary import MOST_BYTES, pieces_of


@given(st.text(max_size=3000))
def test_no_piece_is_too_long_and_no_word_is_lost(text: str) -> None:
    pieces = pieces_of(text)
    assert all(0 < len(piece.encode()) <= MOST_BYTES for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_pieces_end_with_sentences_where_that_is_possible() -> None:
    text = f"{'a' * 300}. {'b' * 90}. {'c' * 50}."
    assert pieces_of(text) == [f"{'a' * 300}. {'b' * 90}.", f"{'c' * 50}."]
    assert pieces_of("   ") == []
    assert len(pieces_of("字" * 1000)) == 10  # no blanks, three bytes each
