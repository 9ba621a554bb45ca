"""The form of a scenario. What has no field here (recordings, golden path, simulation parameters) is kept untouched."""

from __future__ import annotations

from scenarios_app.forms.fields import SlotForm
from scenarios_app.forms.hints import Offers
from scenarios_app.forms.inputs import choice, code, code_line, flag, line, prose
from scenarios_app.forms.scenario_rows import AGENDA, CALLS, END_STATE, FACTS, FAULTS, HISTORY, START_STATE, TURNS
from scenarios_app.forms.slots import (
    COMMAS,
    FLAG,
    JSON,
    LINES,
    NUMBER,
    REFERENCE,
    TEXT,
    TEXT_OR_JSON,
    Document,
    Slot,
)
from scenarios_app.spec.errors import Problem

DELEGATION = (
    ("", "default: optional"),
    ("optional", "optional"),
    ("required", "required"),
    ("forbidden", "forbidden"),
)
INTERACTION = (("single_turn", "one turn"), ("multi_turn", "several turns"))
MODE = (("", "as the configuration says"), ("audio", "audio"), ("text", "text"))


class ScenarioForm(SlotForm):
    slots = (
        Slot("id", ("id",)),
        Slot("title", ("title",), TEXT),
        Slot("type", ("type",)),
        Slot("interaction", ("interaction",)),
        Slot("tags", ("tags",), COMMAS),
        Slot("text", ("input", "text"), TEXT),
        Slot("max_turns", ("max_turns",), NUMBER),
        Slot("goal", ("persona", "goal"), TEXT),
        Slot("style", ("persona", "style"), TEXT),
        Slot("interrupt_probability", ("persona", "behaviors", "interrupt_probability"), NUMBER),
        Slot("patience_turns", ("persona", "behaviors", "patience_turns"), NUMBER),
        Slot("patience_s", ("persona", "behaviors", "patience_s"), NUMBER),
        Slot("stop_when", ("stop_when",), TEXT),
        Slot("persona_seed", ("persona", "seed"), NUMBER),
        Slot("summary", ("input", "context", "summary"), TEXT),
        Slot("application", ("application", "ref"), REFERENCE),
        Slot("reference_date", ("reference_date",)),
        Slot("answer", ("expected", "answer"), TEXT),
        Slot("criteria", ("expected", "criteria"), LINES),
        Slot("delegation", ("expected", "delegation")),
        Slot("assertions", ("assertions",), JSON),
        Slot("critical", ("critical",), FLAG),
        Slot("mode", ("mode",)),
        Slot("owner", ("owner",)),
        Slot("source", ("source",), TEXT_OR_JSON),
        Slot("notes", ("notes",), TEXT),
    )
    groups = (HISTORY, TURNS, FACTS, AGENDA, START_STATE, *CALLS, END_STATE, FAULTS)
    tools_from = "application"
    layout = (
        ("What it is", "", ("id", "title", "type", "interaction", "tags")),
        ("The caller says", "", ("text",)),
        (
            "Further turns",
            "For the interaction “several turns”. The caller waits for each reply, or talks over it.",
            ("turns", "max_turns"),
        ),
        (
            "Persona",
            "A caller with a goal and a temper. With a script of turns, how often he talks over the agent.",
            (
                *("goal", "style", "stop_when", "persona_facts", "agenda"),
                *("interrupt_probability", "patience_s", "patience_turns", "persona_seed"),
            ),
        ),
        (
            "What the agent knows before",
            "Handed to the agent with its instructions. Nothing from Expected ever reaches it.",
            ("application", "reference_date", "summary", "history", "initial_state"),
        ),
        (
            "Expected",
            "For the evaluator alone.",
            ("answer", "criteria", "delegation", "required", "prohibited", "state", "assertions"),
        ),
        ("What goes wrong", "Tools that misbehave on purpose in this scenario.", ("faults",)),
        ("Housekeeping", "", ("critical", "mode", "owner", "source", "notes")),
    )

    id = code_line("Id", "Letters, digits, dot, dash and underscore. It stays for good.")
    title = line("Title")
    type = line("Type", "Such as booking or correction. Without one, the first tag counts.")
    interaction = choice("Interaction", INTERACTION)
    tags = line("Tags", "Separated by commas.", list="known-tags")
    text = prose("Caller says", "Word for word what is spoken.", rows=4)
    max_turns = code_line("Turns at most", "All of them when not given.", inputmode="numeric")
    goal = line("Goal", "What the caller wants, such as: Book a table for four.")
    style = line("Style", "Such as impatient, or elderly and polite.")
    stop_when = line("Hangs up when", "Such as: The agent has told the number of the booking.")
    interrupt_probability = code_line("Talks over the agent", "A share of the turns, 0 to 1.", inputmode="decimal")
    patience_s = code_line("Patience, in s", "He hangs up after such a silence.", inputmode="decimal")
    patience_turns = code_line("Patience, in replies", "That bring him nothing new.", inputmode="numeric")
    persona_seed = code_line("Seed", "Another number draws other moments.", inputmode="numeric")
    summary = prose("Summary of what went before", rows=2)
    reference_date = code_line("Reference date", "What “today” is for this call, such as 2027-05-14.")
    application = code_line(
        "Application", "NAME or NAME@VERSION. Empty: the configuration's own.", list="known-applications"
    )
    answer = prose("Answer", "What a good reply tells the caller, in your words. A judge reads it.", rows=3)
    criteria = prose("Criteria", "One per line.", rows=3)
    delegation = choice("Tool use", DELEGATION, "Whether the agent must, may or must not call tools.")
    assertions = code("Assertions", 'Such as [{"metric": {"name": "response_latency_ms", "lt": 1500}}].')
    critical = flag("Critical", "If it newly fails every time, no average makes up for it.")
    mode = choice("Mode", MODE)
    owner = line("Owner")
    source = line("Source", "A bug or trial that this came from.")
    notes = prose("Notes", rows=2)

    def merged(self) -> tuple[Document, list[Problem]]:
        """An emptied persona goes altogether: it would need a goal."""
        document, problems = super().merged()
        if document.get("persona") == {} != self.document.get("persona"):
            del document["persona"]
        return document, problems


def scenario_form(offers: Offers) -> type[ScenarioForm]:
    """The form whose cards of calls know the tools that can be called."""
    return type("ScenarioForm", (ScenarioForm,), {"offers": offers})
