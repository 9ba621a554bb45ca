"""The panel of a fix: as a page without scripts, as a fragment, for its maker alone."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from runs_app.models import Fix, Run, Trial
from scenarios_app.models import ConfigurationVersion
from scenarios_app.services import find_configuration, save_configuration
from tests.runs.failing import NEW, OLD, failed_trial, play
from tests.support import make_user

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HX-Request": "true"}


@pytest.fixture
def trial(alice: User) -> Trial:
    return failed_trial()


def url(trial: Trial) -> str:
    return f"/trials/{trial.pk}/fix/"


def boxes(page: str) -> list[str]:
    return re.findall(r'name="guard" value="(\d+)"', page)


def start(client: Client, trial: Trial, **more: str) -> Fix:
    guards = boxes(client.get(url(trial)).content.decode())[:2]
    response = client.post(url(trial), {"prompt": NEW, "repeats": "2", "guard": guards, **more})
    assert response.headers["Location"] == url(trial)
    return Fix.objects.get()


def test_a_failed_trial_offers_its_prompt_and_the_guards_most_like_it(signed_in: Client, trial: Trial) -> None:
    assert f'hx-get="{url(trial)}"' in signed_in.get(trial.get_absolute_url()).content.decode()
    page = unescape(signed_in.get(url(trial)).content.decode())
    assert f"\n{OLD}</textarea>" in page
    assert [key in page for key in ("case_2", "case_3", "case_4")] == [True] * 3
    assert "same tags: plain" in page
    passed = trial.run.trials.filter(outcome="passed")[0]
    assert "fix it here" not in signed_in.get(passed.get_absolute_url()).content.decode()
    assert signed_in.get(url(passed)).status_code == 404


def test_from_the_form_to_a_kept_version_without_a_script(signed_in: Client, trial: Trial) -> None:
    fix = start(signed_in, trial)
    page = signed_in.get(url(trial)).content.decode()
    assert "0/8" in page
    assert f"\n{NEW}</textarea>" in page
    assert "Keep as version" not in page
    play(fix.run, failing={("case_1", OLD)})
    page = unescape(signed_in.get(url(trial)).content.decode())
    assert "It passes more often, and all 2 guards hold." in page
    assert "<ins> Read the date back.</ins>" in page
    response = signed_in.post(f"/fixes/{fix.run_id}/keep/", {"number": "1", "note": "Dates"})
    assert response.headers["Location"] == f"/compare/?run={fix.run_id}"
    assert signed_in.get(response.headers["Location"]).status_code == 200
    assert str(ConfigurationVersion.objects.order_by("-pk")[0]) == "Front desk@2"
    assert f"/runs/{fix.run_id}/" in signed_in.get("/runs/").content.decode()


def test_the_fragment_asks_again_until_it_is_over_and_opens_each_trial(signed_in: Client, trial: Trial) -> None:
    fix = start(signed_in, trial)
    told = f"/fixes/{fix.run_id}/"
    first = signed_in.get(told, headers=HTMX).content.decode()
    assert f'hx-get="{told}" hx-trigger="load delay:1s"' in first
    assert "<html" not in first
    waiting = signed_in.get(f"{told}trials/{fix.run.trials.all()[0].pk}/").content.decode()
    assert "Graded when the conversation is over." in waiting
    assert "Cancel this trial" not in waiting  # the whole is thrown away, not one of it
    play(fix.run, failing={("case_1", OLD)})
    over = signed_in.get(told, headers=HTMX).content.decode()
    assert "hx-trigger" not in over
    links = re.findall(rf'hx-get="({told}trials/\d+/)"', over)
    assert len(links) == 8
    one = signed_in.get(links[0], headers=HTMX).content.decode()
    assert "case_1" in one
    assert "As told." in one
    assert "<html" in signed_in.get(links[0]).content.decode()


def test_a_fix_is_for_its_maker_alone_and_thrown_away_whole(signed_in: Client, trial: Trial) -> None:
    fix = start(signed_in, trial)
    play(fix.run)
    one = fix.run.trials.all()[0]
    bob = Client()
    bob.force_login(make_user("bob"))
    paths = (f"/fixes/{fix.run_id}/", f"/fixes/{fix.run_id}/trials/{one.pk}/")
    assert [signed_in.get(path).status_code for path in paths] == [200, 200]
    assert [bob.get(path).status_code for path in paths] == [404, 404]
    assert [bob.post(f"/fixes/{fix.run_id}/{act}/").status_code for act in ("keep", "discard")] == [404, 404]
    assert NEW not in bob.get(url(trial)).content.decode()
    for path in ("/", "/runs/", "/configurations/", "/archive/", "/review/", f"/runs/{trial.run_id}/", "/runs/new/"):
        page = signed_in.get(path).content.decode()
        assert "Fix of" not in page, path
        assert "(draft)" not in page, path
    response = signed_in.post(f"/fixes/{fix.run_id}/discard/")
    assert response.headers["Location"] == trial.get_absolute_url()
    assert not Fix.objects.exists()
    assert list(Run.everything.all()) == [trial.run]


def test_what_is_refused_stands_at_the_form_with_what_was_typed(signed_in: Client, trial: Trial) -> None:
    for data, said in (
        ({"prompt": OLD, "repeats": "5"}, "has already"),
        ({"prompt": NEW, "repeats": "many"}, "must be a number from 1 to 20"),
        ({"prompt": NEW, "repeats": "0"}, "must be from 1 to 20"),
    ):
        page = signed_in.post(url(trial), data, headers=HTMX).content.decode()
        assert said in page
        assert f"\n{data['prompt']}</textarea>" in page
    assert not Fix.objects.exists()


def test_a_version_saved_meanwhile_is_told_before_the_prompt_goes_on_top(signed_in: Client, trial: Trial) -> None:
    fix = start(signed_in, trial)
    play(fix.run)
    keep = f"/fixes/{fix.run_id}/keep/"
    assert signed_in.get(keep).status_code == 405
    content = {**trial.configuration_version.content, "voice": "cedar"}
    save_configuration(configuration=find_configuration("Front desk"), content=content)
    response = signed_in.post(keep, {"number": "1"}, follow=True)
    page = response.content.decode()
    assert "Keep it again" in page
    assert "Version 2 is newer" in page
    assert re.search(r'name="number" value="2"', page)
    signed_in.post(keep, {"number": "2"})
    assert ConfigurationVersion.objects.count() == 3
