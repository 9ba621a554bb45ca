"""Logs carry ids and no secrets."""

from __future__ import annotations

import json
import logging

import pytest

from evalsite import logs

VALUE = "sk-made-up-value-1234567890"


def line_of(formatter: logging.Formatter, message: str, *, broken: bool = False) -> str:
    record = logging.LogRecord("test", logging.INFO, __file__, 1, message, None, None)
    if broken:
        try:
            raise ValueError(f"refused {VALUE}")
        except ValueError as error:
            record.exc_info = (type(error), error, error.__traceback__)
    logs.IdsFilter().filter(record)
    return formatter.format(record)


def test_a_line_carries_the_ids_of_what_it_is_about() -> None:
    with logs.ids(run=7), logs.ids(trial=31):
        assert line_of(logs.TextFormatter(), "claimed").endswith("claimed run=7 trial=31")
    assert "run=" not in line_of(logs.TextFormatter(), "claimed")


def test_json_lines_parse_and_carry_the_ids() -> None:
    with logs.ids(run=7):
        line = json.loads(line_of(logs.JsonFormatter(), 'said "yes"'))
    assert (line["run"], line["message"], line["level"]) == ("7", 'said "yes"', "info")


@pytest.mark.parametrize("formatter", [logs.TextFormatter(), logs.JsonFormatter()])
@pytest.mark.parametrize("broken", [False, True])
def test_a_secret_leaves_through_no_line_and_no_traceback(
    formatter: logging.Formatter, broken: bool, settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SOUNDCHECK_SECRETS = "A_KEY=https://api.example"  # type: ignore[attr-defined]
    monkeypatch.setenv("A_KEY", VALUE)
    assert VALUE not in line_of(formatter, f"Bearer {VALUE}", broken=broken)
