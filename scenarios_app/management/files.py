"""Files of the commands: read whole, written atomically, problems one per line."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from django.core.management.base import CommandError

from scenarios_app.spec.errors import Problem


def read_file(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}") from error


def write_file(name: str, text: str) -> None:
    """The whole text or, when the disk is full or the folder closed, the file as it was before."""
    target = Path(name).resolve()
    if target.exists() and not target.is_file():  # /dev/stdout, a named pipe: nothing to replace
        target.write_text(text, encoding="utf-8")
        return
    _write_whole(name, target, text.encode())


def write_sound(target: Path, data: bytes) -> None:
    """A recording beside its scenario file, in a folder that is made for it."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{target.parent} cannot be made: {error.strerror}") from error
    _write_whole(str(target), target.resolve(), data)


def _write_whole(name: str, target: Path, data: bytes) -> None:
    try:
        handle, fresh = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise CommandError(f"{name} cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(fresh, _usual_mode())
        os.replace(fresh, target)
    except OSError as error:
        Path(fresh).unlink(missing_ok=True)
        raise CommandError(f"{name} cannot be written: {error.strerror}") from error


def _usual_mode() -> int:
    """The mode that a plain open() gives; mkstemp makes files for their owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def problem_lines(problems: Iterable[Problem]) -> str:
    listed = [str(problem) for problem in problems]
    count = "1 problem" if len(listed) == 1 else f"{len(listed)} problems"
    return "\n".join([f"nothing was stored, {count}:", *listed])
