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


PICTURE = re.compile(r"!\[([^\]]*)\]\((images/[^)]+)\)")
MOST_BYTES = 1_500_000


def pictures_named() -> list[tuple[str, str]]:
    return [found for page in sorted((ROOT / "docs").glob("*.md")) for found in PICTURE.findall(page.read_text())]


def test_every_picture_that_docs_show_is_there_and_says_in_words_what_it_shows() -> None:
    assert pictures_named()
    for words, name in pictures_named():
        assert (ROOT / "docs" / name).is_file(), name
        assert len(words) >= 4, name


def test_pictures_are_small_and_none_is_left_over() -> None:
    kept = list((ROOT / "docs" / "images").iterdir())
    assert {f"images/{one.name}" for one in kept} == {name for _, name in pictures_named()}
    assert sum(one.stat().st_size for one in kept) <= MOST_BYTES


def test_links_between_pages_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
