"""How long the import of a large file of scenarios takes: the dry run, and the write in its one transaction.

    python scripts/bench_import.py [--scenarios 1000] [--megabytes 3] [--format json|yaml|csv]

Works in a database of its own: a SQLite file in a new temporary folder, or what DATABASE_URL names.
"""

from __future__ import annotations

# ruff: noqa: E402
import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
if "SOUNDCHECK_DATA_DIR" not in os.environ:
    os.environ["SOUNDCHECK_DATA_DIR"] = tempfile.mkdtemp(prefix="bench-import-")

import django

django.setup()

from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scenarios_app.services import import_scenarios, read_scenarios, write_scenarios
from tests.support import scenario_json


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", type=int, default=1000)
    parser.add_argument("--megabytes", type=float, default=3)
    parser.add_argument("--format", choices=("json", "yaml", "csv"), default="json")
    given = parser.parse_args()
    call_command("migrate", verbosity=0)
    filler = "x" * max(int(given.megabytes * 1e6 / given.scenarios) - 500, 1)
    listed = [scenario_json(f"case_{n}", notes=filler) for n in range(given.scenarios)]
    document = {"schema_version": "1.1", "scenarios": listed}
    data = write_scenarios(document=document, kind=given.format).encode()
    print(f"{given.scenarios} scenarios, {len(data) / 1e6:.1f} MB of {given.format}")

    start = time.perf_counter()
    source = read_scenarios(data=data, kind=given.format)
    print(f"read      {time.perf_counter() - start:6.2f} s")
    start = time.perf_counter()
    report = import_scenarios(data=source, suite_name="bench", dry_run=True)
    print(f"dry run   {time.perf_counter() - start:6.2f} s   {report.counts}")
    start = time.perf_counter()
    began: list[float] = []

    def note(execute: Callable[..., Any], *query: Any) -> Any:
        began.append(time.perf_counter())
        return execute(*query)

    with CaptureQueriesContext(connection) as queries, connection.execute_wrapper(note):
        import_scenarios(data=source, suite_name="bench")
    print(f"import    {time.perf_counter() - start:6.2f} s   checked again, then written")
    print(f"write     {began[-1] - began[0]:6.2f} s   of that, from the first query to the last: the transaction")
    spent = [float(query["time"]) for query in queries]
    begun = sum(query["sql"].startswith("BEGIN") for query in queries)
    print(f"database  {sum(spent):6.2f} s   {len(spent)} queries, {begun} transaction")
    start = time.perf_counter()
    again = import_scenarios(data=source, suite_name="bench")
    print(f"again     {time.perf_counter() - start:6.2f} s   {again.counts}")


if __name__ == "__main__":
    main()
