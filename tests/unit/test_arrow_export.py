"""What other libraries read of goblin's objects through Arrow's C interface."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from model.hash_checks import ALL_KINDS, Kind
from model.layouts import ALL_LAYOUTS, Layout
from operations.tables import TABLE_KINDS, TableKind

from goblin import Boards, Hash, HashTable, Rows, SortedSet, _arrow, _core
from goblin.io import commands, lichess, mediawiki

SIZES = [0, 1, 9, 300]

# Each way in which a library reads a table, as the rows that it then has.
READERS: dict[str, Callable[[Any], list[tuple[Any, ...]]]] = {
    "pyarrow": lambda t: rows_of(pa.table(t)),
    "pyarrow batches": lambda t: rows_of(pa.RecordBatchReader.from_stream(t).read_all()),
    "pandas": lambda t: list(pd.DataFrame.from_arrow(t).itertuples(index=False, name=None)),
    "polars": lambda t: pl.from_dataframe(t).rows(),
    "duckdb": lambda t: duckdb.sql("from t").fetchall(),
    "to_arrow": lambda t: rows_of(t.to_arrow()),
    "to_pandas": lambda t: list(t.to_pandas().itertuples(index=False, name=None)),
    "to_polars": lambda t: t.to_polars().rows(),
}
every_reader = pytest.mark.parametrize("read", READERS.values(), ids=READERS)


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    table.validate(full=True)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def filled(layout: Layout, n: int) -> SortedSet[Any]:
    return SortedSet(layout.array(layout.series(n)), np.arange(n) % 7 - 2.5, **layout.options)


def plain(rows: Any) -> list[tuple[Any, ...]]:
    """Rows with what polars and pandas have for UUIDs and absent values as others have them."""

    def one(value: Any) -> Any:
        if value is pd.NA or value is None or value != value:
            return None
        return value.bytes if isinstance(value, UUID) else value

    return [tuple(map(one, row)) for row in rows]


@every_reader
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_sorted_sets(layout: Layout, n: int, read: Any) -> None:
    z = filled(layout, n)
    assert plain(read(z)) == plain(z.items())


@every_reader
@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_rows(layout: Layout, read: Any) -> None:
    z = filled(layout, 40)
    for rows in (z.top(5), z.by_rank[::7], z.top(9)[2:7:2], z.by_rank[:0], z.by_rank[[3, 1, 3]]):
        expected = [(rank, *row) for rank, row in zip(rows.ranks.tolist(), rows, strict=True)]
        assert plain(read(rows)) == plain(expected)


@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_rows_are_one_batch(layout: Layout) -> None:
    rows = filled(layout, 9).top(5)
    assert rows_of(pa.Table.from_batches([pa.record_batch(rows)])) == READERS["pyarrow"](rows)


@every_reader
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", ALL_KINDS, ids=str)
def test_hashes(kind: Kind, n: int, read: Any) -> None:
    for most in (None, 0):
        h = Hash(kind.pairs(n), max_compact_fields=most, **kind.options)
        assert plain(read(h)) == list(h.items())


@every_reader
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", TABLE_KINDS[::3], ids=str)
def test_tables_have_nulls_for_absent_fields(kind: TableKind, n: int, read: Any) -> None:
    t = HashTable(kind.rows(n), **kind.options)
    fields = t.fields()
    expected = [(key, *(record.get(field) for field in fields)) for key, record in t.items()]
    assert plain(read(t)) == expected


def test_integers_of_tables_stay_exact_in_pandas() -> None:
    t = HashTable({"a": {"n": 2**62 + 1}, "b": {}}, value="int64")
    assert t.to_pandas()["n"].tolist() == [2**62 + 1, pd.NA]


SCHEMAS = {
    "int32": pa.int32(),
    "int64": pa.int64(),
    "str": pa.large_string(),
    "bytes": pa.large_binary(),
    "uuid": pa.uuid(),
    "float32": pa.float32(),
    "float64": pa.float64(),
}


@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_schemas(layout: Layout) -> None:
    z = filled(layout, 3)
    member, score = SCHEMAS[layout.member], SCHEMAS[layout.score]
    of_set = pa.schema([("member", member), ("score", score)])
    of_rows = pa.schema([("rank", pa.int64()), *of_set])
    for one, expected in ((z, of_set), (z.top(2), of_rows)):
        assert pa.schema(one) == pa.table(one).schema == expected
        # What is requested is for the consumer to convert.
        wider = expected.set(len(expected) - 1, pa.field("score", pa.float64()))
        assert pa.table(one, schema=wider).schema == wider


def test_members_of_odd_lengths_and_characters() -> None:
    texts = ["", "\0", "a\0", "é" * 300, "\U0001f600", "x" * 70_000]
    z = SortedSet(texts, 1.0)
    assert set(pa.table(z)["member"].to_pylist()) == set(texts)
    assert set(pl.from_dataframe(z)["member"]) == set(texts)


# ---- boards and traces


@pytest.mark.parametrize(
    ("groups", "type_"),
    [
        ([3, 1], pa.int64()),
        (["b", "a"], pa.large_string()),
        ([b"b", b"a"], pa.large_binary()),
        (np.array(["2024-02", "1900-01"], "M8[M]"), pa.date32()),
        (np.array(["2024-02-03T04:05:06.7", "1900-01-01"], "M8[us]"), pa.timestamp("us")),
        ([UUID(int=5), UUID(int=2)], pa.uuid()),
    ],
)
def test_groups_of_boards(groups: Any, type_: pa.DataType) -> None:
    rows = Boards.from_arrays(groups, ["x", "y"], [2, 4]).top()
    table = pa.table(rows)
    assert table.column_names == ["group", "rank", "member", "score"]
    assert table.schema.field("group").type == type_
    expected = [(g, r, m, s) for (g, m, s), r in zip(rows, rows.ranks.tolist(), strict=True)]
    assert rows_of(table) == expected


def test_groups_without_an_arrow_type() -> None:
    rows = Boards.from_arrays([("a", 1)], ["x"]).top()
    with pytest.raises(TypeError, match="tuple objects have no Arrow type"):
        pa.table(rows)


def test_batches_of_traces() -> None:
    pgn = b'[Event "Rated Blitz game"]\n[White "\xc3\x84nn"]\n[WhiteElo "1500"]\n\n1. e4 1-0\n'
    (games,) = lichess.games(io.BytesIO(pgn))
    assert pa.table(games).to_pylist()[0].items() >= {"white": "Änn", "white_elo": 1500}.items()
    assert pa.table(games)["utc"].null_count == 1
    cells = ["enwiki", "revision", "create", "2024-05-06 07:08:09.0", *[""] * 66]
    lines = ["\t".join([*cells[:23], str(page), *cells[24:]]) for page in range(11)]
    columns = ["page_id", "wiki_db", "event_timestamp", "page_is_redirect"]
    (edits,) = mediawiki.history(io.BytesIO("\n".join(lines).encode()), columns=columns)
    table = pl.DataFrame(edits)
    assert table.columns == columns
    assert table["page_id"].to_list() == list(range(11))
    assert table["page_is_redirect"].to_list() == [False] * 11
    assert table["event_timestamp"].to_numpy().tolist() == edits.event_timestamp.tolist()
    (batch,) = commands(io.BytesIO(b"ZADD k 1 a\nZADD k 2.5 b\n"))
    assert READERS["duckdb"](batch) == [(b"a", 1.0), (b"b", 2.5)]


def test_booleans_are_packed() -> None:
    flags = np.arange(19) % 3 == 0
    field = _arrow.field("flag", "bool")
    pair = _core.arrow_array((field,), _arrow.batch_of({"flag": flags}))

    class Exporter:
        def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
            return pair

    assert pa.record_batch(Exporter())["flag"].to_pylist() == flags.tolist()


# ---- streams of many batches


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_arrow, "BATCH", 64)


@every_reader
@pytest.mark.parametrize("n", [63, 64, 65, 1000])
@pytest.mark.usefixtures("small_batches")
def test_many_batches(n: int, read: Any) -> None:
    numbers = range(n)
    z = SortedSet(map(str, numbers), [float(i % 10) for i in numbers])
    assert read(z) == list(z.items())
    h = Hash({f"k{i}": str(i) for i in numbers})
    assert read(h) == list(h.items())


def test_tables_have_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    t = HashTable({str(i): {"a": i, f"b{i % 2}": -i} for i in range(3000)}, value="int64")
    monkeypatch.setattr(_arrow, "BATCH", 64)
    table = pa.table(t)
    assert table["a"].num_chunks == 3  # of 1,024 rows, for all they are short of
    found = {
        row.pop("key"): {field: value for field, value in row.items() if value is not None}
        for row in table.to_pylist()
    }
    assert found == t.to_dict()


CHANGES: dict[str, tuple[Any, Callable[[Any], object], Callable[[Any], object]]] = {
    "SortedSet": (lambda: SortedSet(range(1000), 1.0), lambda z: z.add(5, 2.0), SortedSet.optimize),
    "Hash": (
        lambda: Hash({str(i): "x" for i in range(1000)}),
        lambda h: h.update(a="1"),
        lambda h: h.get("5"),
    ),
    "HashTable": (
        lambda: HashTable({str(i): {"a": "x"} for i in range(3000)}),
        lambda t: t["5"].update(a="y"),
        lambda t: t.get("5"),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.usefixtures("small_batches")
def test_changes_end_a_stream(name: str) -> None:
    make, change, look = CHANGES[name]
    one = make()
    reader = pa.RecordBatchReader.from_stream(one)
    reader.read_next_batch()
    look(one)
    reader.read_next_batch()
    change(one)
    for _ in range(2):
        with pytest.raises(pa.ArrowInvalid, match=f"RuntimeError: {name} changed during iteration"):
            reader.read_next_batch()
    assert pa.table(one).num_rows == len(one)


def test_a_batch_outlives_what_it_came_from() -> None:
    z = SortedSet(map(str, range(1000)), 1.0)
    table = pa.table(z)
    expected = sorted(map(str, range(1000)))
    z.clear()
    del z
    assert table["member"].to_pylist() == expected


def test_columns_of_rows_are_not_copied() -> None:
    rows = SortedSet(range(10), 1.0).by_rank[:]
    column = pa.table(rows)["member"].chunk(0)
    assert column.buffers()[1].address == rows.members.ctypes.data


@pytest.mark.usefixtures("small_batches")
def test_a_consumer_on_another_thread() -> None:
    z = SortedSet(map(str, range(5000)), np.arange(5000) % 13.0)
    capsule_of = [pa.RecordBatchReader.from_stream(z) for _ in range(4)]
    found: list[Any] = []

    def consume(reader: pa.RecordBatchReader) -> None:
        found.append(rows_of(reader.read_all()))

    threads = [threading.Thread(target=consume, args=(reader,)) for reader in capsule_of]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [list(z.items())] * 4


# ---- errors


def test_names_that_columns_can_not_have() -> None:
    with pytest.raises(ValueError, match="a field is named 'key'"):
        pa.table(HashTable({"a": {"key": "1"}}))
    with pytest.raises(ValueError, match="NUL"):
        pa.table(HashTable({"a": {"x\0": "1"}}))
    with pytest.raises(UnicodeDecodeError):
        pa.table(HashTable({"a": {b"\xff": "1"}}, field="bytes"))


def failing(error: BaseException) -> Any:
    """A table whose second batch fails."""

    class Failing:
        def batches(self) -> Any:
            yield _arrow.batch_of({"a": np.arange(3)})
            raise error

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return _core.arrow_stream((_arrow.field("a", "int64"),), self.batches())

    return Failing()


def test_errors_of_batches_have_their_text() -> None:
    with pytest.raises(pa.ArrowInvalid, match="ValueError: so it is"):
        pa.table(failing(ValueError("so it is")))
    with pytest.raises(MemoryError):
        pa.table(failing(MemoryError()))
    with pytest.raises(Exception, match="KeyError: 'é'"):
        pl.DataFrame(failing(KeyError("é")))


def test_ctrl_c_is_raised_once_the_consumer_has_returned() -> None:
    with pytest.raises(KeyboardInterrupt):
        try:
            pa.table(failing(KeyboardInterrupt()))
        except OSError:
            for _ in range(1000):
                pass


@pytest.mark.parametrize(
    "batch",
    [
        None,
        (3,),
        (3, ()),
        (3, ((np.arange(2), None, 0),)),
        (-1, ((np.arange(3), None, 0),)),
        (3, ((np.arange(6)[::2], None, 0),)),
        (3, (([1, 2, 3], None, 0),)),
        (3, ((_core.names(["a"], "str"), None, 0),)),
        (9, ((np.arange(9), b"\xff", 1),)),
    ],
)
def test_batches_of_wrong_shapes_are_refused(batch: Any) -> None:
    fields = (_arrow.field("a", "int64"),)
    with pytest.raises((TypeError, ValueError)):
        _core.arrow_array(fields, batch)


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    z = SortedSet({7: 1.0})
    for name, method, extra in [
        ("pyarrow", z.to_arrow, "arrow"),
        ("pyarrow", z.to_pandas, "pandas"),
        ("pandas", z.to_pandas, "pandas"),
        ("polars", z.to_polars, "polars"),
    ]:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            with pytest.raises(ImportError, match=rf"needs {name}.*'goblin-core\[{extra}\]'"):
                method()


def test_rows_stay_generic() -> None:
    assert isinstance(SortedSet({7: 1.0}).top(), Rows)
    assert Rows[int].__origin__ is Rows


# ---- in processes of their own


def run(script: str) -> str:
    search = ":".join([str(Path(__file__).parents[1]), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={"PYTHONPATH": search}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_library_is_imported_by_goblin() -> None:
    script = (
        "import sys, goblin, goblin.io\n"
        "z = goblin.SortedSet({7: 1.0})\n"
        "z.__arrow_c_stream__(), z.top().__arrow_c_array__(), z.__arrow_c_schema__()\n"
        "print({'pyarrow', 'pandas', 'polars', 'duckdb'} & set(sys.modules))"
    )
    assert run(script) == "set()\n"


def test_what_is_left_when_the_interpreter_ends() -> None:
    script = (
        "import sys, goblin, pyarrow, polars, numpy\n"
        "z = goblin.SortedSet(['a', 'b'], 1.0)\n"
        "sys.kept = [z.__arrow_c_stream__(), pyarrow.RecordBatchReader.from_stream(z),\n"
        "            pyarrow.table(z.top()), polars.from_dataframe(z)]\n"
        "sys.also = z.top().__arrow_c_array__()\n"
        "polars.kept = pyarrow.kept = sys.kept\n"
        "print('done')"
    )
    assert run(script) == "done\n"


FAILING = r"""
from _testcapi import remove_mem_hooks, set_nomemory
import numpy as np
import goblin
from goblin import _arrow

z = goblin.SortedSet(range(5), 1.0)
h = goblin.Hash({"a": "1"})
t = goblin.HashTable({"a": {"b": "1"}, "c": {}})
subjects = [lambda: z.__arrow_c_stream__(), lambda: z.top(3).__arrow_c_array__(),
            lambda: h.__arrow_c_stream__(), lambda: list(h._arrow_table()[1]),
            lambda: list(t._arrow_table()[1]), lambda: t.__arrow_c_schema__()]
failures = 0
for make in subjects:
    make()
    for n in range(400):
        set_nomemory(n, n + 1)
        try:
            make()
        except MemoryError:
            failures += 1
        finally:
            remove_mem_hooks()
        make()
print(failures)
"""


def test_memory_that_runs_out() -> None:
    pytest.importorskip("_testcapi")
    assert int(run(FAILING)) > 100
