"""Settings come from the environment and stop the start when they make no sense."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PRODUCTION = {
    "SOUNDCHECK_PRODUCTION": "1",
    "SECRET_KEY": "k" * 40,
    "ALLOWED_HOSTS": "eval.example",
    "SITE_ORIGINS": "https://eval.example",
}


def read_settings(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {
        "PATH": os.environ["PATH"],
        "SOUNDCHECK_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "evalsite.settings",
    }
    return run_code("from django.conf import settings; print(settings.SECRET_KEY)", {**known, **environment})


def run_code(code: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_nothing_needs_to_be_set(tmp_path: Path) -> None:
    first, second = read_settings(tmp_path), read_settings(tmp_path)
    assert first.returncode == 0, first.stderr
    assert len(first.stdout.strip()) >= 32
    assert first.stdout == second.stdout
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_production_starts_when_it_is_configured(tmp_path: Path) -> None:
    done = read_settings(tmp_path, **PRODUCTION)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"DEBUG": "1"}, "DEBUG"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY"),
        ({"SECRET_KEY": ""}, "SECRET_KEY"),
        ({"ALLOWED_HOSTS": ""}, "ALLOWED_HOSTS"),
        ({"SITE_ORIGINS": ""}, "SITE_ORIGINS"),
    ],
)
def test_production_refuses_and_names_the_setting(tmp_path: Path, change: dict[str, str], named: str) -> None:
    done = read_settings(tmp_path, **{**PRODUCTION, **change})
    assert done.returncode != 0
    assert named in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOG_FORMAT", "xml"),
        ("LEASE_SECONDS", "1"),
        ("LEASE_SECONDS", "soon"),
        ("TRANSCRIPTION_ENDPOINT", "whisper"),
    ],
)
def test_a_value_that_makes_no_sense_is_named(tmp_path: Path, name: str, value: str) -> None:
    done = read_settings(tmp_path, **{name: value})
    assert done.returncode != 0
    assert name in done.stderr.splitlines()[-1]


def test_the_server_imports_its_pages_before_the_first_request(tmp_path: Path) -> None:
    code = "import evalsite.asgi, sys; print({'runs_app.views.compare', 'scipy.special'} <= sys.modules.keys())"
    done = run_code(code, {"PATH": os.environ["PATH"], "SOUNDCHECK_DATA_DIR": str(tmp_path)})
    assert done.stdout.strip() == "True", done.stderr
