"""What goblin's objects take from other libraries through Arrow's C interface."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from model.hash_checks import ALL_KINDS, Kind
from model.layouts import ALL_LAYOUTS, Layout
from operations.tables import TABLE_KINDS, TableKind

import goblin
from goblin import Boards, Hash, HashTable, SortedSet, _core


class Exporter:
    """One that has nothing but Arrow's interface."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


class ArrayExporter:
    def __init__(self, array: Any) -> None:
        self.array = array

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.array.__arrow_c_array__(requested_schema)


def in_duckdb(rows: pa.Table) -> Any:
    return duckdb.sql("from rows")


def chunked(table: pa.Table) -> pa.Table:
    parts = [table.slice(0, 1), table.slice(1, 0), table.slice(1, 2), table.slice(3)]
    return pa.concat_tables(parts)


def encoded(table: pa.Table) -> pa.Table:
    """With dictionaries, of each chunk another one."""
    columns = [column.dictionary_encode() for column in chunked(table).columns]
    return pa.table(columns, names=table.column_names)


def sliced(table: pa.Table) -> Any:
    """A struct with an offset of its own, over columns with another."""
    padded = pa.concat_tables([table.slice(0, 2), table]).combine_chunks()
    return ArrayExporter(padded.slice(1).to_struct_array().combine_chunks()[1:])


# What each library makes of a table, of those that hold UUIDs as such where UUIDs are wanted.
FORMS: dict[str, Callable[[pa.Table], Any]] = {
    "Table": lambda t: t,
    "chunks": chunked,
    "reader": lambda t: t.to_reader(),
    "record batch": lambda t: t.combine_chunks().to_batches()[0] if len(t) else t,
    "polars": pl.DataFrame,
    "duckdb": in_duckdb,
    "stream": Exporter,
    "sliced": sliced,
    "dictionaries": encoded,
}
PANDAS: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda t: t.to_pandas(),
    "pandas of Arrow": lambda t: t.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, indexed": lambda t: t.to_pandas().set_index(np.arange(len(t)) * 3.5),
}


def table_of(one: Any) -> pa.Table:
    return pa.table(one)


@pytest.mark.parametrize("form", [*FORMS.values(), *PANDAS.values()], ids=[*FORMS, *PANDAS])
@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_sorted_sets(layout: Layout, form: Any) -> None:
    if form in PANDAS.values() and layout.member == "uuid":
        pytest.skip("pyarrow makes no column of uuid.UUID")
    if form is encoded and layout.member == "uuid":
        pytest.skip("pyarrow has no dictionaries of UUIDs")
    z = SortedSet(layout.series(30), np.arange(30.0) - 7, **layout.options)
    got = form(table_of(z))
    kind = None if layout.member == "int32" else layout.member
    assert SortedSet(got, member=kind, score=layout.score) == z
    other = SortedSet({layout.nth(2): 99.0}, **layout.options)
    assert other.update(form(table_of(z))).added == 29
    other.subtract(form(table_of(z)))
    assert other.scores(layout.array(layout.series(30))).tolist() == [0.0] * 30
    assert other.member_dtype == layout.member


@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_kinds_are_those_of_the_columns(layout: Layout) -> None:
    z = SortedSet(layout.series(5), 1.0, **layout.options)
    assert SortedSet(z.to_arrow()).member_dtype == layout.member
    assert SortedSet(Exporter(pa.table(z).slice(0, 0))).member_dtype == layout.member
    assert SortedSet.from_counts(z.to_arrow(), column="member").member_dtype == layout.member


def test_rows_come_back() -> None:
    z = SortedSet({"a": 1.0, "b": 5.0, "c": 3.0})
    assert SortedSet(z.top(2).to_arrow()) == {"b": 5.0, "c": 3.0}  # by name, of three columns
    assert SortedSet(z.top(2).to_polars().rename({"rank": "member", "member": "x"})) == {
        2: 5.0,
        1: 3.0,
    }


