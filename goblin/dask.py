"""Counting and merging with Dask: a task makes or merges packed sets, and results are lazy.

A partition becomes a SortedSet of its own counts, and a tree of tasks merges these, `split_every`
at a time; the dashboard shows them as goblin-count, goblin-merge and goblin-pack. `docs/dask.md`
is the guide, and shows the same with Ray and Spark.
"""

from __future__ import annotations

import functools
import itertools
import operator
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypedDict, Unpack, overload

import numpy as np

try:
    from dask.base import is_dask_collection
    from dask.delayed import Delayed
except ImportError as error:
    raise ImportError("goblin.dask needs dask: pip install 'goblin-core[dask]'") from error

from . import _convert, _shards
from ._setops import AGGREGATES, checked, checked_weights, union
from ._sharded import Sharded, task
from ._sortedset import Aggregate, MemberKind, ScoreKind, SortedSet, known

__all__ = ["Sharded", "count", "merge"]

_SHARDS_MAX = 2**16 - 1


# ---- partitions to count


def _is_collection(data: Any) -> bool:
    """Whether it has partitions; a Delayed is one thing, but says yes to any question."""
    return is_dask_collection(data) and not isinstance(data, Delayed)


def _is_frame(data: Any) -> bool:
    """Whether it is a DataFrame of Dask; a Series has columns too."""
    return _is_collection(data) and hasattr(data, "columns") and data.ndim == 2


def _partitions(data: Any) -> list[Any]:
    """The partitions of a collection, or of an iterable of such as are to come."""
    if _is_collection(data) and hasattr(data, "to_delayed"):
        if getattr(data, "ndim", 1) != 1 and not _is_frame(data):
            raise ValueError(f"members must have one dimension, not {data.ndim}")
        return list(np.ravel(data.to_delayed()))
    if isinstance(data, Iterable) and not is_dask_collection(data):
        parts = list(data)
        if parts and all(isinstance(part, Delayed) for part in parts):
            return parts
    raise TypeError(
        "a Dask frame, series, array or bag, or an iterable of Delayed is wanted, not "
        f"{type(data).__name__}"
    )


def _projected(data: Any, column: Any, by: Any) -> Any:
    """A frame without the columns that are not needed; anything else as it is."""
    if not _is_frame(data):
        name = by if column is None and isinstance(by, str) else column
        if name is not None and getattr(getattr(data, "dtype", None), "kind", "O") in "biufmM":
            raise TypeError(f"{name!r} names a column, which a {type(data).__name__} has not")
        return data
    if column is None:
        raise TypeError("which column of the frame has the members?")
    return data[list(dict.fromkeys([column, by] if isinstance(by, str) else [column]))]


def _kind_when_empty(data: Any, column: Any) -> Any:
    """The kind of members where there are none to tell it."""
    like = getattr(data[column] if _is_frame(data) else data, "_meta", None)
    return "str" if like is None else _convert.kind_of(like, False)


def _picked(part: Any, column: Any) -> Any:
    """The column of a partition that is a frame or records, without nulls."""
    if column is not None:
        part = part[column] if hasattr(part, "columns") else [record[column] for record in part]
    if hasattr(part, "isna") and part.ndim == 1 and part.isna().any():
        name = getattr(part, "name", None)
        raise ValueError(
            f"some of {name!r} have no value; leave them out, as dropna(subset=[{name!r}]) does"
        )
    return part


def _counted(part: Any, column: Any, by: Any, member: MemberKind | None) -> SortedSet[Any] | None:
    """The counts of a partition; None of an empty one, which need not know its kind of members."""
    part = list(part) if isinstance(part, Iterator) else part
    values = _picked(part, column)
    steps = _picked(part, by) if isinstance(by, str) else by
    counted: SortedSet[Any] = SortedSet.from_counts(values, by=steps, member=member)
    return counted if len(counted) else None


# ---- trees of merges


def _merged(
    sets: Sequence[SortedSet[Any]], weights: Sequence[float] | None, aggregate: Aggregate
) -> SortedSet[Any]:
    """The union in a layout that holds it exactly, so that only the end of a tree rounds."""
    listed = checked(sets)
    if len(listed) == 1 and weights is None:
        return listed[0]
    widest = next((one for one in listed if one.member_dtype == "int64"), listed[0])
    start = widest._like("float64")
    factors = [1.0] * len(listed) if weights is None else list(weights)
    if listed[0].layout != start.layout:
        listed, factors = [start, *listed], [1.0, *factors]
    return union(listed, weights=factors, aggregate=aggregate)


def _packed(whole: SortedSet[Any], empty: SortedSet[Any]) -> SortedSet[Any]:
    """A copy in the layout of an empty set, packed."""
    packed = whole.copy() if whole.layout == empty.layout else union([empty, whole])
    packed.optimize()
    return packed


def _tree(
    token: str,
    place: tuple[int, ...],
    parts: Sequence[Any],
    every: int,
    function: Callable[[Any], object],
) -> Any:
    """The merge of all parts, some at a time; each task has a place of its own."""
    for depth in itertools.count():
        if len(parts) == 1:
            return parts[0]
        parts = [
            task("merge", token, (*place, depth, start), function, parts[start : start + every])
            for start in range(0, len(parts), every)
        ]


def _checked_every(split_every: int) -> int:
    every = operator.index(split_every)
    if every < 2:
        raise ValueError("split_every must be at least 2")
    return every


class _Options(TypedDict, total=False):
    """What `count` takes in either case."""

    by: Any
    member: MemberKind | None
    score: ScoreKind
    split_every: int


