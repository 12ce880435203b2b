"""Boards: one SortedSet for each group, of months, countries or users."""

from __future__ import annotations

import bisect
import functools
import itertools
import math
import sys
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrow, _convert, _core
from ._display import (
    SHOWN,
    Cell,
    counted,
    html_table,
    number_cell,
    shown_of,
    text_cell,
)
from ._results import MemoryReport, footer
from ._rows import COLUMNS, Shown
from ._sortedset import MemberKind, ScoreKind, SortedSet, known

G = TypeVar("G", bound=Hashable)
M = TypeVar("M")

_FINE = ("ns", "ps", "fs", "as")  # units that datetime does not have


class BoardRows(Shown, Generic[G, M]):
    """Rows of several boards, one board after the other.

    `groups` (int64 or StringDType where all are int or str, else objects), `members`, `scores` and
    `ranks` (as of Rows, the ranks within the board) are arrays of shape (len,). Iteration gives
    (group, member, score), `[i]` one of them in O(1), a slice other BoardRows over the same arrays.
    IndexError outside.

    >>> import goblin
    >>> boards = goblin.Boards.from_arrays(["de", "fr", "de"], ["ann", "bob", "cyd"], [1, 5, 3])
    >>> rows = boards.top(1)
    >>> rows.groups.tolist(), rows.ranks, rows[-1]
    (['de', 'fr'], array([1, 0]), ('fr', 'bob', 5.0))
    """

    __slots__ = ("groups", "members", "ranks", "scores")
    _head = ("group", *COLUMNS)

    def __init__(
        self,
        groups: NDArray[Any],
        members: NDArray[Any],
        scores: NDArray[Any],
        ranks: NDArray[np.int64],
    ) -> None:
        self.groups = groups
        self.members = members
        self.scores = scores
        self.ranks = ranks

    def __len__(self) -> int:
        return len(self.members)

    @overload
    def __getitem__(self, index: slice) -> BoardRows[G, M]: ...
    @overload
    def __getitem__(self, index: int) -> tuple[G, M, float]: ...
    def __getitem__(self, index: int | slice) -> BoardRows[G, M] | tuple[G, M, float]:
        if isinstance(index, slice):
            columns = (self.groups, self.members, self.scores, self.ranks)
            return BoardRows(*(column[index] for column in columns))
        place = range(len(self))[index]
        (row,) = self[place : place + 1]
        return row

    def __iter__(self) -> Iterator[tuple[G, M, float]]:
        return _convert.rows(self.groups, self.members, self.scores)

    def to_list(self) -> list[tuple[G, M, float]]:
        """List the (group, member, score). O(n).

        >>> import goblin
        >>> goblin.Boards.from_arrays(["de", "de"], [7, 8], [1, 5]).top().to_list()
        [('de', 8, 5.0), ('de', 7, 1.0)]
        """
        return list(self)

    def _arrow_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "group": _arrow.typed(self.groups),
            "rank": self.ranks,
            "member": self.members,
            "score": self.scores,
        }

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """A structured array (group, member, score), which keeps all exact.

        >>> import goblin
        >>> import numpy as np
        >>> np.asarray(goblin.Boards.from_arrays(["de", "de"], [7, 8]).top(1))["member"]
        array([8])
        """
        if copy is False:
            raise ValueError("the columns are several arrays, so one array has to be a copy")
        columns = {"group": self.groups, "member": self.members, "score": self.scores}
        kinds = [(k, object if c.dtype.kind == "T" else c.dtype) for k, c in columns.items()]
        rows = np.empty(len(self), kinds)
        for name, column in columns.items():
            rows[name] = column
        return rows if dtype is None else rows.astype(dtype)

    def _first(self) -> Iterator[tuple[Cell, ...]]:
        first = self[:SHOWN]
        for rank, (group, member, score) in zip(first.ranks.tolist(), first, strict=True):
            yield text_cell(group), number_cell(rank), text_cell(member), number_cell(score)


