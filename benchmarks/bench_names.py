"""How many bytes does a member take that is no integer: a name, 16 bytes, a UUID?

Names with the lengths of Lichess players and whole ratings, 16 random bytes with whole scores below
2**32, and UUIDs with the counts of a Wikimedia trace. A million of each (default); --full takes the
21.6 million players of Lichess and 20 million UUIDs. goblin's own count and the growth of the
resident set, each in a process of its own that makes its members a chunk at a time; peers hold the
names of the default size, by resident set alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from bench_memory import label
from harness import Report, arguments, isolated, rss, seconds, size
from names import Names, ratings
from peers import DictAndSortedList, redis_growth

from goblin import SortedSet, synthetic

CHUNK = 1 << 20
M = 1_000_000
PLAYERS = 21_598_007

Chunks = Iterator[tuple[np.ndarray, np.ndarray]]


def main() -> None:
    args = arguments(__doc__, repeat=1)
    report = Report("names", "bytes per member, and ns to load one and to order it", args)
    small = size(args, M // 10, M, M)
    add(report, "names", size(args, M // 10, M, PLAYERS), 24)
    add(report, "16 bytes", small, 36)
    add(report, "UUIDs", size(args, M // 10, M, 20 * M), 31)
    for name, load in PEERS.items():
        per_member = isolated(load, small)
        report.row(case=label("names", small), layout=name, rss=per_member or "not installed")
    report.finish()


def add(report: Report, shape: str, members: int, limit: float) -> None:
    case = label(shape, members)
    row = isolated(measure, shape, members)
    report.row(case=case, **row)
    report.figure(f"{case}, with order", row["ordered"], limit, "B/member")
    report.figure(f"{case}, RSS with order", row["rss_ordered"], limit, "B/member")


def measure(shape: str, members: int) -> dict[str, Any]:
    loaded(shape, 1000)[0].optimize()  # what first calls import and allocate
    before = rss()
    z, spent = loaded(shape, members)
    row = {"layout": z.layout, "load_ns": spent / len(z) * 1e9, "loaded": z.memory().per_member}
    row["order_ns"] = seconds(lambda _: z.by_rank[0], None) / len(z) * 1e9
    row["ordered"] = z.memory().per_member
    row["rss_ordered"] = (rss() - before) / len(z)
    z.optimize()
    row["optimized"] = z.memory().per_member
    row["rss"] = (rss() - before) / len(z)
    return row


def loaded(shape: str, members: int) -> tuple[SortedSet[Any], float]:
    """A set filled by one update a chunk, and the seconds that took."""
    kind, chunks = SHAPES[shape]
    z: SortedSet[Any] = SortedSet(member=kind)
    spent = 0.0
    for names, scores in chunks(members):
        spent += seconds(lambda pairs: z.update(*pairs), (names, scores))
    return z, spent


def players(members: int) -> Chunks:
    names = Names(members)
    for at in range(0, members, CHUNK):
        numbers = np.arange(at, min(at + CHUNK, members))
        yield names.take(numbers), ratings(len(numbers), seed=at)


def sixteen_bytes(members: int) -> Chunks:
    rng = np.random.default_rng(1)
    for at in range(0, members, CHUNK):
        n = min(CHUNK, members - at)
        # No trailing NULs, which an S array does not keep.
        names = rng.integers(1, 256, (n, 16), np.uint8).view("S16")[:, 0]
        yield names, rng.integers(0, 2**32, n, np.uint32)


def uuids(members: int) -> Chunks:
    rng = np.random.default_rng(1)
    for ids, counts in synthetic.wikimedia(members, seed=1).final_chunks():
        yield rng.integers(0, 256, (len(ids), 16), np.uint8), counts


SHAPES: dict[str, tuple[Any, Callable[[int], Chunks]]] = {
    "names": ("bytes", players),
    "16 bytes": ("bytes", sixteen_bytes),
    "UUIDs": ("uuid", uuids),
}


def dict_alone(members: int) -> float:
    return rss_of(dict, members)


def dict_and_sorted_list(members: int) -> float:
    return rss_of(DictAndSortedList, members)


def rss_of(load: Callable[[Any], object], members: int) -> float:
    before = rss()
    loaded = load(pairs(members))
    growth = rss() - before
    del loaded
    return growth / members


def pairs(members: int) -> Iterable[tuple[bytes, float]]:
    for names, scores in players(members):
        for name, score in zip(names, scores, strict=True):
            yield bytes(name), float(score)


def redis(members: int) -> float | None:
    growth = redis_growth(b"ZADD key %d %b\r\n" % (score, name) for name, score in pairs(members))
    return None if growth is None else growth / members


PEERS = {"dict": dict_alone, "dict + SortedList": dict_and_sorted_list, "redis-server": redis}


if __name__ == "__main__":
    main()
