"""How far the measured response latency is from the truth, through the whole engine and out of the WAV.

A scripted server on loopback answers each turn after a known delay, with leading silence inside its audio, at once,
in bursts or in a trickle. It notes on the same monotonic clock when each delta left. Truth is what a listener hears:
the moment of the first loud sample at the server minus the end of the caller's speech there. That is the commit, less
the silence that ends the caller's audio; with turn detection, and on GPT Live, it is when the chunk with the last
voiced sample came in, and how deep in it that sample lies. Measured is what a trial gets: from the last voiced caller
sample to the first voiced agent sample of the stereo WAV.

    python scripts/bench_latency.py [--mode ga|beta|server_vad|live] [--conversations 96] [--concurrency 8] [--burst]
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import random
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from runs_app.realtime.dialects.base import Body
from runs_app.realtime.dialects.realtime import BetaDialect, RealtimeDialect
from runs_app.realtime.live.dialect import LiveDialect
from runs_app.realtime.merging import merge
from runs_app.realtime.pcm import Int16, to_bytes
from runs_app.realtime.percentile import nearest_rank
from runs_app.realtime.plan import Plan
from runs_app.realtime.record import RATE_HZ, Json
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.session import Conversation, converse
from runs_app.realtime.speech_edges import voiced
from scenarios_app.spec.configuration import CHUNK_MS, DETECTED_CHUNK_MS
from tests.live_server import Cue, caption, live
from tests.live_server import sound as live_sound
from tests.realtime.support import TableExecutor
from tests.scripted_events import audio_delta, created, done, session_created, session_updated
from tests.scripted_server import Expect, ScriptedServer, Send, Session, Step, serving
from tests.scripted_server import Pause as Wait
from tests.scripted_steps import Call

MS = RATE_HZ // 1000
AIM_P99_MS = 20.0
INVALID_LAG_MS = 250.0
MODES = ("ga", "beta", "server_vad", "live")
COMMITTED = ("ga", "beta")
DETECTED_SILENCE_MS = 500
DELTAS = ("response.output_audio.delta", "response.audio.delta", "session.output_audio.delta")
APPENDS = ("input_audio_buffer.append", "session.input_audio.append")


@dataclass(frozen=True)
class Case:
    """One conversation: when the first delta leaves after the request, and what it holds."""

    delay_ms: int
    leading_silence_ms: int
    shape: str  # "whole", "burst" or "trickle"
    caller_ms: int
    trailing_silence_ms: int


@dataclass(frozen=True)
class Result:
    case: Case
    truth_ms: float
    measured_ms: float
    first_delta_ms: float  # what timing the first delta would have said
    lag_p99_ms: float | None
    lag_max_ms: float | None
    loop_lag_max_ms: float | None

    @property
    def disturbed(self) -> bool:
        """This machine was so late that the trial would be invalid (pacing): its numbers enter no mean."""
        return max(self.lag_max_ms or 0.0, self.loop_lag_max_ms or 0.0) > INVALID_LAG_MS

    @property
    def error_ms(self) -> float:
        return self.measured_ms - self.truth_ms


def sound(ms: float, hz: float, rng: random.Random) -> Int16:
    count = round(ms * MS)
    return (rng.uniform(900, 9000) * np.sin(2 * np.pi * hz * np.arange(1, count + 1) / RATE_HZ)).astype(np.int16)


def silence(ms: float) -> Int16:
    return np.zeros(round(ms * MS), dtype=np.int16)


def cases(count: int, rng: random.Random) -> list[Case]:
    return [
        Case(
            delay_ms=rng.randint(150, 3000),
            leading_silence_ms=rng.choice((0, 0, 40, 130, 200, 370)),
            shape=("whole", "burst", "trickle")[nth % 3],
            caller_ms=rng.randint(600, 1800),
            trailing_silence_ms=rng.choice((0, 0, 60, 140)),
        )
        for nth in range(count)
    ]


def script(case: Case, rng: random.Random, mode: str) -> list[Step]:
    reply = np.concatenate([silence(case.leading_silence_ms), sound(700, 180, rng)])
    size_ms, pause_ms = {"whole": (reply.size / MS, 0.0), "burst": (60, 0.0), "trickle": (50, 45.0)}[case.shape]
    size = round(size_ms * MS)
    if mode == "live":
        return live_script(case, [reply[start : start + size] for start in range(0, reply.size, size)])
    steps: list[Step] = [Send(session_created()), Expect("session.update"), Send(session_updated())]
    steps += [Call(silence_follows)] if mode == "server_vad" else [Expect("input_audio_buffer.commit")]
    steps += [] if mode == "server_vad" else [Expect("response.create")]
    steps += [Send(created()), Wait(case.delay_ms)]
    for start in range(0, reply.size, size):
        steps.append(Send(delta(to_bytes(reply[start : start + size]), mode)))
        if pause_ms:
            steps.append(Wait(pause_ms))
    return [*steps, Send(done())]


def live_script(case: Case, pieces: list[Int16]) -> list[Step]:
    """On the clock of the appended audio. A trickle comes at the pace of speech, as from a voice without end."""
    at_ms = float(case.caller_ms + case.trailing_silence_ms + case.delay_ms)
    length_ms = sum(piece.size for piece in pieces) / MS
    cues = [Cue(at_ms, [caption("Yes.", at_ms, at_ms + length_ms)])]
    for piece in pieces:
        cues.append(Cue(at_ms, [live_sound(to_bytes(piece))]))
        at_ms += piece.size / MS if case.shape == "trickle" else 0.0
    return live(cues)


def delta(pcm: bytes, mode: str) -> Body:
    event = audio_delta(pcm)
    return {**event, "type": "response.audio.delta"} if mode == "beta" else event


async def silence_follows(session: Session) -> None:
    """Turn detection at its plainest: the caller spoke, and half a second of silence was appended."""
    place, spoke, quiet = 0, False, 0
    while quiet < DETECTED_SILENCE_MS * MS:
        session.news.clear()
        for logged in session.received[place:]:
            heard = samples_of(logged.event)
            loud = np.flatnonzero(np.abs(heard) > 200)
            spoke = spoke or loud.size > 0
            quiet = heard.size - 1 - int(loud[-1]) if loud.size else quiet + heard.size if spoke else 0
        place = len(session.received)
        if quiet < DETECTED_SILENCE_MS * MS:
            await session.news.wait()
    for kind in ("input_audio_buffer.speech_stopped", "input_audio_buffer.committed"):
        await session.send({"type": kind, "item_id": "item_u"})


def samples_of(event: Body) -> Int16:
    if event.get("type") not in APPENDS:
        return np.zeros(0, dtype=np.int16)
    return np.frombuffer(base64.b64decode(event["audio"]), dtype="<i2").astype(np.int16)


def caller_end_s(session: Session, case: Case, mode: str) -> float:
    """When the last voiced sample of the caller was heard at the server."""
    if mode in COMMITTED:
        return session.received_at("input_audio_buffer.commit") - case.trailing_silence_ms / 1000
    left = case.caller_ms * MS
    for logged in session.received:
        size = samples_of(logged.event).size
        if size and left <= size:
            return logged.at_s + left / RATE_HZ
        left -= size
    raise AssertionError("the caller's audio did not come in whole")


def truth_ms(session: Session, case: Case, mode: str) -> float:
    """When the delta with the first loud sample left, and how deep in it, from the end of the caller's speech."""
    heard_s, skipped_ms = 0.0, float(case.leading_silence_ms)
    loud_s: float | None = None
    for logged in session.sent:
        if logged.event["type"] not in DELTAS:
            continue
        starts_s = max(heard_s, logged.at_s)
        length_ms = len(logged.event["delta"]) * 3 / 4 / 2 / MS
        if skipped_ms < length_ms:
            loud_s = starts_s + skipped_ms / 1000
            break
        skipped_ms -= length_ms
        heard_s = starts_s + length_ms / 1000
    assert loud_s is not None
    return (loud_s - caller_end_s(session, case, mode)) * 1000


