"""How long do 1.45 billion edits of 80.8 million pages take, and how much memory?

A process of its own counts the ids that another one makes and sends through a pipe, builds the
order, and is then checked: each member's score, the sequence of ranks, and the digest of a set made
from the generator's final state. 1 million pages by default; --full is the size of Wikipedia.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import GIB, Report, arguments, isolated, rss, size

from goblin import SortedSet, synthetic

SEED = 1
WIKIPEDIA = 80_798_328
ROWS_AT_A_TIME = 1 << 16


def main() -> None:
    args = arguments(__doc__, repeat=1)
    report = Report("full_replay", "the whole replay in one process, int32-float32", args)
    members = size(args, 100_000, 1_000_000, WIKIPEDIA)
    for _ in range(args.repeat):
        row = isolated(replay, members)
        report.row(**row)
        if args.full:
            report.figure("RSS with the order built", row["rss_gib"], 0.25, "GiB")
            report.figure("peak RSS", row["peak_rss_gib"], 1.35 * 0.25, "GiB")
    report.finish()


def replay(members: int) -> dict[str, Any]:
    start, cpu_before = time.perf_counter(), time.process_time()
    z = SortedSet(member="int32", score="float32")
    counting, events = 0.0, 0
    for ids in piped(members):
        before = time.perf_counter()
        z.increment_many(ids)
        counting += time.perf_counter() - before
        events += len(ids)
    counted = time.perf_counter()
    index = z.memory().per_member
    first = z.by_rank[0]
    z.optimize()
    done, cpu = time.perf_counter(), time.process_time()
    resident, peak = rss(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    verify(z, first, events)
    return {
        "members": len(z),
        "events": events,
        "total_s": done - start,
        "cpu_s": cpu - cpu_before,
        "increments_s": counting,
        "increment_ns": counting / events * 1e9,
        "order_ns": (done - counted) / len(z) * 1e9,
        "index_bytes": index,
        "bytes": z.memory().per_member,
        "rss_gib": resident / GIB,
        "peak_rss_gib": peak / GIB,
    }


def piped(members: int) -> Iterator[np.ndarray]:
    """The events, made by another process: here they take the memory of one chunk."""
    code = f"import bench_full_replay as b; b.feed({members})"
    folder = Path(__file__).parent
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, bufsize=0) as feeder:
        pipe = feeder.stdout
        assert pipe is not None
        while head := pipe.read(8):
            ids = np.empty(int.from_bytes(head, "little"), np.int64)
            view, got = memoryview(ids).cast("B"), 0
            while got < len(view):
                got += pipe.readinto(view[got:])
            yield ids
    if feeder.returncode:
        raise subprocess.CalledProcessError(feeder.returncode, command)


def feed(members: int) -> None:
    for ids in synthetic.wikimedia(members, seed=SEED):
        sys.stdout.buffer.write(len(ids).to_bytes(8, "little"))
        sys.stdout.buffer.write(ids.data)


def verify(z: SortedSet[int], first: tuple[int, float], events: int) -> None:
    """AssertionError unless z is the generator's final state, in order."""
    trace = synthetic.wikimedia(len(z), seed=SEED)
    check(events == trace.events == z.total(), "number of events")
    for members, counts in trace.final_chunks():
        check(np.array_equal(z.scores(members), counts), "scores by member")
    before = (first[1], first[0] - 1)
    for start in range(0, len(z), ROWS_AT_A_TIME):
        rows = z.by_rank[start : start + ROWS_AT_A_TIME]
        scores = np.concatenate([[before[0]], rows.scores])
        members = np.concatenate([[before[1]], rows.members])
        rising = (np.diff(scores) > 0) | ((np.diff(scores) == 0) & (np.diff(members) > 0))
        check(bool(rising.all()), f"order from rank {start} on")
        before = (float(scores[-1]), int(members[-1]))
    check(z.digest() == isolated(final_digest, len(z)), "digest")


def check(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(f"replay and generator disagree: {what}")


def final_digest(members: int) -> Any:
    return synthetic.wikimedia(members, seed=SEED).final().digest()


if __name__ == "__main__":
    main()
