"""The simulator's own process: daphne with the parts of ASGI that it leaves out.

`python -m runs_app.simulator.serve --port 8750 --data-dir var/simulator` or `manage.py simulator`.
"""

from __future__ import annotations

import argparse
import logging
import sys
import threading
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

from autobahn.twisted.websocket import ConnectionDeny

# Twisted's reactor must be asyncio's before anything of Twisted is imported; daphne.server sees to that.
from daphne.server import Server
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from twisted.internet import reactor

from runs_app.simulator.app import create_app
from runs_app.simulator.tls import certificate_for
from runs_app.simulator.voices import synthesise

LARGEST_MESSAGE_BYTES = 24 * 1024 * 1024  # 15 MiB of audio in base64, and its envelope

_REASONS = {401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 429: "Too Many Requests"}


class Protocol(WebSocketProtocol):
    """daphne's websocket, which can also refuse a handshake with any status and close with any code and a reason."""

    def handle_reply(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "websocket.http.response.start":
            status = message["status"]
            deny = ConnectionDeny(code=status, reason=_REASONS.get(status, "Refused"))
            self.handshake_deferred.errback(deny)
            del self.handshake_deferred
            self.server.protocol_disconnected(self)
        elif message["type"] == "websocket.close" and self.state == self.STATE_OPEN:
            # sendClose would refuse the codes that only servers send, such as 1001 and 1011.
            self.sendCloseFrame(code=message.get("code", 1000), reasonUtf8=_reason(message), isReply=False)
        elif message["type"] != "websocket.http.response.body":
            super().handle_reply(message)


def serve(
    *,
    host: str,
    port: int,
    data_dir: Path,
    phrases: Path | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    listening: Callable[[int], None] | None = None,
) -> None:
    """Serve until Ctrl-C or SIGTERM. Port 0 is any free one; `listening` is told which."""
    WebSocketFactory.protocol = Protocol
    interface = host.replace(":", r"\:")
    endpoint = f"tcp:{port}:interface={interface}"
    if certificate and key:
        endpoint = f"ssl:{port}:interface={interface}:privateKey={key}:certKey={certificate}"
    server = _Server(
        application=create_app(data_dir, phrases=phrases),
        endpoints=[endpoint],
        websocket_max_message_size=LARGEST_MESSAGE_BYTES,
        websocket_max_frame_size=LARGEST_MESSAGE_BYTES,
        verbosity=0,
    )
    server.listening = listening
    # The voice needs a second for its first words: not while a caller waits. Not a daemon: an interpreter that ends
    # while the model is being loaded aborts.
    threading.Thread(target=synthesise, args=("Hello.",), name="warm-up").start()
    server.run()
    if server.failure:
        raise OSError(server.failure)


class _Server(Server):
    listening: Callable[[int], None] | None = None
    failure: str = ""

    def listen_success(self, port: Any) -> None:
        super().listen_success(port)
        if self.listening:
            # said from the running loop: only then does a SIGTERM end it in peace
            reactor.callLater(0, self.listening, port.getHost().port)  # type: ignore[arg-type]

    def listen_error(self, failure: Any) -> None:
        self.failure = failure.getErrorMessage()
        super().listen_error(failure)


def _reason(message: MutableMapping[str, Any]) -> bytes:
    """The reason of a close; the frame has room for 123 bytes."""
    return str(message.get("reason") or "").encode()[:123]


def read_command_line(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="simulator", description="An agent, a speech service and a judge, simulated.")
    add_arguments(parser)
    parser.add_argument("--data-dir", type=Path, required=True, help="where voices and fingerprints are kept")
    return parser.parse_args(arguments)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that `manage.py simulator` has too."""
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8750, help="0 takes any free port")
    parser.add_argument(
        "--phrases", type=Path, help="a text file with sentences, one a line, to recognise from the start"
    )
    parser.add_argument(
        "--tls", action="store_true", help="serve https and wss with a certificate that is made here and now"
    )
    parser.add_argument("--cert", type=Path, help="a certificate (PEM), to serve https and wss; needs --key")
    parser.add_argument("--key", type=Path, help="the certificate's private key (PEM)")


def run(given: argparse.Namespace, data_dir: Path) -> None:
    """Serve as the command line says, and say where. ValueError for options that do not go together."""
    certificate, key, trust = _certificate(given, data_dir)
    scheme = "https" if certificate else "http"

    def listening(port: int) -> None:
        sys.stdout.write(f"The simulator listens on {scheme}://{given.host}:{port}\n")
        if trust:
            sys.stdout.write(f"Clients must trust {trust} (for Node: NODE_EXTRA_CA_CERTS={trust})\n")
        sys.stdout.flush()

    serve(
        host=given.host,
        port=given.port,
        data_dir=data_dir,
        phrases=given.phrases,
        certificate=certificate,
        key=key,
        listening=listening,
    )


def _certificate(given: argparse.Namespace, data_dir: Path) -> tuple[Path | None, Path | None, Path | None]:
    """The certificate, its key, and what clients must trust where the certificate is our own."""
    if bool(given.cert) != bool(given.key):
        raise ValueError("--cert and --key go together: give both or neither")
    if given.tls and given.cert:
        raise ValueError("--tls makes a certificate, --cert names one: give one of them")
    if not given.tls:
        return given.cert, given.key, None
    files = certificate_for(given.host, data_dir.absolute() / "tls")
    return files.certificate, files.key, files.authority


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    given = read_command_line(sys.argv[1:])
    try:
        run(given, given.data_dir)
    except KeyboardInterrupt:
        pass
    except (OSError, ValueError) as error:
        sys.exit(f"the simulator cannot start: {error}")


if __name__ == "__main__":
    main()
