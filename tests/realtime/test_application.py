"""The tools of one trial: declared answers against a state of its own."""

from __future__ import annotations

import asyncio
import copy
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.answering import merge_patch
from runs_app.realtime.application import ApplicationError, ApplicationExecutor
from runs_app.realtime.application_problems import problems
from runs_app.realtime.tools import ToolOutcome, ToolSandboxError
from scenarios_app.spec.application import Application, parse_application

BOOKING = {
    "type": "object",
    "properties": {
        "guest_name": {"type": "string", "minLength": 1},
        "party_size": {"type": "integer", "minimum": 1},
        "seating": {"enum": ["patio", "indoor"]},
        "date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        "extras": {"type": "array", "items": {"type": "object", "required": ["what"]}},
    },
    "required": ["guest_name", "party_size"],
    "additionalProperties": False,
}


def executor(*answers: dict[str, Any], state: Any = None, **options: Any) -> ApplicationExecutor:
    tool = {"name": "book", "parameters": options.pop("parameters", {"type": "object"}), "answers": list(answers)}
    application = {"name": "Front desk", "tools": [tool], **options.pop("application", {})}
    return ApplicationExecutor(parse_application(application), initial_state=state, **options)


async def book(tools: ApplicationExecutor, **arguments: Any) -> ToolOutcome:
    return await tools.execute("book", arguments)


# --- which answer


async def test_the_first_answer_whose_condition_holds_is_used() -> None:
    tools = executor(
        {"when": "args.party_size > 8", "result": "too many"},
        {"when": "state.closed", "result": "closed"},
        {"when": "args.seating == 'patio' and not state.patio_full", "result": "outside"},
        {"result": "inside"},
        state={"closed": False},
    )
    assert (await book(tools, party_size=9)).output == "too many"
    assert (await book(tools, party_size=2, seating="patio")).output == "outside"
    assert (await book(tools, party_size=2)).output == "inside"


async def test_no_answer_that_holds_is_an_error_answer_and_a_failed_execution() -> None:
    outcome = await book(executor({"when": "false", "result": 1}))
    assert outcome == ToolOutcome("failed", {"ok": False, "error": "no answer declared"}, error="no answer declared")


async def test_a_tool_without_answers_fails_but_is_recorded_under_a_plain_map() -> None:
    assert (await book(executor())).error == "no answer declared"
    plain = executor(application={"tool_results": {"lookup": 1}})
    assert await book(plain) == ToolOutcome("recorded")
    assert await plain.execute("end_session", {}) == ToolOutcome("recorded")


async def test_a_tool_that_the_application_does_not_know_is_recorded() -> None:
    tools = executor({"result": 1})
    assert await tools.execute("other", {"a": 1}) == ToolOutcome("recorded")
    assert (tools.declares("book"), tools.declares("other")) == (True, False)
    nothing = ApplicationExecutor(None)
    assert await nothing.execute("book", {}) == ToolOutcome("recorded")
    assert nothing.snapshot() == {}


# --- results


@pytest.mark.parametrize(
    ("result", "output"),
    [
        ({"ok": True, "name": "{{args.guest_name}}"}, {"ok": True, "name": "Nora"}),
        ("{{args.party_size}}", 3),
        ("{{ args }}", {"guest_name": "Nora", "party_size": 3, "items": ["a"], "vip": True}),
        (["{{args.items}}", "{{args.vip}}", "{{args.nobody}}"], [["a"], True, None]),
        ("{{args.guest_name}} x {{args.party_size}}{{args.nobody}}", "Nora x 3"),
        ("{{args.vip}} {{args.items}}", 'true ["a"]'),
        ("plain {text}", "plain {text}"),
        ({"{{args.guest_name}}": 1}, {"Nora": 1}),
        ("{{facts.hours.close}} {{reference_date}} {{now}}", "22:00 2027-05-12 2027-05-12T12:00:00+00:00"),
        (7, 7),
        (None, None),
    ],
)
async def test_a_result_is_any_json_with_templates_in_it(result: Any, output: Any) -> None:
    tools = executor(
        {"result": result},
        application={"facts": {"hours": {"close": "22:00"}}},
        reference_date="2027-05-12",
    )
    outcome = await book(tools, guest_name="Nora", party_size=3, items=["a"], vip=True)
    assert outcome.status == "completed"
    assert outcome.output == output
    assert outcome.output_text == (output if isinstance(output, str) else None)


