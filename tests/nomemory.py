"""Each allocation of an operation is made to fail once, in whichever object it happens."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Self, TypeVar

from goblin import Hash, HashTable, SortedSet

T = TypeVar("T")
KINDS = (SortedSet, Hash, HashTable)
LIMIT = 20_000  # no operation here allocates so often: a sweep that gets there does not end


class Failing:
    """The n-th allocation of one object fails: one of those given, or of those made meanwhile."""

    def __init__(self, objects: Iterable[Any], place: int, n: int) -> None:
        self.objects, self.place, self.n = list(objects), place, n
        self.holders: list[Any] = []
        self.left: int | None = None  # of n, at the end; None if there was no such object

    def __enter__(self) -> Self:
        for kind in KINDS:
            kind._configure = self.noting(kind._configure)
            kind._swap = self.swapping(kind._swap)
        if self.place < len(self.objects):
            self.objects[self.place]._fail_at(self.n)
        return self

    def noting(self, configure: Callable[..., None]) -> Callable[..., None]:
        def noted(one: Any, *options: Any) -> None:
            configure(one, *options)
            if len(self.objects) == self.place:
                one._fail_at(self.n)
            self.objects.append(one)

        return noted

    def swapping(self, swap: Callable[..., None]) -> Callable[..., None]:
        def swapped(one: Any, other: Any) -> None:
            swap(one, other)  # what one had left to allocate is with the other now
            self.holders.append(one)

        return swapped

    def __exit__(self, *_: object) -> None:
        for kind in KINDS:
            del kind._configure, kind._swap
        left = [one._fail_at(0) for one in (*self.objects, *self.holders)]
        if self.place < len(self.objects):
            self.left = max(left)


def sweep(
    build: Callable[[], T],
    operation: Callable[[T], Any],
    objects: Callable[[T], Iterable[Any]],
    content: Callable[[T], Any],
    room: int = 1,
    any_end: bool = False,
) -> int:
    """The number of allocations, each of which failed once.

    A failure is a MemoryError that leaves the content as it was, in at most `room` times the bytes
    and 1 KiB, or the operation did without; and the operation can then go through. `objects` are
    those whose allocations may fail, besides those that the operation makes; `any_end` is for what
    ends in one way or another.
    """

    def live(subject: T) -> int:
        return sum(one._live_bytes() for one in objects(subject))

    subject, done = build(), build()
    most = live(subject) * room + (room > 1) * 1024
    before = content(subject)
    operation(done)
    after, failures = content(done), 0
    for place in itertools.count():
        for n in range(1, LIMIT):
            subject = build()
            with Failing(objects(subject), place, n) as failing:
                try:
                    operation(subject)
                    raised = False
                except MemoryError:
                    raised = True
            if raised:
                assert failing.left == 0
                assert live(subject) <= most
                assert content(subject) == before
                operation(subject)
            assert any_end or content(subject) == after
            if failing.left != 0:
                break
            failures += 1
        else:
            raise AssertionError("the operation never went through")
        if failing.left is None:
            return failures
