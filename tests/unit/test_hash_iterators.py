"""Iterators of a Hash notice every change of the content, and no refused one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from model.hash_checks import in_every_form

from goblin import Hash

ITERATORS = [iter, lambda h: iter(h.keys()), lambda h: iter(h.values()), lambda h: iter(h.items())]
CHANGES = [
    lambda h: h.__setitem__("new", "1"),
    lambda h: h.__setitem__("f1", "another"),
    lambda h: h.__setitem__("f1", "v2"),  # of the same length
    lambda h: h.__delitem__("f1"),
    lambda h: h.pop("f39"),
    lambda h: h.popitem(),
    lambda h: h.setdefault("new", "1"),
    lambda h: h.update({"f1": "x"}),
    lambda h: h.update([("new", "1")]),
    lambda h: h.set_many(["f1"], ["x"]),
    lambda h: h.set_many(["new"], ["x"], only="new"),
    lambda h: h.pop_many(["none", "f1"]),
    lambda h: h.increment("new"),
    lambda h: h.increment("number"),
    lambda h: h.increment_many(["number", "new"]),
    lambda h: h.clear(),
    lambda h: (h.pop("f1"), h.__setitem__("new", "1")),  # the length is the same again
    lambda h: (h.clear(), h.update({f"g{i}": "1" for i in range(41)})),
]
NO_CHANGES = [
    lambda h: h.__setitem__("f1", "v1"),
    lambda h: h.setdefault("f1", "x"),
    lambda h: h.update(),
    lambda h: h.update({}),
    lambda h: h.update(h),
    lambda h: h.set_many([], []),
    lambda h: h.set_many(["f1"], ["x"], only="new"),
    lambda h: h.set_many(["none"], ["x"], only="existing"),
    lambda h: h.pop("none", None),
    lambda h: h.pop_many(["none"]),
    lambda h: h.increment("number", 0),
    lambda h: h.increment_many([]),
    lambda h: h.get("f1"),
    lambda h: h.get_many(["f1", "none"]),
    lambda h: list(h),
    lambda h: list(h.scan("f*")),
    lambda h: h.sample(3),
    lambda h: h.memory(),
    lambda h: h.copy().clear(),
    lambda h: h.to_dict(),
]
REFUSED = [
    lambda h: h.__setitem__("f1", 5),
    lambda h: h.__setitem__("\ud800", "1"),
    lambda h: h.__delitem__("none"),
    lambda h: h.update({"new": "1", "other": None}),
    lambda h: h.set_many(["new", "f1"], ["1", b"2"]),
    lambda h: h.pop_many(["f1", 5]),
    lambda h: h.increment("f1"),
    lambda h: h.increment_many(["number", "f1"]),
]


@pytest.fixture(params=[None, 0])
def h(request: pytest.FixtureRequest) -> Hash:
    content = {f"f{i}": f"v{i}" for i in range(40)}
    return Hash({**content, "number": "7"}, max_compact_fields=request.param)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("iterator", ITERATORS)
def test_a_change_ends_an_iterator(
    h: Hash, iterator: Callable[[Any], Iterator[Any]], change: Callable[[Any], Any]
) -> None:
    running = iterator(h)
    next(running)
    change(h)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            next(running)


@pytest.mark.parametrize("change", NO_CHANGES)
@pytest.mark.parametrize("iterator", ITERATORS)
def test_what_changes_nothing_disturbs_no_iterator(
    h: Hash, iterator: Callable[[Any], Iterator[Any]], change: Callable[[Any], Any]
) -> None:
    expected = list(iterator(h))
    running = iterator(h)
    seen = [next(running) for _ in range(3)]
    change(h)
    assert seen + list(running) == expected


@pytest.mark.parametrize("call", REFUSED)
def test_a_refused_call_disturbs_no_iterator(h: Hash, call: Callable[[Any], Any]) -> None:
    expected, running = list(h.items()), iter(h.items())
    seen = [next(running)]
    with pytest.raises((ValueError, TypeError, KeyError)):
        call(h)
    assert seen + list(running) == expected


@pytest.mark.parametrize("iterator", ITERATORS)
def test_a_change_before_the_first_step_counts(
    h: Hash, iterator: Callable[[Any], Iterator[Any]]
) -> None:
    running = iterator(h)
    h.clear()
    with pytest.raises(RuntimeError):
        next(running)


def test_a_finished_iterator_stays_finished(h: Hash) -> None:
    running = iter(h)
    assert len(list(running)) == 41
    assert list(running) == []


def test_an_iterator_keeps_its_hash_alive() -> None:
    assert list(Hash({"a": "1"}).items()) == [("a", "1")]
    running = iter(Hash({f"f{i}": "v" * 99 for i in range(3000)}).values())
    assert list(running) == ["v" * 99] * 3000


@in_every_form
def test_iterators_do_not_share_their_place(form: dict[str, Any]) -> None:
    h = Hash({str(i): "v" for i in range(7)}, **form)
    assert sorted((a, b) for a in h for b in h) == sorted((a, b) for a in h.keys() for b in h)  # noqa: SIM118
    assert len({(a, b) for a in h for b in h}) == 49
