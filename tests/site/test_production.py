"""The site as operators run it: production settings, behind a proxy that speaks TLS on a port of its own."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings as django_settings
from django.contrib.staticfiles import finders
from django.core.exceptions import ImproperlyConfigured
from playwright.sync_api import expect

from evalsite import static_files
from evalsite.models import SignInLink
from runs_app.models import Run
from scenarios_app.models import Scenario
from tests.browser import Chrome, Site
from tests.pages.comparing import finished_run, same
from tests.pages.trials import spoken_trial
from tests.proxy import Proxy, own_tls, proxied
from tests.runs.builders import make_configuration, make_suite
from tests.runs.stack import ROOT, START_S
from tests.services import eventually
from tests.support import scenario_file, scenario_json

if TYPE_CHECKING:
    from playwright.sync_api import Page

CASE = pytest.mark.case("D15")
FAR_ORIGIN = "https://eval.example:8443"


def documented(origin: str) -> dict[str, str]:
    """What docs/deploying.md says to set, for a site at this address."""
    return {
        "SOUNDCHECK_PRODUCTION": "true",
        "SECRET_KEY": "k" * 48,
        "ALLOWED_HOSTS": "localhost",
        "SITE_URL": origin,
        "SITE_ORIGINS": origin,
        "BEHIND_TLS_PROXY": "true",
    }


def restart(site: Site, environment: dict[str, str]) -> None:
    site.stop()
    site.stack.secrets |= environment
    collect = [sys.executable, "manage.py", "collectstatic", "--no-input", "-v", "0"]
    subprocess.run(collect, cwd=ROOT, env=site.stack.environment(), check=True, timeout=120)
    site.server.process = site.stack.start(site.server.command())
    port = site.url.rpartition(":")[2]
    eventually(
        lambda: listens(int(port)),
        within_s=START_S,
        what=lambda: f"the site listens; log:\n{site.stack.log()[-3000:]}",
    )


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@pytest.fixture
def proxy(site: Site, tmp_path: Path) -> Iterator[Proxy]:
    with proxied(site.url, tls=own_tls(tmp_path), response_headers={"Referrer-Policy": "no-referrer"}) as proxy:
        yield proxy


def sign_in(page: Page, proxy: Proxy, site: Site) -> None:
    page.goto(f"{proxy.url}/sign-in/{SignInLink.issue(site.user)}/")
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{proxy.url}/")


def start_and_cancel(page: Page, proxy: Proxy) -> None:
    page.goto(f"{proxy.url}/runs/new/")
    page.get_by_label("Suite").first.select_option("demo")
    page.get_by_label("Front desk@1").check()
    page.get_by_role("button", name="Start the run").click()
    expect(page).to_have_url(re.compile(r"/runs/\d+/$"))
    expect(page.locator("#live-mark")).to_have_attribute("data-state", "live", timeout=20_000)
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Cancel run").click()
    expect(page.locator("#run-head")).to_contain_text("cancelled")


def import_a_file(page: Page, proxy: Proxy) -> None:
    page.goto(f"{proxy.url}/scenarios/import/")
    file = {"name": "more.json", "mimeType": "application/json", "buffer": scenario_file([scenario_json("imported")])}
    page.set_input_files("input[type=file]", files=[file])  # type: ignore[list-item]
    page.get_by_label("Suite").first.fill("more")
    page.get_by_role("button", name=re.compile("Check")).click()
    page.get_by_role("button", name=re.compile("Import")).click()
    expect(page.get_by_role("status")).to_contain_text("Imported: 1 new")


@CASE
@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("keep_port", [True, False], ids=["port in Host", "no port in Host"])
def test_the_documented_settings_work_behind_a_proxy(site: Site, chrome: Chrome, proxy: Proxy, keep_port: bool) -> None:
    """D15: sign in, start a run, cancel it, import; the proxy says no-referrer; every static file is found."""
    proxy.keep_port = keep_port
    restart(site, documented(proxy.url))
    make_configuration()
    make_suite(2)
    page = chrome.context(ignore_https_errors=True).new_page()
    page.context.clear_cookies()
    missing: list[str] = []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status >= 400 else None)
    sign_in(page, proxy, site)
    start_and_cancel(page, proxy)
    import_a_file(page, proxy)
    assert Run.objects.get().status == "cancelled"
    compared = finished_run(same(), repeats=2)
    editor, chart = "/scenarios/case_1/edit/", f"/compare/?run={compared.pk}"
    for path in (editor, chart, spoken_trial().get_absolute_url(), "/nowhere/"):
        page.goto(proxy.url + path, wait_until="networkidle")
    cookies = {cookie["name"]: cookie["secure"] for cookie in page.context.cookies()}
    assert cookies[django_settings.SESSION_COOKIE_NAME]
    assert Scenario.objects.filter(key="imported").exists()
    assert missing == [f"{proxy.url}/nowhere/"]  # the one that is not there was seen


@CASE
@pytest.mark.browser
@pytest.mark.slow
def test_a_wrong_setting_is_named_with_the_origin_that_was_seen(site: Site, chrome: Chrome, proxy: Proxy) -> None:
    """D15: SITE_ORIGINS names another address; the refused form says which came and which setting to change."""
    chrome.expect_problem("status of 403")
    proxy.keep_port = False
    restart(site, documented(proxy.url) | {"SITE_ORIGINS": FAR_ORIGIN})
    page = chrome.context(ignore_https_errors=True).new_page()
    page.goto(f"{proxy.url}/sign-in/{SignInLink.issue(site.user)}/")
    page.get_by_role("button", name="Sign in").click()
    said = page.locator("main")
    expect(said).to_contain_text(f"named the origin {proxy.url}")
    expect(said).to_contain_text(f"SITE_ORIGINS allows {FAR_ORIGIN}")


@CASE
def test_a_form_without_an_origin_tells_what_made_it_so(client: Any, settings: Any) -> None:
    """D15: a proxy's Referrer-Policy: no-referrer makes the origin null."""
    from django.test import Client

    refused = Client(enforce_csrf_checks=True).post("/sign-in/", {"username": "a"}, headers={"Origin": "null"})
    assert refused.status_code == 403
    assert "Referrer-Policy: no-referrer" in refused.content.decode()


