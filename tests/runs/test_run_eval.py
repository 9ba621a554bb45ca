"""`manage.py run_eval`: its options, its JSON and its exit codes, against a real worker."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command

from runs_app.management.commands import run_eval
from runs_app.models import Run
from runs_app.services.baselines import promote_baseline
from runs_app.services.runs import cancel_run
from scenarios_app.services.suites import find_suite
from tests.reporting.crawl_schemas import check_tree
from tests.reporting.junit_schemas import ANT, problems
from tests.runs import agents
from tests.runs.builders import make_configuration, make_suite, scenario
from tests.runs.stack import ROOT, Stack, running
from tests.scripted_server import serving_in_thread
from tests.services import eventually

EXPECTS_A_BOOKING = {"answer": "Booked.", "state": {"reservation_created": True}}


def evaluate(*options: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("run_eval", *options, stdout=out, stderr=err)
    except CommandError as error:
        return error.returncode, out.getvalue(), f"{err.getvalue()}{error}"
    return 0, out.getvalue(), err.getvalue()


def strictly(text: str) -> dict[str, Any]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


@contextmanager
def two_versions(scenarios: Any = 2):
    """Front desk@1 answers; Front desk@2 is refused at the door."""
    with (
        serving_in_thread(agents.answering()) as agent,
        serving_in_thread(agents.answering(), refuse=401) as closed,
    ):
        make_suite(scenarios)
        make_configuration(endpoint=agent.url)
        make_configuration(endpoint=closed.url)
        yield agent


def test_the_json_tells_every_trial_and_every_configuration(worker: Stack):
    with two_versions():
        code, out, err = evaluate(
            "--suite=demo",
            "--configurations=Front desk@1, Front desk@2",
            "--repeats=2",
            "--wait",
            "--format=json",
            "--seed=7",
        )
    assert code == 0, err
    told = strictly(out)
    head = {"run", "status", "url", "notice", "tool_faults", "trials"}
    assert set(told) == {*head, "problems", "unexpected_passes", "configurations", "results", "gate"}
    assert told["gate"] is None  # nothing was asked
    assert told["notice"].startswith("Not redacted")
    assert (told["status"], told["run"]) == ("done", Run.objects.get().pk)
    assert told["url"].endswith(f"/runs/{told['run']}/")
    counts = {"total": 8, "passed": 4, "failed": 0, "ungraded": 0, "invalid": 4, "cancelled": 0, "known": 0}
    assert told["trials"] == counts
    first, second = told["configurations"]
    assert (first["name"], first["version"], second["version"]) == ("Front desk", 1, 2)
    assert first["metrics"]["pass_rate"] == {"value": 1.0, "n": 4, "of": 4, "known": 0, "new_value": 1.0}
    assert second["metrics"]["pass_rate"] == {"value": None, "n": 0, "of": 4, "known": 0, "new_value": None}
    assert first["metrics"]["semantic_quality"] == {"mean": None, "n": 0, "of": 4}
    assert set(first["metrics"]["response_latency_ms"]) == {"mean", "p50", "p95", "n", "of"}
    result = told["results"][0]
    keys = {"trial", "url", "scenario", "configuration", "repeat", "outcome", "reason", "metrics", "checks", "audio"}
    assert keys <= set(result)
    assert (result["scenario"], result["configuration"], result["repeat"]) == ("case_1", "Front desk@1", 1)
    assert result["audio"] is None
    assert {"id", "status", "required", "reason"} == set(result["checks"][0])
    assert "response_latency_ms" in result["metrics"]
    assert Run.objects.get().seed == 7


def test_a_gate_that_holds_exits_with_0_and_waits_by_itself(worker: Stack):
    with two_versions():
        code, out, _ = evaluate("--suite=demo", "--configurations=Front desk@1", "--fail-under=pass_rate=1")
    assert code == 0
    assert "2 passed, 0 failed" in out


def test_a_worse_configuration_than_the_baseline_exits_with_1_and_the_json_says_why(worker: Stack):
    critical = scenario("books", expected=EXPECTS_A_BOOKING, critical=True)
    with serving_in_thread(agents.answering()) as agent:
        make_suite([scenario("books", critical=True), scenario("asks")])
        first = make_configuration(endpoint=agent.url)
        make_configuration(endpoint=agent.url, instructions="Be brief.")
        same = evaluate(
            "--suite=demo", f"--configurations={first},Front desk@2", f"--baseline={first}", "--fail-if=worse"
        )
        assert same[0] == 0, same[2]
        promote_baseline(suite=find_suite("demo"), configuration_version=first)
        code, out, err = evaluate("--suite=demo", "--configurations=Front desk@2", "--baseline", "--format=json")
        assert code == 0, err
        told = strictly(out)
        assert (told["gate"]["verdict"], told["baseline"]["run"]) == ("passed", Run.objects.earliest("pk").pk)
        # with another content the scenario is out of the totals, and half of the two is too much to compare
        make_suite([critical, scenario("asks")])
        code, out, err = evaluate("--suite=demo", "--configurations=Front desk@2", "--baseline", "--format=json")
    assert code == 2
    reason = "Front desk@2: not comparable with the baseline: 1 of 2 shared scenarios differ in content"
    assert strictly(out)["gate"] == {"verdict": "unknown", "failed": [], "unknown": [reason]}
    assert reason in err


def test_a_baseline_that_is_not_there_ends_it_before_anything_is_spent(worker: Stack):
    with two_versions():
        common = ("--suite=demo", "--configurations=Front desk@1")
        assert evaluate(*common, "--baseline=Nobody@1")[0] == 2
        assert "no promoted baseline" in evaluate(*common, "--baseline")[2]
        assert "--fail-if needs --baseline" in evaluate(*common, "--fail-if=worse")[2]
    assert not Run.objects.exists()


def test_a_configuration_below_a_gate_exits_with_1_and_is_named(worker: Stack):
    with two_versions([scenario("books", expected=EXPECTS_A_BOOKING), scenario("asks")]):
        code, _, err = evaluate(
            "--suite=demo", "--configurations=Front desk@1", "--fail-under=pass_rate=0.8", "--fail-under=pass_rate=0.4"
        )
    assert code == 1
    assert "Front desk@1: pass_rate 0.500 is below 0.8 (2 of 2 trials)" in err
    assert "0.4" not in err


def test_a_value_that_was_not_measured_exits_with_2(worker: Stack):
    with two_versions():
        code, _, err = evaluate("--suite=demo", "--configurations=Front desk@1", "--fail-under=semantic_quality=0.1")
    assert code == 2
    assert "semantic_quality was not measured in any of 2 trials" in err


def test_no_graded_trial_at_all_exits_with_2(worker: Stack):
    with two_versions():
        code, _, err = evaluate("--suite=demo", "--configurations=Front desk@2", "--fail-under=pass_rate=0.1")
    assert code == 2
    assert "no trial was graded" in err


def test_a_finished_run_without_a_gate_exits_with_0_whatever_it_came_to(worker: Stack):
    with two_versions():
        code, out, _ = evaluate("--suite=demo", "--configurations=Front desk@2", "--wait")
    assert code == 0
    assert "2 invalid" in out


def test_a_cancelled_run_exits_with_2(worker: Stack):
    with serving_in_thread(agents.silent()) as agent:
        make_suite(1)
        make_configuration(endpoint=agent.url)
        answer: list[tuple[int, str, str]] = []
        options = ("--suite=demo", "--configurations=Front desk", "--fail-under=pass_rate=0.1")
        waiting = threading.Thread(target=lambda: answer.append(evaluate(*options)))
        waiting.start()
        eventually(lambda: Run.objects.exists() and running(Run.objects.get()))
        cancel_run(run=Run.objects.get())
        waiting.join(30)
    code, _, err = answer[0]
    assert code == 2
    assert "was cancelled" in err


def test_verbose_names_every_trial_as_it_ends(worker: Stack):
    with two_versions():
        _, _, err = evaluate("--suite=demo", "--configurations=Front desk@1,Front desk@2", "--wait", "--verbose")
    assert "passed  case_1 · Front desk@1 · repeat 1" in err
    assert "invalid (authorisation)  case_2 · Front desk@2 · repeat 1: " in err


def test_scenarios_are_chosen_by_id_in_that_order_and_by_number(worker: Stack):
    with two_versions(4):
        evaluate("--suite=demo", "--configurations=Front desk@1", "--scenario=case_3", "--scenario=CASE_1", "--wait")
        evaluate("--suite=demo", "--configurations=Front desk@1", "--max-scenarios=2", "--wait", "--run-name=Small")
    second, first = Run.objects.all()
    keys = "scenario_version__scenario__key"
    assert list(first.scenarios.values_list(keys, flat=True)) == ["case_3", "case_1"]
    assert list(second.scenarios.values_list(keys, flat=True)) == ["case_1", "case_2"]
    assert second.name == "Small"


def test_a_file_becomes_the_suite_of_its_name(worker: Stack, tmp_path: Path):
    with two_versions(1):
        file = tmp_path / "evening calls.json"
        file.write_text(json.dumps({"schema_version": "1.0", "scenarios": [scenario("late")]}))
        code, out, err = evaluate(f"--data={file}", "--configurations=Front desk@1", "--wait", "--format=json")
    assert code == 0, err
    assert [result["scenario"] for result in strictly(out)["results"]] == ["late"]
    assert Run.objects.get().suite.name == "evening calls"


def test_junit_and_the_file_tree_are_written_at_the_end_even_below_a_gate(worker: Stack, tmp_path: Path):
    junit, tree = tmp_path / "junit.xml", tmp_path / "out"
    wanted = [scenario("books", expected=EXPECTS_A_BOOKING), scenario("asks", assertions=[{"turns": {"lte": 1}}])]
    with two_versions(wanted):
        options = ["--suite=demo", "--configurations=Front desk@1,Front desk@2", "--fail-under=pass_rate=0.9"]
        code, _, err = evaluate(*options, f"--junit={junit}", f"--output={tree}")
    assert code == 1
    assert f"wrote {tree}" in err
    suites = ElementTree.fromstring(junit.read_bytes())
    assert problems(suites, ANT) == []
    counts = [(suite.get("tests"), suite.get("failures"), suite.get("errors")) for suite in suites]
    assert counts == [("2", "1", "0"), ("2", "0", "2")]
    first, second = check_tree(tree / "Front-desk-v1"), check_tree(tree / "Front-desk-v2")
    assert first["summary"] == {"total": 2, "passed": 1, "failed": 1, "infrastructure_errors": 0}
    assert second["summary"] == {"total": 2, "passed": 0, "failed": 0, "infrastructure_errors": 2}
    assert {result["error"]["stage"] for result in second["results"]} == {"session_start"}
    events = (tree / "Front-desk-v1" / "events" / "asks.jsonl").read_text().splitlines()
    assert {json.loads(line)["source"] for line in events} == {"live_frontend", "caller_audio", "evaluator"}


def test_places_that_cannot_be_written_are_refused_before_anything_is_spent(worker: Stack, tmp_path: Path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    make_suite(1)
    make_configuration()
    for option, said in [
        (f"--output={tmp_path / 'taken'}", "is there already"),
        (f"--junit={tmp_path / 'nowhere' / 'junit.xml'}", "there is no folder"),
        (f"--junit={tmp_path / 'taken'}", "it is a folder"),
    ]:
        code, _, err = evaluate("--suite=demo", "--configurations=Front desk", option)
        assert (code, Run.objects.count()) == (2, 0)
        assert said in err


def test_after_so_many_invalid_trials_the_rest_is_not_tried(worker: Stack):
    with serving_in_thread(agents.answering(), refuse=503) as closed:
        make_suite(6)
        make_configuration(endpoint=closed.url)
        options = ["--suite=demo", "--configurations=Front desk", "--repeats=2", "--concurrency=1", "--format=json"]
        code, out, err = evaluate(*options, "--stop-after-invalid=3", "--wait")
    assert code == 0, err
    told = strictly(out)
    assert (told["status"], told["trials"]["invalid"], told["trials"]["cancelled"]) == ("cancelled", 3, 9)
    assert {result["reason"] for result in told["results"] if result["outcome"] == "cancelled"} == {
        "the endpoint is down: stopped after 3, 9 trials not spent"
    }


def test_without_wait_it_only_starts(worker: Stack):
    with serving_in_thread(agents.silent()) as agent:
        make_suite(1)
        make_configuration(endpoint=agent.url)
        code, out, err = evaluate("--suite=demo", "--configurations=Front desk", "--no-real-time", "--mode=text")
        run = Run.objects.get()
        assert (code, out) == (0, "")
        assert f"1 trials: {run_eval.address(run)}" in err
        assert (run.real_time, run.mode, run.is_over) == (False, "text", False)
        eventually(lambda: running(run))
        cancel_run(run=run)
        worker.wait_for(run, "cancelled")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--suite=nope", "--configurations=Front desk"], "there is no suite 'nope'"),
        (["--suite=demo", "--configurations=Front desk@9"], "has no version '9'"),
        (["--suite=demo", "--configurations=Nobody"], "there is no configuration 'Nobody'"),
        (["--suite=demo", "--configurations=Front desk", "--scenario=x", "--scenario=y"], "has no scenario x, y"),
        (["--suite=demo", "--configurations=Front desk", "--repeats=0"], "repeats: must be from 1"),
        (["--suite=demo", "--configurations=Front desk", "--stop-after-invalid=0"], "stop_after_invalid: must be 1"),
        (["--suite=demo", "--configurations=,"], "no configuration is chosen"),
        (["--suite=demo", "--configurations=Front desk", "--max-scenarios=0"], "--max-scenarios must be 1 or more"),
        (["--suite=demo", "--configurations=Front desk", "--tool-fault=find=slow"], "the modes are error"),
        (["--data=/nowhere.json", "--configurations=Front desk"], "/nowhere.json cannot be read"),
    ],
)
def test_what_cannot_be_run_exits_with_2_and_says_why(worker: Stack, options, said):
    make_suite(1)
    make_configuration()
    code, _, err = evaluate(*options)
    assert code == 2
    assert said in err
    assert not Run.objects.exists()


@pytest.mark.parametrize("wrong", ["pass_rate", "speed=1", "pass_rate=2", "pass_rate=nan", "pass_rate=much"])
def test_a_gate_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(CommandError, match="fail-under"):
        call_command("run_eval", "--suite=demo", "--configurations=x", f"--fail-under={wrong}")


def test_without_a_worker_it_exits_with_2(on_redis, transactional_db, monkeypatch):
    monkeypatch.setattr(run_eval, "WORKER_PATIENCE_S", 0.3)
    make_suite(1)
    make_configuration()
    code, _, err = evaluate("--suite=demo", "--configurations=Front desk")
    assert code == 2
    assert "no conversations worker answers" in err
    assert not Run.objects.exists()


def test_ctrl_c_says_that_the_run_goes_on(worker: Stack):
    with serving_in_thread(agents.silent()) as agent:
        make_suite(1)
        make_configuration(endpoint=agent.url)
        command = [sys.executable, "manage.py", "run_eval", "--suite=demo", "--configurations=Front desk", "--wait"]
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=worker.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # what a shell starts in the background ignores Ctrl-C, and hands that down to us
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        eventually(lambda: Run.objects.exists() and running(Run.objects.get()), within_s=60)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        run = Run.objects.get()
        assert process.returncode == 130
        assert "The run goes on" in err
        assert running(run) == 1
        cancel_run(run=run)
        worker.wait_for(run, "cancelled")
