"""What a run is to find out: set on the new-run form, fixed when it starts, told afterwards."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from runs_app.comparing.choice import METRICS, Choice
from runs_app.comparing.conditions import comparison_of
from runs_app.comparing.loading import load
from runs_app.models import Run, RunPlan
from runs_app.plans import Plan, plan_of
from runs_app.services.runs import start_run
from scenarios_app.spec.errors import SpecError
from tests.pages.comparing import finished_run, same, versions
from tests.runs.builders import make_configuration, make_run, make_suite

pytestmark = pytest.mark.django_db


def send(client: Client, **data: Any) -> Any:
    make_suite(1)
    version = make_configuration()
    known = {"suite": "demo", "configurations": [str(version)], "repeats": 1, "concurrency": 1}
    return client.post(reverse("run-new"), {**known, **data})


def test_hypothesis_metrics_and_margins_are_stored_with_the_run(signed_in: Client):
    answer = send(
        signed_in,
        hypothesis="The prompt understands corrections.",
        primaries=["semantic_quality", "response_latency_ms"],
        margin_semantic_quality="0.03",
        margin_response_latency_ms="100",
    )
    run = Run.objects.get()
    assert answer["Location"] == run.get_absolute_url()
    plan = plan_of([run])
    assert plan == Plan(
        ("The prompt understands corrections.",),
        ("semantic_quality", "response_latency_ms"),
        {"semantic_quality": 0.03, "response_latency_ms": 100.0},
    )
    page = signed_in.get(run.get_absolute_url()).content.decode()
    assert "The prompt understands corrections." in page
    again = parse_qs(urlsplit(signed_in.get(run.get_absolute_url()).context["again_url"]).query)
    assert again["hypothesis"] == ["The prompt understands corrections."]
    assert again["primaries"] == ["semantic_quality", "response_latency_ms"]
    assert again["margin_semantic_quality"] == ["0.03"]
    form = signed_in.get(f"{reverse('run-new')}?primaries=tool_accuracy&margin_tool_accuracy=0.1").context["form"]
    assert [(name, decides, field.value()) for name, decides, field in form.margin_rows() if decides] == [
        ("tool_accuracy", True, "0.1")
    ]


@pytest.mark.parametrize("primaries", [[], ["semantic_quality", "tool_accuracy", "response_latency_ms", "pass_rate"]])
def test_a_form_that_says_nothing_of_it_leaves_no_plan(signed_in: Client, primaries: list[str]):
    send(signed_in, primaries=primaries)
    assert not RunPlan.objects.exists()
    assert plan_of([Run.objects.get()]) == Plan()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("margin_pass_rate", "2"),
        ("margin_pass_rate", "-0.1"),
        ("margin_response_latency_ms", "soon"),
        ("margin_semantic_quality", "nan"),
        ("margin_response_latency_ms", "inf"),
        ("primaries", "cheapness"),
        ("hypothesis", "x" * 501),
    ],
)
def test_what_cannot_be_a_plan_is_refused_at_its_field(signed_in: Client, field: str, value: str):
    answer = send(signed_in, **{field: value})
    assert answer.status_code == 200
    assert answer.context["form"].errors.keys() == {field}
    assert not Run.objects.exists()


def test_the_service_refuses_it_too():
    wrong = Plan(primaries=("cheapness",), margins={"pass_rate": 3.0, "speed": 1.0})
    with pytest.raises(SpecError) as refused:
        start_run(
            suite=make_suite(1), configuration_versions=[make_configuration()], repeats=1, concurrency=1, plan=wrong
        )
    assert {problem.path for problem in refused.value.problems} == {"primaries", "margins", "margin_pass_rate"}


def test_a_plan_never_changes():
    run = make_run(plan=Plan(("It is faster.",)))
    stored = run.plan
    stored.hypothesis = "It is slower."
    with pytest.raises(TypeError, match="never changes"):
        stored.save()


def test_runs_that_set_out_differently_leave_nothing_to_pick_from():
    one = make_run(plan=Plan(("One.",), ("pass_rate",), {"pass_rate": 0.1}))
    two = make_run(plan=Plan(("Two.",), ("pass_rate",), {"pass_rate": 0.1}))
    other = make_run(plan=Plan((), ("tool_accuracy",)))
    assert plan_of([one, two, make_run()]) == Plan(("One.", "Two."), ("pass_rate",), {"pass_rate": 0.1})
    assert plan_of([one, other]) == Plan(("One.",), differs=True)


def test_a_comparison_of_runs_that_set_out_differently_lets_all_metrics_decide():
    first, second = versions()
    one = finished_run(same(), configurations=[first], plan=Plan((), ("pass_rate",), {"pass_rate": 0.1}))
    other = finished_run(same(), configurations=[second], plan=Plan((), ("tool_accuracy",)))
    silent = finished_run(same(), configurations=[second])

    def rules(*runs: Run) -> dict[str, float | None]:
        compared = comparison_of(load(Choice(runs=tuple(run.pk for run in runs))))
        return {rule.name: rule.margin for rule in compared.rules if rule.primary}

    assert rules(one, other) == dict.fromkeys(METRICS)
    assert rules(one, silent) == {"pass_rate": 0.1}
