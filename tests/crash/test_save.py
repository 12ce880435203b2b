"""Saves that are cut off: by SIGKILL, by a limit of file sizes, by a full file system.

Case B46: whatever happens, the file is an old or a new snapshot, whole; and only a killed process
leaves its temporary file behind.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from goblin import SnapshotError, SortedSet

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses Linux's limits and mounts")

# Saves sets of n members with scores n, for n of argv, over and over; tells of each.
SAVER = """
    import itertools, sys, goblin
    path, compression = sys.argv[1], sys.argv[2] or None
    sets = [goblin.SortedSet(range(n), float(n)) for n in map(int, sys.argv[3:])]
    for z in itertools.cycle(sets):
        z.save(path, compression=compression)
        print(len(z), flush=True)
"""
SIZES = (1, 3000, 40_000)


def assert_whole(path: Path) -> None:
    for mmap in (False, True):
        try:
            z = SortedSet.load(path, mmap=mmap)
        except ValueError as error:
            assert mmap
            assert not isinstance(error, SnapshotError)
            assert "can't be mapped" in str(error)
            return
        z._validate()
        assert len(z) in SIZES
        assert z.count(len(z), len(z)) == len(z)


def kill_savers(path: Path, times: int, compression: str) -> int:
    """Kills processes that save, each at another moment; how many left a temporary file."""
    rng = random.Random(times)
    script = [sys.executable, "-c", textwrap.dedent(SAVER), path, compression, *map(str, SIZES)]
    for _ in range(times):
        with subprocess.Popen(script, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(rng.random() * 0.05)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        assert_whole(path)
    others = {entry.name for entry in os.scandir(path.parent)} - {path.name}
    assert all(name.startswith(".goblin-") and name.endswith(".tmp") for name in others)
    assert len(others) <= times
    return len(others)


@pytest.mark.parametrize("compression", ["", "zstd"])
def test_a_killed_process_leaves_a_whole_file(tmp_path: Path, compression: str) -> None:
    kill_savers(tmp_path / "counts", 4, compression)


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["", "zstd"])
def test_many_killed_processes_leave_a_whole_file(tmp_path: Path, compression: str) -> None:
    left = kill_savers(tmp_path / "counts", 200, compression)
    assert left > 0, "no process was killed in the middle of a save"


# Replaces a good file while files may have so many bytes, and says what that raised.
LIMITED = """
    import resource, signal, sys, goblin
    path, limit, compression = sys.argv[1], int(sys.argv[2]), sys.argv[3] or None
    z = goblin.SortedSet(range(40_000), 40_000.0)
    z.rank(1)
    before = z.digest()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        z.save(path, compression=compression)
    except OSError as error:
        print(error.strerror)
    assert z.digest() == before
    z._validate()
"""


def save_within(path: Path, limit: int, compression: str = "") -> str:
    script = [sys.executable, "-c", textwrap.dedent(LIMITED), path, str(limit), compression]
    return subprocess.run(script, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("compression", ["", "zstd"])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_a_file_that_may_not_grow(tmp_path: Path, share: float, compression: str) -> None:
    path, whole = tmp_path / "counts", tmp_path / "whole"
    SortedSet([0], 1.0).save(path)
    assert save_within(whole, 1 << 30, compression) == ""
    limit = int(whole.stat().st_size * share)
    whole.unlink()
    assert save_within(path, limit, compression) == "File too large"
    assert os.listdir(tmp_path) == [path.name]
    assert len(SortedSet.load(path)) == 1


@contextlib.contextmanager
def small_disk(folder: Path, options: str) -> Iterator[Path]:
    """A file system in memory, where this user may mount one."""
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount; a limit of file sizes is tested above")
    if done.returncode != 0:
        pytest.skip(f"can't mount a small disk: {done.stderr}; a limit is tested above")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_a_disk_that_is_full(tmp_path: Path, compression: Any) -> None:
    with small_disk(tmp_path, "size=256k") as folder:
        path, old = folder / "counts", SortedSet(range(3000), 3000.0)
        old.save(path)
        rng = random.Random(1)  # so that it can't be compressed away
        large = SortedSet({n: rng.random() for n in range(50_000)})
        for _ in range(3):
            with pytest.raises(OSError, match="No space left"):
                large.save(path, compression=compression)
            assert os.listdir(folder) == [path.name]
            assert SortedSet.load(path) == old
        large._validate()
        SortedSet([0], 1.0).save(path)
        assert_whole(path)


def test_a_disk_with_no_room_for_a_name(tmp_path: Path) -> None:
    """A file system whose inodes are used up."""
    with small_disk(tmp_path, "size=1m,nr_inodes=3") as folder:
        (folder / "a").touch()
        (folder / "b").touch()
        with pytest.raises(OSError, match="No space left") as caught:
            SortedSet([0], 1.0).save(folder / "counts")
        assert caught.value.filename == str(folder / "counts")
        assert sorted(os.listdir(folder)) == ["a", "b"]


def test_a_disk_that_is_read_only(tmp_path: Path) -> None:
    with small_disk(tmp_path, "size=1m") as folder:
        path = folder / "counts"
        SortedSet([0], 1.0).save(path)
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        with pytest.raises(OSError, match="Read-only") as caught:
            SortedSet().save(path)
        assert caught.value.filename == str(path)
        assert len(SortedSet.load(path)) == 1
