"""A judge's retries wait in real life; in a test the waits are nothing and the number of tries is the real one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import stamina


@pytest.fixture(autouse=True)
def no_waiting_between_tries() -> Iterator[None]:
    with stamina.set_testing(True, attempts=100, cap=True):
        yield
