"""The model against what numpy, scipy and pandas say the words mean, and against plain examples."""

from __future__ import annotations

import math
import struct
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
import xxhash
from model.set_operations import (
    ModelBoards,
    difference,
    intersection,
    intersection_card,
    union,
)
from model.sorted_set import ModelSortedSet, entry_bytes, exact_sum
from scipy import stats

MEMBERS = np.arange(40)
SCORES = np.random.default_rng(2).integers(0, 12, 40) / 2.0
INF = math.inf


@pytest.fixture
def z() -> ModelSortedSet:
    return ModelSortedSet(MEMBERS, SCORES)


def test_order_is_score_then_member() -> None:
    z = ModelSortedSet({5: 1.0, -3: 1.0, 2: -INF, 9: 0.5})
    assert list(z) == [2, 9, -3, 5]
    assert list(reversed(z)) == [5, -3, 9, 2]
    assert z.popitem() == (2, -INF)


@pytest.mark.parametrize("method", ["min", "max", "dense", "average"])
@pytest.mark.parametrize("descending", [False, True])
def test_ranks_as_in_pandas(z: ModelSortedSet, method: str, descending: bool) -> None:
    expected = pd.Series(SCORES).rank(method=method, ascending=not descending)
    np.testing.assert_array_equal(
        z.ranks(MEMBERS, method=method, descending=descending), expected - 1
    )


@pytest.mark.parametrize("descending", [False, True])
def test_ordinal_ranks_are_positions(z: ModelSortedSet, descending: bool) -> None:
    listed = list(reversed(z)) if descending else list(z)
    assert [z.rank(member, descending=descending) for member in listed] == list(range(40))


@pytest.mark.parametrize("method", ["min", "max", "average"])
@pytest.mark.parametrize("descending", [False, True])
def test_pct_as_in_pandas(z: ModelSortedSet, method: str, descending: bool) -> None:
    expected = pd.Series(SCORES).rank(method=method, ascending=not descending, pct=True)
    np.testing.assert_allclose(
        z.ranks(MEMBERS, method=method, descending=descending, pct=True), expected, rtol=1e-15
    )


@pytest.mark.parametrize("kind", ["rank", "weak", "strict", "mean"])
def test_percentile_of_as_in_scipy(z: ModelSortedSet, kind: str) -> None:
    for score in (-1.0, 0.0, 0.25, 2.5, 5.5, 9.0):
        expected = stats.percentileofscore(SCORES, score, kind=kind)
        assert z.percentile_of(score, kind=kind) == pytest.approx(expected, rel=1e-14)


def test_statistics_as_in_numpy_and_pandas(z: ModelSortedSet) -> None:
    assert z.quantile(0.3) == np.quantile(SCORES, 0.3)
    counts, edges = z.histogram(7)
    np.testing.assert_array_equal(counts, np.histogram(SCORES, 7)[0])
    np.testing.assert_array_equal(edges, np.histogram(SCORES, 7)[1])
    described = pd.Series(SCORES).describe()
    for name, value in z.describe().items():
        if name != "total":
            assert value == pytest.approx(described[name])
    values, repeats = z.distinct_scores()
    np.testing.assert_array_equal(values, np.unique(SCORES))
    assert repeats.sum() == 40


def test_from_counts_as_in_collections() -> None:
    ids = np.array([7, 7, 8, 7, -1])
    assert ModelSortedSet.from_counts(ids) == Counter(ids.tolist())
    assert ModelSortedSet.from_counts([ids, ids[:2]]) == {7: 5.0, 8: 1.0, -1: 1.0}


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], 0.0),
        ([0.1] * 10, 1.0),
        ([1e16, 1.0, -1e16], 1.0),
        ([1e308, 1e308, -1e308], 1e308),
        ([1.7e308, 1.7e308], INF),
        ([-1.7e308, -1.7e308], -INF),
        ([INF, -1e308, -1e308], INF),
        ([1.0, 2.0**-53, 2.0**-105], 1.0000000000000002),
    ],
)
def test_sum_is_exact(scores: list[float], expected: float) -> None:
    assert exact_sum(scores) == expected
    assert exact_sum(scores[::-1]) == expected


def test_sum_of_opposite_infinities_is_nan() -> None:
    assert math.isnan(exact_sum([INF, 1.0, -INF]))


def test_sum_against_fractions() -> None:
    scores = (np.random.default_rng(3).standard_normal(500) * 10.0 ** np.arange(-250, 250)).tolist()
    assert exact_sum(scores) == float(sum(map(Fraction, scores)))


