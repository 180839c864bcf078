"""The schema of connections, step by step."""
