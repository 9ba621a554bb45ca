"""The new-run form: what a browser sends, as values that `start_run` takes. Shareable by URL, so by names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils.functional import cached_property

from runs_app.comparing.choice import METRICS
from runs_app.plans import Plan
from runs_app.refusable import RefusableForm
from runs_app.selection import Selection, unknown_keys
from runs_app.services.runs import MOST_REPEATS, SEED_LIMIT
from scenarios_app.models import ConfigurationVersion, Scenario, Suite
from scenarios_app.search import folded
from scenarios_app.services.factors import factors_of
from scenarios_app.spec.configuration import mode_of
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.tool_faults import MODES as FAULT_MODES
from scenarios_app.spec.tool_faults import read_faults

MOST_CONCURRENCY = 8  # in the browser; an operator may ask run_eval for more
MOST_PICKS = 500  # scenarios listed to be picked by hand
NEWEST_SHOWN = 3  # versions of a configuration that are shown without unfolding

MODES = [("", "As configured"), ("audio", "Audio, the caller speaks"), ("text", "Text, nothing is spoken")]
REAL_TIME = [
    ("", "As configured"),
    ("yes", "Yes, at the pace of a call"),
    ("no", "No, as fast as it goes"),
]


class SuiteField(forms.ModelChoiceField):
    def label_from_instance(self, suite: Suite) -> str:
        return f"{suite.name} ({suite.size} {'scenario' if suite.size == 1 else 'scenarios'})"  # type: ignore[attr-defined]


class AnyOf(forms.MultipleChoiceField):
    """Texts of which the form itself says which are known: their list may be long."""

    def valid_value(self, value: str) -> bool:
        return True


def _margin(largest: float | None = None) -> forms.FloatField:
    return forms.FloatField(required=False, min_value=0, max_value=largest)


class RunForm(RefusableForm):
    """Data by names: ?suite=demo&configurations=Front+desk@1&configurations=Front+desk@2&repeats=3"""

    mended_by: ClassVar = {"scenarios": "suite"}
    suite = SuiteField(
        queryset=Suite.objects.none(),
        to_field_name="name",
        required=False,
        empty_label="Choose a suite",
        error_messages={"invalid_choice": "There is no such suite any more."},
    )
    tags = AnyOf(
        required=False,
        help_text="Of the suite, only scenarios with one of these; without a suite, all that carry one.",
    )
    scenarios = AnyOf(required=False, help_text="These come on top of suite and tags.")
    configurations = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose at least one configuration; two or more can be compared.",
            "invalid_choice": "There is no configuration %(value)s.",
        },
    )
    repeats = forms.IntegerField(
        initial=3, min_value=1, max_value=MOST_REPEATS, help_text="Three or more show how much an agent varies."
    )
    concurrency = forms.IntegerField(
        initial=4,
        min_value=1,
        max_value=MOST_CONCURRENCY,
        label="At once",
        help_text=f"Conversations at the same time, 1 to {MOST_CONCURRENCY}; run_eval allows more.",
    )
    mode = forms.ChoiceField(choices=MODES, required=False)
    real_time = forms.ChoiceField(choices=REAL_TIME, required=False, label="Real time")
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=SEED_LIMIT - 1,
        help_text="The same seed repeats the same luck. Empty: a new one.",
    )
    tool_faults = forms.CharField(
        required=False,
        max_length=10_000,
        label="Tool faults",
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono", "dir": "ltr", "spellcheck": "false"}),
        help_text="One TOOL=MODE a line, * for every tool, such as create_reservation=delay:3s. "
        f"Modes: {', '.join(FAULT_MODES)}. Empty: as the scenarios say.",
    )
    stop_after_invalid = forms.IntegerField(
        required=False,
        min_value=1,
        label="Stop after invalid",
        help_text="Cancels the rest once so many trials were invalid: the endpoint is down. Empty: never.",
    )
    name = forms.CharField(required=False, max_length=200, help_text="What lists call this run.")
    hypothesis = forms.CharField(
        required=False,
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
        help_text="What you expect, before you know. Whoever decides on this run reads it.",
    )
    primaries = forms.MultipleChoiceField(
        required=False,
        choices=[(name, name) for name in METRICS],
        initial=list(METRICS),
        widget=forms.CheckboxSelectMultiple,
        label="Metrics that decide",
        help_text="The fewer, the smaller a difference they can tell.",
    )
    margin_semantic_quality = _margin(1)
    margin_tool_accuracy = _margin(1)
    margin_response_latency_ms = _margin()
    margin_pass_rate = _margin(1)

    def __init__(self, *args: Any, suites: Any, versions: Iterable[ConfigurationVersion], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.versions = {str(version): version for version in versions}
        self.fields["suite"].queryset = suites  # type: ignore[attr-defined]
        self.fields["configurations"].choices = [(label, label) for label in self.versions]  # type: ignore[attr-defined]
        self.fields["name"].widget.attrs["dir"] = "auto"

    def clean_tags(self) -> list[str]:
        known = {folded(tag): tag for tag in self.known_tags}
        given = self.cleaned_data["tags"]
        if unknown := [tag for tag in given if folded(tag) not in known]:
            raise forms.ValidationError(f"No scenario carries the tag {', '.join(unknown)}.")
        return [known[folded(tag)] for tag in given]

    def clean_scenarios(self) -> list[str]:
        given: list[str] = self.cleaned_data["scenarios"]
        if unknown := unknown_keys(given):
            raise forms.ValidationError(f"There is no scenario {', '.join(unknown)}.")
        return given

    def clean(self) -> dict[str, Any]:
        if not self.selection and not {"suite", "tags", "scenarios"} & set(self.errors):
            self.add_error("suite", "Choose a suite, or tags, or scenarios by hand.")
        return self.cleaned_data

    @property
    def selection(self) -> Selection:
        """What is right of it, when the form has been cleaned."""
        data = self.cleaned_data
        return Selection(data.get("suite"), data.get("tags", ()), data.get("scenarios", ()))

    @cached_property
    def known_tags(self) -> list[str]:
        return Scenario.objects.current().tags()

    def tag_boxes(self) -> list[TagBox]:
        chosen = {folded(str(value)) for value in self["tags"].value() or []}
        return [TagBox(tag, folded(tag) in chosen) for tag in self.known_tags]

    @cached_property
    def picks(self) -> list[Pick]:
        """The scenarios to pick from, those that are picked first."""
        chosen = {str(value).lower() for value in self["scenarios"].value() or []}
        rows = Scenario.objects.current().filter(latest__isnull=False).order_by("key")
        found = [
            Pick(key, title, folded(f"{key} {title} {' '.join(tags)}"), key.lower() in chosen)
            for key, title, tags in rows.values_list("key", "latest__title", "latest__tags")
        ]
        return sorted(found, key=lambda pick: not pick.checked)[:MOST_PICKS]

    @property
    def more_picks(self) -> int:
        total = Scenario.objects.current().filter(latest__isnull=False).count() if len(self.picks) == MOST_PICKS else 0
        return max(0, total - len(self.picks))

    @property
    def is_picked(self) -> bool:
        return any(pick.checked for pick in self.picks)

    def clean_configurations(self) -> list[ConfigurationVersion]:
        return [self.versions[label] for label in self.cleaned_data["configurations"]]

    def clean_real_time(self) -> bool | None:
        return {"yes": True, "no": False}.get(self.cleaned_data["real_time"])

    def clean_tool_faults(self) -> dict[str, Any]:
        try:
            return read_faults(self.cleaned_data["tool_faults"])
        except SpecError as error:
            raise forms.ValidationError([problem.message for problem in error.problems]) from error

    @property
    def plan(self) -> Plan:
        """What is to be found out, by what is right of a cleaned form. All metrics without a margin is no choice."""
        data = self.cleaned_data
        margins = {name: data[f"margin_{name}"] for name in METRICS if data.get(f"margin_{name}")}
        chosen = tuple(name for name in METRICS if name in data.get("primaries", ()))
        hypothesis = data.get("hypothesis", "").strip()
        hypotheses = (hypothesis,) if hypothesis else ()
        return Plan(hypotheses, chosen if chosen and chosen != METRICS else None, margins)

    def margin_rows(self) -> list[tuple[str, bool, Any]]:
        """(metric, whether it decides, the field of its margin)."""
        chosen = {str(value) for value in self["primaries"].value() or []}
        return [(name, name in chosen, self[f"margin_{name}"]) for name in METRICS]

    def groups(self) -> list[Group]:
        """The checkboxes by configuration, newest version first; older ones fold away unless one is chosen."""
        chosen = {str(value) for value in self["configurations"].value() or []}
        factors = factors_of(self.versions.values())
        found: dict[str, list[Box]] = {}
        for label, version in self.versions.items():
            box = Box(label, version, label in chosen, str(factors[version.pk]))
            found.setdefault(version.configuration.name, []).append(box)
        return [Group(name, boxes) for name, boxes in found.items()]


@dataclass(frozen=True)
class TagBox:
    tag: str
    checked: bool


@dataclass(frozen=True)
class Pick:
    """`text`: what it is found by."""

    key: str
    title: str
    text: str
    checked: bool


@dataclass(frozen=True)
class Box:
    label: str
    version: ConfigurationVersion
    checked: bool
    factors: str

    @property
    def mode(self) -> str:
        return mode_of(self.version.content)


@dataclass(frozen=True)
class Group:
    name: str
    boxes: list[Box]

    @property
    def newest(self) -> list[Box]:
        return self.boxes[:NEWEST_SHOWN]

    @property
    def older(self) -> list[Box]:
        return self.boxes[NEWEST_SHOWN:]

    @property
    def older_is_open(self) -> bool:
        return any(box.checked for box in self.older)


LISTS = ("configurations", "tags", "scenarios", "primaries")


def given(query: QueryDict) -> dict[str, Any]:
    """What a URL fills in. Unknown names are ignored, and so are numbers that are none."""
    known: dict[str, Any] = {name: query[name] for name in RunForm.base_fields if name in query and name not in LISTS}
    return known | {name: query.getlist(name) for name in LISTS if query.getlist(name)}
