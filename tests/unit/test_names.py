"""Columns of text, bytes and UUIDs: every form of input against plain Python values."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labels import label

from goblin import SortedSet, _core

# Lengths around what Arrow's views and numpy's strings keep in place, and around their size fields.
LENGTHS = [0, 1, 7, 8, 9, 11, 12, 13, 15, 16, 17, 254, 255, 256, 257, 65536]
TEXTS = ["", *(letter * n for n in LENGTHS[1:] for letter in ("a", "é", "日", "\U0001f600"))]
TEXTS += ["a\0b", "\0", "é\0", "\uffff", "\U00010000", "\U0010ffff", "\ud7ff\ue000"]
BYTES = [byte * n for n in LENGTHS for byte in (b"a", b"\xff")] + [b"\0", b"a\0", b"\0a", b"\x80"]
UUIDS = [uuid.UUID(int=n) for n in (0, 1, 2**63, 2**64 - 1, 2**64, 2**127, 2**128 - 1)]
UUIDS += [uuid.uuid5(uuid.NAMESPACE_DNS, str(n)) for n in range(20)]
UUIDS += [uuid.UUID(bytes=b"abcdefghijklmn\0\0")]


def plain(values: Any, kind: str) -> list[Any]:
    """What a column holds, read one by one, after a look at the same by its array."""
    column = _core.names(values, kind)
    items = list(column)
    array = column.to_array()
    assert array.shape == (len(column),) == (len(items),)
    if kind == "str":
        assert isinstance(array.dtype, np.dtypes.StringDType)
        assert array.tolist() == items
    elif kind == "bytes":
        assert array.dtype == object
        assert array.tolist() == items
    else:
        assert array.dtype == np.dtype("V16")
        assert array.tobytes() == b"".join(item.bytes for item in items)
    return items


def v16(values: list[uuid.UUID]) -> np.ndarray[Any, Any]:
    return np.array([np.void(value.bytes) for value in values], "V16")


def raw(values: list[uuid.UUID]) -> list[bytes]:
    return [value.bytes for value in values]


def spelt(values: list[uuid.UUID]) -> list[str]:
    """Each UUID in another of the spellings that uuid.UUID takes."""
    spellings: list[Callable[[uuid.UUID], str]] = [
        str,
        lambda u: u.hex,
        lambda u: u.urn,
        lambda u: f"{{{u}}}",
        lambda u: str(u).upper(),
        lambda u: "-".join(u.hex),
        lambda u: "uuid:" + u.hex,
    ]
    return [spellings[i % len(spellings)](value) for i, value in enumerate(values)]


TEXT_FORMS: dict[str, Callable[[list[str]], Any]] = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "dict": dict.fromkeys,
    "numpy strings": lambda v: [np.str_(text) for text in v],
    "StringDType": lambda v: np.array(v, np.dtypes.StringDType()),
    "StringDType, strided": lambda v: np.array(
        [text for text in v for _ in range(2)], np.dtypes.StringDType()
    )[::2],
    "objects": lambda v: np.array(v, object),
    "objects, backwards": lambda v: np.array(v[::-1], object)[::-1],
    "Arrow string": lambda v: pa.array(v, pa.string()),
    "Arrow large_string": lambda v: pa.array(v, pa.large_string()),
    "Arrow string_view": lambda v: pa.array(v, pa.string_view()),
    "Arrow dictionary": lambda v: pa.array(v, pa.string()).dictionary_encode(),
    "Arrow slice": lambda v: pa.array(["zz", *v, "z"], pa.string())[1:-1],
    "Arrow slice of views": lambda v: pa.array(["z" * 20, *v, "z"], pa.string_view())[1:-1],
    "Arrow slice of dictionary": lambda v: pa.array(["z", *v], "str").dictionary_encode()[1:],
    "Arrow chunks": lambda v: pa.chunked_array([v[:3], [], v[3:]], pa.string()),
    "Arrow chunks of views": lambda v: pa.chunked_array([v[:3], v[3:]], pa.string_view()),
    "polars": lambda v: pl.Series(v, dtype=pl.String),
    "polars categories": lambda v: pl.Series(v, dtype=pl.String).cast(pl.Categorical),
    "pandas": lambda v: pd.Series(v, dtype="str"),
    "pandas objects": lambda v: pd.Series(v, dtype=object),
    "pandas index": lambda v: pd.Index(v, dtype="str"),
    "pandas categories": lambda v: pd.Series(v, dtype="str").astype("category"),
}
BYTES_FORMS: dict[str, Callable[[list[bytes]], Any]] = {
    "list": list,
    "generator": lambda v: (item for item in v),
    "bytearrays": lambda v: [bytearray(item) for item in v],
    "memoryviews": lambda v: [memoryview(item) for item in v],
    "strided memoryviews": lambda v: [memoryview(item[::-1])[::-1] for item in v],
    "numpy bytes": lambda v: [np.bytes_(item) for item in v],
    "objects": lambda v: np.array(v, object),
    "Arrow binary": lambda v: pa.array(v, pa.binary()),
    "Arrow large_binary": lambda v: pa.array(v, pa.large_binary()),
    "Arrow binary_view": lambda v: pa.array(v, pa.binary_view()),
    "Arrow dictionary": lambda v: pa.array(v, pa.binary()).dictionary_encode(),
    "Arrow slice": lambda v: pa.array([b"zz", *v, b"z"], pa.large_binary())[1:-1],
    "Arrow chunks": lambda v: pa.chunked_array([v[:3], v[3:]], pa.binary()),
    "polars": lambda v: pl.Series(v, dtype=pl.Binary),
}

UUID_FORMS: dict[str, Callable[[list[uuid.UUID]], Any]] = {
    "list": list,
    "texts": spelt,
    "mixed": lambda v: [*v[:5], *spelt(v[5:])],
    "V16": v16,
    "V16, strided": lambda v: np.repeat(v16(v), 2)[::2],
    "V16, read-only": lambda v: np.frombuffer(b"".join(raw(v)), "V16"),
    "V16, unaligned": lambda v: np.frombuffer(b"-" + b"".join(raw(v)), "V16", offset=1),
    "rows of 16": lambda v: v16(v).view("u1").reshape(-1, 16),
    "rows of 16, strided": lambda v: np.repeat(v16(v).view("u1").reshape(-1, 16), 2, axis=1)[
        :, ::2
    ],
    "memoryview of rows": lambda v: memoryview(v16(v).view("u1").reshape(-1, 16)),
    "objects": lambda v: np.array(v, object),
    "U": lambda v: np.array(spelt(v), "U63"),
    "StringDType": lambda v: np.array(spelt(v), np.dtypes.StringDType()),
    "Arrow binary(16)": lambda v: pa.array(raw(v), pa.binary(16)),
    "Arrow uuid": lambda v: pa.array(raw(v), pa.uuid()),
    "Arrow slice": lambda v: pa.array([b"z" * 16, *raw(v)], pa.binary(16))[1:],
    "Arrow chunks": lambda v: pa.chunked_array([raw(v[:3]), raw(v[3:])], pa.binary(16)),
    "Arrow string": lambda v: pa.array(spelt(v)),
    "polars": lambda v: pl.Series(spelt(v)),
    "pandas": lambda v: pd.Series(spelt(v), dtype="str"),
    "pandas objects": lambda v: pd.Series(v, dtype=object),
}


def forms(table: dict[str, Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("form", table.values(), ids=table.keys())


@forms(TEXT_FORMS)
def test_text_of_every_form(form: Callable[[list[str]], Any]) -> None:
    assert plain(form(TEXTS), "str") == TEXTS
    assert plain(form([]), "str") == []


@forms(BYTES_FORMS)
def test_bytes_of_every_form(form: Callable[[list[bytes]], Any]) -> None:
    assert plain(form(BYTES), "bytes") == BYTES
    assert plain(form([]), "bytes") == []


@forms(UUID_FORMS)
def test_uuids_of_every_form(form: Callable[[list[uuid.UUID]], Any]) -> None:
    assert plain(form(UUIDS), "uuid") == UUIDS


def test_numpy_strings_lose_trailing_nuls_as_numpy_shows_them() -> None:
    texts = [text for text in TEXTS if len(text) < 300]
    for array in (np.array(texts), np.array(texts).astype(">U300"), np.array(texts)[::-3]):
        assert plain(array, "str") == array.tolist()
    for array in (np.array(BYTES), np.array(BYTES)[::-3], np.array([b"", b""])):
        assert plain(array, "bytes") == array.tolist()


@pytest.mark.parametrize("dtype", ["<U5", ">U5", "S5", "V16", np.dtypes.StringDType()], ids=str)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_views_of_arrays(dtype: Any, count: int) -> None:
    kind = {"U": "str", "T": "str", "S": "bytes", "V": "uuid"}[np.dtype(dtype).char]
    values = v16(UUIDS[:count]) if kind == "uuid" else np.array(["ab", "", "abcde"][:count], dtype)
    expected = list(_core.names(values, kind))
    frozen = values.copy()
    frozen.flags.writeable = False
    columns = np.zeros((count, 3), dtype)
    columns[:, 1] = values
    for view in (frozen, columns[:, 1], values[::-1][::-1], np.asfortranarray(values)):
        assert plain(view, kind) == expected
    if dtype != np.dtypes.StringDType():
        fields = np.zeros(count, [("pad", "u1"), ("member", dtype)])
        fields["member"] = values
        assert plain(fields["member"], kind) == expected


@given(st.lists(st.text()))
def test_any_text(texts: list[str]) -> None:
    for name, form in TEXT_FORMS.items():
        distinct = list(dict.fromkeys(texts)) if name == "dict" else texts
        assert plain(form(texts), "str") == distinct


@given(st.lists(st.binary()))
def test_any_bytes(values: list[bytes]) -> None:
    for form in BYTES_FORMS.values():
        assert plain(form(values), "bytes") == values


@given(st.lists(st.uuids()))
def test_any_uuids(values: list[uuid.UUID]) -> None:
    for form in UUID_FORMS.values():
        assert plain(form(values), "uuid") == values


@given(st.lists(st.characters(exclude_categories=())))
def test_text_that_python_can_not_encode(characters: list[str]) -> None:
    text = "".join(characters)
    for values in ([text], np.array([text])):
        try:
            str(values[0]).encode()
        except UnicodeEncodeError:
            with pytest.raises(UnicodeEncodeError):
                _core.names(values, "str")
        else:
            assert plain(values, "str") == [values[0]]


@pytest.mark.parametrize("dtype", ["<u4", ">u4"])
def test_arrays_of_text_that_hold_no_code_point(dtype: str) -> None:
    for number in (0x110000, 2**32 - 1):
        array = np.array([65, number], dtype).view(dtype.replace("u4", "U1"))
        with pytest.raises(ValueError, match="code point"):
            _core.names(array, "str")


def arrow_of(values: list[bytes], width: str) -> pa.Array:
    return pa.array(values, width).view(width.replace("binary", "string"))


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=20),
            st.text(max_size=9).map(str.encode),
            st.text(min_size=1, max_size=9).map(lambda text: text.encode()[:-1]),
            st.sampled_from([b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\x80"]),
        ),
        max_size=4,
    ),
    st.sampled_from(["binary", "large_binary"]),
)
def test_text_of_arrow_is_checked_as_python_would(values: list[bytes], width: str) -> None:
    try:
        expected = [value.decode() for value in values]
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            _core.names(arrow_of(values, width), "str")
    else:
        assert plain(arrow_of(values, width), "str") == expected


def test_a_character_split_over_two_rows_is_no_text() -> None:
    with pytest.raises(UnicodeDecodeError):
        _core.names(arrow_of([b"\xc3", b"\xa9"], "binary"), "str")


@given(st.text(alphabet="0123456789abcdefABCDEF-{}urnid: _x", max_size=40))
def test_spellings_of_uuids_are_those_of_the_library(text: str) -> None:
    try:
        expected = uuid.UUID(text)
    except ValueError:
        with pytest.raises(ValueError):
            _core.names([text], "uuid")
    else:
        assert plain([text], "uuid") == [expected]


@pytest.mark.parametrize("text", ["0x" + "1" * 30, "\u0661" * 32, " " + "1" * 31, "1_" * 15 + "11"])
def test_odd_spellings_of_uuids(text: str) -> None:
    assert plain([text], "uuid") == [uuid.UUID(text)]


def test_uuids_come_back_as_the_library_makes_them() -> None:
    for value, made in zip(UUIDS, _core.names(UUIDS, "uuid"), strict=True):
        assert type(made) is uuid.UUID
        assert made == value and hash(made) == hash(value) and repr(made) == repr(value)
        assert made.is_safe is value.is_safe is uuid.SafeUUID.unknown
        assert made.bytes == value.bytes and made.version == value.version
        with pytest.raises(TypeError):
            made.int = 5


class Text(str):
    def __str__(self) -> str:
        raise AssertionError("not asked for")

    encode = __iter__ = __len__ = __str__  # type: ignore[assignment]


class Uuid(uuid.UUID):
    pass


def test_subclasses_are_taken_by_their_content() -> None:
    assert plain([Text("añb"), Text("ab")], "str") == ["añb", "ab"]
    assert plain([Uuid(int=7), str(UUIDS[8])], "uuid") == [uuid.UUID(int=7), UUIDS[8]]


def test_other_sets_give_their_members() -> None:
    with pytest.raises(TypeError, match="must be str, not int"):
        _core.names(SortedSet({1: 1.0}), "str")


NULLS = [pa.nulls(2), pa.array(["a", None]), pa.array(["a", None], pa.string_view())]
NULLS += [pa.array(["a", None]).dictionary_encode(), pl.Series(["a", None]), pd.Series(["a", None])]
NULLS += [np.array(["a", None], np.dtypes.StringDType(na_object=None))]
NULLS += [pa.chunked_array([["a"], [None]], pa.string()), pa.array(["a", None, "b", None])[2:]]
NULLS += [np.ma.array(["a", "b"], mask=[False, True])]


@pytest.mark.parametrize("values", NULLS, ids=lambda v: f"{type(v).__module__}.{type(v).__name__}")
def test_missing_values_are_refused(values: Any) -> None:
    with pytest.raises(ValueError):
        _core.names(values, "str")


def test_missing_values_outside_of_a_slice_do_not_matter() -> None:
    for dtype in (pa.string(), pa.string_view(), pa.large_string()):
        values = pa.array([None, "a", "b" * 20, None], dtype)
        assert plain(values[1:3], "str") == ["a", "b" * 20]
    assert plain(np.ma.array(["a", "b"], mask=False), "str") == ["a", "b"]


def test_columns_of_nulls_without_rows_are_empty() -> None:
    for values in (pa.nulls(0), pa.chunked_array([], pa.null()), pl.Series([])):
        for kind in ("str", "bytes", "uuid"):
            assert plain(values, kind) == []


ARRAYS = [np.array([1]), np.array([1.0]), np.array([True]), np.array([1], "M8[s]")]
ARRAYS += [np.zeros(1, "V15"), np.zeros(1, [("a", "V16")]), np.zeros(1, "u1"), memoryview(b"abc")]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        *(("abc", kind) for kind in ("str", "bytes", "uuid")),
        *((b"abc", kind) for kind in ("str", "bytes", "uuid")),
        *((bytearray(b"abc"), kind) for kind in ("str", "bytes", "uuid")),
        *((values, kind) for values in ARRAYS for kind in ("str", "bytes", "uuid")),
        *(([value], "str") for value in (b"a", 1, None, UUIDS[0], 1.5, ["a"])),
        *(([value], "bytes") for value in ("a", 1, None, UUIDS[0], 1.5, np.array([1]))),
        *(([value], "uuid") for value in (b"a" * 16, 1, None, 1.5, bytearray(16))),
        (np.array(["a"]), "bytes"),
        (np.array(["a"], np.dtypes.StringDType()), "bytes"),
        (np.array([b"a"]), "str"),
        (np.array([b"a" * 16]), "uuid"),
        (np.zeros(1, "V16"), "bytes"),
        (np.array(["a", b"a"], object), "str"),
        (pa.array(["a"]), "bytes"),
        (pa.array([b"a"]), "str"),
        (pa.array([b"a" * 15], pa.binary(15)), "uuid"),
        (pa.array([1]), "str"),
        (pa.array([1]).dictionary_encode(), "str"),
        (pa.table({"a": ["a"]}), "str"),
        (pl.DataFrame({"a": ["a"]}), "str"),
        (pd.Series([1, 2]), "str"),
        (pd.Series(["a", 2], dtype=object), "str"),
        (pd.DataFrame({"a": [1]}), "str"),
        (None, "str"),
        (5, "bytes"),
        (UUIDS[0], "uuid"),
    ],
    ids=label,
)
def test_what_can_not_be_members(values: Any, kind: str) -> None:
    with pytest.raises(TypeError) as caught:
        _core.names(values, kind)
    assert len(str(caught.value)) > 10


@pytest.mark.parametrize("shape", [(), (1, 1), (2, 15), (0, 16), (1, 1, 16)], ids=str)
def test_members_have_one_dimension(shape: tuple[int, ...]) -> None:
    for kind, dtype in (("str", "U3"), ("bytes", "S3"), ("uuid", "V16"), ("str", object)):
        with pytest.raises(ValueError, match="one dimension"):
            _core.names(np.zeros(shape, dtype), kind)
    if shape != (0, 16):
        with pytest.raises(ValueError, match="one dimension"):
            _core.names(np.zeros(shape, np.uint8), "uuid")


def test_messages_name_the_mistake() -> None:
    for values, kind, words in (
        ("abc", "str", "put it into a list"),
        ([b"a"], "str", "must be str, not bytes"),
        ([1], "bytes", "must be bytes, not int"),
        ([b"a" * 16], "uuid", r"uuid.UUID\(bytes=...\)"),
        (np.array([b"a" * 16]), "uuid", "V16"),
        (np.array([1]), "str", "array of int64"),
        (pa.array([b"a"]), "str", "of type bytes"),
        (pa.table({"a": ["a"]}), "str", "choose one of its columns"),
    ):
        with pytest.raises(TypeError, match=words):
            _core.names(values, kind)
    with pytest.raises(ValueError, match="known are str, bytes, uuid"):
        _core.names([], "int64")


def damaged(dtype: pa.DataType, count: int, rows: bytes, *data: bytes | None) -> pa.Array:
    """A column whose rows change after pyarrow has looked at them: at first all are empty."""
    memory = bytearray(len(rows))
    buffers = [None, pa.py_buffer(memory)]
    buffers += [None if item is None else pa.py_buffer(item) for item in data]
    column = pa.Array.from_buffers(dtype, count, buffers)
    memory[:] = rows
    return column


def dictionary(dtype: pa.DataType, *indices: int) -> pa.Array:
    damage = damaged(dtype, len(indices), np.array(indices, dtype.to_pandas_dtype()).tobytes())
    return pa.DictionaryArray.from_arrays(damage, pa.array(["a", "b"]), safe=False)


def ints(*values: int, width: str = "i4") -> bytes:
    return np.array(values, width).tobytes()


def view(length: int, buffer: int, offset: int) -> bytes:
    return ints(length) + b"pref" + ints(buffer, offset)


TEXT, WIDE, VIEWS = pa.string(), pa.large_string(), pa.string_view()
DAMAGED = {
    "negative offset": damaged(TEXT, 1, ints(-1, 2), b"abcd"),
    "descending offsets": damaged(TEXT, 2, ints(0, 4, 2), b"abcd"),
    "wide negative offset": damaged(WIDE, 1, ints(-1, 2, width="i8"), b"abcd"),
    "wide descending offsets": damaged(WIDE, 2, ints(0, 4, 2, width="i8"), b"abcd"),
    "view past the end": damaged(VIEWS, 1, view(13, 0, 1), b"x" * 13),
    "view before the start": damaged(VIEWS, 1, view(13, 0, -1), b"x" * 99),
    "view of no buffer": damaged(VIEWS, 1, view(13, 1, 0), b"x" * 99),
    "view of a negative buffer": damaged(VIEWS, 1, view(13, -1, 0), b"x" * 99),
    "view without buffers": damaged(VIEWS, 1, view(13, 0, 0)),
    "negative view": damaged(VIEWS, 1, view(-1, 0, 0), b"x" * 99),
    "longest view": damaged(VIEWS, 1, view(2**31 - 1, 0, 2**31 - 1), b"x" * 99),
    "index past the dictionary": dictionary(pa.uint8(), 0, 2),
    "negative index": dictionary(pa.int16(), 0, -1),
    "huge index": dictionary(pa.uint64(), 2**64 - 1),
}


@pytest.mark.parametrize("values", DAMAGED.values(), ids=DAMAGED.keys())
def test_damaged_arrow_columns_are_refused(values: pa.Array) -> None:
    with pytest.raises(ValueError, match="damaged"):
        _core.names(values, "str")
    with pytest.raises(ValueError, match="damaged"):
        _core.names(pa.chunked_array([pa.array(["a"], values.type), values]), "str")


class Exporter:
    """Hands out what it was given."""

    def __init__(self, exported: Any) -> None:
        self.exported = exported

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        if isinstance(self.exported, BaseException):
            raise self.exported
        return self.exported


def test_exporters_that_do_not_keep_the_protocol() -> None:
    for exported in (None, 5, pa.array(["a"]).__arrow_c_array__(), KeyError("a")):
        with pytest.raises((TypeError, ValueError, KeyError)):
            _core.names(Exporter(exported), "str")
    stream = pa.chunked_array([["a"]]).__arrow_c_stream__()
    assert plain(Exporter(stream), "str") == ["a"]


def test_a_stream_can_not_be_read_twice() -> None:
    capsule = pa.chunked_array([["a"]]).__arrow_c_stream__()
    assert len(_core.names(Exporter(capsule), "str")) == 1
    with pytest.raises(ValueError, match="has been read before"):
        _core.names(Exporter(capsule), "str")


class ArrowSchema(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_char_p) for name in ("format", "name", "metadata")),
        *((name, ctypes.c_int64) for name in ("flags", "child_count")),
        *((name, ctypes.c_void_p) for name in ("children", "dictionary", "release", "private")),
    ]


class ArrowArray(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "buffer_count")),
        ("child_count", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_char_p)),
        *((name, ctypes.c_void_p) for name in ("children", "dictionary", "release", "private")),
    ]


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))
RELEASE = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))


def capsule(struct: ctypes.Structure, name: bytes) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(struct), name, None)


class Foreign:
    """One array with whatever its fields are told to be; it counts how often it is released."""

    def __init__(self, form: bytes, *buffers: bytes | None, **fields: int) -> None:
        self.releases = 0
        self.release_schema = RELEASE_SCHEMA(self.forget_schema)
        self.schema = ArrowSchema(
            format=form, release=ctypes.cast(self.release_schema, ctypes.c_void_p)
        )
        self.buffers = (ctypes.c_char_p * len(buffers))(*buffers)
        self.release = RELEASE(self.count_release)
        self.array = ArrowArray(
            **{"length": 1, "buffer_count": len(buffers), **fields},
            buffers=ctypes.cast(self.buffers, ctypes.POINTER(ctypes.c_char_p)),
            release=ctypes.cast(self.release, ctypes.c_void_p),
        )

    @staticmethod
    def forget_schema(schema: Any) -> None:
        schema.contents.release = None

    def count_release(self, array: Any) -> None:
        self.releases += 1
        array.contents.release = None

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return capsule(self.schema, b"arrow_schema"), capsule(self.array, b"arrow_array")


def test_an_array_is_taken_over_and_released_once() -> None:
    foreign = Foreign(b"u", None, ints(0, 2), b"ab")
    column = _core.names(foreign, "str")
    with pytest.raises(ValueError, match="has been read before"):
        _core.names(foreign, "str")
    assert foreign.releases == 0
    assert list(column) == ["ab"]
    del column
    assert foreign.releases == 1


@pytest.mark.parametrize(
    ("form", "buffers", "fields"),
    [
        (b"u", (None, ints(0, 2), None), {}),
        (b"u", (None, None, b"ab"), {}),
        (b"u", (None, ints(0, 2)), {}),
        (b"u", (None, ints(0, 2), b"ab", b""), {}),
        (b"u", (), {}),
        (b"u", (None, ints(0, 2), b"ab"), {"length": -1}),
        (b"u", (None, ints(0, 2), b"ab"), {"offset": -1}),
        (b"u", (None, ints(0, 2), b"ab"), {"length": 2**63 - 1}),
        (b"u", (None, ints(0, 2), b"ab"), {"offset": 2**62, "length": 2**62}),
        (b"vu", (None, ints(0, 0, 0, 0)), {}),
        (b"vu", (None, None, b""), {}),
    ],
)
def test_impossible_arrays_are_refused(
    form: bytes, buffers: tuple[bytes | None, ...], fields: dict[str, int]
) -> None:
    foreign = Foreign(form, *buffers, **fields)
    with pytest.raises(ValueError, match="damaged"):
        _core.names(foreign, "str")
    assert foreign.releases == 1


@pytest.mark.parametrize("nulls", [-1, 1])
def test_nulls_that_are_not_counted_are_found(nulls: int) -> None:
    rows = ints(0, 1, 2, 3)
    for valid, missing in ((b"\x02", False), (b"\x05", True)):
        foreign = Foreign(b"u", valid, rows, b"abc", offset=1, null_count=nulls)
        if missing:
            with pytest.raises(ValueError, match="nulls"):
                _core.names(foreign, "str")
        else:
            assert list(_core.names(foreign, "str")) == ["b"]


@pytest.mark.parametrize("form", [b"", b"x", b"w:", b"w:0", b"w:-1", b"w:16x", b"+s", b"tdD"])
def test_other_arrow_types_are_refused(form: bytes) -> None:
    for kind in ("str", "bytes", "uuid"):
        foreign = Foreign(form, None, bytes(32))
        with pytest.raises(TypeError, match="of type"):
            _core.names(foreign, kind)
        assert foreign.releases == 1


class WithoutArrow:
    """A Series of pandas where pyarrow is not installed."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        raise ImportError("pyarrow is required")

    def __array__(self, dtype: object = None, copy: object = None) -> Any:
        return np.array(["a", "é"], object)


