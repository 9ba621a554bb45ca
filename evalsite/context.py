from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, object]:
    """What every template may use."""
    return {"live_updates": bool(settings.REDIS_URL), "simulator_url": settings.SIMULATOR_URL}
