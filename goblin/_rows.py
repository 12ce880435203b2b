"""What ordered reads return: rows of members, scores and ranks, held as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from . import _convert
from ._display import SHOWN, Cell, html_table, line, number_cell, shown_of, text_cell, text_table
from ._frames import Arrays

M = TypeVar("M")

COLUMNS = ("rank", "member", "score")


class Shown(Arrays):
    """Rows that show the first of them, as a line or a table."""

    __slots__ = ()
    _head: ClassVar[tuple[str, ...]]

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def _first(self) -> Iterator[tuple[Cell, ...]]:
        """The cells of the first rows."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return line(type(self).__name__, len(self), self)

    def __str__(self) -> str:
        """The first rows as a table of text."""
        title = f"{type(self).__name__}({len(self):,})"
        return text_table(title, self._head, self._first(), max(len(self) - SHOWN, 0))

    def _repr_html_(self) -> str:
        """The first rows as a table for a notebook."""
        caption = f"{type(self).__name__}: {shown_of(len(self), 'row', 'the first')}"
        return html_table(caption, self._head, self._first())


class Rows(Shown, Generic[M]):
    """Rows of a sorted set, in the order that was asked for.

    `members` (integers of the set's own dtype, StringDType for str, objects for bytes, V16 for
    UUIDs), `scores` (its float dtype) and `ranks` (int64, counted
    from the lowest score) are arrays of shape (len,). Iteration gives (member, score) pairs, `[i]`
    one pair in O(1), a slice other Rows over the same arrays. IndexError outside.

    >>> import goblin
    >>> rows = goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0}).top(2)
    >>> rows.members, rows.ranks, rows[0]
    (array([8, 9]), array([2, 1]), (8, 5.0))
    """

    __slots__ = ("members", "ranks", "scores")
    _head = COLUMNS

    def __init__(
        self, members: NDArray[Any], scores: NDArray[Any], ranks: NDArray[np.int64]
    ) -> None:
        self.members = members
        self.scores = scores
        self.ranks = ranks

    def __len__(self) -> int:
        return len(self.members)

    @overload
    def __getitem__(self, index: slice) -> Rows[M]: ...
    @overload
    def __getitem__(self, index: int) -> tuple[M, float]: ...
    def __getitem__(self, index: int | slice) -> Rows[M] | tuple[M, float]:
        if isinstance(index, slice):
            return Rows(self.members[index], self.scores[index], self.ranks[index])
        place = range(len(self))[index]
        (member,) = _convert.objects(self.members[place : place + 1])
        return member, self.scores[place].item()

    def __iter__(self) -> Iterator[tuple[M, float]]:
        return _convert.rows(self.members, self.scores)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Rows):
            return np.array_equal(self.members, other.members) and np.array_equal(
                self.scores, other.scores
            )
        if isinstance(other, Sequence) and not isinstance(other, str | bytes):
            return self.to_list() == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def to_list(self) -> list[tuple[M, float]]:
        """List the (member, score) pairs. O(n).

        >>> import goblin
        >>> goblin.SortedSet({7: 1.0, 8: 5.0}).top().to_list()
        [(8, 5.0), (7, 1.0)]
        """
        return list(self)

    def to_numpy(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give the arrays of members and scores, without a copy. O(1).

        >>> import goblin
        >>> goblin.SortedSet({7: 1.0, 8: 5.0}).top().to_numpy()
        (array([8, 7]), array([5., 1.]))
        """
        return self.members, self.scores

    def _arrow_arrays(self) -> dict[str, NDArray[Any]]:
        return {"rank": self.ranks, "member": self.members, "score": self.scores}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """A structured array (member, score), which keeps both exact.

        >>> import goblin
        >>> import numpy as np
        >>> np.asarray(goblin.SortedSet({7: 1.0, 8: 5.0}).top(1))["member"]
        array([8])
        """
        if copy is False:
            raise ValueError("members and scores are two arrays, so one has to be a copy")
        kind = object if self.members.dtype.kind == "T" else self.members.dtype
        rows = np.empty(len(self), [("member", kind), ("score", self.scores.dtype)])
        rows["member"], rows["score"] = self.members, self.scores
        return rows if dtype is None else rows.astype(dtype)

    def _first(self) -> Iterator[tuple[Cell, ...]]:
        first = self[:SHOWN]
        for rank, (member, score) in zip(first.ranks.tolist(), first, strict=True):
            yield number_cell(rank), text_cell(member), number_cell(score)
