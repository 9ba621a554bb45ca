from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scenarios_app.management.files import write_file, write_sound
from scenarios_app.services import NotStored, export_suite, find_suite, write_scenarios
from scenarios_app.services.bundles import export_scenarios
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
        if options["output"] == "-":
            self.stdout.write(write_scenarios(document=document, kind=options["format"]), ending="")
            return
        output = Path(options["output"])
        export = export_scenarios(document=document, kind=options["format"], file_name=output.name)
        for path, data in export.files():
            write_sound(output.parent / path, data)
        write_file(options["output"], export.text)
        beside = f", {len(export.sounds)} recordings beside it" if export.sounds else ""
        self.stdout.write(f"suite {suite.name}: {len(document['scenarios'])} scenarios in {output}{beside}")
