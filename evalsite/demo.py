"""The demo that every fresh installation has: one suite, one application, two versions of one configuration."""

from __future__ import annotations

from django.conf import settings

from evalsite import signin
from scenarios_app import services
from scenarios_app.models import Suite

SUITE = "demo"
CONFIGURATIONS = "Front desk@1,Front desk@2"


def install() -> bool:
    """True if the demo's fixtures were imported now. What people changed since is left alone."""
    if Suite.objects.named(SUITE).exists():
        return False
    folder = settings.FIXTURES_DIR / "demo"
    user = signin.operator()
    services.import_applications(data=(folder / "applications.json").read_bytes(), user=user)
    services.import_configurations(data=(folder / "configurations.json").read_bytes(), user=user)
    services.import_scenarios(data=(folder / "scenarios.json").read_bytes(), suite_name=SUITE, user=user)
    return True


def first_run_options() -> list[str] | None:
    """What to give run_eval for the demo run, in real time; None when this installation has run anything before."""
    from runs_app.models import Run

    if Run.objects.exists():
        return None
    name = "Demo: does the correction rule help?"
    return [
        "--suite",
        SUITE,
        "--configurations",
        CONFIGURATIONS,
        "--repeats",
        "3",
        "--concurrency",
        "4",
        "--run-name",
        name,
    ]
