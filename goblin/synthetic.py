"""Traces of any size with a known final state, for trials, tests and benchmarks.

Nothing of a trace is kept: every event follows by integer arithmetic from the number of members and
the seed, so that a trace of a billion events takes the memory of one of its 64 slices.
"""

from __future__ import annotations

import bz2
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from .io.mediawiki import LAYOUTS

if TYPE_CHECKING:
    from . import SortedSet

__all__ = ["WikimediaTrace", "wikimedia"]

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

    Attributes:
        members: number of distinct ids.
        seed: the seed; the same seed gives the same events.
        events: number of all edits.
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


def _template(layout: tuple[str, ...], entity: str, event: str, values: dict[str, str]) -> str:
    values = values | {
        "wiki_db": "enwiki",
        "event_entity": entity,
        "event_type": event,
        "event_timestamp": "%(time)s",
    }
    return "\t".join(values.get(column, "") for column in layout) + "\n"


def _open_dump(path: str | os.PathLike[str]) -> BinaryIO:
    if os.fspath(path).endswith(".bz2"):
        return bz2.open(path, "wb")  # type: ignore[return-value]
    return open(path, "wb")


def _key(seed: int, purpose: str, number: int) -> int:
    """32 bits for one of a trace's permutations."""
    key = 0
    for part in (seed, int.from_bytes(purpose.encode(), "little"), number):
        key = (key ^ part % 2**64) * 0x9E3779B97F4A7C15 % 2**64
        key ^= key >> 29
    return key >> 32
