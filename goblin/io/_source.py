"""Bytes of one trace file, decompressed as they are read."""

from __future__ import annotations

import bz2
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO, NamedTuple

from .._snapshot import MAGIC
from .._zstd import MAX_WINDOW_LOG, ZSTD_MAGIC, import_zstd, zstd_decoder
from ..errors import TraceError

BLOCK = 1 << 22
"""Bytes asked for at a time: enough to hide the cost of a call, and they stay in cache."""

_COMPRESSED_BLOCK = 1 << 18
_DECODED_PIECE = 1 << 16  # what a damaged block can take with it of the sound data before
_BZ2_MAGIC = b"BZh"
_SKIPPABLE_MAGIC = b"\x2a\x4d\x18"  # after a byte of 0x50..0x5f
_MAGIC_BYTES = 4

TraceFile = str | os.PathLike[str] | BinaryIO
"""A path, "-" for standard input, or a binary file object."""


def as_list(files: TraceFile | Iterable[TraceFile]) -> list[TraceFile]:
    """One file or many, as a list."""
    if isinstance(files, str | os.PathLike) or hasattr(files, "read"):
        return [files]  # type: ignore[list-item]
    listed = list(files)
    if not listed:
        raise ValueError("there is no file to read: the list of paths is empty")
    return listed


def size_of(file: TraceFile) -> int | None:
    """Bytes on disk, None where only reading will tell; FileNotFoundError for a missing file."""
    if isinstance(file, str | os.PathLike) and os.fspath(file) != "-":
        return os.stat(file).st_size
    return None


class Codec(NamedTuple):
    """A compression: its decoder of one stream or frame, and what that raises."""

    decoder: Callable[[], Any]
    error: type[Exception]


def _codec_of(head: bytes) -> Codec | None:
    if head.startswith(_BZ2_MAGIC):
        return Codec(bz2.BZ2Decompressor, OSError)
    is_skippable = head[1:] == _SKIPPABLE_MAGIC and head[0] & 0xF0 == 0x50
    return _zstd_codec() if head == ZSTD_MAGIC or is_skippable else None


def _zstd_codec() -> Codec:
    zstd = import_zstd()
    return Codec(lambda: zstd_decoder(zstd), zstd.ZstdError)


class Source:
    """One file as a stream of decompressed bytes.

    Compression is told by the first bytes, not by the name. Where compressed data is cut or
    followed by something else, `read` ends as at the end of the file, and `fault` says why, so that
    a reader can deliver what came before.
    """

    def __init__(self, file: TraceFile) -> None:
        if isinstance(file, str | os.PathLike):
            self.name = os.fspath(file)
            self._owned = self.name != "-"
            self._file: BinaryIO = sys.stdin.buffer
            if self._owned:
                self._file = open(file, "rb")  # noqa: SIM115 - closed by close()
        else:
            self.name = str(getattr(file, "name", "<stream>"))
            self._owned = False
            self._file = file
        if self.name == "-":
            self.name = "<stdin>"
        self.bytes_read = 0
        self.fault: str | None = None
        self._pending = self._read_file(_MAGIC_BYTES)
        if self._pending == MAGIC[:_MAGIC_BYTES]:
            self.close()
            raise TraceError(
                f"{self.name}: this is no trace but a saved container: SortedSet.load reads it, "
                "and so do the commands top, info and digest"
            )
        try:
            self._codec = _codec_of(self._pending)
        except ImportError:
            self.close()
            raise
        self._decoder = self._codec.decoder() if self._codec else None
        self._first_stream = True
        self._stream_started = False
        if self._decoder is None and self.name.lower().endswith((".bz2", ".zst", ".gz", ".xz")):
            self.close()
            raise TraceError(
                f"{self.name}, line 1: the name says compressed, but not by bzip2 or zstd, "
                "all that is read"
            )

    def close(self) -> None:
        if self._owned:
            self._file.close()

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; fewer, or none, only at the end."""
        if self._decoder is None:
            pending, self._pending = self._pending, b""
            return pending + self._read_file(size - len(pending))
        pieces = []
        while size > 0 and self.fault is None:
            piece = self._decompress(size)
            if piece is None:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _read_file(self, size: int) -> bytes:
        pieces = []
        while size > 0 and (piece := self._file.read(size)):
            pieces.append(piece)
            size -= len(piece)
            self.bytes_read += len(piece)
        return b"".join(pieces)

    def _decompress(self, size: int) -> bytes | None:
        """Some bytes, perhaps none yet; None at the end or after a fault."""
        assert self._codec is not None and self._decoder is not None
        if self._decoder.eof:
            self._pending = self._decoder.unused_data
            self._decoder = self._codec.decoder()
            self._first_stream, self._stream_started = False, False
        if self._decoder.needs_input and not self._pending:
            self._pending = self._read_file(_COMPRESSED_BLOCK)
            if not self._pending:
                if self._stream_started:
                    self.fault = "the compressed data is cut off"
                return None
        pending, self._pending = self._pending, b""
        try:
            piece: bytes = self._decoder.decompress(pending, min(size, _DECODED_PIECE))
        except self._codec.error as error:
            self.fault = self._explain(error)
            return None
        self._stream_started = True
        return piece

    def _explain(self, error: Exception) -> str:
        if "too much memory" in str(error):
            return f"a zstd frame asks for a window over {1 << MAX_WINDOW_LOG >> 20} MiB"
        new = not (self._first_stream or self._stream_started)
        return "garbage after the compressed data" if new else "damaged compressed data"
