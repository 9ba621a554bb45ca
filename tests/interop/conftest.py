"""Our simulator, plain and over TLS, for clients that others wrote; it has heard the sentence that they speak."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.interop.servers import simulated
from tests.interop.software import need_software


class Server(NamedTuple):
    url: str
    certificate: Path | None = None


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
