"""What earlier trials say a run will cost."""

from __future__ import annotations

import pytest

from runs_app.spending import spent
from scenarios_app.spec.configuration import parse_configuration
from tests.pages.playing import play
from tests.runs.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("measured", [{"agent_input_tokens": None, "agent_output_tokens": None}, {}])
def test_tokens_that_nobody_counted_cost_an_unknown_sum_and_not_nothing(measured: dict[str, None]) -> None:
    run = make_run()
    play(run, ["passed"], metrics=measured)
    version = run.configurations.get().configuration_version
    spec = parse_configuration({**version.content, "model": "gpt-realtime"})
    known = spent(run.trials.all(), {version.pk: spec})
    assert known[version.pk, ""].cost is None
