"""save, load, to_bytes, from_bytes and pickles: what they give, and what is left of failures."""

from __future__ import annotations

import contextlib
import copy
import gc
import io
import os
import pickle
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from model.compare import assert_memory
from model.layouts import ALL_LAYOUTS, LAYOUTS, Layout
from resident import resident
from snapshots import Subject, assert_alike, fill, paged_subjects, subjects

import goblin._snapshot as product
from goblin import GoblinError, Hash, SnapshotError, SortedSet
from goblin._zstd import import_zstd

SUBJECTS = [*subjects(), *paged_subjects()]
posix = pytest.mark.skipif(os.name != "posix", reason="of POSIX files")
every_subject = pytest.mark.parametrize("subject", SUBJECTS, ids=str)


@pytest.fixture
def z() -> SortedSet:
    return SortedSet({7: 1.5, 8: 0.1, -9: np.inf})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A path in a folder which has nothing else after the test but what was saved."""
    return tmp_path / "counts.goblin"


def names(folder: Path) -> set[str]:
    return set(os.listdir(folder))


def big(n: int = 1_500_000) -> SortedSet:
    members = np.random.default_rng(5).integers(0, 2**62, n)
    return SortedSet(members, np.arange(n) % 1000 / 3)


# ---- there and back


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_large_files_there_and_back(path: Path, compression: Any) -> None:
    """Read into huge pages, and checked by two threads."""
    z = big(600_000)
    z.add(5, 1.0)
    z.rank(5)
    z.save(path, compression=compression)
    data = path.read_bytes()
    assert len(data) > 4 << 20
    again = SortedSet.load(path)
    assert again.to_bytes() == z.to_bytes()
    again.add(1, 2.0)
    again._validate()
    path.write_bytes(data[:-1])
    with pytest.raises(SnapshotError):
        SortedSet.load(path)


@every_subject
def test_there_and_back(subject: Subject, path: Path) -> None:
    before = subject.build()
    data = before.to_bytes()
    packed = path.with_name("packed")
    before.save(path)
    before.save(packed, compression="zstd")
    assert path.read_bytes() == data
    assert import_zstd().decompress(packed.read_bytes()) == data
    mapped = subject.container.load(path, mmap=True)
    assert mapped.to_bytes() == data
    for made in (subject.container.from_bytes(data), subject.container.load(path)):
        assert made.to_bytes() == data
        assert_alike(before, made)
    assert_alike(before, subject.container.load(packed))
    assert_alike(before, mapped)
    assert_alike(before, mapped.copy())


@every_subject
def test_options_come_back_and_what_is_read_can_be_written(subject: Subject) -> None:
    z = subject.container.from_bytes(subject.data())
    again = subject.container.from_bytes(z.to_bytes())
    assert (again._compress, again._merge_exponent) == (z._compress, z._merge_exponent)
    assert again.to_bytes() == z.to_bytes()
    for member in list(again)[::3]:
        again.add(member, 2.0)
        z.add(member, 2.0)
    again.pop_max(5)
    z.pop_max(5)
    assert_alike(z, again)
    again.clear()
    again._validate()


@pytest.mark.parametrize("exponent", [0.0, 0.3, 1.0])
def test_the_merge_exponent_comes_back(exponent: float) -> None:
    z = SortedSet(merge_exponent=exponent)
    assert SortedSet.from_bytes(z.to_bytes())._merge_exponent == z._merge_exponent


def test_pending_changes_are_saved() -> None:
    z = SortedSet(range(5000), 1.0)
    z.rank(1)
    z.increment_many(range(100))
    again = SortedSet.from_bytes(z.to_bytes())
    assert_alike(z, again)


@pytest.mark.parametrize(
    "form",
    [bytes, bytearray, memoryview, lambda d: np.frombuffer(d, np.uint8),
     lambda d: memoryview(bytes(3) + d)[3:], lambda d: np.frombuffer(d, np.uint64),
     pickle.PickleBuffer],
)  # fmt: skip
def test_any_buffer_can_be_read(z: SortedSet, form: Callable[[bytes], Any]) -> None:
    assert_alike(z, SortedSet.from_bytes(form(z.to_bytes())))


def test_a_buffer_that_was_read_may_change(z: SortedSet) -> None:
    data = bytearray(z.to_bytes())
    again = SortedSet.from_bytes(data)
    data[:] = bytes(len(data))
    data.clear()  # no export is left
    assert_alike(z, again)


def test_a_buffer_may_change_while_it_is_read() -> None:
    """What is checked is what is read."""
    good = SortedSet(range(50_000), np.arange(50_000) / 7.0)
    good.rank(1)
    data = bytearray(good.to_bytes())
    kept, done = bytes(data), threading.Event()

    def scribble() -> None:
        view, rng = memoryview(data), np.random.default_rng(1)
        while not done.is_set():
            at = int(rng.integers(200, len(data) - 200))
            view[at : at + 99] = b"\xff" * 99
            view[at : at + 99] = kept[at : at + 99]

    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        for _ in range(40):
            with contextlib.suppress(SnapshotError):
                SortedSet.from_bytes(data)._validate()
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("data", [None, "text", 5, [1, 2], object()])
def test_what_is_no_buffer_is_no_snapshot(data: Any) -> None:
    with pytest.raises(TypeError):
        SortedSet.from_bytes(data)


def test_a_buffer_with_gaps_is_refused(z: SortedSet) -> None:
    with pytest.raises(BufferError):
        SortedSet.from_bytes(memoryview(z.to_bytes())[::2])


def test_errors_are_values_and_goblins_own(path: Path) -> None:
    assert issubclass(SnapshotError, ValueError)
    assert issubclass(SnapshotError, GoblinError)
    path.write_bytes(b"what?")
    with pytest.raises(SnapshotError, match=r"counts\.goblin: no SortedSet can be read"):
        SortedSet.load(path)


# ---- paths


@posix
def test_paths_of_all_kinds(z: SortedSet, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()

    class Like:
        def __fspath__(self) -> str:
            return "like"

    long = "é" * 127  # 254 of the 255 bytes that a name may have
    for name in ("plain", "sub/../dots", "./here", Like(), "Ω λ\n?", "-", ".hidden", long, b"\xff"):
        z.save(name)
        assert_alike(z, SortedSet.load(name))
        assert_alike(z, SortedSet.load(name, mmap=True))
        os.unlink(name)
    assert names(tmp_path) == {"sub"}


@pytest.mark.parametrize("wrong", [None, 3, 1.5, ["x"]])
def test_what_is_no_path(z: SortedSet, wrong: Any) -> None:
    with pytest.raises(TypeError):
        z.save(wrong)
    with pytest.raises(TypeError):
        SortedSet.load(wrong)


@posix
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("missing/counts", FileNotFoundError),
        ("file/counts", NotADirectoryError),
        ("", OSError),
        (".", IsADirectoryError),
        ("sub", IsADirectoryError),
        ("x" * 256, OSError),
        ("nul\0", ValueError),
        ("loop", OSError),
        ("fifo", ValueError),
        ("/dev/null", ValueError),
    ],
)
def test_where_nothing_can_be_saved(
    z: SortedSet, tmp_path: Path, monkeypatch: Any, name: str, error: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "fifo")
    before = names(tmp_path)
    with pytest.raises(error) as caught:
        z.save(name)
    assert names(tmp_path) == before
    assert ".tmp" not in str(caught.value)
    z._validate()


@posix
@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("missing", FileNotFoundError),
        ("sub", IsADirectoryError),
        ("empty", SnapshotError),
        ("/dev/null", ValueError),  # it is empty, and no regular file, which could be mapped
        ("dangling", FileNotFoundError),
    ],
)
def test_where_nothing_can_be_loaded(
    tmp_path: Path, monkeypatch: Any, name: str, error: Any, mmap: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "dangling").symlink_to("nothing")
    with pytest.raises(error, match=name):
        SortedSet.load(name, mmap=mmap)


@posix
@pytest.mark.parametrize("compression", [None, "zstd"])
def test_a_pipe_can_be_loaded_but_not_mapped(z: SortedSet, path: Path, compression: Any) -> None:
    z.save(path, compression=compression)
    data, fifo = path.read_bytes(), path.parent / "fifo"
    os.mkfifo(fifo)

    def write() -> None:
        with contextlib.suppress(BrokenPipeError):  # of what is not mapped nothing is read
            fifo.write_bytes(data)

    for mmap in (False, True):
        thread = threading.Thread(target=write)
        thread.start()
        try:
            if mmap:
                with pytest.raises(ValueError, match=f"{fifo} is no regular file.*without mmap"):
                    SortedSet.load(fifo, mmap=True)
            else:
                assert_alike(z, SortedSet.load(fifo))
        finally:
            thread.join()


# ---- zstd


def test_zstd_cannot_be_mapped(z: SortedSet, path: Path) -> None:
    z.save(path, compression="zstd")
    with pytest.raises(ValueError, match=f"{path} is compressed, and can't be mapped") as caught:
        SortedSet.load(path, mmap=True)
    assert not isinstance(caught.value, SnapshotError)


def test_zstd_that_is_damaged(z: SortedSet, path: Path) -> None:
    z.save(path, compression="zstd")
    data = path.read_bytes()
    damaged = [data[:end] for end in range(4, len(data))]
    damaged += [data + more for more in (b"\0", data, b"garbage")]
    flips = [(at, 1 << bit) for at in range(4, len(data)) for bit in range(8)]
    damaged += [data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :] for at, flip in flips]
    original = z.to_bytes()
    for content in damaged:
        path.write_bytes(content)
        try:  # a bit that zstd does not use may say the same
            assert SortedSet.load(path).to_bytes() == original
            assert len(content) == len(data)
        except SnapshotError as error:
            assert str(path) in str(error)


def test_zstd_of_something_else(path: Path) -> None:
    for content in (b"what?", b"", b"\x89GOB"):
        path.write_bytes(import_zstd().compress(content))
        with pytest.raises(SnapshotError, match=f"{path}: it is a zstd frame with something else"):
            SortedSet.load(path)


def test_bytes_are_not_expanded(z: SortedSet, path: Path) -> None:
    z.save(path, compression="zstd")
    for data in (path.read_bytes(), import_zstd().compress(b"what?")):
        for form in (data, bytearray(data), memoryview(data)):
            with pytest.raises(SnapshotError, match="this is a zstd frame"):
                SortedSet.from_bytes(form)
    with pytest.raises(SnapshotError, match="does not begin as a snapshot"):
        SortedSet.from_bytes(np.array(5))


def bomb(begin: bytes, end: bytes = b"") -> bytes:
    """A small frame of very many zeros between a beginning and an end."""
    compressor = import_zstd().ZstdCompressor()
    zeros = bytes(1 << 22)
    parts = [begin, *[zeros] * 128, end]
    return b"".join(map(compressor.compress, parts)) + compressor.flush()


def tail(size: int, sections: int = 1) -> bytes:
    """What a file of this size ends with, its list of sections included."""
    offset = size - 32 * (sections + 1)
    return bytes(32 * sections) + struct.pack("<QI12x8s", offset, sections, b"\x89GOB\r\n\x1a\n")


MEASURED_LOAD = """
    import re, sys, goblin
    def peak():
        with open("/proc/self/status") as status:
            return int(re.search(r"VmHWM:\\s*(\\d+) kB", status.read())[1]) >> 10
    goblin.SortedSet({1: 1.0}).save(sys.argv[1] + ".small", compression="zstd")
    goblin.SortedSet.load(sys.argv[1] + ".small")
    before = peak()
    try:
        getattr(goblin, sys.argv[2]).load(sys.argv[1])
    except goblin.SnapshotError as error:
        print(error)
    print(peak() - before)
