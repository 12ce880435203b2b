"""The reader of Lichess games: tags in hostile PGN, frames, cuts, filters, observations."""

from __future__ import annotations

import bz2
import functools
import io
import re
import struct
import subprocess
import sys
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import OneByteAtATime, until_fault

import goblin.io._source as source
from goblin import _core
from goblin.errors import TraceError
from goblin.io import lichess
from goblin.io.lichess import GameBatch, games

zstd = source.import_zstd()

DATA = Path(__file__).parents[3] / "shared" / "data"
MONTH = DATA / "lichess_2026-05_ge2300_2996games.pgn.zst"
SWISS = DATA / "lichess_db_2025-03_swiss_1game.pgn"
needs_real_games = pytest.mark.skipif(
    not MONTH.exists(), reason="the sample data of ../shared/data is not here"
)

BOM = b"\xef\xbb\xbf"
TEXTS = ("white", "black", "event", "result", "termination")


def game(
    white: str = "Ann",
    black: str = "Bob",
    *,
    white_elo: str | None = "1500",
    black_elo: str | None = "1600",
    event: str = "Rated Blitz game",
    moves: str = "1. e4 e5 1-0",
    **more: str,
) -> bytes:
    """One game as the publisher lays it out; tags are absent where None."""
    tags = {"Event": event, "White": white, "Black": black, "Result": "1-0"}
    tags |= {"WhiteElo": white_elo, "BlackElo": black_elo, **more}  # type: ignore[dict-item]
    lines = [f'[{name} "{value}"]' for name, value in tags.items() if value is not None]
    return "\n".join([*lines, "", moves, "", ""]).encode()


def numbered(*numbers: int) -> bytes:
    return b"".join(game(white=f"w{number}", black=f"b{number}") for number in numbers)


def frame(data: bytes) -> bytes:
    return zstd.compress(data)


def skippable(data: bytes, kind: int = 0) -> bytes:
    return struct.pack("<II", 0x184D2A50 + kind, len(data)) + data


def whites(data: bytes | io.RawIOBase, **options: object) -> list[str]:
    stream = io.BytesIO(data) if isinstance(data, bytes) else data
    return [name for batch in games(stream, **options) for name in batch.white.tolist()]


whites_until_fault = functools.partial(until_fault, games, "white")


def only(data: bytes, **options: object) -> GameBatch:
    (batch,) = games(io.BytesIO(data), **options)
    return batch


# Real games.


@needs_real_games
def test_real_month() -> None:
    reader = games(MONTH)
    board: dict[str, int] = {}
    count = observations = 0
    for batch in reader:
        count += len(batch)
        observations += len(batch.players)
        names = [name.lower() for name in batch.players.tolist()]
        board.update(zip(names, batch.ratings.tolist(), strict=True))
        assert np.array_equal(batch.ratings, np.ravel([batch.white_elo, batch.black_elo], "F"))
        assert set(batch.result.tolist()) <= {"1-0", "0-1", "1/2-1/2"}
        assert np.isnat(batch.utc).all()
        assert 2300 <= batch.ratings.min() <= batch.ratings.max() <= 3063
    assert (count, observations, len(board)) == (2996, 5992, 1501)
    assert (min(board.values()), max(board.values())) == (2300, 3061)
    assert board["bot913"] == 3061
    assert reader.skipped == {}
    assert reader.bytes_read == reader.bytes_total == MONTH.stat().st_size


@needs_real_games
def test_real_swiss_game() -> None:
    (batch,) = games(SWISS)
    assert {column: batch[column].tolist() for column in batch.columns if column != "utc"} == {
        "white": ["STRI0006"],
        "black": ["PORT0024"],
        "event": ["Rapid swiss https://lichess.org/swiss/7siKNYGN"],
        "result": ["1-0"],
        "termination": ["Normal"],
        "white_elo": [939],
        "black_elo": [404],
        "white_diff": [3],
        "black_diff": [-4],
    }
    assert batch.utc.tolist() == np.array(["2025-03-01T00:00:00"], "M8[s]").tolist()
    assert batch.players.tolist() == ["STRI0006", "PORT0024"]
    assert batch.ratings.tolist() == [939, 404]
    assert batch.ratings_after.tolist() == [942, 400]
    assert batch.speeds.tolist() == ["rapid", "rapid"]


# Batches.


