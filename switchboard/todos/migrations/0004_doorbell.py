"""Note beside a todo how often and when its bell was rung (contract §7); what waits by now was rung just now."""

from importlib import import_module

import django.utils.timezone
from django.db import migrations, models

# SQLite makes the table anew and loses its triggers.
address = import_module("switchboard.todos.migrations.0002_reply_address_is_immutable")


class Migration(migrations.Migration):
    dependencies = [("todos", "0003_todo_reply_cap")]
    operations = [
        migrations.RunPython(address._drop, address._create),
        migrations.AddField("todo", "ring_count", models.PositiveSmallIntegerField(default=0, editable=False)),
        migrations.AddField(
            "todo", "rung_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)
        ),
        migrations.AddIndex(
            "todo",
            models.Index(condition=models.Q(("state", "pending")), fields=["rung_at"], name="todo_rung"),
        ),
        migrations.RunPython(address._create, address._drop),
    ]
