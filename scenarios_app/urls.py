from django.urls import path, register_converter

from scenarios_app.converters import NameConverter
from scenarios_app.views import (
    applications,
    archive,
    chosen,
    configuration_edit,
    configuration_vary,
    configurations,
    exporting,
    importing,
    importing_agents,
    recordings,
    replacing,
    scenario_edit,
    scenario_typing,
    scenarios,
    suites,
    table,
    understood,
)

register_converter(NameConverter, "name")

urlpatterns = [
    path("archive/", archive.archived_list, name="archive"),
    path("schemas/<slug:of>.json", exporting.file_schema, name="file-schema"),
    # Scenarios
    path("scenarios/", scenarios.scenario_list, name="scenarios"),
    path("scenarios/new/", scenario_edit.scenario_new, name="scenario-new"),
    path("scenarios/import/", importing.scenarios_import, name="scenarios-import"),
    path("scenarios/chosen/", chosen.scenarios_chosen, name="scenarios-chosen"),
    path("scenarios/export/", exporting.scenarios_export, name="scenarios-export"),
    path("scenarios/replace/", replacing.scenarios_replace, name="scenarios-replace"),
    path("scenarios/table/", table.scenarios_table, name="scenarios-table"),
    path("scenarios/validate/", scenario_typing.scenario_validate, name="scenario-validate"),
    path("scenarios/discard/", scenario_typing.draft_discard, name="scenario-draft-discard"),
    path("scenarios/<name:key>/", scenarios.scenario_page, name="scenario"),
    path("scenarios/<name:key>/edit/", scenario_edit.scenario_edit, name="scenario-edit"),
    path("scenarios/<name:key>/versions/<int:number>/", scenarios.scenario_version, name="scenario-version"),
    path("recordings/typed/", recordings.recording_typed, name="recording-typed"),
    path("scenarios/<name:key>/recordings/", recordings.recording_add, name="recording-add"),
    path("scenarios/<name:key>/recordings/remove/", recordings.recording_remove, name="recording-remove"),
    path(
        "scenarios/<name:key>/versions/<int:number>/restore/",
        scenario_edit.scenario_restore,
        name="scenario-restore",
    ),
    path("scenarios/<name:key>/diff/", scenarios.scenario_diff, name="scenario-diff"),
    path("scenarios/<name:name>/archive/", archive.set_archived, {"kind": "scenario"}, name="scenario-archive"),
    # Suites
    path("suites/", suites.suite_list, name="suites"),
    path("suites/<name:name>/", suites.suite_page, name="suite"),
    path("suites/<name:name>/archive/", archive.set_archived, {"kind": "suite"}, name="suite-archive"),
    path("suites/<name:name>/export/", exporting.suite_export, name="suite-export"),
    # Applications
    path("applications/", applications.application_list, name="applications"),
    path("applications/new/", applications.application_new, name="application-new"),
    path("applications/export/", exporting.applications_export, name="applications-export"),
    path("applications/validate/", applications.application_validate, name="application-validate"),
    path("applications/<name:name>/", applications.application_page, name="application"),
    path("applications/<name:name>/edit/", applications.application_edit, name="application-edit"),
    path(
        "applications/<name:name>/versions/<int:number>/",
        applications.application_version,
        name="application-version",
    ),
    path("applications/<name:name>/diff/", applications.application_diff, name="application-diff"),
    path(
        "applications/<name:name>/archive/", archive.set_archived, {"kind": "application"}, name="application-archive"
    ),
    # Configurations
    path("configurations/", configurations.configuration_list, name="configurations"),
    path("configurations/new/", configuration_edit.configuration_new, name="configuration-new"),
    path("configurations/import/", importing_agents.configurations_import, name="configurations-import"),
    path("configurations/export/", exporting.configurations_export, name="configurations-export"),
    path("configurations/validate/", configuration_edit.configuration_validate, name="configuration-validate"),
    path("configurations/understood/", understood.instructions_understood, name="configuration-understood"),
    path("configurations/<name:name>/", configurations.configuration_page, name="configuration"),
    path("configurations/<name:name>/vary/", configuration_vary.configuration_vary, name="configuration-vary"),
    path("configurations/<name:name>/edit/", configuration_edit.configuration_edit, name="configuration-edit"),
    path(
        "configurations/<name:name>/versions/<int:number>/",
        configurations.configuration_version,
        name="configuration-version",
    ),
    path(
        "configurations/<name:name>/versions/<int:number>/understood/",
        understood.version_understood,
        name="configuration-version-understood",
    ),
    path(
        "configurations/<name:name>/archive/",
        archive.set_archived,
        {"kind": "configuration"},
        name="configuration-archive",
    ),
    path("configurations/<name:name>/diff/", configurations.configuration_diff, name="configuration-diff"),
]
