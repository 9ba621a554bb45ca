"""Trials that failed before kinds were kept get theirs, from what their current grading stored."""

from django.db import migrations

from runs_app.grading.failure_kinds import Score, Verdict, failure_signature

BATCH = 500


def kinds_of_earlier(apps, schema_editor):
    Trial = apps.get_model("runs_app", "Trial")
    Grading = apps.get_model("runs_app", "Grading")
    failed = Trial.objects.filter(outcome="failed", failure_kind="").order_by("pk")
    while batch := list(failed.only("pk", "stage")[:BATCH]):
        found = Grading.objects.filter(trial__in=batch, current=True).prefetch_related("checks", "grades")
        gradings = {grading.trial_id: grading for grading in found}
        for trial in batch:
            trial.failure_kind = kind_of(trial, gradings.get(trial.pk))
        Trial.objects.bulk_update(batch, ["failure_kind"])


def kind_of(trial, grading):
    checks = sorted(grading.checks.all(), key=lambda check: check.position) if grading else []
    grades = sorted(grading.grades.all(), key=lambda grade: grade.position) if grading else []
    verdicts = [Verdict(check.check_id, check.status, check.required, check.evidence) for check in checks]
    scores = [Score(grade.dimension, grade.status, grade.score) for grade in grades]
    return failure_signature(trial.stage, verdicts, scores).key


class Migration(migrations.Migration):
    dependencies = [("runs_app", "0006_failure_kinds_and_decisions")]

    operations = [migrations.RunPython(kinds_of_earlier, migrations.RunPython.noop, elidable=True)]
