"""`run_eval --up`: the same command once more, beside a `manage.py up` that lives as long as it does."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from evalsite import datadir, supervisor

MANAGE = Path(__file__).resolve().parent.parent / "manage.py"
START_PATIENCE_S = 120.0
STOP_PATIENCE_S = 30.0
LOOK_EVERY_S = 0.5


class StackEnded(Exception):
    """The stack did not come up, or did not stay; the message says what it said last."""


def run_beside_own_stack(data_dir: Path) -> int:
    """Exit code of the same command without --up, against a stack on this data folder. Raises StackEnded."""
    log = data_dir / "run_eval-up.log"
    data_dir.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        # A session of its own: a Ctrl-C at the terminal is ours to pass on, after the command has spoken.
        stack = subprocess.Popen(
            # any free port: two that start at the same moment would both find the usual one free
            [sys.executable, str(MANAGE), "up", "--no-demo-run", f"--port={supervisor.free_port()}"],
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        _await(stack, data_dir, log)
        without_up = [sys.executable, str(MANAGE), *(word for word in sys.argv[1:] if word != "--up")]
        return run_beside(stack, without_up, log)
    finally:
        _stop(stack)


def _await(stack: subprocess.Popen[bytes], data_dir: Path, log: Path) -> None:
    deadline = time.monotonic() + START_PATIENCE_S
    while time.monotonic() < deadline:
        if stack.poll() is not None:
            raise StackEnded(f"the stack ended with code {stack.returncode}: {_last_words(log)}")
        site = datadir.read_up(data_dir).get("site")
        if site and _healthy(site):
            return
        time.sleep(0.2)
    raise StackEnded(f"the stack was not healthy within {START_PATIENCE_S:.0f} s: {_last_words(log)}")


def _healthy(site: str) -> bool:
    try:
        with urllib.request.urlopen(f"{site}/healthz", timeout=3) as answer:
            return bool(json.load(answer)["status"] == "ok")
    except (urllib.error.URLError, OSError, ValueError, KeyError):
        return False


def _last_words(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return f"{lines[-1].strip() if lines else 'it said nothing'} (all of it: {log})"


def run_beside(stack: subprocess.Popen[bytes], command: list[str], log: Path) -> int:
    """Exit code of the command. Raises StackEnded when the stack ends first: nobody would play what it waits for."""
    inner = subprocess.Popen(command)
    while True:
        try:
            return inner.wait(LOOK_EVERY_S)
        except KeyboardInterrupt:
            continue  # the inner command got it as well, and ends with what it has to say
        except subprocess.TimeoutExpired:
            if stack.poll() is not None:
                break
    inner.terminate()
    inner.wait()
    raise StackEnded(f"the stack ended with code {stack.returncode} before the run did: {_last_words(log)}")


def _stop(stack: subprocess.Popen[bytes]) -> None:
    if stack.poll() is not None:
        return
    stack.send_signal(signal.SIGINT)
    try:
        stack.wait(STOP_PATIENCE_S)
    except subprocess.TimeoutExpired:
        stack.kill()
        stack.wait()
