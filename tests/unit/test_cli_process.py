"""The command line as a process: pipes, terminals, signals, what is left on standard output."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import sysconfig
import termios
from pathlib import Path
from typing import Any

import pytest

import goblin
from goblin import synthetic

GOBLIN = [sys.executable, "-m", "goblin"]
SCRIPT = Path(sysconfig.get_path("scripts"), "goblin")
ROW = "\t".join(["enwiki", "revision", "create", *[""] * 20, "12", *[""] * 46]).encode() + b"\n"
# Of each a total of 100.
TRACES = {
    "count": ROW * 100,
    "replay": b"ZINCRBY a 10 x\n" * 10,
    "leaderboard": b'[Event "x"]\n[White "Ann"]\n[WhiteElo "100"]\n\n*\n',
}


def run(*argv: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*GOBLIN, *map(str, argv)], capture_output=True, timeout=60, **options)


@pytest.mark.parametrize("command", [GOBLIN, [str(SCRIPT)]], ids=["module", "script"])
def test_version(command: list[str]) -> None:
    if command == [str(SCRIPT)] and not SCRIPT.exists():
        pytest.skip("goblin is not installed here, only importable")
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"goblin {goblin.__version__}\n")


def test_dump_through_a_pipe(tmp_path: Path) -> None:
    trace = synthetic.wikimedia(300, seed=4)
    trace.write_history(tmp_path / "pages.tsv")
    done = run("count", "-", "--json", input=(tmp_path / "pages.tsv").read_bytes())
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["total"] == trace.events


@pytest.mark.parametrize("argv", [["count", "none.tsv"], ["count", "-"], ["digest", "-"]])
def test_bad_input(argv: list[str]) -> None:
    done = run(*argv, input=b"no dump\n")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"goblin: ")
    assert done.stderr.count(b"\n") == 1


def test_wrong_usage() -> None:
    done = run("count", "--frobnicate", "-")
    assert (done.returncode, done.stdout) == (2, b"")


def output_to(stdout: int, tmp_path: Path) -> tuple[int, bytes]:
    path = tmp_path / "some.cmds"
    path.write_bytes(b"ZADD a 1 7\n")
    command = [*GOBLIN, "top", str(path)]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, timeout=60)
    return done.returncode, done.stderr


def test_a_reader_that_has_gone_is_no_error(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert output_to(writer, tmp_path) == (0, b"")
    finally:
        os.close(writer)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        code, stderr = output_to(full.fileno(), tmp_path)
    assert code == 1
    assert stderr == b"goblin: <stdout>: No space left on device\n"


def test_text_that_the_output_cannot_encode(tmp_path: Path) -> None:
    path = tmp_path / "some.cmds"
    path.write_bytes("ZADD é 1 7\nZADD b 1 7\n".encode())
    done = run("replay", path, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"\\xe9:\n")


def test_interrupt() -> None:
    with subprocess.Popen(
        [*GOBLIN, "count", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A job in the background may have inherited that the signal is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdin is not None
        # More than a pipe holds: once it is written, the command is reading.
        process.stdin.write(ROW * 20_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"goblin: interrupted\n")


@pytest.mark.parametrize("command", ["count", "replay", "leaderboard"])
def test_progress_on_a_terminal_only(command: str, tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(TRACES[command])
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    try:
        argv = [*GOBLIN, command, "--json", str(path)]
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=theirs, timeout=60)
        shown = os.read(ours, 1 << 16)
    finally:
        os.close(theirs)
        os.close(ours)
    assert b"reading" in shown
    assert json.loads(done.stdout)["total"] == 100
    done = run(command, "--json", path)
    assert (done.returncode, done.stderr) == (0, b"")


def test_no_standard_error_leaves_standard_output_alone() -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *GOBLIN, "count", "none.tsv"],
        stdout=subprocess.PIPE,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, b"")


def test_a_long_member_does_not_flood_the_terminal() -> None:
    line = b"ZADD a 1 " + b"\0" * 1_000_000 + b"\n"
    done = run("replay", "--member", "int64", "-", input=line)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.endswith(b"is no 64-bit integer\n")
    assert len(done.stderr) < 200
