"""Expected and actual calls: one pairing, each slip once."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from runs_app.grading.alignment import Alignment, Wanted, align
from runs_app.realtime.record import ToolCall
from tests.grading.builders import call, unreadable_call


def wanted(*names: str) -> list[Wanted]:
    return [Wanted(name, {}) for name in names]


def calls(*names: str) -> list[ToolCall]:
    return [call(name, {"n": i}, call_id=f"c{i}") for i, name in enumerate(names)]


def kinds(alignment: Alignment) -> list[tuple[int, int, str]]:
    return [(pair.wanted, pair.actual, pair.kind) for pair in alignment.pairs]


def test_calls_as_expected_are_clean() -> None:
    found = align(wanted("check", "book"), calls("check", "book"))
    assert kinds(found) == [(0, 0, "in_order"), (1, 1, "in_order")]
    assert found.clean


def test_a_missing_call_is_told_once_and_moves_no_other() -> None:
    found = align(wanted("check", "book", "confirm"), calls("check", "confirm"))
    assert kinds(found) == [(0, 0, "in_order"), (2, 1, "in_order")]
    assert (found.missing, found.extra, found.duplicates) == ((1,), (), ())
    assert not found.clean


def test_an_extra_call_is_told_once_and_moves_no_other() -> None:
    found = align(wanted("check", "book"), calls("check", "weather", "book"))
    assert kinds(found) == [(0, 0, "in_order"), (1, 2, "in_order")]
    assert (found.missing, found.extra) == ((), (1,))


def test_a_wrong_tool_is_one_slip_and_not_two() -> None:
    found = align(wanted("check", "book", "confirm"), calls("check", "reserve", "confirm"))
    assert kinds(found) == [(0, 0, "in_order"), (1, 1, "wrong_tool"), (2, 2, "in_order")]
    assert (found.missing, found.extra) == ((), ())


def test_a_call_at_another_place_is_out_of_order() -> None:
    found = align(wanted("check", "book"), calls("book", "check"))
    assert sorted(kind for _, _, kind in kinds(found)) == ["in_order", "out_of_order"]
    assert (found.missing, found.extra) == ((), ())
    assert not found.clean


def test_a_repeated_call_is_a_duplicate() -> None:
    twice = [call("book", {"n": 1}, call_id="a"), call("book", {"n": 1}, call_id="b")]
    found = align(wanted("book"), twice)
    assert (kinds(found), found.duplicates, found.extra) == ([(0, 0, "in_order")], (1,), ())


def test_a_repetition_never_stands_in_for_a_missing_call() -> None:
    twice = [call("check", {}, call_id="a"), call("check", {}, call_id="b")]
    found = align(wanted("check", "book"), twice)
    assert (found.missing, found.duplicates) == ((1,), (1,))


def test_of_two_calls_the_one_with_fewer_slips_is_the_partner() -> None:
    want = [Wanted("book", {"date": "2027-05-15", "size": 3})]
    made = [call("book", {"date": "2027-05-14", "size": 3}), call("book", {"date": "2027-05-15", "size": 3})]
    assert kinds(align(want, made)) == [(0, 1, "in_order")]
    assert align(want, made).extra == (0,)


def test_of_two_equal_calls_the_one_that_completed_is_the_partner() -> None:
    made = [call("book", {}, call_id="a", status="failed"), call("book", {}, call_id="b")]
    found = align(wanted("book"), made)
    assert kinds(found) == [(0, 1, "in_order")]
    assert found.extra == (0,)


def test_more_right_names_win_over_fewer_slips() -> None:
    want = [Wanted("book", {"n": 1}), Wanted("book", {"n": 2})]
    made = [call("book", {"n": 2}), call("book", {"n": 9})]
    assert len(align(want, made).pairs) == 2


def test_unreadable_arguments_are_a_slip_of_the_pair() -> None:
    found = align([Wanted("create_reservation", {"n": 1})], [unreadable_call('{"n": 1')])
    assert "cannot be read" in found.pairs[0].mismatches[0].reason


names = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=6)


def _longest_common(one: list[str], other: list[str]) -> int:
    """Length of the longest common subsequence, by trying every subsequence of the shorter list."""
    short, long = sorted((one, other), key=len)
    for size in range(len(short), 0, -1):
        for picked in itertools.combinations(short, size):
            rest = iter(long)
            if all(name in rest for name in picked):
                return size
    return 0


@given(names, names)
def test_pairing_is_one_to_one_complete_and_maximal_in_order(expected: list[str], actual: list[str]) -> None:
    found = align(wanted(*expected), calls(*actual))
    used_wanted = [pair.wanted for pair in found.pairs] + list(found.missing)
    used_actual = [pair.actual for pair in found.pairs] + list(found.extra) + list(found.duplicates)
    assert sorted(used_wanted) == list(range(len(expected)))
    assert sorted(used_actual) == list(range(len(actual)))
    in_order = [(p.wanted, p.actual) for p in found.pairs if p.kind == "in_order"]
    assert all(expected[w] == actual[a] for w, a in in_order)
    assert in_order == sorted(in_order)
    assert [a for _, a in in_order] == sorted(a for _, a in in_order)
    assert len(in_order) == _longest_common(expected, actual)


@given(names, names)
def test_a_name_is_never_missing_and_extra_at_once(expected: list[str], actual: list[str]) -> None:
    found = align(wanted(*expected), calls(*actual))
    missing = {expected[w] for w in found.missing}
    assert not missing & {actual[a] for a in found.extra}


@given(names)
def test_the_expected_calls_themselves_are_clean(expected: list[str]) -> None:
    assert align(wanted(*expected), calls(*expected)).clean
