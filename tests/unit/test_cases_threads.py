"""Faults others met, about threads: readers and writers (B50), two sets (B51), fork (B56)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from goblin import SortedSet

IDS = np.arange(3000)


def run_together(works: list[Callable[[threading.Event], None]], seconds: float) -> None:
    """Each work in a thread of its own until the time is up; a hang or an error is a failure."""
    stop, errors = threading.Event(), []

    def guarded(work: Callable[[threading.Event], None]) -> None:
        try:
            while not stop.is_set():
                work(stop)
        except BaseException as error:
            errors.append(error)
            stop.set()

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    stop.wait(seconds)
    stop.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "two threads wait for each other"
    if errors:
        raise errors[0]


class TestB50ReadersAgainstWriters:
    def test_every_answer_was_true_at_some_moment(self, make: Any) -> None:
        z = make(IDS, 1.0)

        def read(_: Any) -> None:
            assert z.get(5) in (None, 1.0)
            assert len(z.by_rank[0:10]) in (0, 10)
            assert z.count(0, 9) in (0, 3000)
            assert z.rank(7, default=7) == 7
            scores = z.scores(IDS[:2000])  # one call, one moment: all there or none
            assert (scores == 1.0).all() or np.isnan(scores).all()

        def replace(_: Any) -> None:
            z.clear()
            z.update(IDS, 1.0)

        run_together([read, read, replace], 1.0)
        z._validate()

    @pytest.mark.parametrize("many", [1, 1000, 100_000])
    def test_no_increment_is_lost(self, make: Any, many: int) -> None:
        z, rounds, threads = make(), 40 if many > 1 else 4000, 4
        ids = np.arange(many) % 3000

        def work() -> None:
            for _ in range(rounds):
                z.increment_many(ids)

        running = [threading.Thread(target=work) for _ in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join(60)
        assert z.total() == many * rounds * threads
        z._validate()


class TestB51TwoSetsInEachOther:
    def test_finishes(self, make: Any) -> None:
        a, b, c = (make(IDS + shift, 1.0) for shift in (0, 1000, 2000))
        run_together(
            [
                lambda _: (a.update(b), a == b),
                lambda _: (b.update(a), b.merge(c, aggregate="max")),
                lambda _: (c.merge(a, aggregate="min"), a.copy()),
                lambda _: (a.move(b, [5, 7]), b.move(a, [5, 7])),
                lambda _: (a.merge(a, weight=0), c.update(c)),
            ],
            1.5,
        )
        for z in (a, b, c):
            z._validate()
            assert set(z) <= set(range(5000))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
class TestB56Fork:
    def test_children_can_use_a_set_that_was_busy(self) -> None:
        z = SortedSet(range(1000), 1.0, member="int64")
        big = np.random.default_rng(1).integers(0, 100_000, 300_000)
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                z.increment_many(big)

        writer = threading.Thread(target=work)
        writer.start()
        try:
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    self.use(z)
                assert self.wait(child) == 0
        finally:
            stop.set()
            writer.join()
        z._validate()

    @staticmethod
    def use(z: SortedSet) -> None:
        """In the child: work as usual, or refuse at once."""
        try:
            other = SortedSet({1: 1.0}, member="int64")
            other.increment(1)
            try:
                z.increment(1)
                len(z)
            except RuntimeError:
                pass
            os._exit(0 if other == {1: 2.0} else 1)
        except BaseException:
            os._exit(2)

    @staticmethod
    def wait(child: int) -> int:
        for _ in range(3000):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        os.kill(child, 9)
        os.waitpid(child, 0)
        return -1
