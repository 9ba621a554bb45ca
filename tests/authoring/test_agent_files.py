"""Configurations from a tamesu file and from CRAWL's settings: dry run, store, and every problem at its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from scenarios_app.models import Application, Configuration
from scenarios_app.services.pending import FOLDER
from scenarios_app.spec.agent_files import read_targets
from scenarios_app.spec.crawl_settings import read_crawl
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.yamltext import yaml_source
from tests.authoring.pages import inputs
from tests.authoring.test_commands import run
from tests.support import configuration_json

pytestmark = pytest.mark.django_db

URL = "/configurations/import/"
TARGETS = """judge: {model: x}
targets:
  shoes:
    type: realtime
    model: gpt-realtime
    headers: { Authorization: "Bearer {{secrets.OPENAI_API_KEY}}" }
    session_update:
      instructions: "You sell shoes."
      tools:
        - { type: function, name: lookup_policy, parameters: { type: object, properties: { topic: { type: string } } } }
        - { type: function, name: end_session, description: "Done", parameters: { type: object, properties: {} } }
      audio: { output: { voice: marin } }
    mode: text
    protocol: ga
    done_tool: end_session
    tool_results:
      lookup_policy: { topic: "{{args.topic}}", window_days: 30 }
    audio_format: g711_ulaw
    turn_timeout: 45s
  plain:
    url: wss://voice.example.com/v1/realtime?model=house
  web:
    type: http
    url: https://example.com
