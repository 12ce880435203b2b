"""Traces of any size with a known final state, for trials, tests and benchmarks.

Nothing of a trace is kept: every event follows by integer arithmetic from the number of members and
the seed, so that a trace of a billion edits takes the memory of one of its 64 slices, and a trace
of games that of its players' ratings.
"""

from __future__ import annotations

import bz2
import os
from array import array
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from ._zstd import import_zstd
from .io.lichess import SPEEDS
from .io.mediawiki import LAYOUTS

if TYPE_CHECKING:
    from . import SortedSet

__all__ = ["LichessTrace", "WikimediaTrace", "lichess", "wikimedia"]

SLICES = 64
_MAX_MEMBERS = 4_000_000_000  # ids fit uint32
_CHUNK = 1 << 20  # places of a slice's shuffled order looked at in one go

# Share of members with at least k events: exp(-(a u + b u^2 + c u^3)), fitted to English
# Wikipedia's edits per page as of 2026-08 (80,798,328 pages, 1,483,700,913 edits): 34 % once, 1 %
# 254 times or more, mean 18, most 2,162,914. Up to the knee u = ln k; beyond it u = ln(k / knee),
# of the members there.
_KNEE = 254
_BODY = (0.6295675650518403, -0.05486997629348385, 0.0165)
_TAIL = (1.986904570587484, -0.045)

# Ids come in groups of 25 with one hole each: 96 % are taken.
_GROUP_MEMBERS = 24
_GROUP_IDS = 25

# A written dump: after so many edits, one row that is none.
_EDITS_PER_PAGE_ROW = 16
_EDITS_PER_USER_ROW = 32
_EDITS_PER_PAGELESS_EDIT = 64
_ROWS_AT_A_TIME = 1 << 14
_FIRST_SECOND = np.datetime64("2001-01-15T19:27:13", "s")
_SECONDS = 808_633_966  # to the last second of August 2026


# Games: of 256, so many of each speed; the tags that go with it.
_SPEED_SHARES = (4, 84, 120, 40, 6, 2)
_SPEED_EVENTS = ("UltraBullet", "Bullet", "Blitz", "Rapid", "Classical", "Correspondence")
_TIME_CONTROLS = ("15+0", "60+0", "180+2", "600+0", "1800+20", "-")
_GAMES_PER_CASUAL = 32
_GAMES_PER_VARIANT = 64
_GAMES_PER_COMPUTER = 128
_GAMES_AT_A_TIME = 1 << 13
_FIRST_GAME = np.datetime64("2012-12-31T23:00:16", "s")
_SECONDS_OF_GAMES = 402_278_400  # to September 2025
_FRAME = 1 << 25

# Elo ratings. Chances are of 4096, by the opponent's lead from -800 on.
_LEAD = 800
_CHANCE = 4096
_K_FACTOR = 16
_DRAW = 128  # half of the chance of a draw
_CHANCES = tuple(round(_CHANCE / (1 + 10 ** (lead / 400))) for lead in range(-_LEAD, _LEAD + 1))


def wikimedia(members: int, *, seed: int = 0) -> WikimediaTrace:
    """Make a trace shaped like the edits of English Wikipedia's pages, of `members` pages.

    96 % of the ids are taken, in order of creation; about 34 % of the pages have one edit, 1 % have
    254 or more, the mean is about 18, and the most edited page of 80.8 million has 2.16 million. A
    page's edits spread over the slices of time from its creation on; within each of the 64 slices
    they are shuffled. O(distinct counts); ValueError where `members` is not in 1..4e9.

    >>> trace = wikimedia(1000)
    >>> sum(len(ids) for ids in trace) == trace.events
    True
    """
    return WikimediaTrace(members, seed)


