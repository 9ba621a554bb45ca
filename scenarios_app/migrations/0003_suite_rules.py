from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scenarios_app", "0002_scenario_search"),
    ]

    operations = [
        migrations.AddField(
            model_name="suite",
            name="rule",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name="suiteentry",
            name="by_hand",
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name="suiteentry",
            name="by_rule",
            field=models.BooleanField(default=False),
        ),
    ]
