"""The set changes while one of its methods, written in Python, is between two of its steps.

A signal handler or a finaliser may do that at any point; here a profiler does, at every one. Each
method may then fail, but the set stays sound and the process alive.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from model.layouts import ALL_LAYOUTS, Layout

import goblin
from goblin import SortedSet

ALLOWED = (LookupError, RuntimeError, ValueError, TypeError, ArithmeticError)
SIZE = 200
STRIDE = 3  # each step meets every third change, and all of them in `make test-slow`


@functools.cache
def many(layout: Layout) -> np.ndarray:
    return layout.array(layout.series(3000))


Change = Callable[[SortedSet, Layout], Any]
CHANGES: dict[str, Change] = {
    "clear": lambda z, layout: z.clear(),
    "grow": lambda z, layout: z.update(many(layout), 0.5),
    "shrink": lambda z, layout: z.remove(layout.series(SIZE - 3)),
    "optimize": lambda z, layout: z.optimize(),
    "rescore": lambda z, layout: z.scale(-1e6),
    "int32": lambda z, layout: z.__init__(range(99), 1.0, member="int32", score="float32"),
    "int64": lambda z, layout: z.__init__(range(99), 1.0, member="int64"),
    "str": lambda z, layout: z.__init__(["é" * 99, "b"], 1.0, member="str"),
    "bytes": lambda z, layout: z.__init__([b"a" * 99, b"b"], 1.0, score="float32"),
    "uuid": lambda z, layout: z.__init__([str(n) * 32 for n in range(9)], 1.0, member="uuid"),
}
# Each method takes the set, another one of its layout, and a function from number to member.
Method = Callable[[SortedSet, SortedSet, Callable[..., Any]], Any]
METHODS: dict[str, Method] = {
    "update": lambda z, other, m: z.update([m(2**31 - 1), m(5)], [1.0, 2.0]),
    "update pairs": lambda z, other, m: z.update({m(2**31 - 1): 1.0, m(5): 2.0}),
    "update set": lambda z, other, m: z.update(other),
    "increment_many": lambda z, other, m: z.increment_many([m(5), m(999)], return_scores=True),
    "subtract": lambda z, other, m: z.subtract(other),
    "remove": lambda z, other, m: z.remove([m(5), m(999)]),
    "pop_min": lambda z, other, m: z.pop_min(9),
    "remove_by_rank": lambda z, other, m: z.remove_by_rank(5, 190),
    "remove_by_score": lambda z, other, m: z.remove_by_score(3, 5),
    "remove_by_lex": lambda z, other, m: z.remove_by_lex(m(3), m(90), within_score=3.0),
    "merge": lambda z, other, m: z.merge(other, weight=2.0, aggregate="max"),
    "merge into": lambda z, other, m: other.merge(z, aggregate="count"),
    "move": lambda z, other, m: z.move(other, [m(5), m(6), m(999)]),
    "move into": lambda z, other, m: other.move(z, [m(5), m(6), m(999)]),
    "decay": lambda z, other, m: z.decay(2.0, 1.0),
    "scores": lambda z, other, m: z.scores([m(5), m(999)]),
    "ranks": lambda z, other, m: z.ranks([m(5), m(999)], method="dense", pct=True),
    "by_rank": lambda z, other, m: (z.by_rank[3:90:4], z.by_rank[[1, 2]]),
    "top": lambda z, other, m: (z.top(9), z.top(9, ties="all"), z.most_common()),
    "range_by_score": lambda z, other, m: z.range_by_score(3, 5),
    "range_by_lex": lambda z, other, m: z.range_by_lex(m(3), m(90), within_score=3.0),
    "page": lambda z, other, m: z.page(5, after=z.page(5).cursor),
    "around": lambda z, other, m: z.around(m(100)),
    "sample": lambda z, other, m: z.sample(9, rng=1),
    "quantile": lambda z, other, m: z.quantile([0.1, 0.9]),
    "percentile_of": lambda z, other, m: z.percentile_of(3.0),
    "histogram": lambda z, other, m: z.histogram(5),
    "describe": lambda z, other, m: (z.describe(), repr(z), z.memory(), z.digest()),
    "to_dict": lambda z, other, m: (z.to_dict(), z.distinct_scores(), np.asarray(z)),
    "iteration": lambda z, other, m: (list(z), list(reversed(z)), dict(z.items())),
    "copy": lambda z, other, m: (z.copy(), SortedSet(z)),
    "equality": lambda z, other, m: (z == other, other == z, z == {m(5): 1.0}),
    "init": lambda z, other, m: z.__init__({m(5): 1.0}, member=z.member_dtype),
    "union": lambda z, other, m: goblin.union([z, other], weights=[2, 3]),
    "intersection": lambda z, other, m: goblin.intersection([other, z]),
    "difference": lambda z, other, m: goblin.difference(other, z),
    "intersection_card": lambda z, other, m: goblin.intersection_card([z, other]),
}


class Interference:
    """A profiler that makes a change at the n-th event of a call, once."""

    def __init__(self, n: int, change: Callable[[], Any]) -> None:
        self.left, self.change = n, change

    def __call__(self, *_: Any) -> None:
        self.left -= 1
        if self.left == 0:
            with contextlib.suppress(*ALLOWED):
                self.change()


def sound(z: SortedSet) -> None:
    z._validate()
    pairs = list(z.items())
    assert len(pairs) == len(z)
    assert z.scores([member for member, _ in pairs]).tolist() == [score for _, score in pairs]


@pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")
@pytest.mark.parametrize("stride", [STRIDE, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("method", METHODS)
def test_a_change_between_any_two_steps(method: str, change: str, stride: int) -> None:
    layout = ALL_LAYOUTS[list(METHODS).index(method) % len(ALL_LAYOUTS)]
    first = 1 + list(CHANGES).index(change) % stride
    run(METHODS[method], CHANGES[change], layout, range(first, 5000, stride))


def run(method: Method, change: Change, layout: Layout, steps: range) -> None:
    members, scores = layout.array(layout.series(SIZE)), np.arange(SIZE) % 7
    for n in steps:
        z = SortedSet(members, scores, **layout.options)
        other = SortedSet(members[::3], 2.5, **layout.options)
        z.top(1)
        interference = Interference(n, lambda z=z: change(z, layout))
        sys.setprofile(interference)
        try:
            method(z, other, layout.nth)
        except ALLOWED:
            pass
        finally:
            sys.setprofile(None)
        sound(z)
        sound(other)
        if interference.left > 0:
            return
    raise AssertionError("the method has no end")
