"""One line per fact, with the ids of what it is about. Ids come from a ContextVar set in request, task and consumer."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

_ids: ContextVar[dict[str, object]] = ContextVar("log_ids")


@contextmanager
def ids(**known: object) -> Iterator[None]:
    """Every line logged inside carries these, such as run=7 trial=31."""
    token = _ids.set({**_ids.get({}), **known})
    try:
        yield
    finally:
        _ids.reset(token)


class IdsFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.ids = _ids.get({})
        return True


def _redacted(line: str) -> str:
    """The last line of defence: no known secret's value leaves through a log, not in a traceback either."""
    from runs_app.services import secrets

    return secrets.redact(line)


class TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        known = getattr(record, "ids", {})
        tail = "".join(f" {key}={value}" for key, value in known.items())
        line = f"{record.levelname.lower():7} {record.name}: {record.getMessage()}{tail}"
        return _redacted(f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line)


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{key: str(value) for key, value in getattr(record, "ids", {}).items()},
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _redacted(json.dumps(line, ensure_ascii=False))
