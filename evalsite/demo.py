"""The demo that every fresh installation has: four applications, a first suite of 8 scenarios and one of them all,
two versions of Front desk, and a slow and a faulty one."""

from __future__ import annotations

from django.conf import settings

from evalsite import signin
from scenarios_app import services
from scenarios_app.models import Suite

SUITE = "demo"
FULL_SUITE = "demo-full"
# Suite -> the files of fixtures/demo that it holds, in order.
SUITES = {SUITE: ("scenarios.json",), FULL_SUITE: ("scenarios.json", "full.json", "conversations.json")}
CONFIGURATIONS = "Front desk@1,Front desk@2"


def install() -> bool:
    """True if the demo's fixtures were imported now. What people changed since is left alone."""
    if Suite.objects.named(SUITE).exists():
        return False
    folder = settings.FIXTURES_DIR / "demo"
    user = signin.operator()
    services.import_applications(data=(folder / "applications.json").read_bytes(), user=user)
    services.import_configurations(data=(folder / "configurations.json").read_bytes(), user=user)
    for suite, files in SUITES.items():
        for name in files:
            services.import_scenarios(data=(folder / name).read_bytes(), suite_name=suite, user=user)
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
