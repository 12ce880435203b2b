"""Do bytes and nanoseconds per member stay flat from 10**4 to 10**8 members?

Dense ids 0..n-1 and random int64 ids, created in random order and then incremented at random. Each
size in a process of its own. 10**8 members, and so 4 GiB of memory, only with --full.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness import Report, arguments, isolated, random_members, seconds, size

from goblin import SortedSet

INCREMENTS = 4_000_000
CHUNK = 1 << 20


def main() -> None:
    args = arguments(__doc__, repeat=3)
    report = Report("growth", "per member and per increment, by number of members", args)
    for shape in "dense", "sparse":
        for power in range(4, size(args, 6, 8, 9)):
            rounds = [isolated(measure, shape, 10**power) for _ in range(args.repeat)]
            medians = np.median([list(one.values()) for one in rounds], axis=0).tolist()
            columns = dict(zip(rounds[0], medians, strict=True))
            report.row(ids=shape, members=10**power, **columns, samples=rounds)
    report.finish()


def measure(shape: str, members: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    ids = random_members(members, "int64") if shape == "sparse" else rng.permutation(members)
    drawn = ids[rng.integers(0, len(ids), INCREMENTS)]
    z = SortedSet(member="int64", score="float32")

    def by_chunk(members: np.ndarray) -> None:
        for at in range(0, len(members), CHUNK):
            z.increment_many(members[at : at + CHUNK])

    create = seconds(by_chunk, ids)
    again = seconds(by_chunk, drawn)
    index = z.memory().per_member
    order = seconds(z.rank, int(ids[0]))
    return {
        "create_ns": create / len(ids) * 1e9,
        "increment_ns": again / len(drawn) * 1e9,
        "order_ns": order / len(ids) * 1e9,
        "index_bytes": index,
        "with_order_bytes": z.memory().per_member,
    }


if __name__ == "__main__":
    main()