def test_dtypes() -> None:
    batch = only(game())
    assert len(batch) == 1
    for column in (*TEXTS, "players", "speeds"):
        assert batch[column].dtype == np.dtypes.StringDType(), column
    for column in ("white_elo", "black_elo", "white_diff", "black_diff"):
        assert batch[column].dtype == np.int32, column
    assert batch.ratings.dtype == batch.ratings_after.dtype == np.int32
    assert batch.utc.dtype == np.dtype("datetime64[s]")


def test_batch_access() -> None:
    batch = only(game())
    assert batch.white is batch["white"]
    assert batch.players is batch["players"]
    assert set(TEXTS) < set(batch.columns)
    assert "white" in repr(batch)
    with pytest.raises(AttributeError, match="moves"):
        _ = batch.moves
    with pytest.raises(KeyError):
        _ = batch["moves"]


def test_absent_tags() -> None:
    batch = only(b'[Event "Rated game"]\n\n*\n')
    assert [batch[column].tolist() for column in TEXTS] == [[""], [""], ["Rated game"], [""], [""]]
    assert batch.white_elo.tolist() == batch.black_elo.tolist() == [-1]
    assert batch.white_diff.tolist() == batch.black_diff.tolist() == [0]
    assert np.isnat(batch.utc).tolist() == [True]
    assert len(batch.players) == len(batch.ratings) == len(batch.speeds) == 0


def test_batches_do_not_share_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lichess, "_CAPACITY", 1)
    first, second, third = games(io.BytesIO(numbered(1, 2, 3)))
    assert first.white.tolist() == ["w1"]
    assert second.players.tolist() == ["w2", "b2"]
    assert third.black.tolist() == ["b3"]


# Ratings that are none, players that are none.


@pytest.mark.parametrize(
    "text",
    ["?", "", "-", "1500?", "+1500", "-5", "99999999999", "10000", " 1500", "1500 ", "1e3", "१५००"],
)
def test_ratings_that_are_none(text: str) -> None:
    """Missing ratings never become numbers (B34)."""
    reader = games(io.BytesIO(game(white_elo=text)))
    (batch,) = reader
    assert batch.white_elo.tolist() == [-1]
    assert batch.players.tolist() == ["Bob"]
    assert batch.ratings.tolist() == [1600]
    assert reader.skipped == {"no rating": 1}


@pytest.mark.parametrize(("text", "rating"), [("0", 0), ("9999", 9999), ("0007", 7)])
def test_ratings_of_one_to_four_digits(text: str, rating: int) -> None:
    assert only(game(white_elo=text)).ratings.tolist() == [rating, 1600]


@pytest.mark.parametrize("name", ["", "?", "Anonymous", "lichess AI level 3", "lichess AI"])
def test_players_that_are_none(name: str) -> None:
    reader = games(io.BytesIO(game(black=name)))
    (batch,) = reader
    assert batch.black.tolist() == [name]
    assert batch.black_elo.tolist() == [1600]
    assert batch.players.tolist() == ["Ann"]
    assert reader.skipped == {"no player": 1}


@pytest.mark.parametrize("name", ["anonymous", "Anonymous1", "lichess", "LichessAI", "??", "-"])
def test_players_with_such_names(name: str) -> None:
    assert only(game(white=name)).players.tolist() == [name, "Bob"]


def test_a_player_who_plays_himself() -> None:
    batch = only(game(white="Ann", black="Ann"))
    assert batch.players.tolist() == ["Ann", "Ann"]
    assert batch.ratings.tolist() == [1500, 1600]


def test_abandoned_game() -> None:
    data = game(black="?", black_elo=None, Result="*", Termination="Abandoned", moves="*")
    batch = only(data)
    assert batch.termination.tolist() == ["Abandoned"]
    assert batch.result.tolist() == ["*"]
    assert batch.players.tolist() == ["Ann"]


@pytest.mark.parametrize(
    ("text", "diff"),
    [("+5", 5), ("-5", -5), ("+0", 0), ("5", 5), ("", 0), ("?", 0), ("+", 0), ("+-5", 0),
     ("12345", 0)],
)  # fmt: skip
def test_rating_diffs(text: str, diff: int) -> None:
    batch = only(game(BlackRatingDiff=text))
    assert batch.black_diff.tolist() == [diff]
    assert batch.ratings_after.tolist() == [1500, 1600 + diff]


