"""What do single calls from Python cost, and ordered reads in bulk?

Single calls at 1 million members beside a dict and dict + SortedList; `ranks` and `by_rank` of
arrays at 10 million; the top after a bulk load; updates and ranks in turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness import Contender, Report, Times, arguments, race, random_members, size
from peers import DictAndSortedList

from goblin import SortedSet, synthetic

CALLS = 200_000
ALTERNATIONS = 20_000
BULK = 1_000_000
LOOPS = 16


def main() -> None:
    args = arguments(__doc__, repeat=7)
    report = Report("points", "ns per call from Python, ns per member in bulk", args)
    small = size(args, 50_000, 1_000_000, 1_000_000)
    large = size(args, 200_000, 10_000_000, 10_000_000)
    for shape in "dense", "sparse":
        ids = random_members(small, "int64") if shape == "sparse" else shuffled(small)
        single_calls(report, shape, ids, args.repeat)
    bulk_reads(report, large, args.repeat)
    report.finish()


def shuffled(n: int) -> np.ndarray:
    return np.random.default_rng(1).permutation(n)


def single_calls(report: Report, shape: str, ids: np.ndarray, repeat: int) -> None:
    rng = np.random.default_rng(2)
    scores = rng.integers(0, 100, len(ids)).astype(float)
    z = SortedSet(ids, scores)
    d = dict(zip(ids.tolist(), scores.tolist(), strict=True))
    keys = ids[rng.integers(0, len(ids), CALLS)].tolist()
    few = keys[:ALTERNATIONS]
    pure = DictAndSortedList(d)
    alone = [
        Contender("z.increment(m)", lambda _: increment_set(z, keys), CALLS),
        Contender("d[m] += 1.0", lambda _: increment_dict(d, keys), CALLS),
        Contender("z[m]", lambda _: [z[m] for m in keys], CALLS),
        Contender("d[m]", lambda _: [d[m] for m in keys], CALLS),
    ]
    ordered = [
        Contender("z.rank(m)", lambda _: [z.rank(m) for m in keys], CALLS),
        Contender("SortedList rank", lambda _: [pure.rank(m) for m in few], ALTERNATIONS),
        Contender("z: increment, rank", lambda _: increment_rank(z, few), ALTERNATIONS),
        Contender("SortedList: increment, rank", lambda _: increment_rank(pure, few), ALTERNATIONS),
    ]
    times = race(alone, repeat)
    times.rounds |= race(ordered, repeat).rounds
    for name in times.rounds:
        report.row(case=f"{shape} {len(ids) / 1e6:.3g} M", operation=name, **times.columns(name))
    add_figures(report, shape, times)


def add_figures(report: Report, shape: str, times: Times) -> None:
    slower = times.ratio("z.increment(m)", "d[m] += 1.0")
    report.figure(f"{shape}, z.increment(m) to d[m] += 1.0", slower, 1, "times")
    faster = times.ratio("SortedList: increment, rank", "z: increment, rank")
    name = f"{shape}, increment then rank, dict + SortedList to goblin"
    report.figure(name, faster, 6, "times", at_least=True)


def increment_set(z: SortedSet[int], members: list[int]) -> None:
    for member in members:
        z.increment(member)


def increment_dict(d: dict[int, float], members: list[int]) -> None:
    for member in members:
        d[member] += 1.0


def increment_rank(z: Any, members: list[int]) -> None:
    for member in members:
        z.increment(member)
        z.rank(member)


def bulk_reads(report: Report, members: int, repeat: int) -> None:
    ids, counts = synthetic.wikimedia(members, seed=1).final_arrays()
    add_bulk(report, "Wikimedia", ids, counts.astype(float), repeat)
    ids = random_members(members, "int64")
    add_bulk(report, "random", ids, np.random.default_rng(2).random(len(ids)), repeat)


def add_bulk(report: Report, shape: str, ids: np.ndarray, scores: np.ndarray, repeat: int) -> None:
    z = SortedSet(ids, scores)
    rng = np.random.default_rng(3)
    members = ids[rng.integers(0, len(ids), BULK)]
    ranks = rng.integers(0, len(ids), BULK)
    case = f"{shape} {len(ids) / 1e6:.3g} M"
    top = [
        Contender("z.top(100), no order yet", lambda fresh: fresh.top(100), 1, z.copy),
        Contender("np.argpartition, 100", lambda _: np.argpartition(scores, -100)[-100:], 1),
    ]
    add_rows(report, case, race(top, repeat))
    z.optimize()
    reads = [
        Contender("z.ranks(array)", lambda _: z.ranks(members), BULK),
        Contender("z.by_rank[array]", lambda _: z.by_rank[ranks], BULK),
        Contender("z.top(100)", lambda _: [z.top(100) for _ in range(1000)], 1000),
    ]
    times = race(reads, repeat)
    add_rows(report, case, times)
    for name in "z.ranks(array)", "z.by_rank[array]":
        report.figure(f"{case}, {name}", times.median(name) / 1000, 0.7, "us")
    add_rows(report, case, update_then_rank(z, members, repeat))


def update_then_rank(z: SortedSet[int], members: np.ndarray, repeat: int) -> Times:
    """Batches of increments, each followed by the rank of one member; the order is there."""
    one = int(members[0])

    def ready() -> None:
        z.rank(one)

    def loop(batch: int) -> Contender:
        name = f"increment_many of {batch:,}, then rank"
        starts = range(0, LOOPS * batch, batch)
        return Contender(
            name, lambda _: [step(at, batch) for at in starts], 16, lambda: z.rank(one)
        )

    def step(at: int, batch: int) -> None:
        z.increment_many(members[at : at + batch])
        z.rank(one)

    return race([loop(batch) for batch in (1, 100, 10_000)], repeat)


def add_rows(report: Report, case: str, times: Times) -> None:
    for name in times.rounds:
        report.row(case=case, operation=name, **times.columns(name))


if __name__ == "__main__":
    main()
