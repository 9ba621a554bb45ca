"""The product's settings with two plain pages instead of the site's: what runs need of it are the addresses."""

from evalsite.settings import *  # noqa: F403

ROOT_URLCONF = "tests.runs.urls"
