from django.urls import path, re_path

from runs_app.consumers import NoSuchPlace, RunConsumer

websocket_urlpatterns = [
    path("ws/runs/<int:run_id>/", RunConsumer.as_asgi()),
    re_path(r"", NoSuchPlace.as_asgi()),
]
