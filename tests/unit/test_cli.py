"""The command line in-process: what it reports, and what it says of bad input."""

from __future__ import annotations

import bz2
import io
import json
import math
import os
import random
import shlex
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goblin
from goblin import cli, synthetic

TRACE = synthetic.wikimedia(500, seed=3)
SMALL = b"ZADD a 5 10 7 20\nZINCRBY a 2.5 10\nZINCRBY a 1 -30\n"  # 10: 7.5, 20: 7, -30: 1
Json = Callable[..., dict[str, Any]]


@pytest.fixture
def run_json(capsys: pytest.CaptureFixture[str]) -> Json:
    """Runs a command line with --json and gives the object."""

    def run(*argv: object) -> dict[str, Any]:
        assert cli.main([*map(str, argv), "--json"]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return json.loads(out)

    return run


@pytest.fixture
def fails(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command line that must fail with one line, which it gives."""

    def run(*argv: object) -> str:
        assert cli.main([*map(str, argv)]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("goblin: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        return err

    return run


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    TRACE.write_history(tmp_path / "pages.tsv.bz2")
    return tmp_path / "pages.tsv.bz2"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return commands(tmp_path, SMALL)


def commands(folder: Path, text: bytes) -> Path:
    path = folder / "some.cmds"
    path.write_bytes(text)
    return path


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    stdin = io.BufferedReader(io.BytesIO(data))  # type: ignore[arg-type]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stdin))


def digest_of(scores: goblin.SortedSet[Any]) -> dict[str, Any]:
    digest = scores.digest()
    return {
        "count": digest.count,
        "total": digest.total,
        "ordered": f"{digest.ordered:032x}",
        "mapping": f"{digest.mapping:032x}",
    }


# ---- what is reported


def test_count_reports_the_final_state(dump: Path, run_json: Json) -> None:
    report = run_json("count", dump, "-n", 3)
    final = TRACE.final()
    digest = digest_of(final)  # which builds the order, as the report does
    assert report.pop("rss_bytes") > 10_000_000
    assert report.pop("seconds") > 0
    assert report.pop("bytes") == pytest.approx(final.memory().total, rel=0.2)
    assert report.pop("bytes_per_member") == pytest.approx(final.memory().per_member, rel=0.2)
    assert report == {
        "command": "count",
        "layout": "int64-float64",
        "members": 500,
        "total": float(TRACE.events),
        "top": [
            {"rank": rank, "member": member, "score": score}
            for rank, (member, score) in enumerate(final.top(3), start=1)
        ],
        "digest": digest,
        "events": TRACE.events,
        "skipped": {
            "other entity or event": TRACE.events // 16 + TRACE.events // 32,
            "no page id": TRACE.events // 64,
        },
    }


def test_a_dump_and_its_commands_share_one_digest(
    dump: Path, run_json: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = dump.with_name("pages.cmds")
    TRACE.write_commands(lines)
    rows = bz2.decompress(dump.read_bytes())
    packed = dump.with_name("pages.cmds.bz2")
    packed.write_bytes(bz2.compress(lines.read_bytes()))
    for path in (dump, lines, packed):
        assert run_json("digest", path)["digest"] == digest_of(TRACE.final())
    for data in (dump.read_bytes(), rows, lines.read_bytes()):
        feed(monkeypatch, data)
        assert run_json("digest", "-")["digest"] == digest_of(TRACE.final())


@pytest.mark.parametrize("start", [b"zadd a 1 2", b'"ZADD" a 1 2', b"\r\n ZADD a 1 2"])
def test_commands_on_standard_input(
    start: bytes, run_json: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(monkeypatch, start)
    assert run_json("top", "-")["top"] == [{"rank": 1, "member": 2, "score": 1.0}]


@pytest.mark.parametrize("wiki", ["zhwiki", "zuwiktionary", "enwiki"])
def test_dumps_on_standard_input(
    wiki: str, run_json: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = [wiki, "revision", "create", *[""] * 20, "12", *[""] * 46]
    feed(monkeypatch, "\t".join(row).encode())
    assert run_json("top", "-")["top"] == [{"rank": 1, "member": 12, "score": 1.0}]


def test_count_takes_many_files(dump: Path, run_json: Json) -> None:
    assert run_json("count", dump, dump)["total"] == 2 * TRACE.events


@pytest.mark.parametrize("member", ["int32", "int64"])
@pytest.mark.parametrize("score", ["float32", "float64"])
def test_kinds(member: str, score: str, dump: Path, run_json: Json) -> None:
    report = run_json("count", "--member", member, "--score", score, dump)
    assert report["layout"] == f"{member}-{score}"
    assert report["digest"] == digest_of(TRACE.final())


@pytest.mark.parametrize("limit", [0, 1, 700, 10**9])
def test_limit(limit: int, dump: Path, run_json: Json) -> None:
    report = run_json("count", "--limit", limit, dump)
    assert report["total"] == report["events"] == min(limit, TRACE.events)


def test_limit_cuts_a_run_of_commands(small: Path, run_json: Json) -> None:
    report = run_json("replay", "--limit", 3, small)
    assert [(row["member"], row["score"]) for row in report["top"]] == [(10, 7.5), (20, 7.0)]


def test_info_has_spread_and_memory(small: Path, run_json: Json) -> None:
    report = run_json("info", small)
    assert report["scores"]["50%"] == 7.0
    assert report["memory"]["total"] == report["bytes"]


def test_infinities_are_texts(tmp_path: Path, run_json: Json) -> None:
    path = commands(tmp_path, b"ZADD a inf 1 -inf 2")
    report = run_json("replay", path)
    assert [row["score"] for row in report["top"]] == ["inf", "-inf"]
    assert report["total"] is None


@pytest.mark.parametrize("command", ["count", "replay", "top", "info", "digest"])
@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_empty_input(
    command: str,
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    feed(monkeypatch, b"")
    assert cli.main([command, "-", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out)["members"] == 0 if arguments else "0" in out


def test_several_keys(tmp_path: Path, run_json: Json) -> None:
    path = commands(tmp_path, b'ZADD a 1 10\nZADD "\\xff" 2 20\nZINCRBY a 3 10\n')
    report = run_json("replay", path)
    assert "top" not in report
    tops = {key: of_set["top"][0] for key, of_set in report["keys"].items()}
    assert tops == {
        "a": {"rank": 1, "member": 10, "score": 4.0},
        "\udcff": {"rank": 1, "member": 20, "score": 2.0},
    }
    one = run_json("replay", path, "--key", "\udcff")
    assert (one["top"][0]["member"], one["events"], one["skipped"]) == (20, 1, {"other key": 2})


# ---- members that are no integers

MIXED = b'ZADD a 5 10 7 9\nZINCRBY a 2 ann\nZINCRBY a 2 10\nZADD b 1 10\nZADD a 7 "\\xff" 7 007\n'


def test_a_key_with_other_members_becomes_one_of_bytes(tmp_path: Path, run_json: Json) -> None:
    """The order among 7 is bytewise, as in Redis: 007, 10, 9, and then the byte that is no text."""
    keys = run_json("replay", commands(tmp_path, MIXED))["keys"]
    assert keys["a"]["layout"] == "bytes-float64"
    assert [(row["member"], row["score"]) for row in keys["a"]["top"]] == [
        ("\udcff", 7.0),
        ("9", 7.0),
        ("10", 7.0),
        ("007", 7.0),
        ("ann", 2.0),
    ]
    assert keys["b"]["layout"] == "int64-float64"
    assert keys["b"]["top"] == [{"rank": 1, "member": 10, "score": 1.0}]


def test_score_kind_stays_when_the_members_turn_out_to_be_text(
    tmp_path: Path, run_json: Json
) -> None:
    path = commands(tmp_path, b"ZADD a 0.1 7\nZADD a 1 x\n")
    report = run_json("replay", "--score", "float32", path)
    assert report["layout"] == "bytes-float32"
    assert report["top"][1] == {"rank": 2, "member": "7", "score": float(np.float32(0.1))}


def test_members_past_the_limit_do_not_count(tmp_path: Path, run_json: Json) -> None:
    path = commands(tmp_path, b"ZADD a 1 7 2 8 3 x\n")
    assert run_json("replay", "--limit", 2, path)["layout"] == "int64-float64"
    assert run_json("replay", "--limit", 3, path)["layout"] == "bytes-float64"


@pytest.mark.parametrize("command", ["digest", "top", "info"])
def test_digests_of_str_and_bytes_agree(command: str, tmp_path: Path, run_json: Json) -> None:
    path = commands(tmp_path, "ZADD a 1 10 1 9 1 Ünï 2 '' -3 'a b'\n".encode())
    expected = goblin.SortedSet({"10": 1.0, "9": 1.0, "Ünï": 1.0, "": 2.0, "a b": -3.0})
    assert run_json(command, path)["digest"] == digest_of(expected)
    for member in ("str", "bytes"):
        report = run_json("replay", "--member", member, path)
        assert report["layout"] == f"{member}-float64"
        assert report["digest"] == digest_of(expected)


def test_integers_as_text(small: Path, run_json: Json) -> None:
    report = run_json("replay", "--member", "str", small)
    assert [row["member"] for row in report["top"]] == ["10", "20", "-30"]


@pytest.mark.parametrize("block", [16, 100, 1 << 22])
def test_random_commands(
    block: int, tmp_path: Path, run_json: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against a dict by key; most members are integers, and it is late that others come."""
    monkeypatch.setattr("goblin.io._reader.BLOCK", block)
    rng = random.Random(block)
    lines: list[str] = []
    keys: dict[str, dict[str, float]] = {key: {} for key in "abc"}
    for number in range(400):
        key, by = rng.choice("abc"), rng.randrange(-5, 9)
        is_text = key != "c" and number > 200 and rng.random() < 0.2
        member = f"{'x' if is_text else ''}{rng.randrange(30)}"
        verb = rng.choice(["ZADD", "ZINCRBY"])
        lines.append(f"{verb} {key} {by} {member}\n")
        keys[key][member] = by + (keys[key].get(member, 0.0) if verb == "ZINCRBY" else 0.0)
    report = run_json("replay", commands(tmp_path, "".join(lines).encode()))["keys"]
    for key, scores in keys.items():
        in_kind = {int(m): s for m, s in scores.items()} if key == "c" else scores
        assert report[key]["layout"] == f"{'int64' if key == 'c' else 'bytes'}-float64"
        assert report[key]["digest"] == digest_of(goblin.SortedSet(in_kind))


# ---- the text for people


def text(capsys: pytest.CaptureFixture[str], *argv: object) -> list[str]:
    assert cli.main([*map(str, argv)]) == 0
    return capsys.readouterr().out.splitlines()


def test_top_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = commands(tmp_path, b"ZADD a 1234567 10 0.1 2000\n")
    lines = text(capsys, "top", path)
    assert lines[:6] == [
        "rank  member      score",
        "   1      10  1,234,567",
        "   2    2000        0.1",
        "",
        "members  2",
        "total    1,234,567.1",
    ]
    labels = [line.split()[0] for line in lines[6:] if line]
    assert labels == ["memory", "time", "process"]


def test_count_text_names_pages_and_what_was_skipped(
    dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = text(capsys, "count", dump, "-n", 0)
    assert lines[:2] == ["pages   500", f"edits   {TRACE.events:,}"]
    assert any(line.startswith("skipped  other entity or event: ") for line in lines)


def test_info_text(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = text(capsys, "info", small)
    assert lines[0].split() == ["layout", "int64-float64"]
    assert "50%      7" in lines
    assert any(line.startswith("order ") for line in lines)


def test_digest_text_is_the_same_whatever_the_trace(
    dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = dump.with_name("pages.cmds")
    TRACE.write_commands(lines)
    printed = text(capsys, "digest", dump)
    assert [line.split() for line in printed] == [
        [name, str(value)] for name, value in digest_of(TRACE.final()).items()
    ]
    assert printed == text(capsys, "digest", lines)


def test_keys_cannot_command_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = commands(tmp_path, b'ZADD "\\x1b[2J\\n" 1 10\nZADD "\\xc3\\xa9\\xff" 2 20\n')
    lines = text(capsys, "replay", path)
    assert "\\x1b[2J\\n:" in lines
    assert "é\\udcff:" in lines


def test_names_cannot_command_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = commands(tmp_path, b'ZADD a 3 "\\x1b[2J\\n" 2 "\\xc3\\xa9\\xff" 1 "\\xe2\\x80\\xaex"\n')
    lines = text(capsys, "top", path)
    assert [line.split()[1] for line in lines[1:4]] == ["\\x1b[2J\\n", "é\\udcff", "\\u202ex"]


def test_long_names_are_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = commands(tmp_path, b"ZADD a 2 %s 1 %s\n" % (b"m" * 64, b"n" * 1_000_000))
    lines = text(capsys, "top", path)
    assert [line.split()[1] for line in lines[1:3]] == ["m" * 64, "n" * 61 + "..."]


def test_lost_digits_are_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = commands(tmp_path, b"ZADD a 16777216 1\nZINCRBY a 1 1\n")
    assert cli.main(["replay", "--score", "float32", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "16,777,216" in out
    assert err.startswith("goblin: ")
    assert err.count("\n") == 1


def test_bench(run_json: Json, capsys: pytest.CaptureFixture[str]) -> None:
    report = run_json("bench", "--members", 1000)
    names = ["goblin.SortedSet", "numpy.bincount", "collections.Counter"]
    assert [result["name"] for result in report["results"]] == names
    assert report["results"][0]["ratio"] == 1.0
    assert all(
        math.isclose(result["ns_per_event"] * report["events"], result["seconds"] * 1e9)
        for result in report["results"]
    )
    lines = text(capsys, "bench", "--members", 1000)
    assert [line.split()[0] for line in lines[3:]] == names


def test_bench_peers_count_the_same() -> None:
    from goblin.cli import _bench

    ids = next(iter(TRACE))
    counts = _bench._goblin(ids).to_dict()
    assert counts == _bench._counter(ids)
    bins = _bench._bincount(ids)
    assert counts == {member: bins[member] for member in bins.nonzero()[0].tolist()}


# ---- bad input


NO_INTEGERS = {
    "text member": (b"ZADD a 1 7\nZADD a 1 Alice\n", "member 'Alice'"),
    "zeros in front": (b"ZADD a 1 7 2 007\n", "member '007'"),
    "beyond int64": (b"ZADD a 1 9223372036854775808\n", "member '9223372036854775808'"),
    "escaped": (b'ZADD a 1 "\\n"\n', "member '\\n'"),
}


@pytest.mark.parametrize("member", ["int32", "int64"])
@pytest.mark.parametrize("content, reason", NO_INTEGERS.values(), ids=NO_INTEGERS)
def test_members_that_must_be_integers(
    member: str, content: bytes, reason: str, tmp_path: Path, fails: Callable[..., str]
) -> None:
    line = fails("replay", "--member", member, commands(tmp_path, content))
    assert f"some.cmds: {reason} is no 64-bit integer" in line


def test_members_that_must_be_text(tmp_path: Path, fails: Callable[..., str]) -> None:
    path = commands(tmp_path, b'ZADD a 1 7\nZADD a 1 b 2 "\\xff" 3 c\n')
    line = fails("replay", "--member", "str", path)
    assert "some.cmds: member '\\udcff' is no UTF-8" in line


BAD_COMMANDS = {
    "other command": (b"ZADD a 1 7\nGET a\n", "line 2"),
    "NaN": (b"ZADD a nan 7\n", "line 1"),
    "infinities": (b"ZADD a inf 7\nZINCRBY a -inf 7\n", "NaN"),
}


@pytest.mark.parametrize("command", ["replay", "top", "info", "digest"])
@pytest.mark.parametrize("content, reason", BAD_COMMANDS.values(), ids=BAD_COMMANDS)
def test_bad_commands(
    command: str, content: bytes, reason: str, tmp_path: Path, fails: Callable[..., str]
) -> None:
    assert reason.lower() in fails(command, commands(tmp_path, content)).lower()


def test_no_such_key(small: Path, fails: Callable[..., str]) -> None:
    assert "'b'" in fails("replay", "--key", "b", small)


def test_member_beyond_int32(tmp_path: Path, fails: Callable[..., str]) -> None:
    path = commands(tmp_path, b"ZADD a 1 3000000000")
    assert "3000000000 does not fit int32" in fails("replay", "--member", "int32", path)


def test_score_beyond_float32(tmp_path: Path, fails: Callable[..., str]) -> None:
    fails("replay", "--score", "float32", commands(tmp_path, b"ZADD a 1e39 7"))


def test_text_member_of_another_key_is_left_out(tmp_path: Path, run_json: Json) -> None:
    path = commands(tmp_path, b"ZADD a 1 Alice\nZADD b 1 7\n")
    assert run_json("replay", "--key", "b", path)["members"] == 1


@pytest.mark.parametrize("command", ["count", "replay", "top", "info", "digest"])
def test_missing_file(command: str, tmp_path: Path, fails: Callable[..., str]) -> None:
    line = fails(command, tmp_path / "none")
    assert line.endswith("none: No such file or directory\n")


def test_a_missing_file_among_others(dump: Path, fails: Callable[..., str]) -> None:
    assert "none.tsv" in fails("count", dump, dump.with_name("none.tsv"))


def test_folder(tmp_path: Path, fails: Callable[..., str]) -> None:
    (tmp_path / "some.tsv").mkdir()
    assert "Is a directory" in fails("top", tmp_path / "some.tsv")


def test_other_suffix(tmp_path: Path, fails: Callable[..., str]) -> None:
    (tmp_path / "some\n.txt").write_bytes(SMALL)
    assert ".cmds" in fails("top", tmp_path / "some\n.txt")


def test_cut_dump(dump: Path, fails: Callable[..., str]) -> None:
    dump.write_bytes(dump.read_bytes()[:-100])
    assert "cut off" in fails("count", dump)


def test_commands_are_no_dump(small: Path, fails: Callable[..., str]) -> None:
    assert "some.cmds, line 1" in fails("count", small)


@pytest.mark.parametrize("argv", [["count", "-"], ["replay", "-"], ["top", "-"]])
def test_closed_standard_input(
    argv: list[str], fails: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert "<stdin>" in fails(*argv)


# ---- usage


@pytest.mark.parametrize(
    "line",
    [
        "",
        "frobnicate",
        "count",
        "count -n -1 a.tsv",
        "count -n x a.tsv",
        "count --limit -1 a.tsv",
        "count --member str a.tsv",
        "replay --member uuid a.cmds",
        "top --member str a.cmds",
        "count --score float16 a.tsv",
        "count --key a a.tsv",
        "top --limit 5 a.tsv",
        "top a.tsv b.tsv",
        "digest -n 5 a.tsv",
        "bench --members 0",
    ],
)
def test_wrong_usage(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(shlex.split(line))
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: goblin")


@pytest.mark.parametrize("command", cli._HELP)
def test_help_has_examples_that_parse(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([command, "--help"])
    assert stop.value.code == 0
    examples = capsys.readouterr().out.split("examples:\n")[1].split("\n\n")[0]
    for line in examples.splitlines():
        words = shlex.split(line.split("|")[-1])
        assert words[:2] == ["goblin", command]
        cli._parser().parse_args(words[1:])


def test_a_saved_set_is_read_again(dump: Path, tmp_path: Path, run_json: Json) -> None:
    path = tmp_path / "pages.goblin"
    counted = run_json("count", dump, "--member", "int32", "--save", path)
    assert goblin.SortedSet.load(path) == TRACE.final()
    for command in ("top", "info", "digest"):
        report = run_json(command, path)
        assert report["digest"] == counted["digest"]
        assert report["layout"] == "int32-float64"
        assert report["events"] == 0


def test_a_snapshot_is_of_one_key(tmp_path: Path, fails: Callable[..., str]) -> None:
    path = tmp_path / "two.cmds"
    path.write_bytes(b"ZADD a 1 1\nZADD b 1 1\n")
    assert "one key" in fails("replay", path, "--save", tmp_path / "x.goblin")
    assert not (tmp_path / "x.goblin").exists()


def test_a_folder_to_save_in_is_looked_for_before_counting(
    tmp_path: Path, fails: Callable[..., str]
) -> None:
    assert "nowhere" in fails(
        "count", tmp_path / "missing", "--save", tmp_path / "nowhere/x.goblin"
    )


def test_a_snapshot_of_any_name_is_known(
    tmp_path: Path, fails: Callable[..., str], capsys: Any
) -> None:
    saved = tmp_path / "board.bin"
    goblin.SortedSet({7: 2.0}).save(saved)
    assert cli.main(["top", str(saved)]) == 0
    assert "7" in capsys.readouterr().out
    for command in ("count", "leaderboard", "replay"):
        assert "board.bin: this is no trace but a saved container" in fails(command, saved)


def test_a_pipe_is_read_from_its_beginning(dump: Path, tmp_path: Path, run_json: Json) -> None:
    pipe = tmp_path / "pipe.tsv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(dump.read_bytes()), daemon=True)
    writer.start()
    assert run_json("top", pipe)["digest"] == run_json("top", dump)["digest"]
    writer.join()


def test_a_damaged_snapshot_is_told(tmp_path: Path, fails: Callable[..., str]) -> None:
    (tmp_path / "x.goblin").write_bytes(b"nothing")
    assert "x.goblin" in fails("top", tmp_path / "x.goblin")
