"""How fast are bulk increments, beside a bare loop in C and what else counts ids?

Events have the shape of Wikipedia's edits, of 8 million pages (default) or 80.8 million (--full).
They come in batches; the contenders take each batch in turn, in chunks of a million ids as the
readers give them, but for bincount, which gains by one call. Peers that are far slower count only
the end of the last batch, from nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
from harness import (
    CPU,
    LAYOUTS,
    WALL,
    Contender,
    Report,
    Times,
    arguments,
    race,
    rotated,
    seconds,
    size,
)
from peers import DictAndSortedList, Redis, compile_bare_loop, pipelines, redis_server

from goblin import SortedSet, synthetic

CHUNK = 1 << 20
BARE = "bare C loop"
BINCOUNT = "np.bincount, one call a batch"


def main() -> None:
    args = arguments(__doc__, repeat=3)
    trace = synthetic.wikimedia(size(args, 100_000, 8_000_000, 80_798_328), seed=1)
    report = Report("increments", "ns per bulk increment, Wikimedia shape", args)
    times, last = count_everything(trace, size(args, 32, 32, 128), args.repeat)
    for name in times.rounds:
        report.row(
            contender=name,
            events=trace.events,
            **times.columns(name),
            times_bare_loop=times.ratio(name, BARE),
        )
    with redis_server() as redis:
        for contender in slower_peers(last, size(args, 64, 1, 1), redis):
            alone = race([contender], args.repeat)
            report.row(
                contender=contender.name,
                events=contender.units,
                **alone.columns(contender.name),
                times_bare_loop=alone.median(contender.name) / times.median(BARE),
            )
    for layout in map("-".join, LAYOUTS):
        report.figure(f"{layout} to bare C loop", times.ratio(layout, BARE), 2.5, "times")
        report.figure(f"{layout} to np.bincount", times.ratio(layout, BINCOUNT), 1, "times")
    report.finish()


def count_everything(
    trace: synthetic.WikimediaTrace, chunks: int, repeat: int
) -> tuple[Times, np.ndarray]:
    """The whole trace through each contender; also the last batch of so many chunks."""
    ids_below = int(trace.final_arrays()[0][-1]) + 1
    bare_loop = compile_bare_loop()
    times = Times()
    for turn in range(repeat):
        counters = {
            BARE: by_chunk(bare_loop, np.zeros(ids_below, np.float32)),
            BINCOUNT: bincount_into(np.zeros(ids_below, np.int64)),
        }
        for member, score in LAYOUTS:
            z = SortedSet(member=member, score=score)
            counters[f"{member}-{score}"] = by_chunk(SortedSet.increment_many, z)
        spent = dict.fromkeys(counters, 0.0)
        for ids in batches(trace, chunks):
            for name, count in rotated(list(counters.items()), turn):
                spent[name] += seconds(count, ids)
        for name, total in spent.items():
            times.add(name, total, trace.events)
    return times, ids


def batches(trace: Iterable[np.ndarray], chunks: int) -> Iterator[np.ndarray]:
    left = iter(trace)
    while part := list(islice(left, chunks)):
        yield np.concatenate(part)


def by_chunk(
    count: Callable[[Any, np.ndarray], object], target: Any
) -> Callable[[np.ndarray], None]:
    def run(ids: np.ndarray) -> None:
        for start in range(0, len(ids), CHUNK):
            count(target, ids[start : start + CHUNK])

    return run


def bincount_into(total: np.ndarray) -> Callable[[np.ndarray], None]:
    def run(ids: np.ndarray) -> None:
        np.add(total, np.bincount(ids, minlength=len(total)), out=total)

    return run


def slower_peers(last: np.ndarray, divisor: int, redis: Redis | None) -> list[Contender]:
    large, medium, small = (last[-n // divisor :] for n in (8_000_000, 2_000_000, 200_000))
    counts = np.zeros(int(last.max()) + 1, np.float32)
    contenders = [
        on(large, "np.add.at", lambda ids: np.add.at(counts, ids, 1)),
        on(large, "np.bincount, 1 M at a time", by_chunk(bincount_at_a_time, counts)),
        on(large, "np.unique, 1 M at a time", by_chunk(unique_into, counts)),
        on(large, "pandas value_counts", lambda ids: pd.Series(ids).value_counts(sort=False)),
        on(large, "polars value_counts", lambda ids: pl.Series(ids).value_counts(), WALL),
        on(large, "DuckDB group by", duckdb_group_by, WALL),
        on(medium.tolist(), "Counter", Counter),
        on(small.tolist(), "dict + SortedList", dict_and_sorted_list),
    ]
    if redis is not None:
        commands = pipelines(b"ZINCRBY key 1 %d\r\n" % page for page in small.tolist())
        name = "redis-server, pipelines of 256"
        contenders.append(
            Contender(name, lambda _: redis.send(commands, 2), len(small), redis.clear, WALL)
        )
    return contenders


def on(
    ids: Any, name: str, run: Callable[[Any], object], clock: Callable[[], float] = CPU
) -> Contender:
    return Contender(name, run, len(ids), lambda: ids, clock)


def bincount_at_a_time(counts: np.ndarray, ids: np.ndarray) -> None:
    """What a stream costs it: all bins, for each chunk."""
    np.add(counts, np.bincount(ids, minlength=len(counts)), out=counts)


def unique_into(counts: np.ndarray, ids: np.ndarray) -> None:
    members, repeats = np.unique(ids, return_counts=True)
    counts[members] += repeats


def duckdb_group_by(ids: np.ndarray) -> None:
    events = {"id": ids}  # DuckDB finds it by its name
    duckdb.sql("select id, count(*) from events group by id").fetchnumpy()
    del events


def dict_and_sorted_list(ids: list[int]) -> None:
    counts = DictAndSortedList()
    for page in ids:
        counts.increment(page)


if __name__ == "__main__":
    main()
