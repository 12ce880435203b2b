"""The reader of MediaWiki History dumps: layouts, damage, ids, text, and where blocks meet."""

from __future__ import annotations

import bz2
import functools
import gc
import io
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from streams import OneByteAtATime, until_fault

import goblin.io._source as source
from goblin.errors import GoblinError, TraceError
from goblin.io import mediawiki
from goblin.io.mediawiki import COLUMNS, LAYOUTS, history

REAL_ROWS = Path(__file__).parents[3] / "shared" / "data" / "mwh_rows_70col.tsv"
needs_real_rows = pytest.mark.skipif(
    not REAL_ROWS.exists(), reason="the sample data of ../shared/data is not here"
)

# page_id and its neighbours as the publisher's code numbers them, by width.
PUBLISHED = {
    70: {"event_entity": 1, "page_id": 23, "page_title": 25, "revision_id": 52},
    74: {"event_entity": 1, "page_id": 25, "page_title": 27, "revision_id": 56},
    76: {"event_entity": 1, "page_id": 26, "page_title": 28, "revision_id": 58},
    78: {"event_entity": 2, "page_id": 28, "page_title": 30, "revision_id": 60},
}


def row(
    width: int = 78, entity: str = "revision", event: str = "create", **fields: str | bytes
) -> bytes:
    """One row without its line end; text fields may be bytes."""
    values = {"wiki_db": "enwiki", "event_entity": entity, "event_type": event} | fields
    cells = [values.get(name, "") for name in LAYOUTS[width]]
    return b"\t".join(cell if isinstance(cell, bytes) else cell.encode() for cell in cells)


def edits(*pages: object, width: int = 78) -> bytes:
    return b"".join(row(width, page_id=str(page)) + b"\n" for page in pages)


def ids_of(data: bytes | io.BytesIO, **options: object) -> list[int]:
    stream = io.BytesIO(data) if isinstance(data, bytes) else data
    return [i for batch in history(stream, **options) for i in batch.page_id.tolist()]


ids_until_fault = functools.partial(until_fault, history, "page_id")


@needs_real_rows
def test_real_rows() -> None:
    reader = history(REAL_ROWS, columns=("page_id", "event_comment", "event_timestamp"))
    (batch,) = reader
    assert batch.page_id.tolist() == [26323569, 62661703]
    assert batch.event_comment[1].count("\n") == 2
    assert "nationality    \t= [[Israel]]" in batch.event_comment[1]
    assert batch.event_timestamp[0] == np.datetime64("2001-01-15T19:27:13")
    assert reader.skipped == {"other entity or event": 1}
    assert reader.bytes_read == reader.bytes_total == REAL_ROWS.stat().st_size


@needs_real_rows
def test_real_row_of_a_user() -> None:
    (batch,) = history(REAL_ROWS, entity="user", event=None, columns=("user_id", "user_text"))
    assert batch.user_id.tolist() == [44332519]
    assert batch.user_text.tolist() == ["LoomCreek"]


@pytest.mark.parametrize("width", LAYOUTS)
def test_layouts_agree_with_the_published_indexes(width: int) -> None:
    assert len(LAYOUTS[width]) == width
    found = {name: LAYOUTS[width].index(name) for name in PUBLISHED[width]}
    assert found == PUBLISHED[width]


@pytest.mark.parametrize("width", LAYOUTS)
def test_every_column_of_every_layout(width: int) -> None:
    """Each field gets a value of its own, so that no two columns can be mixed up."""
    kinds = mediawiki._KINDS
    written: dict[str, str] = {}
    for number, name in enumerate(LAYOUTS[width]):
        written[name] = {
            mediawiki._PAGE_ID: str(number),
            mediawiki._INTEGER: str(1000 + number),
            mediawiki._BOOLEAN: "true" if number % 2 else "false",
            mediawiki._TIMESTAMP: f"2001-01-15 19:27:{number % 60:02}.{number}",
            mediawiki._TEXT: f"text {number}",
        }[kinds[name]]
    written |= {"wiki_db": "dewiki", "event_entity": "revision", "event_type": "create"}
    data = "\t".join(written.values()).encode() + b"\n"
    (batch,) = history(io.BytesIO(data), columns=LAYOUTS[width])
    assert batch.columns == LAYOUTS[width]
    assert len(batch) == 1
    for name, text in written.items():
        value = batch[name][0]
        expected: object = text
        if kinds[name] in (mediawiki._PAGE_ID, mediawiki._INTEGER):
            expected = int(text)
        elif kinds[name] == mediawiki._BOOLEAN:
            expected = text == "true"
        elif kinds[name] == mediawiki._TIMESTAMP:
            expected = np.datetime64(text.replace(" ", "T"), "us")
        assert value == expected, name


