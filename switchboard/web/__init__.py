"""The pages: layout, sign-in and the health checks."""
