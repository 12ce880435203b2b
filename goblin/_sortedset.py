"""SortedSet: what the C half leaves to numpy and to composition."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Literal, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrow, _convert, _core, _quantiles, _views
from ._by_rank import ByRank
from ._display import SHOWN, clipped, counted, html_table, shown_of
from ._frames import Arrays, Frames, Table
from ._held import atomic, deep_twin, together, twin
from ._results import Changes, Cursor, Digest, MemoryReport, Page, footer
from ._rows import COLUMNS, Rows
from ._snapshot import Snapshots
from .progress import Progress, track

M = TypeVar("M")
R = TypeVar("R")

MemberKind = Literal["int32", "int64", "str", "bytes", "uuid"]
ScoreKind = Literal["float32", "float64"]
Mode = Literal["set", "nx", "xx", "gt", "lt", "xx_gt", "xx_lt"]
Closed = Literal["both", "left", "right", "none"]
RankMethod = Literal["ordinal", "min", "max", "average", "dense"]
Aggregate = Literal["sum", "min", "max", "count"]

_INF = math.inf
_MODES = ("set", "nx", "xx", "gt", "lt", "xx_gt", "xx_lt")
# Which ends are open.
_CLOSED = {
    "both": (False, False),
    "left": (False, True),
    "right": (True, False),
    "none": (True, True),
}
_CHUNK = 1 << 20  # rows that go through numpy at a time
_SCAN_ROWS = 1024  # the longest top-k that a scan finds about as fast as the order


def check_kinds(sets: Iterable[SortedSet[Any]]) -> None:
    """TypeError unless the members of all are of one kind; integers may differ in width."""
    kinds = {"int" if one.member_dtype.startswith("int") else one.member_dtype for one in sets}
    if len(kinds) > 1:
        raise TypeError(f"the sets have different kinds of members: {', '.join(sorted(kinds))}")


def known(word: object, words: Iterable[str], name: str) -> None:
    if word not in tuple(words):
        raise ValueError(f"unknown {name}: {word!r}; known are {', '.join(words)}")


def _open_ends(closed: str) -> tuple[bool, bool]:
    known(closed, _CLOSED, "closed")
    return _CLOSED[closed]


def _kind_of(data: Any, in_pairs: bool) -> str:
    """The kind of members for data, which can be read twice."""
    if isinstance(data, SortedSet):
        return data.member_dtype
    return _convert.kind_of(data, in_pairs)


def _split(data: Any) -> tuple[Any, Any]:
    """Members and scores of rows and frames; other data, and no scores."""
    if isinstance(data, Rows):
        return data.members, data.scores
    return _arrow.pair(data, "member", "score") or (data, None)


def _numbers(ranks: range) -> NDArray[np.int64]:
    if len(ranks) < 2:  # its start or step may be beyond int64
        return np.array(ranks, dtype=np.int64)
    return np.arange(ranks.start, ranks.stop, ranks.step)


def zero_for_nan(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(scores), 0.0, scores)


class SortedSet(Frames, Snapshots, _core.SortedSet[M]):
    """Member -> score, always readable in the order of (score, member).

    `data` is a mapping, an iterable of (member, score), an array or iterable of members with
    `scores` (one for all, or an array), a frame of Arrow, pandas, polars or DuckDB with columns
    "member" and "score" or just two, another SortedSet or Rows. `member` is "str", "bytes",
    "uuid", "int32" or "int64" (None: that of the data, int64 for int; "str" without data), `score`
    "float64" or "float32" (None: that of a SortedSet given, else float64). `compress=False` leaves
    the order unpacked, for workloads with few ties and many changes; `merge_exponent` in 0..1
    bounds the changes that an ordered read may find waiting to n**it.

    Numbers are ordered as such, UUIDs by their 16 bytes, bytes bytewise, str by code point. UUIDs
    come as `uuid.UUID`, their text, "V16" or uint8 of shape (n, 16); columns of text also from
    numpy and Arrow.

    It is a MutableMapping in rank order, lowest score first. TypeError, OverflowError or
    UnicodeEncodeError for what is no member or score, ValueError for NaN or an unknown option.
    Reads and writes of one member are O(1), ordered reads O(log n) and O(1) a row in runs; each
    method is atomic, long calls let other threads run, and one that raises, also on Ctrl-C, has
    changed nothing.

    >>> import goblin
    >>> z = goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0})
    >>> z.increment(7, 10.0)
    11.0
    >>> z
    SortedSet(3 members, int64-float64, highest (7, 11.0))
    """

    __slots__ = ()

    def __init__(
        self,
        data: Mapping[M, float] | Iterable[tuple[M, float]] | Iterable[M] | None = None,
        scores: ArrayLike | Iterable[float] | None = None,
        /,
        *,
        member: MemberKind | None = None,
        score: ScoreKind | None = None,
        compress: bool = True,
        merge_exponent: float = 1.0,
    ) -> None:
        kind: str | None = member
        width: str | None = score
        if scores is None:
            data, scores = _split(data)
        if isinstance(data, Iterator):
            data = list(data)
        if kind is None:
            kind = _kind_of(data, scores is None)
        if width is None:
            width = data.score_dtype if isinstance(data, SortedSet) else "float64"
        known(kind, _convert.KINDS, "member")
        known(width, ("float32", "float64"), "score")
        if not 0.0 <= merge_exponent <= 1.0:
            raise ValueError("merge_exponent must be in 0..1")
        fresh: SortedSet[M] = SortedSet.__new__(SortedSet)
        fresh._configure(kind, np.dtype(width).itemsize, compress, merge_exponent)
        if data is not None:
            fresh.update(data, scores)
        self._swap(fresh)

    # ---- as a mapping

    def keys(self) -> _views.Members[M]:
        """View the members in rank order. O(1); set operations as of dict keys.

        >>> list(goblin.SortedSet({7: 2.0, 8: 1.0}).keys())
        [8, 7]
        """
        return _views.Members(self)

    def values(self) -> _views.Scores:
        """View the scores in rank order. O(1).

        >>> list(goblin.SortedSet({7: 2.0, 8: 1.0}).values())
        [1.0, 2.0]
        """
        return _views.Scores(self)

    def items(self) -> _views.Items[M]:
        """View the (member, score) pairs in rank order. O(1).

        >>> list(goblin.SortedSet({7: 2.0, 8: 1.0}).items())
        [(8, 1.0), (7, 2.0)]
        """
        return _views.Items(self)

    def popitem(self) -> tuple[M, float]:
        """Remove and return the lowest (member, score). KeyError when empty. O(log n).

        >>> goblin.SortedSet({7: 2.0, 8: 1.0}).popitem()
        (8, 1.0)
        """
        return self._pop_end(False)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SortedSet):
            return together((self, other), functools.partial(self._equals, other))
        if isinstance(other, Mapping):
            return len(self) == len(other) and all(
                self.get(member, math.nan) == score for member, score in other.items()
            )
        return NotImplemented

    def _equals(self, other: SortedSet[Any]) -> bool:
        if len(self) != len(other):
            return False
        try:
            return all(
                np.array_equal(self._look_up(_convert.members(ids, self.member_dtype)), values)
                for ids, values in other._chunks()
            )
        except (OverflowError, TypeError):  # a member that this set can't have
            return False

    def __repr__(self) -> str:
        return self._atomically(self._describe)

    def _describe(self) -> str:
        name, size = type(self).__name__, f"{counted(len(self), 'member')}, {self.layout}"
        if not len(self):
            return f"{name}({size})"
        # Not the lowest: without an order that is a scan which can't pass over any page.
        return f"{name}({size}, highest {clipped(self._peek(1, True)[0])})"

    def _repr_html_(self) -> str:
        """The highest members as a table for a notebook."""
        return self._atomically(self._table)

    def _table(self) -> str:
        caption = f"{type(self).__name__}: {shown_of(len(self), 'member', 'the highest')}"
        rows = self._peek(SHOWN, True)._first()
        return html_table(caption, COLUMNS, rows, footer(self.layout, self.memory()))

    def copy(self) -> Self:
        """Copy the set, with its options and, of a subclass, its attributes. O(n).

        >>> z = goblin.SortedSet({7: 2.0})
        >>> z.copy() == z, z.copy() is z
        (True, False)
        """
        return twin(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return deep_twin(self, memo)

    # ---- rows, chunks and sets of one's own

    def _room(self, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
        return _convert.empty(n, self.member_dtype), np.empty(n, self.score_dtype)

    def _columns(self, ranks: range) -> tuple[NDArray[Any], NDArray[Any]]:
        members, scores = self._room(len(ranks))
        if ranks:
            self._rows(ranks[0], ranks.step if len(ranks) > 1 else 1, members, scores)
        return members, scores

    def _read(self, ranks: range) -> Rows[M]:
        return Rows(*self._columns(ranks), _numbers(ranks))

    def _pick(self, ranks: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        members, scores = self._room(len(ranks))
        self._select(ranks, members, scores)
        return members, scores

    def _chunks(self) -> Iterator[tuple[_convert.Members, NDArray[np.float64]]]:
        """All members and scores in no order; for a set that is held."""
        integer = _convert.is_integer(self.member_dtype)
        for state, ids, scores in self._walks():
            yield ids if integer else self._names(state, ids), scores

    def _walks(self) -> Iterator[tuple[bytearray, NDArray[np.int64], NDArray[np.float64]]]:
        state = bytearray(_core._WALK_STATE)
        left = len(self)
        while left > 0:  # and where a handler has emptied the set, until the walk ends
            room = min(left, _CHUNK) + _core._WALK_ROOM
            members, scores = np.empty(room, np.int64), np.empty(room, np.float64)
            got = self._walk(state, members, scores)
            if got == 0:
                return
            yield state, members[:got], scores[:got]
            left -= got

    def _like(self, score: str | None = None) -> SortedSet[M]:
        """An empty set with the options of this one, or another kind of scores."""
        fresh: SortedSet[M] = SortedSet.__new__(SortedSet)
        width = np.dtype(score or self.score_dtype).itemsize
        fresh._configure(self.member_dtype, width, self._compress, self._merge_exponent)
        return fresh

    def _with(self, other: SortedSet[Any], function: Callable[[], R]) -> R:
        """Calls a function while this thread holds both sets, which have one kind of members."""
        check_kinds((self, other))
        return together((self, other), function)

    def _absorb(
        self,
        other: SortedSet[Any],
        take: Callable[[SortedSet[M], _convert.Members, NDArray[np.float64]], object],
        start: SortedSet[M] | None = None,
    ) -> None:
        """Lets `take` put each chunk of another set into this one, or into `start` to replace it.

        Both sets are held. One chunk is one bulk call, all or nothing by itself; many go into a
        copy."""
        target = start
        if target is None and len(other) > _CHUNK:
            target = self._like()
            target._assign(self)
        for members, scores in other._chunks():
            take(self if target is None else target, members, scores)
        if target is not None:
            self._swap(target)

    def _pairs(self, data: Any, scores: Any) -> tuple[_convert.Members, _convert.Scores]:
        kind, width = self.member_dtype, self.score_dtype
        if scores is None:
            data, scores = _split(data)
        if scores is None:
            return _convert.pairs(data, kind, width)
        members = _convert.members(data, kind)
        return members, _convert.scores(scores, len(members), width)

    # ---- writes

    def update(  # type: ignore[override]
        self,
        data: Mapping[M, float] | Iterable[tuple[M, float]] | Iterable[M] = (),
        scores: ArrayLike | Iterable[float] | None = None,
        /,
        *,
        mode: Mode = "set",
    ) -> Changes:
        """Set many scores; `data` and `scores` as for the constructor, `mode` as for `add`.

        Each pair acts in input order. Returns Changes(added, changed, total): new members, writes
        that gave an existing one another score, and members afterwards. O(n).

        >>> z = goblin.SortedSet({7: 1.0})
        >>> z.update([7, 8], [3.0, 4.0], mode="nx")
        Changes(added=1, changed=0, total=2)
        """
        known(mode, _MODES, "mode")
        if scores is None and isinstance(data, SortedSet):
            return self._with(data, functools.partial(self._update_from, data, mode))
        return Changes(*self._update(*self._pairs(data, scores), mode))

    def _update_from(self, other: SortedSet[Any], mode: str) -> Changes:
        changes = []

        def take(target: SortedSet[M], members: Any, scores: Any) -> None:
            members = _convert.members(members, self.member_dtype)
            changes.append(target._update(members, scores, mode))

        self._absorb(other, take)
        added, changed = (sum(change[i] for change in changes) for i in (0, 1))
        return Changes(added, changed, len(self))

    @overload
    def increment_many(
        self,
        members: ArrayLike | Iterable[M],
        by: ArrayLike | Iterable[float] = 1.0,
        *,
        return_scores: Literal[False] = False,
        progress: Progress = None,
    ) -> None: ...
    @overload
    def increment_many(
        self,
        members: ArrayLike | Iterable[M],
        by: ArrayLike | Iterable[float] = 1.0,
        *,
        return_scores: bool,
        progress: Progress = None,
    ) -> NDArray[Any] | None: ...
    def increment_many(
        self,
        members: ArrayLike | Iterable[M],
        by: ArrayLike | Iterable[float] = 1.0,
        *,
        return_scores: bool = False,
        progress: Progress = None,
    ) -> NDArray[Any] | None:
        """Add `by` (one number, or one each) to members of shape (n,); new ones start at it.

        Repeats add up in input order, float32 scores rounding after each step. With `return_scores`
        gives the score after each increment, shape (n,) of the set's float dtype. `progress` is
        "auto", True, or a callable that gets (done, total). All or nothing, also on Ctrl-C. Errors
        as of `increment`. O(n).

        >>> z = goblin.SortedSet({7: 1.0})
        >>> z.increment_many([7, 8, 7], 2.0, return_scores=True)
        array([3., 2., 5.])
        """
        ids = _convert.members(members, self.member_dtype)
        steps = _convert.scores(by, len(ids), "float64")
        out = np.empty(len(ids), np.float64) if return_scores else None
        if progress is None:
            self._increment(ids, steps, out, None)
        else:
            with track(progress, len(ids), "member", "incrementing") as advance:
                self._increment(ids, steps, out, advance)
        return None if out is None else out.astype(self.score_dtype, copy=False)

    def subtract(
        self,
        data: Mapping[M, float] | Iterable[tuple[M, float]] | Iterable[M],
        scores: ArrayLike | Iterable[float] | None = None,
        /,
    ) -> None:
        """Subtract scores, also below zero, as Counter does; arguments as for `update`. O(n).

        >>> z = goblin.SortedSet({7: 1.0})
        >>> z.subtract({7: 3.0, 8: 1.0})
        >>> z.to_dict()
        {7: -2.0, 8: -1.0}
        """
        if scores is None and isinstance(data, SortedSet):
            self._with(data, functools.partial(self._subtract_all, data))
        else:
            members, values = self._pairs(data, scores)
            self._increment(members, -values, None, None)

    def _subtract_all(self, other: SortedSet[Any]) -> None:
        def take(target: SortedSet[M], members: Any, scores: Any) -> None:
            members = _convert.members(members, self.member_dtype)
            target._increment(members, -scores, None, None)

        self._absorb(other, take)

    def remove(self, members: ArrayLike | Iterable[M]) -> int:
        """Remove members, an array of shape (n,) or an iterable; returns how many were there. O(n).

        >>> goblin.SortedSet({7: 1.0, 8: 2.0}).remove([8, 8, 9])
        1
        """
        return self._remove(_convert.members(members, self.member_dtype), None)

    @overload
    def pop_min(self, n: None = None) -> tuple[M, float]: ...
    @overload
    def pop_min(self, n: int) -> Rows[M]: ...
    def pop_min(self, n: int | None = None) -> tuple[M, float] | Rows[M]:
        """Remove the lowest: one (member, score), KeyError when empty, or up to n as Rows.

        O(log n) each; ValueError for a negative n.

        >>> z = goblin.SortedSet({7: 1.0, 8: 2.0, 9: 3.0})
        >>> z.pop_min(), z.pop_min(5).to_list()
        ((7, 1.0), [(8, 2.0), (9, 3.0)])
        """
        if n is None:
            return self._pop_end(False)
        return self._pop_rows(_convert.count(n, "n"), 1)

    @overload
    def pop_max(self, n: None = None) -> tuple[M, float]: ...
    @overload
    def pop_max(self, n: int) -> Rows[M]: ...
    def pop_max(self, n: int | None = None) -> tuple[M, float] | Rows[M]:
        """Remove the highest: one (member, score), KeyError when empty, or up to n as Rows.

        The highest come first. O(log n) each; ValueError for a negative n.

        >>> z = goblin.SortedSet({7: 1.0, 8: 2.0, 9: 3.0})
        >>> z.pop_max(), z.pop_max(5).to_list()
        ((9, 3.0), [(8, 2.0), (7, 1.0)])
        """
        if n is None:
            return self._pop_end(True)
        return self._pop_rows(_convert.count(n, "n"), -1)

    @atomic
    def _pop_rows(self, n: int, step: int) -> Rows[M]:
        ranks = range(len(self))[::step][:n]
        rows = self._read(ranks)
        self._drop(ranks if step > 0 else ranks[::-1])
        return rows

    def _drop(self, ranks: range) -> int:
        """Removes a run of ranks from a held set; most of a large one by keeping the rest."""
        gone = len(ranks)
        if gone <= max(len(self) // 2, _core._WALK_ROOM):
            members = _convert.members(self._columns(ranks)[0], self.member_dtype)
            return self._remove(members, None)
        kept = self._like()
        for part in (range(ranks.start), range(ranks.stop, len(self))):
            rows, scores = self._columns(part)
            members = _convert.members(rows, self.member_dtype)
            kept._update(members, np.require(scores, np.float64), "set")
        self._swap(kept)
        return gone

    @atomic
    def remove_by_rank(self, start: int, stop: int) -> int:
        """Remove ranks start..stop as a list slice would; returns how many. O(k log n).

        >>> z = goblin.SortedSet({7: 1.0, 8: 2.0, 9: 3.0})
        >>> z.remove_by_rank(-2, 3), list(z)
        (2, [7])
        """
        return self._drop(range(len(self))[operator.index(start) : operator.index(stop)])

    @atomic
    def remove_by_score(self, lo: float, hi: float, *, closed: Closed = "both") -> int:
        """Remove the members with scores from lo to hi; returns how many. O(k log n).

        `closed` is "both", "left", "right" or "none". ValueError for NaN.

        >>> z = goblin.SortedSet({7: 1.0, 8: 2.0, 9: 3.0})
        >>> z.remove_by_score(2, 3, closed="left"), list(z)
        (1, [7, 9])
        """
        return self._drop(self._between(lo, hi, closed))

    @atomic
    def remove_by_lex(
        self,
        lo: M | None,
        hi: M | None,
        *,
        closed: Closed = "both",
        within_score: float | None = None,
    ) -> int:
        """Remove the members from lo to hi among equal scores, as `range_by_lex`; returns how many.

        O(k log n).

        >>> z = goblin.SortedSet(["ann", "bea", "bob"], 0.0)
        >>> z.remove_by_lex("b", None), list(z)
        (2, ['ann'])
        """
        return self._drop(self._lex(lo, hi, closed, within_score))

    @atomic
    def trim(self, n: int, *, keep: Literal["top", "bottom"] = "top") -> int:
        """Keep the n highest or lowest; returns how many, k, were removed. O(k log n).

        ValueError for a negative n.

        >>> z = goblin.SortedSet({7: 1.0, 8: 2.0, 9: 3.0})
        >>> z.trim(1), list(z)
        (2, [9])
        """
        known(keep, ("top", "bottom"), "keep")
        surplus = max(len(self) - _convert.count(n, "n"), 0)
        everyone = range(len(self))
        return self._drop(everyone[:surplus] if keep == "top" else everyone[len(self) - surplus :])

    def scale(self, factor: float) -> None:
        """Multiply every score; a negative factor reverses the order. O(n).

        ValueError where a score would be NaN, OverflowError beyond float32; then nothing has
        changed.

        >>> z = goblin.SortedSet({7: 1.0, 8: 2.0})
        >>> z.scale(-2)
        >>> z.to_dict()
        {8: -4.0, 7: -2.0}
        """
        self._rescore(_core.number(factor), 0.0)

    def shift(self, delta: float) -> None:
        """Add to every score. O(n); errors as of `scale`.

        >>> z = goblin.SortedSet({7: 1.0, 8: 2.0})
        >>> z.shift(0.5)
        >>> z.to_dict()
        {7: 1.5, 8: 2.5}
        """
        self._rescore(1.0, _core.number(delta))

    def decay(self, half_life: float, elapsed: float) -> None:
        """Multiply every score by 0.5 ** (elapsed / half_life), both in one unit of time. O(n).

        ValueError unless half_life is above zero; otherwise as `scale`.

        >>> z = goblin.SortedSet({7: 1.0, 8: 2.0})
        >>> z.decay(half_life=7, elapsed=14)
        >>> z.to_dict()
        {7: 0.25, 8: 0.5}
        """
        half_life, elapsed = _core.number(half_life), _core.number(elapsed)
        if half_life <= 0.0:
            raise ValueError("half_life must be above zero")
        try:
            factor = 0.5 ** (elapsed / half_life)
        except OverflowError:
            raise OverflowError("elapsed goes too many half-lives back") from None
        self.scale(factor)

    def merge(
        self, other: SortedSet[M], *, weight: float = 1.0, aggregate: Aggregate = "sum"
    ) -> None:
        """Take in another set, its scores times `weight`, as ZUNIONSTORE of both. O(n + m).

        `aggregate` is "sum", "min", "max", or "count": 1 for each of one's own members plus
        `weight` for each of the other's. A NaN (inf - inf, 0 * inf) becomes 0. ValueError for a NaN
        weight, OverflowError for what this layout can't hold; then nothing has changed.

        >>> z = goblin.SortedSet({7: 1.0, 8: 2.0})
        >>> z.merge(goblin.SortedSet({8: 1.0, 9: 1.0}), weight=10)
        >>> z.to_dict()
        {7: 1.0, 9: 10.0, 8: 12.0}
        """
        known(aggregate, ("sum", "min", "max", "count"), "aggregate")
        if not isinstance(other, SortedSet):
            raise TypeError(f"a SortedSet can be merged, not {type(other).__name__}")
        merge = functools.partial(self._merge, other, _core.number(weight), aggregate)
        self._with(other, merge)

    def _merge(self, other: SortedSet[Any], weight: float, aggregate: str) -> None:
        start = self._all_ones() if aggregate == "count" else None
        self._absorb(other, functools.partial(take_in, weight, aggregate), start)

    def _all_ones(self) -> SortedSet[M]:
        ones = self._like()
        for members, _ in self._chunks():
            ones._update(members, 1.0, "set")
        return ones

    def move(
        self, dst: SortedSet[M], members: ArrayLike | Iterable[M], *, mode: Mode = "set"
    ) -> int:
        """Move members with their scores into another set; returns how many went. O(n).

        Those that `mode` refuses, and those that are absent, stay as they are. ValueError for dst
        being self, OverflowError for what dst can't hold; then nothing has moved.

        >>> a, b = goblin.SortedSet({7: 1.0, 8: 2.0}), goblin.SortedSet({8: 5.0})
        >>> a.move(b, [7, 8, 9], mode="gt"), a.to_dict(), b.to_dict()
        (1, {8: 2.0}, {7: 1.0, 8: 5.0})
        """
        known(mode, _MODES, "mode")
        if not isinstance(dst, SortedSet):
            raise TypeError(f"members move into a SortedSet, not {type(dst).__name__}")
        if dst is self:
            raise ValueError("a set can't be moved into itself")
        ids = _convert.distinct(members, self.member_dtype)
        return self._with(dst, functools.partial(self._move, dst, ids, mode))

    def _move(self, dst: SortedSet[M], ids: _convert.Members, mode: str) -> int:
        scores = self._look_up(ids).astype(np.float64)
        present = ~np.isnan(scores)
        ids = _convert.chosen(ids, present, self.member_dtype)
        ids = _convert.members(ids, dst.member_dtype)
        with np.errstate(over="ignore"):
            kept = scores[present].astype(dst.score_dtype).astype(np.float64)
        if np.isinf(kept).sum() != np.isinf(scores).sum():
            raise OverflowError("a score is beyond the range of float32")
        old = dst._look_up(ids).astype(np.float64)
        new = np.isnan(old)
        fits = {"gt": kept > old, "lt": kept < old, "nx": False}.get(mode.removeprefix("xx_"), True)
        goes = fits & ~new if mode.startswith("xx") else fits | new
        ids, kept = _convert.chosen(ids, goes, self.member_dtype), kept[goes]
        self._remove(ids, functools.partial(dst._update, ids, kept, "set"))
        return len(ids)

    # ---- reads by member

    def scores(
        self, members: ArrayLike | Iterable[M], *, missing: float = math.nan
    ) -> NDArray[Any]:
        """Look up members of shape (n,); scores of shape (n,), `missing` where absent. O(n).

        >>> goblin.SortedSet({7: 1.0}).scores([7, 8], missing=-1)
        array([ 1., -1.])
        """
        return self._look_up(_convert.members(members, self.member_dtype), missing)

    def _look_up_any(self, column: _convert.Members) -> NDArray[Any]:
        """Scores of members of another set, which this one may be too narrow for."""
        if isinstance(column, np.ndarray) and self.member_dtype == "int32":
            fits = column == column.astype(np.int32)
            scores = np.full(len(column), math.nan)
            scores[fits] = self._look_up(column[fits])
            return scores
        return self._look_up(column)

    def _look_up(self, ids: _convert.Members, missing: float = math.nan) -> NDArray[Any]:
        out = np.empty(len(ids), self.score_dtype)
        self._scores(ids, out, missing)
        return out

    def ranks(
        self,
        members: ArrayLike | Iterable[M],
        *,
        method: RankMethod = "ordinal",
        descending: bool = False,
        pct: bool = False,
    ) -> NDArray[Any]:
        """Rank members of shape (n,) as `rank` does; int64 of shape (n,), -1 where absent.

        `pct=True` divides the 1-based ranks by the size of the set, as pandas does; these and those
        of "average" are float64 with NaN where absent. O(n log size); "dense" O(n + size).

        >>> z = goblin.SortedSet({7: 1.0, 8: 1.0, 9: 5.0})
        >>> z.ranks([9, 8, 5]), z.ranks([9, 8], method="max", pct=True)
        (array([ 2,  1, -1]), array([1.        , 0.66666667]))
        """
        ids = _convert.members(members, self.member_dtype)
        known(method, ("ordinal", "min", "max", "average", "dense"), "method")
        return self._atomically(self._rank_all, ids, method, descending, pct)

    def _rank_all(
        self, ids: _convert.Members, method: str, descending: bool, pct: bool
    ) -> NDArray[Any]:
        ranks = np.empty(len(ids), np.int64)
        if method == "dense":
            scores, (values, _) = self._look_up(ids), self.distinct_scores()
            for part in _convert.parts(len(scores)):
                ranks[part] = np.searchsorted(values, scores[part])
            ranks = np.where(np.isnan(scores), -1, len(values) - 1 - ranks if descending else ranks)
        else:
            self._ranks(ids, ranks, method, descending)
        if not pct and method != "average":
            return ranks
        known = np.where(ranks < 0, math.nan, ranks) / (2 if method == "average" else 1)
        return (known + 1) / max(len(self), 1) if pct else known

    # ---- reads by rank

    @property
    def by_rank(self) -> ByRank[M]:
        """The set as a sequence: an int, a slice or an array of ranks gives a pair or Rows.

        Slices and negative ranks as in a list. O(log n) a row, O(1) in runs.

        >>> import goblin
        >>> goblin.SortedSet({7: 1.0, 8: 5.0}).by_rank[0]
        (7, 1.0)
        """
        return ByRank(self)

    def top(self, n: int = 10, *, ties: Literal["cut", "all"] = "cut") -> Rows[M]:
        """Give the n highest as Rows, highest first.

        `ties="all"` adds every member with the score of the last one. ValueError for a negative n.
        O(log size + n); right after many writes a scan may answer.

        >>> goblin.SortedSet({7: 1.0, 8: 5.0, 9: 1.0}).top(2, ties="all").to_list()
        [(8, 5.0), (9, 1.0), (7, 1.0)]
        """
        return self._end(n, ties, True)

    def bottom(self, n: int = 10, *, ties: Literal["cut", "all"] = "cut") -> Rows[M]:
        """Give the n lowest as Rows, lowest first; otherwise as `top`. O(log size + n).

        >>> goblin.SortedSet({7: 1.0, 8: 5.0, 9: 1.0}).bottom(2).to_list()
        [(7, 1.0), (9, 1.0)]
        """
        return self._end(n, ties, False)

    @atomic
    def _end(self, n: int, ties: str, highest: bool) -> Rows[M]:
        known(ties, ("cut", "all"), "ties")
        size = len(self)
        k = min(_convert.count(n, "n"), size)
        ranks = range(size)[::-1] if highest else range(size)
        if ties == "cut" and 0 < k <= _SCAN_ROWS:
            found = self._room(k)
            if self._extremes(highest, False, *found) is not None:
                return Rows(*found, _numbers(ranks[:k]))
        if ties == "all" and k:
            last = self._item(ranks[k - 1])[1]
            first, stop = self._span(last, last, False, False)
            k = size - first if highest else stop
        return self._read(ranks[:k])

    def _peek(self, n: int, highest: bool) -> Rows[M]:
        """Up to n rows of one end of a held set, to be looked at: builds no order for them."""
        ranks = range(len(self))[:: -1 if highest else 1][:n]
        found = self._room(len(ranks))
        if ranks and self._extremes(highest, True, *found) is None:
            return self._read(ranks)
        return Rows(*found, _numbers(ranks))

    def most_common(self, n: int | None = None) -> list[tuple[M, float]]:
        """List the n highest (None: all) as pairs, as Counter does. O(log size + n).

        >>> goblin.SortedSet({7: 1.0, 8: 5.0}).most_common(1)
        [(8, 5.0)]
        """
        return self._atomically(self.top, len(self) if n is None else n).to_list()

    @atomic
    def around(self, member: M, n: int = 5) -> Rows[M]:
        """Give a member's neighbours, up to n on each side, and itself, lowest first.

        KeyError where it is absent, ValueError for a negative n. O(log size + n).

        >>> goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0}).around(9, 1).members
        array([7, 9, 8])
        """
        reach, rank = _convert.count(n, "n"), self.rank(member)
        return self._read(range(len(self))[max(rank - reach, 0) : rank + reach + 1])

    @atomic
    def sample(
        self,
        n: int,
        *,
        replace: bool = False,
        rng: np.random.Generator | int | None = None,
    ) -> Rows[M]:
        """Draw n members at random as Rows; `rng` is a numpy Generator or a seed.

        Without replacement they are distinct, and n beyond the size is a ValueError. O(n log size).

        >>> len(goblin.SortedSet(range(100), 1.0).sample(5, rng=1))
        5
        """
        n, size = _convert.count(n, "n"), len(self)
        if n > size and not (replace and size):
            raise ValueError(f"{n} of {size} members can't be drawn")
        if n == 0:
            return self._read(range(0))
        ranks = np.random.default_rng(rng).choice(size, n, replace=replace)
        return Rows(*self._pick(ranks), ranks)

    # ---- reads by score

    def _between(self, lo: float, hi: float, closed: str) -> range:
        """Ranks of the scores between two bounds."""
        return range(*self._span(_core.number(lo), _core.number(hi), *_open_ends(closed)))

    @atomic
    def range_by_score(
        self,
        lo: float = -_INF,
        hi: float = _INF,
        *,
        closed: Closed = "both",
        descending: bool = False,
        offset: int = 0,
        limit: int | None = None,
    ) -> Rows[M]:
        """Give the members with scores from lo to hi as Rows: `limit` after the first `offset`.

        `closed` is "both", "left", "right" or "none". ValueError for NaN, a negative offset or
        limit. O(log size + rows).

        >>> z = goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0})
        >>> z.range_by_score(1, 5, closed="right", descending=True).to_list()
        [(8, 5.0), (9, 3.0)]
        """
        offset = _convert.count(offset, "offset")
        stop = None if limit is None else offset + _convert.count(limit, "limit")
        ranks = self._between(lo, hi, closed)
        return self._read((ranks[::-1] if descending else ranks)[offset:stop])

    def _lex_score(self, within_score: float | None) -> float:
        """The score whose members a lex range is over, as the set stores it."""
        if within_score is not None:
            with np.errstate(over="ignore"):
                return float(np.asarray(_core.number(within_score)).astype(self.score_dtype))
        if len(self) == 0:
            return 0.0
        lowest, highest = self._item(0)[1], self._item(-1)[1]
        if lowest != highest:
            raise ValueError(
                "a range by member needs all scores equal; say which one is meant by within_score="
            )
        return lowest

    def _lex_rank(self, score: float, bound: M, past: bool) -> int:
        """The rank at which members of a score from `bound` on begin, or those past it."""
        try:
            below = self._below(bound, score)
        except OverflowError:  # an integer beyond all members
            edge = 0 if operator.index(bound) < 0 else 1  # type: ignore[arg-type]
            return self._span(score, score, False, False)[edge]
        return below + (past and self.get(bound) == score)

    def _lex(self, lo: M | None, hi: M | None, closed: str, within_score: float | None) -> range:
        """Ranks of the members of one score between two bounds."""
        open_lo, open_hi = _open_ends(closed)
        score = self._lex_score(within_score)
        start, stop = self._span(score, score, False, False)
        if lo is not None:
            start = self._lex_rank(score, lo, open_lo)
        if hi is not None:
            stop = self._lex_rank(score, hi, not open_hi)
        return range(start, max(start, stop))

    @atomic
    def range_by_lex(
        self,
        lo: M | None = None,
        hi: M | None = None,
        *,
        closed: Closed = "both",
        within_score: float | None = None,
        descending: bool = False,
        offset: int = 0,
        limit: int | None = None,
    ) -> Rows[M]:
        """Give the members from lo to hi (None: unbounded) among equal scores, as Rows.

        All scores have to be equal, unless `within_score` says which one is meant. Bounds need not
        be members. `closed`, `offset`, `limit` as for `range_by_score`. ValueError for mixed
        scores, TypeError for a bound of another kind. O(log size + rows).

        >>> z = goblin.SortedSet(["ann", "bea", "bob"], 0.0)
        >>> z.range_by_lex("b", "bz").members.tolist()
        ['bea', 'bob']
        """
        offset = _convert.count(offset, "offset")
        stop = None if limit is None else offset + _convert.count(limit, "limit")
        ranks = self._lex(lo, hi, closed, within_score)
        return self._read((ranks[::-1] if descending else ranks)[offset:stop])

    @atomic
    def count_lex(
        self,
        lo: M | None,
        hi: M | None,
        *,
        closed: Closed = "both",
        within_score: float | None = None,
    ) -> int:
        """Count the members from lo to hi among equal scores, as `range_by_lex`. O(log n).

        >>> goblin.SortedSet(["ann", "bea", "bob"], 0.0).count_lex("b", None)
        2
        """
        return len(self._lex(lo, hi, closed, within_score))

    @atomic
    def page(self, size: int, *, after: Cursor | None = None, descending: bool = True) -> Page[M]:
        """Give one page of a listing: Page(rows, cursor), the cursor being `after` for the next.

        Rows that come or go between pages never make another appear twice or vanish. ValueError for
        a size below 1 or a cursor of the other direction, TypeError for what is no cursor. O(log n
        + size).

        >>> z = goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0})
        >>> rows, cursor = z.page(2)
        >>> rows.members, z.page(2, after=cursor).rows.members
        (array([8, 9]), array([7]))
        """
        if operator.index(size) < 1:
            raise ValueError("a page has at least one row")
        ranks = self._after(after, bool(descending))
        rows = self._read(ranks[:size])
        if size >= len(ranks):
            return Page(rows, None)
        member, score = rows[-1]
        return Page(rows, Cursor(score, member, bool(descending)))

    def _after(self, cursor: Cursor | None, descending: bool) -> range:
        """The ranks that follow a cursor, in its direction."""
        everyone = range(len(self))
        if cursor is None:
            return everyone[::-1] if descending else everyone
        if not isinstance(cursor, Cursor):
            raise TypeError(f"after must be the cursor of a page, not {type(cursor).__name__}")
        if cursor.descending != descending:
            raise ValueError("the cursor is of a listing in the other direction")
        below = self._below(cursor.member, cursor.score)
        if descending:
            return everyone[:below][::-1]
        return everyone[below + (self.get(cursor.member) == cursor.score) :]

    def count(self, lo: float = -_INF, hi: float = _INF, *, closed: Closed = "both") -> int:
        """Count the members with scores from lo to hi. ValueError for NaN. O(log n).

        >>> goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0}).count(1, 3, closed="left")
        1
        """
        return self._count(_core.number(lo), _core.number(hi), *_open_ends(closed))

    # ---- statistics

    def sum(self, lo: float, hi: float) -> float:
        """Sum the scores from lo to hi, both included, exactly and rounded once. O(n).

        NaN where infinities of both signs meet; ValueError for NaN.

        >>> goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0}).sum(2, 5)
        8.0
        """
        return self._sum(_core.number(lo), _core.number(hi), False, False)

    def total(self) -> float:
        """Sum all scores exactly, rounded once; 0.0 for none, NaN for inf - inf. O(n).

        >>> goblin.SortedSet({7: 0.1, 8: 0.2, 9: 0.3}).total()
        0.6
        """
        return self._sum(-_INF, _INF, False, False)

    @atomic
    def mean(self) -> float:
        """Divide the total by the number of members; NaN for none. O(n).

        >>> goblin.SortedSet({7: 1.0, 8: 5.0}).mean()
        3.0
        """
        return self.total() / len(self) if len(self) else math.nan

    @atomic
    def quantile(self, q: ArrayLike, *, method: str = "linear") -> Any:
        """Give the quantile q (in 0..1, scalar or array) of the scores, as `np.quantile` does.

        `method` is any of numpy's. float64 of the shape of q. ValueError when empty, for q outside
        0..1 or an unknown method. O(q log n).

        >>> float(goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0}).quantile(0.25))
        2.0
        """
        return _quantiles.quantiles(len(self), q, method, lambda ranks: self._pick(ranks)[1])

    @atomic
    def percentile_of(
        self, score: float, *, kind: Literal["rank", "weak", "strict", "mean"] = "rank"
    ) -> float:
        """Tell where a score stands, in 0..100, as scipy's `percentileofscore` does.

        "weak" counts the scores up to it, "strict" those below, "mean" takes their mean, and "rank"
        the mean of the places of equal ones. ValueError when empty, for NaN or an unknown kind.
        O(log n).

        >>> goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0, 6: 3.0}).percentile_of(3)
        62.5
        """
        known(kind, ("rank", "weak", "strict", "mean"), "kind")
        ranks = self._between(score, score, "both")
        if not len(self):
            raise ValueError("an empty set has no percentiles")
        below, up_to = ranks.start, ranks.stop
        doubled = {
            "rank": below + up_to + (up_to > below),
            "weak": 2 * up_to,
            "strict": 2 * below,
            "mean": below + up_to,
        }
        return doubled[kind] * 50.0 / len(self)

    @atomic
    def histogram(
        self, bins: Any = 10, range: tuple[float, float] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Count the scores by bins as `np.histogram` does: (counts, edges). O(n).

        `bins` is a number of equal bins over `range` (None: from lowest to highest) or an array of
        edges. ValueError where floats can't tell so many bins apart, or the range is not finite.

        >>> goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0}).histogram(2)
        (array([1, 2]), array([1., 3., 5.]))
        """
        if isinstance(bins, str):
            raise TypeError("bins must be a number or edges")
        if range is None and len(self):
            range = self.bottom(1)[0][1], self.top(1)[0][1]
        counts, edges = np.histogram(np.empty(0), bins, range)
        if not (edges[1:] > edges[:-1]).all() and np.ndim(bins) == 0:  # numpy 2.0 lets it pass
            raise ValueError(f"floats cannot tell {bins} bins between {edges[0]} and {edges[-1]}")
        for _, _, scores in self._walks():
            counts += np.histogram(scores.astype(np.float64), bins, range)[0]
        return counts, edges

    @atomic
    def distinct_scores(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """List the distinct scores, ascending, and how many members have each. O(n).

        >>> goblin.SortedSet({7: 1.0, 8: 5.0, 9: 1.0}).distinct_scores()
        (array([1., 5.]), array([2, 1]))
        """
        starts, values = [np.empty(0, np.int64)], [np.empty(0, self.score_dtype)]
        last = math.nan
        for first in range(0, len(self), _CHUNK):
            scores = self._columns(range(first, min(first + _CHUNK, len(self))))[1]
            news = np.flatnonzero(np.append(scores[0] != last, scores[1:] != scores[:-1]))
            starts.append(news + first)
            values.append(scores[news])
            last = scores[-1]
        counts = np.diff(np.append(np.concatenate(starts), len(self)))
        return np.concatenate(values), counts

    @atomic
    def describe(self) -> dict[str, float]:
        """Sum up the scores: count, total, mean, min, quartiles and max (NaN for none). O(n).

        >>> goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0}).describe()["50%"]
        3.0
        """
        shares = {"min": 0.0, "25%": 0.25, "50%": 0.5, "75%": 0.75, "max": 1.0}
        values = self.quantile([*shares.values()]) if len(self) else np.full(len(shares), math.nan)
        return {
            "count": len(self),
            "total": self.total(),
            "mean": self.mean(),
            **dict(zip(shares, values.tolist(), strict=True)),
        }

    # ---- the whole

    @atomic
    def memory(self) -> MemoryReport:
        """Report the bytes of each part, as the allocator counts them. O(pages).

        >>> import sys
        >>> z = goblin.SortedSet({7: 1.0})
        >>> z.memory().total == sys.getsizeof(z)
        True
        """
        parts = self._memory()
        total = sys.getsizeof(self)
        per_member = total / len(self) if len(self) else math.nan
        return MemoryReport(*parts, total - sum(parts), total, per_member)

    def digest(self) -> Digest:
        """Hash the content, the same for equal sets of any layout and engine. O(n).

        >>> goblin.SortedSet({7: 1.0, 8: 2.0}).digest().count
        2
        """
        count, total, ordered, mapping = self._digest()
        if math.isnan(total):
            total = math.nan  # this very object, by which equal tuples are equal
        return Digest(count, total, ordered[1] << 64 | ordered[0], mapping[1] << 64 | mapping[0])

    @atomic
    def to_numpy(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give all members and scores in rank order, arrays of shape (n,). O(n).

        >>> goblin.SortedSet({7: 2.0, 8: 1.0}).to_numpy()
        (array([8, 7]), array([1., 2.]))
        """
        return self._columns(range(len(self)))

    def to_dict(self) -> dict[M, float]:
        """Give a dict in rank order. O(n).

        >>> goblin.SortedSet({7: 2.0, 8: 1.0}).to_dict()
        {8: 1.0, 7: 2.0}
        """
        return dict(_convert.rows(*self.to_numpy()))

    @atomic
    def _arrow_table(self) -> Table:
        kinds = {"member": self.member_dtype, "score": self.score_dtype}
        fields = tuple(_arrow.field(name, kind) for name, kind in kinds.items())
        stamp, n = self._stamp, len(self)
        parts = (range(first, min(first + _arrow.BATCH, n)) for first in range(0, n, _arrow.BATCH))
        return fields, (self._atomically(self._arrow_batch, ranks, stamp) for ranks in parts)

    def _arrow_batch(self, ranks: range, stamp: int) -> _arrow.Batch:
        if self._stamp != stamp:
            raise RuntimeError("SortedSet changed during iteration")
        members: Any
        if self.member_dtype in ("str", "bytes"):  # without numpy's own texts in between
            scores = np.empty(len(ranks), self.score_dtype)
            members = self._name_rows(ranks.start, scores)
        else:
            members, scores = self._columns(ranks)
        return len(ranks), ((members, None, 0), (scores, None, 0))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.by_rank[:].__array__(dtype, copy)

    @classmethod
    def from_counts(
        cls,
        values: Any,
        *,
        by: ArrayLike = 1.0,
        member: MemberKind | None = None,
        score: ScoreKind = "float64",
        column: str | None = None,
        progress: Progress = None,
    ) -> Self:
        """Count how often each member comes: in an array or list, a frame, or an iterable of these.

        `column` names the column of frames, which need it if they have several, and of batches
        (None: their first). Each occurrence adds `by`. `member` None takes that of the first array.
        `progress` and errors as of `increment_many`. O(n).

        >>> goblin.SortedSet.from_counts(np.array([7, 8, 7])).to_dict()
        {8: 1.0, 7: 2.0}
        """
        whole = (
            hasattr(type(values), "__array__")
            or (_arrow.is_exporter(values) and not isinstance(values, Iterator))
            or (
                isinstance(values, Sequence)
                and len(values) > 0
                and (np.isscalar(values[0]) or isinstance(values[0], uuid.UUID))
            )
        )
        batches = (_column(batch, column) for batch in ([values] if whole else values))
        first = next(batches, ())
        if isinstance(first, Iterator):
            first = list(first)
        kind: Any = member or _kind_of(first, False)
        counted = cls(member=kind, score=score)
        size = operator.length_hint(values) or None if whole else None
        with track(progress, size, "member", "counting") as advance:
            for batch in itertools.chain([first], batches):
                ids = _convert.members(batch, counted.member_dtype)
                counted._increment(ids, _convert.scores(by, len(ids), "float64"), None, advance)
        return counted


def weighted(scores: NDArray[Any], weight: float, aggregate: str) -> NDArray[np.float64]:
    """What the scores of a set contribute to an aggregate."""
    if aggregate == "count":
        return np.full(len(scores), weight)
    with np.errstate(invalid="ignore", over="ignore"):
        return zero_for_nan(np.asarray(scores, np.float64) * weight)


# What aggregates are as modes of an update.
_MODE_OF = {"sum": "sum", "count": "sum", "min": "lt", "max": "gt"}


def take_in(
    weight: float, aggregate: str, target: SortedSet[Any], column: Any, scores: NDArray[Any]
) -> None:
    """Puts what another set contributes into an aggregate."""
    members: Any = _convert.members(column, target.member_dtype)
    scores = weighted(scores, weight, aggregate)
    if aggregate in ("min", "max") and not _fits(scores, target.score_dtype):
        old = target.scores(members)  # those that stay need not fit
        scores = np.where(old <= scores if aggregate == "min" else old >= scores, old, scores)
    target._update(members, scores, _MODE_OF[aggregate])


def _fits(scores: NDArray[Any], dtype: str) -> bool:
    if dtype == "float64":
        return True
    return bool((np.abs(scores[np.isfinite(scores)]) <= np.finfo(dtype).max).all())


def _column(batch: Any, name: str | None) -> Any:
    """The members of a batch: one of its columns, or itself."""
    is_one = np.isscalar(batch) and not isinstance(batch, memoryview)  # which numpy calls a scalar
    if is_one or isinstance(batch, uuid.UUID):
        kind = type(batch).__name__
        raise TypeError(f"an array of members or an iterable of arrays is wanted, not of {kind}")
    if isinstance(batch, Arrays):
        ours: Any = batch  # whose first column is the one that was asked for first
        return ours[name or ours.columns[0]] if hasattr(ours, "columns") else ours
    if hasattr(batch, "iloc"):  # of pandas
        return batch[_chosen(list(batch), name)] if hasattr(batch, "columns") else batch
    columns = _arrow.columns(batch)
    return batch if columns is None else columns[_chosen(list(columns), name)]


def _chosen(columns: list[Any], name: str | None) -> Any:
    """The name of the column of a frame that is to be counted."""
    if name is None and len(columns) != 1:
        known = ", ".join(map(repr, columns)) or "none"
        raise TypeError(f"column= must say which of the frame's columns to count: {known}")
    if name is not None and name not in columns:
        raise _arrow.no_column(name, columns)
    return columns[0] if name is None else name


SortedSet.__module__ = "goblin"
MutableMapping.register(SortedSet)
