import os
import warnings
from typing import Any

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")

# Celery warns those who run it as root because of pickled messages; ours are JSON (settings: CELERY_ACCEPT_CONTENT).
warnings.filterwarnings("ignore", message=".*superuser privileges", category=SecurityWarning)

app = Celery("soundcheck")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["runs_app"])


@worker_ready.connect
def say_alive(sender: Any, **_: Any) -> None:
    from runs_app.services import liveness

    liveness.beat_in_background([queue.name for queue in sender.task_consumer.queues])
