"""Answer where a todo came from: exactly one call to its provider, and a row that says what became of it."""