@pytest.mark.parametrize(
    ("event", "speed"),
    [
        ("Rated Bullet game", "bullet"),
        ("Rated UltraBullet tournament https://lichess.org/tournament/x", "ultrabullet"),
        ("rated blitz game", "blitz"),
        ("Rapid swiss https://lichess.org/swiss/x", "rapid"),
        ("Classical simul https://lichess.org/simul/x", "classical"),
        ("Rated Standard game", "classical"),
        ("Rated Correspondence game", "correspondence"),
        ("Hourly Bullet Arena", ""),
        ("Rated Bulletin game", ""),
        ("Rated", ""),
        ("", ""),
    ],
)
def test_speeds(event: str, speed: str) -> None:
    assert only(game(event=event)).speeds.tolist() == [speed, speed]


@pytest.mark.parametrize(
    ("date", "time"),
    [
        ("2025.02.29", "00:00:00"),
        ("2025-02-01", "00:00:00"),
        ("????.??.??", "00:00:00"),
        ("2025.02.01", "24:00:00"),
        ("2025.02.01", "00:60:00"),
        ("2025.02.01", "00.00.00"),
        ("2025.02.01", ""),
        ("", "00:00:00"),
    ],
)
def test_times_that_are_none(date: str, time: str) -> None:
    assert np.isnat(only(game(UTCDate=date, UTCTime=time)).utc).all()


def test_times() -> None:
    data = game(UTCDate="2012.12.31", UTCTime="23:59:59")
    assert only(data).utc.tolist() == np.array(["2012-12-31T23:59:59"], "M8[s]").tolist()


# Filters.


def test_rated() -> None:
    events = ["Rated Blitz game", "Casual Blitz game", "casual rapid game", "Blitz swiss x", ""]
    data = b"".join(game(white=f"w{n}", event=event) for n, event in enumerate(events))
    reader = games(io.BytesIO(data))
    assert [batch.white.tolist() for batch in reader] == [["w0", "w3", "w4"]]
    assert reader.skipped == {"casual game": 2}
    reader = games(io.BytesIO(data), rated=False)
    assert [batch.white.tolist() for batch in reader] == [["w1", "w2"]]
    assert reader.skipped == {"rated game": 3}
    assert len(whites(data, rated=None)) == 5


def test_variants() -> None:
    tags = [{}, *({"Variant": name} for name in ("Standard", "Chess960", "Three-check", ""))]
    data = b"".join(game(white=f"w{n}", **tag) for n, tag in enumerate(tags))
    reader = games(io.BytesIO(data))
    assert [batch.white.tolist() for batch in reader] == [["w0", "w1"]]
    assert reader.skipped == {"other variant": 3}
    assert whites(data, variant="chess960") == ["w2"]
    for spelling in ("threeCheck", "Three-check", "three check"):
        assert whites(data, variant=spelling) == ["w3"]
    assert whites(data, variant="three") == whites(data, variant="threeCheck2") == []
    assert len(whites(data, variant=None)) == 5
    with pytest.raises(ValueError, match="variant"):
        games(io.BytesIO(data), variant="-")


# Marks, line ends, escapes.


