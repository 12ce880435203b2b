"""Sets of names that change during a call about them: by its arguments, a finaliser, a thread."""

from __future__ import annotations

import contextlib
import gc
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from evil import Real
from model.layouts import NAME_LAYOUTS, Layout

import goblin
from goblin import PrecisionWarning, SortedSet

ALLOWED = (LookupError, RuntimeError, ValueError, TypeError, OverflowError)
SIZE = 150

Change = Callable[[SortedSet, Layout], Any]
CHANGES: dict[str, Change] = {
    "clear": lambda z, layout: z.clear(),
    "grow": lambda z, layout: z.update(layout.array(layout.series(5000)), 40_000.0),
    "shrink": lambda z, layout: z.pop_min(max(len(z) - 1, 0)),
    "optimize": lambda z, layout: z.optimize(),
    "become int64": lambda z, layout: z.__init__(range(64), 1.0, member="int64"),
    "become str": lambda z, layout: z.__init__(["é" * 300, ""], 1.0, member="str"),
    "become bytes": lambda z, layout: z.__init__([b"a" * 300, b""], 1.0, score="float32"),
    "become uuid": lambda z, layout: z.__init__(
        [str(n) * 32 for n in range(9)], 1.0, member="uuid"
    ),
}


@pytest.fixture(params=NAME_LAYOUTS, ids=str)
def layout(request: pytest.FixtureRequest) -> Layout:
    return request.param


class Text(str):
    """A str that nobody may ask for its hash, its length or whether it is equal."""

    def refuse(self, *_: Any) -> Any:
        raise AssertionError("the text itself counts")

    __eq__ = __ne__ = __hash__ = __len__ = __iter__ = __str__ = encode = refuse


class EvilUUID(uuid.UUID):
    """A UUID whose number is found only after a change."""

    change = staticmethod(lambda: None)

    @property
    def int(self) -> Any:
        self.change()
        return 7 << 64 | 7


# Each call takes the set, a function from number to member, and an evil score.
CALLS: dict[str, Callable[[SortedSet, Callable[[int], Any], Real], Any]] = {
    "add": lambda z, m, f: z.add(m(7), f),
    "add new": lambda z, m, f: z.add(m(999), f, mode="nx"),
    "set item": lambda z, m, f: z.__setitem__(m(7), f),
    "setdefault": lambda z, m, f: z.setdefault(m(999), f),
    "increment": lambda z, m, f: z.increment(m(7), f),
    "increment_many": lambda z, m, f: z.increment_many([m(1), m(999)], [f, 0.5]),
    "update": lambda z, m, f: z.update([m(1), m(999)], [0.5, f]),
    "update pairs": lambda z, m, f: z.update({m(1): f, m(999): 1e9}),
    "subtract": lambda z, m, f: z.subtract([m(1), m(999)], [0.5, f]),
    "scores": lambda z, m, f: z.scores([m(1), m(2)], missing=f),
    "remove generator": lambda z, m, f: z.remove(m(int(float(f)) + k) for k in range(9)),
    "move": lambda z, m, f: z.move(z.copy(), (m(int(float(f)) + k) for k in range(9))),
    "lex": lambda z, m, f: z.range_by_lex(m(1), m(9), within_score=f),
    "remove_by_lex": lambda z, m, f: z.remove_by_lex(m(1), m(9), within_score=f),
    "remove_by_score": lambda z, m, f: z.remove_by_score(f, Real(f.change, 5.0)),
    "merge": lambda z, m, f: z.merge(z.copy(), weight=f),
    "union": lambda z, m, f: goblin.union([z, z.copy()], weights=[f, f]),
    "intersection": lambda z, m, f: goblin.intersection([z.copy(), z], weights=[1, f]),
    "scale": lambda z, m, f: z.scale(f),
}


def check(z: SortedSet) -> None:
    z._validate()
    assert list(z.scores(list(z))) == [score for _, score in z.items()]


