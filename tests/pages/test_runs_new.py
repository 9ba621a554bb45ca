"""Starting a run in the browser: choices, the estimate, and refusals at the field."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from runs_app.models import Run
from scenarios_app.models import ConfigurationVersion
from tests.pages.playing import queries_of
from tests.runs.builders import make_configuration, make_suite, scenario
from tests.support import make_configuration as bare_configuration

pytestmark = pytest.mark.django_db
URL = "/runs/new/"


@pytest.fixture
def agents() -> list[ConfigurationVersion]:
    return [make_configuration(), make_configuration(instructions="Read details back.")]


def form(**changes: Any) -> dict[str, Any]:
    filled = {"suite": "demo", "configurations": ["Front desk@1", "Front desk@2"], "repeats": "3", "concurrency": "4"}
    return {**filled, **changes}


def errors_at(client: Client, field: str | None, **changes: Any) -> str:
    """What the page says at the field; nothing may have been started."""
    answer = client.post(URL, form(**changes))
    assert answer.status_code == 200
    assert not Run.objects.exists()
    errors = answer.context["form"].errors.get(field or "__all__", [])
    text = answer.content.decode().replace("&#x27;", "'").replace("&quot;", '"')
    assert "Nothing was started" in text
    assert all(error in text for error in errors), "an error is not on the page"
    return " ".join(errors)


def test_a_filled_form_starts_the_run_and_leads_to_its_page(signed_in: Client, alice: User, agents):
    make_suite(2)
    answer = signed_in.post(
        URL, form(mode="text", real_time="no", seed="7", name="Does it read back?", concurrency="8")
    )
    run = Run.objects.get()
    assert answer["Location"] == run.get_absolute_url()
    assert run.trials.count() == 2 * 2 * 3
    said = (run.name, run.seed, run.mode, run.real_time, run.concurrency, run.created_by, str(run.suite))
    assert said == ("Does it read back?", 7, "text", False, 8, alice, "demo")


def test_versions_are_offered_newest_first_and_old_ones_fold_away(signed_in: Client):
    for number in range(5):
        make_configuration(instructions=f"Prompt {number}")
    make_configuration("Another")
    groups = signed_in.get(URL).context["form"].groups()
    assert [group.name for group in groups] == ["Another", "Front desk"]
    assert [box.label for box in groups[1].newest] == ["Front desk@5", "Front desk@4", "Front desk@3"]
    assert [box.label for box in groups[1].older] == ["Front desk@2", "Front desk@1"]
    assert not groups[1].older_is_open


def test_each_version_says_whether_it_is_spoken_and_live_always_is(signed_in: Client):
    make_configuration("Typed")
    make_configuration("Spoken", mode="audio")
    bare_configuration("Live", protocol="live")
    groups = signed_in.get(URL).context["form"].groups()
    assert {group.name: box.mode for group in groups for box in group.newest} == {
        "Typed": "text",
        "Spoken": "audio",
        "Live": "audio",
    }
    assert " · audio · <time" in signed_in.get(URL).content.decode()


def test_a_chosen_old_version_is_not_hidden(signed_in: Client):
    for number in range(5):
        make_configuration(instructions=f"Prompt {number}")
    groups = signed_in.get(f"{URL}?configurations=Front+desk@1").context["form"].groups()
    assert groups[0].older_is_open
    assert [box.checked for box in groups[0].older] == [False, True]


def test_the_address_fills_the_form_in_and_says_what_it_makes(signed_in: Client, agents):
    make_suite(2)
    answer = signed_in.get(f"{URL}?suite=demo&configurations=Front+desk@1&repeats=5&concurrency=2&real_time=no&name=Hi")
    text = answer.content.decode()
    assert 'value="Front desk@1" checked' in text
    assert 'value="Front desk@2" checked' not in text
    assert answer.context["estimate"].trials == 10
    assert "<b>10</b> trials" in text


def test_nonsense_in_the_address_is_shown_and_not_fatal(signed_in: Client, agents):
    answer = signed_in.get(f"{URL}?suite=nowhere&repeats=many&configurations=Nobody@7&concurrency=-2&unknown=1")
    assert answer.status_code == 200
    assert answer.context["estimate"] is None
    assert "Nothing was started" not in answer.content.decode()


def test_an_empty_site_says_where_to_begin(signed_in: Client):
    text = signed_in.get(URL).content.decode()
    assert "There is no suite yet" in text
    assert "There is no configuration yet" in text


def test_checking_says_trials_and_minutes_and_starts_nothing(signed_in: Client, agents):
    make_suite(2)
    answer = signed_in.post(URL, form(action="check"))
    assert answer.context["estimate"].trials == 12
    assert not Run.objects.exists()


def test_the_estimate_follows_the_form_while_it_is_filled_in(signed_in: Client, agents):
    make_suite(2)
    query = "suite=demo&configurations=Front+desk@1&configurations=Front+desk@2&repeats=4&concurrency=4"
    text = signed_in.get(f"{reverse('run-estimate')}?{query}").content.decode()
    assert "<b>16</b> trials" in text
    assert "<html" not in text
    assert "Choose scenarios" in signed_in.get(reverse("run-estimate")).content.decode()
    posted = signed_in.post(reverse("run-estimate"), form(repeats="4")).content.decode()
    assert "<b>16</b> trials" in posted


def test_each_field_says_what_is_wrong_with_it(signed_in: Client, agents):
    make_suite(1)
    assert errors_at(signed_in, "suite", suite="") == "Choose a suite, or tags, or scenarios by hand."
    assert "no such suite" in errors_at(signed_in, "suite", suite="nowhere")
    assert "at least one configuration" in errors_at(signed_in, "configurations", configurations=[])
    assert "Front desk@9" in errors_at(signed_in, "configurations", configurations=["Front desk@9"])
    assert "less than or equal to 8" in errors_at(signed_in, "concurrency", concurrency="9")
    assert "greater than or equal to 1" in errors_at(signed_in, "concurrency", concurrency="0")
    assert "whole number" in errors_at(signed_in, "repeats", repeats="many")
    assert "less than or equal to 1000" in errors_at(signed_in, "repeats", repeats="1001")
    assert "whole number" in errors_at(signed_in, "seed", seed="lucky")
    assert "greater than or equal to 1" in errors_at(signed_in, "stop_after_invalid", stop_after_invalid="0")
    assert "No scenario carries the tag brunch" in errors_at(signed_in, "tags", tags=["plain", "brunch"])
    assert "There is no scenario nobody" in errors_at(signed_in, "scenarios", scenarios=["case_1", "nobody"])
    assert "200 characters" in errors_at(signed_in, "name", name="x" * 201)


def test_a_suite_without_scenarios_is_refused_at_the_suite(signed_in: Client, agents):
    make_suite(1).entries.all().delete()
    assert "no scenarios that can be run" in errors_at(signed_in, "suite")


def test_too_many_trials_are_refused_at_the_repeats(signed_in: Client, agents):
    make_suite([scenario(f"case_{n}") for n in range(51)])
    assert "102000 trials" in errors_at(signed_in, "repeats", repeats="1000")


def test_what_the_engine_cannot_do_is_said_with_the_scenario_or_configuration(signed_in: Client):
    make_suite(1)
    make_configuration("Listener", session_update={"audio": {"output": {"format": {"type": "audio/opus"}}}})
    said = errors_at(signed_in, None, configurations=["Listener@1"])
    assert "Listener@1" in said
    assert "session_update.audio.output.format" in said


def test_more_versions_cost_no_more_queries(signed_in: Client):
    make_suite(1)
    make_configuration()
    first = queries_of(signed_in, f"{URL}?suite=demo&configurations=Front+desk@1")
    for number in range(5):
        make_configuration(instructions=f"Prompt {number}")
    assert queries_of(signed_in, f"{URL}?suite=demo&configurations=Front+desk@1") == first


def test_strangers_are_sent_to_sign_in_and_other_methods_are_refused(client: Client, signed_in: Client):
    for path in (URL, reverse("run-estimate")):
        assert client.get(path)["Location"].startswith(reverse("sign-in"))
    assert client.post(URL, form()).status_code == 302
    assert signed_in.put(URL).status_code == 405
    assert signed_in.put(reverse("run-estimate")).status_code == 405
    assert not Run.objects.exists()
