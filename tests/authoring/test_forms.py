"""Forms lie over documents without loss: what nobody changed stays exactly as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.forms import CheckboxInput, Textarea, TextInput
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios_app.forms.configuration import ConfigurationForm
from scenarios_app.forms.editor import Editor, open_editor, read_editor, switched
from scenarios_app.forms.fields import SlotForm
from scenarios_app.forms.hints import Offers
from scenarios_app.forms.matching import MATCHERS
from scenarios_app.forms.scenario import ScenarioForm, scenario_form
from scenarios_app.forms.slots import ABSENT, NotShown, put
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.matchers import OPERATORS
from tests.spec.examples import FULL_1_0
from tests.support import configuration_json, scenario_json

EVERYTHING: dict[str, Any] = {
    **FULL_1_0,
    "tags": ["with, comma", "plain"],
    "persona": {"goal": "a table"},
    "reference_date": "2027-05-01",
    "critical": False,
    "source": {"bug": "B-1"},
    "notes": "one\r\ntwo\rthree",
    "assertions": [{"turns": {"lte": 1}}],
    "input": {**FULL_1_0["input"], "turns": [{"text": "And a high chair."}]},
}


def sent_by_browser(form: SlotForm) -> dict[str, str]:
    """What a browser posts when nobody touched the form: CRLF in text areas, no line break in one-line inputs."""
    posted = {}
    for bound in form:
        value = str(bound.value() or "")
        widget = bound.field.widget
        if isinstance(widget, CheckboxInput):
            if value:
                posted[bound.html_name] = "on"
        elif isinstance(widget, Textarea):
            posted[bound.html_name] = value.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")
        elif isinstance(widget, TextInput):
            posted[bound.html_name] = value.replace("\r", "").replace("\n", "")
        else:
            posted[bound.html_name] = value
    return posted


def edited(form_class: type[SlotForm], document: dict[str, Any], **changes: str) -> dict[str, Any]:
    """The document after a person changed these fields of its form."""
    posted = sent_by_browser(form_class(document)) | changes
    merged, problems = form_class(document, posted).merged()
    assert problems == []
    return merged


@pytest.mark.parametrize(
    ("form_class", "document"),
    [
        (ScenarioForm, scenario_json()),
        (ScenarioForm, FULL_1_0),
        (ScenarioForm, EVERYTHING),
        (ScenarioForm, {}),
        (ScenarioForm, {"title": "two\nlines", "type": None, "tags": [], "input": {"context": None}}),
        (ConfigurationForm, configuration_json()),
        (
            ConfigurationForm,
            configuration_json(judge={}, caller={}, timeouts={"turn": "60s", "connect": 5, "response": 0.5}),
        ),
        (ConfigurationForm, configuration_json(turn_detection={"type": "server_vad", "threshold": 0.5}, voice=None)),
        (
            ConfigurationForm,
            configuration_json(price_table={"a": 1}, persona={"model": "m"}, audio={"real_time": False}),
        ),
        (
            ConfigurationForm,
            configuration_json(application={"name": "Café / süß", "version": 3}, backend={"mode": "direct"}),
        ),
        (
            ConfigurationForm,
            configuration_json(
                backend={"mode": "client", "instructions": "a\nb", "max_output_tokens": 700, "token": None}
            ),
        ),
    ],
)
def test_a_form_that_nobody_touched_changes_nothing(form_class: type[SlotForm], document: dict[str, Any]) -> None:
    assert edited(form_class, document) == document


texts = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
matchers = st.sampled_from(
    [
        {"$any_of": ["18:00", "6 pm"]},
        {"$any_of": ["a, b", 3, True, {"$date": "2027-05-15"}]},
        {"$exact": "7"},
        {"$regex": "^ a\\s+b $"},
        {"$approx": 3.5, "tolerance": 0.1},
        {"$unordered": [1, [2]]},
        {"$numeric_text": "3"},
        {"$date": "2027-05-15"},
        {"$time": "19:00"},
        {"$phone": "+1 555 0100", "region": "US"},
        {"$present": True},
        {"$absent": False},
        {"$not": {"$any_of": ["x"]}},
        {"$text": "Zürich", "nfkc": True},
        {"$unknown": 1},
        {"$date": "2027-05-15", "$time": "19:00"},
    ]
)
objects = st.dictionaries(texts, values | matchers | st.dictionaries(texts, values | matchers, max_size=3), max_size=3)
calls = st.fixed_dictionaries({"name": texts}, optional={"arguments": objects, "status": texts, "unknown": values})
turns = st.fixed_dictionaries({}, optional={"text": texts, "wait": texts, "interrupt_after_ms": st.integers(0, 9000)})
faults = st.fixed_dictionaries({"mode": texts}, optional={"ms": st.integers(), "text": texts, "value": values})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no failure
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "id": texts,
            "title": texts,
            "tags": st.lists(texts, max_size=4),
            "input": st.fixed_dictionaries(
                {"text": texts}, optional={"recordings": values, "turns": st.lists(turns, max_size=3)}
            ),
            "application": st.fixed_dictionaries({}, optional={"initial_state": objects}),
            "tool_faults": st.dictionaries(texts, faults, max_size=3),
            "persona": st.fixed_dictionaries({}, optional={"facts": objects, "goal": texts, "stranger": values}),
            "expected": st.fixed_dictionaries(
                {},
                optional={
                    "criteria": st.lists(texts, max_size=3),
                    "state": objects,
                    "tools": st.fixed_dictionaries({"required": st.lists(calls, max_size=3)}),
                },
            ),
            "critical": st.booleans(),
            "unknown": values,
        },
    )
)
def test_whatever_the_document_holds_survives_the_form(document: dict[str, Any]) -> None:
    assert edited(ScenarioForm, document) == document


@pytest.mark.parametrize("text", ["[", "[draft]", '"quoted"', "{", " led by a blank", '["a"]'])
def test_a_text_that_begins_like_json_survives_the_form(text: str) -> None:
    document = {**EVERYTHING, "tags": [text], "expected": {**EVERYTHING["expected"], "criteria": [text]}}
    assert edited(ScenarioForm, document) == document


def test_a_changed_field_changes_its_place_and_nothing_else() -> None:
    merged = edited(ScenarioForm, EVERYTHING, text="New words\r\nin two lines", tags="a, b", critical="on")
    assert merged["input"] == {**EVERYTHING["input"], "text": "New words\nin two lines"}
    assert (merged["tags"], merged["critical"]) == (["a", "b"], True)
    untouched = EVERYTHING.keys() - {"input", "tags", "critical"}
    assert {key: merged[key] for key in untouched} == {key: EVERYTHING[key] for key in untouched}


def test_an_emptied_field_is_removed_with_the_object_it_was_alone_in() -> None:
    document = scenario_json(input={"text": "Hello", "context": {"summary": "Before."}}, owner="A")
    merged = edited(ScenarioForm, document, summary="", owner="")
    assert merged == scenario_json(input={"text": "Hello"})


def test_numbers_are_read_as_numbers_and_durations_as_they_are_written() -> None:
    merged = edited(
        ConfigurationForm, configuration_json(), timeout_turn="12.5", timeout_connect="500ms", tool_rounds="3"
    )
    assert (merged["timeouts"], merged["tool_rounds"]) == ({"turn": 12.5, "connect": "500ms"}, 3)


@pytest.mark.parametrize(("box", "part"), [("judged", "judge"), ("played", "persona")])
def test_a_model_is_there_while_its_box_is_ticked(box: str, part: str) -> None:
    asked = edited(ConfigurationForm, configuration_json(), **{box: "on"})
    assert asked[part] == {}
    named = edited(ConfigurationForm, asked, **{f"{part}_model": "m"})
    assert named[part] == {"model": "m"}
    posted = sent_by_browser(ConfigurationForm(named))
    del posted[box]
    assert part not in ConfigurationForm(named, posted).merged()[0]


def test_a_backend_has_fields_of_its_own() -> None:
    asked = {
        "backend_mode": "client",
        "backend_endpoint": "wss://a.example/ws/assistant",
        "backend_token": "{{secrets.T}}",
    }
    backed = edited(ConfigurationForm, configuration_json(), **asked, backend_max_output_tokens="700")
    own = {"mode": "client", "endpoint": "wss://a.example/ws/assistant", "token": "{{secrets.T}}"}
    assert backed["backend"] == {**own, "max_output_tokens": 700}
    emptied = edited(ConfigurationForm, backed, **dict.fromkeys((*asked, "backend_max_output_tokens"), ""))
    assert parse_configuration(emptied).own_backend is None
    assert ConfigurationForm(backed).field_of()["backend.token"] == "backend_token"


def test_own_prices_are_read_as_json() -> None:
    priced = edited(ConfigurationForm, configuration_json(), price_table='{"per_minute": 0.06}')
    assert priced["price_table"] == {"per_minute": 0.06}
    assert "price_table" not in edited(ConfigurationForm, priced, price_table="")


def test_a_reference_is_written_as_name_and_version() -> None:
    assert edited(ConfigurationForm, configuration_json(), application="Café@3")["application"] == {
        "name": "Café",
        "version": 3,
    }
    assert edited(ConfigurationForm, configuration_json(), application="Café")["application"] == {"name": "Café"}
    assert edited(ConfigurationForm, configuration_json(), application="Café@x")["application"]["version"] == "x"


def test_rows_of_calls_are_added_changed_and_dropped() -> None:
    document = scenario_json()
    changes = {
        "required-0-name": "",
        "required-0-args-0-match": "",
        "required-0-args-0-value": "",
        "required-1-name": "find_table",
        "required-1-args-0-key": "n",
        "required-1-args-0-value": "1.5",
        "required-1-status": "any",
        "prohibited-0-name": "cancel",
    }
    tools = edited(ScenarioForm, document, **changes)["expected"]["tools"]
    assert tools == {
        "required": [{"name": "find_table", "arguments": {"n": 1.5}, "status": "any"}],
        "prohibited": [{"name": "cancel"}],
    }


def test_what_an_entry_holds_beside_its_fields_stays_when_it_is_moved_and_changed() -> None:
    turns = [{"text": "One.", "later": 1}, {"text": "Two.", "recording": "r"}]
    document = scenario_json(input={"text": "Hello", "turns": turns})
    posted = ScenarioForm.arranged(sent_by_browser(ScenarioForm(document)), "up:turns:1")
    posted["turns-1-text"] = "Three."
    merged, problems = ScenarioForm(document, posted).merged()
    assert problems == []
    assert merged["input"]["turns"] == [{"text": "Two.", "recording": "r"}, {"text": "Three.", "later": 1}]
    posted = ScenarioForm.arranged(sent_by_browser(ScenarioForm(document)), "remove:turns:0")
    assert ScenarioForm(document, posted).merged()[0]["input"]["turns"] == turns[1:]


@pytest.mark.parametrize(
    ("match", "value", "option", "read"),
    [
        ("", "18:00", "", "18:00"),
        ("is", "3", "", 3),
        ("is", "true", "", True),
        ("is", '"3"', "", "3"),
        ("$any_of", "18:00, 6 pm", "", {"$any_of": ["18:00", "6 pm"]}),
        ("$any_of", '["a, b", 1]', "", {"$any_of": ["a, b", 1]}),
        ("$approx", "3.5", "0.1", {"$approx": 3.5, "tolerance": 0.1}),
        ("$phone", "555 0100", "US", {"$phone": "555 0100", "region": "US"}),
        ("$text", "3", "true", {"$text": "3", "nfkc": True}),
        ("$date", "2027-05-15", "", {"$date": "2027-05-15"}),
        ("$numeric_text", "3", "", {"$numeric_text": 3}),
        ("$present", "", "", {"$present": True}),
        ("$not", '{"$any_of": ["x"]}', "", {"$not": {"$any_of": ["x"]}}),
        ("json", '{"$absent": true}', "", {"$absent": True}),
    ],
)
def test_every_matcher_is_written_in_the_cells_of_a_row(match: str, value: str, option: str, read: Any) -> None:
    row = {"key": "time", "match": match, "value": value, "option": option}
    posted = {f"required-0-args-0-{part}": text for part, text in row.items()} | {"required-0-name": "book"}
    merged, problems = ScenarioForm({}, posted).merged()
    assert problems == []
    assert merged["expected"]["tools"]["required"] == [{"name": "book", "arguments": {"time": read}}]
    assert edited(ScenarioForm, merged) == merged


def test_every_operator_of_the_contract_is_offered_by_name() -> None:
    assert set(OPERATORS) == {value for value, _ in MATCHERS if value.startswith("$")}


def test_text_stays_text_where_the_schema_wants_text() -> None:
    schema = {"properties": {"room": {"type": "string"}, "guests": {"type": "integer"}}, "required": ["room"]}
    form_class = scenario_form(Offers(lambda label: {"book": schema}))
    opened = form_class({"expected": {"tools": {"required": [{"name": "book"}]}}})
    posted = sent_by_browser(opened) | {"required-0-args-0-value": "12", "required-0-args-1-value": "3"}
    assert [posted[f"required-0-args-{n}-key"] for n in (0, 1)] == ["room", "guests"]
    merged, _ = form_class(opened.document, posted).merged()
    assert merged["expected"]["tools"]["required"][0]["arguments"] == {"room": "12", "guests": 3}
    assert edited(form_class, merged) == merged
    merged["expected"]["tools"]["required"][0]["arguments"]["room"] = 12
    assert edited(form_class, merged) == merged


def test_the_state_has_a_row_for_each_value_however_deep_it_lies() -> None:
    document = {"expected": {"state": {"booking": {"guests": 3, "a b": {"$present": True}}}}}
    assert edited(ScenarioForm, document, **{"state-0-value": "4"})["expected"]["state"] == {
        "booking": {"guests": 4, "a b": {"$present": True}}
    }
    for key, reason in (
        ("booking", "is given twice"),
        ("x[0]", "as JSON"),
        ("..", "dots between"),
        ("", "needs a name"),
    ):
        posted = sent_by_browser(ScenarioForm(document)) | {"state-2-key": key, "state-2-value": "1"}
        (problem,) = ScenarioForm(document, posted).merged()[1]
        assert reason in problem.message


def test_faults_are_named_by_their_tool_once() -> None:
    faults = {"find": {"mode": "delay", "ms": 3000}}
    added = {"faults-1-key": "*", "faults-1-mode": "error", "faults-1-text": "Down."}
    assert edited(ScenarioForm, {"tool_faults": faults}, **added)["tool_faults"] == faults | {
        "*": {"mode": "error", "text": "Down."}
    }
    for key, reason in (("find", "has an entry already"), ("", "say which")):
        posted = sent_by_browser(ScenarioForm({"tool_faults": faults})) | added | {"faults-1-key": key}
        (problem,) = ScenarioForm({"tool_faults": faults}, posted).merged()[1]
        assert reason in problem.message


def test_an_emptied_persona_goes_altogether() -> None:
    assert "persona" not in edited(ScenarioForm, {"persona": {"goal": "A table"}}, goal="")


def test_a_played_caller_is_written_in_rows_and_what_no_row_shows_stays_in_its_step() -> None:
    hours = {"id": "hours", "commitment": "Ask until when they are open", "required": False}
    typed = {
        "stop_when": "The number is told.",
        "patience_s": "12",
        "agenda-1-id": "four",
        "agenda-1-commitment": "Make it four",
        "agenda-1-action": "correct",
        "agenda-1-after": "hours, table",
        "agenda-1-facts-0-key": "party_size",
        "agenda-1-facts-0-value": "4",
    }
    four = {"id": "four", "commitment": "Make it four", "action": "correct", "after": ["hours", "table"]}
    merged = edited(ScenarioForm, {"persona": {"goal": "A table", "agenda": [hours]}}, **typed)
    assert merged["persona"] == {
        "goal": "A table",
        "agenda": [hours, four | {"facts": {"party_size": 4}}],
        "behaviors": {"patience_s": 12},
    }
    assert merged["stop_when"] == "The number is told."
    assert edited(ScenarioForm, merged) == merged
    moved = ScenarioForm.arranged(sent_by_browser(ScenarioForm(merged)), "up:agenda:1")
    assert [moved["agenda-0-id"], moved["agenda-0-facts-0-key"]] == ["four", "party_size"]


def test_a_field_that_cannot_be_read_is_named_with_its_line() -> None:
    posted = sent_by_browser(ScenarioForm(scenario_json())) | {
        "assertions": '[\r\n"a": ]',
        "required-0-args-0-value": "{no}",
    }
    _, problems = ScenarioForm(scenario_json(), posted).merged()
    assert [(p.path, p.message.startswith("line ")) for p in problems] == [
        ("assertions", True),
        ("expected.tools.required[0].arguments.party_size", True),
    ]


def test_problems_of_a_row_find_it_although_an_earlier_row_was_emptied() -> None:
    document = scenario_json(expected={"tools": {"required": [{"name": "a"}, {"name": "b", "status": "sometimes"}]}})
    posted = sent_by_browser(ScenarioForm(document)) | {"required-0-name": ""}
    editor = read_editor(
        ScenarioForm, {**posted, "view": "form", "document": open_editor(ScenarioForm, document).base_json}
    )
    editor.refuse([Problem("expected.tools.required[0].status", "must be any or completed")])
    assert editor.form is not None
    assert editor.form.errors == {"required-1-status": ["must be any or completed"]}


def opened(editor: Editor) -> Mapping[str, str]:
    """What the browser sends of an opened editor."""
    if editor.form is None:
        return {"view": "json", "text_json": editor.text.replace("\n", "\r\n")}
    return {"view": "form", "document": editor.base_json, **sent_by_browser(editor.form)}


@pytest.mark.parametrize("document", [scenario_json(), FULL_1_0, EVERYTHING])
def test_switching_there_and_back_loses_nothing(document: dict[str, Any]) -> None:
    editor = open_editor(ScenarioForm, document)
    for to_json in (True, False, True, False):
        editor = switched(read_editor(ScenarioForm, opened(editor)), to_json=to_json)
        assert (editor.view, editor.problems) == ("json" if to_json else "form", ())
    assert read_editor(ScenarioForm, opened(editor)).document == document


def test_what_a_form_cannot_show_stays_in_json_which_says_why() -> None:
    editor = switched(read_editor(ScenarioForm, {"view": "json", "text_json": '{\n"title": 5}'}), to_json=False)
    assert editor.view == "json"
    (problem,) = editor.problems
    assert (problem.path, problem.line, "must be text" in problem.message) == ("title", 2, True)


def test_json_that_cannot_be_read_is_not_switched_away() -> None:
    text = '{\n"title": \n}'
    editor = switched(read_editor(ScenarioForm, {"view": "json", "text_json": text}), to_json=False)
    assert (editor.view, editor.text) == ("json", text)
    assert editor.problems[0].line == 3


def test_json_that_is_no_object_is_refused() -> None:
    assert "one JSON object" in read_editor(None, {"view": "json", "text_json": "[1]"}).problems[0].message


def test_a_form_without_its_document_is_refused() -> None:
    for document in ("", "[]", '{"title": 5}'):
        with pytest.raises(SpecError):
            read_editor(ScenarioForm, {"view": "form", "document": document})


def test_a_list_too_long_for_rows_is_left_to_json() -> None:
    document = scenario_json(expected={"tools": {"required": [{"name": "a"}] * 201}})
    with pytest.raises(NotShown, match="at most 200"):
        ScenarioForm(document)
    assert len(ScenarioForm({}, {"required-999999999-name": "x"}).fields) < 100


def test_a_full_group_takes_no_row_and_says_so() -> None:
    full = scenario_json(expected={"tools": {"required": [{"name": "a"}] * 200}})
    form = ScenarioForm(full)
    assert form.group("required").is_full
    assert not form.group("prohibited").is_full
    assert not form.group("state").is_full
    sent = sent_by_browser(form) | {"document": json.dumps(full), "view": "form", "action": "add:required"}
    editor = read_editor(ScenarioForm, sent)
    assert (editor.problems, editor.document) == ((), full)


@pytest.mark.parametrize(
    ("head", "path"),
    [
        ("required-{}-name", "expected.tools.required"),
        ("state-{}-key", "expected.state"),
        ("required-7-args-{}-key", "expected.tools.required[0].arguments"),
    ],
)
def test_more_rows_than_a_group_holds_are_a_problem_of_the_group(head: str, path: str) -> None:
    document = scenario_json(expected={"answer": "Yes."})
    form = ScenarioForm(document)
    sent = sent_by_browser(form) | {"document": json.dumps(document), "view": "form", "action": "save"}
    sent |= {head.format(n): f"n{n}" for n in range(203)}
    found = {problem.path: problem.message for problem in read_editor(ScenarioForm, sent).problems}
    assert found[path].startswith("203 rows were sent, and 200 are the most")


def test_removing_keeps_top_level_objects() -> None:
    document: dict[str, Any] = {"input": {"text": "x"}}
    put(document, ("input", "text"), ABSENT)
    assert document == {"input": {}}


def test_a_stored_choice_outside_the_list_is_offered_and_kept() -> None:
    form = ScenarioForm({"mode": "telepathy"})
    assert '<option value="telepathy" selected>' in str(form["mode"])
    assert '<option value="telepathy"' not in str(ScenarioForm({})["mode"])
