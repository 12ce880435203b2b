"""Faults others met, about memory and growth: stored order (B48), churn (B58), mass removal (B59),
overwrites (B65), id ranges (B64)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from model.compare import assert_memory

from goblin import SortedSet

RNG = np.random.default_rng(48)
SPARSE = np.unique(RNG.integers(-(2**62), 2**62, 50_000))


def live(z: SortedSet) -> int:
    return z._live_bytes()


def fresh(z: SortedSet) -> SortedSet:
    """The same members in a set that has no history; its order built if z's is."""
    twin = SortedSet(z.to_dict(), member=z.member_dtype, score=z.score_dtype)
    twin.rank(0, default=None)
    return twin


class TestB48StoredOrder:
    """Members copied in the order of one table must not crowd another one."""

    SCRIPT = """
import numpy as np, sys
from goblin import SortedSet
n = 2_000_000
kinds = {
    "random": np.random.default_rng(1).integers(-2**62, 2**62, n),
    "shifted 16": np.arange(n) << 16,
    "shifted 32": np.arange(n) << 32,
    "sequential": np.arange(n),
}
a = SortedSet(kinds[sys.argv[1]], 1.0, member="int64")
b = SortedSet(*a.to_numpy(), member="int64")
c = SortedSet(member="int64")
c.update(a)
c.merge(b)
d = a.copy()
d.increment_many(b.to_numpy()[0])
assert c == d
for z in (a, b, c, d):
    z._validate()
"""

    @pytest.mark.parametrize("ids", ["random", "shifted 16", "shifted 32", "sequential"])
    def test_never_quadratic(self, ids: str) -> None:
        """Seconds where all is well; the limit only stops a run that would take hours."""
        subprocess.run([sys.executable, "-c", self.SCRIPT, ids], check=True, timeout=300)


