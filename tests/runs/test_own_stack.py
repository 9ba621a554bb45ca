"""`run_eval --up`: a stack of its own in an empty folder, the demo in it, a run, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from runs_app.own_stack import StackEnded, run_beside
from tests.runs.stack import ROOT

OURS = ("DATABASE_URL", "REDIS_URL", "SIMULATOR_URL", "SITE_URL", "SITE_ORIGINS", "DJANGO_SETTINGS_MODULE")
PATIENCE_S = 500


def environment(folder: Path) -> dict[str, str]:
    rest = {name: value for name, value in os.environ.items() if name not in OURS}
    return {**rest, "SOUNDCHECK_DATA_DIR": str(folder)}


def evaluate(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "run_eval", "--up", "--suite=demo", "--scenario=booking_plain", *options]
    return subprocess.run(
        command, cwd=ROOT, env=environment(folder), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def test_a_run_does_not_wait_for_a_stack_that_is_gone(tmp_path: Path):
    log, began = tmp_path / "run_eval-up.log", tmp_path / "began"
    log.write_text("web stopped\na process kept failing\n")
    waits = "import pathlib, signal, sys; pathlib.Path(sys.argv[1]).touch(); signal.pause()"
    lasts_as_long = "import pathlib, sys\nwhile not pathlib.Path(sys.argv[1]).exists(): pass\nsys.exit(3)"
    stack = subprocess.Popen([sys.executable, "-c", lasts_as_long, str(began)])
    with pytest.raises(StackEnded, match=r"ended with code 3 before the run did: a process kept failing \(all of it: "):
        run_beside(stack, [sys.executable, "-c", waits, str(began)], log)


def test_a_run_tells_how_it_ended_while_its_stack_is_there(tmp_path: Path):
    stack = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert run_beside(stack, [sys.executable, "-c", "raise SystemExit(1)"], tmp_path / "none") == 1
        assert stack.poll() is None
    finally:
        stack.communicate(b"\n")


@pytest.mark.slow
@pytest.mark.timeout(2 * PATIENCE_S)
def test_run_eval_brings_its_own_stack_and_takes_it_away(tmp_path: Path):
    usual = ("--configurations=Front desk@2", "--no-real-time", "--seed=7", "--format=json")
    done = evaluate(tmp_path, *usual, "--fail-under=pass_rate=0.5")
    assert done.returncode == 0, done.stderr + (tmp_path / "run_eval-up.log").read_text()[-4000:]
    told = json.loads(done.stdout)
    assert (told["status"], told["trials"]["invalid"]) == ("done", 0)
    assert Path(told["results"][0]["audio"]).is_file()
    assert not (tmp_path / "up.json").exists()
    again = evaluate(tmp_path, *usual, "--configurations=Nobody")
    assert again.returncode == 2
    assert "there is no configuration 'Nobody'" in again.stderr
