"""Frames between the server and its sandbox processes: a prefix, a length, a payload; standard library only."""

import struct
from collections.abc import Callable
from typing import Final

PREFIX: Final = b"switchboard-sandbox/1\n"
ANSWER_LIMIT: Final = 65_536  # bytes: 32 faults of 200 characters fit several times

_LENGTH: Final = struct.Struct("!I")
_CHUNK: Final = 65_536


class ProtocolError(Exception):
    """The other side does not speak this protocol, or says more than it may."""


def frame(payload: bytes) -> bytes:
    """Return the payload as one frame."""
    return PREFIX + _LENGTH.pack(len(payload)) + payload


def read_frame(receive: Callable[[int], bytes], *, limit: int) -> bytes:
    """Return the payload of the next frame, read through `receive(size)`, which gives b"" at the end.

    Raises EOFError when the stream ends first, ProtocolError on a foreign prefix or more than `limit` bytes.
    """
    header = _read_exactly(receive, len(PREFIX) + _LENGTH.size)
    if not header.startswith(PREFIX):
        raise ProtocolError("foreign prefix")
    (length,) = _LENGTH.unpack_from(header, len(PREFIX))
    if length > limit:
        raise ProtocolError("oversized frame")
    return _read_exactly(receive, length)


def _read_exactly(receive: Callable[[int], bytes], size: int) -> bytes:
    chunks = []
    while size:
        chunk = receive(min(size, _CHUNK))
        if not chunk:
            raise EOFError
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)
