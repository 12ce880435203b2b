"""From trace files to sorted sets."""

from __future__ import annotations

import errno
import os
import re
import reprlib
import sys
import time
from collections.abc import Callable, Iterable
from io import BufferedReader
from typing import Any, NamedTuple, TypeVar, cast

from .. import SortedSet, TraceError, _core, io
from .._sortedset import MemberKind, ScoreKind
from ..io._reader import Reader
from ..io.lichess import SPEEDS
from ..progress import track

B = TypeVar("B", bound=io.Batch)

_PAGES, _PLAYERS = "pages", "players"  # what the one set of a dump, or of games, is called
_DUMPS = (".tsv", ".tsv.bz2")
_COMMANDS = (".cmds", ".cmds.bz2")
# How a file of commands begins, and the name of a wiki, with which a dump begins, does not.
_FIRST_COMMAND = re.compile(rb'\s*(["\'*Z]|(?i:zadd|zincrby)\s)')
_INT64 = re.compile(rb"0|-?[1-9][0-9]{0,18}")


class Options(NamedTuple):
    """Kinds of member and score, and after how many events of a trace to stop."""

    member: MemberKind
    score: ScoreKind
    limit: int

    def empty_set(self) -> SortedSet[Any]:
        return SortedSet(member=self.member, score=self.score)


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
    if file == "-":
        is_commands = _FIRST_COMMAND.match(_standard_input_head()) is not None
    else:
        is_commands = file.endswith(_COMMANDS)
        if not is_commands and not file.endswith(_DUMPS):
            os.stat(file)  # a missing file is the better reason
            suffixes = ", ".join(_DUMPS + _COMMANDS)
            raise ValueError(
                f"{file}: the name of a trace ends in one of {suffixes}; '-' reads standard input"
            )
    return commands(file, options, None) if is_commands else history([file], options)


def history(files: list[str], options: Options) -> Loaded:
    """Count the edits of each page in dumps."""
    pages = options.empty_set()

    def take(batch: io.Batch, size: int) -> None:
        pages.increment_many(batch.page_id[:size])

    _check_standard_input(files)
    reader = io.mediawiki.history(files, progress=False)
    events, seconds = _feed(reader, options.limit, take)
    return Loaded({_PAGES: pages}, events, reader.skipped, seconds)


def games(files: list[str], options: Options, wanted: Ratings) -> Loaded:
    """Set each player's rating, game after game."""
    board = options.empty_set()
    skipped = 0

    def take(batch: io.lichess.GameBatch, size: int) -> None:
        nonlocal skipped
        ratings = batch.ratings_after if wanted.after_game else batch.ratings
        names, ratings = _names(batch, wanted.lower)[:size], ratings[:size]
        if wanted.speed != "all":
            chosen = batch._speeds[:size] == 1 + SPEEDS.index(wanted.speed)
            names, ratings = names[chosen], ratings[chosen]
            skipped += size - len(names)
        board.update(names, ratings)

    _check_standard_input(files)
    reader = io.lichess.games(files, progress=False)
    events, seconds = _feed(reader, options.limit, take, lambda batch: len(batch.ratings))
    others = {"other speed": skipped} if skipped else {}
    return Loaded({_PLAYERS: board}, events - skipped, reader.skipped | others, seconds)


def _names(batch: io.lichess.GameBatch, lower: bool) -> Any:
    """Names of players; of upper case they have ASCII letters only."""
    if not lower:
        return batch.players
    offsets, data = batch._players
    return _core.text_column(data.tobytes().lower(), offsets, 0, 1)


def commands(file: str, options: Options, key: bytes | None) -> Loaded:
    """Carry out the commands of a file, of all keys (None) or of one."""
    sets: dict[bytes, SortedSet[Any]] = {}
    skipped = 0

    def take(batch: io.CommandBatch, size: int) -> None:
        nonlocal skipped
        if key is not None and batch.key != key:
            skipped += size
            return
        members = batch.int_members()
        if members is None:
            raise _not_integer(file, batch)
        if batch.key not in sets:
            sets[batch.key] = options.empty_set()
        change = sets[batch.key].update if batch.op == "ZADD" else sets[batch.key].increment_many
        change(members[:size], batch.scores[:size])

    _check_standard_input([file])
    events, seconds = _feed(io.commands(file), options.limit, take)
    if skipped and not sets:
        raise ValueError(f"{_name(file)}: no command has the key {os.fsdecode(key or b'')!r}")
    named = {os.fsdecode(name): scores for name, scores in sets.items()}
    return Loaded(
        named or {"": options.empty_set()},
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


def _not_integer(file: str, batch: io.CommandBatch) -> TraceError:
    name = next(os.fsdecode(m) for m in batch.members.tolist() if not _is_int64(m))
    return TraceError(f"{_name(file)}: member {reprlib.repr(name)} is no 64-bit integer")


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
