"""Hash as a mutable mapping whose order is unspecified."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from typing import Any

import numpy as np
import pytest
from model.hash_checks import Kind, in_every_form, of_every_kind

from goblin import Hash

SIZES = [0, 1, 5, 6, 40, 3000]


@in_every_form
@of_every_kind
@pytest.mark.parametrize("size", SIZES)
def test_reading(kind: Kind, form: dict[str, Any], size: int) -> None:
    pairs = kind.pairs(size)
    h = Hash(pairs, **kind.options, **form)
    assert isinstance(h, MutableMapping)
    assert len(h) == size
    assert bool(h) == bool(size)
    assert sorted(h) == sorted(h.keys()) == sorted(key for key, _ in pairs)
    assert sorted(h.values()) == sorted(value for _, value in pairs)
    assert sorted(h.items()) == sorted(pairs)
    assert h == dict(pairs) == dict(h) == {**h} == h.to_dict()
    for key, value in pairs[:50]:
        assert key in h
        assert h[key] == h.get(key) == value
        assert type(h[key]) is type(value)
    absent = kind.key_of("absent")
    assert absent not in h
    assert h.get(absent) is None
    assert h.get(absent, 7) == 7


@in_every_form
def test_keys_values_and_items_go_in_the_same_order(form: dict[str, Any]) -> None:
    h = Hash(Kind("str", "str").pairs(300), **form)
    assert list(zip(h, h.values(), strict=True)) == list(h.items())
    assert list(h) == list(h.keys())
    keys, values = h.to_numpy()
    assert list(zip(keys, values, strict=True)) == list(h.items())


@pytest.mark.parametrize("absent", ["x", "", b"a", None, 5, 1.5, (), [], {}, "\ud800"], ids=repr)
def test_what_is_no_key_is_absent(absent: Any) -> None:
    h = Hash({"a": "1"})
    assert absent not in h
    assert h.get(absent) is None
    assert h.pop(absent, 5) == 5
    for read in (h.__getitem__, h.__delitem__, h.pop):
        with pytest.raises(KeyError) as caught:
            read(absent)
        assert caught.value.args == (absent,)
    assert h == {"a": "1"}


@in_every_form
@of_every_kind
def test_writing(kind: Kind, form: dict[str, Any]) -> None:
    h, expected = Hash(**kind.options, **form), {}
    for i in range(300):
        key = kind.key_of(f"field:{i * 7 % 60}")
        if i % 11 == 10:
            assert h.pop(key, None) == expected.pop(key, None)
        else:
            h[key] = expected[key] = kind.value_of(i)
        assert len(h) == len(expected)
        h._validate()
    for key in list(expected)[::2]:
        del h[key], expected[key]
    assert h == expected


@in_every_form
def test_pop_popitem_setdefault_and_clear(form: dict[str, Any]) -> None:
    h = Hash({"a": "1", "b": "2", "c": "3"}, **form)
    assert h.pop("a") == "1"
    assert h.setdefault("b", "9") == "2"
    assert h.setdefault("d", "4") == "4"
    popped = dict(h.popitem() for _ in range(3))
    assert popped == {"b": "2", "c": "3", "d": "4"}
    for empty in (h.popitem, lambda: h.pop("a")):
        with pytest.raises(KeyError):
            empty()
    h["again"] = "1"
    h.clear()
    h.clear()
    assert (len(h), list(h)) == (0, [])
    h.update({"b": "2"})
    assert h == {"b": "2"}


def test_setdefault_refuses_a_value_of_another_kind() -> None:
    h = Hash()
    with pytest.raises(TypeError):
        h.setdefault("a")
    assert h == {}


@in_every_form
def test_update(form: dict[str, Any]) -> None:
    h = Hash({"a": "1"}, **form)
    for data in ({"a": "2", "b": "3"}, [("c", "4")], iter([("c", "5")]), Hash({"d": "6"}),
                 ChainMap({"e": "7"})):  # fmt: skip
        assert h.update(data) is None
    assert h == {"a": "2", "b": "3", "c": "5", "d": "6", "e": "7"}
    h.update(h)
    assert len(h) == 5


def test_equality_is_that_of_mappings() -> None:
    h = Hash({"a": "1", "b": "2"})
    assert h == {"b": "2", "a": "1"}
    assert h == Hash({"b": "2", "a": "1"}, max_compact_fields=0, encoding=False)
    assert h != {"a": "1"}
    assert h != {"a": "1", "b": "3"}
    assert h != {"a": "1", "b": "2", "c": "3"}
    assert h != {b"a": b"1", b"b": b"2"}
    assert h != Hash({b"a": b"1", b"b": b"2"}, key="bytes", value="bytes")
    assert h != [("a", "1"), ("b", "2")]
    assert h != 1
    assert Hash() == Hash(key="bytes") == {}
    assert Hash({"a": 1}, value="int64") == Hash({"a": 1.0}, value="float64") == {"a": 1}
    assert Hash({"a": "1"}) != Hash({"a": 1}, value="int64")


def test_a_hash_has_no_hash() -> None:
    with pytest.raises(TypeError):
        hash(Hash())


@in_every_form
def test_views_are_live_sets(form: dict[str, Any]) -> None:
    h = Hash({"a": "1", "b": "2"}, **form)
    keys, values, items = h.keys(), h.values(), h.items()
    h["c"] = "3"
    assert (len(keys), len(values), len(items)) == (3, 3, 3)
    assert "c" in keys
    assert "3" in values
    assert ("c", "3") in items
    assert ("c", "4") not in items
    assert b"c" not in keys
    assert 3 not in values
    assert keys & {"a", "x"} == {"a"}
    assert keys | {"x"} == {"a", "b", "c", "x"}
    assert keys - {"a"} == {"b", "c"}
    assert keys == {"a": 0, "b": 0, "c": 0}.keys()
    assert items <= {"a": "1", "b": "2", "c": "3", "d": "4"}.items()
    assert keys.isdisjoint(["x"])


def test_match_and_unpacking() -> None:
    match Hash({"a": "1", "b": "2"}):
        case {"a": value, **rest}:
            assert (value, rest) == ("1", {"b": "2"})
        case _:
            pytest.fail("a Hash matches as a mapping")
    assert isinstance(Hash(), Mapping)


def test_repr_names_the_type_and_stays_short() -> None:
    assert "Hash" in repr(Hash())
    assert len(repr(Hash({f"field:{i}": "v" * 99 for i in range(3000)}))) < 1000
    assert len(repr(Hash({"a": "v" * 100_000}))) < 1000


@of_every_kind
def test_to_numpy(kind: Kind) -> None:
    pairs = kind.pairs(50)
    keys, values = Hash(pairs, **kind.options).to_numpy()
    assert keys.dtype == object
    assert values.dtype == (kind.value if kind.value.endswith("64") else object)
    assert dict(zip(keys.tolist(), values.tolist(), strict=True)) == dict(pairs)
    empty = Hash(**kind.options).to_numpy()
    assert [column.shape for column in empty] == [(0,), (0,)]
    assert [column.dtype for column in empty] == [keys.dtype, values.dtype]


@in_every_form
def test_sample(form: dict[str, Any]) -> None:
    pairs = Kind("str", "str").pairs(400)
    h = Hash(pairs, **form)
    assert h.sample(0) == Hash(**form).sample(0) == []
    assert sorted(h.sample(400)) == sorted(pairs)
    seen = set()
    for _ in range(60):
        chosen = h.sample(np.int8(3))
        assert len(set(chosen)) == 3
        assert set(chosen) <= set(pairs)
        seen.update(chosen)
    assert len(seen) > 60  # of 180 draws
    for n in (401, -1, 2**63, -(2**63)):
        with pytest.raises((ValueError, OverflowError)):
            h.sample(n)
