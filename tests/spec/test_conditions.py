from __future__ import annotations

import pytest

from scenarios_app.spec.conditions import (
    PRESETS,
    Condition,
    condition_problems,
    parse_condition,
    parts,
    told,
    told_value,
)


@pytest.mark.parametrize("value", [None, "clean", {}])
def test_no_condition_and_a_clean_one_are_none(value: object) -> None:
    assert parse_condition(value) is None


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "clean"])
def test_a_name_stands_for_parts_that_the_object_form_reads_too(name: str) -> None:
    condition = parse_condition(name)
    assert condition is not None
    again = parse_condition(parts(condition))
    assert again is not None
    assert parts(again) == parts(condition)


def test_parts_fill_in_what_belongs_to_them_alone() -> None:
    assert parts(Condition(packet_loss=0.05)) == {"packet_loss": 0.05, "packet_burst": 2}
    assert parts(Condition(echo_decay=0.3)) == {"echo_decay": 0.3, "echo_delay_ms": 120}


def test_every_part_is_told_in_words() -> None:
    assert told(parts(PRESETS["realistic"])) == (
        "noise 20 dB under the voice, other voices at 0.4 of its level, an echo every 120 ms at 0.25, telephone band, "
        "0.04 of the packets lost, 2 in a row"
    )
    assert told_value("noisy") == "noisy: noise 10 dB under the voice"
    assert told_value({"telephony": True}) == "telephone band"
    assert told_value("clean") == told_value(None) == ""


@pytest.mark.parametrize(
    ("value", "path", "words"),
    [
        ("nosiy", "caller.condition", 'there is no condition "nosiy"; there are clean, noisy'),
        ({"noise_snr": 10}, "caller.condition.noise_snr", "did you mean noise_snr_db?"),
        ({"noise_snr_db": "10"}, "caller.condition.noise_snr_db", "must be a number, not text"),
        ({"noise_snr_db": -30}, "caller.condition.noise_snr_db", "must be -20 or more"),
        ({"packet_loss": 0.9}, "caller.condition.packet_loss", "must be 0.5 or less"),
        ({"packet_loss": 0}, "caller.condition.packet_loss", "must be more than 0"),
        ({"packet_burst": 3}, "caller.condition.packet_burst", "belongs to packet_loss, which is not given"),
        ({"echo_delay_ms": 90}, "caller.condition.echo_delay_ms", "belongs to echo_decay, which is not given"),
    ],
)
def test_what_is_wrong_is_told_at_its_place(value: object, path: str, words: str) -> None:
    (problem,) = condition_problems(value, "caller.condition")
    assert problem.path == path
    assert words in problem.message
