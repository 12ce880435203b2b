"""What a Hash takes and refuses, and that a refused call changes nothing."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from labels import label
from model.forms import FORMS, in_form
from model.hash_checks import Kind, in_every_form, objects, of_every_kind
from model.kinds import STRINGS
from model.layouts import Layout

from goblin import Hash

TYPES = {"str": str, "bytes": bytes, "int64": int}
CONTENT = {"a": "1", "b": "two"}
NOT_STR = [b"a", bytearray(b"a"), memoryview(b"a"), 1, 1.5, None, True, (), ["a"], UUID(int=1)]
NOT_BYTES = ["a", np.str_("a"), 1, 1.5, None, True, (), [b"a"], UUID(int=1)]


@pytest.fixture
def h() -> Hash:
    return Hash(CONTENT)


# ---- the constructor


@pytest.mark.parametrize(
    "data",
    [CONTENT, OrderedDict(CONTENT), list(CONTENT.items()), tuple(CONTENT.items()), Hash(CONTENT),
     [["a", "x"], ["b", "two"], ["a", "1"]]],
)  # fmt: skip
def test_data(data: Any) -> None:
    assert Hash(data) == CONTENT
    assert Hash(iter(data.items() if hasattr(data, "items") else data)) == CONTENT


def test_nothing_makes_an_empty_hash() -> None:
    for h in (Hash(), Hash(None), Hash({}), Hash([]), Hash(iter(()))):
        assert len(h) == 0
        assert not h


@pytest.mark.parametrize(
    ("error", "data", "options"),
    [
        (ValueError, None, {"key": "int64"}),
        (ValueError, None, {"key": "uuid"}),
        (ValueError, None, {"value": "int32"}),
        (ValueError, None, {"value": "object"}),
        (ValueError, None, {"max_compact_fields": -1}),
        (TypeError, None, {"max_compact_fields": 1.5}),
        (TypeError, None, {"member": "str"}),
        (TypeError, "ab", {}),
        (TypeError, b"ab", {}),
        (TypeError, 5, {}),
        (TypeError, [1, 2], {}),
        (ValueError, [("a", "1", "2")], {}),
        (ValueError, [("a",)], {}),
        (TypeError, {"a": 1}, {}),
        (TypeError, {1: "a"}, {}),
        (TypeError, {"a": "1"}, {"value": "int64"}),
        (TypeError, {"a": "1"}, {"key": "bytes"}),
    ],
)
def test_refused_constructions(error: type[Exception], data: Any, options: Any) -> None:
    with pytest.raises(error):
        Hash(data, **options)


# ---- keys and values of each kind


@pytest.mark.parametrize("bad", NOT_STR, ids=label)
def test_str_takes_str(h: Hash, bad: Any) -> None:
    for write in (
        lambda: h.__setitem__("a", bad),
        lambda: h.__setitem__(bad, "1"),
        lambda: h.setdefault("c", bad),
        lambda: h.update([("c", "3"), ("d", bad)]),
        lambda: h.set_many(["c", "d"], ["3", bad]),
        lambda: h.set_many(["c", bad], ["3", "4"]),
        lambda: h.increment(bad),
        lambda: h.increment_many(["a", bad]),
        lambda: h.pop_many(["a", bad]),
    ):
        with pytest.raises(TypeError):
            write()
    assert h == CONTENT
    assert (bad in h, h.get(bad, 5), h.pop(bad, 6)) == (False, 5, 6)


@pytest.mark.parametrize("bad", NOT_BYTES, ids=label)
def test_bytes_takes_buffers_of_bytes(bad: Any) -> None:
    h = Hash({b"a": b"1"}, key="bytes", value="bytes")
    for write in (
        lambda: h.__setitem__(b"a", bad),
        lambda: h.__setitem__(bad, b"1"),
        lambda: h.set_many([b"c", b"d"], [b"3", bad]),
        lambda: h.pop_many([b"a", bad]),
    ):
        with pytest.raises(TypeError):
            write()
    assert h == {b"a": b"1"}
    assert (bad in h, h.get(bad, 5), h.pop(bad, 6)) == (False, 5, 6)


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview, np.bytes_])
def test_every_buffer_names_the_same_key(make: Callable[[bytes], Any]) -> None:
    h = Hash(key="bytes", value="bytes")
    h[make(b"k\0y")] = make(b"v\0z")
    assert h == {b"k\0y": b"v\0z"}
    assert all(type(part) is bytes for item in h.items() for part in item)
    assert make(b"k\0y") in h


@pytest.mark.parametrize("text", [np.str_("x"), type("Text", (str,), {})("x")])
def test_subclasses_of_str_come_back_as_str(text: Any) -> None:
    h = Hash({text: text})
    assert all(type(part) is str for item in h.items() for part in item)
    assert text in h


@pytest.mark.parametrize("good", [5, np.int8(5), np.uint64(5), type("I", (int,), {})(5)])
def test_int64_takes_integers(good: Any) -> None:
    h = Hash({"a": good}, value="int64")
    assert type(h["a"]) is int
    assert h["a"] == 5


@pytest.mark.parametrize(
    ("error", "bad"),
    [
        *((TypeError, bad) for bad in (True, np.True_, 1.0, np.float64(1), Decimal(1), "1", None)),
        *((OverflowError, bad) for bad in (2**63, -(2**63) - 1, 2**200, np.uint64(2**63))),
    ],
    ids=label,
)
def test_int64_takes_nothing_else(error: type[Exception], bad: Any) -> None:
    h = Hash({"a": 1}, value="int64")
    for write in (
        lambda: h.__setitem__("a", bad),
        lambda: h.update({"b": 2, "c": bad}),
        lambda: h.set_many(["b", "c"], [2, bad]),
        lambda: h.set_many(["b", "c"], objects([2, bad])),
    ):
        with pytest.raises(error):
            write()
    assert h == {"a": 1}


@pytest.mark.parametrize("good", [5, 5.0, np.float32(5), np.int8(5), Decimal(5), Fraction(5)])
def test_float64_takes_real_numbers(good: Any) -> None:
    h = Hash({"a": good}, value="float64")
    assert type(h["a"]) is float
    assert h["a"] == 5.0


@pytest.mark.parametrize(
    ("error", "bad"),
    [
        *((TypeError, bad) for bad in ("1", b"1", None, 1j, [])),
        *((ValueError, bad) for bad in (math.nan, np.float32("nan"), Decimal("nan"))),
        (OverflowError, 10**400),
    ],
    ids=label,
)
def test_float64_takes_nothing_else(error: type[Exception], bad: Any) -> None:
    h = Hash({"a": 1.0}, value="float64")
    for write in (
        lambda: h.__setitem__("a", bad),
        lambda: h.update({"b": 2, "c": bad}),
        lambda: h.set_many(["b", "c"], [2, bad]),
    ):
        with pytest.raises(error):
            write()
    assert h == {"a": 1.0}


def test_floats_come_back_but_minus_zero() -> None:
    floats = [0.1, 1 / 3, 5e-324, 1.7e308, math.inf, -math.inf, 2.0**53, 7.0, -0.0]
    h = Hash(value="float64")
    h.set_many([str(x) for x in floats], np.array(floats))
    assert [h[str(x)] for x in floats] == floats
    assert math.copysign(1.0, h["-0.0"]) == 1.0


@pytest.mark.parametrize("bad", ["\ud800", "a\udc80b", "\udfff"])
def test_lone_surrogates(h: Hash, bad: str) -> None:
    for write in (
        lambda: h.__setitem__("a", bad),
        lambda: h.__setitem__(bad, "1"),
        lambda: h.set_many(["c", bad], ["3", "4"]),
        lambda: h.set_many(["c", "d"], ["3", bad]),
        lambda: h.update({"c": "3", bad: "4"}),
        lambda: h.increment(bad),
    ):
        with pytest.raises(UnicodeEncodeError):
            write()
    assert bad not in h
    assert h.get(bad) is None
    with pytest.raises(KeyError):
        h[bad]
    assert h == CONTENT


# ---- bulk calls


@in_every_form
@pytest.mark.parametrize("key", ["str", "bytes"])
def test_every_form_of_keys(key: str, form: dict[str, Any]) -> None:
    texts = ["", "é", "7", "field", "x" * 300]
    keys = texts if key == "str" else [text.encode() for text in texts]
    for name in FORMS[TYPES[key]]:
        h = Hash(key=key, value="int64", **form)
        given = in_form(Layout(key, "float64"), name, keys)
        assert h.set_many(given, range(5)) == 5, name
        assert h == dict(zip(keys, range(5), strict=True))
        assert h.get_many(given).tolist() == [0, 1, 2, 3, 4]
        h.increment_many(given, 10)
        assert h.pop_many(given) == [10, 11, 12, 13, 14]


@in_every_form
@pytest.mark.parametrize("value", TYPES)
def test_every_form_of_values(value: str, form: dict[str, Any]) -> None:
    values = [Kind("str", value).value_of(i) for i in range(7)]
    for name in FORMS[TYPES[value]]:
        h = Hash(value=value, **form)
        given = in_form(Layout(value, "float64"), name, values)
        assert h.set_many(list("abcdefg"), given) == 7, name
        assert [h[key] for key in "abcdefg"] == values


@pytest.mark.parametrize("dtype", ["i1", "u2", ">i4", "u8", "i8"])
def test_arrays_of_numbers(dtype: str) -> None:
    numbers = np.array([3, 0, 100], dtype=dtype)
    for value in ("int64", "float64"):
        h = Hash(value=value)
        h.set_many(["a", "b", "c"], numbers[::-1])
        assert h == {"a": 100, "b": 0, "c": 3}
        h.increment_many(["a", "a", "b"], numbers)
        assert h == {"a": 103, "b": 100, "c": 3}


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (TypeError, lambda h: h.get_many("ab")),
        (TypeError, lambda h: h.get_many(b"ab")),
        (TypeError, lambda h: h.get_many(5)),
        (TypeError, lambda h: h.get_many(None)),
        (TypeError, lambda h: h.pop_many("ab")),
        (TypeError, lambda h: h.set_many("ab", ["1", "2"])),
        (TypeError, lambda h: h.set_many(["a", "b"], "12")),
        (TypeError, lambda h: h.set_many(["a"], None)),
        (TypeError, lambda h: h.increment_many("ab")),
        (TypeError, lambda h: h.increment_many(["a"], "1")),
        (TypeError, lambda h: h.get_many(np.array([1, 2]))),
        (TypeError, lambda h: h.get_many(np.array([b"a"]))),
        (TypeError, lambda h: h.set_many(["a"], np.array([b"a"]))),
        (TypeError, lambda h: h.set_many(["a"], np.array([1]))),
        (TypeError, lambda h: h.set_many(pa.array([1]), ["1"])),
        (ValueError, lambda h: h.get_many(np.array([["a", "b"]]))),
        (ValueError, lambda h: h.get_many(pa.array(["a", None]))),
        (ValueError, lambda h: h.set_many(["a", "b"], ["1"])),
        (ValueError, lambda h: h.set_many(["a"], ["1", "2"])),
        (ValueError, lambda h: h.set_many([], ["1"])),
        (ValueError, lambda h: h.increment_many(["a", "a"], [1])),
        (ValueError, lambda h: h.set_many(["a"], ["1"], only="nx")),
        (ValueError, lambda h: h.set_many([], [], only="Any")),
        (ValueError, lambda h: h.sample(-1)),
        (ValueError, lambda h: h.sample(3)),
        (TypeError, lambda h: h.sample(1.0)),
        (TypeError, lambda h: list(h.scan(b"*"))),
        (TypeError, lambda h: list(h.scan(5))),
    ],
)
def test_refused_bulk_calls(h: Hash, error: type[Exception], call: Callable[[Hash], Any]) -> None:
    with pytest.raises(error):
        call(h)
    assert h == CONTENT
    h._validate()


def test_a_lone_text_comes_with_a_hint(h: Hash) -> None:
    with pytest.raises(TypeError, match="list"):
        h.get_many("ab")


def test_what_an_iterable_raises_comes_through(h: Hash) -> None:
    def failing() -> Any:
        yield "c"
        raise ZeroDivisionError

    for call in (h.get_many, h.pop_many, h.increment_many, lambda keys: h.set_many(keys, ["1"])):
        with pytest.raises(ZeroDivisionError):
            call(failing())
    with pytest.raises(ZeroDivisionError):
        h.update((key, "1") for key in failing())
    assert h == CONTENT


@in_every_form
@of_every_kind
def test_only(kind: Kind, form: dict[str, Any]) -> None:
    pairs = kind.pairs(9)
    keys, values = [key for key, _ in pairs], [value for _, value in pairs]
    h = Hash(pairs[:4], **kind.options, **form)
    assert h.set_many(keys[2:6], values[:4], only="new") == 2
    assert h == dict([*pairs[:4], (keys[4], values[2]), (keys[5], values[3])])
    assert h.set_many(keys[3:8], values[3:8], only="existing") == 0
    assert h == dict(pairs[:6])
    assert h.set_many(keys, values) == h.set_many(keys[::-1], values[::-1]) + 3 == 3
    h._validate()


@in_every_form
def test_repeats_act_one_after_another(form: dict[str, Any]) -> None:
    h = Hash(**form)
    assert h.set_many(["a", "b", "a", "a"], ["1", "2", "3", "4"]) == 2
    assert h.set_many(["c", "c"], ["5", "6"], only="new") == 1
    assert h == {"a": "4", "b": "2", "c": "5"}
    assert h.get_many(["a", "c", "a"]) == ["4", "5", "4"]
    assert h.pop_many(["a", "a", "x", "c"]) == ["4", None, None, "5"]
    h.increment_many(["b", "b", "n", "n"], [1, 2, 3, 4])
    assert h == {"b": "5", "n": "7"}


@in_every_form
def test_get_many_of_what_is_absent(form: dict[str, Any]) -> None:
    texts = Hash(CONTENT, **form).get_many(["x", "a"])
    assert texts == [None, "1"]
    assert Hash(CONTENT, **form).get_many(["x", "a"], missing=7) == [7, "1"]
    whole = Hash({"a": 5}, value="int64", **form)
    assert (whole.get_many(["x", "a"]).tolist(), whole.get_many([]).dtype) == ([-1, 5], np.int64)
    assert whole.get_many(["x", "a"], missing=-9).tolist() == [-9, 5]
    with pytest.raises(TypeError):
        whole.get_many(["x"], missing=0.5)
    real = Hash({"a": 5}, value="float64", **form)
    np.testing.assert_array_equal(real.get_many(["x", "a"]), [math.nan, 5.0])
    assert real.get_many(["x", "a"], missing=-1).tolist() == [-1.0, 5.0]


@in_every_form
def test_no_keys_at_all(form: dict[str, Any]) -> None:
    h = Hash(CONTENT, **form)
    for none in (
        [],
        (),
        iter(()),
        np.array([], "U1"),
        np.array([], STRINGS),
        pa.array([], "string"),
    ):
        assert h.get_many(none) == []
        assert h.pop_many(none) == []
        assert h.set_many(none, []) == 0
        assert h.increment_many(none) is None
    h.update()
    h.update({})
    assert h == CONTENT