def test_pandas_is_read_by_numpy_where_there_is_no_arrow() -> None:
    assert plain(WithoutArrow(), "str") == ["a", "é"]


class Shrinking(list[Any]):
    def __iter__(self) -> Any:
        for item in self[:]:
            self.clear()
            yield item


def test_lists_that_change_while_they_are_read() -> None:
    assert plain(Shrinking(["a", "b"]), "str") == ["a", "b"]

    def failing() -> Any:
        yield "a"
        raise KeyError("b")

    with pytest.raises(KeyError):
        _core.names(failing(), "str")


def test_rows_are_checked_and_counted_from_either_end() -> None:
    column = _core.names(["a", "b"], "str")
    assert (len(column), column[0], column[-1]) == (2, "a", "b")
    for row in (2, -3, 2**62):
        with pytest.raises(IndexError):
            column[row]
    with pytest.raises(TypeError):
        type(column)()


@forms({**TEXT_FORMS, **BYTES_FORMS, **UUID_FORMS})
def test_a_column_keeps_alive_what_it_points_into(form: Callable[[list[Any]], Any]) -> None:
    for kind, table, values in (
        ("str", TEXT_FORMS, [str(n) * 9 for n in range(2000)]),
        ("bytes", BYTES_FORMS, [str(n).encode() * 9 for n in range(2000)]),
        ("uuid", UUID_FORMS, [uuid.UUID(int=n * 2**90) for n in range(2000)]),
    ):
        if form in table.values():
            column = _core.names(form([copy_of(value) for value in values]), kind)
            gc.collect()
            others = form([copy_of(value) for value in values[::-1]])
            assert list(column) == values
            del others


