"""SortedSet as a mutable mapping in rank order."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from goblin import SortedSet

CONTENT = {5: 2.0, -3: 1.0, 7: 2.0, 0: -0.5}
ORDERED = [(0, -0.5), (-3, 1.0), (5, 2.0), (7, 2.0)]
NO_MEMBERS = [
    "5",
    b"5",
    None,
    5.0,
    Decimal(5),
    True,
    (5,),
    2**63,
    -(2**63) - 1,
    2**200,
    6,
    np.True_,
]


@pytest.fixture
def z(make: Any) -> SortedSet:
    return make(CONTENT)


def test_reading(z: SortedSet) -> None:
    assert len(z) == 4
    assert z[5] == 2.0
    assert type(z[5]) is float
    assert z[np.int8(5)] == 2.0
    assert 5 in z
    assert z.get(5) == 2.0
    assert z.get(6) is None
    assert z.get(6, "none") == "none"
    assert bool(z)


def test_everything_is_in_rank_order(z: SortedSet) -> None:
    assert list(z) == [m for m, _ in ORDERED]
    assert list(reversed(z)) == [m for m, _ in ORDERED[::-1]]
    assert list(z.keys()) == [m for m, _ in ORDERED]
    assert list(z.values()) == [s for _, s in ORDERED]
    assert list(z.items()) == ORDERED
    assert list(z.to_dict().items()) == ORDERED
    assert all(type(m) is int and type(s) is float for m, s in z.items())


def test_views_are_live_sets(z: SortedSet) -> None:
    keys, values, items = z.keys(), z.values(), z.items()
    z[1] = 9.0
    assert (len(keys), len(values), len(items)) == (5, 5, 5)
    assert 1 in keys
    assert 9.0 in values
    assert (1, 9.0) in items
    assert (1, 8.0) not in items
    assert "1" not in keys
    assert keys & {1, 2} == {1}
    assert keys | {2} == {*CONTENT, 1, 2}
    assert keys - {1} == CONTENT.keys()


@pytest.mark.parametrize("absent", NO_MEMBERS, ids=repr)
def test_what_is_no_member_is_absent(z: SortedSet, absent: Any) -> None:
    assert absent not in z
    assert z.get(absent) is None
    assert z.get(absent, 1) == 1
    assert z.pop(absent, None) is None
    assert z.discard(absent) is False
    assert z.rank(absent, default=None) is None
    with pytest.raises(KeyError):
        z[absent]
    with pytest.raises(KeyError):
        del z[absent]
    with pytest.raises(KeyError):
        z.pop(absent)
    with pytest.raises(KeyError):
        z.rank(absent)
    assert z == CONTENT


def test_key_error_carries_the_member(z: SortedSet) -> None:
    with pytest.raises(KeyError) as caught:
        z[6]
    assert caught.value.args == (6,)


def test_writing(z: SortedSet) -> None:
    z[5] = -1
    z[9] = 2
    del z[7]
    assert list(z.items()) == [(5, -1.0), (0, -0.5), (-3, 1.0), (9, 2.0)]
    z._validate()


def test_pop_and_popitem_and_setdefault(z: SortedSet) -> None:
    assert z.pop(5) == 2.0
    assert 5 not in z
    assert z.popitem() == (0, -0.5)
    assert z.setdefault(7, 8.0) == 2.0
    assert z.setdefault(8, 8.0) == 8.0
    assert list(z.items()) == [(-3, 1.0), (7, 2.0), (8, 8.0)]
    z.clear()
    assert len(z) == 0
    assert list(z) == []
    with pytest.raises(KeyError):
        z.popitem()
    z._validate()


def test_usable_after_clear(z: SortedSet) -> None:
    z.clear()
    z.update(CONTENT)
    assert list(z.items()) == ORDERED


def test_equality_is_that_of_mappings(z: SortedSet) -> None:
    assert z == CONTENT
    assert z == CONTENT
    assert z == SortedSet(CONTENT, member="int32", score="float32")
    assert z == SortedSet(CONTENT, member="int64", compress=False)
    assert z != {**CONTENT, 1: 1.0}
    assert z != {**CONTENT, 5: 3.0}
    assert z != {m: s for m, s in CONTENT.items() if m != 5}
    assert z != ORDERED
    assert z != 1
    assert z != {str(m): s for m, s in CONTENT.items()}


def test_brackets_take_a_member_never_a_rank() -> None:
    z = SortedSet({10: 1.0, 20: 2.0}, member="int64")
    with pytest.raises(KeyError):
        z[0]
    with pytest.raises((KeyError, TypeError)):
        z[0:1]


def test_match_and_unpacking(z: SortedSet) -> None:
    match z:
        case {5: score}:
            assert score == 2.0
        case _:
            pytest.fail("a SortedSet matches as a mapping")
    assert {**z.to_dict()} == CONTENT
    assert dict(z) == CONTENT


def test_repr_names_the_type_and_stays_short(make: Any) -> None:
    assert "SortedSet" in repr(make())
    assert len(repr(make(range(10_000), 1.0))) < 1000
