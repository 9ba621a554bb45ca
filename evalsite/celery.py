import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")

app = Celery("soundcheck")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["runs_app"])