def test_dtypes_and_empty_fields() -> None:
    columns = ("page_id", "revision_id", "revision_minor_edit", "event_timestamp", "page_title")
    (batch,) = history(io.BytesIO(edits(5)), columns=columns)
    assert batch.page_id.dtype == batch.revision_id.dtype == np.int64
    assert batch.revision_minor_edit.dtype == np.bool_
    assert batch.event_timestamp.dtype == np.dtype("datetime64[us]")
    assert batch.page_title.dtype == np.dtypes.StringDType()
    assert batch.revision_id.tolist() == [-1]
    assert batch.revision_minor_edit.tolist() == [False]
    assert np.isnat(batch.event_timestamp).tolist() == [True]
    assert batch.page_title.tolist() == [""]


def test_batch_access() -> None:
    (batch,) = history(io.BytesIO(edits(5, 6)), columns=["page_id"])
    assert len(batch) == 2
    assert batch.columns == ("page_id",)
    assert batch.page_id is batch["page_id"]
    assert "page_id" in repr(batch)
    with pytest.raises(AttributeError, match="page_title"):
        _ = batch.page_title
    with pytest.raises(KeyError):
        _ = batch["page_title"]


@pytest.mark.parametrize("columns", [(), ("page",), ("page_id", "page_id")])
def test_columns_that_are_none(columns: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="column"):
        history(io.BytesIO(b""), columns=columns)


def test_column_that_the_layout_lacks() -> None:
    with pytest.raises(TraceError, match="line 1: the layout of 70 columns has no event_log_id"):
        list(history(io.BytesIO(edits(5, width=70)), columns=["page_id", "event_log_id"]))


# Case B41: ids.


@pytest.mark.parametrize("page", [0, 1, 2**31, 2**32, 9007199254740993, 2**63 - 1])
def test_ids_are_exact(page: int) -> None:
    assert ids_of(edits(page)) == [page]


@pytest.mark.parametrize(
    "text",
    ["12.0", "1e3", " 7", "7 ", "null", "\\N", "-1", "-0", "+5", "007", "00", "nan", "0x10", "1_0",
     "9223372036854775808", "18446744073709551617", "1" * 200, "\u0661"],
)  # fmt: skip
def test_malformed_ids_are_counted(text: str) -> None:
    reader = history(io.BytesIO(edits(1, text, 2)))
    assert [batch.page_id.tolist() for batch in reader] == [[1, 2]]
    assert reader.skipped == {"malformed page id": 1}


def test_rows_without_a_page_are_no_page_zero() -> None:
    reader = history(io.BytesIO(edits("", 0, "", 5)))
    assert [batch.page_id.tolist() for batch in reader] == [[0, 5]]
    assert reader.skipped == {"no page id": 2}


def test_only_edits_are_counted_unless_asked() -> None:
    data = b"\n".join(
        [
            row(page_id="1"),
            row(entity="page", page_id="2"),
            row(entity="user"),
            row(event="move", page_id="3"),
            row(entity="page", event="move", page_id="4"),
            row(entity="revisions", page_id="5"),
            row(entity="revisio", page_id="6"),
        ]
    )
    reader = history(io.BytesIO(data))
    assert [batch.page_id.tolist() for batch in reader] == [[1]]
    assert reader.skipped == {"other entity or event": 6}
    assert ids_of(data, entity="page") == [2]
    assert ids_of(data, entity=None) == [1, 2, 5, 6]
    assert ids_of(data, event=None) == [1, 3]
    assert ids_of(data, entity=None, event=None) == [1, 2, 3, 4, 5, 6]