def copy_of(value: Any) -> Any:
    if isinstance(value, uuid.UUID):
        return uuid.UUID(int=value.int)
    return value[:5] + value[5:]


def test_later_writes_to_an_array_of_strings_do_not_show() -> None:
    array = np.array(["a" * 50, "b"], np.dtypes.StringDType())
    column = _core.names(array, "str")
    array[:] = "c" * 500
    assert list(column) == ["a" * 50, "b"]


def test_reference_counts() -> None:
    text, encoded, value = "é" * 40, b"b" * 40, uuid.UUID(int=2**100)
    strings = np.array(["a"] * 3, "S4")
    before = [sys.getrefcount(x) for x in (text, encoded, value, value.int, strings)]
    size = sys.getsizeof(text)
    for _ in range(10):
        held = [
            _core.names([text], "str"),
            _core.names([encoded, bytearray(b"a")], "bytes"),
            _core.names([value], "uuid"),
            _core.names(strings, "bytes"),
        ]
        for column in held:
            list(column)
            column.to_array()
        for wrong in ([text, 1], [encoded, 1], [value, 1]):
            for kind in ("str", "bytes", "uuid"):
                with pytest.raises((TypeError, ValueError)):
                    _core.names(wrong, kind)
    del held, column, wrong
    assert [sys.getrefcount(x) for x in (text, encoded, value, value.int, strings)] == before
    assert sys.getsizeof(text) == size


