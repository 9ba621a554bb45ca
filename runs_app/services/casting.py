"""Who plays the caller of a trial: the persona, the model that finds its words with its key, and the voice for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from runs_app.models import Trial
from runs_app.realtime.endpoints import api_base_url
from runs_app.realtime.pcm import Int16
from runs_app.realtime.persona.part import MOST_TURNS, CallerFailed, Part
from runs_app.realtime.persona.words import SHAPE
from runs_app.realtime.plan import Mode
from runs_app.realtime.script import ScriptLine
from runs_app.realtime.speech import CallerAudioError, SpeechError, SpeechRequest
from runs_app.realtime.structured import open_model
from runs_app.services import secrets
from runs_app.services.addresses import service_url, template_context
from runs_app.services.caller_voice import said_turns, sound_of, spoken_after_s
from runs_app.services.material import Material
from scenarios_app.spec.conditions import Condition, parse_condition
from scenarios_app.spec.configuration import Configuration
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.scenario import Scenario
from scenarios_app.spec.simulation import Played, played


@dataclass(frozen=True, repr=False)
class Cast:
    """Holds a rendered key: it has no repr."""

    played: Played
    endpoint: str
    model: str
    api_key: str
    seed: int
    today: str | None
    voice: SpeechRequest | None  # None: the words are typed
    spoken_after_s: float
    condition: Condition | None


def casting_problem(scenario: Scenario, configuration: Configuration) -> Problem | None:
    """Why this configuration cannot have a caller for this scenario."""
    if played(scenario) is None or configuration.persona is not None:
        return None
    who = "a persona" if scenario.persona is not None else "simulation_parameters"
    message = f"{scenario.id} is led by {who}, and no model that could play the caller is named here"
    return Problem("persona", f"{message}: set persona.endpoint and persona.model")


def cast_of(trial: Trial, material: Material, mode: Mode) -> Cast | None:
    """None where a script leads. Raises SpecError, SecretError, EndpointError, NoSimulator."""
    who, configuration = played(material.scenario), material.configuration
    if who is None:
        return None
    if problem := casting_problem(material.scenario, configuration):
        raise SpecError([problem])
    model, context = configuration.persona, template_context(trial)
    assert model is not None
    service = secrets.render(
        url=service_url(model.endpoint, field="persona.endpoint"), context=context, api_key=model.api_key, at="persona."
    )
    api_base_url(service.url)
    voices = said_turns((ScriptLine(""),), configuration.caller, context) if mode == "audio" else ()
    return Cast(
        played=who,
        endpoint=service.url,
        model=model.model,
        api_key=service.api_key or "",
        seed=trial.seed,
        today=material.scenario.reference_date,
        voice=next((voice for voice in voices if isinstance(voice, SpeechRequest)), None),
        spoken_after_s=spoken_after_s(trial.run),
        condition=parse_condition(configuration.caller.condition),
    )


@asynccontextmanager
async def on_stage(cast: Cast | None) -> AsyncIterator[Part | None]:
    """The part while the conversation lasts; leave the block on the loop that holds it."""
    if cast is None:
        yield None
        return
    opened = open_model(endpoint=cast.endpoint, model=cast.model, api_key=cast.api_key, who="the persona")
    async with opened as model:
        yield Part(
            persona=cast.played.persona,
            model=cast.model,
            seed=cast.seed,
            ask=partial(model.ask, shape=SHAPE),
            voice=partial(_say, cast) if cast.voice is not None else None,
            stop_when=cast.played.stop_when,
            most_turns=cast.played.max_turns or MOST_TURNS,
            today=cast.today,
            condition=cast.condition,
        )


async def _say(cast: Cast, words: str) -> Int16:
    assert cast.voice is not None
    try:
        return await sound_of(replace(cast.voice, text=words), spoken_after_s=cast.spoken_after_s)
    except SpeechError as error:
        raise CallerFailed("speech", str(error)) from error
    except CallerAudioError as error:
        raise CallerFailed("caller_audio", str(error)) from error
