"""A small reverse proxy in front of a site, as operators have one: TLS on a port of its own, headers of its own.

It runs on an event loop in a thread of its own: OpenSSL allows no two threads in one connection, as a proxy with a
thread for each direction has.
"""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

END = b"\r\n\r\n"


@dataclass
class Proxy:
    """Forwards each connection with one request to `target`; `cut` breaks all and takes no more until `mend`."""

    target: tuple[str, int]
    tls: ssl.SSLContext | None = None
    keep_port: bool = True  # else the Host that the site sees has no port
    response_headers: dict[str, str] = field(default_factory=dict)
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    is_cut: bool = False
    open: set[asyncio.StreamWriter] = field(default_factory=set)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://localhost:{self.listener.getsockname()[1]}"

    def cut(self) -> None:
        self.is_cut = True
        self.loop.call_soon_threadsafe(self._drop)

    def mend(self) -> None:
        self.is_cut = False

    async def serve(self, stopped: asyncio.Event) -> None:
        server = await asyncio.start_server(self._connection, sock=self.listener, ssl=self.tls)
        async with server:
            await stopped.wait()
        self._drop()

    def _drop(self) -> None:
        for writer in self.open:
            writer.transport.abort()

    async def _connection(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        self.open.add(to_client)
        try:
            if not self.is_cut:
                await self._forward(client, to_client)
        except (OSError, asyncio.IncompleteReadError):  # either side left, or was cut off
            pass
        finally:
            self.open.discard(to_client)
            to_client.close()

    async def _forward(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        head = await client.readuntil(END)
        site, to_site = await asyncio.open_connection(*self.target)
        self.open.add(to_site)
        try:
            to_site.write(self._request_head(head.removesuffix(END)))
            sending = asyncio.create_task(_pump(client, to_site))
            answer = await site.readuntil(END)
            to_client.write(self._response_head(answer.removesuffix(END)))
            await _pump(site, to_client)
            sending.cancel()
        finally:
            self.open.discard(to_site)
            to_site.close()

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


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until the reader's side ends; the other side is told of it."""
    with suppress(OSError):
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    writer.close()


@contextmanager
def proxied(url: str, *, tls: ssl.SSLContext | None = None, **more: object) -> Iterator[Proxy]:
    host, _, port = url.rpartition("//")[2].partition(":")
    proxy = Proxy((host, int(port)), tls, **more)  # type: ignore[arg-type]
    stopped = asyncio.Event()
    thread = threading.Thread(target=_run, args=(proxy.loop, proxy.serve(stopped)), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.loop.call_soon_threadsafe(stopped.set)
        thread.join()


def _run(loop: asyncio.AbstractEventLoop, serving: Coroutine[None, None, None]) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(serving)


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
