"""How fast are the tags of Lichess games read, beside decompression and a loop in Python?

Games have the shape of the monthly dumps, tags of all kinds and moves with clocks, in zstd frames
of 32 MiB. Rates are of decompressed text.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from harness import Contender, Report, arguments, race, size

from goblin import synthetic
from goblin.io import lichess
from goblin.io._source import BLOCK, Source

SCANNER, PLAIN = "scanner alone", "reader, plain text"
DECODER, READER = "zstd alone", "reader, zstd"
PLAYERS = "reader, zstd, and players as text"
LOOP = "loop in Python over lines"


def main() -> None:
    args = arguments(__doc__, repeat=5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.pgn.zst"
        trace = synthetic.lichess(20_000, size(args, 5_000, 100_000, 1_000_000), seed=1)
        trace.write_pgn(path)
        stored = path.read_bytes()
    times = race(contenders(stored), args.repeat)
    report = Report("lichess", "tags of Lichess games, rates of decompressed text", args)
    for name in times.rounds:
        report.row(contender=name, gb_per_s=1 / times.median(name), **times.columns(name))
    report.figure(SCANNER, 1 / times.median(SCANNER), 1, "GB/s", at_least=True)
    report.figure(PLAIN, 1 / times.median(PLAIN), 1, "GB/s", at_least=True)
    report.finish()


def contenders(stored: bytes) -> list[Contender]:
    source = Source(io.BytesIO(stored))
    text = source.read(sys.maxsize)
    block = text[: text.rindex(b"[Event ", 0, BLOCK)]
    return [
        Contender(SCANNER, lambda _: scan(block, len(text) // len(block)), whole(text, block)),
        Contender(PLAIN, lambda _: read(text), len(text)),
        Contender(DECODER, lambda _: decode(stored), len(text)),
        Contender(READER, lambda _: read(stored), len(text)),
        Contender(PLAYERS, lambda _: read_players(stored), len(text)),
        Contender(LOOP, lambda _: loop(block), len(block)),
    ]


def whole(text: bytes, block: bytes) -> int:
    return len(text) // len(block) * len(block)


def scan(block: bytes, times: int) -> None:
    """The same block again and again, which fits the cache as the blocks of a reader do."""
    reader = lichess.games([])
    reader._ended = True
    for _ in range(times):
        at, step = 0, -1
        while step != 0:
            step, *_ = reader._read_block(block, at)
            at += step


def read(data: bytes) -> int:
    return sum(len(batch) for batch in lichess.games(io.BytesIO(data)))


def read_players(stored: bytes) -> int:
    return sum(len(batch.players) for batch in lichess.games(io.BytesIO(stored)))


def decode(stored: bytes) -> None:
    source = Source(io.BytesIO(stored))
    while source.read(BLOCK):
        pass


def loop(text: bytes) -> list[dict[bytes, bytes]]:
    """What most scripts do: right for the dumps, but for nothing odd."""
    games: list[dict[bytes, bytes]] = []
    for line in io.BytesIO(text):
        if line.startswith(b"["):
            name, _, value = line[1:].partition(b" ")
            if name == b"Event":
                games.append({})
            games[-1][name] = value[1:-3]
    return games


if __name__ == "__main__":
    main()