@CASE
def test_a_site_without_its_static_files_does_not_start(tmp_path: Path, settings: Any) -> None:
    """D15: missing or old files are named when it starts, not by a page that looks broken."""
    assert static_files.not_collected() == []  # not in production: served from where they are
    settings.WHITENOISE_USE_FINDERS = False
    settings.STATIC_ROOT = tmp_path
    with pytest.raises(ImproperlyConfigured, match="collectstatic"):
        static_files.refuse_if_missing()
    (error,) = static_files.check(None)
    assert error.is_serious()

    for name in static_files.not_collected():
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        found = finders.find(name)
        assert found
        copy.write_bytes(Path(found).read_bytes())
    assert static_files.check(None) == []
    (tmp_path / "css" / "base.css").write_text("/* of the version before */")
    with pytest.raises(ImproperlyConfigured, match=r"1 static files .* css/base.css"):
        static_files.refuse_if_missing()


@CASE
def test_daphne_says_why_it_does_not_start(tmp_path: Path) -> None:
    environment = {**documented("https://localhost:8443"), "SOUNDCHECK_DATA_DIR": str(tmp_path)}
    code = "import evalsite.asgi"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode != 0
    assert "static files are missing or old" in done.stderr
    assert "collectstatic" in done.stderr


@CASE
def test_every_static_file_that_a_template_names_is_there() -> None:
    """D15: a template naming a file that is not there."""
    named = {
        (name, template.name)
        for template in (ROOT / "templates").rglob("*.html")
        for name in re.findall(r"{% static '([^']+)' %}", template.read_text())
    }
    assert len(named) > 10
    assert [(name, template) for name, template in named if not finders.find(name)] == []
