"""Every allocation of every public operation is made to fail once.

The n-th allocation fails for n = 1, 2, 3, ... until the operation succeeds. Each failure must be a
MemoryError that left the content as it was, and the operation must then succeed as if nothing had
happened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from model.compare import assert_memory
from model.layouts import LAYOUTS, Layout

from goblin import SortedSet

SPARSE = np.random.default_rng(9).integers(-(2**31), 2**31, 700)
MIXED = np.concatenate([np.arange(-200, 1200), SPARSE])

STATES: dict[str, Callable[..., SortedSet]] = {}


def state(build: Callable[..., SortedSet]) -> Callable[..., SortedSet]:
    STATES[build.__name__] = build
    return build


@state
def empty(**options: Any) -> SortedSet:
    return SortedSet(**options)


@state
def small(**options: Any) -> SortedSet:
    return SortedSet(range(40), np.arange(40) % 7, **options)


@state
def unordered(**options: Any) -> SortedSet:
    return SortedSet(MIXED, np.arange(len(MIXED)) % 400 - 0.5, **options)


@state
def ordered(**options: Any) -> SortedSet:
    z = unordered(**options)
    z.optimize()
    return z


@state
def indebted(**options: Any) -> SortedSet:
    """An order with changes pending on it."""
    z = ordered(**options)
    z.increment_many(MIXED[::40], 1000.0)
    z.remove(MIXED[1::40])
    z.update(np.arange(5000, 5020), 7.0)
    return z


def other(z: SortedSet) -> SortedSet:
    return SortedSet(np.arange(1000, 2500), 3.0, member=z.member_dtype)


OPERATIONS: dict[str, Callable[[SortedSet], Any]] = {
    "add new": lambda z: z.add(123_456_789, 1.0),
    "add old": lambda z: z.add(5, 777.0),
    "add in page": lambda z: z.add(3000, 70_000.5),
    "setdefault": lambda z: z.setdefault(77_777, 1.0),
    "increment new": lambda z: z.increment(-123_456_789),
    "increment old": lambda z: z.increment(5, 1e6),
    "update few": lambda z: z.update({1: 0.5, 2**30: 2.0}),
    "update dense": lambda z: z.update(np.arange(6000), 5.0),
    "update sparse": lambda z: z.update(np.arange(2000) * 99_991, 1e9),
    "update nx": lambda z: z.update(np.arange(0, 9000, 2), 5.0, mode="nx"),
    "increment dense": lambda z: z.increment_many(np.arange(5000)),
    "increment sparse": lambda z: z.increment_many(np.arange(1500) * 7919, 0.25),
    "increment widening": lambda z: z.increment_many(np.arange(1000), 1e5),
    "increment returning": lambda z: z.increment_many(np.arange(900) * 3, return_scores=True),
    "subtract": lambda z: z.subtract(MIXED, 1.0),
    "discard": lambda z: z.discard(5),
    "del": lambda z: z.pop(5, None),
    "remove many": lambda z: z.remove(MIXED[::3]),
    "remove all": lambda z: z.remove(MIXED),
    "pop_min": lambda z: z.pop_min(3),
    "pop_max": lambda z: z.pop_max(700),
    "remove_by_rank": lambda z: z.remove_by_rank(5, 900),
    "remove_by_score": lambda z: z.remove_by_score(5, 100),
    "trim": lambda z: z.trim(100),
    "clear": lambda z: z.clear(),
    "scale": lambda z: z.scale(-0.5),
    "shift": lambda z: z.shift(1e6),
    "decay": lambda z: z.decay(3, 1),
    "merge": lambda z: z.merge(other(z), weight=2),
    "merge count": lambda z: z.merge(other(z), aggregate="count"),
    "merge itself": lambda z: z.merge(z),
    "move away": lambda z: z.move(other(z), MIXED),
    "move here": lambda z: other(z).move(z, np.arange(1000, 2000)),
    "optimize": lambda z: z.optimize(),
    "rank": lambda z: z.rank(5, default=None),
    "rank dense": lambda z: z.rank(5, method="dense", default=None),
    "ranks": lambda z: z.ranks(MIXED, method="average"),
    "scores": lambda z: z.scores(MIXED),
    "by_rank": lambda z: z.by_rank[::7],
    "top": lambda z: z.top(20, ties="all"),
    "bottom": lambda z: z.bottom(500),
    "range_by_score": lambda z: z.range_by_score(3, 200, descending=True),
    "page": lambda z: z.page(100),
    "around": lambda z: z.around(5) if 5 in z else None,
    "sample": lambda z: z.sample(min(9, len(z)), rng=1),
    "count": lambda z: z.count(3, 9),
    "sum": lambda z: z.sum(3, 9),
    "total": lambda z: z.total(),
    "quantile": lambda z: z.quantile(0.3) if z else None,
    "percentile_of": lambda z: z.percentile_of(5) if z else None,
    "histogram": lambda z: z.histogram(7),
    "distinct_scores": lambda z: z.distinct_scores(),
    "describe": lambda z: z.describe(),
    "to_numpy": lambda z: z.to_numpy(),
    "to_dict": lambda z: z.to_dict(),
    "items": lambda z: list(z.items()),
    "reversed": lambda z: list(reversed(z)),
    "digest": lambda z: z.digest(),
    "memory": lambda z: str(z.memory()),
    "copy": lambda z: z.copy(),
    "equality": lambda z: z == other(z),
}
LIMIT = 20_000  # no operation here allocates so often: a sweep that gets there does not end


@pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")
@pytest.mark.parametrize("build", STATES.values(), ids=STATES)
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_every_failed_allocation_changes_nothing(
    build: Callable[..., SortedSet],
    operation: Callable[[SortedSet], Any],
    record_property: Callable[[str, object], None],
) -> None:
    index = list(OPERATIONS.values()).index(operation)
    options = {**LAYOUTS[index % 4].options, "compress": index % 3 != 0}
    failures = sweep(build, operation, options)
    record_property("failed_allocations", failures)
    print(f"{failures} allocations failed, none changed anything")


@pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")
@pytest.mark.parametrize("merge_exponent", [0.0, 0.5])
@pytest.mark.parametrize("operation", ["add new", "increment old", "update dense", "remove many"])
def test_writes_that_keep_the_order_up_to_date(
    layout: Layout, operation: str, merge_exponent: float
) -> None:
    options = {**layout.options, "merge_exponent": merge_exponent}
    for build in (small, ordered, indebted):
        sweep(build, OPERATIONS[operation], options)


def sweep(
    build: Callable[..., SortedSet], operation: Callable[[SortedSet], Any], options: dict[str, Any]
) -> int:
    """The number of failures until the operation went through."""
    expected = build(**options)
    before = expected.to_dict()
    operation(expected)
    after = expected.to_dict()
    for n in range(1, LIMIT):
        z = build(**options)
        z._fail_at(n)
        try:
            operation(z)
        except MemoryError:
            z._fail_at(0)
            check(z, before)
            operation(z)
            check(z, after)
        else:
            z._fail_at(0)
            check(z, after)
            return n - 1
    raise AssertionError("the operation never went through")


def check(z: SortedSet, content: dict[int, float]) -> None:
    z._validate()
    assert_memory(z)
    assert len(z) == len(content)
    np.testing.assert_array_equal(z.scores(list(content)), list(content.values()))
    assert z.to_dict() == content
    z._validate()
