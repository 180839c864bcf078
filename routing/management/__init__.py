"""Management commands of the routing app."""
