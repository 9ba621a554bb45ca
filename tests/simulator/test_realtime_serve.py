"""The simulator as a process: its command, its certificate, the sentences it knows from the start, and its end."""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import time_machine
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.core.management import CommandError, call_command
from websockets.asyncio.client import connect

from runs_app.simulator.app import read_phrases
from runs_app.simulator.ear import Ear
from runs_app.simulator.tls import certificate_for
from runs_app.simulator.voices import AGENT, CALLER, Voices

ROOT = Path(__file__).resolve().parents[2]
PHRASE = "The lantern is on the second shelf."


@contextmanager
def running(*command: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process of the simulator and the address that it prints."""
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        assert line.startswith("The simulator listens on "), line + process.stderr.read()
        yield process, line.split()[-1]
    finally:
        process.kill()
        process.wait(10)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of our own for 127.0.0.1, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "simulator")])
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + dt.timedelta(days=1))
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    signed = builder.add_extension(here, critical=False).sign(key, hashes.SHA256())
    (folder / "cert.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (folder / "key.pem").write_bytes(pem)
    return folder / "cert.pem", folder / "key.pem"


async def test_with_a_certificate_it_speaks_wss_and_knows_its_phrases(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    phrases = tmp_path / "phrases.txt"
    phrases.write_text(f"# what the callers of this suite say\n\n{PHRASE}\n", encoding="utf-8-sig")
    memory = tmp_path / "memory"
    options = ["--port", "0", "--data-dir", memory, "--phrases", phrases, "--cert", cert, "--key", key]
    with running("-m", "runs_app.simulator.serve", *map(str, options)) as (_, address):
        assert address.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=str(cert))
        url = f"{address.replace('https', 'wss')}/v1/realtime?model=x"
        async with connect(url, ssl=trusting, proxy=None) as socket:
            assert json.loads(await socket.recv())["type"] == "session.created"
    voices, ear = Voices(memory), Ear(memory)
    assert [ear.hear(voices.say(PHRASE, voice)).text for voice in (CALLER, AGENT)] == [PHRASE, PHRASE]


def told_to_trust(process: subprocess.Popen[str]) -> tuple[str, bytes]:
    """The file that the second line names, and what it holds."""
    assert process.stdout is not None
    path = process.stdout.readline().split("NODE_EXTRA_CA_CERTS=")[1].rstrip(")\n")
    return path, Path(path).read_bytes()


async def test_with_tls_it_makes_a_certificate_that_clients_can_trust_and_keeps_it(tmp_path: Path) -> None:
    command = ["-m", "runs_app.simulator.serve", "--port", "0", "--data-dir", str(tmp_path), "--tls"]
    trusted = []
    for _ in range(2):
        with running(*command) as (process, address):
            authority, held = told_to_trust(process)
            trusted.append(held)
            strict = ssl.create_default_context(cafile=authority)
            strict.verify_flags |= ssl.VERIFY_X509_STRICT
            url = f"{address.replace('https', 'wss')}/v1/realtime?model=x"
            async with connect(url, ssl=strict, proxy=None) as socket:
                assert json.loads(await socket.recv())["type"] == "session.created"
            with pytest.raises(ssl.SSLCertVerificationError):
                await connect(url, proxy=None)
    assert trusted[0] == trusted[1]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "tls").iterdir()} == {0o600}


@pytest.mark.parametrize("spoilt", ["missing", "unreadable", "for another host", "nearly expired"])
def test_a_certificate_that_will_not_do_is_made_anew(tmp_path: Path, spoilt: str) -> None:
    first = certificate_for("127.0.0.1", tmp_path).authority.read_bytes()
    host = "127.0.0.1"
    if spoilt == "missing":
        (tmp_path / "key.pem").unlink()
    elif spoilt == "unreadable":
        (tmp_path / "cert.pem").write_text("nothing")
    elif spoilt == "for another host":
        host = "simulator.internal"
    with time_machine.travel(dt.datetime.now(dt.UTC) + dt.timedelta(days=360 * (spoilt == "nearly expired"))):
        files = certificate_for(host, tmp_path)
        assert files.authority.read_bytes() != first
        assert certificate_for(host, tmp_path).authority.read_bytes() == files.authority.read_bytes()


def test_the_command_says_where_it_listens_and_ends_in_peace() -> None:
    with running("manage.py", "simulator", "--port", "0") as (process, address):
        host, _, port = address.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=5):
            pass
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"cert": Path("cert.pem")}, "the simulator cannot start: --cert and --key go together"),
        (
            {"tls": True, "cert": Path("cert.pem"), "key": Path("key.pem")},
            "--tls makes a certificate, --cert names one",
        ),
        ({"phrases": Path("nowhere.txt")}, "--phrases: there is no file nowhere.txt"),
    ],
)
def test_the_command_refuses_options_that_cannot_be(options: dict[str, Path], told: str) -> None:
    with pytest.raises(CommandError, match=told):
        call_command("simulator", port=0, **options)


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "runs_app.simulator.serve", "--port", port, "--data-dir", str(tmp_path)]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert "the simulator cannot start: " in ended.stderr
    assert port in ended.stderr
    assert "Traceback" not in ended.stderr


def test_phrases_are_lines_without_remarks(tmp_path: Path) -> None:
    path = tmp_path / "phrases.txt"
    path.write_text("One.\n\n# not this\n  Two.  \n")
    assert read_phrases(path) == ["One.", "Two."]
