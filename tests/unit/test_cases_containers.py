"""Faults others met, about containers: windows (B03), ties (B05), extreme samples (B16),
iteration (B18), copies (B19), indexes (B24)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from model.layouts import Layout

from goblin import SortedSet


class TestB03Windows:
    @pytest.mark.parametrize("others", [0, 300])
    def test_nothing_from_outside_the_window(self, make: Any, others: int) -> None:
        z = make([(i, float(i)) for i in range(1, 6 + others)])
        five = [(i, float(i)) for i in range(1, 6)]
        assert z.range_by_score(1, 5, offset=2) == five[2:]
        assert z.range_by_score(1, 5, offset=9, limit=1) == []
        assert z.range_by_score(1, 5, offset=5, limit=1) == []
        assert z.range_by_score(1, 5, offset=0, limit=0) == []
        assert z.range_by_score(1, 5, descending=True, offset=4, limit=10) == five[:1]
        for window in ({"offset": -2, "limit": 10}, {"limit": -1}, {"offset": 2, "limit": -7}):
            for descending in (False, True):
                with pytest.raises(ValueError):
                    z.range_by_score(1, 5, descending=descending, **window)


class TestB05Ties:
    @pytest.mark.parametrize("others", [0, 400, 5000])
    @pytest.mark.parametrize("optimized", [False, True])
    def test_ties_are_in_numeric_order_both_ways(
        self, make: Any, layout: Layout, others: int, optimized: bool
    ) -> None:
        tied = [10, 9, -1, 0, layout.highest, layout.lowest, 2**16, -(2**16), 255, 256]
        z = make(range(1000, 1000 + others), 2.0)
        z.update(tied, 1.0)
        if optimized:
            z.optimize()
        rows = z.range_by_score(1, 1)
        assert rows.members.tolist() == sorted(tied)
        assert z.range_by_score(1, 1, descending=True).members.tolist() == sorted(tied)[::-1]
        assert list(reversed(z))[-len(tied) :] == sorted(tied)[::-1]
        z._validate()

    @pytest.mark.parametrize("others", [0, 5000])
    def test_ties_after_updates_in_place(self, make: Any, others: int) -> None:
        a, b, c = 1, 2, 3
        z = make(range(100, 100 + others), 9.0)
        z.update({b: 1.0, a: 2.0, c: 3.0})
        assert list(z)[:3] == [b, a, c]
        z.add(a, 3.0)
        assert list(z)[:3] == [b, a, c]
        z.add(b, 3.0)
        assert list(z)[:3] == [a, b, c]
        z.add(c, 2.0)
        assert list(z)[:3] == [c, a, b]
        assert z.range_by_score(0, 5, descending=True).members.tolist() == [b, a, c]


class TestB16ExtremeSamples:
    @pytest.mark.parametrize("n", [-1, -(2**31), -(2**40), -(2**63), -(2**64)])
    @pytest.mark.parametrize("replace", [False, True])
    def test_negative(self, make: Any, n: int, replace: bool) -> None:
        for z in (make(), make({1: 1.0})):
            with pytest.raises(ValueError):
                z.sample(n, replace=replace)

    def test_counts(self, make: Any) -> None:
        z = make({1: 1.0})
        assert z.sample(3, replace=True) == [(1, 1.0)] * 3
        assert z.sample(1) == [(1, 1.0)]
        assert z.sample(0) == []
        for n in (2, 100, 2**63 - 1, 2**64):
            with pytest.raises(ValueError):
                z.sample(n)

    @pytest.mark.parametrize("n", [2**62, 2**63 - 1, 2**63, 2**64])
    def test_absurd_sizes_raise_before_they_allocate(self, make: Any, n: int) -> None:
        with pytest.raises((MemoryError, ValueError, OverflowError)):
            make({1: 1.0}).sample(n, replace=True)


class TestB18ChangesWhileIterating:
    def make_six(self, make: Any) -> SortedSet:
        return make([(i, float(i)) for i in range(6)])

    @pytest.mark.parametrize(
        "walk",
        [
            iter,
            reversed,
            lambda z: iter(z.items()),
            lambda z: iter(z.values()),
            lambda z: iter(z.keys()),
        ],
    )
    @pytest.mark.parametrize(
        "change",
        [
            lambda z, m: z.remove([m]),
            lambda z, m: z.increment(m, 100),
            lambda z, m: (z.remove([m]), z.add(77, 9.0)),
            lambda z, m: z.clear(),
        ],
    )
    def test_the_next_step_raises(
        self, make: Any, walk: Callable[[Any], Any], change: Callable[[Any, int], Any]
    ) -> None:
        z = self.make_six(make)
        steps = 0
        with pytest.raises(RuntimeError):
            for _ in walk(z):
                steps += 1
                change(z, next(iter(z)))
        assert steps == 1
        z._validate()

    def test_clear_before_the_first_step_is_no_normal_end(self, make: Any) -> None:
        z = self.make_six(make)
        walk = iter(z)
        z.clear()
        with pytest.raises(RuntimeError):
            next(walk)

    def test_nested_loops(self, make: Any) -> None:
        z = self.make_six(make)
        assert len([(a, b) for a in z for b in z]) == 36
        assert len([(a, b) for a in z.items() for b in reversed(z)]) == 36


class TestB19CopiesShareNothing:
    @pytest.mark.parametrize(
        "duplicate",
        [
            lambda z: z.copy(),
            copy.copy,
            copy.deepcopy,
            SortedSet,
            lambda z: SortedSet(*z.to_numpy(), member=z.member_dtype, score=z.score_dtype),
            lambda z: SortedSet(z.by_rank[:], member=z.member_dtype, score=z.score_dtype),
        ],
    )
    @pytest.mark.parametrize("size", [0, 2, 64, 65, 5000])
    def test_no_effect_either_way(
        self, make: Any, duplicate: Callable[[Any], Any], size: int
    ) -> None:
        z = make(range(size), np.arange(size) % 5)
        twin = duplicate(z)
        assert twin == z
        for one, other in ((z, twin), (twin, z)):
            kept = list(other.items())
            one.pop_min(1)
            one.increment(size // 2, 7.0)
            one.remove(range(0, size, 3))
            one.update(range(size, 3 * size + 100), 1.0)
            one.clear()
            assert list(other.items()) == kept
            one._validate()
            other._validate()
            one.update(kept)


class TestB24IndexesAndSlices:
    RANGES = ((0, -1), (-100, -50), (-100, -1), (-100, 0), (2, 1), (3, 10), (0, 10**18), (-1, -2),
              (-2, -1), (5, 2), (10**30, None), (None, 10**30))  # fmt: skip

    @pytest.mark.parametrize("bounds", RANGES)
    @pytest.mark.parametrize("step", [None, 1, -1, 2, -2])
    @pytest.mark.parametrize("size", [0, 3, 300])
    def test_slices(self, make: Any, bounds: tuple[Any, Any], step: int | None, size: int) -> None:
        listed = [(i, float(i)) for i in range(size)]
        part = slice(*bounds, step)
        assert make(listed).by_rank[part] == listed[part]

    @pytest.mark.parametrize("bounds", RANGES[:9])
    def test_remove_by_rank(self, make: Any, bounds: tuple[int, int]) -> None:
        listed = [(i, float(i)) for i in range(3)]
        z, expected = make(listed), listed.copy()
        del expected[slice(*bounds)]
        assert z.remove_by_rank(*bounds) == 3 - len(expected)
        assert list(z.items()) == expected

    def test_errors(self, make: Any) -> None:
        z = make([(1, 1.0), (2, 2.0), (3, 3.0)])
        for i in (3, -4, 10**30, -(10**30)):
            with pytest.raises(IndexError):
                z.by_rank[i]
        with pytest.raises(ValueError):
            z.by_rank[::0]
        with pytest.raises(TypeError):
            z.by_rank["a"]
        assert list(z.by_rank) == list(z.items())

    def test_ends_of_int64_in_a_slice(self) -> None:
        z = SortedSet([-(2**63), 2**63 - 1], 1.0, member="int64")
        assert z.by_rank[:] == [(-(2**63), 1.0), (2**63 - 1, 1.0)]

    @pytest.mark.parametrize("size", [0, 5])
    def test_pops(self, make: Any, size: int) -> None:
        listed = [(i, float(i)) for i in range(size)]
        z = make(listed)
        assert z.pop_min(0) == z.pop_max(0) == []
        for pop in (z.pop_min, z.pop_max):
            with pytest.raises(ValueError):
                pop(-1)
        assert z.pop_min(100) == listed
        assert len(z) == 0
