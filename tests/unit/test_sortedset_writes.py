"""Single writes and removals: answers, modes and call shapes."""

from __future__ import annotations

import math
from typing import Any

import pytest
from model.layouts import Layout

from goblin import SortedSet

INF = math.inf


@pytest.fixture
def z(make: Any) -> SortedSet:
    return make({1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0, 5: 5.0})


@pytest.mark.parametrize(
    ("mode", "score", "changes_old", "adds_new"),
    [
        ("set", 2.0, True, True),
        ("set", 1.0, False, True),
        ("nx", 2.0, False, True),
        ("xx", 2.0, True, False),
        ("xx", 1.0, False, False),
        ("gt", 2.0, True, True),
        ("gt", 1.0, False, True),
        ("gt", 0.0, False, True),
        ("lt", 0.0, True, True),
        ("lt", 1.0, False, True),
        ("lt", 2.0, False, True),
        ("xx_gt", 2.0, True, False),
        ("xx_gt", 0.0, False, False),
        ("xx_lt", 0.0, True, False),
        ("xx_lt", 2.0, False, False),
    ],
)
def test_modes(z: SortedSet, mode: str, score: float, changes_old: bool, adds_new: bool) -> None:
    assert z.add(1, score, mode=mode) is changes_old
    assert z[1] == (score if changes_old else 1.0)
    assert z.add(9, score, mode=mode) is adds_new
    assert (9 in z) is adds_new
    z._validate()
    bulk = SortedSet({1: 1.0}, member="int64")
    changes = bulk.update({1: score, 9: score}, mode=mode)
    assert (changes.added, changes.changed) == (adds_new, changes_old)
    assert changes.total == len(bulk)


def test_update_counts_every_write_in_input_order(make: Any) -> None:
    z = make()
    changes = z.update([(1, 1), (1, 2), (1, 2), (2, 1)])
    assert (changes.added, changes.changed, changes.total) == (2, 1, 2)
    changes = z.update([1, 1, 1], [5, 3, 5], mode="gt")
    assert (changes.added, changes.changed, changes.total) == (0, 1, 2)
    assert z == {1: 5.0, 2: 1.0}
    changes = z.update()
    assert (changes.added, changes.changed, changes.total) == (0, 0, 2)


def test_increment(z: SortedSet) -> None:
    assert z.increment(1) == 2.0
    assert z.increment(1, 0.5) == 2.5
    assert z.increment(1, by=-5) == -2.5
    assert z.increment(9, 7) == 7.0
    assert z.increment(8, -0.0) == 0.0
    assert math.copysign(1, z[8]) == 1.0
    assert type(z.increment(2)) is float
    z._validate()


def test_subtract(z: SortedSet) -> None:
    z.subtract({1: 5, 9: 2})
    z.subtract([1, 2, 2], [1, 1, 1])
    z.subtract([3], 3)
    assert z == {1: -5.0, 2: 0.0, 3: 0.0, 4: 4.0, 5: 5.0, 9: -2.0}


def test_remove_counts_each_member_once(z: SortedSet) -> None:
    assert z.remove([1, 1, 99, 2]) == 2
    assert z.remove([]) == 0
    assert z.remove(iter([3])) == 1
    assert list(z) == [4, 5]
    assert z.remove(z) == 2


def test_discard(z: SortedSet) -> None:
    assert z.discard(1) is True
    assert z.discard(1) is False


def test_pops(z: SortedSet) -> None:
    assert z.pop_min() == (1, 1.0)
    assert z.pop_max() == (5, 5.0)
    assert z.pop_min(0) == []
    lowest = z.pop_min(2)
    assert lowest == [(2, 2.0), (3, 3.0)]
    assert z.pop_max(n=100) == [(4, 4.0)]
    assert z.pop_max(3) == []
    assert z.pop_min(3) == []
    for pop in (z.pop_min, z.pop_max):
        with pytest.raises(KeyError):
            pop()


