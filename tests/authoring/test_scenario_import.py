from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from scenarios_app.models import Scenario, ScenarioVersion, Suite, SuiteEntry
from scenarios_app.services import archive, export_suite, find_suite, import_scenarios, suite_members
from scenarios_app.spec.errors import SpecError
from tests.spec.examples import FULL_1_0, SCENARIO
from tests.support import make_scenario, scenario_file, scenario_json

pytestmark = pytest.mark.django_db


def stored() -> tuple[int, int, int, int]:
    models = (Scenario, ScenarioVersion, Suite, SuiteEntry)
    return tuple(model.objects.count() for model in models)  # type: ignore[return-value]


def keys_of(suite: str) -> list[str]:
    return [scenario.key for scenario in suite_members(find_suite(suite))]


def file_of_lines(*scenarios: dict[str, Any]) -> str:
    """A file whose first scenario stands in line 2, the next in line 3 and so on."""
    lines = ",\n".join(json.dumps(scenario) for scenario in scenarios)
    return f'{{"schema_version": "1.0", "scenarios": [\n{lines}]}}'


def test_a_file_becomes_a_suite_in_file_order(alice: User) -> None:
    report = import_scenarios(
        data=scenario_file([scenario_json("b"), scenario_json("a")]), suite_name="demo", user=alice
    )
    assert (report.new, report.changed, report.unchanged) == (("b", "a"), (), ())
    assert keys_of("demo") == ["b", "a"]
    assert ScenarioVersion.objects.filter(created_by=alice, number=1).count() == 2


def test_a_dry_run_reports_the_same_and_stores_nothing() -> None:
    make_scenario("a")
    data = scenario_file([scenario_json("a", title="Changed"), scenario_json("b")])
    before = stored()
    dry = import_scenarios(data=data, suite_name="demo", dry_run=True)
    assert stored() == before
    wet = import_scenarios(data=data, suite_name="demo")
    assert (dry.new, dry.changed, dry.unchanged) == (wet.new, wet.changed, wet.unchanged) == (("b",), ("a",), ())


@pytest.mark.parametrize("scenarios", [[SCENARIO], [FULL_1_0], [FULL_1_0 | {"id": "z"}, SCENARIO]])
def test_what_is_exported_is_what_was_imported(scenarios: list[dict[str, Any]]) -> None:
    file = {"schema_version": "1.0", "scenarios": scenarios}
    import_scenarios(data=json.dumps(file).encode(), suite_name="crawl")
    exported = export_suite(suite=find_suite("crawl"))
    assert exported == file
    again = import_scenarios(data=json.dumps(exported).encode(), suite_name="crawl")
    assert (len(again.unchanged), again.new, again.changed) == (len(scenarios), (), ())


def test_a_suite_takes_the_order_of_the_file_and_keeps_what_the_file_lacks() -> None:
    import_scenarios(data=scenario_file([scenario_json(k) for k in "abc"]), suite_name="demo")
    import_scenarios(data=scenario_file([scenario_json(k) for k in "cad"]), suite_name="Demo")
    assert keys_of("demo") == ["c", "b", "a", "d"]


def test_a_suite_name_that_cannot_be_used_is_refused_before_anything_is_stored() -> None:
    for name in ("", "a,b", "a@2"):
        with pytest.raises(SpecError) as caught:
            import_scenarios(data=scenario_file([scenario_json()]), suite_name=name)
        assert caught.value.problems[0].path == "suite"
    assert stored() == (0, 0, 0, 0)


def test_one_bad_scenario_stops_the_whole_file_and_every_problem_has_its_line() -> None:
    text = file_of_lines(
        scenario_json("good"),
        scenario_json("bad one"),
        scenario_json("worse", expected={"answer": "x", "delegation": "maybe"}),
    )
    with pytest.raises(SpecError) as caught:
        import_scenarios(data=text.encode(), suite_name="demo")
    assert [(p.path, p.line) for p in caught.value.problems] == [
        ("scenarios[1].id", 3),
        ("scenarios[2].expected.delegation", 4),
    ]
    assert stored() == (0, 0, 0, 0)


def test_an_archived_scenario_is_brought_back_and_said_so() -> None:
    scenario = make_scenario("a").scenario
    archive(things=[scenario])
    report = import_scenarios(data=scenario_file([scenario_json("a")]), suite_name="demo")
    assert any("archived" in warning.message for warning in report.warnings)
    assert Scenario.objects.current().get() == scenario


def test_lint_comes_with_the_line_of_the_scenario() -> None:
    text = file_of_lines(
        scenario_json("fine"),
        scenario_json("relative", input={"text": "A table for tomorrow."}),
    )
    report = import_scenarios(data=text.encode(), suite_name="demo")
    assert [(w.path.startswith("scenarios[1]"), w.line) for w in report.warnings] == [(True, 3)]


