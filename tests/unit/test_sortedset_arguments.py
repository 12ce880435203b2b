"""Bad input: one clear exception, nothing changed, nothing lost; and odd input that is fine."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from model.layouts import Layout

from goblin import PrecisionWarning, SortedSet

NAN = math.nan
CONTENT = {1: 1.0, 2: math.inf, 3: 0.0}


class Index:
    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Real:
    def __float__(self) -> float:
        return 2.5


@pytest.fixture
def z(make: Any) -> SortedSet:
    return make(CONTENT)


NOT_MEMBERS = [
    (True, TypeError),
    (1.0, TypeError),
    (np.float64(1), TypeError),
    (Decimal(1), TypeError),
    (Fraction(1), TypeError),
    ("1", TypeError),
    (b"1", TypeError),
    (None, TypeError),
    (1j, TypeError),
    (np.True_, TypeError),
    (2**63, OverflowError),
    (-(2**63) - 1, OverflowError),
    (10**400, OverflowError),
    (np.uint64(2**64 - 1), OverflowError),
]
NOT_SCORES = [
    (NAN, ValueError),
    (np.float32(NAN), ValueError),
    (Decimal("nan"), ValueError),
    ("1", TypeError),
    (b"1", TypeError),
    (None, TypeError),
    (1j, TypeError),
    ([1.0], TypeError),
    (10**400, OverflowError),
]


@pytest.mark.parametrize(("member", "error"), NOT_MEMBERS, ids=repr)
@pytest.mark.parametrize(
    "write",
    [
        lambda z, m: z.add(m, 1.0),
        lambda z, m: z.__setitem__(m, 1.0),
        lambda z, m: z.setdefault(m, 1.0),
        lambda z, m: z.increment(m),
        lambda z, m: z.update([(7, 1.0), (m, 1.0)]),
        lambda z, m: z.update([7, m], [1.0, 1.0]),
        lambda z, m: z.update({7: 1.0, m: 1.0}),
        lambda z, m: z.increment_many([7, m]),
        lambda z, m: z.increment_many((7, m), 1.0),
        lambda z, m: z.subtract([7, m], 1.0),
    ],
)
def test_writes_refuse_what_is_no_member(
    z: SortedSet, write: Callable[[Any, Any], Any], member: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        write(z, member)
    assert z == CONTENT
    z._validate()


@pytest.mark.parametrize(("score", "error"), NOT_SCORES, ids=lambda value: repr(value)[:30])
@pytest.mark.parametrize(
    "write",
    [
        lambda z, s: z.add(9, s),
        lambda z, s: z.add(1, s, mode="xx"),
        lambda z, s: z.__setitem__(9, s),
        lambda z, s: z.increment(9, s),
        lambda z, s: z.increment(1, s),
        lambda z, s: z.update([(9, 1.0), (8, s)]),
        lambda z, s: z.update([9, 8], [1.0, s]),
        lambda z, s: z.update({9: 1.0, 8: s}),
        lambda z, s: z.increment_many([9, 8], [1.0, s]),
        lambda z, s: z.subtract({9: 1.0, 8: s}),
        lambda z, s: z.scale(s),
        lambda z, s: z.shift(s),
        lambda z, s: z.decay(s, 1),
        lambda z, s: z.decay(1, s),
    ],
)
def test_writes_refuse_what_is_no_score(
    z: SortedSet, write: Callable[[Any, Any], Any], score: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        write(z, score)
    assert z == CONTENT
    z._validate()


@pytest.mark.parametrize(("bound", "error"), NOT_SCORES[:4], ids=repr)
@pytest.mark.parametrize(
    "read",
    [
        lambda z, b: z.count(b, 1),
        lambda z, b: z.count(1, b),
        lambda z, b: z.sum(b, 1),
        lambda z, b: z.range_by_score(b),
        lambda z, b: z.range_by_score(hi=b),
        lambda z, b: z.remove_by_score(b, 1),
        lambda z, b: z.percentile_of(b),
    ],
)
def test_bounds_refuse_what_is_no_score(
    z: SortedSet, read: Callable[[Any, Any], Any], bound: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        read(z, bound)
    assert z == CONTENT


BULK_MEMBERS = [
    lambda z, ids: z.update(ids, 1.0),
    lambda z, ids: z.increment_many(ids),
    lambda z, ids: z.subtract(ids, 1.0),
    lambda z, ids: z.remove(ids),
    lambda z, ids: z.scores(ids),
    lambda z, ids: z.ranks(ids),
    lambda z, ids: z.move(SortedSet(member="int64"), ids),
]


@pytest.mark.parametrize("call", BULK_MEMBERS)
@pytest.mark.parametrize(
    ("ids", "error"),
    [
        (np.array([1.0, 2.0]), TypeError),
        (np.array([1.5]), TypeError),
        (np.array([NAN]), TypeError),
        (np.array([], dtype=np.float64), TypeError),
        (np.array([True, False]), TypeError),
        (np.array(["1", "2"]), TypeError),
        (np.array([b"1"]), TypeError),
        (np.array([1, 2], dtype="M8[s]"), TypeError),
        (np.array([1, 2], dtype="m8[s]"), TypeError),
        (np.array([1j]), TypeError),
        (np.array([(1, 2)], dtype="i4,i4"), TypeError),
        (np.array([1, "2"], dtype=object), TypeError),
        (np.array([[1, 2], [3, 4]]), ValueError),
        (np.zeros((1, 1, 1), dtype=np.int32), ValueError),
        ("12", TypeError),
        (b"12", TypeError),
        (5, TypeError),
        (None, TypeError),
        ([1, "2"], TypeError),
        ([1, 2.0], TypeError),
        ([1, True], TypeError),
        ([[1, 2], [3, 4]], TypeError),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_bulk_calls_refuse_what_are_no_members(
    z: SortedSet, call: Callable[[Any, Any], Any], ids: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        call(z, ids)
    assert z == CONTENT
    z._validate()


@pytest.mark.parametrize(
    "call",
    [
        lambda z, s: z.update([7, 8], s),
        lambda z, s: z.increment_many([7, 8], s),
        lambda z, s: z.subtract([7, 8], s),
    ],
)
@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([1.0], ValueError),
        ([1.0, 2.0, 3.0], ValueError),
        ([], ValueError),
        (np.ones(3), ValueError),
        (np.ones((2, 1)), ValueError),
        (np.ones((1, 2)), ValueError),
        (np.array([1.0, NAN]), ValueError),
        (np.array([NAN, 1.0], dtype=np.float32), ValueError),
        (np.array(["1", "2"]), TypeError),
        (np.array([1j, 2j]), TypeError),
        (np.array([1, 2], dtype="M8[s]"), TypeError),
        ("12", TypeError),
        (b"12", TypeError),
        (["1", "2"], TypeError),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_bulk_calls_refuse_what_are_no_scores(
    z: SortedSet, call: Callable[[Any, Any], Any], values: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        call(z, values)
    assert z == CONTENT
    z._validate()


def test_text_where_members_are_wanted_gets_a_hint(z: SortedSet) -> None:
    with pytest.raises(TypeError) as caught:
        z.remove("12")
    assert len(str(caught.value)) > 20


@pytest.mark.parametrize("data", [[1, 2, 3], [(1,)], [(1, 2, 3)], 5, [None]], ids=repr)
def test_update_without_scores_needs_pairs(z: SortedSet, data: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        z.update(data)
    with pytest.raises((TypeError, ValueError)):
        SortedSet(data, member="int64")
    assert z == CONTENT


@pytest.mark.parametrize("count", [-1, -(2**63), -(10**30)])
@pytest.mark.parametrize(
    "call",
    [
        lambda z, n: z.top(n),
        lambda z, n: z.bottom(n),
        lambda z, n: z.most_common(n),
        lambda z, n: z.pop_min(n),
        lambda z, n: z.pop_max(n),
        lambda z, n: z.trim(n),
        lambda z, n: z.around(1, n),
        lambda z, n: z.sample(n),
        lambda z, n: z.sample(n, replace=True),
        lambda z, n: z.page(n),
        lambda z, n: z.range_by_score(offset=n),
        lambda z, n: z.range_by_score(limit=n),
    ],
)
def test_negative_counts_are_value_errors(
    z: SortedSet, call: Callable[[Any, int], Any], count: int
) -> None:
    with pytest.raises(ValueError):
        call(z, count)
    assert z == CONTENT


@pytest.mark.parametrize("count", [1.0, "1", None, b"1"], ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda z, n: z.top(n),
        lambda z, n: z.trim(n),
        lambda z, n: z.around(1, n),
        lambda z, n: z.sample(n),
        lambda z, n: z.page(n),
        lambda z, n: z.remove_by_rank(n, 2),
        lambda z, n: z.range_by_score(offset=n),
    ],
)
def test_counts_are_integers(z: SortedSet, call: Callable[[Any, Any], Any], count: Any) -> None:
    with pytest.raises(TypeError):
        call(z, count)
    assert z == CONTENT


@pytest.mark.parametrize("count", [2**31, 2**63 - 1, 2**63, 10**30])
def test_huge_counts_mean_everything(z: SortedSet, count: int) -> None:
    assert len(z.top(count)) == 3
    assert len(z.bottom(count)) == 3
    assert len(z.around(1, count)) == 3
    assert len(z.page(count).rows) == 3
    assert len(z.range_by_score(limit=count)) == 3
    assert len(z.range_by_score(offset=count)) == 0
    assert len(z.range_by_score(offset=count, limit=count)) == 0
    assert z.trim(count) == 0
    assert len(z.copy().pop_max(count)) == 3
    with pytest.raises(ValueError):
        z.sample(count)


@pytest.mark.parametrize(
    "call",
    [
        lambda z: z.add(1, 1.0, mode="ch"),
        lambda z: z.update([(1, 1.0)], mode=""),
        lambda z: z.update(mode="nx_gt"),
        lambda z: z.move(SortedSet(member="int64"), [1], mode="incr"),
        lambda z: z.rank(1, method="first"),
        lambda z: z.ranks([1], method="ordinals"),
        lambda z: z.count(closed="neither"),
        lambda z: z.range_by_score(closed="open"),
        lambda z: z.remove_by_score(0, 1, closed=""),
        lambda z: z.top(ties="keep"),
        lambda z: z.bottom(ties=""),
        lambda z: z.trim(1, keep="best"),
        lambda z: z.percentile_of(1.0, kind="max"),
        lambda z: z.quantile(0.5, method="cubic"),
        lambda z: z.merge(z.copy(), aggregate="avg"),
        lambda z: z.quantile(1.5),
        lambda z: z.quantile(-0.1),
        lambda z: z.quantile(NAN),
        lambda z: z.histogram(0),
        lambda z: z.by_rank[::0],
    ],
)
def test_unknown_words_and_impossible_numbers(z: SortedSet, call: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError):
        call(z)
    assert z == CONTENT


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">i4", ">u8"]
)
def test_integer_arrays_of_any_width(make: Any, dtype: str) -> None:
    ids = np.array([1, 2, 100, 2], dtype=dtype)
    z = make()
    z.increment_many(ids)
    assert z == {1: 1.0, 2: 2.0, 100: 1.0}
    assert z.scores(ids).tolist() == [1.0, 2.0, 1.0, 2.0]
    assert z.ranks(ids).tolist() == [0, 2, 1, 2]
    assert z.remove(ids) == 3


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", ">f4", ">f8", "i1", "u2", "i4", ">i4", "u8", "O"]
)
def test_score_arrays_of_any_width(make: Any, dtype: str) -> None:
    values = np.array([1, 2, 100], dtype=dtype)
    z = make([1, 2, 3], values)
    assert z == {1: 1.0, 2: 2.0, 3: 100.0}
    z.increment_many([1, 2, 3], values)
    assert z == {1: 2.0, 2: 4.0, 3: 200.0}


def test_numbers_of_other_kinds(make: Any) -> None:
    z = make()
    z.add(Index(5), Real())
    z.add(np.int16(6), Fraction(1, 2))
    z.add(7, Decimal("0.25"))
    z.increment(8, np.float32(1.5))
    z.update([Index(9)], [Real()])
    assert z == {5: 2.5, 6: 0.5, 7: 0.25, 8: 1.5, 9: 2.5}
    assert z[Index(5)] == 2.5
    assert Index(5) in z


def test_ends_of_the_range(make: Any, layout: Layout) -> None:
    ends = [layout.lowest, layout.highest, 0, -1]
    z = make(ends, 1.0)
    assert list(z) == sorted(ends)
    assert z.scores(np.array(ends)).tolist() == [1.0] * 4
    for beyond in (layout.lowest - 1, layout.highest + 1):
        with pytest.raises(OverflowError):
            z.add(beyond, 1.0)
        with pytest.raises(OverflowError):
            z.increment_many([0, beyond])
        assert beyond not in z
    assert z == dict.fromkeys(ends, 1.0)
    z._validate()


@pytest.mark.parametrize("call", [lambda z, ids: z.scores(ids), lambda z, ids: z.ranks(ids)])
@pytest.mark.parametrize("beyond", [2**31, 2**32 + 1, -(2**32) + 2])
def test_bulk_look_ups_never_wrap(beyond: int, call: Callable[[Any, Any], Any]) -> None:
    """2**32 + 1 must not find member 1 of an int32 set: absent, or refused."""
    z = SortedSet({1: 1.0, 2: 2.0, -(2**31): 3.0}, member="int32")
    for ids in (np.array([beyond]), [beyond]):
        try:
            found = call(z, ids)
        except OverflowError:
            continue
        assert math.isnan(found[0]) or found[0] == -1


@pytest.mark.parametrize("ids", [np.array(3), np.array([3])[0]])
def test_a_zero_dimensional_array_is_no_list_of_members(z: SortedSet, ids: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        z.increment_many(ids)
    assert z == CONTENT


CALLS = [
    (lambda z: z.add(1, 9), lambda z: z.add(1, 9, mode="set")),
    (lambda z: z.increment(1), lambda z: z.increment(1, 1.0)),
    (lambda z: z.increment(1, by=2), lambda z: z.increment(1, 2)),
    (lambda z: z.increment_many([1], 2), lambda z: z.increment_many([1], by=2)),
    (lambda z: z.count(0, 1), lambda z: z.count(lo=0, hi=1)),
    (lambda z: z.count(0, hi=1), lambda z: z.count(hi=1, lo=0)),
    (lambda z: z.range_by_score(0, 1), lambda z: z.range_by_score(hi=1, lo=0)),
    (lambda z: z.range_by_score(1), lambda z: z.range_by_score(lo=1, closed="both")),
    (lambda z: z.top(2), lambda z: z.top(n=2, ties="cut")),
    (lambda z: z.top(), lambda z: z.top(10)),
    (lambda z: z.bottom(2), lambda z: z.bottom(n=2)),
    (lambda z: z.most_common(2), lambda z: z.most_common(n=2)),
    (lambda z: z.pop_min(2), lambda z: z.pop_min(n=2)),
    (lambda z: z.pop_max(None), lambda z: z.pop_max()),
    (lambda z: z.rank(1), lambda z: z.rank(1, method="ordinal", descending=False)),
    (lambda z: z.around(1, 1), lambda z: z.around(1, n=1)),
    (lambda z: z.trim(1), lambda z: z.trim(n=1, keep="top")),
    (lambda z: z.remove_by_rank(0, 1), lambda z: z.remove_by_rank(start=0, stop=1)),
    (lambda z: z.remove_by_score(0, 1), lambda z: z.remove_by_score(lo=0, hi=1)),
    (lambda z: z.page(2).rows, lambda z: z.page(size=2, after=None).rows),
    (lambda z: z.get(9, 1), lambda z: z.get(9, default=1)),
    (lambda z: z.pop(9, 1), lambda z: z.pop(9, default=1)),
    (lambda z: z.sum(0, 1), lambda z: z.sum(lo=0, hi=1)),
    (lambda z: z.percentile_of(1), lambda z: z.percentile_of(score=1, kind="rank")),
    (lambda z: z.decay(1, 1), lambda z: z.decay(half_life=1, elapsed=1)),
    (lambda z: z.scale(2), lambda z: z.scale(factor=2)),
    (lambda z: z.shift(2), lambda z: z.shift(delta=2)),
]


@pytest.mark.parametrize(("one", "other"), CALLS)
def test_positional_and_keyword_shapes(
    make: Any, one: Callable[[Any], Any], other: Callable[[Any], Any]
) -> None:
    a, b = make({1: 1.0, 2: 2.0, 3: 0.5}), make({1: 1.0, 2: 2.0, 3: 0.5})
    assert one(a) == other(b)
    assert a == b


@pytest.mark.parametrize(
    "call",
    [
        lambda z: z.add(1),
        lambda z: z.add(1, 2, "nx"),
        lambda z: z.add(1, 2, mode="nx", colour="red"),
        lambda z: z.increment(),
        lambda z: z.increment(1, 2, 3),
        lambda z: z.increment(1, by=2, of=3),
        lambda z: z.increment(1, 2, by=2),
        lambda z: z.increment_many([1], 1.0, True),
        lambda z: z.rank(1, "min"),
        lambda z: z.top(1, "all"),
        lambda z: z.count(0, 1, "both"),
        lambda z: z.range_by_score(0, 1, "both"),
        lambda z: z.trim(1, "top"),
        lambda z: z.get(),
        lambda z: z.get(1, 2, 3),
        lambda z: z.discard(),
        lambda z: z.clear(1),
        lambda z: len(z, 1),
    ],
)
def test_wrong_call_shapes(z: SortedSet, call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        call(z)
    assert z == CONTENT


def test_masked_entries_are_refused() -> None:
    masked = np.ma.array([1, 2, 3], mask=[False, True, False])
    z = SortedSet(CONTENT)
    for call in (
        lambda: z.increment_many(masked),
        lambda: z.remove(masked),
        lambda: z.update([1, 2, 3], masked),
        lambda: z.increment_many([1], np.ma.masked),
        lambda: SortedSet.from_counts(masked),
    ):
        with pytest.raises(ValueError, match="masked"):
            call()
    assert z == CONTENT
    assert list(SortedSet(masked.compressed(), 1.0)) == [1, 3]
    assert z.remove(np.ma.array([1, 2])) == 2


@pytest.mark.parametrize("score", [np.int64(2**53 + 1), np.uint64(2**63 + 1)])
def test_integers_of_numpy_warn_as_those_of_python_do(score: Any) -> None:
    z = SortedSet(member="int64")
    with pytest.warns(PrecisionWarning):
        z[1] = score
    with pytest.warns(PrecisionWarning):
        z.update([2], [score])
    assert z == {1: float(score), 2: float(score)}


def test_an_array_of_one_large_float_is_no_integer() -> None:
    z = SortedSet(member="int64")
    z[1] = np.array(1e300)
    assert z == {1: 1e300}
