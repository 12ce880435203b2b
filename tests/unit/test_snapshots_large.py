"""Mapped files so large that their content is not looked at first: they do what smaller ones do."""

from __future__ import annotations

import copy
import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from snapshots import TAIL
from test_snapshots import READS as SET_READS
from test_snapshots import WRITES as SET_WRITES
from test_snapshots_hash import HASH_READS, HASH_WRITES, TABLE_READS, TABLE_WRITES, alike

from goblin import Hash, HashTable, SnapshotError, SortedSet

CHECKED_MAX = 4 << 20


class Large(NamedTuple):
    """One such object, its bytes, a key that it has, and what to write there."""

    made: Any
    data: bytes
    key: Any
    value: Any


def numbers() -> tuple[Any, Any]:
    members = np.random.default_rng(5).integers(0, 2**62, 250_000)
    return SortedSet(members, np.arange(len(members)) % 1000 / 3), int(members[7])


def names() -> tuple[Any, Any]:
    members = [f"{i * 7919 % 50_000:090}" for i in range(50_000)]
    return SortedSet(members, np.arange(50_000) % 1000, member="str"), members[7]


def pages() -> tuple[Any, Any]:
    members = np.arange(500_000) * 9
    return SortedSet(members, members % 300), 18


def fields() -> tuple[Any, Any]:
    return Hash({f"field {i}": f"{i * 7919:0120}" for i in range(40_000)}), "field 7"


def records() -> tuple[Any, Any]:
    rows = {
        f"key {i}": {"a": str(i), "b": "x" * (i % 300), f"c{i % 9}": "é"} for i in range(30_000)
    }
    return HashTable(rows), "key 7"


BUILDERS: list[Callable[[], tuple[Any, Any]]] = [numbers, names, pages, fields, records]


@pytest.fixture(scope="module", params=BUILDERS, ids=lambda build: build.__name__)
def large(request: Any) -> Large:
    made, key = request.param()
    if isinstance(made, SortedSet):
        made.rank(key)  # so that it has an order
    data = made.to_bytes()
    assert len(data) > CHECKED_MAX
    value = made[key].to_dict() if isinstance(made, HashTable) else made[key]
    return Large(made, data, key, value)


@pytest.fixture
def path(large: Large, tmp_path: Path) -> Path:
    path = tmp_path / "saved.goblin"
    path.write_bytes(large.data)
    return path


def load(large: Large, path: Path) -> Any:
    return type(large.made).load(path, mmap=True)


def writes_of(large: Large) -> list[Callable[[Any], Any]]:
    if isinstance(large.made, SortedSet):
        return [lambda z, w=write: w(z, large.key) for write in SET_WRITES.values()]
    writes = HASH_WRITES if isinstance(large.made, Hash) else TABLE_WRITES
    return [lambda h, w=write: w(h, large.key, large.value) for write in writes.values()]


def reads_of(one: Any) -> dict[str, Callable[[Any, Any], Any]]:
    return {SortedSet: SET_READS, Hash: HASH_READS, HashTable: TABLE_READS}[type(one)]


def test_reads_are_equal(large: Large, path: Path) -> None:
    mapped = load(large, path)
    for name, read in reads_of(large.made).items():
        assert alike(read(mapped, large.key), read(large.made, large.key)), name
    assert mapped.to_bytes() == large.data


def test_writes_are_refused(large: Large, path: Path) -> None:
    mapped = load(large, path)
    for write in writes_of(large):
        with pytest.raises(ValueError, match="mapped, so it can't be changed"):
            write(mapped)
    assert mapped.to_bytes() == large.data == path.read_bytes()


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_copies_can_be_written(large: Large, path: Path, duplicate: Callable[[Any], Any]) -> None:
    mapped = load(large, path)
    twin = duplicate(mapped)
    twin._validate()
    assert twin == large.made
    del twin[large.key]
    twin._validate()
    assert len(twin) == len(mapped) - 1
    assert large.key in mapped


@pytest.mark.skipif(os.name != "posix", reason="files that are in use stay on Windows")
def test_the_file_may_be_replaced_or_go(large: Large, path: Path) -> None:
    mapped = load(large, path)
    type(large.made)().save(path)
    assert mapped.to_bytes() == large.data
    mapped.save(path)
    path.unlink()
    assert mapped[large.key] == large.value
    assert mapped.to_bytes() == large.data


def test_an_iterator_keeps_the_file(large: Large, path: Path) -> None:
    running = iter(load(large, path))
    path.unlink()
    assert sum(1 for _ in running) == len(large.made)


def test_files_that_are_cut_off_are_refused(large: Large, path: Path) -> None:
    """Anywhere, and also where what is left ends as a file does."""
    size = len(large.data)
    tail = large.data[-TAIL:]
    sections = struct.unpack_from("<I", tail, 8)[0]
    end = large.data[-TAIL - 32 * sections :]
    for kept in (0, 1, 15, 16, 47, CHECKED_MAX + 1, size // 2 * 2 - 8, size - TAIL, size - 1):
        for more in (b"", tail, end):
            if kept + len(more) != size:
                path.write_bytes(large.data[:kept] + more)
                with pytest.raises(SnapshotError, match=path.name):
                    load(large, path)
    path.write_bytes(large.data + b"\0")
    with pytest.raises(SnapshotError, match="followed by something else"):
        load(large, path)


def test_what_says_how_much_there_is_is_checked(large: Large, path: Path) -> None:
    """Each byte of the head, of the list of sections and of the tail; and of the options."""
    size = len(large.data)
    sections = struct.unpack_from("<I", large.data, size - TAIL + 8)[0]
    for at in [*range(16, 32), *range(size - TAIL - 32 * sections, size), *range(16)]:
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(bytes([large.data[at] ^ 0x10]))
            file.flush()
            with pytest.raises(SnapshotError):
                load(large, path)
            file.seek(at)
            file.write(large.data[at : at + 1])
    assert load(large, path)[large.key] == large.value


def test_another_process_reads_it(large: Large, path: Path) -> None:
    script = (
        "import pickle, sys, goblin\n"
        "mapped = getattr(goblin, sys.argv[2]).load(sys.argv[1], mmap=True)\n"
        "sys.stdout.buffer.write(pickle.dumps(mapped, 5))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, path, type(large.made).__name__],
        capture_output=True,
        check=True,
    )
    twin = pickle.loads(run.stdout)
    assert twin.to_bytes() == large.data
    twin.clear()
