from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scenarios_app.management.files import problem_lines, read_file
from scenarios_app.services import import_configurations
from scenarios_app.spec.errors import SpecError


class Command(BaseCommand):
    help = "Import a JSON list of configurations. An entry with new content becomes the next version of its name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="a JSON list of configurations; - reads standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        data = read_file(options["file"])
        try:
            report = import_configurations(data=data)
        except SpecError as error:
            raise CommandError(problem_lines(error.problems)) from error
        for warning in report.warnings:
            self.stderr.write(f"warning: {warning}")
        self.stdout.write(f"configurations: {report.counts}")
