from django.urls import path, re_path

from runs_app.consumers import NoSuchPlace, RunConsumer
from runs_app.listen_consumer import ListenConsumer

websocket_urlpatterns = [
    path("ws/runs/<int:run_id>/", RunConsumer.as_asgi()),
    path("ws/trials/<int:trial_id>/listen/", ListenConsumer.as_asgi()),
    re_path(r"", NoSuchPlace.as_asgi()),
]
