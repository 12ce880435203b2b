"""Small named results of a SortedSet, a Hash or a HashTable."""

from __future__ import annotations

import math
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from ._display import Cell, html_table, number_cell, text_cell
from ._rows import Rows

M = TypeVar("M")


Report: TypeAlias = "MemoryReport | HashMemory | HashTableMemory"


def table(report: Report) -> str:
    """Each part in a line of its own, the last one a mean."""
    *names, mean = report._fields
    rows = [f"{name:<10} {getattr(report, name):>15,} bytes" for name in names]
    each = getattr(report, mean)
    amount = f"{'-':>15}" if math.isnan(each) else f"{each:>15,.2f} bytes"
    last = f"{mean.replace('_', ' '):<10} {amount}"
    return "\n".join([*rows, last])


def report_table(report: Report) -> str:
    """Each part and its share as a table for a notebook."""
    parts = report._fields[:-1]
    total = max(report.total, 1)
    rows = [
        (text_cell(part), number_cell(size), Cell(f"{size / total:.1%}", True))
        for part, size in zip(parts, report, strict=False)
    ]
    return html_table(type(report).__name__, ("part", "bytes", "share"), rows, _each(report))


def _each(report: Report) -> str:
    """The mean, which an empty object does not have."""
    mean = report[-1]
    noun = report._fields[-1].replace("_", " ")
    return "" if math.isnan(mean) else f"{mean:,.2f} bytes {noun}"


def footer(kinds: str, report: Report) -> str:
    """What stands below the table of an object: of which kinds it is and what it takes."""
    return ", ".join(filter(None, (kinds, _each(report))))


class Changes(NamedTuple):
    """What `update` did: new members, existing ones with another score, and members now.

    >>> import goblin
    >>> goblin.SortedSet({7: 1.0}).update({7: 2.0, 8: 1.0})
    Changes(added=1, changed=1, total=2)
    """

    added: int
    changed: int
    total: int


class Digest(NamedTuple):
    """By which two engines are compared, whatever their layout.

    `total` is the exact sum of the scores; `ordered` the 128-bit XXH3 of the sequence of entries in
    order; `mapping` the sum modulo 2**128 of each entry's XXH3, in which the order of ties does not
    matter. An entry is the member, int64 or length (int64) and bytes, and the score as float64, all
    little-endian; text is its UTF-8, a UUID its 16 bytes.

    >>> import goblin
    >>> goblin.SortedSet({7: 1.0}).digest() == goblin.SortedSet({7: 1.0}, member="int32").digest()
    True
    """

    count: int  # type: ignore[assignment]
    total: float
    ordered: int
    mapping: int


class MemoryReport(NamedTuple):
    """Bytes of a set by part.

    `pages` and `table` find scores by member, `members` holds names with theirs (0 for integers),
    `order` the ranking and `pending` its changes to come, `object` the Python object; `total` is
    all of them.

    >>> import goblin
    >>> report = goblin.SortedSet({7: 1.0}).memory()
    >>> report.total == sum(report[:6])
    True
    """

    pages: int
    table: int
    members: int
    pending: int
    order: int
    object: int
    total: int
    per_member: float

    def __str__(self) -> str:
        """The report as a small table.

        >>> import goblin
        >>> print(goblin.SortedSet(range(5000), 1.0).memory())  # doctest: +ELLIPSIS
        pages ... bytes
        ...
        """
        return table(self)

    def _repr_html_(self) -> str:
        """The report as a table for a notebook."""
        return report_table(self)


class HashMemory(NamedTuple):
    """Bytes of a Hash by part.

    `blob` holds all entries of the compact form; in the full form `table` finds them in `arena`.
    `object` is the Python object, `total` all of them.

    >>> import goblin
    >>> report = goblin.Hash({"name": "Ann"}).memory()
    >>> report.total == sum(report[:4])
    True
    """

    blob: int
    table: int
    arena: int
    object: int
    total: int
    per_field: float

    def __str__(self) -> str:
        """The report as a small table.

        >>> import goblin
        >>> print(goblin.Hash({"name": "Ann"}).memory())  # doctest: +ELLIPSIS
        blob ... bytes
        ...
        """
        return table(self)

    def _repr_html_(self) -> str:
        """The report as a table for a notebook."""
        return report_table(self)


class HashTableMemory(NamedTuple):
    """Bytes of a HashTable by part.

    `arena` holds the records, which `table` finds by key; `shapes` are the names of the fields, and
    which of them records have. `object` is the Python object, `total` all of them.

    >>> import goblin
    >>> report = goblin.HashTable({"ann": {"elo": "1500"}}).memory()
    >>> report.total == sum(report[:4])
    True
    """

    shapes: int
    table: int
    arena: int
    object: int
    total: int
    per_record: float

    def __str__(self) -> str:
        """The report as a small table.

        >>> import goblin
        >>> print(goblin.HashTable({"ann": {"elo": "1500"}}).memory())  # doctest: +ELLIPSIS
        shapes ... bytes
        ...
        """
        return table(self)

    def _repr_html_(self) -> str:
        """The report as a table for a notebook."""
        return report_table(self)


class Page(NamedTuple, Generic[M]):
    """One page of a listing, and the cursor for the next: None when nothing is left.

    >>> import goblin
    >>> goblin.SortedSet({7: 1.0, 8: 2.0}).page(2).cursor is None
    True
    """

    rows: Rows[M]
    cursor: Cursor | None


class Cursor(NamedTuple):
    """Where a page ended. Opaque to callers; it stays good when that row is gone."""

    score: float
    member: Any
    descending: bool
