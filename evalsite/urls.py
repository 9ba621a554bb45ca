from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import include, path

from evalsite import health, signin

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("sign-in/", signin.sign_in, name="sign-in"),
    path("sign-in/<str:token>/", signin.sign_in_link, name="sign-in-link"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("admin/", admin.site.urls),
    path("", include("scenarios_app.urls")),
    path("", include("runs_app.urls")),
]

handler400 = "evalsite.errors.bad_request"
handler403 = "evalsite.errors.forbidden"
handler404 = "evalsite.errors.not_found"