def test_pop_max_gives_the_highest_first(z: SortedSet) -> None:
    assert z.pop_max(2) == [(5, 5.0), (4, 4.0)]
    assert list(z) == [1, 2, 3]


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 2), (-2, 10), (1, -1), (3, 1), (-100, -50), (-100, 2), (9, 10**18)]
)
def test_remove_by_rank_is_a_slice(z: SortedSet, start: int, stop: int) -> None:
    listed = list(z)
    gone = listed[start:stop]
    assert z.remove_by_rank(start, stop) == len(gone)
    assert list(z) == [m for m in listed if m not in gone]
    z._validate()


@pytest.mark.parametrize(
    ("closed", "left"), [("both", [1, 5]), ("left", [1, 4, 5]), ("right", [1, 2, 5]),
                         ("none", [1, 2, 4, 5])]
)  # fmt: skip
def test_remove_by_score(z: SortedSet, closed: str, left: list[int]) -> None:
    assert z.remove_by_score(2, 4, closed=closed) == 5 - len(left)
    assert list(z) == left
    assert z.remove_by_score(4, 2) == 0


def test_remove_by_score_everything(z: SortedSet) -> None:
    z.update({8: INF, 9: -INF})
    assert z.remove_by_score(-INF, INF) == 7
    assert len(z) == 0


def test_trim(z: SortedSet) -> None:
    assert z.trim(10) == 0
    assert z.trim(4) == 1
    assert list(z) == [2, 3, 4, 5]
    assert z.trim(2, keep="bottom") == 2
    assert list(z) == [2, 3]
    assert z.trim(0) == 2
    assert len(z) == 0


class TestWholeSet:
    def test_scale(self, z: SortedSet) -> None:
        z.scale(-2)
        assert list(z.items()) == [(5, -10.0), (4, -8.0), (3, -6.0), (2, -4.0), (1, -2.0)]
        z.scale(0)
        assert list(z) == [1, 2, 3, 4, 5]
        assert set(z.values()) == {0.0}
        assert not any(math.copysign(1, score) < 0 for score in z.values())
        z._validate()

    def test_shift(self, z: SortedSet) -> None:
        z.shift(-3)
        assert list(z.values()) == [-2.0, -1.0, 0.0, 1.0, 2.0]

    def test_decay(self, z: SortedSet) -> None:
        z.decay(10, 20)
        assert list(z.values()) == [0.25, 0.5, 0.75, 1.0, 1.25]
        z.decay(half_life=1, elapsed=-2)
        assert list(z.values()) == [1.0, 2.0, 3.0, 4.0, 5.0]

    @pytest.mark.parametrize("half_life", [0, -1, math.nan])
    def test_decay_needs_a_positive_half_life(self, z: SortedSet, half_life: float) -> None:
        with pytest.raises(ValueError):
            z.decay(half_life, 1)

    def test_what_would_make_nan_is_refused(self, make: Any) -> None:
        z = make({1: INF, 2: 0.0, 3: 1.0})
        for call in (
            lambda: z.scale(0),
            lambda: z.scale(INF),
            lambda: z.scale(math.nan),
            lambda: z.shift(-INF),
            lambda: z.shift(math.nan),
        ):
            with pytest.raises(ValueError):
                call()
            assert z == {1: INF, 2: 0.0, 3: 1.0}
        z.shift(INF)
        assert set(z.values()) == {INF}
        z._validate()

    def test_overflow(self, layout: Layout, make: Any) -> None:
        z = make({1: 3e38, 2: 1.0})
        if layout.is_float32:
            for call in (lambda: z.scale(10), lambda: z.shift(3e38)):
                with pytest.raises(OverflowError):
                    call()
                assert z.to_dict() == {2: 1.0, 1: z[1]}
        else:
            z.scale(1e300)
            assert z == {1: INF, 2: 1e300}


