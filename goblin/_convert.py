"""Input of bulk calls, as native contiguous columns and exact values."""

from __future__ import annotations

import itertools
import operator
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _arrow, _core
from .errors import _warn_precision

Members = NDArray[np.int64] | _core.Names
Scores = NDArray[np.float64] | float

KINDS = ("int32", "int64", "str", "bytes", "uuid")
_TEXT = (str, bytes, bytearray)
_ARRAYS: dict[str, Any] = {"str": np.dtypes.StringDType(), "bytes": object, "uuid": "V16"}


def is_integer(kind: str) -> bool:
    return kind.startswith("int")


def empty(n: int, kind: str) -> NDArray[Any]:
    """An array for n members of a kind, as bulk reads give them."""
    return np.empty(n, _ARRAYS.get(kind, kind))


def objects(array: NDArray[Any]) -> list[Any]:
    """The members of such an array as int, str, bytes or UUID."""
    if array.dtype.kind == "V":
        ids = _core.names(array, "uuid")
        return [ids[row] for row in range(len(ids))]
    members: list[Any] = array.tolist()
    return members


PART = 1 << 16  # rows that become Python objects at a time


def parts(n: int) -> Iterator[slice]:
    """Cuts n rows so that other threads and Ctrl-C need not wait for all of them."""
    return (slice(start, start + PART) for start in range(0, n, PART))


def rows(*columns: NDArray[Any]) -> Iterator[tuple[Any, ...]]:
    """The rows of arrays of one length, as tuples of Python objects."""
    return itertools.chain.from_iterable(
        zip(*(objects(column[part]) for column in columns), strict=True)
        for part in parts(len(columns[0]))
    )


