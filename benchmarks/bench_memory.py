"""How many bytes does a member take, beside dict, SortedList and redis-server?

goblin's own count, which agrees with its allocator to the byte, and the growth of the resident set,
each in a process of its own; peers by resident set alone, with the order built. The final state of
a Wikimedia trace of 8 million pages (default) or also 80.8 million (--full), and random members.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import LAYOUTS, Report, arguments, isolated, random_members, rss, size
from peers import DictAndSortedList, redis_growth

from goblin import SortedSet, synthetic

CHUNK = 1 << 20
M = 1_000_000


def main() -> None:
    args = arguments(__doc__, repeat=1)
    report = Report("memory", "bytes per member", args)
    for members in size(args, [M // 10], [8 * M], [8 * M, 80_798_328]):
        add_wikimedia(report, members)
    for members in size(args, [M // 10], [M, 10 * M], [M, 3 * M, 10 * M]):
        add_random(report, members)
    members = size(args, M // 10, M, M)
    for name, load in PEERS.items():
        per_member = isolated(load, members)
        report.row(case=label("random", members), layout=name, rss=per_member or "not installed")
    add_small(report)
    report.finish()


def add_wikimedia(report: Report, members: int) -> None:
    case = label("Wikimedia", members)
    for layout in LAYOUTS:
        row = isolated(wikimedia, members, *layout)
        report.row(case=case, **row)
        report.figure(f"{case}, {row['layout']}, index only", row["index"], 1.25, "B/member")
        report.figure(f"{case}, {row['layout']}, optimized", row["optimized"], 2.4, "B/member")


def add_random(report: Report, members: int) -> None:
    case = label("random", members)
    for layout, limit in {("int32", "float32"): 18, ("int64", "float64"): 38}.items():
        row = isolated(random_sparse, members, *layout)
        report.row(case=case, **row)
        report.figure(f"{case}, {row['layout']}, with order", row["ordered"], limit, "B/member")


def add_small(report: Report) -> None:
    three = SortedSet(dict.fromkeys([0, 2**40, 2**62], 1.0))
    three.rank(0)
    report.figure("three members 0, 2**40, 2**62", three.memory().total, 2047, "bytes")
    for member, score in LAYOUTS[0], LAYOUTS[-1]:
        ten = SortedSet({1000 * i: float(i * i) for i in range(10)}, member=member, score=score)
        name = f"ten members with the object, {ten.layout}"
        report.figure(f"{name}, as loaded", ten.memory().total, 400, "bytes")
        ten.rank(0)
        report.figure(f"{name}, after a rank", ten.memory().total, 400, "bytes")


def label(shape: str, members: int) -> str:
    return f"{shape} {members / M:.3g} M"


def wikimedia(members: int, member: str, score: str) -> dict[str, Any]:
    return measure(*synthetic.wikimedia(members, seed=1).final_arrays(), member, score)


def random_sparse(members: int, member: str, score: str) -> dict[str, Any]:
    return measure(*random_pairs(members, member, score), member, score)


def random_pairs(members: int, member: str, score: str) -> tuple[np.ndarray, np.ndarray]:
    ids = random_members(members, member)
    return ids, np.random.default_rng(2).random(len(ids), np.dtype(score))


def measure(ids: np.ndarray, scores: np.ndarray, member: str, score: str) -> dict[str, Any]:
    before = rss()
    z = SortedSet(member=member, score=score)
    for at in range(0, len(ids), CHUNK):
        z.update(ids[at : at + CHUNK], scores[at : at + CHUNK])
    report = {"layout": z.layout, "index": z.memory().per_member}
    z.rank(int(ids[0]))
    report["ordered"] = z.memory().per_member
    z.optimize()
    report["optimized"] = z.memory().per_member
    report["rss"] = (rss() - before) / len(z)
    return report


def dict_alone(members: int) -> float:
    return rss_of(dict, members)


def dict_and_sorted_list(members: int) -> float:
    return rss_of(DictAndSortedList, members)


def rss_of(load: Callable[[Any], object], members: int) -> float:
    ids, scores = random_pairs(members, "int64", "float64")
    before = rss()
    loaded = load((int(i), float(s)) for i, s in zip(ids, scores, strict=True))
    growth = rss() - before
    del loaded
    return growth / len(ids)


def redis(members: int) -> float | None:
    ids, scores = random_pairs(members, "int64", "float64")
    pairs = zip(ids.tolist(), scores.tolist(), strict=True)
    commands = (b"ZADD key %r %d\r\n" % (score, member) for member, score in pairs)
    growth = redis_growth(commands)
    return None if growth is None else growth / len(ids)


PEERS = {"dict": dict_alone, "dict + SortedList": dict_and_sorted_list, "redis-server": redis}


if __name__ == "__main__":
    main()
