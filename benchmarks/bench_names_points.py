"""What do single calls with names cost from Python, beside a dict and dict + SortedList?

A million names with the lengths of Lichess players. They are asked for by the very objects that the
dict holds, whose hashes are known, and by equal ones fresh from a reader, as a replay has them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from bench_names import M, label
from bench_points import increment_dict, increment_rank, increment_set
from harness import Contender, Report, Times, arguments, race, size
from names import Names, ratings
from peers import DictAndSortedList

from goblin import SortedSet

CALLS = 200_000
FEW = 20_000  # of calls that are slow or would make so many changes that the order is dropped

Draw = Callable[[], list[str]]


def main() -> None:
    args = arguments(__doc__, repeat=7)
    report = Report("names_points", "ns per call with one name from Python", args)
    members = size(args, 50_000, M, M)
    names = Names(members).take(np.arange(members)).astype(str)
    held = names.tolist()
    d = dict(zip(held, ratings(members, seed=1).astype(float).tolist(), strict=True))
    z, pure = SortedSet(d), DictAndSortedList(d)
    drawn = np.random.default_rng(2).integers(0, members, CALLS)
    draws: dict[str, Draw] = {
        "of the dict": lambda: [held[i] for i in drawn.tolist()],
        "fresh": lambda: names[drawn].tolist(),
    }
    for keys, draw in draws.items():
        times = race(plain(SortedSet(d), d, draw), args.repeat)
        times.rounds |= race(ordered(z, pure, draw), args.repeat).rounds
        for name in times.rounds:
            row = {"case": label("names", members), "keys": keys, "operation": name}
            report.row(**row, **times.columns(name))
        add_figures(report, keys, times)
    report.finish()


def plain(z: SortedSet[str], d: dict[str, float], draw: Draw) -> list[Contender]:
    """What needs no order: this set has none."""
    return [
        Contender("z[m]", lambda keys: [z[m] for m in keys], CALLS, draw),
        Contender("d[m]", lambda keys: [d[m] for m in keys], CALLS, draw),
        Contender("z.increment(m)", lambda keys: increment_set(z, keys), CALLS, draw),
        Contender("d[m] += 1.0", lambda keys: increment_dict(d, keys), CALLS, draw),
    ]


def ordered(z: SortedSet[str], pure: DictAndSortedList, draw: Draw) -> list[Contender]:
    def ready() -> list[str]:
        z.by_rank[0]
        return draw()[:FEW]

    return [
        Contender("z.increment(m), with order", lambda keys: increment_set(z, keys), FEW, ready),
        Contender("z.rank(m)", lambda keys: [z.rank(m) for m in keys], FEW, ready),
        Contender("SortedList: rank", lambda keys: [pure.rank(m) for m in keys], FEW, ready),
        Contender("z: increment, rank", lambda keys: increment_rank(z, keys), FEW, ready),
        Contender(
            "SortedList: increment, rank", lambda keys: increment_rank(pure, keys), FEW, ready
        ),
    ]


def add_figures(report: Report, keys: str, times: Times) -> None:
    for name, peer in {"z[m]": "d[m]", "z.increment(m)": "d[m] += 1.0"}.items():
        report.figure(f"{name} to {peer}, keys {keys}", times.ratio(name, peer), 1, "times")
    report.figure(f"z.rank(m), keys {keys}", times.median("z.rank(m)") / 1000, 1.5, "us")
    faster = times.ratio("SortedList: rank", "z.rank(m)")
    name = f"rank, dict + SortedList to goblin, keys {keys}"
    report.figure(name, faster, 5, "times", at_least=True)


if __name__ == "__main__":
    main()
