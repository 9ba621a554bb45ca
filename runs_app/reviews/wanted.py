"""Which trials a list, a queue or the keys for previous and next go through: what the address says of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Count, F, Q
from django.http import QueryDict

from runs_app.grading.metrics import CLOCKS_DIFFER_MS
from runs_app.models import Outcome, Review, Run, Trial, TrialStatus
from runs_app.querysets import RunQuerySet, TrialQuerySet
from scenarios_app.spec import jsontext
from scenarios_app.spec.numbers import number_of

REVIEWED: Final = ("no", "yes", "disagree", "any")
SIGNS: Final = {"too-soon": "spoke too soon", "clocks": "two clocks differ", "marked": "marked moments"}
COUNTED: Final = {"too-soon": "spoke too soon", "clocks": "with clocks apart", "marked": "with marked moments"}
OUTCOMES: Final = tuple(outcome for outcome in Outcome.values if outcome != Outcome.CANCELLED)
LONGEST: Final = 400

Place = Literal["next", "previous"]


@dataclass(frozen=True)
class Wanted:
    """`run` and `suite` narrow to one; `who` is a user's name, `me` or `nobody`. `queue`: the trials are there to be
    reviewed, one after the other. Empty says nothing."""

    run: int | None = None
    suite: str = ""
    outcome: str = ""
    kind: str = ""
    check: str = ""  # one that failed
    sign: str = ""
    reviewed: str = ""
    who: str = ""
    q: str = ""  # of the scenario's id
    queue: bool = False

    @property
    def query(self) -> str:
        """As the address has it, without what says nothing."""
        given = {name: value for name, value in self.__dict__.items() if value and name != "queue"}
        return urlencode({**given, **({"queue": 1} if self.queue else {})})

    @property
    def narrowed(self) -> bool:
        return any(self.__dict__[name] for name in ("run", "suite", "outcome", "kind", "check", "sign", "who", "q"))

    def without(self, *names: str) -> Wanted:
        blank = Wanted()
        return replace(self, **{name: getattr(blank, name) for name in names})


def wanted_of(query: QueryDict) -> Wanted:
    """What makes no sense is taken for not said, so that an old link still opens."""

    def text(name: str) -> str:
        return jsontext.clean_text(query.get(name, "").strip())[:LONGEST]

    def one_of(name: str, known: tuple[str, ...]) -> str:
        return text(name) if text(name) in known else ""

    return Wanted(
        run=number_of(query.get("run", "")),
        suite=text("suite"),
        outcome=one_of("outcome", OUTCOMES),
        kind=text("kind"),
        check=text("check"),
        sign=one_of("sign", tuple(SIGNS)),
        reviewed=one_of("reviewed", REVIEWED),
        who=text("who"),
        q=text("q"),
        queue=query.get("queue") == "1",
    )


def trials_of(wanted: Wanted, viewer: User) -> TrialQuerySet:
    """In order: the newest run first, and in it as the trials were played."""
    found: TrialQuerySet = Trial.objects.counted().filter(_facts(wanted)).order_by("-run_id", "position")
    if wanted.queue or wanted.reviewed:
        found = found.filter(status=TrialStatus.DONE).exclude(outcome=Outcome.CANCELLED)
    if wanted.check:
        failed = Q(gradings__current=True, gradings__checks__check_id=wanted.check, gradings__checks__status="failed")
        found = found.filter(pk__in=Trial.objects.filter(failed).values("pk"))
    return _reviewed(_whose(found, wanted.who, viewer), wanted.reviewed)


def _facts(wanted: Wanted) -> Q:
    facts = Q()
    if wanted.run is not None:
        facts &= Q(run=wanted.run)
    if wanted.suite:
        facts &= Q(run__suite__name=wanted.suite)
    if wanted.outcome:
        facts &= Q(outcome=wanted.outcome)
    if wanted.kind:
        facts &= Q(failure_kind=wanted.kind)
    if wanted.q:
        facts &= Q(scenario_version__scenario__key__icontains=wanted.q)
    return facts & _sign(wanted.sign)


def _sign(sign: str) -> Q:
    if sign == "too-soon":
        return Q(metrics__spoke_too_soon_ms__gt=0) & _measured("spoke_too_soon_ms")
    if sign == "clocks":
        apart = Q(metrics__latency_difference_ms__gt=CLOCKS_DIFFER_MS)
        apart |= Q(metrics__latency_difference_ms__lt=-CLOCKS_DIFFER_MS)
        return apart & _measured("latency_difference_ms")
    return Q(pk__in=Trial.objects.filter(marks__attempt=F("attempt")).values("pk")) if sign == "marked" else Q()


def _measured(metric: str) -> Q:
    """Databases compare a JSON null too: SQLite holds it for more than any number, PostgreSQL for less."""
    return ~Q(**{f"metrics__{metric}": None})


def with_sign(runs: RunQuerySet, sign: str) -> RunQuerySet:
    """Runs with a trial that carries one of SIGNS."""
    return runs.filter(pk__in=Trial.objects.filter(_sign(sign)).values("run"))


@dataclass(frozen=True)
class Sign:
    """How many trials of a run carry one of SIGNS."""

    key: str
    words: str
    trials: int


def signs_of(run: Run) -> list[Sign]:
    """Those that any finished trial of the run carries."""
    done = run.trials.filter(status=TrialStatus.DONE).exclude(outcome=Outcome.CANCELLED)
    names = {key: key.replace("-", "_") for key in COUNTED}
    counts = done.aggregate(**{name: Count("pk", filter=_sign(key)) for key, name in names.items()})
    return [Sign(key, COUNTED[key], counts[name]) for key, name in names.items() if counts[name]]


def _whose(found: TrialQuerySet, who: str, viewer: User) -> TrialQuerySet:
    if who == "nobody":
        return found.filter(review_assignment=None)
    if who == "me":
        return found.filter(review_assignment__person=viewer)
    return found.filter(review_assignment__person__username=who) if who else found


def _reviewed(found: TrialQuerySet, reviewed: str) -> TrialQuerySet:
    current = Review.objects.filter(current=True)
    if reviewed == "no":
        return found.exclude(pk__in=current.values("trial"))
    if reviewed == "yes":
        return found.filter(pk__in=current.values("trial"))
    if reviewed == "disagree":
        return found.filter(pk__in=current.exclude(outcome="").exclude(outcome=F("trial__outcome")).values("trial"))
    return found


def beside(trials: TrialQuerySet, trial: Trial, place: Place) -> int | None:
    """The id of the trial that comes next, or before. By its place in the order, not by its number in the list: the
    trial itself may have left the list by then, because it was reviewed."""
    later = Q(run__lt=trial.run_id) | Q(run=trial.run_id, position__gt=trial.position)
    earlier = Q(run__gt=trial.run_id) | Q(run=trial.run_id, position__lt=trial.position)
    rest = trials.filter(later) if place == "next" else trials.filter(earlier).order_by("run_id", "-position")
    found: int | None = rest.values_list("pk", flat=True).first()
    return found
