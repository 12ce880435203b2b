"""Fields of a HashTable: increments that make records, the names of all fields."""

from __future__ import annotations

from typing import Any

import pytest

from goblin import Hash, HashTable


def test_increment_makes_record_and_field() -> None:
    table = HashTable({"bob": {"won": "3"}})
    assert table.increment("ann", "won") == 1
    assert table.increment("bob", "won", by=2) == 5
    assert table.increment("bob", "odds", 0.5) == 0.5
    assert table == {"ann": {"won": "1"}, "bob": {"won": "5", "odds": "0.5"}}
    floats = HashTable(key="bytes", field="bytes", value="float64")
    assert floats.increment(b"k", b"f") == 1.0
    assert floats == {b"k": {b"f": 1.0}}
    table._validate()


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (TypeError, ("new", "won", 0.5)),
        (TypeError, ("new", "won", "1")),
        (TypeError, ("new", 5)),
        (TypeError, (5, "won")),
        (TypeError, ("new",)),
        (OverflowError, ("ann", "won", 2**63 - 1)),
        (UnicodeEncodeError, ("\ud800", "won")),
    ],
)
def test_a_refused_increment_makes_nothing(error: type[Exception], arguments: Any) -> None:
    table = HashTable({"ann": {"won": 1}}, value="int64")
    stamp = table._stamp
    with pytest.raises(error):
        table.increment(*arguments)
    assert (table, table._stamp) == ({"ann": {"won": 1}}, stamp)


def test_a_refused_increment_names_the_field() -> None:
    table = HashTable({"ann": {"name": "Ann"}})
    with pytest.raises(ValueError, match="'name', 'Ann', is no integer"):
        table.increment("ann", "name")


def test_fields_are_those_that_records_have() -> None:
    table = HashTable({"a": {"x": "1", "y": "2"}, "b": {"y": "3", "é": "4"}, "c": {}})
    assert sorted(table.fields()) == ["x", "y", "é"]
    del table["b"]["y"]
    assert sorted(table.fields()) == ["x", "y", "é"]
    del table["a"]
    assert table.fields() == ["é"]
    table["b"]["z"] = "5"
    table.optimize()
    assert sorted(table.fields()) == ["z", "é"]
    assert sorted(table.copy().fields()) == ["z", "é"]
    table.clear()
    assert table.fields() == []
    assert HashTable({"a": {b"f": "1"}}, field="bytes").fields() == [b"f"]


def test_reports_of_empty_ones_have_no_mean() -> None:
    for report in (HashTable().memory(), Hash().memory()):
        assert "nan" not in str(report)
        assert str(report).split("\n")[-1].split() == [*report._fields[-1].split("_"), "-"]
