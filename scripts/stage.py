"""A site of its own for scripts that look at it: `manage.py up` on a fresh data folder, and a browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from png import small

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
CHROMIUM = "/usr/bin/chromium"
START_S = 300
SIZE = {"width": 1200, "height": 760}


@dataclass(frozen=True)
class Stage:
    url: str
    link: str  # signs in, once
    began_s: float  # of time.monotonic, when the command was given

    def seconds(self) -> float:
        return time.monotonic() - self.began_s


@contextmanager
def fresh_site(command: Sequence[str] = (sys.executable, "manage.py", "up")) -> Iterator[Stage]:
    """All that `command` starts, in a data folder that is thrown away. Raises SystemExit when it does not come up."""
    with tempfile.TemporaryDirectory(prefix="soundcheck-stage-") as folder:
        log = Path(folder) / "up.log"
        environment = {**os.environ, "SOUNDCHECK_DATA_DIR": f"{folder}/var", "PYTHONUNBUFFERED": "1"}
        began_s = time.monotonic()
        with log.open("wb") as out:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=out, stderr=out, start_new_session=True
            )
        try:
            link = await_link(log, process)
            yield Stage(link.partition("/sign-in/")[0], link, began_s)
        finally:
            stop(process)


def await_link(log: Path, process: subprocess.Popen[bytes]) -> str:
    deadline_s = time.monotonic() + START_S
    while time.monotonic() < deadline_s and process.poll() is None:
        found = re.search(r"Soundcheck is up:\s+(\S+)", log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.1)
    raise SystemExit(f"the site did not come up:\n{log.read_text(errors='replace')[-3000:]}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """As Ctrl-C does: a terminal tells the whole group, `make` and what it started; the group is this process's own."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def browser_page(scheme: str = "light") -> Iterator[Page]:
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        context = browser.new_context(
            viewport={**SIZE},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="UTC",
        )
        try:
            yield context.new_page()
        finally:
            browser.close()


def sign_in(page: Page, stage: Stage) -> None:
    page.goto(stage.link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{stage.url}/")


def picture(page: Page, name: str, *, height: int = SIZE["height"]) -> None:
    """What the window shows, as docs/images/NAME.png."""
    IMAGES.mkdir(exist_ok=True)
    page.set_viewport_size({"width": SIZE["width"], "height": height})
    page.wait_for_timeout(300)
    made = small(page.screenshot())
    (IMAGES / f"{name}.png").write_bytes(made)
    print(f"{name}.png {len(made) / 1024:.0f} kB", flush=True)
