from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalsite import signin


class Command(BaseCommand):
    help = "Print a new one-time sign-in link (15 minutes)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", default=signin.OPERATOR, help="whose link (default: %(default)s)")

    def handle(self, *args: Any, user: str, **options: Any) -> None:
        if user == signin.OPERATOR:
            self.stdout.write(signin.link_for(signin.operator()))
            return
        found = User.objects.filter(username=user, is_active=True).first()
        if found is None:
            raise CommandError(f"there is no active user {user!r}")
        self.stdout.write(signin.link_for(found))
