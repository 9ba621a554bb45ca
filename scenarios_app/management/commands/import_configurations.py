from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scenarios_app.management.files import problem_lines, read_file
from scenarios_app.services import import_agents, read_agents
from scenarios_app.spec.errors import SpecError


class Command(BaseCommand):
    help = "Import configurations. An entry with new content becomes the next version of its name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        told = "our list or tamesu's targets as JSON or YAML, or CRAWL's config.toml and .env; - reads standard input"
        parser.add_argument("files", nargs="+", metavar="FILE", help=told)
        parser.add_argument("--name", default="", help="of the configuration made from CRAWL's files; CRAWL without it")
        parser.add_argument("--dry-run", action="store_true", help="check and count, store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        files = [("" if name == "-" else Path(name).name, read_file(name)) for name in options["files"]]
        try:
            agents = read_agents(files=files, name=options["name"])
            report = import_agents(agents=agents, dry_run=options["dry_run"])
        except SpecError as error:
            raise CommandError(problem_lines(error.problems)) from error
        for warning in report.configurations.warnings:
            self.stderr.write(f"warning: {warning}")
        tail = " (dry run, nothing stored)" if options["dry_run"] else ""
        self.stdout.write(f"configurations: {report.counts}{tail}")
