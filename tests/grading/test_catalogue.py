"""The catalogue of metrics and the documents that repeat it."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs_app.grading.grade import ASSESSMENT, DIMENSIONS
from runs_app.grading.metrics import METRICS
from runs_app.grading.rubric import RUBRIC
from scenarios_app.spec.matchers import OPERATORS

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_documented_as_the_catalogue_defines_it(name: str) -> None:
    info = METRICS[name]
    row = f"| `{name}` | {info.unit} | {info.better or '–'} | {info.definition} |"
    assert row in (DOCS / "metrics.md").read_text().splitlines()


def test_every_check_dimension_and_operator_is_documented() -> None:
    text = (DOCS / "grading.md").read_text()
    names = [check.__name__ for check in (*DIMENSIONS, *ASSESSMENT)] + [d.id for d in RUBRIC.dimensions]
    assert [name for name in names if f"`{name}`" not in text] == []
    assert [name for name in OPERATORS if f'"{name}"' not in text] == []
