"""Arrow structs that a producer got wrong: an error in words, and each is released once."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from goblin import HashTable, SortedSet


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


def _fields(kind: Any, own: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    of_kind = ctypes.POINTER(kind)
    more = [
        ("children", ctypes.POINTER(of_kind)),
        ("dictionary", of_kind),
        ("release", ctypes.CFUNCTYPE(None, of_kind)),
        ("private", ctypes.c_void_p),
    ]
    return [*own, *more]


Schema._fields_ = _fields(
    Schema,
    [
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_char_p),
        ("flags", ctypes.c_int64),
        ("child_count", ctypes.c_int64),
    ],
)
_NUMBERS = ["length", "null_count", "offset", "buffer_count", "child_count"]
Array._fields_ = _fields(
    Array,
    [*((name, ctypes.c_int64) for name in _NUMBERS), ("buffers", ctypes.POINTER(ctypes.c_void_p))],
)

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

RELEASED: Counter[int] = Counter()
KEPT: list[Any] = []  # what the structs point to


def _release(kind: Any) -> Any:
    def release(one: Any) -> None:
        RELEASED[one.contents.private] += 1
        one.contents.release = type(one.contents.release)()

    return dict(kind._fields_)["release"](release)


RELEASES = {kind: _release(kind) for kind in (Schema, Array)}


def made(kind: Any, children: Sequence[Any] = (), dictionary: Any = None, **fields: Any) -> Any:
    pointers = (ctypes.POINTER(kind) * max(len(children), 1))(
        *(ctypes.POINTER(kind)() if one is None else ctypes.pointer(one) for one in children)
    )
    one = kind(release=RELEASES[kind], private=len(KEPT) + 1)
    one.child_count = len(children)
    if children:
        one.children = pointers
    if dictionary is not None:
        one.dictionary = ctypes.pointer(dictionary)
    for name, value in fields.items():
        setattr(one, name, value)
    KEPT.append((one, pointers, children, dictionary))
    return one


def schema(format_: bytes | None, name: bytes = b"", *children: Any, **fields: Any) -> Any:
    return made(Schema, children, format=format_, name=name, **fields)


def array(length: int, buffers: Sequence[Any], /, *children: Any, **fields: Any) -> Any:
    at = (ctypes.c_void_p * max(len(buffers), 1))(
        *(None if buffer is None else buffer.ctypes.data for buffer in buffers)
    )
    KEPT.append((at, buffers))
    return made(
        Array, children, **{"length": length, "buffer_count": len(buffers), "buffers": at} | fields
    )


class Producer:
    def __init__(self, structs: tuple[Any, Any]) -> None:
        self.structs = structs

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        names = (b"arrow_schema", b"arrow_array")
        return tuple(
            new_capsule(ctypes.addressof(struct), name, None)
            for struct, name in zip(self.structs, names, strict=True)
        )


OFFSETS = np.array([0, 1, 2, 3, 4], np.int32)
TEXT = np.frombuffer(b"abcdefgh", np.uint8)
SCORES = np.arange(9.0)
NO_SCHEMA, NO_ARRAY = type(Schema().release)(), type(Array().release)()
FAR = 2**63 - 1


def pair(member: Any, rows: Any, **fields: Any) -> tuple[Any, Any]:
    """A table of a column of members and one of scores."""
    columns = schema(b"+s", b"", member, schema(b"g", b"score"))
    return columns, array(2, [None], rows, array(5, [None, SCORES]), **fields)


def texts(*buffers: Any, **fields: Any) -> tuple[Any, Any]:
    given = list(buffers) or [None, OFFSETS, TEXT]
    return pair(schema(b"u", b"member"), array(4, given, **fields))


def indexed(rows: Any, dictionary: Any) -> tuple[Any, Any]:
    column = schema(b"i", b"member", dictionary=schema(b"u"))
    return pair(column, array(2, [None, np.array(rows, np.int32)], dictionary=dictionary))


def views(length: int, sizes: Sequence[Any]) -> tuple[Any, Any]:
    rows = np.array([length, 0, 0, 0] * 4, np.int32)
    return pair(schema(b"vu", b"member"), array(4, [None, rows, *sizes]))


def struct(columns: Any, rows: Any) -> tuple[Any, Any]:
    return schema(b"+s", b"", *columns), array(2, [None], *rows)


def halves() -> tuple[list[Any], list[Any]]:
    return [schema(b"u", b"member"), schema(b"g", b"score")], [
        array(4, [None, OFFSETS, TEXT]),
        array(4, [None, SCORES]),
    ]


def without(which: str) -> tuple[Any, Any]:
    """A table whose columns, or one of them, are missing."""
    columns, rows = halves()
    if which == "schemas":
        return schema(b"+s", child_count=2), array(2, [None], *rows)
    if which == "arrays":
        return schema(b"+s", b"", *columns), array(2, [None], child_count=2)
    if which == "a schema":
        return struct([None, columns[1]], rows)
    if which == "an array":
        return struct(columns, [None, rows[1]])
    if which == "a released schema":
        columns[0].release = NO_SCHEMA
    else:
        rows[0].release = NO_ARRAY
    return struct(columns, rows)


WRONG: dict[str, Callable[[], tuple[Any, Any]]] = {
    "offsets descend": lambda: texts(None, OFFSETS[::-1].copy(), TEXT),
    "a negative offset": lambda: texts(None, OFFSETS - 3, TEXT),
    "no buffers": lambda: texts(buffers=None),
    "no rows": lambda: texts(None, None, None),
    "no data": lambda: texts(None, OFFSETS, None),
    "too few buffers": lambda: texts(None, OFFSETS),
    "a far offset": lambda: texts(offset=2**62),
    "the farthest offset": lambda: pair(
        schema(b"u", b"member"), array(4, [None, OFFSETS, TEXT], offset=FAR), offset=1
    ),
    "a negative length": lambda: texts(length=-4),
    "a short column": lambda: texts(length=1),
    "no type": lambda: pair(schema(None, b"member"), array(4, [None, OFFSETS, TEXT])),
    "a dictionary without a type": lambda: pair(
        schema(b"i", b"member", dictionary=schema(None)), array(4, [None, OFFSETS])
    ),
    "no dictionary": lambda: indexed([0, 1], None),
    "an index too large": lambda: indexed([0, 4], array(4, [None, OFFSETS, TEXT])),
    "a negative index": lambda: indexed([0, -1], array(4, [None, OFFSETS, TEXT])),
    "a dictionary of negative length": lambda: indexed([0, 1], array(-4, [None, OFFSETS, TEXT])),
    "views without sizes": lambda: views(20, [None]),
    "views past their buffer": lambda: views(20, [TEXT, np.array([8])]),
    "views of a negative size": lambda: views(20, [TEXT, np.array([-8])]),
    "a negative number of columns": lambda: (
        schema(b"+s", child_count=-1),
        array(2, [None], child_count=-1),
    ),
} | {
    f"without {which}": lambda which=which: without(which)
    for which in (
        "schemas",
        "arrays",
        "a schema",
        "an array",
        "a released schema",
        "a released array",
    )
}


@pytest.fixture(autouse=True)
def once() -> Any:
    RELEASED.clear()
    yield
    assert max(RELEASED.values(), default=0) <= 1


def all_released(structs: tuple[Any, Any]) -> bool:
    return not any(one.release for one in structs)


READ: list[Callable[[Any], object]] = [
    SortedSet,
    lambda data: HashTable.from_arrow(data, "member"),
]


@pytest.mark.parametrize("read", READ, ids=["SortedSet", "HashTable"])
@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused(make: Any, read: Any) -> None:
    structs = make()
    with pytest.raises(ValueError, match="the Arrow column is damaged"):
        read(Producer(structs))
    assert all_released(structs)


def test_what_is_right_is_read() -> None:
    for structs, offset in ((texts(), 0), (texts(), 1), (indexed([0, 3], halves()[1][0]), 0)):
        structs[1].offset = offset
        z = SortedSet(Producer(structs))
        assert list(z.values()) == [0.0 + offset, 1.0 + offset]
        assert all_released(structs)
        with pytest.raises(ValueError, match="has been read before"):
            SortedSet(Producer(structs))
    assert sum(RELEASED.values()) == 3 * 6  # tables and their columns, schemas and arrays
