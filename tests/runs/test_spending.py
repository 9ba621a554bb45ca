"""What earlier trials say a run will cost."""

from __future__ import annotations

import pytest

from runs_app.spending import charge, spent
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


LIVE = {"protocol": "live", "mode": "audio", "endpoint": "wss://api.openai.com/v1/live/sessions", "model": "gpt-live-1"}


@pytest.mark.parametrize(
    ("backend", "dollars", "why"),
    [
        ({"mode": "responses", "model": "gpt-realtime"}, 0.10 + 4.0 + 16.0, ""),
        ({"mode": "client", "model": "gpt-realtime"}, 0.10 + 8.0 + 32.0, ""),
        ({"mode": "client", "model": "m", "endpoint": "simulator"}, 0.10, ""),
        ({"mode": "responses", "model": "gpt-unheard-of"}, 0.10, "no price of the backend gpt-unheard-of"),
    ],
)
def test_a_live_call_costs_its_billed_minutes_and_the_tokens_of_its_backend(
    backend: dict[str, str], dollars: float, why: str
) -> None:
    """Two minutes at 0.05 dollars, and a million tokens each way of the provider's backend or two of our own."""
    run = make_run()
    told = {"session_seconds": 120.0, "agent_input_tokens": 1_000_000, "agent_output_tokens": 1_000_000}
    told |= {"backend_input_tokens": 2_000_000, "backend_output_tokens": 2_000_000}
    play(run, ["passed"], metrics=told)
    version = run.configurations.get().configuration_version
    spec = parse_configuration({**version.content, **LIVE, "backend": backend})
    known = spent(run.trials.all(), {version.pk: spec})
    made = charge(spec, "Front desk@1", {"book_table": 3}, known, [version.pk])
    assert made.cost is not None
    assert (made.cost.low, made.cost.high) == (pytest.approx(3 * dollars), pytest.approx(3 * dollars))
    assert made.why == why
