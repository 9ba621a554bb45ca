"""Everything that one conversation needs, resolved: built once, before any socket is opened.

What an evaluator expects of a scenario is not read here, so no byte of it can reach the agent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from runs_app.realtime.calls import required_arguments
from runs_app.realtime.conditions import on_line
from runs_app.realtime.context import context_of, history_of, with_context
from runs_app.realtime.delegation.assistant import Delegate
from runs_app.realtime.delegation.elsewhere import ToolsElsewhere
from runs_app.realtime.delegation.front import definition
from runs_app.realtime.delegation.planning import Address, delegate_of
from runs_app.realtime.dialects.base import Body, Dialect
from runs_app.realtime.dialects.realtime import BetaDialect, RealtimeDialect
from runs_app.realtime.endpoints import EndpointError, websocket_url, with_model
from runs_app.realtime.formats import UNTOLD, Formats, format_of
from runs_app.realtime.live.dialect import LiveDialect
from runs_app.realtime.live.settings import live_session
from runs_app.realtime.merging import merge
from runs_app.realtime.pcm import Int16
from runs_app.realtime.persona.part import Part
from runs_app.realtime.record import SAMPLES_PER_MS
from runs_app.realtime.script import UNTYPED, PlannedTurn, lines, with_audio
from runs_app.realtime.tools import Executor
from scenarios_app.spec.application import Application
from scenarios_app.spec.conditions import parse_condition
from scenarios_app.spec.configuration import Configuration, tool_conflicts
from scenarios_app.spec.configuration import unsupported_fields as configuration_gaps
from scenarios_app.spec.scenario import Scenario
from scenarios_app.spec.scenario import unsupported_fields as scenario_gaps
from scenarios_app.spec.simulation import patience_s

MIN_CALLER_AUDIO_MS = 100  # servers refuse to commit less
DIALECTS: dict[str, Dialect] = {"ga": RealtimeDialect(), "beta": BetaDialect()}
LIVE = LiveDialect()
SECRET_NAME = re.compile(r"authorization|cookie|key|token|secret", re.IGNORECASE)
SHORTEST_SECRET = 8  # shorter values would be cut out of ordinary words
NOT_OURS = ("assertions",)

Mode = Literal["text", "audio"]


class PlanError(Exception):
    """The conversation cannot be held. `stage` is one of record.STAGES, `field` names the setting at fault."""

    def __init__(self, field: str, message: str, *, stage: str = "configuration") -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.stage = stage


@dataclass(frozen=True)
class Timeouts:
    """`turn_s`: from the turn sent to each response.done, restarted per tool round. It also bounds every send.

    `error_grace_s`: how long after an error event a response may still begin. `transcript_s`: how long the end of a
    conversation waits for the recognition of the caller's words, where the session asks for it. `confirm_s`: how long
    a caller who talked over the agent waits for the end of what he cancelled. `settle_s`: after how long an answer to
    half of the caller's words counts, because no other one follows.

    Of Live alone: `response_s`, from the caller's last word to a reply that has settled; `quiet_s`, for how long
    nothing happens then; `closed_s`, from session.close to session.closed.
    """

    connect_s: float = 60.0
    session_ready_s: float = 3.0
    turn_s: float = 60.0
    close_s: float = 2.0
    error_grace_s: float = 5.0
    transcript_s: float = 1.0
    confirm_s: float = 2.0
    settle_s: float = 3.0
    response_s: float = 30.0
    quiet_s: float = 1.2
    closed_s: float = 10.0


@dataclass(frozen=True)
class Plan:
    dialect: Dialect
    url: str = field(repr=False)  # its query may hold a key
    headers: Mapping[str, str] = field(repr=False)
    mode: Mode
    real_time: bool
    session: Body  # of session.update
    turns: tuple[PlannedTurn, ...]
    executor: Executor
    history: tuple[tuple[Literal["user", "assistant"], str], ...] = ()
    done_tool: str | None = "end_session"
    tool_rounds: int = 5
    chunk_ms: int = 100
    timeouts: Timeouts = Timeouts()
    reference_date: str | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    protocol: str = "realtime"
    part: Part | None = None  # of a caller who finds his own words; `turns` then holds his first ones
    patience_s: float | None = None  # after so much silence the caller hangs up
    delegate: Delegate | None = None  # who does what the voice hands on, where the provider does not

    @property
    def required_arguments(self) -> dict[str, tuple[str, ...]]:
        own = self.dialect.tools(self.session)
        return required_arguments((*own, *(self.delegate.tools if self.delegate else ())))

    @property
    def turn_detection(self) -> Body | None:
        """How the server ends the caller's turns; None when the caller does."""
        return self.dialect.turn_detection(self.session) if self.mode == "audio" else None

    @property
    def wants_transcript(self) -> bool:
        """Whether the session asks the server to write down what it heard."""
        return self.mode == "audio" and self.dialect.wants_transcript(self.session)


