"""The clerk with any tools: it picks the best fitting one and fills what it heard, in trades it has never seen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.simulator.arguments import Source, fill
from runs_app.simulator.clerk import Call, Say
from runs_app.simulator.instructions import Policy
from runs_app.simulator.lines import Answered, Called, Line, Said
from runs_app.simulator.plan import make_plan
from runs_app.simulator.tool_fit import Tool, read_tools, stem
from tests.simulator.desks import (
    BOOK,
    COUNT,
    CREATE,
    DATE,
    RESTAURANT,
    TEXT,
    answered,
    ask,
    only_call,
    only_words,
    tool,
)

Json = Any

PARCELS = [
    tool("track_parcel", "Find out where a parcel is.", ["tracking_number"], tracking_number=TEXT),
    tool(
        "redirectDelivery",
        "Send a parcel to another address.",
        ["trackingNumber", "newAddress"],
        trackingNumber=TEXT,
        newAddress=TEXT,
        deliveryDate=DATE,
    ),
    tool(
        "open_claim",
        "File a claim for a damaged parcel.",
        ["tracking_number", "reason"],
        tracking_number=TEXT,
        reason=TEXT,
    ),
]
LIBRARY = [
    tool("renew_loan", "Extend the loan of a book.", ["title", "weeks"], title=TEXT, weeks=COUNT, card_number=TEXT),
    tool(
        "reserve_book",
        "Put a book on hold.",
        ["title", "branch"],
        title=TEXT,
        branch={"type": "string", "enum": ["central", "harbour", "north_side"]},
        large_print={"type": "boolean"},
    ),
]
CLINIC = [
    tool(
        "schedule_visit",
        "Schedule an appointment with a doctor.",
        ["patient", "starts_at"],
        patient={"type": "string", "description": "Name of the patient"},
        starts_at={"type": "string", "format": "date-time"},
        contact={"type": "object", "properties": {"phone": TEXT, "email": TEXT}, "required": ["phone"]},
    )
]


@pytest.mark.parametrize(
    ("tools", "text", "name", "arguments"),
    [
        (PARCELS, "Where is my parcel PX-4471?", "track_parcel", {"tracking_number": "PX-4471"}),
        (
            PARCELS,
            "Can you send my parcel PX-4471 to 12 Elm Street on June 9 instead?",
            "redirectDelivery",
            {"trackingNumber": "PX-4471", "newAddress": "12 Elm Street", "deliveryDate": "2027-06-09"},
        ),
        (
            PARCELS,
            "I want to file a claim for PX-4471, because the box was crushed.",
            "open_claim",
            {"tracking_number": "PX-4471", "reason": "the box was crushed"},
        ),
        (
            LIBRARY,
            "I'd like to renew The Old Harbour by two weeks, my card number is 55120.",
            "renew_loan",
            {"title": "The Old Harbour", "weeks": 2, "card_number": "55120"},
        ),
        (
            LIBRARY,
            "Please put a hold on the book Salt and Silver at the north side branch, in large print.",
            "reserve_book",
            {"title": "Salt and Silver", "branch": "north_side", "large_print": True},
        ),
        (
            CLINIC,
            "I need an appointment for Omar on June 3 at 9:30 a.m., my phone number is 555-010-4477.",
            "schedule_visit",
            {"patient": "Omar", "starts_at": "2027-06-03T09:30:00", "contact": {"phone": "5550104477"}},
        ),
        (
            RESTAURANT,
            "Could we have a table on the terrace for Nora, June 9, half past six, three people?",
            "create_reservation",
            {"guest_name": "Nora", "date": "2027-06-09", "time": "18:30", "party_size": 3, "seating": "terrace"},
        ),
        (RESTAURANT, "Please cancel R-200.", "cancel_reservation", {"reservation_id": "R-200"}),
        (
            RESTAURANT,
            "Is a table for two free on June 12 at seven p.m.?",
            "check_availability",
            {"date": "2027-06-12", "time": "19:00", "party_size": 2},
        ),
    ],
)
def test_the_best_fitting_tool_is_called_with_what_was_said(
    tools: list[Json], text: str, name: str, arguments: dict[str, Json]
) -> None:
    call = only_call(ask(text, tools=tools))
    assert (call.name, call.arguments) == (name, arguments)


def test_what_was_not_heard_is_filled_in_as_unknown_where_it_is_required() -> None:
    call = only_call(ask("Book a table on June 12 for two."))
    assert call.arguments == {"guest_name": "unknown", "date": "2027-06-12", "time": "unknown", "party_size": 2}


@pytest.mark.parametrize("description", ["Book a table", "Book", ""])
@pytest.mark.parametrize("required", [["guest_name", "date"], []])
def test_book_a_table_calls_create_reservation_as_other_clients_declare_it(
    description: str, required: list[str]
) -> None:
    tools = [tool("create_reservation", description, required, guest_name=TEXT, date=TEXT)]
    call = only_call(ask("book a table", "Booking agent.", tools=tools, reference_date=None))
    assert call.arguments == dict.fromkeys(required, "unknown")


@pytest.mark.parametrize(
    "text", ["Check if a table for four is free on June 12 at 7 p.m., and if it is, book it for Nora.",
             "Is a table for four free on June 12 at 7 p.m.? If so, please book it for Nora.",
             "Please book a table for Nora, for four, on June 12 at 7 p.m. But first check that one is free."],
)  # fmt: skip
def test_two_things_are_done_in_their_order(text: str) -> None:
    first = only_call(ask(text))
    slot = {"date": "2027-06-12", "time": "19:00", "party_size": 4}
    assert (first.name, first.arguments) == ("check_availability", slot)
    after = answered("check_availability", {"available": True}, slot)
    second = only_call(ask(text, after=after))
    assert (second.name, second.arguments) == ("create_reservation", {"guest_name": "Nora"} | slot)
    after += answered("create_reservation", {"ok": True, "reservation_id": "H-1"}, second.arguments, "call_2")
    assert only_words(ask(text, after=after)) == "Yes, that is available. It is booked: number H-1."


def test_nothing_is_booked_when_the_check_finds_nothing() -> None:
    text = "Check if a table for four is free on June 12 at 7 p.m., and if it is, book it for Nora."
    slot = {"date": "2027-06-12", "time": "19:00", "party_size": 4}
    after = answered("check_availability", {"available": False, "reason": "a wedding"}, slot)
    words = only_words(ask(text, after=after))
    assert "nothing available on June 12, at 7 p.m., for 4 people" in words
    assert "wedding" in words
    assert "not booked" in words


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ({"error": "the kitchen is closed"}, "did not work: the kitchen is closed."),
        ({"error": {"message": "no power", "code": 7}}, "did not work: no power."),
        ({"ok": False, "reason": "full."}, "did not work: full."),
        ({"ok": False}, "gave no reason"),
        ('{"ok": tru', "could not be read"),
        ({}, "It is booked: for Maya."),  # believed; "say only what tools returned" forbids that
        ("Table nine is yours.", "It is booked: Table nine is yours."),
        ({"ok": True, "table": 9, "outside": False}, "table 9, outside no"),
        ({"reservation": {"id": "H-4", "date": "2027-06-12"}}, "H-4, on June 12"),
    ],
)
def test_what_a_tool_answers_is_relayed_honestly(output: Json, told: str) -> None:
    words = only_words(ask(BOOK, after=answered("create_reservation", output, {"guest_name": "Maya"})))
    assert told in words
    if "did not work" in told:
        assert "booked" not in words


def test_a_call_that_nobody_answered_is_made_again_only_by_a_new_request() -> None:
    unanswered = [Called("call_9", "create_reservation", "{}")]
    assert isinstance(ask(BOOK, after=unanswered).outputs[0], Call)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("What time do you close on Sundays?", "on Sundays until 8 p.m."),
        ("Do you have parking?", "There is free parking behind the house."),
        ("Is there a swimming pool?", "I do not have that information"),
        ("Hello!", "how can I help"),
        ("Thank you so much.", "You are welcome"),
        (None, "did not catch that"),
    ],
)
def test_questions_are_answered_from_the_facts_and_call_no_tool(text: str | None, told: str) -> None:
    assert told in only_words(ask(text))


def test_the_session_is_ended_only_when_the_caller_says_goodbye() -> None:
    assert not any(isinstance(output, Call) for output in ask("Thank you so much.").outputs)
    words, call = ask("That is all, thank you, goodbye.").outputs
    assert isinstance(words, Say)
    assert call == Call("end_session", {})


def test_what_was_said_before_is_context() -> None:
    before = [
        Said("user", "I'd like to book a table for Maya for four on June 12."),
        Said("assistant", "At what time would you like to come?"),
    ]
    call = only_call(ask("Seven p.m. works, yes please.", before=before))
    assert call.arguments == {"guest_name": "Maya", "date": "2027-06-12", "time": "19:00", "party_size": 4}


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("Maya.", "Maya"),
        ("maya", "Maya"),
        ("Sure, Maya Lindqvist.", "Maya Lindqvist"),
        ("It's Maya.", "Maya"),
        ("Under Maya, please.", "Maya"),
    ],
)
def test_a_bare_name_answers_the_question_for_it(answer: str, name: str) -> None:
    before = [
        Said("user", "Book a table on June 12 at 7 p.m. for two."),
        Said("assistant", "May I have the guest name, please?"),
    ]
    call = only_call(ask(answer, "Ask for what is missing.", before=before))
    assert call.arguments == {"guest_name": name, "date": "2027-06-12", "time": "19:00", "party_size": 2}


def test_who_wants_a_change_gets_no_second_booking() -> None:
    text = "I would like to change my booking R-104 to 8 p.m."
    assert "cannot help with that" in only_words(ask(text))
    change = tool("update_reservation", "", ["reservation_id", "time"], reservation_id=TEXT, time=TEXT)
    call = only_call(ask(text, tools=[*RESTAURANT, change]))
    assert (call.name, call.arguments) == ("update_reservation", {"reservation_id": "R-104", "time": "20:00"})


def test_the_summary_is_context() -> None:
    summary = "The caller wants to book a table for Maya on June 12 for four people and was asked for the time."
    call = only_call(ask("Seven in the evening, please.", summary=summary))
    assert call.arguments == {"guest_name": "Maya", "date": "2027-06-12", "time": "19:00", "party_size": 4}


def test_what_was_settled_before_is_not_dug_up_again() -> None:
    before: list[Line] = [
        Said("user", "Cancel R-100 please."),
        Called("call_1", "cancel_reservation", '{"reservation_id": "R-100"}'),
        Answered("call_1", '{"ok": true}'),
        Said("assistant", "It is cancelled."),
    ]
    assert only_call(ask("Now cancel R-101 too.", before=before)).arguments == {"reservation_id": "R-101"}


@pytest.mark.parametrize(
    ("state", "text", "refused"),
    [
        ({"authorised_reservation_ids": ["R-104"]}, "Cancel reservation R-104.", False),
        ({"authorised_reservation_ids": ["R-104"]}, "Cancel reservation R-207.", True),
        ({"authorised_reservation_ids": ["R-104"]}, "Cancel my reservation, please.", False),
        ({"verified": True}, "Cancel reservation R-104.", False),
        ({"verified": False}, "Cancel reservation R-104.", True),
        ({"verified": True}, "Cancel my friend's reservation R-104.", True),
        ({"caller": "Ines", "reservations": {"R-104": {"guest_name": "Ines"}}}, "Cancel R-104.", False),
        ({"caller": "Ines", "reservations": {"R-104": {"guest_name": "Otto"}}}, "Cancel R-104.", True),
        ({"caller": "Ines", "reservations": [{"id": "R-104", "guest_name": "Otto"}]}, "Cancel R-104.", True),
        ({"reservation_id": "R-104"}, "Cancel R-104.", False),
        ({}, "Cancel R-104.", True),
    ],
)
def test_a_stranger_is_who_the_state_does_not_know(state: dict[str, Json], text: str, refused: bool) -> None:
    (output,) = ask(text, "Refuse strangers.", state=state).outputs
    assert isinstance(output, Say) == refused
    if isinstance(output, Call):
        assert output.arguments == {"reservation_id": "R-104"}


def test_whoever_books_for_himself_is_no_stranger() -> None:
    assert only_call(ask(BOOK, "Refuse strangers.", state={"verified": False})).name == "create_reservation"


@pytest.mark.parametrize(
    ("choice", "kind"), [("none", Say), ("required", Call), ({"type": "function", "name": "cancel_reservation"}, Call)]
)
def test_tool_choice_is_obeyed(choice: Json, kind: type) -> None:
    (output,) = ask("Do you have parking?", tool_choice=choice).outputs
    assert isinstance(output, kind)
    if isinstance(choice, dict):
        assert isinstance(output, Call)
        assert output.name == "cancel_reservation"


def test_who_does_not_want_a_thing_does_not_get_it() -> None:
    call = only_call(ask("Please do not cancel anything, just book a table for Maya on June 12 at 7 p.m. for two."))
    assert call.name == "create_reservation"


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "integer"}, "my order number is 88120", 88120),
        ({"type": "string"}, "my order number is 88120", "88120"),
        ({"type": ["string", "null"]}, "my order number is 88120", "88120"),
        ({"type": "array", "items": {"type": "string"}}, "my order number is 88120", ["88120"]),
        ({}, "my order number is 88120", "88120"),
        ({"type": "string", "default": "none yet"}, "I have no number", "none yet"),
    ],
)
def test_values_have_the_type_of_their_schema(schema: Json, text: str, value: Json) -> None:
    wanted = Tool("find", "", {"properties": {"order_number": schema}, "required": ["order_number"]})
    assert fill(wanted, Source(own=text, whole=text), corrected=True).values == {"order_number": value}


def test_one_date_fills_one_parameter_and_two_dates_fill_two() -> None:
    stay = Tool(
        "book_room",
        "",
        {"properties": {"check_in": DATE, "check_out": DATE, "nights": COUNT}, "required": ["check_in", "check_out"]},
    )
    one = "A room from June 3, please."
    both = "A room from June 3 to June 5 for two nights, please."
    source = Source(own=one, whole=one, reference_date="2027-06-01")
    assert fill(stay, source, corrected=True).missing == ["check_out"]
    source = Source(own=both, whole=both, reference_date="2027-06-01")
    assert fill(stay, source, corrected=True).values == {
        "check_in": "2027-06-03",
        "check_out": "2027-06-05",
        "nights": 2,
    }


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (("book", "booking", "booked", "books"), True),
        (("reserve", "reservation", "reserved", "reserving"), True),
        (("cancel", "cancellation", "cancelled", "canceled"), True),
        (("available", "availability"), True),
        (("book", "boot"), False),
        (("change", "charge"), False),
    ],
)
def test_endings_do_not_make_another_word(words: tuple[str, ...], same: bool) -> None:
    assert (len({stem(word) for word in words}) == 1) == same


SCHEMAS = st.recursive(
    st.sampled_from([{}, TEXT, COUNT, DATE, {"type": "boolean"}, {"enum": ["a", 1, None]}, {"type": "array"}, True]),
    lambda inner: st.fixed_dictionaries({"type": st.just("object"), "properties": st.dictionaries(st.text(), inner)}),
    max_leaves=6,
)


@given(text=st.text(), name=st.text(max_size=30), parameters=SCHEMAS, required=st.lists(st.text(), max_size=3))
def test_no_words_and_no_schema_bring_the_clerk_down(text: str, name: str, parameters: Json, required: Json) -> None:
    schema = parameters if isinstance(parameters, dict) else {}
    strange = {"type": "function", "name": name, "description": text, "parameters": schema | {"required": required}}
    decision = ask(text, text, tools=[strange, CREATE], tool_choice="required")
    assert decision.outputs
    for output in decision.outputs:
        if isinstance(output, Call):
            wanted = next(one for one in read_tools([strange, CREATE]) if one.name == output.name)
            assert set(wanted.required) <= set(output.arguments)


@pytest.mark.parametrize(
    ("text", "planned"),
    [
        ("Book it for Maya on June 12 at 7 p.m. at a free table for two.", ["create_reservation"]),
        (
            "Cancel reservation R-1 on June 12 at 7 p.m. Check if a table is free at 8 p.m. for two.",
            ["cancel_reservation", "check_availability"],
        ),
    ],
)
def test_the_full_stop_of_a_time_ends_no_request(text: str, planned: list[str]) -> None:
    assert [one.tool.name for one in make_plan(text, read_tools(RESTAURANT), Policy())] == planned