class TestB58Churn:
    LIVE, ROUNDS = 1000, 100_000

    def check(self, z: SortedSet) -> None:
        z._validate()
        assert_memory(z)
        assert live(z) <= 4 * live(fresh(z)) + 4096

    @pytest.mark.parametrize("step", [1, 4096, 10_007, 2**20])
    def test_add_and_remove(self, make: Any, step: int) -> None:
        z = make()
        ids = np.arange(self.ROUNDS) * step % 2**31
        for m in ids[: self.ROUNDS // 2].tolist():
            z.add(m, 1.0)
            z.discard(m)
        for part in np.array_split(ids, 300):
            z.update(part, 1.0)
            z.remove(part)
        assert len(z) == 0
        self.check(z)

    @pytest.mark.parametrize("step", [1, 10_007])
    def test_sliding_window(self, make: Any, step: int) -> None:
        z = make()
        for i in range(20_000):
            z.add(i * step, float(i % 2**20))
            if i >= self.LIVE:
                z.pop_min()
        assert len(z) == self.LIVE
        assert z.by_rank[0][0] == (20_000 - self.LIVE) * step
        self.check(z)

    def test_rescoring_between_extremes(self, make: Any) -> None:
        z = make(range(self.LIVE), 0.0)
        z.rank(0)
        ids = np.arange(self.LIVE)
        for i in range(200):
            z.update(ids, (ids % 2) * 1e6 * (-1) ** i)
            assert z.by_rank[0][1] == min(0.0, 1e6 * (-1) ** i)
        self.check(z)


class TestB59MassRemoval:
    @staticmethod
    def one_by_one(z: SortedSet, left: int) -> None:
        for member in list(z)[: len(z) - left]:
            z.discard(member)

    @staticmethod
    def one_by_one_descending(z: SortedSet, left: int) -> None:
        for member in list(reversed(z))[: len(z) - left]:
            del z[member]

    @staticmethod
    def at_random(z: SortedSet, left: int) -> None:
        z.remove(np.random.default_rng(2).permutation(z.to_numpy()[0])[: len(z) - left])

    @staticmethod
    def by_rank(z: SortedSet, left: int) -> None:
        z.remove_by_rank(left, len(z))

    @staticmethod
    def by_pops(z: SortedSet, left: int) -> None:
        while len(z) > left:
            z.pop_min(min(100, len(z) - left))

    @staticmethod
    def by_trim(z: SortedSet, left: int) -> None:
        z.trim(left)

    @staticmethod
    def by_score(z: SortedSet, left: int) -> None:
        z.remove_by_score(z.by_rank[left][1] if left else -np.inf, np.inf)

    WAYS = (one_by_one, one_by_one_descending, at_random, by_rank, by_pops, by_trim, by_score)

    @pytest.mark.parametrize("left", [0, 1, 10])
    @pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
    @pytest.mark.parametrize(
        "ids", [range(30_000), SPARSE[:30_000] % 2**31], ids=["dense", "sparse"]
    )
    def test_the_memory_comes_back(
        self, make: Any, ids: Any, way: Callable[[Any, int], None], left: int
    ) -> None:
        z = make(ids, np.arange(30_000))
        assert z.by_rank[0][1] == 0
        peak, walk = live(z), iter(z)
        next(walk)
        way(z, left)
        assert len(z) == left
        with pytest.raises(RuntimeError):
            next(walk)
        z._validate()
        assert_memory(z)
        assert live(z) <= max(4 * live(fresh(z)), 8192) < peak / 4
        z.update(ids, 1.0)
        assert len(z) == len(set(np.array(ids).tolist()))
        z._validate()

    def test_clear_gives_everything_back(self, make: Any) -> None:
        z = make(SPARSE % 2**31, 1.0)
        z.rank(0, default=None)
        z.clear()
        assert live(z) <= live(make())
        assert_memory(z)

    @pytest.mark.parametrize("size", [63, 64, 65, 255, 256, 448, 512, 896, 4096])
    def test_no_thrashing_at_a_threshold(self, make: Any, size: int) -> None:
        """Adding and removing at a boundary keeps size and soundness."""
        z = make(np.arange(size) * 5, 1.0)
        z.rank(0)
        sizes = set()
        for i in range(2000):
            z.add(3, float(i))
            z.discard(3)
            if i % 100 == 0:
                z.rank(0)
                sizes.add(live(z))
        z._validate()
        assert max(sizes) <= 3 * min(sizes)


class TestB65Overwrites:
    @pytest.mark.parametrize(
        "ids", [range(5000), (SPARSE[:5000] % 2**31).tolist()], ids=["dense", "sparse"]
    )
    def test_scores_that_change_width_leave_no_holes(self, make: Any, ids: Any) -> None:
        """Scores from one byte to full width and back, many times."""
        z = make(ids, 1.0)
        rng = np.random.default_rng(65)
        for _ in range(40):
            width = rng.choice([1.0, 300.0, 70_000.0, 0.5, -1e30])
            z.update(ids, rng.integers(0, 200, 5000) * width)
            z.rank(0, default=None)
        z.update(ids, np.arange(5000) % 200)
        z.optimize()
        again = fresh(z)
        again.optimize()
        assert live(z) <= 2 * live(again)
        assert z.digest() == again.digest()
        assert_memory(z)


class TestB64MemoryDoesNotDependOnTheLargestId:
    @pytest.mark.parametrize(
        ("member", "ids"),
        [
            ("int64", [0, 2**40, 2**62]),
            ("int64", [-(2**63), 2**63 - 1]),
            ("int64", [-(2**63), -1, 0, 1, 2**63 - 1]),
            ("int32", [-(2**31), 2**31 - 1]),
        ],
    )
    def test_a_few_members_far_apart(self, member: str, ids: list[int]) -> None:
        z = SortedSet(ids, 1.0, member=member)
        assert list(z) == sorted(ids)
        assert z.memory().total < 2048
        z.increment_many(ids)
        z.optimize()
        assert z.memory().total < 2048
        assert list(z.values()) == [2.0] * len(ids)
        z._validate()

    def test_mixed_with_many_small_ids(self) -> None:
        far = [2**62, -(2**63), 2**63 - 1, 2**40]
        z = SortedSet(range(100_000), 1.0, member="int64")
        alone = live(z)
        z.increment_many(np.concatenate([np.arange(100_000), far]))
        assert live(z) < alone + 100_000
        assert z.scores(far).tolist() == [1.0] * 4
        z._validate()

    def test_a_member_in_every_page(self) -> None:
        ids = np.arange(-30_000, 30_000) * 4096
        z = SortedSet(ids, 1.0, member="int32")
        assert live(z) / len(ids) < 40
        z._validate()


class TestSmallSets:
    def test_ten_members_in_400_bytes(self, make: Any) -> None:
        z = make(range(10), range(10))
        assert sys.getsizeof(z) <= 400
        assert z.rank(3) == 3  # an ordered read builds the order, another 100 bytes or so
        assert sys.getsizeof(z) <= 520
        z._validate()

    @pytest.mark.parametrize("size", range(0, 140, 3))
    def test_growing_out_of_the_small_form_and_back(self, make: Any, size: int) -> None:
        z = make()
        for i in range(size):
            z.add(i * 1000 - 5000, float(i % 7))
        z._validate()
        assert list(z.values()) == sorted(i % 7 for i in range(size))
        for i in range(size):
            assert z.discard(i * 1000 - 5000)
            z._validate()
        assert len(z) == 0
