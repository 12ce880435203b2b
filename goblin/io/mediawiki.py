"""MediaWiki History dumps: every edit of a wiki as tab-separated rows.

The dumps have no header and changed their columns four times; the layout is told by the width of a
file's first row, which must also look like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _core
from ..progress import Progress
from ._reader import Batch, Reader
from ._source import TraceFile

__all__ = ["COLUMNS", "LAYOUTS", "HistoryReader", "history"]

# As gob_history_kind; the text kinds differ in nothing, a list stays as written: joined by ",".
_PAGE_ID, _INTEGER, _BOOLEAN, _TIMESTAMP, _TEXT = range(5)

# Every column of the widest layout, in its order.
_KINDS = {
    "wiki_db": _TEXT,
    "event_log_id": _INTEGER,
    "event_entity": _TEXT,
    "event_type": _TEXT,
    "event_timestamp": _TIMESTAMP,
    "event_comment": _TEXT,
    "event_user_id": _INTEGER,
    "event_user_central_id": _INTEGER,
    "event_user_text_historical": _TEXT,
    "event_user_text": _TEXT,
    "event_user_blocks_historical": _TEXT,
    "event_user_blocks": _TEXT,
    "event_user_groups_historical": _TEXT,
    "event_user_groups": _TEXT,
    "event_user_is_bot_by_historical": _TEXT,
    "event_user_is_bot_by": _TEXT,
    "event_user_is_created_by_self": _BOOLEAN,
    "event_user_is_created_by_system": _BOOLEAN,
    "event_user_is_created_by_peer": _BOOLEAN,
    "event_user_is_anonymous": _BOOLEAN,
    "event_user_is_temporary": _BOOLEAN,
    "event_user_is_permanent": _BOOLEAN,
    "event_user_is_cross_wiki": _BOOLEAN,
    "event_user_registration_timestamp": _TIMESTAMP,
    "event_user_creation_timestamp": _TIMESTAMP,
    "event_user_first_edit_timestamp": _TIMESTAMP,
    "event_user_revision_count": _INTEGER,
    "event_user_seconds_since_previous_revision": _INTEGER,
    "page_id": _PAGE_ID,
    "page_title_historical": _TEXT,
    "page_title": _TEXT,
    "page_namespace_historical": _INTEGER,
    "page_namespace_is_content_historical": _BOOLEAN,
    "page_namespace": _INTEGER,
    "page_namespace_is_content": _BOOLEAN,
    "page_is_redirect": _BOOLEAN,
    "page_is_deleted": _BOOLEAN,
    "page_creation_timestamp": _TIMESTAMP,
    "page_first_edit_timestamp": _TIMESTAMP,
    "page_revision_count": _INTEGER,
    "page_seconds_since_previous_revision": _INTEGER,
    "user_id": _INTEGER,
    "user_central_id": _INTEGER,
    "user_text_historical": _TEXT,
    "user_text": _TEXT,
    "user_blocks_historical": _TEXT,
    "user_blocks": _TEXT,
    "user_groups_historical": _TEXT,
    "user_groups": _TEXT,
    "user_is_bot_by_historical": _TEXT,
    "user_is_bot_by": _TEXT,
    "user_is_created_by_self": _BOOLEAN,
    "user_is_created_by_system": _BOOLEAN,
    "user_is_created_by_peer": _BOOLEAN,
    "user_is_anonymous": _BOOLEAN,
    "user_is_temporary": _BOOLEAN,
    "user_is_permanent": _BOOLEAN,
    "user_registration_timestamp": _TIMESTAMP,
    "user_creation_timestamp": _TIMESTAMP,
    "user_first_edit_timestamp": _TIMESTAMP,
    "revision_id": _INTEGER,
    "revision_parent_id": _INTEGER,
    "revision_minor_edit": _BOOLEAN,
    "revision_deleted_parts": _TEXT,
    "revision_deleted_parts_are_suppressed": _BOOLEAN,
    "revision_text_bytes": _INTEGER,
    "revision_text_bytes_diff": _INTEGER,
    "revision_text_sha1": _TEXT,
    "revision_content_model": _TEXT,
    "revision_content_format": _TEXT,
    "revision_is_deleted_by_page_deletion": _BOOLEAN,
    "revision_deleted_by_page_deletion_timestamp": _TIMESTAMP,
    "revision_is_identity_reverted": _BOOLEAN,
    "revision_first_identity_reverting_revision_id": _INTEGER,
    "revision_seconds_to_identity_revert": _INTEGER,
    "revision_is_identity_revert": _BOOLEAN,
    "revision_is_from_before_page_creation": _BOOLEAN,
    "revision_tags": _TEXT,
}

COLUMNS = tuple(_KINDS)
"""All columns that a dump can have."""


def _without(columns: tuple[str, ...], *later: str) -> tuple[str, ...]:
    return tuple(name for name in columns if name not in later)


_COLUMNS_76 = _without(COLUMNS, "event_log_id", "event_user_is_cross_wiki")
_COLUMNS_74 = _without(_COLUMNS_76, "event_user_central_id", "user_central_id")
_COLUMNS_70 = _without(
    _COLUMNS_74,
    "event_user_is_temporary",
    "event_user_is_permanent",
    "user_is_temporary",
    "user_is_permanent",
)
LAYOUTS = {70: _COLUMNS_70, 74: _COLUMNS_74, 76: _COLUMNS_76, 78: COLUMNS}
"""Columns by the width of a row: 70 since 2019, 74 since 2025-01, 76 since 2025-10, then 78."""

_DTYPES: dict[int, Any] = {
    _PAGE_ID: np.int64,
    _INTEGER: np.int64,
    _BOOLEAN: np.bool_,
    _TIMESTAMP: np.dtype("datetime64[us]"),
    _TEXT: np.dtype((np.int64, 2)),  # where the text lies in the block
}
_TEXT_DTYPE = np.dtypes.StringDType()
_CAPACITY = 1 << 16  # rows of a batch at most

_WIKI = re.compile(rb"[a-z][a-z0-9_]*wik[a-z]+")  # enwiki, be_x_oldwiki, frwiktionary, wikidatawiki
_ENTITIES = (b"revision", b"page", b"user")
_ESCAPE = re.compile(r"\\[tnr]")
_ESCAPED = {r"\t": "\t", r"\n": "\n", r"\r": "\r"}


def history(
    paths: TraceFile | Iterable[TraceFile],
    *,
    columns: Iterable[str] = ("page_id",),
    entity: str | None = "revision",
    event: str | None = "create",
    progress: Progress = "auto",
) -> HistoryReader:
    """Read columns of MediaWiki History dumps, `.tsv` or `.tsv.bz2`, as an iterator of batches.

    `paths` is one path, "-" for standard input, a binary file object, or an iterable of these. A
    batch holds one array for each column: int64 (-1 where empty), bool (False where empty),
    datetime64[us] (NaT where empty), or StringDType with the escapes of tab and line ends undone
    and bad UTF-8 replaced. Only rows of this `entity` and `event` are read (None: any); where
    `page_id` is asked for, rows without one are left out. `skipped` counts what was left out:
    "other entity or event", "no page id", "malformed page id", "malformed <column>". Time O(bytes),
    memory O(block).

    Raises FileNotFoundError for a missing file, ValueError for no file or an unknown column, and,
    once the rows before it are delivered, TraceError for another width, a first row that is none of
    a dump, and compressed data that is cut, damaged or followed by something else.

    >>> import io
    >>> row = ["enwiki", "revision", "create"] + [""] * 20 + ["12"] + [""] * 46
    >>> reader = history(io.BytesIO("\\t".join(row).encode()))
    >>> [batch.page_id.tolist() for batch in reader], reader.skipped
    ([[12]], {})
    """
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    for name in names:
        if name not in _KINDS:
            raise ValueError(
                f"a history dump has no column {name!r}; see goblin.io.mediawiki.COLUMNS"
            )
    if not names or len(set(names)) != len(names):
        raise ValueError("columns must be at least one, and each only once")
    return HistoryReader(paths, names, entity, event, progress)


class HistoryReader(Reader[Batch]):
    """Iterator of batches that `history` returns."""

    def __init__(
        self,
        paths: TraceFile | Iterable[TraceFile],
        columns: tuple[str, ...],
        entity: str | None,
        event: str | None,
        progress: Progress,
    ) -> None:
        self._columns = columns
        self._entity = None if entity is None else entity.encode()
        self._event = None if event is None else event.encode()
        self._scratch = {name: np.empty(_CAPACITY, _DTYPES[_KINDS[name]]) for name in columns}
        self._layout: tuple[int, Any, Any, Any] | None = None
        super().__init__(paths, progress)

    def _begin_file(self) -> None:
        self._layout = None

    def _read_block(self, block: bytes, at: int) -> tuple[int, int, Batch | None, str | None]:
        if self._layout is None:
            end = block.find(b"\n")
            if end < 0:
                return 0, 0, None, None
            fault = self._choose_layout(block[:end])
            if fault is not None:
                return 0, 0, None, fault
        assert self._layout is not None
        width, *_ = self._layout
        step, rows, kept, filtered, pageless, bad_width, malformed = _core.read_history(
            block, at, *self._layout, _CAPACITY
        )
        self._count("other entity or event", filtered)
        self._count("no page id", pageless)
        for name, count in zip(self._columns, malformed, strict=True):
            self._count("malformed page id" if name == "page_id" else f"malformed {name}", count)
        fault = f"{bad_width} columns where the first row has {width}" if bad_width else None
        return step, rows, self._batch(memoryview(block)[at:], kept) if kept else None, fault

    def _choose_layout(self, row: bytes) -> str | None:
        """Take the layout of a first row, or say why there is none."""
        fields = row.split(b"\t")
        width = len(fields)
        if width not in LAYOUTS:
            *most, last = map(str, LAYOUTS)
            return f"{width} columns; a history dump has {', '.join(most)} or {last}"
        layout = LAYOUTS[width]
        entity, event = layout.index("event_entity"), layout.index("event_type")
        if not _WIKI.fullmatch(fields[0]):
            return f"{fields[0][:40]!r} is no wiki_db"
        if fields[entity] not in _ENTITIES:
            return f"{fields[entity][:40]!r} is no event_entity"
        for name in self._columns:
            if name not in layout:
                return f"the layout of {width} columns has no {name}"
        wanted = tuple(
            (layout.index(name), _KINDS[name], self._scratch[name]) for name in self._columns
        )
        self._layout = (width, (entity, self._entity), (event, self._event), wanted)
        return None

    def _batch(self, block: memoryview, rows: int) -> Batch:
        return Batch(
            {
                name: _texts(block, array[:rows]) if _KINDS[name] == _TEXT else array[:rows].copy()
                for name, array in self._scratch.items()
            }
        )


def _texts(block: memoryview, spans: np.ndarray) -> np.ndarray:
    texts = [_decode(bytes(block[start:stop])) for start, stop in spans.tolist()]
    return np.array(texts, dtype=_TEXT_DTYPE)


def _decode(field: bytes) -> str:
    text = field.decode("utf-8", "replace")
    if "\\" in text:
        text = _ESCAPE.sub(lambda match: _ESCAPED[match[0]], text)
    return text
