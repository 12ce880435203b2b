"""Parts of a set: each member in one of them, the same everywhere; scores by rank of all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from model.layouts import ALL_LAYOUTS, Layout

from goblin import SortedSet, _convert, _shards

SHARDS = 5
# On both sides of the borders of pages, and many to a page.
NUMBERS = np.concatenate([np.arange(300), np.arange(40) * 2**14, np.arange(40) * 2**14 + 2**14 - 1])


def places(members: Any, shards: int = SHARDS, **options: Any) -> list[int]:
    z: SortedSet[Any] = SortedSet(**options)
    return _shards.places(z, _convert.members(members, z.member_dtype), shards).tolist()


@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_split(layout: Layout) -> None:
    members = layout.array(map(layout.nth, np.unique(NUMBERS).tolist()))
    z = SortedSet(members, np.arange(len(members)) % 7, **layout.options, compress=False)
    parts = _shards.split(z, SHARDS)
    assert {(part.layout, part._compress) for part in parts} == {(z.layout, False)}
    assert sum(map(len, parts)) == len(z)
    assert all(len(part) for part in parts)
    for shard, part in enumerate(parts):
        part._validate()
        assert all(z[member] == score for member, score in part.items())
        assert places(list(part), **layout.options) == [shard] * len(part)


def test_widths_and_kinds_of_text_agree() -> None:
    numbers = NUMBERS.tolist()
    assert places(numbers, member="int32") == places(numbers, member="int64")
    texts = [f"{number}é" for number in numbers]
    assert places(texts, member="str") == places([t.encode() for t in texts], member="bytes")


def test_pages_stay_whole() -> None:
    assert len(set(places(range(2**14), 1000, member="int64"))) == 1
    assert len(set(places(range(-(2**14), 0), 1000, member="int64"))) == 1
    assert len(set(places(range(0, 2**20, 2**14), 1000, member="int64"))) > 50


def test_the_array_for_places_is_long_enough() -> None:
    z = SortedSet(member="int64")
    with pytest.raises(ValueError, match="too short"):
        z._shards(np.arange(3), SHARDS, np.empty(2, np.uint16))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scores_by_rank(dtype: str) -> None:
    rng = np.random.default_rng(3)
    info = np.finfo(dtype)
    scores = np.concatenate(
        [
            rng.normal(size=200) * 1e30,
            rng.integers(-3, 4, 100),
            [math.inf, math.inf, -math.inf, info.max, info.min],
            [info.smallest_subnormal, -info.smallest_subnormal, 0.0],
        ]
    ).astype(dtype)
    scores.sort()
    asked = []

    def up_to(wanted: np.ndarray) -> np.ndarray:
        assert wanted.dtype == dtype and (np.diff(wanted) >= 0).all()
        asked.append(len(wanted))
        return np.searchsorted(scores, wanted, "right")

    ranks = rng.permutation(len(scores))
    found = _shards.scores_at(ranks, dtype, up_to)
    assert found.dtype == dtype
    assert found.tolist() == scores[ranks].tolist()
    assert not np.signbit(found[found == 0]).any()
    assert len(asked) <= (4 if dtype == "float32" else 8)


def test_what_a_shard_counts() -> None:
    z = SortedSet({"a": 1.0, "b": 1.0, "d": 2.0})
    members = np.array(["0", "b", "c", "c"], np.dtypes.StringDType())
    below = _shards.entries_below(z, members, np.array([1.0, 1.0, 1.0, 5.0]))
    assert below.tolist() == [0, 1, 2, 3]
    assert _shards.spans(z, np.array([0.5, 1.0, 2.0])).tolist() == [[0, 0], [0, 2], [2, 3]]
    assert _shards.spans(z, np.empty(0)).shape == (0, 2)
