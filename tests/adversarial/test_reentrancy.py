"""Arguments whose conversion runs code that changes the set (B21) or the argument itself (B55).

The right result is that of the change first and the call after it, or an error. Never a crash,
never a broken set.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from evil import Index, Real

from goblin import Boards, SortedSet

ALLOWED = (KeyError, IndexError, RuntimeError, ValueError, TypeError, OverflowError)
CHANGES: dict[str, Callable[[SortedSet], Any]] = {
    "clear": lambda z: z.clear(),
    "grow": lambda z: z.update(range(20_000), 1.0),
    "spread": lambda z: z.update(np.arange(20_000) * 99_991 % 2**31, 1.0),
    "shrink": lambda z: z.pop_min(max(len(z) - 1, 0)),
    "rescore": lambda z: z.scale(-1),
    "rank": lambda z: z.rank(5, default=None),
    "optimize": lambda z: z.optimize(),
    "become int32": lambda z: z.__init__(range(64), 1.0, member="int32"),
    "become str": lambda z: z.__init__(["a", "b"], 1.0, member="str"),
    "become float32": lambda z: z.__init__({5: 1.0}, member=z.member_dtype, score="float32"),
}


# Each call takes the set, an evil integer and an evil float.
CALLS: dict[str, Callable[[SortedSet, Index, Real], Any]] = {
    "add member": lambda z, i, f: z.add(i, 1.0),
    "add score": lambda z, i, f: z.add(1, f),
    "set item": lambda z, i, f: z.__setitem__(i, f),
    "del item": lambda z, i, f: z.__delitem__(i),
    "get item": lambda z, i, f: z[i],
    "contains": lambda z, i, f: i in z,
    "get": lambda z, i, f: z.get(i),
    "pop": lambda z, i, f: z.pop(i, None),
    "setdefault": lambda z, i, f: z.setdefault(i, f),
    "discard": lambda z, i, f: z.discard(i),
    "increment": lambda z, i, f: z.increment(i, f),
    "increment_many": lambda z, i, f: z.increment_many([1, i, 3], [1.0, f, 2.0]),
    "update lists": lambda z, i, f: z.update([1, i, 3], [1, 2, f]),
    "update pairs": lambda z, i, f: z.update([(1, 1.0), (i, f)]),
    "update mapping": lambda z, i, f: z.update({1: f, 2: f}),
    "subtract": lambda z, i, f: z.subtract([1, i], [1.0, f]),
    "remove": lambda z, i, f: z.remove([1, i, 3]),
    "remove generator": lambda z, i, f: z.remove(m.__index__() for m in (i, i)),
    "update generator": lambda z, i, f: z.update((i.__index__() + k, float(f)) for k in range(9)),
    "scores": lambda z, i, f: z.scores([1, i, 3]),
    "scores missing": lambda z, i, f: z.scores([1, 2], missing=f),
    "rank": lambda z, i, f: z.rank(i),
    "ranks": lambda z, i, f: z.ranks([1, i, 3], method="dense"),
    "by_rank": lambda z, i, f: z.by_rank[i],
    "by_rank slice": lambda z, i, f: z.by_rank[i : Index(i.change, 40) : 2],
    "top": lambda z, i, f: z.top(i, ties="all"),
    "pop_min": lambda z, i, f: z.pop_min(i),
    "pop_max": lambda z, i, f: z.pop_max(i),
    "remove_by_rank": lambda z, i, f: z.remove_by_rank(i, Index(i.change, 40)),
    "remove_by_score": lambda z, i, f: z.remove_by_score(f, Real(f.change, 20.0)),
    "range_by_score": lambda z, i, f: z.range_by_score(f, 40.0, offset=i, limit=i),
    "count": lambda z, i, f: z.count(f, 9),
    "sum": lambda z, i, f: z.sum(f, 9),
    "trim": lambda z, i, f: z.trim(i),
    "around": lambda z, i, f: z.around(i, i),
    "page": lambda z, i, f: z.page(i),
    "sample": lambda z, i, f: z.sample(i, replace=True),
    "scale": lambda z, i, f: z.scale(f),
    "shift": lambda z, i, f: z.shift(f),
    "decay": lambda z, i, f: z.decay(f, f),
    "quantile": lambda z, i, f: z.quantile(f),
    "percentile_of": lambda z, i, f: z.percentile_of(f),
    "histogram": lambda z, i, f: z.histogram(i),
    "merge": lambda z, i, f: z.merge(z.copy(), weight=f),
    "move": lambda z, i, f: z.move(SortedSet(member="int64"), [1, i]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_conversion_that_changes_the_set(
    make: Any, call: Callable[[Any, Any, Any], Any], change: Callable[[Any], Any]
) -> None:
    z = make(range(64), np.arange(64) % 10, merge_exponent=0.5)
    z.rank(5)

    def now() -> None:
        change(z)

    with contextlib.suppress(ALLOWED):
        call(z, Index(now), Real(now))
    z._validate()
    assert list(z.scores(list(z))) == [score for _, score in z.items()]


def test_the_change_comes_before_the_call(make: Any) -> None:
    z = make(range(64), 1.0)
    z.add(Index(z.clear), 2.0)
    assert z == {5: 2.0}
    z.increment(5, Real(z.clear, 3.0))
    assert z == {5: 3.0}
    with pytest.raises(KeyError):
        z[Index(z.clear)]
    z.update(range(64), 1.0)
    assert Index(z.clear) not in z


@pytest.mark.parametrize(
    "call",
    [
        lambda z, f: z.add(2**40, f),
        lambda z, f: z.increment(2**40, f),
        lambda z, f: z.setdefault(2**40, f),
        lambda z, f: z.update([1, 2**40], [f, f]),
        lambda z, f: z.update({2**40: f}),
        lambda z, f: z.increment_many([2**40], [f]),
        lambda z, f: z.subtract([2**40], [f]),
    ],
)
def test_a_wide_member_on_its_way_into_a_set_that_gets_narrow(call: Any) -> None:
    z = SortedSet({1: 1.0}, member="int64")
    with pytest.raises(RuntimeError, match="another kind"):
        call(z, Real(lambda: z.__init__({7: 1.0}, member="int32")))
    z._validate()
    assert z == {7: 1.0}


def test_wide_members_on_their_way_to_a_board_that_gets_narrow() -> None:
    boards = Boards.from_arrays([1, 2], [5, 6], [1.0, 1.0])
    narrow = Real(lambda: boards[2].__init__({7: 1.0}, member="int32"))
    with pytest.raises(RuntimeError, match="another kind"):
        boards.increment_many([1, 2], [2**40, 2**40], [1.0, narrow])
    for board in boards.values():
        board._validate()
    assert [board.to_dict() for board in boards.values()] == [{5: 1.0}, {7: 1.0}]


@pytest.mark.parametrize("change", [CHANGES["clear"], CHANGES["grow"]], ids=["clear", "grow"])
def test_an_evil_generator_of_random_numbers(make: Any, change: Callable[[Any], Any]) -> None:
    z = make(range(3000), 1.0)

    class Evil(np.random.Generator):
        def choice(self, *args: Any, **options: Any) -> Any:
            change(z)
            return super().choice(*args, **options)

        def integers(self, *args: Any, **options: Any) -> Any:
            change(z)
            return super().integers(*args, **options)

        def random(self, *args: Any, **options: Any) -> Any:
            change(z)
            return super().random(*args, **options)

    for replace in (False, True):
        try:
            rows = z.sample(100, replace=replace, rng=Evil(np.random.PCG64(1)))
            assert len(rows) == 100
        except ALLOWED:
            pass
    z._validate()


class TestArgumentsThatShrink:
    """B55: the list, dict or generator is changed by its own elements, or by another thread."""

    @pytest.mark.parametrize(
        "call",
        [
            lambda z, a, b: z.update(a, b),
            lambda z, a, b: z.increment_many(a, b),
            lambda z, a, b: z.subtract(a, b),
        ],
    )
    @pytest.mark.parametrize("evil", ["member", "score"])
    def test_lists_that_empty_themselves(self, make: Any, call: Callable, evil: str) -> None:
        z = make({1: 1.0})
        members: list[Any] = list(range(100))
        scores: list[Any] = [1.0] * 100

        def empty() -> None:
            members.clear()
            scores.clear()

        if evil == "member":
            members[3] = Index(empty)
        else:
            scores[3] = Real(empty)
        references = sys.getrefcount(empty)
        try:
            call(z, members, scores)
        except ALLOWED:
            assert z == {1: 1.0}
        z._validate()
        assert set(z) <= set(range(100))
        assert sys.getrefcount(empty) <= references

    def test_pairs_that_empty_their_list(self, make: Any) -> None:
        z, pairs = make(), []
        pairs += [(i, 1.0) for i in range(50)]
        pairs[2] = (Index(pairs.clear, 2), 1.0)
        pairs.append([7, Real(pairs.clear)])
        try:
            z.update(pairs)
        except ALLOWED:
            assert len(z) == 0
        z._validate()

    def test_a_dict_that_changes(self, make: Any) -> None:
        z, data = make(), {}
        data.update(dict.fromkeys(range(50), 1.0))
        data[3] = Real(data.clear)
        try:
            z.update(data)
        except ALLOWED:
            assert len(z) == 0
        z._validate()

    def test_a_mapping_that_lies(self, make: Any) -> None:
        class Liar(dict):
            def __len__(self) -> int:
                return 10**12

            def items(self) -> Any:
                yield 1, 1.0

        z = make()
        z.update(Liar())
        assert z == {1: 1.0}

    def test_an_iterable_with_a_false_length_hint(self, make: Any) -> None:
        class Hint:
            def __iter__(self) -> Any:
                return iter([1, 2])

            def __len__(self) -> int:
                return 3

            def __length_hint__(self) -> int:
                return 2**62

        z = make()
        z.increment_many(Hint())
        assert z == {1: 1.0, 2: 1.0}

    @pytest.mark.parametrize("error", [LookupError, KeyboardInterrupt, MemoryError])
    def test_an_iterable_that_fails(self, make: Any, error: type[BaseException]) -> None:
        def failing() -> Any:
            yield 1
            raise error("no more")

        z = make({5: 1.0})
        for call in (z.increment_many, z.remove, z.scores, z.ranks, lambda it: z.update(it, 1.0)):
            with pytest.raises(error, match="no more"):
                call(failing())
        assert z == {5: 1.0}


@pytest.mark.parametrize("change", [CHANGES["clear"], CHANGES["grow"]], ids=["clear", "grow"])
def test_a_progress_callable_that_uses_the_set(change: Callable[[Any], Any]) -> None:
    """It may be refused or served, but nothing waits for ever and nothing breaks."""
    z = SortedSet(range(1000), 1.0, member="int64")
    ids = np.arange(4_000_000) % 50_000
    calls = []

    def report(*_: Any) -> None:
        calls.append(1)
        change(z)

    def work() -> None:
        with contextlib.suppress(ALLOWED):
            z.increment_many(ids, progress=report)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "the call waits for its own lock"
    assert calls
    z._validate()


def test_a_set_dropped_while_a_call_converts(make: Any) -> None:
    holder = [make(range(64), 1.0)]
    assert holder[0].add(Index(holder.clear), 1.0) is False
    assert holder == []
