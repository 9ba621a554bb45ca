from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("runs_app", "0010_temporary_runs_and_fixes"),
    ]

    operations = [
        migrations.RemoveField(model_name="fix", name="created_at"),
    ]
