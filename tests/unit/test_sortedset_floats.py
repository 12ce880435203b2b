"""Score widths: rounding, overflow, PrecisionWarning, zeros and infinities."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import goblin
from goblin import PrecisionWarning, SortedSet

INF = math.inf
MAX32 = float(np.finfo(np.float32).max)


@pytest.fixture
def narrow() -> SortedSet:
    return SortedSet(member="int64", score="float32")


@pytest.fixture
def wide() -> SortedSet:
    return SortedSet(member="int64")


class TestFloat32:
    def test_holds_what_binary32_holds(self, narrow: SortedSet) -> None:
        narrow.add(1, 0.1)
        assert narrow[1] == float(np.float32(0.1))
        narrow.update([2, 3], [1 / 3, 1e-46])
        assert narrow[2] == float(np.float32(1 / 3))
        assert narrow[3] == 0.0
        assert narrow.scores([1, 2]).dtype == np.float32

    def test_setting_the_same_double_again_changes_nothing(self, narrow: SortedSet) -> None:
        assert narrow.add(1, 0.1) is True
        assert narrow.add(1, 0.1) is False
        assert narrow.add(1, 0.1, mode="gt") is False

    @pytest.mark.parametrize("value", [1e39, -1e39, 3.5e38])
    def test_finite_overflow(self, narrow: SortedSet, value: float) -> None:
        narrow.add(0, math.copysign(MAX32, value))
        before = narrow.to_dict()
        for call in (
            lambda: narrow.add(1, value),
            lambda: narrow.update([1, 2], [1.0, value]),
            lambda: narrow.update({1: 1.0, 2: value}),
            lambda: narrow.increment(0, math.copysign(3e38, value)),
            lambda: narrow.increment_many([1, 0], [1.0, math.copysign(3e38, value)]),
            lambda: narrow.scale(2),
            lambda: narrow.shift(math.copysign(3e38, value)),
        ):
            with pytest.raises(OverflowError):
                call()
            assert narrow.to_dict() == before
        narrow._validate()

    def test_infinity_itself_is_fine(self, narrow: SortedSet) -> None:
        narrow.update({1: INF, 2: -INF, 3: MAX32})
        assert list(narrow) == [2, 3, 1]
        assert narrow.increment(1, -1e30) == INF

    def test_bounds_are_narrowed_like_scores(self, narrow: SortedSet) -> None:
        narrow.update({1: 0.1, 2: 0.2})
        assert narrow.count(0.1, 0.2) == 2
        assert narrow.count(0.1, 0.2, closed="none") == 0
        assert narrow.range_by_score(0.1, 0.1).members.tolist() == [1]
        assert narrow.remove_by_score(0.2, 0.2) == 1

    def test_bounds_saturate(self, narrow: SortedSet) -> None:
        narrow.update({1: -MAX32, 2: 0.0, 3: MAX32})
        assert narrow.count(-1e300, 1e300) == 3
        assert len(narrow.range_by_score(lo=-1e39)) == 3
        assert narrow.count(hi=-1e300) == 0
        assert narrow.percentile_of(1e300) == 100.0

    @pytest.mark.parametrize("chunks", [1, 2, 3, 10])
    def test_repeats_round_after_each_step(self, narrow: SortedSet, chunks: int) -> None:
        narrow.add(1, 16777216.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrecisionWarning)
            for part in np.array_split(np.ones(10, dtype=np.int64), chunks):
                narrow.increment_many(part)
        assert narrow[1] == 16777216.0
        assert narrow.increment(1, 10.0) == 16777226.0


@pytest.mark.parametrize("score", ["float32", "float64"])
class TestPrecisionWarning:
    @pytest.fixture
    def z(self, score: str) -> SortedSet:
        return SortedSet(
            {1: 2.0**24 if score == "float32" else 2.0**53}, member="int64", score=score
        )

    @pytest.mark.parametrize(
        "increment",
        [lambda z: z.increment(1), lambda z: z.increment_many([1]), lambda z: z.subtract({1: -1})],
    )
    def test_an_increment_that_changes_nothing_warns_once(
        self, z: SortedSet, increment: Callable[[Any], Any]
    ) -> None:
        before = z[1]
        with pytest.warns(PrecisionWarning) as caught:
            increment(z)
            increment(z)
            z.increment(1)
        assert len(caught) == 1
        assert z[1] == before

    @pytest.mark.parametrize(
        "warns",
        [
            lambda z: z.increment(1),
            lambda z: z.increment_many([1]),
            lambda z: z.subtract({1: -1}),
            lambda z: z.add(2, 2**53 + 1),
            lambda z: z.update({2: 2**53 + 1}),
            lambda z: SortedSet({2: 2**53 + 1}),
            lambda z: SortedSet(np.array([2]), np.array([2**53 + 1])),
            lambda z: goblin.Boards.from_arrays([1], [2], np.array([2**53 + 1])),
        ],
    )
    def test_it_points_to_the_line_that_called(
        self, z: SortedSet, warns: Callable[[Any], Any]
    ) -> None:
        with pytest.warns(PrecisionWarning) as caught:
            warns(z)
        assert caught[0].filename == __file__

    def test_each_object_warns_for_itself(self, z: SortedSet) -> None:
        for each in (z, SortedSet(z)):
            with pytest.warns(PrecisionWarning):
                each.increment(1)

    def test_exact_increments_do_not_warn(self, z: SortedSet) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            z.increment(1, 2.0)
            z.increment(1, 0.0)
            z.increment(1, -8.0)
            z.increment_many([1, 2], [4.0, 1.0])
            z.add(5, 0.1)

    def test_the_warning_as_an_error_loses_nothing(self, z: SortedSet) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):  # what was refused once is not let pass the second time
                with pytest.raises(PrecisionWarning):
                    z.increment_many([2, 1])
                with pytest.raises(PrecisionWarning):
                    z.increment(1)
        z._validate()
        assert list(z) == [1]

    def test_code_that_calls_need_not_have_a_name(self, z: SortedSet) -> None:
        with pytest.warns(PrecisionWarning):
            exec("z.add(2, 2**53 + 1)", {"__name__": 5, "z": z})
        assert z[2] == 2**53


@pytest.mark.parametrize(
    ("score", "value"), [("float64", 2**53 + 1), ("float64", 2**63 - 1), ("float32", 2**24 + 1)]
)
def test_integer_arrays_that_lose_digits_warn(score: str, value: int) -> None:
    z = SortedSet(member="int64", score=score)
    with pytest.warns(PrecisionWarning):
        z.update([1, 2], np.array([1, value], dtype=np.int64))
    assert z[2] == float(np.dtype(score).type(value))


@pytest.mark.parametrize(
    ("score", "value"), [("float64", 2**53), ("float64", 2**62), ("float32", 2**24)]
)
def test_integer_arrays_that_fit_do_not_warn(score: str, value: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        z = SortedSet([1, 2], np.array([1, value], dtype=np.int64), member="int64", score=score)
    assert z[2] == value


class TestFloat64:
    def test_overflow_gives_infinity_as_in_redis(self, wide: SortedSet) -> None:
        wide.add(1, 1.7e308)
        assert wide.increment(1, 1.7e308) == INF
        wide.increment_many([2, 2], -1.7e308)
        assert wide[2] == -INF
        wide._validate()

    @pytest.mark.parametrize(
        "value",
        [5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, math.nextafter(1, 2)],
    )
    def test_every_bit_is_kept(self, wide: SortedSet, value: float) -> None:
        wide.add(1, value)
        wide.add(2, math.nextafter(value, INF) if value < 1e308 else INF)
        assert wide[1] == value
        assert list(wide) == [1, 2]
        assert wide.by_rank[0] == (1, value)


def test_opposite_infinities_are_refused(make: Any) -> None:
    z = make({1: INF, 2: -INF, 3: 0.0})
    for call in (
        lambda: z.increment(1, -INF),
        lambda: z.increment(2, INF),
        lambda: z.increment_many([3, 1], [1.0, -INF]),
        lambda: z.increment_many([3, 3], [INF, -INF]),
        lambda: z.subtract({3: 1.0, 1: INF}),
    ):
        with pytest.raises(ValueError):
            call()
        assert z == {1: INF, 2: -INF, 3: 0.0}
    z._validate()


def test_minus_zero_is_stored_as_zero(make: Any) -> None:
    z = make({1: -0.0})
    z.update([2], np.array([-0.0]))
    z.increment(3, -0.0)
    z.increment(4, 1.0)
    z.increment(4, -1.0)
    z.scale(-1)
    assert [math.copysign(1, z[m]) for m in (1, 2, 3, 4)] == [1.0] * 4
    assert z.add(1, -0.0) is False
