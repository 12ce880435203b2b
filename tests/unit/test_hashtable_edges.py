"""HashTable at its edges: forms of data, Arrow tables, live views, failed allocations, threads."""

from __future__ import annotations

import contextlib
import copy
import pickle
import threading
import tracemalloc
from collections.abc import Iterator, MutableMapping
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from labels import label
from model.hash_checks import assert_memory

import goblin
from goblin import Hash, HashTable

NAMES = ["ann", "bob", "", "đặng", "a\0b"]
UUIDS = [str(UUID(int=n)) for n in range(5)]


def ladder(**options: Any) -> HashTable[str, str, int]:
    return HashTable(
        {"ann": {"elo": 1500, "won": 7}, "bob": {"elo": 1400}}, value="int64", **options
    )


# ---- what it is made of


@pytest.mark.parametrize(
    "data",
    [
        {"ann": {"elo": "1500"}, "bob": {}},
        [("ann", {"elo": "1500"}), ("bob", {})],
        (("ann", [("elo", "1"), ("elo", "1500")]), ("bob", ())),
        {"ann": Hash({"elo": "1500"}), "bob": Hash()},
        HashTable({"ann": {"elo": "1500"}, "bob": {}}),
        [("bob", {"elo": "1"}), ("ann", {"elo": "1500"}), ("bob", {})],
    ],
)
def test_data(data: Any) -> None:
    assert HashTable(data).to_dict() == {"ann": {"elo": "1500"}, "bob": {}}


@pytest.mark.parametrize("kind", ["key", "field", "value"])
def test_unknown_kinds(kind: str) -> None:
    for word in ("int32", "uuid", None, b"str"):
        with pytest.raises(ValueError, match="unknown " + kind):
            HashTable(**{kind: word})
    with pytest.raises(ValueError, match="unknown"):
        HashTable(key="int64")


@pytest.mark.parametrize(
    ("columns", "value"),
    [
        (NAMES, "str"),
        (UUIDS, "str"),
        (["7", "007", "-0", "", "9" * 300], "str"),
        (np.array(NAMES), "str"),
        (np.array(NAMES, "T"), "str"),
        (np.array(NAMES, "O")[::-1][::-1], "str"),
        (pd.Series(NAMES), "str"),
        (pl.Series(NAMES), "str"),
        (pa.array(NAMES), "str"),
        (pa.chunked_array([NAMES[:2], NAMES[2:]]), "str"),
        (pa.array(NAMES).dictionary_encode(), "str"),
        ([b"", b"\xff", b"a\0b", bytearray(b"x"), memoryview(b"y")], "bytes"),
        ([1, -1, 2**63 - 1, np.int8(3), -(2**63)], "int64"),
        (np.arange(5, dtype=np.uint8), "int64"),
        (np.arange(10)[::2], "int64"),
        ([1, 0.5, np.inf, -1e-300, np.float32(2)], "float64"),
        (np.arange(5), "float64"),
        (np.arange(5, dtype=np.float32), "float64"),
    ],
    ids=label,
)
def test_columns_come_back(columns: Any, value: Any) -> None:
    keys = [f"key {n}" for n in range(5)]
    table = HashTable.from_arrays(keys, {"a": columns, "b": columns}, value=value)
    expected = [bytes(v) if value == "bytes" else v for v in columns]
    expected = [v.as_py() if hasattr(v, "as_py") else v for v in expected]
    assert dict(zip(table, table.column("b").tolist(), strict=True)) == dict(
        zip(keys, expected, strict=True)
    )
    assert table["key 3"].to_dict() == {"a": expected[3], "b": expected[3]}
    table._validate()


