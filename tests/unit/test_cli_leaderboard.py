"""`goblin leaderboard`: the ratings of players by speed, case and moment."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goblin import cli, synthetic
from goblin._zstd import import_zstd
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


@pytest.mark.parametrize("member", ["str", "bytes"])
@pytest.mark.parametrize("score", ["float32", "float64"])
def test_kinds(run_json: Json, month: Path, member: str, score: str) -> None:
    report = run_json(month, "--member", member, "--score", score)
    assert report["layout"] == f"{member}-{score}"
    assert report["digest"] == run_json(month)["digest"]


def test_names_that_are_no_ascii(run_json: Json, tmp_path: Path) -> None:
    """Bad UTF-8 is replaced, as in the columns of the reader, whatever the kind and the speed."""
    text = '[Event "Rated {} game"]\n[White "{}"]\n[WhiteElo "{}"]\n\n*\n\n'
    games = text.format("Blitz", "Ünï", 1500) + text.format("Bullet", "Ann", 1600)
    path = tmp_path / "a.pgn"
    bad = text.format("Blitz", "A\xffB", 1700).encode("latin-1")
    path.write_bytes(games.encode() + bad)
    for member in ("str", "bytes"):
        report = run_json(path, "--speed", "blitz", "--key-case", "lower", "--member", member)
        assert board_of(report) == {"Ünï": 1500, "a\ufffdb": 1700}


@pytest.mark.parametrize("command", ["top", "info", "digest"])
def test_games_are_a_trace_like_others(
    command: str,
    month: Path,
    run_json: Json,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    digest = run_json(month)["digest"]
    packed = month.read_bytes()
    plain = month.with_name("games.pgn")
    plain.write_bytes(import_zstd().decompress(packed))
    frames = b"\x50\x2a\x4d\x18\x01\0\0\0x" + packed  # first one that is to be skipped
    for source in (month, plain, packed, frames, plain.read_bytes()):
        if isinstance(source, bytes):
            stdin = io.BufferedReader(io.BytesIO(source))  # type: ignore[arg-type]
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stdin))
        assert cli.main([command, str(source) if isinstance(source, Path) else "-", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["digest"] == digest


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


def test_no_games(run_json: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.pgn").write_bytes(b"")
    report = run_json(tmp_path / "a.pgn")
    assert (report["members"], report["events"], report["top"]) == (0, 0, [])
    assert cli.main(["leaderboard", str(tmp_path / "a.pgn")]) == 0
    assert capsys.readouterr().out.startswith("players  0\nmemory ")


def test_text_for_people(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[Event "x"]\n[White "A\x1b[2J"]\n[WhiteElo "1500"]\n\n*\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert cli.main(["leaderboard", "-"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0].split() == ["rank", "player", "rating"]
    assert out.splitlines()[1].split() == ["1", r"A\x1b[2J", "1,500"]
    assert out.splitlines()[3:5] == ["players  1", "median   1,500"]
    assert "total" not in out
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


def test_without_zstd(month: Path) -> None:
    """Plain files need no zstd; of compressed ones one line says what to install."""
    code = (
        "import sys\n"
        "sys.modules['backports.zstd'] = sys.modules['compression.zstd'] = None\n"
        "from goblin import cli\n"
        "sys.exit(cli.main(['leaderboard', *sys.argv[1:]]))\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run([*command, month], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "goblin: zstd files need the package backports.zstd: pip install 'goblin-core[zstd]'\n"
    )
    done = subprocess.run([*command, "-"], input="", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["--speed", "fast", "a.pgn"],
        ["--key-case", "UPPER", "-"],
        ["--member", "int64", "a.pgn"],
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["leaderboard", *argv])
    assert caught.value.code == 2
    assert capsys.readouterr().out == ""