def test_an_index_of_pandas() -> None:
    rows = pd.DataFrame({"id": [1, 2, 1], "elo": [5.0, 7.0, 1.0]})
    assert SortedSet(rows.groupby("id").sum()) == {1: 6.0, 2: 7.0}
    assert SortedSet(rows.sort_values("elo")[:2]) == {1: 5.0}  # numbers of rows are no column
    fields = HashTable.from_arrow(rows[rows.elo > 4].astype({"id": "str"}), "id").to_dict()
    assert fields == {"1": {"elo": 5.0}, "2": {"elo": 7.0}}
    by_id = rows[1:].astype({"id": "str"}).set_index("id")
    assert HashTable.from_arrow(by_id, "id").to_dict() == {"1": {"elo": 1.0}, "2": {"elo": 7.0}}


def test_columns_by_name_or_place() -> None:
    assert SortedSet(pa.table({"score": [1.0], "member": ["a"]})) == {"a": 1.0}
    assert SortedSet(pa.table({"x": ["a"], "y": [1]})) == {"a": 1.0}
    assert Hash(pa.table({"value": ["x"], "key": ["a"], "z": [1]})) == {"a": "x"}
    assert SortedSet(duckdb.sql("select 'a' as m, 5::bigint as n union all select 'b', 6")) == {
        "a": 5.0,
        "b": 6.0,
    }
    for columns in ({"x": ["a"]}, {"x": ["a"], "y": [1.0], "z": [2.0]}, {}):
        with pytest.raises(TypeError, match="a frame needs columns named 'member' and 'score'"):
            SortedSet(pa.table(columns))
    with pytest.raises(ValueError, match="two columns have one name"):
        SortedSet(pa.table([["a"], [1.0]], names=["x", "x"]))


_WORDS = pa.array([1.5, 2.5]).dictionary_encode()

BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "null member": (pa.table({"m": ["a", None], "s": [1.0, 2.0]}), ValueError, "nulls"),
    "null score": (pa.table({"m": ["a", "b"], "s": [1.0, None]}), ValueError, "nulls"),
    "null integer": (pa.table({"m": [1, None], "s": [1.0, 2.0]}), ValueError, "nulls"),
    "null row": (
        ArrayExporter(pa.array([{"m": "a", "s": 1.0}, None])),
        ValueError,
        "nulls",
    ),
    "NaN": (pa.table({"m": ["a"], "s": [float("nan")]}), ValueError, "NaN"),
    "text score": (pa.table({"m": ["a"], "s": ["b"]}), TypeError, "type str"),
    "float member": (pa.table({"m": [1.5], "s": [1.0]}), TypeError, "float64"),
    "bool member": (pa.table({"m": [True], "s": [1.0]}), TypeError, "type bool"),
    "decimal": (
        pa.table({"m": ["a"], "s": pa.array([1], pa.decimal128(38))}),
        TypeError,
        "decimal; cast it",
    ),
    "list": (pa.table({"m": [["a"]], "s": [1.0]}), TypeError, "type"),
    "unsigned": (pa.table({"m": pa.array([2**63], pa.uint64()), "s": [1.0]}), OverflowError, "fit"),
    "nested dictionaries": (
        pa.table({"m": pa.DictionaryArray.from_arrays([0, 0], _WORDS), "s": [1.0, 2.0]}),
        TypeError,
        "dictionary of dictionaries",
    ),
    "nested dictionaries of scores": (
        pa.table({"m": ["a", "b"], "s": pa.DictionaryArray.from_arrays([0, 0], _WORDS)}),
        TypeError,
        "dictionary of dictionaries",
    ),
    "other members": (pa.table({"m": [5], "s": [1.0]}), TypeError, "str can't come"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused(name: str) -> None:
    data, error, text = BAD[name]
    member: Any = {"unsigned": "int64", "null integer": "int64", "other members": "str"}.get(name)
    z: SortedSet[Any] = SortedSet({"z": 5.0} if member != "int64" else {9: 5.0}, member=member)
    before = z.to_dict()
    with pytest.raises(error, match=text):
        SortedSet(data, member=member)
    if name not in ("float member", "bool member", "list"):
        with pytest.raises(error, match=text):
            z.update(data)
    assert z.to_dict() == before


OBJECTS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "constructor": SortedSet,
    "of bytes": lambda frame: SortedSet(frame, member="bytes"),
    "update": lambda frame: SortedSet({b"z": 5.0}).update(frame),
    "increments": lambda frame: SortedSet({b"z": 5.0}).increment_many(frame["member"]),
    "from_counts": lambda frame: SortedSet.from_counts(frame, column="member"),
    "from_counts of a column": lambda frame: SortedSet.from_counts(frame["member"]),
    "members": lambda frame: SortedSet(frame["member"], 1.0, member="bytes"),
    "scores": lambda frame: SortedSet({b"z": 5.0}).scores(frame["member"]),
    "annotate": lambda frame: goblin.annotate(frame, "member", SortedSet({b"z": 5.0})),
    "hash": lambda frame: Hash(frame.rename({"member": "key", "score": "value"})),
    "keys of a hash": lambda frame: Hash(key="bytes").get_many(frame["member"]),
    "table": lambda frame: HashTable.from_arrow(frame, "score"),
    "keys of a table": lambda frame: HashTable.from_arrow(frame, "member"),
    "records": lambda frame: HashTable(key="bytes").update(frame.rename({"member": "key"})),
    "boards": lambda frame: Boards(member="bytes").increment_many(["x"], frame["member"]),
}


