from django.apps import AppConfig
from django.core import checks


class EvalsiteConfig(AppConfig):
    name = "evalsite"
    verbose_name = "Soundcheck"

    def ready(self) -> None:
        from evalsite import static_files

        checks.register(static_files.check, deploy=True)
