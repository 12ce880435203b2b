"""What do many small boards cost, beside a dict of dicts?

100,000 groups of ten members, names of 12 bytes or integers: bytes a board by goblin's own count
and by the growth of the resident set, in a process of its own, and the time to fill them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness import Contender, Report, arguments, isolated, race, rss, size

from goblin import Boards

MEMBERS = 10
KINDS = ("str", "int64")


def main() -> None:
    args = arguments(__doc__, repeat=5)
    report = Report("boards", "bytes a board, and ns an event to fill them", args)
    groups = size(args, 10_000, 100_000, 1_000_000)
    for kind in KINDS:
        columns = events(groups, kind)
        contenders = [
            Contender("Boards", lambda rows: Boards.from_arrays(*rows), len(columns[0])),
            Contender("dict of dicts", lambda rows: dict_of_dicts(*rows), len(columns[0])),
        ]
        for contender in contenders:
            contender.prepare = lambda columns=columns: columns
        times = race(contenders, args.repeat)
        ours, theirs = isolated(boards_memory, groups, kind), isolated(dict_memory, groups, kind)
        report.row(case=kind, contender="Boards", **ours, **times.columns("Boards"))
        report.row(case=kind, contender="dict of dicts", **theirs, **times.columns("dict of dicts"))
        report.figure(f"{kind}, a board with its object", ours["sets"], 450, "bytes")
        share = ours["rss"] / theirs["rss"]
        report.figure(f"{kind}, Boards / dict of dicts, resident", share, 0.5, "times")
        ratio = times.ratio("Boards", "dict of dicts")
        report.figure(f"{kind}, Boards / dict of dicts, time to fill", ratio, 1, "times")
    report.finish()


def events(groups: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One increment for each member of each group, in random order."""
    rng = np.random.default_rng(1)
    members = rng.integers(0, 100_000, groups * MEMBERS)
    if kind == "str":
        names = [f"player_{i:05d}" for i in range(100_000)]
        members = np.array(names, np.dtypes.StringDType())[members]
    steps = rng.integers(1, 1000, groups * MEMBERS).astype(np.float64)
    return rng.permutation(np.repeat(np.arange(groups), MEMBERS)), members, steps


def dict_of_dicts(groups: np.ndarray, members: np.ndarray, by: np.ndarray) -> Any:
    boards: dict[int, dict[Any, float]] = {}
    for group, member, step in zip(groups.tolist(), members.tolist(), by.tolist(), strict=True):
        board = boards.setdefault(group, {})
        board[member] = board.get(member, 0.0) + step
    return boards


def boards_memory(groups: int, kind: str) -> dict[str, float]:
    columns = events(groups, kind)
    before = rss()
    boards = Boards.from_arrays(*columns)
    grown = rss() - before
    sets = sum(z.memory().total for z in boards.values())
    whole = boards.memory().total
    return {"sets": sets / groups, "mapping too": whole / groups, "rss": grown / groups}


def dict_memory(groups: int, kind: str) -> dict[str, float | str]:
    columns = events(groups, kind)
    before = rss()
    boards = dict_of_dicts(*columns)
    grown = rss() - before
    return {"sets": "", "mapping too": "", "rss": grown / len(boards)}


if __name__ == "__main__":
    main()
