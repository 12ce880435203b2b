"""union, intersection, difference and intersection_card: what Redis' commands of these names do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from model import fixtures
from model.layouts import ALL_LAYOUTS, Layout

import goblin
from goblin import SortedSet

INF = math.inf
layout = fixtures.over(ALL_LAYOUTS)


@pytest.fixture(params=[0, 400])
def sets(request: pytest.FixtureRequest, make: Any, layout: Layout) -> list[SortedSet]:
    """{0: 1, 1: 2} and {1: 3, 2: 4}, and others with score 9 that each has alone."""
    a = make(layout.series(2), [1.0, 2.0])
    b = make(layout.series(1, 3), [3.0, 4.0])
    for z, start in ((a, 1000), (b, 2000)):
        z.update(layout.series(start, start + request.param), 9.0)
    return [a, b]


def small(z: SortedSet, layout: Layout) -> list[float | None]:
    """The scores of the first three members; None where absent."""
    return [z.get(layout.nth(i)) for i in range(3)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [1, 5, 4]),
        ({"aggregate": "sum"}, [1, 5, 4]),
        ({"aggregate": "min"}, [1, 2, 4]),
        ({"aggregate": "max"}, [1, 3, 4]),
        ({"aggregate": "count"}, [1, 2, 1]),
        ({"weights": [2, 10]}, [2, 34, 40]),
        ({"weights": [1, -1]}, [1, -1, -4]),
        ({"weights": [0, 0]}, [0, 0, 0]),
        ({"weights": (2, 10), "aggregate": "min"}, [2, 4, 40]),
        ({"weights": np.array([2.0, 10.0]), "aggregate": "max"}, [2, 30, 40]),
        ({"weights": [2, 10], "aggregate": "count"}, [2, 12, 10]),
        ({"weights": [-INF, INF]}, [-INF, 0, INF]),
        ({"weights": [-INF, INF], "aggregate": "min"}, [-INF, -INF, INF]),
    ],
    ids=repr,
)
def test_union_and_intersection(
    sets: list[SortedSet], layout: Layout, options: dict[str, Any], expected: list[float]
) -> None:
    before = [z.digest() for z in sets]
    a, b = sets
    union, both = goblin.union(sets, **options), goblin.intersection(sets, **options)
    assert small(union, layout) == expected
    assert len(union) == len(a) + len(b) - 1
    assert both == {layout.nth(1): expected[1]}
    for z in (union, both):
        assert z.layout == str(layout)
        z._validate()
    assert [z.digest() for z in sets] == before


def test_difference(sets: list[SortedSet], layout: Layout) -> None:
    a, b = sets
    assert small(goblin.difference(a, b), layout) == [1, None, None]
    assert small(goblin.difference(b, a), layout) == [None, None, 4]
    assert len(goblin.difference(a, b)) == len(a) - 1
    assert goblin.difference(a, b, a) == {}
    alone = goblin.difference(a)
    assert alone == a
    assert alone is not a
    alone.clear()
    assert small(a, layout) == [1, 2, None]


def test_intersection_card(sets: list[SortedSet], layout: Layout) -> None:
    a, b = sets
    assert goblin.intersection_card(sets) == 1
    assert goblin.intersection_card([a]) == goblin.intersection_card([a, a]) == len(a)
    assert goblin.intersection_card([a, a], 1) == 1
    assert goblin.intersection_card([a, a], limit=0) == len(a)
    assert goblin.intersection_card([a, a], limit=10**30) == len(a)
    assert goblin.intersection_card([a, b, goblin.difference(a, b)]) == 0
    with pytest.raises(ValueError):
        goblin.intersection_card([a], -1)
    with pytest.raises(TypeError):
        goblin.intersection_card([a], 1.0)


def test_one_set_three_sets_and_no_members(sets: list[SortedSet], make: Any) -> None:
    a, b = sets
    assert goblin.union([a]) == a
    assert goblin.union(iter([a])) == a
    assert goblin.intersection([a]) == a
    assert goblin.union([a, make(), a, make()]) == goblin.union([a], weights=[2])
    assert goblin.intersection([a, make()]) == {}
    assert goblin.union([make(), make()]) == {}
    assert goblin.union([a, b, a]) == goblin.union([b, a], weights=[1, 2])
    assert goblin.difference(make(), a) == {}


def test_the_same_set_twice(sets: list[SortedSet], make: Any) -> None:
    a, _ = sets
    assert goblin.union([a, a]) == {m: 2 * s for m, s in a.items()}
    assert goblin.union([a, a], weights=[1, -1]) == dict.fromkeys(a, 0.0)
    assert goblin.intersection([a, a, a], aggregate="count") == dict.fromkeys(a, 3.0)
    assert goblin.difference(a, a) == {}


def test_nan_becomes_zero_in_the_order_of_the_sets(make: Any, layout: Layout) -> None:
    m = layout.nth(0)
    up, down, one = make({m: INF}), make({m: -INF}), make({m: 1.0})
    for function in (goblin.union, goblin.intersection):
        assert function([up, down]) == {m: 0.0}
        assert function([up, down, one]) == {m: 1.0}
        assert function([up, one, down]) == {m: 0.0}
        assert function([one, up], weights=[1, 0]) == {m: 1.0}
        assert function([up], weights=[0]) == {m: 0.0}
        assert function([one], weights=[-0.0]) == {m: 0.0}
        assert math.copysign(1.0, function([one], weights=[-0.0])[m]) == 1.0


@pytest.mark.parametrize("function", ["union", "intersection"])
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"weights": [1]}, ValueError),
        ({"weights": [1, 2, 3]}, ValueError),
        ({"weights": []}, ValueError),
        ({"weights": [1, math.nan]}, ValueError),
        ({"weights": ["1", "2"]}, TypeError),
        ({"weights": "12"}, TypeError),
        ({"weights": 5}, TypeError),
        ({"aggregate": "avg"}, ValueError),
        ({"aggregate": ""}, ValueError),
        ({"weight": [1, 2]}, TypeError),
    ],
    ids=repr,
)
def test_bad_options(
    sets: list[SortedSet], function: str, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        getattr(goblin, function)(sets, **options)


@pytest.mark.parametrize(
    "call",
    [
        lambda *sets: goblin.union(sets),
        lambda *sets: goblin.intersection(sets),
        lambda *sets: goblin.intersection_card(sets),
        lambda *sets: goblin.difference(*sets),
    ],
)
def test_only_sets_of_one_kind(
    sets: list[SortedSet], layout: Layout, call: Callable[..., Any]
) -> None:
    a, _ = sets
    other = SortedSet(member="str" if layout.kind is int else "int64")
    for wrong in (other, {layout.nth(0): 1.0}, [layout.nth(0)], None, "ab"):
        with pytest.raises(TypeError):
            call(a, wrong)
        with pytest.raises(TypeError):
            call(wrong, a)


@pytest.mark.parametrize("function", ["union", "intersection", "intersection_card"])
def test_no_set_at_all(function: str) -> None:
    with pytest.raises(ValueError):
        getattr(goblin, function)([])
    with pytest.raises(TypeError):
        getattr(goblin, function)()
    with pytest.raises(TypeError):
        goblin.difference()


def test_options_are_those_of_the_first() -> None:
    narrow = SortedSet({1: 0.5, 2: 2.0}, member="int32", score="float32", compress=False)
    wide = SortedSet({2: 0.1, 2**40: 1.0}, member="int64")
    assert goblin.union([wide, narrow]).layout == "int64-float64"
    assert goblin.intersection([narrow, wide]).layout == "int32-float32"
    assert goblin.intersection([narrow, wide]) == {2: float(np.float32(2.1))}
    assert goblin.difference(narrow, wide) == {1: 0.5}
    assert goblin.difference(wide, narrow) == {2**40: 1.0}
    assert goblin.intersection_card([narrow, wide]) == 1
    with pytest.raises(OverflowError):
        goblin.union([narrow, wide])
    with pytest.raises(OverflowError):
        goblin.union([narrow], weights=[1e39])
    assert narrow == {1: 0.5, 2: 2.0}


def test_scores_are_combined_in_float64_and_narrowed_once() -> None:
    z = SortedSet({1: 2.0**24}, score="float32")
    one = SortedSet({1: 1.0}, score="float32")
    assert goblin.union([z, one, one]) == {1: 2.0**24 + 2}
    assert goblin.intersection([z, one, one]) == {1: 2.0**24 + 2}


@pytest.mark.parametrize("size", [1, 64, 65, 300, 5000])
def test_sizes(make: Any, layout: Layout, size: int) -> None:
    a = make(layout.series(size), np.arange(size) % 11)
    b = make(layout.series(size // 2, 2 * size), 3.0)
    union = goblin.union([a, b])
    common = layout.series(size // 2, size)
    assert len(union) == 2 * size
    assert union.scores(common).tolist() == [a[m] + 3.0 for m in common]
    assert sorted(goblin.intersection([a, b])) == common
    assert goblin.intersection_card([a, b], 7) == min(len(common), 7)
    assert sorted(goblin.difference(a, b)) == layout.series(size // 2)
    union._validate()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_lesser_of_two_may_fit_where_the_other_does_not(sign: float) -> None:
    z = SortedSet({1: sign * 2.0**127}, score="float32")
    z.merge(z, aggregate="min" if sign > 0 else "max", weight=2.0)
    assert z == {1: sign * 2.0**127}
    for new in ({1: math.inf * sign}, {2: 0.0}):
        other = SortedSet(new, score="float32")
        with pytest.raises(OverflowError):
            other.merge(z, aggregate="min" if sign > 0 else "max", weight=2.0)
        assert other == new
