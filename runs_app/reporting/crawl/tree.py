"""CRAWL's file tree of a run, with a folder for each configuration and repeat. Folders are 0700, files 0600.

DIR/scenarios.json                      the scenarios as they were run
DIR/Front-desk-v1/results.json          with one repeat
DIR/Front-desk-v1-r2/results.json       with several: the second repeat
    audio/ID/{input,output,conversation}.wav and conversation.transcript.txt
    events/ID.jsonl    transcripts/ID.json
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from runs_app.models import Run, RunConfiguration, Trial
from runs_app.realtime.pcm import Int16
from runs_app.realtime.record import Record
from runs_app.realtime.wav import wav_bytes
from runs_app.reporting.crawl.details import details
from runs_app.reporting.crawl.events import event_lines
from runs_app.reporting.crawl.facts import Facts
from runs_app.reporting.crawl.report import Artifacts, report
from runs_app.reporting.crawl.words import transcript_text
from runs_app.reporting.redaction import Redactor
from runs_app.reporting.results import configurations_of, redactor_for, trials_of
from runs_app.reporting.trial_files import stored_events
from runs_app.services.artifacts import read_audio
from runs_app.services.material import Material, material_of
from scenarios_app.spec.jsontext import dumps, finite
from scenarios_app.spec.scenario import dump_file, parse_scenario

Json = Any


class NotEmpty(Exception):
    """The folder holds something already: runs are never merged."""


def require_empty(folder: Path) -> None:
    """Raises NotEmpty, or OSError when the folder cannot be looked into."""
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise NotEmpty(f"{folder} is there already and not empty; a run is never merged into another")


def write_tree(run: Run, folder: Path) -> list[Path]:
    """The folders written, one for each configuration and repeat. Raises NotEmpty or OSError."""
    require_empty(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    writer = _Writer(run, folder.resolve())
    writer.scenarios()
    return [writer.configuration(entry, name, repeat) for entry, name, repeat in _folders(run)]


def _folders(run: Run) -> Iterator[tuple[RunConfiguration, str, int]]:
    taken: set[str] = set()
    for entry in configurations_of(run):
        base = _label(entry)
        while base.lower() in taken:  # two names that differ only in what a folder cannot hold
            base = f"{base}-{entry.position + 1}"
        taken.add(base.lower())
        for repeat in range(1, run.repeats + 1):
            yield entry, base if run.repeats == 1 else f"{base}-r{repeat}", repeat


def _label(entry: RunConfiguration) -> str:
    """A run label of CRAWL: letters, digits, dots, _ and -, the first one a letter or digit."""
    version = entry.configuration_version
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", version.configuration.name).strip("-._")
    return f"{name or 'configuration'}-v{version.number}"


class _Writer:
    def __init__(self, run: Run, folder: Path) -> None:
        self.run = run
        self.folder = folder
        self.redactor = redactor_for([run])
        self.materials: dict[tuple[int, int], Material] = {}

    def scenarios(self) -> None:
        chosen = self.run.scenarios.select_related("scenario_version").order_by("position")
        contents = [parse_scenario(entry.scenario_version.content) for entry in chosen]
        _write(self.folder / "scenarios.json", _pretty(self.redactor.json(dump_file(contents))))

    def configuration(self, entry: RunConfiguration, name: str, repeat: int) -> Path:
        target = self.folder / name
        target.mkdir(mode=0o700)
        found = [self._facts(trial, entry) for trial in self._trials(entry, repeat)]
        rows = [(facts, _write_trial(target, facts, self.redactor)) for facts in found]
        document = report(
            self.run,
            entry,
            rows,
            folder=name,
            repeat=repeat,
            dataset=str(self.folder / "scenarios.json"),
            notice=self.redactor.notice,
        )
        _write(target / "results.json", _pretty(self.redactor.json(document)))
        return target

    def _trials(self, entry: RunConfiguration, repeat: int) -> Iterable[Trial]:
        own = trials_of(self.run).filter(configuration_version=entry.configuration_version_id, repeat=repeat)
        return own.prefetch_related("gradings__checks", "gradings__grades")

    def _facts(self, trial: Trial, entry: RunConfiguration) -> Facts:
        key = (trial.scenario_version_id, trial.configuration_version_id)
        if key not in self.materials:
            self.materials[key] = material_of(trial)
        grading = next((one for one in trial.gradings.all() if one.current), None)
        return Facts(
            trial=trial,
            material=self.materials[key],
            simulated=entry.simulated,
            record=Record.from_json(trial.record) if trial.record else None,
            grading=grading,
            checks=tuple(grading.checks.all()) if grading else (),
            grades=tuple(grading.grades.all()) if grading else (),
        )


def _write_trial(target: Path, facts: Facts, redactor: Redactor) -> Artifacts:
    """The trial's files, and where they are below the folder; None where there is nothing to write."""
    found: dict[str, str | None] = {
        **_write_audio(target, facts, redactor),
        "events": _write_events(target, facts, redactor),
        "details": None,
    }
    if facts.is_told:
        place = found["details"] = f"transcripts/{facts.id}.json"
        _write(target / place, _pretty(redactor.json(finite(details(facts, found)))))
    return found


def _write_audio(target: Path, facts: Facts, redactor: Redactor) -> dict[str, str | None]:
    place = f"audio/{facts.id}"
    found: dict[str, str | None] = dict.fromkeys(
        ("input_audio", "output_audio", "conversation_audio", "conversation_transcript")
    )
    if facts.record is not None:
        found["conversation_transcript"] = f"{place}/conversation.transcript.txt"
        _write(target / f"{place}/conversation.transcript.txt", redactor.text(transcript_text(facts.record)).encode())
    audio = _stored_audio(facts.trial)
    if audio is None:
        return found
    sounds = {"input": audio[: _caller_samples(facts, audio), 0], "output": audio[:, 1], "conversation": audio}
    for name, samples in sounds.items():
        found[f"{name}_audio"] = f"{place}/{name}.wav"
        _write(target / f"{place}/{name}.wav", wav_bytes(np.ascontiguousarray(samples)))
    return found


def _stored_audio(trial: Trial) -> Int16 | None:
    try:
        return read_audio(trial.wav)
    except FileNotFoundError:
        return None


def _caller_samples(facts: Facts, audio: Int16) -> int:
    """Where the caller's last words end."""
    ends = [turn.caller.end for turn in (facts.record.turns if facts.record else ()) if turn.caller]
    return max(ends, default=len(audio))


def _write_events(target: Path, facts: Facts, redactor: Redactor) -> str | None:
    try:
        stored = stored_events(facts.trial)
    except FileNotFoundError:
        return None
    lines = [redactor.json(finite(line)) for line in event_lines(facts, stored)]
    place = f"events/{facts.id}.jsonl"
    _write(target / place, "".join(f"{dumps(line)}\n" for line in lines).encode())
    return place


def _pretty(document: Json) -> bytes:
    return f"{dumps(finite(document), indent=2)}\n".encode()


def _write(path: Path, content: bytes) -> None:
    """A new file: what lies there already, a link above all, is never written to."""
    for folder in reversed([parent for parent in path.parents if not parent.exists()]):
        folder.mkdir(mode=0o700)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
