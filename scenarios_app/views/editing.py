"""What every editor page does with a POST: read it, switch its view, check it, save it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from scenarios_app.forms.editor import Editor, open_editor, read_editor, switched
from scenarios_app.forms.fields import SlotForm
from scenarios_app.forms.slots import Document
from scenarios_app.services import ChangedMeanwhile
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.jsontext import clean_text
from scenarios_app.spec.numbers import number_of
from scenarios_app.views.differences import since_of

Judge = Callable[[Document], Sequence[Problem]]
Save = Callable[[Document, str, int | None], Any]  # content, note, number of the version it started from
Act = Callable[[Editor, dict[str, Any]], Editor]  # the editor after a button of the page's own; adds to its context
Meanwhile = Callable[[Document, int | None], dict[str, Any]]  # what others saved since that version


def edit_page(
    request: HttpRequest,
    *,
    template: str,
    form_class: type[SlotForm] | None,
    document: Document,
    number: int | None,
    judge: Judge,
    save: Save,
    context: dict[str, Any],
    fixed: str = "",
    begun: Editor | None = None,
    meanwhile: Meanwhile = lambda document, since: {},
    acts: Mapping[str, Act] | None = None,
) -> HttpResponse:
    """The editor of a document whose newest version is `number` (None: it is new). Redirects to what was saved.

    `fixed` is the field that nobody may change any more, `begun` what was typed before instead of the document.
    Raises BadRequest for a form that lost its document.
    """
    context = {**context, "number": number}
    if request.method == "POST":
        context["number"] = _number(request)  # where this editor started, whatever was saved since
        editor = read_sent(form_class, request)
        act = (acts or {}).get(request.POST.get("action", ""))
        if act is not None:
            editor = act(editor, context)
            editor.check(judge)
        elif response := _act(request, editor, judge, save, context, meanwhile):
            return response
        editor = context.get("editor", editor)
        if request.POST.get("since") and not {"since", "merged"} & context.keys():  # a save was held back before
            context |= meanwhile(editor.document, since_of(request))
    else:
        editor = begun or open_editor(form_class, document, as_json=request.GET.get("view") == "json")
        if number is not None or begun:
            editor.check(judge)
    if fixed:
        fix(editor, fixed)
    return render(request, template, {"note": request.POST.get("note", ""), **context, "editor": editor})


def fix(editor: Editor, name: str) -> None:
    """Nobody may change that field any more."""
    if editor.form_side and editor.form_side.form:
        editor.form_side.form.fields[name].widget.attrs["readonly"] = True


def _act(
    request: HttpRequest, editor: Editor, judge: Judge, save: Save, context: dict[str, Any], meanwhile: Meanwhile
) -> HttpResponse | None:
    """Does what the pressed button says. Returns where to go then; None to show the page, with `context` filled."""
    action = request.POST.get("action", "save")
    if action in ("form", "json"):
        context["editor"] = switched(editor, to_json=action == "json")
    elif action == "save" and editor.check(judge):
        try:
            return redirect(save(editor.document, clean_text(request.POST.get("note", ""))[:500], _number(request)))
        except SpecError as error:
            editor.refuse(error.problems)
        except ChangedMeanwhile as error:
            told = meanwhile(editor.document, since_of(request))
            context |= {"meanwhile": error, "number": error.newest.number, **told}
    elif action == "check":
        editor.check(judge)
    return None


def check_fragment(request: HttpRequest, form_class: type[SlotForm] | None, judge: Judge) -> HttpResponse:
    """The problems of what is being typed, for htmx; nothing is stored."""
    editor = read_sent(form_class, request)
    editor.check(judge)
    return render(request, "scenarios_app/editor_check.html", {"editor": editor})


def read_sent(form_class: type[SlotForm] | None, request: HttpRequest) -> Editor:
    try:
        return read_editor(form_class, request.POST)
    except SpecError as error:
        raise BadRequest("The form has lost the document it edits. Load the page again.") from error


def _number(request: HttpRequest) -> int | None:
    return number_of(request.POST.get("number", ""))
