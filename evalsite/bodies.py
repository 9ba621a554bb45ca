"""Bodies above the limit are dropped as they arrive: daphne hands a body to the application whole, in memory."""

from __future__ import annotations

from typing import Any

from daphne import http_protocol

from scenarios_app.views.limits import most_bytes


class LimitedRequest(http_protocol.WebRequest):
    """Keeps nothing of what is too large; the view, which knows the length from its header, answers 413."""

    arrived = 0
    is_dropped = False

    def gotLength(self, length: int | None) -> None:
        self.is_dropped = (length or 0) > most_bytes()
        super().gotLength(0 if self.is_dropped else length)

    def handleContentChunk(self, data: bytes) -> None:
        self.arrived += len(data)
        if not self.is_dropped and self.arrived > most_bytes():
            self.is_dropped = True
            self.content.seek(0)
            self.content.truncate()
        if not self.is_dropped:
            super().handleContentChunk(data)

    def process(self) -> Any:
        if self.is_dropped and not self.requestHeaders.hasHeader(b"content-length"):  # came in chunks: no view can know
            return self.basic_error(413, b"Content Too Large", "The limit is IMPORT_LIMIT_MB.")
        return super().process()


def limit() -> None:
    """For every connection from now on; daphne has no setting for it, and takes the class from its module."""
    http_protocol.WebRequest = LimitedRequest
