"""Every allocation of every public operation is made to fail once.

The n-th allocation fails for n = 1, 2, 3, ... until the operation succeeds. Each failure must be a
MemoryError that left the content as it was, and the operation must then succeed as if nothing had
happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from model.compare import assert_memory
from model.layouts import LAYOUTS, NAME_LAYOUTS, Layout

import goblin
from goblin import SortedSet

SPARSE = np.random.default_rng(9).integers(-(2**31), 2**31, 700)
MIXED = np.concatenate([np.arange(-200, 1200), SPARSE])
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


Build = Callable[..., SortedSet]
STATES: dict[str, Build] = {}


def state(build: Build) -> Build:
    STATES[build.__name__] = build
    return build


@state
def empty(m: Members, **options: Any) -> SortedSet:
    return m.set([], 0.0, **options)


@state
def small(m: Members, **options: Any) -> SortedSet:
    return m.set(range(40), np.arange(40) % 7, **options)


@state
def unordered(m: Members, **options: Any) -> SortedSet:
    return m.set(MIXED, np.arange(len(MIXED)) % 400 - 0.5, **options)


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
    return m.set(np.arange(1000, 2500), 3.0, score="float64")


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
    "discard": lambda z, m: z.discard(m.one(5)),
    "del": lambda z, m: z.pop(m.one(5), None),
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
    "move here": lambda z, m: other(m).move(z, m.many(np.arange(1000, 2000))),
    "optimize": lambda z, m: z.optimize(),
    "rank": lambda z, m: z.rank(m.one(5), default=None),
    "rank dense": lambda z, m: z.rank(m.one(5), method="dense", default=None),
    "ranks": lambda z, m: z.ranks(m.many(MIXED), method="average"),
    "scores": lambda z, m: z.scores(m.many(MIXED)),
    "by_rank": lambda z, m: z.by_rank[::7],
    "top": lambda z, m: z.top(20, ties="all"),
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
    "quantile": lambda z, m: z.quantile(0.3) if z else None,
    "percentile_of": lambda z, m: z.percentile_of(5) if z else None,
    "histogram": lambda z, m: z.histogram(7),
    "distinct_scores": lambda z, m: z.distinct_scores(),
    "describe": lambda z, m: z.describe(),
    "to_numpy": lambda z, m: z.to_numpy(),
    "to_dict": lambda z, m: z.to_dict(),
    "items": lambda z, m: list(z.items()),
    "reversed": lambda z, m: list(reversed(z)),
    "digest": lambda z, m: z.digest(),
    "memory": lambda z, m: str(z.memory()),
    "copy": lambda z, m: z.copy(),
    "equality": lambda z, m: z == other(m),
    "union": lambda z, m: goblin.union([z, other(m)]),
    "intersection": lambda z, m: goblin.intersection([other(m), z]),
    "difference": lambda z, m: goblin.difference(z, other(m)),
    "intersection_card": lambda z, m: goblin.intersection_card([z, other(m)]),
}
LIMIT = 20_000  # no operation here allocates so often: a sweep that gets there does not end


@pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")
@pytest.mark.parametrize("layouts", [LAYOUTS, NAME_LAYOUTS], ids=["integers", "names"])
@pytest.mark.parametrize("build", STATES.values(), ids=STATES)
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_every_failed_allocation_changes_nothing(
    build: Build,
    operation: Operation,
    layouts: list[Layout],
    record_property: Callable[[str, object], None],
) -> None:
    index = list(OPERATIONS.values()).index(operation)
    members = Members(layouts[index % len(layouts)])
    failures = sweep(build, operation, members, {"compress": index % 3 != 0})
    record_property("failed_allocations", failures)
    print(f"{failures} allocations failed, none changed anything")


@pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")
@pytest.mark.parametrize("merge_exponent", [0.0, 0.5])
@pytest.mark.parametrize("layout", LAYOUTS + NAME_LAYOUTS[::3], ids=str)
@pytest.mark.parametrize("operation", ["add new", "increment old", "update dense", "remove many"])
def test_writes_that_keep_the_order_up_to_date(
    layout: Layout, operation: str, merge_exponent: float
) -> None:
    for build in (small, ordered, indebted):
        options = {"merge_exponent": merge_exponent}
        sweep(build, OPERATIONS[operation], Members(layout), options)


def sweep(build: Build, operation: Operation, members: Members, options: dict[str, Any]) -> int:
    """The number of failures until the operation went through."""
    expected = build(members, **options)
    before = expected.to_dict()
    operation(expected, members)
    after = expected.to_dict()
    for n in range(1, LIMIT):
        z = build(members, **options)
        z._fail_at(n)
        try:
            operation(z, members)
        except MemoryError:
            z._fail_at(0)
            check(z, before)
            operation(z, members)
            check(z, after)
        else:
            z._fail_at(0)
            check(z, after)
            return n - 1
    raise AssertionError("the operation never went through")


def check(z: SortedSet, content: dict[Any, float]) -> None:
    z._validate()
    assert_memory(z)
    assert len(z) == len(content)
    np.testing.assert_array_equal(z.scores(list(content)), list(content.values()))
    assert z.to_dict() == content
    z._validate()