@pytest.mark.parametrize(
    ("error", "keys", "columns", "value"),
    [
        (ValueError, ["a", "b"], {"f": ["1"]}, "str"),
        (ValueError, ["a"], {"f": ["1"], "g": ["1", "2"]}, "str"),
        (TypeError, "ab", {"f": ["1", "2"]}, "str"),
        (TypeError, ["a", "b"], {"f": "12"}, "str"),
        (TypeError, ["a"], {"f": [1]}, "str"),
        (TypeError, ["a"], {b"f": ["1"]}, "str"),
        (TypeError, [b"a"], {"f": ["1"]}, "str"),
        (TypeError, ["a"], {"f": 1}, "int64"),
        (TypeError, ["a"], {"f": [1.0]}, "int64"),
        (TypeError, ["a"], {"f": np.array([1.0])}, "int64"),
        (TypeError, ["a"], {"f": [True]}, "int64"),
        (OverflowError, ["a"], {"f": [2**63]}, "int64"),
        (OverflowError, ["a"], {"f": np.array([2**63], "u8")}, "int64"),
        (ValueError, ["a"], {"f": [np.nan]}, "float64"),
        (ValueError, ["a"], {"f": np.array([np.nan])}, "float64"),
        (TypeError, ["a"], {"f": ["1"]}, "float64"),
        (ValueError, ["a"], {"f": np.zeros((1, 1))}, "float64"),
        (UnicodeEncodeError, ["a"], {"f": ["\ud800"]}, "str"),
        (ValueError, ["a"], {"f": pa.array([None], "string")}, "str"),
    ],
)
def test_refused_columns(error: Any, keys: Any, columns: Any, value: Any) -> None:
    with pytest.raises(error):
        HashTable.from_arrays(keys, columns, value=value)


@pytest.mark.parametrize(
    ("error", "data"),
    [
        (TypeError, "ab"),
        (TypeError, {"new": "ab"}),
        (TypeError, {"new": None}),
        (TypeError, [("new", {"elo": 1}), ("other", {"elo": "1"})]),
        (TypeError, [("new", {"elo": 1}), (b"other", {})]),
        (TypeError, {"new": {b"elo": 1}}),
        (OverflowError, {"new": {"elo": 1}, "other": {"elo": 2**63}}),
        (ValueError, [("new", {"elo": 1}, 3)]),
        (ValueError, {"new": {"\ud800": 1}}),
    ],
)
def test_refused_updates_change_nothing(error: Any, data: Any) -> None:
    table = ladder()
    running = iter(table)
    with pytest.raises(error):
        table.update(data)
    assert table == ladder()
    assert len(list(running)) == 2
    table._validate()


# ---- Arrow tables


def test_arrow_tables_with_nulls_and_without() -> None:
    columns = {"name": ["ann", "bob"], "elo": [1500, 1400], "won": [7, 3]}
    rows = {"ann": {"elo": 1500, "won": 7}, "bob": {"elo": 1400, "won": 3}}
    for source in (pa.table(columns), pa.table(columns).to_reader(), pl.DataFrame(columns)):
        table = HashTable.from_arrow(source, "name")
        assert (table.key_dtype, table.value_dtype) == ("str", "int64")
        assert table == rows
    columns["won"] = [None, 3]
    del rows["ann"]["won"]
    assert HashTable.from_arrow(pa.table(columns), key="name") == rows


@pytest.mark.parametrize(
    ("columns", "value"),
    [
        ({"a": pa.array(["x"]), "b": pa.array(["y"]).dictionary_encode()}, "str"),
        ({"a": pa.array([b"x"]), "b": pa.array([b"y"], pa.large_binary())}, "bytes"),
        ({"a": pa.array([1], pa.int8()), "b": pa.array([2], pa.uint64())}, "int64"),
        ({"a": pa.array([1], pa.int8()), "b": pa.array([0.5], pa.float32())}, "float64"),
        ({}, "str"),
    ],
)
def test_kinds_of_arrow_columns(columns: Any, value: str) -> None:
    rows = pa.table({"id": pa.array([b"k"]), **columns})
    table = HashTable.from_arrow(rows, "id")
    assert (table.key_dtype, table.value_dtype) == ("bytes", value)
    assert table == {b"k": {name: column[0].as_py() for name, column in columns.items()}}


@pytest.mark.parametrize(
    ("error", "rows", "key"),
    [
        (KeyError, pa.table({"id": ["k"]}), "name"),
        (TypeError, pa.table({"id": ["k"], "a": ["x"], "b": [1]}), "id"),
        (TypeError, pa.table({"id": ["k"], "a": [True]}), "id"),
        (TypeError, pa.table({"id": ["k"], "a": [[1]]}), "id"),
        (TypeError, pa.table({"id": [7], "a": [1]}), "id"),
        (ValueError, pa.table({"id": ["k", None], "a": [1, 2]}), "id"),
        (ValueError, pa.table([["k"], [1], [2]], names=["id", "a", "a"]), "id"),
    ],
)
def test_refused_arrow_tables(error: Any, rows: Any, key: str) -> None:
    with pytest.raises(error):
        HashTable.from_arrow(rows, key)


