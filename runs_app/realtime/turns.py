"""One caller turn while it happens: the agent's words and sound are gathered, and become a Turn at its end."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import Literal

from runs_app.realtime.dialects.base import Heard, Place, WordKind, Words
from runs_app.realtime.overlap import Sounding, Truncation, before, truncations
from runs_app.realtime.persona.told import CallerThought
from runs_app.realtime.record import CallerLine, Caption, Span, Turn
from runs_app.realtime.timeline import merged

Status = Literal["completed", "incomplete", "cancelled", "failed", "error", "closed", "timeout", "stopped"]
PartKey = tuple[str | None, int, str | None, int, WordKind]


@dataclass
class TurnDraft:
    index: int
    caller_text: str
    sent_ms: float
    began_ms: float = 0.0
    open: bool = True
    status: Status = "completed"
    status_reason: str | None = None
    first_token_ms: float | None = None
    first_audio_ms: float | None = None
    done_ms: float | None = None
    rounds: int = 0
    caller: Span | None = None
    line: CallerLine | None = None
    thought: CallerThought | None = None
    caller_items: list[str | None] = field(default_factory=list)
    said_s: float | None = None  # of the clock: the caller's last voiced sample went out (only detection needs it)
    began_s: dict[str | None, float] = field(default_factory=dict)  # when each response of this turn began
    endpoint_ms: float | None = None
    hears_caller: bool = False  # the server: its detection says so
    endpoint_told: bool = False  # by speech_stopped, which is exacter than what follows it
    splits: int = 0
    interrupted_ms: float | None = None
    cancel_ms: float | None = None
    stopped: bool = False  # nothing of this turn is heard any more
    sounds: list[Sounding] = field(default_factory=list)
    captions: list[Caption] = field(default_factory=list)
    _heard: dict[str | None, Heard] = field(default_factory=dict)
    _responses: list[str | None] = field(default_factory=list)
    _parts: dict[PartKey, list[str]] = field(default_factory=dict)

    def add_words(self, words: Words, t_ms: float) -> None:
        """Pieces are joined; a whole part counts only where no piece of it came."""
        key = (*_place_key(words.place), words.kind)
        if words.whole and key in self._parts:
            return
        self._see(words.place.response_id, t_ms)
        self._parts.setdefault(key, []).append(words.text)
        self.captions.append(Caption(t_ms, words.text))

    def add_told(self, told: Iterable[Words], t_ms: float) -> None:
        """What response.done repeats: only items of which no words came before."""
        streamed = {key: "".join(pieces) for key, pieces in self._parts.items()}
        for words in told:
            if not any(_repeats(words, key, text) for key, text in streamed.items()):
                self.add_words(words, t_ms)

    def add_sound(self, place: Place, span: Span, t_ms: float) -> None:
        self._see(place.response_id, t_ms)
        if self.first_audio_ms is None:
            self.first_audio_ms = t_ms
        self.sounds.append(Sounding(place, span))

    def cut(self, at: int, *, ongoing: Set[str | None]) -> list[Truncation]:
        """Nothing of this turn is heard from this sample on. What the server has to be told of it."""
        told = truncations(self.sounds, at, ongoing=ongoing)
        self.sounds = before(self.sounds, at)
        return told

    def hear_speech(self) -> bool:
        """The server hears the caller speak. True when it had taken the words of this turn as ended before."""
        split = self.endpoint_ms is not None
        self.splits += split
        self.hears_caller, self.endpoint_ms, self.endpoint_told = True, None, False
        return split

    def hear_end(self, t_ms: float, *, told: bool) -> None:
        """The server takes the caller's words as ended: it says so (`told`), or it commits them."""
        self.hears_caller = False
        if not self.endpoint_told:
            self.endpoint_ms, self.endpoint_told = t_ms, told

    def add_heard(self, heard: Heard) -> None:
        """A final recognition replaces its pieces; one that failed leaves what came before."""
        before = self._heard.get(heard.item_id)
        if heard.final:
            text = heard.text if heard.text is not None else (before.text if before else None)
        else:
            text = ((before.text if before else None) or "") + (heard.text or "")
        self._heard[heard.item_id] = Heard(heard.item_id, text, heard.final)

    def end(self, status: Status, reason: str | None = None) -> None:
        self.status, self.status_reason, self.open = status, reason, False

    @property
    def agent(self) -> list[Span]:
        return [sound.span for sound in self.sounds]

    @property
    def interrupted(self) -> bool:
        return self.interrupted_ms is not None

    @property
    def interruption_stop_ms(self) -> float | None:
        """None unless the server confirmed that it cancelled: it may have been ready before."""
        if self.cancel_ms is None or self.done_ms is None or self.status != "cancelled":
            return None
        return round(self.done_ms - self.cancel_ms, 3) if self.done_ms >= self.cancel_ms else None

    @property
    def agent_text(self) -> str:
        """Responses in the order in which they spoke, their parts by position in the output."""
        rank = {response: place for place, response in enumerate(self._responses)}
        # sorted() is stable: parts that a server does not number stay in order of arrival
        ordered = sorted(self._parts, key=lambda key: (rank[key[0]], key[1], key[3]))
        texts = ("".join(self._parts[key]).strip() for key in ordered)
        return " ".join(text for text in texts if text)

    @property
    def silent_answer(self) -> bool:
        """Answered with words that were never spoken."""
        answered = self.status in ("completed", "incomplete") and not self.interrupted
        return answered and self.first_audio_ms is None and bool(self.agent_text)

    @property
    def heard_text(self) -> str | None:
        """In the order in which the server took the words, whenever it told of them."""
        places = {item_id: place for place, item_id in enumerate(self.caller_items)}
        ordered = sorted(self._heard.values(), key=lambda heard: places.get(heard.item_id, len(places)))
        return " ".join(heard.text for heard in ordered if heard.text) or None

    @property
    def heard_is_final(self) -> bool:
        """Of every item, of which a turn that was cut in two has more than one."""
        told = len(self._heard) >= max(1, len(self.caller_items))
        return told and all(heard.final for heard in self._heard.values())

    def finished(self) -> Turn:
        return Turn(
            index=self.index,
            caller_text=self.caller_text,
            agent_text=self.agent_text,
            status=self.status,
            status_reason=self.status_reason,
            sent_ms=self.sent_ms,
            heard_text=self.heard_text,
            first_token_ms=self.first_token_ms,
            first_audio_ms=self.first_audio_ms,
            done_ms=self.done_ms,
            rounds=self.rounds,
            interrupted=self.interrupted,
            interrupted_ms=self.interrupted_ms,
            interruption_stop_ms=self.interruption_stop_ms,
            endpoint_ms=self.endpoint_ms,
            splits=self.splits,
            caller=self.caller,
            agent=merged(self.agent),
            captions=tuple(self.captions),
            line=self.line,
            thought=self.thought,
        )

    def _see(self, response_id: str | None, t_ms: float) -> None:
        if self.first_token_ms is None:
            self.first_token_ms = t_ms
        if response_id not in self._responses:
            self._responses.append(response_id)


def _place_key(place: Place) -> tuple[str | None, int, str | None, int]:
    return (place.response_id, place.output_index, place.item_id, place.content_index)


def _repeats(words: Words, key: PartKey, streamed: str) -> bool:
    """Whether they are of the item that was streamed. Where one of both has no id, its place in the output tells; and
    some servers number, or name, items otherwise when they repeat them."""
    place, (response_id, output_index, item_id, _, _) = words.place, key
    if place.response_id != response_id:
        return False
    named = place.item_id is not None and item_id is not None
    same = place.item_id == item_id if named else place.output_index == output_index
    return same or words.text.strip() == streamed.strip()
