"""A scenario from a moment of a trial, and how often a scenario was used."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from runs_app.models import Trial
from runs_app.realtime.record import Record
from scenarios_app.models import ScenarioDraft
from tests.authoring.pages import inputs
from tests.grading import builders as evidence
from tests.pages.trials import broken_trial, record_trial
from tests.runs.builders import make_run
from tests.support import make_application, scenario_json

pytestmark = pytest.mark.django_db

COUNTING = {
    "tools": [
        {
            "name": "add",
            "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "answers": [{"result": {"ok": True}, "effects": {"sum": "{{ state.sum + args.n }}"}}],
        }
    ]
}
WORDS = "\u200fأضف اثنين 👍"


def counted(final: dict[str, Any] | None = None) -> Trial:
    """Two turns with a call in each: one is added at 1.6 s, two at 5 s."""
    make_application("Counter", **COUNTING)
    content = scenario_json(
        application={"ref": {"name": "Counter"}, "initial_state": {"sum": 1}},
        expected={
            "answer": "Four.",
            "delegation": "required",
            "tools": {"required": [{"name": "add", "arguments": {"n": 1}}, {"name": "add", "arguments": {"n": 2}}]},
        },
        reference_date="2027-05-03",
        owner="bob",
    )
    turns = (
        evidence.turn("One is added.", caller_text="Add one.", sent_ms=1_000.0, said_ms=1_900.0),
        evidence.turn("Two are added.", caller_text=WORDS, sent_ms=4_000.0, said_ms=6_000.0, index=1),
    )
    record: Record = evidence.record(
        evidence.call("add", {"n": 1}),
        evidence.call("add", {"n": 2}, turn=1, called_ms=4_800.0, answered_ms=5_000.0),
        turns=turns,
        initial_state={"sum": 1},
        final_state=final or {"sum": 4},
        reference_date="2027-05-03",
    )
    return record_trial(make_run([content]), record)


def draft_from(signed_in: Client, trial: Trial, t: str) -> dict[str, Any]:
    response = signed_in.post(f"/trials/{trial.pk}/scenario/", {"t": t})
    draft = ScenarioDraft.objects.get()
    assert response.headers["Location"] == f"/scenarios/new/?draft={draft.pk}"
    page = signed_in.get(response.headers["Location"])
    assert page.status_code == 200
    content: dict[str, Any] = json.loads(draft.fields["text_json"])
    assert inputs(page)["id"] == content["id"] == "book_table-copy"
    assert inputs(page)["text"] == content["input"]["text"]
    draft.delete()
    return content


def test_a_moment_between_two_turns_has_its_history_its_state_and_the_next_words(signed_in: Client) -> None:
    trial = counted()
    content = draft_from(signed_in, trial, "4")
    assert content["input"] == {
        "text": WORDS,
        "context": {
            "history": [
                {"role": "user", "text": "Add one."},
                {"role": "assistant", "text": "One is added."},
            ]
        },
    }
    assert content["application"] == {"ref": {"name": "Counter"}, "initial_state": {"sum": 2}}
    assert content["expected"]["tools"]["required"] == [{"name": "add", "arguments": {"n": 2}}]
    assert (content["source"], content["interaction"]) == ({"trial": str(trial.pk)}, "single_turn")
    assert "owner" not in content
    page = signed_in.get(trial.get_absolute_url()).content.decode()
    assert 'name="t" value="4" aria-label="Make a scenario from 0:04.0"' in page


def test_the_beginning_and_the_end_are_moments_too(signed_in: Client) -> None:
    trial = counted()
    start = draft_from(signed_in, trial, "-0.5")
    assert (start["input"]["text"], start["application"]["initial_state"]) == ("Add one.", {"sum": 1})
    assert "context" not in start["input"]
    end = draft_from(signed_in, trial, "60")
    assert (end["input"]["text"], end["application"]["initial_state"]) == ("", {"sum": 4})
    assert len(end["input"]["context"]["history"]) == 4
    assert end["expected"] == {"answer": "Four.", "tools": {"required": []}}


def test_a_state_that_the_calls_do_not_give_again_is_not_made_up(signed_in: Client) -> None:
    trial = counted(final={"sum": 99})
    signed_in.post(f"/trials/{trial.pk}/scenario/", {"t": "4"})
    draft = ScenarioDraft.objects.get()
    page = signed_in.get("/scenarios/new/", {"draft": draft.pk}).content.decode()
    assert "The state at that moment is not known" in page
    assert json.loads(draft.fields["text_json"])["application"]["initial_state"] == {"sum": 1}


def test_what_is_no_moment_and_a_trial_without_words_are_told(signed_in: Client) -> None:
    trial = counted()
    for wild in ("", "soon", "nan", "1e9"):
        page = signed_in.post(f"/trials/{trial.pk}/scenario/", {"t": wild}, follow=True).content.decode()
        assert "is no moment in seconds" in page
    broken = broken_trial()
    assert (
        "Nothing was said" in signed_in.post(f"/trials/{broken.pk}/scenario/", {"t": "1"}, follow=True).content.decode()
    )
    assert not ScenarioDraft.objects.exists()


def test_a_scenario_tells_in_how_many_trials_it_was_used(signed_in: Client) -> None:
    trial = counted()
    key = trial.scenario_version.scenario.key
    assert f"/scenarios/{key}/uses/" in signed_in.get(f"/scenarios/{key}/").content.decode()
    said = signed_in.get(f"/scenarios/{key}/uses/").content.decode()
    assert "in 1 trial of 1 run" in said
    assert f'href="/runs/{trial.run_id}/"' in said
    assert "in no trial yet" in signed_in.get("/scenarios/another/uses/").content.decode()
