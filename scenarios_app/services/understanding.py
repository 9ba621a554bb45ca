"""Which sentences of a prompt the simulator heeds: asked of the one that runs, for who writes instructions for it."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException

from django.conf import settings
from pydantic import BaseModel, NonNegativeInt, ValidationError

from scenarios_app.spec.configuration_rules import SIMULATOR

PATIENCE_S = 2.0
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # it runs beside us; no proxy knows it


@dataclass(frozen=True)
class Part:
    """A piece of the instructions, as written. `heeded`: what the simulator takes it for, nothing where it does not."""

    text: str
    heeded: tuple[str, ...] = ()

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()


class _Span(BaseModel):
    start: NonNegativeInt
    end: NonNegativeInt
    label: str
    asks: bool


class _Understood(BaseModel):
    spans: list[_Span]


def understand(*, instructions: str, endpoint: str) -> tuple[Part, ...] | None:
    """The instructions in pieces that make them up again. None where no simulator is meant, runs or answers."""
    if endpoint != SIMULATOR or not settings.SIMULATOR_URL or not instructions.strip():
        return None
    try:
        answer = _ask(instructions)
    except (OSError, HTTPException, ValidationError):  # a help for writing and no more: the page does without it
        return None
    return tuple(_parts(instructions, answer.spans))


def _ask(instructions: str) -> _Understood:
    url = f"{str(settings.SIMULATOR_URL).removesuffix('/v1')}/v1/understood"
    body = json.dumps({"instructions": instructions}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with _DIRECT.open(request, timeout=PATIENCE_S) as response:
        return _Understood.model_validate_json(response.read())


def _parts(text: str, spans: list[_Span]) -> Iterator[Part]:
    labels: dict[tuple[int, int], list[str]] = {}
    for span in spans:
        labels.setdefault((span.start, span.end), []).append(span.label if span.asks else f"not: {span.label}")
    done = 0
    for (start, end), heeded in sorted(labels.items()):
        if start > done:
            yield Part(text[done:start])
        yield Part(text[max(start, done) : end], tuple(heeded))
        done = max(done, end)
    if done < len(text):
        yield Part(text[done:])
