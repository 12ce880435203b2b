"""HashTable: records by key, columns, views that stay live, and what it refuses."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable, MutableMapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from model.hash_checks import assert_memory, objects
from model.kinds import STRINGS

from goblin import Hash, HashTable

RECORDS = {
    "ann": {"name": "Ann", "elo": "1500"},
    "bob": {"name": "Bob", "elo": "1612", "title": "GM"},
    "cyd": {},
}


@pytest.fixture
def table() -> HashTable:
    return HashTable(RECORDS)


# ---- mapping


def test_reading(table: HashTable) -> None:
    assert isinstance(table, MutableMapping)
    assert len(table) == 3
    assert sorted(table) == sorted(table.keys()) == ["ann", "bob", "cyd"]
    assert "ann" in table
    assert "dan" not in table
    assert table["ann"] == {"name": "Ann", "elo": "1500"}
    assert table["ann"]["elo"] == "1500"
    assert table.get("dan") is None
    assert {key: dict(record) for key, record in table.items()} == RECORDS
    assert sorted(len(record) for record in table.values()) == [0, 2, 3]
    assert table == RECORDS == {key: dict(record) for key, record in zip(table, table.values())}  # noqa: B905
    assert table != {**RECORDS, "ann": {}}
    assert table != {"ann": RECORDS["ann"]}


@pytest.mark.parametrize("data", [RECORDS, list(RECORDS.items()), iter(RECORDS.items()),
                                  HashTable(RECORDS), {k: Hash(r) for k, r in RECORDS.items()},
                                  {k: list(r.items()) for k, r in RECORDS.items()}])  # fmt: skip
def test_data(data: Any) -> None:
    assert HashTable(data) == RECORDS


@pytest.mark.parametrize("absent", ["dan", b"ann", 5, None, (), [], "\ud800"], ids=repr)
def test_what_is_no_key_is_absent(table: HashTable, absent: Any) -> None:
    assert absent not in table
    assert table.get(absent, 5) == 5
    assert table.pop(absent, 6) == 6
    for read in (table.__getitem__, table.__delitem__, table.pop):
        with pytest.raises(KeyError):
            read(absent)
    assert table == RECORDS


def test_writing(table: HashTable) -> None:
    table["dan"] = {"elo": "1"}
    table["ann"] = {"title": "IM"}  # the whole record is another one
    del table["bob"]
    assert table == {"ann": {"title": "IM"}, "cyd": {}, "dan": {"elo": "1"}}
    assert table.setdefault("ann", {"x": "y"}) == {"title": "IM"}
    assert table.setdefault("eve", {"x": "y"}) == {"x": "y"}
    table.update({"ann": {"a": "b"}, "fay": {}})
    assert table["ann"] == {"a": "b"}
    table.clear()
    assert len(table) == 0
    table._validate()


def test_what_is_popped_lives_on(table: HashTable) -> None:
    assert table.pop("bob") == RECORDS["bob"]
    rest = dict(RECORDS)
    del rest["bob"]
    while table:
        key, record = table.popitem()
        assert record == rest.pop(key)
    assert not rest
    with pytest.raises(KeyError):
        table.popitem()


# ---- records


def test_a_record_is_like_a_hash() -> None:
    table = HashTable({"a": {"x": "1", "y": "2"}, "b": {"x": "3"}})
    record = table["a"]
    record["z"] = "9"
    del record["y"]
    assert record.increment("x", 41) == 42
    assert record.increment("f", 0.5) == 0.5
    record.increment_many(["z", "z"], [1, 2])
    assert record.set_many(["x", "n"], ["0", "new"], only="new") == 1
    assert record.get_many(["x", "none"]) == ["42", None]
    assert record.pop_many(["n", "n"]) == ["new", None]
    assert record.get("none", 5) == 5
    assert record.pop("f") == "0.5"
    assert sorted(record.items()) == sorted(zip(record.keys(), record.values(), strict=True))
    assert dict(record) == {"x": "42", "z": "12"}
    record.update({"u": "v"})
    assert table == {"a": {"x": "42", "z": "12", "u": "v"}, "b": {"x": "3"}}
    record.clear()
    assert table == {"a": {}, "b": {"x": "3"}}
    table._validate()


def test_a_view_is_live(table: HashTable) -> None:
    one, other = table["ann"], table["ann"]
    one["elo"] = "1501"
    assert other["elo"] == "1501"
    table["ann"] = {"elo": "1"}
    assert one == other == {"elo": "1"}
    del table["ann"]
    for read in (lambda: one["elo"], lambda: len(one), lambda: list(one), lambda: one.pop("elo"),
                 lambda: one.update({"a": "b"}), lambda: one.increment("elo")):  # fmt: skip
        with pytest.raises(KeyError):
            read()
    assert "ann" not in table
    table["ann"] = {"elo": "2"}
    assert one == {"elo": "2"}


def test_a_view_keeps_its_table_alive() -> None:
    assert HashTable(RECORDS)["bob"]["title"] == "GM"


def test_records_that_leave_and_share_shapes() -> None:
    """Fields come and go; the names of a shape are shared and must not be changed for others."""
    table = HashTable({str(i): {"a": "1", "b": "2", "c": "3"} for i in range(50)})
    for i in range(0, 50, 2):
        del table[str(i)]["b"]
        table[str(i)][f"only {i}"] = "x"
    for i in range(50):
        own = {f"only {i}": "x"} if i % 2 == 0 else {"b": "2"}
        assert table[str(i)] == {"a": "1", "c": "3", **own}
    for i in range(0, 50, 2):
        del table[str(i)][f"only {i}"]
        table[str(i)]["b"] = "2"
    assert all(record == {"a": "1", "b": "2", "c": "3"} for record in table.values())
    table._validate()


@pytest.mark.parametrize("length", [0, 1, 127, 128, 255, 256, 32_767, 32_768, 70_000])
def test_values_of_every_length(length: int) -> None:
    table = HashTable({str(i): {"a": "1", "b": "2"} for i in range(5)})
    table["3"]["a"] = "v" * length
    table["k" * length] = {"f" * length: "v" * length}
    assert table["3"] == {"a": "v" * length, "b": "2"}
    assert table["k" * length] == {"f" * length: "v" * length}
    assert table["2"] == {"a": "1", "b": "2"}
    table._validate()


# ---- columns


def test_from_arrays() -> None:
    keys = np.array(["ann", "bob", "cyd"])
    columns = {"elo": np.array([1500, 1612, 1700]), "games": [3, 5, 7]}
    table = HashTable.from_arrays(keys, columns, value="int64")
    assert table["bob"] == {"elo": 1612, "games": 5}
    assert table.column("elo").dtype == np.int64
    assert dict(zip(table, table.column("elo").tolist(), strict=True)) == dict(
        zip(keys.tolist(), [1500, 1612, 1700], strict=True)
    )
    table._validate()


@pytest.mark.parametrize(
    "make", [list, np.array, lambda v: np.array(v, STRINGS), objects, pa.array]
)
def test_columns_of_text_in_every_form(make: Callable[[list[str]], Any]) -> None:
    ids, names = [f"r{i}" for i in range(300)], [f"név {i}" for i in range(300)]
    table = HashTable.from_arrays(make(ids), {"name": make(names), "n": make(ids)})
    assert table == {i: {"name": name, "n": i} for i, name in zip(ids, names, strict=True)}


def test_rows_of_the_same_key_act_one_after_another() -> None:
    table = HashTable.from_arrays(["a", "b", "a"], {"x": ["1", "2", "3"]})
    assert table == {"a": {"x": "3"}, "b": {"x": "2"}}


def test_no_rows_and_no_columns() -> None:
    assert HashTable.from_arrays([], {"x": []}) == {}
    assert HashTable.from_arrays(["a", "b"], {}) == {"a": {}, "b": {}}


def test_column(table: HashTable) -> None:
    column = table.column("title")
    assert column.dtype == object
    assert dict(zip(table, column, strict=True)) == {"ann": None, "bob": "GM", "cyd": None}
    assert sorted(table.column("title", missing="-")) == ["-", "-", "GM"]
    assert list(table.column("none")) == [None, None, None]
    assert HashTable().column("none").shape == (0,)


def test_columns_of_numbers() -> None:
    whole = HashTable({"a": {"n": 1}, "b": {}}, value="int64")
    assert sorted(whole.column("n").tolist()) == [-1, 1]
    assert sorted(whole.column("n", missing=7).tolist()) == [1, 7]
    real = HashTable({"a": {"n": 1.5}, "b": {}}, value="float64")
    assert real.column("n").dtype == np.float64
    assert sorted(real.column("n"), key=math.isnan)[0] == 1.5
    assert np.isnan(real.column("n")).sum() == 1
    for t in (whole, real):
        with pytest.raises(TypeError):
            t.column("n", missing="none")


# ---- refusals


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (TypeError, lambda t: t.__setitem__(5, {})),
        (TypeError, lambda t: t.__setitem__("ann", {"elo": 5})),
        (TypeError, lambda t: t.__setitem__("ann", "ab")),
        (TypeError, lambda t: t.__setitem__("ann", None)),
        (TypeError, lambda t: t.update({"new": {"a": "1"}, "ann": {"a": None}})),
        (TypeError, lambda t: t.update([("new", {"a": "1"}), (b"ann", {})])),
        (TypeError, lambda t: t["ann"].update({"new": "1", "elo": 5})),
        (TypeError, lambda t: t["ann"].set_many(["new", b"x"], ["1", "2"])),
        (ValueError, lambda t: t["ann"].increment_many(["elo", "name"])),
        (ValueError, lambda t: t.__setitem__("\ud800", {})),
        (ValueError, lambda t: t.__setitem__("new", {"a": "\ud800"})),
        (TypeError, lambda t: t.column(5)),
    ],
)
def test_a_refused_call_changes_nothing(
    table: HashTable, error: type[Exception], call: Callable[[Any], Any]
) -> None:
    with pytest.raises(error):
        call(table)
    assert table == RECORDS
    table._validate()


@pytest.mark.parametrize(
    ("error", "arguments", "options"),
    [
        (ValueError, (["a", "b"], {"x": ["1"]}), {}),
        (TypeError, ("ab", {"x": ["1", "2"]}), {}),
        (TypeError, (["a", "b"], {"x": "12"}), {}),
        (TypeError, (["a"], {"x": [1]}), {}),
        (TypeError, (["a"], {5: ["1"]}), {}),
        (TypeError, (["a"], {"x": ["1"]}), {"value": "int64"}),
        (OverflowError, (["a"], {"x": [2**63]}), {"value": "int64"}),
        (ValueError, (["a"], {"x": [math.nan]}), {"value": "float64"}),
        (ValueError, ([], {}), {"value": "uuid"}),
        (ValueError, ([], {}), {"key": "int64"}),
        (ValueError, ([], {}), {"field": "int64"}),
    ],
)
def test_refused_arrays(error: type[Exception], arguments: Any, options: Any) -> None:
    with pytest.raises(error):
        HashTable.from_arrays(*arguments, **options)


# ---- iterators, copies, memory


@pytest.mark.parametrize("change", [lambda t: t.pop("ann"), lambda t: t.clear(),
                                    lambda t: t.__setitem__("new", {}),
                                    lambda t: (t.pop("ann"), t.setdefault("new", {}))])  # fmt: skip
@pytest.mark.parametrize("iterator", [iter, lambda t: iter(t.keys()), lambda t: iter(t.items())])
def test_iterators_notice_changes(
    table: HashTable, iterator: Callable[[Any], Any], change: Callable[[Any], Any]
) -> None:
    running = iterator(table)
    next(running)
    change(table)
    with pytest.raises(RuntimeError):
        next(running)


def test_an_iterator_of_a_record_notices_changes(table: HashTable) -> None:
    running = iter(table["ann"])
    next(running)
    table["ann"]["elo"] = "7"
    with pytest.raises(RuntimeError):
        next(running)


@pytest.mark.parametrize(
    "duplicate",
    [
        lambda t: t.copy(),
        copy.copy,
        copy.deepcopy,
        lambda t: pickle.loads(pickle.dumps(t)),
        HashTable,
    ],
)
@pytest.mark.parametrize("size", [0, 3, 500])
def test_copies_are_independent(duplicate: Callable[[Any], Any], size: int) -> None:
    records = {str(i): {"a": str(i), "b": "x" * (i % 7)} for i in range(size)}
    table = HashTable(records)
    twin = duplicate(table)
    for one, other in ((table, twin), (twin, table.copy())):
        one["new"] = {"c": "1"}
        one.pop("0", None)
        one.clear()
        assert other == records
        one.update(records)
        one._validate()
        other._validate()


def test_memory_is_exact(table: HashTable) -> None:
    for change in (
        lambda: None,
        lambda: table.update({str(i): {"a": "1", "b": str(i)} for i in range(3000)}),
        lambda: table.optimize(),
        lambda: [table.pop(str(i)) for i in range(0, 3000, 2)],
        lambda: table.optimize(),
        lambda: table.clear(),
    ):
        change()
        assert_memory(table)
        table._validate()


def test_values_that_change_length_leave_no_holes() -> None:
    table = HashTable({str(i): {"a": "1", "b": "2"} for i in range(300)})
    before = table._live_bytes()
    for length in (10, 200, 30, 1000, 0, 1):
        for i in range(300):
            table[str(i)]["a"] = "v" * length
    table._validate()
    assert table._live_bytes() <= 4 * before + 4096
    assert table.column("a").tolist() == ["v"] * 300


def test_shapes_that_nobody_has_are_given_back() -> None:
    table = HashTable()
    for i in range(3000):
        table["a"] = {f"field {i}": "1", f"other {i}": "2"}
    table._validate()
    assert table == {"a": {"field 2999": "1", "other 2999": "2"}}
    assert table._live_bytes() < 8192


def test_shared_fields_are_stored_once() -> None:
    """Issue 4: 620 bytes for 32 fields of 14 bytes with values of 16; here of 10,000 records."""
    fields = [f"field:{n:08}" for n in range(32)]
    rows = 10_000
    columns = {f: [f"{n:02}-value-{i:07}" for i in range(rows)] for n, f in enumerate(fields)}
    table = HashTable.from_arrays([f"{i:07}" for i in range(rows)], columns)
    table.optimize()
    assert table.memory().total / rows <= 620
    assert table["0000042"]["field:00000007"] == "07-value-0000042"
