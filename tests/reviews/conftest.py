from __future__ import annotations

from tests.pages.conftest import alice, signed_in

__all__ = ["alice", "signed_in"]