def test_a_thousand_scenarios_take_few_queries(django_assert_max_num_queries: Any) -> None:
    data = scenario_file([scenario_json(f"case_{n}") for n in range(1000)])
    with django_assert_max_num_queries(60):
        import_scenarios(data=data, suite_name="big")
    with django_assert_max_num_queries(60):
        report = import_scenarios(data=data, suite_name="big")
    assert len(report.unchanged) == 1000


# The public cases


@pytest.mark.case("E01")
@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_changes_nothing(codec: str) -> None:
    """E01 (JSON): with and without a mark, the same scenarios."""
    content = scenario_json(title="Tisch für drei", notes="a mark \ufeff inside stays")
    text = json.dumps({"schema_version": "1.1", "scenarios": [content]}, ensure_ascii=False).replace("\n", "\r\n")
    import_scenarios(data=text.encode(), suite_name="plain")
    report = import_scenarios(data=text.encode(codec), suite_name="marked")
    assert report.unchanged == ("book_table",)
    assert export_suite(suite=find_suite("marked"))["scenarios"] == [content]


@pytest.mark.case("E03")
def test_line_breaks_in_texts_survive_to_the_byte() -> None:
    """E03 (JSON): CRLF, LF, a lone CR, quotes and commas round trip."""
    text = 'one\r\ntwo\nthree\rfour "quoted", comma'
    import_scenarios(data=scenario_file([scenario_json(input={"text": text})]), suite_name="demo")
    assert export_suite(suite=find_suite("demo"))["scenarios"][0]["input"]["text"] == text


@pytest.mark.case("E05")
@pytest.mark.parametrize("twin", ["book_table", "BOOK_table", "book_table "])
def test_an_id_twice_in_one_file_is_refused_with_both_lines(twin: str) -> None:
    """E05: same id, by case, by trailing space: refused, both lines named, nothing stored."""
    text = file_of_lines(
        scenario_json("book_table"),
        scenario_json(twin, title="other"),
    )
    with pytest.raises(SpecError) as caught:
        import_scenarios(data=text.encode(), suite_name="demo")
    said = str(caught.value)
    assert "line 2" in said
    assert "line 3" in said
    assert stored() == (0, 0, 0, 0)


@pytest.mark.case("E05")
def test_a_known_id_with_new_content_becomes_a_version_and_old_versions_keep_their_text() -> None:
    """E05: existing id, other content: a new version; the old one keeps its text. Twice the same: unchanged."""
    first = scenario_file([scenario_json(input={"text": "The old words."})])
    second = scenario_file([scenario_json(input={"text": "The new words."})])
    import_scenarios(data=first, suite_name="demo")
    old = ScenarioVersion.objects.get()
    report = import_scenarios(data=second, suite_name="demo")
    assert report.changed == ("book_table",)
    old.refresh_from_db()
    assert old.content["input"]["text"] == "The old words."
    latest = Scenario.objects.get().latest
    assert latest is not None
    assert (latest.number, latest.content["input"]["text"]) == (2, "The new words.")
    again = import_scenarios(data=second, suite_name="demo")
    assert (again.new, again.changed, again.unchanged) == ((), (), ("book_table",))


@pytest.mark.case("E05")
def test_an_id_known_in_another_case_is_refused_by_name() -> None:
    """E05 as decided: ids that differ only by case are one id; the site's own spelling is named."""
    make_scenario("book_table")
    before = stored()
    with pytest.raises(SpecError) as caught:
        import_scenarios(data=scenario_file([scenario_json("Book_Table")]), suite_name="demo")
    (problem,) = caught.value.problems
    assert (problem.path, problem.line, "book_table" in problem.message) == ("scenarios[0].id", 1, True)
    assert stored() == before


@pytest.mark.case("E07")
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_refused_with_their_place(number: str) -> None:
    """E07: NaN, both infinities and 1e999 are refused with line and path; nothing is stored."""
    text = file_of_lines(scenario_json(application={"initial_state": {"price": "X"}})).replace('"X"', number)
    with pytest.raises(SpecError) as caught:
        import_scenarios(data=text.encode(), suite_name="demo")
    (problem,) = caught.value.problems
    assert (problem.path, problem.line) == ("scenarios[0].application.initial_state.price", 2)
    assert stored() == (0, 0, 0, 0)


@pytest.mark.case("E09")
def test_text_that_databases_refuse_is_mended_and_nothing_else_is_lost() -> None:
    """E09: a pair of halves is one emoji, a lonely half and NUL are U+FFFD, the literal six characters stay."""
    spoken = "pair \\ud83d\\ude00, lonely \\ud83d, nul \\u0000, literal \\\\u0000, family 👨\u200d👩\u200d👧"
    text = json.dumps({"schema_version": "1.0", "scenarios": [scenario_json(input={"text": "SPOKEN"})]})
    import_scenarios(data=text.replace("SPOKEN", spoken).encode(), suite_name="demo")
    said = export_suite(suite=find_suite("demo"))["scenarios"][0]["input"]["text"]
    assert said == "pair 😀, lonely \ufffd, nul \ufffd, literal \\u0000, family 👨\u200d👩\u200d👧"
