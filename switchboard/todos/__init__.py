"""The durable queue: todos, their lifecycle, and the doorbell that says work waits."""
