"""The Lichess-shaped trace: its ratings, its leaderboard, and what it writes."""

from __future__ import annotations

import bz2
from pathlib import Path

import numpy as np
import pytest

import goblin.synthetic as module
from goblin._zstd import import_zstd
from goblin.io import lichess as reader
from goblin.synthetic import lichess

PLAYERS, GAMES = 500, 10_000


@pytest.fixture(scope="module")
def trace() -> module.LichessTrace:
    return lichess(PLAYERS, GAMES, seed=3)


@pytest.fixture(scope="module")
def month(trace: module.LichessTrace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lichess") / "games.pgn.zst"
    trace.write_pgn(path)
    return path


def test_the_board_is_that_of_the_file(
    trace: module.LichessTrace, tmp_path: Path, month: Path
) -> None:
    skipped = trace.write_pgn(tmp_path / "a.pgn")
    for path in (month, tmp_path / "a.pgn"):
        games = reader.games(path)
        board: dict[str, int] = {}
        for batch in games:
            board.update(zip(batch.players.tolist(), batch.ratings.tolist(), strict=True))
        assert board == trace._board()
        assert games.skipped == skipped
    assert skipped == {"casual game": 312, "other variant": 156, "no player": 156}


def test_final_is_the_board(trace: module.LichessTrace) -> None:
    assert trace.final().to_dict() == trace._board()


def test_ratings_follow_each_other(month: Path) -> None:
    """By player and speed, a rating is the last one and its change; both changes sum to zero."""
    after: dict[tuple[str, str], int] = {}
    for batch in reader.games(month):
        assert np.array_equal(batch.white_diff, -batch.black_diff)
        rows = (batch.players, batch.speeds, batch.ratings, batch.ratings_after)
        for name, speed, rating, then in zip(*(row.tolist() for row in rows), strict=True):
            assert after.get((name, speed), rating) == rating
            after[name, speed] = then
    assert 400 < min(after.values()) < max(after.values()) < 3400


def test_proportions(month: Path) -> None:
    white, speeds, results, elos, utc = [], [], [], [], []
    for batch in reader.games(month):
        white += batch.white.tolist()
        speeds += batch.speeds.tolist()[::2]
        results += batch.result.tolist()
        elos += batch.white_elo.tolist()
        utc.append(batch.utc)
    assert speeds.count("blitz") / len(speeds) == pytest.approx(120 / 256, abs=0.02)
    assert set(speeds) == set(reader.SPEEDS)
    assert results.count("1/2-1/2") / len(results) == pytest.approx(1 / 16, abs=0.02)
    assert np.mean(elos) == pytest.approx(1500, abs=100)
    counts = np.sort(np.unique(white, return_counts=True)[1])[::-1]
    assert counts[: PLAYERS // 8].sum() / counts.sum() == pytest.approx(0.5, abs=0.05)
    times = np.concatenate(utc)
    assert (np.diff(times).astype(int) >= 0).all()
    assert times[0] < np.datetime64("2013-01-01") < np.datetime64("2025-01-01") < times[-1]


def test_nobody_plays_himself_and_names_differ(month: Path) -> None:
    names: set[str] = set()
    for batch in reader.games(month):
        assert not (batch.white == batch.black).any()
        names |= set(batch.players.tolist())
    assert len({name.lower() for name in names}) == len(names)
    assert max(map(len, names)) <= 20


def test_the_seed_decides(trace: module.LichessTrace) -> None:
    assert lichess(PLAYERS, GAMES, seed=3)._board() == trace._board()
    assert lichess(PLAYERS, GAMES, seed=4)._board() != trace._board()


def test_frames_are_those_of_pzstd(
    trace: module.LichessTrace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each frame has a skippable one before it, with its length; games lie across them."""
    monkeypatch.setattr(module, "_FRAME", 100_003)
    path = tmp_path / "a.pgn.zst"
    trace.write_pgn(path)
    data = path.read_bytes()
    assert sum(len(batch) for batch in reader.games(path)) == GAMES + GAMES // 128
    sizes = []
    while data:
        assert data[:8] == bytes.fromhex("502a4d1804000000")
        length = int.from_bytes(data[8:12], "little")
        sizes.append(len(import_zstd().decompress(data[12 : 12 + length])))
        data = data[12 + length :]
    assert set(sizes[:-1]) == {100_003}


def test_bzip2_by_suffix(tmp_path: Path) -> None:
    path = tmp_path / "a.pgn.bz2"
    lichess(2, 3).write_pgn(path)
    assert bz2.decompress(path.read_bytes()).count(b"[Event ") == 3


def test_no_games(tmp_path: Path) -> None:
    for name in ("a.pgn", "a.pgn.bz2", "a.pgn.zst"):
        assert lichess(2, 0).write_pgn(tmp_path / name) == {}
        assert list(reader.games(tmp_path / name)) == []
    assert lichess(2, 0)._board() == {}


@pytest.mark.parametrize(("players", "games"), [(1, 5), (-1, 5), (5_000_000_000, 5), (2, -1)])
def test_sizes_that_are_none(players: int, games: int) -> None:
    with pytest.raises(ValueError, match="must"):
        lichess(players, games)
