"""The wordings by which the clerk knows its ten behaviours in its instructions (docs/simulator.md has examples)."""

from __future__ import annotations

from runs_app.simulator.care_wordings import CARE
from runs_app.simulator.manner_wordings import MANNERS

WORDINGS = CARE | MANNERS
