"""The application contract: the tools an agent may use, how they answer, and the facts behind them.

Use `parse_application` and `parse_applications`: they check JSON Schemas and templates, which a model alone does not.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, WithJsonSchema

from scenarios_app.spec import application_rules
from scenarios_app.spec.contract import (
    Contract,
    Flag,
    Name,
    NotNegative,
    Seconds,
    Text,
    ToolName,
    Whole,
    parse,
    parse_entries,
)
from scenarios_app.spec.jsontext import Json

LONGEST_DELAY_MS = 600_000
_DELAY_SCHEMA = {"type": "number", "minimum": 0, "maximum": LONGEST_DELAY_MS}

Delay = Annotated[NotNegative, Field(le=LONGEST_DELAY_MS), WithJsonSchema(_DELAY_SCHEMA)]


class ApplicationRef(Contract):
    """Names a stored application."""

    name: Name
    version: Annotated[Whole, Field(ge=1)] | None = None  # None: the newest


class Answer(Contract):
    """One declared answer. Used when `when` holds (no `when`: always); an `error` answers instead of `result`, and its
    `effects` (a JSON merge patch on the state) then do not apply. `result`, `effects` and `error` are templated."""

    when: Text | None = None
    result: Json = None
    effects: dict[str, Json] | None = None
    error: Text | None = None
    delay_ms: Delay = 0


class HttpBehaviour(Contract):
    """Ask the author's own endpoint. `headers` and the query of `url` may hold `{{secrets.NAME}}`. With `send_state`
    the trial's state goes along. `effects` are those of an Answer; in them `result` is what the endpoint answered."""

    url: Text
    headers: dict[str, str] = {}
    timeout: Seconds | None = None
    send_state: Flag = False
    effects: dict[str, Json] | None = None


class Tool(Contract):
    """A function of the agent. `reads` names what of the state it reads (for people and lint)."""

    name: ToolName
    description: str = ""
    parameters: dict[str, Json] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    reads: tuple[Text, ...] = ()
    answers: tuple[Answer, ...] = ()
    http: HttpBehaviour | None = None
    python: Text | None = None  # the name under which an operator registered a class

    def definition(self) -> dict[str, Json]:
        """The tool as a session.update lists it."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }


class Application(Contract):
    """`tool_results` is the plain map of tool name -> answer; a tool is answered by it or by its own `answers`."""

    name: Name
    facts: dict[str, Json] = {}
    tools: tuple[Tool, ...] = ()
    tool_results: dict[ToolName, Json] = {}

    @property
    def tool_names(self) -> frozenset[str]:
        """Of every tool that it answers or declares."""
        return frozenset((*(tool.name for tool in self.tools), *self.tool_results))

    def tool(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)


def parse_application(value: Json, path: str = "") -> Application:
    """One application. Raises SpecError with all its problems, their paths below `path`."""
    return parse(Application, value, application_rules.problems, path)


def parse_applications(data: bytes | str) -> tuple[Application, ...]:
    """A JSON list of applications; the same name again is its next version. All or nothing: raises SpecError with the
    problems of all entries, each with its line."""
    return parse_entries(Application, data, application_rules.problems)
