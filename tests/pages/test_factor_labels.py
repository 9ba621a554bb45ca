"""Where versions stand, their factors stand too: prompt@n, model, voice and tools as the run used them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from scenarios_app.models import ConfigurationVersion
from scenarios_app.services.applications import import_applications
from scenarios_app.services.factors import factors_of
from scenarios_app.services.named import CONFIGURATIONS, find_named
from tests.pages.comparing import versions
from tests.runs.builders import APPLICATION, make_configuration, make_run
from tests.support import make_configuration as make_plain_configuration

pytestmark = pytest.mark.django_db


def tools_in(text: str) -> set[str]:
    return set(re.findall(r"tools [0-9a-f]{6}", text))


def versions_of(name: str) -> list[ConfigurationVersion]:
    return list(find_named(CONFIGURATIONS, name).versions.order_by("number"))


def test_the_columns_of_a_run_say_what_they_test(signed_in: Client) -> None:
    run = make_run(1, configurations=versions())
    page = signed_in.get(run.get_absolute_url()).content.decode()
    heads = re.findall(r'<th scope="col"><bdi>(Front desk@\d)</bdi>(.*?)</th>', page, re.DOTALL)
    assert [label for label, _ in heads] == ["Front desk@1", "Front desk@2"]
    assert "<bdi>prompt@1</bdi>" in heads[0][1]
    assert '<b title="differs from the first column">prompt@2</b>' in heads[1][1]
    assert heads[1][1].count("<b ") == 1


def test_a_new_run_offers_versions_by_what_they_test(signed_in: Client) -> None:
    versions()
    page = signed_in.get("/runs/new/").content.decode()
    assert re.search(r"prompt@1 · voice-1 · server&#x27;s voice · tools [0-9a-f]{6}</bdi> · text", page)
    assert "prompt@2 · voice-1" in page


def test_a_run_keeps_the_tools_that_it_used_when_the_application_has_changed(signed_in: Client) -> None:
    run = make_run(1)
    before = tools_in(signed_in.get(run.get_absolute_url()).content.decode())
    import_applications(data=json.dumps([{**APPLICATION, "facts": {"opens": "18:00"}}]).encode())
    assert tools_in(signed_in.get(run.get_absolute_url()).content.decode()) == before
    now = tools_in(signed_in.get("/configurations/Front%20desk/").content.decode())
    assert len(before) == len(now) == 1
    assert now != before


def test_a_version_of_the_application_is_the_one_that_is_named(signed_in: Client) -> None:
    first = make_configuration(application={"name": "trattoria", "version": 1})
    import_applications(data=json.dumps([{**APPLICATION, "facts": {}}]).encode())
    newest = make_configuration("Other", application={"name": "Trattoria"})
    second = make_configuration("Third", application={"name": "Trattoria", "version": 2})
    gone = make_plain_configuration("Fourth")
    known = factors_of([first, newest, second, gone])
    assert known[first.pk].tools != known[newest.pk].tools
    assert known[newest.pk].tools == known[second.pk].tools
    assert known[gone.pk].texts[3] == "no tools"


def test_instructions_of_the_session_update_count_as_the_prompt() -> None:
    for changes in ({"instructions": "A"}, {"session_update": {"instructions": "A"}}, {"instructions": "B"}):
        make_configuration(**changes)
    listed = versions_of("Front desk")
    known = factors_of(listed)
    assert [known[version.pk].prompt for version in listed] == [1, 1, 2]


def test_many_versions_cost_no_more_queries(django_assert_num_queries: Any) -> None:
    listed = versions(12)
    with django_assert_num_queries(2):
        factors_of(listed)