def build_plan(
    *,
    configuration: Configuration,
    scenario: Scenario,
    application: Application | None,
    url: str,
    headers: Mapping[str, str],
    caller_audio: Sequence[Int16],
    executor: Executor,
    mode: Mode | None = None,
    real_time: bool | None = None,
    model: str | None = None,
    seed: int | str = 0,
    secrets: tuple[str, ...] = (),
    backend: Address | None = None,
) -> Plan:
    """The plan of one trial. `url`, `headers` and `model` are rendered; `mode` and `real_time` override. `backend`:
    where our own backend is, in the modes that have one. `caller_audio`: in audio mode one sound for each of
    script.lines. Raises PlanError with an invalid trial's stage."""
    _refuse_unserved(configuration, scenario)
    mode = mode or scenario.mode or configuration.mode
    dialect, model = _dialect(configuration, mode), model or configuration.model
    live = dialect is LIVE
    delegate = delegate_of(configuration, scenario, application, _tools(configuration, application), backend)
    return Plan(
        dialect=dialect,
        url=_address(url, None if live else model),
        headers=_headers(dialect, headers),
        mode=mode,
        real_time=configuration.audio.real_time if real_time is None else real_time,
        session=(_live_session if live else _session)(configuration, scenario, application, mode, model),
        turns=_said(configuration, scenario, caller_audio if mode == "audio" else None, seed),
        executor=ToolsElsewhere(executor.snapshot()) if delegate and delegate.is_remote else executor,
        history=() if live else history_of(scenario),
        reference_date=scenario.reference_date,
        secrets=tuple(dict.fromkeys((*secrets, *_secrets_in(headers, url), *_keys_of(backend)))),
        patience_s=patience_s(scenario),
        delegate=delegate,
        **_as_configured(configuration),
    )


def _as_configured(configuration: Configuration) -> dict[str, Any]:
    return {
        "protocol": configuration.protocol,
        "done_tool": configuration.done_tool,
        "tool_rounds": configuration.tool_rounds,
        "chunk_ms": configuration.chunk_ms,
        "timeouts": _timeouts(configuration),
    }


def _dialect(configuration: Configuration, mode: Mode) -> Dialect:
    if configuration.protocol == "realtime":
        return DIALECTS[configuration.dialect]
    if mode == "text":
        raise PlanError("mode", "GPT Live is spoken, and this trial is to be typed: set mode: audio")
    return LIVE


def _live_session(
    configuration: Configuration, scenario: Scenario, application: Application | None, mode: Mode, model: str
) -> Body:
    return live_session(
        configuration,
        model=model,
        tools=_tools(configuration, application),
        context=context_of(scenario, application),
        history=history_of(scenario),
    )


def _session(
    configuration: Configuration, scenario: Scenario, application: Application | None, mode: Mode, model: str
) -> Body:
    """Of a Realtime session, whose model stands in the address."""
    dialect = DIALECTS[configuration.dialect]
    tools = [definition()] if configuration.own_backend else _tools(configuration, application)
    configured = dialect.configured_session(
        instructions=configuration.instructions,
        voice=configuration.voice if mode == "audio" else None,
        tools=[],
        formats=_formats(configuration) if mode == "audio" else UNTOLD,
        turn_detection=configuration.vad if mode == "audio" else None,
    )
    session = merge(merge(dialect.default_session(mode), configured), configuration.session_update)
    if tools:
        session["tools"] = tools
    if context := context_of(scenario, application):
        session["instructions"] = with_context(session.get("instructions") or "", context)
    return session


