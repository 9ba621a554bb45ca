"""Exports say that they are not redacted, and leave out the values of the fields that REDACT_FIELDS names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from runs_app.models import Run
from runs_app.realtime.record import Event
from runs_app.recorder.recording import kept
from runs_app.reporting.crawl.tree import write_tree
from runs_app.reporting.redaction import REDACTED, Redactor
from scenarios_app.spec import jsontext
from tests.grading import builders as evidence
from tests.pages.trials import SOUND, record_trial
from tests.reporting.crawl_schemas import check_tree
from tests.runs.builders import make_run, scenario

NAME = "Nora"


def test_a_named_field_is_hidden_at_any_depth_and_in_json_inside_a_text() -> None:
    document = {
        "arguments": {"guest_name": "Nora", "party": {"Guest_Name": ["Nora", "Ada"], "size": 3}},
        "raw": '{"guest_name": "Nora", "size": 3}',
        "guest_name": None,
    }
    assert Redactor(["guest_name"]).json(document) == {
        "arguments": {"guest_name": REDACTED, "party": {"Guest_Name": REDACTED, "size": 3}},
        "raw": f'{{"guest_name": "{REDACTED}", "size": 3}}',
        "guest_name": None,
    }


def test_a_value_that_was_learnt_is_hidden_in_sentences_and_nowhere_inside_a_word() -> None:
    redactor = Redactor(["guest_name", "phone"])
    redactor.learn({"guest_name": "Nora"}, [{"arguments": '{"phone": 5550100}'}])
    assert redactor.text("NORA booked; Noras did not. Call 5550100, not 55501001.") == (
        f"{REDACTED} booked; Noras did not. Call {REDACTED}, not 55501001."
    )


def test_a_comparison_of_a_named_field_is_hidden_on_both_sides() -> None:
    row = {"path": "guest.guest_name", "expected": "Nora", "actual": "Nina", "reason": 'expected "Nora", got "Nina"'}
    hidden = Redactor(["guest_name"]).json({"rows": [row]})["rows"][0]
    assert hidden == {
        **row,
        "expected": REDACTED,
        "actual": REDACTED,
        "reason": f'expected "{REDACTED}", got "{REDACTED}"',
    }


def test_pieces_of_arguments_are_hidden_whole_as_no_field_can_be_told_in_them() -> None:
    event = {
        "type": "response.function_call_arguments.delta",
        "payload": {"delta": '{"guest_name": "No', "item_id": "1"},
    }
    assert Redactor(["guest_name"]).json(event)["payload"] == {"delta": REDACTED, "item_id": "1"}
    assert Redactor([]).json(event) is event


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "secret"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_value_of_the_field_outlives_and_all_else_keeps_its_shape(value: Any) -> None:
    def held(item: Any) -> list[Any]:
        if isinstance(item, dict):
            own = [item["secret"]] if item.get("secret") is not None else []
            return own + [found for key, inner in item.items() if key != "secret" for found in held(inner)]
        return [found for inner in item for found in held(inner)] if isinstance(item, list) else []

    hidden = Redactor(["secret"]).json(value)
    assert set(held(hidden)) <= {REDACTED}
    assert len(held(hidden)) == len(held(value))
    assert Redactor([]).json(value) == value


def named_run() -> Run:
    """One trial that fails at the guest's name, which also stands in its words, its events and its reason."""
    wanted = {
        "answer": "Booked for Nora.",
        "tools": {"required": [{"name": "create_reservation", "arguments": {"guest_name": NAME}}]},
    }
    run = make_run([scenario("named", expected=wanted)])
    arguments = {"guest_name": "Nina"}
    events = [
        Event(0, 0.0, "agent", "received", "response.function_call_arguments.delta", {"delta": '{"guest_name": "Ni'}),
        Event(
            1, 9.0, "agent", "received", "response.function_call_arguments.done", {"arguments": json.dumps(arguments)}
        ),
        Event(2, 9.0, "tool", "internal", "tool.called", {"name": "create_reservation", "arguments": arguments}),
    ]
    called = evidence.call(arguments=arguments, arguments_raw=json.dumps(arguments), output={"id": "R-1"})
    record = evidence.audio_record(called, audio_samples=len(SOUND))
    trial = record_trial(run, record, SOUND, lines=[jsontext.dumps(kept(event)) for event in events])
    assert trial.outcome == "failed"
    assert NAME in trial.reason
    return run


async def streamed(answer: Any) -> bytes:
    return b"".join([part async for part in answer.streaming_content])


def exports(client: Client, run: Run, folder: Path) -> dict[str, str]:
    trial = run.trials.get()
    paths = [f"/runs/{run.pk}/{name}" for name in ("results.json", "junit.xml", "trials.csv")]
    paths += [f"/compare/data/?run={run.pk}"]
    paths += [f"/trials/{trial.pk}/{name}" for name in ("trial.json", "events.jsonl?download")]
    found = {}
    for path in paths:
        answer = client.get(path)
        assert answer.status_code == 200
        body = async_to_sync(streamed)(answer) if answer.streaming else answer.content
        found[path.rpartition("/")[2].partition("?")[0] or "comparison"] = body.decode()
    write_tree(run, folder)
    return found | {
        str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.suffix in (".json", ".jsonl", ".txt")
    }


@pytest.mark.django_db
def test_every_export_says_that_it_is_not_redacted(signed_in: Client, tmp_path: Path) -> None:
    run = named_run()
    found = exports(signed_in, run, tmp_path / "out")
    notice = "Not redacted: this holds what was said and done in the calls."
    assert json.loads(found["results.json"])["notice"] == notice
    assert json.loads(found["trial.json"])["notice"] == notice
    assert json.loads(found["comparison"])["notice"] == notice
    properties = ElementTree.fromstring(found["junit.xml"]).findall(".//property")
    assert {item.get("name"): item.get("value") for item in properties}["notice"] == notice
    assert json.loads(found["Front-desk-v1/results.json"])["soundcheck"]["notice"] == notice
    for path in (f"/runs/{run.pk}/", f"/trials/{run.trials.get().pk}/"):
        assert notice in signed_in.get(path).content.decode()
    for path in (f"/runs/{run.pk}/trials.csv", f"/trials/{run.trials.get().pk}/events.jsonl?download"):
        assert signed_in.get(path)["X-Notice"] == notice


@pytest.mark.django_db
def test_no_export_holds_the_value_of_a_named_field(signed_in: Client, tmp_path: Path, settings: Any) -> None:
    run = named_run()
    plain = exports(signed_in, run, tmp_path / "plain")
    assert all(NAME in text or "Nina" in text for name, text in plain.items() if "events" not in name), plain.keys()
    settings.REDACT_FIELDS = ["guest_name"]
    for name, text in exports(signed_in, run, tmp_path / "out").items():
        assert NAME not in text, name
        assert "Nina" not in text, name
        assert "Ni\\" not in text, name
    check_tree(tmp_path / "out" / "Front-desk-v1")
    assert "Redacted are the fields guest_name alone" in signed_in.get(f"/runs/{run.pk}/").content.decode()
