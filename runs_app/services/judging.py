"""The judge of a configuration, with its key filled in, or one that says why it cannot be asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured

from runs_app.grading.judge import JudgeClient, Question, Reply, open_judge
from runs_app.models import Trial
from runs_app.realtime.endpoints import EndpointError
from runs_app.services import secrets
from runs_app.services.addresses import NoSimulator, service_url, template_context
from runs_app.services.secrets import SecretError
from scenarios_app.spec.configuration import Configuration


@dataclass(frozen=True, repr=False)
class JudgeSettings:
    """Holds a rendered key: it has no repr."""

    endpoint: str
    model: str
    api_key: str
    reasoning_effort: str | None


@dataclass(frozen=True)
class JudgeOutOfReach:
    """Answers every question with the reason why the real one cannot be asked, so that grading again can mend it."""

    model: str
    reason: str

    async def ask(self, question: Question) -> Reply:
        return Reply(error=self.reason)


def judge_settings(trial: Trial, configuration: Configuration) -> JudgeSettings | JudgeOutOfReach | None:
    """None where the configuration has no judge."""
    judge = configuration.judge
    if judge is None:
        return None
    try:
        service = secrets.render(
            url=service_url(judge.endpoint, field="judge.endpoint"),
            context=template_context(trial),
            api_key=judge.api_key,
            at="judge.",
        )
    except (SecretError, EndpointError, NoSimulator, ImproperlyConfigured) as error:
        return JudgeOutOfReach(judge.model, str(error))
    return JudgeSettings(service.url, judge.model, service.api_key or "", judge.reasoning_effort)


@asynccontextmanager
async def opened(settings: JudgeSettings | JudgeOutOfReach | None) -> AsyncIterator[JudgeClient | None]:
    if not isinstance(settings, JudgeSettings):
        yield settings
        return
    async with open_judge(
        endpoint=settings.endpoint,
        model=settings.model,
        api_key=settings.api_key,
        reasoning_effort=settings.reasoning_effort,
    ) as judge:
        yield judge
