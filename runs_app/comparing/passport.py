"""The passport of a comparison: everything that must be alike on both sides, and which way it leans where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from runs_app.comparing.loading import Column, Loaded
from runs_app.comparing.reading import Condition
from runs_app.comparing.words import plural
from runs_app.stats.pair import PairComparison
from scenarios_app.spec.conditions import told_value

NOTHING: Final = "–"


@dataclass(frozen=True)
class Stamp:
    """One thing that is alike or not. `bias`: what a difference in it does to the numbers; empty when alike."""

    name: str
    a: str
    b: str
    is_same: bool
    bias: str = ""


@dataclass(frozen=True)
class Ways:
    """How the trials of one configuration came about, each as a person would say it."""

    modes: frozenset[str] = frozenset()
    paces: frozenset[str] = frozenset()
    faults: frozenset[str] = frozenset()
    judges: frozenset[str] = frozenset()
    runs: frozenset[str] = frozenset()


def ways(loaded: Loaded) -> dict[str, Ways]:
    """By configuration key, from the conditions that its trials were measured under."""
    names = {run.pk: str(run) for run in loaded.runs}
    return {key: _ways(found, names) for key, found in loaded.read.conditions.items()}


def _ways(conditions: Sequence[Condition], runs: Mapping[int, str]) -> Ways:
    spoken = [one for one in conditions if one.mode == "audio"]
    return Ways(
        modes=frozenset("spoken" if one.mode == "audio" else "written" for one in conditions),
        paces=frozenset("real time" if one.real_time else "not real time" for one in spoken),
        faults=frozenset(one.tool_faults or "none" for one in conditions),
        judges=frozenset(one.judge for one in conditions if one.judge),
        runs=frozenset(runs[one.run] for one in conditions),
    )


# name -> (what it is on a side, what a difference does)
Told = Callable[[Column, Ways], str]
CHECKED: Final[dict[str, tuple[Told, str]]] = {
    "judge and rubric": (
        lambda column, own: _listed(own.judges),
        "Another judge or rubric is stricter or milder with the same words: that alone moves scores and pass rates.",
    ),
    "spoken or written": (
        lambda column, own: _listed(own.modes),
        "Spoken callers are misheard and written ones are not: the written side looks better.",
    ),
    "pace": (
        lambda column, own: _listed(own.paces),
        "Not in real time the caller's words arrive at once: such an agent answers sooner and is never interrupted.",
    ),
    "tools made to fail": (
        lambda column, own: _listed(own.faults),
        "The side whose tools fail looks worse, whatever its agent does.",
    ),
    "caller's voice": (
        lambda column, own: _caller(column),
        "Another voice is understood more or less easily: quality and tools lean to the clearer one.",
    ),
    "caller's line": (
        lambda column, own: told_value(column.spec.caller.condition) or "clean",
        "Words on a bad line are misheard more often: quality and tools lean to the clearer one.",
    ),
    "sound": (
        lambda column, own: f"{column.spec.audio.input} in, {column.spec.audio.output} out, {column.spec.chunk_ms} ms",
        "Coarser sound is misheard more often, and longer chunks arrive later.",
    ),
    "time-outs": (
        lambda column, own: _timeouts(column),
        "The side that may take longer has fewer time-outs, and so fewer fails.",
    ),
    "simulator": (
        lambda column, own: "agent, voice or judge" if column.simulated else "not used",
        "A simulator answers as it is told to: it says nothing about a real agent, nor a real one about it.",
    ),
    "runs": (
        lambda column, own: _listed(own.runs),
        "What ran at another time met another load, and perhaps another version of a provider's model.",
    ),
}


def passport(pair: PairComparison, a: Column, b: Column, known: Mapping[str, Ways]) -> list[Stamp]:
    """The scenarios first, then everything that both sides must share."""
    of_a, of_b = known[a.key], known[b.key]
    stamps = [_scenarios(pair)]
    for name, (told, bias) in CHECKED.items():
        texts = told(a, of_a), told(b, of_b)
        same = texts[0] == texts[1]
        stamps.append(Stamp(name, *texts, same, "" if same else bias))
    return stamps


def _scenarios(pair: PairComparison) -> Stamp:
    only_a, only_b, changed = len(pair.only_a), len(pair.only_b), len(pair.changed)
    shared = len(pair.paired) + changed
    same = not (only_a or only_b or changed)
    bias = "Only what both ran with the same content counts; the rest is shown and left out of every total."
    texts = (_ran(shared + only_a, changed, only_a), _ran(shared + only_b, changed, only_b))
    return Stamp("scenarios", *texts, same, "" if same else bias)


def _ran(count: int, changed: int, alone: int) -> str:
    parts = [plural(count, "scenario")]
    parts += [f"{changed} with other content"] if changed else []
    parts += [f"{alone} by itself"] if alone else []
    return ", ".join(parts)


def _listed(values: Iterable[str]) -> str:
    return " and ".join(sorted(values)) or NOTHING


def _caller(column: Column) -> str:
    caller = column.spec.caller
    condition = f" · {caller.condition}" if caller.condition else ""
    return f"{caller.model} · {caller.voice} · {caller.endpoint}{condition}"


def _timeouts(column: Column) -> str:
    limits = column.spec.timeouts
    return f"turn {limits.turn} s, response {limits.response} s, connect {limits.connect} s"
