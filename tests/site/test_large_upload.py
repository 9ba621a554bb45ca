"""An upload above the limit meets the real server: refused early, and nobody's memory or data suffers."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from scenarios_app.models import Scenario
from tests.browser import Site
from tests.runs.builders import make_suite

MB = 1024 * 1024
SENT_MB = 60
FLAT_MB = 25  # what the server may grow by: less than half of what is sent


def resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / MB


def post(site: Site, size: int, *, in_chunks: bool = False) -> tuple[bytes, float]:
    """The answer to a form of `size` bytes, and the most memory that the server held meanwhile, in MB."""
    host, _, port = site.url.rpartition("//")[2].partition(":")
    head = (
        f"POST /scenarios/import/ HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {site.url}\r\n"
        f"Cookie: {django_settings.SESSION_COOKIE_NAME}={site.session_key}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n"
    )
    head += "Transfer-Encoding: chunked\r\n\r\n" if in_chunks else f"Content-Length: {size}\r\n\r\n"
    most, sent = 0.0, 0
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(head.encode())
        try:
            while sent < size:
                piece = b"x" * min(MB, size - sent)
                connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if in_chunks else piece)
                sent += len(piece)
                most = max(most, resident_mb(site.server.pid))
            connection.sendall(b"0\r\n\r\n" if in_chunks else b"")
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has heard enough
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
            most = max(most, resident_mb(site.server.pid))
    return answer, most


@pytest.mark.case("D13")
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_sixty_megabytes_are_refused_with_flat_memory(site: Site) -> None:
    """D13: 413 with the limit in the message; the server's memory stays flat, nothing is stored, and it goes on."""
    make_suite(3)
    post(site, 100_000)  # what the first request of all brings into memory is not the upload's
    before = resident_mb(site.server.pid)
    answer, most = post(site, SENT_MB * MB)
    assert answer.startswith(b"HTTP/1.1 413 "), answer[:200]
    assert b"the limit is 20 MB (IMPORT_LIMIT_MB)" in answer
    assert most - before < FLAT_MB, f"grew from {before:.0f} to {most:.0f} MB"

    answer, most = post(site, SENT_MB * MB, in_chunks=True)
    assert answer.startswith(b"HTTP/1.1 413 "), answer[:200]
    assert b"IMPORT_LIMIT_MB" in answer
    assert most - before < FLAT_MB, f"in chunks: grew from {before:.0f} to {most:.0f} MB"

    assert Scenario.objects.count() == 3
    assert post(site, 100)[0].startswith(b"HTTP/1.1 403 ")  # without its token, and answered at once