# ---- as a mapping


def test_it_is_a_mutable_mapping_of_such() -> None:
    table = ladder()
    assert isinstance(table, MutableMapping)
    assert isinstance(table["ann"], MutableMapping)
    assert sorted(table) == sorted(table.keys()) == ["ann", "bob"]
    assert {key: dict(row) for key, row in table.items()} == table.to_dict()
    assert sorted(map(len, table.values())) == [1, 2]
    assert table == ladder() == table.to_dict()
    assert table != {"ann": {}}
    assert table != 7
    assert repr(table) == "HashTable(2 records, str, str-int64)"
    with pytest.raises(TypeError):
        hash(table)
    with pytest.raises(TypeError):
        hash(table["ann"])


@pytest.mark.parametrize("key", ["zoe", 1, None, b"ann", "\ud800", []])
def test_absent_records(key: Any) -> None:
    table = ladder()
    assert key not in table
    assert table.get(key, 7) == 7
    assert table.pop(key, 7) == 7
    for call in (table.__getitem__, table.__delitem__, table.pop):
        with pytest.raises(KeyError) as raised:
            call(key)
        assert raised.value.args == (key,)


def test_removals() -> None:
    table = ladder()
    record = table.pop("ann")
    assert isinstance(record, Hash)
    assert record.to_dict() == {"elo": 1500, "won": 7}
    assert table.popitem()[0] == "bob"
    with pytest.raises(KeyError):
        table.popitem()
    assert table._live_bytes() == 0


def test_taking_fields_one_by_one_copies_no_record() -> None:
    """What a pop allocates does not grow with the fields that stay."""
    fields = {f"f{n:05}": f"value {n}" for n in range(2000)}
    table = HashTable({"ann": fields})
    ann = table["ann"]
    popped = dict([ann.popitem()])
    tracemalloc.start()
    popped.update(ann.popitem() for _ in range(3))
    assert tracemalloc.get_traced_memory()[1] < 10_000
    tracemalloc.stop()
    popped.update(ann.popitem() for _ in range(len(ann)))
    assert popped == fields
    with pytest.raises(KeyError):
        ann.popitem()
    assert table.to_dict() == {"ann": {}}
    table._validate()


def test_taking_records_one_by_one() -> None:
    records = {f"r{n}": {"n": str(n)} for n in range(3000)}
    table = HashTable(records)
    assert {key: record.to_dict() for key, record in take_all(table)} == records
    assert table._live_bytes() == 0


def take_all(table: HashTable[str, str, str]) -> Iterator[tuple[str, Hash[str, str]]]:
    while table:
        yield table.popitem()
        if len(table) % 500 == 0:
            table._validate()


def test_a_record_is_live() -> None:
    table = ladder()
    ann = table["ann"]
    table["ann"] = {"draws": 2}
    assert ann.to_dict() == {"draws": 2}
    ann["elo"] = 1
    del ann["draws"]
    assert table["ann"] == {"elo": 1}
    assert repr(ann) == "Record('ann', {'elo': 1})"
    del table["ann"]
    for use in (len, list, dict, lambda row: "elo" in row, lambda row: row.increment("elo"),
                lambda row: row.update(elo=1), lambda row: row.clear(),
                lambda row: row.pop("elo", None)):  # fmt: skip
        with pytest.raises(KeyError):
            use(ann)
    assert "ann" not in table
    table.setdefault("ann", {"elo": 3})
    assert ann["elo"] == 3


def test_absent_fields() -> None:
    ann = ladder()["ann"]
    for field in ("draws", 1, None, b"elo", "\ud800"):
        assert field not in ann
        assert ann.get(field, 7) == ann.pop(field, 7) == 7
        for call in (ann.__getitem__, ann.__delitem__, ann.pop):
            with pytest.raises(KeyError):
                call(field)


