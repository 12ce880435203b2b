"""The kinds of members of the model: what is one, what comes in, what goes out in bulk.

A member is held as the Python object that the product gives back: int, str, bytes or uuid.UUID.
These compare as the sets order them: numbers as numbers, str by code point, bytes bytewise, UUIDs
by their 16 bytes.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import numpy as np

KINDS = {"int32": int, "int64": int, "str": str, "bytes": bytes, "uuid": UUID}
LIMITS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
BYTES = bytes | bytearray | memoryview
TEXT = (str, bytes, bytearray)
STRINGS = np.dtypes.StringDType()
# Kinds of numpy dtypes and Arrow types that may hold members; "T" is StringDType.
DTYPES = {int: "iuO", str: "UTO", bytes: "SO", UUID: "VUTO"}
ARROW_TEXTS = ("string", "large_string", "string_view")
ARROW = {
    str: ARROW_TEXTS,
    bytes: ("binary", "large_binary", "binary_view", "fixed_size_binary"),
    UUID: ("fixed_size_binary[16]", "extension<arrow.uuid>", *ARROW_TEXTS),
}


def member_of(value: Any, kind: str, *, any_width: bool = False) -> Any:
    """The member that one value stands for. TypeError for another type, ValueError for bad text."""
    if KINDS[kind] is int:
        return _integer(value, kind, any_width)
    if kind == "bytes":
        if not isinstance(value, BYTES):
            raise TypeError(f"bytes are wanted, not {type(value).__name__}")
        return bytes(value)
    if isinstance(value, str):
        text = str.__str__(value)
        text.encode()  # UnicodeEncodeError for lone surrogates
        return text if kind == "str" else UUID(text)
    if kind == "uuid" and isinstance(value, UUID):
        return value
    raise TypeError(f"a {type(value).__name__} is no member of kind {kind}")


def _integer(value: Any, kind: str, any_width: bool) -> int:
    if isinstance(value, bool):
        raise TypeError("a bool is no integer member")
    number = operator.index(value)
    lowest, highest = LIMITS[kind]
    if not (any_width or lowest <= number <= highest):
        raise OverflowError(f"member {number} does not fit {kind}")
    return number


def listed(values: Any, kind: str) -> Iterable[Any]:
    """What a bulk call takes for many members, as an iterable of them."""
    if isinstance(values, TEXT):
        raise TypeError("members are wanted, not one text; put it into a list")
    if isinstance(values, np.ndarray):
        return _from_array(values, kind)
    if hasattr(values, "to_pylist"):
        return _from_arrow(values, kind)
    return values


def _from_array(array: np.ndarray, kind: str) -> list[Any]:
    if np.ma.is_masked(array):
        raise ValueError("a masked entry is no member")
    if kind == "uuid" and array.dtype == np.uint8 and array.ndim == 2 and array.shape[1] == 16:
        return [UUID(bytes=row.tobytes()) for row in array]
    if array.dtype.kind not in DTYPES[KINDS[kind]]:
        hint = "; S cuts trailing NULs off UUIDs, V16 does not" if kind == "uuid" else ""
        raise TypeError(f"members of kind {kind} can't be {array.dtype}{hint}")
    if array.ndim != 1:
        raise ValueError("members must be one-dimensional")
    if array.dtype.kind == "V":
        if array.dtype != "V16":
            raise TypeError(f"a UUID has 16 bytes, not {array.dtype}")
        return [UUID(bytes=row) for row in array.tolist()]
    if array.dtype.kind == "T" and not all(isinstance(text, str) for text in array.tolist()):
        raise ValueError("a missing text is no member")
    return array.tolist()


def arrow_type(values: Any) -> str:
    """The name of the type of an Arrow array; of a dictionary-encoded one, that of its values."""
    encoded = str(values.type).startswith("dictionary")
    return str(values.type.value_type if encoded else values.type)


def _from_arrow(values: Any, kind: str) -> list[Any]:
    name, allowed = arrow_type(values), ARROW[KINDS[kind]]
    if name not in allowed and name.partition("[")[0] not in allowed:
        raise TypeError(f"members of kind {kind} can't be {name}")
    if values.null_count:
        raise ValueError("a null is no member")
    rows = values.to_pylist()
    if kind == "uuid":
        return [UUID(bytes=row) if isinstance(row, bytes) else row for row in rows]
    return rows


def array_of(members: list[Any], kind: str) -> np.ndarray:
    """Members as bulk reads give them."""
    if KINDS[kind] is int:
        return np.array(members, dtype=kind)
    if kind == "str":
        return np.array(members, dtype=STRINGS)
    if kind == "uuid":
        return np.frombuffer(b"".join(member.bytes for member in members), dtype="V16").copy()
    array = np.empty(len(members), dtype=object)
    array[:] = members
    return array


def kind_of(values: Any) -> str:
    """The kind that a set of these members has unless told: by dtype, else by the first of them."""
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        if values.dtype.kind in "iu":
            if values.dtype == np.uint8 and values.ndim == 2:
                return "uuid"
            return "int32" if values.dtype == np.int32 else "int64"
        return {"S": "bytes", "V": "uuid"}.get(values.dtype.kind, "str")
    if hasattr(values, "to_pylist"):
        name = arrow_type(values)
        return "uuid" if "uuid" in name else "bytes" if "binary" in name else "str"
    if not isinstance(values, Iterable) or isinstance(values, TEXT):
        return "str"
    first = next(iter(values), None)
    if isinstance(first, UUID):
        return "uuid"
    if isinstance(first, BYTES):
        return "bytes"
    return "int64" if hasattr(type(first), "__index__") else "str"
