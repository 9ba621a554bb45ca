"""The road of a trial with real processes: a Celery worker, an embedded Valkey, a database file, a real socket."""

from __future__ import annotations

import signal

import pytest

from runs_app.models import Event, Run, Trial
from runs_app.services import queues
from runs_app.services.runs import AlreadyFinished, cancel_run
from tests.runs import agents
from tests.runs.builders import make_configuration, make_run
from tests.runs.stack import Stack, running
from tests.scripted_events import created, error, text_delta
from tests.scripted_server import Close, ScriptedServer, Send, serving_in_thread
from tests.services import eventually


def run_against(server: ScriptedServer, scenarios: int = 1, **more) -> Run:
    return make_run(scenarios, configurations=[make_configuration(endpoint=server.url)], **more)


def outcomes(run: Run) -> list[str]:
    return list(run.trials.order_by("position").values_list("outcome", flat=True))


def test_a_run_is_played_graded_and_closed_by_a_worker(worker: Stack):
    with serving_in_thread(agents.answering()) as agent:
        run = run_against(agent, 2, repeats=2)
        worker.wait_for(run)
    assert outcomes(run) == ["passed"] * 4
    assert len(agent.sessions) == 4
    trial = run.trials.first()
    assert trial.record["turns"][0]["agent_text"] == "Your table is booked."
    assert trial.lease_expires_at is None
    seqs = list(trial.events.values_list("seq", flat=True))
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
    grading = trial.gradings.get()
    assert (grading.outcome, grading.current) == ("passed", True)
    assert grading.checks.exists()


@pytest.mark.case("D07")
def test_a_message_that_comes_twice_plays_nothing_twice(worker: Stack):
    """D07: one session and one result per trial, whatever the broker repeats."""
    before = worker.log().count("nothing to grade")
    with serving_in_thread(agents.answering(after_ms=300)) as agent:
        run = run_against(agent, 3, concurrency=2)
        queues.send_lanes(run_id=run.pk, count=12)
        worker.wait_for(run)
        for trial in run.trials.all():
            queues.send_grading(trial_id=trial.pk)
        queues.send_lanes(run_id=run.pk, count=3)
        eventually(lambda: worker.log().count("nothing to grade") >= before + 3)
    assert len(agent.sessions) == 3
    assert set(run.trials.values_list("attempt", flat=True)) == {1}
    assert [trial.gradings.count() for trial in run.trials.all()] == [1, 1, 1]
    assert "already claimed" in worker.log()


@pytest.mark.timeout(300)
@pytest.mark.case("D09")
def test_a_run_cancelled_while_no_worker_is_up_never_starts(stack: Stack):
    """D09 (a)."""
    with serving_in_thread(agents.answering()) as agent:
        run = run_against(agent, 3)
        cancel_run(run=run)
        other = run_against(agent, 1)
        stack.worker()
        stack.wait_for(other)
        run.refresh_from_db()
    assert run.status == "cancelled"
    assert outcomes(run) == ["cancelled"] * 3
    assert len(agent.sessions) == 1  # the other run's


@pytest.mark.case("D09")
def test_a_run_cancelled_in_mid_conversation_closes_the_socket_within_two_seconds(worker: Stack):
    """D09 (b), (d), (e): a cooperative check, no signal; what was heard so far is kept; finished trials stay."""

    def script(session):
        return agents.answering() if session.index < 3 else agents.silent()

    with serving_in_thread(script) as agent:
        run = run_against(agent, 8, concurrency=1)
        eventually(lambda: len(agent.sessions) == 4 and agent.sessions[3].types()[-1:] == ["response.create"])
        eventually(lambda: run.trials.filter(status="done").count() == 3)
        cancel_run(run=run)
        eventually(lambda: agent.open_sessions == 0, within_s=2.0, what="the socket is closed")
        worker.wait_for(run, "cancelled")
        assert len(agent.sessions) == 4
    assert outcomes(run) == ["passed"] * 3 + ["cancelled"] * 5
    stopped = run.trials.order_by("position")[3]
    assert stopped.record["turns"][0]["status"] == "stopped"
    assert stopped.events_file
    assert stopped.events.exists()


@pytest.mark.case("D09")
def test_a_finished_run_cannot_be_cancelled(worker: Stack):
    """D09 (c): already finished, and unchanged."""
    with serving_in_thread(agents.answering()) as agent:
        run = run_against(agent)
        worker.wait_for(run)
    with pytest.raises(AlreadyFinished, match="already done"):
        cancel_run(run=run)
    run.refresh_from_db()
    assert run.status == "done"
    assert outcomes(run) == ["passed"]


@pytest.mark.timeout(300)
def test_killed_workers_leave_every_trial_to_end_exactly_once_within_the_limit(stack: Stack):
    with serving_in_thread(agents.answering(after_ms=700)) as agent:
        first = stack.worker(threads=8)
        stack.sweeper()
        run = run_against(agent, 6, repeats=2, concurrency=3)
        eventually(lambda: len(agent.sessions) >= 5)
        assert agent.open_sessions <= 3
        stack.kill(first)
        eventually(lambda: agent.open_sessions == 0)
        stack.worker(threads=8)
        most = 0

        def watched() -> bool:
            nonlocal most
            most = max(most, agent.open_sessions, running(run))
            return not run.trials.exclude(status="done").exists()

        eventually(watched, within_s=60, what="all trials ended")
        stack.wait_for(run)
    assert outcomes(run) == ["passed"] * 12
    assert most <= 3
    assert [trial.gradings.count() for trial in run.trials.all()] == [1] * 12
    again = run.trials.filter(attempt__gt=1)
    assert again.exists()
    assert set(again.values_list("expiries", flat=True)) == {1}
    for trial in run.trials.all():
        ended = Event.objects.filter(trial=trial, attempt=trial.attempt, type="session.ended")
        assert ended.count() == 1


@pytest.mark.timeout(300)
def test_a_worker_that_is_told_to_stop_gives_its_trials_back_at_once(stack: Stack):
    with serving_in_thread(agents.silent()) as agent:
        worker = stack.worker()
        run = run_against(agent, 2, concurrency=2)
        eventually(lambda: running(run) == 2 and agent.open_sessions == 2)
        stack.kill(worker, signal.SIGTERM)
        assert set(run.trials.values_list("status", "expiries", "attempt")) == {("queued", 0, 1)}
        assert agent.open_sessions == 0
        run.refresh_from_db()
        assert run.status == "running"


@pytest.mark.case("A09")
def test_a_session_that_expires_frees_its_place_and_the_run_goes_on(worker: Stack):
    """A09: invalid (session_expired) within a second, no second session for it, and the other two are played."""
    expiring = [
        *agents.UP,
        *agents.ASKED,
        Send(created()),
        Send(text_delta("Your table")),
        Send(error("session_expired", "Your session hit the maximum duration of 60 minutes.")),
        Close(1001, "session expired"),
    ]

    def script(session):
        return expiring if session.index == 0 else agents.answering()

    with serving_in_thread(script) as agent:
        run = run_against(agent, 3, concurrency=1)
        worker.wait_for(run)
    first = run.trials.order_by("position").first()
    assert (first.outcome, first.stage) == ("invalid", "session_expired")
    assert (first.recorded_at - first.started_at).total_seconds() < 3
    assert first.record["turns"][0]["agent_text"] == "Your table"
    assert outcomes(run) == ["invalid", "passed", "passed"]
    assert len(agent.sessions) == 3
    assert Trial.objects.leased(first.finished_at).count() == 0
