"""Call the tools of an application by hand: the same executor as in a trial, a state that lives in the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from runs_app import console
from runs_app.realtime.application import ApplicationError, ApplicationExecutor
from runs_app.services import tooling
from scenarios_app.models import Application, ApplicationVersion, Scenario
from scenarios_app.presentation import pretty_json
from scenarios_app.spec import application as contract
from scenarios_app.spec.contract import iso_date_problem
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import dumps
from scenarios_app.spec.numbers import number_of
from scenarios_app.spec.tool_faults import MODES, parse_faults, read_faults
from scenarios_app.views.limits import limited_body

WHO = {"id": None, "console": True}  # what endpoints learn of who asks


@dataclass
class Page:
    """What the page holds between its calls; all of it travels in the form."""

    spec: contract.Application
    sent: dict[str, str]
    tool: str = ""
    as_json: bool = False
    arguments_json: str = ""
    state: str = ""
    reference_date: str = ""
    fault: str = ""
    scenario: str = ""
    counters: str = ""
    called: console.Called | None = None
    problems: dict[str, str] = field(default_factory=dict)  # by field

    @property
    def schema(self) -> dict[str, Any]:
        tool = self.spec.tool(self.tool)
        return tool.parameters if tool else {}

    @property
    def fields(self) -> list[console.Field]:
        return console.fields_of(self.schema, self.sent)

    @property
    def description(self) -> str:
        tool = self.spec.tool(self.tool)
        return tool.description if tool else ""

    @property
    def tools(self) -> list[str]:
        return [*(tool.name for tool in self.spec.tools), *sorted(self.spec.tool_names - set(_declared(self.spec)))]

    @property
    def modes(self) -> tuple[str, ...]:
        return MODES


def _declared(spec: contract.Application) -> list[str]:
    return [tool.name for tool in spec.tools]


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def application_console(request: HttpRequest, name: str) -> HttpResponse:
    application = get_object_or_404(Application.objects.named(name).select_related("latest"))
    version = _version(request, application)
    page = _page(request, contract.parse_application(version.content))
    if request.method == "POST":
        _act(page, request.POST.get("action", "call"))
    context = {"application": application, "version": version, "page": page}
    return render(request, "runs_app/console.html", context)


def _version(request: HttpRequest, application: Application) -> ApplicationVersion:
    number = request.GET.get("version", "")
    if not number:
        assert application.latest is not None
        return application.latest
    found: ApplicationVersion = get_object_or_404(application.versions, number=number_of(number))
    return found


def _page(request: HttpRequest, spec: contract.Application) -> Page:
    sent = request.POST if request.method == "POST" else request.GET
    page = Page(spec, {name: str(value) for name, value in sent.items()})
    for name in ("tool", "arguments_json", "state", "reference_date", "fault", "scenario", "counters"):
        setattr(page, name, page.sent.get(name, "").strip())
    page.as_json = page.sent.get("view") == "json"
    if page.tool not in page.tools:
        page.tool = next(iter(page.tools), "")
    page.as_json = page.as_json or spec.tool(page.tool) is None
    return page


def _act(page: Page, action: str) -> None:
    kind, _, which = action.partition(":")
    if kind == "tool" and which in page.tools:
        page.tool, page.arguments_json = which, ""
        page.as_json = page.spec.tool(which) is None
    elif kind == "json":
        page.as_json, page.arguments_json = True, pretty_json(console.arguments_of(page.fields))
    elif kind == "form":
        _as_form(page)
    elif kind == "reset":
        page.state = page.counters = ""
    elif kind == "load":
        _start_from(page)
    elif kind == "call" and page.tool:
        _call(page)


def _as_form(page: Page) -> None:
    arguments, problem = console.read_object(page.arguments_json, "the arguments")
    if problem:
        page.problems["arguments_json"] = problem
        return
    page.as_json = False
    page.sent |= console.sent_as(arguments, page.schema)


def _start_from(page: Page) -> None:
    """The state and the date of a scenario."""
    scenario = Scenario.objects.filter(key__iexact=page.scenario).select_related("latest").first()
    if scenario is None or scenario.latest is None:
        page.problems["scenario"] = f"There is no scenario {page.scenario}." if page.scenario else "Name a scenario."
        return
    content = scenario.latest.content
    page.state = pretty_json((content.get("application") or {}).get("initial_state") or {})
    page.reference_date, page.counters = content.get("reference_date") or "", ""


def _call(page: Page) -> None:
    state, page.problems["state"] = console.read_object(page.state, "the state")
    counters, _ = console.read_object(page.counters, "the counters")
    arguments = _arguments(page)
    page.problems["reference_date"] = (page.reference_date and iso_date_problem(page.reference_date)) or ""
    faults = _faults(page)
    page.problems = {name: problem for name, problem in page.problems.items() if problem}
    if page.problems:
        return
    try:
        executor = _executor(page, state, counters, faults)
    except (ApplicationError, SpecError) as error:
        page.problems["tool"] = str(error)
        return
    page.called = async_to_sync(console.call)(executor, page.tool, arguments, page.schema)
    page.state, page.counters = pretty_json(executor.snapshot()), dumps(executor.counters)


def _arguments(page: Page) -> dict[str, Any]:
    if page.as_json:
        arguments, page.problems["arguments_json"] = console.read_object(page.arguments_json, "the arguments")
        return arguments
    page.problems["fields"] = "; ".join(f"{field.name}: {field.error}" for field in page.fields if field.error)
    return console.arguments_of(page.fields)


def _faults(page: Page) -> dict[str, Any]:
    """Of `delay:3s`, as it stands after TOOL= everywhere else."""
    try:
        return read_faults(f"{page.tool}={page.fault}") if page.fault else {}
    except SpecError as error:
        page.problems["fault"] = "; ".join(problem.message for problem in error.problems)
        return {}


def _executor(page: Page, state: dict[str, Any], counters: dict[str, int], faults: Any) -> ApplicationExecutor:
    # The other tools may need what this site does not have; that is no reason not to call this one.
    tool = page.spec.tool(page.tool)
    results = {name: value for name, value in page.spec.tool_results.items() if name == page.tool}
    alone = page.spec.model_copy(update={"tools": (tool,) if tool else (), "tool_results": results})
    date, now = page.reference_date or None, timezone.now()
    backends = tooling.backends_of(alone, context=tooling.NOBODY, trial=WHO, reference_date=date, started_at=now)
    return ApplicationExecutor(
        alone,
        initial_state=state,
        reference_date=date,
        started_at=now,
        backends=backends,
        faults=parse_faults(faults),
        counters={name: count for name, count in counters.items() if isinstance(count, int)},
    )