FAILING = r"""
import uuid
import numpy as np, pyarrow as pa
from _testcapi import remove_mem_hooks, set_nomemory
from goblin import _core

texts = ["a" * 20, "é" * 30, "b"]
ids = [uuid.UUID(int=5 << 80), str(uuid.UUID(int=6)), uuid.UUID(int=1).urn]
inputs = [
    ("str", texts), ("str", np.array(texts)), ("str", np.array(texts, "T")), ("uuid", ids),
    ("uuid", np.array(ids[1:])), ("bytes", [b"a", bytearray(b"x")]),
    ("bytes", np.array([b"a", b"b"])[::-1]), ("str", pa.chunked_array([texts, texts])),
    ("str", pa.array(texts)), ("str", pa.array(texts).dictionary_encode()),
]
for kind, values in inputs:
    column = _core.names(values, kind)
    expected = list(column)
    calls = [lambda: _core.names(values, kind), lambda: column[0], column.to_array]
    for call in calls:
        for n in range(40):
            set_nomemory(n, n + 1)
            try:
                result = call()
            except MemoryError:
                result = None
            finally:
                remove_mem_hooks()
        assert result is not None
        assert list(column) == list(_core.names(values, kind)) == expected
"""


def test_every_failed_allocation_is_a_memory_error() -> None:
    pytest.importorskip("_testcapi", reason="this Python came without its test modules")
    done = subprocess.run([sys.executable, "-c", FAILING], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