def _timeouts(configuration: Configuration) -> Timeouts:
    times = configuration.timeouts
    return Timeouts(
        connect_s=float(times.connect),
        session_ready_s=float(times.session_ready),
        turn_s=float(times.turn),
        response_s=float(times.response),
    )


def _formats(configuration: Configuration) -> Formats:
    audio = configuration.audio
    return Formats(format_of(audio.input), format_of(audio.output))


def _tools(configuration: Configuration, application: Application | None) -> list[Body]:
    """The application's tools, then those that only session_update knows."""
    if application is not None:
        for problem in tool_conflicts(configuration, application):
            raise PlanError(problem.path, problem.message)
    declared = [tool.definition() for tool in application.tools] if application else []
    return [*declared, *(configuration.session_update.get("tools") or [])]


def _headers(dialect: Dialect, given: Mapping[str, str]) -> dict[str, str]:
    """The dialect's own headers give way to those of the configuration, in whatever case it writes them."""
    names = {name.lower() for name in given}
    return {**{name: value for name, value in dialect.headers.items() if name.lower() not in names}, **given}


def _address(url: str, model: str | None) -> str:
    """The model is named in the address of a Realtime session; Live names it in session.start."""
    try:
        address = websocket_url(url)
        return address if model is None else with_model(address, model)
    except EndpointError as exc:
        raise PlanError("endpoint", str(exc)) from None


def _said(
    configuration: Configuration, scenario: Scenario, audio: Sequence[Int16] | None, seed: int | str
) -> tuple[PlannedTurn, ...]:
    """The caller's turns as they go over his line."""
    turns = _turns(scenario, audio, seed)
    return on_line(turns, parse_condition(configuration.caller.condition), seed=seed)


def _turns(scenario: Scenario, audio: Sequence[Int16] | None, seed: int | str) -> tuple[PlannedTurn, ...]:
    script = lines(scenario, seed=seed)
    if audio is None:
        if untyped := next((index for index, line in enumerate(script) if not line.text), 0):
            raise PlanError(f"input.turns[{untyped - 1}]", UNTYPED)
        return with_audio(script, [None] * len(script))

    sizes = [audio[index].size if index < len(audio) else 0 for index in range(len(script))]
    for index, size in enumerate(sizes):
        if size < MIN_CALLER_AUDIO_MS * SAMPLES_PER_MS:
            which = f" of turn {index + 1}" if len(script) > 1 else ""
            message = f"caller audio{which} {size // SAMPLES_PER_MS} ms (minimum {MIN_CALLER_AUDIO_MS} ms)"
            raise PlanError("", message, stage="caller_audio")
    return with_audio(script, audio[: len(script)])


def _secrets_in(headers: Mapping[str, str], url: str) -> list[str]:
    """Values that the agent's side may repeat to us, such as in "Incorrect API key provided"."""
    named = [*headers.items(), *parse_qsl(urlsplit(url).query)]
    values = [value for name, value in named if SECRET_NAME.search(name)]
    bare = [value.rpartition(" ")[2] for value in values]
    return [value for value in (*values, *bare) if len(value) >= SHORTEST_SECRET]


def _keys_of(backend: Address | None) -> list[str]:
    keys = (backend.api_key, backend.token) if backend else ()
    return [key for key in keys if key and len(key) >= SHORTEST_SECRET]


def _refuse_unserved(configuration: Configuration, scenario: Scenario) -> None:
    """What would change the conversation, but nobody here can do yet. Grading's matters are not refused here."""
    for problem in (*configuration_gaps(configuration), *scenario_gaps(scenario)):
        if not problem.path.startswith(NOT_OURS):
            raise PlanError(problem.path, problem.message)
