"""What listeners leave behind: where they are in a playlist, and which of two recordings they liked."""

from __future__ import annotations

import secrets

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from runs_app.models import Liked, PlaylistPlace, Preference, Trial


class AlreadyDecided(Exception):
    """A pair is decided once: who knows whose recordings they were has no opinion to add."""


def keep_place(*, listener: User, playlist: str, trial: Trial | None) -> None:
    """Where the listener is in the playlist; None: at its end, so that it begins anew."""
    if trial is None:
        PlaylistPlace.objects.filter(listener=listener, playlist=playlist).delete()
    else:
        PlaylistPlace.objects.update_or_create(listener=listener, playlist=playlist, defaults={"trial": trial})


def open_pair(*, listener: User, a: Trial, b: Trial) -> Preference:
    """The pair for this listener, in an order drawn once: to look at it again tells nothing, whichever is called A."""
    known = Preference.objects.filter(listener=listener, trial_a=b, trial_b=a).first()
    if known is not None:
        return known
    pair, _ = Preference.objects.get_or_create(
        listener=listener, trial_a=a, trial_b=b, defaults={"a_is_first": secrets.choice((True, False))}
    )
    return pair


def decide_pair(*, pair: Preference, liked: str) -> Preference:
    """`liked`: first, second or neither, as the listener knows them. Raises AlreadyDecided, and ValueError."""
    if liked not in ("first", "second", "neither"):
        raise ValueError(f"liked: {liked[:40]!r} is none of first, second, neither")
    side = Liked.NEITHER if liked == "neither" else Liked.A if (liked == "first") == pair.a_is_first else Liked.B
    with transaction.atomic():
        if not Preference.objects.filter(pk=pair.pk, liked="").update(liked=side, decided_at=timezone.now()):
            raise AlreadyDecided(f"{pair} is decided already")
    pair.refresh_from_db()
    return pair
