"""From trace files to sorted sets."""

from __future__ import annotations

import errno
import os
import re
import reprlib
import stat
import sys
import time
from collections.abc import Callable, Iterable
from io import BufferedReader
from typing import Any, Literal, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from .. import SortedSet, TraceError, _core, io
from .._snapshot import MAGIC
from .._sortedset import MemberKind, ScoreKind
from ..io._reader import Reader
from ..io.lichess import SPEEDS
from ..progress import track

B = TypeVar("B", bound=io.Batch)

_PAGES, _PLAYERS = "pages", "players"  # what the one set of a dump, or of games, is called
_DUMPS = (".tsv", ".tsv.bz2")
_COMMANDS = (".cmds", ".cmds.bz2")
_GAMES = (".pgn", ".pgn.zst", ".pgn.bz2")
_SNAPSHOT, _SET = ".goblin", "members"  # and what its one set is called
# How commands and games (zstd, too) begin; the name of a wiki, as a dump begins, does not.
_FIRST_COMMAND = re.compile(rb'\s*(["\'*Z]|(?i:zadd|zincrby)\s)')
_FIRST_GAME = re.compile(rb"(\xef\xbb\xbf)?\s*\[|\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
_INT64 = re.compile(rb"0|-?[1-9][0-9]{0,18}")


class Options(NamedTuple):
    """Kinds of member (None: what suits the trace) and score, after how many events to stop."""

    member: MemberKind | None
    score: ScoreKind
    limit: int

    def empty_set(self, suits: MemberKind) -> SortedSet[Any]:
        return SortedSet(member=self.member or suits, score=self.score)


class Ratings(NamedTuple):
    """Which ratings make a leaderboard: of one speed or "all"; names in lower case; after games."""

    speed: str
    lower: bool
    after_game: bool


class Loaded(NamedTuple):
    """The sets of a trace by key, and what it took to fill them."""

    sets: dict[str, SortedSet[Any]]
    events: int
    skipped: dict[str, int]
    seconds: float


def trace(file: str, options: Options) -> Loaded:
    """Load a trace of the kind that its suffix says, or the first bytes of standard input."""
    head = _standard_input_head() if file == "-" else b""
    if file.endswith(_COMMANDS) or _FIRST_COMMAND.match(head):
        return commands(file, options, None)
    if file.endswith(_GAMES) or _FIRST_GAME.match(head):
        return games([file], options, Ratings("all", False, False))
    if file.endswith(_SNAPSHOT) or (file != "-" and is_snapshot(file)):
        return snapshot(file)
    if file != "-" and not file.endswith(_DUMPS):
        suffixes = ", ".join((*_DUMPS, *_COMMANDS, *_GAMES, _SNAPSHOT))
        raise ValueError(
            f"{file}: the name of a trace or snapshot ends in one of {suffixes}; "
            "'-' reads standard input"
        )
    return history([file], options)


def is_snapshot(file: str) -> bool:
    """Whether a file begins as what `save` writes. No look at a pipe, which can be read once."""
    if stat.S_ISFIFO(os.stat(file).st_mode):
        return False
    with open(file, "rb") as opened:
        return opened.read(len(MAGIC)) == MAGIC


def snapshot(file: str) -> Loaded:
    """Read a sorted set that was saved."""
    start = time.perf_counter()
    scores: SortedSet[Any] = SortedSet.load(file)
    return Loaded({_SET: scores}, 0, {}, time.perf_counter() - start)


def save(loaded: Loaded, file: str) -> None:
    """Write the one set of a trace to a snapshot."""
    if len(loaded.sets) != 1:
        keys = ", ".join(loaded.sets)
        raise ValueError(f"a snapshot is of one key, and these are {len(loaded.sets)}: {keys}")
    next(iter(loaded.sets.values())).save(file)


def history(files: list[str], options: Options) -> Loaded:
    """Count the edits of each page in dumps."""
    pages = options.empty_set("int64")

    def take(batch: io.Batch, size: int) -> None:
        pages.increment_many(batch.page_id[:size])

    _check_standard_input(files)
    reader = io.mediawiki.history(files, progress=False)
    events, seconds = _feed(reader, options.limit, take)
    return Loaded({_PAGES: pages}, events, reader.skipped, seconds)


def games(files: list[str], options: Options, wanted: Ratings) -> Loaded:
    """Set each player's rating, game after game."""
    board = options.empty_set("str")
    kind = _text_kind(board)
    skipped = 0

    def take(batch: io.lichess.GameBatch, size: int) -> None:
        nonlocal skipped
        ratings = (batch.ratings_after if wanted.after_game else batch.ratings)[:size]
        stops, data = batch._players
        stops = stops[: size + 1]
        if wanted.speed != "all":
            chosen = batch._speeds[:size] == 1 + SPEEDS.index(wanted.speed)
            ratings, (stops, data) = ratings[chosen], _pieces(stops, data, chosen)
            skipped += size - len(ratings)
        text = data.tobytes()  # of upper case it has ASCII letters only
        names: Any = _core.text_names(text.lower() if wanted.lower else text, stops, kind)
        board.update(names, ratings)

    _check_standard_input(files)
    reader = io.lichess.games(files, progress=False)
    events, seconds = _feed(reader, options.limit, take, lambda batch: len(batch.ratings))
    others = {"other speed": skipped} if skipped else {}
    return Loaded({_PLAYERS: board}, events - skipped, reader.skipped | others, seconds)


def _pieces(
    stops: NDArray[np.int64], data: NDArray[np.uint8], chosen: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The chosen of the pieces of data between stops from 0 on, next to each other."""
    sizes = np.diff(stops)
    return np.append(0, np.cumsum(sizes[chosen])), data[: stops[-1]][np.repeat(chosen, sizes)]


def commands(file: str, options: Options, key: bytes | None) -> Loaded:
    """Carry out the commands of a file, of all keys (None) or of one."""
    sets: dict[bytes, SortedSet[Any]] = {}
    skipped = 0

    def take(batch: io.CommandBatch, size: int) -> None:
        nonlocal skipped
        if key is not None and batch.key != key:
            skipped += size
            return
        batch = batch._head(size)
        held = sets.get(batch.key) or options.empty_set("int64")
        scores, members = _fitted(file, held, batch, options)
        sets[batch.key] = scores
        change = scores.update if batch.op == "ZADD" else scores.increment_many
        change(members, batch.scores)

    _check_standard_input([file])
    events, seconds = _feed(io.commands(file), options.limit, take)
    if skipped and not sets:
        raise ValueError(f"{_name(file)}: no command has the key {os.fsdecode(key or b'')!r}")
    named = {os.fsdecode(name): scores for name, scores in sets.items()}
    return Loaded(
        named or {"": options.empty_set("int64")},
        events - skipped,
        {"other key": skipped} if skipped else {},
        seconds,
    )


def _feed(
    reader: Reader[B],
    limit: int,
    take: Callable[[B, int], None],
    count: Callable[[B], int] = len,
) -> tuple[int, float]:
    """Hand over batches and how many of their events are wanted: events and seconds in all."""
    started = time.perf_counter()
    left = limit
    with track("auto", reader.bytes_total, "B", "reading") as advance:
        done = 0
        while left > 0 and (batch := next(reader, None)) is not None:
            size = min(count(batch), left)
            take(batch, size)
            left -= size
            advance(reader.bytes_read - done)
            done = reader.bytes_read
    return limit - left, time.perf_counter() - started


def _fitted(
    file: str, scores: SortedSet[Any], batch: io.CommandBatch, options: Options
) -> tuple[SortedSet[Any], Any]:
    """The set, now one of bytes where the members ask for it, and these as it takes them."""
    if scores.member_dtype.startswith("int"):
        integers = batch.int_members()
        if integers is not None:
            return scores, integers
        if options.member is not None:
            member = next(m for m in batch.members.tolist() if not _is_int64(m))
            raise _unfit(file, member, "64-bit integer")
        scores = _as_bytes(scores, options)
    try:
        return scores, batch._names(_text_kind(scores))
    except UnicodeDecodeError as error:
        raise _unfit(file, error.object, "UTF-8") from None


def _as_bytes(integers: SortedSet[Any], options: Options) -> SortedSet[Any]:
    """A set of the same members as decimal text."""
    texts = options._replace(member="bytes").empty_set("bytes")
    for members, scores in integers._chunks():
        texts.update(np.asarray(members).astype("S"), scores)
    return texts


def _text_kind(scores: SortedSet[Any]) -> Literal["str", "bytes"]:
    return "str" if scores.member_dtype == "str" else "bytes"


def _unfit(file: str, member: bytes, wanted: str) -> TraceError:
    name = reprlib.repr(member.decode("utf-8", "surrogateescape"))
    return TraceError(f"{_name(file)}: member {name} is no {wanted}")


def _is_int64(member: bytes) -> bool:
    return _INT64.fullmatch(member) is not None and -(2**63) <= int(member) < 2**63


def _name(file: str) -> str:
    return "<stdin>" if file == "-" else file


def _check_standard_input(files: Iterable[str]) -> None:
    if "-" in files and sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "<stdin>")


def _standard_input_head() -> bytes:
    _check_standard_input(["-"])
    return cast(BufferedReader, sys.stdin.buffer).peek()
