"""MovieLens counts: real ids with real popularity, counted, ranked and summed."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from model.compare import assert_content, assert_same
from model.sorted_set import ModelSortedSet

from goblin import SortedSet


@pytest.fixture
def ratings(shared_data: Path) -> tuple[np.ndarray, np.ndarray]:
    """Movie ids and ratings (halves from 0.5 to 5), one a row."""
    with zipfile.ZipFile(shared_data / "ml-latest-small.zip") as archive:
        name = next(name for name in archive.namelist() if name.endswith("ratings.csv"))
        with archive.open(name) as file:
            table = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(1, 2))
    return table[:, 0].astype(np.int64), table[:, 1]


@pytest.mark.parametrize("member", ["int32", "int64"])
def test_counts(ratings: tuple[np.ndarray, np.ndarray], member: str) -> None:
    ids, _ = ratings
    z = SortedSet.from_counts(ids, member=member)
    assert (len(z), z.total()) == (9724, 100_836.0)
    assert z.top(5) == [(356, 329.0), (318, 317.0), (296, 307.0), (593, 279.0), (2571, 278.0)]
    assert z == Counter(ids.tolist())
    model = ModelSortedSet(Counter(ids.tolist()), member=member)
    assert_content(model, z)
    asked = ids[:40]
    for method in ("min", "dense", "average"):
        assert_same(model.ranks(asked, method=method), z.ranks(asked, method=method))
    values, counts = z.distinct_scores()
    assert (values[0], counts[0]) == (1.0, z.count(1, 1))
    assert z.memory().per_member < 40


@pytest.mark.parametrize("score", ["float32", "float64"])
def test_sums_of_ratings(ratings: tuple[np.ndarray, np.ndarray], score: str) -> None:
    ids, stars = ratings
    z = SortedSet(member="int32", score=score)
    for part in np.array_split(np.arange(len(ids)), 7):
        z.increment_many(ids[part], stars[part])
        z.rank(1)
    sums = np.zeros(ids.max() + 1)
    np.add.at(sums, ids, stars)
    np.testing.assert_array_equal(z.scores(np.unique(ids)), sums[np.unique(ids)])
    assert z.total() == stars.sum()
    assert z.quantile(0.5) == np.quantile(sums[np.unique(ids)], 0.5)
    z._validate()
