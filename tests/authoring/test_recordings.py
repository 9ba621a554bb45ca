"""Recordings come with their scenarios and leave with them: from files beside, several at once, or a ZIP."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from runs_app.realtime.wav import wav_bytes
from scenarios_app.models import Recording, Scenario, ScenarioVersion
from scenarios_app.services.drafts import begin_draft, drop_drafts
from scenarios_app.services.recordings import forget_unused_recordings, keep_recording, read_recording_file
from tests.authoring.pages import inputs
from tests.support import make_scenario, make_user, scenario_file, scenario_json

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def storage(tmp_path: Any, settings: Any) -> None:
    options = {"location": str(tmp_path / "storage")}
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options},
    }


def tone(hz: float = 300.0, ms: int = 400) -> bytes:
    return wav_bytes((8000 * np.sin(2 * np.pi * hz * np.arange(ms * 24) / 24_000)).astype(np.int16))


def recorded(key: str, path: str, **more: Any) -> dict[str, Any]:
    said = {"text": "A table for Nora.", "recordings": [{"id": "nora", "path": path, "condition": "clean", **more}]}
    return scenario_json(key, input=said)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def sha_of(key: str) -> str | None:
    latest = Scenario.objects.get(key=key).latest
    assert latest is not None
    found: str | None = latest.content["input"]["recordings"][0].get("sha256")
    return found


def test_the_command_takes_recordings_beside_the_file_and_the_export_lays_them_there_again(tmp_path: Path) -> None:
    source = tmp_path / "in"
    (source / "audio").mkdir(parents=True)
    (source / "audio" / "nora.wav").write_bytes(tone())
    (source / "calls.json").write_bytes(scenario_file([recorded("a", "audio/nora.wav"), scenario_json("b")]))
    call_command("import_scenarios", str(source / "calls.json"), "--suite", "demo")
    assert read_recording_file(str(sha_of("a"))) == tone()

    (tmp_path / "out").mkdir()
    call_command("export_scenarios", "--suite", "demo", "--output", str(tmp_path / "out" / "calls.json"))
    went, came = files_of(tmp_path / "out"), files_of(source)
    assert json.loads(went.pop("calls.json")) == json.loads(came.pop("calls.json"))
    assert went == came

    call_command("import_scenarios", str(tmp_path / "out" / "calls.json"), "--suite", "demo")
    assert ScenarioVersion.objects.count() == 2


def test_another_sound_under_the_same_path_is_a_new_version_and_the_file_alone_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "nora.wav").write_bytes(tone())
    file = tmp_path / "calls.json"
    file.write_bytes(scenario_file([recorded("a", "nora.wav")]))
    call_command("import_scenarios", str(file), "--suite", "demo")
    first = sha_of("a")
    (tmp_path / "nora.wav").unlink()
    call_command("import_scenarios", str(file), "--suite", "demo")
    assert (sha_of("a"), ScenarioVersion.objects.count()) == (first, 1)
    (tmp_path / "nora.wav").write_bytes(tone(600))
    call_command("import_scenarios", str(file), "--suite", "demo")
    assert ScenarioVersion.objects.count() == 2
    assert sha_of("a") != first


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"ID: 7, text: hello", "this is not audio that can be read"),
        (wav_bytes(np.zeros(24_000, dtype=np.int16)), "nobody is heard in it"),
        (tone(ms=50), "it is 50 ms long, at least 100 ms are needed"),
        (wav_bytes(np.ones(610 * 4_000, dtype=np.int16), rate_hz=4_000), "610 s long, at most 600 s"),
        (tone() + bytes(2 * 1024 * 1024), "is 2.0 MB, and the limit is 1 MB (IMPORT_LIMIT_MB)"),
    ],
)
def test_a_file_that_nobody_can_say_is_refused_by_its_name_and_nothing_is_stored(
    tmp_path: Path, settings: Any, data: bytes, reason: str
) -> None:
    settings.IMPORT_LIMIT_MB = 1 if len(data) < 4_000_000 else 20
    (tmp_path / "nora.wav").write_bytes(data)
    (tmp_path / "calls.json").write_bytes(scenario_file([recorded("a", "nora.wav")]))
    with pytest.raises(CommandError) as refused:
        call_command("import_scenarios", str(tmp_path / "calls.json"), "--suite", "demo")
    assert "nora.wav" in str(refused.value)
    assert reason in str(refused.value)
    assert not Scenario.objects.exists()
    assert not Recording.objects.exists()


def test_a_dry_run_hears_the_recordings_and_stores_none_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nora.wav").write_bytes(tone())
    (tmp_path / "calls.json").write_bytes(scenario_file([recorded("a", "nora.wav"), recorded("b", "ann.wav")]))
    call_command("import_scenarios", str(tmp_path / "calls.json"), "--suite", "demo", "--dry-run")
    told = capsys.readouterr()
    assert told.out == "suite demo: 2 new, 0 changed, 0 unchanged (dry run, nothing stored)\n"
    assert ("nora.wav is not" in told.err, "ann.wav is not on this site" in told.err) == (False, True)
    assert not Recording.objects.exists()
    assert set(files_of(tmp_path)) == {"nora.wav", "calls.json"}


def test_a_refused_file_of_scenarios_leaves_no_recordings_behind(tmp_path: Path) -> None:
    (tmp_path / "nora.wav").write_bytes(tone())
    (tmp_path / "calls.json").write_bytes(scenario_file([recorded("a", "nora.wav"), scenario_json("b", title="")]))
    with pytest.raises(CommandError, match="nothing was stored, 1 problem"):
        call_command("import_scenarios", str(tmp_path / "calls.json"), "--suite", "demo")
    assert not Recording.objects.exists()


@pytest.mark.parametrize("path", ["../nora.wav", "/etc/passwd", "C:\\nora.wav", "a/../../b.wav"])
def test_a_path_out_of_the_folder_is_never_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "calls.json").write_bytes(scenario_file([recorded("a", path)]))
    with pytest.raises(CommandError, match="must"):
        call_command("import_scenarios", str(tmp_path / "calls.json"), "--suite", "demo")


def sent(browser: Client, *files: tuple[str, bytes]) -> Any:
    chosen = [SimpleUploadedFile(name, data) for name, data in files]
    return browser.post("/scenarios/import/", {"suite": "demo", "file": chosen})


def test_the_page_takes_several_files_and_says_which_sound_nothing_names(browser: Client) -> None:
    data = scenario_file([recorded("a", "audio/nora.wav")])
    checked = sent(browser, ("calls.json", data), ("nora.wav", tone()), ("other.wav", tone(500)))
    page = checked.content.decode()
    assert "calls.json is fine: 1 new" in page
    assert "other.wav" in page
    assert "no scenario names it" in page
    assert "not on this site" not in page
    browser.post("/scenarios/import/", {"checked": inputs(checked)["checked"]})
    assert read_recording_file(str(sha_of("a"))) == tone()


def test_an_empty_sound_is_told_by_its_name(browser: Client) -> None:
    page = sent(browser, ("calls.json", scenario_file([recorded("a", "nora.wav")])), ("nora.wav", b"")).content.decode()
    assert "nora.wav" in page
    assert "the file is empty" in page


def test_a_name_that_two_folders_have_needs_a_zip_and_a_zip_tells_them_apart(browser: Client) -> None:
    data = scenario_file([recorded("a", "x/nora.wav"), recorded("b", "y/nora.wav")])
    page = sent(browser, ("calls.json", data), ("nora.wav", tone())).content.decode()
    assert "nora.wav could be the sound of several" in page
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("set/calls.json", data)
        archive.writestr("set/x/nora.wav", tone(300))
        archive.writestr("set/y/nora.wav", tone(600))
        archive.writestr("__MACOSX/set/._nora.wav", b"junk")
    checked = sent(browser, ("set.zip", packed.getvalue()))
    browser.post("/scenarios/import/", {"checked": inputs(checked)["checked"]})
    assert read_recording_file(str(sha_of("a"))) == tone(300)
    assert read_recording_file(str(sha_of("b"))) == tone(600)


@pytest.mark.parametrize("data", [b"PK\x03\x04 broken", b"PK\x03\x04"])
def test_a_broken_zip_is_told(browser: Client, data: bytes) -> None:
    assert "cannot be unpacked" in sent(browser, ("set.zip", data)).content.decode()


def test_an_export_with_recordings_is_a_zip_that_comes_back_unchanged(browser: Client) -> None:
    sha256 = keep_recording(data=tone(), name="nora.wav").recording.sha256
    other = keep_recording(data=tone(700), name="nora.wav").recording.sha256
    make_scenario("a", input=recorded("a", "nora.wav", sha256=sha256)["input"])
    make_scenario("b", input=recorded("b", "../nora.wav", sha256=other)["input"])
    response = browser.get("/scenarios/export/?format=yaml")
    assert response["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        names = archive.namelist()
        assert all(not name.startswith(("/", "..")) for name in names)
        assert archive.read("nora.wav") == tone()
        assert archive.read(f"recordings/{other[:12]}-nora.wav") == tone(700)
    checked = sent(browser, ("back.zip", response.content))
    report = checked.context["report"]
    assert (report.unchanged, report.changed) == (("a",), ("b",))  # its path leads out of the folder, and was mended


def test_what_no_version_names_is_forgotten_after_a_day_and_what_one_ever_named_stays() -> None:
    named = keep_recording(data=tone(), name="named.wav").recording
    tried = keep_recording(data=tone(700), name="tried.wav").recording
    version = make_scenario("a", input=recorded("a", "nora.wav", sha256=named.sha256)["input"])
    assert forget_unused_recordings() == 0
    Recording.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert forget_unused_recordings() == 1
    assert list(Recording.objects.values_list("sha256", flat=True)) == [named.sha256]
    assert read_recording_file(version.content["input"]["recordings"][0]["sha256"]) == tone()
    with pytest.raises(LookupError):
        read_recording_file(tried.sha256)


def test_what_a_draft_names_stays_for_as_long_as_the_draft() -> None:
    kept, alice = keep_recording(data=tone(), name="nora.wav").recording, make_user("alice")
    draft = begin_draft(person=alice, content=recorded("a", "nora.wav", sha256=kept.sha256))
    Recording.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert forget_unused_recordings() == 0
    assert read_recording_file(kept.sha256) == tone()
    drop_drafts(person=alice, draft=draft)
    assert forget_unused_recordings() == 1
