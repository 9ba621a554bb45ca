"""The site's own settings, read in an environment where nothing is set but a data folder of the tests' own.

pytest-django reads settings before any conftest, so this is the first place that can see to it that no test finds what
a person left in var/.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

_data_dir = tempfile.mkdtemp(prefix="soundcheck-test-")
atexit.register(shutil.rmtree, _data_dir, ignore_errors=True)
os.environ["SOUNDCHECK_DATA_DIR"] = _data_dir
for name in (
    "REDIS_URL",
    "DATABASE_URL",
    "SOUNDCHECK_PRODUCTION",
    "SIMULATOR_URL",
    "SITE_URL",
    "SITE_ORIGINS",
    "ALLOWED_HOSTS",
    "SOUNDCHECK_SECRETS",
    "TOOL_ENDPOINTS",
    "TOOL_CLASSES",
    "REDACT_FIELDS",
    "TRANSCRIPTION_ENDPOINT",
    "TRANSCRIPTION_MODEL",
    "TRANSCRIPTION_SECRET",
):
    os.environ[name] = ""  # set, so that no .env file can say otherwise

# The same tests on another database: `TEST_DATABASE_URL=postgres://... pytest tests/runs/test_claims.py`.
os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL", "")

from evalsite.settings import *  # noqa: E402, F403
from evalsite.settings import STATIC_ROOT  # noqa: E402

STATIC_ROOT.mkdir(parents=True, exist_ok=True)
