from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scenarios_app.management.files import problem_lines, read_file
from scenarios_app.services import import_applications
from scenarios_app.spec.errors import SpecError


class Command(BaseCommand):
    help = "Import a JSON list of applications. An entry with new content becomes the next version of its name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="a JSON list of applications; - reads standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        data = read_file(options["file"])
        try:
            report = import_applications(data=data)
        except SpecError as error:
            raise CommandError(problem_lines(error.problems)) from error
        self.stdout.write(f"applications: {report.counts}")
