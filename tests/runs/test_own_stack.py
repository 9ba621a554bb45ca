"""`run_eval --up`: a stack of its own in an empty folder, the demo in it, a run, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
