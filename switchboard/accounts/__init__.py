"""Who: humans, teams, the endpoints that agents use, API tokens, and who may see what."""
