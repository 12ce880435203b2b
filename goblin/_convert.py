"""Input of bulk calls, as native contiguous arrays and exact values."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .errors import PrecisionWarning

Members = NDArray[np.int64]
Scores = NDArray[np.float64] | float

_TEXT = (str, bytes, bytearray)


def members(values: Any, dtype: str) -> Members:
    """Integer members as int64; `dtype` is what they have to fit."""
    if isinstance(values, _TEXT):
        raise TypeError(
            f"members are wanted, but this is one {type(values).__name__}; put it into a list"
        )
    if _is_array(values):
        array = _as_array(values)
        if array.ndim != 1:
            raise ValueError(f"members must have one dimension, not {array.ndim}")
        if array.dtype.kind in "iu":
            return _checked(array, dtype)
        if array.dtype.kind != "O":
            raise TypeError(f"integer members can't come from an array of {array.dtype}")
        values = array.tolist()
    return _filled_members(tuple(values), dtype)


def _is_array(values: Any) -> bool:
    """Whether numpy should read it; not a set, which would become an array of pairs."""
    return isinstance(values, memoryview) or (
        hasattr(type(values), "__array__") and not isinstance(values, _core.SortedSet)
    )


def _as_array(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError("masked entries have no value; leave them out, as .compressed() does")
    return np.asarray(values)


def _checked(array: NDArray[Any], dtype: str) -> Members:
    if array.size and not np.can_cast(array.dtype, dtype):
        limits = np.iinfo(dtype)
        for value in (int(array.min()), int(array.max())):
            if not limits.min <= value <= limits.max:
                raise OverflowError(f"member {value} does not fit {dtype}")
    return np.require(array, np.int64, ["C", "A"])


def _filled_members(items: tuple[Any, ...], dtype: str) -> Members:
    out = np.empty(len(items), np.int64)
    _core.fill_members(items, np.dtype(dtype).itemsize, out)
    return out


def scores(values: Any, count: int, dtype: str) -> Scores:
    """One float for all, or `count` float64; warns of integers that `dtype` would round."""
    if isinstance(values, _TEXT):
        raise TypeError(f"scores are wanted, but this is {type(values).__name__}")
    if _is_array(values):
        array = _as_array(values)
        if array.ndim:
            return _score_array(array, count, dtype)
        values = array[()]
    if isinstance(values, Iterable):
        return _filled_scores(tuple(values), count, dtype)
    return float(_filled_scores((values,), 1, dtype)[0])


def _score_array(array: NDArray[Any], count: int, dtype: str) -> NDArray[np.float64]:
    if array.ndim != 1:
        raise ValueError(f"scores must have one dimension, not {array.ndim}")
    if array.dtype.kind == "O":
        return _filled_scores(tuple(array.tolist()), count, dtype)
    if array.dtype.kind not in "iuf" or not np.can_cast(array.dtype, np.float64):
        raise TypeError(f"scores can't come from an array of {array.dtype}")
    _same_length(len(array), count)
    if array.dtype.kind in "iu" and _rounds(array, dtype):
        _warn_rounded()
    return np.require(array, np.float64, ["C", "A"])


def _filled_scores(items: tuple[Any, ...], count: int, dtype: str) -> NDArray[np.float64]:
    _same_length(len(items), count)
    out = np.empty(count, np.float64)
    if _core.fill_scores(items, np.dtype(dtype).itemsize, out):
        _warn_rounded()
    return out


def _same_length(got: int, count: int) -> None:
    if got != count:
        raise ValueError(f"{count} members, but {got} scores")


def _rounds(array: NDArray[Any], dtype: str) -> bool:
    """Whether some integer changes on its way into a score. Exact at both ends of 64 bits."""
    exact = 2 ** (np.finfo(dtype).nmant + 1)
    own = np.iinfo(array.dtype)
    if not array.size or (-exact <= own.min and own.max <= exact):
        return False
    if -exact <= array.min() and array.max() <= exact:
        return False
    stored = array.astype(dtype).astype(np.float64)
    below_the_end = np.minimum(stored, np.nextafter(float(own.max) + 1.0, 0.0))
    return bool((below_the_end.astype(array.dtype) != array).any())


def _warn_rounded() -> None:
    warnings.warn(
        "some integer scores have more digits than a score holds", PrecisionWarning, stacklevel=5
    )


def pairs(data: Any, dtype: str, score_dtype: str) -> tuple[Members, Scores]:
    """A mapping, or an iterable of (member, score)."""
    if isinstance(data, _TEXT):
        raise TypeError("a mapping or (member, score) pairs are wanted, not a text")
    if isinstance(data, Mapping):
        data = data.items()
    items = tuple(data)
    try:
        ids, values = _core.split_pairs(items)
    except TypeError as error:
        raise TypeError(
            "pairs of (member, score) are wanted; members alone need scores beside them, "
            "as in (members, 1.0)"
        ) from error
    return _filled_members(ids, dtype), _filled_scores(values, len(ids), score_dtype)


def count(value: Any, name: str) -> int:
    """A whole number that is not negative, of any size."""
    number = operator.index(value)
    if number < 0:
        raise ValueError(f"{name} can't be negative")
    return number
