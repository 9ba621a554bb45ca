"""The form of a scenario. What has no field here (recordings, golden path, simulation parameters) is kept untouched."""

from __future__ import annotations

from scenarios_app.forms.calls import Calls
from scenarios_app.forms.fields import SlotForm, choice, code, code_line, flag, line, prose
from scenarios_app.forms.slots import COMMAS, FLAG, JSON, LINES, NUMBER, REFERENCE, TEXT, TEXT_OR_JSON, Slot
from scenarios_app.spec.tool_faults import MODES

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
        Slot("turns", ("input", "turns"), JSON),
        Slot("max_turns", ("max_turns",), NUMBER),
        Slot("persona", ("persona",), JSON),
        Slot("summary", ("input", "context", "summary"), TEXT),
        Slot("history", ("input", "context", "history"), JSON),
        Slot("initial_state", ("application", "initial_state"), JSON),
        Slot("application", ("application", "ref"), REFERENCE),
        Slot("reference_date", ("reference_date",)),
        Slot("answer", ("expected", "answer"), TEXT),
        Slot("criteria", ("expected", "criteria"), LINES),
        Slot("delegation", ("expected", "delegation")),
        Slot("state", ("expected", "state"), JSON),
        Slot("assertions", ("assertions",), JSON),
        Slot("tool_faults", ("tool_faults",), JSON),
        Slot("critical", ("critical",), FLAG),
        Slot("mode", ("mode",)),
        Slot("owner", ("owner",)),
        Slot("source", ("source",), TEXT_OR_JSON),
        Slot("notes", ("notes",), TEXT),
    )
    calls = (
        Calls("required", ("expected", "tools", "required")),
        Calls("prohibited", ("expected", "tools", "prohibited")),
    )
    call_labels = {
        "required": (
            "Required tool calls",
            "In this order. The arguments named here must be met, others are free; a value may be a matcher such as "
            '{"$any_of": ["18:00", "6 pm"]}.',
        ),
        "prohibited": ("Prohibited tool calls", "Counted when attempted, completed or not. Without arguments: any."),
    }
    layout = (
        ("What it is", "", ("id", "title", "type", "interaction", "tags")),
        ("The caller says", "", ("text",)),
        (
            "Further turns",
            "For the interaction “several turns”. The caller waits for each reply, or talks over it.",
            ("turns", "max_turns", "persona"),
        ),
        (
            "What the agent knows before",
            "Handed to the agent with its instructions. Nothing from Expected ever reaches it.",
            ("summary", "history", "initial_state", "reference_date", "application"),
        ),
        (
            "Expected",
            "For the evaluator alone.",
            ("answer", "criteria", "delegation", "required", "prohibited", "state", "assertions"),
        ),
        ("What goes wrong", "Tools that misbehave on purpose in this scenario.", ("tool_faults",)),
        ("Housekeeping", "", ("critical", "mode", "owner", "source", "notes")),
    )

    id = code_line("Id", "Letters, digits, dot, dash and underscore. It stays for good.")
    title = line("Title")
    type = line("Type", "Such as booking or correction. Without one, the first tag counts.")
    interaction = choice("Interaction", INTERACTION)
    tags = line("Tags", "Separated by commas.")
    text = prose("Caller says", "Word for word what is spoken.", rows=4)
    turns = code(
        "Turns",
        'A list such as [{"text": "For four.", "interrupt_after_ms": 900}, {"text": "Yes.", "wait": "silence"}].',
        rows=4,
    )
    max_turns = code_line("Turns at most", "All of them when not given.", inputmode="numeric")
    persona = code(
        "Persona",
        'Such as {"goal": "Book", "behaviors": {"interrupt_probability": 0.3}}: how often he talks over the agent.',
        rows=2,
    )
    summary = prose("Summary of what went before", rows=2)
    history = code("Earlier messages", 'A list such as [{"role": "user", "text": "…"}].')
    initial_state = code("State at the start", "A JSON object that the tools read and change.")
    reference_date = code_line("Reference date", "What “today” is for this call, such as 2027-05-14.")
    application = code_line(
        "Application", "NAME or NAME@VERSION. Empty: the configuration's own.", list="known-applications"
    )
    answer = prose("Answer", "What a good reply tells the caller, in your words. A judge reads it.", rows=3)
    criteria = prose("Criteria", "One per line.", rows=3)
    delegation = choice("Tool use", DELEGATION, "Whether the agent must, may or must not call tools.")
    state = code("State at the end", 'A subset, or {"unchanged": true}. Empty: not checked.')
    assertions = code("Assertions", 'Such as [{"metric": {"name": "response_latency_ms", "lt": 1500}}].')
    tool_faults = code(
        "Tool faults",
        f'Such as {{"find_table": {{"mode": "delay", "ms": 3000}}}}; "*" is every tool. Modes: {", ".join(MODES)}.',
        rows=3,
    )
    critical = flag("Critical", "If it newly fails every time, no average makes up for it.")
    mode = choice("Mode", MODE)
    owner = line("Owner")
    source = line("Source", "A bug or trial that this came from.")
    notes = prose("Notes", rows=2)
