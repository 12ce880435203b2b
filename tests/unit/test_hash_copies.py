"""Copies and pickles of a Hash share nothing with it."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from model.hash_checks import Kind, in_every_form, of_every_kind

from goblin import Hash, HashTable, SortedSet

PICKLES = [
    lambda h, protocol=protocol: pickle.loads(pickle.dumps(h, protocol))
    for protocol in (2, pickle.HIGHEST_PROTOCOL)
]
COPIES = [lambda h: h.copy(), copy.copy, copy.deepcopy, *PICKLES]
CHANGES = [
    lambda h, kind: h.clear(),
    lambda h, kind: h.popitem(),
    lambda h, kind: h.pop_many([key for key, _ in kind.pairs(0, 100, 2)]),
    lambda h, kind: h.update(kind.pairs(50, 400)),
    lambda h, kind: h.update([(key, kind.value_of(99)) for key, _ in kind.pairs(3)]),
    lambda h, kind: h.optimize(),
]


@pytest.mark.parametrize("size", [0, 3, 70])
@pytest.mark.parametrize("duplicate", COPIES)
@in_every_form
@of_every_kind
def test_copies_are_independent(
    kind: Kind, form: dict[str, Any], duplicate: Callable[[Any], Any], size: int
) -> None:
    pairs = kind.pairs(size)
    for change in CHANGES if size else CHANGES[2:]:
        h = Hash(pairs, **kind.options, **form)
        twin = duplicate(h)
        assert twin == h
        assert twin.is_compact == h.is_compact
        change(h, kind)
        assert twin == dict(pairs)
        again = twin.copy()
        change(twin, kind)
        assert again == dict(pairs)
        for each in (h, twin, again):
            each._validate()


@pytest.mark.parametrize("duplicate", COPIES)
def test_options_come_along(duplicate: Callable[[Any], Any]) -> None:
    twin = duplicate(Hash(key="bytes", value="int64", max_compact_fields=2))
    twin.update([(b"a", 1), (b"b", 2)])
    assert twin.is_compact
    twin[b"c"] = 3
    assert not twin.is_compact
    with pytest.raises(TypeError):
        twin["a"] = 1


class Record(Hash):
    starts = 0

    def __init__(self, *data: Any, **options: Any) -> None:
        super().__init__(*data, **options)
        type(self).starts += 1


@pytest.mark.parametrize("duplicate", COPIES)
def test_subclasses_come_back_as_themselves(duplicate: Callable[[Any], Any]) -> None:
    record = Record({"a": "1"})
    record.title = ["May"]
    starts = Record.starts
    twin = duplicate(record)
    assert type(twin) is Record
    assert Record.starts == starts
    assert twin == record
    assert twin.title == ["May"]


def test_shallow_and_deep_attributes() -> None:
    record = Record({"a": "1"})
    record.title = ["May"]
    assert copy.copy(record).title is record.title
    assert copy.deepcopy(record).title is not record.title


def test_deepcopy_keeps_identity_inside_a_structure() -> None:
    h = Hash({"a": "1"})
    first, second = copy.deepcopy([h, h])
    assert first is second
    assert first is not h


def test_one_hash_becomes_another_of_other_kinds() -> None:
    h = Hash({"a": 1, "b": 2}, value="int64")
    assert Hash(h, value="float64") == {"a": 1.0, "b": 2.0}
    with pytest.raises(TypeError):
        Hash(h)  # which is one of str


class SlottedHash(Hash):
    __slots__ = ("title", "unset")


class SlottedTable(HashTable):
    __slots__ = ("title", "unset")


class SlottedSet(SortedSet):
    __slots__ = ("title", "unset")


class BothHash(SlottedHash):
    """Slots and a __dict__."""


OF_SLOTS = [SlottedHash, SlottedTable, SlottedSet, BothHash]


@pytest.mark.parametrize("make", OF_SLOTS)
def test_slots_are_copied(make: Any) -> None:
    one = make()
    one.title = ["May"]
    assert copy.copy(one).title is one.title
    deep = copy.deepcopy(one).title
    assert deep == ["May"]
    assert deep is not one.title
    assert not hasattr(copy.copy(one), "unset")


@pytest.mark.parametrize("duplicate", PICKLES)
@pytest.mark.parametrize("make", [SlottedHash, SlottedTable, BothHash])
def test_slots_are_pickled(make: Any, duplicate: Callable[[Any], Any]) -> None:
    one = make()
    one.title = ["May"]
    if make is BothHash:
        one.place = "Hanoi"
        assert duplicate(one).place == "Hanoi"
    assert duplicate(one).title == ["May"]


@pytest.mark.parametrize(
    ("make", "data"),
    [(Hash, {"a": "1"}), (HashTable, {"a": {"f": "1"}}), (SortedSet, {5: 1.0})],
)
def test_a_class_of_one_object_is_not_emptied_by_its_copy(make: Any, data: Any) -> None:
    class Only(make):  # type: ignore[misc]
        def __new__(cls, *data: Any) -> Any:
            return only

    only: Any = None
    only = make.__new__(Only)
    only.update(data)
    assert copy.copy(only) is only
    assert only == make(data)
    only._validate()


def test_keys_and_values_are_of_one_moment_whatever_finalisers_do() -> None:
    """Where a collection starts between the two, its finalisers may remove keys and add others."""

    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            h.pop("5", None)
            h["new"] = "new"

    thresholds = gc.get_threshold()
    pairs = {str(i): str(i) for i in range(100)}
    try:
        for objects in range(60):
            h = Hash(pairs)
            gc.collect()
            Cycle()
            gc.set_threshold(gc.get_count()[0] + objects, 1000, 1000)
            try:
                keys, values = h.to_numpy()
            except RuntimeError:  # the hash changed
                continue
            finally:
                gc.set_threshold(*thresholds)
            assert keys.tolist() == values.tolist()
    finally:
        gc.set_threshold(*thresholds)
        gc.collect()
