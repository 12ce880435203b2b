"""Unions, intersections and differences of sorted sets, into new ones."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _convert, _core
from ._held import together
from ._sortedset import (
    Aggregate,
    SortedSet,
    check_kinds,
    known,
    take_in,
    weighted,
    zero_for_nan,
)

M = TypeVar("M")

AGGREGATES = ("sum", "min", "max", "count")


def checked(sets: Iterable[SortedSet[M]]) -> list[SortedSet[M]]:
    """All of the sets, at least one, with one kind of members."""
    listed = list(sets)
    if not listed:
        raise ValueError("at least one SortedSet is wanted")
    for one in listed:
        if not isinstance(one, SortedSet):
            raise TypeError(f"SortedSets are wanted, not {type(one).__name__}")
    check_kinds(listed)
    return listed


def checked_weights(weights: Iterable[float] | None, count: int) -> list[float]:
    if weights is None:
        return [1.0] * count
    listed = [_core.number(weight) for weight in weights]
    if len(listed) != count:
        raise ValueError(f"{count} sets, but {len(listed)} weights")
    return listed


def _combined(
    aggregate: str, old: NDArray[np.float64], new: NDArray[np.float64]
) -> NDArray[np.float64]:
    if aggregate in ("min", "max"):
        return (np.minimum if aggregate == "min" else np.maximum)(old, new)
    with np.errstate(invalid="ignore", over="ignore"):
        return zero_for_nan(old + new)


def union(
    sets: Iterable[SortedSet[M]],
    *,
    weights: Iterable[float] | None = None,
    aggregate: Aggregate = "sum",
) -> SortedSet[M]:
    """Join sets into a new one with the options of the first, as ZUNION does.

    `weights`, one number a set, multiply its scores; `aggregate` of those a member has is "sum",
    "min", "max", or "count", the sum of the weights. A NaN (inf - inf, 0 * inf) becomes 0.
    ValueError for no set or NaN, TypeError for different kinds of members, OverflowError for what
    the first set's layout can't hold. O(total size).

    >>> import goblin
    >>> a, b = goblin.SortedSet({"x": 1.0, "y": 2.0}), goblin.SortedSet({"y": 3.0})
    >>> goblin.union([a, b], weights=[1, 10]).to_dict()
    {'x': 1.0, 'y': 32.0}
    """
    known(aggregate, AGGREGATES, "aggregate")
    listed = checked(sets)
    factors = checked_weights(weights, len(listed))
    return together(listed, functools.partial(_union, listed, factors, aggregate))


def _union(sets: Sequence[SortedSet[M]], weights: list[float], aggregate: str) -> SortedSet[M]:
    joined = sets[0]._like("float64")  # scores are rounded once, at the end
    start = 0
    if weights[0] == 1.0 and aggregate != "count" and sets[0].score_dtype == "float64":
        joined._assign(sets[0])
        start = 1
    for one, weight in zip(sets[start:], weights[start:], strict=True):
        for column, scores in one._chunks():
            take_in(weight, aggregate, joined, column, scores)
    if joined.score_dtype == sets[0].score_dtype:
        return joined
    rounded = sets[0]._like()
    for column, scores in joined._chunks():
        rounded._update(column, scores, "set")
    return rounded


def _common(
    sets: Sequence[SortedSet[M]], weights: list[float], aggregate: str
) -> Iterator[tuple[_convert.Members, NDArray[np.float64]]]:
    """The members that are in all sets, with their aggregates: the smallest set is looked through,
    the others are probed."""
    smallest = min(sets, key=len)
    for column, own in smallest._chunks():
        present = np.ones(len(own), np.bool_)
        total = None
        for one, weight in zip(sets, weights, strict=True):
            scores = own if one is smallest else one._look_up_any(column)
            present &= ~np.isnan(scores)
            new = weighted(scores, weight, aggregate)
            total = new if total is None else _combined(aggregate, total, new)
        assert total is not None
        yield _convert.chosen(column, present, smallest.member_dtype), total[present]


def intersection(
    sets: Iterable[SortedSet[M]],
    *,
    weights: Iterable[float] | None = None,
    aggregate: Aggregate = "sum",
) -> SortedSet[M]:
    """Keep the members that are in all sets, in a new one, as ZINTER does.

    Arguments and errors as of `union`. O(size of the smallest x number of sets).

    >>> import goblin
    >>> a, b = goblin.SortedSet({"x": 1.0, "y": 2.0}), goblin.SortedSet({"y": 3.0})
    >>> goblin.intersection([a, b], aggregate="max").to_dict()
    {'y': 3.0}
    """
    known(aggregate, AGGREGATES, "aggregate")
    listed = checked(sets)
    factors = checked_weights(weights, len(listed))

    def keep_common() -> SortedSet[M]:
        kept = listed[0]._like()
        for column, scores in _common(listed, factors, aggregate):
            kept._update(_convert.members(column, kept.member_dtype), scores, "set")
        return kept

    return together(listed, keep_common)


def difference(first: SortedSet[M], *others: SortedSet[M]) -> SortedSet[M]:
    """Keep the members of the first set that are in none of the others, in a new one, as ZDIFF.

    Errors as of `union`. O(size of the first x number of sets).

    >>> import goblin
    >>> a, b = goblin.SortedSet({"x": 1.0, "y": 2.0}), goblin.SortedSet({"y": 3.0})
    >>> goblin.difference(a, b).to_dict()
    {'x': 1.0}
    """
    listed = checked((first, *others))

    def keep_own() -> SortedSet[M]:
        kept = first._like()
        for column, scores in first._chunks():
            alone = np.ones(len(scores), np.bool_)
            for other in others:
                alone &= np.isnan(other._look_up_any(column))
            kept._update(_convert.chosen(column, alone, first.member_dtype), scores[alone], "set")
        return kept

    return together(listed, keep_own)


def intersection_card(sets: Iterable[SortedSet[Any]], limit: int = 0) -> int:
    """Count the members that are in all sets, up to `limit` unless that is 0, as ZINTERCARD does.

    Errors as of `union`, and ValueError for a negative limit. O(size of the smallest x number of
    sets).

    >>> import goblin
    >>> a, b = goblin.SortedSet({"x": 1.0, "y": 2.0}), goblin.SortedSet({"y": 3.0})
    >>> goblin.intersection_card([a, b])
    1
    """
    most = _convert.count(limit, "limit")
    listed = checked(sets)

    def count_common() -> int:
        found = 0
        for _, scores in _common(listed, [1.0] * len(listed), "count"):
            found += len(scores)
            if most and found >= most:
                return most
        return found

    return together(listed, count_common)
