"""What the code reads is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def settings_read() -> set[str]:
    text = (ROOT / "evalsite" / "settings.py").read_text()
    return set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', text))


def test_settings_are_found_at_all() -> None:
    assert {"REDIS_URL", "SECRET_KEY", "SOUNDCHECK_DATA_DIR"} <= settings_read()


@pytest.mark.parametrize("name", sorted(settings_read()))
def test_every_setting_is_in_the_example_and_in_the_docs(name: str) -> None:
    assert re.search(rf"^#? ?{name}=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    assert f"`{name}`" in (ROOT / "docs" / "settings.md").read_text()


def commands() -> list[str]:
    return sorted(p.stem for app in ROOT.glob("*/management/commands/*.py") for p in [app] if p.stem != "__init__")


@pytest.mark.parametrize("name", commands())
def test_every_management_command_is_documented(name: str) -> None:
    texts = [p.read_text() for p in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]]
    assert any(f"manage.py {name}" in text for text in texts)
