"""What keeps a conversation from taking place."""

from __future__ import annotations


class CannotPlan(Exception):
    """There will be no conversation. `stage` is one of record.STAGES, `reason` a sentence for people."""

    def __init__(self, stage: str, reason: object) -> None:
        super().__init__(str(reason))
        self.stage = stage
        self.reason = str(reason)
