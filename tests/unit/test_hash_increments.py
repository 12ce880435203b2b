"""Increments: exact integers, floats whose text reads back, and what is refused."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.hash_checks import in_every_form

from goblin import Hash

LOWEST, HIGHEST = -(2**63), 2**63 - 1
TEXTS = {"str": str, "bytes": str.encode}
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@in_every_form
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize(
    ("old", "by", "new"),
    [
        (None, 1, 1),
        (None, LOWEST, LOWEST),
        (0, 0, 0),
        (9, 1, 10),
        (-1, 1, 0),
        (127, 1, 128),
        (-129, 1, -128),
        (2**31 - 1, 1, 2**31),
        (2**53, 1, 2**53 + 1),
        (HIGHEST, -1, HIGHEST - 1),
        (HIGHEST, LOWEST, -1),
        (LOWEST, HIGHEST, -1),
        (HIGHEST - 1, 1, HIGHEST),
    ],
)
def test_integers_are_exact(
    kind: str, form: dict[str, Any], old: int | None, by: int, new: int
) -> None:
    for value, stored in ((kind, lambda i: TEXTS[kind](str(i))), ("int64", int)):
        h = Hash({"f": stored(7), "g": stored(8)}, value=value, **form)
        del h["f"]
        if old is not None:
            h["f"] = stored(old)
        after = h.increment("f", by)
        assert (type(after), after) == (int, new)
        assert h == {"f": stored(new), "g": stored(8)}
        h._validate()


@in_every_form
@pytest.mark.parametrize(
    ("old", "by"),
    [(HIGHEST, 1), (LOWEST, -1), (-1, LOWEST), (1, HIGHEST), (0, HIGHEST + 1), (5, LOWEST - 1)],
)
def test_overflow_changes_nothing(form: dict[str, Any], old: int, by: int) -> None:
    for value, stored in (("str", str), ("int64", int)):
        h = Hash({"f": stored(old)}, value=value, **form)
        for call in (
            lambda h=h: h.increment("f", by),
            lambda h=h: h.increment_many(["new", "f"], by),
            lambda h=h: h.increment_many(["new", "f", "f"], [1, 0, by]),
        ):
            with pytest.raises(OverflowError):
                call()
        assert h == {"f": stored(old)}
    with pytest.raises(OverflowError):
        Hash(value="int64").increment("f", HIGHEST + 1)


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "+1", "-0", "007", "00", "1.0", "1e5", "abc", "0x10", "\uff11", "1\0",
             "9223372036854775808", "-9223372036854775809", "1_0", "--1", "-", "inf", "nan"]
)  # fmt: skip
@pytest.mark.parametrize("encoding", [True, False])
def test_only_canonical_integers_are_incremented_by_ints(text: str, encoding: bool) -> None:
    for kind, make in TEXTS.items():
        h = Hash({"f": make(text)}, value=kind, encoding=encoding)
        for call in (
            lambda h=h: h.increment("f"),
            lambda h=h: h.increment_many(["g", "f"], [1, 0]),
        ):
            with pytest.raises(ValueError):
                call()
        assert h == {"f": make(text)}


@in_every_form
@pytest.mark.parametrize(
    ("old", "by", "text"),
    [
        ("1", 0.1, "1.1"),
        ("3.0", 0.0, "3"),
        ("10.50", 0.1, "10.6"),
        ("5.0e3", 2.0e2, "5200"),
        ("0", 1e-18, "1e-18"),
        ("-5", 5.0, "0"),
        ("0", -0.0, "0"),
        ("-0", -0.0, "0"),
        (".5", 5.0, "5.5"),
        ("5.", 0.25, "5.25"),
        ("+7", 0.5, "7.5"),
        ("007", 0.5, "7.5"),
        ("0.1", 0.2, "0.30000000000000004"),
        ("9007199254740993", 0.0, "9007199254740992"),
        ("0", 1e256, "1e+256"),
        ("5e-324", 0.0, "5e-324"),
        ("0e-999", 1.0, "1"),
        (None, 2.0, "2"),
        (None, -1.5, "-1.5"),
    ],
)
def test_floats_as_text(form: dict[str, Any], old: str | None, by: float, text: str) -> None:
    for kind, make in TEXTS.items():
        h = Hash({} if old is None else {"f": make(old)}, value=kind, **form)
        after = h.increment("f", by)
        assert type(after) is float
        assert after == float(text)
        assert math.copysign(1.0, after) == 1.0 or text.startswith("-")
        assert h == {"f": make(text)}


@given(FINITE, FINITE)
def test_the_text_of_a_sum_reads_back(old: float, by: float) -> None:
    h = Hash({"f": repr(old)})
    if math.isinf(old + by):
        with pytest.raises(OverflowError):
            h.increment("f", by)
        assert h == {"f": repr(old)}
        return
    assert h.increment("f", by) == float(h["f"]) == old + by
    assert not h["f"].endswith(".0")
    assert h["f"] != "-0"
    assert len(h["f"]) <= len(repr(old + by))


def test_an_integral_sum_can_be_incremented_by_ints_again() -> None:
    h = Hash({"f": "2.5"})
    assert h.increment("f", 0.5) == 3.0
    assert h.increment("f", 4) == 7
    assert h.increment("f", 0.25) == 7.25
    with pytest.raises(ValueError):
        h.increment("f", 1)
    assert h == {"f": "7.25"}


@pytest.mark.parametrize(
    "text", ["abc", "", " 1", "1 ", "inf", "-inf", "nan", "1,5", "1e", "1_0", "--1", "1\0", "1f",
             "\uff11", "1e400", "1e-400", "infinity", "1d5"]
)  # fmt: skip
def test_what_is_no_finite_number_is_not_incremented(text: str) -> None:
    for kind, make in TEXTS.items():
        h = Hash({"f": make(text)}, value=kind)
        with pytest.raises(ValueError):
            h.increment("f", 1.0)
        with pytest.raises(ValueError):
            h.increment_many(["g", "f"], 1.0)
        assert h == {"f": make(text)}


@pytest.mark.parametrize("by", [math.inf, -math.inf, math.nan, np.float32("inf")])
@pytest.mark.parametrize("value", ["str", "bytes", "float64"])
def test_increments_are_finite(value: str, by: float) -> None:
    h = Hash(value=value)
    h.increment("f", 1.0)
    before = h.to_dict()
    for call in (lambda: h.increment("f", by), lambda: h.increment_many(["f", "g"], [1.0, by])):
        with pytest.raises(ValueError):
            call()
    assert h == before


def test_float64_values() -> None:
    h = Hash({"f": 0.1}, value="float64")
    assert h.increment("f", 0.2) == 0.1 + 0.2
    assert h.increment("f", 1) == 1.0 + (0.1 + 0.2)
    assert type(h.increment("n")) is float
    assert math.copysign(1.0, h.increment("z", -0.0)) == 1.0
    assert h.increment("i", 2**53 + 1) == 2.0**53
    h["big"] = 1.7e308
    with pytest.raises(OverflowError):
        h.increment("big", 1e308)
    assert h["big"] == 1.7e308


@pytest.mark.parametrize("by", [1.0, 0.5, np.float32(1), Decimal(1)])
def test_int64_values_are_incremented_by_ints_only(by: Any) -> None:
    h = Hash({"f": 1}, value="int64")
    for call in (lambda: h.increment("f", by), lambda: h.increment_many(["f", "f"], [1, by])):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError):
        h.increment_many(["f"], np.array([1.0]))
    assert h == {"f": 1}


@pytest.mark.parametrize("by", [True, np.True_, "1", b"1", None, 1j, [1]], ids=repr)
@pytest.mark.parametrize("value", ["str", "int64"])
def test_what_is_no_increment(value: str, by: Any) -> None:
    h = Hash(value=value)
    with pytest.raises(TypeError):
        h.increment("f", by)
    with pytest.raises(TypeError):
        h.increment_many(["f"], [by])
    assert h == {}


@in_every_form
def test_increment_many(form: dict[str, Any]) -> None:
    for value, make in (("str", str), ("int64", int), ("float64", float)):
        h = Hash(value=value, **form)
        assert h.increment_many(["a", "b", "a"]) is None
        h.increment_many(["a", "c"], 10)
        h.increment_many(iter(["a", "b"]), np.array([100, 200], dtype=">i2"))
        h.increment_many(["b"] * 2000, np.ones(2000, dtype=np.uint8))
        numbers = {"a": 112, "b": 2201, "c": 10}
        assert h == {key: make(number) for key, number in numbers.items()}
        h._validate()


def test_each_step_keeps_its_kind() -> None:
    h = Hash()
    h.increment_many(["a", "b", "b"], [1, 0.5, 0.5])
    assert h == {"a": "1", "b": "1"}
    h.increment_many(["a", "b"], np.array([0.5, 1.0]))
    assert h == {"a": "1.5", "b": "2"}
    with pytest.raises(ValueError):
        h.increment_many(["b", "a"], [1, 1])
    assert h == {"a": "1.5", "b": "2"}


@pytest.mark.parametrize("by", [True, "1", None, 1j], ids=repr)
def test_a_step_is_looked_at_even_if_no_key_takes_it(by: Any) -> None:
    with pytest.raises(TypeError):
        Hash().increment_many([], by)


@in_every_form
@pytest.mark.parametrize(
    "by", [2**63, -(2**63) - 1, 2**64 - 1, 2**200, np.uint64(2**64 - 1), np.int8(3), Decimal(3)]
)
def test_floats_are_incremented_by_integers_of_any_size(form: dict[str, Any], by: Any) -> None:
    for many in (by, [by], np.array([by]), np.array([by], "O")):
        h = Hash({"f": 0.5}, value="float64", **form)
        h.increment_many(["f"], many) if np.shape(many) else h.increment("f", many)
        assert h == {"f": 0.5 + float(by)}


@pytest.mark.parametrize(
    ("by", "error"), [(10**400, OverflowError), (True, TypeError), (np.True_, TypeError)]
)
def test_what_is_no_float_to_add(by: Any, error: type[Exception]) -> None:
    h = Hash({"f": 0.5}, value="float64")
    for call in (
        lambda: h.increment("f", by),
        lambda: h.increment_many(["f"], by),
        lambda: h.increment_many(["f"], [by]),
        lambda: h.increment_many(["f"], np.array([by])),
    ):
        with pytest.raises(error):
            call()
    assert h == {"f": 0.5}


@pytest.mark.parametrize("encoding", [False, True])
def test_a_sum_is_stored_as_a_text_set_would_be(encoding: bool) -> None:
    one, many = Hash(encoding=encoding), Hash(encoding=encoding)
    one.increment("n", 42)
    many.increment_many(["n", "n"], [40, 2])
    expected = Hash({"n": "42"}, encoding=encoding).to_bytes()
    assert one.to_bytes() == many.to_bytes() == expected
    assert Hash.from_bytes(expected) == {"n": "42"}
