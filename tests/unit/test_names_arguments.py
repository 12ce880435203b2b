"""Members that are str, bytes or UUIDs: every form that is taken, and all that is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from labels import label
from model import fixtures
from model.forms import FORMS, in_form
from model.kinds import STRINGS
from model.layouts import NAME_LAYOUTS, Layout

from goblin import SortedSet

SIZES = [0, 1, 5, 64, 65, 700]
RAW = bytes(range(0x80, 0x90))
ONE = UUID(bytes=RAW)
PLAIN = {"str": ["a", "b"], "bytes": [b"a", b"b"], "uuid": [UUID(int=1), UUID(int=2)]}
layout = fixtures.over(NAME_LAYOUTS)
per_kind = pytest.mark.parametrize("kind", PLAIN)


def of_kinds(**cases: list[Any]) -> Any:
    """Parametrizes (kind, case)."""
    listed = [(kind, case) for kind in cases for case in cases[kind]]
    return pytest.mark.parametrize(("kind", "case"), listed, ids=label)


FORM_CASES = of_kinds(**{kind: list(FORMS[type(PLAIN[kind][0])]) for kind in PLAIN})


class Text(str):
    """A str of its own, which a set must not keep."""

    __slots__ = ("note",)


@FORM_CASES
@pytest.mark.parametrize("size", SIZES)
def test_every_bulk_call_takes_every_form(kind: str, case: str, size: int) -> None:
    layout = Layout(kind, "float64")
    names = layout.series(size)

    def form(members: list[Any]) -> Any:
        return in_form(layout, case, members)

    z = SortedSet(form(names), 1.0, member=kind)
    assert list(z) == names
    z.increment_many(form(names + names[:3]), 2.0)
    assert z.scores(form(names)).tolist() == [5.0] * min(size, 3) + [3.0] * max(size - 3, 0)
    z.subtract(form(names[:3]), 2.0)
    assert z.ranks(form(names)).tolist() == list(range(size))
    assert z.update(form(layout.series(size + 2)), 3.0) == (2, 0, size + 2)
    other = SortedSet(member=kind)
    assert z.move(other, form(names[1:])) == max(size - 1, 0)
    assert list(other) == names[1:]
    absent = z.scores(form(names[1:]))
    assert np.isnan(absent).all()
    assert z.ranks(form(names[1:])).tolist() == [-1] * len(absent)
    assert other.remove(form(names)) == len(absent)
    for each in (z, other):
        each._validate()


@FORM_CASES
def test_from_counts_takes_every_form(kind: str, case: str) -> None:
    layout = Layout(kind, "float64")
    batch = in_form(layout, case, layout.series(5) + layout.series(2, 7))
    z = SortedSet.from_counts([batch, batch], member=kind)
    assert z.to_dict() == {layout.nth(i): 4.0 if 2 <= i < 5 else 2.0 for i in (0, 1, 5, 6, 2, 3, 4)}


def test_from_counts_of_members(layout: Layout) -> None:
    """A list of members is no list of batches, and tells its kind."""
    names = layout.series(4)
    expected = {m: 2.0 if m in names[:2] else 1.0 for m in [*names[2:], *names[:2]]}
    counted = [names + names[:2], layout.array(names + names[:2]), [names, names[:2]]]
    for values in (*counted, iter([names, layout.array(names[:2])])):
        z = SortedSet.from_counts(values)
        assert list(z.items()) == list(expected.items())
        assert z.member_dtype == layout.member


def test_other_iterables(make: Any, layout: Layout) -> None:
    names = layout.series(5)
    for members in (iter(names), dict.fromkeys(names), dict.fromkeys(names).keys(), (*names,)):
        assert make(members, 1.0).to_dict() == dict.fromkeys(names, 1.0)
    assert make(set(names), 1.0).remove(n for n in names) == 5
    pairs = [(name, 2.0) for name in names]
    for data in (
        pairs,
        dict(pairs),
        iter(pairs),
        map(list, pairs),
        make(pairs),
        make(pairs).top(5),
    ):
        assert make(data).to_dict() == dict(pairs)


@pytest.mark.parametrize("size", SIZES)
def test_series_of_data_frames(make: Any, layout: Layout, size: int) -> None:
    names = layout.series(size)
    series = [pd.Series(names, dtype=object)]
    if layout.kind is str:
        series += [pd.Series(names, dtype="string"), pl.Series(names, dtype=pl.String)]
    if layout.kind is bytes:
        series.append(pl.Series(names, dtype=pl.Binary))
    for each in series:
        z = make(each, 1.0)
        assert list(z) == names
        assert z.remove(each[1:3]) == max(min(size - 1, 2), 0)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ((), "str"),
        (({},), "str"),
        (([],), "str"),
        (([], 1.0), "str"),
        (({"a": 1.0},), "str"),
        (([("a", 1.0)],), "str"),
        ((["a"], 1.0), "str"),
        ((iter(["a"]), 1.0), "str"),
        ((np.array(["a"]), 1.0), "str"),
        ((np.array(["a"], dtype=STRINGS), 1.0), "str"),
        ((np.array(["a"], dtype=object), 1.0), "str"),
        ((pa.array(["a"]), 1.0), "str"),
        ((pa.chunked_array([["a"]]), 1.0), "str"),
        ((pl.Series(["a"]), 1.0), "str"),
        ((pd.Series(["a"]), 1.0), "str"),
        (({b"a": 1.0},), "bytes"),
        (([bytearray(b"a")], 1.0), "bytes"),
        ((np.array([b"a"]), 1.0), "bytes"),
        ((np.array([], dtype="S3"), 1.0), "bytes"),
        ((pa.array([b"a"], pa.large_binary()), 1.0), "bytes"),
        (({ONE: 1.0},), "uuid"),
        (([(ONE, 1.0)],), "uuid"),
        ((np.array([RAW], dtype="V16"), 1.0), "uuid"),
        ((np.zeros((3, 16), dtype=np.uint8), 1.0), "uuid"),
        ((pa.array([RAW], pa.uuid()), 1.0), "uuid"),
        (([str(ONE)], 1.0), "str"),
        (([5], 1.0), "int64"),
        (([np.int32(5)], 1.0), "int64"),
        ((np.array([5], dtype=np.int32), 1.0), "int32"),
        ((np.array([5], dtype=np.uint8), 1.0), "int64"),
    ],
    ids=label,
)
def test_kind_comes_from_the_data(data: tuple[Any, ...], kind: str) -> None:
    z = SortedSet(*data)
    assert z.member_dtype == kind
    assert z.score_dtype == "float64"
    assert SortedSet(z).member_dtype == kind
    assert SortedSet(z.top()).member_dtype == kind or not z  # no rows tell bytes from nothing


# ---- one member

LOOK_UPS: list[tuple[Callable[[Any, Any], Any], Any]] = [
    (lambda z, m: m in z, False),
    (lambda z, m: z.get(m), None),
    (lambda z, m: z.get(m, 5), 5),
    (lambda z, m: z.discard(m), False),
    (lambda z, m: z.pop(m, None), None),
    (lambda z, m: z.rank(m, default=None), None),
    (lambda z, m: m in z.keys(), False),  # noqa: SIM118
]
RAISING: list[Callable[[Any, Any], Any]] = [
    lambda z, m: z[m],
    lambda z, m: z.pop(m),
    lambda z, m: z.rank(m),
    lambda z, m: z.rank(m, method="average"),
    lambda z, m: z.around(m),
    lambda z, m: z.__delitem__(m),
]
WRITES: list[Callable[[Any, Any], Any]] = [
    lambda z, m: z.add(m, 1.0),
    lambda z, m: z.add(m, 1.0, mode="xx"),
    lambda z, m: z.__setitem__(m, 1.0),
    lambda z, m: z.setdefault(m, 1.0),
    lambda z, m: z.increment(m),
]
BULK_WRITES: list[Callable[[Any, Any], Any]] = [
    lambda z, ms: z.update(ms, 1.0),
    lambda z, ms: z.update([(m, 1.0) for m in ms]),
    lambda z, ms: z.increment_many(ms),
    lambda z, ms: z.subtract(ms, 1.0),
]
BULK_CALLS: list[Callable[[Any, Any], Any]] = [
    lambda z, ms: z.update(ms, 1.0),
    lambda z, ms: z.increment_many(ms),
    lambda z, ms: z.subtract(ms, 1.0),
    lambda z, ms: z.remove(ms),
    lambda z, ms: z.scores(ms),
    lambda z, ms: z.ranks(ms),
    lambda z, ms: z.move(SortedSet(member=z.member_dtype), ms),
]
NOT_TEXT = [None, 1, 1.0, True, np.int64(1), (), ("a",), object(), 10**400, math.nan]
SURROGATES = ["\ud800", "\udc80", "a\udfff", "é\ud83d", "x" * 300 + "\ud800"]
NO_UUID_TEXT = ["", "a", str(ONE)[:-1], str(ONE) + "0", "g" * 32, "é" * 32, "\0" * 32]
STRANGERS = {
    "str": [(m, TypeError) for m in [*NOT_TEXT, b"a", bytearray(b"a"), np.bytes_(b"a"), ONE]]
    + [(m, UnicodeEncodeError) for m in SURROGATES],
    "bytes": [(m, TypeError) for m in [*NOT_TEXT, "a", np.str_("a"), ONE, [98]]],
    "uuid": [(m, TypeError) for m in [*NOT_TEXT, RAW, bytearray(RAW), memoryview(RAW), ONE.int]]
    + [(m, ValueError) for m in [*NO_UUID_TEXT, *SURROGATES]],
}


def filled(kind: str) -> tuple[SortedSet, dict[Any, float]]:
    content = dict.fromkeys(PLAIN[kind], 1.0)
    return SortedSet(content, member=kind), content


@of_kinds(**STRANGERS)
def test_what_can_be_no_member_is_absent(kind: str, case: tuple[Any, type[Exception]]) -> None:
    z, content = filled(kind)
    for look_up, answer in LOOK_UPS:
        assert look_up(z, case[0]) == answer
    for call in RAISING:
        with pytest.raises(KeyError):
            call(z, case[0])
    assert z == content
    z._validate()


@of_kinds(**STRANGERS)
def test_what_can_be_no_member_is_not_written(kind: str, case: tuple[Any, type[Exception]]) -> None:
    member, error = case
    z, content = filled(kind)
    new = Layout(kind, "float64").series(100)
    for write in WRITES:
        with pytest.raises(error):
            write(z, member)
    for bulk in BULK_CALLS + BULK_WRITES:
        for members in ([member], [*new, member], [member, *new], (*PLAIN[kind], member)):
            with pytest.raises(error):
                bulk(z, members)
    with pytest.raises(error):
        SortedSet([*new, member], 1.0, member=kind)
    assert z == content
    z._validate()


@per_kind
def test_unhashable_and_evil_members(kind: str) -> None:
    class Evil:
        def __index__(self) -> int:
            raise AssertionError("nobody asks it")

        __str__ = __bytes__ = __hash__ = __index__  # type: ignore[assignment]

    z, content = filled(kind)
    for member in ([], {}, [1], Evil()):
        assert member not in z
        assert z.get(member) is None
        with pytest.raises(TypeError):
            z.add(member, 1.0)
    assert z == content


class TestStrAndBytesNeverMix:
    def test_neither_finds_the_other(self) -> None:
        text, raw = SortedSet({"a": 1.0}), SortedSet({b"a": 1.0})
        assert text != raw
        assert b"a" not in text
        assert "a" not in raw
        assert text != {b"a": 1.0}
        assert raw != {"a": 1.0}

    @pytest.mark.parametrize(
        "write",
        [
            lambda a, b: a.update(b),
            lambda a, b: a.subtract(b),
            lambda a, b: a.merge(b),
            lambda a, b: a.move(b, list(a)),
            lambda a, b: a.update(b.top(5)),
            lambda a, b: a.update(*b.to_numpy()),
            lambda a, b: a.update(b.to_dict()),
            lambda a, b: SortedSet(b, member=a.member_dtype),
        ],
    )
    @pytest.mark.parametrize("kinds", ["str bytes", "bytes str", "uuid bytes", "int64 str"])
    def test_sets_of_two_kinds(self, write: Callable[[Any, Any], Any], kinds: str) -> None:
        first, second = kinds.split()
        a = SortedSet({Layout(first, "float64").nth(5): 1.0}, member=first)
        b = SortedSet({Layout(second, "float64").nth(5): 2.0}, member=second)
        before = a.to_dict(), b.to_dict()
        with pytest.raises(TypeError):
            write(a, b)
        assert (a.to_dict(), b.to_dict()) == before


def test_subclasses_of_str_become_plain() -> None:
    z = SortedSet(member="str")
    for i, member in enumerate((Text("own"), np.str_("numpy"))):
        z.add(member, i)
        z.increment_many([member])
        assert member in z
    assert z == {"own": 1.0, "numpy": 2.0}
    assert [type(member) for member in z] == [str, str]


def test_buffers_are_copied_and_given_back() -> None:
    z = SortedSet(member="bytes")
    buffer = bytearray(b"abc")
    z.add(buffer, 1.0)
    z.increment_many([buffer, memoryview(buffer), memoryview(b"xabcx")[1:4]], 1.0)
    buffer[0] = ord("z")
    assert z == {b"abc": 4.0}
    assert buffer not in z
    assert memoryview(b"abc") in z
    assert np.bytes_(b"abc") in z
    z.scores([buffer])
    buffer.extend(b"no export is left")


UUID_SPELLINGS = [
    ONE,
    str(ONE),
    str(ONE).upper(),
    ONE.hex,
    ONE.urn,
    f"{{{ONE}}}",
    f"urn:uuid:{{{ONE.hex}}}",
    "-".join(ONE.hex),
    np.str_(ONE.hex),
    Text(ONE.hex),
]


@pytest.mark.parametrize("spelling", UUID_SPELLINGS, ids=repr)
def test_uuids_in_any_spelling(spelling: Any) -> None:
    z = SortedSet(member="uuid")
    assert z.add(spelling, 1.0)
    assert not z.add(ONE, 1.0)
    assert z.increment(spelling) == 2.0
    z.increment_many([spelling, ONE], 1.0)
    assert z[spelling] == z.get(spelling) == 4.0
    assert spelling in z
    assert z.rank(spelling) == 0
    assert z.scores([spelling]).tolist() == [4.0]
    assert list(z) == [ONE]
    assert z.discard(spelling)


def test_uuids_that_python_takes_are_taken() -> None:
    """Odd ones as well: int(text, 16) is what reads them."""
    odd = ["0x" + ONE.hex[:30], ONE.hex[:15] + "_" + ONE.hex[16:], " " + ONE.hex[:30] + " "]
    for text in odd:
        z = SortedSet({text: 1.0}, member="uuid")
        assert list(z) == [UUID(text)]
        assert text in z


# ---- many members

GRID = np.array([["a", "b"], ["c", "d"]])
NUMBERS = [
    (np.array([1, 2]), TypeError),
    (np.array([1.0]), TypeError),
    (np.array([], dtype=np.float64), TypeError),
    (np.array([True]), TypeError),
    (np.array([1], dtype="M8[s]"), TypeError),
    (np.array([(1, 2)], dtype="i4,i4"), TypeError),
    (np.array([1, "a"], dtype=object), TypeError),
    (np.array(5), (TypeError, ValueError)),
    (5, TypeError),
    (None, TypeError),
    (pa.array([1, 2]), TypeError),
    (pa.array([1.5]), TypeError),
    (pa.array([True]), TypeError),
    (pl.Series([1, 2]), TypeError),
    ([["a", "b"]], TypeError),
]
NA_TEXTS = [np.array(["a", na], dtype=np.dtypes.StringDType(na_object=na)) for na in (None, np.nan)]
BAD_UTF8 = pa.Array.from_buffers(
    pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 3], np.int32)), pa.py_buffer(b"a\xc3(")]
)
BAD_BULK: dict[str, list[Any]] = {
    "str": [
        *NUMBERS,
        *((array, ValueError) for array in NA_TEXTS),
        (np.array([b"a"]), TypeError),
        (np.array(["a", None], dtype=object), TypeError),
        (np.array([RAW], dtype="V16"), TypeError),
        (GRID, ValueError),
        (GRID.astype(object), ValueError),
        (GRID.astype(STRINGS), ValueError),
        (np.array("a"), ValueError),
        (np.array(["a", "\ud800"]), UnicodeEncodeError),
        (np.array(["a", "\ud800"], dtype=object), UnicodeEncodeError),
        (np.ma.array(["a", "b"], mask=[False, True]), ValueError),
        (pa.array(["a", None]), ValueError),
        (pa.array(["a", None], pa.string_view()), ValueError),
        (pa.chunked_array([["a"], [None]]), ValueError),
        (pl.Series(["a", None]), ValueError),
        (pa.array([b"a"]), TypeError),
        (BAD_UTF8, ValueError),
        ("ab", TypeError),
        (b"ab", TypeError),
        (Text("ab"), TypeError),
    ],
    "bytes": [
        *NUMBERS,
        (np.array(["a"]), TypeError),
        (np.array(["a"], dtype=STRINGS), TypeError),
        (np.array([b"a", "b"], dtype=object), TypeError),
        (np.array([RAW], dtype="V16"), TypeError),
        (GRID.astype("S"), ValueError),
        (np.ma.array([b"a", b"b"], mask=[False, True]), ValueError),
        (pa.array([b"a", None]), ValueError),
        (pa.array(["a"]), TypeError),
        (pl.Series([b"a", None]), ValueError),
        ("ab", TypeError),
        (b"ab", TypeError),
        (bytearray(b"ab"), TypeError),
    ],
    "uuid": [
        *NUMBERS,
        (np.array([RAW]), TypeError),
        (np.array([RAW], dtype=object), TypeError),
        (np.array([RAW[:15]], dtype="V15"), TypeError),
        (np.array([RAW], dtype="V16").reshape(1, 1), ValueError),
        (np.zeros((2, 15), dtype=np.uint8), (TypeError, ValueError)),
        (np.zeros((2, 16), dtype=np.int8), (TypeError, ValueError)),
        (np.zeros(16, dtype=np.uint8), TypeError),
        (np.zeros((2, 2, 16), dtype=np.uint8), (TypeError, ValueError)),
        (pa.array([RAW[:15]], pa.binary(15)), TypeError),
        (pa.array([RAW, None], pa.binary(16)), ValueError),
        (pa.array([RAW, None], pa.uuid()), ValueError),
        (pa.array([RAW[:15]]), ValueError),
        (str(ONE), TypeError),
        (RAW, TypeError),
        (ONE, TypeError),
    ],
}


@of_kinds(**BAD_BULK)
@pytest.mark.parametrize("call", BULK_CALLS)
def test_bulk_calls_refuse(kind: str, case: Any, call: Callable[[Any, Any], Any]) -> None:
    members, error = case
    z, content = filled(kind)
    with pytest.raises(error):
        call(z, members)
    assert z == content
    z._validate()


@pytest.mark.parametrize(
    ("kind", "members", "hint"),
    [
        ("str", "ab", "list"),
        ("bytes", b"ab", "list"),
        ("uuid", str(ONE), "list"),
        ("uuid", np.array([RAW]), "V16"),
    ],
)
def test_hints(kind: str, members: Any, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        SortedSet(member=kind).increment_many(members)


@per_kind
@pytest.mark.parametrize(
    "scores", [[1.0], [1.0, math.nan], [1.0, "2"], np.ones(3), np.ones((2, 1)), math.nan, "12"]
)
def test_scores_that_do_not_fit(kind: str, scores: Any) -> None:
    z, content = filled(kind)
    new = Layout(kind, "float64").series(1000, 1002)
    for call in (z.update, z.increment_many, z.subtract):
        with pytest.raises((ValueError, TypeError)):
            call(new, scores)
    assert z == content
    z._validate()


@per_kind
def test_float32_overflow_changes_nothing(kind: str) -> None:
    content = dict.fromkeys(PLAIN[kind], 3e38)
    z = SortedSet(content, member=kind, score="float32")
    before = z.digest()
    new = Layout(kind, "float32").series(1000, 1100)
    for call in (
        lambda: z.update([*new, PLAIN[kind][0]], [*[1.0] * 100, 1e39]),
        lambda: z.increment_many([*new, *PLAIN[kind]], 3e38),
        lambda: z.increment(PLAIN[kind][0], 3e38),
        lambda: z.scale(2),
    ):
        with pytest.raises(OverflowError):
            call()
    assert z.digest() == before
    z._validate()


def test_numpy_cuts_trailing_nuls_of_u_and_s() -> None:
    for kind, array, member in (
        ("str", np.array(["a\0", "b\0c\0\0"]), ["a", "b\0c"]),
        ("bytes", np.array([b"a\0", b"b\0c\0\0"]), [b"a", b"b\0c"]),
    ):
        assert SortedSet(array, 1.0).member_dtype == kind
        assert list(SortedSet(array, 1.0)) == array.tolist() == member


@of_kinds(str=[1, 12, 13, 255, 256, 70_000], bytes=[1, 12, 13, 255, 256, 70_000])
def test_lengths(kind: str, case: int) -> None:
    layout = Layout(kind, "float64")
    letters = ["x", "é", "\U00010000", "\0"]
    names = [letter * case + "end" for letter in letters]
    names = names if layout.kind is str else [name.encode() for name in names]
    for form in FORMS[layout.kind]:
        z = SortedSet(in_form(layout, form, names), range(4), member=kind)
        assert list(z) == names
        assert z.scores(in_form(layout, form, names)).tolist() == [0.0, 1.0, 2.0, 3.0]
        z._validate()


@pytest.mark.parametrize("pairs", [{"a": 1.0, "b": 2.0}, {7: 1.0, 8: 2.0}])
def test_arrays_of_pairs_are_no_uuids(pairs: dict[Any, float]) -> None:
    z = SortedSet(pairs)
    assert SortedSet(np.array(list(pairs.items()), dtype=object)) == z
    assert SortedSet(np.asarray(z)) == z
