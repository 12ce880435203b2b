"""Ranges by member: bounds, ends, windows, and the scores that they need."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from labels import label
from model import fixtures
from model.layouts import ALL_LAYOUTS, Layout

from goblin import SortedSet

SIZE = 9
layout = fixtures.over(ALL_LAYOUTS)


@pytest.fixture(params=[0, 300, 5000])
def z(request: pytest.FixtureRequest, make: Any, layout: Layout) -> SortedSet:
    """Even members up to 16 with score 0.0, and many others far above them."""
    z = make(layout.series(0, 2 * SIZE, 2), 0.0)
    z.update(layout.series(1000, 1000 + request.param), 0.0)
    return z


def inside(layout: Layout, lo: int | None, hi: int | None, closed: str) -> list[Any]:
    """Members of the set up to 999 that a range has, by their numbers."""
    low = -1 if lo is None else lo + (closed in ("right", "none"))
    high = 999 if hi is None else hi - (closed in ("left", "none"))
    return [layout.nth(i) for i in range(0, 2 * SIZE, 2) if low <= i <= high]


@pytest.mark.parametrize("closed", ["both", "left", "right", "none"])
@pytest.mark.parametrize(
    ("lo", "hi"),
    [(None, 999), (2, 8), (3, 7), (0, 16), (4, 4), (5, 5), (8, 2), (17, 99), (16, 500)],
)
def test_bounds(z: SortedSet, layout: Layout, lo: int | None, hi: int, closed: str) -> None:
    bounds = [None if i is None else layout.nth(i) for i in (lo, hi)]
    expected = inside(layout, lo, hi, closed)
    rows = z.range_by_lex(*bounds, closed=closed)
    assert [m for m, _ in rows] == expected
    assert rows.ranks.tolist() == [z.rank(m) for m in expected]
    assert z.range_by_lex(*bounds, closed=closed, descending=True) == rows[::-1]
    assert z.count_lex(*bounds, closed=closed) == len(expected)
    size = len(z)
    assert z.remove_by_lex(*bounds, closed=closed) == len(expected)
    assert len(z) == size - len(expected)
    assert not any(m in z for m in expected)
    z._validate()


def test_none_is_no_bound(z: SortedSet, layout: Layout) -> None:
    assert z.range_by_lex() == z.by_rank[:]
    assert z.range_by_lex(None, None) == z.by_rank[:]
    assert z.range_by_lex(layout.nth(6)) == z.by_rank[3:]
    assert z.range_by_lex(hi=layout.nth(6)) == z.by_rank[:4]
    assert z.range_by_lex(lo=layout.nth(6), closed="none") == z.by_rank[4:]
    assert z.count_lex(None, None) == len(z)
    assert z.remove_by_lex(None, None) > 0
    assert len(z) == 0
    assert z.count_lex(None, None) == 0


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("offset", [0, 1, 3, 9, 10**6, 10**30])
@pytest.mark.parametrize("limit", [None, 0, 1, 4, 10**30])
def test_windows(
    make: Any, layout: Layout, descending: bool, offset: int, limit: int | None
) -> None:
    z = make(layout.series(SIZE), 1.0)
    window = {"descending": descending, "offset": offset, "limit": limit}
    listed = list(z)[1:-1][:: -1 if descending else 1]
    rows = z.range_by_lex(layout.nth(1), layout.nth(SIZE - 2), **window)
    stop = None if limit is None else offset + limit
    assert [m for m, _ in rows] == listed[offset:stop]


def test_all_scores_must_be_equal(make: Any, layout: Layout) -> None:
    lowest, highest = layout.nth(0), layout.nth(9)
    z = make(layout.series(SIZE), 1.0)
    z.add(lowest, 2.0)
    for call in (
        lambda: z.range_by_lex(),
        lambda: z.range_by_lex(highest, lowest),
        lambda: z.count_lex(lowest, highest),
        lambda: z.remove_by_lex(lowest, highest),
    ):
        with pytest.raises(ValueError):
            call()
    assert len(z) == SIZE
    z.discard(lowest)
    assert z.count_lex(lowest, highest) == SIZE - 1
    assert make().range_by_lex() == []
    assert make().range_by_lex(lowest, within_score=3) == []


def test_within_score(make: Any, layout: Layout) -> None:
    z = make(layout.series(30), [1.0, 0.1, math.inf] * 10)
    for remainder, score in enumerate((1.0, 0.1, math.inf)):
        tied = layout.series(remainder, 30, 3)
        rows = z.range_by_lex(within_score=score)
        assert [m for m, _ in rows] == tied
        assert rows.ranks.tolist() == [z.rank(m) for m in tied]
        part = z.range_by_lex(tied[2], tied[5], closed="left", within_score=score, descending=True)
        assert [m for m, _ in part] == tied[2:5][::-1]
    assert z.range_by_lex(within_score=0.5) == []
    assert z.range_by_lex(within_score=-math.inf) == []
    with pytest.raises(ValueError):
        z.range_by_lex(within_score=math.nan)
    with pytest.raises(TypeError):
        z.range_by_lex(within_score="1")


def test_integers_are_compared_as_numbers() -> None:
    z = SortedSet([9, 10, -1, -(2**31), 2**31 - 1], 0.0, member="int32")
    assert [m for m, _ in z.range_by_lex(-5, 9)] == [-1, 9]
    assert [m for m, _ in z.range_by_lex(np.int8(10))] == [10, 2**31 - 1]
    assert z.count_lex(-(2**40), 2**40) == 5
    assert z.count_lex(-(10**30), 10**30, closed="none") == 5
    assert z.count_lex(2**31, None) == z.count_lex(None, -(2**31) - 1) == 0


@pytest.mark.parametrize("bound", [1.5, True, (), object()], ids=label)
@pytest.mark.parametrize(
    "call",
    [
        lambda z, b: z.range_by_lex(b),
        lambda z, b: z.range_by_lex(None, b, within_score=1.0),
        lambda z, b: z.count_lex(b, None),
        lambda z, b: z.remove_by_lex(None, b),
    ],
)
def test_bounds_are_members(
    make: Any, layout: Layout, call: Callable[[Any, Any], Any], bound: Any
) -> None:
    z = make(layout.series(4), 1.0)
    others = {"str": b"a", "bytes": "a", "uuid": b"a" * 16}
    for wrong in (bound, others.get(layout.member, "a")):
        with pytest.raises(TypeError):
            call(z, wrong)
    assert len(z) == 4


@pytest.mark.parametrize(
    "options", [{"offset": -1}, {"limit": -1}, {"offset": -(10**30)}, {"closed": "open"}]
)
def test_bad_options(make: Any, layout: Layout, options: dict[str, Any]) -> None:
    z = make(layout.series(4), 1.0)
    with pytest.raises(ValueError):
        z.range_by_lex(**options)
    if "closed" in options:
        for call in (z.count_lex, z.remove_by_lex):
            with pytest.raises(ValueError):
                call(None, None, **options)
    assert len(z) == 4


def test_call_shapes(make: Any, layout: Layout) -> None:
    z = make(layout.series(4), 1.0)
    lo, hi = layout.nth(1), layout.nth(2)
    assert z.range_by_lex(lo, hi) == z.range_by_lex(hi=hi, lo=lo, closed="both", offset=0)
    assert z.count_lex(lo, hi) == z.count_lex(hi=hi, lo=lo) == 2
    with pytest.raises(TypeError):
        z.range_by_lex(lo, hi, "both")
    with pytest.raises(TypeError):
        z.count_lex(lo, hi, "both")
    with pytest.raises(TypeError):
        z.remove_by_lex(lo, hi, "both")
    assert z.remove_by_lex(hi=hi, lo=lo) == 2


def test_reads_disturb_no_iterator_and_removals_do(make: Any, layout: Layout) -> None:
    z = make(layout.series(100), 1.0)
    walk = iter(z)
    assert next(walk) == layout.nth(0)
    assert z.count_lex(layout.nth(3), None) == len(z.range_by_lex(layout.nth(3))) == 97
    assert z.remove_by_lex(layout.nth(200), None) == 0
    assert next(walk) == layout.nth(1)
    assert z.remove_by_lex(layout.nth(50), None) == 50
    with pytest.raises(RuntimeError):
        next(walk)
