"""How long after Ctrl-C does a long call raise KeyboardInterrupt?

Each call runs once to the end, and then is interrupted at evenly spread moments: the milliseconds
from the signal to the exception, whatever is undone in between included. 10 million integers, half
as many that are far apart, a fifth as many names and fields of a hash, a tenth as many records.
"""

from __future__ import annotations

import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from harness import Report, arguments, size
from names import Names

import goblin
from goblin import Boards, Hash, HashTable, SortedSet

LIMIT_MS = 100


class Case(NamedTuple):
    name: str
    prepare: Callable[[], Any]
    call: Callable[[Any], object]


def main() -> None:
    args = arguments(__doc__, repeat=5)
    report = Report("interrupts", "ms from a signal to its exception, in long calls", args)
    members = size(args, 200_000, 10_000_000, 80_000_000)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        for cases in every_case(members, Path(folder) / "saved"):
            for case in cases:
                measure(report, case, args.repeat)
    report.finish()


def measure(report: Report, case: Case, repeat: int) -> None:
    whole = seconds_of(case)
    delays = [delay(case, whole * (i + 0.5) / repeat) for i in range(repeat)]
    heard = [d * 1e3 for d in delays if d is not None]
    median, worst = (statistics.median(heard), max(heard)) if heard else (0.0, 0.0)
    report.row(call=case.name, call_ms=whole * 1e3, median_ms=median, max_ms=worst, of=len(heard))
    report.figure(case.name, worst, LIMIT_MS, "ms")
    print(f"{case.name}: {whole * 1e3:.0f} ms, heard after {worst:.0f} at most", flush=True)


def seconds_of(case: Case) -> float:
    state = case.prepare()
    start = time.perf_counter()
    case.call(state)
    return time.perf_counter() - start


def delay(case: Case, after: float) -> float | None:
    """Seconds from a signal, so long after the call began, to its exception; None: it was over."""
    state = case.prepare()
    try:
        due = time.perf_counter() + after
        signal.setitimer(signal.ITIMER_REAL, after)
        case.call(state)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return time.perf_counter() - due
    return None