def test_mark_and_carriage_returns() -> None:
    """A byte-order mark, line ends and escapes (B36)."""
    text = (
        b'[Event "x"]\r\n[White "Player \\"A\\" \\\\ ]("]\r\n[Black "PlayerB"]\r\n'
        b'[WhiteElo "1500"]\r\n\r\n1. e4 *\r\n\r\n'
    )
    for data in (text, BOM + text, (BOM + text) * 2):
        batch = only(data)
        assert set(batch.event.tolist()) == {"x"}
        assert set(batch.white.tolist()) == {'Player "A" \\ ]('}
        assert set(batch.black.tolist()) == {"PlayerB"}
        assert set(batch.players.tolist()) == {'Player "A" \\ ]('}
        assert len(batch) == data.count(b"[Event")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (rb'[White "a\"b"]', 'a"b'),
        (rb'[White "a\\"]', "a\\"),
        (rb'[White "\\\"\\"]', '\\"\\'),
        (rb'[White "a\nb\q"]', r"a\nb\q"),
        (b'[White "a"b"]', 'a"b'),
        (b'[White "a] [b"]', "a] [b"),
        (b'[White "{ ; % ("]', "{ ; % ("),
        (b'[White   "a"]', "a"),
        (b'[White"a"]', "a"),
        (b'  [ White "a" ]  ', "a"),
        (b'\t[White\t"a"]', "a"),
        (b'[White " a "]', " a "),
        (b'[White "a"] ; remark', "a"),
        (b'[Site "x"] [White "a"]', "a"),
        (b'[White ""]', ""),
        (b'[White "b"]\n[White "a"]', "a"),
        ("[White \"Ünïcödé 🦫\"]".encode(), "Ünïcödé 🦫"),
        (b'[White "a\xe9b"]', "a\ufffdb"),
        (b'[White "a\x00b"]', "a\0b"),
        (b'[White "a\xe2\x80\xa8b"]', "a\u2028b"),
        (b'[White "a"', ""),
        (b'[White a]', ""),
        (b'[White "a]', ""),
        (b'[white "a"]', ""),
        (b'[WhiteTeam "a"]', ""),
        (b'[White', ""),
        (b"[]", ""),
        (b"[", ""),
    ],
)  # fmt: skip
def test_values(line: bytes, value: str) -> None:
    """Whatever the line is, neither the game's other tags nor the next game are lost."""
    lines = [b'[Event "x"]', line, b'[Black "Bob"]', b'[WhiteElo "1500"]']
    data = b"\n".join([*lines, b"", b"1. e4 1-0", b"", b""]) + game(white="next")
    batch = only(data)
    assert batch.white.tolist() == [value, "next"]
    assert batch.black.tolist() == ["Bob", "Bob"]
    offsets, names = batch._players
    players = [value] if value else []
    assert batch.players.tolist() == [*players, "next", "Bob"]
    assert [
        names[start:stop].tobytes().decode() for start, stop in pairwise(offsets)
    ] == batch.players.tolist()


def test_names_that_only_together_are_sound_text() -> None:
    batch = only(b'[Event "x"]\n[White "a\xc3"]\n[Black "\xa9b"]\n[WhiteElo "1"]\n\n*\n')
    assert batch.white.tolist() == ["a\ufffd"]
    assert batch.black.tolist() == ["\ufffdb"]


def test_long_values(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "x" * 2_000_000
    assert whites(game(white=long) + game()) == [long, "Ann"]
    monkeypatch.setattr("goblin.io._reader.MAX_RECORD", 100_000)
    monkeypatch.setattr("goblin.io._reader.BLOCK", 10_000)
    names, text = whites_until_fault(numbered(1) + game(white=long) + game())
    assert names == ["w1"]
    assert "line 10: longer than 100,000 bytes" in text


# Where games begin and end.


def test_layouts_of_games() -> None:
    tags = b'[Event "x"]\n[White "a"]'
    for data in (
        tags + b"\n\n1. e4 *\n\n" + tags + b"\n\n*\n",
        tags + b"\n1. e4 *\n" + tags + b"\n*",
        tags + b"\n\n\n1. e4\n\n\ne5 *\n\n\n" + tags + b"\n\n*\n\n\n",
        tags.replace(b"\n", b"\n\n") + b"\n1. e4 *\n" + tags + b" *",
        tags + b"\n" + tags + b"\n*\n",
        tags + b"\n% 1. e4 {\n; { \n*\n% {\n; {\n" + tags + b"\n*\n",
        b"\n\n; games\n% of\n\n" + tags + b"\n*\n" + tags + b"\n*\n; end\n% end\n",
        tags.replace(b"\n", b"") + b"*\n" + tags + b"*\n",
    ):
        batch = only(data)
        assert batch.event.tolist() == ["x", "x"], data
        assert batch.white.tolist() == ["a", "a"], data


def test_tags_in_another_order() -> None:
    data = b'[White "a"]\n[Event "x"]\n\n1. e4 *\n\n[White "b"]\n[Event "y"]\n\n*\n'
    batch = only(data)
    assert batch.white.tolist() == ["a", "b"]
    assert batch.event.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    "moves",
    [
        '{ \n[Event "fake"]\n[White "fake"]\n} 1-0',
        '1. e4 { a { b\n[Event "fake"]\n } 1-0',
        '1. e4 { a ; b\n[Event "fake"]\n } 1-0',
        '1. e4 {}{\n[Event "fake"]\n\n\n[Event "fake"]\n} 1-0',
        "1. e4 { \n% }\n } 1-0",
        '1. e4 ; { no comment [Event "fake"]\n1-0',
        "1. e4 } ; {\n1-0",
        "1. e4 { } ; } {\n1-0",
        '; [Event "fake"]\n1-0',
        '%[Event "fake"]\n1-0',
        '1. e4 [Event "fake"] 1-0',
        '1. e4\n%[Event "fake"]\n1-0',
        "1. e4 e5\n[%clk 0:01] e6\n[ odd\n[Event] [Event\n[Eventual] x\n1-0",
        "{ " + "x" * 100 + " } {y} 1-0",
        "1-0 { a comment } ; and one more",
        "1. e4 { [%eval 0.18] [%clk 0:10:00] } 1... e5 { [%clk 0:10:00] } 1/2-1/2",
    ],
)
def test_comments(moves: str) -> None:
    data = game(moves=moves) + game(white="next")
    assert whites(data) == ["Ann", "next"]
    assert whites(game(moves=moves)) == ["Ann"]


