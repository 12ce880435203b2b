"""What does the order cost: to build it from the index, to select by rank, to ask for a rank?

Wikimedia shape, 8 million pages (default) or 80.8 million (--full), and random members with random
scores, beside what numpy and Python need to sort the same pairs. A SortedList sorts fewer.
"""

from __future__ import annotations

from operator import itemgetter

import numpy as np
from harness import LAYOUTS, Contender, Report, arguments, race, random_members, size
from peers import DictAndSortedList

from goblin import SortedSet, synthetic

READS = 50_000


def main() -> None:
    args = arguments(__doc__, repeat=3)
    members = size(args, 100_000, 8_000_000, 80_798_328)
    report = Report("build", "ns per member to build the order, and per ordered read", args)
    ids, counts = synthetic.wikimedia(members, seed=1).final_arrays()
    build = add_case(report, "Wikimedia", ids, counts.astype(np.float32), args.repeat)
    ids = random_members(min(members, 8_000_000), "int32").astype(np.int64)
    scores = np.random.default_rng(2).random(len(ids), np.float32)
    add_case(report, "random", ids, scores, args.repeat)
    for layout, ns in build.items():
        report.figure(f"Wikimedia, order of {layout} from the index", ns, 25, "ns/member")
    report.finish()


def add_case(
    report: Report, shape: str, ids: np.ndarray, scores: np.ndarray, repeat: int
) -> dict[str, float]:
    """Returns ns per member of each layout's build."""
    sets = [SortedSet(ids, scores, member=member, score=score) for member, score in LAYOUTS]
    first = int(ids[0])
    builds = [Contender(z.layout, lambda z: z.rank(first), len(ids), z.copy) for z in sets]
    pairs = sorted(zip(ids[: 1 << 20].tolist(), scores[: 1 << 20].tolist(), strict=True))
    peers = [
        Contender("np.lexsort", lambda _: np.lexsort((ids, scores)), len(ids)),
        Contender("sorted, 1 M", lambda _: sorted(pairs, key=itemgetter(1)), len(pairs)),
        Contender("SortedList, 1 M", lambda _: DictAndSortedList(pairs), len(pairs)),
    ]
    times = race([*builds, *peers], repeat)
    reads = race([read for z in sets for read in reads_of(z, ids)], repeat)
    for contender in [*builds, *peers]:
        row = {"shape": shape, "contender": contender.name, "members": contender.units}
        row["build_ns"] = times.median(contender.name)
        row["best_build_ns"] = min(times.rounds[contender.name])
        if contender in builds:
            row["rank_ns"] = reads.median(f"{contender.name} rank")
            row["select_ns"] = reads.median(f"{contender.name} select")
        row["samples"] = times.rounds[contender.name]
        report.row(**row)
    return {z.layout: times.median(z.layout) for z in sets}


def reads_of(z: SortedSet[int], ids: np.ndarray) -> list[Contender]:
    """One call a member from Python, of random ones; the order is built."""
    rng = np.random.default_rng(3)
    members = ids[rng.integers(0, len(ids), READS)].tolist()
    ranks = rng.integers(0, len(ids), READS).tolist()
    z.optimize()
    return [
        Contender(f"{z.layout} rank", lambda _: [z.rank(m) for m in members], READS),
        Contender(f"{z.layout} select", lambda _: [z.by_rank[r] for r in ranks], READS),
    ]


if __name__ == "__main__":
    main()
