"""Run the simulator: an agent, a speech service and a judge on one port of this machine."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from runs_app.simulator.serve import add_arguments, run


class Command(BaseCommand):
    help = "Run the simulator: /v1/realtime, /v1/audio/speech and /v1/responses without a key or a network."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        given = Namespace(**options)
        if given.phrases and not given.phrases.is_file():
            raise CommandError(f"--phrases: there is no file {given.phrases}")
        try:
            run(given, settings.DATA_DIR / "simulator")
        except (OSError, ValueError) as error:
            raise CommandError(f"the simulator cannot start: {error}") from error
