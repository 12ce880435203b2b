"""A short comparison that anyone can run: the same ids counted by goblin and by its peers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from statistics import median

import numpy as np
from numpy.typing import NDArray

from .. import SortedSet, synthetic
from ..progress import track
from ._report import Report, table

_REPEATS = 3
_CHUNK = 1 << 20  # ids that become Python integers at a time

Ids = NDArray[np.int64]


def _goblin(ids: Ids) -> SortedSet[int]:
    counts: SortedSet[int] = SortedSet(member="int64")
    counts.increment_many(ids)
    return counts


def _bincount(ids: Ids) -> NDArray[np.int64]:
    return np.bincount(ids)


def _counter(ids: Ids) -> Counter[int]:
    counts: Counter[int] = Counter()
    for start in range(0, len(ids), _CHUNK):
        counts.update(ids[start : start + _CHUNK].tolist())
    return counts


_COUNTERS: dict[str, Callable[[Ids], object]] = {
    "goblin.SortedSet": _goblin,
    "numpy.bincount": _bincount,
    "collections.Counter": _counter,
}


def run(members: int) -> Report:
    """Count a synthetic trace with each in turn, several times; medians of the seconds."""
    trace = synthetic.wikimedia(members)
    ids = np.concatenate(list(trace))
    seconds: dict[str, list[float]] = {name: [] for name in _COUNTERS}
    with track("auto", _REPEATS * len(_COUNTERS) * len(ids), "id", "counting") as advance:
        for _ in range(_REPEATS):
            for name, count in _COUNTERS.items():
                started = time.perf_counter()
                count(ids)
                seconds[name].append(time.perf_counter() - started)
                advance(len(ids))
    medians = {name: median(times) for name, times in seconds.items()}
    return {
        "command": "bench",
        "members": members,
        "events": len(ids),
        "results": [
            {
                "name": name,
                "seconds": taken,
                "ns_per_event": taken / len(ids) * 1e9,
                "ratio": taken / medians["goblin.SortedSet"],
            }
            for name, taken in medians.items()
        ],
    }


def as_text(report: Report) -> str:
    """One row for each, with its time as a multiple of goblin's."""
    rows = [
        [
            result["name"],
            f"{result['seconds']:.3f}",
            f"{result['ns_per_event']:.1f}",
            f"{result['ratio']:.2f}",
        ]
        for result in report["results"]
    ]
    head = (
        f"{report['events']:,} increments of {report['members']:,} members, medians of {_REPEATS}"
    )
    return f"{head}\n\n{table([['', 'seconds', 'ns each', 'ratio'], *rows])}"
