"""The recordings of one scenario: added and taken away as any change is, by a new version."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from django.contrib.auth.models import User

from scenarios_app.models import Recording, Scenario, ScenarioVersion
from scenarios_app.services.recordings import keep_recording, stored_recordings
from scenarios_app.services.reports import NotStored, Saved
from scenarios_app.services.scenarios import save_scenario
from scenarios_app.spec.errors import Problem, SpecError

FOLDER = "recordings"


@dataclass(frozen=True)
class RecordingRow:
    """A recording as the page of its scenario shows it. `stored` is None where this site has no sound for it."""

    id: str
    path: str
    condition: str
    channel: int | None
    sha256: str
    turn: int | None  # the further turn (from 2) that plays it; None: it is the first turn, or one of several for it
    stored: Recording | None

    @property
    def seconds(self) -> float:
        return self.stored.duration_ms / 1000 if self.stored else 0.0


def recordings_of(content: Mapping[str, Any]) -> list[RecordingRow]:
    listed = content["input"].get("recordings") or []
    stored = stored_recordings(one["sha256"] for one in listed if one.get("sha256"))
    turns = {turn.get("recording"): place for place, turn in enumerate(content["input"].get("turns") or [], 2)}
    return [
        RecordingRow(
            id=one["id"],
            path=one["path"],
            condition=one.get("condition") or "",
            channel=one.get("channel"),
            sha256=one.get("sha256") or "",
            turn=turns.get(one["id"]),
            stored=stored.get(one.get("sha256") or ""),
        )
        for one in listed
    ]


def add_recording(
    *, scenario: Scenario, data: bytes, name: str, channel: int | None = None, user: User | None = None
) -> Saved[ScenarioVersion]:
    """The file as a recording of the scenario's first turn, or as the sound that one of that name lacks here. Raises
    SpecError."""
    kept = keep_recording(data=data, name=name, channel=channel, user=user)
    content = with_recording(_content(scenario), name=name, sha256=kept.recording.sha256, channel=channel)
    note = "; ".join((f"Recording {name}", *kept.notes))[:500]
    return save_scenario(scenario=scenario, content=content, user=user, note=note)


def with_recording(
    document: Mapping[str, Any], *, name: str, sha256: str, channel: int | None = None
) -> dict[str, Any]:
    """A scenario, well-formed or not yet, with one recording more. Raises SpecError where it cannot hold any."""
    changed: dict[str, Any] = copy.deepcopy(dict(document))
    given = changed.setdefault("input", {})
    listed = given.setdefault("recordings", []) if isinstance(given, dict) else None
    if not isinstance(listed, list) or not all(_is_entry(one) for one in listed):
        raise SpecError([Problem("input.recordings", "must be a list of recordings: mend it first")])
    lacking = _lacking(listed, name)
    if lacking is not None:
        lacking["sha256"] = sha256
    else:
        listed.append(recording_entry(listed, name=name, sha256=sha256, channel=channel))
    return changed


def _is_entry(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("id"), str) and isinstance(one.get("path"), str)


def _lacking(listed: Iterable[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """The one that names such a file and has no sound yet."""
    last = PurePosixPath(name).name
    return next((one for one in listed if not one.get("sha256") and PurePosixPath(one["path"]).name == last), None)


def recording_entry(
    listed: Sequence[Mapping[str, Any]], *, name: str, sha256: str, channel: int | None = None
) -> dict[str, Any]:
    """How `input.recordings` names a file that joins those that are listed: an id and a path of its own."""
    stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix.lower() or ".wav"
    plain = re.sub(r"[^\w.-]+", "-", stem).strip("-.") or "recording"
    taken = {one["id"] for one in listed} | {PurePosixPath(one["path"]).stem for one in listed}
    wanted = next(one for n in range(1, len(taken) + 2) if (one := plain if n == 1 else f"{plain}-{n}") not in taken)
    entry = {"id": wanted, "path": f"{FOLDER}/{wanted}{suffix}", "sha256": sha256}
    return entry if channel is None else {**entry, "channel": channel}


def remove_recording(*, scenario: Scenario, recording_id: str, user: User | None = None) -> Saved[ScenarioVersion]:
    """A version without it; older versions keep it, and its sound. Raises NotStored, and SpecError where a turn plays
    it."""
    content = _content(scenario)
    listed = content["input"].get("recordings", [])
    kept = [one for one in listed if one["id"] != recording_id]
    if len(kept) == len(listed):
        raise NotStored(f"{scenario.key} has no recording {recording_id}")
    turns = [turn.get("recording") for turn in content["input"].get("turns", [])]
    if recording_id in turns:
        raise SpecError(
            [Problem(f"input.turns[{turns.index(recording_id)}]", f"plays {recording_id}: change it first")]
        )
    content["input"]["recordings"] = kept
    if not kept:
        del content["input"]["recordings"]
    return save_scenario(scenario=scenario, content=content, user=user, note=f"Without the recording {recording_id}")


def _content(scenario: Scenario) -> dict[str, Any]:
    newest = ScenarioVersion.objects.filter(scenario=scenario).newest_first()[0]
    content: dict[str, Any] = copy.deepcopy(newest.content)
    return content