@pytest.mark.parametrize(
    "text", ["enwiki\trevision", "1. e4 e5", "{}", "[]", '["x"]', "\x00", "ZADD key 1 a"]
)
def test_what_does_not_start_with_a_game(text: str) -> None:
    names, message = whites_until_fault(b"\n% escaped\n" + text.encode() + b"\n" + game())
    assert names == []
    assert "<stream>, line 3: a game starts with a tag" in message


def test_every_cut_of_plain_text(tmp_path: Path) -> None:
    """A game is whole with its result, whether or not lines follow it; the error names its line."""
    path = tmp_path / "a.pgn"
    data = numbered(1, 2)
    first, second = (match.end() for match in re.finditer(rb" 1-0", data))
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        names: list[str] = []
        if cut in (0, first, first + 1, first + 2) or cut >= second:
            assert whites(data[:cut]) == ["w1", "w2"][: (cut >= first) + (cut >= second)]
            continue
        with pytest.raises(
            TraceError, match=r"a\.pgn, line \d+: the last game is cut off"
        ) as caught:
            for batch in games(path):
                names += batch.white.tolist()
        assert names == ["w1"][: cut > first]
        assert f"line {10 if cut > first else 1}:" in str(caught.value)


@pytest.mark.parametrize(
    "moves", ["1. e4", "1-0 2. e4", "{ 1-0 }", "; 1-0", "1-0.", "(1-0)", "1 -0", ""]
)
def test_moves_that_end_in_no_result(moves: str) -> None:
    names, message = whites_until_fault(numbered(1) + game(moves=moves))
    assert names == ["w1"]
    assert "line 10: the last game is cut off" in message
    assert whites(game(moves=moves) + numbered(1)) == ["Ann", "w1"]


def test_a_comment_that_does_not_end() -> None:
    names, message = whites_until_fault(numbered(1) + game(moves="1. e4 { *") + numbered(2))
    assert names == ["w1"]
    assert "line 10: the last game is cut off" in message


def test_empty_files(tmp_path: Path) -> None:
    for data in (b"", b"\n\n", BOM, b"; nothing", frame(b""), skippable(b"x"), bz2.compress(b"")):
        assert whites(data) == []
    with pytest.raises(ValueError, match="no file to read"):
        games([])


# Files: frames, streams, windows.


@pytest.mark.parametrize("compress", [frame, bz2.compress])
@pytest.mark.parametrize("cut", range(0, 130, 9))
def test_frames_may_be_cut_anywhere_between(compress: type[bytes], cut: int) -> None:
    """All frames and streams of a file are read (B37)."""
    text = game(white="Ünïcödé 🦫") + numbered(2)
    data = compress(text[:cut]) + compress(b"") + compress(text[cut:])
    assert whites(data) == ["Ünïcödé 🦫", "w2"]
    assert whites(OneByteAtATime(data)) == ["Ünïcödé 🦫", "w2"]


@pytest.mark.parametrize("kind", [0, 7, 15])
def test_skippable_frames(kind: int) -> None:
    """The publisher's tool puts one before every frame."""
    text = numbered(1, 2, 3)
    skip = skippable(b"abcd", kind)
    data = skip + frame(text[:50]) + skip + skippable(b"") + frame(text[50:]) + skip
    assert whites(data) == ["w1", "w2", "w3"]
    assert whites(OneByteAtATime(data)) == ["w1", "w2", "w3"]


