"""Checks in the order in which one wants to read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def grouped(checks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What decided first, failures before the rest; what should have but has no verdict; what explains; the rest."""
    missing = [check for check in checks if check["required"] and check["status"] == "not_assessed"]
    applied = [check for check in checks if check["status"] in ("passed", "failed")]
    by_failure = sorted(applied, key=lambda check: check["status"] != "failed")
    return [
        {"title": "Decides", "note": "the outcome", "checks": [c for c in by_failure if c["required"]]},
        {"title": "No verdict", "note": "would decide; grade again", "checks": missing},
        {"title": "Explains", "note": "decides nothing", "checks": [c for c in by_failure if not c["required"]]},
        {"title": "Did not apply", "note": "", "checks": [c for c in checks if c not in (*applied, *missing)]},
    ]
