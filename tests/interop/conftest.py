"""Our simulator, plain and over TLS, for clients that others wrote; it has heard the sentence that they speak."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.interop.software import ROOT, SENTENCE, need_software


class Server(NamedTuple):
    url: str
    certificate: Path | None = None


@contextmanager
def simulated(folder: Path, *options: str) -> Iterator[str]:
    phrases = folder / "phrases.txt"
    phrases.write_text(f"{SENTENCE}\n")
    command = [sys.executable, "-m", "runs_app.simulator.serve", "--port", "0", "--data-dir", str(folder)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--phrases", str(phrases), *options], cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("The simulator listens on"):
                    yield line.split()[-1]
                    return
            pytest.fail((folder / "log").read_text())
        finally:
            process.terminate()
            process.wait(10)


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    need_software()
    with simulated(tmp_path_factory.mktemp("desk")) as address:
        yield Server(address.replace("http", "ws", 1) + "/v1/realtime")


@pytest.fixture(scope="session")
def secure_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Over TLS, with a certificate of its own making."""
    need_software()
    folder = tmp_path_factory.mktemp("secure-desk")
    with simulated(folder, "--tls") as address:
        yield Server(address.replace("http", "ws", 1) + "/v1/realtime", folder / "tls" / "ca.pem")
