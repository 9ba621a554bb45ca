"""A child that runs `manage.py up` on a data folder of its own, as a newcomer would."""

from __future__ import annotations

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

from tests.services import eventually, free_port

ROOT = Path(__file__).resolve().parent.parent


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