def test_modes_as_in_redis() -> None:
    z = ModelSortedSet({1: 2.0})
    assert z.update([(1, 5), (1, 3), (1, 5)], mode="gt") == (0, 1, 1)
    assert z.update([(1, 1), (1, 2)]) == (0, 2, 1)
    assert z.update([(2, 1), (2, 2)], mode="nx") == (1, 0, 2)
    assert z.update([(3, 1), (1, 9)], mode="xx") == (0, 1, 2)
    assert z.update([(3, 1), (1, 8)], mode="xx_gt") == (0, 0, 2)
    assert z.update([(3, 1), (1, 8)], mode="lt") == (1, 1, 3)
    assert not z.add(1, 8.0)


def test_float32_rounds_after_each_step() -> None:
    z = ModelSortedSet({1: 16777216.0}, score="float32")
    z.increment_many([1] * 10)
    assert z[1] == 16777216.0
    assert z.increment(1, 10.0) == 16777226.0
    with pytest.raises(OverflowError):
        z.update({2: 1.0, 3: 1e39})
    assert z == {1: 16777226.0}
    assert z.count(-1e39, 1e39) == 1


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ValueError, lambda z: z.add(1, math.nan)),
        (ValueError, lambda z: z.increment_many([1, 0], [1.0, -INF])),
        (ValueError, lambda z: z.shift(-INF)),
        (ValueError, lambda z: z.scale(0)),
        (ValueError, lambda z: z.update([1, 2], [1.0])),
        (ValueError, lambda z: z.update(np.ones((2, 2), dtype=int), 1.0)),
        (ValueError, lambda z: z.top(-1)),
        (ValueError, lambda z: z.count(math.nan)),
        (ValueError, lambda z: z.count(closed="open")),
        (TypeError, lambda z: z.add(True, 1)),
        (TypeError, lambda z: z.add(1.0, 1)),
        (TypeError, lambda z: z.add(Decimal(1), 1)),
        (TypeError, lambda z: z.add(1, "1")),
        (TypeError, lambda z: z.increment_many(np.array([1.0]))),
        (TypeError, lambda z: z.increment_many(np.array([True]))),
        (TypeError, lambda z: z.increment_many("12")),
        (OverflowError, lambda z: z.add(2**63, 1)),
        (OverflowError, lambda z: z.increment_many(np.array([1, 2**63], dtype=np.uint64))),
        (KeyError, lambda z: z[3]),
        (KeyError, lambda z: z.rank("1")),
        (KeyError, lambda z: ModelSortedSet().pop_min()),
        (IndexError, lambda z: z.by_rank[2]),
    ],
)
def test_errors_change_nothing(error: type[Exception], call: object) -> None:
    z = ModelSortedSet({0: INF, 1: 0.0})
    with pytest.raises(error):
        call(z)
    assert z == {0: INF, 1: 0.0}


def test_merge_as_zunionstore() -> None:
    a, b = ModelSortedSet({1: 1.0, 2: INF}), ModelSortedSet({2: -INF, 3: 4.0})
    a.merge(b, weight=2)
    assert a == {1: 1.0, 2: 0.0, 3: 8.0}
    a.merge(b, weight=3, aggregate="count")
    assert a == {1: 1.0, 2: 4.0, 3: 4.0}
    a.merge(b, aggregate="min")
    assert a == {1: 1.0, 2: -INF, 3: 4.0}
    a.merge(b, weight=0, aggregate="max")
    assert a == {1: 1.0, 2: 0.0, 3: 4.0}


def test_move_leaves_refused_members_behind() -> None:
    a, b = ModelSortedSet({1: 1.0, 2: 2.0, 3: 3.0}), ModelSortedSet({2: 2.0, 3: 1.0})
    assert a.move(b, [1, 2, 3, 3, 9], mode="gt") == 2
    assert a == {2: 2.0}
    assert b == {1: 1.0, 2: 2.0, 3: 3.0}
    with pytest.raises(ValueError):
        a.move(a, [2])


def test_pages_walk_everything_once(z: ModelSortedSet) -> None:
    walked, cursor = [], None
    while True:
        rows, cursor = z.page(7, after=cursor)
        walked += rows.to_list()
        if cursor is None:
            break
    assert walked == z.top(40)


def test_rows_and_ends(z: ModelSortedSet) -> None:
    top = z.top(3)
    assert top.ranks.tolist() == [39, 38, 37]
    assert top[1:] == z.by_rank[38:36:-1]
    assert z.around(z.by_rank[0][0], 2) == z.by_rank[:3]
    score = top[-1][1]
    assert len(z.top(3, ties="all")) == max(3, z.count(score))
    assert z.most_common(2) == top.to_list()[:2]
    assert len(set(z.sample(40, rng=1).members.tolist())) == 40


