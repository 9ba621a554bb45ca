"""The templates: every one is right by contract, and what can run here comes to what it expects."""

from __future__ import annotations

import pytest

from scenarios_app.beginnings import application_templates, configuration_templates, scenario_templates
from scenarios_app.spec.application import parse_application
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.configuration import unsupported_fields as unsupported_of_configuration
from scenarios_app.spec.lint import lint, lint_application, lint_configuration
from scenarios_app.spec.scenario import parse_scenario, unsupported_fields
from tests.simulator.demo import APPLICATIONS, results
from tests.simulator.wire_client import Simulator

SCENARIOS = tuple(parse_scenario(one.document) for one in scenario_templates())
CONFIGURATIONS = {one.name: parse_configuration(one.document) for one in configuration_templates()}


def test_there_is_a_scenario_for_each_of_ten_kinds() -> None:
    assert [one.name for one in scenario_templates()] == [
        "correction",
        "refusal",
        "two-tools",
        "tool-failure",
        "missing-information",
        "prior-context",
        "negation",
        "numbers",
        "transfer",
        "information",
    ]
    assert list(CONFIGURATIONS) == ["simulator", "openai-realtime", "gpt-live", "azure", "self-hosted"]


def test_nothing_in_a_template_deserves_a_remark() -> None:
    for scenario in SCENARIOS:
        assert (lint(scenario), list(unsupported_fields(scenario))) == ([], []), scenario.id
        assert scenario.application.ref is not None
        assert scenario.application.ref.name in APPLICATIONS
    for name, configuration in CONFIGURATIONS.items():
        assert (lint_configuration(configuration), list(unsupported_of_configuration(configuration))) == ([], []), name
    for one in application_templates():
        assert lint_application(parse_application(one.document)) == [], one.name


def test_an_edited_copy_leaves_the_template_as_it_is() -> None:
    template = scenario_templates()[0]
    template.fresh()["input"]["text"] = "changed"
    assert template.document["input"]["text"] != "changed"


@pytest.mark.parametrize("aloud", [False, True], ids=["written", "spoken"])
async def test_every_scenario_passes_with_the_simulators_template(simulator: Simulator, aloud: bool) -> None:
    came_to = await results(simulator, CONFIGURATIONS["simulator"], SCENARIOS, aloud=aloud)
    assert came_to == {scenario.id: "passed" for scenario in SCENARIOS}


async def test_without_its_rules_the_same_agent_fails_where_the_templates_look(simulator: Simulator) -> None:
    """A template that passes whatever the agent does would teach nobody anything."""
    rude = CONFIGURATIONS["simulator"].model_copy(update={"instructions": "You are the front desk. Be friendly."})
    came_to = await results(simulator, rude, SCENARIOS)
    failed = {name for name, outcome in came_to.items() if outcome == "failed"}
    assert {"my_correction", "my_refusal", "my_missing_information", "my_transfer"} <= failed
