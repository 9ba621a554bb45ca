"""Seeking in the browser rests on byte ranges."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.storage import FileSystemStorage
from django.http import HttpResponseBase, StreamingHttpResponse
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from runs_app import audio_http

SIZE = 48_044
BODY = bytes(i % 251 for i in range(SIZE))


@pytest.fixture
def storage(tmp_path: Path) -> FileSystemStorage:
    (tmp_path / "a.wav").write_bytes(BODY)
    return FileSystemStorage(location=str(tmp_path))


async def get(storage: FileSystemStorage, method: str = "get", **headers: str) -> tuple[HttpResponseBase, bytes]:
    request = getattr(RequestFactory(), method)("/", headers={k.replace("_", "-"): v for k, v in headers.items()})
    response = await audio_http.serve(request, storage, "a.wav", content_type="audio/wav", filename="a.wav")
    if isinstance(response, StreamingHttpResponse):
        return response, b"".join([part async for part in response])  # type: ignore[union-attr]
    return response, response.content  # type: ignore[attr-defined]


@pytest.mark.case("C11")
@pytest.mark.parametrize(
    ("header", "first", "last"),
    [
        ("bytes=0-1", 0, 1),
        ("bytes=24000-", 24_000, SIZE - 1),
        ("bytes=-100", SIZE - 100, SIZE - 1),
        ("bytes=0-99999999", 0, SIZE - 1),
    ],
)
async def test_a_range_is_answered_with_its_bytes(
    storage: FileSystemStorage, header: str, first: int, last: int
) -> None:
    """C11"""
    response, body = await get(storage, Range=header)
    assert response.status_code == 206
    assert response["Content-Range"] == f"bytes {first}-{last}/{SIZE}"
    assert response["Content-Length"] == str(last - first + 1)
    assert response["Content-Type"] == "audio/wav"
    assert body == BODY[first : last + 1]


@pytest.mark.case("C11")
async def test_a_range_behind_the_end_is_refused_with_the_size(storage: FileSystemStorage) -> None:
    """C11"""
    response, body = await get(storage, Range="bytes=48044-")
    assert response.status_code == 416
    assert response["Content-Range"] == f"bytes */{SIZE}"
    assert body == b""


@pytest.mark.case("C11")
@pytest.mark.parametrize("header", ["", "nonsense", "bytes=5-2", "bytes=0-1,5-6", "bytes=-", "items=0-1"])
async def test_without_one_readable_range_the_whole_file_is_sent(storage: FileSystemStorage, header: str) -> None:
    """C11"""
    response, body = await get(storage, Range=header)
    assert (response.status_code, response["Accept-Ranges"], len(body)) == (200, "bytes", SIZE)


async def test_if_range_of_another_file_sends_the_whole(storage: FileSystemStorage) -> None:
    response, body = await get(storage, Range="bytes=0-1", If_Range='"other"')
    assert (response.status_code, body) == (200, BODY)
    again, part = await get(storage, Range="bytes=0-1", If_Range=response["ETag"])
    assert (again.status_code, part) == (206, BODY[:2])


async def test_head_tells_the_length_and_sends_nothing(storage: FileSystemStorage) -> None:
    response, body = await get(storage, method="head")
    assert (response.status_code, response["Content-Length"], body) == (200, str(SIZE), b"")


async def test_a_missing_file_is_reported(storage: FileSystemStorage) -> None:
    with pytest.raises(FileNotFoundError):
        await audio_http.serve(RequestFactory().get("/"), storage, "b.wav", content_type="audio/wav", filename="b.wav")


def test_an_open_range_of_a_long_recording_is_answered_in_parts() -> None:
    found = audio_http.parse_range("bytes=100-", 259_000_000)
    assert found == audio_http.ByteRange(100, 100 + audio_http.OPEN_RANGE_BYTES - 1)


RANGES = st.from_regex(r"bytes=\d{0,12}-\d{0,12}", fullmatch=True)


@given(header=st.text(max_size=30) | RANGES, size=st.integers(1, 10**9))
def test_whatever_is_asked_a_range_lies_inside_the_file(header: str, size: int) -> None:
    try:
        found = audio_http.parse_range(header, size)
    except audio_http.Unsatisfiable:
        return
    assert found is None or 0 <= found.first <= found.last < size


def test_a_number_of_thousands_of_digits_is_no_range() -> None:
    assert audio_http.parse_range(f"bytes={'9' * 5_000}-", SIZE) is None


async def test_only_the_address_of_this_very_file_may_be_kept_for_good(storage: FileSystemStorage) -> None:
    async def kept(url: str) -> str:
        asked = RequestFactory().head(url)
        answer = await audio_http.serve(asked, storage, "a.wav", content_type="audio/wav", filename="a.wav")
        return str(answer["Cache-Control"])

    assert "immutable" in await kept(audio_http.lasting_url("/", "a.wav"))
    assert await kept("/") == "private, no-cache"
    assert await kept(audio_http.lasting_url("/", "of/another/attempt.wav")) == "private, no-cache"
