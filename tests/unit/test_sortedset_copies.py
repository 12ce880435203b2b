"""Copies share nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from goblin import SortedSet

COPIES = [lambda z: z.copy(), copy.copy, copy.deepcopy, SortedSet]
IDS = ["method", "copy", "deepcopy", "constructor"]
SIZES = [0, 3, 70, 9000]
CHANGES = [
    lambda z: z.pop_min(1),
    lambda z: z.increment(5, 100.0),
    lambda z: z.increment_many(range(20_000)),
    lambda z: z.remove(range(0, 5000, 2)),
    lambda z: z.scale(-1),
    lambda z: z.clear(),
]


def filled(make: Any, size: int, ordered: bool) -> SortedSet:
    ids = np.arange(size) * 3 - 50
    z = make(ids, ids % 19, compress=size % 2 == 0, merge_exponent=0.5)
    if ordered:
        z.optimize()
    z.increment_many(ids[:5])  # leaves something pending where there is an order
    return z


@pytest.mark.parametrize("duplicate", COPIES, ids=IDS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_copies_are_independent(
    make: Any,
    duplicate: Callable[[Any], Any],
    size: int,
    ordered: bool,
    change: Callable[[Any], Any],
) -> None:
    z = filled(make, size, ordered)
    twin = duplicate(z)
    assert twin == z
    assert twin.digest() == z.digest()
    assert twin.layout == z.layout
    before = list(z.items())
    change(z)
    assert list(twin.items()) == before
    z._validate()
    twin._validate()
    z = twin.copy()
    change(twin)
    assert list(z.items()) == before
    z._validate()
    twin._validate()


class Board(SortedSet):
    starts = 0

    def __init__(self, *data: Any, **options: Any) -> None:
        super().__init__(*data, **options)
        type(self).starts += 1


@pytest.mark.parametrize("duplicate", COPIES[:3], ids=IDS[:3])
def test_subclasses_come_back_as_themselves(duplicate: Callable[[Any], Any]) -> None:
    board = Board({1: 2.0}, member="int32")
    board.title = ["May"]
    starts = Board.starts
    twin = duplicate(board)
    assert type(twin) is Board
    assert Board.starts == starts
    assert twin == board
    assert twin.title == ["May"]


def test_shallow_and_deep_attributes() -> None:
    board = Board({1: 2.0}, member="int32")
    board.title = ["May"]
    assert copy.copy(board).title is board.title
    assert copy.deepcopy(board).title is not board.title


class Slotted(SortedSet):
    __slots__ = ("gone", "title")


@pytest.mark.parametrize("duplicate", COPIES[:3], ids=IDS[:3])
def test_slots_come_along(duplicate: Callable[[Any], Any]) -> None:
    board = Slotted({1: 2.0})
    board.title = ["May"]
    twin = duplicate(board)
    assert twin.title == ["May"]
    assert (twin.title is board.title) == (duplicate is not copy.deepcopy)
    assert not hasattr(twin, "gone")


def test_deepcopy_keeps_identity_inside_a_structure() -> None:
    z = SortedSet({1: 2.0}, member="int64")
    first, second = copy.deepcopy([z, z])
    assert first is second
    assert first is not z
