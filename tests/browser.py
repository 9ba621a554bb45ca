"""Real pages in a real browser: daphne as a process of its own on the test's database file, and headless Chromium.

A test asks for `site` and `chrome`:

    def test_something(site, chrome):
        page = chrome.open("/runs/")
        page.get_by_role("link", name="New run").click()

The test ends with an error when the browser's console had one; `chrome.expect_problem` names those that belong to it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.test import Client

from evalsite.celery import app
from tests.runs.stack import Stack, numbered, stacked
from tests.services import eventually, free_port, missing
from tests.support import make_user

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = Path("/usr/bin/chromium")
REDIS_NUMBER = 5  # no other test's


@dataclass
class Site:
    """The site as people reach it, and the person who is signed in. `stack` can start workers beside it."""

    url: str
    user: User
    session_key: str
    stack: Stack
    server: subprocess.Popen[bytes]

    def stop(self) -> None:
        self.stack.kill(self.server)

    def start(self) -> None:
        """At the same address as before."""
        self.server = self.stack.start(_daphne(self.url))
        eventually(lambda: _answers(self.url), what=f"the site answers; log:\n{self.stack.log()[-3000:]}")


def _daphne(url: str) -> list[str]:
    port = url.rpartition(":")[2]
    return [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", port, "evalsite.asgi:application"]


def _answers(url: str) -> bool:
    try:
        with urlopen(f"{url}/sign-in/", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture
def site(transactional_db: None, redis_url: str, tmp_path: Path, settings: Any) -> Iterator[Site]:
    """Daphne on a free port. This process rings and queues on the same Redis; no worker runs unless one is started."""
    url, redis = f"http://127.0.0.1:{free_port()}", numbered(redis_url, REDIS_NUMBER)
    settings.REDIS_URL, settings.SITE_URL = redis, url
    layer = {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [redis], "capacity": 2000}}
    settings.CHANNEL_LAYERS = {"default": layer}  # this process only sends
    before = app.conf.broker_url
    app.conf.broker_url = app.conf.broker_write_url = redis
    user = make_user("alice")
    client = Client()
    client.force_login(user)
    try:
        for stack in stacked(redis, tmp_path / "processes.log"):
            stack.secrets |= {"SITE_URL": url, "SITE_ORIGINS": url}
            running = Site(url, user, str(client.session.session_key), stack, server=None)  # type: ignore[arg-type]
            running.start()
            yield running
    finally:
        app.conf.broker_url = app.conf.broker_write_url = before


@dataclass
class Chrome:
    """Opens pages of the site as the signed-in person, and keeps what the console complained of."""

    browser: Browser
    site: Site
    problems: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def open(self, path: str = "/", *, width: int = 1440, height: int = 900, **options: Any) -> Page:
        """A page in a context of its own. options: as of Browser.new_context, such as color_scheme="dark"."""
        page = self.context(viewport={"width": width, "height": height}, **options).new_page()
        page.on("console", lambda message: self._note(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self._note(str(error)))
        page.goto(f"{self.site.url}{path}")
        return page

    def context(self, **options: Any) -> BrowserContext:
        context = self.browser.new_context(**options)
        name = django_settings.SESSION_COOKIE_NAME
        context.add_cookies([{"name": name, "value": self.site.session_key, "url": self.site.url}])
        return context

    def expect_problem(self, *parts: str) -> None:
        """Console errors with these texts belong to the test, such as those of a socket while the site is down."""
        self.expected += parts

    def _note(self, text: str) -> None:
        self.problems.append(text)

    def unexpected(self) -> list[str]:
        return [text for text in self.problems if not any(part in text for part in self.expected)]


@pytest.fixture
def chrome(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chrome]:
    if not CHROMIUM.exists():
        missing("browser", f"Chromium is not installed ({CHROMIUM})")
    from playwright.sync_api import sync_playwright

    # Playwright's sync API keeps a loop running in this thread, and Django then takes our calls for asynchronous ones.
    monkeypatch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required"]
        )
        chrome = Chrome(browser, site)
        yield chrome
        browser.close()
    problems = chrome.unexpected()
    assert not problems, f"the browser's console is not clean: {problems}"
