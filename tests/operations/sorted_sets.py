"""Every public operation of a SortedSet, and sets of every layout and state to try it on."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from model.compare import assert_memory
from model.layouts import Layout
from operations.files import saved
from operations.frames import streamed

import goblin
from goblin import SortedSet

SPARSE = np.random.default_rng(9).integers(-(2**31), 2**31, 300)
MIXED = np.concatenate([np.arange(-100, 900), SPARSE])
WIDENING = np.repeat([1500.0, 40_000.0, 3e9, 0.5], 60)


class Members:
    """Members of a layout by number: one, or an array of them."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.made: dict[bytes, np.ndarray] = {}

    def one(self, number: int) -> Any:
        return number if self.layout.kind is int else self.layout.nth(number % 2**31)

    def many(self, numbers: Iterable[int]) -> np.ndarray:
        numbers = np.asarray(numbers, np.int64)
        if self.layout.kind is int:
            return numbers
        key = numbers.tobytes()
        if key not in self.made:
            self.made[key] = self.layout.array(map(self.one, numbers.tolist()))
        return self.made[key]

    def set(self, numbers: Iterable[int], scores: Any, **options: Any) -> SortedSet:
        return SortedSet(self.many(numbers), scores, **{**self.layout.options, **options})


STATES: dict[str, Callable[..., SortedSet]] = {}


def state(make: Callable[..., SortedSet]) -> Callable[..., SortedSet]:
    STATES[make.__name__] = make
    return make


@state
def empty(m: Members, **options: Any) -> SortedSet:
    return m.set([], 0.0, **options)


@state
def small(m: Members, **options: Any) -> SortedSet:
    return m.set(range(40), np.arange(40) % 7, **options)


@state
def unordered(m: Members, **options: Any) -> SortedSet:
    return m.set(MIXED, np.arange(len(MIXED)) % 300 - 0.5, **options)


@state
def narrow(m: Members, **options: Any) -> SortedSet:
    """Scores as small as they get."""
    return m.set(range(300), np.arange(300) % 90 - 40, **options)


@state
def ordered(m: Members, **options: Any) -> SortedSet:
    z = unordered(m, **options)
    z.optimize()
    return z


@state
def indebted(m: Members, **options: Any) -> SortedSet:
    """An order with changes pending on it."""
    z = ordered(m, **options)
    z.increment_many(m.many(MIXED[::40]), 1000.0)
    z.remove(m.many(MIXED[1::40]))
    z.update(m.many(np.arange(5000, 5020)), 7.0)
    return z


@state
def returned(m: Members, **options: Any) -> SortedSet:
    """Members that were removed, with all of their room, and of which one is back."""
    z = narrow(m, **options)
    z.rank(m.one(0), default=None)
    for number in range(8):
        z.discard(m.one(number))
    z.add(m.one(5), 1.0)
    return z


def other(m: Members) -> SortedSet:
    return m.set(np.arange(700, 1300), 3.0, score="float64")