@pytest.mark.parametrize("way", OBJECTS.values(), ids=OBJECTS)
def test_objects_of_polars_are_no_bytes(way: Any) -> None:
    frame = pl.DataFrame({"member": pl.Series([object()], dtype=pl.Object), "score": [1.0]})
    with pytest.raises(TypeError, match=r"Object columns have no Arrow type|not object"):
        way(frame)


def test_a_series_of_objects_is_read_as_these() -> None:
    ids = [uuid.uuid4() for _ in range(3)]
    column = pl.Series("m", ids)
    assert column.dtype == pl.Object
    z = SortedSet(column, [1.0, 2.0, 3.0])
    assert z == dict(zip(ids, [1.0, 2.0, 3.0], strict=True))
    assert goblin.annotate(column.to_frame(), "m", z)["rank"].to_list() == [0, 1, 2]
    assert SortedSet(pl.Series([5, 6], dtype=pl.Object), 1.0) == {5: 1.0, 6: 1.0}


def test_integers_of_all_widths() -> None:
    for bits in (8, 16, 32, 64):
        for sign in ("int", "uint"):
            column = pa.array([0, 5, 127], getattr(pa, f"{sign}{bits}")())
            table = pa.table({"member": column, "score": column})
            for form in (table, encoded(table), chunked(table)):
                assert SortedSet(form) == {0: 0.0, 5: 5.0, 127: 127.0}
    halves = pa.array(np.array([1.5, -2.5], np.float16))
    assert SortedSet(pa.table({"m": ["a", "b"], "s": halves})) == {"a": 1.5, "b": -2.5}


@pytest.mark.parametrize("kind", ["int64", "str"])
def test_columns_that_have_only_the_interface(kind: str) -> None:
    members = pa.array([3, 4, 3] if kind == "int64" else ["x", "y", "x"])
    by = pa.array([1.0, 2.0, 4.0])
    for wrap in (ArrayExporter, lambda array: Exporter(pa.chunked_array([array[:1], array[1:]]))):
        z: SortedSet[Any] = SortedSet(member=kind)  # type: ignore[arg-type]
        z.increment_many(wrap(members), wrap(by))
        a, b = members.to_pylist()[:2]
        assert z == {a: 5.0, b: 2.0}
        assert z.scores(wrap(members)).tolist() == [5.0, 2.0, 5.0]
        assert z.ranks(wrap(members)).tolist() == [1, 0, 1]
        assert z.remove(wrap(members[1:])) == 2
    with pytest.raises(TypeError, match="choose one of its columns"):
        SortedSet(member=kind).increment_many(Exporter(pa.table({"a": members})))  # type: ignore[arg-type]


