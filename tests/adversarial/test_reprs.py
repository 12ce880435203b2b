"""Objects of a wrong type whose repr fails: look-ups don't ask for it, errors do without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from model.layouts import ALL_LAYOUTS, Layout

from goblin import Hash, HashTable, SortedSet


class Shy:
    def __repr__(self) -> str:
        raise RuntimeError("asked for its repr")


class Turncoat:
    """Of another class, and its own gone, once it has been shown."""

    def __repr__(self) -> str:
        self.__class__ = Shy  # type: ignore[assignment]
        return "a turncoat"


LONG = 10**5000  # of more digits than Python spells
STRANGERS: list[Any] = [Shy(), LONG, -LONG]
NAMES = ["a shy one", "a long int", "a long negative int"]


@pytest.fixture(params=STRANGERS, ids=NAMES)
def stranger(request: Any) -> Any:
    return request.param


@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_look_ups_of_a_set(layout: Layout, stranger: Any) -> None:
    z: Any = SortedSet([layout.nth(1)], 1.0, **layout.options)
    assert stranger not in z
    assert z.get(stranger, 7) == 7
    assert z.pop(stranger, 7) == 7
    assert z.rank(stranger, default=None) is None
    assert not z.discard(stranger)
    assert z != {stranger: 1.0}
    with pytest.raises(KeyError):
        z[stranger]
    with pytest.raises(KeyError):
        del z[stranger]
    assert len(z) == 1


@pytest.mark.parametrize("key", ["str", "bytes"])
def test_look_ups_of_hashes_and_tables(key: Any, stranger: Any) -> None:
    one = "a" if key == "str" else b"a"
    record: Any = HashTable({one: {one: "b"}}, key=key, field=key)[one]
    for mapping in (Hash({one: "b"}, key=key), HashTable({one: {}}, key=key), record):
        assert stranger not in mapping
        assert mapping.get(stranger) is None
        assert mapping.pop(stranger, 7) == 7
        with pytest.raises(KeyError):
            mapping[stranger]


WRITES: list[Callable[[Any, Any], Any]] = [
    lambda z, m: z.add(m, 1.0),
    lambda z, m: z.increment(m),
    lambda z, m: z.setdefault(m, 1.0),
    lambda z, m: z.update({m: 1.0}),
    lambda z, m: z.increment_many([m]),
    lambda z, m: z.remove([m]),
]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_errors_of_a_set(layout: Layout, stranger: Any, write: Callable[[Any, Any], Any]) -> None:
    z: Any = SortedSet(**layout.options)
    is_long = isinstance(stranger, int) and layout.kind is int
    with pytest.raises(OverflowError if is_long else TypeError, match=type(stranger).__name__):
        write(z, stranger)
    assert not len(z)


@pytest.mark.parametrize("key", ["str", "bytes"])
def test_errors_of_hashes(key: Any, stranger: Any) -> None:
    h: Any = Hash(key=key, value="int64")
    for call in (h.pop_many, lambda keys: h.set_many(keys, 1), h.increment_many, h.get_many):
        with pytest.raises(TypeError, match=type(stranger).__name__):
            call([stranger])
    with pytest.raises(OverflowError if isinstance(stranger, int) else TypeError, match=" int"):
        h["a" if key == "str" else b"a"] = stranger


@pytest.mark.parametrize("member", ["int64", "str", "bytes"])
def test_a_repr_that_leaves_its_class(member: Any) -> None:
    z: Any = SortedSet(member=member)
    with pytest.raises(TypeError, match=r"a turncoat must be .*, not Shy"):
        z.add(Turncoat(), 1.0)


def test_what_a_repr_interrupts_is_interrupted() -> None:
    class Stopping:
        def __repr__(self) -> str:
            raise KeyboardInterrupt

    z: Any = SortedSet()
    with pytest.raises(KeyboardInterrupt):
        z.add(Stopping(), 1.0)
    assert Stopping() not in z
