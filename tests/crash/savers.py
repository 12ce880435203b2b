"""What the tests of saves that are cut off save, and the processes that do it.

python savers.py cycle CONTAINER PATH COMPRESSION    saves large and small, and tells of each
python savers.py limited CONTAINER PATH COMPRESSION BYTES    saves where files may have so many
"""

from __future__ import annotations

import itertools
import random
import resource
import signal
import sys
from typing import Any

from goblin import Hash, HashTable, SortedSet

CONTAINERS: dict[str, Any] = {"SortedSet": SortedSet, "Hash": Hash, "HashTable": HashTable}
SIZES = (1, 3000, 40_000)


def make(container: str, n: int) -> Any:
    """A container with n entries, each of which says n."""
    if container == "SortedSet":
        return SortedSet(range(n), float(n))
    if container == "Hash":
        return Hash({f"field:{i}": n for i in range(n)}, value="int64")
    return HashTable({f"key:{i}": {"n": str(n), f"of {i % 3}": "x"} for i in range(n)})


def make_dense(container: str, n: int) -> Any:
    """One whose bytes can't be compressed away."""
    rng = random.Random(1)
    if container == "SortedSet":
        return SortedSet({i: rng.random() for i in range(n)})
    values = {rng.randbytes(8): rng.randbytes(8) for _ in range(n)}
    if container == "Hash":
        return Hash(values, key="bytes", value="bytes")
    records = {key: {"v": value} for key, value in values.items()}
    return HashTable(records, key="bytes", value="bytes")


def assert_made(container: str, made: Any) -> None:
    """One that `make` has made, of one of the SIZES."""
    made._validate()
    n = len(made)
    assert n in SIZES
    if container == "SortedSet":
        assert made.count(n, n) == n
    elif container == "Hash":
        assert set(made.values()) == {n}
    else:
        assert set(made.column("n").tolist()) == {str(n)}


def save_in_a_cycle(container: str, path: str, compression: Any) -> None:
    for made in itertools.cycle([make(container, n) for n in SIZES]):
        made.save(path, compression=compression)
        print(len(made), flush=True)


def save_within(container: str, path: str, compression: Any, limit: int) -> None:
    """Replaces a good file while files may have so many bytes, and says what that raised."""
    made = make(container, SIZES[-1])
    before = made.to_bytes()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        made.save(path, compression=compression)
    except OSError as error:
        print(error.strerror)
    assert made.to_bytes() == before
    made._validate()


if __name__ == "__main__":
    mode, container, path, compression = sys.argv[1:5]
    if mode == "cycle":
        save_in_a_cycle(container, path, compression or None)
    else:
        save_within(container, path, compression or None, int(sys.argv[5]))
