"""Arguments that another thread changes meanwhile: lists, dicts and arrays (B55)."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from crowd import together
from model.layouts import ALL_LAYOUTS, LAYOUTS, Layout

import goblin
from goblin import Boards, Hash, HashTable, SortedSet

# What a call may say about an argument that it saw in the middle of a change.
ALLOWED = (RuntimeError, ValueError, TypeError, OverflowError)
N = 2000

pytestmark = pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")


def shrinking(items: Any) -> Callable[[], None]:
    """A work that takes most of a list or dict away and puts it back."""

    def change() -> None:
        if isinstance(items, dict):
            kept = dict(items)
            items.clear()
            items.update(kept)
        else:
            kept = items[10:]
            del items[10:]
            items.pop()
            items.append(items[0])
            items.extend(kept)

    return change


def repeat(calls: list[Callable[[], Any]], times: int) -> Callable[[], None]:
    def work() -> None:
        for call in calls * times:
            with contextlib.suppress(*ALLOWED):
                call()

    return work


@pytest.mark.parametrize("layout", ALL_LAYOUTS[1::2], ids=str)
def test_lists_and_dicts_of_a_set(layout: Layout, effort: int) -> None:
    z = SortedSet(**layout.options)
    members, known = layout.series(N), set(layout.series(N))
    scores, pairs = [1.0] * N, [(member, 1.0) for member in members]
    mapping = dict(pairs)
    calls = [
        lambda: z.update(members, scores),
        lambda: z.update(pairs),
        lambda: z.update(mapping),
        lambda: z.increment_many(members, scores),
        lambda: z.scores(members),
        lambda: z.ranks(members),
        lambda: z.remove(members),
        lambda: SortedSet(mapping, **layout.options),
        lambda: SortedSet.from_counts(members, member=layout.member),
        lambda: Boards.from_arrays(members, members, scores, member=layout.member),
    ]
    together([repeat(calls, effort)], map(shrinking, (members, scores, pairs, mapping)))
    z._validate()
    assert set(z) <= known


@pytest.mark.parametrize("value", ["str", "int64"])
def test_lists_and_dicts_of_a_hash_and_a_table(value: Any, effort: int) -> None:
    known = [f"f{n}" for n in range(N)]
    keys, values = known[:], ["7" if value == "str" else 7] * N
    mapping = dict(zip(keys, values, strict=True))
    records = {key: {"x": values[0], "y": values[0]} for key in keys}
    h: Hash[str, Any] = Hash(value=value)
    table: HashTable[str, str, Any] = HashTable({"r": {}}, value=value)
    calls = [
        lambda: h.set_many(keys, values),
        lambda: h.update(mapping),
        lambda: h.get_many(keys),
        lambda: h.increment_many(keys, [1] * N),
        lambda: h == mapping,
        lambda: h.pop_many(keys),
        lambda: table.update(records),
        lambda: table["r"].set_many(keys, values),
        lambda: table["r"].update(mapping),
        lambda: table["r"] == mapping,
        lambda: table == records,
        lambda: HashTable.from_arrays(keys, {"x": values}, value=value),
    ]
    together([repeat(calls, effort)], map(shrinking, (keys, values, mapping, records)))
    h._validate()
    table._validate()
    assert set(h) <= set(known)
    assert set(table["r"]) <= set(known)


CALLS: dict[str, Callable[[SortedSet, Any, Any], Any]] = {
    "count": lambda z, ids, by: z.increment_many(ids),
    "increment": lambda z, ids, by: z.increment_many(ids, by, return_scores=True),
    "update": lambda z, ids, by: z.update(ids, by),
    "update gt": lambda z, ids, by: z.update(ids, by, mode="gt"),
    "subtract": lambda z, ids, by: z.subtract(ids, by),
    "remove": lambda z, ids, by: z.remove(ids),
    "reads": lambda z, ids, by: (z.scores(ids), z.ranks(ids), z.ranks(ids, method="max")),
    "ranks": lambda z, ids, by: z.by_rank[ids],
    "boards": lambda z, ids, by: Boards.from_arrays(ids % 3, ids, by, member=z.member_dtype),
}
SIZE = 100_000  # members of an order that survives the changes
BATCH = 9_000  # inputs of a call that lets the GIL go


@pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "unordered"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_arrays_of_a_set_of_integers(call: Callable[..., Any], ordered: bool, effort: int) -> None:
    """Whatever is read meanwhile, the set stays sound: what its order has is what its index has."""
    layout = LAYOUTS[list(CALLS.values()).index(call) % len(LAYOUTS)]
    rng = np.random.default_rng(5)
    z = SortedSet(np.arange(SIZE), rng.integers(0, 300, SIZE), **layout.options)
    ids, by = rng.integers(0, SIZE, BATCH), np.ones(BATCH)
    others = itertools.cycle(rng.integers(0, SIZE + 5, (9, BATCH)))
    # NaN is refused in the middle of a call, which then is taken back.
    steps = itertools.cycle([1.0, 2.5, np.nan, 3e9, 255.0])

    def scribble() -> None:
        ids[:] = next(others)
        by[:-5] = 2.0
        by[-5:] = next(steps)

    def work() -> None:
        for _ in range(12 * effort):
            if ordered:
                z.by_rank[5]
            with contextlib.suppress(*ALLOWED, IndexError):
                call(z, ids, by)

    together([work], [scribble])
    z._validate()
    members, scores = z.to_numpy()
    assert (np.diff(scores) >= 0).all()
    assert (z.scores(members) == scores).all()


@pytest.mark.parametrize("dtype", ["S8", "V16"])
def test_arrays_of_names(dtype: str, effort: int) -> None:
    """What is stored then is anyone's guess, even one name twice, but it can be read."""
    width = np.dtype(dtype).itemsize
    members = np.array([b"%0*d" % (width, n) for n in range(20_000)]).view(dtype)
    raw = members.view(f"V{width}")
    turns = itertools.cycle([raw[::-1].copy(), np.roll(raw, 7)])

    def scribble() -> None:
        raw[:] = next(turns)

    def work() -> None:
        for _ in range(3 * effort):
            z: SortedSet[Any] = SortedSet(members, 1.0)
            z.increment_many(members)
            z.remove(members[::2])
            assert sum(1 for _ in z.items()) == len(z)
            z.clear()
            goblin.union([z, z])

    together([work], [scribble])
