from __future__ import annotations

from tests.browser import chrome, site
from tests.pages.conftest import alice, signed_in

__all__ = ["alice", "chrome", "signed_in", "site"]