async def test_now_is_the_start_of_the_trial_without_a_reference_date() -> None:
    started = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    outcome = await book(executor({"result": ["{{now}}", "{{reference_date}}"]}, started_at=started))
    assert outcome.output == ["2026-03-04T05:06:07+00:00", None]


async def test_a_delay_is_handed_on_and_not_waited_for_here() -> None:
    tools = executor({"when": "args.slow", "result": 1, "delay_ms": 250.5}, {"error": "no", "delay_ms": 10})
    assert (await book(tools, slow=True)).delay_ms == 250.5
    assert (await book(tools)).delay_ms == 10


# --- state


async def test_effects_are_merged_into_the_state_and_seen_by_the_next_call() -> None:
    tools = executor(
        {"when": "state.reservations", "error": "already booked for {{state.reservations['R-001'].name}}"},
        {
            "result": {"id": "{{counter('R-', 3)}}"},
            "effects": {"reservations": {"{{counter('R-', 3)}}": {"name": "{{args.name}}"}}, "hold": None},
        },
        state={"hold": {"until": "18:00"}, "kept": [1]},
    )
    first = await book(tools, name="Nora")
    assert first.output == {"id": "R-001"}
    assert tools.snapshot() == {"kept": [1], "reservations": {"R-001": {"name": "Nora"}}}
    second = await book(tools, name="Leo")
    assert (second.status, second.error) == ("failed", "already booked for Nora")


async def test_an_error_answer_has_no_effects() -> None:
    tools = executor({"error": "the system is down", "effects": {"booked": True}}, state={"booked": False})
    outcome = await book(tools)
    assert outcome.status == "failed"
    assert outcome.output == {"ok": False, "error": "the system is down"}
    assert tools.snapshot() == {"booked": False}


async def test_an_error_with_a_result_answers_that_result() -> None:
    outcome = await book(executor({"error": "full", "result": {"status": 409, "name": "{{args.name}}"}}), name="Nora")
    assert (outcome.status, outcome.output, outcome.error) == ("failed", {"status": 409, "name": "Nora"}, "full")


async def test_a_counter_counts_calls_and_each_prefix_on_its_own() -> None:
    tools = executor(
        {"when": "args.kind == 'cancel'", "result": "{{counter('C-')}}"},
        {"result": "{{counter('R-', 3)}} {{counter('R-', 3)}}"},
    )
    said = [(await book(tools, kind=kind)).output for kind in ("book", "cancel", "book")]
    assert said == ["R-001 R-001", "C-1", "R-002 R-002"]


async def test_the_initial_state_and_other_trials_are_never_touched() -> None:
    initial = {"list": [1], "deep": {"a": {"b": 1}}}
    before = copy.deepcopy(initial)
    answer = {"result": "{{state.deep}}", "effects": {"deep": {"a": {"b": 2}}, "list": ["{{state.list}}"]}}
    one, other = executor(answer, state=initial), executor(answer, state=initial)
    outcome = await book(one)
    outcome.output["a"]["b"] = 99
    one.snapshot()["deep"]["a"]["b"] = 98
    assert initial == before
    assert other.snapshot() == before
    assert one.snapshot() == {"list": [[1]], "deep": {"a": {"b": 2}}}


async def test_arguments_of_the_agent_cannot_reach_into_the_state_later() -> None:
    arguments = {"extras": [{"what": "cake"}]}
    tools = executor({"result": 1, "effects": {"extras": "{{args.extras}}"}})
    await tools.execute("book", arguments)
    arguments["extras"][0]["what"] = "changed"
    assert tools.snapshot() == {"extras": [{"what": "cake"}]}


async def test_calls_of_one_trial_are_done_one_after_the_other() -> None:
    tools = executor({"result": "{{state.n}}", "effects": {"n": "{{state.n + 1}}"}}, state={"n": 0})
    outcomes = await asyncio.gather(*(book(tools) for _ in range(25)))
    assert [outcome.output for outcome in outcomes] == list(range(25))
    assert tools.snapshot() == {"n": 25}


