"""Scenario files that come and go with their recordings: several files at once, or all of them in a ZIP."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings

from scenarios_app.services.recordings import read_recording_file, stored_recordings
from scenarios_app.services.scenario_formats import write_scenarios
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.recordings import path_problem
from scenarios_app.spec.scenario import dump_file, parse_scenario

SCENARIOS = (".json", ".yaml", ".yml", ".csv", ".tsv")
SOUNDS = (".wav", ".flac", ".ogg", ".oga", ".mp3", ".aif", ".aiff", ".au", ".w64", ".caf")
MOST_UNPACKED = 10  # times IMPORT_LIMIT_MB: a ZIP of silence unpacks to a thousand times its size


@dataclass(frozen=True)
class Bundle:
    """One scenario file, and the files of its recordings by their paths beside it."""

    name: str
    data: bytes
    sounds: Mapping[str, bytes]


def open_bundle(files: Sequence[tuple[str, bytes]]) -> Bundle:
    """What was sent: a scenario file with or without sounds, or one ZIP of them. Raises SpecError."""
    if len(files) == 1 and files[0][1][:4] == b"PK\x03\x04":
        return _beside(_unpacked(*files[0]))
    return Bundle(*files[0], {}) if len(files) == 1 else _beside(dict(files))


def _beside(files: Mapping[str, bytes]) -> Bundle:
    named = [name for name in files if name.lower().endswith(SCENARIOS)]
    if len(named) != 1:
        found = f"these are {len(named)}: {', '.join(named)}" if named else "none of these files is one"
        raise SpecError([Problem("file", f"choose one scenario file (JSON, YAML or CSV) with its recordings; {found}")])
    folder = PurePosixPath(named[0]).parent
    sounds = {_below(name, folder): data for name, data in files.items() if name != named[0]}
    return Bundle(PurePosixPath(named[0]).name, files[named[0]], sounds)


def _below(name: str, folder: PurePosixPath) -> str:
    path = PurePosixPath(name)
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else name


def _unpacked(name: str, data: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            wanted = [entry for entry in archive.infolist() if _is_ours(entry.filename)]
            most_mb = settings.IMPORT_LIMIT_MB * MOST_UNPACKED
            if sum(entry.file_size for entry in wanted) > most_mb * 1024 * 1024:
                raise SpecError(
                    [Problem(name, f"unpacks to more than {most_mb} MB ({MOST_UNPACKED} x IMPORT_LIMIT_MB)")]
                )
            return {entry.filename: archive.read(entry) for entry in wanted}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        # another compression, a password, or a broken archive
        raise SpecError([Problem(name, f"cannot be unpacked: {error}")]) from error


def _is_ours(name: str) -> bool:
    hidden = name.startswith("__MACOSX/") or PurePosixPath(name).name.startswith(".")
    return name.lower().endswith((*SCENARIOS, *SOUNDS)) and not hidden


@dataclass(frozen=True)
class Export:
    """`text` is the scenario file. With sounds beside it, by their paths there, recordings need no hash."""

    text: str
    sounds: Mapping[str, str]  # SHA-256 by path

    def files(self) -> Iterable[tuple[str, bytes]]:
        return ((path, read_recording_file(sha256)) for path, sha256 in self.sounds.items())


def export_scenarios(*, document: Mapping[str, Any], kind: str, file_name: str) -> Export:
    """A scenario file called `file_name`, with the sounds that this site has. Imported together they change nothing."""
    recordings = [one for entry in document["scenarios"] for one in entry["input"].get("recordings", [])]
    stored = stored_recordings(one["sha256"] for one in recordings if one.get("sha256"))
    places = _places([one for one in recordings if one.get("sha256") in stored], file_name)
    if places:
        scenarios = [_at_places(entry, places) for entry in document["scenarios"]]
        document = dump_file([parse_scenario(entry) for entry in scenarios])
    sounds = {place: sha256 for (_, sha256), place in places.items()}
    return Export(write_scenarios(document=document, kind=kind), sounds)


def _places(recordings: Iterable[Mapping[str, Any]], file_name: str) -> dict[tuple[str, str], str]:
    """Where each sound goes, by the path that its scenario gives and by its hash. Where that path is taken by another
    sound, by the scenario file, or leads out of the folder, the hash makes one of its own."""
    places: dict[tuple[str, str], str] = {}
    taken = {file_name.casefold(): ""}
    for one in recordings:
        path, sha256 = one["path"], one["sha256"]
        wanted = str(PurePosixPath(path)) if path_problem(path) is None else ""
        if not wanted or taken.get(wanted.casefold(), sha256) != sha256:
            wanted = f"recordings/{sha256[:12]}-{PurePosixPath(path.replace(chr(92), '/')).name or 'sound.wav'}"
        taken[wanted.casefold()] = sha256
        places[path, sha256] = wanted
    return places


def _at_places(entry: Mapping[str, Any], places: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    listed = entry["input"].get("recordings")
    if not listed:
        return dict(entry)
    moved = [_at_place(one, places.get((one["path"], one.get("sha256", "")))) for one in listed]
    return {**entry, "input": {**entry["input"], "recordings": moved}}


def _at_place(recording: Mapping[str, Any], place: str | None) -> dict[str, Any]:
    if place is None:
        return dict(recording)
    path = recording["path"] if str(PurePosixPath(recording["path"])) == place else place
    return {key: value for key, value in recording.items() if key != "sha256"} | {"path": path}


def zipped(export: Export, file_name: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(file_name, export.text)
        for path, data in export.files():
            archive.writestr(path, data)
    return packed.getvalue()