class TestMerge:
    def test_sum_and_weight(self, make: Any) -> None:
        z = make({1: 1.0, 2: 2.0})
        z.merge(make({2: 10.0, 3: 30.0}))
        assert z == {1: 1.0, 2: 12.0, 3: 30.0}
        z.merge(SortedSet({1: 1.0, 4: 4.0}, member="int32"), weight=-2)
        assert z == {1: -1.0, 2: 12.0, 3: 30.0, 4: -8.0}
        z._validate()

    @pytest.mark.parametrize(
        ("aggregate", "expected"),
        [
            ("min", {1: 1.0, 2: 2.0, 3: 60.0}),
            ("max", {1: 1.0, 2: 20.0, 3: 60.0}),
            ("count", {1: 1.0, 2: 3.0, 3: 2.0}),
        ],
    )
    def test_aggregates(self, make: Any, aggregate: str, expected: dict[int, float]) -> None:
        z = make({1: 1.0, 2: 2.0})
        z.merge(make({2: 10.0, 3: 30.0}), weight=2, aggregate=aggregate)
        assert z == expected

    def test_nan_becomes_zero(self, make: Any) -> None:
        z = make({1: INF, 2: 1.0})
        z.merge(make({1: -INF, 3: INF}))
        assert z == {1: 0.0, 2: 1.0, 3: INF}
        z.merge(make({3: INF, 4: INF}), weight=0)
        assert z == {1: 0.0, 2: 1.0, 3: INF, 4: 0.0}

    def test_with_itself(self, make: Any) -> None:
        z = make({1: 1.0, 2: 2.0})
        z.merge(z)
        assert z == {1: 2.0, 2: 4.0}
        z.merge(z, weight=-1)
        assert z == {1: 0.0, 2: 0.0}

    def test_refusals_change_nothing(self, make: Any, layout: Layout) -> None:
        z, before = make({1: 3e38}), make({1: 3e38})
        other = SortedSet({0: 1.0, 1: 3e38, 2**40: 1.0}, member="int64")
        with pytest.raises(ValueError):
            z.merge(other, weight=math.nan)
        with pytest.raises(ValueError):
            z.merge(other, aggregate="mean")
        if layout.member == "int32" or layout.is_float32:
            with pytest.raises(OverflowError):
                z.merge(other)
        assert z == before
        z._validate()


class TestMove:
    def test_moves_with_the_score(self, z: SortedSet, make: Any) -> None:
        other = make({1: 9.0})
        assert z.move(other, [1, 2, 2, 99]) == 2
        assert list(z) == [3, 4, 5]
        assert other == {1: 1.0, 2: 2.0}

    @pytest.mark.parametrize(
        ("mode", "moved"), [("nx", {3, 4}), ("xx", {1, 2}), ("gt", {2, 3, 4}), ("lt", {1, 3, 4}),
                            ("xx_gt", {2}), ("xx_lt", {1})]
    )  # fmt: skip
    def test_refused_members_stay(self, z: SortedSet, make: Any, mode: str, moved: set) -> None:
        other = make({1: 5.0, 2: 0.0})
        before = z.to_dict()
        assert z.move(other, [1, 2, 3, 4], mode=mode) == len(moved)
        assert z == {m: s for m, s in before.items() if m not in moved}
        assert all(other[m] == before[m] for m in moved)
        z._validate()
        other._validate()

    def test_all_or_nothing(self) -> None:
        a = SortedSet({1: 1.0, 2**40: 1.0}, member="int64")
        b = SortedSet(member="int32")
        with pytest.raises(OverflowError):
            a.move(b, [1, 2**40])
        assert (len(a), len(b)) == (2, 0)
        a, b = (
            SortedSet({1: 1.0, 2: 1e300}, member="int64"),
            SortedSet(member="int64", score="float32"),
        )
        with pytest.raises(OverflowError):
            a.move(b, [1, 2])
        assert (len(a), len(b)) == (2, 0)

    def test_into_itself_is_refused(self, z: SortedSet) -> None:
        with pytest.raises(ValueError):
            z.move(z, [1])

    def test_only_into_a_sorted_set(self, z: SortedSet) -> None:
        with pytest.raises(TypeError):
            z.move({}, [1])
        assert len(z) == 5
