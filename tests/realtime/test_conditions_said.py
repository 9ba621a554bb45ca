"""A condition of the line in a whole conversation: what is made, sent, kept and measured."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from runs_app.grading.audio_metrics import listen, responses
from runs_app.realtime.clock import MonotonicClock
from runs_app.realtime.conditions import apply, on_line
from runs_app.realtime.pcm import Int16, to_bytes
from runs_app.realtime.record import Record
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.speech_edges import voiced
from scenarios_app.spec.conditions import PRESETS, Condition, parts
from tests.realtime.support import Held, asked, chunks, hold, known, only_session, plan, setup, tone
from tests.scripted_events import audio_reply
from tests.scripted_server import ScriptedServer, serving

NOISY = PRESETS["noisy"]


def words() -> Int16:
    """A word, a pause, a word, with silence around them as a speech service leaves it."""
    silence = np.zeros(1_440, dtype=np.int16)
    return np.concatenate([silence, tone(300), silence, silence, tone(250), silence])


async def call(server: ScriptedServer, turn: PlannedTurn, **changes: object) -> Held:
    clock = changes.pop("clock", None)
    return await hold(plan(server.url, audio=turn.audio, turns=(turn,), **changes), clock=clock)  # type: ignore[arg-type]


async def test_what_was_sent_is_what_is_kept_and_the_record_can_make_it_again() -> None:
    (turn,) = on_line([PlannedTurn("Hello", words())], NOISY, seed=7)
    async with serving([*setup(), *asked(), *audio_reply(chunks(tone(200)))]) as server:
        held = await call(server, turn)
    sent = b"".join(base64.b64decode(e["audio"]) for e in only_session(server).events("input_audio_buffer.append"))
    kept = held.left[: known(turn.audio).size]
    assert sent == to_bytes(known(turn.audio)) == to_bytes(kept)
    line = known(held.record.turns[0].line)
    again = apply(words(), Condition(**line.condition), seed=line.seed)
    assert to_bytes(again.samples) == sent
    assert again.levels == line.levels


async def test_condition_seed_and_levels_are_in_the_events_and_survive_storage() -> None:
    (turn,) = on_line([PlannedTurn("Hello", words())], NOISY, seed=7)
    async with serving([*setup(), *asked(), *audio_reply(chunks(tone(200)))]) as server:
        held = await call(server, turn)
    told = held.of("caller.audio")[0].payload
    line = known(held.record.turns[0].line)
    assert (told["condition"], told["seed"], told["levels"]) == (parts(NOISY), line.seed, line.levels)
    assert Record.from_json(json.loads(json.dumps(held.record.to_json()))) == held.record


async def test_clean_words_have_no_line() -> None:
    assert on_line([PlannedTurn("Hello", words())], None, seed=7)[0].line is None
    async with serving([*setup(), *asked(), *audio_reply(chunks(tone(200)))]) as server:
        held = await call(server, PlannedTurn("Hello", words()))
    assert held.record.turns[0].line is None
    assert "condition" not in held.of("caller.audio")[0].payload


def test_turns_have_lines_of_their_own_and_typed_turns_none() -> None:
    first, second, typed = on_line(
        [PlannedTurn("A", words()), PlannedTurn("B", words()), PlannedTurn("C")], NOISY, seed=1
    )
    assert known(first.line).seed != known(second.line).seed
    assert to_bytes(known(first.audio)) != to_bytes(known(second.audio))
    assert typed == PlannedTurn("C")


@pytest.mark.parametrize("name", ["noisy", "telephony", "echo", "realistic"])
async def test_the_caller_ends_where_his_clean_words_end_whatever_the_line_adds(name: str) -> None:
    """Within a millisecond, where 10 dB of noise is the whole length of the audio to a threshold."""
    clean = words()
    (turn,) = on_line([PlannedTurn("Hello", clean)], PRESETS[name], seed=3)
    async with serving([*setup(), *asked(), *audio_reply(chunks(tone(200)))]) as server:
        held = await call(server, turn)
    (response,) = responses(held.record, listen(known(held.conversation.audio), held.record.turns))
    truth = voiced(clean)
    assert abs(response.request.start - truth[0].start) <= 24
    assert abs(response.request.end - truth[-1].end) <= 24
    if name == "noisy":
        assert voiced(held.left.copy())[-1].end - truth[-1].end > 30 * 24


class LateOnce(MonotonicClock):
    """Whoever wants to wake 250 to 350 ms after the first sleeper wakes 300 ms late."""

    first_s: float | None = None

    async def sleep_until(self, due_s: float) -> None:
        self.first_s = due_s if self.first_s is None else self.first_s
        late = 0.25 <= due_s - self.first_s < 0.35
        await super().sleep_until(due_s + 0.3 * late)


async def test_a_chunk_that_went_out_late_takes_the_voice_in_it_along() -> None:
    """Noise so far under the voice that the recording itself shows the edges."""
    (turn,) = on_line([PlannedTurn("Hello", words())], Condition(noise_snr_db=60), seed=3)
    async with serving([*setup(), *asked(), *audio_reply(chunks(tone(200)))]) as server:
        held = await call(server, turn, real_time=True, clock=LateOnce())
    assert held.of("caller.audio")[0].payload["gaps"] >= 1
    heard = voiced(held.left.copy())
    line = known(held.record.turns[0].line)
    assert abs(line.voice[0].start - heard[0].start) <= 24
    assert abs(line.voice[-1].end - heard[-1].end) <= 24