class WikimediaTrace(Iterable[np.ndarray]):
    """Page ids in the order of their edits, as int64 arrays; iterable again and again.

    `members` is the number of distinct ids, `events` that of all edits; the same `seed` gives the
    same events.
    """

    def __init__(self, members: int, seed: int) -> None:
        if not 1 <= members <= _MAX_MEMBERS:
            raise ValueError(f"members must be in 1..{_MAX_MEMBERS:,}, not {members:,}")
        self.members = members
        self.seed = seed
        self._counts, totals = _edit_counts(members, seed)
        self._sizes = _spread_over_slices(totals, seed)
        self._created = self._sizes.sum(axis=0)
        self._first = np.concatenate([[0], np.cumsum(self._created)])
        self.events = int(self._counts @ totals)

    def __iter__(self) -> Iterator[np.ndarray]:
        for now in range(SLICES):
            yield from _shuffled(self._slice_events(now), _key(self.seed, "order", now))

    def final_chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The final state in pieces: ascending members and their counts, both int64. O(members)."""
        for born in range(SLICES):
            size = int(self._created[born])
            counts = np.empty(size, dtype=np.int64)
            places = self._places(np.arange(size, dtype=np.uint32), born)
            counts[places] = np.repeat(self._counts, self._sizes[:, born])
            indexes = np.arange(size, dtype=np.uint32) + np.uint32(self._first[born])
            yield self._ids(indexes).astype(np.int64), counts

    def final_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """All members, ascending, and their counts, both int64[members]. O(members).

        >>> members, counts = wikimedia(1000).final_arrays()
        >>> len(members), int((counts == 1).sum())
        (1000, 340)
        """
        members, counts = zip(*self.final_chunks(), strict=True)
        return np.concatenate(members), np.concatenate(counts)

    def final(self) -> SortedSet[int]:
        """The final state as a SortedSet of int64 members. O(members)."""
        from . import SortedSet

        final: SortedSet[int] = SortedSet(member="int64")
        for members, counts in self.final_chunks():
            final.update(members, counts)
        return final

    def write_commands(self, path: str | os.PathLike[str], key: str = "key") -> None:
        """Write a line `ZINCRBY key 1 <id>` for each event; ValueError for a key to be quoted."""
        if not key or any(c in "\"'" or not "!" <= c <= "~" for c in key):
            raise ValueError(f"key must be printable ASCII without blanks and quotes, not {key!r}")
        before = f"ZINCRBY {key} 1 "
        with open(path, "w", encoding="ascii") as file:
            for ids in self:
                lines = (f"{before}{page}\n" for page in ids.tolist())
                file.writelines(lines)

    def write_history(self, path: str | os.PathLike[str], columns: int = 78) -> dict[str, int]:
        """Write a MediaWiki History dump of 70, 74, 76 or 78 columns.

        It is compressed where the name ends in ".bz2". Among the edits stand rows that are none:
        page and user events, and edits without a page id. Returns how many of each reason
        `goblin.io.mediawiki.history` must skip. O(events); ValueError for other widths.
        """
        if columns not in LAYOUTS:
            raise ValueError(
                f"columns must be one of {', '.join(map(str, LAYOUTS))}, not {columns}"
            )
        rows = _HistoryRows(LAYOUTS[columns], self.events)
        with _open_dump(path) as file:
            for ids in self:
                for start in range(0, len(ids), _ROWS_AT_A_TIME):
                    file.write(rows.format(ids[start : start + _ROWS_AT_A_TIME]))
        return rows.skipped

    def _slice_events(self, now: int) -> np.ndarray:
        """Ids of one slice of time, uint32, not yet shuffled."""
        events = bytearray()  # grows in place, where a list of parts would need the memory twice
        for born in range(now + 1):
            events += self._events_of(born, now).data
        return np.frombuffer(events, dtype=np.uint32)

    def _events_of(self, born: int, now: int) -> np.ndarray:
        """Ids of the members created in slice `born`, once for each of their events in slice `now`.

        A member's first event is its creation. The others of a class (members of equal count) are
        dealt out like cards: member after member, round after round, an equal share in each slice
        that is left.
        """
        sizes = self._sizes[:, born]
        present = np.flatnonzero(sizes)
        sizes = sizes[present]
        starts = np.cumsum(sizes) - sizes
        cards = sizes * (self._counts[present] - 1)
        age, slices_left = now - born, SLICES - born
        dealt = cards * age // slices_left
        rounds, extra = np.divmod(cards * (age + 1) // slices_left - dealt, sizes)
        if age == 0:
            rounds += 1
        ranks = _expand(starts, sizes, rounds, dealt % sizes, extra)
        return self._ids(self._places(ranks, born) + np.uint32(self._first[born]))

    def _places(self, ranks: np.ndarray, born: int) -> np.ndarray:
        """Ranks by count to places by creation within a slice, one to one."""
        size = int(self._created[born])
        bits = _bits(size)
        key = _key(self.seed, "place", born)
        places = _mix(ranks, bits, key)
        while len(outside := np.flatnonzero(places >= size)):
            places[outside] = _mix(places[outside], bits, key)
        return places

    def _ids(self, indexes: np.ndarray) -> np.ndarray:
        """Page ids of members by order of creation: each group leaves out one id of its own."""
        group = indexes // np.uint32(_GROUP_MEMBERS)
        place = indexes - group * np.uint32(_GROUP_MEMBERS)
        draw = _mix(group, 32, _key(self.seed, "hole", 0)) >> np.uint32(16)
        hole = (draw * np.uint32(_GROUP_IDS)) >> np.uint32(16)
        ids: np.ndarray = group * np.uint32(_GROUP_IDS) + place + (place >= hole)
        return ids


def lichess(players: int, games: int, *, seed: int = 0) -> LichessTrace:
    """Make a trace shaped like the rated games of Lichess: `games` among `players`.

    Few players play most of the games; each has an Elo rating for each of the six speeds, and a
    strength that the ratings keep close to. O(1); ValueError where `players` is not in 2..4e9 or
    `games` not in 0..4e9.

    >>> lichess(100, 1000).write_pgn(os.devnull)
    {'casual game': 31, 'other variant': 15, 'no player': 14}
    """
    return LichessTrace(players, games, seed)


class _Game(NamedTuple):
    """One rated game: players and speed by number, ratings before it, the change of White's."""

    white: int
    black: int
    speed: int
    white_elo: int
    black_elo: int
    diff: int
    result: str