EMPTY: dict[str, Any] = {
    "pandas": lambda: pd.Series([], dtype="Int64"),
    "pandas of Arrow": lambda: pd.Series([], dtype=pd.ArrowDtype(pa.int64())),
    "pandas categories": lambda: pd.Series(pd.Categorical([], categories=[1, 2])),
    "polars": lambda: pl.Series([], dtype=pl.Int64),
    "Array": lambda: pa.array([], pa.int64()),
    "chunks": lambda: pa.chunked_array([], pa.int64()),
}


@pytest.mark.parametrize("make", EMPTY.values(), ids=EMPTY)
def test_empty_columns_bring_their_kind(make: Any) -> None:
    assert SortedSet.from_counts(make()).layout == "int64-float64"
    assert SortedSet(make(), 1.0).layout == "int64-float64"
    assert SortedSet.from_counts([make(), np.array([5])], member="int64") == {5: 1.0}
    assert SortedSet(pa.array([], pa.binary()), 1.0).member_dtype == "bytes"
    assert SortedSet(pl.Series([], dtype=pl.String), 1.0).member_dtype == "str"


def test_a_null_in_front_does_not_hide_the_kind() -> None:
    for column in (pa.array([None, 5]), pl.Series([None, 5]), pd.Series([None, 5])):
        with pytest.raises(TypeError, match="NaN where one is missing; leave these out"):
            SortedSet.from_counts(column)
    assert SortedSet.from_counts(pa.array([None, b"x"])[1:]).member_dtype == "bytes"


UUIDS = [uuid.UUID(int=i << 64 | 7 * i) for i in range(1, 20)]

# Columns that once were UUIDs, and those that others make of them.
AS_UUIDS: dict[str, Callable[[SortedSet[Any]], Any]] = {
    "polars": lambda z: z.to_polars(),
    "polars, chunks": lambda z: pl.concat([z.to_polars()[:7], z.to_polars()[7:]], rechunk=False),
    "polars, sliced": lambda z: z.to_polars()[0:19],
    "Parquet of polars": lambda z: through_parquet(z.to_polars()),
    "pyarrow": lambda z: z.to_arrow(),
    "pandas": lambda z: z.to_pandas(),
    "duckdb": lambda z: duckdb.sql("from z"),
    "duckdb to polars": lambda z: duckdb.sql("from z").pl(),
    "duckdb to pandas": lambda z: duckdb.sql("from z").df(),
    "dictionary": lambda z: z.to_arrow().set_column(0, "member", binary(z).dictionary_encode()),
    "binary": lambda z: z.to_arrow().set_column(0, "member", binary(z)),
    "fixed": lambda z: z.to_arrow().set_column(0, "member", binary(z).cast(pa.binary(16))),
    "views": lambda z: z.to_arrow().set_column(0, "member", binary(z).cast(pa.binary_view())),
}


def binary(z: SortedSet[Any]) -> pa.Array:
    return pa.array([one.bytes for one in z], pa.binary())


def through_parquet(frame: pl.DataFrame) -> pl.DataFrame:
    file = io.BytesIO()
    frame.write_parquet(file)
    file.seek(0)
    return pl.read_parquet(file)


