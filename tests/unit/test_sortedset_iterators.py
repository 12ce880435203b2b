"""Iterators notice every change of the content, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from goblin import SortedSet

ITERATORS = [
    iter,
    reversed,
    lambda z: iter(z.keys()),
    lambda z: iter(z.values()),
    lambda z: iter(z.items()),
    lambda z: reversed(z.keys()),
    lambda z: reversed(z.values()),
    lambda z: reversed(z.items()),
    lambda z: iter(z.by_rank),
]
CHANGES = [
    lambda z: z.add(99, 1.0),
    lambda z: z.add(1, 99.0),
    lambda z: z.increment(2),
    lambda z: z.increment_many([1, 2], [1.0, -1.0]),
    lambda z: z.update({1: 5.0}),
    lambda z: z.subtract({1: 1}),
    lambda z: z.__setitem__(1, 7.0),
    lambda z: z.__delitem__(1),
    lambda z: z.discard(300),
    lambda z: z.remove([1, 2]),
    lambda z: z.pop(1),
    lambda z: z.popitem(),
    lambda z: z.setdefault(999, 1.0),
    lambda z: z.pop_min(),
    lambda z: z.pop_max(2),
    lambda z: z.remove_by_rank(0, 1),
    lambda z: z.remove_by_score(0, 10),
    lambda z: z.trim(5),
    lambda z: z.scale(2),
    lambda z: z.shift(1),
    lambda z: z.decay(1, 1),
    lambda z: z.merge(SortedSet({1: 1.0}, member="int64")),
    lambda z: z.move(SortedSet(member="int64"), [1]),
    lambda z: SortedSet({99: 1.0}, member="int64").move(z, [99]),
    lambda z: z.clear(),
    lambda z: (z.remove([0]), z.add(99, 9.0)),  # the length is the same again
    lambda z: (z.clear(), z.update(range(400), 1.0)),
]
NO_CHANGES = [
    lambda z: z.add(1, 1.0),
    lambda z: z.add(1, 9.0, mode="nx"),
    lambda z: z.add(999, 9.0, mode="xx"),
    lambda z: z.update([(1, 1.0), (2, 2.0)]),
    lambda z: z.update(),
    lambda z: z.increment(1, 0),
    lambda z: z.increment_many([]),
    lambda z: z.increment_many([1, 2], 0.0),
    lambda z: z.remove([999]),
    lambda z: z.discard(999),
    lambda z: z.pop(999, None),
    lambda z: z.pop_min(0),
    lambda z: z.setdefault(1, 9.0),
    lambda z: z.remove_by_rank(3, 3),
    lambda z: z.remove_by_score(5000, 6000),
    lambda z: z.trim(10_000),
    lambda z: z.scale(1),
    lambda z: z.shift(0),
    lambda z: z.merge(SortedSet(member="int64")),
    lambda z: z.move(SortedSet(member="int64"), []),
    lambda z: z.optimize(),
    lambda z: z.rank(5),
    lambda z: z.top(3),
    lambda z: z.digest(),
    lambda z: z.memory(),
    lambda z: z.copy(),
    lambda z: list(z),
]


@pytest.fixture
def z(make: Any) -> SortedSet:
    return make({i: float(i) for i in range(400)})


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("iterator", ITERATORS)
def test_a_change_ends_an_iterator(
    make: Any, iterator: Callable[[Any], Iterator[Any]], change: Callable[[Any], Any]
) -> None:
    z = make({i: float(i) for i in range(400)})
    running = iterator(z)
    next(running)
    change(z)
    with pytest.raises(RuntimeError):
        next(running)
    with pytest.raises(RuntimeError):
        next(running)


@pytest.mark.parametrize("change", NO_CHANGES)
@pytest.mark.parametrize("iterator", ITERATORS)
def test_what_changes_nothing_disturbs_no_iterator(
    make: Any, iterator: Callable[[Any], Iterator[Any]], change: Callable[[Any], Any]
) -> None:
    z = make({i: float(i) for i in range(400)})
    expected = list(iterator(z))
    running = iterator(z)
    seen = [next(running) for _ in range(3)]
    change(z)
    assert seen + list(running) == expected


@pytest.mark.parametrize(
    "call",
    [
        lambda z: z.add(5, float("nan")),
        lambda z: z.add("5", 1.0),
        lambda z: z.update([1, 2], [3.0, float("nan")]),
        lambda z: z.increment_many([1, 2**70]),
        lambda z: z.top(-1),
        lambda z: z["x"],
    ],
)
def test_a_refused_call_disturbs_no_iterator(z: SortedSet, call: Callable[[Any], Any]) -> None:
    running = iter(z)
    seen = [next(running)]
    with pytest.raises((ValueError, TypeError, OverflowError, KeyError)):
        call(z)
    assert seen + list(running) == list(range(400))


def test_a_change_before_the_first_step_counts(z: SortedSet) -> None:
    running = iter(z)
    z.clear()
    with pytest.raises(RuntimeError):
        next(running)


def test_a_finished_iterator_stays_finished(z: SortedSet) -> None:
    running = iter(z)
    assert len(list(running)) == 400
    assert list(running) == []


def test_an_iterator_keeps_its_set_alive() -> None:
    running = iter(SortedSet({1: 1.0, 2: 2.0}, member="int64"))
    assert list(running) == [1, 2]
    assert list(SortedSet({1: 1.0}, member="int64").items()) == [(1, 1.0)]


def test_iterators_do_not_share_their_place(make: Any) -> None:
    z = make(range(6), 1.0)
    assert [(a, b) for a in z for b in z] == [(a, b) for a in range(6) for b in range(6)]
