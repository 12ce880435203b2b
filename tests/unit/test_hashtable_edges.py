"""HashTable at its edges: forms of data, Arrow tables, live views, failed allocations, threads."""

from __future__ import annotations

import contextlib
import copy
import pickle
import threading
from collections.abc import MutableMapping
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
        (ValueError, pa.table({"id": [7], "a": [1]}), "id"),
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
    for use in (len, list, dict, repr, lambda row: row == {}, lambda row: "elo" in row,
                lambda row: row.get("elo"), lambda row: row.increment("elo"),
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


def test_from_arrays_does_not_construct() -> None:
    assert Ladder.from_arrays(["a"], {"f": [1]}, value="int64") == {"a": {"f": 1}}


# ---- memory


def shared(records: int, fields: int) -> HashTable[str, str, str]:
    """Fields of 14 bytes, values of 16 that are no numbers."""
    columns = {
        f"field:{f:08}": np.char.mod(f"v:{f:03}:%010d", np.arange(records)) for f in range(fields)
    }
    return HashTable.from_arrays(np.char.mod("record:%07d", np.arange(records)), columns)


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


# ---- failures


def operations() -> dict[str, Any]:
    rows = {f"n{n}": {f"f{n % 5}": n, "elo": n} for n in range(300)}
    return {
        "set record": lambda t: t.__setitem__("zoe", {"a": 1, "b": 2}),
        "replace record": lambda t: t.__setitem__("ann", {"a": 1, "b": 2}),
        "set field": lambda t: t["bob"].__setitem__("new", 2**50),
        "longer value": lambda t: t["bob"].__setitem__("elo", 2**50),
        "remove field": lambda t: t["ann"].__delitem__("won"),
        "increment": lambda t: t["ann"].increment("draws"),
        "many fields": lambda t: t["ann"].update(rows["n4"]),
        "update": lambda t: t.update(rows),
        "copy": lambda t: t.copy(),
        "optimize": lambda t: t.optimize(),
        "clear": lambda t: t.clear(),
        "pop": lambda t: t.pop("ann"),
        "column": lambda t: t.column("elo"),
    }


@pytest.mark.parametrize("name", operations())
@pytest.mark.parametrize("size", [0, 500])
def test_every_allocation_may_fail(name: str, size: int) -> None:
    operation = operations()[name]
    table = ladder()
    table.update({f"r{n}": {"elo": n, "won": 0} for n in range(size)})
    before = table.to_dict()
    for n in range(1, 20_000):
        table._fail_at(n)
        try:
            operation(table)
        except MemoryError:
            table._validate()
            assert table.to_dict() == before
            assert_memory(table)
            continue
        table._fail_at(0)
        break
    else:
        raise AssertionError("it never succeeds")
    table._validate()


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
        table = HashTable.from_arrays(keys, columns, key="bytes", value="int64")
    finally:
        done.set()
        thread.join()
    assert len(table) > 1
    table._validate()
