"""Try once now, and an old trial graded with a draft: as plain forms, as fragments, and for nobody else."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from runs_app.grading.check import Check
from runs_app.grading.grade import GradingResult
from runs_app.grading.outcome import Outcome
from runs_app.grading.semantic import Grade
from runs_app.models import Grading, Run, Trial
from runs_app.services.draft_grading import held_beside, prepare_draft_grading
from scenarios_app.models import Configuration, ConfigurationVersion, Scenario, ScenarioDraft
from tests.grading import builders as evidence
from tests.pages.trials import SOUND, record_trial, spoken_trial
from tests.runs.builders import make_configuration, scenario
from tests.support import make_user

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HX-Request": "true"}


def written(content: Any, **more: Any) -> dict[str, Any]:
    """What the editor sends in its JSON view."""
    return {"view": "json", "text_json": json.dumps(content), "number": "", "note": "", **more}


@pytest.fixture
def version(db: None) -> ConfigurationVersion:
    return make_configuration()


def the_run() -> Run:
    run: Run = Run.everything.get()
    return run


def test_without_scripts_one_chooses_on_a_page_and_is_led_to_the_try(
    signed_in: Client, version: ConfigurationVersion
) -> None:
    content = scenario("late_guest", title='A "late" <guest>')
    page = signed_in.post("/tries/new/", written(content))
    text = page.content.decode()
    assert "choose who is called" in text
    sent = re.search(r'<textarea name="text_json" hidden>\n(.*?)</textarea>', text, re.DOTALL)
    assert sent is not None
    again = {**written({}), "text_json": unescape(sent[1]), "try_configuration": version.pk}
    response = signed_in.post("/tries/new/", again)
    run = the_run()
    assert response.headers["Location"] == f"/tries/{run.pk}/"
    trial = run.trials.get()
    assert trial.scenario_version.content["title"] == 'A "late" <guest>'
    shown = signed_in.get(f"/tries/{run.pk}/").content.decode()
    assert "queued" in shown
    assert "<html" in shown
    assert not Scenario.objects.exists()


def test_a_fragment_asks_again_until_the_try_is_over_and_then_shows_all(
    signed_in: Client, version: ConfigurationVersion
) -> None:
    data = written(scenario("late_guest"), try_configuration=version.pk)
    first = signed_in.post("/tries/new/", data, headers=HTMX).content.decode()
    run = the_run()
    assert f'hx-get="/tries/{run.pk}/" hx-trigger="load delay:1s"' in first
    called = evidence.call(turn=0, called_ms=1_200.0, answered_ms=1_500.0)
    trial = record_trial(run, evidence.audio_record(called, audio_samples=len(SOUND)), SOUND)
    over = signed_in.get(f"/tries/{run.pk}/", headers=HTMX).content.decode()
    assert "<html" not in over
    assert "hx-trigger" not in over
    for said in ("data-player", f"/trials/{trial.pk}/audio.wav", "application_state", "Transcript", "Throw it away"):
        assert said in over, said
    for gone in ("Grade again", "capsule", f'href="/trials/{trial.pk}/"'):
        assert gone not in over, gone


def test_a_try_and_its_sound_are_for_its_maker_alone(signed_in: Client, version: ConfigurationVersion) -> None:
    signed_in.post("/tries/new/", written(scenario(), try_configuration=version.pk))
    run = the_run()
    trial = record_trial(run, evidence.audio_record(audio_samples=len(SOUND)), SOUND)
    assert signed_in.post(f"/trials/{trial.pk}/scenario/", {"t": "3"}).status_code == 302
    begun = ScenarioDraft.objects.get()
    assert json.loads(begun.fields["text_json"])["id"] == f"{scenario()['id']}-copy"
    bob = Client()
    bob.force_login(make_user("bob"))
    for url in (f"/tries/{run.pk}/", f"/trials/{trial.pk}/audio.wav", f"/trials/{trial.pk}/player/"):
        assert signed_in.get(url).status_code == 200, url
        assert bob.get(url).status_code == 404, url
    assert bob.post(f"/tries/{run.pk}/discard/").status_code == 404
    assert signed_in.post(f"/tries/{run.pk}/discard/", headers=HTMX).status_code == 200
    assert not Run.everything.exists()
    assert signed_in.get(f"/tries/{run.pk}/").status_code == 404


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{broken", "line 1"),
        (json.dumps({**scenario(), "interaction": "telepathy"}), "interaction"),
        (json.dumps(scenario(application={"ref": {"name": "Nowhere"}})), "there is no application"),
        ("[]", "one JSON object"),
    ],
)
def test_what_cannot_be_tried_says_why(
    signed_in: Client, version: ConfigurationVersion, content: str, said: str
) -> None:
    data = {**written({}), "text_json": content, "try_configuration": version.pk}
    page = signed_in.post("/tries/new/", data, headers=HTMX)
    assert page.status_code == 200
    assert said in page.content.decode()
    assert not Run.everything.exists()


def test_the_panel_offers_configurations_and_the_kept_trials_of_this_scenario(signed_in: Client, alice: User) -> None:
    trial = spoken_trial()
    make_configuration("Night desk")
    make_configuration("A new one")
    key = trial.scenario_version.scenario.key
    page = signed_in.get("/tries/panel/", {"scenario": key}).content.decode()
    assert f'<option value="{trial.configuration_version_id}" selected>Front desk@1' in page  # the newest run's
    assert "Night desk@1" in page
    assert f'<option value="{trial.pk}">' in page
    assert "your last try" not in page
    night = Configuration.objects.get(name="Night desk").latest_id
    signed_in.post("/tries/new/", written(scenario(), try_configuration=night))
    page = signed_in.get("/tries/panel/").content.decode()
    assert f'<option value="{night}" selected>' in page
    assert f'hx-get="/tries/{Run.everything.tries_of(alice).get().pk}/"' in page
    assert "Once a run has talked" in signed_in.get("/tries/panel/").content.decode()


def test_an_old_trial_is_graded_with_the_draft_and_keeps_its_verdict(signed_in: Client) -> None:
    trial = spoken_trial()
    content = trial.scenario_version.content
    stored = list(Grading.objects.values())
    expected = {**content["expected"], "tools": {"required": [{"name": "cancel_reservation"}]}}
    words = {**content["input"], "text": "Something else."}
    data = written({**content, "expected": expected, "input": words}, try_trial=trial.pk)
    page = signed_in.post("/tries/grade/", data, headers=HTMX).content.decode()
    row = re.search(r'<th scope="row" class="mono">tool_contract</th>(.*?)</tr>', page, re.DOTALL)
    assert row is not None
    assert "failed" in row[1].split("</td>")[1]
    assert "what was said is what is graded" in page
    assert list(Grading.objects.values()) == stored
    assert Trial.objects.get().outcome == trial.outcome
    same = signed_in.post("/tries/grade/", written(content, try_trial=trial.pk), headers=HTMX).content.decode()
    assert "Every check comes to the same." in same


def test_grading_without_a_conversation_or_a_right_draft_says_why(signed_in: Client, alice: User) -> None:
    trial = spoken_trial()
    for data, said in (
        (written(scenario()), "choose a trial"),
        (written(scenario(), try_trial="99999"), "choose a trial"),
        (written({**scenario(), "interaction": "telepathy"}, try_trial=trial.pk), "interaction"),
    ):
        assert said in signed_in.post("/tries/grade/", data, headers=HTMX).content.decode()
    Trial.objects.update(record=None)
    data = written(scenario(), try_trial=trial.pk)
    assert "no recorded conversation" in signed_in.post("/tries/grade/", data).content.decode()


def test_what_a_judge_repeats_of_its_key_is_not_shown(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SOUNDCHECK_SECRETS = "JUDGE_KEY=https://judge.example"
    monkeypatch.setenv("JUDGE_KEY", "sk-very-secret")
    trial = spoken_trial()
    prepared = prepare_draft_grading(trial=trial, content=trial.scenario_version.content)
    told = "refused the key sk-very-secret"
    result = GradingResult(
        outcome=Outcome("ungraded", told),
        checks=(Check("policy", "failed", True, told),),
        grades=(Grade("tone", "failed", rationale=told),),
        metrics={},
        turns=(),
    )
    shown = held_beside(prepared, result)
    assert "sk-very-secret" not in str(shown)
    assert str(shown).count("refused the key [secret JUDGE_KEY]") == 3
