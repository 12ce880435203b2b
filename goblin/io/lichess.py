"""Lichess games: the tags of PGN files, as the monthly dumps have them in zstd.

A dump is many zstd frames, and a game may lie across two of them; so the text is read as one
stream, and of each game only the tags, for the moves are nine tenths of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..progress import Progress
from ._reader import Batch, Reader
from ._source import TraceFile

__all__ = ["SPEEDS", "GameBatch", "GameReader", "games"]

SPEEDS = ("ultrabullet", "bullet", "blitz", "rapid", "classical", "correspondence")
"""Names of the speeds, each of which has ratings of its own."""

# As gob_pgn_text, gob_pgn_kind and gob_pgn_speed.
_TEXTS = ("white", "black", "event", "result", "termination")
_ANY, _RATED, _CASUAL = range(3)
_SPEED_NAMES = np.array(["", *SPEEDS], dtype=np.dtypes.StringDType())

_NUMBERS: dict[str, Any] = {
    "white_elo": np.int32,
    "black_elo": np.int32,
    "white_diff": np.int32,
    "black_diff": np.int32,
    "utc": np.dtype("datetime64[s]"),
}
_CAPACITY = 1 << 14  # games of a batch at most


def games(
    paths: TraceFile | Iterable[TraceFile],
    *,
    rated: bool | None = True,
    variant: str | None = "standard",
    progress: Progress = "auto",
) -> GameReader:
    """Read the tags of Lichess games, `.pgn`, `.pgn.zst` or `.pgn.bz2`, as an iterator of batches.

    `paths` is one path, "-" for standard input, a binary file object, or an iterable of these.
    `rated=True` leaves out games whose event starts with "casual", False all others, None neither.
    `variant` is a Variant tag, whatever its case, blanks and hyphens, as "Three-check" and
    "threeCheck"; games without the tag are "standard"; None: any. `skipped` counts what was left
    out: "casual game" or "rated game", "other variant", and of the observations "no player" and
    "no rating". See GameBatch for what a batch holds. Zstd needs Python 3.14 or the extra "zstd".
    Time O(bytes), memory O(block).

    Raises FileNotFoundError for a missing file, ImportError where zstd is lacking, ValueError for
    no file or an empty variant, and, once the games before it are delivered, TraceError for a file
    that does not start with a game or ends within one, and for compressed data that is cut,
    damaged, followed by something else, or asks for a window over 128 MiB.

    >>> import io
    >>> text = '[Event "Rated Blitz game"]\\n[White "Ann"]\\n[WhiteElo "1500"]\\n\\n1. e4 1-0\\n'
    >>> reader = games(io.BytesIO(text.encode()))
    >>> [(batch.players.tolist(), batch.ratings.tolist()) for batch in reader], reader.skipped
    ([(['Ann'], [1500])], {'no player': 1})
    """
    wanted = None if variant is None else "".join(filter(str.isalnum, variant)).lower()
    if wanted == "":
        raise ValueError(f"{variant!r} is no variant; None reads any")
    return GameReader(paths, rated, wanted, progress)


class GameBatch(Batch):
    """Some games, and the ratings of their players.

    One row a game: `white`, `black`, `event`, `result`, `termination` (StringDType, made when first
    asked for, empty where absent), `white_elo`, `black_elo` (int32, before the game, -1 where
    absent), `white_diff`, `black_diff` (int32, 0 where absent), `utc` (datetime64[s], NaT where
    absent).

    One row an observation, white before black, of every rating of 1 to 4 digits of a player with an
    account: `players` (StringDType), `ratings` and `ratings_after` the game (int32), `speeds`
    (StringDType, of SPEEDS, or empty where the event names none).
    """

    def __init__(
        self,
        arrays: dict[str, np.ndarray],
        texts: tuple[NDArray[np.int64], np.ndarray],
        players: tuple[NDArray[np.int64], np.ndarray],
        speeds: NDArray[np.uint8],
    ) -> None:
        super().__init__(arrays)
        self._texts = texts
        self._player_bytes = players
        self._speeds = speeds  # 1 + place in SPEEDS, 0 for none

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a game."""
        return (*_TEXTS, *_NUMBERS)

    def __len__(self) -> int:
        return len(self._arrays["utc"])

    def __getitem__(self, column: str) -> Any:
        if column not in self._arrays:
            self._arrays[column] = self._make(column)
        return self._arrays[column]

    def __getattr__(self, column: str) -> Any:
        if column in _TEXTS or column in ("players", "speeds"):
            return self[column]
        return super().__getattr__(column)

    @property
    def _players(self) -> tuple[NDArray[np.int64], np.ndarray]:
        """Offsets, one more than players, and their names in UTF-8 as uint8, as in Arrow."""
        offsets, data = self._player_bytes
        if not data.tobytes().isascii():
            names = [name.encode() for name in _decoded(offsets, data)]
            offsets = np.cumsum([0, *map(len, names)])
            data = np.frombuffer(b"".join(names), np.uint8)
            self._player_bytes = offsets, data
        return offsets, data

    def _make(self, column: str) -> np.ndarray:
        if column == "speeds":
            return _SPEED_NAMES[self._speeds]
        if column == "players":
            return _text_column(*self._player_bytes, 0, 1)
        if column in _TEXTS:
            return _text_column(*self._texts, _TEXTS.index(column), len(_TEXTS))
        raise KeyError(column)


