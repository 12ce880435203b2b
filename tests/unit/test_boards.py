"""Boards: one sorted set for each group."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from model import fixtures, landed
from model.compare import assert_same
from model.layouts import ALL_LAYOUTS, Layout

import goblin
from goblin import SortedSet

pytestmark = pytest.mark.skipif(not landed.name("Boards"), reason="has not landed")

GROUPS = ["blitz", "rapid", "blitz", "blitz", "bullet", "rapid"]
NUMBERS = [1, 1, 2, 1, 3, 1]
STEPS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
layout = fixtures.over([each for each in ALL_LAYOUTS if not each.is_float32])


@pytest.fixture
def boards(layout: Layout) -> Any:
    members = layout.array(map(layout.nth, NUMBERS))
    return goblin.Boards.from_arrays(np.array(GROUPS), members, np.array(STEPS))


def expected(layout: Layout) -> dict[str, dict[Any, float]]:
    one, two, three = layout.series(1, 4)
    return {"blitz": {one: 9.0, two: 4.0}, "bullet": {three: 16.0}, "rapid": {one: 34.0}}


def test_a_mapping_of_sets(boards: Any, layout: Layout) -> None:
    assert isinstance(boards, Mapping)
    assert len(boards) == 3
    assert list(boards) == ["blitz", "bullet", "rapid"]
    assert all(type(group) is str for group in boards)
    assert dict(boards) == expected(layout)
    for group, z in boards.items():
        assert isinstance(z, SortedSet)
        assert z.layout == str(layout)
        assert boards[group] is z
        z._validate()
    assert "rapid" in boards
    assert boards.get("classical") is None
    for absent in ("classical", "", 5, None):
        assert absent not in boards
        with pytest.raises(KeyError):
            boards[absent]


@pytest.mark.parametrize("n", [0, 1, 2, 10, 10**30])
def test_top(boards: Any, layout: Layout, n: int) -> None:
    rows = boards.top(n)
    listed = [(group, *row) for group in boards for row in boards[group].top(n)]
    assert len(rows) == len(listed)
    assert list(rows.groups) == [group for group, _, _ in listed]
    assert_same(layout.array([m for _, m, _ in listed]), rows.members)
    assert list(rows.scores) == [score for _, _, score in listed]
    ranks = [rank for z in boards.values() for rank in z.top(n).ranks.tolist()]
    assert list(rows.ranks) == ranks


def test_top_takes_ten_and_no_negative_number(boards: Any) -> None:
    assert len(boards.top()) == 4
    with pytest.raises(ValueError):
        boards.top(-1)
    with pytest.raises(TypeError):
        boards.top(1.0)


@pytest.mark.parametrize(
    "groups",
    [
        [3, -1, 3, 3, 2, -1],
        np.array([3, -1, 3, 3, 2, -1], dtype=np.int8),
        ["b", "", "b", "b", "a\0b", ""],
        np.array(["b", "", "b", "b", "aé", ""]),
        np.array(["b", "", "b", "b", "aé", ""], dtype=np.dtypes.StringDType()),
        np.array(["b", "", "b", "b", "aé", ""], dtype=object),
        [b"b", b"", b"b", b"b", b"\xff", b""],
        np.array([b"b", b"", b"b", b"b", b"\xff", b""]),
    ],
    ids=lambda groups: f"{type(groups).__name__}-{getattr(groups, 'dtype', type(groups[0]))}",
)
def test_kinds_of_groups(layout: Layout, groups: Any) -> None:
    listed = groups.tolist() if isinstance(groups, np.ndarray) else groups
    counts: dict[Any, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for group, number, step in zip(listed, NUMBERS, STEPS, strict=True):
        counts[group][layout.nth(number)] += step
    boards = goblin.Boards.from_arrays(groups, list(map(layout.nth, NUMBERS)), STEPS)
    assert list(boards) == sorted(counts)
    assert [type(group) for group in boards] == [type(listed[0])] * 3
    assert dict(boards) == counts


def test_one_step_for_all(layout: Layout) -> None:
    boards = goblin.Boards.from_arrays([7, 7, 8], layout.array([layout.nth(1)] * 3), 2.5)
    assert dict(boards) == {7: {layout.nth(1): 5.0}, 8: {layout.nth(1): 2.5}}


def test_nothing() -> None:
    boards = goblin.Boards.from_arrays([], [], [])
    assert len(boards) == len(boards.top()) == 0
    assert list(boards) == []


@pytest.mark.parametrize(
    ("groups", "members", "by", "error"),
    [
        ([1, 2], [1], 1.0, ValueError),
        ([1], [1, 2], 1.0, ValueError),
        ([1, 2], [1, 2], [1.0], ValueError),
        ([1, 2], [1, 2], [1.0, math.nan], ValueError),
        ([1, 1], [1, 1], [math.inf, -math.inf], ValueError),
        ([1, 2], [1, 2.5], 1.0, TypeError),
        ([1, 2], "ab", 1.0, TypeError),
        ("ab", [1, 2], 1.0, TypeError),
        ([1, 2], [1, 2], "ab", TypeError),
        (np.ones((2, 2), int), [1, 2], 1.0, ValueError),
    ],
)
def test_bad_input(groups: Any, members: Any, by: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        goblin.Boards.from_arrays(groups, members, by)


@pytest.mark.parametrize("count", [5, 70, 300])
def test_many_groups(layout: Layout, count: int) -> None:
    rng = np.random.default_rng(count)
    groups, numbers = rng.integers(0, count, 3000), rng.integers(0, 200, 3000)
    steps = rng.integers(1, 9, 3000) / 2
    members = layout.array(map(layout.nth, numbers.tolist()))
    boards = goblin.Boards.from_arrays(groups, members, steps)
    assert list(boards) == np.unique(groups).tolist()
    for group, z in boards.items():
        mine = SortedSet(member=layout.member)
        mine.increment_many(members[groups == group], steps[groups == group])
        assert z.digest() == mine.digest()
        z._validate()
