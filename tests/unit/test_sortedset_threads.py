"""Long calls (B57): other threads run, Ctrl-C stops them cleanly, progress is reported."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from goblin import SortedSet

EVENTS = 6_000_000
MEMBERS = 1_000_000
IDS = np.random.default_rng(1).integers(0, MEMBERS, EVENTS)
ONES = np.ones(EVENTS)

LONG_CALLS = [
    lambda z: z.increment_many(IDS),
    lambda z: z.increment_many(IDS, ONES),
    lambda z: z.update(IDS, ONES),
    lambda z: z.scores(IDS),
    lambda z: z.ranks(IDS),
    lambda z: z.remove(IDS),
    lambda z: SortedSet.from_counts(IDS),
]


@pytest.fixture
def z() -> SortedSet:
    return SortedSet(np.arange(0, MEMBERS, 2), 5.0, member="int64")


@pytest.fixture
def no_forced_switches() -> Iterator[None]:
    """A thread gives up the GIL only by its own will."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("no_forced_switches")
@pytest.mark.parametrize("call", LONG_CALLS)
def test_other_threads_run_meanwhile(z: SortedSet, call: Callable[[Any], Any]) -> None:
    z.rank(0)
    started, finished = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        call(z)
        finished.set()

    worker = threading.Thread(target=work)
    worker.start()
    started.wait()
    steps_meanwhile = 0
    while not finished.is_set():
        steps_meanwhile += 1
        time.sleep(0)
    worker.join()
    assert steps_meanwhile > 0
    z._validate()


@pytest.mark.parametrize("call", LONG_CALLS[:3])
def test_an_interrupted_write_has_changed_nothing(
    z: SortedSet, call: Callable[[Any], Any], interrupt_soon: Callable[[float], Any]
) -> None:
    before = z.digest()
    interrupt_soon(0.01)
    completed = False
    with pytest.raises(KeyboardInterrupt):
        call(z)
        completed = True
        time.sleep(5)
    assert not completed, "the call was over before the interrupt: make it longer"
    z._validate()
    assert z.digest() == before
    z.increment(1)
    assert len(z) == MEMBERS // 2 + 1


@pytest.mark.parametrize(
    "call", [lambda z: z.ranks(IDS), lambda z: z.scores(IDS), lambda z: z.top(MEMBERS), list]
)
def test_an_interrupted_read_leaves_a_sound_set(
    z: SortedSet, call: Callable[[Any], Any], interrupt_soon: Callable[[float], Any]
) -> None:
    content = z.digest()
    z.increment(0, -1.0)
    with pytest.raises(KeyboardInterrupt):
        interrupt_soon(0.005)
        call(z)
        time.sleep(5)
    z._validate()
    z.increment(0, 1.0)
    assert z.digest() == content


class TestProgress:
    def test_a_callable_is_called(self, z: SortedSet) -> None:
        calls: list[tuple[int, int | None]] = []
        z.increment_many(IDS, progress=lambda done, total: calls.append((done, total)))
        assert calls == sorted(calls)
        assert calls[-1] == (EVENTS, EVENTS)
        plain = SortedSet(np.arange(0, MEMBERS, 2), 5.0, member="int64")
        plain.increment_many(IDS)
        assert z.digest() == plain.digest()

    def test_from_counts_reports_too(self) -> None:
        calls: list[int] = []
        SortedSet.from_counts([IDS, IDS], progress=lambda done, _: calls.append(done))
        assert calls == sorted(calls)
        assert calls[-1] == 2 * EVENTS

    def test_its_error_comes_through_and_nothing_changed(self, z: SortedSet) -> None:
        def stop(*_: Any) -> None:
            raise LookupError("enough")

        before = z.digest()
        with pytest.raises(LookupError, match="enough"):
            z.increment_many(IDS, progress=stop)
        z._validate()
        assert z.digest() == before

    @pytest.mark.parametrize("progress", ["auto", True, False, None])
    def test_standard_output_stays_empty(
        self, z: SortedSet, progress: Any, capfd: pytest.CaptureFixture[str]
    ) -> None:
        z.increment_many(IDS[:200_000], progress=progress)
        assert capfd.readouterr().out == ""

    def test_auto_is_silent_where_nobody_looks(
        self, z: SortedSet, capfd: pytest.CaptureFixture[str]
    ) -> None:
        z.increment_many(IDS, progress="auto")
        assert capfd.readouterr().err == ""

    def test_an_unknown_word_is_refused(self, z: SortedSet) -> None:
        with pytest.raises(ValueError):
            z.increment_many([1], progress="bar")
        assert 1 not in z


def test_threads_may_exhaust_one_iterator_together() -> None:
    z = SortedSet({7: 1.0})
    iterator = iter(z)
    next(iterator)
    busy, release = threading.Event(), threading.Event()

    def hold(*_: Any) -> None:
        busy.set()
        release.wait(5)

    def finish() -> None:
        assert next(iterator, None) is None

    holder = threading.Thread(target=lambda: z.increment_many([7], 0.0, progress=hold))
    holder.start()
    busy.wait(5)
    readers = [threading.Thread(target=finish) for _ in range(4)]
    for reader in readers:
        reader.start()
    time.sleep(0.1)  # until all of them wait for the set
    release.set()
    for thread in [holder, *readers]:
        thread.join(5)
        assert not thread.is_alive()
    assert next(iterator, None) is None


def test_nothing_can_come_between_the_two_halves_of_a_move() -> None:
    """Where the interpreter may let a handler raise, here a profiler does."""
    source, target = SortedSet({7: 1.0, 8: 2.0}), SortedSet({9: 3.0})

    def interrupt(frame: Any, event: str, arg: Any) -> None:
        if event == "c_return" and arg.__name__ == "_update":
            raise InterruptedError

    sys.setprofile(interrupt)
    try:
        source.move(target, [7, 8])
    finally:
        sys.setprofile(None)
    assert (source.to_dict(), target.to_dict()) == ({}, {7: 1.0, 8: 2.0, 9: 3.0})
