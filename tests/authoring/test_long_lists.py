"""Lists ask the database as often for many scenarios as for few. How long they take: scripts/bench_lists.py."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from scenarios_app.services import create_suite, import_scenarios, save_suite_rule
from tests.support import scenario_file, scenario_json

pytestmark = pytest.mark.django_db

PATHS = (
    "/scenarios/",
    "/scenarios/?page=2",
    "/scenarios/?q=table+nora&tag=booking&suite=long&sort=-changed",
    "/scenarios/?archived=1",
    "/suites/",
    "/suites/long/",
    "/suites/ruled/",
    "/scenarios/table/",
    "/scenarios/replace/?find=Nora&put=Ada&field=says",
    "/archive/",
)


def asked(browser: Client) -> dict[str, int]:
    counts = {}
    for path in PATHS:
        with CaptureQueriesContext(connection) as queries:
            assert browser.get(path).status_code == 200, path
        counts[path] = len(queries)
    return counts


def fill(start: int, end: int) -> None:
    listed = [scenario_json(f"case_{n:03}", tags=["booking", f"kind {n % 9}"]) for n in range(start, end)]
    import_scenarios(data=scenario_file(listed), suite_name="long")


def test_many_scenarios_take_no_more_queries_than_few(browser: Client) -> None:
    save_suite_rule(suite=create_suite(name="ruled"), rule={"all": ["booking"]})
    fill(0, 103)
    few = asked(browser)
    fill(103, 420)
    assert asked(browser) == few
    assert max(few.values()) <= 8
