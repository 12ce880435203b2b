"""Reads by member, by rank and by score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from model.compare import assert_same
from model.layouts import Layout
from model.sorted_set import ModelSortedSet

from goblin import SortedSet

INF = math.inf
CONTENT = {1: 5.0, 2: 5.0, 3: 7.0, 4: -1.0, 5: 5.0, 6: 9.0}
ORDERED = [(4, -1.0), (1, 5.0), (2, 5.0), (5, 5.0), (3, 7.0), (6, 9.0)]


@pytest.fixture
def z(make: Any) -> SortedSet:
    return make(CONTENT)


def test_scores(z: SortedSet, layout: Layout) -> None:
    found = z.scores([6, 99, 4])
    assert found.dtype == layout.score
    np.testing.assert_array_equal(found, [9.0, math.nan, -1.0])
    assert z.scores(np.array([6, 99]), missing=0).tolist() == [9.0, 0.0]
    assert z.scores([]).shape == (0,)
    assert z.scores(range(1, 3)).tolist() == [5.0, 5.0]


@pytest.mark.parametrize(
    ("method", "descending", "expected"),
    [
        ("ordinal", False, [1, 2, 4, 0, 3, 5]),
        ("ordinal", True, [4, 3, 1, 5, 2, 0]),
        ("min", False, [1, 1, 4, 0, 1, 5]),
        ("min", True, [2, 2, 1, 5, 2, 0]),
        ("max", False, [3, 3, 4, 0, 3, 5]),
        ("max", True, [4, 4, 1, 5, 4, 0]),
        ("dense", False, [1, 1, 2, 0, 1, 3]),
        ("dense", True, [2, 2, 1, 3, 2, 0]),
        ("average", False, [2.0, 2.0, 4.0, 0.0, 2.0, 5.0]),
        ("average", True, [3.0, 3.0, 1.0, 5.0, 3.0, 0.0]),
    ],
)
def test_ranks(z: SortedSet, method: str, descending: bool, expected: list[float]) -> None:
    options = {"method": method, "descending": descending}
    kind = float if method == "average" else int
    for member, rank in zip(CONTENT, expected, strict=True):
        assert z.rank(member, **options) == rank
        assert type(z.rank(member, **options)) is kind
    ranks = z.ranks([*CONTENT, 99], **options)
    assert ranks.dtype == (np.float64 if kind is float else np.int64)
    np.testing.assert_array_equal(ranks, [*expected, math.nan if kind is float else -1])


def test_ranks_as_shares(z: SortedSet) -> None:
    shares = z.ranks([4, 6, 99], pct=True)
    np.testing.assert_array_equal(shares, [1 / 6, 1.0, math.nan])
    assert z.ranks([1, 6], method="average", descending=True, pct=True).tolist() == [4 / 6, 1 / 6]


def test_rank_of_the_absent(z: SortedSet) -> None:
    assert z.rank(99, default=-1) == -1
    assert z.rank(99, default=None) is None
    with pytest.raises(KeyError):
        z.rank(99)


class TestByRank:
    def test_items(self, z: SortedSet) -> None:
        assert [z.by_rank[i] for i in range(6)] == ORDERED
        assert [z.by_rank[i] for i in range(-6, 0)] == ORDERED
        assert len(z.by_rank) == 6
        assert list(z.by_rank) == ORDERED
        assert z.by_rank[np.int64(2)] == (2, 5.0)

    @pytest.mark.parametrize("i", [6, -7, 10**30, -(10**30)])
    def test_outside_is_an_index_error(self, z: SortedSet, i: int) -> None:
        with pytest.raises(IndexError):
            z.by_rank[i]

    @pytest.mark.parametrize("i", ["a", 1.0, None], ids=repr)
    def test_no_index_is_a_type_error(self, z: SortedSet, i: Any) -> None:
        with pytest.raises(TypeError):
            z.by_rank[i]

    @pytest.mark.parametrize("start", [None, 0, 2, -2, -100, 100, 10**30])
    @pytest.mark.parametrize("stop", [None, 0, 3, -1, -100, 100, 10**30])
    @pytest.mark.parametrize("step", [None, 1, 2, 5, -1, -2, 10**30, -(10**30)])
    def test_slices_as_of_a_list(
        self, z: SortedSet, start: int | None, stop: int | None, step: int | None
    ) -> None:
        rows = z.by_rank[start:stop:step]
        assert rows == ORDERED[start:stop:step]
        assert rows.ranks.tolist() == list(range(6))[start:stop:step]

    def test_arrays_of_ranks(self, z: SortedSet) -> None:
        rows = z.by_rank[np.array([5, 0, 0, -1])]
        assert rows == [ORDERED[5], ORDERED[0], ORDERED[0], ORDERED[5]]
        assert rows.ranks.tolist() == [5, 0, 0, 5]
        assert z.by_rank[np.array([], dtype=np.int64)] == []
        for outside in (6, -7):
            with pytest.raises(IndexError):
                z.by_rank[np.array([0, outside])]
        with pytest.raises((TypeError, IndexError)):
            z.by_rank[np.array([0.0])]


def test_ends(z: SortedSet) -> None:
    assert z.top(2) == [(6, 9.0), (3, 7.0)]
    assert z.top(2).ranks.tolist() == [5, 4]
    assert z.bottom(2) == [(4, -1.0), (1, 5.0)]
    assert z.bottom(2).ranks.tolist() == [0, 1]
    assert z.top() == ORDERED[::-1]
    assert z.top(0) == []
    assert z.most_common(2) == [(6, 9.0), (3, 7.0)]
    assert type(z.most_common()) is list
    assert z.most_common() == ORDERED[::-1]


def test_ties(z: SortedSet) -> None:
    assert z.top(3, ties="all") == [(6, 9.0), (3, 7.0), (5, 5.0), (2, 5.0), (1, 5.0)]
    assert z.bottom(2, ties="all") == ORDERED[:4]
    assert z.top(1, ties="all") == [(6, 9.0)]
    assert z.top(0, ties="all") == []
    assert z.bottom(99, ties="all") == ORDERED


@pytest.mark.parametrize(
    ("closed", "expected"),
    [("both", [1, 2, 5, 3]), ("left", [1, 2, 5]), ("right", [3]), ("none", [])],
)
def test_range_by_score(z: SortedSet, closed: str, expected: list[int]) -> None:
    rows = z.range_by_score(5, 7, closed=closed)
    assert rows.members.tolist() == expected
    backward = z.range_by_score(5, 7, closed=closed, descending=True)
    assert backward.members.tolist() == expected[::-1]
    assert z.count(5, 7, closed=closed) == len(expected)


def test_range_by_score_windows(z: SortedSet) -> None:
    assert z.range_by_score() == ORDERED
    assert z.range_by_score(7, 5) == []
    assert z.range_by_score(offset=4) == ORDERED[4:]
    assert z.range_by_score(limit=2) == ORDERED[:2]
    assert z.range_by_score(offset=1, limit=2, descending=True) == ORDERED[::-1][1:3]
    assert z.range_by_score(offset=99) == []
    assert z.range_by_score(limit=0) == []
    assert z.range_by_score(5, offset=1, limit=1).ranks.tolist() == [2]


def test_infinite_scores_are_in_range(make: Any) -> None:
    z = make({1: INF, 2: -INF, 3: 0.0})
    assert z.count() == 3
    assert z.count(closed="none") == 1
    assert z.range_by_score(INF, INF) == [(1, INF)]
    assert z.range_by_score(hi=-INF) == [(2, -INF)]


def test_minus_zero_is_zero(make: Any) -> None:
    z = make({1: -0.0, 2: 0.0, 3: 0.0})
    assert list(z) == [1, 2, 3]
    assert z.count(0.0, 0.0) == z.count(-0.0, -0.0) == 3
    assert z.count(-0.0, closed="right") == 0


@pytest.mark.parametrize("descending", [True, False])
def test_pages(z: SortedSet, descending: bool) -> None:
    whole = ORDERED[::-1] if descending else ORDERED
    first = z.page(4, descending=descending)
    assert first.rows == whole[:4]
    assert first.cursor is not None
    second = z.page(4, after=first.cursor, descending=descending)
    assert second.rows == whole[4:]
    assert second.cursor is None
    assert z.page(6, descending=descending).cursor is None
    assert (
        z.page(3, after=z.page(3, descending=descending).cursor, descending=descending).cursor
        is None
    )


def test_pages_survive_the_loss_of_the_cursor_row(z: SortedSet) -> None:
    first = z.page(3)
    z.discard(first.rows[-1][0])
    assert z.page(9, after=first.cursor).rows == ORDERED[2::-1]


def test_a_page_of_an_empty_set(make: Any) -> None:
    page = make().page(3)
    assert page.rows == []
    assert page.cursor is None


@pytest.mark.parametrize("after", [0, "x", (1,), object()], ids=type)
def test_a_foreign_cursor_is_refused(z: SortedSet, after: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        z.page(2, after=after)


def test_around(z: SortedSet) -> None:
    assert z.around(2, 1) == ORDERED[1:4]
    assert z.around(4, 2) == ORDERED[:3]
    assert z.around(6, 2) == ORDERED[3:]
    assert z.around(2, 0) == [(2, 5.0)]
    assert z.around(2) == ORDERED
    with pytest.raises(KeyError):
        z.around(99)


class TestSample:
    def test_without_replacement(self, z: SortedSet) -> None:
        rows = z.sample(6, rng=np.random.default_rng(1))
        assert sorted(rows) == sorted(ORDERED)
        assert z.sample(0) == []
        with pytest.raises(ValueError):
            z.sample(7)

    def test_with_replacement(self, z: SortedSet) -> None:
        rows = z.sample(500, replace=True, rng=np.random.default_rng(1))
        assert len(rows) == 500
        assert set(rows) == set(ORDERED)

    def test_a_seed_repeats(self, make: Any) -> None:
        z = make(range(1000), 1.0)
        assert z.sample(9, rng=5) == z.sample(9, rng=5)
        assert z.sample(9, rng=5) != z.sample(9, rng=6)

    def test_every_member_can_come(self, make: Any) -> None:
        z = make(range(5000), np.arange(5000) % 7)
        seen = set()
        for seed in range(40):
            seen |= set(z.sample(1000, rng=seed).members.tolist())
        assert len(seen) > 4900

    def test_an_empty_set(self, make: Any) -> None:
        assert make().sample(0) == []
        for replace in (False, True):
            with pytest.raises(ValueError):
                make().sample(1, replace=replace)


def test_many_members_as_the_model_reads_them(make: Any, layout: Layout) -> None:
    """Ten thousand members in pages, table and many leaves, asked in every way."""
    rng = np.random.default_rng(7)
    ids = np.concatenate(
        [np.arange(-3000, 3000), rng.integers(layout.lowest, layout.highest, 4000)]
    )
    values = rng.integers(0, 400, len(ids)) / 2.0
    z, model = make(ids, values), ModelSortedSet(ids, values, **layout.options)
    asked = np.concatenate([ids[::500], [9999]])
    for method in ("ordinal", "min", "max", "dense", "average"):
        assert_same(model.ranks(asked, method=method), z.ranks(asked, method=method))
    assert_same(model.range_by_score(20, 50.5), z.range_by_score(20, 50.5))
    assert_same(model.by_rank[4000:2000:-3], z.by_rank[4000:2000:-3])
    assert_same(model.top(700, ties="all"), z.top(700, ties="all"))
    assert_same(model.digest(), z.digest())
    z._validate()
