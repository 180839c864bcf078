"""Management commands of the accounts app, and what they share."""
