"""Tool faults: how a tool misbehaves, declared by a scenario or laid over a whole run.

As JSON a map from tool name (or `*`, every tool) to a fault; as text one `TOOL=MODE` or `TOOL=MODE:DETAIL` a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, WithJsonSchema

from scenarios_app.spec.application import Delay
from scenarios_app.spec.contract import Contract, Text, parse
from scenarios_app.spec.errors import Problem, SpecError, path_of, refuse_if
from scenarios_app.spec.jsontext import Json, load
from scenarios_app.spec.wording import suggestion

EVERY_TOOL = "*"
FIELD = "tool_faults"

Mode = Literal["error", "empty", "malformed", "hostile", "delay", "timeout", "stale", "wrong_type"]
MODES: tuple[str, ...] = get_args(Mode)
# what replaces the seeded default of a mode
TEXT_MODES = ("error", "malformed", "hostile")
VALUE_MODES = ("stale", "wrong_type")

_TARGET = re.compile(r"[A-Za-z0-9_-]{1,64}|\*")
_DURATION = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s)?")


def _target(value: str) -> str:
    if not _TARGET.fullmatch(value):
        raise ValueError("must be the name of a tool, or * for every tool")
    return value


Target = Annotated[
    str, AfterValidator(_target), WithJsonSchema({"type": "string", "pattern": r"^([A-Za-z0-9_-]{1,64}|\*)$"})
]


class ToolFault(Contract):
    """How a tool misbehaves. `ms` belongs to `delay`; `text` and `value` replace the seeded default."""

    mode: Mode
    ms: Delay | None = None
    text: Text | None = None
    value: Json = None


class _Faults(Contract):
    tool_faults: dict[Target, ToolFault] = {}


def parse_faults(value: Json) -> dict[str, ToolFault]:
    """The faults of a JSON map. Raises SpecError, its paths below `tool_faults`."""
    return parse(_Faults, {FIELD: value}, lambda faults: fault_problems(faults.tool_faults)).tool_faults


def fault_problems(faults: Mapping[str, ToolFault]) -> Iterator[Problem]:
    """Every rule that the model alone cannot check, with paths such as `tool_faults.find.ms`."""
    for name, fault in faults.items():
        yield from (problem.under(path_of((FIELD, name))) for problem in _fault(fault))


def _fault(fault: ToolFault) -> Iterator[Problem]:
    if (fault.mode == "delay") != (fault.ms is not None):
        yield Problem("ms", "belongs to mode delay, which needs it")
    if fault.text is not None and fault.mode not in TEXT_MODES:
        yield Problem("text", f"belongs to the modes {', '.join(TEXT_MODES)}")
    if "value" in fault.model_fields_set and fault.mode not in VALUE_MODES:
        yield Problem("value", f"belongs to the modes {', '.join(VALUE_MODES)}")


def unknown_tools(faults: Mapping[str, ToolFault], known: Collection[str]) -> list[Problem]:
    """A problem for each fault of a tool that is not known: it would never happen."""
    return [
        Problem(path_of((FIELD, name)), f"there is no tool of this name{suggestion(name, list(known))}")
        for name in faults
        if name != EVERY_TOOL and name not in known
    ]


def read_faults(text: str) -> dict[str, Json]:
    """The map, as JSON, of what a person wrote: lines of `TOOL=MODE` or `TOOL=MODE:DETAIL`, or the JSON itself.

    DETAIL is a time for delay (`3000`, `500ms`, `3s`), a text for error, malformed and hostile, and JSON (or else a
    text) for stale and wrong_type. Raises SpecError with every problem.
    """
    if text.lstrip().startswith("{"):
        try:
            value = load(text)
        except SpecError as error:
            raise SpecError([problem.under(FIELD) for problem in error.problems]) from error
    else:
        value = _from_lines(text)
    parse_faults(value)
    return dict(value)


def _from_lines(text: str) -> dict[str, Json]:
    faults: dict[str, Json] = {}
    problems = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, rest = (part.strip() for part in line.partition("="))
        mode, _, detail = (part.strip() for part in rest.partition(":"))
        if not equals or not _TARGET.fullmatch(name):
            problems.append(Problem(FIELD, f'"{line}": write TOOL=MODE or TOOL=MODE:DETAIL, or * for every tool'))
        elif mode not in MODES:
            problems.append(Problem(FIELD, f'"{line}": the modes are {", ".join(MODES)}'))
        elif name in faults:
            problems.append(Problem(FIELD, f'"{line}": {name} has a fault already'))
        else:
            faults[name] = {"mode": mode, **_detail(mode, detail, line, problems)}
    refuse_if(problems)
    return faults


def _detail(mode: str, detail: str, line: str, problems: list[Problem]) -> dict[str, Json]:
    if mode == "delay":
        if found := _DURATION.fullmatch(detail):
            ms = float(found[1]) * (1000 if found[2] == "s" else 1)
            return {"ms": int(ms) if ms.is_integer() else ms}
        problems.append(Problem(FIELD, f'"{line}": a delay needs its time, such as delay:3000 or delay:3s'))
        return {"ms": 0}
    if not detail:
        return {}
    if mode in TEXT_MODES:
        return {"text": detail}
    if mode in VALUE_MODES:
        return {"value": _value(detail)}
    problems.append(Problem(FIELD, f'"{line}": {mode} takes no detail'))
    return {}


def _value(detail: str) -> Json:
    try:
        return load(detail)
    except SpecError:
        return detail


def fault_text(faults: Mapping[str, Mapping[str, Json]]) -> str:
    """What read_faults reads as these faults: lines where they can hold all of it, JSON where they cannot."""
    lines = "\n".join(_line(name, fault) for name, fault in faults.items())
    try:
        return lines if read_faults(lines) == {name: dict(fault) for name, fault in faults.items()} else _json(faults)
    except SpecError:
        return _json(faults)


def fault_lines(faults: Mapping[str, Mapping[str, Json]]) -> list[str]:
    """Each fault in words: `create_reservation: delay 3000 ms`."""
    return [f"{'every tool' if name == EVERY_TOOL else name}: {_words(fault)}" for name, fault in faults.items()]


def _words(fault: Mapping[str, Json]) -> str:
    if fault.get("ms") is not None:
        return f"{fault['mode']} {fault['ms']:g} ms"
    told = [fault["text"]] if fault.get("text") else []
    told += [_json(fault["value"])] if "value" in fault else []
    return " ".join([fault["mode"].replace("_", " "), *told])


def _line(name: str, fault: Mapping[str, Json]) -> str:
    details = [f"{fault['ms']:g}"] if fault.get("ms") is not None else []
    details += [fault["text"]] if fault.get("text") else []
    details += [_json(fault["value"])] if "value" in fault else []
    return ":".join([f"{name}={fault['mode']}", *details])


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
