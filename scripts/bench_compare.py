"""How long a comparison of 100,000 trials takes: 20 configurations x 500 scenarios x 10 repeats.

    python scripts/bench_compare.py [--scenarios 500] [--configurations 20] [--repeats 10] [--runs 5]

Makes the trials in a database of its own (a SQLite file in a new temporary folder, or in SOUNDCHECK_DATA_DIR, or what
DATABASE_URL names; trials that are there from an earlier time are used again), then tells queries and server time of
the page, cold and warm, and of its intervals.
"""

from __future__ import annotations

# ruff: noqa: E402
import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
if "SOUNDCHECK_DATA_DIR" not in os.environ:
    os.environ["SOUNDCHECK_DATA_DIR"] = tempfile.mkdtemp(prefix="bench-compare-")

import django

django.setup()

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from runs_app.models import Grading, Run, RunConfiguration, RunScenario, RunStatus, Trial, TrialStatus
from runs_app.services.intervals import make_intervals
from runs_app.stats.rows import MEASURED
from scenarios_app.models import ConfigurationVersion, ScenarioVersion
from tests.runs.builders import make_configuration, make_suite, scenario

NAME = "comparison benchmark"
BATCH = 2_000
KINDS = [f"tool_contract:book:{place}:{way}" for place in ("date", "people", "name") for way in ("another", "absent")]


def made(scenarios: int, configurations: int, repeats: int) -> Run:
    suite = make_suite([scenario(f"case_{n:04}", critical=n % 50 == 0) for n in range(scenarios)], name="large")
    for n in range(configurations):
        make_configuration(instructions=f"Be brief, in way {n}.", mode="audio")
    now = timezone.now()
    run = Run.objects.create(
        name=NAME, suite=suite, status=RunStatus.DONE, repeats=repeats, started_at=now, finished_at=now
    )
    versions = list(ScenarioVersion.objects.order_by("pk"))
    chosen = list(ConfigurationVersion.objects.order_by("pk"))
    RunScenario.objects.bulk_create(
        RunScenario(run=run, scenario_version=version, position=n) for n, version in enumerate(versions)
    )
    RunConfiguration.objects.bulk_create(
        RunConfiguration(run=run, configuration_version=version, position=n) for n, version in enumerate(chosen)
    )
    fill(run, versions, chosen, repeats)
    return run


def fill(run: Run, versions: list[ScenarioVersion], chosen: list[ConfigurationVersion], repeats: int) -> None:
    rng = np.random.default_rng(1)
    ease, pace = rng.normal(1.0, 1.5, len(versions)), rng.normal(6.7, 0.3, len(versions))
    position = 0
    for place, configuration in enumerate(chosen):
        chance = 1 / (1 + np.exp(-(ease + 0.05 * place)))
        batch = []
        for n, version in enumerate(versions):
            for repeat in range(1, repeats + 1):
                values = outcome(rng, float(chance[n]), float(pace[n]))
                batch.append(trial(run, version, configuration, repeat, position, values))
                position += 1
        store(batch)


def outcome(rng: np.random.Generator, chance: float, pace: float) -> dict[str, Any]:
    if rng.random() < 0.01:
        return {"outcome": "invalid", "stage": "connect"}
    if rng.random() < 0.01:
        return {"outcome": "failed", "stage": "response_timeout", "failure_kind": "response_timeout:::"}
    passed = rng.random() < chance
    return {
        "outcome": "passed" if passed else "failed",
        "failure_kind": "" if passed else KINDS[int(rng.integers(len(KINDS)))],
        "semantic_quality": round(4 * min(1.0, max(0.0, chance + rng.normal(0, 0.15)))) / 4,
        "tool_accuracy": 1.0 if rng.random() < chance else 0.5,
        "response_latency_ms": float(np.exp(pace + rng.normal(0, 0.25))),
    }


def trial(
    run: Run, version: ScenarioVersion, configuration: ConfigurationVersion, repeat: int, position: int, values: Any
) -> Trial:
    metrics = {"tool_calls": 2, "tool_calls_expected": 2, **{name: values[name] for name in MEASURED if name in values}}
    return Trial(
        run=run,
        scenario_version=version,
        configuration_version=configuration,
        repeat=repeat,
        position=position,
        seed=repeat,
        status=TrialStatus.DONE,
        metrics=metrics,
        **values,
    )


def store(batch: list[Trial]) -> None:
    for at in range(0, len(batch), BATCH):
        trials = Trial.objects.bulk_create(batch[at : at + BATCH])
        Grading.objects.bulk_create(
            Grading(
                trial=one, attempt=1, number=1, outcome=one.outcome, judge_model="judge-1", rubric_version="5",
                metrics=one.metrics,
            )
            for one in trials
        )  # fmt: skip


def looks(client: Client, path: str, runs: int) -> Iterator[tuple[float, float, int, int]]:
    """Seconds, seconds of processor time, queries and status of each look."""
    for _ in range(runs):
        with CaptureQueriesContext(connection) as queries:
            began, worked = time.perf_counter(), time.process_time()
            response = client.get(path)
            took, worked = time.perf_counter() - began, time.process_time() - worked
        yield took, worked, len(queries), response.status_code


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("scenarios", 500), ("configurations", 20), ("repeats", 10), ("runs", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    call_command("migrate", verbosity=0)
    run = Run.objects.filter(name=NAME).first() or made(options.scenarios, options.configurations, options.repeats)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    print(f"{connection.vendor}: {run.trials.count()} trials in {settings.DATA_DIR}", flush=True)
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get_or_create(username="bench")[0])
    client.get("/compare/")  # a server has its pages in memory before the first request
    for name in ("cold", "warm"):
        for path in (f"/compare/?run={run.pk}", f"/compare/data/?run={run.pk}"):
            found = list(looks(client, path, 1 if name == "cold" else options.runs))
            took, worked, queries, status = sorted(found)[len(found) // 2]
            times = f"{1000 * took:.0f} ms, {1000 * worked:.0f} ms of processor time"
            print(f"{path} {name}: {times}, {queries} queries, status {status}", flush=True)
    began = time.perf_counter()
    count = make_intervals(run_ids=[run.pk], version_ids=[])
    print(f"{count} percentile and pass^k intervals: {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
