"""Scenarios and the files of their recordings: what came with a file is put to the scenarios that name it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from scenarios_app import models
from scenarios_app.services.recordings import stored_recordings
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.recordings import Recording
from scenarios_app.spec.scenario import Scenario, parse_scenario
from scenarios_app.spec.sources import Source

Sounds = Mapping[str, str]  # the SHA-256 of each file, by its name or by its path beside the scenario file

NO_SOUNDS: Sounds = {}


def recording_paths(source: Source) -> list[str]:
    """The paths of all recordings that the file names, each once; what is not well-formed is left to the contract."""
    return list(dict.fromkeys(_paths(source.value)))


def _paths(value: Any) -> Iterator[str]:
    scenarios = value.get("scenarios") if isinstance(value, dict) else None
    for entry in scenarios if isinstance(scenarios, list) else []:
        given = entry.get("input") if isinstance(entry, dict) else None
        listed = given.get("recordings") if isinstance(given, dict) else None
        for recording in listed if isinstance(listed, list) else []:
            if isinstance(recording, dict) and isinstance(recording.get("path"), str):
                yield recording["path"]


def sounds_by_path(paths: Iterable[str], sent: Sounds) -> Sounds:
    """What was sent, by the paths that scenarios give. A browser sends names without folders: the last part of a path
    is enough where only one of them ends so. Raises SpecError where several do."""
    wanted, named = list(paths), {str(PurePosixPath(name)): sha256 for name, sha256 in sent.items()}
    lasts = Counter(PurePosixPath(path).name for path in wanted)
    found, problems = {}, []
    for path in wanted:
        whole, last = str(PurePosixPath(path)), PurePosixPath(path).name
        if whole in named:
            found[path] = named[whole]
        elif last in named and lasts[last] > 1:
            problems.append(
                Problem(path, f"{last} could be the sound of several: send all as one ZIP with its folders")
            )
        elif last in named:
            found[path] = named[last]
    if problems:
        raise SpecError(problems)
    return found


def unnamed(sent: Iterable[str], paths: Iterable[str]) -> list[Problem]:
    """A warning for each file that no scenario names."""
    known = {name for path in paths for name in (str(PurePosixPath(path)), PurePosixPath(path).name)}
    return [Problem(name, "no scenario names it") for name in sent if str(PurePosixPath(name)) not in known]


def with_sounds(scenario: Scenario, sounds: Sounds, before: Scenario | None = None) -> Scenario:
    """The scenario with the hash of each sound that came with it, or that its stored version has under the same id and
    path. Raises SpecError where another file came than the scenario tells."""
    recordings = scenario.input.recordings
    if not recordings:
        return scenario
    known = {(one.id, one.path): one.sha256 for one in before.input.recordings} if before else {}
    found = tuple(
        _with_sound(f"input.recordings[{index}]", one, sounds.get(one.path), known.get((one.id, one.path)))
        for index, one in enumerate(recordings)
    )
    if found == recordings:
        return scenario
    return scenario.model_copy(update={"input": scenario.input.model_copy(update={"recordings": found})})


def _with_sound(path: str, recording: Recording, sent: str | None, known: str | None) -> Recording:
    if recording.sha256 and sent and sent != recording.sha256:
        raise SpecError([Problem(f"{path}.sha256", f"{recording.path} came with it, and is another file")])
    sha256 = recording.sha256 or sent or known
    return recording if sha256 == recording.sha256 else recording.model_copy(update={"sha256": sha256})


def all_with_sounds(
    scenarios: Iterable[Scenario], sounds: Sounds, stored: Mapping[str, models.Scenario]
) -> tuple[Scenario, ...]:
    """`with_sounds` for all of a file; `stored` by id in lower case. Raises SpecError with every problem."""
    found, problems = [], []
    for index, scenario in enumerate(scenarios):
        before = stored.get(scenario.id.lower()) if scenario.input.recordings else None
        known = parse_scenario(before.latest.content) if before and before.latest else None
        try:
            found.append(with_sounds(scenario, sounds, known))
        except SpecError as error:
            problems += [problem.under(f"scenarios[{index}]") for problem in error.problems]
    if problems:
        raise SpecError(problems)
    return tuple(found)


def missing_sounds(scenario: Scenario, coming: Collection[str] = ()) -> list[Problem]:
    """A warning for each recording whose sound is neither on this site nor among the hashes that are `coming`."""
    recordings = scenario.input.recordings
    stored = stored_recordings(one.sha256 for one in recordings if one.sha256)
    return [
        Problem(
            f"input.recordings[{index}]",
            f"the sound of {one.path} is not on this site: add the file on the scenario's page, or import it with it",
        )
        for index, one in enumerate(recordings)
        if one.sha256 not in stored and one.sha256 not in coming
    ]
