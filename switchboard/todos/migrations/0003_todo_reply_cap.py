"""Count a todo's replies beside it, with the cap that its owner may raise (SPEC-0028 REQ-9, REQ-10)."""

from importlib import import_module

from django.db import migrations, models

# SQLite makes the table anew and loses its triggers.
address = import_module("switchboard.todos.migrations.0002_reply_address_is_immutable")


class Migration(migrations.Migration):
    dependencies = [("todos", "0002_reply_address_is_immutable")]
    operations = [
        migrations.RunPython(address._drop, address._create),
        migrations.AddField("todo", "reply_cap", models.PositiveSmallIntegerField(default=20)),
        migrations.AddField("todo", "reply_count", models.PositiveSmallIntegerField(default=0, editable=False)),
        migrations.AddField(
            "todo", "last_reply_state", models.CharField(blank=True, default="", editable=False, max_length=8),
            preserve_default=False,
        ),
        migrations.AddField(
            "todo", "last_reply_permalink", models.TextField(blank=True, default="", editable=False),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            "todo",
            models.CheckConstraint(
                condition=models.Q(("reply_cap__gte", 20), ("reply_cap__lte", 100)), name="todo_reply_cap_in_range"
            ),
        ),
        migrations.RunPython(address._create, address._drop),
    ]
