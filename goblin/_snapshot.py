"""Snapshots of containers: files that are whole or absent, bytes, and pickles."""

from __future__ import annotations

import contextlib
import io
import mmap as _mmap
import os
import pickle
import stat
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Self, TypeVar

from ._held import new_arguments
from ._zstd import ZSTD_MAGIC, import_zstd, zstd_decoder
from .errors import SnapshotError

Path = str | os.PathLike[str]
T = TypeVar("T", bound="Snapshots")

# Of docs/format.md: what a file begins and ends with; its end, from the offset of the list of
# sections and their number on; and the bytes of an entry of that list.
MAGIC = b"\x89GOB\r\n\x1a\n"
_TAIL = struct.Struct("<QI12x8s")
_ENTRY = 32

_STEP = 1 << 20  # bytes that are expanded at once
_GENEROUS = 16  # so many times the file's size content may have without a second look


class Snapshots:
    """What SortedSet, Hash and HashTable have in common as files, bytes and pickles."""

    __slots__ = ()

    if TYPE_CHECKING:  # the C half has them

        def _save(self, write: Callable[[bytes], object], /) -> None: ...
        def _load(self, data: Any, mapped: bool, checked_max: int = ..., /) -> None: ...

    def save(self, path: Path, *, compression: Literal["zstd"] | None = None) -> None:
        """Write a snapshot to a file, which is then either the old one or the new one, whole.

        It holds what `to_bytes` gives, or that in one zstd frame, and has the mode that `open`
        would give; a symbolic link stays one. A temporary file beside it is written, synced and
        renamed. OSError where that fails, and ImportError where zstd is lacking; the old file is
        then as it was. O(bytes), at about the speed of the disk.

        >>> import goblin, os, tempfile
        >>> z = goblin.SortedSet({7: 1.0})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "counts.goblin")
        ...     z.save(path)
        ...     goblin.SortedSet.load(path) == z
        True
        """
        if compression not in (None, "zstd"):
            raise ValueError(f"unknown compression: {compression!r}; known are None, 'zstd'")
        codec = import_zstd() if compression else None
        with _replacing(os.path.realpath(os.fsdecode(path))) as file:
            if codec is None:
                self._save(file.write)
                return
            options = {codec.CompressionParameter.checksum_flag: 1}
            compressor = codec.ZstdCompressor(options=options)
            self._save(lambda chunk: file.write(compressor.compress(chunk)))
            file.write(compressor.flush())

    @classmethod
    def load(cls, path: Path, *, mmap: bool = False) -> Self:
        """Read what `save` wrote, with its options.

        Everything is checked: SnapshotError for a file that is damaged, of another container, or
        holds what no such container can. With `mmap` the object reads the file itself, whose pages
        come into memory as they are needed: it is there at once, can't be changed (ValueError; its
        `copy()` can), and needs the file as it is. Of mapped files of more than 4 MiB only sizes
        and places are checked at once; damaged content can't crash the process, but may give wrong
        answers, or SnapshotError when it is read.
        OSError where reading fails. O(bytes), mapped O(pages + blocks).

        >>> import goblin, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "counts.goblin")
        ...     goblin.SortedSet({7: 1.0, 8: 4.0}).save(path)
        ...     z = goblin.SortedSet.load(path, mmap=True)
        ...     z.top(1).to_list()
        ...     del z
        [(8, 4.0)]
        """
        name = os.fsdecode(path)
        try:
            with open(name, "rb", buffering=0) as file:
                return _filled(cls.__new__(cls), *_content(file, mmap))
        except SnapshotError as error:
            raise SnapshotError(f"{name}: {error}") from None
        except OSError as error:
            error.filename = error.filename or name  # which reading and mapping do not know
            raise

    def to_bytes(self) -> bytes:
        """Give a snapshot as bytes, which `docs/format.md` describes.

        After `optimize` they depend on content and options alone, and on whether an ordered read
        has built the order, which they then have; that of a `copy()` is not built. O(bytes).

        >>> import goblin
        >>> goblin.SortedSet.from_bytes(goblin.SortedSet({7: 1.0}).to_bytes())
        SortedSet(1 member, int64-float64, highest (7, 1.0))
        """
        buffer = io.BytesIO()
        self._save(buffer.write)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: Any, /) -> Self:
        """Read what `to_bytes` gave, from any buffer, and check all of it.

        SnapshotError as for `load`. O(bytes).

        >>> import goblin
        >>> goblin.SortedSet.from_bytes(b"what?")
        Traceback (most recent call last):
        goblin.errors.SnapshotError: no SortedSet can be read from this: it does not begin as a \
snapshot
        """
        try:
            return _restore(cls, data)
        except SnapshotError:
            if memoryview(data).cast("B")[: len(ZSTD_MAGIC)] == ZSTD_MAGIC:
                raise SnapshotError(
                    "this is a zstd frame; give what is in it, or load it as a file"
                ) from None
            raise

    def __reduce__(self) -> str | tuple[Any, ...]:
        return self._reduced(self.to_bytes())

    def _reduced(self, data: Any) -> tuple[Any, ...]:
        args, kwargs = new_arguments(self)
        told = (args, kwargs) if args or kwargs else ()
        return _restore, (type(self), data, *told), self.__getstate__()

    def __reduce_ex__(self, protocol: Any, /) -> str | tuple[Any, ...]:
        if protocol < 5 or type(self).__reduce__ is not Snapshots.__reduce__:  # a subclass's own
            return self.__reduce__()
        return self._reduced(pickle.PickleBuffer(self.to_bytes()))


