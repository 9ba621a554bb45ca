"""Signing in: by a one-time link (shown by GET, used by POST) or, where someone has one, by password."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from evalsite.models import SignInLink

OPERATOR = "operator"

sign_in = LoginView.as_view(template_name="registration/sign_in.html")


def operator() -> User:
    """The first person of an installation; has no password until somebody sets one."""
    user, made = User.objects.get_or_create(username=OPERATOR, defaults={"is_staff": True, "is_superuser": True})
    if made:
        user.set_unusable_password()
        user.save()
    return user


def link_for(user: User) -> str:
    site = settings.SITE_URL or "http://127.0.0.1:8000"
    return site + reverse("sign-in-link", args=[SignInLink.issue(user)])


@never_cache
@login_not_required
@require_http_methods(["GET", "POST"])
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    link = SignInLink.find(token)
    if request.method == "POST" and link is not None and link.spend():
        login(request, link.user, backend="django.contrib.auth.backends.ModelBackend")
        return redirect("home")
    valid = link is not None and request.method == "GET"
    context = {"valid": valid, "name": link.user.get_username() if link else ""}
    return render(request, "registration/sign_in_link.html", context, status=200 if valid else 410)