def every_case(members: int, path: Path) -> Iterator[list[Case]]:
    """The groups one after the other, so that only the objects of one are in memory."""
    rng = np.random.default_rng(1)
    ids = rng.permutation(members)
    sparse = rng.integers(0, 2**62, members // 2)
    yield of_sets("dense", ids, np.floor(rng.exponential(9.0, members)), path)
    yield of_sets("sparse", sparse, rng.random(len(sparse)), path)
    names = Names(members // 5).take(np.arange(members // 5)).astype(np.dtypes.StringDType())
    yield of_sets("names", names, np.floor(rng.exponential(900.0, len(names))), path)
    yield of_boards(members)
    yield of_hashes(names, rng.permutation(len(names)), path)
    yield of_tables(names[::2], rng.permutation(len(names) // 2), path)


def of_sets(shape: str, ids: np.ndarray, scores: np.ndarray, path: Path) -> list[Case]:
    options: Any = {"member": "str"} if shape == "names" else {}
    plain = SortedSet(ids, scores, **options)
    ordered = SortedSet.from_bytes(plain.to_bytes())
    next(iter(ordered))
    data = ordered.to_bytes()
    some = ids[::2]
    other = SortedSet(some, scores[::2], **options)
    fractions = np.linspace(0, 1, len(ids))
    ranks = np.random.default_rng(2).permutation(len(ordered))

    def fresh() -> SortedSet:
        return SortedSet.from_bytes(data)

    def saved(compression: Any) -> Callable[[], None]:
        return lambda: ordered.save(path, compression=compression)

    def case(name: str, call: Callable[[Any], object], prepare: Any = lambda: ordered) -> Case:
        return Case(f"{shape}: {name}", prepare, call)

    cases = [
        case("SortedSet()", lambda _: SortedSet(ids, scores, **options)),
        case("update", lambda z: z.update(ids, scores + 1), fresh),
        case("increment_many", lambda z: z.increment_many(ids, 0.5), fresh),
        case("merge", lambda z: z.merge(other), fresh),
        case("union", lambda z: goblin.union([z, other])),
        case("intersection", lambda z: goblin.intersection([z, other])),
        case("remove", lambda z: z.remove(some), fresh),
        case("remove_by_rank", lambda z: z.remove_by_rank(0, len(z) // 2), fresh),
        case("trim", lambda z: z.trim(len(z) // 3), fresh),
        case("pop_max", lambda z: z.pop_max(len(z) // 3), fresh),
        case("the first rank", lambda z: z.by_rank[0], plain.copy),
        case("top without an order", lambda z: z.top(10), plain.copy),
        case("scores", lambda z: z.scores(ids)),
        case("ranks", lambda z: z.ranks(ids)),
        case("by_rank of an array", lambda z: z.by_rank[ranks]),
        case("by_rank of a slice", lambda z: z.by_rank[:]),
        case("quantile", lambda z: z.quantile(fractions)),
        case("histogram", lambda z: z.histogram(100)),
        case("distinct_scores", lambda z: z.distinct_scores()),
        case("sample", lambda z: z.sample(len(z) // 2, rng=1)),
        case("scale", lambda z: z.scale(1 / 3), fresh),
        case("shift", lambda z: z.shift(0.5), fresh),
        case("decay", lambda z: z.decay(1.0, 1.0), fresh),
        case("optimize", lambda z: z.optimize(), plain.copy),
        case("copy", lambda z: z.copy()),
        case("==", lambda z: z == plain),
        case("digest", lambda z: z.digest()),
        case("to_numpy", lambda z: z.to_numpy()),
        case("to_dict", lambda z: z.to_dict()),
        case("save", lambda save: save(), lambda: saved(None)),
        case("load", lambda _: SortedSet.load(path), saved(None)),
        case("load of zstd", lambda _: SortedSet.load(path), saved("zstd")),
        case("to_bytes", lambda z: z.to_bytes()),
        case("from_bytes", lambda _: SortedSet.from_bytes(data)),
    ]
    if shape == "dense":
        cases.append(case("from_counts", lambda _: SortedSet.from_counts(iter([ids, ids]))))
    return cases


def of_boards(members: int) -> list[Case]:
    rng = np.random.default_rng(3)
    rows = members // 2
    cases = []
    for groups in (1000, rows // 10):
        columns = rng.integers(0, groups, rows), rng.integers(0, 10**6, rows), rng.random(rows)
        call = lambda columns: Boards.from_arrays(*columns)  # noqa: E731
        cases.append(Case(f"boards: {groups:,}", lambda columns=columns: columns, call))
    return cases


def of_hashes(names: np.ndarray, values: np.ndarray, path: Path) -> list[Case]:
    made: Hash = Hash(value="int64", max_compact_fields=0)
    made.set_many(names, values)
    content = made.to_dict()
    data = made.to_bytes()
    some = names[::2]

    def fresh() -> Hash:
        return Hash.from_bytes(data)

    def case(name: str, call: Callable[[Any], object], prepare: Any = lambda: made) -> Case:
        return Case(f"hash: {name}", prepare, call)

    return [
        case("set_many", lambda h: h.set_many(names, values), lambda: Hash(value="int64")),
        case("set_many of a full one", lambda h: h.set_many(names, values * 1000), fresh),
        case("update of a dict", lambda h: h.update(content), lambda: Hash(value="int64")),
        case("increment_many", lambda h: h.increment_many(names, 1000), fresh),
        case("get_many", lambda h: h.get_many(names)),
        case("pop_many", lambda h: h.pop_many(some), fresh),
        case("optimize", lambda h: h.optimize(), made.copy),
        case("copy", lambda h: h.copy()),
        case("==", lambda h: h == made, made.copy),
        case("to_dict", lambda h: h.to_dict()),
        case("to_numpy", lambda h: h.to_numpy()),
        case("save", lambda h: h.save(path)),
        case("load", lambda _: Hash.load(path), lambda: made.save(path)),
        case("to_bytes", lambda h: h.to_bytes()),
        case("from_bytes", lambda _: Hash.from_bytes(data)),
    ]


def of_tables(names: np.ndarray, values: np.ndarray, path: Path) -> list[Case]:
    columns = {"rating": values, "games": values % 100}
    made = HashTable.from_arrays(names, columns, value="int64")
    content = made.to_dict()
    data = made.to_bytes()

    def case(name: str, call: Callable[[Any], object], prepare: Any = lambda: made) -> Case:
        return Case(f"table: {name}", prepare, call)

    return [
        case("from_arrays", lambda _: HashTable.from_arrays(names, columns, value="int64")),
        case("update", lambda t: t.update(content), made.copy),
        case("column", lambda t: t.column("rating")),
        case("optimize", lambda t: t.optimize(), made.copy),
        case("copy", lambda t: t.copy()),
        case("to_dict", lambda t: t.to_dict()),
        case("save", lambda t: t.save(path)),
        case("load", lambda _: HashTable.load(path), lambda: made.save(path)),
        case("from_bytes", lambda _: HashTable.from_bytes(data)),
    ]


if __name__ == "__main__":
    main()
