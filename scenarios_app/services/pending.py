"""A file between its dry run and its import: kept in storage, so that a person's yes means exactly what was shown."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from scenarios_app.services.reports import NotStored

FOLDER = "imports"
KEPT = timedelta(hours=24)


def keep_upload(*, data: bytes) -> str:
    """A token that `read_upload` takes for a day. What others left behind longer than that is deleted."""
    _forget_old()
    token = secrets.token_hex(16)
    default_storage.save(_path(token), ContentFile(data))
    return token


def read_upload(token: str) -> bytes:
    """Raises NotStored when the token is unknown or too old."""
    known = len(token) == 32 and all(character in "0123456789abcdef" for character in token)
    if not known or not default_storage.exists(_path(token)):
        raise NotStored("the checked file is no longer kept here: choose it again")
    with default_storage.open(_path(token)) as file:
        data: bytes = file.read()
    return data


def drop_upload(token: str) -> None:
    default_storage.delete(_path(token))


def _path(token: str) -> str:
    return f"{FOLDER}/{token}.json"


def _forget_old() -> None:
    if not default_storage.exists(FOLDER):
        return
    oldest = timezone.now() - KEPT
    for name in default_storage.listdir(FOLDER)[1]:
        path = f"{FOLDER}/{name}"
        if default_storage.get_modified_time(path) < oldest:
            default_storage.delete(path)
