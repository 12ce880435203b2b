"""Faults others met, about floats: NaN from infinities (B01), lost bits (B09, B45), 2**24 (B32)."""

from __future__ import annotations

import math
import struct
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from model.layouts import Layout

from goblin import PrecisionWarning, SortedSet

INF, NAN = math.inf, math.nan


class TestB01NanFromOppositeInfinities:
    @pytest.mark.parametrize(
        "write",
        [
            lambda z: z.increment(1, -INF),
            lambda z: z.increment(2, NAN),
            lambda z: z.add(3, NAN),
            lambda z: z.increment_many([2, 1], [1.0, -INF]),
            lambda z: z.increment_many([2, 2], [INF, -INF]),
            lambda z: z.increment_many(np.array([1]), np.array([-INF], dtype=np.float32)),
            lambda z: z.update([2, 3], [1.0, NAN]),
            lambda z: z.subtract([1], [INF]),
            lambda z: z.shift(-INF),
            lambda z: z.scale(0),
        ],
    )
    @pytest.mark.parametrize("size", [0, 10, 5000])
    def test_raises_and_changes_nothing(
        self, make: Any, write: Callable[[Any], Any], size: int
    ) -> None:
        z = make(range(100, 100 + size), -1.0)
        z.add(1, INF)
        with pytest.raises(ValueError):
            write(z)
        assert z[1] == INF
        assert len(z) == size + 1
        assert z.rank(1) == size
        assert 2 not in z
        assert 3 not in z
        z._validate()

    def test_merges_give_zero_as_the_stores_do(self, make: Any) -> None:
        z = make({1: INF})
        z.merge(make({1: INF}), weight=-1)
        assert z == {1: 0.0}
        z = make()
        z.merge(make({1: INF, 2: -INF}), weight=0)
        assert z == {1: 0.0, 2: 0.0}

    def test_finite_overflow_is_infinity(self) -> None:
        z = SortedSet({1: 1.7e308}, member="int64")
        assert z.increment(1, 1.7e308) == INF


class TestB32TwoToThe24:
    """The documented rule: a bulk call rounds after each step, exactly as single calls would."""

    @pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")
    @pytest.mark.parametrize("split", [[10], [3, 7], [1] * 10])
    @pytest.mark.parametrize("others", [0, 5000])
    def test_bulk_is_the_sequence(self, split: list[int], others: int) -> None:
        z = SortedSet(range(10, 10 + others), 1.0, member="int32", score="float32")
        z.add(1, 16777216.0)
        for part in split:
            z.increment_many([1] * part, [1.0] * part)
        assert z[1] == 16777216.0
        assert z.increment(1, 10.0) == 16777226.0
        z._validate()

    def test_the_stop_is_announced(self) -> None:
        for score, value in (("float32", 2.0**24), ("float64", 2.0**53)):
            z = SortedSet({2: value}, member="int64", score=score)
            with pytest.warns(PrecisionWarning):
                assert z.increment(2, 1.0) == value

    def test_what_does_not_fit(self) -> None:
        z = SortedSet(member="int64", score="float32")
        with pytest.raises(OverflowError):
            z.add(3, 1e39)
        z.add(4, 1e-46)
        assert z[4] == 0.0  # binary32's nearest; documented
        z.increment(5, 3e38)
        with pytest.raises(OverflowError):
            z.increment(5, 3e38)
        assert z.to_dict() == {4: 0.0, 5: float(np.float32(3e38))}


class TestB09AndB45EveryBitIsKept:
    VALUES = (
        0.1, 1 / 3, 1467787000123.0, 1e16, 1e17, 1e-10, 5e-324, 2.2250738585072014e-308,
        1.7976931348623157e308, INF, -INF, 1467787000123.25, 33333333.333333332,
        math.nextafter(1, 2), 9007199254740993.0, 0.5, 7.0,
    )  # fmt: skip

    def test_bits_and_ranks(self) -> None:
        patterns = np.random.default_rng(4).integers(0, 2**64, 1000, dtype=np.uint64)
        random = patterns.view(np.float64)
        values = np.concatenate([self.VALUES, random[np.isfinite(random)]])
        z = SortedSet(range(len(values)), values, member="int64")
        for member, value in enumerate(values.tolist()):
            assert struct.pack("<d", z[member]) == struct.pack("<d", value)
        assert z.scores(range(len(values))).tobytes() == values.tobytes()
        assert z.to_numpy()[1].tobytes() == np.sort(values).tobytes()
        assert tuple(SortedSet(z).digest())[2:] == tuple(z.digest())[2:]  # the total is NaN

    def test_scores_that_differ_in_the_last_bit_keep_their_order(self, layout: Layout) -> None:
        kind = np.dtype(layout.score).type
        for value in (1.0, 0.1, 1e10, -3.0, 1e-30):
            low = kind(value)
            high = np.nextafter(low, kind(INF))
            z = SortedSet([1, 2], [high, low], **layout.options)
            assert list(z) == [2, 1]
            assert z.count(low, low) == 1
            assert z.rank(1, method="min") == 1


def test_warnings_are_errors_only_where_digits_are_lost(layout: Layout) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        z = SortedSet(range(5000), np.arange(5000), **layout.options)
        z.increment_many(np.arange(5000), np.arange(5000))
        z.decay(3.0, 1.0)
        z.scale(0.1)
