"""memory(), digest(), optimize(), compress and merge_exponent: what they say and what they keep."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest
from model.compare import assert_content, assert_memory
from model.layouts import Layout
from model.sorted_set import ModelSortedSet

from goblin import SortedSet

DENSE = np.arange(20_000)
SPARSE = np.random.default_rng(3).integers(-(2**31), 2**31, 20_000)


@pytest.mark.parametrize(
    "ids", [[], [1, 2, 3], DENSE, SPARSE], ids=["empty", "few", "dense", "sparse"]
)
def test_the_report_agrees_with_the_allocator(make: Any, ids: Any) -> None:
    z = make(ids, 1.0)
    for step in (
        lambda: None,
        lambda: z.rank(1, default=None),
        lambda: z.increment_many(ids[:50] if len(ids) else []),
        lambda: z.optimize(),
        lambda: z.remove(ids[::2]),
        lambda: z.clear(),
    ):
        step()
        assert_memory(z)


def test_the_report_reads_well(make: Any) -> None:
    report = make(DENSE, DENSE % 9).memory()
    assert report.per_member == pytest.approx(report.total / len(DENSE))
    lines = str(report).splitlines()
    for part in ("pages", "table", "members", "pending", "order", "object", "total"):
        assert any(part in line for line in lines)


def test_getsizeof_covers_the_structures(make: Any) -> None:
    z = make(SPARSE, 1.0)
    assert sys.getsizeof(z) >= z._live_bytes()


def test_dense_members_live_in_pages_and_sparse_ones_in_the_table(make: Any) -> None:
    dense, sparse = make(DENSE, 1.0), make(SPARSE, 1.0)
    assert dense._structure()["pages"] >= len(DENSE) // 16_384
    assert sparse._structure()["table_members"] == len(sparse)
    assert dense.memory().per_member < 4
    dense._validate()
    sparse._validate()


def test_the_order_is_built_when_first_asked_for(make: Any) -> None:
    z = make(DENSE, DENSE % 100)
    assert not z._structure()["order_built"]
    z.rank(5)
    assert z._structure()["order_built"]
    z.increment_many(DENSE[:10])
    assert z._structure()["pending"] == 10
    z.optimize()
    assert z._structure()["pending"] == 0
    assert_memory(z)


@pytest.mark.parametrize(("exponent", "debt"), [(0.0, 1), (0.5, 142), (1.0, 20_000)])
def test_merge_exponent_bounds_the_debt(make: Any, exponent: float, debt: int) -> None:
    z = make(DENSE, 1.0, merge_exponent=exponent)
    z.rank(5)
    for member in range(400):
        z.increment(member)
        assert z._structure()["pending"] <= debt
    z._validate()
    assert z.rank(399) == len(z) - 1


@pytest.mark.parametrize(
    "options", [{"compress": False}, {"compress": True}, {"merge_exponent": 0}]
)
def test_options_change_no_answer(layout: Layout, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(11)
    z, model = SortedSet(**layout.options, **options), ModelSortedSet(**layout.options)
    for _ in range(6):
        ids, steps = rng.integers(-2000, 6000, 3000), rng.integers(0, 9, 3000)
        for each in (z, model):
            each.increment_many(ids, steps)
            each.remove_by_score(0, 2)
        assert_content(model, z)
        z.optimize()
    assert_content(model, z)


def test_compress_saves_memory() -> None:
    packed = SortedSet(DENSE, DENSE % 50, member="int64")
    loose = SortedSet(DENSE, DENSE % 50, member="int64", compress=False)
    for z in (packed, loose):
        z.rank(0)
        z.optimize()
    assert packed.memory().order < loose.memory().order / 2
    assert packed.digest() == loose.digest()


def test_optimize_keeps_the_content_and_never_costs_memory(make: Any) -> None:
    z = make(DENSE, DENSE % 333)
    z.rank(0)
    z.remove(DENSE[::3])
    z.increment_many(DENSE[1::3], 0.5)
    before, size = z.to_dict(), z.memory().total
    z.optimize()
    assert z.to_dict() == before
    assert z.memory().total <= size
    z._validate()
    assert_memory(z)


def test_digest(make: Any, layout: Layout) -> None:
    ids = np.concatenate([DENSE[:3000], SPARSE[:3000]])
    z, model = make(ids, ids % 71 / 2), ModelSortedSet(ids, ids % 71 / 2, **layout.options)
    assert z.digest() == z.copy().digest()
    assert tuple(z.digest()) == tuple(model.digest())
    before = z.digest()
    z.increment(int(ids[7]), 1.0)
    after = z.digest()
    assert (after.ordered, after.mapping) != (before.ordered, before.mapping)
    assert make().digest().mapping == 0


def test_the_same_mapping_digest_for_another_tie_order() -> None:
    """`mapping` is a sum, so engines that order ties otherwise still agree."""
    a = SortedSet({1: 1.0, 2: 1.0}, member="int64")
    swapped = SortedSet({2: 1.0, 1: 1.0}, member="int32", score="float32")
    assert a.digest() == swapped.digest()
    other = SortedSet({1: 1.0, 2: 2.0}, member="int64")
    assert a.digest().mapping != other.digest().mapping


def test_a_failed_allocation_can_be_asked_for(make: Any) -> None:
    z = make(DENSE, 1.0)
    z._fail_at(1)
    with pytest.raises(MemoryError):
        z.increment_many(SPARSE)
    z._fail_at(0)
    assert z == dict.fromkeys(DENSE.tolist(), 1.0)
    z.increment_many(SPARSE)
    z._validate()


def test_digests_are_equal_also_where_the_total_is_nan() -> None:
    z = SortedSet({7: math.inf, 8: -math.inf})
    assert math.isnan(z.digest().total)
    assert z.digest() == z.copy().digest()
    assert hash(z.digest()) == hash(z.copy().digest())
