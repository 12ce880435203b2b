"""Shards: one state in parts, each member in one of them, and what each part tells of the whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _convert
from ._sortedset import SortedSet

_PIVOTS = 257  # 256 gaps between them: each question finds out eight bits of a score


def places(z: SortedSet[Any], members: _convert.Members, shards: int) -> NDArray[np.uint16]:
    """Which of so many shards each member, of the kind of a set, belongs to."""
    out = np.empty(len(members), np.uint16)
    z._shards(members, shards, out)
    return out


def split(z: SortedSet[Any], shards: int) -> list[SortedSet[Any]]:
    """The members of a set by shard, with its options. O(n)."""
    parts = [z._like() for _ in range(shards)]
    z._atomically(_fill, z, parts)
    return parts


def _fill(z: SortedSet[Any], parts: list[SortedSet[Any]]) -> None:
    for members, scores in z._chunks():
        where = places(z, members, len(parts))
        column = array_of(members)
        for part, rows in zip(parts, rows_by_shard(where, len(parts)), strict=True):
            part._update(_convert.members(column[rows], z.member_dtype), scores[rows], "set")


def rows_by_shard(where: NDArray[np.uint16], shards: int) -> list[NDArray[np.int64]]:
    """The rows of each shard, ascending."""
    ends = np.bincount(where, minlength=shards).cumsum()
    return np.split(np.argsort(where, kind="stable"), ends[:-1])


def array_of(members: _convert.Members) -> NDArray[Any]:
    """Members as an array, from which some can be taken."""
    return members if isinstance(members, np.ndarray) else members.to_array()


def entries_below(
    z: SortedSet[Any], members: NDArray[Any], scores: NDArray[Any]
) -> NDArray[np.int64]:
    """How many entries of a shard come before each (member, score). O(rows log n)."""
    entries = _convert.rows(members, scores)
    return np.fromiter((z._below(*entry) for entry in entries), np.int64, len(members))


def spans(z: SortedSet[Any], scores: NDArray[Any]) -> NDArray[np.int64]:
    """How many scores of a shard are below each of these, and up to it. O(rows log n)."""
    rows = [z._span(score, score, False, False) for score in scores.tolist()]
    return np.array(rows, np.int64).reshape(-1, 2)


def _unsigned(scores: NDArray[Any]) -> tuple[NDArray[Any], Any]:
    """The bits of floats, and the bit of the sign."""
    bits = scores.view(f"u{scores.dtype.itemsize}")
    return bits, bits.dtype.type(1 << (8 * scores.dtype.itemsize - 1))


def _keys(scores: NDArray[Any]) -> NDArray[np.uint64]:
    """Integers in the order of the floats, one after the other."""
    bits, sign = _unsigned(scores)
    return np.where(bits & sign, ~bits, bits | sign).astype(np.uint64)


def _floats(keys: NDArray[np.uint64], dtype: str) -> NDArray[Any]:
    bits, sign = _unsigned(np.empty(0, dtype))
    keys = keys.astype(bits.dtype)
    return np.where(keys & sign, keys ^ sign, ~keys).view(dtype)


def scores_at(
    ranks: NDArray[np.int64], dtype: str, up_to: Callable[[NDArray[Any]], NDArray[np.int64]]
) -> NDArray[Any]:
    """The scores at ranks of the whole, by bisection of the order of all floats.

    `up_to` counts the scores of the whole up to each of the ascending ones it is given; it is asked
    4 (float32) or 8 times at most, whatever the scores are."""
    ends = _keys(np.array([-math.inf, math.inf], dtype))
    low, high = (np.full(len(ranks), end) for end in ends)
    while (low < high).any():
        steps = (high - low) // np.uint64(_PIVOTS - 1) + np.uint64(1)
        pivots = low[:, None] + steps[:, None] * np.arange(_PIVOTS, dtype=np.uint64)
        pivots = np.minimum(pivots, high[:, None])
        asked, back = np.unique(pivots, return_inverse=True)
        enough = up_to(_floats(asked, dtype))[back.reshape(pivots.shape)] > ranks[:, None]
        first = enough.argmax(axis=1)[:, None]
        before = np.take_along_axis(pivots, np.maximum(first - 1, 0), axis=1)[:, 0]
        low = np.where(first[:, 0] > 0, before + np.uint64(1), low)
        high = np.take_along_axis(pivots, first, axis=1)[:, 0]
    return _floats(low, dtype) + 0.0  # no -0.0, which comes right before 0.0
