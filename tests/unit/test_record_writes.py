"""Writes to a record: one edit in C, which does as the same call of a Hash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from goblin import Hash, HashTable

START: dict[str, dict[str, Any]] = {
    "str": {"a": "1", "b": "x"},
    "int64": {"a": 1, "b": -7},
    "float64": {"a": 1.0, "b": -0.5},
}
MORE: dict[str, list[Any]] = {
    "str": ["2", "33", "4"],
    "int64": [2, 2**40, 4],
    "float64": [2.0, 1e300, 4.0],
}
FIELDS = [["a", "b", "c"], ["c", "c", "d"], ["a", "c", "a"], ["d", "b", "d"]]
KINDS = sorted(START)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("only", ["any", "new", "existing"])
@pytest.mark.parametrize("fields", FIELDS, ids="".join)
def test_set_many(kind: Any, only: Any, fields: list[str]) -> None:
    h = Hash(START[kind], value=kind)
    table = HashTable({"k": START[kind], "other": START[kind]}, value=kind)
    numbers = MORE[kind] if kind == "str" else np.array(MORE[kind])
    for values in (MORE[kind], numbers):
        assert table["k"].set_many(fields, values, only=only) == h.set_many(
            fields, values, only=only
        )
        assert table["k"] == h
    assert table["other"] == START[kind]
    table._validate()


def test_set_many_refuses() -> None:
    table = HashTable({"k": {"a": "1"}})
    stamp = table._stamp
    record = table["k"]
    for error, fields, values, only in (
        (ValueError, ["a", "b"], ["2"], "any"),
        (ValueError, ["a"], ["2"], "some"),
        (TypeError, ["a", 5], ["2", "3"], "any"),
        (TypeError, ["a", "b"], ["2", 3], "any"),
    ):
        with pytest.raises(error):
            record.set_many(fields, values, only=only)
    assert record.set_many([], []) == 0
    assert record.set_many(["z"], ["1"], only="existing") == 0
    assert (table._stamp, table) == (stamp, {"k": {"a": "1"}})
    del table["k"]
    with pytest.raises(KeyError):
        record.set_many([], [])


@pytest.mark.parametrize("kind", KINDS)
def test_one_field(kind: Any) -> None:
    h = Hash(START[kind], value=kind)
    record = HashTable({"k": START[kind]}, value=kind)["k"]
    fallback = MORE[kind][1]
    for key in ("a", "new"):
        assert record.setdefault(key, fallback) == h.setdefault(key, fallback)
        assert record.increment(key) == h.increment(key)
        assert record.increment(key, by=3) == h.increment(key, by=3)
    for key in ("b", "absent", 5, None, b"a", "\ud800"):
        assert record.pop(key, 9) == h.pop(key, 9)
        with pytest.raises(KeyError):
            record.pop(key)
    assert record == h
    for bad in (object(), b"1"):
        with pytest.raises(TypeError):
            record.setdefault("a", bad)
        with pytest.raises(TypeError):
            record.increment("a", bad)
    assert record == h


def test_texts_are_added_to_as_those_of_a_hash() -> None:
    record = HashTable({"k": {"n": "9223372036854775807", "name": "Ann"}})["k"]
    with pytest.raises(OverflowError):
        record.increment("n")
    with pytest.raises(ValueError, match="'name', 'Ann'"):
        record.increment("name")
    assert record.increment("odds", 0.5) == 0.5
    assert record == {"n": "9223372036854775807", "name": "Ann", "odds": "0.5"}
    with pytest.raises(TypeError):
        HashTable({"k": {}}, value="int64")["k"].increment("a", 0.5)


def test_a_record_that_is_gone_takes_nothing() -> None:
    table = HashTable({"k": {"a": "1"}})
    record = table["k"]
    table.clear()
    for write in (
        lambda: record.pop("a"),
        lambda: record.pop(5, None),
        lambda: record.setdefault("a", "2"),
        lambda: record.increment("a"),
        lambda: record.update(a="2"),
    ):
        with pytest.raises(KeyError, match="k"):
            write()
    assert not table


def test_update_names_the_field() -> None:
    record = HashTable({"k": {}})["k"]
    with pytest.raises(TypeError, match=r"'elo'.* must be str, not int"):
        record.update(name="Ann", elo=1500)
    assert record == {}


def test_a_record_that_is_gone_says_so() -> None:
    table = HashTable({"k": {"a": "1"}, "empty": {}})
    record, empty = table["k"], table["empty"]
    assert (bool(record), bool(empty)) == (True, False)
    assert record == Hash({"a": "1"})
    assert Hash({"a": "1"}) == record == {"a": "1"}
    del table["k"]
    assert repr(record) == "Record('k', gone)"
    assert not record
    assert (record.get("a"), record.get("a", 5), record.get(5, 6)) == (None, 5, 6)
    for other in ({}, {"a": "1"}, Hash(), empty, record, 5):
        assert record != other
        assert other != record
    assert table != {"empty": record}
    for ask in (len, list, dict, lambda r: r["a"], lambda r: "a" in r, lambda r: r.copy()):
        with pytest.raises(KeyError, match="k"):
            ask(record)
    table["k"] = {"b": "2"}
    assert repr(record) == "Record('k', {'b': '2'})"
    assert record
