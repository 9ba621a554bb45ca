from runs_app.models.grading import Check, Grade, Grading
from runs_app.models.review import Fault, Mark, Review, ReviewAssignment, Verdict
from runs_app.models.runs import Run, RunConfiguration, RunScenario, RunStatus
from runs_app.models.trials import Event, Outcome, Trial, TrialStatus

__all__ = [
    "Check",
    "Event",
    "Fault",
    "Grade",
    "Grading",
    "Mark",
    "Outcome",
    "Review",
    "ReviewAssignment",
    "Run",
    "RunConfiguration",
    "RunScenario",
    "RunStatus",
    "Trial",
    "TrialStatus",
    "Verdict",
]
