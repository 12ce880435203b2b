"""Rows: what ordered reads give back."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from model.layouts import Layout

from goblin import SortedSet

PAIRS = [(4, -1.0), (1, 5.0), (2, 5.0), (3, 7.0)]


@pytest.fixture
def z(make: Any) -> SortedSet:
    return make(PAIRS)


def test_arrays(z: SortedSet, layout: Layout) -> None:
    rows = z.bottom(3)
    assert rows.members.dtype == layout.member
    assert rows.scores.dtype == layout.score
    assert rows.ranks.dtype == np.int64
    assert rows.members.tolist() == [4, 1, 2]
    assert rows.scores.tolist() == [-1.0, 5.0, 5.0]
    assert rows.ranks.tolist() == [0, 1, 2]


def test_sequence(z: SortedSet) -> None:
    rows = z.bottom(10)
    assert len(rows) == 4
    assert rows[0] == (4, -1.0)
    assert rows[-1] == (3, 7.0)
    assert list(rows) == PAIRS
    assert rows.to_list() == PAIRS
    assert type(rows.to_list()) is list
    member, score = rows[1]
    assert (type(member), type(score)) == (int, float)
    for i in (4, -5, 10**30):
        with pytest.raises(IndexError):
            rows[i]
    with pytest.raises(TypeError):
        rows["a"]


@pytest.mark.parametrize("part", [slice(1, 3), slice(None, None, -1), slice(0), slice(-2, None)])
def test_slices_are_rows_too(z: SortedSet, part: slice) -> None:
    rows = z.bottom(10)[part]
    assert rows == PAIRS[part]
    assert rows.ranks.tolist() == list(range(4))[part]
    assert rows.members.dtype == z.member_dtype


def test_equality(z: SortedSet) -> None:
    rows = z.bottom(10)
    assert rows == PAIRS
    assert rows == z.by_rank[:]
    assert rows != PAIRS[:3]
    assert rows != PAIRS[::-1]
    assert rows != [(4, -1.0), (1, 5.0), (2, 5.0), (3, 7.5)]
    assert z.bottom(0) == []
    assert rows != 1


def test_rows_are_a_snapshot(z: SortedSet) -> None:
    rows = z.bottom(10)
    z.clear()
    z.update({9: 1.0})
    assert rows == PAIRS


def test_writing_into_the_arrays_does_not_reach_the_set(z: SortedSet) -> None:
    for array in (*z.to_numpy(), z.bottom(4).scores, z.scores([1])):
        with contextlib.suppress(ValueError):  # read-only is as good
            array[:] = 99
    assert list(z.items()) == PAIRS
    z._validate()


def test_repr_shows_pairs_and_stays_short(make: Any) -> None:
    text = repr(make(PAIRS).bottom(10))
    assert "4" in text
    assert "-1.0" in text
    assert len(repr(make(range(100_000), 1.0).top(100_000))) < 5000


def test_to_numpy_and_structured_array(z: SortedSet, layout: Layout) -> None:
    members, scores = z.to_numpy()
    assert members.tolist() == [4, 1, 2, 3]
    assert scores.tolist() == [-1.0, 5.0, 5.0, 7.0]
    assert (members.dtype, scores.dtype) == layout
    table = np.asarray(z)
    assert table.dtype.names == ("member", "score")
    assert table["member"].tolist() == [4, 1, 2, 3]
    assert table["score"].tolist() == [-1.0, 5.0, 5.0, 7.0]
    assert np.asarray(SortedSet(**layout.options)).shape == (0,)


def test_rows_as_an_array_keep_members_exact() -> None:
    rows = SortedSet({2**60 + 1: 1.0, 5: 2.0}).top(2)
    table = np.asarray(rows)
    assert table["member"].tolist() == [5, 2**60 + 1]
    assert table["score"].tolist() == [2.0, 1.0]
    with pytest.raises(ValueError, match="copy"):
        np.array(rows, copy=False)