def measured_ms(held: Conversation) -> float:
    assert held.audio is not None, held.record.ending
    caller, agent = (np.ascontiguousarray(held.audio[:, channel]) for channel in (0, 1))
    return (voiced(agent)[0].start - voiced(caller)[-1].end) / MS


def plan_for(url: str, caller: Int16, mode: str, real_time: bool) -> Plan:
    if mode == "live":
        return live_plan(url, caller)
    dialect = BetaDialect() if mode == "beta" else RealtimeDialect()
    detection: Body = {"type": "server_vad", "silence_duration_ms": DETECTED_SILENCE_MS}
    configured = dialect.configured_session(
        instructions="", voice=None, tools=[], turn_detection=detection if mode == "server_vad" else None
    )
    return Plan(
        dialect=dialect,
        url=url,
        headers={},
        mode="audio",
        real_time=real_time,
        session=merge(dialect.default_session("audio"), configured),
        turns=(PlannedTurn("", caller),),
        executor=TableExecutor(),
        chunk_ms=DETECTED_CHUNK_MS if mode == "server_vad" else CHUNK_MS["realtime"],
    )


def live_plan(url: str, caller: Int16) -> Plan:
    dialect = LiveDialect()
    return Plan(
        dialect=dialect,
        url=url,
        headers={},
        mode="audio",
        real_time=True,
        session={"model": "m", **dialect.default_session("audio"), "delegation": {"type": "client"}},
        turns=(PlannedTurn("", caller),),
        executor=TableExecutor(),
        chunk_ms=CHUNK_MS["live"],
        protocol="live",
    )


