"""numpy's quantile methods, over a set's scores by rank instead of an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

# The families of Hyndman and Fan (1996) with interpolation: their alpha and beta.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}
_ROUNDED: dict[str, Callable[[Any], Any]] = {
    "lower": np.floor,
    "higher": np.ceil,
    "nearest": np.around,
}


def quantiles(
    n: int, q: ArrayLike, method: str, scores_at: Callable[[NDArray[np.int64]], NDArray[Any]]
) -> Any:
    """The quantiles q of n scores, float64 of the shape of q; `scores_at` reads them by rank.

    ValueError for no scores, for q outside 0..1 and an unknown method."""
    wanted = np.asarray(q, dtype=np.float64)
    if not ((wanted >= 0) & (wanted <= 1)).all():
        raise ValueError("quantiles must be in 0..1")
    if not n:
        raise ValueError("an empty set has no quantiles")
    below, share = places(n, wanted, method)
    ranks = np.clip([below, below + 1], 0, n - 1).astype(np.int64)
    low, high = scores_at(ranks.ravel()).astype(np.float64).reshape(ranks.shape)
    return between(low, high, share)[()]


def places(n: int, q: Floats, method: str) -> tuple[Floats, Floats]:
    """Where the quantiles q of n scores lie: the rank below, and the share of the one above it.

    The operations and their order are numpy's, so that every bit is. ValueError for an unknown
    method."""
    if method in _ROUNDED:
        return _ROUNDED[method]((n - 1) * q), np.zeros_like(q)
    if method in ("inverted_cdf", "closest_observation"):
        return _step(n * q - 1 if method == "inverted_cdf" else n * q - 1 - 0.5, method)
    if method == "averaged_inverted_cdf":
        index = n * q - 1
    elif method == "midpoint":
        index = 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
    elif method == "linear":
        index = (n - 1) * q
    elif method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        index = n * q + (alpha + q * (1 - alpha - beta)) - 1
    else:
        raise ValueError(f"unknown method: {method!r}")
    below = np.floor(index)
    share = index - below
    if method == "averaged_inverted_cdf":
        share = np.where(share == 0, 0.5, 1.0)
    elif method == "midpoint":
        share = np.where(index % 1 == 0, 0.0, 0.5)
    return below, share


def _step(index: Floats, method: str) -> tuple[Floats, Floats]:
    """Methods that always take a score of the data: the next rank, but for hits."""
    below = np.floor(index)
    hit = index == below
    if method == "closest_observation":
        hit &= below % 2 == 1  # the even one of two equally near, counted from 1
    return np.maximum(np.where(hit, below, below + 1), 0.0), np.zeros_like(index)


def between(low: Floats, high: Floats, share: Floats) -> Floats:
    """Linear interpolation as numpy's, but that it gives no NaN next to infinities where one of
    the two scores is the answer."""
    with np.errstate(invalid="ignore"):
        step = high - low
        mixed = np.where(share >= 0.5, high - step * (1 - share), low + step * share)
    return np.select([(low == high) | (share == 0), share == 1], [low, high], mixed)
