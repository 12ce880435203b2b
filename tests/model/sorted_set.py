"""The specification of SortedSet, in the slowest and plainest form that can be run.

What a member is, is said in kinds.py; the operations on several sets are in set_operations.py.

A dict holds the scores; a sorted list of (score, member) is made anew when an ordered question is
asked after a write. Every operation works on a copy of the dict and commits it at the end, which
is what "all or nothing" means. Nothing here is clever, and nothing here may become clever.
"""

from __future__ import annotations

import itertools
import math
import operator
import struct
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import xxhash
from model.kinds import BYTES, KINDS, TEXT, array_of, listed, member_of
from model.kinds import kind_of as kind_of_members

INF = math.inf
MODES = ("set", "nx", "xx", "gt", "lt", "xx_gt", "xx_lt")
CLOSED = ("both", "left", "right", "none")
METHODS = ("ordinal", "min", "max", "dense", "average")
AGGREGATES = ("sum", "min", "max", "count")
ABSENT = object()


class Changes(NamedTuple):
    added: int
    changed: int
    total: int


class Digest(NamedTuple):
    count: int
    total: float
    ordered: int
    mapping: int


class Page(NamedTuple):
    rows: ModelRows
    cursor: Any


class ModelRows:
    """Rows of a result: members, scores, and ranks counted from the lowest."""

    def __init__(self, rows: list[tuple[Any, float, int]], member: str, score: str) -> None:
        self._rows = rows
        self._dtypes = member, score
        self.members = array_of([m for m, _, _ in rows], member)
        self.scores = np.array([s for _, s, _ in rows], dtype=score)
        self.ranks = np.array([r for _, _, r in rows], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ModelRows(self._rows[index], *self._dtypes)
        member, score, _ = self._rows[index]
        return member, score

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        return ((member, score) for member, score, _ in self._rows)

    def __eq__(self, other: object) -> bool:
        return self.to_list() == (other.to_list() if isinstance(other, ModelRows) else other)

    __hash__ = None  # type: ignore[assignment]

    def to_list(self) -> list[tuple[Any, float]]:
        return list(self)


def exact_sum(scores: Iterable[float]) -> float:
    """The correctly rounded sum; infinities of both signs give NaN."""
    finite = []
    infinities = 0.0
    for score in scores:
        if math.isinf(score):
            infinities += score
        else:
            finite.append(score)
    if infinities != 0.0:
        return infinities
    try:
        return math.fsum(finite)
    except OverflowError:  # of an intermediate value; the sum itself may still be finite
        exact = sum(map(Fraction, finite))
        try:
            return float(exact)
        except OverflowError:
            return INF if exact > 0 else -INF


def entry_bytes(member: Any, score: float) -> bytes:
    """What is hashed of one member: a str and its UTF-8 bytes are one and the same."""
    if isinstance(member, int):
        return struct.pack("<qd", member, score)
    raw = member.encode() if isinstance(member, str) else getattr(member, "bytes", member)
    return struct.pack("<q", len(raw)) + raw + struct.pack("<d", score)


def zero_for_nan(number: float) -> float:
    return 0.0 if math.isnan(number) else number


def combination(aggregate: str) -> Any:
    """How two weighted scores of one member become one."""
    known(aggregate, AGGREGATES, "aggregate")
    combine = {"min": min, "max": max}.get(aggregate, operator.add)
    return lambda one, other: zero_for_nan(combine(one, other))


def kind_of(data: Any, scores: Any) -> str:
    """The kind of the members that data brings along; data is no iterator."""
    if isinstance(data, ModelSortedSet):
        return data.member_dtype
    if isinstance(data, ModelRows):
        return kind_of_members(data.members)
    if scores is None and data is not None and not isinstance(data, Mapping):
        data = [member for member, _ in itertools.islice(data, 1)]
    return kind_of_members(data)


def known(word: str, words: Iterable[str], name: str) -> None:
    if word not in words:
        raise ValueError(f"unknown {name}: {word!r}")


def not_negative(number: int, name: str) -> int:
    number = operator.index(number)
    if number < 0:
        raise ValueError(f"{name} is negative")
    return number


def is_batches(values: Any) -> bool:
    """Whether these are several arrays or lists of members, rather than members."""
    first = next(iter(values), None)
    return not isinstance(values, np.ndarray) and not isinstance(first, int | UUID | BYTES | str)


class ModelSortedSet:
    def __init__(
        self,
        data: Any = None,
        scores: Any = None,
        /,
        *,
        member: str | None = None,
        score: str | None = None,
        compress: bool = True,
        merge_exponent: float = 1.0,
    ) -> None:
        if isinstance(data, ModelSortedSet):
            score = score or data.score_dtype
        if isinstance(data, Iterator):
            data = list(data)
        self.member_dtype = member or kind_of(data, scores)
        self.score_dtype = score or "float64"
        known(self.member_dtype, KINDS, "member")
        known(self.score_dtype, ("float32", "float64"), "score")
        if not 0.0 <= merge_exponent <= 1.0:
            raise ValueError("merge_exponent is outside 0..1")
        self.compress, self.merge_exponent = compress, merge_exponent
        self._map: dict[Any, float] = {}
        self._sorted: list[tuple[float, Any]] | None = None
        if data is not None:
            self.update(data, scores)

    # ---- arguments

    def _member(self, value: Any) -> Any:
        return member_of(value, self.member_dtype)

    def _find(self, value: Any) -> Any:
        """The member, or None for what can't be one: look-ups call it absent."""
        try:
            return self._member(value)
        except (TypeError, OverflowError, ValueError):
            return None

    def _members(self, values: Any) -> list[Any]:
        return [self._member(value) for value in listed(values, self.member_dtype)]

    def _same_kind(self, other: ModelSortedSet) -> dict[Any, float]:
        """The scores of another set of the same kind of members; ints may differ in width."""
        if not isinstance(other, ModelSortedSet):
            raise TypeError(f"a set is wanted, not {type(other).__name__}")
        if KINDS[self.member_dtype] is not KINDS[other.member_dtype]:
            raise TypeError(f"members of {other.layout} do not go with those of {self.layout}")
        return other._map

    def _number(self, value: Any) -> float:
        """A number of any kind but NaN, as float64."""
        if isinstance(value, TEXT):
            raise TypeError("a text is no number")
        number = float(value)
        if math.isnan(number):
            raise ValueError("NaN has no place in an order")
        return number

    def _store(self, number: float) -> float:
        """What a score of this width holds for `number`; never -0.0, never NaN."""
        if math.isnan(number):
            raise ValueError("the result would be NaN")
        if self.score_dtype == "float32":
            number = struct.unpack("<f", struct.pack("<f", number))[0]
        return number + 0.0

    def _score(self, value: Any) -> float:
        return self._store(self._number(value))

    def _bound(self, value: Any) -> float:
        """A query bound: narrowed like a score, but saturating."""
        number = self._number(value)
        try:
            return self._store(number)
        except OverflowError:
            return math.copysign(INF, number)

    def _numbers(self, values: Any, count: int) -> list[float]:
        """`count` numbers; one number stands for all."""
        if isinstance(values, TEXT):
            raise TypeError("scores are wanted, not one text")
        if isinstance(values, np.ndarray) and values.ndim:
            if values.dtype.kind not in "iufO":
                raise TypeError(f"scores can't be {values.dtype}")
            if values.ndim != 1:
                raise ValueError("scores must be one-dimensional")
            values = values.tolist()
        numbers = (
            [self._number(value) for value in values]
            if isinstance(values, Iterable) and not (isinstance(values, np.ndarray))
            else [self._number(values)] * count
        )
        if len(numbers) != count:
            raise ValueError("members and scores differ in length")
        return numbers

    def _pairs(self, data: Any, scores: Any) -> list[tuple[Any, float]]:
        if isinstance(data, TEXT):
            raise TypeError("members are wanted, not one text")
        if scores is not None:
            members = self._members(data)
            return list(zip(members, self._numbers(scores, len(members)), strict=True))
        if isinstance(data, ModelSortedSet):
            data = self._same_kind(data)
        pairs = data.items() if isinstance(data, Mapping) else data
        return [(self._member(member), self._number(score)) for member, score in pairs]

    # ---- the two halves

    def _commit(self, new: dict[Any, float]) -> None:
        self._map = new
        self._sorted = None

    def _order(self) -> list[tuple[float, Any]]:
        if self._sorted is None:
            self._sorted = sorted((score, member) for member, score in self._map.items())
        return self._sorted

    def _rows(self, ranks: Iterable[int]) -> ModelRows:
        order = self._order()
        rows = [(order[rank][1], order[rank][0], rank) for rank in ranks]
        return ModelRows(rows, self.member_dtype, self.score_dtype)

    def _within(self, lo: Any, hi: Any, closed: str) -> list[int]:
        """Ranks of the scores between two bounds."""
        known(closed, CLOSED, "closed")
        lo, hi = self._bound(lo), self._bound(hi)
        above = operator.ge if closed in ("both", "left") else operator.gt
        below = operator.le if closed in ("both", "right") else operator.lt
        order = self._order()
        return [
            rank for rank, (score, _) in enumerate(order) if above(score, lo) and below(score, hi)
        ]

    # ---- mapping

    def __len__(self) -> int:
        return len(self._map)

    def __contains__(self, member: Any) -> bool:
        return self._find(member) in self._map

    def __iter__(self) -> Iterator[Any]:
        return iter([member for _, member in self._order()])

    def __reversed__(self) -> Iterator[Any]:
        return iter([member for _, member in reversed(self._order())])

    def __getitem__(self, member: Any) -> float:
        found = self._find(member)
        if found not in self._map:
            raise KeyError(member)
        return self._map[found]

    def __setitem__(self, member: Any, score: Any) -> None:
        self.add(member, score)

    def __delitem__(self, member: Any) -> None:
        if not self.discard(member):
            raise KeyError(member)

    def __eq__(self, other: object) -> bool:
        return self._map == (other._map if isinstance(other, ModelSortedSet) else other)

    __hash__ = None  # type: ignore[assignment]

    def get(self, member: Any, default: Any = None) -> Any:
        return self._map.get(self._find(member), default)

    def keys(self) -> list[Any]:
        return list(self)

    def values(self) -> list[float]:
        return [score for score, _ in self._order()]

    def items(self) -> list[tuple[Any, float]]:
        return [(member, score) for score, member in self._order()]

    def pop(self, member: Any, default: Any = ABSENT) -> Any:
        if member not in self:
            if default is ABSENT:
                raise KeyError(member)
            return default
        score = self[member]
        del self[member]
        return score

    def popitem(self) -> tuple[Any, float]:
        return self.pop_min()

    def setdefault(self, member: Any, default: Any) -> float:
        self.add(member, default, mode="nx")
        return self[member]

    def clear(self) -> None:
        self._commit({})

    def copy(self) -> ModelSortedSet:
        return ModelSortedSet(self)

    # ---- writes

    @staticmethod
    def _accepts(mode: str, old: float | None, new: float) -> bool:
        if old is None:
            return mode in ("set", "nx", "gt", "lt")
        if mode in ("gt", "xx_gt"):
            return new > old
        if mode in ("lt", "xx_lt"):
            return new < old
        return mode in ("set", "xx")

    def add(self, member: Any, score: Any, *, mode: str = "set") -> bool:
        changes = self.update([(member, score)], mode=mode)
        return changes.added + changes.changed > 0

    def update(self, data: Any = (), scores: Any = None, /, *, mode: str = "set") -> Changes:
        known(mode, MODES, "mode")
        new = dict(self._map)
        added = changed = 0
        for member, number in self._pairs(data, scores):
            old, score = new.get(member), self._store(number)
            if self._accepts(mode, old, score):
                added += old is None
                changed += old is not None and old != score
                new[member] = score
        self._commit(new)
        return Changes(added, changed, len(new))

    def increment(self, member: Any, by: Any = 1.0) -> float:
        return float(self.increment_many([member], self._number(by), return_scores=True)[0])

    def increment_many(
        self, members: Any, by: Any = 1.0, *, return_scores: bool = False, progress: Any = None
    ) -> Any:
        members = self._members(members)
        new = dict(self._map)
        after = []
        for member, step in zip(members, self._numbers(by, len(members)), strict=True):
            new[member] = self._store(new.get(member, 0.0) + step)
            after.append(new[member])
        self._commit(new)
        return np.array(after, dtype=self.score_dtype) if return_scores else None

    def subtract(self, data: Any, scores: Any = None, /) -> None:
        pairs = self._pairs(data, scores)
        self.increment_many([m for m, _ in pairs], [-s for _, s in pairs])

    def remove(self, members: Any) -> int:
        gone = set(self._members(members))
        before = len(self)
        self._commit({m: s for m, s in self._map.items() if m not in gone})
        return before - len(self)

    def discard(self, member: Any) -> bool:
        return member in self and self.remove([member]) == 1

    def _pop(self, ranks: list[int]) -> ModelRows:
        rows = self._rows(ranks)
        self.remove(rows.members)
        return rows

    def pop_min(self, n: int | None = None) -> Any:
        if n is None:
            return self._pop_one(0)
        return self._pop(list(range(len(self)))[: not_negative(n, "n")])

    def pop_max(self, n: int | None = None) -> Any:
        if n is None:
            return self._pop_one(len(self) - 1)
        return self._pop(list(reversed(range(len(self))))[: not_negative(n, "n")])

    def _pop_one(self, rank: int) -> tuple[Any, float]:
        if not self._map:
            raise KeyError("the set is empty")
        return self._pop([rank])[0]

    def remove_by_rank(self, start: int, stop: int) -> int:
        return len(self._pop(list(range(len(self)))[operator.index(start) : operator.index(stop)]))

    def remove_by_score(self, lo: Any, hi: Any, *, closed: str = "both") -> int:
        return len(self._pop(self._within(lo, hi, closed)))

    def remove_by_lex(self, lo: Any, hi: Any, *, closed: str = "both") -> int:
        return len(self._pop(self._between_members(lo, hi, closed, None)))

    def trim(self, n: int, *, keep: str = "top") -> int:
        known(keep, ("top", "bottom"), "keep")
        surplus = max(len(self) - not_negative(n, "n"), 0)
        return len(self.pop_min(surplus) if keep == "top" else self.pop_max(surplus))

    def _rescore(self, function: Any) -> None:
        self._commit({member: self._store(function(s)) for member, s in self._map.items()})

    def scale(self, factor: Any) -> None:
        factor = self._number(factor)
        self._rescore(lambda score: score * factor)

    def shift(self, delta: Any) -> None:
        delta = self._number(delta)
        self._rescore(lambda score: score + delta)

    def decay(self, half_life: Any, elapsed: Any) -> None:
        half_life, elapsed = self._number(half_life), self._number(elapsed)
        if half_life <= 0.0:
            raise ValueError("half_life must be positive")
        self.scale(0.5 ** (elapsed / half_life))

    def merge(self, other: ModelSortedSet, *, weight: Any = 1.0, aggregate: str = "sum") -> None:
        combine, weight = combination(aggregate), self._number(weight)
        theirs, counting = self._same_kind(other), aggregate == "count"
        new = {member: 1.0 if counting else score for member, score in self._map.items()}
        for member, score in theirs.items():
            weighted = weight if counting else zero_for_nan(weight * score)
            old = new.get(self._member(member))
            new[member] = self._store(weighted if old is None else combine(old, weighted))
        self._commit(new)

    def move(self, dst: ModelSortedSet, members: Any, *, mode: str = "set") -> int:
        known(mode, MODES, "mode")
        if dst is self:
            raise ValueError("a set can't be moved into itself")
        new_self, new_dst = dict(self._map), dict(self._same_kind(dst))
        for member in self._members(members):
            if member in new_self:
                score = dst._score(new_self[member])
                if self._accepts(mode, new_dst.get(dst._member(member)), score):
                    new_dst[member] = score
                    del new_self[member]
        moved = len(self) - len(new_self)
        self._commit(new_self)
        dst._commit(new_dst)
        return moved

    def optimize(self) -> None:
        pass

    # ---- reads by member

    def scores(self, members: Any, *, missing: float = math.nan) -> np.ndarray:
        found = [self._map.get(member, missing) for member in self._members(members)]
        return np.array(found, dtype=self.score_dtype)

    def _rank(self, member: int, method: str, descending: bool) -> Any:
        score, values = self._map[member], self.values()
        below = sum(value < score for value in values)
        above = sum(value > score for value in values)
        first, last = (
            (above, len(values) - 1 - below) if descending else (below, len(values) - 1 - above)
        )
        if method == "ordinal":
            ascending = self._order().index((score, member))
            return len(values) - 1 - ascending if descending else ascending
        if method == "dense":
            passed = operator.gt if descending else operator.lt
            return len({value for value in values if passed(value, score)})
        return {"min": first, "max": last, "average": (first + last) / 2}[method]

    def rank(
        self,
        member: Any,
        *,
        method: str = "ordinal",
        descending: bool = False,
        default: Any = ABSENT,
    ) -> Any:
        known(method, METHODS, "method")
        if member not in self:
            if default is ABSENT:
                raise KeyError(member)
            return default
        return self._rank(self._member(member), method, descending)

    def ranks(
        self,
        members: Any,
        *,
        method: str = "ordinal",
        descending: bool = False,
        pct: bool = False,
    ) -> np.ndarray:
        known(method, METHODS, "method")
        fractional = pct or method == "average"
        ranks = [
            self._rank(member, method, descending) if member in self else None
            for member in self._members(members)
        ]
        if not fractional:
            return np.array([-1 if rank is None else rank for rank in ranks], dtype=np.int64)
        if pct:
            ranks = [None if rank is None else (rank + 1) / len(self) for rank in ranks]
        return np.array([math.nan if rank is None else rank for rank in ranks], dtype=np.float64)

    # ---- reads by rank

    @property
    def by_rank(self) -> ModelByRank:
        return ModelByRank(self)

    def _end(self, order: list[int], n: int, ties: str) -> ModelRows:
        known(ties, ("cut", "all"), "ties")
        taken = order[: not_negative(n, "n")]
        if ties == "all" and taken:
            values = self.values()
            taken += [r for r in order[len(taken) :] if values[r] == values[taken[-1]]]
        return self._rows(taken)

    def top(self, n: int = 10, *, ties: str = "cut") -> ModelRows:
        return self._end(list(reversed(range(len(self)))), n, ties)

    def bottom(self, n: int = 10, *, ties: str = "cut") -> ModelRows:
        return self._end(list(range(len(self))), n, ties)

    def most_common(self, n: int | None = None) -> list[tuple[Any, float]]:
        return self.top(len(self) if n is None else n).to_list()

    def around(self, member: Any, n: int = 5) -> ModelRows:
        n, rank = not_negative(n, "n"), self.rank(member)
        return self._rows(range(len(self))[max(rank - n, 0) : rank + n + 1])

    def sample(self, n: int, *, replace: bool = False, rng: Any = None) -> ModelRows:
        n = not_negative(n, "n")
        if n > len(self) and not (replace and self._map):
            raise ValueError("more rows are wanted than there are members")
        chosen = np.random.default_rng(rng).choice(len(self), n, replace=replace) if n else ()
        return self._rows(map(int, chosen))

    # ---- reads by score

    def range_by_score(
        self,
        lo: Any = -INF,
        hi: Any = INF,
        *,
        closed: str = "both",
        descending: bool = False,
        offset: int = 0,
        limit: int | None = None,
    ) -> ModelRows:
        offset = not_negative(offset, "offset")
        stop = None if limit is None else offset + not_negative(limit, "limit")
        ranks = self._within(lo, hi, closed)
        return self._rows((ranks[::-1] if descending else ranks)[offset:stop])

    def page(self, size: int, *, after: Any = None, descending: bool = True) -> Page:
        size = operator.index(size)
        if size <= 0:
            raise ValueError("a page has at least one row")
        order = self._order()
        ranks = [
            rank
            for rank in (reversed(range(len(order))) if descending else range(len(order)))
            if after is None or (order[rank] < after if descending else order[rank] > after)
        ]
        more = len(ranks) > size
        return Page(self._rows(ranks[:size]), order[ranks[size - 1]] if more else None)

    def count(self, lo: Any = -INF, hi: Any = INF, *, closed: str = "both") -> int:
        return len(self._within(lo, hi, closed))

    # ---- reads by member, in order

    def _lex_bound(self, value: Any) -> Any:
        """A member, but that an int may lie outside the width: it is compared, not stored."""
        return member_of(value, self.member_dtype, any_width=True)

    def _between_members(self, lo: Any, hi: Any, closed: str, within_score: Any) -> list[int]:
        """Ranks of the members between two bounds, among those of one score."""
        known(closed, CLOSED, "closed")
        lo, hi = (None if bound is None else self._lex_bound(bound) for bound in (lo, hi))
        score = None if within_score is None else self._bound(within_score)
        if score is None and len(set(self._map.values())) > 1:
            raise ValueError("the scores differ, so members are not in one order")
        above = operator.ge if closed in ("both", "left") else operator.gt
        below = operator.le if closed in ("both", "right") else operator.lt
        return [
            rank
            for rank, (own, member) in enumerate(self._order())
            if (score is None or own == score)
            and (lo is None or above(member, lo))
            and (hi is None or below(member, hi))
        ]

    def range_by_lex(
        self,
        lo: Any = None,
        hi: Any = None,
        *,
        closed: str = "both",
        within_score: Any = None,
        descending: bool = False,
        offset: int = 0,
        limit: int | None = None,
    ) -> ModelRows:
        offset = not_negative(offset, "offset")
        stop = None if limit is None else offset + not_negative(limit, "limit")
        ranks = self._between_members(lo, hi, closed, within_score)
        return self._rows((ranks[::-1] if descending else ranks)[offset:stop])

    def count_lex(self, lo: Any, hi: Any, *, closed: str = "both") -> int:
        return len(self._between_members(lo, hi, closed, None))

    # ---- statistics

    def total(self) -> float:
        return exact_sum(self._map.values())

    def mean(self) -> float:
        return self.total() / len(self) if self._map else math.nan

    def sum(self, lo: Any = -INF, hi: Any = INF) -> float:
        return exact_sum(self.range_by_score(lo, hi).scores.tolist())

    def quantile(self, q: Any, *, method: str = "linear") -> Any:
        if not self._map:
            raise ValueError("an empty set has no quantiles")
        return np.quantile(np.array(self.values(), dtype=np.float64), q, method=method)

    def describe(self) -> dict[str, float]:
        parts = {"min": 0.0, "25%": 0.25, "50%": 0.5, "75%": 0.75, "max": 1.0}
        return {
            "count": len(self),
            "total": self.total(),
            "mean": self.mean(),
            **{
                name: float(self.quantile(q)) if self._map else math.nan
                for name, q in parts.items()
            },
        }

    def percentile_of(self, score: Any, *, kind: str = "rank") -> float:
        known(kind, ("rank", "weak", "strict", "mean"), "kind")
        score = self._bound(score)
        if not self._map:
            raise ValueError("an empty set has no percentiles")
        below = sum(value < score for value in self.values())
        up_to = sum(value <= score for value in self.values())
        doubled = {
            "rank": below + up_to + (up_to > below),
            "weak": 2 * up_to,
            "strict": 2 * below,
            "mean": below + up_to,
        }
        return doubled[kind] * 50.0 / len(self)

    def histogram(self, bins: Any = 10, range: Any = None) -> tuple[np.ndarray, np.ndarray]:
        scores = np.array(self.values(), dtype=np.float64)
        edges = np.histogram_bin_edges(scores, bins, range)
        if np.ndim(bins) == 0 and not (np.diff(edges) > 0).all():
            raise ValueError("bins of no width")  # as newer versions of numpy say
        return np.histogram(scores, bins=bins, range=range)

    def distinct_scores(self) -> tuple[np.ndarray, np.ndarray]:
        return np.unique(np.array(self.values(), dtype=self.score_dtype), return_counts=True)

    # ---- whole

    @property
    def layout(self) -> str:
        return f"{self.member_dtype}-{self.score_dtype}"

    def to_numpy(self) -> tuple[np.ndarray, np.ndarray]:
        rows = self.bottom(len(self))
        return rows.members, rows.scores

    def to_dict(self) -> dict[Any, float]:
        return dict(self.items())

    def digest(self) -> Digest:
        entries = [entry_bytes(member, score) for member, score in self.items()]
        return Digest(
            len(self),
            self.total(),
            xxhash.xxh3_128_intdigest(b"".join(entries)),
            sum(map(xxhash.xxh3_128_intdigest, entries)) % 2**128,
        )

    @classmethod
    def from_counts(
        cls, values: Any, *, by: Any = 1.0, member: str | None = None, progress: Any = None
    ) -> ModelSortedSet:
        if not isinstance(values, np.ndarray):
            values = list(values)
        batches = values if is_batches(values) else [values]
        z = cls(member=member or kind_of_members(batches[0] if batches else None))
        for batch in batches:
            z.increment_many(batch, by)
        return z


class ModelByRank:
    def __init__(self, z: ModelSortedSet) -> None:
        self._z = z

    def __len__(self) -> int:
        return len(self._z)

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        return iter(self._z.items())

    def __getitem__(self, index: Any) -> Any:
        ranks = range(len(self._z))
        if isinstance(index, slice):
            return self._z._rows(ranks[index])
        if isinstance(index, np.ndarray):
            return self._z._rows([ranks[i] for i in index.tolist()])
        return self._z._rows([ranks[index]])[0]
