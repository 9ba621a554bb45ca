from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsite.celery import app
from runs_app.services import liveness
from tests.runs.stack import Stack, channel_layers, empty_redis, numbered, stacked
from tests.services import eventually

LEASE_S = 3


def send_to(settings: Any, url: str) -> Iterator[str]:
    """This process sends its messages and rings to this Redis."""
    settings.REDIS_URL = url
    settings.LEASE_SECONDS = LEASE_S
    settings.CHANNEL_LAYERS = channel_layers(url)
    before = app.conf.broker_url
    app.conf.broker_url = app.conf.broker_write_url = url
    yield url
    app.conf.broker_url = app.conf.broker_write_url = before


@pytest.fixture
def on_redis(redis_url: str, settings) -> Iterator[str]:
    url = numbered(redis_url, 2)
    empty_redis(url)
    yield from send_to(settings, url)


@pytest.fixture(scope="session")
def _shared(django_db_setup, redis_url: str, tmp_path_factory) -> Iterator[Stack]:
    """A worker for all tests of the session that do not harm it: starting one takes seconds.

    It has no sweeper: that would find the trials of other tests' stacks in the database and send them here.
    """
    log = tmp_path_factory.mktemp("shared") / "processes.log"
    for stack in stacked(numbered(redis_url, 0), log):
        stack.worker()
        yield stack


@pytest.fixture
def worker(transactional_db, _shared: Stack, settings) -> Iterator[Stack]:
    """The shared stack, as it stands; this process sends to it."""
    for _ in send_to(settings, _shared.redis_url):
        eventually(lambda: liveness.seen("grading") == "ok", within_s=90, what="the worker is up")
        yield _shared


@pytest.fixture
def stack(transactional_db, redis_url: str, tmp_path: Path, settings) -> Iterator[Stack]:
    """A stack of this test alone, with nothing started; all is gone before its database is emptied."""
    for url in send_to(settings, numbered(redis_url, 1)):
        yield from stacked(url, tmp_path / "processes.log")