Operation = Callable[[SortedSet, Members], Any]
OPERATIONS: dict[str, Operation] = {
    "add new": lambda z, m: z.add(m.one(123_456_789), 1.0),
    "add old": lambda z, m: z.add(m.one(5), 777.0),
    "add back": lambda z, m: z.add(m.one(3), 1.0),
    "add in page": lambda z, m: z.add(m.one(3000), 70_000.5),
    "setdefault": lambda z, m: z.setdefault(m.one(77_777), 1.0),
    "increment new": lambda z, m: z.increment(m.one(-123_456_789)),
    "increment old": lambda z, m: z.increment(m.one(5), 1e6),
    "increment back": lambda z, m: z.increment(m.one(3), 0.5),
    "update few": lambda z, m: z.update({m.one(1): 0.5, m.one(2**30): 2.0}),
    "update dense": lambda z, m: z.update(m.many(np.arange(6000)), 5.0),
    "update sparse": lambda z, m: z.update(m.many(np.arange(2000) * 99_991), 1e9),
    "update nx": lambda z, m: z.update(m.many(np.arange(0, 9000, 2)), 5.0, mode="nx"),
    "update widening": lambda z, m: z.update(m.many(np.arange(240) * 3), WIDENING),
    "update positive": lambda z, m: z.update(
        m.many(np.tile(MIXED, 2)), np.repeat([1.0, 3e9], len(MIXED))
    ),
    "increment dense": lambda z, m: z.increment_many(m.many(np.arange(5000))),
    "increment sparse": lambda z, m: z.increment_many(m.many(np.arange(1500) * 7919), 0.25),
    "increment widening": lambda z, m: z.increment_many(m.many(np.arange(240) * 3), WIDENING),
    "increment returning": lambda z, m: z.increment_many(
        m.many(np.arange(900) * 3), return_scores=True
    ),
    "subtract": lambda z, m: z.subtract(m.many(MIXED), 1.0),
    "__setitem__": lambda z, m: z.__setitem__(m.one(7), 2.5),
    "__delitem__": lambda z, m: z.__delitem__(m.one(5)) if m.one(5) in z else None,
    "__init__": lambda z, m: z.__init__(m.many(MIXED), 1.0, **m.layout.options),
    "discard": lambda z, m: z.discard(m.one(5)),
    "pop": lambda z, m: z.pop(m.one(5), None),
    "popitem": lambda z, m: z.popitem() if z else None,
    "remove many": lambda z, m: z.remove(m.many(MIXED[::3])),
    "remove all": lambda z, m: z.remove(m.many(MIXED)),
    "pop_min": lambda z, m: z.pop_min(3),
    "pop_max": lambda z, m: z.pop_max(700),
    "remove_by_rank": lambda z, m: z.remove_by_rank(5, 900),
    "remove_by_score": lambda z, m: z.remove_by_score(5, 100),
    "remove_by_lex": lambda z, m: z.remove_by_lex(m.one(3), m.one(900), within_score=3.5),
    "trim": lambda z, m: z.trim(100),
    "clear": lambda z, m: z.clear(),
    "scale": lambda z, m: z.scale(-0.5),
    "shift": lambda z, m: z.shift(1e6),
    "decay": lambda z, m: z.decay(3, 1),
    "merge": lambda z, m: z.merge(other(m), weight=2),
    "merge count": lambda z, m: z.merge(other(m), aggregate="count"),
    "merge itself": lambda z, m: z.merge(z),
    "move away": lambda z, m: z.move(other(m), m.many(MIXED)),
    "move here": lambda z, m: other(m).move(z, m.many(np.arange(700, 1200))),
    "optimize": lambda z, m: z.optimize(),
    "get": lambda z, m: z.get(m.one(5)),
    "__getitem__": lambda z, m: z.__getitem__(m.one(5)) if m.one(5) in z else None,
    "__contains__": lambda z, m: z.__contains__(m.one(5)),
    "__len__": lambda z, m: z.__len__(),
    "__sizeof__": lambda z, m: z.__sizeof__(),
    "layout": lambda z, m: (z.layout, z.member_dtype, z.score_dtype),
    "rank": lambda z, m: z.rank(m.one(5), default=None),
    "rank dense": lambda z, m: z.rank(m.one(5), method="dense", default=None),
    "ranks": lambda z, m: z.ranks(m.many(MIXED), method="average"),
    "scores": lambda z, m: z.scores(m.many(MIXED)),
    "by_rank": lambda z, m: z.by_rank.__getitem__(slice(None, None, 7)),
    "by_rank one": lambda z, m: z.by_rank.__getitem__(-1) if z else None,
    "by_rank all": lambda z, m: (list(z.by_rank.__iter__()), list(z.by_rank.__reversed__())),
    "top": lambda z, m: z.top(20, ties="all"),
    "most_common": lambda z, m: z.most_common(),
    "bottom": lambda z, m: z.bottom(500),
    "range_by_score": lambda z, m: z.range_by_score(3, 200, descending=True),
    "range_by_lex": lambda z, m: z.range_by_lex(m.one(3), within_score=3.5),
    "count_lex": lambda z, m: z.count_lex(None, m.one(99), within_score=3.5),
    "page": lambda z, m: z.page(100),
    "around": lambda z, m: z.around(m.one(5)) if m.one(5) in z else None,
    "sample": lambda z, m: z.sample(min(9, len(z)), rng=1),
    "count": lambda z, m: z.count(3, 9),
    "sum": lambda z, m: z.sum(3, 9),
    "total": lambda z, m: z.total(),
    "mean": lambda z, m: z.mean(),
    "quantile": lambda z, m: z.quantile(0.3) if z else None,
    "percentile_of": lambda z, m: z.percentile_of(5) if z else None,
    "histogram": lambda z, m: z.histogram(7),
    "distinct_scores": lambda z, m: z.distinct_scores(),
    "describe": lambda z, m: z.describe(),
    "to_numpy": lambda z, m: z.to_numpy(),
    "to_dict": lambda z, m: z.to_dict(),
    "stream": lambda z, m: (
        streamed(z),
        (z.__arrow_c_schema__, z.__arrow_c_stream__),
        (z.to_arrow, z.to_pandas, z.to_polars),
    ),
    "__array__": lambda z, m: z.__array__(),
    "items": lambda z, m: list(z.items().__iter__()),
    "items reversed": lambda z, m: list(z.items().__reversed__()),
    "keys": lambda z, m: list(z.keys().__iter__()),
    "values": lambda z, m: (list(z.values()), 3.0 in z.values()),
    "keys and": lambda z, m: z.keys() & {m.one(5), m.one(-1)},
    "__iter__": lambda z, m: list(z.__iter__()),
    "__reversed__": lambda z, m: list(z.__reversed__()),
    "__repr__": lambda z, m: (z.__repr__(), z._repr_html_()),
    "digest": lambda z, m: z.digest(),
    "memory": lambda z, m: str(z.memory()),
    "to_bytes": lambda z, m: SortedSet.from_bytes(z.to_bytes()),
    "save": lambda z, m: (z.save, z.load, saved(z)),
    "__reduce_ex__": lambda z, m: (z.__reduce_ex__(5), z.__reduce__()),
    "pickle": lambda z, m: pickle.loads(pickle.dumps(z)),
    "copy": lambda z, m: (z.copy(), z.__copy__()),
    "__deepcopy__": lambda z, m: z.__deepcopy__({}),
    "make": lambda z, m: SortedSet(z, member=z.member_dtype),
    "from_counts": lambda z, m: SortedSet.from_counts(
        [m.many(MIXED), m.many(SPARSE)], member=z.member_dtype
    ),
    "__eq__": lambda z, m: z.__eq__(other(m)),
    "__ne__": lambda z, m: z.__ne__(z.copy()),
    "annotate": lambda z, m: goblin.annotate(
        pd.DataFrame({"m": list(map(m.one, range(9)))}), "m", z
    ),
    "union": lambda z, m: goblin.union([z, other(m)]),
    "intersection": lambda z, m: goblin.intersection([other(m), z]),
    "difference": lambda z, m: goblin.difference(z, other(m)),
    "union weighted": lambda z, m: goblin.union([z, z], weights=[1, 2], aggregate="count"),
    "intersection_card": lambda z, m: goblin.intersection_card([z, other(m)]),
}


Subject = tuple[SortedSet, Members]


def build(state: str, members: Members, **options: Any) -> Subject:
    return STATES[state](members, **options), members


def content(subject: Subject) -> Any:
    z, _ = subject
    z._validate()
    assert_memory(z)
    found = list(z.to_dict().items())
    assert len(z) == len(found)
    z._validate()
    return found, z.digest()
