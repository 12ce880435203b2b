"""How fast are union, intersection and intersection_card of two sets, half of each in the other?

A million members each, whatever the option: dense ids, random int64, names; whole scores. Beside
plain dicts, dict + SortedList, and pandas. What goblin gives has no order before the first ordered
read, as with a dict and pandas; "ordered" is with one, and is what a SortedList compares with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from bench_memory import M, label
from harness import Contender, Report, arguments, race, random_members, size
from names import Names
from peers import DictAndSortedList

from goblin import SortedSet, intersection, intersection_card, union

ORDERED = "goblin, ordered"
SORTED_LIST = "dict + SortedList"

Scores = dict[Any, float]
Operation = dict[str, Callable[[Any], object]]  # by contender, of a pair of sets


def main() -> None:
    args = arguments(__doc__, repeat=3)
    report = Report("setops", "ns per member of both sets", args)
    members = size(args, 20_000, M, M)
    for shape in "dense ids", "random ids", "names":
        pool = pool_of(shape, members + members // 2)
        pairs = pairs_of(pool[:members], pool[-members:])
        for name, operation in OPERATIONS.items():
            add(report, label(shape, members), name, contenders(operation, pairs), args.repeat)
    report.finish()


def pool_of(shape: str, count: int) -> np.ndarray:
    if shape == "dense ids":
        return np.random.default_rng(1).permutation(count)
    if shape == "random ids":
        return random_members(count, "int64")
    return Names(count).take(np.arange(count)).astype(str)


def pairs_of(*members: np.ndarray) -> dict[str, Any]:
    """The two sets as each kind of contender has them, the order built where there is one."""
    rng = np.random.default_rng(2)
    sets = [SortedSet(m, rng.integers(0, 1000, len(m)).astype(float)) for m in members]
    for one in sets:
        one.optimize()
    dicts = [one.to_dict() for one in sets]
    return {"goblin": sets, "dict": dicts, "pandas": [pd.Series(d) for d in dicts]}


def contenders(operation: Operation, pairs: dict[str, Any]) -> list[Contender]:
    made = []
    for name, run in operation.items():
        pair = next(pair for kind, pair in pairs.items() if name.startswith(kind))
        made.append(Contender(name, run, sum(map(len, pair)), lambda pair=pair: pair))
    return made


def add(report: Report, case: str, name: str, raced: list[Contender], repeat: int) -> None:
    times = race(raced, repeat)
    for contender in times.rounds:
        ratio = times.ratio(contender, "goblin")
        row = {"case": case, "operation": name, "contender": contender}
        report.row(**row, **times.columns(contender), times_goblin=ratio)
    if name == "union":
        faster = times.ratio(SORTED_LIST, ORDERED)
        report.figure(
            f"{case}, union, {SORTED_LIST} to {ORDERED}", faster, 10, "times", at_least=True
        )


def dict_union(pair: list[Scores]) -> Scores:
    first, second = pair
    joined = dict(first)
    for member, score in second.items():
        joined[member] = joined.get(member, 0.0) + score
    return joined


def dict_intersection(pair: list[Scores]) -> Scores:
    first, second = pair
    return {member: score + second[member] for member, score in first.items() if member in second}


def pandas_union(pair: list[pd.Series]) -> pd.Series:
    return pd.concat(pair).groupby(level=0, sort=False).sum()


def pandas_intersection(pair: list[pd.Series]) -> pd.Series:
    first, second = pair
    return first.to_frame("first").join(second.rename("second"), how="inner").sum(axis=1)


OPERATIONS: dict[str, Operation] = {
    "union": {
        "goblin": union,
        ORDERED: lambda pair: union(pair).by_rank[0],
        "dict": dict_union,
        SORTED_LIST: lambda pair: DictAndSortedList(dict_union(pair)),
        "pandas": pandas_union,
        "pandas, sorted": lambda pair: pandas_union(pair).sort_values(),
    },
    "intersection": {
        "goblin": intersection,
        ORDERED: lambda pair: intersection(pair).by_rank[0],
        "dict": dict_intersection,
        SORTED_LIST: lambda pair: DictAndSortedList(dict_intersection(pair)),
        "pandas": pandas_intersection,
    },
    "intersection_card": {
        "goblin": intersection_card,
        "dict": lambda pair: len(pair[0].keys() & pair[1].keys()),
        "pandas": lambda pair: pair[0].index.isin(pair[1].index).sum(),
    },
}


if __name__ == "__main__":
    main()
