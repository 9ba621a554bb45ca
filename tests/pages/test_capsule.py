"""The bug capsule: one file, or a zip, that tells a moment of a trial to somebody who cannot reach the site."""

from __future__ import annotations

import base64
import io
import json
import re
import shlex
import zipfile
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandParser
from django.test import Client

from runs_app.management.commands.run_eval import Command
from runs_app.models import Trial
from runs_app.realtime.wav import read_wav
from scenarios_app.spec import jsontext
from scenarios_app.spec.scenario import parse_scenario
from tests.grading import builders as evidence
from tests.pages.trials import broken_trial, record_trial
from tests.runs.builders import make_run

pytestmark = pytest.mark.django_db

LONG = evidence.recording([(0, 1_000), (10_000, 11_000)], [(1_800, 9_000), (12_000, 19_000)], 20_000)


def two_turns() -> Trial:
    first = evidence.spoken(agent=((1_800.0, 9_000.0),))
    second = evidence.spoken(caller=(10_000.0, 11_000.0), agent=((12_000.0, 19_000.0),), text="Done.", index=1)
    called = evidence.call(turn=1, called_ms=11_400.0, answered_ms=11_800.0)
    record = evidence.audio_record(called, turns=(first, second), audio_samples=len(LONG))
    return record_trial(make_run(repeats=2), record, LONG)


def zipped(client: Client, trial: Trial, t: float) -> dict[str, bytes]:
    answer = client.get(f"/trials/{trial.pk}/capsule.zip?t={t}")
    assert answer.status_code == 200
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def html(client: Client, trial: Trial, t: str) -> str:
    answer = client.get(f"/trials/{trial.pk}/capsule.html?t={t}")
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith("attachment")
    return answer.content.decode()


def test_the_clip_is_six_seconds_around_the_moment_sample_for_sample(signed_in: Client) -> None:
    clip = read_wav(zipped(signed_in, two_turns(), 13.4)["clip.wav"])
    assert clip.samples.shape == (6 * 24_000, 2)
    start = round(10.4 * 24_000)
    assert np.array_equal(np.round(clip.samples * 32_768).astype(np.int16), LONG[start : start + 6 * 24_000])


@pytest.mark.parametrize(("t", "start_ms"), [(0.0, 0.0), (1.0, 0.0), (19.9, 14_000.0), (500.0, 14_000.0)])
def test_at_the_ends_of_the_recording_the_clip_keeps_its_length(signed_in: Client, t: float, start_ms: float) -> None:
    facts = json.loads(zipped(signed_in, two_turns(), t)["moment.json"])
    assert facts["clip_ms"] == [start_ms, start_ms + 6_000.0]
    assert facts["at_ms"] <= 20_000.0


def test_it_tells_the_turn_the_tools_the_hashes_and_the_way_back(signed_in: Client, settings: Any) -> None:
    settings.SITE_URL = "https://check.example"
    trial = two_turns()
    files = zipped(signed_in, trial, 13.4)
    facts = json.loads(files["moment.json"])
    assert facts["turn"]["number"] == 2
    assert facts["turn"]["agent"] == "Done."
    assert [call["name"] for call in json.loads(files["tools.json"])] == ["create_reservation"]
    assert facts["configuration"]["hash"] == trial.configuration_version.content_hash
    assert facts["permalink"] == f"https://check.example/trials/{trial.pk}/?t=13.40"
    assert json.loads(zipped(signed_in, trial, 2.0)["tools.json"]) == []  # the first turn called nothing


def test_the_scenario_is_a_file_and_the_command_one_that_run_eval_takes(signed_in: Client) -> None:
    trial = two_turns()
    files = zipped(signed_in, trial, 13.4)
    words = shlex.split(json.loads(files["moment.json"])["replay"])
    parser = CommandParser()
    Command().add_arguments(parser)
    options = parser.parse_args(words[3:])
    assert options.data.name in files
    assert (options.configurations, options.seed, options.repeats) == ("Front desk@1", 7, 1)
    stored = jsontext.load(files[options.data.name])["scenarios"][0]
    assert parse_scenario(stored) == parse_scenario(trial.scenario_version.content)


def test_the_page_needs_nothing_but_itself(signed_in: Client) -> None:
    shown = html(signed_in, two_turns(), "13.4")
    assert re.findall(r'(?:src|href)="(?!data:)([^"#]*)', shown) == [re.search(r'href="([^"]+)', shown).group(1)]  # type: ignore[union-attr]
    assert "<script" not in shown
    assert "<svg" in shown
    sound = re.search(r"data:audio/wav;base64,([^\"]+)", shown)
    assert sound is not None
    assert len(read_wav(base64.b64decode(sound.group(1))).samples) == 6 * 24_000


def test_it_says_that_it_is_not_redacted(signed_in: Client) -> None:
    assert "Not redacted" in html(signed_in, two_turns(), "13.4")


def test_redacted_fields_are_left_out_of_all_its_texts(signed_in: Client, settings: Any) -> None:
    settings.REDACT_FIELDS = ["guest_name"]
    files = zipped(signed_in, two_turns(), 13.4)
    texts = {name: body for name, body in files.items() if name != "clip.wav"}
    assert not [name for name, body in texts.items() if b"Nora" in body]
    assert b"The recording always is what was heard" in files["capsule.html"]


def test_a_trial_without_a_recording_has_a_capsule_without_a_clip(signed_in: Client) -> None:
    trial = broken_trial()
    assert "There is no recording" in html(signed_in, trial, "0")
    assert set(zipped(signed_in, trial, 0)) == {"capsule.html", "moment.json", "tools.json", "case_1.json"}


def test_markup_in_what_was_said_stays_text(signed_in: Client) -> None:
    hostile = '</pre><script>alert("x")</script>'
    trial = record_trial(make_run(), evidence.record(turns=(evidence.turn(hostile),)))
    assert "<script" not in html(signed_in, trial, "0")


@pytest.mark.parametrize("t", ["soon", "-1", "nan", "1e400", "99999999"])
def test_what_is_no_moment_is_refused_by_name(signed_in: Client, t: str) -> None:
    trial = two_turns()
    for suffix in ("html", "zip"):
        answer = signed_in.get(f"/trials/{trial.pk}/capsule.{suffix}?t={t}")
        assert answer.status_code == 400
        assert answer.content.decode().startswith("t: ")


def test_a_trial_that_is_not_there_is_404_and_a_stranger_is_asked_to_sign_in(signed_in: Client) -> None:
    assert signed_in.get("/trials/999999/capsule.zip").status_code == 404
    assert Client().get(f"/trials/{two_turns().pk}/capsule.html").status_code == 302