def filled(layout: Layout) -> SortedSet:
    z = SortedSet(layout.array(layout.series(SIZE)), np.arange(SIZE) % 10, **layout.options)
    z.rank(layout.nth(5))
    return z


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_conversion_that_changes_the_set(layout: Layout, call: Any, change: Change) -> None:
    z = filled(layout)
    with contextlib.suppress(ALLOWED):
        call(z, layout.nth, Real(lambda: change(z, layout)))
    check(z)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_uuid_that_changes_the_set(change: Change) -> None:
    layout = NAME_LAYOUTS[-1]
    for call in (
        lambda z, m: z.add(m, 1.0),
        lambda z, m: m in z,
        lambda z, m: z.increment(m),
        lambda z, m: z.pop(m, None),
        lambda z, m: z.rank(m),
        lambda z, m: z.update([m, m], 1.0),
        lambda z, m: z.remove([m]),
        lambda z, m: z.around(m),
        lambda z, m: z.range_by_lex(m, None, within_score=1.0),
    ):
        z, member = filled(layout), EvilUUID.__new__(EvilUUID)
        EvilUUID.change = staticmethod(lambda z=z: change(z, layout))
        with contextlib.suppress(ALLOWED):
            call(z, member)
        check(z)


def test_the_text_itself_counts() -> None:
    z = SortedSet({"a": 1.0, "é": 2.0})
    for text, score in ((Text("a"), 1.0), (Text("é"), 2.0)):
        assert text in z
        assert z.get(text) == score
        assert z.increment(text, 0.0) == score
        assert z.scores([text]).tolist() == [score]
        assert type(next(iter(z.range_by_lex(text, within_score=score)))[0]) is str


def test_buffers_that_change_after_the_call() -> None:
    buffer = bytearray(b"member")
    z = SortedSet(member="bytes")
    z.add(buffer, 1.0)
    z.update([memoryview(buffer), buffer], 2.0)
    buffer[:] = b"something longer"
    assert z == {b"member": 2.0}
    assert memoryview(buffer) not in z


class Finaliser:
    """In a cycle, so that only a garbage collection ends it."""

    def __init__(self, change: Callable[[], Any]) -> None:
        self.change, self.myself = change, self

    def __del__(self) -> None:
        with contextlib.suppress(*ALLOWED):
            self.change()


@pytest.fixture
def collections_at_once() -> Iterator[None]:
    """While collections are enabled, each new container starts one."""
    before = gc.get_threshold()
    gc.disable()
    gc.set_threshold(1)
    yield
    gc.set_threshold(*before)
    gc.enable()


READS: list[Callable[[SortedSet], Any]] = [
    lambda z: z.pop_min(),
    lambda z: z.pop_max(),
    lambda z: z.by_rank[3],
    lambda z: next(iter(z), None),
    lambda z: next(iter(z.items()), None),
    lambda z: list(reversed(z.items())),
    lambda z: z.copy().merge(z),
    lambda z: goblin.union([z]),
    lambda z: z.pop_min(5),
    lambda z: z.top(5).to_list(),
]


@pytest.mark.usefixtures("collections_at_once")
@pytest.mark.parametrize("change", [CHANGES["clear"], CHANGES["grow"], CHANGES["become int64"]])
@pytest.mark.parametrize("read", READS)
def test_finalisers_that_change_the_set(layout: Layout, read: Any, change: Change) -> None:
    for _ in range(5):
        z = filled(layout)
        Finaliser(lambda z=z: change(z, layout))
        hoard = [(n, n) for n in range(3000)]  # so that no used tuple is left for the next pair
        gc.enable()
        try:
            read(z)
        except ALLOWED:
            pass
        finally:
            gc.disable()
        check(z)
        del hoard


def test_threads_that_make_it_a_set_of_another_kind() -> None:
    """Each call meets one kind or the other, or says that it changed."""
    z, stop = SortedSet({"a": 1.0}), threading.Event()
    errors: list[BaseException] = []
    texts, numbers = [str(n) for n in range(3000)], np.arange(3000) << 33

    def work(*calls: Callable[[], Any]) -> None:
        while not stop.is_set():
            for call in calls:
                try:
                    call()
                except (*ALLOWED, PrecisionWarning):  # merging with itself doubles scores
                    pass
                except BaseException as error:
                    errors.append(error)

    works = [
        (
            lambda: z.__init__(texts, 1.0, member="str"),
            lambda: z.__init__(range(3000), 1.0, member="int32", score="float32"),
            lambda: z.__init__(numbers, 1.0, member="int64"),
        ),
        (lambda: z.increment_many(texts), lambda: z.top(50), lambda: z.scores(texts)),
        (lambda: z.increment_many(numbers), lambda: z.ranks(numbers), lambda: list(z.items())),
        (lambda: z.update(z.to_dict()), lambda: z.merge(z), lambda: z.pop_max(5)),
    ]
    threads = [threading.Thread(target=work, args=calls) for calls in works]
    for thread in threads:
        thread.start()
    stop.wait(2)
    stop.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert errors == []
    check(z)