@overload
def count(
    data: Any, column: Any = None, *, shards: None = None, **options: Unpack[_Options]
) -> Delayed: ...
@overload
def count(
    data: Any, column: Any = None, *, shards: int, **options: Unpack[_Options]
) -> Sharded[Any]: ...
def count(
    data: Any,
    column: Any = None,
    *,
    by: Any = 1.0,
    member: MemberKind | None = None,
    score: ScoreKind = "float64",
    split_every: int = 8,
    shards: int | None = None,
) -> Delayed | Sharded[Any]:
    """Count how often each member comes in a Dask collection, as `SortedSet.from_counts` does.

    `data` is a DataFrame (whose `column` has the members), a Series, a 1-D array, a bag of members
    or of arrays (or of records, with `column`), or an iterable of Delayed, each a partition of any
    such kind. Each occurrence adds `by`: a number, the name of a column, or a collection or Delayed
    with the same partitions. `member` None takes the kind of the data; float32 scores are rounded
    once, at the end.

    The result is lazy: a Delayed of one SortedSet, or with `shards`, up to 65,535, a Sharded of so
    many. When it is computed: ValueError for nulls, errors as of `from_counts`. O(rows), and
    O(members) a level of the tree.

    >>> import dask.bag, goblin.dask
    >>> names = dask.bag.from_sequence(["ann", "bob", "ann", "eve", "ann"], npartitions=2)
    >>> goblin.dask.count(names).compute().top(1).to_list()
    [('ann', 3.0)]
    """
    known(score, ("float32", "float64"), "score")
    if member is not None:
        known(member, _convert.KINDS, "member")
    every, token = _checked_every(split_every), uuid.uuid4().hex
    parts = _partitions(_projected(data, column, by))
    alike = isinstance(by, str) or not isinstance(by, Iterable)
    steps = [by] * len(parts) if alike else _partitions(by)
    if len(steps) != len(parts):
        raise ValueError(f"{len(parts)} partitions of members, but {len(steps)} of `by`")
    counted = [
        task("count", token, i, _counted, part, column, step, member)
        for i, (part, step) in enumerate(zip(parts, steps, strict=True))
    ]
    kind = member or _kind_when_empty(data, column)

    def packed(parts: Sequence[Any], *place: int) -> Delayed:
        merged = _tree(token, place, parts, every, _merged_counts)
        return task("pack", token, place, _packed_counts, merged, score, kind)

    if shards is None:
        return packed(counted)
    number = _checked_shards(shards)
    split: list[Any] = [
        task("split", token, i, _split, part, number) for i, part in enumerate(counted)
    ]
    return Sharded([packed([part[shard] for part in split], shard) for shard in range(number)])


def _merged_counts(parts: Sequence[SortedSet[Any] | None]) -> SortedSet[Any] | None:
    sets = [part for part in parts if part is not None]
    return _merged(sets, None, "sum") if sets else None


def _packed_counts(
    whole: SortedSet[Any] | None, score: ScoreKind, kind_when_empty: MemberKind
) -> SortedSet[Any]:
    if whole is None:
        return SortedSet(member=kind_when_empty, score=score)
    return _packed(whole, whole._like(score))


def _checked_shards(shards: int) -> int:
    number = operator.index(shards)
    if not 1 <= number <= _SHARDS_MAX:
        raise ValueError(f"shards must be in 1..{_SHARDS_MAX}")
    return number


def _split(counted: SortedSet[Any] | None, shards: int) -> Sequence[SortedSet[Any] | None]:
    return [None] * shards if counted is None else _shards.split(counted, shards)


def merge(
    *sets: Any,
    weights: Iterable[float] | None = None,
    aggregate: Aggregate = "sum",
    split_every: int = 8,
) -> Delayed:
    """Merge SortedSets, or what will be such (Delayed, futures), as `union` does; a lazy Delayed.

    `weights`, one number a set, and `aggregate` ("sum", "min", "max", "count") as for `union`; so
    are the layout, that of the first set, into which scores are rounded once, and errors. Sums of
    scores that aren't exact may differ from those of `union` in their last bits, since they are
    added in another order. O(members) a level of the tree.

    >>> import dask, goblin, goblin.dask
    >>> load = dask.delayed(goblin.SortedSet)
    >>> monday, tuesday = load({"ann": 2.0}), load({"ann": 1.0, "bob": 1.0})
    >>> goblin.dask.merge(monday, tuesday).compute().to_dict()
    {'bob': 1.0, 'ann': 3.0}
    """
    known(aggregate, AGGREGATES, "aggregate")
    if not sets:
        raise ValueError("at least one SortedSet is wanted")
    every, token = _checked_every(split_every), uuid.uuid4().hex
    starts = range(0, len(sets), every)
    factors = checked_weights(weights, len(sets))
    plain = aggregate != "count" and set(factors) == {1.0}
    parts = [
        task(
            "merge",
            token,
            start,
            _merged,
            sets[start : start + every],
            None if plain else factors[start : start + every],
            aggregate,
        )
        for start in starts
    ]
    later = functools.partial(
        _merged, weights=None, aggregate="sum" if aggregate == "count" else aggregate
    )
    empty = task("layout", token, (), _layout, sets[0])
    return task("pack", token, (), _packed, _tree(token, (), parts, every, later), empty)


def _layout(first: SortedSet[Any]) -> SortedSet[Any]:
    (one,) = checked([first])
    return one._like()
