"""Keep an artifact's tags beside the reply address, and let no UPDATE change either (SPEC-0028 REQ-1)."""

from django.db import migrations, models

COLUMNS = ("reply_to", "reply_tags")
POSTGRESQL = """
CREATE FUNCTION todos_todo_keep_reply_address() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the reply address of a todo does not change' USING ERRCODE = 'integrity_constraint_violation'; END $$;
CREATE TRIGGER todos_todo_keep_reply_address BEFORE UPDATE ON todos_todo FOR EACH ROW
WHEN (OLD.reply_to IS DISTINCT FROM NEW.reply_to OR OLD.reply_tags IS DISTINCT FROM NEW.reply_tags)
EXECUTE FUNCTION todos_todo_keep_reply_address();
"""
POSTGRESQL_BACK = """
DROP TRIGGER todos_todo_keep_reply_address ON todos_todo;
DROP FUNCTION todos_todo_keep_reply_address();
"""
SQLITE = """
CREATE TRIGGER todos_todo_keep_reply_address BEFORE UPDATE ON todos_todo FOR EACH ROW
WHEN OLD.reply_to IS NOT NEW.reply_to OR OLD.reply_tags IS NOT NEW.reply_tags
BEGIN SELECT RAISE(ABORT, 'the reply address of a todo does not change'); END;
"""
SQLITE_BACK = "DROP TRIGGER todos_todo_keep_reply_address;"


def _create(apps, schema_editor):
    schema_editor.execute(POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE)


def _drop(apps, schema_editor):
    schema_editor.execute(POSTGRESQL_BACK if schema_editor.connection.vendor == "postgresql" else SQLITE_BACK)


class Migration(migrations.Migration):
    dependencies = [("todos", "0001_initial")]
    operations = [
        migrations.AddField("todo", "reply_tags", models.JSONField(blank=True, default=list, editable=False)),
        migrations.RunPython(_create, _drop),
    ]
