"""One-time sign-in links. Only a hash of the token is kept."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone

LIFETIME = timedelta(minutes=15)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class SignInLink(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"link for {self.user_id} until {self.expires_at:%H:%M}"

    @classmethod
    def issue(cls, user: User) -> str:
        """A fresh token for this user; links that are spent or too old are forgotten."""
        cls.objects.filter(expires_at__lt=timezone.now() - timedelta(days=1)).delete()
        token = secrets.token_urlsafe(32)
        cls.objects.create(user=user, digest=_digest(token), expires_at=timezone.now() + LIFETIME)
        return token

    @classmethod
    def find(cls, token: str) -> SignInLink | None:
        """The link if it can still be used."""
        return (
            cls.objects.filter(digest=_digest(token), used_at=None, expires_at__gt=timezone.now(), user__is_active=True)
            .select_related("user")
            .first()
        )

    def spend(self) -> bool:
        """True for the one request that gets to use it."""
        return type(self).objects.filter(pk=self.pk, used_at=None).update(used_at=timezone.now()) == 1
