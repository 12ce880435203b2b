"""A state in shards that lie where Dask keeps them, and the tasks that ask them."""

from __future__ import annotations

import functools
import math
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from dask.base import DaskMethodsMixin, compute, persist
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph
from dask.threaded import get as threaded_get
from numpy.typing import ArrayLike, NDArray

from . import _convert, _quantiles, _shards
from ._rows import Rows
from ._setops import union
from ._sortedset import RankMethod, SortedSet, known

M = TypeVar("M")

_METHODS = ("ordinal", "min", "max", "average", "dense")


def task(name: str, token: str, place: Any, function: Callable[..., Any], *args: Any) -> Delayed:
    """A call to come, which the dashboard shows as goblin-name."""
    key = f"goblin-{name}-{token}", place
    call: Delayed = delayed(function, pure=False)(*args, dask_key_name=key)
    return call


def _joined(shards: Sequence[SortedSet[M]]) -> SortedSet[M]:
    whole = union(shards)
    whole.optimize()
    return whole


class Sharded(DaskMethodsMixin, Generic[M]):
    """A sorted set in shards, for states larger than one machine; made by `goblin.dask.count`.

    Each member is in one shard, told by a hash that is the same in every process: of its bytes, or
    of an integer without its last 14 bits, so that shards pack neighbours as one set does. It is a
    lazy Dask collection: `persist()` has the shards computed and kept by the workers, `compute()`
    gives one SortedSet, `to_delayed()` the shards. Its other methods ask the shards and answer at
    once, as SortedSet's of the same name do; without `persist()` first, each computes all shards
    again. Shards must not be changed.

    >>> import dask.bag, goblin.dask
    >>> names = dask.bag.from_sequence(["ann", "bob", "ann", "eve", "ann", "bob"], npartitions=2)
    >>> counts = goblin.dask.count(names, shards=2).persist()
    >>> len(counts), counts["bob"], counts.rank("ann"), counts.top(2).to_list()
    (3, 2.0, 2, [('ann', 3.0), ('bob', 2.0)])
    """

    def __init__(self, shards: Sequence[Delayed]) -> None:
        self._shards = tuple(shards)

    # ---- as a Dask collection

    def __dask_graph__(self) -> HighLevelGraph:
        return HighLevelGraph.merge(*(shard.__dask_graph__() for shard in self._shards))

    def __dask_keys__(self) -> list[Any]:
        return [shard.key for shard in self._shards]

    def __dask_layers__(self) -> tuple[Any, ...]:
        return tuple(layer for shard in self._shards for layer in shard.__dask_layers__())

    def __dask_tokenize__(self) -> list[Any]:
        return self.__dask_keys__()

    __dask_optimize__ = staticmethod(Delayed.__dask_optimize__)
    __dask_scheduler__ = staticmethod(threaded_get)

    def __dask_postcompute__(self) -> tuple[Any, tuple[()]]:
        return _joined, ()

    def __dask_postpersist__(self) -> tuple[Any, tuple[()]]:
        return self._rebuilt, ()

    def _rebuilt(self, graph: Any, *, rename: Mapping[str, str] | None = None) -> Sharded[M]:
        parts = (shard.__dask_postpersist__() for shard in self._shards)
        return Sharded([rebuild(graph, *args, rename=rename) for rebuild, args in parts])

    def compute(self, **kwargs: Any) -> SortedSet[M]:
        """Compute all shards and join them into one SortedSet; keywords as of `dask.compute`.

        >>> import dask.array, goblin.dask
        >>> goblin.dask.count(dask.array.arange(9, chunks=5), shards=3).compute().total()
        9.0
        """
        (whole,) = compute(self, **kwargs)
        return whole  # type: ignore[no-any-return]

    def persist(self, **kwargs: Any) -> Sharded[M]:
        """Compute the shards where they are to stay; keywords as of `dask.persist`.

        With a distributed client this returns at once, and the workers keep them.

        >>> import dask.array, goblin.dask
        >>> goblin.dask.count(dask.array.arange(9, chunks=5), shards=3).persist()
        Sharded(3 shards)
        """
        (kept,) = persist(self, **kwargs)
        return kept  # type: ignore[no-any-return]

    def to_delayed(self) -> list[Delayed]:
        """Give the shards, each a Delayed of a SortedSet.

        >>> import dask.array, goblin.dask
        >>> counts = goblin.dask.count(dask.array.arange(9, chunks=5), shards=3)
        >>> sum(len(shard.compute()) for shard in counts.to_delayed())
        9
        """
        return list(self._shards)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self._shards)} shards)"

    # ---- asking

    def _ask(
        self, name: str, function: Callable[..., Any], args: Mapping[int, Sequence[Any]]
    ) -> Any:
        """What a function tells of some shards, carried out where each lies."""
        token = uuid.uuid4().hex
        asked = (task(name, token, i, function, self._shards[i], *own) for i, own in args.items())
        return compute(*asked)

    def _ask_all(self, name: str, function: Callable[..., Any], *args: Any) -> Any:
        sent = [delayed(arg, pure=False) for arg in args]  # once, not with each task
        return self._ask(name, function, dict.fromkeys(range(len(self._shards)), sent))

    @functools.cached_property
    def _sizes_and_layout(self) -> tuple[int, SortedSet[M]]:
        """How many members there are, and an empty set of their kind."""
        sizes, empty = zip(*self._ask_all("len", _size_and_layout), strict=True)
        return sum(sizes), empty[0]

    __iter__ = None  # __getitem__ takes members, not places

    def __len__(self) -> int:
        return self._sizes_and_layout[0]

    def _members(self, members: Any) -> _convert.Members:
        return _convert.members(members, self._sizes_and_layout[1].member_dtype)

    def _member(self, member: object) -> _convert.Members:
        """One member as a column; KeyError for what can't be one."""
        try:
            return self._members([member])
        except (OverflowError, TypeError, ValueError):
            raise KeyError(member) from None

    def __contains__(self, member: object) -> bool:
        try:
            self[member]
        except KeyError:
            return False
        return True

    def __getitem__(self, member: Any) -> float:
        (score,) = self._scores(self._member(member)).tolist()
        if math.isnan(score):
            raise KeyError(member)
        return float(score)

    def scores(
        self, members: ArrayLike | Iterable[M], *, missing: float = math.nan
    ) -> NDArray[Any]:
        """Look up members of shape (n,); scores of shape (n,), `missing` where absent.

        Errors as of `SortedSet.scores`. O(n), each at its own shard.

        >>> import dask.array, goblin.dask
        >>> goblin.dask.count(dask.array.arange(9, chunks=5), shards=3).scores([7, 70])
        array([ 1., nan])
        """
        return self._scores(self._members(members), missing)

    def _scores(self, members: _convert.Members, missing: float = math.nan) -> NDArray[Any]:
        empty = self._sizes_and_layout[1]
        where = _shards.places(empty, members, len(self._shards))
        column = _shards.array_of(members)
        rows = dict(enumerate(_shards.rows_by_shard(where, len(self._shards))))
        rows = {shard: own for shard, own in rows.items() if len(own)}
        own = {shard: (column[own], missing) for shard, own in rows.items()}
        out = np.empty(len(column), empty.score_dtype)
        for places, scores in zip(rows.values(), self._ask("scores", _scores_of, own), strict=True):
            out[places] = scores
        return out

    def rank(
        self, member: M, *, method: RankMethod = "ordinal", descending: bool = False
    ) -> int | float:
        """Rank a member among those of all shards, as `SortedSet.rank` does.

        KeyError where it is absent, ValueError for an unknown method. O(log n) a shard, "dense" as
        for `ranks`.

        >>> import dask.array, goblin.dask
        >>> counts = goblin.dask.count(dask.array.arange(9, chunks=5), shards=3)
        >>> counts.rank(7), counts.rank(7, method="average")
        (7, 4.0)
        """
        (rank,) = self._ranks(self._member(member), method, descending).tolist()
        if not rank >= 0:
            raise KeyError(member)
        return rank  # type: ignore[no-any-return]

    def ranks(
        self,
        members: ArrayLike | Iterable[M],
        *,
        method: RankMethod = "ordinal",
        descending: bool = False,
    ) -> NDArray[Any]:
        """Rank members of shape (n,) as `rank` does; int64 of shape (n,), -1 where absent.

        Those of "average" are float64 with NaN where absent. Every shard counts what comes before
        each, O(n log size); for "dense" it sends its distinct scores, O(size).

        >>> import dask.array, goblin.dask
        >>> counts = goblin.dask.count(dask.array.arange(9, chunks=5), shards=3)
        >>> counts.ranks([7, 0, 70]), counts.ranks([7], method="dense")
        (array([ 7,  0, -1]), array([0]))
        """
        return self._ranks(self._members(members), method, descending)

    def _ranks(
        self, members: _convert.Members, method: RankMethod, descending: bool
    ) -> NDArray[Any]:
        known(method, _METHODS, "method")
        scores = self._scores(members)
        there = ~np.isnan(scores)
        average = method == "average"
        ranks = np.full(len(scores), math.nan if average else -1, float if average else np.int64)
        column, scores = _shards.array_of(members)[there], scores[there]
        if method == "ordinal":
            below = sum(self._ask_all("rank", _shards.entries_below, column, scores))
            ranks[there] = len(self) - 1 - below if descending else below
        else:
            values, back = np.unique(scores, return_inverse=True)
            ranks[there] = self._ranks_of_scores(values, method, descending)[back]
        return ranks

    def _ranks_of_scores(
        self, scores: NDArray[Any], method: RankMethod, descending: bool
    ) -> NDArray[Any]:
        """The rank that all with a score have, for ascending scores."""
        if method == "dense":
            distinct = np.unique(np.concatenate(self._ask_all("rank", _distinct)))
            dense = np.searchsorted(distinct, scores)
            return len(distinct) - 1 - dense if descending else dense
        below, up_to = sum(self._ask_all("rank", _shards.spans, scores)).T
        low = len(self) - up_to if descending else below
        high = len(self) - 1 - below if descending else up_to - 1
        return low if method == "min" else high if method == "max" else (low + high) / 2  # type: ignore[no-any-return]

    def top(self, n: int = 10) -> Rows[M]:
        """Give the n highest of all shards as Rows, highest first. ValueError for a negative n.

        O(log size + n) a shard.

        >>> import dask.array, goblin.dask
        >>> rows = goblin.dask.count(dask.array.arange(9, chunks=5), shards=3).top(2)
        >>> rows.to_list(), rows.ranks
        ([(8, 1.0), (7, 1.0)], array([8, 7]))
        """
        rows = self._end("top", SortedSet.top, n)
        return Rows(*rows.to_numpy(), len(self) - 1 - np.arange(len(rows)))

    def bottom(self, n: int = 10) -> Rows[M]:
        """Give the n lowest of all shards as Rows, lowest first; otherwise as `top`.

        >>> import dask.array, goblin.dask
        >>> goblin.dask.count(dask.array.arange(9, chunks=5), shards=3).bottom(2).to_list()
        [(0, 1.0), (1, 1.0)]
        """
        return self._end("bottom", SortedSet.bottom, n)

    def _end(self, name: str, end: Callable[[SortedSet[M], int], Rows[M]], n: int) -> Rows[M]:
        candidates = self._sizes_and_layout[1].copy()
        for rows in self._ask_all(name, end, _convert.count(n, "n")):
            candidates.update(rows)
        return end(candidates, n)

    def quantile(self, q: ArrayLike, *, method: str = "linear") -> Any:
        """Give the quantile q (in 0..1, scalar or array) of all scores, as `np.quantile` does.

        Exact, by bisection: the shards are asked 8 times (4 for float32 scores) how many scores
        they have up to some. float64 of the shape of q; errors as of `SortedSet.quantile`.

        >>> import dask.array, goblin.dask
        >>> float(goblin.dask.count(dask.array.arange(9, chunks=5), shards=3).quantile(0.5))
        1.0
        """

        def up_to(scores: NDArray[Any]) -> Any:
            return sum(self._ask_all("quantile", _shards.spans, scores))[:, 1]

        dtype = self._sizes_and_layout[1].score_dtype
        return _quantiles.quantiles(
            len(self), q, method, lambda ranks: _shards.scores_at(ranks, dtype, up_to)
        )

    def total(self) -> float:
        """Sum all scores, exactly in each shard and again over these, rounding both times.

        NaN where infinities of both signs meet. O(size).

        >>> import dask.array, goblin.dask
        >>> goblin.dask.count(dask.array.arange(9, chunks=5), shards=3).total()
        9.0
        """
        totals = self._ask_all("total", SortedSet.total)
        if any(map(math.isnan, totals)):
            return math.nan
        return SortedSet(range(len(totals)), totals).total()


def _size_and_layout(z: SortedSet[M]) -> tuple[int, SortedSet[M]]:
    return len(z), z._like()


def _scores_of(z: SortedSet[M], members: NDArray[Any], missing: float) -> NDArray[Any]:
    return z.scores(members, missing=missing)


def _distinct(z: SortedSet[M]) -> NDArray[Any]:
    return z.distinct_scores()[0]


Sharded.__module__ = "goblin.dask"
