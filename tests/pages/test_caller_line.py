"""What pages say of a bad line: the trial's set-up, the event, the configuration's card."""

from __future__ import annotations

from dataclasses import replace

from runs_app.event_lines import line_of
from runs_app.models import Event
from runs_app.realtime.record import CallerLine
from runs_app.trial_page.caller_line import LineRow, caller_lines
from scenarios_app.cards import configuration_card
from scenarios_app.spec.conditions import PRESETS, parts
from tests.grading.builders import audio_record, spoken

NOISY = CallerLine(parts(PRESETS["noisy"]), 77, {"speech_rms": 3000.5, "noise_rms": 948.8, "clipped": 0})
CONFIGURATION = {"name": "Listener", "protocol": "realtime", "endpoint": "simulator", "model": "m"}


def test_the_set_up_names_condition_seed_and_levels_of_each_bad_turn() -> None:
    record = audio_record(turns=(spoken(), replace(spoken(), index=1, line=NOISY)))
    said = "voice RMS 3000.5, noise RMS 948.8, 0 samples clipped"
    assert caller_lines(record) == [LineRow(2, "noise 10 dB under the voice", 77, said)]


def test_a_card_tells_the_line_and_does_not_fall_over_an_old_word() -> None:
    def told(condition: object) -> str:
        return configuration_card({**CONFIGURATION, "caller": {"condition": condition}}).caller_line

    assert told("telephony") == "telephony: telephone band"
    assert told({"packet_loss": 0.05}) == "0.05 of the packets lost, 2 in a row"
    assert told(None) == told("clean") == ""
    assert told("in a cave") == "in a cave"


def test_the_event_of_the_callers_audio_tells_the_line() -> None:
    payload = {"duration_ms": 1500, "chunks": 15, "condition": NOISY.condition}
    event = Event(seq=3, t_ms=0.0, source="caller", direction="internal", type="caller.audio", payload=payload)
    assert line_of(event).summary == "1.5 s in 15 chunks, on a line with noise 10 dB under the voice"
