"""The list of runs: search, filter and pages, all in the address."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from runs_app.models import Run
from runs_app.services.runs import cancel_run
from scenarios_app.models import Suite
from tests.pages.playing import begin, play, queries_of
from tests.runs.builders import make_configuration, make_run
from tests.support import make_user

pytestmark = pytest.mark.django_db
URL = "/runs/"


def names(client: Client, query: str = "") -> list[str]:
    answer = client.get(URL + query)
    assert answer.status_code == 200
    return [str(row.run) for row in answer.context["rows"]]


def test_an_empty_list_offers_the_first_run(signed_in: Client):
    answer = signed_in.get(URL)
    assert "No runs yet" in answer.content.decode()
    assert reverse("run-new") in answer.content.decode()


def test_a_row_has_all_that_tells_runs_apart(signed_in: Client, alice: User):
    run = make_run(3, name="Friday", user=alice)
    play(run, ["passed", "failed", "invalid"])
    text = signed_in.get(URL).content.decode()
    for shown in ("Friday", str(run.suite), "Front desk@1", "done", "3/3, 1 failed, 1 invalid", "50.0", "1/2", "alice"):
        assert shown in text
    assert f'<time datetime="{Run.objects.get().created_at.isoformat()}">' in text


def test_pass_rates_wait_until_the_run_is_over(signed_in: Client):
    run = make_run(2)
    play(run, ["passed"])
    assert "100.0" not in signed_in.get(URL).content.decode()
    play(run, ["passed"])
    assert "100.0" in signed_in.get(URL).content.decode()


@pytest.mark.parametrize("words", ["evening", "night", "late calls", "2", "bob", "evening night"])
def test_every_word_of_a_search_must_be_found_somewhere(signed_in: Client, words: str):
    make_run(1, configurations=[make_configuration("Day desk")], name="First of the morning")
    evening = make_run(
        1, configurations=[make_configuration("Night desk")], name="Evening shift", user=make_user("bob")
    )
    Suite.objects.filter(pk=evening.suite_id).update(name="late calls")  # no number: runs are found by theirs
    wanted = words.replace("2", str(evening.pk)) if words == "2" else words
    assert "Evening shift" in names(signed_in, f"?q={wanted}")
    assert "First of the morning" not in names(signed_in, f"?q={wanted}")


def test_a_status_filters_and_an_unknown_one_does_not(signed_in: Client):
    make_run(1, name="waits")
    play(make_run(1, name="over"), ["passed"])
    cancel_run(run=make_run(1, name="stopped"))
    begin(make_run(1, name="goes"))
    assert names(signed_in, "?status=queued") == ["waits"]
    assert names(signed_in, "?status=running") == ["goes"]
    assert names(signed_in, "?status=done") == ["over"]
    assert names(signed_in, "?status=cancelled") == ["stopped"]
    assert len(names(signed_in, "?status=nonsense")) == 4


def test_nothing_found_is_said(signed_in: Client):
    make_run(1)
    assert "Nothing matches" in signed_in.get(f"{URL}?q=zebra").content.decode()


def test_pages_keep_the_search_in_their_addresses(signed_in: Client):
    run = make_run(1, name="kept 0")
    Run.objects.bulk_create(Run(name=f"kept {n}", suite=run.suite) for n in range(1, 30))
    answer = signed_in.get(f"{URL}?q=kept")
    assert len(answer.context["rows"]) == 25
    assert "?q=kept&amp;page=2" in answer.content.decode()
    assert len(names(signed_in, "?q=kept&page=2")) == 5
    assert len(names(signed_in, "?q=kept&page=99")) == 5


@pytest.mark.parametrize("query", ["?q=%FF", "?page=-1", "?page=x", "?q=99999999999999999999", "?status[]=1"])
def test_strange_addresses_give_a_page(signed_in: Client, query: str):
    make_run(1)
    assert signed_in.get(URL + query).status_code == 200


def test_more_runs_cost_no_more_queries(signed_in: Client):
    agent = make_configuration()
    play(make_run(1, configurations=[agent]), ["passed"])
    first = queries_of(signed_in, URL)
    for _ in range(4):
        play(make_run(2, configurations=[agent]), ["passed", "failed"])
    assert queries_of(signed_in, URL) == first


def test_strangers_are_sent_to_sign_in_and_posts_are_refused(client: Client, signed_in: Client):
    assert client.get(URL)["Location"].startswith(reverse("sign-in"))
    assert signed_in.post(URL).status_code == 405
