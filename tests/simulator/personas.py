"""Calls that a simulated persona leads: the engine and the simulator on real sockets, as a trial joins them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from runs_app.realtime.application import ApplicationExecutor
from runs_app.realtime.pcm import Int16
from runs_app.realtime.persona.part import MOST_TURNS, Part
from runs_app.realtime.persona.words import SHAPE
from runs_app.realtime.plan import Plan, build_plan
from runs_app.realtime.record import Event, Record
from runs_app.realtime.session import converse
from runs_app.realtime.structured import open_model
from scenarios_app.spec.application import Application
from scenarios_app.spec.configuration import Configuration
from scenarios_app.spec.scenario import Scenario
from scenarios_app.spec.simulation import played
from tests.realtime.support import known
from tests.simulator.wire_client import Simulator, spoken


class Call(NamedTuple):
    record: Record
    audio: Int16 | None
    events: list[Event]

    @property
    def said(self) -> list[str]:
        return [turn.caller_text for turn in self.record.turns]


async def led(
    simulator: Simulator,
    scenario: Scenario,
    configuration: Configuration,
    application: Application,
    *,
    seed: int | str,
    aloud: bool = False,
    real_time: bool = False,
) -> Call:
    """One call. Aloud, each turn is spoken when its words are known."""
    who = known(played(scenario))
    path = "/v1/realtime" if configuration.protocol == "realtime" else "/v1/live/sessions"
    plan = build_plan(
        configuration=configuration,
        scenario=scenario,
        application=application,
        url=f"{simulator.ws}{path}",
        headers={"x-sim-seed": str(seed), "x-sim-latency-ms": "100", "x-sim-jitter-ms": "0"},
        caller_audio=[await spoken(simulator, scenario.input.text)] if aloud else (),
        executor=ApplicationExecutor(
            application, initial_state=scenario.application.initial_state, reference_date=scenario.reference_date
        ),
        mode="audio" if aloud else "text",
        real_time=real_time,
        seed=seed,
    )
    opened = open_model(endpoint=f"{simulator.http}/v1", model="sim-persona", api_key="none", who="the persona")
    async with opened as model:
        part = Part(
            persona=who.persona,
            model="sim-persona",
            seed=seed,
            ask=partial(model.ask, shape=SHAPE),
            voice=partial(spoken, simulator) if aloud else None,
            stop_when=who.stop_when,
            most_turns=who.max_turns or MOST_TURNS,
            today=scenario.reference_date,
        )
        return await _held(replace(plan, part=part))


async def _held(plan: Plan) -> Call:
    events: list[Event] = []
    conversation = await converse(plan, emit=events.append, stop=asyncio.Event())
    return Call(conversation.record, conversation.audio, events)
