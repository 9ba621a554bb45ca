"""Between the two steps of an import: what was sent, kept for a day under a signed note of what it is."""

from __future__ import annotations

from typing import Any

from django.core import signing
from django.http import HttpRequest

from scenarios_app.services import NotStored
from scenarios_app.services.bundles import SOUNDS
from scenarios_app.services.pending import KEPT, read_upload
from scenarios_app.spec.errors import Problem, SpecError

_SALT = "scenarios_app.import"
_KEPT_TEXT = 200_000  # characters of a pasted text that the page gives back for correction
_GONE = "the checked file is no longer kept here: choose it again"


def sent_files(request: HttpRequest) -> list[tuple[str, bytes]]:
    """Name and bytes of each chosen file, else of the pasted text (whose name is ""). Raises SpecError for neither."""
    sent = [(file.name or "", file.read()) for file in request.FILES.getlist("file")]
    files = [(name, data) for name, data in sent if data or name.lower().endswith(SOUNDS)]  # an empty sound is told
    text = request.POST.get("text", "")
    if not files and not text.strip():
        raise SpecError([Problem("file", "choose a file, or paste its text")])
    return files or [("", text.encode("utf-8", "replace"))]


def text_to_mend(request: HttpRequest) -> str:
    text = request.POST.get("text", "")
    return text if len(text) <= _KEPT_TEXT else ""


def sign(request: HttpRequest, **note: Any) -> str:
    """A note that only this person can hand in, for a day."""
    return signing.dumps({**note, "user": request.user.pk}, salt=_SALT)


def read_note(request: HttpRequest, field: str) -> tuple[dict[str, Any], bytes]:
    """The note that came back and the file that it speaks of. Raises NotStored."""
    try:
        note: dict[str, Any] = signing.loads(request.POST.get(field, ""), salt=_SALT, max_age=KEPT)
    except signing.BadSignature as error:
        raise NotStored(_GONE) from error
    if note["user"] != request.user.pk:
        raise NotStored("another person checked that file: choose it again")
    return note, read_upload(note["token"])
