"""A table from the file on the desk to the suite, and back as a file, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scenarios_app.models import Configuration, Scenario
from tests.site.axe import looks

if TYPE_CHECKING:
    from tests.browser import Chrome, Site

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HEADER = "Nr;Was;Satz;Soll\r\n"
ROW = '{key};Tisch;"Ein Tisch für عمر,\nbitte 😀";Bestätigt.\r\n'


@pytest.mark.case("E13")
def test_a_table_is_mapped_checked_mended_stored_and_exported(site: Site, chrome: Chrome, tmp_path: Path) -> None:
    """E13: text of several scripts and directions comes back from page and file as it was."""
    file = tmp_path / "phrases.csv"
    file.write_text(HEADER + ROW.format(key="a") + ROW.format(key="A"), encoding="utf-8", newline="")
    page = chrome.open("/scenarios/import/?suite=tables")
    page.set_default_timeout(60_000)
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Check the file").click()
    for column, meaning in {"Nr": "id", "Was": "title", "Satz": "says", "Soll": "answer"}.items():
        page.get_by_label(f"What the column {column} is").select_option(meaning)
    assert looks(page) == []
    page.get_by_role("button", name="Check the rows").click()
    assert "line 2 (scenarios[0].id)" in page.get_by_role("alert").inner_text()
    assert Scenario.objects.count() == 0

    file.write_text(HEADER + ROW.format(key="a") + ROW.format(key="b"), encoding="utf-8", newline="")
    page.get_by_role("link", name="Choose another file").click()
    page.get_by_label("Suite").fill("tables")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Check the file").click()
    for column, meaning in {"Nr": "id", "Was": "title", "Satz": "says", "Soll": "answer"}.items():
        page.get_by_label(f"What the column {column} is").select_option(meaning)
    page.get_by_role("button", name="Check the rows").click()
    assert looks(page) == []
    page.get_by_role("button", name="Import 2 scenarios").click()
    page.wait_for_url(re.compile("/suites/tables/"))

    page.goto(f"{site.url}/scenarios/?suite=tables")
    assert looks(page) == []
    page.get_by_label("Choose b").check()
    page.get_by_label("Export as").select_option("csv")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export", exact=True).click()
    text = Path(download.value.path()).read_bytes().decode("utf-8-sig")
    assert '"Ein Tisch für عمر,\nbitte 😀"' in text
    assert "a,Tisch" not in text

    (tmp_path / "config.toml").write_text('[assistant]\nmode = "responses"\n')
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-test\n")
    page.goto(f"{site.url}/configurations/import/")
    page.get_by_label("File, or two of CRAWL's").set_input_files([tmp_path / "config.toml", tmp_path / ".env"])
    page.get_by_role("button", name="Check the file").click()
    assert looks(page) == []
    page.get_by_role("button", name="Import 1 configuration").click()
    page.wait_for_url(re.compile("/configurations/$"))
    assert Configuration.objects.get().name == "CRAWL"