class LichessTrace:
    """Rated games in the order of their start, with a known leaderboard.

    `players` is the number of players, some of whom may not come to play, `games` that of rated
    games; the same `seed` gives the same games.
    """

    def __init__(self, players: int, games: int, seed: int) -> None:
        if not 2 <= players <= _MAX_MEMBERS:
            raise ValueError(f"players must be in 2..{_MAX_MEMBERS:,}, not {players:,}")
        if not 0 <= games <= _MAX_MEMBERS:
            raise ValueError(f"games must be in 0..{_MAX_MEMBERS:,}, not {games:,}")
        self.players = players
        self.games = games
        self.seed = seed

    def final(self) -> SortedSet[str]:
        """Each player's rating before the last game, of whatever speed. O(players + games).

        It is what `goblin leaderboard` makes of the file that `write_pgn` writes.
        """
        from . import SortedSet

        return SortedSet(self._board(), member="str")

    def write_pgn(self, path: str | os.PathLike[str]) -> dict[str, int]:
        """Write the games as Lichess does: PGN, in zstd frames where the name ends in ".zst".

        It is bzip2 where the name ends in ".bz2". Among the rated games stand others: casual ones,
        a variant, and computers. Returns how many of each reason `goblin.io.lichess.games` must
        skip. O(games); ImportError where zstd is lacking.
        """
        with _open_dump(path) as file:
            for text in self._texts():
                file.write(text)
        return {
            reason: count
            for reason, count in (
                ("casual game", self.games // _GAMES_PER_CASUAL),
                ("other variant", self.games // _GAMES_PER_VARIANT),
                ("no player", 2 * (self.games // _GAMES_PER_COMPUTER)),
            )
            if count
        }

    def _board(self) -> dict[str, int]:
        board: dict[int, int] = {}
        for games in self._batches():
            for game in games:
                board[game.white] = game.white_elo
                board[game.black] = game.black_elo
        return {self._name(player): rating for player, rating in board.items()}

    def _batches(self) -> Iterator[list[_Game]]:
        """All games, some at a time."""
        strengths = [self._strengths(speed) for speed in range(len(SPEEDS))]
        ratings = [array("h", of_speed) for of_speed in strengths]
        for start in range(0, self.games, _GAMES_AT_A_TIME):
            numbers = np.arange(start, min(start + _GAMES_AT_A_TIME, self.games), dtype=np.uint32)
            white, black, speed, luck = self._pairings(numbers)
            yield [
                _play(ratings[s], strengths[s], w, b, s, draw)
                for w, b, s, draw in zip(white, black, speed, luck, strict=True)
            ]

    def _strengths(self, speed: int) -> array[int]:
        """Of all players, between 600 and 3200, most near 1500; as int16."""
        players = np.arange(self.players, dtype=np.uint32)
        draw = _mix(players, 32, _key(self.seed, "strength", 0))
        parts = draw[:, None] >> np.arange(0, 32, 8, dtype=np.uint32) & np.uint32(0xFF)
        at_speed = _mix(players, 32, _key(self.seed, "strength", 1 + speed)) >> np.uint32(25)
        spread = parts.sum(axis=1).astype(np.int64) * 9 // 4 + at_speed + 300
        return array("h", np.clip(spread, 600, 3200).astype(np.int16).tobytes())

    def _pairings(self, numbers: np.ndarray) -> Iterator[list[int]]:
        """White, black, speed, and a draw of 0..4095, of the games with these numbers."""
        white = self._players_of("white", numbers)
        black = self._players_of("black", numbers)
        draw = _mix(numbers, 32, _key(self.seed, "game", 0))
        speed = np.searchsorted(np.cumsum(_SPEED_SHARES), draw >> np.uint32(24), side="right")
        luck = draw >> np.uint32(12) & np.uint32(_CHANCE - 1)
        black = np.where(black == white, (black + 1) % self.players, black)
        return (column.tolist() for column in (white, black, speed, luck))

    def _players_of(self, side: str, numbers: np.ndarray) -> np.ndarray:
        """An eighth of the players has half of the games."""
        share = _mix(numbers, 32, _key(self.seed, side, 0)) / 2**32
        players: np.ndarray = (share * share * share * self.players).astype(np.int64)
        return players

    def _name(self, player: int) -> str:
        """Distinct whatever the case, of 3 to 17 letters and digits."""
        draw = player * 0x9E3779B1 + _key(self.seed, "name", 0)
        first = _FIRST_NAMES[(draw >> 8) % len(_FIRST_NAMES)]
        last = _LAST_NAMES[(draw >> 16) % len(_LAST_NAMES)]
        return f"{first}{last}{player}"

    def _texts(self) -> Iterator[bytes]:
        """The file, some games at a time."""
        number = 0
        for games in self._batches():
            numbers = np.arange(number, number + len(games))
            seconds = numbers.astype(np.float64) / self.games * _SECONDS_OF_GAMES
            times = np.datetime_as_string(_FIRST_GAME + seconds.astype(np.int64)).tolist()
            texts = []
            for game, time in zip(games, times, strict=True):
                number += 1
                tags = self._tags(game, number, time)
                texts.append(_PGN % tags)
                texts += (_PGN % other for other in _others(tags, number))
            yield "".join(texts).encode()

    def _tags(self, game: _Game, number: int, time: str) -> dict[str, object]:
        return {
            "event": f"Rated {_SPEED_EVENTS[game.speed]} game",
            "site": f"{number:08x}",
            "date": time[:10].replace("-", "."),
            "time": time[11:],
            "white": self._name(game.white),
            "black": self._name(game.black),
            "result": game.result,
            "white_elo": game.white_elo,
            "black_elo": game.black_elo,
            "white_diff": f"{game.diff:+d}",
            "black_diff": f"{-game.diff:+d}",
            "time_control": _TIME_CONTROLS[game.speed],
            "more": "",
            "moves": _MOVES[number % len(_MOVES)],
        }


def _play(
    ratings: array[int], strengths: array[int], white: int, black: int, speed: int, draw: int
) -> _Game:
    """Play by strength, and change the ratings by what they led to expect."""
    white_elo, black_elo = ratings[white], ratings[black]
    chance = _chance(strengths[white], strengths[black])
    points, result = 0, "0-1"
    if draw < chance - _DRAW:
        points, result = _CHANCE, "1-0"
    elif draw < chance + _DRAW:
        points, result = _CHANCE // 2, "1/2-1/2"
    surprise = points - _chance(white_elo, black_elo)
    diff = (_K_FACTOR * surprise + _CHANCE // 2) // _CHANCE
    ratings[white] += diff
    ratings[black] -= diff
    return _Game(white, black, speed, white_elo, black_elo, diff, result)


def _chance(own: int, other: int) -> int:
    """Of 4096 games, how many a player wins: by Elo's formula."""
    return _CHANCES[min(max(other - own, -_LEAD), _LEAD) + _LEAD]


def _edit_counts(members: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct counts, ascending, and how many members have each."""
    a, b, c = _BODY
    u = np.log(np.arange(1, _KNEE + 1))
    at_least = np.rint(members * np.exp(-((c * u + b) * u + a) * u)).astype(np.int64)
    tail, tail_sizes = np.unique(_tail_counts(int(at_least[-1]), seed), return_counts=True)
    counts = np.concatenate([np.arange(1, _KNEE), tail])
    sizes = np.concatenate([at_least[:-1] - at_least[1:], tail_sizes])
    return counts[sizes > 0], sizes[sizes > 0]


def _tail_counts(members: int, seed: int) -> np.ndarray:
    """Counts from the knee on, drawn but for the largest: what to expect of so many."""
    if members == 0:
        return np.empty(0, dtype=np.int64)
    draw = _mix(np.arange(members, dtype=np.uint32), 32, _key(seed, "tail", 0))
    share = np.maximum((draw + 0.5) / 2**32, 0.5 / members)
    share[0] = 0.5 / members
    a, b = _TAIL
    depth = -np.log(share)
    u = 2 * depth / (a + np.sqrt(a * a + 4 * b * depth))
    return (_KNEE * np.exp(u)).astype(np.int64)


def _spread_over_slices(totals: np.ndarray, seed: int) -> np.ndarray:
    """int64[classes, SLICES]: members by class and slice of creation, fewer as time goes on."""
    left = (SLICES - np.arange(SLICES + 1, dtype=np.int64)) ** 3
    created = SLICES**3 - left  # of SLICES**3, before each slice
    draw = _mix(np.arange(len(totals), dtype=np.uint32), 32, _key(seed, "class", 0))
    phase = draw.astype(np.int64) % SLICES**3  # so that small classes do not all start at once
    return np.diff((totals[:, None] * created + phase[:, None]) // SLICES**3, axis=1)


def _expand(
    starts: np.ndarray, sizes: np.ndarray, rounds: np.ndarray, first: np.ndarray, extra: np.ndarray
) -> np.ndarray:
    """Ranks of classes: all of them `rounds` times, and `extra` from `first` on, round the end."""
    ranks = np.arange(sizes.sum(), dtype=np.uint32)
    parts = [ranks[:0]]
    in_rounds = np.flatnonzero(rounds)
    if len(in_rounds):  # the rarer members come last, so that nearly all from here on take part
        low = in_rounds[0]
        parts.append(np.repeat(ranks[starts[low] :], np.repeat(rounds[low:], sizes[low:])))
    stop = first + extra
    lows = np.concatenate([starts + first, starts])
    highs = np.concatenate([starts + np.minimum(stop, sizes), starts + stop - sizes])
    some = np.flatnonzero(highs > lows)
    pairs = zip(lows[some].tolist(), highs[some].tolist(), strict=True)
    parts += [ranks[low:high] for low, high in pairs]
    return np.concatenate(parts)


def _shuffled(events: np.ndarray, key: int) -> Iterator[np.ndarray]:
    """The events in pseudo-random order, each once, in chunks of int64."""
    bits = _bits(len(events))
    for start in range(0, 1 << bits if len(events) else 0, _CHUNK):
        stop = min(start + _CHUNK, 1 << bits)
        places = _mix(np.arange(start, stop, dtype=np.uint32), bits, key)
        places = places[places < len(events)]
        if len(places):
            yield events.take(places, mode="clip").astype(np.int64)


def _bits(size: int) -> int:
    """Bits of the smallest power of two that is not below size."""
    return (size - 1).bit_length() if size else 0


def _mix(values: np.ndarray, bits: int, key: int) -> np.ndarray:
    """A pseudo-random permutation of 0..2**bits - 1: odd multipliers and shifts have inverses."""
    mask = np.uint32((1 << bits) - 1)
    shift = np.uint32(bits // 2 + 1)
    mixed = values + np.uint32(key)
    for multiplier in (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D):
        mixed *= np.uint32(multiplier)
        mixed &= mask
        mixed ^= mixed >> shift
    return mixed


class _HistoryRows:
    """Rows of a dump for some edits: times from 2001 to 2026, and rows that are no edits."""

    def __init__(self, layout: tuple[str, ...], events: int) -> None:
        self._edit = _template(layout, "revision", "create", _EVENT_USER | _PAGE | _REVISION)
        self._pageless = _template(layout, "revision", "create", _EVENT_USER | _REVISION)
        self._page = _template(layout, "page", "create", _EVENT_USER | _PAGE)
        self._user = _template(layout, "user", "altergroups", _EVENT_USER | _USER)
        self._events = events
        self._written = 0
        self.skipped = {
            "other entity or event": events // _EDITS_PER_PAGE_ROW + events // _EDITS_PER_USER_ROW,
            "no page id": events // _EDITS_PER_PAGELESS_EDIT,
        }

    def format(self, ids: np.ndarray) -> bytes:
        """The next edits, and the rows that come between them."""
        numbers = self._written + np.arange(1, len(ids) + 1)
        self._written += len(ids)
        seconds = numbers.astype(np.float64) / self._events * _SECONDS
        times = np.datetime_as_string(_FIRST_SECOND + seconds.astype(np.int64)).tolist()
        rows = []
        for number, page, time in zip(numbers.tolist(), ids.tolist(), times, strict=True):
            values = {"number": number, "page": page, "time": time.replace("T", " ") + ".0"}
            rows.append(self._edit % values)
            if number % _EDITS_PER_PAGE_ROW == 0:
                rows.append(self._page % values)
            if number % _EDITS_PER_USER_ROW == 0:
                rows.append(self._user % values)
            if number % _EDITS_PER_PAGELESS_EDIT == 0:
                rows.append(self._pageless % values)
        return "".join(rows).encode()


_EVENT_USER = {
    "event_user_id": "11313587",
    "event_user_text_historical": "Éditeur",
    "event_user_text": "Éditeur",
    "event_user_is_created_by_self": "true",
    "event_user_is_anonymous": "false",
    "event_user_registration_timestamp": "2001-01-15 09:06:07.0",
    "event_user_revision_count": "%(number)d",
}
_PAGE = {
    "page_id": "%(page)d",
    "page_title_historical": "Page_%(page)d",
    "page_title": "Page_%(page)d",
    "page_namespace_historical": "0",
    "page_namespace_is_content_historical": "true",
    "page_namespace": "0",
    "page_namespace_is_content": "true",
    "page_is_redirect": "false",
    "page_is_deleted": "false",
}
_USER = {
    "user_id": "44332519",
    "user_text_historical": "Éditeur",
    "user_text": "Éditeur",
    "user_groups": "extendedconfirmed,ipblock-exempt",
}
_REVISION = {
    "event_comment": r"/* History */ \"quoted\", line\nbreak",
    "revision_id": "%(number)d",
    "revision_parent_id": "0",
    "revision_minor_edit": "false",
    "revision_text_bytes": "5750",
    "revision_text_bytes_diff": "-3",
    "revision_text_sha1": "b8tfg7j7xkyxfhj7e5qluocr33clvyb",
    "revision_is_deleted_by_page_deletion": "false",
    "revision_is_identity_reverted": "false",
}


_PGN = """\
[Event "%(event)s"]
[Site "https://lichess.org/%(site)s"]
[Date "%(date)s"]
[Round "-"]
[White "%(white)s"]
[Black "%(black)s"]
[Result "%(result)s"]
[UTCDate "%(date)s"]
[UTCTime "%(time)s"]
[WhiteElo "%(white_elo)s"]
[BlackElo "%(black_elo)s"]
[WhiteRatingDiff "%(white_diff)s"]
[BlackRatingDiff "%(black_diff)s"]
[ECO "C95"]
[Opening "Ruy Lopez: Closed, Breyer Defense"]
[TimeControl "%(time_control)s"]
[Termination "Normal"]
%(more)s
%(moves)s%(result)s

"""


def _others(tags: dict[str, object], number: int) -> Iterator[dict[str, object]]:
    """The games that are no rated ones of two players, as they come after some that are."""
    if number % _GAMES_PER_CASUAL == 0:
        yield tags | {"event": "Casual Blitz game", "white_elo": 9999}
    if number % _GAMES_PER_VARIANT == 0:
        yield tags | {"white_elo": 9999, "more": '[Variant "Chess960"]\n'}
    if number % _GAMES_PER_COMPUTER == 0:
        yield tags | {"white": "lichess AI level 3", "black": "Anonymous", "black_elo": "?"}


_FIRST_NAMES = ("Check", "Queen", "rook_", "PAWN", "Knight-", "bishop", "", "The_")
_LAST_NAMES = ("mate", "King", "fork", "Pin", "", "BLITZ", "gambit", "Castle", "x", "Endgame")

_LINE = """e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8 d4 Nbd7 Nbd2 Bb7 Bc2 Re8
Nf1 Bf8 Ng3 g6 a4 c5 d5 c4 Bg5 h6 Be3 Nc5 Qd2 h5 Bg5 Be7""".split()  # noqa: SIM905 - readable as moves
_SHUFFLE = ("Kh2", "Kg7", "Kg1", "Kg8")


def _moves(plies: int, with_evals: bool) -> str:
    """Moves with the comments of Lichess, and a blank at their end."""
    line = [*_LINE, *_SHUFFLE * plies][:plies]
    texts = []
    for ply, move in enumerate(line):
        number = f"{ply // 2 + 1}{'...' if ply % 2 else '.'}"
        evaluation = f"[%eval 0.{ply % 90 + 10}] " if with_evals else ""
        minutes, seconds = divmod(600 - ply, 60)
        texts.append(f"{number} {move} {{ {evaluation}[%clk 0:{minutes:02}:{seconds:02}] }} ")
    return "".join(texts)


_MOVES = [_moves(10 + 5 * length, length % 8 == 0) for length in range(23)]


def _template(layout: tuple[str, ...], entity: str, event: str, values: dict[str, str]) -> str:
    values = values | {
        "wiki_db": "enwiki",
        "event_entity": entity,
        "event_type": event,
        "event_timestamp": "%(time)s",
    }
    return "\t".join(values.get(column, "") for column in layout) + "\n"


def _open_dump(path: str | os.PathLike[str]) -> BinaryIO | _ZstdFrames:
    if os.fspath(path).endswith(".zst"):
        return _ZstdFrames(path)
    if os.fspath(path).endswith(".bz2"):
        return bz2.open(path, "wb")  # type: ignore[return-value]
    return open(path, "wb")


class _ZstdFrames:
    """A file as pzstd writes it: frames of 32 MiB of text, with the length of each before it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._zstd = import_zstd()
        self._options = {self._zstd.CompressionParameter.checksum_flag: 1}
        self._pending = bytearray()
        self._file = open(path, "wb")  # noqa: SIM115 - closed by __exit__

    def write(self, data: bytes) -> None:
        self._pending += data
        while len(self._pending) >= _FRAME:
            self._write_frame()

    def _write_frame(self) -> None:
        frame = self._zstd.compress(self._pending[:_FRAME], options=self._options)
        del self._pending[:_FRAME]
        for number in (0x184D2A50, 4, len(frame)):  # a skippable frame of four bytes
            self._file.write(number.to_bytes(4, "little"))
        self._file.write(frame)

    def __enter__(self) -> _ZstdFrames:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._file:
            if kind is None and (self._pending or self._file.tell() == 0):
                self._write_frame()


def _key(seed: int, purpose: str, number: int) -> int:
    """32 bits for one of a trace's permutations."""
    key = 0
    for part in (seed, int.from_bytes(purpose.encode(), "little"), number):
        key = (key ^ part % 2**64) * 0x9E3779B97F4A7C15 % 2**64
        key ^= key >> 29
    return key >> 32
