"""Whom we trust on the way out, apart from the clients that use it: whoever needs this need not load them."""

from __future__ import annotations

import ssl
from functools import lru_cache

import httpx2


@lru_cache(maxsize=1)
def certificates() -> ssl.SSLContext:
    """Made once; slow the first time."""
    return httpx2.create_ssl_context()  # honours SSL_CERT_FILE and SSL_CERT_DIR
