"""Fetch the libraries that are committed under static/vendor (pages) and tests/vendor (tests), and write their hashes.

Runs only when a version in versions.json changes (`make vendor`). Needs npm. A test compares files and hashes.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (ROOT / "static" / "vendor", ROOT / "tests" / "vendor")


def fetch(name: str, version: str, into: Path) -> Path:
    done = subprocess.run(
        ["npm", "pack", f"{name}@{version}", "--silent"], cwd=into, capture_output=True, text=True, check=True
    )
    return into / done.stdout.strip().splitlines()[-1]


def unpack(archive: Path, files: dict[str, str], into: Path) -> None:
    with tarfile.open(archive) as tar:
        for inside, outside in files.items():
            member = tar.extractfile(f"package/{inside}")
            if member is None:
                raise SystemExit(f"{archive.name} has no {inside}")
            (into / outside).write_bytes(member.read())


def vendor(folder: Path) -> None:
    wanted = json.loads((folder / "versions.json").read_text())
    with tempfile.TemporaryDirectory() as downloads:
        for name, package in wanted.items():
            unpack(fetch(name, package["version"], Path(downloads)), package["files"], folder)
            print(f"{name} {package['version']}", file=sys.stderr)
    hashes = {
        target: hashlib.sha256((folder / target).read_bytes()).hexdigest()
        for package in wanted.values()
        for target in package["files"].values()
    }
    (folder / "hashes.json").write_text(json.dumps(hashes, indent=2, sort_keys=True) + "\n")


def main() -> None:
    for folder in FOLDERS:
        vendor(folder)


if __name__ == "__main__":
    main()