def kind_of(data: Any, in_pairs: bool) -> str:
    """The kind of members that data, which can be read twice, brings along; else "str"."""
    if isinstance(data, _core.ArrowColumn):
        kind = "str" if data.kind == "null" else data.kind
        return kind if kind in KINDS else "int64"  # which refuses floats and the like by name
    dtype = getattr(data, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.names:
        return kind_of(data[dtype.names[0]], False)
    if dtype == np.uint8 and getattr(data, "shape", ())[1:] == (16,):
        return "uuid"
    if in_pairs and _has_keys(data):
        return kind_of(data.keys(), False)
    rows = in_pairs and getattr(data, "ndim", 1) == 2
    if isinstance(dtype, np.dtype) and dtype.kind in "iuTUSV" and not rows:
        if dtype.kind in "iu":
            return "int32" if dtype == np.int32 else "int64"
        return {"T": "str", "U": "str", "S": "bytes", "V": "uuid"}[dtype.kind]
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return "int64"  # which refuses floats and the like by name
    first: Any = next(iter(data), None) if isinstance(data, Iterable) else None
    if in_pairs:
        first = next(iter(first), None) if isinstance(first, Iterable) else None
    if hasattr(first, "as_py"):
        first = first.as_py()
    if first is None and isinstance(data, Sized) and not (in_pairs or isinstance(dtype, np.dtype)):
        column = _arrow.read(data) if _arrow.is_exporter(data) else None
        if isinstance(column, _core.ArrowColumn):
            return kind_of(column, False)
    if isinstance(first, uuid.UUID | np.void):
        return "uuid"
    if isinstance(first, bytes | bytearray | memoryview):
        return "bytes"
    return "str" if first is None or isinstance(first, str) else "int64"


def members(values: Any, kind: str) -> Members:
    """Members as int64 that fit `kind`, or as a column of names."""
    if isinstance(values, _core.Names):
        return values
    return _integers(values, kind) if is_integer(kind) else names(values, kind, "member")


def names(values: Any, kind: Any, option: str = "") -> _core.Names:
    """A column of names; the error for numbers tells what the option takes them by."""
    try:
        return _core.names(values, kind)
    except TypeError as error:
        hint = option_of_numbers(values, option) if option else ""
        if not hint:
            raise
        raise TypeError(f"{error}{hint}") from error


def option_of_numbers(values: Any, option: str) -> str:
    """The end of the error for numbers among names: the option that takes them, if one does."""
    names = ("kind",) if isinstance(values, _core.ArrowColumn) else ("dtype", "type")
    kind = next((str(getattr(values, name)) for name in names if hasattr(values, name)), "").lower()
    if kind.startswith(("int", "uint")):  # "Int64" where some are missing
        return f'; {option}="int64" is for integers'
    floats = option == "value" and kind.startswith(("float", "double"))
    return '; value="float64" is for floats' if floats else ""


def integers(values: Any) -> NDArray[np.int64]:
    return _integers(values, "int64")


def chosen(column: Members, mask: NDArray[np.bool_], kind: str) -> Members:
    """The members where the mask is true."""
    if isinstance(column, _core.Names):
        return column if mask.all() else names(column.to_array()[mask], kind)
    return column[mask]


def distinct(values: Any, kind: str) -> Members:
    column = members(values, kind)
    if isinstance(column, _core.Names):
        return names(dict.fromkeys(column[row] for row in range(len(column))), kind)
    return np.unique(column)


def _integers(values: Any, dtype: str) -> NDArray[np.int64]:
    if isinstance(values, _TEXT):
        raise TypeError(
            f"members are wanted, but this is one {type(values).__name__}; put it into a list"
        )
    values = arrow_numbers(values)
    if is_array(values):
        array = as_array(values)
        if array.ndim != 1:
            raise ValueError(f"members must have one dimension, not {array.ndim}")
        if array.dtype.kind in "iu":
            return _checked(array, dtype)
        if array.dtype.kind != "O":
            raise _no_place_for(array, "integer members")
        values = array
    return _filled_members(_core.items(values), dtype)


def arrow_numbers(values: Any) -> Any:
    """Those of an Arrow column as an array; anything that is none, or that numpy reads, as it is.

    TypeError for a column of another type, ValueError for nulls."""
    if not isinstance(values, _core.ArrowColumn):
        if is_array(values) or not _arrow.is_exporter(values):
            return values
        values = _arrow.read(values)
        if isinstance(values, list):
            raise TypeError("a column is wanted, not a table; choose one of its columns")
    return np.empty(0, np.int64) if not len(values) else values.numbers(False)


def is_array(values: Any) -> bool:
    """Whether numpy should read it; not a set, which would become an array of pairs."""
    return isinstance(values, memoryview) or (
        hasattr(type(values), "__array__") and not isinstance(values, _core.SortedSet)
    )


def as_array(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError("masked entries have no value; leave them out, as .compressed() does")
    return np.asarray(values)


def _checked(array: NDArray[Any], dtype: str) -> NDArray[np.int64]:
    if array.size and not np.can_cast(array.dtype, dtype):
        limits = np.iinfo(dtype)
        for value in (int(array.min()), int(array.max())):
            if not limits.min <= value <= limits.max:
                raise OverflowError(f"{value} does not fit {dtype}")
    return np.require(array, np.int64, ["C", "A"])


def _filled_members(items: tuple[Any, ...], dtype: str) -> NDArray[np.int64]:
    out = np.empty(len(items), np.int64)
    _core.fill_members(items, np.dtype(dtype).itemsize, out)
    return out


def scores(values: Any, count: int, dtype: str) -> Scores:
    """One float for all, or `count` float64; warns of integers that `dtype` would round."""
    if isinstance(values, _TEXT):
        raise TypeError(f"scores are wanted, but this is {type(values).__name__}")
    values = arrow_numbers(values)
    if is_array(values):
        array = as_array(values)
        if array.ndim:
            return _score_array(array, count, dtype)
        values = array[()]
    if isinstance(values, Iterable):
        return _filled_scores(_core.items(values), count, dtype)
    return float(_filled_scores((values,), 1, dtype)[0])


def _score_array(array: NDArray[Any], count: int, dtype: str) -> NDArray[np.float64]:
    if array.ndim != 1:
        raise ValueError(f"scores must have one dimension, not {array.ndim}")
    if array.dtype.kind == "O":
        return _filled_scores(_core.items(array), count, dtype)
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
    _warn_precision("some integer scores have more digits than a score holds")


def _has_keys(data: Any) -> bool:
    """Whether it is read as a mapping, as dict does: a Series is one, and a row of sqlite3."""
    return isinstance(data, Mapping) or (hasattr(data, "keys") and hasattr(data, "__getitem__"))


def _items(data: Any) -> Iterable[Any]:
    if hasattr(data, "items"):
        return data.items()  # type: ignore[no-any-return]
    keys = data.keys()
    return ((key, data[key]) for key in keys)


def _is_frame(data: Any) -> bool:
    """Whether it consists of columns, so that its keys would be their names."""
    return hasattr(type(data), "columns") and not isinstance(data, Mapping)


def split(data: Any, names: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """A mapping or an iterable of pairs as keys and values, which errors call `names`."""
    if type(data) is dict:
        return _core.split_pairs(data.items())
    if isinstance(data, _TEXT):
        raise TypeError(f"a mapping or pairs of ({names}) are wanted, not a text")
    if _is_frame(data):
        way = (
            "collect() it first"
            if hasattr(data, "collect")
            else "two of its columns become pairs by zip, as in zip(frame['a'], frame['b'])"
        )
        raise TypeError(f"pairs of ({names}) are wanted, not a frame; {way}")
    try:
        return _core.split_pairs(_items(data) if _has_keys(data) else data)
    except TypeError as error:
        raise TypeError(f"a mapping or pairs of ({names}) are wanted: {error}") from error


def numbers(values: Any, kind: str | None = None) -> NDArray[Any] | tuple[Any, ...]:
    """An array of int64 or float64, or a tuple of what may be numbers; None: of either kind."""
    if type(values) is tuple:
        return values
    if isinstance(values, _TEXT):
        raise TypeError(f"numbers are wanted, but this is one {type(values).__name__}")
    values = arrow_numbers(values)
    if not is_array(values):
        return tuple(values)
    array = as_array(values)
    if array.ndim != 1:
        raise ValueError(f"numbers must have one dimension, not {array.ndim}")
    if array.dtype.kind == "O":
        return tuple(array.tolist())
    if array.dtype.kind in "iu" and kind != "float64":
        return _checked(array, "int64")
    if array.dtype.kind in "iuf" and kind != "int64" and np.can_cast(array.dtype, np.float64):
        return np.require(array, np.float64, ["C", "A"])
    raise _no_place_for(array, kind or "numbers")


def _no_place_for(array: NDArray[Any], what: str) -> TypeError:
    """The error for an array of another kind, which integers with nulls become in numpy."""
    holes = array.dtype.kind == "f" and bool(np.isnan(array).any())
    hint = ", with NaN where one is missing; leave these out" if holes else ""
    return TypeError(f"{what} can't come from an array of {array.dtype}{hint}")


def steps(by: Any, kind: str) -> Any:
    """What increments of values of a kind add: one number, or each its own."""
    return numbers(by, kind if kind == "float64" else None) if isinstance(by, Iterable) else by


def pairs(data: Any, kind: str, score_dtype: str) -> tuple[Members, Scores]:
    """A mapping, or an iterable of (member, score)."""
    try:
        ids, values = split(data, "member, score")
    except TypeError as error:
        raise TypeError(
            f"{error}; members alone need scores beside them, as in (members, 1.0)"
        ) from error
    return members(ids, kind), _filled_scores(values, len(ids), score_dtype)


def count(value: Any, name: str) -> int:
    """A whole number that is not negative, of any size."""
    number = operator.index(value)
    if number < 0:
        raise ValueError(f"{name} can't be negative")
    return number
