from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.support import make_user


@pytest.fixture
def alice(db: None) -> User:
    return make_user("alice")


@pytest.fixture
def signed_in(alice: User) -> Client:
    """A client that is signed in as alice."""
    client = Client()
    client.force_login(alice)
    return client
