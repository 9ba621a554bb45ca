import os

import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.db.models.signals import post_migrate
from hypothesis import settings

# Enough to find what is wrong often; HYPOTHESIS_PROFILE=thorough looks longer. Deadlines would test the machine.
settings.register_profile("quick", max_examples=40, deadline=None)
settings.register_profile("thorough", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

pytest_plugins = ["tests.services", "tests.browser", "tests.simulated"]


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Content types and permissions, which nothing here reads, are not made anew after every test that commits."""
    post_migrate.disconnect(create_contenttypes)
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
