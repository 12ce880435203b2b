"""Streams that tests of the readers share."""

from __future__ import annotations

import io


class OneByteAtATime(io.RawIOBase):
    """A raw stream whose reads return a single byte."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._data.read(min(size, 1) if size >= 0 else 1)