"""


def measured_load(path: Path, container: str) -> tuple[str, int]:
    """What loading a file in a new process says, and how many MiB that process grew by."""
    script = [sys.executable, "-c", textwrap.dedent(MEASURED_LOAD), path, container]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    *said, grown = done.stdout.splitlines()
    return "".join(said), int(grown)


@resident
@pytest.mark.parametrize(
    ("begin", "end", "why"),
    [
        (b"", b"", "something else than a snapshot"),
        (SortedSet({1: 1.0}).to_bytes(), b"", "does not end as a snapshot of its size"),
        (SortedSet({1: 1.0}).to_bytes(), tail(1 << 28), "does not end as a snapshot of its size"),
    ],
    ids=["no beginning", "no end", "another size"],
)
def test_zstd_of_far_more_than_it_says_is_refused_in_little_memory(
    path: Path, begin: bytes, end: bytes, why: str
) -> None:
    path.write_bytes(bomb(begin, end))
    assert path.stat().st_size < 200_000
    said, grown = measured_load(path, "SortedSet")
    assert why in said
    assert str(path) in said
    assert grown < 40


@resident
def test_zstd_of_as_much_as_it_says_is_read_in_little_more(path: Path) -> None:
    """Content that is worth a thousandth of its size, in the file and in the object."""
    value = "0" * (50 << 20)
    Hash({"a": value}).save(path, compression="zstd")
    assert path.stat().st_size < 100_000
    assert Hash.load(path)["a"] == value
    said, grown = measured_load(path, "Hash")
    assert said == ""
    assert 90 < grown < 140  # the content, and the hash, of 50 each


@posix
def test_a_signal_is_heard_while_zstd_is_expanded(path: Path) -> None:
    """Again and again: those that come during one long step would be heard as one."""
    path.write_bytes(bomb(SortedSet({1: 1.0}).to_bytes()))
    heard: list[int] = []

    def handler(number: int, _: Any) -> None:
        heard.append(number)
        if len(heard) == 3:
            raise LookupError("from the handler")

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        with pytest.raises(LookupError, match="from the handler"):
            SortedSet.load(path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("wrong", ["gzip", "ZSTD", "", b"zstd", True, 3])
def test_unknown_compression(z: SortedSet, path: Path, wrong: Any) -> None:
    with pytest.raises(ValueError, match="compression"):
        z.save(path, compression=wrong)
    assert names(path.parent) == set()


def printed(script: str, path: Path) -> str:
    """What a process of its own prints."""
    command = [sys.executable, "-c", script, path]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_without_zstd_all_else_works(path: Path) -> None:
    script = (
        "import sys\n"
        "sys.modules['backports.zstd'] = sys.modules['compression.zstd'] = None\n"
        "import goblin\n"
        "z = goblin.SortedSet({1: 2.0})\n"
        "z.save(sys.argv[1])\n"
        "assert goblin.SortedSet.load(sys.argv[1]) == z\n"
        "try:\n"
        "    z.save(sys.argv[1], compression='zstd')\n"
        "except ImportError as error:\n"
        "    print(error)\n"
        "open(sys.argv[1], 'wb').write(b'\\x28\\xb5\\x2f\\xfd')\n"
        "try:\n"
        "    goblin.SortedSet.load(sys.argv[1])\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    assert printed(script, path).count("goblin-core[zstd]") == 2
    assert names(path.parent) == {path.name}


# ---- files


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o027, 0o077, 0o777])
def test_a_new_file_has_the_mode_that_open_gives(z: SortedSet, path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        z.save(path)
        open(path.with_name("other"), "wb").close()
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(entry.stat().st_mode) for entry in os.scandir(path.parent)}
    assert modes == {0o666 & ~umask}


@posix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o400, 0o000, 0o755, 0o2640])
def test_a_file_keeps_its_mode(z: SortedSet, path: Path, mode: int) -> None:
    path.write_bytes(b"old")
    path.chmod(mode)
    z.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    path.chmod(0o600)
    assert_alike(z, SortedSet.load(path))


@posix
@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_the_new_file_is_never_open_to_more_than_the_old(path: Path, mode: int) -> None:
    path.write_bytes(b"old")
    path.chmod(mode)
    script = (
        "import goblin, os, stat, sys\n"
        "def hook(event, args):\n"
        "    if event == 'os.chmod':\n"
        "        print(stat.S_IMODE(os.stat(args[0]).st_mode))\n"
        "sys.addaudithook(hook)\n"
        "os.umask(0)\n"
        "goblin.SortedSet({7: 1.0}).save(sys.argv[1])\n"
    )
    assert int(printed(script, path)) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_symbolic_links_stay(z: SortedSet, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, content in (("there", b"old"), ("dangling", None)):
        target, link, far = folder / name, tmp_path / name, tmp_path / f"far-{name}"
        if content is not None:
            target.write_bytes(content)
        link.symlink_to(Path("folder") / name)
        far.symlink_to(link)
        z.save(far)
        assert link.is_symlink()
        assert far.is_symlink()
        assert not target.is_symlink()
        assert_alike(z, SortedSet.load(target))
        assert_alike(z, SortedSet.load(far, mmap=True))
    assert names(folder) == {"there", "dangling"}


@posix
def test_hard_links_keep_the_old_content(z: SortedSet, path: Path) -> None:
    path.write_bytes(b"old")
    os.link(path, path.with_name("link"))
    z.save(path)
    assert path.with_name("link").read_bytes() == b"old"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder on a path that every user may walk; pytest's own are private."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
        os.chmod(folder, 0o700)


@posix
def test_a_folder_that_is_read_only(z: SortedSet, open_folder: Path) -> None:
    path = open_folder / "counts"
    z.save(path)
    open_folder.chmod(0o555)
    script = (
        "import os, sys, goblin\n"
        "os.getuid() == 0 and os.setuid(65534)\n"
        "try:\n"
        "    goblin.SortedSet({1: 1.0}).save(sys.argv[1])\n"
        "except PermissionError as error:\n"
        "    print(error.filename)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
    assert done.stdout == f"{path}\n", done.stderr
    assert names(open_folder) == {path.name}
    assert_alike(z, SortedSet.load(path))


@posix
def test_a_folder_that_cannot_be_listed_is_no_hindrance(open_folder: Path) -> None:
    path = open_folder / "counts"
    open_folder.chmod(0o333)
    script = (
        "import os, sys, goblin\n"
        "os.getuid() == 0 and os.setuid(65534)\n"
        "goblin.SortedSet({1: 1.0}).save(sys.argv[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
    open_folder.chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert len(SortedSet.load(path)) == 1


@posix
@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has another call than fsync")
def test_the_calls_in_their_order(z: SortedSet, path: Path, monkeypatch: Any) -> None:
    """The file is on the disk before it gets its name, and the name before save returns."""
    calls: list[tuple[str, Any]] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(fd: int) -> None:
        of_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
        calls.append(("fsync", "folder" if of_folder else os.fstat(fd).st_size))
        real_fsync(fd)

    def replace(old: Any, new: Any) -> None:
        assert os.path.dirname(old) == os.path.dirname(new)
        calls.append(("replace", new))
        real_replace(old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    z.save(path)
    size = len(z.to_bytes())
    target = os.path.realpath(path)
    assert calls == [("fsync", size), ("replace", target), ("fsync", "folder")]


# ---- errors in the middle


@pytest.mark.parametrize("error", [OSError(28, "full"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("compression", [None, "zstd"])
def test_errors_leave_the_old_file_and_nothing_else(
    z: SortedSet, path: Path, monkeypatch: Any, call: str, error: Any, compression: Any
) -> None:
    z.save(path)

    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(type(error)):
        SortedSet().save(path, compression=compression)
    monkeypatch.undo()
    assert names(path.parent) == {path.name}
    assert_alike(z, SortedSet.load(path))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # unclosed files
def test_an_interrupt_anywhere_leaves_a_whole_file_and_nothing_else(
    z: SortedSet, path: Path
) -> None:
    """An exception after each line and each call of save, as a signal handler raises them."""
    SortedSet().save(path)
    old, steps = path.read_bytes(), 0

    class Stop(BaseException):
        pass

    def interrupted(nth: int) -> bool:
        count = 0

        def tick(frame: Any, event: str, arg: Any) -> Any:
            nonlocal count
            if frame.f_code.co_filename != product.__file__:
                return None
            frame.f_trace_opcodes = True
            # Nobody can clean up after what breaks the cleaning up.
            if event == "opcode" and sys.exc_info()[0] is None:
                count += 1
                if count == nth:
                    raise Stop
            return tick

        before = sys.gettrace()
        sys.settrace(tick)
        try:
            z.save(path)
        except Stop:
            return True
        finally:
            sys.settrace(before)
        return False

    while interrupted(steps + 1):
        steps += 1
        assert names(path.parent) == {path.name}, steps
        if path.read_bytes() != old:
            assert_alike(z, SortedSet.load(path))
            path.write_bytes(old)
        z._validate()
    assert steps > 50


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # unclosed files
def test_a_save_that_is_interrupted(path: Path, interrupt_soon: Callable[[float], Any]) -> None:
    z = big()
    for delay in (0.001, 0.005, 0.02):
        with contextlib.suppress(KeyboardInterrupt):
            interrupt_soon(delay)
            z.save(path)
            interrupt_soon(0)
        assert names(path.parent) <= {path.name}
        if path.exists():
            assert len(SortedSet.load(path, mmap=True)) == len(z)
            path.unlink()
    z._validate()


def test_a_load_that_is_interrupted(path: Path, interrupt_soon: Callable[[float], Any]) -> None:
    z = big()
    data = z.to_bytes()
    for delay in (0.001, 0.005, 0.02):
        with contextlib.suppress(KeyboardInterrupt):
            interrupt_soon(delay)
            assert len(SortedSet.from_bytes(data)) == len(z)
            interrupt_soon(0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_an_exception_of_a_signal_handler_comes_out(z: SortedSet, path: Path) -> None:
    def handle(*_: Any) -> None:
        raise LookupError("from the handler")

    def write(chunk: bytes) -> None:
        signal.raise_signal(signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, handle)
    try:
        with pytest.raises(LookupError, match="from the handler"):
            z._save(write)
    finally:
        signal.signal(signal.SIGALRM, before)
    z._validate()


def test_a_write_that_fails(z: SortedSet) -> None:
    chunks: list[bytes] = []

    def write(chunk: bytes) -> None:
        chunks.append(chunk)
        raise OSError(28, "full")

    with pytest.raises(OSError, match="full"):
        z._save(write)
    large = big(400_000)
    with pytest.raises(OSError, match="full"):
        large._save(write)
    assert len(chunks) == 2
    z.add(1, 1.0)
    z._validate()
    large._validate()


def test_chunks_may_be_kept(path: Path) -> None:
    z = big(400_000)
    chunks: list[bytes] = []
    z._save(chunks.append)
    assert len(chunks) > 3
    assert b"".join(chunks) == z.to_bytes()


@pytest.mark.parametrize(
    "touch",
    [
        lambda z: z.add(1, 1.0),
        lambda z: z.clear(),
        lambda z: len(z),
        lambda z: z.top(1),
        lambda z: z.copy(),
        lambda z: z.to_bytes(),
        lambda z: z.__init__(),
        lambda z: z._load(b"", False),
        lambda z: z.update([(1, 1.0)]),
    ],
)
def test_the_set_cannot_be_used_while_it_is_saved(
    z: SortedSet, touch: Callable[[SortedSet], Any]
) -> None:
    before = z.to_dict()
    with pytest.raises(RuntimeError, match="can't be used from inside a call"):
        z._save(lambda chunk: touch(z))
    z._validate()
    assert z.to_dict() == before
    SortedSet.from_bytes(z.to_bytes())


# ---- threads and processes


def test_threads_wait_for_a_save_and_save_one_moment(path: Path) -> None:
    """Scores of two members change together; no snapshot has them apart."""
    z = big(300_000)
    z.update({-1: 0.0, -2: 0.0})
    done, errors = threading.Event(), []

    def write() -> None:
        n = 0.0
        while not done.is_set():
            n += 1.0
            z.update([-1, -2], [n, n])

    def read() -> None:
        while not done.is_set():
            if not (len(z) == 300_002 and z.rank(-1, default=None) is not None):
                errors.append("a read went wrong")

    threads = [threading.Thread(target=run) for run in (write, read)]
    for thread in threads:
        thread.start()
    try:
        for compression in (None, "zstd") * 3:
            z.save(path, compression=compression)
            loaded = SortedSet.load(path)
            assert loaded[-1] == loaded[-2]
            assert len(loaded) == 300_002
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert errors == []
    z._validate()


def test_two_processes_save_at_once(path: Path) -> None:
    script = (
        "import sys, goblin\n"
        "path, n = sys.argv[1], int(sys.argv[2])\n"
        "z = goblin.SortedSet(range(n), float(n))\n"
        "for _ in range(40): z.save(path)\n"
    )
    sizes = (500, 3000)
    running = [subprocess.Popen([sys.executable, "-c", script, path, str(n)]) for n in sizes]
    while any(process.poll() is None for process in running):
        if path.exists():
            z = SortedSet.load(path)
            assert len(z) in sizes
            assert z.count(len(z), len(z)) == len(z)
    assert [process.returncode for process in running] == [0, 0]
    assert names(path.parent) == {path.name}


def test_a_snapshot_of_another_process_with_another_hash_seed(path: Path) -> None:
    """Equal bytes, whatever the process."""
    script = (
        "import sys, numpy as np\n"
        "sys.path[:0] = [sys.argv[2]]\n"
        "from snapshots import subjects, paged_subjects\n"
        "from hashlib import sha256\n"
        "for subject in [*subjects(), *paged_subjects()]:\n"
        "    z = subject.build()\n"
        "    z.optimize()\n"
        "    print(subject, sha256(z.to_bytes()).hexdigest())\n"
    )
    tests = Path(__file__).parents[1]

    def run(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(
            [sys.executable, "-c", script, path, tests],
            capture_output=True, text=True, check=True, env=environment,
        ).stdout  # fmt: skip

    first = run("1")
    assert first.count("\n") == len(SUBJECTS)
    assert run("2") == first


# ---- mapped

WRITES: dict[str, Callable[[SortedSet, Any], Any]] = {
    "add": lambda z, m: z.add(m, 3.0),
    "clear": lambda z, m: z.clear(),
    "decay": lambda z, m: z.decay(1.0, 1.0),
    "discard": lambda z, m: z.discard(m),
    "increment": lambda z, m: z.increment(m),
    "increment_many": lambda z, m: z.increment_many([m]),
    "merge": lambda z, m: z.merge(z.copy(), aggregate="max"),
    "move": lambda z, m: z.move(z.copy(), [m]),
    "optimize": lambda z, m: z.optimize(),
    "pop": lambda z, m: z.pop(m),
    "pop_max": lambda z, m: z.pop_max(),
    "pop_min": lambda z, m: z.pop_min(3),
    "popitem": lambda z, m: z.popitem(),
    "remove": lambda z, m: z.remove([m]),
    "remove_by_lex": lambda z, m: z.remove_by_lex(None, m, within_score=z[m]),
    "remove_by_rank": lambda z, m: z.remove_by_rank(0, 1),
    "remove_by_score": lambda z, m: z.remove_by_score(-np.inf, np.inf),
    "scale": lambda z, m: z.scale(0.5),
    "setdefault": lambda z, m: z.setdefault(m, 5.0),
    "shift": lambda z, m: z.shift(2.0),
    "subtract": lambda z, m: z.subtract([m], 1.0),
    "trim": lambda z, m: z.trim(1),
    "update": lambda z, m: z.update([m], 7.0),
    "__setitem__": lambda z, m: z.__setitem__(m, 7.0),
    "__delitem__": lambda z, m: z.__delitem__(m),
    "__init__": lambda z, m: z.__init__(),
    "_load": lambda z, m: z._load(SortedSet().to_bytes(), False),
}
READS: dict[str, Callable[[SortedSet, Any], Any]] = {
    "around": lambda z, m: z.around(m, 2).to_list(),
    "bottom": lambda z, m: z.bottom(3).to_list(),
    "by_rank": lambda z, m: [z.by_rank[0], z.by_rank[1:3].to_list(), z.by_rank[[0, 1]].to_list()],
    "copy": lambda z, m: z.copy().to_dict(),
    "count": lambda z, m: z.count(0, 5),
    "count_lex": lambda z, m: z.count_lex(None, m, within_score=z[m]),
    "describe": lambda z, m: repr(SortedSet.describe(z)),
    "digest": lambda z, m: z.digest(),
    "distinct_scores": lambda z, m: [part.tolist() for part in z.distinct_scores()],
    "get": lambda z, m: z.get(m),
    "histogram": lambda z, m: z.histogram(3, (0, 5))[0].tolist(),
    "items": lambda z, m: list(z.items()),
    "keys": lambda z, m: list(z.keys()),
    "layout": lambda z, m: z.layout,
    "mean": lambda z, m: repr(z.mean()),
    "member_dtype": lambda z, m: z.member_dtype,
    "memory": lambda z, m: z.memory().members > -1,
    "most_common": lambda z, m: z.most_common(3),
    "page": lambda z, m: z.page(3).rows.to_list(),
    "percentile_of": lambda z, m: z.percentile_of(3.0),
    "quantile": lambda z, m: repr(z.quantile(0.25)),
    "range_by_lex": lambda z, m: z.range_by_lex(within_score=z[m]).to_list(),
    "range_by_score": lambda z, m: z.range_by_score(0, 5).to_list(),
    "rank": lambda z, m: z.rank(m),
    "ranks": lambda z, m: z.ranks([m]).tolist(),
    "sample": lambda z, m: z.sample(2, rng=1).to_list(),
    "save": lambda z, m: None,  # below
    "score_dtype": lambda z, m: z.score_dtype,
    "scores": lambda z, m: z.scores([m]).tolist(),
    "sum": lambda z, m: z.sum(0, 5),
    "to_arrow": lambda z, m: z.to_arrow().to_pylist(),
    "to_pandas": lambda z, m: z.to_pandas().to_dict("list"),
    "to_polars": lambda z, m: z.to_polars().rows(),
    "to_bytes": lambda z, m: SortedSet.from_bytes(z.to_bytes()).to_dict(),
    "to_dict": lambda z, m: z.to_dict(),
    "to_numpy": lambda z, m: [part.tolist() for part in z.to_numpy()],
    "top": lambda z, m: z.top(3).to_list(),
    "total": lambda z, m: repr(z.total()),
    "values": lambda z, m: list(z.values()),
    "__arrow_c_schema__": lambda z, m: str(pa.schema(z)),
    "__arrow_c_stream__": lambda z, m: pa.table(z).to_pylist(),
    "__array__": lambda z, m: repr(np.asarray(z)),
    "__contains__": lambda z, m: m in z,
    "__copy__": lambda z, m: copy.copy(z).to_dict(),
    "__deepcopy__": lambda z, m: copy.deepcopy(z).to_dict(),
    "__getitem__": lambda z, m: z[m],
    "__iter__": lambda z, m: list(z),
    "__len__": lambda z, m: len(z),
    "__reversed__": lambda z, m: list(reversed(z)),
    "__eq__": lambda z, m: z == z.to_dict(),
    "__repr__": lambda z, m: (repr(z), z._repr_html_().count("<tr>")),
    "__sizeof__": lambda z, m: sys.getsizeof(z) > 0,
    "__reduce_ex__": lambda z, m: pickle.loads(pickle.dumps(z)).to_dict(),
}
NEITHER = {"from_bytes", "from_counts", "load", "__class_getitem__", "__slots__"}
NEITHER |= {"__module__", "__orig_bases__", "__slotnames__"}
NEITHER |= {"__firstlineno__", "__static_attributes__"}  # what a class has from Python 3.13 on
FILLED = [s for s in SUBJECTS if "-0" not in s.name]


def test_every_public_name_is_a_read_or_a_write() -> None:
    """A new method has to say what it does to a set that is mapped."""
    public = {name for name in dir(SortedSet) if not name.startswith("_")}
    public |= set(dir(SortedSet)) - set(dir(object)) - {n for n in dir(SortedSet) if n[:2] != "__"}
    assert public <= set(WRITES) | set(READS) | NEITHER
    assert set(WRITES).isdisjoint(READS)


@pytest.fixture
def mapped(subject: Subject, path: Path) -> Iterator[SortedSet]:
    subject.build().save(path)
    yield subject.container.load(path, mmap=True)


@pytest.mark.parametrize("subject", FILLED, ids=str)
def test_a_mapped_set_cannot_be_written(subject: Subject, mapped: SortedSet) -> None:
    before, stranger = mapped.digest(), mapped.copy()
    member = next(iter(mapped))
    for name, write in WRITES.items():
        with pytest.raises(ValueError, match="mapped, so it can't be changed"):
            write(mapped, member)
            pytest.fail(f"{name} was let through")
    with pytest.raises(ValueError, match="mapped"):
        stranger.move(mapped, [member])
    assert mapped.digest() == before
    mapped._validate()
    assert_memory(mapped)


def test_absent_members_and_empty_calls_of_a_mapped_set(z: SortedSet, path: Path) -> None:
    """What would change nothing is let through or refused, and changes nothing."""
    for content in (z, SortedSet(member="int64")):
        content.save(path)
        mapped = SortedSet.load(path, mmap=True)
        for write in (
            lambda z: z.update([]),
            lambda z: z.remove([]),
            lambda z: z.remove([10**9]),
            lambda z: z.discard(10**9),
            lambda z: z.pop(10**9, None),
            lambda z: z.add(7, 1.5, mode="nx"),
            lambda z: z.increment_many([]),
            lambda z: z.scale(1.0),
            lambda z: z.trim(100),
            lambda z: z.pop_min(0),
            lambda z: z.clear(),
        ):
            try:
                write(mapped)
            except ValueError as error:
                assert "mapped" in str(error)
            assert_alike(content, mapped)


@pytest.mark.parametrize("subject", FILLED, ids=str)
def test_a_mapped_set_can_be_read(subject: Subject, mapped: SortedSet) -> None:
    own = subject.build()
    for member in (next(iter(own)), own.top(1)[0][0]):
        for name, read in READS.items():
            assert read(mapped, member) == read(own, member), name
    mapped._validate()


@pytest.mark.parametrize("subject", FILLED, ids=str)
def test_a_copy_of_a_mapped_set_can_be_written(subject: Subject, mapped: SortedSet) -> None:
    before = mapped.digest()
    for duplicate in (copy.copy, copy.deepcopy, SortedSet, lambda z: pickle.loads(pickle.dumps(z))):
        for write in WRITES.values():
            twin = duplicate(mapped)
            if duplicate is SortedSet:  # which takes members and kinds, not how they are kept
                assert twin == mapped
            else:
                assert_alike(mapped, twin)
            write(twin, next(iter(twin)))
            twin._validate()
    assert mapped.digest() == before


@pytest.mark.parametrize("subject", FILLED, ids=str)
def test_the_report_of_what_was_loaded(subject: Subject, mapped: SortedSet, path: Path) -> None:
    """A mapped file counts as the memory that it stands for."""
    loaded = subject.container.from_bytes(mapped.to_bytes())
    if not mapped._structure()["order_built"]:
        assert loaded.memory().order == 0
        assert mapped.memory().order <= 8 * mapped._structure()["pages"]  # what fills pages up
    for z in (mapped, loaded):
        assert_memory(z)
        z.rank(next(iter(z)))
        assert_memory(z)
    assert mapped.memory().total >= os.path.getsize(path) - 400


def test_a_mapped_set_saves_over_its_own_file(path: Path) -> None:
    big(20_000).save(path)
    mapped = SortedSet.load(path, mmap=True)
    content = mapped.to_bytes()
    for _ in range(3):
        mapped.save(path)
        assert path.read_bytes() == content == mapped.to_bytes()
        mapped._validate()


def test_a_mapped_file_may_be_replaced_or_go(path: Path) -> None:
    z = big(20_000)
    z.save(path)
    mapped = SortedSet.load(path, mmap=True)
    SortedSet().save(path)
    assert_alike(z, mapped)
    path.unlink()
    assert_alike(z, mapped)
    mapped.copy().clear()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/maps")
def test_the_file_is_let_go_with_the_set(path: Path) -> None:
    big(20_000).save(path)

    def mappings() -> int:
        gc.collect()
        with open("/proc/self/maps") as maps:
            return sum(path.name in line for line in maps)

    many = [SortedSet.load(path, mmap=True) for _ in range(5)]
    assert mappings() >= 5
    iterator = iter(many[0])
    many.clear()
    assert mappings() == 1
    next(iterator)
    del iterator
    assert mappings() == 0
    for bad in (b"\x89GOBwhat?", SortedSet({1: 1.0}).to_bytes()[:-1]):
        path.write_bytes(bad)
        with pytest.raises(SnapshotError):
            SortedSet.load(path, mmap=True)
        assert mappings() == 0


# ---- subclasses and pickles


class Board(SortedSet):
    def __init__(self, *data: Any, **options: Any) -> None:
        super().__init__(*data, **options)
        self.starts = getattr(self, "starts", 0) + 1


class Slotted(SortedSet):
    __slots__ = ("gone", "title")


class Stateful(SortedSet):
    def __getstate__(self) -> Any:
        return {"told": self.secret}

    def __setstate__(self, state: Any) -> None:
        self.secret = state["told"] + 1


class Named(SortedSet):
    """One that __new__ needs to be told of."""

    def __new__(cls, title: str) -> Named:
        made = super().__new__(cls)
        made.title = title
        return made

    def __init__(self, title: str) -> None:
        super().__init__(member="int64")

    def __reduce__(self) -> Any:
        return Named, (self.title,), None, None, iter(self.items())


class Told(SortedSet):
    """One whose __new__ has arguments, which it tells pickle and copy."""

    def __new__(cls, place: Any, /) -> Told:
        made = super().__new__(cls)
        made.place = place
        return made

    def __init__(self, place: Any, /) -> None:
        super().__init__(member="int64")

    def __getnewargs__(self) -> Any:
        return (self.place,)


class ToldByName(Hash):
    def __new__(cls, *, place: Any) -> ToldByName:
        made = super().__new__(cls)
        made.place = place
        return made

    def __init__(self, *, place: Any) -> None:
        super().__init__()

    def __getnewargs_ex__(self) -> Any:
        return (), {"place": self.place}


def duplicates() -> list[Any]:
    def through(protocol: int) -> Callable[[Any], Any]:
        return lambda z: pickle.loads(pickle.dumps(z, protocol))

    def out_of_band(z: Any) -> Any:
        buffers: list[Any] = []
        data = pickle.dumps(z, 5, buffer_callback=buffers.append)
        assert len(buffers) >= 1
        assert len(data) < 400
        return pickle.loads(data, buffers=[bytearray(b.raw()) for b in buffers])

    protocols = [through(protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    return [*protocols, out_of_band, copy.copy, copy.deepcopy]


@pytest.mark.parametrize("duplicate", duplicates())
@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_pickles(layout: Layout, duplicate: Callable[[Any], Any]) -> None:
    for n in (0, 3, 300):
        z = fill(layout, n, ordered=n == 300, compress=n != 3, merge_exponent=0.25)
        twin = duplicate(z)
        assert_alike(z, twin)
        assert (twin._compress, twin._merge_exponent) == (z._compress, z._merge_exponent)


@pytest.mark.parametrize("duplicate", duplicates())
def test_attributes_come_along(duplicate: Callable[[Any], Any]) -> None:
    board = Board({1: 2.0})
    board.title = ["May"]
    twin = duplicate(board)
    assert_alike(board, twin)
    assert twin.title == ["May"]
    assert twin.starts == 1

    slotted = Slotted({1: 2.0})
    slotted.title = ["June"]
    twin = duplicate(slotted)
    assert_alike(slotted, twin)
    assert twin.title == ["June"]
    assert not hasattr(twin, "gone")


def test_pickles_let_a_subclass_say_what_its_state_is() -> None:
    stateful = Stateful({1: 2.0})
    stateful.secret = 5
    twin = pickle.loads(pickle.dumps(stateful))
    assert_alike(stateful, twin)
    assert twin.secret == 6


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_let_a_subclass_say_how_it_is_made(protocol: int) -> None:
    named = Named("June")
    named.update({1: 2.0})
    twin = pickle.loads(pickle.dumps(named, protocol))
    assert_alike(named, twin)
    assert twin.title == "June"
    plain = pickle.loads(pickle.dumps(SortedSet(named).__reduce__()))
    assert plain[0](*plain[1]) == named


@pytest.mark.parametrize("duplicate", duplicates())
def test_what_new_is_given(duplicate: Callable[[Any], Any]) -> None:
    told = Told(["hall"])
    told.update({1: 2.0})
    named = ToldByName(place=["hall"])
    named.update(a="b")
    for one in (told, named):
        twin = duplicate(one)
        assert type(twin) is type(one)
        assert twin == one
        assert twin.place == ["hall"]
        assert (twin.place is one.place) == (duplicate is copy.copy)
    assert told.copy().place is told.place


def test_files_do_not_know_what_new_is_given(path: Path) -> None:
    told = Told("hall")
    told.save(path)
    for load in (lambda: Told.load(path), lambda: Told.from_bytes(told.to_bytes())):
        with pytest.raises(TypeError, match=r"Told.__new__\(\) missing 1 required positional"):
            load()


def test_pickles_keep_identity_and_cycles() -> None:
    board = Board({1: 2.0})
    board.itself, board.list = board, [board]
    for twin in (pickle.loads(pickle.dumps(board)), copy.deepcopy(board)):
        assert twin.itself is twin
        assert twin.list[0] is twin
        assert twin is not board
    first, second = pickle.loads(pickle.dumps([board, board]))
    assert first is second


def test_snapshots_of_subclasses(path: Path) -> None:
    board = Board({1: 2.0})
    board.save(path)
    for made in (Board.load(path), Board.from_bytes(board.to_bytes())):
        assert type(made) is Board
        assert not hasattr(made, "starts")
        assert made == board
    assert type(SortedSet.load(path)) is SortedSet
    mapped = Board.load(path, mmap=True)
    mapped.title = "May"
    assert mapped.copy().title == "May"
    mapped.copy().add(1, 1.0)


def test_a_damaged_pickle_is_an_error(z: SortedSet) -> None:
    data = bytearray(pickle.dumps(z))
    at = data.index(b"GOB\r\n") + 40
    data[at] ^= 1
    with pytest.raises(SnapshotError):
        pickle.loads(bytes(data))


def test_an_object_that_new_has_told_of(z: SortedSet) -> None:
    """A __new__ that hands the object on, or gives one that is in use."""
    seen: list[Any] = []

    class Registered(SortedSet):
        def __new__(cls, *_: Any) -> Any:
            seen.append(super().__new__(cls))
            return seen[-1]

    class Only(SortedSet):
        only = None

        def __new__(cls, *_: Any) -> Any:
            cls.only = cls.only or super().__new__(cls)
            return cls.only

    made = Registered.from_bytes(z.to_bytes())
    assert seen == [made]
    first = Only({5: 5.0})
    iterator = iter(first)
    assert Only.from_bytes(z.to_bytes()) is first
    assert first.to_dict() == z.to_dict()
    with pytest.raises(RuntimeError):
        next(iterator)
    first._validate()


def test_sets_that_were_never_started() -> None:
    bare = SortedSet.__new__(SortedSet)
    assert_alike(bare, SortedSet.from_bytes(bare.to_bytes()))
    bare.add(1, 1.0)
    assert_alike(bare, pickle.loads(pickle.dumps(bare)))


def test_streams_of_snapshots_are_not_joined(z: SortedSet) -> None:
    buffer = io.BytesIO()
    pickle.dump(z, buffer)
    pickle.dump(SortedSet(), buffer)
    buffer.seek(0)
    assert pickle.load(buffer) == z
    assert len(pickle.load(buffer)) == 0


@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_optimize_forgets_that_a_small_set_was_larger(layout: Layout) -> None:
    """It had an order then, and needs none now."""
    for n in (33, 64, 65):
        z = SortedSet(layout.series(90), 1.0, **layout.options)
        next(iter(z))
        z.add(layout.nth(0), 2.0)
        z.trim(n)
        iterator, listed = iter(z), list(z)
        assert next(iterator) == listed[0]
        other = SortedSet(z.to_dict(), **layout.options)
        next(iter(other))
        for one in (z, other):
            one.optimize()
            one._validate()
        assert z._structure()["order_built"] == (n > 64)
        assert z.to_bytes() == other.to_bytes()
        assert list(iterator) == listed[1:]


def test_optimize_forgets_which_pages_there_were() -> None:
    """Members that came one way are in a page, and another way in the table, until then."""
    ids = np.arange(6000)
    scores = 65530.0 + ids % 10
    one = SortedSet(member="int32", score="float32")
    one.increment_many(np.r_[ids, ids[::-1]], np.r_[scores, scores])
    other = SortedSet(one.to_dict(), member="int32", score="float32")
    assert one._structure()["pages"] != other._structure()["pages"]
    for z in (one, other):
        z.optimize()
        z._validate()
        next(iter(z))
        z.optimize()
    assert one.to_bytes() == other.to_bytes()


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_bytes_are_the_same_whatever_came_before(layout: Layout) -> None:
    """An increment too small to count, and members that came and went, leave no trace."""
    members = np.arange(3000)
    one = SortedSet(members, 2.0**60, **layout.options)
    other = SortedSet(members[::-1] * 2, 1.0, **layout.options)
    other.remove(members * 2)
    other.update(members, 2.0**60)
    with pytest.warns(UserWarning, match="too small"):
        other.increment(5, 1e-9)
    for z in (one, other):
        z.optimize()
    assert one.to_bytes() == other.to_bytes()


# ---- exact scores

EXACT = [0.1, 1 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, np.inf, -np.inf,
         1467787000123.25, 33333333.333333332, np.nextafter(1.0, 2.0), 1.0, 16777217.0]  # fmt: skip


def exact_scores(layout: Layout) -> np.ndarray:
    """Those, their negatives, and random bit patterns that are numbers."""
    bits = np.random.default_rng(45).integers(0, 2**64, 1100, np.uint64)
    patterns = bits.astype(f"uint{np.dtype(layout.score).itemsize * 8}").view(layout.score)
    drawn = patterns[np.isfinite(patterns)][:1000]
    assert len(drawn) == 1000
    with np.errstate(over="ignore"):
        chosen = np.array(EXACT + [-score for score in EXACT]).astype(layout.score)
    return np.concatenate([chosen, drawn])


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_scores_are_exact(layout: Layout, ordered: bool, path: Path) -> None:
    scores = exact_scores(layout)
    members = layout.array(layout.series(len(scores)))
    z = SortedSet(members, scores, **layout.options)
    if ordered:
        next(iter(z))
    z.save(path)
    script = (
        "import sys, goblin\n"
        "z = goblin.SortedSet.load(sys.argv[1])\n"
        "z.save(sys.argv[1] + '.other')\n"
        "print(z.ranks(z.to_numpy()[0]).sum())\n"
    )
    subprocess.run([sys.executable, "-c", script, path], check=True, capture_output=True)
    other = Path(f"{path}.other")
    assert other.read_bytes() == path.read_bytes() == z.to_bytes()
    wanted = scores + 0.0  # -0.0 is kept as 0.0
    ranks = z.ranks(members)
    for made in (
        SortedSet.from_bytes(z.to_bytes()),
        SortedSet.load(other),
        SortedSet.load(other, mmap=True),
        pickle.loads(pickle.dumps(z)),
    ):
        assert made.scores(members).tobytes() == wanted.tobytes()
        assert made.to_numpy()[1].tobytes() == z.to_numpy()[1].tobytes()
        assert made.ranks(members).tolist() == ranks.tolist()
