"""Run the reference assistant service: the tools of an application behind `ws /ws/assistant`."""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from runs_app.realtime.application import ApplicationError, ApplicationExecutor
from runs_app.realtime.delegation.assistant import Delegate
from runs_app.realtime.delegation.limits import PATH
from runs_app.realtime.delegation.service.server import HOST, PORT, assistant_service
from runs_app.realtime.delegation.service.session import Office
from runs_app.realtime.endpoints import EndpointError
from runs_app.services.addresses import NoSimulator, backend_url
from scenarios_app.services import find_application_version
from scenarios_app.services.reports import NotStored
from scenarios_app.spec.application import Application, parse_application
from scenarios_app.spec.errors import SpecError

SHORTEST_TOKEN = 16


class Command(BaseCommand):
    help = "Run the reference assistant service: an application's tools, and a backend that uses them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--application", required=True, help="NAME or NAME@VERSION, as the site stores it")
        parser.add_argument("--state", type=Path, help="a JSON file: what each session begins with")
        parser.add_argument("--reference-date", help="what today is, as YYYY-MM-DD")
        parser.add_argument("--endpoint", default="simulator", help="a Responses API, or the word simulator")
        parser.add_argument("--model", default="sim-clerk", help="used where the connector asks for none")
        parser.add_argument("--host", default=HOST)
        parser.add_argument("--port", type=int, default=PORT, help="0 takes any free port")
        parser.add_argument("--origin", action="append", default=[], help="of a page that may connect (repeatable)")

    def handle(self, *args: Any, **options: Any) -> None:
        if len(settings.ASSISTANT_TOKEN) < SHORTEST_TOKEN:
            raise CommandError(f"ASSISTANT_TOKEN must have at least {SHORTEST_TOKEN} characters")
        try:
            office = _office(options)
            asyncio.run(self._serve(office, options))
        except (NotStored, SpecError, ApplicationError, EndpointError, NoSimulator, OSError, ValueError) as error:
            raise CommandError(f"the assistant service cannot start: {error}") from error
        except KeyboardInterrupt:
            pass

    async def _serve(self, office: Office, options: dict[str, Any]) -> None:
        service = assistant_service(
            office,
            token=settings.ASSISTANT_TOKEN,
            origins=options["origin"],
            host=options["host"],
            port=options["port"],
        )
        async with service as server:
            port = next(iter(server.sockets)).getsockname()[1]
            self.stdout.write(f"The assistant service listens on ws://{options['host']}:{port}{PATH}")
            self.stdout.flush()
            await server.serve_forever()


def _office(options: dict[str, Any]) -> Office:
    application = parse_application(find_application_version(options["application"]).content)
    for tool in application.tools:
        if tool.http is not None or tool.python is not None:
            raise ValueError(f"the tool {tool.name} is answered by an endpoint or a class, which only trials can ask")
    state = _state(options["state"])

    def new_executor() -> ApplicationExecutor:
        return ApplicationExecutor(application, initial_state=state, reference_date=options["reference_date"])

    new_executor()  # what cannot be run is said now
    return Office(_backend(application, options), application.facts, new_executor)


def _backend(application: Application, options: dict[str, Any]) -> Delegate:
    return Delegate(
        endpoint=backend_url(options["endpoint"]),
        model=options["model"],
        instructions="",
        tools=tuple(tool.definition() for tool in application.tools),
        api_key=settings.ASSISTANT_API_KEY or None,
    )


def _state(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    state = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(state, dict):
        raise ValueError(f"{path}: the state must be a JSON object")
    return state
