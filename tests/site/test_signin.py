"""Signing in by a one-time link."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from evalsite import signin
from evalsite.models import SignInLink

pytestmark = pytest.mark.django_db


def path_of(link: str) -> str:
    return "/" + link.split("/", 3)[3]


def test_a_link_is_shown_by_get_and_used_by_post(client: Client) -> None:
    path = path_of(signin.link_for(signin.operator()))
    assert client.get(path).status_code == 200
    assert "_auth_user_id" not in client.session
    assert client.post(path).status_code == 302
    assert client.session["_auth_user_id"] == str(signin.operator().pk)


def test_a_link_works_once(client: Client) -> None:
    path = path_of(signin.link_for(signin.operator()))
    client.post(path)
    other = Client()
    assert other.post(path).status_code == 410
    assert "_auth_user_id" not in other.session


def test_a_link_is_dead_after_fifteen_minutes(client: Client) -> None:
    path = path_of(signin.link_for(signin.operator()))
    with time_machine.travel(timezone.now() + timedelta(minutes=15, seconds=1)):
        assert client.get(path).status_code == 410
        assert client.post(path).status_code == 410


def test_two_links_do_not_disturb_each_other(client: Client) -> None:
    first, second = (path_of(signin.link_for(signin.operator())) for _ in range(2))
    assert client.post(first).status_code == 302
    assert Client().post(second).status_code == 302


def test_only_a_hash_of_the_token_is_stored() -> None:
    link = signin.link_for(signin.operator())
    token = link.rstrip("/").rsplit("/", 1)[1]
    assert token not in SignInLink.objects.get().digest


def test_no_default_password_exists() -> None:
    assert not signin.operator().has_usable_password()


def test_the_command_prints_a_link_that_works(client: Client) -> None:
    out = StringIO()
    call_command("signin_link", stdout=out)
    assert client.post(path_of(out.getvalue().strip())).status_code == 302


def test_the_command_names_a_user_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="'nobody'"):
        call_command("signin_link", "--user", "nobody")


def test_an_inactive_user_cannot_use_a_link(client: Client) -> None:
    user = get_user_model().objects.create_user("gone")
    path = path_of(signin.link_for(user))
    user.is_active = False
    user.save()
    assert client.post(path).status_code == 410


def test_pages_send_a_stranger_to_the_sign_in_page(client: Client) -> None:
    answer = client.get("/")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/")
    assert client.get("/sign-in/").status_code == 200


def test_a_part_of_a_page_sends_the_whole_page_to_sign_in(client: Client) -> None:
    asked = {"HX-Request": "true", "HX-Current-URL": "http://testserver/runs/?q=a"}
    answer = client.get("/runs/", headers=asked)
    assert answer.headers["HX-Redirect"] == "/sign-in/?next=%2Fruns%2F%3Fq%3Da"


@pytest.mark.parametrize("address", ["/decisions/?suite=a%00b", "/suites/a%00b/insight/"])
def test_an_address_with_a_nul_is_refused_before_a_database_sees_it(admin_client: Client, address: str) -> None:
    """PostgreSQL takes no such text: it would be an error of the server."""
    answer = admin_client.get(address)
    assert answer.status_code == 400
    assert answer["X-Request-ID"]
