"""One scenario: its fields, its rules and the path of every problem."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import dumps
from scenarios_app.spec.scenario import Scenario, dump_file, parse_scenario, schema_version_of, unsupported_fields
from tests.spec.examples import FULL_1_0, SCENARIO, changed, complaints

CALL = {"name": "create_reservation"}
MULTI = {"interaction": "multi_turn", "simulation_parameters": {"max_seconds": 90}}


def refused(changes: dict[str, Any], version: str = "1.1") -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        parse_scenario(changed(SCENARIO, changes), version=version)
    return complaints(caught.value)


def test_the_least_scenario_has_the_documented_defaults() -> None:
    scenario = parse_scenario(SCENARIO, version="1.0")
    assert scenario.expected.delegation == "optional"
    assert scenario.expected.tools.required == ()
    assert scenario.expected.state == {}
    assert scenario.application.initial_state == {}
    assert scenario.critical is False
    assert parse_scenario(changed(SCENARIO, {"expected.tools": {"required": [CALL]}})).expected.tools.required[
        0
    ].model_dump() == {"name": "create_reservation", "arguments": {}, "status": "completed"}


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_every_field_of_1_0_is_kept_as_given(version: str) -> None:
    scenario = parse_scenario(FULL_1_0, version=version)
    assert scenario.to_json() == FULL_1_0
    assert dump_file([scenario]) == {"schema_version": "1.0", "scenarios": [FULL_1_0]}


@pytest.mark.parametrize(
    ("type_", "tags", "task"), [("refund", ["a"], "refund"), (None, ["a", "b"], "a"), (None, [], "single_turn")]
)
def test_the_task_type_is_the_type_else_the_first_tag_else_the_interaction(
    type_: str | None, tags: list[str], task: str
) -> None:
    assert parse_scenario(changed(SCENARIO, {"type": type_, "tags": tags})).task_type == task


@pytest.mark.parametrize("name", ["a", "A-1_b.c", "x" * 100, "console", "com0", ".hidden", "com1x"])
def test_an_id_may_name_a_file_anywhere(name: str) -> None:
    assert parse_scenario(changed(SCENARIO, {"id": name})).id == name


@pytest.mark.parametrize(
    "name", ["", "x" * 101, "a b", " a", "é", "a/b", "..", "a.", "CON", "nul", "Com1.wav", "lpt9.x.y", "a\n", 7, None]
)
def test_an_id_that_cannot_name_a_file_is_refused(name: Any) -> None:
    assert set(refused({"id": name})) == {"id"}


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"title": "  "}, "title", "must not be empty"),
        ({"title": 5}, "title", "must be text, not a number"),
        ({"interaction": "duet"}, "interaction", 'must be single_turn or multi_turn, not "duet"'),
        ({"tags": "booking"}, "tags", "must be a list, not text"),
        ({"tags": ["a", ""]}, "tags[1]", "must not be empty"),
        ({"input": []}, "input", "must be an object, not a list"),
        ({"input.text": "\n"}, "input.text", "must not be empty"),
        ({"input.txet": "Hello"}, "input.txet", "did you mean text?"),
        ({"expcted": {}}, "expcted", "did you mean expected?"),
        ({"wholly_unknown": 1}, "wholly_unknown", "known are id, title"),
        ({"input.context": {"history": [{"role": "system", "text": "x"}]}}, "input.context.history[0].role", "user or"),
        ({"expected.delegation": "maybe"}, "expected.delegation", "required, forbidden or optional"),
        ({"expected.tools": {"required": [{}]}}, "expected.tools.required[0].name", "this field is required"),
        (
            {"expected.tools": {"prohibited": [{**CALL, "status": "failed"}]}},
            "expected.tools.prohibited[0].status",
            "any or completed",
        ),
        ({"expected.state": None}, "expected.state", "must be an object, not null"),
        ({"expected.golden_path": {"turns": True}}, "expected.golden_path.turns", "must be a whole number, not true"),
        ({"application": {"initial_state": [1]}}, "application.initial_state", "must be an object, not a list"),
        ({"application": {"ref": {"name": "a@2"}}}, "application.ref.name", "comma or an @"),
        ({"application": {"ref": {"name": "a", "version": 0}}}, "application.ref.version", "1 or more"),
        ({"reference_date": "2027-02-30"}, "reference_date", "must be a date such as"),
        ({"reference_date": "20270215"}, "reference_date", "must be a date such as"),
        ({"critical": "yes"}, "critical", "must be true or false, not text"),
        ({"mode": "video"}, "mode", "text or audio"),
        ({"source": 12}, "source", "must be text, or an object of texts"),
        ({"source": {}}, "source", "must be text, or an object of texts"),
        ({"source": {"bug": 12}}, "source", "must be text, or an object of texts"),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, Any], path: str, words: str) -> None:
    found = refused(changes)
    assert set(found) == {path}
    assert words in found[path]


@pytest.mark.parametrize("path", ["id", "title", "interaction", "input"])
def test_a_missing_field_is_named(path: str) -> None:
    document = {key: value for key, value in SCENARIO.items() if key != path}
    with pytest.raises(SpecError) as caught:
        parse_scenario(document, "scenarios[2]")
    assert complaints(caught.value) == {f"scenarios[2].{path}": "this field is required"}


def test_all_problems_are_told_at_once() -> None:
    changes = {"id": "a b", "input.text": "", "tags": [1, "ok", 2], "extra": 1}
    assert set(refused(changes)) == {"id", "input.text", "tags[0]", "tags[2]", "extra"}
    rules = {"simulation_parameters": {}, "input.context": {}, "expected.state": {"x": {"$regex": "("}}}
    assert set(refused(rules)) == {"simulation_parameters", "input.context", "expected.state.x.$regex"}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"simulation_parameters": {}}, "simulation_parameters"),
        ({"expected.procedure": {"steps": []}}, "expected.procedure"),
        ({"expected.golden_path": {"turns": 1}}, "expected.golden_path.turns"),
        ({"expected.golden_path": {"steps": [1, 2, 3]}}, "expected.golden_path.steps"),
        ({"input.turns": [{"text": "And for two."}]}, "input.turns"),
        ({"persona": {"goal": "Book a table"}}, "persona"),
        ({"stop_when": "The table is booked"}, "stop_when"),
        ({"max_turns": 4}, "max_turns"),
    ],
)
def test_what_belongs_to_many_turns_is_refused_in_a_single_turn(changes: dict[str, Any], path: str) -> None:
    assert set(refused(changes)) == {path}


@pytest.mark.parametrize("turns", [0, 2, None])
def test_a_single_turn_has_a_golden_path_of_none_or_two_turns(turns: int | None) -> None:
    scenario = parse_scenario(changed(SCENARIO, {"expected.golden_path": {"turns": turns, "steps": [1, 2]}}))
    assert scenario.expected.golden_path is not None
    assert scenario.expected.golden_path.turns == turns


def test_many_turns_need_something_that_leads_them() -> None:
    assert set(refused({"interaction": "multi_turn"})) == {"simulation_parameters"}
    leaders: list[dict[str, Any]] = [
        {"simulation_parameters": {}},
        {"persona": {"goal": "x"}},
        {"input.turns": [{"text": "x"}]},
    ]
    for leader in leaders:
        parse_scenario(changed(SCENARIO, {"interaction": "multi_turn", **leader}))


def test_recordings_belong_to_a_single_turn_or_to_scripted_turns() -> None:
    recordings = {"input.recordings": [{"id": "r1", "path": "r1.wav"}]}
    assert set(refused({**MULTI, **recordings})) == {"input.recordings"}
    parse_scenario(changed(SCENARIO, {**MULTI, **recordings, "input.turns": [{"recording": "r1"}]}))


def test_a_scripted_turn_is_either_words_or_a_known_recording() -> None:
    turns = [{}, {"text": "a", "recording": "r1"}, {"recording": "r2"}, {"recording": "r1", "wait": "silence"}]
    recordings = [{"id": "r1", "path": "r1.wav"}, {"id": "r1", "path": "again.wav"}]
    found = refused({**MULTI, "input.turns": turns, "input.recordings": recordings})
    assert set(found) == {"input.turns[0]", "input.turns[1]", "input.turns[2].recording", "input.recordings[1].id"}


def test_a_required_tool_under_forbidden_delegation_is_refused() -> None:
    found = refused({"expected.delegation": "forbidden", "expected.tools": {"required": [CALL]}})
    assert set(found) == {"expected.tools.required"}
    parse_scenario(changed(SCENARIO, {"expected.delegation": "forbidden", "expected.tools": {"prohibited": [CALL]}}))


@pytest.mark.parametrize("context", [{}, {"history": []}, {"summary": None}])
def test_a_context_needs_a_summary_or_a_history(context: dict[str, Any]) -> None:
    assert set(refused({"input.context": context})) == {"input.context"}


def test_a_history_has_at_most_128_messages() -> None:
    message = {"role": "user", "text": "one"}
    parse_scenario(changed(SCENARIO, {"input.context": {"history": [message] * 128}}))
    found = refused({"input.context": {"history": [message] * 129}})
    assert found == {"input.context.history": "has 129 messages, at most 128 are allowed"}


def test_a_history_has_at_most_8192_words_which_is_named_a_lower_bound() -> None:
    half = {"role": "assistant", "text": "word " * 4096}
    parse_scenario(changed(SCENARIO, {"input.context": {"history": [half, half]}}))
    found = refused({"input.context": {"history": [half, half, {"role": "user", "text": "more"}]}})
    assert found == {
        "input.context.history": "has 8193 words, and so at least as many tokens: at most 8192 are allowed"
    }


@pytest.mark.parametrize(
    ("assertion", "path"),
    [
        ({}, "assertions[0]"),
        ({"judge": "x", "tool_not_called": "y"}, "assertions[0]"),
        ({"judge": None}, "assertions[0].judge"),
        ({"metric": {"name": "turn_latency_ms"}}, "assertions[0].metric"),
        ({"metric": {"lt": 5}}, "assertions[0].metric.name"),
        ({"metric": {"name": "x", "lt": "5"}}, "assertions[0].metric.lt"),
        ({"turns": {}}, "assertions[0].turns"),
        ({"turns": {"between": 1}}, "assertions[0].turns.between"),
        ({"tool_called": {"name": "x", "times": 0}}, "assertions[0].tool_called.times"),
        ({"tool_called": {"name": "x", "args": {"d": {"$date": "soon"}}}}, "assertions[0].tool_called.args.d.$date"),
        ({"tool_called": "x"}, "assertions[0].tool_called"),
        ({"status": 200}, "assertions[0].status"),
    ],
)
def test_an_assertion_is_exactly_one_well_formed_claim(assertion: dict[str, Any], path: str) -> None:
    assert set(refused({"assertions": [assertion]})) == {path}


def test_each_kind_of_assertion_is_read() -> None:
    assertions = [
        {"judge": "The agent states the policy"},
        {"tool_called": {"name": "lookup", "args": {"topic": {"$any_of": ["a", "b"]}}, "times": 2}},
        {"tool_not_called": "refund"},
        {"metric": {"name": "turn_latency_ms_p95", "lt": 1500, "gte": 0.5}},
        {"turns": {"lte": 6}},
    ]
    scenario = parse_scenario(changed(SCENARIO, {"assertions": assertions}))
    kinds = [assertion.kind for assertion in scenario.assertions]
    assert kinds == ["judge", "tool_called", "tool_not_called", "metric", "turns"]
    assert scenario.to_json()["assertions"] == assertions


@pytest.mark.parametrize(
    ("fault", "path"),
    [
        ({"mode": "slow"}, "tool_faults.find.mode"),
        ({"mode": "delay"}, "tool_faults.find.ms"),
        ({"mode": "error", "ms": 5}, "tool_faults.find.ms"),
        ({"mode": "delay", "ms": -5}, "tool_faults.find.ms"),
        ({"mode": "empty", "text": "x"}, "tool_faults.find.text"),
        ({"mode": "error", "value": 1}, "tool_faults.find.value"),
    ],
)
def test_a_wrong_tool_fault_is_named(fault: dict[str, Any], path: str) -> None:
    assert set(refused({"tool_faults": {"find": fault}})) == {path}


def test_an_operator_is_checked_wherever_it_counts() -> None:
    bad = {"$approx": 1}
    tools = {"required": [{**CALL, "arguments": {"a b": [bad]}}], "prohibited": [{**CALL, "arguments": {"x": bad}}]}
    assert set(refused({"expected.tools": tools, "expected.state": {"deep": {"er": bad}}})) == {
        'expected.tools.required[0].arguments["a b"][0].tolerance',
        "expected.tools.prohibited[0].arguments.x.tolerance",
        "expected.state.deep.er.tolerance",
    }


ADDED = {
    "reference_date": "2027-05-01",
    "critical": False,
    "assertions": [],
    "mode": "text",
    "owner": "Nora",
    "notes": "",
    "source": {"bug": "B-12"},
    "tool_faults": {"find": {"mode": "delay", "ms": 800}},
    "application.ref": {"name": "Restaurant", "version": 2},
    "input.turns": [],
    "expected.state": {"total": {"$approx": 12.5, "tolerance": 0.1}},
}


@pytest.mark.parametrize("path", list(ADDED))
def test_a_field_of_1_1_is_refused_in_1_0_and_makes_the_export_1_1(path: str) -> None:
    document = changed(SCENARIO, {path: ADDED[path]})
    found = refused({path: ADDED[path]}, version="1.0")
    assert set(found) == {path}
    assert "needs schema_version 1.1" in found[path]
    scenario = parse_scenario(document)
    assert schema_version_of(scenario) == "1.1"
    assert dump_file([parse_scenario(SCENARIO), scenario]) == {
        "schema_version": "1.1",
        "scenarios": [SCENARIO, document],
    }


@pytest.mark.parametrize("field", ["persona", "stop_when", "max_turns"])
def test_a_caller_played_by_a_model_needs_1_1(field: str) -> None:
    added = {"persona": {"goal": "Book"}, "stop_when": "It is booked", "max_turns": 8}[field]
    assert set(refused({**MULTI, field: added}, version="1.0")) == {field}
    assert schema_version_of(parse_scenario(changed(SCENARIO, {**MULTI, field: added}))) == "1.1"


def test_an_answer_is_required_in_1_0_alone() -> None:
    silent = {key: value for key, value in SCENARIO.items() if key != "expected"}
    for document in (silent, {**silent, "expected": {}}):
        with pytest.raises(SpecError) as caught:
            parse_scenario(document, version="1.0")
        assert set(complaints(caught.value)) == {"expected.answer"}
        assert dump_file([parse_scenario(document)]) == {"schema_version": "1.1", "scenarios": [document]}


def test_what_only_a_persona_does_is_named_where_a_script_leads() -> None:
    temper = {"interrupt_probability": 0.5, "patience_turns": 3, "patience_s": 9}
    document = changed(
        SCENARIO,
        {
            **MULTI,
            "input.turns": [{"text": "For four", "interrupt_after_ms": 700}],
            "persona": {"goal": "Book", "agenda": [{"id": "a", "commitment": "Ask"}], "behaviors": temper, "seed": 7},
            "stop_when": "It is booked",
            "max_turns": 3,
        },
    )
    assert {problem.path for problem in unsupported_fields(parse_scenario(document))} == {
        "persona.agenda",
        "persona.behaviors.patience_turns",
        "stop_when",
    }


def test_a_persona_leads_a_call_of_its_own() -> None:
    played = {**MULTI, "persona": {"goal": "Book"}, "max_turns": 6, "stop_when": "It is booked"}
    assert unsupported_fields(parse_scenario(changed(SCENARIO, played))) == []
    assert unsupported_fields(parse_scenario(changed(SCENARIO, MULTI))) == []


def test_fields_that_are_served_are_not_named() -> None:
    served = {
        "reference_date": "2027-05-01",
        "application.ref": {"name": "Restaurant"},
        "critical": True,
        "assertions": [
            {"tool_called": {"name": "x"}},
            {"tool_not_called": "x"},
            {"metric": {"name": "turns", "eq": 1}},
            {"turns": {"eq": 1}},
            {"judge": "It is polite"},
        ],
        "mode": "audio",
        "owner": "Nora",
        "notes": "n",
        "source": "bug 7",
        "expected.state": {"x": {"$present": True}},
        "input.recordings": [{"id": "r1", "path": "r1.wav"}],
        "tool_faults": {"find": {"mode": "stale"}, "*": {"mode": "delay", "ms": 5}},
    }
    assert unsupported_fields(parse_scenario(changed(SCENARIO, served))) == []


def test_a_value_that_is_not_json_is_refused_with_its_path() -> None:
    assert refused({"expected.state": {"x": [math.nan]}}) == {"expected.state.x[0]": "nan is not a JSON number"}


def test_texts_are_cleaned() -> None:
    scenario = parse_scenario(
        changed(SCENARIO, {"input.text": "Hi\0 \ud83d", "expected.state": {"k\0": "\ud83d\ude00"}})
    )
    assert scenario.input.text == "Hi\ufffd \ufffd"
    assert scenario.expected.state == {"k\ufffd": "😀"}


def test_a_scenario_cannot_be_changed() -> None:
    scenario = parse_scenario(SCENARIO)
    with pytest.raises(ValidationError):
        scenario.title = "Another"
    assert hash(scenario) == hash(parse_scenario(SCENARIO))
    assert scenario == parse_scenario(SCENARIO)


def test_what_to_json_gives_is_a_copy() -> None:
    scenario = parse_scenario(FULL_1_0)
    scenario.to_json()["application"]["initial_state"]["limit"] = 0
    assert scenario.to_json() == FULL_1_0


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12).filter(str.strip)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.from_regex("[a-z]{1,6}", fullmatch=True), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.from_regex("[a-z ]{1,6}", fullmatch=True), PLAIN, max_size=3)
MATCHERS = st.sampled_from(
    [{"$any_of": [1, None]}, {"$approx": 3, "tolerance": 0.5}, {"$not": {"$absent": True}}, {"$exact": {"$x": 1}}]
)
CALLS = st.fixed_dictionaries(
    {"name": WORDS}, optional={"arguments": OBJECTS, "status": st.sampled_from(["any", "completed"])}
)
NUMBERS = st.integers(0, 9) | st.floats(0, 9)
ASSERTIONS = st.one_of(
    st.fixed_dictionaries({"judge": WORDS}),
    st.fixed_dictionaries({"tool_not_called": WORDS}),
    st.fixed_dictionaries({"turns": st.fixed_dictionaries({"lte": NUMBERS}, optional={"gt": NUMBERS})}),
    st.fixed_dictionaries({"tool_called": st.fixed_dictionaries({"name": WORDS}, optional={"args": OBJECTS})}),
)
SCENARIOS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "id": st.from_regex("[a-z0-9_-]{5,9}", fullmatch=True),
        "title": WORDS,
        "interaction": st.just("single_turn"),
        "input": st.fixed_dictionaries(
            {"text": WORDS},
            optional={
                "context": st.fixed_dictionaries(
                    {"summary": WORDS},
                    optional={
                        "history": st.lists(
                            st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "text": WORDS})
                        )
                    },
                )
            },
        ),
    },
    optional={
        "type": st.none() | WORDS,
        "tags": st.lists(WORDS, max_size=3),
        "application": st.fixed_dictionaries({}, optional={"initial_state": OBJECTS}),
        "expected": st.fixed_dictionaries(
            {},
            optional={
                "answer": st.none() | WORDS,
                "criteria": st.lists(WORDS, max_size=2),
                "tools": st.fixed_dictionaries(
                    {}, optional={"required": st.lists(CALLS, max_size=2), "prohibited": st.lists(CALLS, max_size=2)}
                ),
                "state": OBJECTS | st.fixed_dictionaries({"x": MATCHERS}),
            },
        ),
        "critical": st.booleans(),
        "assertions": st.lists(ASSERTIONS, max_size=3),
        "notes": st.none() | st.text(max_size=5).filter(lambda text: "\0" not in text),
        "tool_faults": st.just({"find": {"mode": "delay", "ms": 5}}),
    },
)


@settings(deadline=None)  # the machine may be busy
@given(SCENARIOS)
def test_any_scenario_comes_back_as_it_was_given(document: dict[str, Any]) -> None:
    scenario = parse_scenario(document)
    # as text, because in Python 1 == 1.0 == True
    assert dumps(scenario.to_json(), sort_keys=True) == dumps(document, sort_keys=True)
    assert parse_scenario(scenario.to_json()) == scenario
    assert Scenario.model_validate(document) == scenario
