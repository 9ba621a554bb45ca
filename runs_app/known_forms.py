"""What a browser sends about a known failure, as values that the services take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from runs_app.refusable import RefusableForm
from runs_app.services.known_failures import MOST_DAYS, USUAL_DAYS, usual_expiry
from scenarios_app.models import Configuration, Scenario


class ChangeForm(RefusableForm):
    """What of a mark can be changed."""

    ticket = forms.CharField(
        max_length=300,
        help_text="An address, a number, or where else it is written down.",
        error_messages={"required": "Name the ticket: a mark without one is forgotten."},
    )
    expires_on = forms.DateField(
        label="Counts until",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=f"After this day its failures count again. At most {MOST_DAYS} days; usual are {USUAL_DAYS}.",
        error_messages={"invalid": "Write the day as 2027-05-15.", "required": "Say until when it counts."},
    )
    note = forms.CharField(required=False, max_length=1000, widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}))


class MarkForm(ChangeForm):
    """`scenarios` by their ids; the first page offers those that failed alike."""

    scenarios = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose at least one scenario.",
            "invalid_choice": "There is no scenario %(value)s.",
        },
    )
    configuration = forms.ChoiceField(
        required=False, error_messages={"invalid_choice": "There is no configuration %(value)s."}
    )
    only_kind = forms.BooleanField(required=False, label="Only when it fails like this")
    field_order = ["scenarios", "configuration", "only_kind", "ticket", "expires_on", "note"]

    def __init__(self, data: Any, *, scenarios: Iterable[Scenario], initial: dict[str, Any]) -> None:
        super().__init__(data, initial={"expires_on": usual_expiry(), **initial})
        self.known = {scenario.key: scenario for scenario in scenarios}
        self.configurations = {one.name: one for one in Configuration.objects.order_by("name")}
        every = [("", "Every configuration"), *((name, name) for name in self.configurations)]
        self.fields["scenarios"].choices = [(key, key) for key in self.known]  # type: ignore[attr-defined]
        self.fields["configuration"].choices = every  # type: ignore[attr-defined]

    def clean_scenarios(self) -> list[Scenario]:
        return [self.known[key] for key in self.cleaned_data["scenarios"]]

    def clean_configuration(self) -> Configuration | None:
        return self.configurations.get(self.cleaned_data["configuration"])
