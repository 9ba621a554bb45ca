"""The simulator as a process of its own, once for the session of tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.simulator.wire_client import Simulator

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    """A running simulator with a memory of its own, on a free port."""
    from tests.simulator.wire_client import Simulator  # imports a lot

    folder = tmp_path_factory.mktemp("simulator")
    command = [sys.executable, "-m", "runs_app.simulator.serve", "--port", "0", "--data-dir", str(folder)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("The simulator listens on http://"), (folder / "log").read_text()
            yield Simulator(line.split()[-1].removeprefix("http://"))
        finally:
            process.terminate()
            process.wait(10)