def _text_column(stops: NDArray[np.int64], data: np.ndarray, first: int, step: int) -> np.ndarray:
    """Every step-th text of data, from the first on, with bad UTF-8 replaced."""
    if data.tobytes().isascii():
        return _core.text_column(data, stops, first, step)
    return np.array(_decoded(stops, data)[first::step], dtype=np.dtypes.StringDType())


def _decoded(stops: NDArray[np.int64], data: np.ndarray) -> list[str]:
    raw = data.tobytes()
    return [raw[start:stop].decode("utf-8", "replace") for start, stop in pairwise(stops.tolist())]


def _filled(stops: NDArray[np.int64], data: np.ndarray) -> tuple[NDArray[np.int64], np.ndarray]:
    """Copies of what the scanner wrote of its arrays."""
    return stops.copy(), data[: stops[-1]].copy()


class GameReader(Reader[GameBatch]):
    """Iterator of batches that `games` returns."""

    _record = "game"

    def __init__(
        self,
        paths: TraceFile | Iterable[TraceFile],
        rated: bool | None,
        variant: str | None,
        progress: Progress,
    ) -> None:
        self._kind = _ANY if rated is None else _RATED if rated else _CASUAL
        self._other_kind = "casual game" if rated else "rated game"
        self._variant = None if variant is None else variant.encode()
        self._numbers = {name: np.empty(_CAPACITY, dtype) for name, dtype in _NUMBERS.items()}
        self._text_stops = np.empty(len(_TEXTS) * _CAPACITY + 1, np.int64)
        self._player_stops = np.empty(2 * _CAPACITY + 1, np.int64)
        self._ratings = np.empty(2 * _CAPACITY, np.int32)
        self._ratings_after = np.empty(2 * _CAPACITY, np.int32)
        self._speeds = np.empty(2 * _CAPACITY, np.uint8)
        self._text_bytes = self._player_bytes = np.empty(0, np.uint8)
        super().__init__(paths, progress)

    def _complete(self, block: bytes) -> bytes:
        # A newline ends last moves; a cut tag must not count among those of the game before it.
        tail = block[block.rfind(b"\n") + 1 :]
        return block if tail.startswith(b"[") and b"]" not in tail else block + b"\n"

    def _read_block(self, block: bytes, at: int) -> tuple[int, int, GameBatch | None, str | None]:
        if len(self._text_bytes) < len(block):
            self._text_bytes = np.empty(len(block), np.uint8)
            self._player_bytes = np.empty(len(block), np.uint8)
        arrays = (
            *self._numbers.values(),
            self._text_bytes,
            self._text_stops,
            self._player_bytes,
            self._player_stops,
            self._ratings,
            self._ratings_after,
            self._speeds,
        )
        step, lines, rows, observations, kind, variant, nameless, unrated, is_fault = (
            _core.read_games(block, at, self._ended, self._kind, self._variant, arrays, _CAPACITY)
        )
        self._count(self._other_kind, kind)
        self._count("other variant", variant)
        self._count("no player", nameless)
        self._count("no rating", unrated)
        fault = 'a game starts with a tag such as [Event "..."]' if is_fault else None
        return step, lines, self._batch(rows, observations) if rows else None, fault

    def _batch(self, rows: int, observations: int) -> GameBatch:
        arrays = {name: array[:rows].copy() for name, array in self._numbers.items()}
        arrays["ratings"] = self._ratings[:observations].copy()
        arrays["ratings_after"] = self._ratings_after[:observations].copy()
        return GameBatch(
            arrays,
            _filled(self._text_stops[: len(_TEXTS) * rows + 1], self._text_bytes),
            _filled(self._player_stops[: observations + 1], self._player_bytes),
            self._speeds[:observations].copy(),
        )