"""
TOML = b"""[dataset]
path = "data/scenarios.json"
[execution]
concurrency = 1
response_timeout_seconds = 20.0
[audio]
chunk_ms = 40
sample_rate_hz = 24000
real_time = true
[assistant]
mode = "responses"
endpoint = ""
"""
ENV = b"""# ours
OPENAI_API_KEY=sk-test-0123456789abcdef
export OPENAI_LIVE_VOICE="cedar"
OPENAI_LIVE_BACKEND_MAX_OUTPUT_TOKENS=700
COLOUR=blue
"""


@pytest.fixture(autouse=True)
def storage(tmp_path: Any, settings: Any) -> None:
    options = {"location": str(tmp_path)}
    files = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "default": files}


def upload(browser: Client, *files: tuple[str, bytes], **fields: str) -> Any:
    return browser.post(URL, {"file": [SimpleUploadedFile(name, data) for name, data in files], **fields})


def test_targets_are_checked_and_then_become_configurations_with_an_application(browser: Client, alice: User) -> None:
    checked = upload(browser, ("tamesu.yaml", TARGETS.encode()))
    report = checked.context["report"]
    assert (report.configurations.new, report.applications.new) == (("shoes@1", "plain@1"), ("shoes@1",))
    said = [(warning.path, warning.line) for warning in report.configurations.warnings]
    assert ("judge", 1) in said
    assert ("targets.web.type", 23) in said
    assert not Configuration.objects.exists()
    browser.post(URL, {"checked": inputs(checked)["checked"]})
    shoes = Configuration.objects.get(name="shoes").latest.content
    assert shoes["instructions"] == "You sell shoes."
    assert (shoes["audio"], shoes["timeouts"]) == ({"output": "g711_ulaw"}, {"turn": "45s"})
    assert [tool["name"] for tool in shoes["session_update"]["tools"]] == ["end_session"]
    application = Application.objects.get(name="shoes").latest.content
    assert application["tool_results"] == {"lookup_policy": {"topic": "{{args.topic}}", "window_days": 30}}
    assert Configuration.objects.get(name="plain").latest.content["model"] == "house"
    again = upload(browser, ("tamesu.yaml", TARGETS.encode())).context["report"]
    assert (again.configurations.unchanged, again.applications.unchanged) == (("shoes@1", "plain@1"), ("shoes@1",))


@pytest.mark.parametrize(
    ("old", "new", "path", "line"),
    [
        ("mode: text", "mode: loud", "targets.shoes.mode", 13),
        ("protocol: ga", "protocol: gamma", "targets.shoes.protocol", 14),
        ("turn_timeout: 45s", "turn_timeout: soon", "targets.shoes.turn_timeout", 19),
        ("done_tool:", "done:", "targets.shoes.done", 15),
        ("    model: gpt-realtime\n", "", "targets.shoes.model", 3),
        ("audio_format: g711_ulaw", "audio_format: mp3", "targets.shoes.audio_format", 18),
        (
            "url: wss://voice.example.com/v1/realtime?model=house",
            "url: 'wss://[x?model=house'",
            "targets.plain.url",
            21,
        ),
    ],
)
def test_what_is_wrong_in_a_target_is_told_by_the_files_own_names(old: str, new: str, path: str, line: int) -> None:
    with pytest.raises(SpecError) as caught:
        read_targets(yaml_source(TARGETS.replace(old, new)))
    assert [(problem.path, problem.line) for problem in caught.value.problems] == [(path, line)]


def test_a_tool_whose_name_is_no_text_is_answered_by_nobody_and_stays_with_the_agent() -> None:
    agents = read_targets(yaml_source(TARGETS.replace("name: lookup_policy", "name: [lookup_policy]")))
    assert agents.applications == ()
    ((_, configuration), _) = agents.configurations
    assert configuration["session_update"]["tools"][0]["name"] == ["lookup_policy"]


def test_crawls_two_files_make_one_configuration_and_no_key_is_kept_anywhere(browser: Client, tmp_path: Path) -> None:
    checked = upload(browser, ("config.toml", TOML), (".env", ENV), name="From CRAWL")
    assert checked.context["report"].configurations.new == ("From CRAWL@1",)
    said = {warning.path: warning.line for warning in checked.context["report"].configurations.warnings}
    assert said["dataset.path"] == 2
    assert (said["OPENAI_API_KEY"], said["COLOUR"]) == (2, 5)
    (kept,) = default_storage.listdir(FOLDER)[1]
    assert b"0123456789abcdef" not in (tmp_path / FOLDER / kept).read_bytes()
    assert b"0123456789abcdef" not in checked.content
    browser.post(URL, {"checked": inputs(checked)["checked"]})
    content = Configuration.objects.get().latest.content
    assert content["protocol"] == "live"
    assert (content["voice"], content["backend"]["max_output_tokens"]) == ("cedar", 700)
    assert (content["audio"]["chunk_ms"], content["timeouts"]["response"]) == (40, 20.0)
    assert content["headers"] == {"Authorization": "Bearer {{secrets.OPENAI_API_KEY}}"}


@pytest.mark.parametrize(
    ("toml", "env", "path", "line"),
    [
        (TOML.replace(b"24000", b"8000"), b"", "audio.sample_rate_hz", 8),
        (TOML.replace(b'"responses"', b'"magic"'), b"", "assistant.mode", 11),
        (TOML.replace(b"[audio]", b"[audio"), b"", "", 6),
        (TOML, b"A=1\nno sense\n", "", 2),
        (b"", b"OPENAI_LIVE_ENDPOINT=ftp://x\n", "OPENAI_LIVE_ENDPOINT", 1),
        (b"", b"A=\nOPENAI_LIVE_BACKEND_MAX_OUTPUT_TOKENS=\xc2\xb2\n", "OPENAI_LIVE_BACKEND_MAX_OUTPUT_TOKENS", 2),
        (b"[audio]\nchunk_ms = " + b"9" * 5000, b"", "", None),
        (b"[audio]\nchunk_ms = " + b"[" * 5000 + b"]" * 5000, b"", "", None),
    ],
)
def test_what_is_wrong_in_crawls_files_has_its_name_and_line(
    toml: bytes, env: bytes, path: str, line: int | None
) -> None:
    with pytest.raises(SpecError) as caught:
        read_crawl(toml=toml, env=env)
    assert [(problem.path, problem.line) for problem in caught.value.problems] == [(path, line)]


def test_our_own_list_goes_through_the_page_and_its_problems_have_lines(browser: Client) -> None:
    good = json.dumps([configuration_json("a"), configuration_json("b")])
    assert browser.post(URL, {"text": good}).context["report"].configurations.new == ("a@1", "b@1")
    bad = json.dumps([configuration_json("a"), configuration_json("b", protocol="fax")], indent=0)
    (problem,) = browser.post(URL, {"text": bad}).context["problems"]
    assert problem.path == "[1].protocol"
    assert problem.line == bad.split('"fax"')[0].count("\n") + 1
    assert not Configuration.objects.exists()


@pytest.mark.parametrize("files", [[("a.toml", TOML), ("b.toml", TOML)], [("a.json", b"[]"), (".env", ENV)]])
def test_files_that_do_not_belong_together_are_refused(browser: Client, files: list[tuple[str, bytes]]) -> None:
    (problem,) = upload(browser, *files).context["problems"]
    assert "config.toml with a .env" in problem.message


def test_the_command_reads_the_same_files(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(TOML)
    (tmp_path / ".env").write_bytes(ENV)
    files = (tmp_path / "config.toml", tmp_path / ".env")
    out, err = run("import_configurations", *files, "--name", "C", "--dry-run")
    assert out == "configurations: 1 new, 0 changed, 0 unchanged (dry run, nothing stored)\n"
    assert "OPENAI_API_KEY" in err
    assert not Configuration.objects.exists()
    assert run("import_configurations", *files)[0] == "configurations: 1 new, 0 changed, 0 unchanged\n"
    assert Configuration.objects.get().name == "CRAWL"