@pytest.mark.parametrize("form", AS_UUIDS.values(), ids=AS_UUIDS)
def test_uuids_come_back(form: Any) -> None:
    z = SortedSet(UUIDS, np.arange(19.0), member="uuid")
    frame = form(z)
    assert SortedSet(frame, member="uuid") == z
    other = SortedSet(member="uuid")
    assert other.update(form(z)).added == 19
    if isinstance(frame, pl.DataFrame):
        assert goblin.annotate(frame, "member", z)["rank"].to_list() == list(range(19))


@pytest.mark.parametrize("width", [0, 15, 17])
def test_what_has_not_the_length_of_a_uuid(width: int) -> None:
    z = SortedSet(UUIDS, 1.0)
    members = [UUIDS[0].bytes, b"x" * width]
    for type_ in (pa.binary(), pa.large_binary(), pa.binary_view()):
        column = pa.array(members, type_)
        for one in (column, pa.chunked_array([column[:1], column[1:]])):
            with pytest.raises(ValueError, match=f"a UUID has 16 bytes, not {width}"):
                z.update(one, 1.0)
    assert len(z) == 19


# ---- counting


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_from_counts(form: Any) -> None:
    table = pa.table({"n": [1, 2, 3, 4], "name": ["a", "b", "a", "a"]})
    assert SortedSet.from_counts(form(table), column="name") == {"a": 3.0, "b": 1.0}
    assert SortedSet.from_counts([form(table), form(table)], column="name") == {"a": 6.0, "b": 2.0}
    alone = SortedSet.from_counts(form(table.select(["name"])))
    assert alone == {"a": 3.0, "b": 1.0}
    with pytest.raises(TypeError, match=r"column= must say which of the frame's columns .*'name'"):
        SortedSet.from_counts(form(table))
    with pytest.raises(KeyError, match=r"no column 'typo'; there are: .*'name'"):
        SortedSet.from_counts(form(table), column="typo")


def test_boards_of_columns() -> None:
    frame = pl.DataFrame({"g": ["x", "y", "x"], "m": ["a", "b", "a"], "s": [1.0, 2.0, 3.0]})
    for columns in (frame, frame.to_arrow(), frame.to_pandas()):
        boards = Boards.from_arrays(columns["g"], columns["m"], columns["s"])
        assert {g: z.to_dict() for g, z in boards.items()} == {"x": {"a": 4.0}, "y": {"b": 2.0}}


# ---- hashes and tables


@pytest.mark.parametrize("form", [*FORMS.values(), *PANDAS.values()], ids=[*FORMS, *PANDAS])
@pytest.mark.parametrize("kind", ALL_KINDS, ids=str)
def test_hashes(kind: Kind, form: Any) -> None:
    h = Hash(kind.pairs(20), **kind.options)
    assert Hash(form(table_of(h)), **kind.options) == h
    other = Hash(kind.pairs(15, 30), **kind.options)
    other.update(form(table_of(h)))
    assert other == dict(kind.pairs(30))


def test_hashes_take_keywords_besides() -> None:
    for value, one, two in (("str", "x", "y"), ("int64", 5, 6), ("float64", 0.5, 2.5)):
        h: Hash[str, Any] = Hash(value=value)  # type: ignore[arg-type]
        h.update(pa.table({"key": ["a", "b"], "value": [one, one]}), b=two)
        assert h == {"a": one, "b": two}
    with pytest.raises(ValueError, match="nulls"):
        Hash(pa.table({"key": ["a"], "value": [None]}))


def records(table: HashTable) -> Any:
    return table.to_dict()


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("kind", [k for k in TABLE_KINDS if k.record.key == "str"], ids=str)
def test_tables(kind: TableKind, form: Any) -> None:
    t = HashTable(kind.rows(40), **kind.options)
    assert HashTable(form(table_of(t)), **kind.options) == t
    assert HashTable.from_arrow(form(table_of(t)), "key") == t
    renamed = table_of(t).rename_columns(["id", *t.fields()])
    made: HashTable = HashTable.from_arrow(form(renamed), "id")
    assert made == t
    assert (made.key_dtype, made.value_dtype) == (kind.key, kind.record.value)