def test_rows_without_a_page_are_kept_where_it_is_not_asked_for() -> None:
    (batch,) = history(io.BytesIO(row(entity="user")), entity=None, columns=["event_entity"])
    assert batch.event_entity.tolist() == ["user"]


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("revision_id", "1.0"),
        ("revision_text_bytes_diff", "--3"),
        ("revision_minor_edit", "True"),
        ("event_timestamp", "2001-02-29 00:00:00.0"),
        ("event_timestamp", "2001-01-15T00:00:00.0"),
        ("event_timestamp", "2001-01-15 24:00:00.0"),
        ("event_timestamp", "2001-01-15 00:00:00."),
        ("event_timestamp", "2001-01-15 00:00:00.1234567890"),
        ("event_timestamp", "2001-13-15 00:00:00.0"),
        ("event_timestamp", "2001-01-00 00:00:00.0"),
        ("event_timestamp", "2001-01-15"),
    ],
)
def test_other_malformed_fields_are_counted(column: str, text: str) -> None:
    data = row(page_id="1", **{column: text}) + b"\n" + row(page_id="2")
    reader = history(io.BytesIO(data), columns=("page_id", column))
    assert [batch.page_id.tolist() for batch in reader] == [[2]]
    assert reader.skipped == {f"malformed {column}": 1}


def test_negative_numbers() -> None:
    data = row(page_id="1", revision_text_bytes_diff="-3")
    (batch,) = history(io.BytesIO(data), columns=("page_id", "revision_text_bytes_diff"))
    assert batch.revision_text_bytes_diff.tolist() == [-3]


def test_timestamps_agree_with_numpy() -> None:
    rng = np.random.default_rng(5)
    first, last = (
        np.datetime64(day, "us").astype(np.int64) for day in ("0001-01-01", "9999-12-31")
    )
    moments = rng.integers(first, last, 3000).astype("datetime64[us]")
    days = np.array(
        ["2000-02-29", "1900-02-28", "2100-03-01", "0000-02-29", "1970-01-01"], "M8[us]"
    )
    moments = np.concatenate([moments, days])
    rows = [row(page_id="1", event_timestamp=str(moment).replace("T", " ")) for moment in moments]
    (batch,) = history(io.BytesIO(b"\n".join(rows)), columns=["event_timestamp"])
    assert np.array_equal(batch.event_timestamp, moments)


def test_fraction_digits_of_a_timestamp() -> None:
    texts = ["2001-01-15 19:27:13", "2001-01-15 19:27:13.5", "2001-01-15 19:27:13.123456789"]
    rows = [row(event_timestamp=text) for text in texts]
    (batch,) = history(io.BytesIO(b"\n".join(rows)), columns=["event_timestamp"])
    assert [str(moment)[20:] for moment in batch.event_timestamp] == ["000000", "500000", "123456"]


# Text.


def test_titles_come_as_written() -> None:
    """Words such as null and quotes are text like any other (B40)."""
    titles = ["NaN", "null", "NA", '"PageX" (album)', '"PageY', "B", 'C" x', "D", "Ünïcödé", "🦫"]
    data = b"\n".join(row(page_id=str(i), page_title=t) for i, t in enumerate(titles))
    (batch,) = history(io.BytesIO(data), columns=("page_id", "page_title"))
    assert batch.page_id.tolist() == list(range(len(titles)))
    assert batch.page_title.tolist() == titles


@pytest.mark.parametrize(
    "separator",
    [b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8", b"\r", b"\x00",
     b"\xff"],
)  # fmt: skip
def test_only_a_newline_ends_a_row(separator: bytes) -> None:
    comment = b"left" + separator + b"right"
    data = row(page_id="1", event_comment=comment) + b"\n" + row(page_id="2") + b"\n"
    (batch,) = history(io.BytesIO(data), columns=("page_id", "event_comment"))
    assert batch.page_id.tolist() == [1, 2]
    assert batch.event_comment.tolist() == [comment.decode("utf-8", "replace"), ""]


