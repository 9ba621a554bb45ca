"""`manage.py up` starts everything, says so, and stops everything on one Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from evalsite import datadir, supervisor
from tests.services import eventually, free_port

ROOT = Path(__file__).resolve().parent.parent.parent


class Stack:
    """A child that runs `up` on a data folder of its own."""

    def __init__(self, data_dir: Path, *options: str) -> None:
        self.data_dir = data_dir
        self.log = data_dir.parent / "up.log"
        command = [sys.executable, "manage.py", "up", "--no-demo-run", "--port", str(free_port()), *options]
        environment = {"PATH": os.environ["PATH"], "SOUNDCHECK_DATA_DIR": str(data_dir), "HOME": str(data_dir.parent)}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def await_up(self) -> str:
        def answered() -> bool:
            assert self.process.poll() is None, self.text()
            return "Soundcheck is up" in self.text()

        eventually(answered, within_s=90, what=f"up says so: {self.text()}")
        return re.findall(r"Soundcheck is up:\s+(\S+)", self.text())[-1]

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    stack = Stack(tmp_path / "var")
    yield stack
    if stack.process.poll() is None:
        stack.interrupt()


def get(url: str) -> tuple[int, bytes]:
    try:
        with urlopen(url, timeout=10) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        return error.code, error.read()


def processes_of(data_dir: Path) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
            if (
                f"SOUNDCHECK_DATA_DIR={data_dir}".encode() in environment
                and "zombie" not in (folder / "status").read_text()
            ):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def test_up_starts_the_site_with_its_demo_and_ends_it_whole(stack: Stack) -> None:
    link = stack.await_up()
    up = datadir.read_up(stack.data_dir)
    assert set(up) == {"site", "sign_in", "simulator", "redis"}
    assert (stack.data_dir / "up.json").stat().st_mode & 0o777 == 0o600
    assert link.startswith(up["site"] + "/sign-in/")

    status, body = get(f"{up['site']}/healthz")
    health = json.loads(body)
    assert status == 200, health
    assert set(health) == {"status", "database", "redis", "conversations", "grading", "sweeper"}
    assert get(link)[0] == 200
    assert get(f"{up['site']}/static/css/tokens.css")[0] == 200

    second = subprocess.run(
        [sys.executable, "manage.py", "up"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "SOUNDCHECK_DATA_DIR": str(stack.data_dir)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert second.returncode != 0
    assert "already runs" in second.stderr

    assert stack.interrupt() == 0, stack.text()
    assert not (stack.data_dir / "up.json").exists()
    if sys.platform == "linux":
        eventually(lambda: processes_of(stack.data_dir) == [], what=str(processes_of(stack.data_dir)))


def test_a_taken_port_is_named() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(supervisor.CannotStart, match=f"port {port} is taken"):
            supervisor.free_port(wanted=port)


def test_two_stacks_find_ports_of_their_own() -> None:
    assert supervisor.free_port() != 0


def test_up_json_that_is_half_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "up.json").write_text('{"site": ')
    assert datadir.read_up(tmp_path) == {}
    datadir.write_up(tmp_path, {"site": "http://127.0.0.1:1"})
    assert datadir.read_up(tmp_path) == {"site": "http://127.0.0.1:1"}
    datadir.forget_up(tmp_path)
    assert datadir.read_up(tmp_path) == {}


def test_a_generated_key_is_kept_and_private(tmp_path: Path) -> None:
    first = datadir.generated_key(tmp_path / "var", "secret_key")
    assert datadir.generated_key(tmp_path / "var", "secret_key") == first
    assert len(first) >= 32
    assert (tmp_path / "var" / "secret_key").stat().st_mode & 0o777 == 0o600
