"""The groups of rows in the form of a scenario."""

from __future__ import annotations

from scenarios_app.forms.inputs import choice, code, code_line, prose
from scenarios_app.forms.pairs import Pairs
from scenarios_app.forms.rows import Column, Rows
from scenarios_app.forms.slots import COMMAS, JSON, NUMBER, TEXT, Slot
from scenarios_app.spec.tool_faults import MODES

_STATUS = (("", "default: completed"), ("completed", "completed"), ("any", "any: may fail"))
_ROLES = (("user", "caller"), ("assistant", "agent"))
_WAITS = (("", "for the reply"), ("reply", "for the reply, by name"), ("silence", "for a second of silence"))
_ACTIONS = (
    ("", "default: says it"),
    ("answer", "says it"),
    ("correct", "takes something back"),
    ("interrupt", "says it over the agent"),
    ("backchannel", "murmurs along"),
    ("finish", "ends the call"),
)
_FAULTS = (("", "choose"), *((mode, mode.replace("_", " ")) for mode in MODES))

HISTORY = Rows(
    prefix="history",
    path=("input", "context", "history"),
    label="Earlier messages",
    help_text="What was said before this call begins, in order.",
    word="Message",
    add="Add a message",
    columns=(
        Column(Slot("role", ("role",)), lambda: choice("Who", _ROLES), preset=True),
        Column(Slot("text", ("text",), TEXT), lambda: prose("Words", rows=2)),
    ),
)

TURNS = Rows(
    prefix="turns",
    path=("input", "turns"),
    label="Turns after the first",
    help_text="Said in this order. Each waits for the reply, unless it is said over it.",
    word="Turn",
    add="Add a turn",
    columns=(
        Column(Slot("text", ("text",), TEXT), lambda: prose("Caller says", rows=2)),
        Column(Slot("wait", ("wait",)), lambda: choice("Waits", _WAITS)),
        Column(
            Slot("interrupt_after_ms", ("interrupt_after_ms",), NUMBER),
            lambda: code_line("Over the reply, after ms of it", inputmode="numeric"),
        ),
        Column(Slot("recording", ("recording",)), lambda: code_line("Or a recording, by its id")),
    ),
)

FACTS = Pairs(
    prefix="persona_facts",
    path=("persona", "facts"),
    label="What the caller knows",
    help_text="Facts that he tells when asked.",
    word="Fact",
    add="Add a fact",
    matches=False,
)

AGENDA = Rows(
    prefix="agenda",
    path=("persona", "agenda"),
    label="Agenda",
    help_text="What he brings up by himself, one thing after the other.",
    word="Step",
    add="Add a step",
    columns=(
        Column(Slot("id", ("id",)), lambda: code_line("Step")),
        Column(Slot("commitment", ("commitment",), TEXT), lambda: prose("Does what", rows=2)),
        Column(Slot("action", ("action",)), lambda: choice("How", _ACTIONS)),
        Column(Slot("when", ("when",), TEXT), lambda: prose("Once this has happened", rows=2)),
        Column(Slot("done_when", ("done_when",), TEXT), lambda: prose("Done when", rows=2)),
        Column(Slot("words", ("words",), TEXT), lambda: prose("In such words", rows=2)),
        Column(Slot("after", ("after",), COMMAS), lambda: code_line("After steps")),
    ),
    pairs=Pairs(
        prefix="facts",
        path=("facts",),
        label="What he knows from then on",
        help_text="",
        word="Fact",
        add="Add a fact",
        matches=False,
    ),
)

START_STATE = Pairs(
    prefix="initial_state",
    path=("application", "initial_state"),
    label="State at the start",
    help_text="What the tools read and change. Names with dots lie inside each other: booking.party_size.",
    word="Path",
    add="Add a value",
    matches=False,
    deep=True,
)

END_STATE = Pairs(
    prefix="state",
    path=("expected", "state"),
    label="State at the end",
    help_text="Only what is named here is compared. A single row “unchanged is true”: exactly as at the start.",
    word="Path",
    add="Add a value",
    deep=True,
)

_ARGUMENTS = Pairs(
    prefix="args",
    path=("arguments",),
    label="Arguments",
    help_text="",
    word="Argument",
    add="Add an argument",
)


def _calls(prefix: str, label: str, help_text: str, word: str, add: str) -> Rows:
    return Rows(
        prefix=prefix,
        path=("expected", "tools", prefix),
        label=label,
        help_text=help_text,
        word=word,
        add=add,
        columns=(
            Column(Slot("name", ("name",)), lambda: code_line("Tool", list="known-tools")),
            Column(Slot("status", ("status",)), lambda: choice("Must be", _STATUS)),
        ),
        pairs=_ARGUMENTS,
    )


CALLS = (
    _calls(
        "required",
        "Required tool calls",
        "In this order. What is not checked may have any value.",
        "Required call",
        "Add a required call",
    ),
    _calls(
        "prohibited",
        "Prohibited tool calls",
        "Counted when attempted, completed or not. With nothing checked: any call of that tool.",
        "Prohibited call",
        "Add a prohibited call",
    ),
)

FAULTS = Rows(
    prefix="faults",
    path=("tool_faults",),
    label="Tool faults",
    help_text="* is every tool. A delay needs its ms; a text replaces what error, malformed and hostile say; a value "
    "what stale and wrong type answer.",
    word="Fault",
    add="Add a fault of a tool",
    key="Tool",
    columns=(
        Column(Slot("mode", ("mode",)), lambda: choice("Does", _FAULTS)),
        Column(Slot("ms", ("ms",), NUMBER), lambda: code_line("ms", inputmode="numeric")),
        Column(Slot("text", ("text",), TEXT), lambda: prose("Text", rows=1)),
        Column(Slot("value", ("value",), JSON), lambda: code("Value, as JSON", rows=1)),
    ),
)
