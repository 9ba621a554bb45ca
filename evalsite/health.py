"""/healthz: what works, for people and for monitors. 200 when all of it does, 503 otherwise."""

from __future__ import annotations

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from runs_app.services import liveness


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return f"failed: {error}"
    return "ok"


def redis_server() -> str:
    if not settings.REDIS_URL:
        return "failed: REDIS_URL is not set and no `manage.py up` runs"
    try:
        redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2).ping()
    except (redis.RedisError, ValueError) as error:
        return f"failed: {error}"
    return "ok"


@never_cache
@login_not_required
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    found = {"database": database(), "redis": redis_server()}
    if found["redis"] == "ok":
        found |= {name: liveness.seen(name) for name in ("conversations", "grading", "sweeper")}
    else:
        found |= dict.fromkeys(("conversations", "grading", "sweeper"), "unknown: no Redis")
    healthy = all(state == "ok" for state in found.values())
    return JsonResponse({"status": "ok" if healthy else "failed", **found}, status=200 if healthy else 503)
