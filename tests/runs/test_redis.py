"""The road of a trial over the Redis server that a distribution ships, as production uses it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from runs_app.services import liveness
from tests.runs import agents
from tests.runs.builders import make_configuration, make_run
from tests.runs.conftest import send_to
from tests.runs.stack import Stack, stacked
from tests.scripted_server import serving_in_thread
from tests.services import eventually, free_port, missing

pytestmark = pytest.mark.redis


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


@pytest.fixture
def real_redis_url(tmp_path: Path) -> Iterator[str]:
    binary = shutil.which("redis-server")
    if binary is None:
        missing("redis", "no Redis server is installed (redis-server)")
        return
    port = free_port()
    server = subprocess.Popen(
        [binary, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
    )
    try:
        with redis.Redis(port=port) as client:
            eventually(lambda: _answers(client), what="the Redis server answers")
            assert "redis_version" in client.info()
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait(timeout=10)


@pytest.fixture
def stack(transactional_db: None, real_redis_url: str, tmp_path: Path, settings: object) -> Iterator[Stack]:
    for url in send_to(settings, real_redis_url):
        yield from stacked(url, tmp_path / "processes.log")


def test_a_run_is_played_and_graded_over_a_real_redis(stack: Stack) -> None:
    stack.worker()
    eventually(lambda: liveness.seen("conversations") == "ok", within_s=90, what="the worker is up")
    with serving_in_thread(agents.answering()) as agent:
        run = make_run(2, configurations=[make_configuration(endpoint=agent.url)], repeats=2)
        stack.wait_for(run)
    assert list(run.trials.values_list("outcome", flat=True)) == ["passed"] * 4
    assert len(agent.sessions) == 4