def test_many_fields_of_a_record() -> None:
    ann = ladder()["ann"]
    assert ann.get_many(["elo", "x"]).tolist() == [1500, -1]
    assert ann.set_many(["elo", "x"], [1, 2], only="new") == 1
    assert ann.pop_many(["x", "x"]) == [2, None]
    ann.increment_many(["elo", "elo", "y"], [1, 2, 3])
    ann.update([("won", 0)], z=5)
    assert ann == {"elo": 1503, "won": 0, "y": 3, "z": 5}
    with pytest.raises(OverflowError):
        ann.increment_many(["won", "y"], [1, 2**63 - 1])
    assert ann["won"] == 0
    assert sorted(ann.sample(4)) == sorted(ann.items())
    assert dict(ann.scan("[y-z]")) == {"y": 3, "z": 5}
    assert ann.setdefault("won", 9) == 0
    ann.popitem()
    assert len(ann) == len(ann.keys()) == len(ann.values()) == len(ann.items()) == 3


def test_a_record_of_many_fields_in_any_order() -> None:
    fields = [f"f{n:05}" for n in range(3000)]
    forward, backward = dict.fromkeys(fields, "x"), dict.fromkeys(reversed(fields), "x")
    table = HashTable({"a": forward, "b": backward, "c": {fields[7]: "x"}})
    assert table["a"] == table["b"] == forward
    table["c"].update(backward)
    assert table["c"] == forward
    table._validate()


# ---- columns


def test_columns_of_records_that_lack_the_field() -> None:
    table = ladder()
    at = list(table).index("bob")
    column = table.column("won")
    assert (column.dtype, column[at]) == (np.dtype("i8"), -1)
    assert table.column("won", missing=0)[at] == 0
    for missing in ("0", 0.0, True):
        with pytest.raises(TypeError):
            table.column("won", missing=missing)
    with pytest.raises(OverflowError):
        table.column("won", missing=2**63)
    real = HashTable({"a": {"x": 0.5}, "b": {}}, value="float64")
    assert sorted(real.column("x", missing=2)) == [0.5, 2.0]
    assert np.isnan(real.column("nowhere")).all()
    text = HashTable({"a": {"x": "7"}, "b": {}})
    assert text.column("x").dtype == object
    mark = object()
    assert set(text.column("x", missing=mark)) == {"7", mark}
    with pytest.raises(TypeError):
        table.column(b"won")


def test_columns_of_many_records_are_in_the_order_of_iteration() -> None:
    table = HashTable({f"r{n}": {"n": n} if n % 3 else {"m": 0, "n": n} for n in range(5000)},
                      value="int64")  # fmt: skip
    for n in range(0, 5000, 7):
        del table[f"r{n}"]
    for n in range(1, 5000, 7):
        table[f"r{n}"]["extra"] = 2**40
    assert [f"r{n}" for n in table.column("n")] == list(table)


# ---- iteration


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.__setitem__("new", {}),
        lambda t: t.__delitem__("bob"),
        lambda t: t["bob"].__setitem__("elo", 1),
        lambda t: t["bob"].__setitem__("new", 1),
        lambda t: t["bob"].increment("elo"),
        lambda t: t.clear(),
        lambda t: t.update({"ann": {}}),
    ],
)
def test_iterators_end_with_a_change(change: Any) -> None:
    table = ladder()
    running = iter(table)
    next(running)
    change(table)
    with pytest.raises(RuntimeError, match="changed during iteration"):
        next(running)


def test_iterators_outlive_what_changes_nothing() -> None:
    table = HashTable({f"r{n}": {"n": n} for n in range(200)}, value="int64")
    expected = [key for key in table if key not in ("r5", "r6")]
    del table["r5"], table["r6"]
    running = iter(table)
    seen = [next(running) for _ in range(50)]
    table.optimize()
    table["r7"]["n"] = 7
    table["r7"] = {"n": 7}
    table.update({})
    table.pop("nobody", None)
    assert seen + list(running) == expected
    assert list(running) == []


def test_iterators_of_a_record_mind_only_their_own() -> None:
    table = ladder()
    running = iter(table["ann"].items())
    first = next(running)
    table["bob"]["elo"] = 0
    table["zoe"] = {}
    assert dict([first, *running]) == {"elo": 1500, "won": 7}
    for change in (lambda: table["ann"].increment("won"), lambda: table.pop("ann")):
        running = iter(table["ann"])
        next(running)
        change()
        with pytest.raises(RuntimeError, match="changed during iteration"):
            next(running)


# ---- copies


class Ladder(HashTable[str, str, int]):
    def __init__(self, place: str) -> None:
        raise AssertionError("copies do not construct")


