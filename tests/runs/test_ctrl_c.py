"""Ctrl-C is not forgotten, wherever it strikes."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from runs_app import ctrl_c


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """A shell that starts the tests in the background has its signals ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Fragile:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_that_strikes_inside_a_finaliser_is_remembered() -> None:
    with ctrl_c.remembered() as pressed:
        fragile = Fragile()
        del fragile
        assert pressed.is_set()


def test_one_that_strikes_elsewhere_interrupts_as_ever() -> None:
    with ctrl_c.remembered() as pressed, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert pressed.is_set()


def test_what_was_there_before_is_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with ctrl_c.remembered():
        pass
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ctrl_c.remembered() as pressed:
            signal.raise_signal(signal.SIGINT)
            assert not pressed.is_set()
    finally:
        signal.signal(signal.SIGINT, before)
