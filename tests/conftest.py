import os
from pathlib import Path

import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.db.models.signals import post_migrate
from hypothesis import settings

# Enough to find what is wrong often; HYPOTHESIS_PROFILE=thorough looks longer. Deadlines would test the machine.
settings.register_profile("quick", max_examples=40, deadline=None)
settings.register_profile("thorough", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

pytest_plugins = ["tests.services", "tests.browser", "tests.simulated"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests may take long begin first: one that begins last keeps all others waiting."""
    patience: dict[Path, float] = {}
    for item in items:
        mark = item.get_closest_marker("timeout")
        patience[item.path] = max(patience.get(item.path, 0.0), mark.args[0] if mark else 0.0)
    items.sort(key=lambda item: -patience[item.path])


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Content types and permissions, which nothing here reads, are not made anew after every test that commits."""
    post_migrate.disconnect(create_contenttypes)
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