def ladder_of(place: str) -> Ladder:
    table = Ladder.__new__(Ladder)
    table._configure("str", "str", "int64")
    table.place = [place]
    table.update(ladder())
    return table


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, Ladder.copy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_copies(make: Any) -> None:
    table = ladder_of("Hanoi")
    twin = make(table)
    assert type(twin) is Ladder
    assert twin.place == ["Hanoi"]
    assert twin == table
    twin["ann"]["elo"] = 0
    table["bob"]["new"] = 5
    assert (table["ann"]["elo"], twin["bob"].get("new")) == (1500, None)
    for each in (table, twin):
        each._validate()
        assert_memory(each)


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, *(
        lambda r, n=n: pickle.loads(pickle.dumps(r, n)) for n in (0, 2, pickle.HIGHEST_PROTOCOL)
    )]
)  # fmt: skip
def test_copies_of_a_record_are_hashes(make: Any) -> None:
    table = HashTable({b"ann": {b"elo": 1500}}, key="bytes", field="bytes", value="int64")
    twin = make(table[b"ann"])
    assert type(twin) is Hash
    assert (twin.key_dtype, twin.value_dtype) == ("bytes", "int64")
    twin[b"elo"] += 1
    assert table[b"ann"][b"elo"] == 1500
    assert twin == {b"elo": 1501}
    record = table.get(b"ann")
    del table[b"ann"]
    with pytest.raises(KeyError):
        make(record)


def test_a_record_in_a_structure_is_copied_once() -> None:
    record = ladder()["ann"]
    first, second = copy.deepcopy([record, record])
    assert first is second


GONE: dict[str, Any] = {
    "len": len, "list": list, "to_dict": lambda r: r.to_dict(),
    "copy": lambda r: r.copy(), "in": lambda r: "elo" in r,
    "item": lambda r: r["elo"], "set": lambda r: r.__setitem__("elo", 5),
    "del": lambda r: r.__delitem__("elo"), "pop": lambda r: r.pop("elo", None),
    "update": lambda r: r.update(elo=5), "increment": lambda r: r.increment("elo"),
    "setdefault": lambda r: r.setdefault("elo", 5), "clear": lambda r: r.clear(),
    "set_many": lambda r: r.set_many(["elo"], [5]), "popitem": lambda r: r.popitem(),
}  # fmt: skip


@pytest.mark.parametrize("call", GONE)
def test_a_record_is_gone_from_a_table_with_keys_of_another_kind(call: str) -> None:
    table: Any = ladder()
    record, running = table["ann"], iter(table["ann"])
    next(running)
    table.__init__({b"ann": {"elo": 1}}, key="bytes", value="int64")
    with pytest.raises(KeyError) as caught:
        GONE[call](record)
    assert caught.value.args == ("ann",)
    assert (record.get("elo"), bool(record), repr(record)) == (None, False, "Record('ann', gone)")
    with pytest.raises(RuntimeError):
        next(running)
    assert table == {b"ann": {"elo": 1}}
    table.__init__({"ann": {"elo": 1}}, value="int64")
    assert record == {"elo": 1}


def test_from_arrays_does_not_construct() -> None:
    assert Ladder.from_arrays(["a"], {"f": [1]}, value="int64") == {"a": {"f": 1}}


# ---- memory


def shared(records: int, fields: int) -> HashTable[str, str, str]:
    """Fields of 14 bytes, values of 16 that are no numbers."""
    columns = {
        f"field:{f:08}": np.char.mod(f"v:{f:03}:%010d", np.arange(records)) for f in range(fields)
    }
    return HashTable.from_arrays(np.char.mod("record:%07d", np.arange(records)), columns)


@pytest.mark.parametrize("kept", [0, 700, 1999])
def test_shapes_that_go_leave_no_room_behind(kept: int) -> None:
    table = HashTable({f"k{i}": {f"f{i}": "1", f"g{i}": "2"} for i in range(2000)})
    for i in range(2000):
        if i != kept:
            del table[f"k{i}"]
    assert table == {f"k{kept}": {f"f{kept}": "1", f"g{kept}": "2"}}
    assert table.memory().total < 5000
    table.optimize()
    assert table.memory().total < 700
    assert table == {f"k{kept}": {f"f{kept}": "1", f"g{kept}": "2"}}
    table._validate()


