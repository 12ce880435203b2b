"""The same members in each of the shapes that bulk calls take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
from model.kinds import STRINGS, array_of
from model.layouts import Layout

Form = Callable[[list[Any]], Any]


def _object(members: list[Any]) -> np.ndarray:
    array = np.empty(len(members), dtype=object)
    array[:] = members
    return array


def _strided(array: np.ndarray) -> np.ndarray:
    # By indices: repeating a StringDType array itself, numpy 2.0 frees each string three times.
    return array[::-1][np.repeat(np.arange(len(array)), 3)][::-3]


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _sliced(array: pa.Array) -> pa.Array:
    """The same rows behind an offset that is no multiple of 8."""
    before = [array[:1]] * 3
    skipped = sum(map(len, before))
    return pa.concat_arrays([*before, array, array[:1]]).slice(skipped, len(array))


def _chunked(array: pa.Array) -> pa.ChunkedArray:
    """Several chunks, one of them empty."""
    middle = len(array) // 2
    chunks = [array[:middle], array[:0], array[middle:]]
    return pa.chunked_array(chunks, type=array.type)


def _arrow(*types: pa.DataType) -> dict[str, Form]:
    forms: dict[str, Form] = {f"arrow {t}": lambda ms, t=t: pa.array(ms, t) for t in types}
    forms["arrow sliced"] = lambda ms: _sliced(pa.array(ms, types[0]))
    forms["arrow dictionary"] = lambda ms: pa.array(ms, types[0]).dictionary_encode()
    forms["arrow chunked"] = lambda ms: _chunked(pa.array(ms, types[-1]))
    return forms


def _raw(members: list[UUID]) -> list[bytes]:
    return [member.bytes for member in members]


def _uint8(members: list[UUID]) -> np.ndarray:
    return np.frombuffer(b"".join(_raw(members)), dtype=np.uint8).reshape(-1, 16)


def _uuid_texts(members: list[UUID]) -> list[Any]:
    """Each in another of the spellings that uuid.UUID takes."""
    spellings: list[Callable[[UUID], Any]] = [
        str,
        lambda u: u.hex,
        lambda u: str(u).upper(),
        lambda u: u.urn,
        lambda u: f"{{{u}}}",
        lambda u: u,
    ]
    return [spellings[i % len(spellings)](member) for i, member in enumerate(members)]


EVERY_KIND: dict[str, Form] = {
    "list": list,
    "tuple": tuple,
    "object": _object,
    "object strided": lambda ms: _strided(_object(ms)),
}
INTEGERS: dict[str, Form] = {
    "array": lambda ms: np.array(ms, dtype=np.int64),
    "strided": lambda ms: _strided(np.array(ms, dtype=np.int64)),
    "swapped": lambda ms: np.array(ms, dtype=">i8"),
}
TEXTS: dict[str, Form] = {
    "U": lambda ms: np.array(ms, dtype="U" if ms else "U1"),
    "U swapped": lambda ms: np.array(ms, dtype=">U" if ms else ">U1"),
    "U strided": lambda ms: _strided(np.array(ms, dtype="U" if ms else "U1")),
    "StringDType": lambda ms: np.array(ms, dtype=STRINGS),
    "StringDType strided": lambda ms: _strided(np.array(ms, dtype=STRINGS)),
    "StringDType read-only": lambda ms: _read_only(np.array(ms, dtype=STRINGS)),
    **_arrow(pa.string(), pa.large_string(), pa.string_view()),
}
BYTES: dict[str, Form] = {
    "S": lambda ms: np.array(ms, dtype="S" if ms else "S1"),
    "S strided": lambda ms: _strided(np.array(ms, dtype="S" if ms else "S1")),
    "S read-only": lambda ms: _read_only(np.array(ms, dtype="S" if ms else "S1")),
    "bytearrays": lambda ms: [bytearray(m) for m in ms],
    "memoryviews": lambda ms: [memoryview(m) for m in ms],
    **_arrow(pa.binary(), pa.large_binary(), pa.binary_view()),
}
UUIDS: dict[str, Form] = {
    "texts": _uuid_texts,
    "U texts": lambda ms: np.array(list(map(str, ms)), dtype="U36"),
    "StringDType texts": lambda ms: np.array(list(map(str, ms)), dtype=STRINGS),
    "arrow texts": lambda ms: pa.array(list(map(str, ms)), pa.string()),
    "V16": lambda ms: array_of(ms, "uuid"),
    "V16 strided": lambda ms: _strided(array_of(ms, "uuid")),
    "V16 read-only": lambda ms: _read_only(array_of(ms, "uuid")),
    "uint8": _uint8,
    "uint8 strided": lambda ms: _strided(_uint8(ms)),
    "uint8 Fortran": lambda ms: np.asfortranarray(_uint8(ms)),
    **{
        f"{form}": lambda ms, make=make: make(_raw(ms))
        for form, make in _arrow(pa.binary(16)).items()
    },
    "arrow.uuid": lambda ms: pa.array(_raw(ms), pa.uuid()),
}
FORMS: dict[type, dict[str, Form]] = {
    int: {**EVERY_KIND, **INTEGERS},
    str: {**EVERY_KIND, **TEXTS},
    bytes: {**EVERY_KIND, **BYTES},
    UUID: {**EVERY_KIND, **UUIDS},
}


def forms(layout: Layout) -> list[str]:
    return list(FORMS[layout.kind])


def in_form(layout: Layout, form: str, members: list[Any]) -> Any:
    """Members in one of the forms; those whose end U and S would cut off stay a list."""
    padded = layout.kind is not UUID and form[0] in "US" and form[:6] != "String"
    if padded and any(member[-1:] in ("\0", b"\0") for member in members):
        return members
    return FORMS[layout.kind][form](members)
