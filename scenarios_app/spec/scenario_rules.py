"""The rules of a scenario that span several fields, the ids' rule, and the rules of the file around the scenarios."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from scenarios_app.spec.errors import Problem
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.matchers import matcher_problems, uses_operators
from scenarios_app.spec.persona import persona_problems
from scenarios_app.spec.tool_faults import fault_problems
from scenarios_app.spec.wording import kind_of

if TYPE_CHECKING:
    from scenarios_app.spec.scenario import Assertion, Scenario

MOST_MESSAGES = 128  # of a history
MOST_TOKENS = 8192  # of a history; a text has at least as many tokens as words

_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))})
_ADDED = (
    "reference_date",
    "persona",
    "stop_when",
    "max_turns",
    "critical",
    "assertions",
    "mode",
    "owner",
    "notes",
    "source",
)
_OF_PERSONAS = "is for a caller who finds his own words: input.turns lead this call"


def id_problem(text: str) -> str | None:
    """Why a text cannot be a scenario's id (it names files and folders); None when it can."""
    if not _ID.fullmatch(text):
        return "must have 1 to 100 letters, digits, dots, _ or -"
    if text.endswith("."):
        return "must not end with a dot"
    if text.split(".")[0].lower() in _DEVICES:
        return f"{text.split('.')[0]} is a device name on Windows"
    return None


def source(value: Json) -> Json:
    texts = list(value.values()) if isinstance(value, dict) else [value]
    if value is not None and not (texts and all(isinstance(text, str) and text for text in texts)):
        raise ValueError("must be text, or an object of texts such as bug and trial")
    return value


def frame_problems(document: Json, versions: tuple[str, ...]) -> Iterator[Problem]:
    """What is wrong around the scenarios."""
    if not isinstance(document, dict):
        yield Problem("", f"must be an object with schema_version and scenarios, not {kind_of(document)}")
        return
    for key in document:
        if key not in ("schema_version", "scenarios"):
            yield Problem("", f'there is no field "{key}" in a scenario file, only schema_version and scenarios')
    version, scenarios = document.get("schema_version"), document.get("scenarios")
    if version not in versions:
        given = f'"{version}"' if isinstance(version, str) else kind_of(version)
        missing = "this field is required: " if "schema_version" not in document else ""
        yield Problem("schema_version", f'{missing}must be "1.0" or "1.1"' + ("" if missing else f", not {given}"))
    if not isinstance(scenarios, list):
        yield Problem(
            "scenarios",
            f"must be a list, not {kind_of(scenarios)}" if "scenarios" in document else "this field is required",
        )
    elif not scenarios:
        yield Problem("scenarios", "the file holds no scenario")


def duplicates(entries: list[Json], lines_of: Callable[[Iterable[str]], dict[str, int]]) -> list[Problem]:
    """Ids that are the same after trim, NFC and case folding. Both lines are named."""
    pairs: list[tuple[int, int]] = []
    first: dict[str, int] = {}
    for index, entry in enumerate(entries):
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            key = unicodedata.normalize("NFC", entry["id"].strip()).casefold()
            before = first.setdefault(key, index)
            if before != index:
                pairs.append((before, index))
    lines = lines_of({f"scenarios[{index}].id" for pair in pairs for index in pair}) if pairs else {}
    return [_duplicate(entries, lines, before, index) for before, index in pairs]


def _duplicate(entries: list[Json], lines: dict[str, int], before: int, index: int) -> Problem:
    path, other = f"scenarios[{index}].id", f"scenarios[{before}].id"
    mine, theirs = entries[index]["id"], entries[before]["id"]
    where = f"line {lines[other]} ({other})"
    if mine == theirs:
        return Problem(path, f'the id "{mine}" is used before in {where}', lines[path])
    return Problem(
        path, f'the id "{mine}" differs only in case, spaces or accents from "{theirs}" in {where}', lines[path]
    )


def problems(scenario: Scenario, version: str) -> Iterator[Problem]:
    """Every rule that the models alone cannot check."""
    if version == "1.0":
        yield from additions(scenario)
    yield from _one_turn(scenario) if scenario.interaction == "single_turn" else _many_turns(scenario)
    yield from _context(scenario)
    yield from _turns(scenario)
    if scenario.persona is not None:
        yield from (problem.under("persona") for problem in persona_problems(scenario.persona))
    yield from _expected(scenario)
    for index, assertion in enumerate(scenario.assertions):
        yield from (problem.under(f"assertions[{index}]") for problem in _assertion(assertion))
    yield from fault_problems(scenario.tool_faults)


def _one_turn(scenario: Scenario) -> Iterator[Problem]:
    golden = scenario.expected.golden_path
    only_multi = "belongs to multi_turn scenarios"
    if scenario.simulation_parameters is not None:
        yield Problem("simulation_parameters", only_multi)
    if scenario.expected.procedure is not None:
        yield Problem("expected.procedure", only_multi)
    if golden and golden.turns not in (None, 0, 2):
        yield Problem("expected.golden_path.turns", "must be 0 or 2 in a single_turn scenario")
    if golden and len(golden.steps) > 2:
        yield Problem("expected.golden_path.steps", "has at most 2 steps in a single_turn scenario")
    if scenario.input.turns:
        yield Problem("input.turns", only_multi)
    for name in ("persona", "stop_when", "max_turns"):
        if getattr(scenario, name) is not None:
            yield Problem(name, only_multi)


