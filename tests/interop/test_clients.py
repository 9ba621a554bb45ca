"""Clients that others wrote complete a written and a spoken turn with a function call against our simulator."""

from __future__ import annotations

import pytest

from tests.interop.conftest import Server
from tests.interop.software import run_client

pytestmark = [pytest.mark.slow, pytest.mark.interop]

PLAIN = ["py_openai.py", "py_agents.py", "py_livekit.py", "py_pipecat.py", "js_agents.mjs"]
MASTRA = ["mastra-ga", "mastra-beta"]
MODES = ["text", "audio"]


def booked(report: dict, mode: str) -> None:
    assert report["errors"] == []
    assert report["calls"] == [{"guest_name": "Maya", "date": "August 6"}]
    assert report["text"].strip() == "It is booked."
    # 16 bit at 24 kHz: the agent takes more than half a second to say it
    assert report["audio_bytes"] > 24_000 if mode == "audio" else report["audio_bytes"] == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("script", PLAIN)
def test_a_client_books_a_table(desk: Server, script: str, mode: str) -> None:
    booked(run_client(script, desk.url, mode), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("package", MASTRA)
def test_mastra_books_a_table_in_both_dialects(desk: Server, package: str, mode: str) -> None:
    booked(run_client("js_mastra.mjs", desk.url, mode, MASTRA=package), mode)


@pytest.mark.parametrize("mode", MODES)
def test_the_javascript_package_of_openai_books_a_table_over_tls(secure_desk: Server, mode: str) -> None:
    booked(run_client("js_openai.mjs", secure_desk.url, mode, NODE_EXTRA_CA_CERTS=str(secure_desk.certificate)), mode)
