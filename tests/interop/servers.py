"""Servers as processes of their own: our simulator, and two that others wrote, with what each needs to answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.interop.software import HERE, NODE_FOLDER, ROOT, SENTENCE, node
from tests.services import eventually, free_port, missing

AIMOCK = NODE_FOLDER / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
FIXTURES = HERE / "aimock" / "peers.json"
GREETING = "Hello, are you open today?"

START_S = 120  # speech-to-speech imports for a quarter of a minute, alone on a quiet machine


@contextmanager
def simulated(folder: Path, *options: str) -> Iterator[str]:
    """The address of our simulator, which knows GREETING and SENTENCE by sound."""
    phrases = folder / "phrases.txt"
    phrases.write_text(f"{SENTENCE}\n{GREETING}\n")
    command = [sys.executable, "-m", "runs_app.simulator.serve", "--port", "0", "--data-dir", str(folder)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--phrases", str(phrases), *options], cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("The simulator listens on"):
                    yield line.split()[-1]
                    return
            pytest.fail((folder / "log").read_text())
        finally:
            process.terminate()
            process.wait(10)


@contextmanager
def aimock_running(folder: Path) -> Iterator[str]:
    """aimock's host and port."""
    address = f"127.0.0.1:{free_port()}"
    host, port = address.split(":")
    command = [node(), str(AIMOCK), "-h", host, "-p", port, "-f", str(FIXTURES), "--log-level", "info"]
    log = folder / "aimock.log"
    with _process(command, log, lambda: "listening" in log.read_text().lower()):
        yield address


def need_speech_to_speech() -> str:
    """The program of Hugging Face's server."""
    named = os.environ.get("SPEECH_TO_SPEECH", "speech-to-speech")
    found = shutil.which(named)
    if found is None:
        missing(
            "speech-to-speech",
            f"Hugging Face's speech-to-speech is not installed: no program {named} "
            "(docs/interop.md says how; SPEECH_TO_SPEECH names it when it is not on the PATH)",
        )
    return str(found)


@contextmanager
def speech_to_speech_running(program: str, folder: Path, *, speech: str, words: str) -> Iterator[str]:
    """Its host and port. `speech`: the OpenAI-like address of recognition and voice; `words`: that of the model."""
    address = f"127.0.0.1:{free_port()}"
    host, port = address.split(":")
    command = [program, "serve", "--host", host, "--port", port, "--device", "cpu", "--no_smart_turn"]
    command += ["--stt", "openai", "--openai_stt_base_url", speech, "--openai_stt_model", "sim-ear"]
    command += ["--tts", "openai", "--openai_tts_base_url", speech, "--openai_tts_voice", "agent"]
    command += ["--llm_backend", "responses-api", "--model_name", "aimock"]
    command += ["--responses_api_base_url", words, "--responses_api_api_key", "none"]
    with _process(command, folder / "speech-to-speech.log", lambda: is_idle(address)):
        yield address


def is_idle(address: str) -> bool:
    """Whether speech-to-speech has room for a session: it has one, and frees it a moment after the caller left."""
    try:
        with urllib.request.urlopen(f"http://{address}/v1/pool", timeout=5) as answer:
            return bool(json.load(answer)["in_use"] == 0)
    except urllib.error.URLError:
        return False


@contextmanager
def _process(command: Sequence[str], log: Path, is_ready: Callable[[], bool]) -> Iterator[None]:
    with log.open("w") as written:
        process = subprocess.Popen(command, stdout=written, stderr=written)

        def ready() -> bool:
            assert process.poll() is None, log.read_text()
            return is_ready()

        try:
            eventually(ready, within_s=START_S, what=f"{command[0]} listens")
            yield
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(5)
