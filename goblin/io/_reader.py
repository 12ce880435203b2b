"""What the readers of all traces share: batches, counters, progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from .._frames import Arrays
from ..errors import TraceError
from ..progress import Progress, track
from ._source import BLOCK, Source, TraceFile, as_list, size_of

MAX_RECORD = 1 << 28
"""Bytes of the longest row or command: a bound for the memory that a damaged file can ask for."""


class Batch(Arrays):
    """Some rows of a trace as arrays of equal length, one for each column.

    A column is an attribute and an item: `batch.page_id` is `batch["page_id"]`.
    """

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._arrays = dict(arrays)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in the order asked for."""
        return tuple(self._arrays)

    def __len__(self) -> int:
        return len(next(iter(self._arrays.values()))) if self._arrays else 0

    def __getitem__(self, column: str) -> Any:
        return self._arrays[column]

    def __getattr__(self, column: str) -> Any:
        arrays = self.__dict__.get("_arrays", {})  # absent while unpickling
        if column in arrays:
            return arrays[column]
        raise AttributeError(f"batch has no column {column!r}")

    def _arrow_arrays(self) -> dict[str, Any]:
        return {name: self[name] for name in self.columns}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self):,} rows: {', '.join(self.columns)}>"


B = TypeVar("B", bound=Batch)


class Reader(Iterator[B], Generic[B]):
    """Iterator of the batches of some files; subclasses say how to read one block.

    Attributes:
        skipped: rows left out, by reason; complete at the end.
        bytes_read: bytes taken from the files so far, as stored.
        bytes_total: bytes of all files, None where a stream is among them.
    """

    bytes_total: int | None
    _record = "command"  # what may be cut off at the end of a file

    def __init__(self, files: TraceFile | Iterable[TraceFile], progress: Progress) -> None:
        self._files = as_list(files)
        sizes = [size_of(file) for file in self._files]  # a missing file shows now, not after hours
        self.bytes_total = None if None in sizes else sum(filter(None, sizes))
        self.bytes_read = 0
        self.skipped: dict[str, int] = {}
        self._batches = self._read_files(progress)

    def __iter__(self) -> Reader[B]:
        return self

    def __next__(self) -> B:
        return next(self._batches)

    def _read_files(self, progress: Progress) -> Iterator[B]:
        with track(progress, self.bytes_total, "B", "reading") as advance:
            for file in self._files:
                before = self.bytes_read
                source = Source(file)
                try:
                    for batch in self._read_source(source):
                        step = before + source.bytes_read - self.bytes_read
                        self.bytes_read += step
                        yield batch
                        advance(step)
                    advance(before + source.bytes_read - self.bytes_read)
                    self.bytes_read = before + source.bytes_read
                finally:
                    source.close()

    def _read_source(self, source: Source) -> Iterator[B]:
        self._begin_file()
        line = 1
        rest = b""
        self._ended = False
        while not self._ended:
            # At least as much again as is left over, so that a long record costs linear time.
            size = max(BLOCK, len(rest))
            fresh = source.read(size)
            self._ended = len(fresh) < size
            block = rest + fresh
            if self._ended and source.fault is None and block and not block.endswith(b"\n"):
                block = self._complete(block)
            at = 0
            step = -1
            while step != 0:
                step, lines, batch, fault = self._read_block(block, at)
                at += step
                line += lines
                if batch is not None:
                    yield batch
                if fault is not None:
                    raise self._error(source, line, block[at:], fault)
            rest = block[at:]
            if len(rest) > MAX_RECORD:
                raise self._error(source, line, rest, f"longer than {MAX_RECORD:,} bytes")
        if source.fault is not None:
            raise self._error(source, line, rest, source.fault)
        if rest:
            raise self._error(source, line, rest, f"the last {self._record} is cut off")

    def _error(self, source: Source, number: int, record: bytes, fault: str) -> TraceError:
        return TraceError(f"{source.name}, {self._unit(record)} {number}: {fault}")

    def _unit(self, record: bytes) -> str:
        """What the records of a file are counted in."""
        return "line"

    def _begin_file(self) -> None:
        """Forget what was learned from the last file."""

    def _complete(self, block: bytes) -> bytes:
        """The rest of a file whose last record lacks its newline."""
        return block + b"\n"

    def _read_block(self, block: bytes, at: int) -> tuple[int, int, B | None, str | None]:
        """Read whole records from block[at:]: bytes and lines taken, a batch, a fault."""
        raise NotImplementedError

    def _count(self, reason: str, rows: int) -> None:
        if rows:
            self.skipped[reason] = self.skipped.get(reason, 0) + rows
