"""Arrays as columns of Arrow tables, and the columns of tables that other libraries have."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core

Field = tuple[str, str, bytes | None]  # name, format, metadata
Column = tuple[Any, bytes | None, int]  # Names or an array, the bitmap of what is there, nulls
Batch = tuple[int, tuple[Column, ...]]

BATCH = 1 << 17  # rows; DuckDB and polars work on as many at a time


def _metadata(**pairs: str) -> bytes:
    """Pairs as Arrow's schemas have them."""

    def sized(text: bytes) -> bytes:
        return len(text).to_bytes(4, sys.byteorder) + text

    items = [sized(word.encode()) for pair in pairs.items() for word in pair]
    return len(pairs).to_bytes(4, sys.byteorder) + b"".join(items)


_UUID = _metadata(**{"ARROW:extension:name": "arrow.uuid", "ARROW:extension:metadata": ""})

# Kinds of members and values, and dtypes. Texts have offsets of 64 bits, which no column outgrows.
_FORMATS = {
    "int32": "i",
    "int64": "l",
    "float32": "f",
    "float64": "g",
    "bool": "b",
    "str": "U",
    "bytes": "Z",
    "uuid": "w:16",
    "datetime64[D]": "tdD",
    "datetime64[s]": "tss:",
    "datetime64[us]": "tsu:",
}


def field(name: str, kind: str) -> Field:
    if "\0" in name:
        raise ValueError(f"{name!r} can't name a column: it has a NUL")
    return name, _FORMATS[kind], _UUID if kind == "uuid" else None


def fields_of(arrays: dict[str, NDArray[Any]]) -> tuple[Field, ...]:
    return tuple(field(name, _kind(array)) for name, array in arrays.items())


def batch_of(arrays: dict[str, NDArray[Any]]) -> Batch:
    return len(next(iter(arrays.values()))), tuple(map(_column, arrays.values()))


def bitmap(valid: NDArray[np.bool_]) -> bytes:
    return np.packbits(valid, bitorder="little").tobytes()


def _kind(array: NDArray[Any]) -> str:
    return {"T": "str", "O": "bytes", "V": "uuid"}.get(array.dtype.kind, array.dtype.name)


def _column(array: NDArray[Any]) -> Column:
    kind = array.dtype.kind
    if kind in "TO":
        return _core.names(array, "str" if kind == "T" else "bytes"), None, 0
    if kind == "M":
        return _times(array)
    if kind == "b":
        return np.packbits(array, bitorder="little"), None, 0
    return np.ascontiguousarray(array), None, 0


def _times(array: NDArray[Any]) -> Column:
    """Times as integers of their unit, those of days 32 bits wide."""
    days = array.dtype == np.dtype("M8[D]")
    values = np.ascontiguousarray(array).view(np.int64)
    absent = np.isnat(array)
    if not absent.any():
        return values.astype(np.int32) if days else values, None, 0
    values = np.where(absent, 0, values)
    return values.astype(np.int32) if days else values, bitmap(~absent), int(absent.sum())


def typed(objects: NDArray[Any]) -> NDArray[Any]:
    """Python objects of one type as an array that has a column; TypeError where there is none."""
    if objects.dtype.kind != "O":
        return objects
    import uuid  # whoever has such objects has imported it

    dtypes = {uuid.UUID: "V16", datetime.date: "M8[D]", datetime.datetime: "M8[us]"}
    kinds = set(map(type, objects))
    if kinds <= {bytes}:
        return objects
    dtype = dtypes.get(kinds.pop()) if len(kinds) == 1 else None
    if dtype == "V16":
        return np.array([one.bytes for one in objects], dtype)
    if dtype is None or any(getattr(one, "tzinfo", None) for one in objects):
        name = type(objects[0]).__name__
        raise TypeError(f"{name} objects have no Arrow type; make texts or numbers of them")
    return objects.astype(dtype)


# ---- tables of others


def is_exporter(data: Any) -> bool:
    """Whether it can be read as Arrow data; our own mappings are read as such."""
    kind = type(data)
    exports = hasattr(kind, "__arrow_c_stream__") or hasattr(kind, "__arrow_c_array__")
    return exports and not isinstance(data, Mapping)


def is_of(data: Any, library: str, kind: str) -> bool:
    """Whether it is one of a library's; who has one has loaded that."""
    one = getattr(sys.modules.get(library), kind, None)  # which a thread may be importing
    return one is not None and isinstance(data, one)


def no_column(name: Any, columns: Iterable[Any]) -> KeyError:
    """The error for a column that a frame does not have."""
    known = ", ".join(map(repr, columns)) or "none"
    return KeyError(f"the frame has no column {name!r}; there are: {known}")


def has_objects(data: Any) -> bool:
    """Whether polars has it as Python objects, which it exports as the bytes of their addresses."""
    if is_of(data, "polars", "DataFrame"):
        return any(str(dtype) == "Object" for dtype in data.dtypes)
    return is_of(data, "polars", "Series") and str(data.dtype) == "Object"


def read(data: Any) -> Any:
    """A list of (name, ArrowColumn) of an exporter's table, or the ArrowColumn of its array."""
    if has_objects(data):
        raise TypeError(
            "polars' Object columns have no Arrow type; leave them out, or make texts of them: "
            "column.map_elements(str, return_dtype=polars.String)"
        )
    return _core.arrow_read(data, hasattr(type(data), "__arrow_c_stream__"))


def columns(data: Any) -> dict[str, _core.ArrowColumn] | None:
    """The columns of a table by name; None for what is none, ValueError for names that repeat."""
    if not is_exporter(data) or hasattr(type(data), "dtype"):  # a Series
        return None
    table = read(data)
    if not isinstance(table, list):
        return None
    if hasattr(data, "iloc"):
        table = _index_first(table, len(data.columns))
    named = dict(table)
    if len(named) < len(table):
        raise ValueError("two columns have one name")
    return named


def _index_first(table: list[Any], width: int) -> list[Any]:
    """Columns as pandas shows them.

    It exports the levels of an index last, and those without names, which only number rows, too.
    """
    levels = [level for level in table[width:] if not level[0].startswith("__index_level_")]
    return levels + table[:width]


def pair(data: Any, first: str, second: str) -> tuple[Any, Any] | None:
    """The columns of these names of a table, or all of it, if it has two; None for other data."""
    table = columns(data)
    if table is None:
        return None
    if first in table and second in table:
        return table[first], table[second]
    if len(table) == 2:
        one, other = table.values()
        return one, other
    raise TypeError(
        f"a frame needs columns named {first!r} and {second!r}, or two columns, which are then "
        f"these; this one has {', '.join(map(repr, table)) or 'none'}"
    )
