"""The ASGI application: pages over http, live updates over websockets from our own origins alone."""

from __future__ import annotations

import logging
import os
from typing import Any
from urllib.parse import ParseResult

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")

from django.core.asgi import get_asgi_application

http = get_asgi_application()  # sets Django up: what follows imports models

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import OriginValidator  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import reverse  # noqa: E402

from evalsite import bodies, static_files  # noqa: E402
from runs_app.routing import websocket_urlpatterns  # noqa: E402

log = logging.getLogger(__name__)
static_files.refuse_if_missing()
bodies.limit()
reverse("home")  # imports all pages, more than a second's work, which would else fall to whoever comes first


class OurOrigins(OriginValidator):
    """Full origins, with their ports, and a line in the log that tells the operator what to change."""

    def __init__(self, application: Any) -> None:
        super().__init__(application, settings.SITE_ORIGINS)

    def valid_origin(self, parsed_origin: ParseResult | None) -> bool:
        try:
            valid = bool(super().valid_origin(parsed_origin))
        except ValueError:  # a port that is no number
            valid = False
        if not valid:
            given = parsed_origin.geturl() if parsed_origin else "none"
            allowed = ", ".join(self.allowed_origins) or "none"
            log.warning("live updates refused: the browser named the origin %r, SITE_ORIGINS allows %s", given, allowed)
        return valid


def websockets() -> OurOrigins:
    return OurOrigins(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))


application = ProtocolTypeRouter({"http": http, "websocket": websockets()})
