"""Files by byte ranges, for players that seek. Django's own file response answers no Range header.

Under ASGI a plain iterator would be read into memory whole, so the body is an async generator of small reads. A range
without an end ("bytes=0-", what media elements send) is answered with its first 4 MiB: the player asks for more. Daphne
holds what a slow reader has not taken yet, so that is also the most memory that one costs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.core.files.base import File
from django.core.files.storage import Storage
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

LASTING = "private, max-age=31536000, immutable"
READ_BYTES = 64 * 1024
OPEN_RANGE_BYTES = 4 * 1024 * 1024


def lasting_url(url: str, name: str) -> str:
    """The address that a browser may keep for good. Without its stamp it may not: another attempt is another file."""
    return f"{url}?v={_stamp(name)}"


def _stamp(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class ByteRange:
    """Bytes [first, last] of a file."""

    first: int
    last: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


class Unsatisfiable(Exception):
    """The range begins behind the end of the file."""


def parse_range(header: str, size: int) -> ByteRange | None:
    """The one range asked for; None when the whole file is to be sent (no header, several ranges, or nonsense)."""
    found = re.fullmatch(r"bytes=(\d{0,18})-(\d{0,18})", header.strip())
    if not found or found.group(0) == "bytes=-":
        return None
    first, last = found.groups()
    if not first:
        wanted = min(int(last), size)
        if wanted == 0:
            raise Unsatisfiable
        return ByteRange(size - wanted, size - 1)
    if last and int(last) < int(first):
        return None
    if int(first) >= size:
        raise Unsatisfiable
    end = int(last) if last else int(first) + OPEN_RANGE_BYTES - 1
    return ByteRange(int(first), min(end, size - 1))


async def _read(file: File[bytes], start: int, length: int) -> AsyncIterator[bytes]:
    try:
        await sync_to_async(file.seek, thread_sensitive=False)(start)
        while length > 0:
            block = await sync_to_async(file.read, thread_sensitive=False)(min(READ_BYTES, length))
            if not block:
                return
            length -= len(block)
            yield block
    finally:
        await sync_to_async(file.close, thread_sensitive=False)()


def _wanted(request: HttpRequest, size: int, etag: str) -> ByteRange | None:
    condition = request.headers.get("If-Range")
    if condition and condition != etag:
        return None
    return parse_range(request.headers.get("Range", ""), size)


async def serve(
    request: HttpRequest, storage: Storage, name: str, *, content_type: str, filename: str, download: bool = False
) -> HttpResponseBase:
    """The stored file, or the part of it that was asked for. Stored files never change: the name is their identity.

    Raises FileNotFoundError when storage has no such file.
    """
    size = await sync_to_async(storage.size, thread_sensitive=False)(name)
    etag = f'"{hashlib.sha256(f"{name}:{size}".encode()).hexdigest()[:24]}"'
    headers = {
        "Accept-Ranges": "bytes",
        "ETag": etag,
        "Cache-Control": LASTING if request.GET.get("v") == _stamp(name) else "private, no-cache",
        "Content-Disposition": f'{"attachment" if download else "inline"}; filename="{filename}"',
    }
    try:
        part = _wanted(request, size, etag)
    except Unsatisfiable:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"})
    if part is None:
        part, status = ByteRange(0, size - 1), 200
    else:
        status = 206
        headers["Content-Range"] = f"bytes {part.first}-{part.last}/{size}"
    headers["Content-Length"] = str(part.length)
    if request.method == "HEAD":
        return HttpResponse(status=status, headers=headers, content_type=content_type)
    file = await sync_to_async(storage.open, thread_sensitive=False)(name, "rb")
    body = _read(file, part.first, part.length)
    return StreamingHttpResponse(body, status=status, headers=headers, content_type=content_type)
