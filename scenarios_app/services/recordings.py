"""Recordings are kept here, once each by the hash of their content, until neither version nor draft names them.

Whether a file is audio that a caller can say is for those to tell who send it: they register themselves, since nothing
of this app may import them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from scenarios_app.models import Recording, ScenarioDraft, ScenarioVersion
from scenarios_app.services.reports import NotStored
from scenarios_app.spec.errors import Problem, SpecError

KEPT = timedelta(hours=24)  # what nobody named within a day was tried out and left
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Sound:
    """What a file was found to be. `notes`: one line for each thing that is changed before it is sent."""

    duration_ms: float
    rate_hz: int
    channels: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kept:
    recording: Recording
    notes: tuple[str, ...]


Read = Callable[[bytes, int | None], Sound]  # the file and its channel (from 1; None: all); ValueError says why not

_readers: list[Read] = []


def register(read: Read) -> None:
    _readers[:] = [read]


def keep_recording(*, data: bytes, name: str, channel: int | None = None, user: User | None = None) -> Kept:
    """The file as it was sent, stored if it is new. Raises SpecError, naming the file, when no caller can say it."""
    sound = _checked(data, name, channel)
    forget_unused_recordings()
    return Kept(_keep(data, name, sound, user), sound.notes)


def keep_recordings(*, files: Mapping[str, bytes], user: User | None = None) -> dict[str, str]:
    """The SHA-256 of each file by its name. All or nothing: raises SpecError with what is wrong with every file."""
    sounds = _all_checked(files)
    if sounds:
        forget_unused_recordings()
    return {name: _keep(files[name], name, sound, user).sha256 for name, sound in sounds.items()}


def check_recordings(*, files: Mapping[str, bytes]) -> dict[str, str]:
    """What `keep_recordings` would return or raise; nothing is stored."""
    return {name: _sha256(files[name]) for name in _all_checked(files)}


def _all_checked(files: Mapping[str, bytes]) -> dict[str, Sound]:
    sounds: dict[str, Sound] = {}
    problems: list[Problem] = []
    for name, data in files.items():
        try:
            sounds[name] = _checked(data, name, None)
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(problems)
    return sounds


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _keep(data: bytes, name: str, sound: Sound, user: User | None) -> Recording:
    sha256 = _sha256(data)
    with transaction.atomic():
        recording, _ = Recording.objects.get_or_create(
            sha256=sha256,
            defaults={
                "name": name[-255:],
                "size": len(data),
                "duration_ms": sound.duration_ms,
                "rate_hz": sound.rate_hz,
                "channels": sound.channels,
                "created_by": user,
            },
        )
        _store(recording, data)
    return recording


def _checked(data: bytes, name: str, channel: int | None) -> Sound:
    limit_mb = settings.IMPORT_LIMIT_MB
    if len(data) > limit_mb * 1024 * 1024:
        size_mb = len(data) / 1024 / 1024
        raise SpecError([Problem(name, f"is {size_mb:.1f} MB, and the limit is {limit_mb} MB (IMPORT_LIMIT_MB)")])
    try:
        return _readers[0](data, channel)
    except ValueError as error:
        raise SpecError([Problem(name, f"cannot be a caller's words: {error}")]) from error


def _store(recording: Recording, data: bytes) -> None:
    if default_storage.exists(recording.path):
        return
    stored = default_storage.save(recording.path, ContentFile(data))
    if stored != recording.path:  # somebody else stored the same content at this very moment
        default_storage.delete(stored)


def read_recording_file(sha256: str) -> bytes:
    """The file as it was sent. Raises NotStored."""
    path = Recording(sha256=sha256).path
    try:
        with default_storage.open(path) as file:
            data: bytes = file.read()
    except FileNotFoundError as error:
        raise NotStored(f"the sound {sha256[:12]} is not on this site: send its file again") from error
    return data


def stored_recordings(hashes: Iterable[str]) -> dict[str, Recording]:
    """Those of the hashes that this site has, by hash."""
    wanted = set(hashes)
    return {row.sha256: row for row in Recording.objects.filter(sha256__in=wanted)} if wanted else {}


def forget_unused_recordings() -> int:
    """Deletes what was sent more than a day ago and no version or draft names. Returns how many that were."""
    old = Recording.objects.filter(created_at__lt=timezone.now() - KEPT)
    if not old.exists():
        return 0
    named = _named_by_versions() | _named_by_drafts()
    unused = [recording for recording in old if recording.sha256 not in named]
    for recording in unused:
        recording.delete()
        default_storage.delete(recording.path)
    return len(unused)


def _named_by_versions() -> set[str]:
    rows = ScenarioVersion.objects.filter(content__input__has_key="recordings")
    listed = rows.values_list("content__input__recordings", flat=True)
    return {str(entry["sha256"]) for entries in listed for entry in entries or [] if entry.get("sha256")}


def _named_by_drafts() -> set[str]:
    """Whatever looks like a hash in them: a draft need not be readable yet."""
    drafts = ScenarioDraft.objects.order_by().values_list("fields", flat=True)
    return {found for fields in drafts for text in fields.values() for found in _HASH.findall(str(text))}
