from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from evalsite import datadir, demo, signin, supervisor
from runs_app.services import liveness


class Command(BaseCommand):
    help = "Start everything on this machine: site, workers, sweeper, simulator and, unless REDIS_URL is set, Redis."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=None, help="the site's port (default: 8000, or any free one)")
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
        parser.add_argument("--no-demo-run", action="store_true", help="do not start the demo run")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with supervisor.only_one(settings.DATA_DIR):
                self.run(options["host"], options["port"], not options["no_demo_run"])
        except supervisor.CannotStart as reason:
            raise CommandError(str(reason)) from reason

    def run(self, host: str, wanted_port: int | None, demo_run: bool) -> None:
        port = supervisor.free_port(host, wanted_port) if wanted_port else supervisor.default_port(host)
        simulator_port = supervisor.free_port()
        given = settings.GIVEN
        redis_port = None if given["redis"] else supervisor.free_port()
        addresses = supervisor.Addresses(
            site=given["site"] or f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}",
            redis=given["redis"] or f"redis://127.0.0.1:{redis_port}/0",
            simulator=given["simulator"] or f"http://127.0.0.1:{simulator_port}",
        )
        self.prepare(addresses)
        server = supervisor.start_redis(redis_port, settings.DATA_DIR) if redis_port else None
        try:
            if server is not None:
                supervisor.await_redis(addresses.redis, server, settings.DATA_DIR)
                supervisor.stop_all_if_it_ends(server, "the embedded Redis")
            self.supervise(addresses, host, port, simulator_port, demo_run)
        finally:
            if server is not None:
                supervisor.stop(server)
            datadir.forget_up(settings.DATA_DIR)

    def prepare(self, addresses: supervisor.Addresses) -> None:
        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
        if settings.PRODUCTION:
            call_command("collectstatic", interactive=False, verbosity=0)
        call_command("migrate", interactive=False, verbosity=0)
        # this process was set up before the addresses were known
        settings.SITE_URL, settings.REDIS_URL = addresses.site, addresses.redis
        demo.install()
        link = signin.link_for(signin.operator())
        datadir.write_up(settings.DATA_DIR, {**asdict(addresses), "sign_in": link})

    def supervise(
        self, addresses: supervisor.Addresses, host: str, port: int, simulator_port: int, demo_run: bool
    ) -> None:
        from runs_app.services import claims

        own_simulator = None if settings.GIVEN["simulator"] else simulator_port
        manager = supervisor.manager(supervisor.commands(host, port, own_simulator))
        connection.close()
        threading.Thread(target=self.welcome, args=(addresses.site, demo_run), daemon=True).start()
        manager.loop()
        released = claims.release_all()
        if released:
            self.stdout.write(f"{released} trials under way were put back; the next start finishes them.")
        if manager.returncode not in (0, 130, 143, None):
            raise CommandError("a process kept failing; its last lines are above")

    def welcome(self, site: str, demo_run: bool) -> None:
        # the workers say first that they are there: a site asked before that would log that it is not healthy
        for name in liveness.NAMES:
            liveness.wait_for(name, timeout_s=60)
        if not await_health(site, timeout_s=60):
            self.stderr.write(f"The site does not report itself healthy yet: see {site}/healthz")
            return
        options = demo.first_run_options() if demo_run else None
        link = signin.link_for(signin.operator())
        lines = ["", f"  Soundcheck is up:  {link}", "  (works once, for 15 minutes; a new one: manage.py signin_link)"]
        if options is not None:
            lines.append("  The demo run has started: two versions of a prompt, about two minutes.")
            subprocess.run([sys.executable, str(supervisor.BASE_DIR / "manage.py"), "run_eval", *options], check=False)
        self.stdout.write("\n".join([*lines, "  Ctrl-C stops everything.", ""]))
        self.stdout.flush()
        connection.close()


def await_health(site: str, *, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{site}/healthz", timeout=3) as answer:
                return bool(json.load(answer)["status"] == "ok")
        except (urllib.error.URLError, OSError, ValueError, KeyError):
            time.sleep(0.25)
    return False