class Boards(Mapping[G, SortedSet[M]]):
    """Group -> SortedSet, in the order of the groups; one call adds to many of them.

    All boards have members of one kind (`member`; None: that of the first ones that come) and one
    kind of scores. Groups are of one type that has an order: int, str, bytes, date, UUID, tuples of
    them. They are Python objects, also where they came in an array; datetime64 becomes date or
    datetime. Boards come into being with their first members and can be written to directly.

    Look-ups are O(1), KeyError for an absent group. Each call is atomic for the boards it writes
    to. Iteration raises RuntimeError at the next step after a board was added.

    >>> import goblin
    >>> boards = goblin.Boards(member="str")
    >>> boards.increment("fr", "ann", 2.0)
    2.0
    >>> boards.increment_many(["de", "fr"], ["bob", "ann"])
    >>> list(boards), boards["fr"].to_dict()
    (['de', 'fr'], {'ann': 3.0})
    """

    __slots__ = ("_boards", "_guard", "_member", "_order", "_width")

    def __init__(self, *, member: MemberKind | None = None, score: ScoreKind = "float64") -> None:
        if member is not None:
            known(member, _convert.KINDS, "member")
        known(score, ("float32", "float64"), "score")
        self._member = member
        self._width = np.dtype(score).itemsize
        self._boards: dict[G, SortedSet[M]] = {}
        self._order: list[Any] = []  # as of the last _sorted()
        # Who adds boards holds it; it never has a member. A lock of Python would stay locked in a
        # forked child.
        self._guard: SortedSet[M] = SortedSet.__new__(SortedSet)

    @classmethod
    def from_arrays(
        cls,
        groups: ArrayLike | Iterable[G],
        members: ArrayLike | Iterable[M],
        by: ArrayLike | Iterable[float] = 1.0,
        *,
        member: MemberKind | None = None,
        score: ScoreKind = "float64",
    ) -> Self:
        """Make boards from columns of groups and of members, shape (n,); repeats add up.

        Arguments and errors as of the constructor and `increment_many`. O(n + groups log groups).

        >>> import goblin
        >>> import numpy as np
        >>> months = np.array(["2024-01", "2024-02", "2024-01"], dtype="M8[M]")
        >>> boards = goblin.Boards.from_arrays(months, np.array([7, 7, 8]))
        >>> [(str(month), len(z)) for month, z in boards.items()]
        [('2024-01-01', 2), ('2024-02-01', 1)]
        """
        boards = cls(member=member, score=score)
        boards.increment_many(groups, members, by)
        return boards

    # ---- as a mapping

    def __getitem__(self, group: G) -> SortedSet[M]:
        return self._boards[_object(group)]

    def __len__(self) -> int:
        return len(self._boards)

    def __iter__(self) -> Iterator[G]:
        groups = self._sorted()
        count = len(groups)
        for group in groups:
            yield group
            if len(self._boards) != count:
                raise RuntimeError("a board was added during iteration")

    def _sorted(self) -> list[Any]:
        """The groups in order: those who add boards keep it up, unless they are interrupted."""
        if len(self._order) != len(self._boards):
            self._order = sorted(self._boards)
        return self._order

    def __repr__(self) -> str:
        return f"{type(self).__name__}({counted(len(self), 'board')}, {self._members()})"

    def _members(self) -> str:
        return counted(sum(map(len, list(self._boards.values()))), "member")

    def _repr_html_(self) -> str:
        """The first boards and the highest of each as a table for a notebook."""
        groups = self._guard._atomically(self._sorted)[:SHOWN]
        first = [(group, self._boards[group]) for group in groups]
        rows = [(text_cell(group), number_cell(len(z)), *_highest(z)) for group, z in first]
        size = f"{shown_of(len(self), 'board', 'the first')}, {self._members()}"
        caption = f"{type(self).__name__}: {size}"
        last = footer(first[0][1].layout, self.memory()) if first else ""
        return html_table(caption, ("group", "members", "highest", "score"), rows, last)

    # ---- writes

    def increment(self, group: G, member: M, by: float = 1.0) -> float:
        """Add to the score of a member in one board, which is made if need be; the new score.

        Errors as of SortedSet.increment, TypeError for a group that can't be compared with the
        others, ValueError for None or NaN as one. O(1), O(groups) for a new board.

        >>> import goblin
        >>> boards = goblin.Boards()
        >>> boards.increment("de", "ann"), boards.increment("de", "ann", by=4)
        (1.0, 5.0)
        """
        name = _object(group)
        board = self._boards.get(name)
        if board is not None:
            return board.increment(member, by)
        opened: float = self._guard._atomically(self._open, _present(name), member, by)
        return opened

    def _open(self, group: G, member: M, by: float) -> float:
        """The first increment of a board, unless another thread was faster."""
        if group in self._boards:
            return self._boards[group].increment(member, by)
        order = self._sorted()
        place = bisect.bisect(order, group)
        board = self._new(self._kind_for([member]))
        score = board.increment(member, by)
        self._boards[group] = board
        order.insert(place, group)
        return score

    def increment_many(
        self,
        groups: ArrayLike | Iterable[G],
        members: ArrayLike | Iterable[M],
        by: ArrayLike | Iterable[float] = 1.0,
    ) -> None:
        """Add `by` (one number, or one each) to members of the boards of `groups`, shape (n,).

        For batches of a stream; boards that are not there are made. Groups are an array, an Arrow
        or pandas column or an iterable; members and `by` as of SortedSet.increment_many. Repeats
        add up in input order. ValueError for another number of groups than of members, a missing
        group or one of datetime64 that datetime can't hold, TypeError for groups that can't be
        compared; all or nothing, also on Ctrl-C. O(n + groups), O(groups log groups) for new ones.

        >>> import goblin
        >>> boards = goblin.Boards()
        >>> boards.increment_many(["de", "fr", "de"], [7, 7, 7], [1.0, 2.0, 4.0])
        >>> {group: z.to_dict() for group, z in boards.items()}
        {'de': {7: 5.0}, 'fr': {7: 2.0}}
        """
        if isinstance(members, Iterator):
            members = list(members)
        names, places = _factorized(groups)
        kind = self._kind_for(members)
        column = _convert.members(members, kind)
        if len(column) != len(places):
            raise ValueError(f"{len(column)} members, but {len(places)} groups")
        steps = _convert.scores(by, len(column), "float64")
        self._guard._atomically(self._add, kind, names, places, column, steps)

    def _add(
        self,
        kind: str,
        names: list[Any],
        places: NDArray[np.int64],
        members: _convert.Members,
        by: _convert.Scores,
    ) -> None:
        fresh = {name: self._new(kind) for name in names if name not in self._boards}
        order = sorted([*self._sorted(), *fresh]) if fresh else self._order
        boards = [fresh[name] if name in fresh else self._boards[name] for name in names]
        if any(board.member_dtype != kind for board in boards):
            raise RuntimeError("a board got another kind of members meanwhile")
        # Threads that hold several sets take them in the order of id.
        by_id = sorted(range(len(boards)), key=lambda place: id(boards[place]))
        ranks = np.empty(len(boards), np.int64)
        ranks[by_id] = np.arange(len(boards))
        sets = tuple(boards[place] for place in by_id)
        publish = functools.partial(self._boards.update, fresh)
        _core.increment_sets(sets, ranks[places], members, by, publish)
        self._order = order

    def _kind_for(self, members: Any) -> str:
        """The kind of all members: what was asked for, or that of the first ones."""
        if self._member is not None:
            return self._member
        for board in self._boards.values():
            return board.member_dtype
        return _convert.kind_of(members, False)

    def _new(self, kind: str) -> SortedSet[M]:
        board: SortedSet[M] = SortedSet.__new__(SortedSet)
        board._configure(kind, self._width, True, 1.0)
        return board

    # ---- reads

    def top(self, n: int = 10) -> BoardRows[G, M]:
        """Give the n highest of every board as BoardRows: by group, the highest score first.

        ValueError for a negative n. O(rows), and O(log size) a board.

        >>> import goblin
        >>> goblin.Boards.from_arrays(["de", "fr", "de"], [7, 7, 8], [1, 2, 4]).top(1)
        BoardRows(2: ('de', 8, 4.0), ('fr', 7, 2.0))
        """
        most = _convert.count(n, "n")
        groups: list[Any] = self._guard._atomically(list, self)
        rows = [self._boards[group].top(most) for group in groups]
        nothing = self._new(self._kind_for(())).top()
        # By indices: of a StringDType array itself, numpy 2.0's repeat would free strings twice.
        places = np.repeat(np.arange(len(groups)), [len(part) for part in rows])
        return BoardRows(
            _column(groups)[places],
            np.concatenate([nothing.members, *(part.members for part in rows)]),
            np.concatenate([nothing.scores, *(part.scores for part in rows)]),
            np.concatenate([nothing.ranks, *(part.ranks for part in rows)]),
        )

    def memory(self) -> MemoryReport:
        """Report the bytes of all boards by part, as SortedSet.memory does; `per_member` over all.

        `object` counts the Python objects: the sets, the groups and the mapping. O(groups).

        >>> import goblin
        >>> boards = goblin.Boards.from_arrays(["de", "fr"], [7, 7])
        >>> boards.memory().total > sum(z.memory().total for z in boards.values())
        True
        """
        groups, boards = self._guard._atomically(lambda: (list(self._boards), list(self.values())))
        named = sum(map(sys.getsizeof, groups))
        own = sum(map(sys.getsizeof, (self, self._guard, self._boards, self._order)))
        sums = np.array([(0, 0, 0, 0, 0), *(z._memory() for z in boards)], np.int64).sum(axis=0)
        pages, table, names, pending, order = sums.tolist()
        objects = own + named + len(boards) * SortedSet.__basicsize__
        total = pages + table + names + pending + order + objects
        count = sum(map(len, boards))
        per_member = total / count if count else math.nan
        return MemoryReport(pages, table, names, pending, order, objects, total, per_member)


