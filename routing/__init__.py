"""From a delivery to todos: verification, events, rules, the grant, and routes."""