async def test_a_call_that_is_cancelled_leaves_no_trace() -> None:
    tools = executor({"result": 1, "effects": {"booked": True}})
    call = asyncio.create_task(book(tools))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert tools.snapshot() == {}
    assert (await book(tools)).status == "completed"


async def test_a_state_that_grows_without_end_is_our_fault_and_not_the_agents() -> None:
    tools = executor({"result": 1, "effects": {"log": "{{state.log + ['x' * 60000]}}"}}, state={"log": []})
    for _ in range(4):
        await book(tools)
    with pytest.raises(ToolSandboxError, match=r"tool book, answers\[0\]\.effects: the state grows over 262144"):
        await book(tools)
    assert len(tools.snapshot()["log"]) == 4


# --- arguments


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"party_size": 2}, "guest_name is missing"),
        ({}, "guest_name is missing; party_size is missing"),
        ({"guest_name": "N", "party_size": "two"}, 'party_size must be a whole number, not "two"'),
        ({"guest_name": "N", "party_size": True}, "party_size must be a whole number, not true"),
        ({"guest_name": "N", "party_size": 2, "seating": "bar"}, 'seating must be one of "patio", "indoor", not "bar"'),
        ({"guest_name": "N", "party_size": 2, "colour": 1}, "colour is not an argument of this tool"),
        ({"guest_name": "N", "party_size": 0}, "party_size: 0 is less than the minimum of 1"),
        ({"guest_name": "N", "party_size": 2, "date": "15 May"}, r'date: "15 May" does not match ^\d{4}-\d{2}-\d{2}$'),
        ({"guest_name": "N", "party_size": 2, "extras": [{}]}, "extras[0].what is missing"),
        ({"guest_name": "N" * 70_000, "party_size": 2}, "they are larger than 65536 bytes"),
    ],
)
async def test_arguments_that_do_not_fit_are_an_error_answer_that_names_them(
    arguments: dict[str, Any], problem: str
) -> None:
    tools = executor({"result": 1, "effects": {"booked": True}}, parameters=BOOKING)
    outcome = await tools.execute("book", arguments)
    assert outcome.status == "failed"
    assert outcome.error == f"the arguments do not fit book: {problem}"
    assert outcome.output == {"ok": False, "error": outcome.error}
    assert tools.snapshot() == {}


async def test_arguments_that_fit_are_executed() -> None:
    tools = executor({"result": 1}, parameters=BOOKING)
    good = {"guest_name": "Nora", "party_size": 3, "seating": "patio", "date": "2027-05-15", "extras": [{"what": "x"}]}
    assert (await tools.execute("book", good)).status == "completed"


async def test_many_mistakes_are_not_a_wall_of_text() -> None:
    tools = executor({"result": 1}, parameters=BOOKING)
    outcome = await tools.execute("book", {f"x{number}": 1 for number in range(20)})
    assert outcome.error is not None
    assert outcome.error.endswith("; and 17 more")


async def test_a_pattern_that_takes_for_ever_is_our_fault_and_ends() -> None:
    slow = {"type": "object", "properties": {"code": {"type": "string", "pattern": "^(a|aa)+$"}}}
    tools = executor({"result": 1}, parameters=slow)
    assert (await book(tools, code="aaa")).status == "completed"
    with pytest.raises(ToolSandboxError, match=r"tool book: the pattern .* takes more than 0\.2 s"):
        await book(tools, code="a" * 60 + "!")


async def test_patterns_of_names_and_schemas_of_the_rest_are_checked_too() -> None:
    parameters = {
        "type": "object",
        "properties": {"a": {}},
        "patternProperties": {"^n_": {"type": "number"}},
        "additionalProperties": {"type": "string"},
    }
    tools = executor({"result": 1}, parameters=parameters)
    assert (await book(tools, a=None, n_one=1, other="x")).status == "completed"
    outcome = await book(tools, n_one="1", other=2)
    assert outcome.error == 'the arguments do not fit book: n_one must be a number, not "1"; other must be text, not 2'


