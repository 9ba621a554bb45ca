"""What came out differently in two runs, by hand-counted tallies."""

from __future__ import annotations

from runs_app.stats.turnover import Counted, Tally, Turned, turnover


def tallies(**scenarios: str) -> list[Tally]:
    """`case="ppf"`: two trials passed, one failed; i is invalid, u ungraded. A digit first is its content."""
    words = {"p": "passed", "f": "failed", "i": "invalid", "u": "ungraded"}
    found = []
    for name, text in scenarios.items():
        content, ended = (text[0], text[1:]) if text[0].isdigit() else ("1", text)
        found += [
            Tally(name, content, words[letter], ended.count(letter), trial=ord(letter)) for letter in sorted({*ended})
        ]
    return found


def test_a_scenario_that_always_passed_and_fails_once_is_newly_failing() -> None:
    found = turnover(tallies(a="ppp", b="ppp"), tallies(a="ppf", b="ppp"))
    assert found.newly_failing == (Turned("a", Counted(3, 3, 3), Counted(2, 3, 3), trial=ord("f")),)
    assert found.newly_passing == ()
    assert (found.before, found.now) == (Counted(6, 6, 6), Counted(5, 6, 6))
    assert (found.before.value, found.now.failed) == (1.0, 1)


def test_a_scenario_that_failed_once_and_always_passes_is_newly_passing() -> None:
    found = turnover(tallies(a="ppf"), tallies(a="ppp"))
    assert [(one.scenario_id, one.trial) for one in found.newly_passing] == [("a", ord("p"))]
    assert found.newly_failing == ()


def test_what_failed_sometimes_before_and_now_is_neither() -> None:
    found = turnover(tallies(a="ppf", b="fff"), tallies(a="pff", b="pff"))
    assert found.newly_failing == found.newly_passing == ()


def test_trials_without_a_verdict_turn_nothing_and_are_left_out_of_the_share() -> None:
    found = turnover(tallies(a="iii", b="ppi", c="ff"), tallies(a="ppp", b="pii", c="uu"))
    assert found.newly_failing == found.newly_passing == ()
    assert found.before == Counted(passed=2, n=4, of=8)
    assert found.now.left_out == 4
    assert turnover(tallies(a="i"), tallies(a="i")).now.value is None


def test_scenarios_of_other_content_or_of_one_side_are_named_and_left_out() -> None:
    found = turnover(tallies(a="1p", b="1p", old="p"), tallies(a="1p", b="2f", new="f"))
    assert (found.paired, found.changed) == (("a",), ("b",))
    assert (found.only_before, found.only_now) == (("old",), ("new",))
    assert found.now == Counted(1, 1, 1)
    assert found.newly_failing == ()


def test_two_runs_with_nothing_in_common_have_no_share() -> None:
    found = turnover(tallies(a="p"), tallies(b="p"))
    assert found.paired == ()
    assert found.before.value is found.now.value is None
