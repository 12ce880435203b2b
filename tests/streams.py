"""Streams that tests of the readers share."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from goblin import TraceError


class OneByteAtATime(io.RawIOBase):
    """A raw stream whose reads return a single byte."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._data.read(min(size, 1) if size >= 0 else 1)


def until_fault(
    read: Callable[[io.BytesIO], Iterable[Any]], column: str, data: bytes
) -> tuple[list[Any], str]:
    """What a column of a reader's batches has before the TraceError, and its text."""
    values: list[Any] = []
    with pytest.raises(TraceError) as caught:
        for batch in read(io.BytesIO(data)):
            values += getattr(batch, column).tolist()
    return values, str(caught.value)
