"""The form of an application: its tools, each with the parameters of its JSON Schema and who answers it.

What a schema says beyond the common keywords has no field here and is kept untouched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scenarios_app.forms.fields import SlotForm
from scenarios_app.forms.inputs import choice, code, code_line, flag, hidden, line, prose
from scenarios_app.forms.rows import Column, Rows
from scenarios_app.forms.slots import (
    ABSENT,
    COMMAS,
    FLAG,
    JSON,
    NUMBER,
    TEXT,
    TEXT_OR_JSON,
    Document,
    Kind,
    NotShown,
    Slot,
    value_at,
)
from scenarios_app.presentation import inline_json
from scenarios_app.spec.errors import Problem
from scenarios_app.spec.numbers import number_of

MOST_TOOLS = 30  # each has a dozen fields and its rows: DATA_UPLOAD_MAX_NUMBER_FIELDS has to hold them
COUNT = "tool_count"  # the hidden field that says how many tools the form shows
_TYPES = (("", "anything"), *((name, name) for name in ("string", "integer", "number", "boolean", "array", "object")))
_FORMATS = (("", "free"), *((name, name) for name in ("date", "time", "date-time", "email", "uri")))
_OTHERS = (("", "may come too"), ("false", "are refused"), ("true", "may come too, and the schema says so"))
_ANY_LIST = Kind(
    "a list", lambda value: COMMAS.show(value) or inline_json(value) if isinstance(value, list) else None, COMMAS.read
)


def _parameters(index: int) -> Rows:
    return Rows(
        prefix=f"t{index}parameters",
        path=("tools", index, "parameters", "properties"),
        label="Parameters",
        help_text="What else a schema says of one (its items, its own properties ...) stays, and is edited as JSON.",
        word="Parameter",
        add="Add a parameter",
        key="Name",
        columns=(
            Column(Slot("type", ("type",), TEXT_OR_JSON), lambda: choice("Type", _TYPES)),
            Column(Slot("description", ("description",), TEXT), lambda: line("Meaning")),
            Column(Slot("enum", ("enum",), _ANY_LIST), lambda: line("One of", placeholder="separated by commas")),
            Column(Slot("format", ("format",)), lambda: choice("Format", _FORMATS)),
            Column(Slot("minimum", ("minimum",), NUMBER), lambda: code_line("At least", inputmode="decimal")),
            Column(Slot("maximum", ("maximum",), NUMBER), lambda: code_line("At most", inputmode="decimal")),
            Column(Slot("pattern", ("pattern",), TEXT), lambda: code_line("Pattern")),
        ),
    )


def _answers(index: int) -> Rows:
    return Rows(
        prefix=f"t{index}answers",
        path=("tools", index, "answers"),
        label="Declared answers",
        help_text="The first whose condition holds is given. Texts may hold {{ args.NAME }} and {{ state.NAME }}.",
        word="Answer",
        add="Add an answer",
        columns=(
            Column(Slot("when", ("when",), TEXT), lambda: code_line("When", placeholder="always")),
            Column(Slot("delay_ms", ("delay_ms",), NUMBER), lambda: code_line("After ms", inputmode="numeric")),
            Column(Slot("result", ("result",), JSON), lambda: code("Result, as JSON", rows=2)),
            Column(Slot("effects", ("effects",), JSON), lambda: code("The state then changes by", rows=2)),
            Column(Slot("error", ("error",), TEXT), lambda: line("Or an error")),
        ),
    )


def _tool_slots(index: int) -> tuple[Slot, ...]:
    def slot(field: str, *path: str, kind: Kind = TEXT) -> Slot:
        return Slot(f"t{index}{field}", ("tools", index, *path), kind)

    return (
        slot("name", "name"),
        slot("description", "description"),
        slot("required", "parameters", "required", kind=COMMAS),
        slot("others", "parameters", "additionalProperties", kind=JSON),
        slot("reads", "reads", kind=COMMAS),
        slot("url", "http", "url"),
        slot("headers", "http", "headers", kind=JSON),
        slot("timeout", "http", "timeout", kind=NUMBER),
        slot("send_state", "http", "send_state", kind=FLAG),
        slot("http_effects", "http", "effects", kind=JSON),
        slot("python", "python"),
    )


def _tool_fields(index: int) -> dict[str, Any]:
    made = {
        "name": code_line("Name"),
        "description": prose("What it does, and when to call it", rows=2),
        "required": code_line("Needed", "Names of parameters, separated by commas."),
        "others": choice("Other arguments", _OTHERS),
        "reads": code_line("Reads of the state", "For people: what its answers look at."),
        "url": code_line("Or your own endpoint", "Its address, which the operator allows. A tool has one who answers."),
        "headers": code("Headers", 'Such as {"Authorization": "Bearer {{secrets.STAGING_KEY}}"}.', rows=2),
        "timeout": code_line("Time limit", "10 s when not given."),
        "send_state": flag("The state goes along"),
        "http_effects": code("The state then changes by", "result is what the endpoint answered.", rows=2),
        "python": code_line("Or a class", "The name under which the operator registered it."),
    }
    return {f"t{index}{name}": field for name, field in made.items()}


def _tool_layout(index: int, name: str) -> tuple[str, str, tuple[str, ...]]:
    head = ("name", "description", "parameters", "required", "others", "reads", "answers")
    http = ("url", "timeout", "send_state", "headers", "http_effects", "python")
    return name or f"Tool {index + 1}", "", tuple(f"t{index}{part}" for part in (*head, *http))


class ApplicationForm(SlotForm):
    """Its fields depend on how many tools there are: those of the document, and those that a button added."""

    def __init__(self, document: Document, data: Mapping[str, str] | None = None) -> None:
        count = _count(document, data)
        self.gone = [n for n in range(count) if data is not None and data.get(f"t{n}gone")]
        self.shown = [n for n in range(count) if n not in self.gone]
        self.slots = (Slot("name", ("name",)), Slot("facts", ("facts",), JSON))
        self.slots += tuple(slot for n in self.shown for slot in _tool_slots(n))
        self.groups = tuple(group for n in self.shown for group in (_parameters(n), _answers(n)))
        super().__init__(document, data)
        self.fields |= {"name": line("Name", "No comma and no @. It stays for good."), "facts": _facts()}
        for n in self.shown:
            self.fields |= _tool_fields(n)
        for n in self.gone:
            self.fields[f"t{n}gone"] = hidden()
        self.fields[COUNT] = hidden()
        self.initial[COUNT] = str(count)
        self.layout = (("The application", "", ("name", "facts")), *(self._section(n) for n in self.shown))

    @property
    def kept_fields(self) -> list[Any]:
        """Hidden: how many tools there are, and which were taken out."""
        return [self[COUNT], *(self[f"t{n}gone"] for n in self.gone)]

    @property
    def tools(self) -> list[tuple[int, str]]:
        """Number and name of each tool that is shown."""
        return [(n, str(self[f"t{n}name"].value() or f"Tool {n + 1}")) for n in self.shown]

    def _section(self, index: int) -> tuple[str, str, tuple[str, ...]]:
        return _tool_layout(index, str(self[f"t{index}name"].value() or ""))

    @classmethod
    def arranged(cls, data: Mapping[str, str], action: str) -> dict[str, str]:
        """After a button: add-tool, drop-tool:NUMBER, or those of the rows."""
        sent = super().arranged(data, action)
        verb, _, number = action.partition(":")
        if verb == "add-tool":
            sent[COUNT] = str((number_of(sent.get(COUNT, "")) or 0) + 1)
        elif verb == "drop-tool" and number_of(number) is not None:
            sent[f"t{number}gone"] = "on"
        return sent

    def merged(self) -> tuple[Document, list[Problem]]:
        document, problems = super().merged()
        for n in reversed(self.gone):
            if n < len(document.get("tools") or ()):
                del document["tools"][n]
        if self.gone and document.get("tools") == []:
            del document["tools"]
        return document, problems

    def field_of(self) -> dict[str, str]:
        """Field by path in the merged document, which lacks the tools that are gone."""
        return {_moved(path, self.gone): name for path, name in super().field_of().items()}


def _moved(path: str, gone: list[int]) -> str:
    head, bracket, rest = path.partition("]")
    index = number_of(head.removeprefix("tools["))
    if not path.startswith("tools[") or index is None:
        return path
    return f"tools[{index - sum(n < index for n in gone)}{bracket}{rest}"


def _facts() -> Any:
    return code("Facts", 'What the agent is told with its instructions, such as {"opens": "17:00"}.', rows=5)


def _count(document: Document, data: Mapping[str, str] | None) -> int:
    """How many tools the form shows. Raises NotShown for more than it can."""
    tools = value_at(document, ("tools",))
    held = 0 if tools is ABSENT or tools is None else len(tools) if isinstance(tools, list) else -1
    if held < 0 or (held and not all(isinstance(tool, dict) for tool in tools)):
        raise NotShown("tools", "a list of objects")
    if held > MOST_TOOLS:
        raise NotShown("tools", f"a list of at most {MOST_TOOLS} tools")
    added = (number_of(data.get(COUNT, "")) or 0) if data is not None else 0
    return min(max(held, added), MOST_TOOLS)
