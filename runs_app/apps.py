from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "runs_app"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from runs_app.realtime.application_problems import problems
        from runs_app.services.caller_voice import sound_told
        from runs_app.services.tooling import local_problems
        from scenarios_app.services import checks, recordings

        checks.register(errors=problems, warnings=local_problems)
        recordings.register(sound_told)
