"""Processes are started again, three times in a minute at most."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from evalsite.keep import may_restart


def test_three_restarts_in_a_minute_are_allowed() -> None:
    assert may_restart([0.0, 10.0, 20.0], 20.0)
    assert not may_restart([0.0, 10.0, 20.0, 30.0], 30.0)


def test_old_ends_are_forgotten() -> None:
    assert may_restart([0.0, 10.0, 20.0, 61.0], 61.0)


def test_a_process_that_keeps_failing_is_given_up_with_its_code(tmp_path: Path) -> None:
    count = tmp_path / "starts"
    child = f"open({str(count)!r}, 'a').write('x'); raise SystemExit(7)"
    command = [sys.executable, "-m", "evalsite.keep", sys.executable, "-c", child]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 7
    assert count.read_text() == "xxxx"
    assert "giving up" in done.stdout


def test_a_stopped_process_is_not_started_again(tmp_path: Path) -> None:
    count = tmp_path / "starts"
    child = f"import time; open({str(count)!r}, 'a').write('x'); print('up', flush=True); time.sleep(60)"
    command = [sys.executable, "-m", "evalsite.keep", sys.executable, "-c", child]
    kept = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert kept.stdout is not None
    assert kept.stdout.readline() == "up\n"
    os.killpg(kept.pid, signal.SIGTERM)
    assert kept.wait(timeout=30) == 0
    assert count.read_text() == "x"
