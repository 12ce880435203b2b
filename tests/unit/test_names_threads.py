"""Long calls on sets of names: Ctrl-C stops them cleanly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import goblin
from goblin import SortedSet, _core

MEMBERS = 200_000
EVENTS = 3_000_000
PICKED = np.random.default_rng(1).integers(0, MEMBERS, EVENTS)


def names_of(kind: str) -> np.ndarray:
    numbers = np.arange(MEMBERS)
    if kind == "uuid":
        return np.stack([numbers, ~numbers], axis=1).view("V16").ravel()
    texts = np.char.add("member ", numbers.astype("U"))
    return texts.astype("S") if kind == "bytes" else texts


@pytest.fixture(params=["str", "bytes", "uuid"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def half(kind: str) -> SortedSet:
    z = SortedSet(names_of(kind)[::2], 5.0, member=kind)
    z.top(1)
    z.by_rank[0]
    return z


@pytest.fixture
def events(kind: str) -> Any:
    """A column that is ready, so that all the time goes into the call."""
    return _core.names(names_of(kind)[PICKED], kind)


WIDENING = np.repeat([1500.0, 40_000.0, 0.5], EVENTS // 3)
LONG_CALLS: dict[str, Callable[[SortedSet, Any], Any]] = {
    "increment": lambda z, events: z.increment_many(events),
    "increment widening": lambda z, events: z.increment_many(events, WIDENING),
    "update": lambda z, events: z.update(events, 7.0),
    "update widening": lambda z, events: z.update(events, WIDENING),
    "remove": lambda z, events: z.remove(events),
}
LONG_READS: dict[str, Callable[[SortedSet, Any], Any]] = {
    "scores": lambda z, events: z.scores(events),
    "ranks": lambda z, events: z.ranks(events),
    "union": lambda z, events: [goblin.union([z, z]) for _ in range(50)],
    "intersection": lambda z, events: [goblin.intersection([z, z]) for _ in range(50)],
    "lex": lambda z, events: [z.range_by_lex() for _ in range(500)],
    "iteration": lambda z, events: [list(z) for _ in range(500)],
}


@pytest.mark.parametrize("call", LONG_CALLS.values(), ids=LONG_CALLS)
def test_an_interrupted_write_has_changed_nothing(
    half: SortedSet, events: Any, call: Any, interrupt_soon: Callable[[float], Any]
) -> None:
    before, walk = half.digest(), iter(half)
    next(walk)
    with pytest.raises(KeyboardInterrupt):
        interrupt_soon(0.01)
        call(half, events)
        pytest.fail("the call was over before the interrupt: make it longer")
    half._validate()
    assert half.digest() == before
    assert next(walk) in half  # for it nothing has happened
    call(half, events)
    half._validate()


@pytest.mark.parametrize("call", LONG_READS.values(), ids=LONG_READS)
def test_an_interrupted_read_leaves_a_sound_set(
    half: SortedSet, events: Any, call: Any, interrupt_soon: Callable[[float], Any]
) -> None:
    before = half.digest()
    with pytest.raises(KeyboardInterrupt):
        interrupt_soon(0.01)
        call(half, events)
        pytest.fail("the call was over before the interrupt: make it longer")
    half._validate()
    assert half.digest() == before


@pytest.mark.parametrize("fraction", [0.0, 0.4, 0.9])
def test_a_count_given_up_on_its_way(half: SortedSet, events: Any, fraction: float) -> None:
    """By its progress callable, at a known place, with scores of all widths behind it."""

    def stop(done: int, total: int) -> None:
        if done > fraction * total:
            raise LookupError

    before = half.digest()
    with pytest.raises(LookupError):
        half.increment_many(events, WIDENING, progress=stop)
    half._validate()
    assert half.digest() == before
