"""What is known of a conversation while it goes on, and the Record that it becomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Final

from runs_app.realtime.calls import Arguments, CallBook, CallDraft, read_arguments, tool_call
from runs_app.realtime.clock import Clock
from runs_app.realtime.eventlog import EventLog
from runs_app.realtime.formats import PCM, UNTOLD, AudioFormat, Formats
from runs_app.realtime.frames import FrameReader
from runs_app.realtime.live.state import LiveState
from runs_app.realtime.overlap import Truncation
from runs_app.realtime.pacing import Lag, pacing_of
from runs_app.realtime.pcm import Int16
from runs_app.realtime.persona.told import PersonaTold
from runs_app.realtime.plan import Plan
from runs_app.realtime.record import SAMPLES_PER_MS, Ending, Json, Pacing, Record, ToolCall, Usage
from runs_app.realtime.sound import SoundDecoder
from runs_app.realtime.timeline import Timeline
from runs_app.realtime.told_numbers import seconds_told, sum_told, tokens_told
from runs_app.realtime.turns import Status, TurnDraft

if TYPE_CHECKING:
    from runs_app.realtime.toolround import Round

    HandOver = Callable[[TurnDraft, CallDraft, Arguments], Awaitable[Round]]

MOST_SHOWN: Final = 24  # digits of a number that cannot be


@dataclass
class Journal:
    """One conversation's state. Only the receiving and the driving side of one loop write it, never both at once."""

    plan: Plan
    clock: Clock
    timeline: Timeline
    log: EventLog
    reader: FrameReader
    initial_state: dict[str, Json]
    turns: list[TurnDraft] = field(default_factory=list)
    calls: CallBook = field(default_factory=CallBook)
    tool_calls: list[ToolCall] = field(default_factory=list)
    sound: SoundDecoder = field(default_factory=SoundDecoder)
    usage: Usage = field(default_factory=Usage)
    lags: list[Lag] = field(default_factory=list)
    chunks: int = 0
    loop_worst: Lag | None = None
    warnings: Counter[str] = field(default_factory=Counter)
    unknown_events: Counter[str] = field(default_factory=Counter)
    messages_received: int = 0
    session: dict[str, Json] = field(default_factory=dict)
    session_acknowledged: bool = False
    looks_like: str | None = None
    told_formats: Formats = UNTOLD
    active: set[str | None] = field(default_factory=set)  # responses begun and not ended
    ended: set[str] = field(default_factory=set)
    owners: dict[str, TurnDraft] = field(default_factory=dict)  # the turn in which a response began
    asking: TurnDraft | None = None  # the turn whose request for a response is not answered yet
    hushed: set[str | None] = field(default_factory=set)  # responses of which nothing more is heard
    to_truncate: list[Truncation] = field(default_factory=list)  # that the server does not know of yet
    live: LiveState = field(default_factory=LiveState)  # of a GPT Live session, and of tasks that a voice handed on
    hand_over: HandOver | None = None  # who does the tasks of a voice on the Realtime protocol
    backend_usage: Usage = field(default_factory=Usage)
    persona: PersonaTold | None = None  # of a caller that a model plays
    housekeeping: set[str] = field(default_factory=set)  # event ids of cancels and truncates: a refusal costs no turn

    @property
    def turn(self) -> TurnDraft | None:
        """The latest turn. Between turns it still takes what comes late."""
        return self.turns[-1] if self.turns else None

    @property
    def other_dialect(self) -> str | None:
        """The dialect of the server's session, if it is not ours."""
        return self.looks_like if self.looks_like != self.plan.dialect.name else None

    @property
    def asked_formats(self) -> Formats:
        return self.plan.dialect.formats(self.plan.session)

    @property
    def caller_format(self) -> AudioFormat:
        """What the server takes: what it told last, else what we asked for."""
        return self.told_formats.input or self.asked_formats.input or PCM

    @property
    def agent_format(self) -> AudioFormat:
        """What the server sends: what it told last, else what we asked for."""
        return self.told_formats.output or self.asked_formats.output or PCM

    def owner_of(self, response_id: str | None) -> TurnDraft | None:
        """A response belongs to the turn that asked for it, else to that in which it was first heard of; one without
        an id to the latest."""
        if response_id is None or self.turn is None:
            if self.turn is not None:
                self.turn.began_s.setdefault(None, self.clock.now_s())
            return self.turn
        if response_id not in self.owners:
            self._welcome(response_id, self.asking or self.turn)
        return self.owners[response_id]

    def _welcome(self, response_id: str, turn: TurnDraft) -> None:
        self.asking = None
        self.owners[response_id] = turn
        turn.began_s[response_id] = self.clock.now_s()
        if turn.stopped:
            self.hushed.add(response_id)

    def stop_playback(self, at_s: float) -> None:
        """Nothing of what the agent is saying is heard from this moment on, nor what still comes of it."""
        at = self.timeline.sample_at(at_s)
        for turn in self.turns:
            self.to_truncate += turn.cut(at, ongoing=self.active)
        self.timeline.cut_agent(at)
        self.hushed |= self.active
        if self.asking is not None:
            self.asking.stopped = True

    def is_playing(self, at_s: float) -> bool:
        """Whether some of the agent's audio has not been heard yet."""
        return self.timeline.zero_s is not None and self.timeline.agent.end > self.timeline.sample_at(at_s)

    def now_ms(self) -> float:
        return self.timeline.t_ms(self.clock.now_s())

    def warn(self, name: str, detail: str = "", *, count: int = 1) -> None:
        """Counted in the record; an event only for the first of its name, so that nothing floods the timeline."""
        first = name not in self.warnings
        self.warnings[name] += count
        if first:
            self.log.note(self.clock.now_s(), "warning", name=name, detail=detail)

    def begin_turn(self, text: str, at_s: float) -> TurnDraft:
        """The timeline must have begun. `sent_ms` is put right when the turn has been sent whole."""
        t_ms = self.timeline.t_ms(at_s)
        turn = TurnDraft(index=len(self.turns), caller_text=text, sent_ms=t_ms, began_ms=t_ms)
        self.turns.append(turn)
        self.log.note(at_s, "turn.started", source="caller", turn=turn.index, text=text)
        return turn

    def end_open_turns(self, status: Status, reason: str | None = None) -> None:
        """The conversation broke off. More than one can be open when the caller talks over the agent."""
        for turn in self.turns:
            self.end_turn(turn, status, reason)

    def end_turn(self, turn: TurnDraft, status: Status, reason: str | None = None) -> None:
        """Does nothing to a turn that ended before."""
        if not turn.open:
            return
        now_s = self.clock.now_s()
        turn.end(status, reason)
        if self.plan.mode == "audio" and turn.silent_answer:
            self.warn("no_audio", f"turn {turn.index + 1} was answered in words alone")
        audio_ms = sum(span.end - span.start for span in turn.agent) / SAMPLES_PER_MS
        self.log.note(
            now_s, "agent.turn", source="agent", turn=turn.index, text=turn.agent_text, audio_ms=round(audio_ms, 3)
        )
        self.log.note(
            now_s,
            "turn.ended",
            turn=turn.index,
            status=status,
            reason=reason,
            rounds=turn.rounds,
            heard_text=turn.heard_text,
        )

    def notice_lag(self, lag_ms: float, at_s: float) -> None:
        """How late the loop woke up. Before zero it disturbs no measurement."""
        worst_ms = self.loop_worst.lag_ms if self.loop_worst else -1.0
        if self.timeline.zero_s is not None and lag_ms > worst_ms:
            self.loop_worst = Lag(lag_ms, self.timeline.t_ms(at_s))

    def keep_open_calls(self) -> None:
        """Calls of a response that never ended, because the conversation broke off: kept, and nobody ran them."""
        turn = self.turn
        if turn is None:
            return
        why = "the conversation broke off before the call was answered"
        self.tool_calls += [
            tool_call(
                draft, read_arguments(draft.raw), turn=turn.index, round=turn.rounds, status="recorded", error=why
            )
            for draft in self.calls.take()
        ]

    def add_usage(self, told: Usage | None) -> None:
        if told is not None:
            self.usage = _total(self.usage, self._believed(told))

    def add_backend_usage(self, told: Usage | None) -> None:
        if told is not None:
            self.backend_usage = _total(self.backend_usage, self._believed(told))

    def add_seconds(self, told: float | None) -> None:
        """How long the session is by the server's own count; the last that it told counts."""
        if told is None:
            return
        if seconds_told(told) is None:
            self.warn("impossible_usage", f"the server told of a session of {str(told)[:MOST_SHOWN]} seconds")
        else:
            self.live.seconds = told

    def _believed(self, told: Usage) -> Usage:
        """Without the numbers that cannot be."""
        counts = {name: count for name, count in asdict(told).items() if count is not None}
        wrong = {name: count for name, count in counts.items() if tokens_told(count) is None}
        for name, count in wrong.items():
            self.warn("impossible_usage", f"the server told {name}: {str(count)[:MOST_SHOWN]}")
        return replace(told, **dict.fromkeys(wrong))

    def record(self, ending: Ending, final_state: dict[str, Json], audio: Int16 | None) -> Record:
        return Record(
            protocol=self.plan.protocol,
            dialect=self.plan.dialect.name,
            mode=self.plan.mode,
            real_time=self.plan.real_time,
            ending=ending,
            turns=tuple(turn.finished() for turn in self.turns),
            tool_calls=tuple(self.tool_calls),
            initial_state=self.initial_state,
            final_state=final_state,
            usage=self.usage,
            pacing=self._pacing(),
            session=self.session,
            session_acknowledged=self.session_acknowledged,
            audio_samples=0 if audio is None else audio.shape[0],
            ws_messages_received=self.messages_received,
            unknown_events=dict(self.unknown_events),
            warnings=tuple(f"{name}={count}" for name, count in sorted(self.warnings.items())),
            reference_date=self.plan.reference_date,
            delegations=tuple(work.told() for work in self.live.works),
            backend_usage=self.backend_usage,
            session_seconds=self.live.seconds,
            persona=self.persona,
        )

    def _pacing(self) -> Pacing | None:
        """None when nothing was paced: text mode, or not in real time."""
        paced = self.plan.mode == "audio" and self.plan.real_time and self.chunks > 0
        return pacing_of(self.lags, self.chunks, self.loop_worst) if paced else None


def _total(before: Usage, told: Usage) -> Usage:
    known, more = asdict(before), asdict(told)
    return Usage(**{name: sum_told(known[name], more[name]) for name in known})
