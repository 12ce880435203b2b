"""The model of Hash and HashTable against plain examples, and its glob against fnmatch."""

from __future__ import annotations

import fnmatch
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.hash import ModelHash, ModelHashTable
from model.redis_glob import matches


def test_values_come_back_as_they_went_in() -> None:
    assert ModelHash({"a": "007", "b": ""}) == {"a": "007", "b": ""}
    assert ModelHash([(bytearray(b"a"), memoryview(b"1"))], key="bytes", value="bytes") == {
        b"a": b"1"
    }
    assert ModelHash([("a", 1), ("a", np.int8(2))], value="int64") == {"a": 2}
    zero = ModelHash({"a": -0.0}, value="float64")["a"]
    assert math.copysign(1.0, zero) == 1.0


def test_many_keys() -> None:
    h = ModelHash()
    assert h.set_many(["a", "b", "a"], ["1", "2", "3"]) == 2
    assert h.set_many(["a", "c", "c"], ["4", "5", "6"], only="new") == 1
    assert h.set_many(["a", "d"], ["7", "8"], only="existing") == 0
    assert h == {"a": "7", "b": "2", "c": "5"}
    assert h.get_many(["a", "x", "a"], missing="?") == ["7", "?", "7"]
    assert h.pop_many(["a", "x", "a"]) == ["7", None, None]


def test_numbers_in_arrays() -> None:
    whole = ModelHash({"a": 1}, value="int64").get_many(np.array(["a", "b"]))
    assert (whole.tolist(), whole.dtype) == ([1, -1], np.dtype(np.int64))
    real = ModelHash({"a": 1.5}, value="float64").get_many(["a", "b"])
    np.testing.assert_array_equal(real, [1.5, math.nan])


# ---- increments: the values of case B12, and of B10


@pytest.mark.parametrize(
    ("old", "by", "new"),
    [
        ("1", 0.1, "1.1"),
        ("17179869184", 1.5, "17179869185.5"),
        ("3.0", 0.0, "3"),
        ("10.50", 0.1, "10.6"),
        ("5.0e3", 2.0e2, "5200"),
        ("0", 1e-18, "1e-18"),
        ("-5", 5.0, "0"),
        ("-0", -0.0, "0"),
        ("0x10", 1.0, "17"),
        (".5", 5.0, "5.5"),
        ("5.", 0.25, "5.25"),
        ("+7", 0.5, "7.5"),
        ("1e256", 1.0, "1e+256"),
        ("0x.8p1", 1.0, "2"),
        ("0e-999", 1.0, "1"),
        (None, 2.5, "2.5"),
        ("41", 1, "42"),
        ("-9223372036854775484", -324, "-9223372036854775808"),
        (None, -1, "-1"),
    ],
)
def test_increments_of_text(old: str | None, by: float, new: str) -> None:
    h = ModelHash() if old is None else ModelHash({"a": old})
    after = h.increment("a", by)
    assert type(after) is type(by)
    assert h == {"a": new}
    assert type(by)(new) == after


@pytest.mark.parametrize("old", ["abc", " 1", "1 ", "", "inf", "nan", "1_0", "1,5", "1e", "--1",
                                 "1\0", "\uff11", "1e400", "1e-400", "0x", "1\n"])  # fmt: skip
def test_what_is_no_number_is_not_incremented(old: str) -> None:
    h = ModelHash({"a": old})
    for by in (1, 1.0):
        with pytest.raises(ValueError):
            h.increment("a", by)
    assert h == {"a": old}


@pytest.mark.parametrize("old", ["1.5", "3.0", "007", "+1", "-0", "1e5", "00", "-01",
                                 "9223372036854775808", "-9223372036854775809"])  # fmt: skip
def test_an_integer_is_written_in_one_way(old: str) -> None:
    h = ModelHash({"a": old})
    with pytest.raises(ValueError):
        h.increment("a")
    assert h == {"a": old}


