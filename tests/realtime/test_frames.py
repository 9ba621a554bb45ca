from __future__ import annotations

import base64
import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.frames import BadFrame, FrameReader, without_audio
from tests.scripted_events import text_delta


@given(st.binary(max_size=60))
def test_audio_becomes_the_number_of_its_bytes_wherever_it_is(data: bytes) -> None:
    text = base64.b64encode(data).decode()
    size = {"bytes": len(data)}
    part = {"type": "input_audio", "audio": text}
    body = {"type": "x", "audio": text, "item": {"content": [part]}, "session": {"audio": {"input": {}}}}
    assert without_audio(body) == {
        "audio": size,
        "item": {"content": [{"type": "input_audio", "audio": size}]},
        "session": {"audio": {"input": {}}},
    }
    for type in ("response.output_audio.delta", "response.audio.delta"):
        assert without_audio({"type": type, "delta": text}) == {"delta": size}
    assert without_audio({"type": "response.output_text.delta", "delta": text}) == {"delta": text}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("", "Expecting value"),
        ("{", "Expecting property name"),
        ("[1]", "JSON list where an object is expected"),
        ("{}", "no type"),
        ('{"type": 5}', "no type"),
        ("[" * 100_000, "nested too deeply"),
        ('{"type": "x", "a": ' + "[" * 450 + "]" * 450 + "}", "nested too deeply"),
        (b"\xff\xfe", "Expecting value"),
        ('{"type": "x", "a": ' + "1" * 5_000 + "}", "too many digits"),
    ],
)
def test_a_bad_frame_tells_the_reason_apart_from_its_content(raw: str | bytes, reason: str) -> None:
    with pytest.raises(BadFrame, match=reason) as caught:
        FrameReader().read(raw)
    assert len(caught.value.shown) <= 200


@pytest.mark.case("E09")
@given(text=st.text(alphabet=st.characters(codec="utf-16"), max_size=12), data=st.data())
def test_text_cut_anywhere_in_utf_16_comes_together_again(text: str, data: st.DataObject) -> None:
    """E09: JSON escapes cut a character into two halves; joined deltas are the text."""
    units = text.encode("utf-16-be")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(units) // 2), max_size=4)))
    edges = [0, *cuts, len(units) // 2]
    reader, joined = FrameReader(), ""
    for start, end in pairwise(edges):
        escaped = "".join(f"\\u{units[at * 2 : at * 2 + 2].hex()}" for at in range(start, end))
        frame = json.dumps(text_delta("%")).replace('"%"', f'"{escaped}"')
        joined += reader.read(frame).body["delta"]
    assert joined == text.replace("\0", "\ufffd")
    assert reader.unfinished() == []


def test_a_half_of_one_part_does_not_join_with_another_part() -> None:
    reader = FrameReader()
    first = json.dumps(text_delta("%", item="item_1")).replace("%", "\\ud83d")
    second = json.dumps(text_delta("%", item="item_2")).replace("%", "\\ude00")
    assert reader.read(first).body["delta"] == ""
    assert reader.read(second).body["delta"] == "\ufffd"
    (rest,) = reader.unfinished()
    assert (rest["item_id"], rest["delta"]) == ("item_1", "\ufffd")
    assert reader.unfinished() == []


def test_secrets_are_cut_out_before_anything_else_sees_the_frame() -> None:
    frame = FrameReader(("sk-12345678",)).read('{"type": "error", "error": {"message": "key sk-12345678"}}')
    assert frame.body["error"]["message"] == "key [removed]"
