"""What CRAWL's transcript tells of a backend behind the voice."""

from __future__ import annotations

from runs_app.realtime.record import Delegation, Usage
from runs_app.reporting.crawl.details import backend_words
from tests.grading.builders import audio_record

TASK = Delegation("dlg_1", "client", 0, 900.0, 2_000.0, "completed", 1, ("Let me see.", "It is booked."))
SAID = [{"delegation_id": "dlg_1", "text": "Let me see."}, {"delegation_id": "dlg_1", "text": "It is booked."}]


def test_the_messages_of_our_own_backend_and_its_tokens_are_told() -> None:
    told = backend_words(audio_record(delegations=(TASK,), backend_usage=Usage(20, 5, 25), usage=Usage(1, 1, 2)))
    assert (told["backend_messages"], told["backend_text"]) == (SAID, "Let me see. It is booked.")
    assert [event["usage"]["total_tokens"] for event in told["backend_usage_events"]] == [25]


def test_all_tokens_that_gpt_live_tells_are_its_backends() -> None:
    told = backend_words(audio_record(protocol="live", delegations=(TASK,), usage=Usage(40, 8, 48)))
    assert [event["usage"]["total_tokens"] for event in told["backend_usage_events"]] == [48]


def test_a_voice_that_calls_its_tools_itself_has_no_backend() -> None:
    told = backend_words(audio_record(usage=Usage(40, 8, 48)))
    assert told == {"backend_messages": [], "backend_text": "", "backend_usage_events": []}
