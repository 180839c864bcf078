"""The one deadline of a call, over everything from the name's resolution to the last byte of the body."""

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """A moment on the monotonic clock, in seconds."""

    ends_at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Return the deadline that ends so many seconds from now."""
        return cls(time.monotonic() + seconds)

    def left(self) -> float:
        """Return the seconds left, more than 0; raise TimeoutError when there are none."""
        seconds = self.ends_at - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds
