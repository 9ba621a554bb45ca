"""Listening in from the run's page: what the recorder publishes is played, and a mark stays with the trial."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from channels.layers import get_channel_layer

from runs_app import loop
from runs_app.models import Mark
from runs_app.recorder import listen_in
from tests.browser import Chrome, Site
from tests.pages.playing import begin
from tests.realtime.support import tone
from tests.runs.builders import make_run
from tests.services import eventually
from tests.site.axe import looks

pytestmark = pytest.mark.browser

PLAYED = "window.__played ?? []"
# Notes what the page hands to its sound card: the buffer's channels and when it is to be heard.
NOTE = """() => {
  const start = AudioBufferSourceNode.prototype.start;
  AudioBufferSourceNode.prototype.start = function (at) {
    const sides = [0, 1].map((side) => Math.max(...this.buffer.getChannelData(side).map(Math.abs)));
    (window.__played ??= []).push([at, this.buffer.duration, ...sides]);
    return start.call(this, at);
  };
}"""


def publish(trial: int, *messages: dict[str, Any]) -> None:
    async def send() -> None:
        layer = get_channel_layer()
        for message in messages:
            await layer.group_send(listen_in.group(trial), message)

    loop.rings.submit(send()).result(10)


def chunk(number: int) -> dict[str, Any]:
    """A tenth of a second in which only the agent, on the right, is heard."""
    samples = np.zeros((listen_in.CHUNK_SAMPLES, 2), dtype="<i2")
    samples[:, 1] = tone(100)[: listen_in.CHUNK_SAMPLES]
    return {"type": "listen.chunk", "start": number * listen_in.CHUNK_SAMPLES, "samples": samples.tobytes()}


def test_a_call_under_way_is_heard_marked_and_ends(site: Site, chrome: Chrome) -> None:
    run = make_run()
    claim = begin(run)
    page = chrome.open(f"/runs/{run.pk}/?trial={claim.trial_id}")
    page.evaluate(NOTE)
    page.get_by_role("button", name="Listen in").click()
    bar = page.locator(".listen-bar")
    assert "waiting for the first sound" in bar.inner_text()
    eventually(lambda: asked(claim.trial_id), what="the page asks to hear it")

    publish(claim.trial_id, *[chunk(number) for number in range(20)])
    eventually(lambda: bar.get_attribute("data-heard") == "20", what="twenty chunks have come")
    played = page.evaluate(PLAYED)
    starts = np.diff([at for at, *_ in played])
    assert np.allclose(starts, 0.1, atol=1e-6), "one behind the other, without a gap"
    assert all(caller == 0 and agent > 0.1 for _, _, caller, agent in played)

    eventually(lambda: "0:0" in bar.locator(".mono").inner_text(), what="the moment that is heard is shown")
    page.keyboard.press("M")
    eventually(lambda: Mark.objects.filter(trial=claim.trial_id, attempt=claim.attempt).exists(), what="a mark is kept")
    eventually(lambda: "Marked" in bar.inner_text(), what="the page says so")
    assert looks(page) == []

    publish(claim.trial_id, {"type": "listen.over", "why": ""})
    eventually(lambda: "The call is over" in bar.inner_text(), what="the end is told")
    page.get_by_role("button", name="Stop").click()
    assert bar.count() == 0


def asked(trial: int) -> bool:
    async def look() -> bool:
        return bool(await get_channel_layer().connection(0).exists(f"soundcheck:listen:{trial}"))

    return loop.rings.submit(look()).result(10)
