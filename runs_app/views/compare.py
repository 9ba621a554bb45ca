"""The comparison page: two or more configurations over the same scenarios. Everything shown is in the address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from runs_app.comparing.certainty import offers
from runs_app.comparing.choice import METRICS, BadChoice, Choice, choice_of
from runs_app.comparing.controls import Controls, controls, picks
from runs_app.comparing.export import as_csv, as_json
from runs_app.comparing.kept import kept_rows
from runs_app.comparing.loading import load_head
from runs_app.comparing.opened import Opened, opened_row
from runs_app.comparing.page import Page, page_asked, page_of
from runs_app.comparing.partings import partings
from runs_app.comparing.pictures import ABOUT, pictures
from runs_app.comparing.table import Row
from runs_app.listening.blind import duel_url
from runs_app.listening.playlist import play_link
from runs_app.models import Run
from runs_app.problems import problems_between
from runs_app.reporting.redaction import site_redactor
from runs_app.reporting.results import redactor_for
from runs_app.services.extra_repeats import start_extra_repeats
from runs_app.services.runs import NotPossible
from scenarios_app.models import Configuration, ConfigurationVersion
from scenarios_app.spec.errors import SpecError
from scenarios_app.views.configurations import configuration_or_404
from scenarios_app.views.pages import signed_in, two_versions

PAGE_SIZE = 100
RECENT = 20


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    try:
        choice = choice_of(request.GET)
        page = page_of(choice) if choice.runs else None
        opened = opened_row(choice) if page and page.state == "over" and choice.opened else None
    except BadChoice as problem:
        return _pick(request, problem=str(problem), status=404 if "there is no run" in str(problem) else 400)
    if page is None:
        return _pick(request)
    return _page(request, page, opened)


def _pick(request: HttpRequest, *, problem: str = "", status: int = 200) -> HttpResponse:
    context = {"recent": _recent(at_least=2), "problem": problem}
    return render(request, "runs_app/compare_pick.html", context, status=status)


def _recent(*, at_least: int) -> list[Run]:
    runs = Run.objects.select_related("suite").annotate(width=Count("configurations")).filter(width__gte=at_least)
    # a query that counts by group forgets the model's own order
    return list(runs.order_by("-id").prefetch_related("configurations__configuration_version__configuration")[:RECENT])


def _page(request: HttpRequest, page: Page, opened: Opened | None) -> HttpResponse:
    if page.state == "over" and request.headers.get("HX-Target") == "cards":
        return render(request, "runs_app/compare_cards.html", {"shown": page, "cards": _cards(page)})
    if request.headers.get("HX-Request") and page.state != "running":
        # the page that polls while a run goes on is drawn anew once there is something to compare
        return HttpResponse(headers={"HX-Refresh": "true"})
    context: dict[str, Any] = {
        "shown": page,
        "recent": [run for run in _recent(at_least=1) if run not in page.loaded.runs],
        "export_notice": site_redactor().notice,
        "controls": controls(request.GET, page),
        **(_over(request, page, opened) if page.state == "over" else {}),
    }
    response = render(request, "runs_app/compare.html", context)
    patch_vary_headers(response, ("HX-Request", "HX-Target"))
    return response


def _over(request: HttpRequest, page: Page, opened: Opened | None) -> dict[str, Any]:
    """What a finished comparison shows: cards, and the table or the charts."""
    table = Paginator(page.rows, PAGE_SIZE).get_page(request.GET.get("page"))
    drawn = pictures(page, list(table.object_list))
    return {
        "page": table,
        "lines": _lines(request, page, list(table.object_list), opened) if page.choice.view == "table" else "",
        "metrics": METRICS,
        "cards": _cards(page),
        "pictures": drawn,
        "figures": [{"id": f"chart-{picture.key}", "figure": picture.figure} for picture in drawn],
        "about": ABOUT.get(page.choice.view, ""),
        "duel": _duel(page),
        "play": play_link([run.pk for run in page.loaded.runs], configurations=[c.version.pk for c in page.columns]),
        **_problems(page),
    }


def _lines(request: HttpRequest, page: Page, rows: Sequence[Row], opened: Opened | None) -> str:
    """The body of the table."""

    def draw() -> str:
        filled = page.filled(rows)
        parted = {} if "divergence" in page.choice.hidden else partings(filled, page.pair)
        context = {
            "shown": page,
            "controls": controls(request.GET, page),
            "lines": [{"row": row, "parting": parted.get(row.scenario_id)} for row in filled],
            "opened": opened,
            "picks": picks(request.GET, opened) if opened else [],
        }
        return render_to_string("runs_app/compare_lines.html", context, request)

    return kept_rows(page, request.GET.urlencode(), draw)


def _cards(page: Page) -> list[dict[str, Any]]:
    priced = offers(page)
    return [
        {
            "card": card,
            "differences": [(one, priced.get((card.metric, one.column.key))) for one in card.differences],
        }
        for card in page.cards
    ]


def _problems(page: Page) -> dict[str, Any]:
    """The kinds of failures that the pair's second side has beyond those of the first, and the reverse."""
    if page.pair is None:
        return {}
    turned = problems_between(*(page.problems.of(column.version.pk) for column in page.pair))
    counts = Counter(one.change for one in turned)
    told = {"new": counts["new"], "still": counts["still there"], "gone": counts["gone"]}
    return {"turned": turned, "turned_counts": told}


