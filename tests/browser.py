"""Real pages in a real browser: daphne as a process of its own on the test's database file, and headless Chromium.

A test asks for `site` and `chrome`:

    def test_something(site, chrome):
        page = chrome.open("/runs/")
        page.get_by_role("link", name="New run").click()

Both processes serve all tests of a pytest process, as starting them takes seconds; data, person, Redis and contexts are
each test's own. A test may stop the site or give it other settings: the next one finds it as it was.

The test ends with an error when the browser's console had one; `chrome.expect_problem` names those that belong to it.
"""

from __future__ import annotations

import asyncio
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
from tests.runs.stack import START_S, Stack, channel_layers, empty_redis, numbered, stacked
from tests.services import eventually, free_port, missing
from tests.support import make_user

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Request

CHROMIUM = Path("/usr/bin/chromium")
REDIS_NUMBER = 5  # no other test's
LEASE_S = 600  # of trials that a test plays by hand, as slowly as the machine lets it


@dataclass
class Server:
    """The site's process, for one test after the other."""

    url: str
    stack: Stack
    usual: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    is_usual: bool = False

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def ready(self) -> None:
        """Starts it unless it runs as it was meant to; forgets what it logged for other tests."""
        if self.process is not None and self.is_usual and self.process.poll() is None:
            self.stack.log_path.write_bytes(b"")
            return
        self.stop()
        self.stack.secrets = dict(self.usual)
        self.start()
        self.is_usual = True

    def stop(self) -> None:
        self.is_usual = False
        if self.process is not None and self.process.poll() is None:
            self.stack.kill(self.process)

    def start(self) -> None:
        self.process = self.stack.start(self.command())
        eventually(self._answers, within_s=START_S, what=lambda: f"the site answers; log:\n{self._end_of_log()}")

    def command(self) -> list[str]:
        port = self.url.rpartition(":")[2]
        return [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", port, "evalsite.asgi:application"]

    def _end_of_log(self) -> str:
        return self.stack.log()[-3000:]

    def _answers(self) -> bool:
        assert self.process is None or self.process.poll() is None, f"the site ended; log:\n{self._end_of_log()}"
        try:
            with urlopen(f"{self.url}/sign-in/", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


@dataclass(frozen=True)
class Site:
    """The site as people reach it, and the person who is signed in."""

    user: User
    session_key: str
    server: Server

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def stack(self) -> Stack:
        """Its environment (`secrets` are read at the next start) and its log since the test began."""
        return self.server.stack

    def stop(self) -> None:
        self.server.stop()

    def start(self) -> None:
        """At the same address as before."""
        self.server.start()

    def restart(self, **environment: str) -> None:
        """With other settings."""
        self.stop()
        self.stack.secrets |= environment
        self.start()


@pytest.fixture(scope="session")
def _server(django_db_setup: None, redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    url, folder = f"http://127.0.0.1:{free_port()}", tmp_path_factory.mktemp("site")
    for stack in stacked(numbered(redis_url, REDIS_NUMBER), folder / "processes.log"):
        yield Server(url, stack, {"SITE_URL": url, "SITE_ORIGINS": url})


@pytest.fixture
def site(transactional_db: None, _server: Server, settings: Any) -> Iterator[Site]:
    """Daphne on a free port. This process rings and queues on the same Redis; no worker runs."""
    redis = _server.stack.redis_url
    settings.REDIS_URL, settings.SITE_URL = redis, _server.url
    settings.CHANNEL_LAYERS = channel_layers(redis)
    settings.LEASE_SECONDS = LEASE_S
    empty_redis(redis)
    user = make_user("alice")
    client = Client()
    client.force_login(user)
    before = app.conf.broker_url
    app.conf.broker_url = app.conf.broker_write_url = redis
    try:
        _server.ready()
        yield Site(user, str(client.session.session_key), _server)
    finally:
        app.conf.broker_url = app.conf.broker_write_url = before


@dataclass
class Chrome:
    """Opens pages of the site as the signed-in person, and keeps what the console complained of."""

    browser: Browser
    site: Site
    problems: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)
    changing: set[Request] = field(default_factory=set)

    def open(self, path: str = "/", *, width: int = 1440, height: int = 900, **options: Any) -> Page:
        """A page in a context of its own. options: as of Browser.new_context, such as color_scheme="dark"."""
        page = self.context(viewport={"width": width, "height": height}, **options).new_page()
        page.on("console", lambda message: self._note(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self._note(str(error)))
        page.goto(f"{self.site.url}{path}")
        return page

    def context(self, **options: Any) -> BrowserContext:
        context = self.browser.new_context(**options)
        self.contexts.append(context)
        context.on("request", lambda request: self.changing.add(request) if request.method == "POST" else None)
        context.on("requestfinished", lambda request: self.changing.discard(request))
        context.on("requestfailed", lambda request: self.changing.discard(request))
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

    def close(self) -> None:
        """Closes what was opened; what a page is about to change comes to the database before the next test does."""
        for context in self.contexts:
            if self.changing and context.pages:
                eventually(lambda page=context.pages[0]: self._settled(page), what="the pages' requests are answered")
            context.close()

    def _settled(self, page: Page) -> bool:
        page.wait_for_timeout(20)  # events come while Playwright is waited for
        return not self.changing


class Borrowed:
    """Chromium, and the event loop that Playwright's sync API keeps running in this thread.

    Between tests of pages that loop is hidden, or no asynchronous test could run in this process any more.
    """

    def __init__(self, playwright: Any) -> None:
        self.playwright = playwright
        self.loop = asyncio.get_running_loop()
        self.browser: Browser | None = None
        self.give_back()

    def take(self) -> Browser:
        asyncio._set_running_loop(self.loop)
        if self.browser is None or not self.browser.is_connected():
            self.browser = self.playwright.chromium.launch(
                executable_path=str(CHROMIUM),
                args=[
                    "--no-sandbox",
                    "--autoplay-policy=no-user-gesture-required",
                    "--use-fake-device-for-media-stream",  # a microphone that beeps, for who was given leave to use it
                ],
            )
        return self.browser

    def give_back(self) -> None:
        asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def _borrowed() -> Iterator[Borrowed]:
    if not CHROMIUM.exists():
        missing("browser", f"Chromium is not installed ({CHROMIUM})")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        borrowed = Borrowed(playwright)
        yield borrowed
        borrowed.take().close()


@pytest.fixture
def chromium(_borrowed: Borrowed, monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    """The browser of all tests: open contexts of your own and close them."""
    # Django takes our calls for asynchronous ones while Playwright's loop is there.
    monkeypatch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    try:
        yield _borrowed.take()
    finally:
        _borrowed.give_back()


@pytest.fixture
def chrome(site: Site, chromium: Browser) -> Iterator[Chrome]:
    chrome = Chrome(chromium, site)
    yield chrome
    chrome.close()
    problems = chrome.unexpected()
    assert not problems, f"the browser's console is not clean: {problems}"