def test_escapes_are_undone_in_text_only() -> None:
    comment = rb"tab\tline\nreturn\rother\q \\ end" + b"\\"
    data = row(page_id="1", event_comment=comment, revision_tags=rb"a\,b,c")
    (batch,) = history(io.BytesIO(data), columns=("event_comment", "revision_tags"))
    assert batch.event_comment.tolist() == ["tab\tline\nreturn\rother\\q \\\\ end\\"]
    assert batch.revision_tags.tolist() == ["a\\,b,c"]


def test_one_carriage_return_before_the_newline_is_no_text() -> None:
    data = row(page_id="1", revision_tags="x") + b"\r\n" + row(page_id="2", revision_tags="y\r\r\n")
    (batch,) = history(io.BytesIO(data), columns=("page_id", "revision_tags"))
    assert batch.revision_tags.tolist() == ["x", "y\r"]
    assert ids_of(edits(1, 2).replace(b"\n", b"\r\n")) == [1, 2]


# Widths and first rows.


@pytest.mark.parametrize("width", [1, 2, 69, 71, 77, 79, 200])
def test_other_widths_are_refused(width: int) -> None:
    data = b"enwiki" + b"\t" * (width - 1) + b"\n"
    ids, text = ids_until_fault(data)
    assert ids == []
    assert f"<stream>, line 1: {width} columns" in text


@pytest.mark.parametrize("width", [1, 70, 77, 79, 500])
def test_mixed_widths_are_refused_at_their_line(width: int) -> None:
    odd = b"enwiki" + b"\t" * (width - 1) + b"\n"
    ids, text = ids_until_fault(edits(1, "", 3) + odd + edits(4))
    assert ids == [1, 3]
    assert f"line 4: {width} columns where the first row has 78" in text


@pytest.mark.parametrize(
    "wiki", ["", "EN WIKI", "2026-08-01 00:00:00.0", "true", "wiki_db", "-", "en", "enwiki\x00"]
)
def test_illegal_wiki_db(wiki: str) -> None:
    ids, text = ids_until_fault(row(wiki_db=wiki, page_id="1"))
    assert ids == []
    assert "line 1" in text
    assert "wiki_db" in text


@pytest.mark.parametrize(
    "wiki", ["enwiki", "be_x_oldwiki", "frwiktionary", "wikidatawiki", "wikimania2005wiki"]
)
def test_legal_wiki_db(wiki: str) -> None:
    assert ids_of(row(wiki_db=wiki, page_id="1")) == [1]


@pytest.mark.parametrize("entity", ["", "event_entity", "Revision", "edit"])
def test_illegal_entity(entity: str) -> None:
    with pytest.raises(TraceError, match=r"line 1: .* no event_entity"):
        ids_of(row(entity=entity, page_id="1"))


def test_each_file_has_its_own_layout(tmp_path: Path) -> None:
    paths = []
    for width in LAYOUTS:
        paths.append(tmp_path / f"{width}.tsv")
        paths[-1].write_bytes(edits(width, width=width))
    assert [i for b in history(paths) for i in b.page_id.tolist()] == list(LAYOUTS)


def test_empty_files(tmp_path: Path) -> None:
    assert ids_of(b"") == []
    assert ids_of(bz2.compress(b"")) == []
    with pytest.raises(ValueError, match="no file to read"):
        history([])


# Files and streams.


