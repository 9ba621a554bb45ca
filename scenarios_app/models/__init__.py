"""What people author. Each thing keeps every version it ever had; a version, once saved, never changes."""

from scenarios_app.models.agents import Application, ApplicationVersion, Configuration, ConfigurationVersion
from scenarios_app.models.drafts import FinishedPage, ScenarioDraft
from scenarios_app.models.recordings import Recording
from scenarios_app.models.scenarios import Scenario, ScenarioVersion, Suite, SuiteEntry
from scenarios_app.models.versions import Authored, Version

__all__ = [
    "Application",
    "ApplicationVersion",
    "Authored",
    "Configuration",
    "ConfigurationVersion",
    "FinishedPage",
    "Recording",
    "Scenario",
    "ScenarioDraft",
    "ScenarioVersion",
    "Suite",
    "SuiteEntry",
    "Version",
]
