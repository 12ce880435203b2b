"""Sums, quantiles, percentiles and histograms against numpy and scipy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from goblin import SortedSet

INF = math.inf
QUANTILE_METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
    "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher",
    "midpoint", "nearest",
]  # fmt: skip
SCORES = np.random.default_rng(5).integers(-40, 400, 999) / 4.0


@pytest.fixture
def z(make: Any) -> SortedSet:
    return make(range(len(SCORES)), SCORES)


@pytest.mark.parametrize("method", QUANTILE_METHODS)
def test_quantiles_as_in_numpy(z: SortedSet, method: str) -> None:
    q = [0.0, 0.001, 0.25, 0.3, 0.5, 0.77, 0.999, 1.0]
    expected = np.quantile(SCORES, q, method=method)
    found = z.quantile(q, method=method)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert z.quantile(0.3, method=method) == pytest.approx(expected[3], rel=1e-14)
    assert np.ndim(z.quantile(0.3, method=method)) == 0
    assert z.quantile(np.array(q).reshape(2, 4), method=method).shape == (2, 4)


@pytest.mark.parametrize("method", QUANTILE_METHODS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_quantiles_of_few(make: Any, method: str, size: int) -> None:
    z, q = make(range(size), SCORES[:size]), np.linspace(0, 1, 11)
    expected = np.quantile(SCORES[:size], q, method=method)
    np.testing.assert_allclose(z.quantile(q, method=method), expected, rtol=1e-14)


@pytest.mark.parametrize("kind", ["rank", "weak", "strict", "mean"])
@pytest.mark.parametrize("score", [-INF, -11.0, -10.0, 3.25, 3.3, 50.0, 99.75, 1e6, INF])
def test_percentiles_as_in_scipy(z: SortedSet, kind: str, score: float) -> None:
    expected = stats.percentileofscore(SCORES, np.asarray(score, dtype=z.score_dtype), kind=kind)
    assert z.percentile_of(score, kind=kind) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("bins", [1, 7, 10, [-20, 0, 3.25, 50, 100], [0, 0.5]])
@pytest.mark.parametrize("limits", [None, (0, 50), (3.25, 3.5)])
def test_histograms_as_in_numpy(z: SortedSet, bins: Any, limits: Any) -> None:
    counts, edges = z.histogram(bins, limits)
    expected_counts, expected_edges = np.histogram(SCORES, bins, limits)
    np.testing.assert_array_equal(counts, expected_counts)
    np.testing.assert_allclose(edges, expected_edges, rtol=1e-7)
    assert z.histogram(bins=bins, range=limits)[0].tolist() == counts.tolist()


def test_histogram_of_one_value(make: Any) -> None:
    counts, edges = make([1, 2], 3.0).histogram(4)
    expected_counts, expected_edges = np.histogram([3.0, 3.0], 4)
    np.testing.assert_array_equal(counts, expected_counts)
    np.testing.assert_array_equal(edges, expected_edges)


# Ranges of which numpy can make no ten bins, and some that it can.
EDGES = {
    "one ulp": [1.0, 1.0 + 2**-52],
    "no ulp left for bins": [1e16, 1e16],
    "subnormals": [0.0, 5e-324],
    "wider than floats": [-1e308, 1e308],
    "as wide as floats": [0.0, 1.7e308],
    "infinite": [0.0, INF],
    "infinite both ways": [-INF, INF],
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's own, of what overflows
@pytest.mark.parametrize("scores", EDGES.values(), ids=EDGES)
def test_histograms_refuse_what_numpy_does(scores: list[float]) -> None:
    z = SortedSet([1, 2], scores)
    for limits in (None, (scores[0], scores[1]), (0.0, INF), (-1e308, 1e308), (math.nan, 1.0)):
        try:
            expected = np.histogram(scores, 10, limits)
        except ValueError:
            with pytest.raises(ValueError, match=r"not finite|Too many bins"):
                z.histogram(10, limits)
        else:
            counts, edges = z.histogram(10, limits)
            np.testing.assert_array_equal(counts, expected[0])
            np.testing.assert_array_equal(edges, expected[1])


def test_distinct_scores(z: SortedSet) -> None:
    values, counts = z.distinct_scores()
    expected_values, expected_counts = np.unique(SCORES, return_counts=True)
    np.testing.assert_array_equal(values, expected_values)
    np.testing.assert_array_equal(counts, expected_counts)
    assert values.dtype == z.score_dtype


def test_sums(z: SortedSet) -> None:
    assert z.total() == SCORES.sum()
    assert z.mean() == SCORES.sum() / 999
    assert z.sum(0, 10) == SCORES[(SCORES >= 0) & (SCORES <= 10)].sum()
    assert z.sum(10, 0) == 0.0


def test_describe(z: SortedSet) -> None:
    described = z.describe()
    assert list(described) == ["count", "total", "mean", "min", "25%", "50%", "75%", "max"]
    assert described["count"] == 999
    assert described["total"] == SCORES.sum()
    assert described["mean"] == pytest.approx(SCORES.mean())
    found = [described[name] for name in ("min", "25%", "50%", "75%", "max")]
    np.testing.assert_allclose(found, np.quantile(SCORES, [0, 0.25, 0.5, 0.75, 1]))


def test_an_empty_set(make: Any) -> None:
    z = make()
    assert z.total() == 0.0
    assert z.sum(-INF, INF) == 0.0
    assert math.isnan(z.mean())
    assert z.describe()["count"] == 0
    assert z.histogram(5)[0].tolist() == [0] * 5
    assert [part.tolist() for part in z.distinct_scores()] == [[], []]
    for call in (lambda: z.quantile(0.5), lambda: z.percentile_of(1.0)):
        with pytest.raises(ValueError):
            call()


class TestExactSum:
    """total() is the exact sum, rounded once, whatever the order."""

    @pytest.mark.parametrize("seed", range(5))
    def test_against_fractions(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        values = rng.standard_normal(600) * 10.0 ** rng.integers(-300, 300, 600)
        exact = float(sum(map(Fraction, values.tolist())))
        assert SortedSet(range(600), values, member="int64").total() == exact

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ([0.1] * 10, 1.0),
            ([1e16, 1.0, -1e16], 1.0),
            ([1e308, 1e308, -1e308], 1e308),
            ([1.7e308, 1.7e308], INF),
            ([-1.7e308, -1.7e308], -INF),
            ([1.0, 2.0**-53, 2.0**-105], 1.0000000000000002),
            ([1.0, 2.0**-53], 1.0),
            ([5e-324, 5e-324], 1e-323),
            ([1e300, 5e-324, -1e300], 5e-324),
            ([INF, -1e308, -1e308], INF),
            ([-INF, 1.0], -INF),
            ([1.0, -1.0], 0.0),
        ],
    )
    def test_edges(self, values: list[float], expected: float) -> None:
        z = SortedSet(range(len(values)), values, member="int64")
        assert z.total() == expected
        assert z.sum(-INF, INF) == expected
        assert z.digest().total == expected
        assert math.copysign(1.0, z.total()) == math.copysign(1.0, expected)

    def test_opposite_infinities_give_nan(self, make: Any) -> None:
        z = make({1: INF, 2: -INF, 3: 1.0})
        assert math.isnan(z.total())
        assert math.isnan(z.mean())
        assert z.sum(0, INF) == INF

    def test_float32_scores_are_summed_as_doubles(self) -> None:
        z = SortedSet(range(3), [2.0**24, 1.0, 1.0], member="int32", score="float32")
        assert z.total() == 2.0**24 + 2


@pytest.mark.parametrize("method", ["lower", "higher", "nearest", "inverted_cdf"])
def test_quantiles_that_are_scores_stay_so_next_to_infinities(method: str) -> None:
    scores = [-math.inf, -math.inf, 1.0, 2.0, math.inf]
    z = SortedSet(range(5), scores)
    shares = np.linspace(0, 1, 21)
    expected = np.quantile(scores, shares, method=method)
    np.testing.assert_array_equal(z.quantile(shares, method=method), expected)


def test_the_ends_next_to_infinities() -> None:
    assert SortedSet({7: 1.0, 8: math.inf}).describe()["min"] == 1.0
    assert SortedSet({7: -math.inf, 8: 1.0}).describe()["max"] == 1.0
