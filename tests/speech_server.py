"""A scripted speech endpoint on a real socket: answers what it was told to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. `hold` keeps it back until the event is set, `cut` breaks the body off half way."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "audio/wav"})
    hold: threading.Event | None = None
    cut: bool = False


def error_answer(
    status: int, message: str, *, code: str | None = None, headers: dict[str, str] | None = None
) -> Answer:
    body = json.dumps({"error": {"message": message, "code": code, "type": "invalid_request_error"}}).encode()
    return Answer(body, status, {"Content-Type": "application/json", **(headers or {})})


@dataclass
class SpeechServer:
    """`asked` holds one dict for each request: path, headers (lower case names) and JSON body.

    The answers are given in their order, the last one again and again.
    """

    answers: list[Answer]
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_answer(self, request: dict[str, Any]) -> Answer:
        with self.lock:
            self.asked.append(request)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.arrived.set()
        return answer


@contextmanager
def speech_server(answers: Sequence[Answer]) -> Iterator[SpeechServer]:
    script = SpeechServer(list(answers))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(script))
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(script: SpeechServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = script.next_answer({"path": self.path, "headers": headers, "json": json.loads(body or b"{}")})
            if answer.hold is not None:
                answer.hold.wait(20)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body[: len(answer.body) // 2] if answer.cut else answer.body)
            self.close_connection = True

        do_GET = do_POST

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
