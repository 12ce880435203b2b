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
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if sys.platform != "linux":
    pytest.skip("uses Linux's limits and mounts", allow_module_level=True)

import savers
from savers import CONTAINERS, make

from goblin import SnapshotError, SortedSet

each_container = pytest.mark.parametrize("container", CONTAINERS)


def assert_whole(container: str, path: Path) -> None:
    for mmap in (False, True):
        try:
            made = CONTAINERS[container].load(path, mmap=mmap)
        except ValueError as error:
            assert mmap
            assert not isinstance(error, SnapshotError)
            assert "can't be mapped" in str(error)
            return
        savers.assert_made(container, made)


def script(mode: str, *arguments: Any) -> list[str]:
    return [sys.executable, savers.__file__, mode, *map(str, arguments)]


def kill_savers(container: str, path: Path, times: int, compression: str) -> int:
    """Kills processes that save, each at another moment; how many left a temporary file."""
    rng = random.Random(times)
    for _ in range(times):
        saver = script("cycle", container, path, compression)
        with subprocess.Popen(saver, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(rng.random() * 0.1)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        assert_whole(container, path)
    others = {entry.name for entry in os.scandir(path.parent)} - {path.name}
    assert all(name.startswith(".goblin-") and name.endswith(".tmp") for name in others)
    assert len(others) <= times
    return len(others)


@pytest.mark.parametrize("compression", ["", "zstd"])
@each_container
def test_a_killed_process_leaves_a_whole_file(
    tmp_path: Path, container: str, compression: str
) -> None:
    kill_savers(container, tmp_path / "saved", 2, compression)


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["", "zstd"])
@each_container
def test_many_killed_processes_leave_a_whole_file(
    tmp_path: Path, container: str, compression: str
) -> None:
    left = kill_savers(container, tmp_path / "saved", 200, compression)
    assert left > 0, "no process was killed in the middle of a save"


def save_within(container: str, path: Path, limit: int, compression: str) -> str:
    saver = script("limited", container, path, compression, limit)
    return subprocess.run(saver, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("compression", ["", "zstd"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
@each_container
def test_a_file_that_may_not_grow(
    tmp_path: Path, container: str, share: float, compression: str
) -> None:
    path, whole = tmp_path / "saved", tmp_path / "whole"
    make(container, savers.SIZES[-1]).save(whole, compression=compression or None)
    make(container, 1).save(path)
    limit = int(whole.stat().st_size * share)
    whole.unlink()
    assert save_within(container, path, limit, compression) == "File too large"
    assert os.listdir(tmp_path) == [path.name]
    assert len(CONTAINERS[container].load(path)) == 1


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
@each_container
def test_a_disk_that_is_full(tmp_path: Path, container: str, compression: Any) -> None:
    with small_disk(tmp_path, "size=256k") as folder:
        path, old = folder / "saved", make(container, 3000)
        old.save(path)
        large = savers.make_dense(container, 50_000)
        for _ in range(3):
            with pytest.raises(OSError, match="No space left"):
                large.save(path, compression=compression)
            assert os.listdir(folder) == [path.name]
            assert CONTAINERS[container].load(path) == old
        large._validate()
        make(container, 1).save(path)
        assert_whole(container, path)


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