# --- tamesu's plain map


async def test_a_plain_map_answers_by_name_with_the_arguments_filled_in() -> None:
    policy = {"topic": "{{args.topic}}", "window_days": 30, "order": "{{ args.order-id }}", "list": ["{{args.topic}}!"]}
    application = Application(name="Shoes", tool_results={"lookup_policy": policy, "say": "Hello {{args.order-id}}."})
    tools = ApplicationExecutor(application)
    assert tools.declares("lookup_policy")
    outcome = await tools.execute("lookup_policy", {"topic": "returns", "order-id": 17})
    assert outcome.status == "completed"
    assert outcome.output == {"topic": "returns", "window_days": 30, "order": 17, "list": ["returns!"]}
    said = await tools.execute("say", {"order-id": "A-1"})
    assert (said.output, said.output_text) == ("Hello A-1.", "Hello A-1.")


async def test_a_plain_answer_of_a_declared_tool_still_checks_the_arguments() -> None:
    tools = executor(application={"tool_results": {"book": "ok"}}, parameters=BOOKING)
    assert (await book(tools)).status == "failed"
    assert (await book(tools, guest_name="N", party_size=1)).output == "ok"


# --- what stops a trial


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        ({"result": "{{ 1 / args.n }}"}, "answers[0].result: ZeroDivisionError"),
        ({"when": "args.missing > 3", "result": 1}, "answers[0].when: "),
        (
            {"result": 1, "effects": {"a": "{{ args.n.nope() }}"}},
            "answers[0].effects: nope() is not available on a int",
        ),
        ({"error": "{{ counter(3) }}"}, "answers[0].error: TypeError: counter needs a text"),
        ({"result": "{{ counter('x', 10**9) }}"}, "answers[0].result: TypeError: counter needs a width of 0 to 20"),
        ({"result": "{{ 'x' * 10**10 }}"}, "answers[0].result: it makes a value of 10000000000"),
    ],
)
async def test_a_template_that_goes_wrong_is_our_fault_and_names_its_place(answer: dict[str, Any], part: str) -> None:
    tools = executor(answer)
    with pytest.raises(ToolSandboxError) as caught:
        await book(tools, n=0)
    assert str(caught.value).startswith(f"tool book, {part}")
    assert tools.snapshot() == {}


@pytest.mark.parametrize(
    ("tool", "part"),
    [
        (
            {"answers": [{"result": "{{ args.x|random }}"}]},
            "tools[0].answers[0].result: cannot be run: No filter named 'random'",
        ),
        ({"http": {"url": "https://staging.example/x"}}, "tools[0]: nobody answers book here"),
        ({"python": "crm"}, "tools[0]: nobody answers book here"),
        (
            {"http": {"url": "https://a.example/x", "effects": {"x": "{{ result|random }}"}}},
            "tools[0].http.effects: cannot be run: No filter named 'random'",
        ),
    ],
)
def test_an_application_that_cannot_run_is_refused_before_the_trial(tool: dict[str, Any], part: str) -> None:
    application = parse_application({"name": "Front desk", "tools": [{"name": "book", **tool}]})
    with pytest.raises(ApplicationError) as caught:
        ApplicationExecutor(application)
    assert str(caught.value).startswith(f"application Front desk: {part}")


def test_an_application_that_can_run_has_no_problems() -> None:
    assert problems(Application(name="empty")) == []


# --- RFC 7396


@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_examples_of_the_rfc_hold(target: Any, patch: Any, expected: Any) -> None:
    assert merge_patch(target, patch) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), JSON, max_size=3)


@given(OBJECTS, OBJECTS)
def test_merging_is_idempotent_and_changes_neither_side(target: Any, patch: Any) -> None:
    before = copy.deepcopy((target, patch))
    merged = merge_patch(target, patch)
    assert merge_patch(merged, patch) == merged
    assert merge_patch(target, {}) == target
    assert (target, patch) == before
    for key in target.keys() | patch.keys():
        if key not in patch:
            assert merged[key] == target[key]
        elif patch[key] is None:
            assert key not in merged
        elif not isinstance(patch[key], dict):
            assert merged[key] == patch[key]