def _restore(
    cls: type[T], data: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
) -> T:
    """A new object of a snapshot, whose __init__ is not called; pickles have this by its name."""
    return _filled(cls.__new__(cls, *args, **kwargs or {}), data, False)


def _filled(made: T, data: Any, mapped: bool) -> T:
    made._load(data, mapped)
    return made


def _content(file: io.FileIO, mapped: bool) -> tuple[Any, bool]:
    if not mapped:
        data = _read(file)
        compressed = data[: len(ZSTD_MAGIC)] == ZSTD_MAGIC
        return (_decompressed(data) if compressed else data), False
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise ValueError(f"{file.name} is no regular file, which can be mapped: load without mmap")
    head = file.read(len(ZSTD_MAGIC))
    if head == ZSTD_MAGIC:
        raise ValueError(f"{file.name} is compressed, and can't be mapped: load without mmap")
    # What is empty can't be mapped; it is no snapshot either.
    return (_mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_READ) if head else head), True


# Files from this size on are read into huge pages, where the system has them, this much between two
# looks at signals. 205 MB took 36 ms; into pages of 4 KiB, whose faults cost more than the copying,
# 111 ms and another 15 ms when they were freed.
_HUGE_FROM = 4 << 20
_PART = 64 << 20


def _read(file: io.FileIO) -> bytes | memoryview:
    """The rest of a file, from a multiple of eight bytes in memory on."""
    size = os.fstat(file.fileno()).st_size
    if size < _HUGE_FROM or not hasattr(_mmap, "MADV_HUGEPAGE"):
        return file.readall()
    try:
        room = _mmap.mmap(-1, size, flags=_mmap.MAP_PRIVATE | _mmap.MAP_ANONYMOUS)
        room.madvise(_mmap.MADV_HUGEPAGE)
    except OSError:  # no memory for it, or a kernel without huge pages
        return file.readall()
    view = memoryview(room)
    filled = 0
    while n := file.readinto(view[filled : filled + _PART]):
        filled += n
    return view[:filled].toreadonly()


def _decompressed(data: bytes | memoryview) -> bytes:
    """The content of a zstd frame, which may say that it is far larger than it is worth.

    Content that is many times as large as the file is kept only once it is known to end as a
    snapshot of its size.
    """
    content = io.BytesIO()
    generous = max(_GENEROUS * len(data), _STEP)
    for chunk in _steps(data):
        content.write(chunk)
        if not MAGIC.startswith(bytes(content.getbuffer()[: len(MAGIC)])):
            break
        if content.tell() > generous:
            generous = _size_looked_up(data)
    if content.getbuffer()[: len(MAGIC)] != MAGIC:
        raise SnapshotError("it is a zstd frame with something else than a snapshot in it")
    return content.getvalue()


def _steps(data: bytes | memoryview) -> Iterator[bytes]:
    """What is in a zstd frame, a piece at a time, so that signals are heard in between."""
    zstd = import_zstd()
    decoder = zstd_decoder(zstd)
    view = memoryview(data)
    at = 0
    try:
        while not decoder.eof and (at < len(data) or not decoder.needs_input):
            piece = view[at : at + _STEP] if decoder.needs_input else b""
            at += len(piece)
            yield decoder.decompress(piece, max_length=_STEP)
    except zstd.ZstdError as fault:
        raise SnapshotError(f"its compression is damaged: {fault}") from None
    if not decoder.eof or decoder.unused_data or at < len(data):
        raise SnapshotError("its compressed data is cut off, or followed by something else")


def _size_looked_up(data: bytes | memoryview) -> int:
    """The size of a snapshot in a zstd frame, by looking through it; SnapshotError for others."""
    size, end = 0, b""
    for chunk in _steps(data):
        size += len(chunk)
        end = (end + chunk)[-_TAIL.size :]
    offset, sections, magic = _TAIL.unpack(end)
    if magic != MAGIC or size != offset + sections * _ENTRY + _TAIL.size:
        raise SnapshotError("it does not end as a snapshot of its size")
    return size


@contextlib.contextmanager
def _replacing(target: str) -> Iterator[BinaryIO]:
    """A new file that takes the place of the target once it is whole and on the disk."""
    folder = os.path.dirname(target)
    new = os.path.join(folder, f".goblin-{os.urandom(8).hex()}.tmp")
    mode = _mode_of(target)
    try:
        with open(new, "xb", opener=_private if mode is not None else None) as file:
            if mode is not None:
                os.chmod(new, mode)
            yield file
            file.flush()
            _sync(file.fileno())
        os.replace(new, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(new)
        if isinstance(error, OSError) and error.filename == new:
            error.filename = target  # nobody has heard of the other name
        raise
    _sync_folder(folder)


def _private(path: str, flags: int) -> int:
    """For a file that gets its mode before its content: who must not read it can't open it."""
    return os.open(path, flags, 0o600)


def _mode_of(path: str) -> int | None:
    """The mode of a file that is there; OSError for what is no file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(21, "Is a directory", path)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is no regular file, which a snapshot could replace")
    return stat.S_IMODE(status.st_mode)


def _sync_folder(folder: str) -> None:
    try:
        fd = os.open(folder, os.O_RDONLY)
    except PermissionError:  # as every folder on Windows, and those that may not be listed
        return
    try:
        _sync(fd)
    finally:
        os.close(fd)


def _sync(fd: int) -> None:
    """Wait for the disk itself; fsync on macOS only waits for the drive's cache."""
    if sys.platform == "darwin":
        import fcntl

        with contextlib.suppress(OSError):  # which not every file system has
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
    os.fsync(fd)
