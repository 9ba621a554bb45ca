from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

pytestmark = pytest.mark.django_db


def test_smoke(browser: Client) -> None:
    for name in (
        "scenarios",
        "scenario-new",
        "scenarios-import",
        "suites",
        "applications",
        "application-new",
        "configurations",
        "configuration-new",
    ):
        response = browser.get(reverse(name))
        assert response.status_code == 200, name
