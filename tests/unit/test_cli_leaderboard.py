"""`goblin leaderboard`: the ratings of players by speed, case and moment."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goblin import cli, synthetic
from goblin.io import lichess

TRACE = synthetic.lichess(300, 3000, seed=5)
SPEEDS = ["ultrabullet", "bullet", "blitz", "rapid", "classical", "correspondence"]
Json = Callable[..., dict[str, Any]]


@pytest.fixture
def run_json(capsys: pytest.CaptureFixture[str]) -> Json:
    """Runs `goblin leaderboard --json` and gives the object."""

    def run(*argv: object) -> dict[str, Any]:
        assert cli.main(["leaderboard", *map(str, argv), "--json"]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return json.loads(out)

    return run


@pytest.fixture
def month(tmp_path: Path) -> Path:
    TRACE.write_pgn(tmp_path / "games.pgn.zst")
    return tmp_path / "games.pgn.zst"


def observations(path: Path) -> list[tuple[str, int, int, str]]:
    """Name, rating, rating after the game, and speed."""
    found: list[tuple[str, int, int, str]] = []
    for batch in lichess.games(path):
        columns = (batch.players, batch.ratings, batch.ratings_after, batch.speeds)
        found += zip(*(column.tolist() for column in columns), strict=True)
    return found


def board_of(report: dict[str, Any]) -> dict[str, float]:
    assert [row["rank"] for row in report["top"]] == list(range(1, len(report["top"]) + 1))
    return {row["member"]: row["score"] for row in report["top"]}


def test_ratings_before_the_last_game(run_json: Json, month: Path) -> None:
    report = run_json(month, "-n", 1000)
    board = {name: rating for name, rating, _, _ in observations(month)}
    assert board_of(report) == board
    assert report["layout"] == "str-float64"
    assert report["members"] == len(board)
    assert report["events"] == 6000
    assert report["skipped"] == {"casual game": 93, "other variant": 46, "no player": 46}
    ranks = [(-row["score"], row["member"]) for row in report["top"]]
    assert [score for score, _ in ranks] == sorted(score for score, _ in ranks)


def test_agrees_with_the_known_final_board(run_json: Json, month: Path) -> None:
    final = TRACE.final()
    report = run_json(month)
    assert report["members"] == len(final)
    assert report["digest"]["mapping"] == f"{final.digest().mapping:032x}"
    assert list(board_of(report).items()) == final.top(10).to_list()


def test_after_the_last_game(run_json: Json, month: Path) -> None:
    report = run_json(month, "--after-game", "-n", 1000)
    assert board_of(report) == {name: after for name, _, after, _ in observations(month)}


@pytest.mark.parametrize("speed", SPEEDS)
def test_speeds(run_json: Json, month: Path, speed: str) -> None:
    report = run_json(month, "--speed", speed, "-n", 1000)
    of_speed = [(name, rating) for name, rating, _, s in observations(month) if s == speed]
    assert board_of(report) == dict(of_speed)
    assert report["events"] == len(of_speed)
    assert report["skipped"]["other speed"] == 6000 - len(of_speed)


def test_key_case(run_json: Json, tmp_path: Path) -> None:
    text = '[Event "x"]\n[White "{}"]\n[WhiteElo "{}"]\n\n*\n\n'
    path = tmp_path / "a.pgn"
    path.write_text(text.format("Ann", 1500) + text.format("ANN", 1600) + text.format("Bob", 1))
    assert board_of(run_json(path)) == {"Ann": 1500, "ANN": 1600, "Bob": 1}
    assert board_of(run_json(path, "--key-case", "lower")) == {"ann": 1600, "bob": 1}


def test_several_files_and_limit(run_json: Json, month: Path) -> None:
    assert run_json(month, month)["events"] == 12_000
    report = run_json(month, "--limit", 101, "-n", 1000)
    assert report["events"] == 101
    assert board_of(report) == {name: rating for name, rating, _, _ in observations(month)[:101]}


def test_no_games(run_json: Json, tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_bytes(b"")
    report = run_json(tmp_path / "a.pgn")
    assert (report["members"], report["events"], report["top"]) == (0, 0, [])


def test_text_for_people(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[Event "x"]\n[White "A\x1b[2J"]\n[WhiteElo "1500"]\n\n*\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert cli.main(["leaderboard", "-"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0].split() == ["rank", "player", "rating"]
    assert out.splitlines()[1].split() == ["1", r"A\x1b[2J", "1,500"]
    assert "players" in out
    assert err == ""


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"enwiki\trevision\n", "line 1: a game starts with a tag"),
        (b'[Event "x"]\n\n1. e4\n', "line 1: the last game is cut off"),
        (b"\x28\xb5\x2f\xfd", "line 1: the compressed data is cut off"),
        (None, "No such file"),
    ],
)
def test_bad_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, data: bytes | None, reason: str
) -> None:
    path = tmp_path / "a.pgn"
    if data is not None:
        path.write_bytes(data)
    assert cli.main(["leaderboard", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"goblin: {path}")
    assert reason in err
    assert err.count("\n") == 1


def test_without_zstd(
    capsys: pytest.CaptureFixture[str], month: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking() -> None:
        raise ImportError("zstd files need a package")

    monkeypatch.setattr("goblin.io._source.import_zstd", lacking)
    assert cli.main(["leaderboard", str(month)]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "goblin: zstd files need a package\n")


@pytest.mark.parametrize("argv", [[], ["--speed", "fast", "a.pgn"], ["--key-case", "UPPER", "-"]])
def test_wrong_usage(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["leaderboard", *argv])
    assert caught.value.code == 2
    assert capsys.readouterr().out == ""
