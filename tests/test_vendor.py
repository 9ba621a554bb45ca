"""What is committed under static/vendor and tests/vendor is what their versions.json say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import plotly
import pytest

ROOT = Path(__file__).resolve().parent.parent
VENDOR = ROOT / "static" / "vendor"
each_folder = pytest.mark.parametrize("folder", [VENDOR, ROOT / "tests" / "vendor"], ids=["pages", "tests"])


@each_folder
def test_vendored_files_hash_as_recorded(folder: Path) -> None:
    recorded = json.loads((folder / "hashes.json").read_text())
    found = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in recorded}
    assert found == recorded


@each_folder
def test_every_vendored_file_is_accounted_for_with_its_licence(folder: Path) -> None:
    packages = json.loads((folder / "versions.json").read_text())
    listed = {target for package in packages.values() for target in package["files"].values()}
    assert {p.name for p in folder.iterdir()} - {"versions.json", "hashes.json"} == listed
    for package in packages.values():
        assert package["licence"]
        assert any("LICENSE" in target for target in package["files"].values())


def test_the_chart_library_in_the_browser_is_the_one_that_python_validates_with() -> None:
    bundled = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    version = json.loads((VENDOR / "versions.json").read_text())["plotly.js-basic-dist-min"]["version"]
    assert f"plotly.js v{version}" in bundled.read_text()[:200]
