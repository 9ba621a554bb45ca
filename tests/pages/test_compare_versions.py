"""From two versions of a configuration to their comparison, or to the run that would make one, in one click."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from runs_app.services.runs import cancel_run
from tests.pages.comparing import finished_run, same, versions
from tests.runs.builders import make_configuration, make_run

pytestmark = pytest.mark.django_db

URL = "/configurations/Front%20desk/compare/"


def test_the_newest_run_with_both_versions_is_compared_the_older_as_the_baseline(signed_in: Client) -> None:
    one, two = versions()
    finished_run(same(), configurations=[one, two])
    newest = finished_run(same(), configurations=[two, one])
    finished_run(same(), configurations=[two])
    target = signed_in.get(URL)["Location"]
    assert target == f"/compare/?run={newest.pk}&a=Front+desk%401&b=Front+desk%402"
    shown = signed_in.get(target).context["shown"]
    assert [column.label for column in shown.columns] == ["Front desk@1", "Front desk@2"]


def test_any_two_versions_can_be_asked_for(signed_in: Client) -> None:
    listed = versions(3)
    run = finished_run(same(), configurations=listed)
    assert signed_in.get(URL, {"from": 1, "to": 3})["Location"].startswith(f"/compare/?run={run.pk}&a=Front+desk%401")
    assert "b=Front+desk%403" in signed_in.get(URL)["Location"]


def test_without_such_a_run_a_new_one_is_filled_in_with_both_and_the_last_suite(signed_in: Client) -> None:
    one, two = versions()
    finished_run(same(), configurations=[one])
    cancelled = make_run(1, configurations=[one, two])
    cancel_run(run=cancelled)
    answer = signed_in.get(URL)
    given = parse_qs(urlsplit(answer["Location"]).query)
    assert urlsplit(answer["Location"]).path == reverse("run-new")
    assert given["configurations"] == ["Front desk@1", "Front desk@2"]
    assert cancelled.suite is not None
    assert given["suite"] == [cancelled.suite.name]
    page = signed_in.get(answer["Location"])
    assert "No run holds both Front desk@1 and Front desk@2 yet." in page.content.decode()
    assert page.context["form"]["configurations"].value() == ["Front desk@1", "Front desk@2"]


def test_one_version_alone_and_versions_that_are_not_there_are_404(signed_in: Client) -> None:
    make_configuration()
    assert signed_in.get(URL).status_code == 404
    assert signed_in.get(URL, {"from": 1, "to": 7}).status_code == 404
    assert signed_in.get(URL.replace("Front", "No")).status_code == 404


def test_a_configuration_page_leads_there(signed_in: Client) -> None:
    versions(3)
    newest = signed_in.get("/configurations/Front%20desk/").content.decode()
    assert f'href="{URL}?from=2&amp;to=3">Compare with version 2</a>' in newest
    assert "Test connection" in newest
    assert "Compare with version" not in signed_in.get("/configurations/Front%20desk/versions/1/").content.decode()
    assert (
        f'href="{URL}?from=1&amp;to=3"' in signed_in.get("/configurations/Front%20desk/diff/?from=1").content.decode()
    )


def test_the_difference_says_which_factors_differ(signed_in: Client) -> None:
    versions(2)
    page = signed_in.get("/configurations/Front%20desk/diff/").content.decode()
    assert '<b title="differs from the other version">prompt@2</b>' in page
    assert '<b title="differs from the other version">voice-1</b>' not in page
