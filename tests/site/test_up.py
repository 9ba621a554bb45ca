"""`manage.py up` starts everything, says so, and stops everything on one Ctrl-C."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalsite import datadir, supervisor
from tests.services import eventually
from tests.up_stack import ROOT, Stack, get, processes_of, stack

__all__ = ["stack"]


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
