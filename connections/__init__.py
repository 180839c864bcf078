"""Outbound credentials: what each one is for, and whom it may reach."""
