from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scenarios_app.management.files import write_file
from scenarios_app.services import NotStored, export_suite, find_suite, write_scenarios
from scenarios_app.spec.sources import FORMATS


class Command(BaseCommand):
    help = "Export the newest versions of a suite's scenarios as a file that import_scenarios reads back unchanged."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--suite", required=True, metavar="NAME")
        parser.add_argument("--format", choices=FORMATS, default="json")
        parser.add_argument("--output", required=True, metavar="FILE", help="- writes to standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            suite = find_suite(options["suite"])
        except NotStored as error:
            raise CommandError(str(error)) from error
        document = export_suite(suite=suite)
        text = write_scenarios(document=document, kind=options["format"])
        if options["output"] == "-":
            self.stdout.write(text, ending="")
            return
        write_file(options["output"], text)
        self.stdout.write(f"suite {suite.name}: {len(document['scenarios'])} scenarios in {options['output']}")
