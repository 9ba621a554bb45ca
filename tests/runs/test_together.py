"""Several processes and threads at once: what a worker does reaches a page, and SQLite holds up."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings as site
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client

from runs_app import live
from runs_app.models import Event as EventRow
from runs_app.models import Run, Trial
from runs_app.realtime.record import Event
from runs_app.recorder.recording import Recorder
from runs_app.services import results
from runs_app.services.claims import Claim, claim_trial
from scenarios_app.models import Scenario
from scenarios_app.services.scenario_files import import_scenarios
from tests.runs import agents
from tests.runs.builders import make_configuration, make_run, scenario
from tests.runs.stack import Stack
from tests.scripted_server import Call, Session, serving_in_thread

ORIGIN = "http://testserver"
in_database = sync_to_async(thread_sensitive=False)


def cookie_of_somebody() -> bytes:
    client = Client()
    client.force_login(User.objects.create_user("alice"))
    return f"{site.SESSION_COOKIE_NAME}={client.cookies[site.SESSION_COOKIE_NAME].value}".encode()


@pytest.mark.case("D01")
async def test_a_page_shows_what_another_process_does_within_a_second(worker: Stack, settings):
    """D01: web and worker are two processes; the page was open before the trial had its first event."""
    from evalsite import asgi

    settings.SITE_ORIGINS = [ORIGIN]
    watched, began_s = threading.Event(), []

    async def wait_for_the_page(session: Session) -> None:
        assert await asyncio.to_thread(watched.wait, 30)
        began_s.append(time.monotonic())

    with serving_in_thread([Call(wait_for_the_page), *agents.answering()]) as agent:
        version = await in_database(make_configuration)(endpoint=agent.url)
        run = await in_database(make_run)(1, configurations=[version])
        sent = [(b"origin", ORIGIN.encode()), (b"cookie", await in_database(cookie_of_somebody)())]
        socket = WebsocketCommunicator(asgi.websockets(), f"/ws/runs/{run.pk}/", sent)
        assert (await socket.connect(timeout=10))[0]
        html = await socket.receive_from(timeout=10)
        watched.set()
        while "session.created" not in html:
            html = await socket.receive_from(timeout=10)
        assert time.monotonic() - began_s[0] < 1.0
        while "1 passed" not in html:
            html = await socket.receive_from(timeout=20)
        await socket.disconnect()
    assert (await Run.objects.aget(pk=run.pk)).status == "done"


@pytest.mark.case("D01")
async def test_without_redis_a_page_is_refused_and_the_log_names_the_setting(transactional_db, settings, caplog):
    """D01, no Redis: nothing waits in silence."""
    from evalsite import asgi

    settings.SITE_ORIGINS = [ORIGIN]
    settings.CHANNEL_LAYERS = {}
    run = await in_database(make_run)(1)
    sent = [(b"origin", ORIGIN.encode()), (b"cookie", await in_database(cookie_of_somebody)())]
    socket = WebsocketCommunicator(asgi.websockets(), f"/ws/runs/{run.pk}/", sent)
    assert not (await socket.connect(timeout=10))[0]
    await socket.disconnect()
    assert "REDIS_URL is not set" in caplog.text


@pytest.mark.case("D11")
@pytest.mark.django_db(transaction=True)
def test_sqlite_bears_eight_recorders_three_pages_and_an_import_at_once():
    """D11: no lock error, every event stored, every trial ended, the import done."""
    run = make_run(8, concurrency=8)
    done = threading.Event()
    file = json.dumps({"schema_version": "1.0", "scenarios": [scenario(f"more_{n}") for n in range(1000)]}).encode()

    def record(claim: Claim) -> None:
        recorder = Recorder(claim, stop=lambda reason: None)
        recorder.start()
        for seq in range(50):
            recorder.emit(Event(seq, seq * 20.0, "agent", "received", "response.x", {"delta": "word " * 20}))
        assert recorder.drain()
        results.finish_claimed(claim=claim, outcome="passed")
        recorder.close()

    def poll() -> int:
        looks = 0
        while not done.is_set():
            live.panel(Run.objects.get(pk=run.pk))
            looks += 1
        return looks

    def closing(work, *arguments):
        try:
            return work(*arguments)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(16) as pool:
        pages = [pool.submit(closing, poll) for _ in range(3)]
        importing = pool.submit(closing, lambda: import_scenarios(data=file, suite_name="more"))
        try:
            recordings = [pool.submit(closing, record, claim_trial(run_id=run.pk)) for _ in range(8)]
            for recording in recordings:
                recording.result(60)
            assert len(importing.result(60).new) == 1000
        finally:
            done.set()
        assert all(page.result(60) for page in pages)
    assert EventRow.objects.count() == 400
    assert list(Trial.objects.values_list("outcome", flat=True)) == ["passed"] * 8
    assert Scenario.objects.filter(key__startswith="more_").count() == 1000
    run.refresh_from_db()
    assert run.status == "done"
