"""Ordinary use leaves nothing behind (B61): memory of the process and counts of references.

Each script runs in a process of its own, twice over the same work: what grew between the two is a
leak.
"""

from __future__ import annotations

import growth
import pytest

PRELUDE = """
import copy, gc, os, sys, warnings
import numpy as np
import goblin
from goblin import SortedSet
warnings.simplefilter("ignore")
z = SortedSet(range(2000), np.arange(2000) % 300, member="int64")
other = SortedSet({1: 1.0, 5000: 2.0}, member="int32", score="float32")
ids, floats = np.arange(3000), np.ones(3000)
members = [5, np.int64(5), np.int16(5), 10**6, "x", 2**70, 5.0, None]

def quietly(call, *args, **options):
    try:
        return call(*args, **options)
    except Exception as error:
        return type(error)
"""

BODIES = {
    "look-ups": (
        20_000,
        ("[(m in z, z.get(m), quietly(z.rank, m), quietly(z.__getitem__, m)) for m in members]"),
    ),
    "writes": (20_000, "[(quietly(z.add, m, 1.0), quietly(z.increment, m, 0)) for m in members]"),
    "refused writes": (20_000, "[quietly(z.add, 5, s) for s in ('x', None, float('nan'), 1j)]"),
    "add and discard": (50_000, "z.add(10**9 + i, 1.0); z.discard(10**9 + i)"),
    "bulk": (
        300,
        (
            "z.increment_many(ids, floats); z.increment_many(ids, -1.0, return_scores=True); "
            "z.update(ids, floats); z.scores(ids); z.ranks(ids); z.remove(ids[2000:])"
        ),
    ),
    "bulk lists": (
        100,
        (
            "z.update(ids.tolist(), floats.tolist()); z.update(z.to_dict()); "
            "z.update(z.items()); z.remove(range(2000, 3000))"
        ),
    ),
    "refused bulk": (
        3000,
        (
            "[quietly(z.increment_many, x) for x in (floats, '12', [[1]], [2**70], "
            "ids.reshape(2, -1), 5)]; quietly(z.update, ids, floats * np.nan); "
            "quietly(z.update, ids, floats[:5])"
        ),
    ),
    "views of arrays": (
        1000,
        (
            "z.increment_many(ids[::-2], floats[::2]); "
            "z.increment_many(ids.astype('>i4'), floats.astype('>f4'))"
        ),
    ),
    "ranges": (
        2000,
        (
            "z.top(20); z.bottom(20); z.range_by_score(3, 9); z.by_rank[5:90:7]; "
            "z.by_rank[3]; z.around(5); z.page(10, after=z.page(10).cursor)"
        ),
    ),
    "boards": (
        50,
        (
            "b = goblin.Boards.from_arrays(ids % 99, ids, floats); "
            "b.increment_many(ids % 300, ids); b.top(2); b.increment(i, 5); b.memory(); "
            "[quietly(b.increment_many, *x) for x in ((ids, [1]), (['a'], [1]), ([1], ['a']), "
            "([1, 1], [1, 1], [np.inf, -np.inf]), ([None], [1]))]"
        ),
    ),
    "rows": (3000, "r = z.top(50); list(r); r[3]; r[2:9]; r == r.to_list(); repr(r); r.ranks"),
    "iteration": (
        200,
        "list(z); list(reversed(z)); list(z.items()); next(iter(z)); list(z.values())",
    ),
    "broken iteration": (20_000, "it = iter(z); next(it); z.increment(5); quietly(next, it)"),
    "statistics": (
        1000,
        (
            "z.total(); z.mean(); z.describe(); z.quantile([0.1, 0.9]); "
            "z.percentile_of(5); z.histogram(); z.distinct_scores(); z.digest(); "
            "str(z.memory()); repr(z)"
        ),
    ),
    "whole set": (300, "z.scale(2); z.scale(0.5); z.shift(1); z.shift(-1); z.optimize()"),
    "two sets": (
        300,
        (
            "z.merge(other); z.merge(other, weight=-1); z.update(other); "
            "z.move(other, [1]); other.move(z, [1]); z == other; z.discard(5000); "
            "other.update({1: 1.0, 5000: 2.0})"
        ),
    ),
    "copies": (
        300,
        "copy.copy(z); copy.deepcopy(z); z.copy(); SortedSet(z); SortedSet(z.to_dict())",
    ),
    "create and drop": (30_000, "SortedSet(member='int64'); SortedSet({i: 1.0})"),
    "refused creation": (
        20_000,
        (
            "quietly(SortedSet, [('a', 1)], member='int64'); "
            "quietly(SortedSet, member='x'); quietly(SortedSet, [(1, 'x')])"
        ),
    ),
    "from_counts": (200, "SortedSet.from_counts(ids); SortedSet.from_counts([ids, ids])"),
    "grow and clear": (
        100,
        "a = SortedSet(ids * 99991, floats, member='int64'); a.rank(0); a.clear()",
    ),
    "failed allocations": (
        20_000,
        (
            "z._fail_at(1 + i % 3); "
            "quietly(z.update, [10**9 + i, 7], [1.0, 1e9]); "
            "quietly(z.rank, 5); z._fail_at(0); z.discard(10**9 + i)"
        ),
    ),
}


