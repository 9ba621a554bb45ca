"""The only writers of what people author."""

from scenarios_app.services.agent_files import AgentsReport, import_agents, read_agents
from scenarios_app.services.applications import (
    application_warnings,
    create_application,
    find_application,
    find_application_version,
    import_applications,
    save_application,
)
from scenarios_app.services.archiving import archive, bring_back
from scenarios_app.services.batches import Edit, save_scenarios, save_table, tag_scenarios
from scenarios_app.services.configurations import (
    configuration_warnings,
    create_configuration,
    find_configuration,
    find_configuration_version,
    import_configurations,
    save_configuration,
)
from scenarios_app.services.drafts import begin_draft, drop_drafts, finish_page, keep_draft
from scenarios_app.services.following import save_suite_rule
from scenarios_app.services.reports import ChangedMeanwhile, ImportReport, NotStored, Saved
from scenarios_app.services.scenario_files import export_suite, import_scenarios
from scenarios_app.services.scenario_formats import read_scenarios, scenarios_document, write_scenarios
from scenarios_app.services.scenarios import (
    create_scenario,
    find_scenario,
    save_scenario,
    scenario_warnings,
)
from scenarios_app.services.suites import (
    add_to_suite,
    create_suite,
    find_suite,
    move_in_suite,
    remove_from_suite,
    suite_members,
)

__all__ = [
    "AgentsReport",
    "ChangedMeanwhile",
    "Edit",
    "ImportReport",
    "NotStored",
    "Saved",
    "add_to_suite",
    "application_warnings",
    "archive",
    "begin_draft",
    "bring_back",
    "configuration_warnings",
    "create_application",
    "create_configuration",
    "create_scenario",
    "create_suite",
    "drop_drafts",
    "export_suite",
    "find_application",
    "find_application_version",
    "find_configuration",
    "find_configuration_version",
    "find_scenario",
    "find_suite",
    "finish_page",
    "import_agents",
    "import_applications",
    "import_configurations",
    "import_scenarios",
    "keep_draft",
    "move_in_suite",
    "read_agents",
    "read_scenarios",
    "remove_from_suite",
    "save_application",
    "save_configuration",
    "save_scenario",
    "save_scenarios",
    "save_suite_rule",
    "save_table",
    "scenario_warnings",
    "scenarios_document",
    "suite_members",
    "tag_scenarios",
    "write_scenarios",
]