@pytest.mark.parametrize(
    ("options", "old", "by", "error"),
    [
        ({}, "9223372036854775807", 1, OverflowError),
        ({}, "-1", -(2**63), OverflowError),
        ({}, "1", 2**63, OverflowError),
        ({}, "1", math.inf, ValueError),
        ({}, "1", math.nan, ValueError),
        ({}, "1e308", 1e308 * 1.7, OverflowError),
        ({}, "1", True, TypeError),
        ({}, "1", "1", TypeError),
        ({"value": "int64"}, 2**63 - 1, 1, OverflowError),
        ({"value": "int64"}, 1, 1.0, TypeError),
        ({"value": "float64"}, 1.7e308, 1e308, OverflowError),
        ({"value": "float64"}, math.inf, 1.0, ValueError),
    ],
)
def test_refused_increments_change_nothing(
    options: dict[str, Any], old: Any, by: Any, error: type[Exception]
) -> None:
    h = ModelHash({"a": old}, **options)
    with pytest.raises(error):
        h.increment_many(["b", "a"], [0, by])
    with pytest.raises(error):
        h.increment("a", by)
    assert h == {"a": old}


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (TypeError, lambda h: h.__setitem__("a", b"1")),
        (TypeError, lambda h: h.__setitem__(b"a", "1")),
        (TypeError, lambda h: h.set_many("ab", ["1", "2"])),
        (TypeError, lambda h: h.set_many(["a", "b"], "12")),
        (TypeError, lambda h: h.update("ab")),
        (TypeError, lambda h: h.get_many([b"a"])),
        (ValueError, lambda h: h.set_many(["a"], ["1", "2"])),
        (ValueError, lambda h: h.set_many(["a"], ["1"], only="nx")),
        (ValueError, lambda h: h.update({"b": "1", "c": "\ud800"})),
        (ValueError, lambda h: h.sample(2)),
        (ValueError, lambda h: h.sample(-1)),
        (KeyError, lambda h: h[b"a"]),
        (KeyError, lambda h: h.pop("\ud800")),
        (TypeError, lambda h: list(h.scan(b"*"))),
    ],
)
def test_errors_change_nothing(error: type[Exception], call: Any) -> None:
    h = ModelHash({"a": "0"})
    with pytest.raises(error):
        call(h)
    assert h == {"a": "0"}


# ---- scan


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        ("*", ["", "a", "\n"], []),
        ("h*o", ["ho", "hello", "h*o"], ["hell", "ohello"]),
        ("h?llo", ["hello", "hallo"], ["hllo", "heello"]),
        ("h[ae]llo", ["hello", "hallo"], ["hillo", "hllo"]),
        ("h[^e]llo", ["hallo", "h^llo"], ["hello", "hllo"]),
        ("h[b-a]llo", ["hallo", "hbllo"], ["hcllo"]),
        (r"h\*o", ["h*o"], ["hello"]),
        (r"[\]x]", ["]", "x"], ["\\"]),
        ("[]]", [], ["]", "]]", ""]),
        ("[^]", ["a", "]"], [""]),
        ("[ab", ["a", "b"], ["[ab", "c"]),
        ("[a-", ["a", "-"], ["b"]),
        ("[a-]", ["a", "_"], ["-", "b"]),
        ("[", [], ["[", ""]),
        ("\\", ["\\"], [""]),
        ("**a**", ["a", "ba", "ab"], ["b", ""]),
        ("", [""], ["a"]),
        ("a", ["a"], ["A"]),
        ("?", ["é", "\U00010000"], ["ab"]),
    ],
)
def test_glob(pattern: str, fits: list[str], does_not: list[str]) -> None:
    assert [text for text in fits + does_not if matches(pattern, text)] == fits


def test_glob_of_bytes_goes_by_byte() -> None:
    assert matches(b"??", "é".encode())
    assert matches(b"[\x80-\xff][\x80-\xff]", "é".encode())
    assert not matches(b"?", "é".encode())


@given(pattern=st.text("ab*?", max_size=6), text=st.text("ab", max_size=6))
def test_glob_as_fnmatch_where_both_mean_the_same(pattern: str, text: str) -> None:
    assert matches(pattern, text) == bool(re.fullmatch(fnmatch.translate(pattern), text))


# ---- tables


def test_a_table_of_records() -> None:
    t = ModelHashTable.from_arrays(
        np.array(["ann", "bob", "ann"]), {"elo": np.array([1, 2, 3]), "games": [4, 5, 6]},
        value="int64",
    )  # fmt: skip
    assert t == {"ann": {"elo": 3, "games": 6}, "bob": {"elo": 2, "games": 5}}
    row = t["bob"]
    row["won"] = 1
    assert t["bob"].increment("elo", 10) == row["elo"] == 12
    assert list(zip(t, t.column("won").tolist(), strict=True)) == [("ann", -1), ("bob", 1)]
    assert t.pop("bob") == {"elo": 12, "games": 5, "won": 1}
    with pytest.raises(KeyError):
        row["elo"]
    t["bob"] = {}
    assert (len(row), len(t)) == (0, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.update({"x": {"f": "1"}, "y": {"f": 1}}),
        lambda t: t.update({"x": {"f": "1"}, b"y": {}}),
        lambda t: t["a"].update({"x": "1", "y": 1}),
        lambda t: t.__setitem__("a", {"f": None}),
        lambda t: t.column(b"f"),
    ],
)
def test_tables_refuse_as_a_whole(call: Any) -> None:
    t = ModelHashTable({"a": {"f": "0"}})
    with pytest.raises(TypeError):
        call(t)
    assert t == {"a": {"f": "0"}}
