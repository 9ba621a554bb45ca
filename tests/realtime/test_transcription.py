"""What an endpoint that writes recordings down may answer, and what is told of it."""

from __future__ import annotations

import pytest

from runs_app.realtime.transcription import LARGEST_BYTES, Recogniser, Written, write_down
from runs_app.simulator.http_reply import HttpReply, json_reply
from tests.simulator.http_app import serving

KEY = "sk-of-a-recogniser"


async def asked(reply: HttpReply, *files: bytes) -> list[Written]:
    async def answer(body: bytes) -> HttpReply:
        return reply

    async with serving({"/v1/audio/transcriptions": answer}) as base_url:
        return await write_down(Recogniser(base_url, "whisper-1", KEY), files or (b"RIFF",))


async def test_each_file_gets_its_own_words_in_its_own_place() -> None:
    async def answer(body: bytes) -> HttpReply:
        assert b"whisper-1" in body
        return json_reply({"text": body.partition(b"<")[2].partition(b">")[0].decode()})

    async with serving({"/v1/audio/transcriptions": answer}) as base_url:
        files = [b"<%d>" % n for n in range(9)]
        written = await write_down(Recogniser(f"{base_url}/audio/transcriptions", "whisper-1"), files)
    assert written == [Written(str(n)) for n in range(9)]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (HttpReply(401, "application/json", b'{"error": {"message": "no such key: %s"}}' % KEY.encode()), "key: [key]"),
        (HttpReply(404, "text/html", b"<h1>none</h1>"), "answered HTTP 404"),
        (HttpReply(302, "text/plain", b""), "answered HTTP 302"),
        (HttpReply(200, "application/json", b'{"text": 7}'), "sent something that is no transcript"),
        (HttpReply(200, "application/json", b'{"text": "cut'), "sent something that is no transcript"),
        (HttpReply(200, "application/json", b"[" * 100_000), "sent something that is no transcript"),
        (HttpReply(200, "text/html", b"<html>"), "sent something that is no transcript"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_is_no_transcript_is_told_and_never_the_key(reply: HttpReply, said: str) -> None:
    (written,) = await asked(reply)
    assert written.text is None
    assert said in written.error
    assert KEY not in written.error


async def test_words_are_cleaned_of_what_no_page_can_hold() -> None:
    assert await asked(json_reply({"text": " A\x00 table\n for  two. "})) == [Written("A\ufffd table for two.")]
    (long,) = await asked(json_reply({"text": "a" * 50_000}))
    assert long.text == "a" * 20_000


async def test_a_file_too_large_to_send_is_not_sent() -> None:
    large, small = await asked(json_reply({"text": "Yes."}), bytes(LARGEST_BYTES + 1), b"RIFF")
    assert (large.text, small.text) == (None, "Yes.")
    assert "25 MB are the most" in large.error


async def test_where_nobody_listens_it_is_told() -> None:
    (written,) = await write_down(Recogniser("http://127.0.0.1:9/v1", "m"), [b"RIFF"])
    assert "cannot be reached" in written.error