async def run_case(case: Case, seed: int, mode: str, real_time: bool) -> Result:
    rng = random.Random(seed)
    caller = np.concatenate([sound(case.caller_ms, 210, rng), silence(case.trailing_silence_ms)])
    async with serving(script(case, rng, mode)) as server:
        plan = plan_for(server.url, caller, mode, real_time)
        held = await converse(plan, emit=lambda event: None, stop=asyncio.Event())
    return result(case, held, server, mode)


def result(case: Case, held: Conversation, server: ScriptedServer, mode: str) -> Result:
    (session,) = server.sessions
    first_s = min(logged.at_s for logged in session.sent if logged.event["type"] in DELTAS)
    pacing = held.record.pacing
    return Result(
        case=case,
        truth_ms=truth_ms(session, case, mode),
        measured_ms=measured_ms(held),
        first_delta_ms=(first_s - caller_end_s(session, case, mode)) * 1000 - case.trailing_silence_ms,
        lag_p99_ms=pacing.lag_p99_ms if pacing else None,
        lag_max_ms=pacing.lag_max_ms if pacing else None,
        loop_lag_max_ms=pacing.loop_lag_max_ms if pacing else None,
    )


async def run_all(conversations: int, concurrency: int, seed: int, real_time: bool, mode: str = "ga") -> list[Result]:
    lanes = asyncio.Semaphore(concurrency)

    async def one(nth: int, case: Case) -> Result:
        async with lanes:
            return await run_case(case, seed * 1000 + nth, mode, real_time)

    planned = cases(conversations, random.Random(seed))
    return list(await asyncio.gather(*(one(nth, case) for nth, case in enumerate(planned))))


def summary(every: list[Result]) -> dict[str, Json]:
    results = [entry for entry in every if not entry.disturbed] or every
    errors = [abs(entry.error_ms) for entry in results]
    naive = [abs(entry.first_delta_ms - entry.truth_ms) for entry in results]
    lags = [entry.lag_max_ms for entry in every if entry.lag_max_ms is not None]
    loop_lags = [entry.loop_lag_max_ms for entry in every if entry.loop_lag_max_ms is not None]
    return {
        "conversations": len(every),
        "invalid_for_pacing": sum(entry.disturbed for entry in every),
        "truth_ms": [round(min(entry.truth_ms for entry in results)), round(max(entry.truth_ms for entry in results))],
        "error_ms": {name: rounded(nearest_rank(errors, rank)) for name, rank in RANKS.items()},
        "bias_ms": rounded(sum(entry.error_ms for entry in results) / len(results)),
        "error_of_timing_the_first_delta_ms": {
            name: rounded(nearest_rank(naive, rank)) for name, rank in RANKS.items()
        },
        "pacing_lag_p99_ms": rounded(nearest_rank([e.lag_p99_ms for e in every if e.lag_p99_ms is not None], 99)),
        "pacing_lag_max_ms": rounded(max(lags)) if lags else None,
        "loop_lag_max_ms": rounded(max(loop_lags)) if loop_lags else None,
        "worst": {**asdict(max(results, key=lambda entry: abs(entry.error_ms)).case)},
    }


RANKS = {"p50": 50, "p99": 99, "max": 100}


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def main() -> int:
    parser = argparse.ArgumentParser(description="Error of the measured response latency against a scripted truth.")
    parser.add_argument("--mode", choices=MODES, default="ga")
    parser.add_argument("--conversations", type=int, default=96)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--burst", action="store_true", help="not in real time")
    options = parser.parse_args()
    results = asyncio.run(
        run_all(options.conversations, options.concurrency, options.seed, not options.burst, options.mode)
    )
    told = summary(results)
    print(
        json.dumps(
            {"mode": options.mode, "real_time": not options.burst, "concurrency": options.concurrency, **told}, indent=2
        )
    )
    return 0 if told["error_ms"]["p99"] < AIM_P99_MS else 1


if __name__ == "__main__":
    sys.exit(main())
