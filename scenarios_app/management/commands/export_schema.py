from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from scenarios_app.management.files import write_file
from scenarios_app.spec.schema import SCHEMAS


class Command(BaseCommand):
    help = "Write the JSON Schema of a file of scenarios, applications or configurations, for editors and CI."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("of", choices=SCHEMAS, help="what the file holds")
        parser.add_argument("--output", metavar="FILE", default="-", help="without it: standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        text = json.dumps(SCHEMAS[options["of"]](), indent=2, ensure_ascii=False)
        if options["output"] == "-":
            self.stdout.write(text)
            return
        write_file(options["output"], f"{text}\n")
        self.stdout.write(f"JSON Schema of {options['of']} in {options['output']}")
