"""What a machine heard of the agent, kept beside the recording; and the words of a call that becomes a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from runs_app.models import Trial
from runs_app.realtime.endpoints import EndpointError, shown
from runs_app.realtime.record import SAMPLES_PER_MS, Record, Span
from runs_app.realtime.transcription import Recogniser, Written, write_down
from runs_app.realtime.wav import wav_bytes
from runs_app.services import artifacts, secrets
from runs_app.services.addresses import NoSimulator, service_url
from runs_app.services.secrets import SecretError
from runs_app.services.tooling import NOBODY
from scenarios_app.spec import jsontext
from scenarios_app.spec.configuration_rules import SIMULATOR
from scenarios_app.spec.errors import SpecError

SHORTEST_MS = 100  # what recognisers take at least
PAUSE_MS = 1_000  # between two stretches that are sent apart
_SETTINGS = {"endpoint": "TRANSCRIPTION_ENDPOINT", "api_key": "TRANSCRIPTION_SECRET"}


class CannotTranscribe(Exception):
    """Why nobody can be asked, in words for the page."""


@dataclass(frozen=True)
class TurnHeard:
    """`turn` counts from 0. `text` is None where one of its stretches could not be asked about: `error` says why."""

    turn: int
    text: str | None
    error: str = ""


@dataclass(frozen=True)
class MachineHeard:
    """`by` is "simulator" or the address that was asked, `at` the time as ISO 8601 in UTC."""

    by: str
    model: str
    at: str
    turns: tuple[TurnHeard, ...]

    @property
    def worth_keeping(self) -> bool:
        """An answer without words takes no other's place: a simulator that was started again forgot old calls."""
        return any(turn.text for turn in self.turns)

    @property
    def nothing(self) -> str:
        """Why there are no words."""
        return next((turn.error for turn in self.turns if turn.error), "no words were caught in any turn")


@dataclass(frozen=True)
class Sounds:
    """The agent's stretches of each turn as WAV files, ready to be sent."""

    recogniser: Recogniser
    turns: tuple[tuple[int, tuple[bytes, ...]], ...]


def configured_recogniser() -> Recogniser:
    """As the settings name it. Raises CannotTranscribe."""
    name = settings.TRANSCRIPTION_SECRET
    try:
        service = secrets.render(
            url=service_url(settings.TRANSCRIPTION_ENDPOINT, field="TRANSCRIPTION_ENDPOINT"),
            context=NOBODY,
            api_key=f"{{{{secrets.{name}}}}}" if name else None,
        )
    except SecretError as error:
        raise CannotTranscribe(f"{_SETTINGS.get(error.field, error.field)}: {error.message}") from error
    except EndpointError as error:
        raise CannotTranscribe(f"TRANSCRIPTION_ENDPOINT: {error}") from error
    except (NoSimulator, ImproperlyConfigured) as error:
        raise CannotTranscribe(str(error)) from error
    return Recogniser(service.url, settings.TRANSCRIPTION_MODEL, service.api_key)


def prepare_sounds(*, trial: Trial) -> Sounds:
    """Raises CannotTranscribe."""
    record = Record.from_json(trial.record) if trial.record else None
    spans = _spans(record) if record else {}
    if not trial.wav or not spans:
        raise CannotTranscribe("there is no recording in which the agent says anything")
    recogniser = configured_recogniser()
    try:
        clips = artifacts.read_agent(trial.wav, [span for turn in spans.values() for span in turn])
    except FileNotFoundError as error:
        raise CannotTranscribe("the recording is not in storage any more") from error
    files = iter([wav_bytes(clip) for clip in clips])
    return Sounds(recogniser, tuple((turn, tuple(next(files) for _ in found)) for turn, found in spans.items()))


async def hear_by_machine(sounds: Sounds) -> MachineHeard:
    """Asks about every stretch. What it gets is free of secrets. Raises CannotTranscribe."""
    files = [file for _, clips in sounds.turns for file in clips]
    try:
        written = iter(await write_down(sounds.recogniser, files))
    except EndpointError as error:
        raise CannotTranscribe(f"TRANSCRIPTION_ENDPOINT: {error}") from error
    turns = tuple(_joined(turn, [next(written) for _ in clips]) for turn, clips in sounds.turns)
    return MachineHeard(_named(sounds.recogniser), sounds.recogniser.model, timezone.now().isoformat(), turns)


def keep_machine_heard(*, trial: Trial, heard: MachineHeard) -> None:
    """Beside the recording, in place of what was heard before. Raises OSError, or the storage's own errors."""
    artifacts.write_machine_heard(trial.folder, jsontext.dumps(asdict(heard)))


def kept_machine_heard(trial: Trial) -> MachineHeard | None:
    """None where nobody asked yet, or where what was kept cannot be read any more."""
    text = artifacts.read_machine_heard(trial.folder)
    try:
        told = jsontext.load(text) if text else None
        return MachineHeard(**(told | {"turns": tuple(TurnHeard(**turn) for turn in told["turns"])})) if told else None
    except (SpecError, TypeError, KeyError):
        return None


async def words_of_call(recogniser: Recogniser, file: bytes) -> str:
    """What is said in a WAV file, without secrets; "" where no words were caught. Raises CannotTranscribe."""
    try:
        (written,) = await write_down(recogniser, [file])
    except EndpointError as error:
        raise CannotTranscribe(f"TRANSCRIPTION_ENDPOINT: {error}") from error
    if written.text is None:
        raise CannotTranscribe(secrets.redact(written.error))
    return secrets.redact(written.text)


def _spans(record: Record) -> dict[int, list[Span]]:
    """By turn. What is sent apart: speech before and after a tool call, and around a pause that ends a thought."""
    shortest = SHORTEST_MS * SAMPLES_PER_MS
    called = [round(call.called_ms * SAMPLES_PER_MS) for call in record.tool_calls]
    found = {turn.index: _whole(turn.agent, called) for turn in record.turns}
    long = {turn: [span for span in spans if span.end - span.start >= shortest] for turn, spans in found.items()}
    return {turn: spans for turn, spans in long.items() if spans}


def _whole(stretches: Sequence[Span], called: Sequence[int]) -> list[Span]:
    """A continuous voice is cut at every breath, and a recogniser makes little of half a sentence."""
    spans: list[Span] = []
    begun = 0  # of the stretch before
    for stretch in stretches:
        close = bool(spans) and stretch.start - spans[-1].end < PAUSE_MS * SAMPLES_PER_MS
        if close and not any(begun < call < stretch.start for call in called):
            spans[-1] = Span(spans[-1].start, stretch.end)
        else:
            spans.append(stretch)
        begun = stretch.start
    return spans


def _joined(turn: int, written: list[Written]) -> TurnHeard:
    error = next((one.error for one in written if one.text is None), "")
    if error:
        return TurnHeard(turn, None, secrets.redact(error))
    return TurnHeard(turn, secrets.redact(" ".join(one.text for one in written if one.text)))


def _named(recogniser: Recogniser) -> str:
    return SIMULATOR if settings.TRANSCRIPTION_ENDPOINT == SIMULATOR else shown(recogniser.endpoint)
