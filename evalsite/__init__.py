# Celery's decorators need the app as soon as Django is set up, in every process.
from evalsite.celery import app as celery_app

__all__ = ["celery_app"]
