from runs_app.models.baselines import Baseline
from runs_app.models.decisions import Decision, RunPlan
from runs_app.models.fixes import Fix
from runs_app.models.grading import Check, Grade, Grading
from runs_app.models.intervals import StoredIntervals
from runs_app.models.known_failures import KnownFailure, KnownFailureChange
from runs_app.models.playlists import PlaylistPlace
from runs_app.models.preferences import Liked, Preference
from runs_app.models.review import Fault, Mark, Review, ReviewAssignment, Verdict
from runs_app.models.runs import Run, RunConfiguration, RunScenario, RunStatus
from runs_app.models.trials import Event, Outcome, Trial, TrialStatus

__all__ = [
    "Baseline",
    "Check",
    "Decision",
    "Event",
    "Fault",
    "Fix",
    "Grade",
    "Grading",
    "KnownFailure",
    "KnownFailureChange",
    "Liked",
    "Mark",
    "Outcome",
    "PlaylistPlace",
    "Preference",
    "Review",
    "ReviewAssignment",
    "Run",
    "RunConfiguration",
    "RunPlan",
    "RunScenario",
    "RunStatus",
    "StoredIntervals",
    "Trial",
    "TrialStatus",
    "Verdict",
]
