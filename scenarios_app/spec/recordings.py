"""Recorded words of the caller: what a scenario says of them. Their sound is kept beside the scenarios, by its hash."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from scenarios_app.spec.contract import Contract, Text, Whole
from scenarios_app.spec.jsontext import Json

_SHA256 = re.compile(r"[0-9a-f]{64}")
_DRIVE = re.compile(r"[A-Za-z]:")


def _sha256(value: str) -> str:
    if not _SHA256.fullmatch(value):
        raise ValueError("must be 64 digits 0-9 a-f, the SHA-256 of the file")
    return value


Sha256 = Annotated[str, AfterValidator(_sha256), WithJsonSchema({"type": "string", "pattern": f"^{_SHA256.pattern}$"})]
Channel = Annotated[Whole, Field(ge=1)]


class Recording(Contract):
    """A spoken request that was recorded; `path` is relative to the scenario file. `condition` says how it sounds.

    Schema 1.1: `sha256` of the file that this site keeps, without one there is no sound yet; `channel` of it (from 1),
    all of them mixed when not given. `metadata.transcript` is what it says, where it is a further turn.
    """

    id: Text
    path: Text
    condition: Text | None = None
    metadata: dict[str, Json] = {}
    sha256: Sha256 | None = None
    channel: Channel | None = None

    @property
    def transcript(self) -> str:
        said = self.metadata.get("transcript")
        return said if isinstance(said, str) else ""


def path_problem(path: str) -> str | None:
    """Why a recording cannot lie there beside its scenario file; None when it can."""
    parts = PurePosixPath(path).parts
    if "\\" in path or path.startswith("/") or _DRIVE.match(path):
        return "must be relative to the scenario file, with / between folders"
    if not parts or ".." in parts:
        return "must lie in the folder of the scenario file, or below it"
    return None
