"""What every test has: a data folder of its own, so that no test sees what a person left in var/."""

from __future__ import annotations

import os
import tempfile

# Before settings are read: pytest-django imports them right after this file.
_data_dir = tempfile.TemporaryDirectory(prefix="soundcheck-test-")
os.environ["SOUNDCHECK_DATA_DIR"] = _data_dir.name
for name in (
    "REDIS_URL",
    "DATABASE_URL",
    "SOUNDCHECK_PRODUCTION",
    "SIMULATOR_URL",
    "SITE_URL",
    "SOUNDCHECK_SECRETS",
):
    os.environ.pop(name, None)

# The same tests on another database: `TEST_DATABASE_URL=postgres://... pytest tests/runs/test_claims.py`.
if url := os.environ.get("TEST_DATABASE_URL"):
    os.environ["DATABASE_URL"] = url

pytest_plugins = ["tests.services"]
