"""The one folder that holds everything which changes: database, storage, keys, and the addresses of what runs."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path


def generated_key(data_dir: Path, name: str) -> str:
    """The key kept in the folder under this name (mode 0600); made when it is not there yet."""
    path = data_dir / name
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        pass
    data_dir.mkdir(parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another process of ours made it in this moment
        return path.read_text().strip()
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_urlsafe(48))
    return path.read_text().strip()


def read_up(data_dir: Path) -> dict[str, str]:
    """What a running `manage.py up` says of itself: site, sign_in, simulator, redis. Empty when none runs."""
    try:
        known = json.loads((data_dir / "up.json").read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return {key: value for key, value in known.items() if isinstance(value, str)}


def write_up(data_dir: Path, addresses: dict[str, str]) -> None:
    path = data_dir / "up.json"
    fresh = path.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(addresses, file, indent=1)
    fresh.replace(path)


def forget_up(data_dir: Path) -> None:
    (data_dir / "up.json").unlink(missing_ok=True)
