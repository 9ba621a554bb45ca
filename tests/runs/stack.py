"""Real worker processes on the test's own database file and an embedded Valkey, and a scripted agent to talk to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.db import connection

from runs_app.models import Run, Trial
from tests.services import eventually

ROOT = Path(__file__).resolve().parent.parent.parent
WAIT_S = 60.0
START_S = 120.0  # a worker imports a lot, and the machine may be busy


@dataclass
class Stack:
    """Started processes by their own handles; `stop` ends those and no others."""

    redis_url: str
    log_path: Path
    lease_s: int = 3
    secrets: dict[str, str] = field(default_factory=dict)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "evalsite.settings",
            "DATABASE_URL": database_url(),
            "REDIS_URL": self.redis_url,
            "SOUNDCHECK_DATA_DIR": str(settings.DATA_DIR),
            "LEASE_SECONDS": str(self.lease_s),
            "SITE_ORIGINS": "http://testserver",
            **self.secrets,
        }

    def start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with self.log_path.open("ab") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment(), stdout=log, stderr=log, start_new_session=True
            )
        self.processes.append(process)
        return process

    def worker(self, queues: str = "conversations,grading", *, threads: int = 16) -> subprocess.Popen[bytes]:
        """A worker that is ready for work."""
        command = [sys.executable, "-m", "celery", "-A", "evalsite", "worker", "-P", "threads", "-c", str(threads)]
        command += ["-Q", queues, "--prefetch-multiplier", "1", "--without-gossip", "--without-mingle"]
        name = f"w{len(self.processes)}@test"
        started = self.start([*command, "--without-heartbeat", "--loglevel", "INFO", "-n", name])
        try:
            eventually(lambda: f"{name} ready" in self.log(), within_s=START_S, what=f"worker {name} is ready")
        except AssertionError as error:
            raise AssertionError(f"{error}; it said:\n{self.log()[-4000:]}") from None
        return started

    def sweeper(self, every_s: float = 0.3) -> subprocess.Popen[bytes]:
        return self.start([sys.executable, "manage.py", "sweep", "--every", str(every_s)])

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def kill(self, process: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> None:
        process.send_signal(number)
        process.wait(30)

    def stop(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
        for process in self.processes:
            process.wait(30)

    def wait_for(self, run: Run, status: str = "done", *, within_s: float = WAIT_S) -> None:
        def reached() -> bool:
            run.refresh_from_db()
            return run.status == status

        try:
            eventually(reached, within_s=within_s, what=f"run {run.pk} is {status}")
        except AssertionError as error:
            states = list(run.trials.values_list("pk", "status", "attempt", "outcome", "stage", "reason"))
            raise AssertionError(f"{error}; trials: {states}; log:\n{self.log()[-6000:]}") from None


def database_url() -> str:
    known = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{known['NAME']}"
    return f"postgres://{known['USER']}@{known['HOST']}:{known['PORT']}/{known['NAME']}"


def running(run: Run) -> int:
    return Trial.objects.filter(run=run, status="running").count()


def empty_redis(url: str) -> None:
    with redis.Redis.from_url(url) as client:
        client.flushdb()


def stacked(redis_url: str, log_path: Path) -> Iterator[Stack]:
    stack = Stack(redis_url, log_path)
    empty_redis(redis_url)
    try:
        yield stack
    finally:
        stack.stop()


def channel_layers(redis_url: str) -> dict[str, Any]:
    """As the settings of the site: redis-py would give up by itself after 5 s, as long as the layer waits at a time."""
    hosts = [{"address": redis_url, "socket_timeout": 30}]
    config = {"hosts": hosts, "capacity": 2000, "expiry": 30}
    return {"default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": config}}


def numbered(redis_url: str, number: int) -> str:
    """Another of the server's databases: what is queued there is seen by its own workers alone."""
    return f"{redis_url.rpartition('/')[0]}/{number}"
