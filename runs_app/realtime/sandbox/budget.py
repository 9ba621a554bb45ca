"""What one execution of a tool may cost, counted in steps and in CPU time of its thread."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from jinja2.runtime import LoopContext, Undefined

MAX_STEPS = 100_000
MAX_CPU_S = 0.5  # CPU and not wall time: a busy machine does not make a template fail
MAX_CHARS = 65_536
MAX_ITEMS = 10_000
MAX_BITS = 4_096  # of a whole number
MAX_DEPTH = 50
MAX_SOURCE = 20_000


class TemplateError(Exception):
    """A template cannot be compiled or went wrong while it ran; the message says how."""


class LimitError(Exception):
    """A template asks for more than it may have."""


@dataclass
class _Budget:
    steps: int
    until_cpu_s: float


_budget: ContextVar[_Budget] = ContextVar("template_budget")


@contextmanager
def limits() -> Iterator[None]:
    """What is rendered inside shares one budget. Nothing can be rendered outside."""
    token = _budget.set(_Budget(MAX_STEPS, time.thread_time() + MAX_CPU_S))
    try:
        yield
    finally:
        _budget.reset(token)


def spend(amount: int = 1) -> None:
    budget = _budget.get()
    budget.steps -= amount
    if budget.steps < 0:
        raise LimitError(f"it takes more than {MAX_STEPS} steps")
    if time.thread_time() > budget.until_cpu_s:
        raise LimitError(f"it takes more than {MAX_CPU_S:g} s")


def size(value: Any) -> int:
    """Characters of a text, items of a collection, 16 bits of a whole number."""
    if isinstance(value, int):
        return value.bit_length() // 16
    return len(value) if isinstance(value, Sized) and not isinstance(value, Undefined | LoopContext) else 0


def check_size(wanted: int, kind: str, most: int = MAX_CHARS) -> None:
    """Raises LimitError. To be asked before the thing is made: afterwards the memory is gone."""
    if wanted > most:
        raise LimitError(f"it makes a {kind} of {wanted} (at most {most})")