def test_paths_of_every_kind(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(edits(1, 2))
    for paths in (path, str(path), [path], (str(path),), iter([path])):
        reader = history(paths)
        assert [batch.page_id.tolist() for batch in reader] == [[1, 2]]
        assert reader.bytes_read == reader.bytes_total == path.stat().st_size


def test_many_files_in_their_order(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.tsv.bz2" for number in (3, 1, 2)]
    for number, path in enumerate(paths):
        path.write_bytes(bz2.compress(edits(number, "")))
    reader = history(paths)
    assert [i for batch in reader for i in batch.page_id.tolist()] == [0, 1, 2]
    assert reader.skipped == {"no page id": 3}
    assert reader.bytes_read == reader.bytes_total == sum(p.stat().st_size for p in paths)


def test_missing_file_shows_before_anything_is_read(tmp_path: Path) -> None:
    path = tmp_path / "here.tsv"
    path.write_bytes(edits(1))
    with pytest.raises(FileNotFoundError, match=r"gone\.tsv"):
        history([path, tmp_path / "gone.tsv"])


def test_standard_input() -> None:
    code = (
        "from goblin.io import mediawiki as m; print([b.page_id.tolist() for b in m.history('-')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=bz2.compress(edits(4, 5)),
        capture_output=True,
        check=True,
    )
    assert done.stdout.strip() == b"[[4, 5]]"
    assert done.stderr == b""


def test_damage_names_the_file_and_line(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.tsv", tmp_path / "bad.tsv"
    good.write_bytes(edits(1, 2, 3))
    bad.write_bytes(edits(4) + b"enwiki\n")
    delivered: list[int] = []
    with pytest.raises(TraceError, match=r"bad\.tsv, line 2: 1 columns") as caught:
        for batch in history([good, bad]):
            delivered += batch.page_id.tolist()
    assert delivered == [1, 2, 3, 4]
    assert isinstance(caught.value, GoblinError)
    assert isinstance(caught.value, ValueError)


# Case B37: compressed files of several streams, cuts and what follows them.


@pytest.mark.parametrize("cut", range(0, 95, 7))
def test_streams_may_be_cut_anywhere_between(cut: int) -> None:
    text = row(page_id="1", page_title="Ünïcödé 🦫") + b"\n" + edits(2, 3)
    data = bz2.compress(text[:cut]) + bz2.compress(b"") + bz2.compress(text[cut:])
    assert ids_of(data) == [1, 2, 3]
    assert ids_of(OneByteAtATime(data)) == [1, 2, 3]


def test_plain_text_one_byte_at_a_time() -> None:
    assert ids_of(OneByteAtATime(edits(1, 2, 3))) == [1, 2, 3]


def test_reads_that_end_exactly_on_a_stream_end(monkeypatch: pytest.MonkeyPatch) -> None:
    first = bz2.compress(edits(1, 2))
    monkeypatch.setattr(source, "_COMPRESSED_BLOCK", len(first) - 4)  # four bytes are the magic
    assert ids_of(first + bz2.compress(edits(3))) == [1, 2, 3]
    assert ids_of(first) == [1, 2]


@pytest.mark.parametrize("missing", [1, 3, 10])
def test_cut_after_whole_rows(missing: int) -> None:
    """The first stream is whole, the second misses its end: all it gave is delivered."""
    whole = bz2.compress(edits(*range(50)))
    data = whole + bz2.compress(edits(*range(50, 60)))[:-missing]
    ids, text = ids_until_fault(data)
    assert ids[:50] == list(range(50))
    assert ids == list(range(len(ids)))
    assert f"line {len(ids) + 1}: the compressed data is cut off" in text


def test_cut_inside_a_row_leaves_it_out() -> None:
    data = bz2.compress(edits(1, 2) + edits(3)[:40]) + bz2.compress(edits(4))[:-20]
    ids, text = ids_until_fault(data)
    assert ids == [1, 2]
    assert "line 3: the compressed data is cut off" in text


@pytest.mark.parametrize("garbage", [b"\0", b"\n", b"garbage", b"\x1f\x8b", b"x" * 500_000])
def test_garbage_after_the_compressed_data(garbage: bytes) -> None:
    ids, text = ids_until_fault(bz2.compress(edits(1, 2)) + garbage)
    assert ids == [1, 2]
    assert "line 3: garbage after the compressed data" in text


def test_flipped_bytes_never_pass() -> None:
    data = bytearray(bz2.compress(edits(*range(200))))
    for at in range(4, len(data), max(1, len(data) // 60)):
        data[at] ^= 0x10
        with pytest.raises(TraceError):
            ids_of(bytes(data))
        data[at] ^= 0x10


@pytest.mark.parametrize("name", ["a.tsv.bz2", "A.TSV.BZ2"])
@pytest.mark.parametrize("content", [edits(1), b"", b"B", b"\x28\xb5\x2f\xfd"])
def test_the_name_of_a_compressed_file_on_other_content(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TraceError, match=name):
        list(history(path))


def test_compression_is_told_by_content(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(bz2.compress(edits(1)))
    assert [i for b in history(path) for i in b.page_id.tolist()] == [1]


def test_last_row_without_a_newline() -> None:
    assert ids_of(edits(1, 2)[:-1]) == [1, 2]
    assert ids_of(bz2.compress(edits(1, 2)[:-1])) == [1, 2]


# Blocks.


@pytest.mark.parametrize("block", [1, 7, 8, 100, 251])
def test_rows_across_blocks(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr("goblin.io._reader.BLOCK", block)
    titles = [f"Title {'x' * (number * 37 % 400)}" for number in range(40)]
    rows = [row(page_id=str(n), page_title=title) + b"\n" for n, title in enumerate(titles)]
    reader = history(io.BytesIO(b"".join(rows)), columns=("page_id", "page_title"))
    batches = list(reader)
    assert [i for batch in batches for i in batch.page_id.tolist()] == list(range(40))
    assert [t for batch in batches for t in batch.page_title.tolist()] == titles


def test_more_rows_than_a_batch_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mediawiki, "_CAPACITY", 3)
    reader = history(io.BytesIO(edits(*range(10), "", "x")))
    assert [batch.page_id.tolist() for batch in reader] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
    assert reader.skipped == {"no page id": 1, "malformed page id": 1}


def test_batches_do_not_share_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mediawiki, "_CAPACITY", 2)
    first, second = history(io.BytesIO(edits(1, 2, 3, 4)))
    assert first.page_id.tolist() == [1, 2]
    assert second.page_id.tolist() == [3, 4]


def test_a_row_past_the_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goblin.io._reader.MAX_RECORD", 10_000)
    monkeypatch.setattr("goblin.io._reader.BLOCK", 1000)
    long = row(page_id="2", event_comment="x" * 20_000) + b"\n"
    ids, text = ids_until_fault(edits(1) + long)
    assert ids == [1]
    assert "line 2: longer than 10,000 bytes" in text


def test_long_rows_within_the_bound() -> None:
    data = edits(1) + row(page_id="2", event_comment="x" * 20_000_000) + b"\n" + edits(3)
    assert ids_of(data) == [1, 2, 3]


def test_memory_stays_bounded(tmp_path: Path) -> None:
    """30 MB of rows in a file of some kilobytes."""
    path = tmp_path / "a.tsv.bz2"
    chunk = edits(*range(10_000)) * 20
    with bz2.open(path, "wb", compresslevel=9) as file:
        for _ in range(30_000_000 // len(chunk)):
            file.write(chunk)
    tracemalloc.start()
    rows = sum(len(batch) for batch in history(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows == 30_000_000 // len(chunk) * 200_000
    assert peak < 24_000_000


def test_a_reader_that_is_left_closes_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(edits(1) * 100)
    before = set(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else set()
    reader = history(path)
    next(reader)
    del reader
    gc.collect()  # the iterator and its generator know each other
    after = set(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else set()
    assert after == before


def test_progress_counts_stored_bytes(tmp_path: Path) -> None:
    paths = [tmp_path / "a.tsv", tmp_path / "b.tsv.bz2"]
    paths[0].write_bytes(edits(1, 2))
    paths[1].write_bytes(bz2.compress(edits(3)))
    calls: list[tuple[int, int | None]] = []
    list(history(paths, progress=lambda done, total: calls.append((done, total))))
    total = sum(path.stat().st_size for path in paths)
    assert calls[-1] == (total, total)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_all_columns_are_known_by_name() -> None:
    assert len(COLUMNS) == len(set(COLUMNS)) == 78
