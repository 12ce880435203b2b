"""Files of Redis commands that fill sorted sets."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from .. import _core
from ._reader import Batch, Reader
from ._source import TraceFile

__all__ = ["CommandBatch", "CommandReader", "commands"]


def commands(paths: TraceFile | Iterable[TraceFile]) -> CommandReader:
    """Read files of `ZADD` and `ZINCRBY` commands as an iterator of batches.

    Commands are lines with Redis' quoting, or RESP arrays of strings; the file may be bzip2. A
    batch is a run of commands of one verb and key: `op` ("ZADD" or "ZINCRBY"), `key` (bytes),
    `members` (object array of bytes as written), `scores` (float64, by Redis' rules of float text).
    Time O(bytes), memory O(block).

    Raises FileNotFoundError for a missing file and, once the commands before it are delivered,
    TraceError for other commands, options such as NX, wrong arguments, and files that are cut or
    damaged.

    >>> import io
    >>> for batch in commands(io.BytesIO(b"ZINCRBY edits 1 12\\nZINCRBY edits 2 '1 3'\\n")):
    ...     print(batch.op, batch.key, batch.members, batch.scores)
    ZINCRBY b'edits' [b'12' b'1 3'] [1. 2.]
    """
    return CommandReader(paths)


class CommandBatch(Batch):
    """Pairs of commands that follow each other, of one verb and key.

    `op` is "ZADD" or "ZINCRBY", `key` the sorted set's name, bytes; `members` is an object array of
    bytes, made when first asked for, and `scores` one of float64.
    """

    def __init__(
        self, op: str, key: bytes, text: bytes, stops: np.ndarray, scores: np.ndarray
    ) -> None:
        super().__init__({"scores": scores})
        self.op = op
        self.key = key
        self._text = text
        self._stops = stops

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return ("members", "scores")

    def __getitem__(self, column: str) -> Any:
        return self.members if column == "members" else super().__getitem__(column)

    @property
    def members(self) -> np.ndarray:
        """Members as written. O(n) the first time."""
        members: np.ndarray | None = self._arrays.get("members")
        if members is None:
            stops = self._stops.tolist()
            members = np.empty(len(self), dtype=object)
            members[:] = [self._text[start:stop] for start, stop in pairwise(stops)]
            self._arrays["members"] = members
        return members

    def int_members(self) -> np.ndarray | None:
        """Members as int64 array, or None where one is not spelled as int64 prints. O(n).

        >>> import io
        >>> lines = b"ZADD a 1 7 2 -3\\nZADD b 1 07"
        >>> [batch.int_members() for batch in commands(io.BytesIO(lines))]
        [array([ 7, -3]), None]
        """
        integers = np.empty(len(self), dtype=np.int64)
        return integers if _core.integer_members(self._text, self._stops, integers) else None

    def _names(self, kind: Literal["str", "bytes"]) -> _core.Names:
        """Members for a set of that kind, without an object each; UnicodeDecodeError."""
        return _core.text_names(self._text, self._stops, kind)

    def _head(self, size: int) -> CommandBatch:
        """The first pairs."""
        return CommandBatch(
            self.op, self.key, self._text, self._stops[: size + 1], self.scores[:size]
        )


class CommandReader(Reader[CommandBatch]):
    """Iterator of batches that `commands` returns."""

    def __init__(self, paths: TraceFile | Iterable[TraceFile]) -> None:
        self._size = -1
        self._resize(0)
        super().__init__(paths, False)

    def _resize(self, size: int) -> None:
        """Room for all commands of a block of `size` bytes."""
        if size > self._size:
            self._size = size
            self._text = np.empty(size, dtype=np.uint8)
            self._stops = np.empty(size // 4 + 1, dtype=np.int64)
            self._scores = np.empty(size // 4, dtype=np.float64)

    def _unit(self, record: bytes) -> str:
        return "command" if record.startswith(b"*") else "line"

    def _complete(self, block: bytes) -> bytes:
        # A newline ends a last line; a RESP array has an end of its own, so it stays cut.
        last = 0
        while step := self._read_block(block, last)[0]:
            last += step
        return block if block.startswith(b"*", last) else block + b"\n"

    def _read_block(
        self, block: bytes, at: int
    ) -> tuple[int, int, CommandBatch | None, str | None]:
        self._resize(len(block))
        step, lines, op, pairs, fault = _core.read_commands(
            block, at, self._text, self._stops, self._scores
        )
        if not pairs:
            return step, lines, None, fault
        stops = self._stops[: pairs + 1].copy()
        text = self._text[: stops[-1]].tobytes()
        batch = CommandBatch(op, text[: stops[0]], text, stops, self._scores[:pairs].copy())
        return step, lines, batch, fault
