"""The factors of a configuration: what a version of it puts to the test, in labels that two versions share or do not.

`prompt@n` is the n-th distinct instructions text of that configuration. Model and voice go by their names. Tools go by
a hash of their content, so that the same tools read the same under any name of application.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from scenarios_app.spec.hashing import content_hash
from scenarios_app.spec.jsontext import Json, dumps

FACTORS = ("prompt", "model", "voice", "tools")
NO_TOOLS = ""
_OF_APPLICATION = ("facts", "tools", "tool_results")
_SHOWN_DIGITS = 6


@dataclass(frozen=True)
class Label:
    text: str
    changed: bool  # against the version that it is held to


@dataclass(frozen=True)
class Factors:
    """`prompt` counts from 1, within its configuration; `prompt_hash` is of its text. An empty `voice` is the server's
    own. `tools` is a hash, NO_TOOLS without any, and None when the application that has them is not known."""

    prompt: int
    prompt_hash: str
    model: str
    voice: str
    tools: str | None
    tool_names: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """In the order of FACTORS, as pages show them."""
        return (f"prompt@{self.prompt}", self.model, self.voice or "server's voice", self._tools())

    def __str__(self) -> str:
        return " · ".join(self.texts)

    def _tools(self) -> str:
        if self.tools is None:
            return "tools unknown"
        return f"tools {self.tools[:_SHOWN_DIGITS]}" if self.tools != NO_TOOLS else "no tools"

    def labels(self, before: Factors | None = None) -> tuple[Label, ...]:
        """Each text, and whether its factor differs from that of `before`, which may be of another configuration."""
        theirs = (before or self)._values()
        return tuple(Label(text, a != b) for text, a, b in zip(self.texts, self._values(), theirs, strict=True))

    def _values(self) -> tuple[str | None, ...]:
        return (self.prompt_hash, self.model, self.voice, self.tools)


def prompt_of(instructions: Json, overriding: Json) -> str:
    """The instructions that the agent gets: those of session_update win over those of the field."""
    chosen = overriding if isinstance(overriding, str) else instructions
    return chosen if isinstance(chosen, str) else ""


def with_prompt(content: Mapping[str, Json], text: str) -> dict[str, Json]:
    """The same configuration with another prompt, put where prompt_of finds it."""
    session = content.get("session_update")
    if isinstance(session, dict) and isinstance(session.get("instructions"), str):
        return {**content, "session_update": {**session, "instructions": text}}
    return {**content, "instructions": text}


def prompt_in(content: Mapping[str, Json]) -> str:
    """The prompt of a stored version."""
    session = content.get("session_update")
    return prompt_of(content.get("instructions"), session.get("instructions") if isinstance(session, dict) else None)


def prompt_numbers(prompts: Mapping[int, str]) -> dict[int, int]:
    """Version number -> n of prompt@n. Give all versions up to the last one that is asked for."""
    seen: dict[str, int] = {}
    return {number: seen.setdefault(prompts[number], len(seen) + 1) for number in sorted(prompts)}


def factors(content: Mapping[str, Json], *, prompt: int, application: Mapping[str, Json] | None) -> Factors:
    """Of a stored version: its content, its number among the prompts, and the content of the application it uses."""
    session = content.get("session_update") or {}
    return Factors(
        prompt=prompt,
        prompt_hash=content_hash(prompt_of(content.get("instructions"), session.get("instructions"))),
        model=_model(content),
        voice=_voice(content, session),
        tools=_tools(content, session, application),
        tool_names=_named_tools(session, application),
    )


def _model(content: Mapping[str, Json]) -> str:
    """A model or a deployment in the endpoint's query is the one that is asked for."""
    query = dict(parse_qsl(str(content.get("endpoint", "")).partition("?")[2], keep_blank_values=True))
    return query.get("model", query.get("deployment", str(content.get("model", ""))))


def _voice(content: Mapping[str, Json], session: Mapping[str, Json]) -> str:
    audio = session.get("audio")
    output = audio.get("output") if isinstance(audio, dict) else None
    voice = output.get("voice") if isinstance(output, dict) else None
    flat = session.get("voice") if content.get("dialect") == "beta" else None
    chosen = flat or voice or content.get("voice") or ""
    return chosen if isinstance(chosen, str) else dumps(chosen)


def _tools(
    content: Mapping[str, Json], session: Mapping[str, Json], application: Mapping[str, Json] | None
) -> str | None:
    if application is None and content.get("application"):
        return None
    parts = {name: (application or {}).get(name) for name in _OF_APPLICATION}
    given = {name: value for name, value in {**parts, "session": session.get("tools")}.items() if value}
    return content_hash(given) if given else NO_TOOLS


def _named_tools(session: Mapping[str, Json], application: Mapping[str, Json] | None) -> tuple[str, ...]:
    declared = [*((application or {}).get("tools") or []), *(session.get("tools") or [])]
    return tuple(str(tool["name"]) for tool in declared if isinstance(tool, dict) and tool.get("name"))
