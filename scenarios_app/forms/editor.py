"""One document, edited as a form or as JSON. Switching loses nothing in either direction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from scenarios_app.forms.fields import SlotForm
from scenarios_app.forms.slots import Document, NotShown, as_sent
from scenarios_app.presentation import inline_json, pretty_json
from scenarios_app.spec.errors import Part, Problem, SpecError, by_field
from scenarios_app.spec.jsonplaces import with_lines
from scenarios_app.spec.jsontext import load

TEXT_FIELD = "text_json"
_NO_OBJECT = "this must be one JSON object"


@dataclass(frozen=True)
class Notice:
    """A problem or warning as the page lists it: `anchor` is the id of the input it belongs to, or ""."""

    place: str
    message: str
    anchor: str
    line: int | None = None


@dataclass
class Editor:
    """What the page shows. `form` is None in JSON mode; `text` is what the JSON field holds then."""

    form_class: type[SlotForm] | None
    document: Document  # as edited, as far as it could be read
    form: SlotForm | None = None
    text: str = ""
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = field(default=())
    unread: bool = False  # something of what was sent could not be read, so `document` lacks it

    @property
    def view(self) -> str:
        return "json" if self.form is None else "form"

    @property
    def has_form(self) -> bool:
        return self.form_class is not None

    @property
    def base_json(self) -> str:
        """What the form lies over, for its hidden field."""
        return inline_json(self.form.document) if self.form else ""

    @property
    def json_text(self) -> str:
        return self.text if self.form is None else pretty_json(self.document)

    @property
    def json_lines(self) -> list[int]:
        """Lines of `json_text` that have problems."""
        return sorted({problem.line for problem in with_lines(self.problems, self.json_text) if problem.line})

    @cached_property
    def form_side(self) -> Editor | None:
        """This document in its form, its problems at their fields; None when there is none that could show it."""
        if self.form is not None:
            return self
        if self.form_class is None or self.unread:
            return None
        side = open_editor(self.form_class, self.document)
        if side.form is None:
            return None
        side.refuse(self.problems)
        return side

    def check(self, judge: Callable[[Document], Sequence[Problem]]) -> bool:
        """Asks `judge`, which raises SpecError or returns warnings. True when there is no problem.

        Fields that could not be read still hold their old values in the document: what is said about those is no news.
        """
        if self.form is not None or not self.problems:
            unread = [problem.parts for problem in self.problems]
            try:
                self.warnings = tuple(judge(self.document))
            except SpecError as error:
                self.problems += tuple(p for p in error.problems if not _is_below(p, unread))
        self._place_problems()
        return not self.problems

    def refuse(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        self._place_problems()

    def _place_problems(self) -> None:
        if self.form is None:
            self.problems = with_lines(self.problems, self.text)
            self.warnings = with_lines(self.warnings, self.text)
            return
        if not self.form.is_bound:
            self.form.cleaned_data = {}  # add_error wants it, and an unbound form never has it
        fields = self.form.field_of()
        for path, messages in by_field(self.problems, fields).items():
            if path:
                self.form.add_error(fields[path], messages)

    @property
    def notices(self) -> list[Notice]:
        return [self._notice(problem) for problem in self.problems]

    @property
    def warning_notices(self) -> list[Notice]:
        return [self._notice(problem) for problem in self.warnings]

    def _notice(self, problem: Problem) -> Notice:
        if self.form is None:
            return Notice(problem.path, problem.message, f"id_{TEXT_FIELD}", problem.line)
        fields = self.form.field_of()
        ((path, messages),) = by_field([problem], fields).items()
        if not path:
            return Notice(problem.path, problem.message, "")
        bound = self.form[fields[path]]
        return Notice(str(bound.label), messages[0], bound.id_for_label)


def _is_below(problem: Problem, places: Sequence[tuple[Part, ...]]) -> bool:
    return any(problem.parts[: len(place)] == place for place in places)


def open_editor(form_class: type[SlotForm] | None, document: Document, *, as_json: bool = False) -> Editor:
    """The document in the wanted mode. What a form cannot show is opened as JSON, which says why."""
    editor = Editor(form_class, document, text=pretty_json(document))
    if form_class is None or as_json:
        return editor
    try:
        editor.form = form_class(document)
    except NotShown as error:
        editor.problems = with_lines([Problem(error.path, error.reason)], editor.text)
    return editor


def read_editor(form_class: type[SlotForm] | None, data: Mapping[str, str]) -> Editor:
    """What the browser sent, in the mode in which it was edited."""
    if form_class is not None and data.get("view") == "form":
        return _read_form(form_class, data)
    text = as_sent(data.get(TEXT_FIELD, ""))
    try:
        document = load(text)
    except SpecError as error:
        return Editor(form_class, {}, text=text, problems=error.problems, unread=True)
    if not isinstance(document, dict):
        return Editor(form_class, {}, text=text, problems=(Problem("", _NO_OBJECT, 1),), unread=True)
    return Editor(form_class, document, text=text)


def _read_form(form_class: type[SlotForm], data: Mapping[str, str]) -> Editor:
    base = load(data.get("document", ""))
    if not isinstance(base, dict):
        raise SpecError([Problem("document", "must be one JSON object")])
    try:
        form = form_class(base, form_class.arranged(data, data.get("action", "")))
    except NotShown as error:
        raise SpecError([Problem(error.path, error.reason)]) from error
    document, problems = form.merged()
    problems = [*form_class.overfull(data), *problems]
    return Editor(form_class, document, form=form, problems=tuple(problems), unread=bool(problems))


def switched(editor: Editor, *, to_json: bool) -> Editor:
    """The other view of the same document; the same one, with its problems, while it cannot be read."""
    if editor.problems:
        editor.refuse(editor.problems)
        return editor
    return open_editor(editor.form_class, editor.document, as_json=to_json)
