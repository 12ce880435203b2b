"""Making a SortedSet: every kind of data, the options, and what is taken from the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np
import pytest
from model.layouts import Layout

import goblin
from goblin import SortedSet

PAIRS = [(5, 2.0), (-3, 1.0), (7, 2.0)]
ORDERED = [(-3, 1.0), (5, 2.0), (7, 2.0)]
IDS = np.array([5, -3, 7])
SCORES = np.array([2.0, 1.0, 2.0])


@pytest.mark.parametrize(
    "data",
    [
        (PAIRS,),
        (dict(PAIRS),),
        (iter(PAIRS),),
        (tuple(PAIRS),),
        ([list(pair) for pair in PAIRS],),
        ([5, -3, 7], [2, 1, 2]),
        (IDS, SCORES),
        (IDS.astype(np.int8), SCORES.astype(np.float32)),
        (IDS.astype(object), SCORES.tolist()),
        (iter([5, -3, 7]), iter([2.0, 1.0, 2.0])),
        (SortedSet(PAIRS, member="int64"),),
        (SortedSet(PAIRS, member="int32", score="float32"),),
    ],
    ids=lambda data: "-".join(type(part).__name__ for part in data),
)
def test_kinds_of_data(layout: Layout, data: tuple[Any, ...]) -> None:
    if isinstance(data[0], Iterator):  # the other layouts must not find it used up
        data = tuple(map(iter, (PAIRS,) if len(data) == 1 else ([5, -3, 7], [2.0, 1.0, 2.0])))
    z = SortedSet(*data, **layout.options)
    assert list(z.items()) == ORDERED
    assert z.layout == str(layout)
    z._validate()


def test_a_scalar_score_is_broadcast(make: Any) -> None:
    assert make(IDS, 4) == {5: 4.0, -3: 4.0, 7: 4.0}


def test_the_last_of_repeated_members_wins(make: Any) -> None:
    assert make([(1, 1.0), (2, 5.0), (1, 3.0)]) == {1: 3.0, 2: 5.0}


def test_layout_names(make: Any, layout: Layout) -> None:
    z = make()
    assert z.layout == f"{layout.member}-{layout.score}"
    assert (z.member_dtype, z.score_dtype) == layout
    assert len(z) == 0
    assert not z


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ((np.array([1], dtype=np.int32), 1.0), "int32"),
        ((np.array([1], dtype=np.int64), 1.0), "int64"),
        (([(1, 1.0)],), "int64"),
        (({1: 1.0},), "int64"),
    ],
)
def test_member_kind_comes_from_the_data(data: tuple[Any, ...], kind: str) -> None:
    assert SortedSet(*data).member_dtype == kind
    assert SortedSet(*data).score_dtype == "float64"


def test_a_set_hands_on_its_layout_unless_told_otherwise(make: Any, layout: Layout) -> None:
    z = make(PAIRS)
    assert SortedSet(z).layout == str(layout)
    assert SortedSet(z, member="int64").layout == f"int64-{layout.score}"
    assert SortedSet(z, score="float64").layout == f"{layout.member}-float64"


@pytest.mark.parametrize(
    "options",
    [
        {"member": "int16"},
        {"member": "float64"},
        {"member": "int64", "score": "float16"},
        {"member": "int64", "merge_exponent": -0.1},
        {"member": "int64", "merge_exponent": 1.1},
        {"member": "int64", "merge_exponent": float("nan")},
    ],
)
def test_unknown_options_are_value_errors(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        SortedSet(**options)


def test_data_is_positional_and_options_are_keywords() -> None:
    with pytest.raises(TypeError):
        SortedSet(data=PAIRS, member="int64")
    with pytest.raises(TypeError):
        SortedSet(PAIRS, None, "int64")
    with pytest.raises(TypeError):
        SortedSet(PAIRS, colour="red")


def test_names_and_kinship() -> None:
    assert goblin.ZSet is SortedSet
    assert issubclass(SortedSet, MutableMapping)
    assert SortedSet[int]
    with pytest.raises(TypeError):
        hash(SortedSet(PAIRS))


class TestFromCounts:
    IDS = np.array([7, 7, 8, 7, -1, 2**20], dtype=np.int32)

    @pytest.mark.parametrize("dtype", [np.int32, np.int64])
    def test_one_array(self, dtype: type) -> None:
        z = SortedSet.from_counts(self.IDS.astype(dtype))
        assert z == Counter(self.IDS.tolist())
        assert z.member_dtype == np.dtype(dtype).name

    def test_plain_lists(self) -> None:
        assert SortedSet.from_counts([1, 2, 2]) == {1: 1.0, 2: 2.0}
        assert SortedSet.from_counts([[1, 2], (2,)]) == {1: 1.0, 2: 2.0}
        assert SortedSet.from_counts([]) == {}
        assert SortedSet.from_counts(["a", "b", "b"]) == {"a": 1.0, "b": 2.0}
        assert SortedSet.from_counts(memoryview(np.array([1, 2, 2]))) == {1: 1.0, 2: 2.0}

    def test_many_arrays(self) -> None:
        z = SortedSet.from_counts(np.array_split(self.IDS, 3), member="int64")
        assert z == Counter(self.IDS.tolist())
        assert z.member_dtype == "int64"

    def test_an_iterator_of_arrays_and_a_step(self) -> None:
        z = SortedSet.from_counts(iter([self.IDS, self.IDS]), by=0.5)
        assert z == Counter(self.IDS.tolist())

    def test_agrees_with_unique_on_many(self) -> None:
        ids = np.random.default_rng(1).zipf(1.5, 50_000) % 2**31
        z = SortedSet.from_counts(ids)
        unique, counts = np.unique(ids, return_counts=True)
        np.testing.assert_array_equal(z.scores(unique), counts)
        assert len(z) == len(unique)
        assert z.total() == len(ids)

    def test_refuses_what_increment_many_refuses(self) -> None:
        with pytest.raises(TypeError):
            SortedSet.from_counts(np.array([1.0]))
        with pytest.raises(OverflowError):
            SortedSet.from_counts(np.array([2**31]), member="int32")

    def test_comes_back_as_the_subclass(self) -> None:
        class Board(SortedSet):
            pass

        assert type(Board.from_counts(self.IDS)) is Board


@pytest.mark.parametrize("data", [[(1, 1.0), (2, "x")], [(2**70, 1.0)]])
def test_a_second_init_that_raises_has_changed_nothing(data: Any) -> None:
    z = SortedSet({7: 1.0}, score="float32")
    with pytest.raises((TypeError, OverflowError)):
        z.__init__(data)  # type: ignore[misc]
    assert (z.layout, z.to_dict()) == ("int64-float32", {7: 1.0})


def test_a_second_init_with_itself_keeps_the_content() -> None:
    z = SortedSet({7: 1.0})
    z.__init__(z, score="float32")  # type: ignore[misc]
    assert (z.layout, z.to_dict()) == ("int64-float32", {7: 1.0})