def _highest(z: SortedSet[Any]) -> tuple[Cell, Cell]:
    for member, score in z._atomically(z._peek, 1, True):
        return text_cell(member), number_cell(score)
    return Cell(""), Cell("")


def _object(group: Any) -> Any:
    """A group as a Python object, if it came out of an array."""
    return next(_objects(group.reshape(1))) if isinstance(group, np.generic) else group


def _present(group: Any) -> Any:
    if group is None or group != group:
        raise ValueError("a group is missing (None, NaN or NaT)")
    return group


def _factorized(groups: Any) -> tuple[list[Any], NDArray[np.int64]]:
    """The distinct groups, and the place of each row's group among them."""
    places: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
    each = map(places.__getitem__, _listed(groups))
    parts = [np.empty(0, np.int64)]
    while len(part := np.fromiter(itertools.islice(each, _convert.PART), np.int64)):
        parts.append(part)
    return [_present(group) for group in places], np.concatenate(parts)


def _listed(groups: Any) -> Iterator[Any]:
    if isinstance(groups, str | bytes | bytearray):
        raise TypeError(
            f"groups are wanted, but this is one {type(groups).__name__}; put it into a list"
        )
    if hasattr(groups, "to_pylist"):  # Arrow, which has nulls and types that numpy lacks
        return itertools.chain.from_iterable(
            groups[part].to_pylist() for part in _convert.parts(len(groups))
        )
    if _convert.is_array(groups):
        array = _convert.as_array(groups)
        if array.ndim != 1:
            raise ValueError(f"groups must have one dimension, not {array.ndim}")
        return map(_object, _objects(array)) if array.dtype.kind == "O" else _objects(array)
    return map(_object, groups)


