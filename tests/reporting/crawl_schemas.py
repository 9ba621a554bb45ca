"""Holds an exported tree against the JSON Schemas of CRAWL's files, and its files against each other."""

from __future__ import annotations

import json
import stat
import wave
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).parent / "schemas"


def problems(document: Any, name: str) -> list[str]:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    Draft202012Validator.check_schema(schema)
    return [f"{error.json_path}: {error.message[:300]}" for error in Draft202012Validator(schema).iter_errors(document)]


def strict(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def check_tree(folder: Path) -> dict[str, Any]:
    """One configuration's folder: everything is valid, what is named is there, nothing else is. Its results.json."""
    results = strict((folder / "results.json").read_text())
    assert problems(results, "results") == []
    summary = results["summary"]
    statuses = [result["status"] for result in results["results"]]
    counted = [statuses.count(name) for name in ("passed", "failed", "infrastructure_error")]
    assert counted == [summary["passed"], summary["failed"], summary["infrastructure_errors"]]
    assert len(statuses) == summary["total"]
    named = {path for result in results["results"] for path in result["artifacts"].values() if path}
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert there == named | {"results.json"}
    for result in results["results"]:
        _check_result(folder, result)
    for path in (folder, *folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    return results


def _check_result(folder: Path, result: dict[str, Any]) -> None:
    artifacts = result["artifacts"]
    if artifacts["events"]:
        lines = [strict(line) for line in (folder / artifacts["events"]).read_text().splitlines()]
        assert [line["event_index"] for line in lines] == list(range(len(lines)))
        assert [found for line in lines for found in problems(line, "event")] == []
    if artifacts["details"]:
        details = strict((folder / artifacts["details"]).read_text())
        assert problems(details, "transcript") == []
        assert details["example_id"] == result["scenario_id"]
        assert details["assessment"] == result["assessment"]
        assert details["evaluation_transcript"] == (folder / artifacts["conversation_transcript"]).read_text()
    sounds = {name: artifacts[f"{name}_audio"] for name in ("input", "output", "conversation")}
    channels = {"input": 1, "output": 1, "conversation": 2}
    for name, path in sounds.items():
        if path:
            with wave.open(str(folder / path)) as sound:
                assert (sound.getnchannels(), sound.getsampwidth(), sound.getframerate()) == (channels[name], 2, 24_000)
