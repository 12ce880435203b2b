"""Errors of a Hash or HashTable tell which field is wrong, and what to do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from goblin import Hash, HashTable, SortedSet

INTS: dict[str, Any] = {"value": "int64"}


def refused(error: type[Exception], *words: str) -> Any:
    return pytest.raises(error, match=".*".join(map(re.escape, words)))


def test_a_number_among_texts() -> None:
    with refused(TypeError, "'elo'", "must be str, not int", 'value="int64"'):
        Hash({"name": "Ann", "elo": 1500})
    h = Hash({"name": "Ann"})
    with refused(TypeError, "'odds'", "must be str, not float", 'value="float64"'):
        h.update(name="Bea", odds=0.5)
    with refused(TypeError, "must be str, not int", "str() makes one"):
        h["elo"] = 1500
    with refused(TypeError, "item 1", "must be str, not int"):
        h.set_many(["name", "elo"], ["Bea", 1500])
    assert h == {"name": "Ann"}
    with refused(TypeError, "'k'", "must be bytes, not str"):
        Hash({"k": "v"}, value="bytes")
    with refused(TypeError, "('bob', 'elo')", "must be str, not int"):
        HashTable({"ann": {}, "bob": {"name": "Bob", "elo": 1500}})


def test_no_number_among_numbers() -> None:
    data: Any = {"a": 1, "b": "x"}
    with refused(TypeError, "'b'", "must be an integer, not str"):
        Hash(data, **INTS)
    with refused(TypeError, "('x', 'b')", "must be an integer, not str"):
        HashTable({"w": {}, "x": data}, **INTS)
    with refused(OverflowError, "'b'", "does not fit int64"):
        Hash({"a": 1, "b": 2**63}, **INTS)
    with refused(ValueError, "'b'", "NaN"):
        Hash({"a": 1.0, "b": float("nan")}, value="float64")
    with refused(TypeError, "item 1", "not NoneType"):
        Hash(**INTS).set_many(["a", "b"], [1, None])


def test_encoding_errors_stay_what_they_are() -> None:
    with pytest.raises(UnicodeEncodeError):
        Hash({"a": "x", "b": "\ud800"})
    with pytest.raises(UnicodeEncodeError):
        HashTable({"a": {"b": "\ud800"}})
    with pytest.raises(UnicodeEncodeError):
        HashTable.from_arrays(["a"], {"b": ["\ud800"]})


@pytest.mark.parametrize(
    "values", [np.array([1, 2]), np.array(["x", "y"], "S1"), pa.array([1, 2]), pd.Series([1, 2])]
)
def test_values_are_no_members(values: Any) -> None:
    for take in (Hash().set_many, HashTable({"a": {}})["a"].set_many):
        with pytest.raises(TypeError) as caught:
            take(["a", "b"], values)
        assert "members" not in str(caught.value)


def test_one_number_is_for_all_keys() -> None:
    h, x = Hash(**INTS), Hash(value="float64")
    assert h.set_many(["a", "b"], 1) == 2
    assert x.set_many(np.array(["a", "b"], "O"), np.float64(0.5), only="new") == 2
    assert (h, x) == ({"a": 1, "b": 1}, {"a": 0.5, "b": 0.5})
    record = HashTable({"k": {}}, value="int64")["k"]
    assert record.set_many(["a", "b"], np.int64(7)) == 2
    assert record == {"a": 7, "b": 7}
    assert h.set_many([], 1) == 0
    for bad in (True, None, "1", 2**63):
        with pytest.raises((TypeError, OverflowError)):
            h.set_many(["a", "b"], bad)
    for one in (5, "xy", None):
        with refused(TypeError, "several are wanted", f"one {type(one).__name__}", "list"):
            Hash().set_many(["a", "b"], one)


def test_increments_name_field_and_value() -> None:
    h = Hash({"name": "Ann", "elo": "1500"})
    with refused(ValueError, "'name', 'Ann'", "no integer"):
        h.increment("name")
    with refused(ValueError, "'name', 'Ann'", "no finite number"):
        h.increment("name", 0.5)
    with refused(ValueError, "'name', 'Ann'", "no integer"):
        h.increment_many(["elo", "name"])
    with refused(ValueError, "step is no finite number"):
        h.increment("elo", float("inf"))
    with refused(ValueError, "'inf', inf", "no finite number"):
        Hash({"inf": float("inf")}, value="float64").increment("inf")
    with refused(ValueError, "'n', 'inf'"):
        Hash({"n": "inf"}).increment_many(["n"], 1.5)
    assert h == {"name": "Ann", "elo": "1500"}


def test_columns_of_frames() -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "name": ["Ann", "Bob"], "city": ["Hue", "Ulm"]})
    table = HashTable.from_arrays(frame.id, frame[["name", "city"]])
    assert table == {"a": {"name": "Ann", "city": "Hue"}, "b": {"name": "Bob", "city": "Ulm"}}
    rows = pl.from_pandas(frame)
    for columns in (rows, rows.lazy(), pa.table(rows), [["Ann", "Bob"]], 5):
        with refused(TypeError, "mapping of columns is wanted", type(columns).__name__):
            HashTable.from_arrays(frame.id, columns)
    with refused(TypeError, "LazyFrame", "collect()"):
        HashTable.from_arrow(rows.lazy(), "id")
    with refused(TypeError, "Arrow table", "int"):
        HashTable.from_arrow(5, "id")
    with refused(KeyError, "'key'", "'id', 'name', 'city'"):
        HashTable.from_arrow(rows, "key")
    with refused(TypeError, "keys are text or bytes", "column 'n' is of int64"):
        HashTable.from_arrow(pl.DataFrame({"n": [1], "elo": [2]}), "n")


def test_what_is_missing_among_integers() -> None:
    ratings = pd.Series([1500, None], dtype="Int64")
    with refused(TypeError, "int64 can't come from", "NaN where one is missing"):
        Hash(**INTS).set_many(["a", "b"], ratings)
    with refused(TypeError, "column 'elo'", "NaN where one is missing"):
        HashTable.from_arrays(["a", "b"], {"elo": ratings}, **INTS)
    with refused(ValueError, "column 'elo'", "NaN"):
        HashTable.from_arrays(["a", "b"], {"elo": [1.0, float("nan")]}, value="float64")
    with pytest.raises(ValueError, match="keys"):
        HashTable.from_arrays(["a", "b"], {"elo": [1]}, **INTS)


FRAME = pd.DataFrame({"id": [1, 2], "elo": [1500, 1400], "odds": [0.5, 1.5], "name": ["a", "b"]})
ARRAYS = [FRAME["id"], FRAME["id"].to_numpy()]
COLUMNS = [pl.Series(FRAME["id"]), pa.array(FRAME["id"])]


@pytest.mark.parametrize(
    ("keys", "way"), [(a, "astype(str)") for a in ARRAYS] + [(c, "cast to str") for c in COLUMNS]
)
def test_numbers_among_keys_of_text_can_be_cast(keys: Any, way: str) -> None:
    h: Hash[str, str] = Hash()
    for call in (h.get_many, h.pop_many, lambda keys: h.set_many(keys, ["x", "y"])):
        with refused(TypeError, "str can't come from", "int64; ", way):
            call(keys)
    with refused(TypeError, "str can't come from", way):
        HashTable.from_arrays(keys, {"name": ["x", "y"]})
    with refused(TypeError, "str can't come from", way, 'member="int64" is for integers'):
        SortedSet(member="str").update(keys, [1.0, 2.0])
    with refused(TypeError, "item 0", "must be str, not int; str() makes one"):
        h.set_many([1, 2], ["x", "y"])


def test_keys_that_were_cast_are_taken() -> None:
    h: Hash[str, str] = Hash()
    for series in ARRAYS:
        h.set_many(series.astype(str), ["x", "y"])
    h.set_many(COLUMNS[0].cast(pl.String), ["x", "y"])
    h.set_many(COLUMNS[1].cast("string"), ["x", "y"])
    assert h == {"1": "x", "2": "y"}


@pytest.mark.parametrize(("column", "kind"), [("elo", "int64"), ("odds", "float64")])
def test_numbers_among_values_of_text_have_a_kind_of_their_own(column: str, kind: Any) -> None:
    numbers, frame = FRAME[column], FRAME[["name", column]].rename(columns={"name": "key"})
    hint, named = f'value="{kind}" is for', f"column {column!r}: str"
    for values in (numbers, numbers.to_numpy(), pl.Series(numbers), pa.array(numbers)):
        with refused(TypeError, "str can't come from", kind, hint):
            Hash().set_many(["a", "b"], values)
        with refused(TypeError, "bytes can't come from", kind, hint):
            Hash(value="bytes").set_many(["a", "b"], values)
        with refused(TypeError, named, hint):
            HashTable.from_arrays(["a", "b"], {column: values})
    with refused(TypeError, "str can't come from", kind, hint):
        Hash(frame)
    with refused(TypeError, named, hint):
        HashTable(frame)
    assert Hash(frame, value=kind).to_dict() == dict(zip("ab", numbers, strict=True))
    assert HashTable(frame, value=kind)["a"] == {column: numbers[0]}


def test_columns_of_several_kinds_are_named() -> None:
    with refused(TypeError, "'elo' of int64, 'name' of str", "cast some or drop them"):
        HashTable.from_arrow(FRAME.astype({"id": str})[["id", "elo", "name"]], "id")