@pytest.mark.parametrize(("rounds", "body"), BODIES.values(), ids=BODIES)
def test_memory_stays_flat(rounds: int, body: str) -> None:
    script = f"{PRELUDE}\ndef work(rounds):\n    for i in range(rounds):\n        {body}\n"
    growth.check(script, (rounds, rounds))


@pytest.mark.parametrize("work", ["kept.append(bytes(9999))", "kept.append(watched[0])"])
def test_what_is_left_is_seen(work: str) -> None:
    script = f"kept, watched = [], [object()]\ndef work(n):\n    for _ in range(n): {work}\n"
    with pytest.raises(AssertionError, match="grew by"):
        growth.check(script, (100, 200))


REFERENCES = (
    PRELUDE
    + """
class Board(SortedSet):
    pass

class Number:
    def __index__(self): return 5
    def __float__(self): return 5.0

number = Number()
kinds = [SortedSet, Board, type(iter(z)), type(reversed(z)), type(z.top(1)), type(z.by_rank),
         type(z.items()), type(iter(z.items())), Number]
watched = [*kinds, number, ids, floats, None, True]
names = [getattr(k, "__name__", "object") for k in watched]

def work():
    for i in range(1000):
        board = Board({i: 1.0}, member="int32")
        board.myself = board
        list(board); list(reversed(board)); list(board.items()); board.top(1); board.by_rank[0]
        it = iter(board); next(it)
        z.add(number, number); z.increment(number, number); number in z; z.get(number)
        quietly(z.rank, number, default=None); z.scores([number]); z.update([number], [number])
        quietly(z.count, number, number); quietly(z.add, number, None); z.discard(number)
        z.increment_many(ids, floats); z.ranks(ids)
        del board, it
    gc.collect()

work()
before = [sys.getrefcount(each) for each in watched]
work()
after = [sys.getrefcount(each) for each in watched]
grown = {n: b - a for n, a, b in zip(names, before, after) if b - a > 20}
assert not grown, grown
"""
)


def test_references_are_balanced() -> None:
    growth.run(REFERENCES)


CYCLES = (
    PRELUDE
    + """
import weakref
class Board(SortedSet):
    pass
alive = []
for i in range(100):
    board = Board({i: 1.0}, member="int64")
    board.it = iter(board)
    board.rows = board.by_rank
    board.myself = board
    alive.append(weakref.ref(board))
    del board
gc.collect()
assert not any(ref() is not None for ref in alive)
"""
)


def test_cycles_are_collected() -> None:
    growth.run(CYCLES)


def test_a_bytearray_can_still_grow_after_its_view_was_used() -> None:
    growth.run(
        PRELUDE
        + """
buffer = bytearray(np.arange(100, dtype=np.int64).tobytes())
view = np.frombuffer(buffer, dtype=np.int64)
z.increment_many(view); z.scores(view); z.update(view, 1.0); z.remove(view)
quietly(z.increment_many, memoryview(buffer)); quietly(lambda: memoryview(buffer) in z)
quietly(z.get, buffer); quietly(z.remove, buffer)
del view
buffer.extend(b"more")
"""
    )