def _many_turns(scenario: Scenario) -> Iterator[Problem]:
    if scenario.simulation_parameters is None and not scenario.input.turns and scenario.persona is None:
        yield Problem(
            "simulation_parameters", "a multi_turn scenario needs simulation_parameters, input.turns or a persona"
        )
    if scenario.input.recordings and not scenario.input.turns:
        yield Problem("input.recordings", "belongs to single_turn scenarios, or to input.turns that play them")


def _context(scenario: Scenario) -> Iterator[Problem]:
    context = scenario.input.context
    if context is None:
        return
    if context.summary is None and not context.history:
        yield Problem("input.context", "needs a summary or a history")
    if len(context.history) > MOST_MESSAGES:
        yield Problem(
            "input.context.history", f"has {len(context.history)} messages, at most {MOST_MESSAGES} are allowed"
        )
    words = sum(len(message.text.split()) for message in context.history)
    if words > MOST_TOKENS:
        message = f"has {words} words, and so at least as many tokens: at most {MOST_TOKENS} are allowed"
        yield Problem("input.context.history", message)


def _turns(scenario: Scenario) -> Iterator[Problem]:
    recordings = [recording.id for recording in scenario.input.recordings]
    for index, name in enumerate(recordings):
        if name in recordings[:index]:
            yield Problem(f"input.recordings[{index}].id", f'the recording "{name}" is listed twice')
    for index, turn in enumerate(scenario.input.turns):
        path = f"input.turns[{index}]"
        if (turn.text is None) == (turn.recording is None):
            yield Problem(path, "needs either text or recording")
        elif turn.recording is not None and turn.recording not in recordings:
            yield Problem(f"{path}.recording", f'there is no recording "{turn.recording}" in input.recordings')


def _expected(scenario: Scenario) -> Iterator[Problem]:
    expected = scenario.expected
    if expected.delegation == "forbidden" and expected.tools.required:
        yield Problem("expected.tools.required", "no tool can be required while delegation is forbidden")
    for path, value in _matched(scenario):
        yield from matcher_problems(value, path)


def _matched(scenario: Scenario) -> Iterator[tuple[str, Json]]:
    """Every expected value in which operators count, with its path."""
    for kind in ("required", "prohibited"):
        for index, call in enumerate(getattr(scenario.expected.tools, kind)):
            yield f"expected.tools.{kind}[{index}].arguments", call.arguments
    yield "expected.state", scenario.expected.state
    for index, assertion in enumerate(scenario.assertions):
        if assertion.tool_called is not None:
            yield f"assertions[{index}].tool_called.args", assertion.tool_called.args


def _assertion(assertion: Assertion) -> Iterator[Problem]:
    kinds = sorted(assertion.model_fields_set)
    if len(kinds) != 1:
        given = f", not {' and '.join(kinds)}" if kinds else ""
        yield Problem("", f"needs exactly one of judge, tool_called, tool_not_called, metric and turns{given}")
        return
    limits = getattr(assertion, kinds[0])
    if limits is None:
        yield Problem(kinds[0], "must not be null")
    elif kinds[0] in ("metric", "turns") and not _comparisons(limits):
        yield Problem(kinds[0], "needs a comparison: lt, lte, gt, gte or eq")


def _comparisons(limits: Json) -> list[str]:
    return [name for name in ("lt", "lte", "gt", "gte", "eq") if getattr(limits, name) is not None]


def additions(scenario: Scenario) -> Iterator[Problem]:
    """Everything in the scenario that schema 1.0 cannot hold."""
    needs = "needs schema_version 1.1"
    for name in (*_ADDED, "tool_faults"):
        if name in scenario.model_fields_set:
            yield Problem(name, needs)
    if "turns" in scenario.input.model_fields_set:
        yield Problem("input.turns", needs)
    for index, recording in enumerate(scenario.input.recordings):
        for name in ("sha256", "channel"):
            if name in recording.model_fields_set:
                yield Problem(f"input.recordings[{index}].{name}", needs)
    if "ref" in scenario.application.model_fields_set:
        yield Problem("application.ref", needs)
    for path, value in _matched(scenario):
        if uses_operators(value):
            yield Problem(path, f"an operator such as $any_of {needs}")
    if scenario.expected.answer is None:
        yield Problem("expected.answer", f"this field is required (a scenario without an answer {needs})")


def unsupported(scenario: Scenario) -> Iterator[Problem]:
    """Fields that are valid and kept, but that no engine serves. A persona lends a script its temper alone."""
    scripted = bool(scenario.input.turns)
    behaviors = scenario.persona.behaviors if scenario.persona else None
    present: Iterable[tuple[str, object]] = (
        ("persona.agenda", scenario.persona.agenda if scenario.persona and scripted else None),
        ("persona.behaviors.patience_turns", behaviors.patience_turns if behaviors and scripted else None),
        ("stop_when", scenario.stop_when if scripted else None),
    )
    yield from (Problem(path, _OF_PERSONAS) for path, value in present if value)
    for index, step in enumerate(scenario.persona.agenda if scenario.persona else ()):
        if step.action == "backchannel":
            yield Problem(f"persona.agenda[{index}].action", "no caller murmurs while he listens yet")
