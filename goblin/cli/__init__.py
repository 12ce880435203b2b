"""The command `goblin`: arguments in, one report on standard output, an exit code."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from .. import PrecisionWarning, __version__
from ..io.lichess import SPEEDS
from . import _bench, _load, _report

__all__ = ["main"]

_DESCRIPTION = """\
Sorted sets from traces: MediaWiki History dumps (.tsv, .tsv.bz2), Lichess games (.pgn, .pgn.zst,
.pgn.bz2) and files of Redis commands (.cmds, .cmds.bz2). A FILE of "-" is standard input."""

_EXIT_CODES = "exit codes: 0 done, 1 input missing or bad, 2 wrong usage, 130 interrupted"

# By command: what it does, and examples.
_HELP = {
    "count": (
        "Count the edits of each page in MediaWiki History dumps.",
        "goblin count 2026-07.simplewiki.all-time.tsv.bz2\n"
        "goblin count --top 3 --json *.tsv.bz2\n"
        "goblin count --save pages.goblin *.tsv.bz2\n"
        "bzcat *.tsv.bz2 | goblin count -",
    ),
    "replay": (
        "Carry out a file of ZADD and ZINCRBY commands, inline or RESP.",
        "goblin replay edits.cmds\n"
        "goblin replay --member str players.cmds\n"
        "goblin replay --key enwiki --limit 1000000 edits.cmds",
    ),
    "leaderboard": (
        "Rank the players of Lichess games by the rating before their last game.",
        "goblin leaderboard lichess_db_standard_rated_2013-01.pgn.zst\n"
        "zstdcat *.pgn.zst | goblin leaderboard -\n"
        "goblin leaderboard --speed blitz --after-game --key-case lower *.pgn.zst",
    ),
    "top": (
        "Show the members with the highest scores.",
        "goblin top -n 3 pages.tsv.bz2\n"
        "goblin top pages.goblin\n"
        "head -1000 edits.cmds | goblin top -",
    ),
    "info": (
        "Show the number of members, how the scores spread, and the memory by part.",
        "goblin info pages.tsv.bz2",
    ),
    "digest": (
        "Print a checksum of the final state, by which to compare two traces or engines.",
        "goblin digest pages.tsv.bz2\ngoblin digest edits.cmds",
    ),
    "bench": (
        "Count a synthetic trace with goblin, numpy.bincount and collections.Counter.",
        "goblin bench\ngoblin bench --members 1000000 --json",
    ),
}

# By command: the kinds of member that may be asked for, and which it is unless told.
_MEMBERS = {
    "count": (["int32", "int64"], "int64"),
    "replay": (
        ["int32", "int64", "str", "bytes"],
        "int64, bytes for the keys that have other members",
    ),
    "leaderboard": (["str", "bytes"], "str"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (None: that of the process) and give its exit code.

    >>> main(["count", "no-such-file.tsv"])  # says why on standard error
    1
    """
    arguments = _parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", PrecisionWarning)
            warnings.showwarning = lambda message, *_, **__: _say(str(message))
            report = _run(arguments)
        as_text = _bench.as_text if arguments.command == "bench" else _report.as_text
        return _write(_report.as_json(report) if arguments.json else as_text(report))
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except MemoryError:
        return _fail("out of memory", 1)
    except OSError as error:
        reason = error.strerror or str(error)
        return _fail(reason if error.filename is None else f"{error.filename}: {reason}", 1)
    except (ImportError, OverflowError, ValueError) as error:
        return _fail(str(error), 1)


def _run(arguments: argparse.Namespace) -> _report.Report:
    command = arguments.command
    if command == "bench":
        return _bench.run(arguments.members)
    if arguments.save is not None:
        os.stat(os.path.dirname(arguments.save) or ".")  # not found after hours of counting
    options = _load.Options(arguments.member, arguments.score, arguments.limit)
    if command == "count":
        loaded = _load.history(arguments.files, options)
    elif command == "leaderboard":
        lower = arguments.key_case == "lower"
        ratings = _load.Ratings(arguments.speed, lower, arguments.after_game)
        loaded = _load.games(arguments.files, options, ratings)
    elif command == "replay":
        key = None if arguments.key is None else os.fsencode(arguments.key)
        loaded = _load.commands(arguments.file, options, key)
    else:
        loaded = _load.trace(arguments.file, options)
    report = _report.make(command, loaded, arguments.top)
    if arguments.save is not None:
        _load.save(loaded, arguments.save)  # with the order, which the report has built
    return report


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "goblin",
        description=_DESCRIPTION,
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"goblin {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in _HELP:
        _add_arguments(name, _add_command(commands, name))
    return parser


def _add_command(commands: Any, name: str) -> argparse.ArgumentParser:
    summary, examples = _HELP[name]
    indented = "\n".join(f"  {line}" for line in examples.splitlines())
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary,
        epilog=f"examples:\n{indented}\n\n{_EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")
    return command


def _add_arguments(name: str, command: argparse.ArgumentParser) -> None:
    if name == "bench":
        command.add_argument(
            "--members", type=_positive, default=200_000, help="pages of the trace (%(default)s)"
        )
        return
    if name in ("count", "leaderboard"):
        kind = "a dump" if name == "count" else "games"
        command.add_argument("files", nargs="+", metavar="FILE", help=f'{kind}, or "-"')
    else:
        kind = "a trace" if name == "replay" else "a trace, a snapshot (name.goblin)"
        command.add_argument("file", metavar="FILE", help=f'{kind}, or "-"')
    command.set_defaults(top=10, member=None, score="float64", limit=sys.maxsize, save=None)
    if name in ("count", "leaderboard", "replay", "top"):
        command.add_argument(
            "-n", "--top", type=_count, metavar="N", help="members to show (%(default)s)"
        )
    if name in _MEMBERS:
        kinds, usual = _MEMBERS[name]
        command.add_argument("--member", choices=kinds, help=f"kind of member ({usual})")
    if name in ("count", "leaderboard", "replay"):
        command.add_argument(
            "--score", choices=["float32", "float64"], help="kind of score (%(default)s)"
        )
        command.add_argument(
            "--limit", type=_count, metavar="EVENTS", help="stop after so many events"
        )
        command.add_argument(
            "--save", metavar="SNAPSHOT", help="write the sorted set to a file (name.goblin)"
        )
    if name == "replay":
        command.add_argument("--key", metavar="NAME", help="leave out the commands of other keys")
    if name == "leaderboard":
        command.add_argument(
            "--speed", choices=["all", *SPEEDS], default="all", help="whose ratings (%(default)s)"
        )
        command.add_argument(
            "--key-case",
            choices=["keep", "lower"],
            default="keep",
            help="names as printed, or in lower case, for their case can change (%(default)s)",
        )
        command.add_argument(
            "--after-game", action="store_true", help="the rating that the last game led to"
        )


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)


def _positive(text: str) -> int:
    number = _count(text)
    if number == 0:
        raise argparse.ArgumentTypeError("0 is too few")
    return number


def _write(text: str) -> int:
    """Print the report; a reader that has seen enough, as `head`, is no error."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "<stdout>")
    encoding = sys.stdout.encoding
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except OSError as error:
        # What is left in the buffer must not fail again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OSError(error.errno, error.strerror, "<stdout>") from None
    return 0


def _fail(reason: str, code: int) -> int:
    _say(reason)
    return code


def _say(text: str) -> None:
    if sys.stderr is None:  # closed, and then print would take standard output
        return
    print(f"goblin: {_report.escaped(text)}", file=sys.stderr)
