"""A small reverse proxy in front of a site, as operators have one: TLS on a port of its own, headers of its own."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

END = b"\r\n\r\n"
PATIENCE_S = 30


@dataclass
class Proxy:
    """Forwards each connection with one request to `target`; `cut` breaks all and takes no more until `mend`."""

    target: tuple[str, int]
    tls: ssl.SSLContext | None = None
    keep_port: bool = True  # else the Host that the site sees has no port
    response_headers: dict[str, str] = field(default_factory=dict)
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    is_cut: bool = False
    sockets: set[socket.socket] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://localhost:{self.listener.getsockname()[1]}"

    def cut(self) -> None:
        self.is_cut = True
        for one in list(self.sockets):
            _close(one)

    def mend(self) -> None:
        self.is_cut = False

    def serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:  # the listener is closed: the end
                return
            threading.Thread(target=self._connection, args=(client,), daemon=True).start()

    def _connection(self, client: socket.socket) -> None:
        if self.is_cut:
            return _close(client)
        with suppress(OSError, ssl.SSLError):
            client.settimeout(PATIENCE_S)
            if self.tls:
                client = self.tls.wrap_socket(client, server_side=True)
            head, rest = _head(client)
            if not head:
                return _close(client)
            server = socket.create_connection(self.target, timeout=PATIENCE_S)
            self.sockets |= {client, server}
            server.sendall(self._request_head(head) + rest)
            threading.Thread(target=_pump, args=(client, server), daemon=True).start()
            answer, rest = _head(server)
            client.sendall(self._response_head(answer) + rest)
            _pump(server, client)
            self.sockets -= {client, server}
        return _close(client)

    def _request_head(self, head: bytes) -> bytes:
        first, *lines = head.split(b"\r\n")
        kept = [line for line in lines if not line.lower().startswith((b"connection:", b"x-forwarded-"))]
        upgrade = any(line.lower().startswith(b"upgrade:") for line in lines)
        if not self.keep_port:
            kept = [line.rpartition(b":")[0] if line.lower().startswith(b"host:") else line for line in kept]
        kept += [b"Connection: Upgrade" if upgrade else b"Connection: close"]
        kept += [b"X-Forwarded-Proto: https"] if self.tls else []
        return b"\r\n".join([first, *kept]) + END

    def _response_head(self, head: bytes) -> bytes:
        added = [f"{name}: {value}".encode() for name, value in self.response_headers.items()]
        return b"\r\n".join([head, *added]) + END


def _head(sender: socket.socket) -> tuple[bytes, bytes]:
    """The head of a message without its empty line, and what came after it."""
    got = b""
    while END not in got:
        piece = sender.recv(65536)
        if not piece:
            return b"", b""
        got += piece
    head, _, rest = got.partition(END)
    return head, rest


def _pump(sender: socket.socket, receiver: socket.socket) -> None:
    with suppress(OSError, ssl.SSLError):
        while piece := sender.recv(65536):
            receiver.sendall(piece)
    _close(receiver)


def _close(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextmanager
def proxied(url: str, *, tls: ssl.SSLContext | None = None, **more: object) -> Iterator[Proxy]:
    host, _, port = url.rpartition("//")[2].partition(":")
    proxy = Proxy((host, int(port)), tls, **more)  # type: ignore[arg-type]
    threading.Thread(target=proxy.serve, daemon=True).start()
    try:
        yield proxy
    finally:
        _close(proxy.listener)
        proxy.cut()


def own_tls(folder: Path) -> ssl.SSLContext:
    """A certificate for localhost that nobody else signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = folder / "localhost.pem"
    pem.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context
