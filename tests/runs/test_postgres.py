"""The promises that lean on the database's locks, on a real PostgreSQL: the same tests once more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MODULES = ("test_claims.py", "test_sweeping.py", "test_recording.py", "test_stopping.py")
PATIENCE_S = 280


@pytest.mark.postgres
@pytest.mark.timeout(300)
def test_claims_leases_and_the_sweeper_hold_on_postgresql(postgres_url: str):
    modules = [str(HERE / module) for module in MODULES]
    command = [sys.executable, "-m", "pytest", *modules, "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "TEST_DATABASE_URL": postgres_url}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
