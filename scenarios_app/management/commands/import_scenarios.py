from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scenarios_app.management.files import problem_lines, read_file
from scenarios_app.services import import_scenarios, read_scenarios
from scenarios_app.services.bundles import open_bundle
from scenarios_app.services.recordings import check_recordings, keep_recordings
from scenarios_app.services.reports import ImportReport
from scenarios_app.services.sounds import recording_paths
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.recordings import path_problem
from scenarios_app.spec.sources import FORMATS, Source, format_of


def _files_beside(name: str, source: Source) -> dict[str, bytes]:
    """The recordings that lie where the scenarios say. Raises SpecError for a path out of the file's folder."""
    paths = [] if name == "-" else recording_paths(source)
    if problems := [Problem(path, problem) for path in paths if (problem := path_problem(path))]:
        raise SpecError(problems)
    folder = Path(name).parent
    return {path: read_file(str(folder / path)) for path in paths if (folder / path).exists()}


def _imported(source: Source, suite: str, files: Mapping[str, bytes], *, dry_run: bool) -> ImportReport:
    """Sounds are stored once the scenarios are known to be good. Raises SpecError."""
    if dry_run or files:
        sounds = check_recordings(files=files)
        report = import_scenarios(data=source, suite_name=suite, dry_run=True, sounds=sounds)
        if dry_run:
            return report
    return import_scenarios(data=source, suite_name=suite, sounds=keep_recordings(files=files))


class Command(BaseCommand):
    help = "Import a file of scenarios into a suite: all of it, or nothing when anything in it is wrong."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            metavar="FILE",
            help="JSON, YAML or CSV, with the recordings it names beside it, or a ZIP; - reads standard input",
        )
        parser.add_argument("--suite", required=True, metavar="NAME", help="the suite; made when there is none")
        parser.add_argument("--format", choices=FORMATS, help="without it the file's name tells")
        parser.add_argument("--dry-run", action="store_true", help="check and count, store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        data = read_file(options["file"])
        try:
            bundle = open_bundle([(options["file"], data)])
            kind = options["format"] or format_of(bundle.name, bundle.data)
            source = read_scenarios(data=bundle.data, kind=kind)
            files = bundle.sounds or _files_beside(options["file"], source)
            report = _imported(source, options["suite"], files, dry_run=options["dry_run"])
        except SpecError as error:
            raise CommandError(problem_lines(error.problems)) from error
        for warning in report.warnings:
            self.stderr.write(f"warning: {warning}")
        tail = " (dry run, nothing stored)" if report.dry_run else ""
        self.stdout.write(f"suite {options['suite']}: {report.counts}{tail}")