def _objects(array: NDArray[Any]) -> Iterator[Any]:
    """The Python objects of an array, some at a time."""
    if array.dtype.kind in "mM":
        array = _within_datetime(array)
    return itertools.chain.from_iterable(
        _convert.objects(array[part]) for part in _convert.parts(len(array))
    )


def _within_datetime(array: NDArray[Any]) -> NDArray[Any]:
    """Times that `tolist` gives as dates and times, not as numbers."""
    if np.datetime_data(array.dtype)[0] in _FINE:
        coarse = array.astype(f"{array.dtype.kind}8[us]")
        if (coarse.astype(array.dtype).view(np.int64) != array.view(np.int64)).any():
            raise ValueError("groups are whole microseconds at the finest; round them before")
        array = coarse
    ends = array[~np.isnat(array)]
    if len(ends) and any(isinstance(end.item(), int) for end in (ends.min(), ends.max())):
        raise ValueError(f"some groups of {array.dtype} are beyond what datetime holds")
    return array


def _column(groups: list[Any]) -> NDArray[Any]:
    """Groups as an array that gives the same objects back."""
    kinds = set(map(type, groups))
    if kinds == {str}:
        return np.array(groups, np.dtypes.StringDType())
    if kinds == {int} and groups[0] >= -(2**63) and groups[-1] < 2**63:
        return np.array(groups, np.int64)
    column = np.empty(len(groups), object)
    column[:] = groups
    return column


BoardRows.__module__ = Boards.__module__ = "goblin"