def test_iterators_live_on_where_shapes_get_other_numbers() -> None:
    table = HashTable({f"k{i}": {f"f{i}": "1"} for i in range(200)})
    for i in range(0, 200, 3):
        del table[f"k{i}"]
    expected, running = list(table), iter(table)
    fields = iter(table["k1"])
    before = [next(running) for _ in range(50)]
    table.optimize()
    assert before + list(running) == expected == list(table)
    assert list(fields) == ["f1"]


def test_bytes_of_a_record() -> None:
    table = shared(20_000, 32)
    assert table.memory().per_record < 620
    assert table.memory().shapes < 4000
    table.optimize()
    assert table.memory().per_record < 580
    assert_memory(table)
    assert "per record" in str(table.memory())
    assert goblin.HashTable().memory().total == goblin.HashTable().memory().object


def test_freed_space_is_used_again_or_given_back() -> None:
    table = shared(4000, 8)
    full = table.memory().total
    rng = np.random.default_rng(5)
    for n in range(20_000):
        key = f"record:{rng.integers(4000):07}"
        table[key] = {"field:00000001": "x" * int(rng.integers(1, 250))}
        if n % 5000 == 0:
            table._validate()
            assert table.memory().total < 2 * full
    for key in list(table)[:3900]:
        del table[key]
    assert table.memory().total < full / 8
    table.clear()
    assert table._live_bytes() == 0


def test_numbers_and_uuids_in_text_are_small() -> None:
    keys = [str(n) for n in range(5000)]
    ids = {"id": [str(UUID(int=n << 64 | 5)) for n in range(5000)], "n": keys}
    table = HashTable.from_arrays(keys, ids)
    table.optimize()
    assert table.memory().per_record < 35
    assert table["77"].to_dict() == {"id": str(UUID(int=77 << 64 | 5)), "n": "77"}


class Number:
    """An integer or a float whose conversion changes the table."""

    def __init__(self, change: Any) -> None:
        self.change = change

    def __index__(self) -> int:
        self.change()
        return 5

    def __float__(self) -> float:
        self.change()
        return 5.0


@pytest.mark.parametrize("value", ["int64", "float64"])
@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.clear(),
        lambda t: t.update({f"r{n}": {f"f{n % 70}": n} for n in range(3000)}),
        lambda t: t.__delitem__("ann") if "ann" in t else None,
        lambda t: t.__init__(value="str"),
        lambda t: t.__init__(key="bytes", field="bytes", value="int64"),
        lambda t: t.optimize(),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda t, evil: t["ann"].__setitem__("elo", evil),
        lambda t, evil: t.__setitem__("ann", {"elo": evil}),
        lambda t, evil: t.update({"a": {"f": 1}, "b": {"f": evil, "g": 2}}),
        lambda t, evil: t["ann"].increment("elo", evil),
        lambda t, evil: t["ann"].set_many(["a", "b"], [1, evil]),
        lambda t, evil: t.column("elo", missing=evil),
        lambda t, evil: t["ann"].setdefault("x", evil),
    ],
)
def test_conversions_that_change_the_table(call: Any, change: Any, value: Any) -> None:
    table: Any = HashTable({"ann": {"elo": 1}, "bob": {"elo": 2}}, value=value)
    with contextlib.suppress(KeyError, RuntimeError, TypeError, ValueError):
        call(table, Number(lambda: change(table)))
    table._validate()


def test_keys_that_change_meanwhile_leave_a_sound_table() -> None:
    letters = np.zeros(8, np.uint8)  # of the one key that all rows have
    key = pa.Array.from_buffers(pa.binary(8), 1, [None, pa.py_buffer(letters)])
    keys = pa.DictionaryArray.from_arrays(np.zeros(60_000, np.int32), key)
    done = threading.Event()

    def scribble() -> None:
        rng = np.random.default_rng(3)
        while not done.is_set():
            letters[:] = rng.integers(0, 256, 8)

    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        columns = {"n": np.arange(60_000)}
        for _ in range(100):  # until the other thread has had its turn meanwhile
            table = HashTable.from_arrays(keys, columns, key="bytes", value="int64")
            if len(table) > 1:
                break
    finally:
        done.set()
        thread.join()
    assert len(table) > 1
    table._validate()