def _duel(page: Page) -> str:
    """Where the pair is heard blind; empty when nothing was spoken on one of the sides."""
    if page.pair is None or any(page.ways[column.key].modes != {"spoken"} for column in page.pair):
        return ""
    return duel_url([run.pk for run in page.loaded.runs], *(column.version.pk for column in page.pair))


@require_safe
def row(request: HttpRequest) -> HttpResponse:
    """An open row as a fragment: what ?open= names."""
    try:
        choice = choice_of(request.GET)
        if not (choice.runs and choice.opened):
            raise BadChoice("open: name a run and a scenario, such as ?run=7&open=book_table")
        opened = opened_row(choice)
    except BadChoice as problem:
        return HttpResponse(str(problem), status=400, content_type="text/plain")
    known = {"controls": Controls.of_row(request.GET, choice), "picks": picks(request.GET, opened)}
    return render(request, "runs_app/compare_opened.html", {"opened": opened, **known})


@require_POST
def extra(request: HttpRequest) -> HttpResponse:
    """Starts exactly the repeats that a card offered, and leads to the comparison with them in it."""
    query = QueryDict(request.META["QUERY_STRING"], mutable=True)
    try:
        choice = choice_of(query)
        run = _start_extra(request, choice)
    except (BadChoice, NotPossible, SpecError) as problem:
        messages.error(request, f"Nothing was started. {problem}")
        return redirect(f"{reverse('compare')}?{query.urlencode()}")
    query.appendlist("run", str(run.pk))
    query.pop("page", None)
    messages.success(request, f"{run} has started: the comparison holds it as soon as it is over.")
    return redirect(f"{reverse('compare')}?{query.urlencode()}")


def _start_extra(request: HttpRequest, choice: Choice) -> Run:
    """Raises BadChoice, NotPossible and SpecError."""
    loaded = load_head(choice)
    with_b = request.POST.get("with", "")
    beside = [column for column in loaded.columns[1:] if column.key == with_b]
    if not beside:
        raise BadChoice("with: the configuration is not among those that are compared")
    return start_extra_repeats(
        runs=loaded.runs,
        repeats_of=dict(_repeats(text) for text in request.POST.getlist("repeats")),
        configuration_versions=[loaded.columns[0].version, beside[0].version],
        user=signed_in(request),
    )


def _repeats(text: str) -> tuple[str, int]:
    count, _, scenario = text.partition(" ")
    if not (count.isascii() and count.isdigit() and len(count) < 5 and scenario):
        raise BadChoice(f"repeats: must be a number and a scenario, not {text[:60]!r}")
    return scenario, int(count)


@require_safe
def versions(request: HttpRequest, name: str) -> HttpResponse:
    """Two versions of a configuration, ?from= and ?to=, by default the newest and the one before: to the newest run
    that holds both, or to a new run that would."""
    configuration = configuration_or_404(name)
    old, new = two_versions(request, list(configuration.versions.newest_first()))
    if old == new:
        raise Http404("One version alone cannot be compared.")
    run = Run.objects.holding([old, new]).first()
    if run is not None:
        return redirect(f"{reverse('compare')}?{urlencode({'run': run.pk, 'a': str(old), 'b': str(new)})}")
    messages.info(request, f"No run holds both {old} and {new} yet. This one would.")
    return redirect(_run_of(configuration, [old, new]))


def _run_of(configuration: Configuration, versions: Sequence[ConfigurationVersion]) -> str:
    """The new-run form with these versions, and the suite that the configuration last ran with."""
    last = Run.objects.filter(configurations__configuration_version__configuration=configuration)
    suite = last.filter(suite__archived_at=None).exclude(suite=None).values_list("suite__name", flat=True).first()
    given = {"configurations": [str(version) for version in versions], **({"suite": suite} if suite else {})}
    return f"{reverse('run-new')}?{urlencode(given, doseq=True)}"


@require_safe
def data(request: HttpRequest) -> HttpResponse:
    try:
        page = page_asked(request.GET)
    except BadChoice as problem:
        return JsonResponse({"error": str(problem)}, status=400)
    redactor = redactor_for(page.loaded.runs)
    if request.GET.get("format") == "csv":
        headers = {"Content-Disposition": 'attachment; filename="comparison.csv"', "X-Notice": redactor.notice}
        text = redactor.text(as_csv(page))
        return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)
    document = {"notice": redactor.notice, **redactor.json(as_json(page))}
    # strict: a NaN would be an error here and not something that half of all readers refuse
    return JsonResponse(document, json_dumps_params={"allow_nan": False, "ensure_ascii": False})
