"""From a trial to the plan of its conversation. Secrets are filled in here, and nowhere else on this road."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from runs_app.models import Run, Trial
from runs_app.realtime.application import ApplicationError, ApplicationExecutor
from runs_app.realtime.delegation.planning import Address
from runs_app.realtime.endpoints import EndpointError
from runs_app.realtime.pcm import Int16
from runs_app.realtime.plan import Mode, Plan, PlanError, build_plan
from runs_app.realtime.script import for_repeat
from runs_app.realtime.script import lines as script_of
from runs_app.realtime.speech import CallerAudioError, SpeechError
from runs_app.services import secrets, tooling
from runs_app.services.addresses import NoSimulator, agent_url, template_context
from runs_app.services.backends import backend_of
from runs_app.services.caller_voice import SaidTurn, said_turns, sound_of, spoken_after_s
from runs_app.services.casting import Cast, cast_of
from runs_app.services.material import Material, material_of
from runs_app.services.refusal import CannotPlan
from runs_app.services.secrets import Destination, SecretError
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.tool_faults import parse_faults

SPEECH_SECONDS = 120.0  # of all tries to have the caller's words spoken


@dataclass(frozen=True, repr=False)
class Prepared:
    """A plan that only lacks the caller's voice. Holds rendered secrets: it has no repr."""

    material: Material
    agent: Destination
    backend: Address | None
    executor: ApplicationExecutor
    mode: Mode
    real_time: bool | None
    speech: tuple[SaidTurn, ...]  # one for each turn of the caller; none in text mode
    cast: Cast | None  # who plays the caller; None: a script
    spoken_after_s: float  # audio in the cache that is older is spoken anew
    seed: int


def prepare(trial: Trial) -> Prepared:
    """Reads, renders and checks all that needs no network. Raises CannotPlan."""
    try:
        material = material_of(trial)
        material = replace(material, scenario=for_repeat(material.scenario, trial.repeat))
        mode = _mode(trial.run, material)
        return Prepared(
            material=material,
            agent=_agent(trial, material),
            backend=backend_of(trial, material.configuration),
            executor=_executor(trial, material),
            mode=mode,
            real_time=trial.run.real_time,
            speech=_speech(trial, material) if mode == "audio" else (),
            cast=cast_of(trial, material, mode),
            spoken_after_s=spoken_after_s(trial.run),
            seed=trial.seed,
        )
    except (SpecError, SecretError, EndpointError, NoSimulator, ApplicationError, ImproperlyConfigured) as error:
        raise CannotPlan("configuration", error) from error


def _mode(run: Run, material: Material) -> Mode:
    chosen = run.mode or material.scenario.mode or material.configuration.mode
    return "audio" if chosen == "audio" else "text"


def _agent(trial: Trial, material: Material) -> Destination:
    configuration = material.configuration
    return secrets.render(
        url=agent_url(configuration.endpoint, protocol=configuration.protocol),
        context=template_context(trial),
        headers=configuration.headers,
        model=configuration.model,
    )


def _executor(trial: Trial, material: Material) -> ApplicationExecutor:
    scenario, now = material.scenario, timezone.now()
    who = {"id": trial.pk, "run": trial.run_id, "scenario": scenario.id, "repeat": trial.repeat, "seed": trial.seed}
    return ApplicationExecutor(
        material.application,
        initial_state=scenario.application.initial_state,
        reference_date=scenario.reference_date,
        started_at=now,
        backends=tooling.backends_of(
            material.application,
            context=template_context(trial),
            trial=who,
            reference_date=scenario.reference_date,
            started_at=now,
        ),
        # what is said of a tool by its name wins over *, and the run wins over the scenario
        faults={**scenario.tool_faults, **parse_faults(trial.run.tool_faults)},
        seed=trial.seed,
    )


def _speech(trial: Trial, material: Material) -> tuple[SaidTurn, ...]:
    script = script_of(material.scenario)
    return said_turns(script, material.configuration.caller, template_context(trial))


async def caller_speech(prepared: Prepared) -> tuple[Int16, ...]:
    """The caller's words, turn by turn, as int16 mono at 24 kHz; empty in text mode. Raises CannotPlan."""
    try:
        async with asyncio.timeout(SPEECH_SECONDS):
            return tuple([await sound_of(turn, spoken_after_s=prepared.spoken_after_s) for turn in prepared.speech])
    except SpeechError as error:
        raise CannotPlan("speech", error) from error
    except CallerAudioError as error:
        raise CannotPlan("caller_audio", error) from error
    except TimeoutError as error:
        raise CannotPlan("speech", f"no audio of the caller's words within {SPEECH_SECONDS:.0f} s") from error


def complete(prepared: Prepared, audio: Sequence[Int16]) -> Plan:
    """Raises CannotPlan."""
    try:
        return build_plan(
            configuration=prepared.material.configuration,
            scenario=prepared.material.scenario,
            application=prepared.material.application,
            url=prepared.agent.url,
            headers=prepared.agent.headers,
            model=prepared.agent.model,
            caller_audio=audio,
            executor=prepared.executor,
            mode=prepared.mode,
            real_time=prepared.real_time,
            seed=prepared.seed,
            backend=prepared.backend,
        )
    except PlanError as error:
        raise CannotPlan(error.stage, error) from error
