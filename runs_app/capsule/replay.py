"""The command that holds the same conversation again."""

from __future__ import annotations

import shlex

from runs_app.models import Trial
from scenarios_app.spec.tool_faults import fault_lines


def scenario_file(trial: Trial) -> str:
    return f"{trial.scenario_version.scenario.key}.json"


def replay_command(trial: Trial) -> str:
    """For a shell in the folder that scenario_file lies in. The seed of a repeat is drawn from the run's: so all
    repeats up to this one are held."""
    run = trial.run
    words = ["python", "manage.py", "run_eval", "--data", scenario_file(trial)]
    words += ["--configurations", str(trial.configuration_version), "--repeats", str(trial.repeat)]
    words += ["--seed", str(run.seed)]
    words += ["--mode", run.mode] if run.mode else []
    words += ["--no-real-time"] if run.real_time is False else []
    for line in fault_lines(run.tool_faults):
        words += ["--tool-fault", line]
    return shlex.join([*words, "--wait"])
