from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scenarios_app.management.files import problem_lines, read_file
from scenarios_app.services import import_scenarios, read_scenarios
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.sources import FORMATS, format_of


class Command(BaseCommand):
    help = "Import a file of scenarios into a suite: all of it, or nothing when anything in it is wrong."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="JSON, YAML or CSV; - reads standard input")
        parser.add_argument("--suite", required=True, metavar="NAME", help="the suite; made when there is none")
        parser.add_argument("--format", choices=FORMATS, help="without it the file's name tells")
        parser.add_argument("--dry-run", action="store_true", help="check and count, store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        data = read_file(options["file"])
        try:
            kind = options["format"] or format_of(options["file"], data)
            source = read_scenarios(data=data, kind=kind)
            report = import_scenarios(data=source, suite_name=options["suite"], dry_run=options["dry_run"])
        except SpecError as error:
            raise CommandError(problem_lines(error.problems)) from error
        for warning in report.warnings:
            self.stderr.write(f"warning: {warning}")
        tail = " (dry run, nothing stored)" if report.dry_run else ""
        self.stdout.write(f"suite {options['suite']}: {report.counts}{tail}")