def test_tables_of_bytes_fields() -> None:
    t: HashTable = HashTable({"a": {b"x": "1"}, "b": {}}, field="bytes")
    assert HashTable(t.to_arrow(), field="bytes") == t


def test_garbage_below_nulls_is_not_looked_at() -> None:
    offsets, data = pa.py_buffer(np.array([0, 1, 3], np.int32)), pa.py_buffer(b"a\xff\xfe")
    valid = pa.py_buffer(b"\x01")
    texts = pa.Array.from_buffers(pa.string(), 2, [valid, offsets, data])
    nan = np.array([1.5, np.nan])
    numbers = pa.Array.from_buffers(pa.float64(), 2, [valid, pa.py_buffer(nan)])
    view = np.array([1, ord("b"), 0, 0, 500, 0, 77, 9], np.int32)
    views = pa.Array.from_buffers(pa.string_view(), 2, [valid, pa.py_buffer(view)])
    index = pa.Array.from_buffers(pa.int8(), 2, [valid, pa.py_buffer(b"\x00\x63")])
    words = pa.DictionaryArray.from_arrays(index, pa.array(["c"]), safe=False)
    for column, first in ((texts, "a"), (numbers, 1.5), (views, "b"), (words, "c")):
        table = HashTable.from_arrow(pa.table({"k": ["x", "y"], "f": column}), "k")
        assert table.to_dict() == {"x": {"f": first}, "y": {}}
    with pytest.raises(UnicodeDecodeError):
        full = pa.Array.from_buffers(pa.string(), 2, [None, offsets, data])
        HashTable.from_arrow(ArrayExporter(pa.record_batch({"k": ["x", "y"], "f": full})), "k")


def test_tables_without_a_column_of_keys() -> None:
    with pytest.raises(TypeError, match="no column 'key'"):
        HashTable(pa.table({"id": ["a"]}))
    with pytest.raises(ValueError, match="nulls"):
        HashTable(pa.table({"key": ["a", None]}))
    with pytest.raises(TypeError, match="column 'n': "):
        HashTable(pa.table({"key": ["a"], "n": [1]}))


def test_a_column_of_nulls_is_of_any_kind() -> None:
    table = pa.table({"key": ["a", "b"], "n": [1, 2], "none": pa.nulls(2)})
    assert HashTable.from_arrow(table, "key").to_dict() == {"a": {"n": 1}, "b": {"n": 2}}


# ---- streams


def test_a_stream_is_read_once() -> None:
    capsule = pa.table({"m": ["a"], "s": [1.0]}).__arrow_c_stream__()

    class Once:
        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            return capsule

    assert SortedSet(Once()) == {"a": 1.0}
    with pytest.raises(ValueError, match="stream has been read before"):
        SortedSet(Once())
    capsule = pa.chunked_array([["a"]]).__arrow_c_stream__()
    assert SortedSet(Once(), 1.0) == {"a": 1.0}


def test_a_stream_that_fails() -> None:
    def batches() -> Any:
        yield pa.record_batch({"m": ["a"], "s": [1.0]})
        raise RuntimeError("no more of it")

    z = SortedSet({"z": 1.0})
    schema = pa.schema([("m", pa.string()), ("s", pa.float64())])
    with pytest.raises(ValueError, match="no more of it"):
        z.update(pa.RecordBatchReader.from_batches(schema, batches()))
    assert z == {"z": 1.0}


def test_containers_are_still_read_as_mappings() -> None:
    h, t = Hash({"a": 1, "b": 2}, value="int64"), HashTable({"a": {"x": "1"}})
    assert SortedSet(h) == {"a": 1.0, "b": 2.0}
    z = SortedSet({"a": 1.0, "b": 1.0})
    z.increment_many(h)
    z.increment_many(t)
    assert z == {"a": 3.0, "b": 2.0}
    assert len(_core.names(z, "str")) == 2
