from django.urls import path

from runs_app.views import (
    capsule,
    compare,
    connection,
    console,
    decisions,
    home,
    known,
    listening,
    playlist,
    problems,
    review,
    run_new,
    runs,
    trials,
)

urlpatterns = [
    path("", home.home, name="home"),
    # what belongs to an application and needs the executor
    path("applications/<name:name>/console/", console.application_console, name="application-console"),
    # runs
    path("runs/", runs.runs, name="runs"),
    path("runs/new/", run_new.run_new, name="run-new"),
    path("runs/new/estimate/", run_new.estimate, name="run-estimate"),
    path("runs/<int:pk>/", runs.run, name="run"),
    path("runs/<int:pk>/live/", runs.live_panel, name="run-live"),
    path("runs/<int:pk>/findings/", runs.findings, name="run-findings"),
    path("runs/<int:pk>/cancel/", runs.cancel, name="run-cancel"),
    path("runs/<int:pk>/retry/", runs.retry, name="run-retry"),
    path("runs/<int:pk>/regrade/", runs.regrade, name="run-regrade"),
    path("runs/<int:pk>/junit.xml", runs.junit, name="run-junit"),
    path("runs/<int:pk>/trials.csv", runs.as_csv, name="run-csv"),
    path("runs/<int:pk>/results.json", runs.results, name="run-results"),
    # trials
    path("trials/<int:pk>/", trials.trial, name="trial"),
    path("trials/<int:pk>/earlier/", runs.earlier, name="trial-earlier"),
    path("trials/<int:pk>/cancel/", trials.cancel, name="trial-cancel"),
    path("trials/<int:pk>/regrade/", trials.regrade, name="trial-regrade"),
    path("trials/<int:pk>/audio.wav", trials.audio, name="trial-audio"),
    path("playlist/", playlist.playlist, name="playlist"),
    path("playlist/place/", playlist.place, name="playlist-place"),
    path("trials/<int:pk>/fault/", playlist.fault, name="trial-fault"),
    path("trials/<int:pk>/player/", listening.player, name="trial-player"),
    path("trials/<int:pk>/capsule.html", capsule.as_html, name="trial-capsule"),
    path("trials/<int:pk>/capsule.zip", capsule.as_zip, name="trial-capsule-zip"),
    path("trials/<int:pk>/peaks.json", trials.peaks, name="trial-peaks"),
    path("trials/<int:pk>/events.jsonl", trials.events, name="trial-events"),
    path("trials/<int:pk>/trial.json", trials.as_json, name="trial-json"),
    # what fails, and what of it is known
    path("problems/", problems.problems, name="problems"),
    path("known/", known.known_failures, name="known-failures"),
    path("known/new/", known.known_failure_new, name="known-failure-new"),
    path("known/<int:pk>/", known.known_failure, name="known-failure"),
    path("trials/<int:pk>/review/", review.save, name="trial-review"),
    path("trials/<int:pk>/assign/", review.assign_one, name="trial-assign"),
    path("trials/<int:pk>/marks/", review.mark, name="trial-mark"),
    path("marks/<int:pk>/remove/", review.unmark, name="mark-remove"),
    # reviews
    path("review/", review.queue, name="review"),
    path("review/assign/", review.assign, name="review-assign"),
    # what was decided on comparisons
    path("decide/", decisions.decide, name="decide"),
    path("decisions/", decisions.decisions, name="decisions"),
    path("decisions/<int:pk>/", decisions.decision, name="decision"),
    path("decisions/<int:pk>/comparison.json", decisions.decision_json, name="decision-json"),
    # comparisons
    path("compare/", compare.compare, name="compare"),
    path("compare/data/", compare.data, name="compare-data"),
    path("configurations/<name:name>/compare/", compare.versions, name="configuration-compare"),
    path(
        "configurations/<name:name>/versions/<int:number>/connection/",
        connection.test_connection,
        name="configuration-connection",
    ),
]
