"""How long the list of scenarios takes on the server with many of them: as it is, searched, filtered, sorted, archived.

    python scripts/bench_lists.py [--scenarios 10000] [--times 5]

Works in a database of its own: a SQLite file in a new temporary folder, or what DATABASE_URL names. The time is that of
the whole request as Django's test client makes it, the median of several: by the clock, and of the processor alone,
which other work on the machine does not change. The number of queries is counted beside it.
"""

from __future__ import annotations

# ruff: noqa: E402
import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
if "SOUNDCHECK_DATA_DIR" not in os.environ:
    os.environ["SOUNDCHECK_DATA_DIR"] = tempfile.mkdtemp(prefix="bench-lists-")

import django

django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from scenarios_app.services import create_suite, import_scenarios, save_suite_rule
from tests.support import scenario_file, scenario_json

PATHS = {
    "the list": "/scenarios/",
    "page 50": "/scenarios/?page=50",
    "one word": "/scenarios/?q=nora",
    "two words, few found": "/scenarios/?q=guest+77",
    "nothing found": "/scenarios/?q=unicorn",
    "a tag": "/scenarios/?tag=kind+3",
    "a suite": "/scenarios/?suite=bench",
    "tag, suite and word": "/scenarios/?tag=kind+3&suite=bench&q=nora",
    "sorted by title": "/scenarios/?sort=-title",
    "sorted by change": "/scenarios/?sort=-changed",
    "the archived": "/scenarios/?archived=1",
    "the suite's page": "/suites/bench/",
    "a suite by rule": "/suites/ruled/",
    "all suites": "/suites/",
    "a table of 100": "/scenarios/table/",
}


def fill(count: int) -> None:
    for start in range(0, count, 1000):
        listed = [
            scenario_json(
                f"case_{n:05}",
                title=f"Guest {n} books a table",
                tags=[f"kind {n % 40}", "slow" if n % 7 else "quick"],
                input={"text": f"A table for Nora on 15 May 2027 at six in the evening, guest {n}, please."},
            )
            for n in range(start, min(start + 1000, count))
        ]
        import_scenarios(data=scenario_file(listed), suite_name="bench")
    save_suite_rule(suite=create_suite(name="ruled"), rule={"all": ["kind 3"], "none": ["quick"]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    call_command("migrate", verbosity=0)
    fill(given.scenarios)
    client = Client(HTTP_HOST="localhost")
    client.force_login(User.objects.create_user("bench"))
    client.get("/scenarios/")
    print(f"{given.scenarios:,} scenarios, {connection.vendor}; the median of {given.times} requests")
    print(f"{'':24} {'ms':>6}  {'cpu ms':>6}  queries")
    for name, path in PATHS.items():
        spent, worked, queries = [], [], 0
        for _ in range(given.times):
            start, busy = time.perf_counter(), time.process_time()
            with CaptureQueriesContext(connection) as captured:
                answer = client.get(path)
            spent.append((time.perf_counter() - start) * 1000)
            worked.append((time.process_time() - busy) * 1000)
            queries = len(captured)
            assert answer.status_code == 200, (path, answer.status_code)
        print(f"{name:24} {statistics.median(spent):6.0f}  {statistics.median(worked):6.0f}  {queries:7}")


if __name__ == "__main__":
    main()
