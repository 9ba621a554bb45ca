"""Who answers tools on this site: what settings allow, what a run refuses to start with, what a trial then does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from runs_app.models import Run, Trial
from runs_app.services import conversing, tooling
from runs_app.services.claims import claim_trial
from scenarios_app.services import import_applications
from scenarios_app.services.applications import application_warnings
from scenarios_app.spec.application import parse_application
from scenarios_app.spec.errors import SpecError
from tests.runs import agents
from tests.runs.builders import make_configuration, make_run, scenario
from tests.scripted_events import call_item, call_reply, text_reply
from tests.scripted_server import Hang, Step, serving_in_thread
from tests.speech_server import Answer, speech_server

pytestmark = pytest.mark.django_db(transaction=True)


class Till:
    """A class as an operator registers it."""

    def __init__(self, context: dict[str, Any]) -> None:
        self.context = context

    def call(self, name: str, arguments: dict[str, Any], state: dict[str, Any]) -> Any:
        state["asked_by"] = self.context["trial"]["scenario"]
        return {"day": self.context["reference_date"], "name": name}


def application(**behaviour: Any) -> dict[str, Any]:
    return {"name": "Shop", "tools": [{"name": "look_up", **behaviour}]}


def http(url: str = "https://staging.example/x", **more: Any) -> dict[str, Any]:
    return application(http={"url": url, **more})


def problems(document: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in tooling.application_problems(parse_application(document))]


def test_an_endpoint_is_asked_only_at_an_origin_that_the_operator_listed(settings: Any) -> None:
    settings.TOOL_ENDPOINTS = ["https://staging.example", "http://10.0.0.7:8080/"]
    assert problems(http()) == []
    assert problems(http("http://10.0.0.7:8080/a?b=c")) == []
    for url in (
        "http://staging.example/x",
        "https://staging.example:8443/x",
        "https://staging.example.evil.example/x",
        "http://10.0.0.7/x",
    ):
        (problem,) = problems(http(url))
        assert problem.startswith("tools[0].http.url: ")
        assert "TOOL_ENDPOINTS" in problem


def test_an_endpoint_gets_only_secrets_that_are_bound_to_it(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.TOOL_ENDPOINTS = ["https://staging.example", "https://other.example"]
    settings.SOUNDCHECK_SECRETS = "STAGING_KEY=https://staging.example"
    monkeypatch.setenv("STAGING_KEY", "sk-staging-123")
    headers = {"Authorization": "Bearer {{secrets.STAGING_KEY}}"}
    assert problems(http(headers=headers)) == []
    (problem,) = problems(http("https://other.example/x", headers=headers))
    assert problem.startswith("tools[0].http.headers.Authorization: secret STAGING_KEY may not be sent to")
    (problem,) = problems(http(headers={"X-A": "{{secrets.NOPE}}"}))
    assert "there is no secret NOPE" in problem


def test_an_entry_of_the_setting_that_is_no_origin_is_named(settings: Any) -> None:
    settings.TOOL_ENDPOINTS = ["https://staging.example/path"]
    with pytest.raises(ImproperlyConfigured, match=r"TOOL_ENDPOINTS: .*no path"):
        tooling.allowed_origins()


def test_a_class_is_found_by_the_name_under_which_it_is_registered(settings: Any) -> None:
    settings.TOOL_CLASSES = {"till": "tests.runs.test_tooling.Till", "gone": "tests.runs.test_tooling.Gone"}
    assert problems(application(python="till")) == []
    assert problems(application(python="tills")) == [
        'tools[0].python: "tills" is not registered in TOOL_CLASSES; there are: gone, till'
    ]
    (problem,) = problems(application(python="gone"))
    assert problem.startswith("tools[0].python: TOOL_CLASSES, gone: ")


def test_what_this_site_does_not_serve_is_a_warning_when_it_is_saved(settings: Any) -> None:
    assert [problem.path for problem in application_warnings(http())] == ["tools[0].http.url"]
    settings.TOOL_ENDPOINTS = ["https://staging.example"]
    assert application_warnings(http()) == []


def test_what_no_executor_could_run_is_an_error_when_it_is_saved_or_imported() -> None:
    bad = application(answers=[{"result": "{{ args.x|random }}"}])
    with pytest.raises(SpecError, match=r"tools\[0\]\.answers\[0\]\.result: cannot be run: No filter named"):
        application_warnings(bad)
    with pytest.raises(SpecError, match=r"line 1, \[1\]\.tools\[0\]\.answers\[0\]\.result: "):
        import_applications(data=json.dumps([application(), bad]).encode())


def run_with(document: dict[str, Any], url: str = "ws://127.0.0.1:9/v1/realtime", **more: Any) -> Run:
    import_applications(data=json.dumps([document]).encode())
    configuration = make_configuration(endpoint=url, application={"name": "Shop"})
    scenarios = more.pop("scenarios", [scenario()])
    return make_run(scenarios, configurations=[configuration], **more)


def test_a_run_does_not_start_with_an_application_that_cannot_be_run_here() -> None:
    with pytest.raises(SpecError, match=r"Shop@1: tools\[0\]\.http\.url: https://staging\.example may not be asked"):
        run_with(http())
    assert not Run.objects.exists()


def test_a_run_does_not_start_with_a_fault_of_a_tool_that_nobody_has() -> None:
    with pytest.raises(SpecError) as caught:
        run_with(application(answers=[{"result": 1}]), tool_faults={"lookup": {"mode": "error"}})
    (problem,) = caught.value.problems
    assert (problem.path, "look_up" in problem.message) == ("tool_faults.lookup", True)
    with pytest.raises(SpecError, match=r"tool_faults\.look_up\.mode"):
        run_with(application(answers=[{"result": 1}]), tool_faults={"look_up": {"mode": "slow"}})
    own = scenario(tool_faults={"find": {"mode": "error"}}, mode="text")
    with pytest.raises(SpecError, match=r"book_table: tool_faults\.find: there is no tool of this name"):
        run_with(application(answers=[{"result": 1}]), scenarios=[own])
    assert not Run.objects.exists()


def calling() -> list[Step]:
    reply = call_reply([call_item("look_up", "{}")], "resp_1")
    return [*agents.UP, *agents.ASKED, *reply, *agents.ASKED, *text_reply("Found.", "resp_2"), Hang()]


def play(run: Run) -> Trial:
    claim = claim_trial(run_id=run.pk)
    assert claim
    conversing.hold_conversation(claim)
    return Trial.objects.get(pk=claim.trial_id)


def test_a_trial_asks_the_endpoint_with_its_key_and_says_who_asks(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAGING_KEY", "sk-staging-123")
    body = json.dumps({"echo": "sk-staging-123"}).encode()
    with speech_server([Answer(body)]) as endpoint, serving_in_thread(calling()) as agent:
        origin = endpoint.url.removesuffix("/v1")
        settings.TOOL_ENDPOINTS, settings.SOUNDCHECK_SECRETS = [origin], f"STAGING_KEY={origin}"
        headers = {"x-key": "{{secrets.STAGING_KEY}}", "x-seed": "{{trial.seed}}"}
        trial = play(run_with(http(endpoint.url, headers=headers), agent.url))
    assert trial.status == "recorded", trial.reason
    (request,) = endpoint.asked
    assert (request["headers"]["x-key"], request["headers"]["x-seed"]) == ("sk-staging-123", str(trial.seed))
    who = {"id": trial.pk, "run": trial.run_id, "scenario": "book_table", "repeat": 1, "seed": trial.seed}
    assert request["json"]["trial"] == who
    (call,) = trial.record["tool_calls"]
    assert call["output"] == {"echo": "[secret STAGING_KEY]"}
    assert "sk-staging-123" not in json.dumps(list(trial.events.values_list("payload", flat=True)))


def test_a_trial_is_answered_by_the_operators_class(settings: Any) -> None:
    settings.TOOL_CLASSES = {"till": "tests.runs.test_tooling.Till"}
    scenarios = [scenario(reference_date="2027-05-14", mode="text")]
    with serving_in_thread(calling()) as agent:
        trial = play(run_with(application(python="till"), agent.url, scenarios=scenarios))
    assert trial.record["tool_calls"][0]["output"] == {"day": "2027-05-14", "name": "look_up"}
    assert trial.record["final_state"] == {"reservation_created": False, "asked_by": "book_table"}


def test_a_class_that_was_taken_away_makes_the_trial_invalid_and_names_the_field(settings: Any) -> None:
    settings.TOOL_CLASSES = {"till": "tests.runs.test_tooling.Till"}
    run = run_with(application(python="till"))
    settings.TOOL_CLASSES = {}
    trial = play(run)
    assert (trial.outcome, trial.stage) == ("invalid", "configuration")
    assert "tools[0].python" in trial.reason


@pytest.mark.parametrize(
    ("of_run", "of_scenario", "mode"),
    [
        ({}, {"look_up": {"mode": "empty"}}, "empty"),
        ({"look_up": {"mode": "error"}}, {"look_up": {"mode": "empty"}}, "error"),
        ({"*": {"mode": "error"}}, {"look_up": {"mode": "empty"}}, "empty"),
        ({"*": {"mode": "error"}}, {"*": {"mode": "empty"}}, "error"),
        ({}, {}, None),
    ],
)
def test_faults_of_the_run_lie_over_those_of_the_scenario(
    of_run: dict[str, Any], of_scenario: dict[str, Any], mode: str | None
) -> None:
    scenarios = [scenario(mode="text", **({"tool_faults": of_scenario} if of_scenario else {}))]
    document = application(answers=[{"result": {"found": True}}])
    with serving_in_thread(calling()) as agent:
        trial = play(run_with(document, agent.url, scenarios=scenarios, tool_faults=of_run))
    assert trial.record["tool_calls"][0]["fault"] == mode
    told = [event.payload for event in trial.events.filter(type="tool.fault")]
    assert [event["mode"] for event in told] == ([mode] if mode else [])
    assert all(event["seed"] == trial.seed for event in told)
