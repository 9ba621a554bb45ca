"""The scenario contract, schema 1.0 (what CRAWL reads) and 1.1 (our additions), and the doors to it.

Use `parse_scenario` and `parse_file`: they apply the rules that span several fields, which a model alone does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from scenarios_app.spec import scenario_rules
from scenarios_app.spec.application import ApplicationRef
from scenarios_app.spec.contract import Contract, Flag, IsoDate, NotNegative, Number, Text, Whole, parse
from scenarios_app.spec.errors import Problem, SpecError, refuse_if
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.persona import Persona, Positive
from scenarios_app.spec.recordings import Recording
from scenarios_app.spec.sources import Source, json_source
from scenarios_app.spec.tool_faults import Target, ToolFault

VERSIONS = ("1.0", "1.1")


def _scenario_id(value: str) -> str:
    if problem := scenario_rules.id_problem(value):
        raise ValueError(problem)
    return value


ScenarioId = Annotated[
    str,
    AfterValidator(_scenario_id),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9._-]{0,99}[A-Za-z0-9_-]$"}),
]
Count = Annotated[Whole, Field(ge=0)]


class Message(Contract):
    role: Literal["user", "assistant"]
    text: Text


class Context(Contract):
    """What the agent may know before the caller speaks."""

    summary: Text | None = None
    history: tuple[Message, ...] = ()


class ScriptedTurn(Contract):
    """A caller turn after the first one: words or the id of a recording."""

    text: Text | None = None
    recording: Text | None = None
    wait: Literal["reply", "silence"] | None = None
    interrupt_after_ms: NotNegative | None = None


class Input(Contract):
    """`text` is what the caller says (the first turn); `turns` are the scripted turns after it."""

    text: Text
    recordings: tuple[Recording, ...] = ()
    context: Context | None = None
    turns: tuple[ScriptedTurn, ...] = ()


class ScenarioApplication(Contract):
    initial_state: dict[str, Json] = {}
    ref: ApplicationRef | None = None


class ExpectedCall(Contract):
    """A tool call that must (or must not) happen; values in `arguments` may be operator objects."""

    name: Text
    arguments: dict[str, Json] = {}
    status: Literal["any", "completed"] = "completed"


class ExpectedTools(Contract):
    required: tuple[ExpectedCall, ...] = ()
    prohibited: tuple[ExpectedCall, ...] = ()


class GoldenPath(Contract):
    turns: Count | None = None
    delegations: Count | None = None
    steps: tuple[Json, ...] = ()


class Expected(Contract):
    """For the evaluator alone. `state` {} is not checked; {"unchanged": true} means equal to the initial state."""

    answer: Text | None = None
    criteria: tuple[Text, ...] = ()
    delegation: Literal["required", "forbidden", "optional"] = "optional"
    tools: ExpectedTools = ExpectedTools()
    state: dict[str, Json] = {}
    golden_path: GoldenPath | None = None
    diagnostic_terms: tuple[Text, ...] = ()
    procedure: Json = None


class ToolCalled(Contract):
    name: Text
    args: dict[str, Json] = {}
    times: Positive | None = None  # None: at least once


class Limits(Contract):
    """At least one comparison; several must all hold."""

    lt: Number | None = None
    lte: Number | None = None
    gt: Number | None = None
    gte: Number | None = None
    eq: Number | None = None


class MetricLimits(Limits):
    name: Text


class Assertion(Contract):
    """Exactly one of the five."""

    judge: Text | None = None
    tool_called: ToolCalled | None = None
    tool_not_called: Text | None = None
    metric: MetricLimits | None = None
    turns: Limits | None = None

    @property
    def kind(self) -> str:
        return next(iter(self.model_fields_set))


class Scenario(Contract):
    """What a caller says and what must be true afterwards."""

    id: ScenarioId
    title: Text
    type: Text | None = None
    interaction: Literal["single_turn", "multi_turn"]
    tags: tuple[Text, ...] = ()
    input: Input
    application: ScenarioApplication = ScenarioApplication()
    expected: Expected = Expected()
    simulation_parameters: dict[str, Json] | None = None
    # schema 1.1
    reference_date: IsoDate | None = None
    persona: Persona | None = None
    stop_when: Text | None = None
    max_turns: Positive | None = None
    critical: Flag = False
    assertions: tuple[Assertion, ...] = ()
    mode: Literal["text", "audio"] | None = None
    owner: Text | None = None
    notes: str | None = None
    source: Annotated[Json, AfterValidator(scenario_rules.source)] = None
    tool_faults: dict[Target, ToolFault] = {}

    @property
    def task_type(self) -> str:
        """The type, else the first tag, else the interaction."""
        return self.type or next(iter(self.tags), self.interaction)


@dataclass(frozen=True)
class ScenarioFile:
    schema_version: str
    scenarios: tuple[Scenario, ...]


def parse_scenario(value: Json, path: str = "", *, version: str = "1.1") -> Scenario:
    """One scenario. Raises SpecError with all its problems, their paths below `path`.
    Under version "1.0" every field that is not CRAWL's is refused."""
    return parse(Scenario, value, lambda scenario: scenario_rules.problems(scenario, version), path)


def parse_file(data: bytes | str | Source) -> ScenarioFile:
    """A scenario file: JSON (UTF-8, or with a byte order mark UTF-8 or UTF-16), or what another reader made of a file.
    All or nothing: raises SpecError with the problems of all scenarios, each with its line."""
    source = data if isinstance(data, Source) else json_source(data)
    document = source.value
    refuse_if(source.placed(scenario_rules.frame_problems(document, VERSIONS)))
    problems = scenario_rules.duplicates(document["scenarios"], source.lines)
    scenarios: list[Scenario] = []
    for index, entry in enumerate(document["scenarios"]):
        try:
            scenarios.append(parse_scenario(entry, f"scenarios[{index}]", version=document["schema_version"]))
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(sorted(source.placed(problems), key=lambda problem: problem.line or 0))
    return ScenarioFile(document["schema_version"], tuple(scenarios))


def dump_file(scenarios: Iterable[Scenario]) -> dict[str, Json]:
    """The file as an object: schema 1.1 only when a scenario uses one of its fields."""
    listed = tuple(scenarios)
    version = max((schema_version_of(scenario) for scenario in listed), default="1.0")
    return {"schema_version": version, "scenarios": [scenario.to_json() for scenario in listed]}


def schema_version_of(scenario: Scenario) -> str:
    """The oldest schema version that can hold the scenario."""
    return "1.1" if any(scenario_rules.additions(scenario)) else "1.0"


def unsupported_fields(scenario: Scenario) -> list[Problem]:
    """Fields that are valid and kept, but that no engine serves yet."""
    return list(scenario_rules.unsupported(scenario))
