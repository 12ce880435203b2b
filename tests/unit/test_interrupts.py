"""Ctrl-C and other threads in long calls (B57): each is as if it had not been, or done."""

from __future__ import annotations

import _thread
import collections
import contextlib
import ctypes
import functools
import gc
import itertools
import operator
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np
import pytest

import goblin
from goblin import Boards, Hash, HashTable, SortedSet

KINDS = ("int64", "str", "bytes", "uuid")
ROWS = 3000  # with a question every 256
TIMED = 60_000
LARGE = 10_000_000
PATIENCE = 120.0  # seconds after which something hangs

Call = Callable[[SortedSet, "Input"], Any]


class Input:
    """Columns that calls are given, n long."""

    def __init__(self, kind: str, n: int) -> None:
        rng = np.random.default_rng(n)
        self.kind, self.n = kind, n
        self.members = self.named(rng.permutation(n))
        self.other = self.named(rng.integers(n // 2, n + n // 2, n))
        self.scores = rng.integers(0, 200, n).astype(np.float64)
        self.fractions = rng.random(n)

    def named(self, ids: np.ndarray) -> np.ndarray:
        if self.kind == "int64":
            return ids
        if self.kind == "uuid":
            return np.stack([ids, ids], 1).view("V16").ravel()
        texts = np.strings.add("user:", ids.astype("U8"))
        return texts.astype("S" if self.kind == "bytes" else np.dtypes.StringDType())

    def objects(self) -> list[Any]:
        if self.kind == "uuid":
            return list(SortedSet(self.members, 0.0))
        return self.members.tolist()

    def set(self) -> SortedSet:
        return SortedSet(self.members, self.scores)

    def ordered(self) -> SortedSet:
        z = self.set()
        z.rank(z.by_rank[0][0])
        return z

    def pending(self) -> SortedSet:
        z = self.ordered()
        z.update(self.members[: self.n // 10], self.fractions[: self.n // 10])
        return z


# ---- deterministic: the n-th question of the core finds a Ctrl-C

PLAIN, ORDERED, PENDING = Input.set, Input.ordered, Input.pending
CALLS: dict[str, tuple[Callable[[Input], SortedSet], Call]] = {
    "order": (PLAIN, lambda z, _: z.by_rank[0]),
    "order of ties": (lambda i: SortedSet(i.members, 1.0), lambda z, _: z.by_rank[0]),
    "changes": (PENDING, lambda z, _: z.by_rank[0]),
    "update": (ORDERED, lambda z, i: z.update(i.members, i.fractions)),
    "update of a tenth": (ORDERED, lambda z, i: z.update(i.members[::10], 1e6)),
    "update new": (ORDERED, lambda z, i: z.update(i.other, 1.0, mode="nx")),
    "increment_many": (ORDERED, lambda z, i: z.increment_many(i.other, 0.1, return_scores=True)),
    "subtract": (PLAIN, lambda z, i: z.subtract(i.other, 1.0)),
    "remove": (ORDERED, lambda z, i: z.remove(i.members[: i.n * 3 // 4])),
    "remove a few": (ORDERED, lambda z, i: z.remove(i.members[: i.n // 10])),
    "remove_by_rank": (ORDERED, lambda z, i: z.remove_by_rank(0, i.n // 2)),
    "trim": (ORDERED, lambda z, i: z.trim(i.n // 3)),
    "pop_max": (ORDERED, lambda z, i: z.pop_max(i.n // 3)),
    "widening": (ORDERED, lambda z, _: z.add(z.by_rank[0][0], 1e9)),
    "scale": (ORDERED, lambda z, _: z.scale(1 / 3)),
    "copy": (ORDERED, lambda z, _: z.copy()),
    "==": (ORDERED, lambda z, _: z == z.copy()),
    "digest": (PLAIN, lambda z, _: z.digest()),
    "optimize": (PENDING, lambda z, _: z.optimize()),
    "to_numpy": (ORDERED, lambda z, _: z.to_numpy()),
    "to_dict": (ORDERED, lambda z, _: z.to_dict()),
    "ranks": (PLAIN, lambda z, i: z.ranks(i.other)),
    "ranks max": (ORDERED, lambda z, i: z.ranks(i.other, method="max")),
    "scores": (PLAIN, lambda z, i: z.scores(i.other)),
    "sum": (PLAIN, lambda z, _: z.sum(1, 100)),
    "count": (PLAIN, lambda z, _: z.count(1, 100)),
    "top": (PLAIN, lambda z, _: z.top(20)),
    "quantile": (ORDERED, lambda z, i: z.quantile(i.fractions)),
    "sample": (ORDERED, lambda z, i: z.sample(i.n // 2, rng=1)),
    "distinct_scores": (PLAIN, lambda z, _: z.distinct_scores()),
    "histogram": (PLAIN, lambda z, _: z.histogram(7)),
    "merge": (ORDERED, lambda z, i: z.merge(SortedSet(i.other, 1.0), weight=2.0)),
    "union": (ORDERED, lambda z, i: goblin.union([z, SortedSet(i.other, 1.0)])),
    "difference": (ORDERED, lambda z, i: goblin.difference(z, SortedSet(i.other, 1.0))),
    "list": (PLAIN, lambda z, _: list(z.items())),
}
# Short or one copy of memory for integers: nothing to wait for.
SHORT = {("int64", "widening"), ("int64", "copy"), ("int64", "increment_many")}
SHORT |= {("int64", "subtract"), ("int64", "union")}


FIELDS = [f"field:{i}" for i in range(ROWS)]
OTHER = [f"field:{i}" for i in range(ROWS // 2, 2 * ROWS)]
NUMBERS = np.arange(ROWS)
COLUMN = [str(i) for i in range(ROWS)]


def texts() -> Hash:
    h: Hash = Hash(max_compact_fields=0)
    h.set_many(FIELDS, COLUMN)
    return h


def numbers() -> Hash:
    h: Hash = Hash(value="int64", max_compact_fields=0)
    h.set_many(FIELDS, NUMBERS)
    return h


def table() -> HashTable:
    return HashTable.from_arrays(FIELDS, {"a": COLUMN, "b": COLUMN[::-1]})


def holed() -> HashTable:
    """With records that are gone, but not yet their memory."""
    t = table()
    for key in FIELDS[: ROWS // 4]:
        del t[key]
    return t


def rebuilding(make: Callable[[], Any], step: Callable[[Any, int], Any]) -> Any:
    """What `make` gives after some steps, and the first one that gets or gives back much memory."""

    @functools.cache
    def at() -> int:
        x = make()
        for i in itertools.count():
            live = x._live_bytes()
            step(x, i)
            if abs(x._live_bytes() - live) > 10_000:
                return i
        raise AssertionError

    def stepped() -> Any:
        x = make()
        for i in range(at()):
            step(x, i)
        return x

    return stepped, lambda x: step(x, at())


def grow(h: Hash, i: int) -> None:
    h[f"new:{i}"] = "1"


def drop(x: Any, i: int) -> None:
    x.pop(FIELDS[i])


OF_HASHES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "copy": (texts, lambda h: h.copy()),
    "optimize": (texts, lambda h: h.optimize()),
    "set_many": (texts, lambda h: h.set_many(OTHER, OTHER)),
    "set_many into a few": (lambda: Hash({"a": "b"}), lambda h: h.set_many(OTHER, OTHER)),
    "set_many new": (texts, lambda h: h.set_many(OTHER, OTHER, only="new")),
    "set_many existing": (texts, lambda h: h.set_many(OTHER, OTHER, only="existing")),
    "update": (texts, lambda h: h.update(dict.fromkeys(OTHER, "1"))),
    "increment_many": (numbers, lambda h: h.increment_many(OTHER, 1)),
    "increment_many of texts": (texts, lambda h: h.increment_many(OTHER, 1)),
    "pop_many": (texts, lambda h: h.pop_many(FIELDS[: ROWS * 3 // 4])),
    "get_many": (texts, lambda h: h.get_many(OTHER)),
    "get_many of numbers": (numbers, lambda h: h.get_many(OTHER)),
    "set": rebuilding(texts, grow),
    "pop": rebuilding(texts, drop),
}
OF_TABLES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "copy": (table, lambda t: t.copy()),
    "optimize": (holed, lambda t: t.optimize()),
    "update": (table, lambda t: t.update({key: {"c": key} for key in OTHER})),
    "update of none": (HashTable, lambda t: t.update({key: {"c": key} for key in OTHER})),
    "column": (table, lambda t: t.column("a")),
    "pop": rebuilding(table, drop),
}


@dataclass
class Case:
    make: Callable[[], Any]
    call: Callable[[Any], Any]
    short: bool = False


@functools.cache
def given(kind: str) -> Input:
    return Input(kind, ROWS)


def case_of(kind: str, name: str) -> Case:
    make, call = CALLS[name]
    return Case(
        lambda: make(given(kind)), lambda z: call(z, given(kind)), short=(kind, name) in SHORT
    )


CASES = {f"{kind} {name}": case_of(kind, name) for kind in KINDS for name in CALLS}
# Only giving memory back takes long: the interrupt follows the call.
AFTERWARDS = {"Hash pop", "HashTable pop"}
CASES |= {f"Hash {name}": Case(*both) for name, both in OF_HASHES.items()}
CASES |= {f"HashTable {name}": Case(*both) for name, both in OF_TABLES.items()}


def interrupted_at(question: int, subject: Any, call: Callable[[Any], Any]) -> tuple[bool, bool]:
    """Whether the call was interrupted, and whether there were that many questions."""
    subject._interrupt_at(question)
    try:
        call(subject)
        raised = False
    except KeyboardInterrupt:
        raised = True
    finally:
        left = subject._interrupt_at(0)
    return raised, left == 0


@pytest.mark.parametrize("name", CASES)
class TestAtEachQuestion:
    def test_nothing_or_everything_has_happened(self, name: str) -> None:
        case = CASES[name]
        done = case.make()
        before = done.to_dict()
        case.call(done)
        after = done.to_dict()
        asked, question = True, 1
        undone = 0
        while asked:
            subject = case.make()
            iterator = iter(subject)
            raised, asked = interrupted_at(question, subject, case.call)
            assert raised == asked
            subject._validate()
            got = subject.to_dict()
            assert got == after if not raised else got in (before, after)
            if raised and before != after and got == before:
                undone += 1
                next(iterator, None)  # nothing has changed, so it goes on
            if got == before:
                case.call(subject)
            subject._validate()
            question += 1 + question // 2
        assert question > 2 or case.short
        assert undone or before == after or case.short or name in AFTERWARDS

    def test_a_handler_may_not_use_the_container(self, name: str) -> None:
        case = CASES[name]
        subject = case.make()
        refused = []

        def handler(_: int, __: FrameType | None) -> None:
            try:
                subject.clear()
            except RuntimeError:
                refused.append(True)

        before = signal.signal(signal.SIGINT, handler)
        try:
            subject._interrupt_at(1)
            case.call(subject)
        finally:
            asked = subject._interrupt_at(0) == 0
            signal.signal(signal.SIGINT, before)
        assert asked == bool(refused)
        assert asked or case.short
        subject._validate()


def test_an_interrupted_pop_many_gives_memory_back_once() -> None:
    """Not at each key, where it would be begun and stopped: allocations count how often."""
    h: Hash = Hash(value="int64", max_compact_fields=0)
    keys = [f"field:{i}" for i in range(TIMED)]
    h.set_many(keys, np.arange(TIMED))
    gone, allocations = keys[: TIMED * 3 // 4], 100_000
    h._fail_at(allocations)
    # They are read, then removed: when a quarter is.
    raised, asked = interrupted_at(len(gone) * 5 // 4 // 256, h, lambda h: h.pop_many(gone))
    assert raised and asked
    assert allocations - h._fail_at(0) < 20
    assert list(h) == keys[len(gone) :]


def far_apart() -> SortedSet:
    """Integers without pages, whose table is laid out anew and looked through."""
    z = SortedSet(np.arange(ROWS) << 20, np.arange(ROWS))
    z.rank(0)
    return z


LOADED: dict[str, Callable[[], Any]] = {f"{kind}": given(kind).ordered for kind in KINDS}
LOADED |= {"far apart": far_apart, "Hash": texts, "HashTable": table}


def each_question(
    make: Callable[[], Any], call: Callable[[Any], Any]
) -> Iterator[tuple[Any, bool]]:
    """What each question's interrupt leaves, and whether it came; at last there is none."""
    asked, question = True, 1
    while asked:
        subject = make()
        raised, asked = interrupted_at(question, subject, call)
        assert raised == asked
        subject._validate()
        yield subject, raised
        question += 1


@pytest.mark.parametrize("name", LOADED)
def test_a_load_is_interrupted_at_each_question(name: str) -> None:
    before = LOADED[name]()
    data = before.to_bytes()
    questions = 0
    for made, raised in each_question(
        lambda: type(before).__new__(type(before)), lambda one: one._load(data, False)
    ):
        assert len(made) == (0 if raised else len(before))
        made._load(data, False)
        assert made.to_bytes() == data
        questions += 1
    assert questions > (4 * ROWS // 256 if name == "far apart" else 5)


@pytest.mark.parametrize("name", LOADED)
def test_a_save_is_interrupted_at_each_question(name: str) -> None:
    subject = LOADED[name]()
    data = subject.to_bytes()
    questions = 0
    for one, _ in each_question(lambda: subject, lambda one: one.to_bytes()):
        assert one.to_bytes() == data
        questions += 1
    # Records are gathered, counted, spread and sorted, tables spread and sorted; other parts of a
    # set are written as they lie.
    passes = {"HashTable": 4, "Hash": 4, "far apart": 1}.get(name, 0)
    assert questions > passes * ROWS // 256


# ---- loops in C over an iterator, which nobody but the iterator interrupts

ITERATED: dict[str, Callable[[], Iterator[Any]]] = {
    "SortedSet": lambda: iter(given("int64").ordered()),
    "SortedSet scores": lambda: iter(given("str").ordered().values()),
    "Hash": lambda: iter(texts()),
    "Hash values": lambda: iter(texts().values()),
    "Hash items": lambda: iter(texts().items()),
    "HashTable": lambda: iter(table()),
}


@pytest.mark.parametrize("name", ITERATED)
def test_an_iterator_hears_signals(name: str) -> None:
    rows = ITERATED[name]()
    # The signal comes with the first step of a loop that runs no Python code.
    signalled = itertools.chain(map(_thread.interrupt_main, [signal.SIGINT]), rows)
    with pytest.raises(KeyboardInterrupt):
        collections.deque(signalled, maxlen=0)
    assert 0 < sum(1 for _ in rows) < ROWS


def test_equality_hears_signals() -> None:
    """Between two values, though these are compared in C: the first one's comparison signals."""
    interrupt = ctypes.PyDLL(None).PyErr_SetInterruptEx
    interrupt.restype = (0).__eq__  # it returns 0, so that the values are equal
    compared: list[object] = []

    class First:
        __eq__ = interrupt  # called with the hash's own value, the number of the signal

    class Second:
        __eq__ = compared.append  # type: ignore[assignment]

    h: Hash = Hash({"a": signal.SIGINT, "b": signal.SIGINT}, value="int64")
    one, other = h
    with pytest.raises(KeyboardInterrupt):
        operator.eq(h, {one: First(), other: Second()})  # a call, so that nothing is left to hear
    assert not compared


# ---- with a timer, where the set is made by the call


@contextlib.contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """KeyboardInterrupt in the main thread after so many seconds, unless the block is left."""
    armed = True

    def handler(_: int, __: FrameType | None) -> None:
        if armed:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    gc.disable()  # what is raised in a callback of a collection would be lost
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        armed = False
        gc.enable()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def made(z: SortedSet) -> None:
    z._validate()


MAKERS: dict[str, Callable[[Input], Callable[[], Any]]] = {
    "array": lambda i: lambda: SortedSet(i.members, i.scores),
    "list": lambda i: (lambda o: lambda: SortedSet(o, 1.0))(i.objects()),
    "scores list": lambda i: (lambda s: lambda: SortedSet(i.members, s))(i.scores.tolist()),
    "dict": lambda i: (lambda d: lambda: SortedSet(d))(i.set().to_dict()),
    "pairs": lambda i: (lambda p: lambda: SortedSet(p))(list(i.set().items())),
    "generator": lambda i: (
        lambda o: lambda: SortedSet(((m, 1.0) for m in o), member=i.kind)  # type: ignore[arg-type]
    )(i.objects()),
    "iterator": lambda i: (
        lambda o: lambda: SortedSet(iter(o), 1.0, member=i.kind)  # type: ignore[arg-type]
    )(i.objects()),
    "SortedSet": lambda i: (lambda z: lambda: SortedSet(z))(i.set()),
    "Rows": lambda i: (lambda r: lambda: SortedSet(r))(i.ordered().by_rank[:]),
    "from_counts": lambda i: lambda: SortedSet.from_counts(i.other),
    "union": lambda i: (lambda a, b: lambda: goblin.union([a, b], weights=[2, 3]))(
        i.set(), SortedSet(i.other, 1.0)
    ),
    "intersection": lambda i: (lambda a, b: lambda: goblin.intersection([a, b]))(
        i.set(), SortedSet(i.other, 1.0)
    ),
    "boards": lambda i: lambda: Boards.from_arrays(np.arange(i.n) % 7, i.members, i.scores),
    "boards list": lambda i: (
        lambda: Boards.from_arrays((np.arange(i.n) % 7).tolist(), i.members, i.scores)
    ),
}


def duration(call: Callable[[], Any]) -> float:
    start = time.monotonic()
    call()
    return time.monotonic() - start


def times_interrupted(call: Callable[[], Any], shares: list[float]) -> int:
    """How often an alarm after these shares of the call's duration ended it."""
    whole = duration(call)
    count = 0
    for share in shares:
        try:
            with alarm(max(whole * share, 1e-4)):
                call()
        except KeyboardInterrupt:
            count += 1
    return count


def some_interrupted(call: Callable[[], Any]) -> None:
    """The machine may be busy, so some alarms come too late; not all of them."""
    assert any(times_interrupted(call, [0.05, 0.3, 0.5, 0.7]) for _ in range(10))


@pytest.fixture(scope="module", params=KINDS)
def timed(request: Any) -> Input:
    return Input(request.param, TIMED)


@pytest.mark.parametrize("name", MAKERS)
def test_making(timed: Input, name: str) -> None:
    call = MAKERS[name](timed)
    some_interrupted(call)
    result = call()
    for z in result.values() if isinstance(result, Boards) else [result]:
        z._validate()


def of_hashes(call: Callable[[], Any]) -> None:
    some_interrupted(call)
    call()._validate()


def test_making_hashes() -> None:
    texts = [str(i) for i in range(TIMED * 5)]
    pairs = dict(zip(texts, texts, strict=True))
    of_hashes(lambda: Hash(pairs))
    of_hashes(lambda: HashTable.from_arrays(texts, {"a": texts}))


def test_a_scan_that_finds_nothing() -> None:
    h: Hash = Hash(max_compact_fields=0)
    names = [f"field:{i:08d}" for i in range(TIMED)]
    h.set_many(names, names)
    some_interrupted(lambda: next(h.scan("*".join("field") + "*0*1*2*3*4*5*6*7*8*9*x"), None))
    assert list(h.scan("*:00012345")) == [("field:00012345",) * 2]


def test_boards_keep_their_members(timed: Input) -> None:
    groups = np.arange(timed.n) % 7
    boards = Boards.from_arrays(groups, timed.members, timed.scores)
    total = sum(z.total() for z in boards.values())
    rounds = 0
    for _ in range(10):
        for share in (0.1, 0.4, 0.6):
            try:
                with alarm(share * 0.05):
                    boards.increment_many(groups, timed.other)
                    rounds += 1
            except KeyboardInterrupt:
                now = sum(z.total() for z in boards.values())
                assert now in (total + rounds * timed.n, total + (rounds + 1) * timed.n)
                rounds = round((now - total) / timed.n)
    for z in boards.values():
        z._validate()


# ---- at full size


class Counter(threading.Thread):
    """Counts as fast as it is let; and says so if the main thread hangs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.count = 0
        self.stopped = False

    def run(self) -> None:
        while not self.stopped:
            self.count += 1
            time.sleep(0.001)


@pytest.fixture(scope="module", params=["int64", "str"])
def large(request: pytest.FixtureRequest) -> Input:
    """Ten million integers or five million names."""
    return Input(request.param, LARGE if request.param == "int64" else LARGE // 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_large_calls_end_and_others_ran(large: Input, name: str) -> None:
    make, call = CALLS[name]
    counter = Counter()
    counter.start()
    z = make(large)
    whole = duration(lambda: call(z, large))
    for share in (0.2, 0.5, 0.8):
        z = make(large)
        size, total = len(z), z.total()
        counted = counter.count
        start = time.monotonic()
        try:
            with alarm(whole * share):
                call(z, large)
        except KeyboardInterrupt:
            if (len(z), z.total()) == (size, total):
                call(z, large)
        assert time.monotonic() - start < PATIENCE
        assert whole < 0.1 or counter.count > counted
        z._validate()
    counter.stopped = True
    counter.join()
