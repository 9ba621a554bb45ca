"""The fields of a `multipart/form-data` body (RFC 7578), as HTTP clients send it.

The boundary is read from the body's own first line, which is what the content type names too.
"""

from __future__ import annotations

import re

from runs_app.simulator.http_reply import RequestError

_LONGEST_BOUNDARY = 70  # RFC 2046
_NAME = re.compile(
    rb'^content-disposition:\s*form-data\b[^\r\n]*?[;\s]name="?([^";\r\n]+)', re.IGNORECASE | re.MULTILINE
)


def read_form(body: bytes) -> dict[str, bytes]:
    """The fields by name, of several with one name the last. RequestError when `body` is no form or is cut off."""
    delimiter = body.partition(b"\r\n")[0]
    if not delimiter.startswith(b"--") or not 2 < len(delimiter) <= _LONGEST_BOUNDARY + 2:
        raise RequestError("the body must be multipart/form-data", code="invalid_form")
    parts = (b"\r\n" + body).split(b"\r\n" + delimiter)
    if not parts[-1].startswith(b"--"):
        raise RequestError("the form ends before its last boundary: a part of it is missing", code="invalid_form")
    return dict(_field(part) for part in parts[1:-1])


def _field(part: bytes) -> tuple[str, bytes]:
    head, found, content = part.partition(b"\r\n\r\n")
    name = _NAME.search(head)
    if not found or name is None:
        raise RequestError("a part of the form has no name", code="invalid_form")
    return name[1].decode("utf-8", "replace"), content