@pytest.mark.parametrize("compress", [frame, bz2.compress])
def test_reads_that_end_exactly_on_a_frame_end(
    compress: type[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = compress(numbered(1))
    monkeypatch.setattr(source, "_COMPRESSED_BLOCK", len(first) - 4)  # four bytes are the magic
    assert whites(first + compress(numbered(2))) == ["w1", "w2"]
    assert whites(first) == ["w1"]


@pytest.mark.parametrize("missing", [1, 3, 10])
def test_cut_after_whole_games(missing: int) -> None:
    data = frame(numbered(1, 2)) + frame(numbered(3))[:-missing]
    names, text = whites_until_fault(data)
    assert names[:2] == ["w1", "w2"]
    assert f"line {9 * len(names) + 1}: the compressed data is cut off" in text


@pytest.mark.parametrize("cut", [5, 60, 100])
def test_cut_inside_a_game_leaves_it_out(cut: int) -> None:
    data = frame(numbered(1, 2) + numbered(3)[:cut]) + frame(numbered(4))[:4]
    names, text = whites_until_fault(data)
    assert names == ["w1", "w2"]
    assert "line 19: the compressed data is cut off" in text


@pytest.mark.parametrize("compress", [frame, bz2.compress])
@pytest.mark.parametrize("garbage", [b"\0", b"\n", b"garbage", b"\x1f\x8b", b"x" * 500_000])
def test_garbage_after_the_compressed_data(compress: type[bytes], garbage: bytes) -> None:
    names, text = whites_until_fault(compress(numbered(1, 2)) + garbage)
    assert names == ["w1", "w2"]
    assert "line 19: garbage after the compressed data" in text


def test_flipped_bytes_never_pass() -> None:
    options = {zstd.CompressionParameter.checksum_flag: 1}
    data = bytearray(zstd.compress(numbered(*range(200)), options=options))
    for at in range(5, len(data), max(1, len(data) // 60)):
        data[at] ^= 0x10
        with pytest.raises(TraceError):
            whites(bytes(data))
        data[at] ^= 0x10


@pytest.mark.parametrize("content", [game(), b"", b"\x28", b"\x28\xb5\x2f", b"\x50\x2a\x4d"])
@pytest.mark.parametrize("name", ["a.pgn.zst", "A.PGN.ZST", "a.pgn.bz2"])
def test_the_name_of_a_compressed_file_on_other_content(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TraceError, match=name):
        list(games(path))


def test_compression_is_told_by_content(tmp_path: Path) -> None:
    path = tmp_path / "a.pgn"
    for data in (frame(game()), skippable(b"") + frame(game()), bz2.compress(game()), game()):
        path.write_bytes(data)
        assert [batch.white.tolist() for batch in games(path)] == [["Ann"]]


@pytest.mark.parametrize(("log", "fits"), [(23, True), (27, True), (28, False), (31, False)])
def test_windows(log: int, fits: bool) -> None:
    """Large windows (B38): of a stream of unknown size the frame declares its window."""
    options = {zstd.CompressionParameter.window_log: log}
    compressor = zstd.ZstdCompressor(options=options)
    data = compressor.compress(numbered(1)) + compressor.flush()
    if fits:
        assert whites(data) == ["w1"]
        return
    names, text = whites_until_fault(frame(numbered(0)) + data)
    assert names == ["w0"]
    assert "line 10: a zstd frame asks for a window over 128 MiB" in text


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "compression" if sys.version_info >= (3, 14) else "backports"
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"goblin-core\[zstd\]"):
        list(games(io.BytesIO(frame(game()))))
    assert whites(game()) == ["Ann"]


def test_files_of_every_kind(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("1.pgn", "2.pgn.zst", "3.pgn.bz2")]
    for number, (path, compress) in enumerate(
        zip(paths, (bytes, frame, bz2.compress), strict=True)
    ):
        path.write_bytes(compress(numbered(number)))
    reader = games(paths)
    assert [batch.white.tolist() for batch in reader] == [["w0"], ["w1"], ["w2"]]
    assert reader.bytes_read == reader.bytes_total == sum(p.stat().st_size for p in paths)
    with pytest.raises(FileNotFoundError, match=r"gone\.pgn"):
        games([*paths, tmp_path / "gone.pgn"])


def test_standard_input() -> None:
    code = "from goblin.io.lichess import games as g; print([b.white.tolist() for b in g('-')])"
    done = subprocess.run(
        [sys.executable, "-c", code], input=frame(numbered(4, 5)), capture_output=True, check=True
    )
    assert done.stdout.strip() == b"[['w4', 'w5']]"
    assert done.stderr == b""


def test_progress_counts_stored_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.pgn.zst"
    path.write_bytes(frame(numbered(1, 2)))
    calls: list[tuple[int, int | None]] = []
    list(games(path, progress=lambda done, total: calls.append((done, total))))
    assert calls[-1] == (path.stat().st_size, path.stat().st_size)


def test_memory_stays_bounded(tmp_path: Path) -> None:
    """40 MB of games in a file of some kilobytes."""
    path = tmp_path / "a.pgn.zst"
    chunk = numbered(*range(10_000))
    repeats = 40_000_000 // len(chunk)
    path.write_bytes(frame(chunk) * repeats)
    tracemalloc.start()
    count = sum(len(batch) for batch in games(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == repeats * 10_000
    assert peak < 32_000_000


@pytest.mark.parametrize("block", [1, 7, 100, 251])
def test_games_across_blocks(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr("goblin.io._reader.BLOCK", block)
    data = b"".join(
        game(white=f"w{n}", moves=f"1. e4 {{ {'x' * (n * 37 % 400)}\n[Event }} 1-0")
        for n in range(40)
    )
    assert whites(data) == [f"w{n}" for n in range(40)]


# The binding, which must not trust what it is given.


def test_arguments_of_the_scanner() -> None:
    block = game()
    arrays = [np.zeros(4 * len(block), np.int64) for _ in range(12)]

    def read(at: int = 0, kind: int = 1, capacity: int = 2, **changed: object) -> object:
        taken = [changed.get(f"array{i}", array) for i, array in enumerate(arrays)]
        return _core.read_games(block, at, True, kind, None, tuple(taken), capacity)

    assert read() == (len(block), 9, 1, 2, 0, 0, 0, 0, False)
    for wrong in ({"at": -1}, {"at": len(block) + 1}, {"kind": -1}, {"kind": 3}, {"capacity": 0}):
        with pytest.raises(ValueError, match=r"offset|kind"):
            read(**wrong)
    for i in range(12):
        with pytest.raises(ValueError, match="too short"):
            read(**{f"array{i}": np.zeros(1, np.uint8)})
    with pytest.raises(ValueError, match="number of arrays"):
        _core.read_games(block, 0, True, 1, None, (), 2)
    arrays[0].flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        read()


def test_text_columns() -> None:
    stops = np.array([0, 1, 1, 3, 6])
    assert _core.text_column(b"abcdef", stops, 0, 1).tolist() == ["a", "", "bc", "def"]
    assert _core.text_column(b"abcdef", stops, 1, 2).tolist() == ["", "def"]
    assert _core.text_column(b"abcdef", stops, 4, 1).tolist() == []
    assert _core.text_column(b"", np.array([0]), 0, 3).tolist() == []
    many = np.arange(1000)
    assert _core.text_column(b"x" * 999, many, 0, 1).tolist() == ["x"] * 999
    for lying in ([0, 7], [-1, 3], [3, 2], []):
        with pytest.raises(ValueError, match="stops"):
            _core.text_column(b"abcdef", np.array(lying, np.int64), 0, 1)
    for first, step in ((-1, 1), (0, 0), (0, -1)):
        with pytest.raises(ValueError, match="stops"):
            _core.text_column(b"abcdef", stops, first, step)


# Against a parser that is slow and obvious.

_NAME = re.compile(rb'\[\s*([^\s"]+)\s*"')
_TAG = re.compile(rb'\[\s*([^\s"]+)\s*"((?:\\.|[^\\])*?)"\s*\]\s*', re.DOTALL)


class _Cut(Exception):
    """The last game, or the file, is no PGN."""


def parse(data: bytes) -> tuple[list[dict[bytes, bytes]], bool]:
    """Tags of each game, with their escapes, and whether the file ends as it should."""
    found: list[dict[bytes, bytes]] = []
    moves: bytes | None = b"*"  # of the last game; None while its tags are read
    comment = False
    for raw in data.split(b"\n"):
        text = raw.removeprefix(BOM).lstrip()
        name = _NAME.match(text)
        if not comment and raw.startswith(b"%"):
            continue
        if comment or (moves is not None and not _begins(text)):
            if not found and text and not text.startswith(b";"):
                return found, False
            comment, kept = _without_comments(text + b"\n", comment)
            moves = (moves or b"") + kept
            continue
        if not text or text.startswith(b";"):
            continue
        event = name is not None and name[1] == b"Event"
        if moves is not None or (event and b"Event" in found[-1]):
            found.append({})
            moves = None
        if event:
            found[-1][b"Event"] = b""
        while tag := _TAG.match(text):
            found[-1][tag[1]] = tag[2]
            text = text[tag.end() :]
        if text and not text.startswith((b"[", b";")):
            comment, moves = _without_comments(text + b"\n", False)
    whole = not comment and moves is not None and moves.split()[-1:] in (
        [b"1-0"], [b"0-1"], [b"1/2-1/2"], [b"*"]
    )  # fmt: skip
    return (found, True) if whole else (found[:-1], False)


def _begins(text: bytes) -> bool:
    name = _NAME.match(text)
    return name is not None and (name[1] == b"Event" or _TAG.match(text) is not None)


def _without_comments(text: bytes, comment: bool) -> tuple[bool, bytes]:
    """Whether a comment is open behind some text, and what of it is none."""
    kept = b""
    line_comment = False
    for byte in text:
        char = bytes([byte])
        if comment:
            comment = char != b"}"
        elif line_comment or char == b";":
            line_comment = True
        elif char == b"{":
            comment = True
            kept += b" "
        else:
            kept += char
    return comment, kept + b"\n"


_LINES = st.sampled_from(
    [b"", b" ", b"1. e4 e5", b"1-0", b"*", b"{", b"}", b"{ }", b"} {", b"; {", b"{ ; }", b"%",
     b"% {", b"% }", b'{ [Event "c"]', b'[Event "a"]', b'[Event "Casual game"]', b'[Event "b"] *',
     b"[Event", b'[Event "', b'[White "a\\"b"]', b'[White "a\\"]', b'[White "a\\\\"]',
     b'[Black "?"]', b'[WhiteElo "1500"]', b'[BlackElo "?"]', b'[WhiteElo "1"] [Black "B"]',
     b"[%clk 0:01]", BOM, BOM + b'[Event "m"]', b'  [Event "s"]', b'[Site "x"]', b"x} 1/2-1/2",
     b"1. e4 {x} 0-1 ; y", b'[Event "e"]*', b'[Black "b"]{', b'[Variant "Atomic"]']
)  # fmt: skip


@given(
    lines=st.lists(_LINES, max_size=30),
    newline=st.sampled_from([b"\n", b"\r\n"]),
    block=st.sampled_from([1, 16, 100, 1 << 22]),
)
def test_same_games_as_a_slow_parser(lines: list[bytes], newline: bytes, block: int) -> None:
    data = newline.join([*lines, b""])
    expected, whole = parse(data)
    reader = games(io.BytesIO(data), rated=None, variant=None)
    found: list[tuple[str, str, int, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("goblin.io._reader.BLOCK", block)
        try:
            for batch in reader:
                columns = (batch.white, batch.black, batch.white_elo, batch.black_elo)
                found += zip(*(column.tolist() for column in columns), strict=True)
            ended = True
        except TraceError:
            ended = False
    assert ended == whole
    assert found == [
        (*(_text(tags.get(name, b"")) for name in (b"White", b"Black")),
         *(_rating(tags.get(name, b"")) for name in (b"WhiteElo", b"BlackElo")))
        for tags in expected
    ]  # fmt: skip


def _text(value: bytes) -> str:
    return re.sub(rb'\\([\\"])', rb"\1", value).decode()


def _rating(value: bytes) -> int:
    return int(value) if value.isdigit() else -1


_VALUES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=12
).filter(lambda text: not text.endswith("\r"))


@given(
    names=st.lists(st.tuples(_VALUES, _VALUES), max_size=8),
    cuts=st.lists(st.integers(0, 2000), max_size=4),
    compress=st.sampled_from([frame, bz2.compress]),
)
def test_round_trip(names: list[tuple[str, str]], cuts: list[int], compress: type[bytes]) -> None:
    def escaped(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"')

    text = b"".join(game(white=escaped(white), black=escaped(black)) for white, black in names)
    ends = [0, *sorted(cuts), len(text)]
    parts = (text[start:stop] for start, stop in pairwise(ends))
    data = b"".join(map(compress, parts))
    found: list[tuple[str, str]] = []
    for batch in games(OneByteAtATime(data)):
        found += zip(batch.white.tolist(), batch.black.tolist(), strict=True)
    assert found == names
