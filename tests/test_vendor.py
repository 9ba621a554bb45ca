"""What is committed under static/vendor is what versions.json says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import plotly

VENDOR = Path(__file__).resolve().parent.parent / "static" / "vendor"


def test_vendored_files_hash_as_recorded() -> None:
    recorded = json.loads((VENDOR / "hashes.json").read_text())
    found = {name: hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() for name in recorded}
    assert found == recorded


def test_every_vendored_file_is_accounted_for_with_its_licence() -> None:
    packages = json.loads((VENDOR / "versions.json").read_text())
    listed = {target for package in packages.values() for target in package["files"].values()}
    assert {p.name for p in VENDOR.iterdir()} - {"versions.json", "hashes.json"} == listed
    for package in packages.values():
        assert package["licence"]
        assert any("LICENSE" in target for target in package["files"].values())


def test_the_chart_library_in_the_browser_is_the_one_that_python_validates_with() -> None:
    bundled = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    version = json.loads((VENDOR / "versions.json").read_text())["plotly.js-basic-dist-min"]["version"]
    assert f"plotly.js v{version}" in bundled.read_text()[:200]