def test_digest() -> None:
    z, other = ModelSortedSet(member="int64"), ModelSortedSet(score="float32", member="int32")
    assert z.digest() == (0, 0.0, xxhash.xxh3_128_intdigest(b""), 0)
    z.update({5: -1.0, 2: 3.0})
    other.update({2: 3.0, 5: -1.0})
    first, second = entry_bytes(5, -1.0), entry_bytes(2, 3.0)
    both = xxhash.xxh3_128_intdigest(first), xxhash.xxh3_128_intdigest(second)
    assert z.digest() == (2, 2.0, xxhash.xxh3_128_intdigest(first + second), sum(both) % 2**128)
    assert z.digest() == other.digest()


def test_digest_of_names() -> None:
    entry = struct.pack("<q", 3) + b"a\xc3\xa9" + struct.pack("<d", 2.0)
    hashed = xxhash.xxh3_128_intdigest(entry)
    for name in ("aé", "aé".encode()):
        assert ModelSortedSet({name: 2.0}).digest() == (1, 2.0, hashed, hashed)
    raw = bytes(range(16))
    assert ModelSortedSet({UUID(bytes=raw): 1}).digest() == ModelSortedSet({raw: 1}).digest()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ((), "str"),
        (({},), "str"),
        (({1: 1},), "int64"),
        (({"a": 1},), "str"),
        ((iter([(b"a", 1)]),), "bytes"),
        ((iter([UUID(int=1)]), 1), "uuid"),
        (([str(UUID(int=1))], 1), "str"),
        ((np.array([1], np.int32), 1), "int32"),
        ((np.array([1], np.uint8), 1), "int64"),
        ((np.array([b"a"]), 1), "bytes"),
        ((np.array(["a"]), 1), "str"),
        ((np.array([], "V16"), 1), "uuid"),
        ((np.zeros((1, 16), np.uint8), 1), "uuid"),
    ],
)
def test_kind_comes_from_the_data(data: tuple[Any, ...], kind: str) -> None:
    assert ModelSortedSet(*data).member_dtype == kind


def test_names_are_ordered_as_bytes() -> None:
    tied = ["\U00010000", "\uffff", "b", "aa", "a\0", "a", ""]
    assert list(ModelSortedSet(tied, 1)) == ["", "a", "a\0", "aa", "b", "\uffff", "\U00010000"]


def test_lex_ranges() -> None:
    z = ModelSortedSet(["", "a", "b", "x"], 0)
    assert z.range_by_lex(None, "a") == [("", 0.0), ("a", 0.0)]
    assert z.range_by_lex(None, "b", closed="left", descending=True) == [("a", 0.0), ("", 0.0)]
    assert z.count_lex("", "a", closed="right") == 1
    assert z.count_lex("b", "a") == z.count_lex("a", "a", closed="none") == 0
    assert z.range_by_lex(offset=1, limit=2) == [("a", 0.0), ("b", 0.0)]
    assert z.remove_by_lex("a", "b") == 2
    z.add("q", 7)
    with pytest.raises(ValueError):
        z.count_lex(None, None)
    assert z.range_by_lex("m", within_score=0) == [("x", 0.0)]


def test_set_operations_as_in_redis() -> None:
    a, b = ModelSortedSet({"x": 1, "y": 2}), ModelSortedSet({"y": 3, "w": 4})
    assert union([a, b]) == {"x": 1, "y": 5, "w": 4}
    assert union([a, a], weights=[1, -1]) == {"x": 0, "y": 0}
    assert union([a, b, a], weights=[1, 2, 4], aggregate="count") == {"x": 5, "y": 7, "w": 2}
    assert intersection([a, b], weights=[2, 1], aggregate="min") == {"y": 3}
    assert difference(a, b) == {"x": 1}
    assert intersection_card([a, b]) == intersection_card([a, a], 1) == 1
    infinite = ModelSortedSet({"y": math.inf})
    assert union([infinite, infinite], weights=[1, -1]) == {"y": 0}
    for error, sets in ((ValueError, []), (TypeError, [a, ModelSortedSet({1: 1})])):
        with pytest.raises(error):
            union(sets)


def test_boards() -> None:
    boards = ModelBoards.from_arrays(["g", "f", "g"], [1, 2, 1], [1.0, 5.0, 2.0])
    assert dict(boards) == {"f": {2: 5.0}, "g": {1: 3.0}}
    assert boards.top(1).groups == ["f", "g"]
