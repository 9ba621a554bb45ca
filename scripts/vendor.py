"""Fetch the front-end libraries that are committed under static/vendor, and write what they hash to.

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

VENDOR = Path(__file__).resolve().parent.parent / "static" / "vendor"


def fetch(name: str, version: str, into: Path) -> Path:
    done = subprocess.run(
        ["npm", "pack", f"{name}@{version}", "--silent"], cwd=into, capture_output=True, text=True, check=True
    )
    return into / done.stdout.strip().splitlines()[-1]


def unpack(archive: Path, files: dict[str, str]) -> None:
    with tarfile.open(archive) as tar:
        for inside, outside in files.items():
            member = tar.extractfile(f"package/{inside}")
            if member is None:
                raise SystemExit(f"{archive.name} has no {inside}")
            (VENDOR / outside).write_bytes(member.read())


def main() -> None:
    wanted = json.loads((VENDOR / "versions.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        for name, package in wanted.items():
            unpack(fetch(name, package["version"], Path(folder)), package["files"])
            print(f"{name} {package['version']}", file=sys.stderr)
    hashes = {
        target: hashlib.sha256((VENDOR / target).read_bytes()).hexdigest()
        for package in wanted.values()
        for target in package["files"].values()
    }
    (VENDOR / "hashes.json").write_text(json.dumps(hashes, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
