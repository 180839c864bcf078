"""Evaluates tenants' jq rules in confined child processes; nothing here ever runs an expression in the caller."""
