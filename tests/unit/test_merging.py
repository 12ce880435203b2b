"""`|` and `|=` of hashes, tables and records, as dict has them."""

from __future__ import annotations

from collections import ChainMap, OrderedDict, UserDict
from types import MappingProxyType
from typing import Any

import pytest
from model.hash_checks import in_every_form

from goblin import Hash, HashTable, Record

ONE: dict[str, Any] = {"ann": "1", "bob": "2"}
OTHER: dict[str, Any] = {"bob": "3", "cyd": "4"}
OTHERS = [dict, OrderedDict, UserDict, MappingProxyType, Hash]


@in_every_form
@pytest.mark.parametrize("make", OTHERS)
def test_hashes(make: Any, form: dict[str, Any]) -> None:
    h: Any = Hash(ONE, **form)
    merged = [(h | make(OTHER), ONE | OTHER), (make(OTHER) | h, OTHER | ONE)]
    for result, expected in merged:
        assert type(result) is Hash
        assert result == expected
        result._validate()
    assert h == ONE
    same = h
    h |= make(OTHER)
    assert h is same
    assert h == ONE | OTHER


def test_options_come_along() -> None:
    h: Any = Hash({"a": 1}, value="int64", max_compact_fields=1)
    for merged in (h | {"b": 2}, {"b": 2} | h):
        assert (merged.value_dtype, merged.is_compact) == ("int64", False)


def test_subclasses_and_chains() -> None:
    class Named(Hash[str, str]):
        pass

    named = Named(ONE)
    named.name = "x"  # type: ignore[attr-defined]
    assert type(named | OTHER) is Named
    assert (named | OTHER).name == "x"  # type: ignore[attr-defined]
    assert type(ChainMap({}) | Hash(ONE)) is ChainMap


@pytest.mark.parametrize("make", [dict, HashTable])
def test_tables_merge_whole_records(make: Any) -> None:
    one, other = {"ann": ONE, "bob": ONE}, {"bob": OTHER, "cyd": {}}
    table: Any = HashTable(one)
    assert (table | make(other)).to_dict() == one | other
    assert (make(other) | table).to_dict() == other | one
    assert table == one
    same = table
    table |= make(other)
    assert table is same
    assert table == one | other


def test_records_merge_into_a_hash_of_their_own() -> None:
    table = HashTable({"ann": ONE})
    record: Any = table["ann"]
    assert type(record | OTHER) is type(OTHER | record) is Hash
    assert record | OTHER == ONE | OTHER
    assert OTHER | record == OTHER | ONE
    assert record | table["ann"] == ONE
    record |= OTHER
    assert type(record) is Record
    assert table == {"ann": ONE | OTHER}


def test_pairs_only_in_place() -> None:
    for one in (Hash(ONE), HashTable({"ann": ONE})["ann"]):
        for call in (lambda one=one: one | [("a", "1")], lambda one=one: [("a", "1")] | one):
            with pytest.raises(TypeError):
                call()
        one |= [("cyd", "4")]
        assert one == {**ONE, "cyd": "4"}


def test_what_fits_not_changes_nothing() -> None:
    for one in (Hash(ONE), HashTable({"ann": ONE})["ann"]):
        for other in ({"new": 5}, {"new": "1", 5: "1"}):
            for call in (
                lambda one=one, other=other: one | other,
                lambda one=one, other=other: other | one,
                lambda one=one, other=other: one.__ior__(other),
            ):
                with pytest.raises(TypeError):
                    call()
        assert one == ONE
