"""The reader of command files: quoting, RESP, score text, runs, and what it refuses."""

from __future__ import annotations

import bz2
import gc
import io
import math
import struct
import subprocess
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from goblin import _core
from goblin.errors import TraceError
from goblin.io import commands


def read(data: bytes) -> list[tuple[str, bytes, list[bytes], list[float]]]:
    return [
        (batch.op, batch.key, batch.members.tolist(), batch.scores.tolist())
        for batch in commands(io.BytesIO(data))
    ]


def resp(*arguments: bytes) -> bytes:
    bulks = b"".join(b"$%d\r\n%s\r\n" % (len(a), a) for a in arguments)
    return b"*%d\r\n%s" % (len(arguments), bulks)


def fault_of(data: bytes) -> str:
    with pytest.raises(TraceError) as caught:
        read(data)
    return str(caught.value)


def test_runs_of_one_verb_and_key() -> None:
    data = (
        b"ZINCRBY k 1 a\nZINCRBY k 2.5 b\nzincrby j 1 a\nZADD j 3 x 4 y\nZAdd j 5 z\nZADD k 6 w\n"
    )
    assert read(data) == [
        ("ZINCRBY", b"k", [b"a", b"b"], [1.0, 2.5]),
        ("ZINCRBY", b"j", [b"a"], [1.0]),
        ("ZADD", b"j", [b"x", b"y", b"z"], [3.0, 4.0, 5.0]),
        ("ZADD", b"k", [b"w"], [6.0]),
    ]


def test_batch_access() -> None:
    (batch,) = commands(io.BytesIO(b"ZADD k 1 a 2 b"))
    assert len(batch) == 2
    assert batch.columns == ("members", "scores")
    assert batch["members"] is batch.members
    assert batch["scores"] is batch.scores
    assert batch.members.dtype == object
    assert batch.scores.dtype == np.float64
    with pytest.raises(AttributeError):
        _ = batch.page_id


@pytest.mark.parametrize(
    ("written", "member"),
    [
        (rb'"a b"', b"a b"),
        (rb"'a b'", b"a b"),
        (rb'""', b""),
        (rb"''", b""),
        (rb'"\n\r\t\b\a\\\""', b'\n\r\t\b\a\\"'),
        (rb'"\x00\xfF\xzz"', b"\x00\xffxzz"),
        (rb'"\q"', b"q"),
        (rb"'it\'s \n'", rb"it's \n"),
        (rb'pre"fix ed"', b"prefix ed"),
        (rb"pre'fix ed'", b"prefix ed"),
        (rb"back\slash", rb"back\slash"),
        (b"vt\x0bff\x0cin", b"vt\x0bff\x0cin"),
        ("Ünïcödé".encode(), "Ünïcödé".encode()),
        (b"\xff\xfe", b"\xff\xfe"),
        (b"nul\x00s\x00", b"nul\x00s\x00"),
    ],
)
def test_quoting_by_the_rules_of_redis(written: bytes, member: bytes) -> None:
    for before, after in ((b"", b"\n"), (b" \t\x0b", b"  \r\n"), (b"", b"")):
        assert read(before + b"ZADD k 1 " + written + after) == [("ZADD", b"k", [member], [1.0])]
    assert read(b"ZADD " + written + b" 1 m") == [("ZADD", member, [b"m"], [1.0])]


@pytest.mark.parametrize(
    "line",
    [b'ZADD k 1 "a', b"ZADD k 1 'a", b'ZADD k 1 "a"b', b"ZADD k 1 'a'b", b'ZADD k 1 "a\\"',
     b'ZADD "'],
)  # fmt: skip
def test_unbalanced_quotes(line: bytes) -> None:
    assert "<stream>, line 2: unbalanced quotes" in fault_of(b"ZADD k 1 a\n" + line + b"\n")


def test_blank_lines_are_passed_over_but_counted() -> None:
    assert read(b"\n\r\n  \nZADD k 1 a\n\n") == [("ZADD", b"k", [b"a"], [1.0])]
    assert "line 3: " in fault_of(b"\n\nGET k\n")
    assert read(b"") == read(b"\n") == read(b"*0\r\n*-1\r\n") == []


def test_resp_arrays() -> None:
    data = (
        resp(b"ZINCRBY", b"k", b"1", b"a b\r\n")
        + resp(b"zincrby", b"k", b"0x10", b"")
        + b"*0\r\n"
        + resp(b"ZADD", b"", b"1", b"*3", b"2", b"\x00\xff")
    )
    assert read(data) == [
        ("ZINCRBY", b"k", [b"a b\r\n", b""], [1.0, 16.0]),
        ("ZADD", b"", [b"*3", b"\x00\xff"], [1.0, 2.0]),
    ]


def test_resp_and_inline_may_mix() -> None:
    assert read(b"ZADD k 1 a\n" + resp(b"ZADD", b"k", b"2", b"b") + b"ZADD k 3 c\n") == [
        ("ZADD", b"k", [b"a", b"b", b"c"], [1.0, 2.0, 3.0])
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"*x\r\n",
        b"*1\n$4\r\nZADD\r\n",
        b"*4\r\n+ZADD\r\n",
        b"*4\r\n$-1\r\n",
        b"*4\r\n$4x\r\nZADD\r\n",
        b"*4\r\n$4\r\nZADDxx",
        b"*4\r\n$04\r\nZADD\r\n",
        b"*" + b"1" * 100,
        b"*99999999999999999999\r\n",
    ],
)
def test_what_is_no_resp(data: bytes) -> None:
    assert "command 2: not a RESP array" in fault_of(resp(b"ZADD", b"k", b"1", b"a") + data)


def test_every_cut_of_a_resp_command() -> None:
    whole = resp(b"ZADD", b"k", b"1", b"a")
    last = resp(b"ZADD", b"k", b"2", b"bb")
    for cut in range(1, len(last)):
        delivered: list[bytes] = []
        with pytest.raises(TraceError, match=r"command 2: the last command is cut off"):
            for batch in commands(io.BytesIO(whole + last[:cut])):
                delivered += batch.members.tolist()
        assert delivered == [b"a"]


@pytest.mark.parametrize("before", [b"", b"ZADD k 1 a\n", resp(b"ZADD", b"k", b"1", b"a")])
def test_only_a_last_line_may_lack_its_newline(before: bytes) -> None:
    pairs = [] if before == b"" else [("ZADD", b"k", [b"a"], [1.0])]
    array = resp(b"ZINCRBY", b"k", b"2", b"b")
    assert read(before + b"ZINCRBY k 2 b") == [*pairs, ("ZINCRBY", b"k", [b"b"], [2.0])]
    for cut in range(1, len(array)):
        assert "cut off" in fault_of(before + array[:-cut])


def test_lengths_that_lie_ask_for_no_memory() -> None:
    assert "cut off" in fault_of(b"*4\r\n$4\r\nZADD\r\n$9000000000000000000\r\nk\r\n")
    assert "cut off" in fault_of(b"*9000000000000000000\r\n$4\r\nZADD\r\n$1\r\nk\r\n")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"GET k", "only ZADD and ZINCRBY"),
        (b"ZADDX k 1 a", "only ZADD and ZINCRBY"),
        (b"ZADD\x00 k 1 a", "only ZADD and ZINCRBY"),
        (b'"" k 1 a', "only ZADD and ZINCRBY"),
        (b"ZADD", "wrong number of arguments"),
        (b"ZADD k", "wrong number of arguments"),
        (b"ZADD k 1", "wrong number of arguments"),
        (b"ZADD k 1 a 2", "wrong number of arguments"),
        (b"ZINCRBY k 1 a 2 b", "wrong number of arguments"),
        (b"ZADD k NX 1 a", "options"),
        (b"ZADD k xx 1 a", "options"),
        (b"ZADD k GT CH 1 a", "options"),
        (b"ZADD k lt 1 a", "options"),
        (b"ZADD k incr 1 a", "options"),
        (b"ZADD k a 1", "not a valid float"),
        (b"ZADD k 1 a x b", "not a valid float"),
    ],
)
def test_other_commands(line: bytes, reason: str) -> None:
    """What came before is delivered; the fault names its line."""
    before = b"ZADD k 1 a\nZADD j 2 b\n"
    delivered: list[bytes] = []
    with pytest.raises(TraceError, match=f"line 3: .*{reason}"):
        for batch in commands(io.BytesIO(before + line + b"\nZADD k 1 z\n")):
            delivered += batch.members.tolist()
    assert delivered == [b"a", b"b"]
    with pytest.raises(TraceError, match=f"command 1: .*{reason}"):
        read(resp(*[word.strip(b'"') for word in line.split(b" ")]))


def test_a_refused_command_leaves_no_pairs_behind() -> None:
    batches = []
    with pytest.raises(TraceError):
        for batch in commands(io.BytesIO(b"ZADD k 1 a\nZADD k 2 b 3 c nan d\n")):
            batches.append(batch.members.tolist())
    assert batches == [[b"a"]]


# Case B09: score text.


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", 0.1), ("1467787000123", 1467787000123.0), ("1e16", 1e16), ("1e17", 1e17),
        ("1e-10", 1e-10), ("5e-324", 5e-324), ("1.7976931348623157e308", 1.7976931348623157e308),
        ("9007199254740993", 9007199254740992.0), (".5", 0.5), ("5.", 5.0), ("+7", 7.0),
        ("0x10", 16.0), ("0X1.8p1", 3.0), ("iNf", math.inf), ("-inf", -math.inf),
        ("+infinity", math.inf), ("-0", -0.0), ("-.5", -0.5), ("007", 7.0), ("0e-999", 0.0),
        ("0.3333333333333333148", 1 / 3), ("1" + "0" * 300, 1e300),
        ("123456789012345.6", 123456789012345.6),
        ("2.2250738585072011e-308", 2.2250738585072011e-308), ("0." + "0" * 320 + "1e10", 1e-311),
    ],
)  # fmt: skip
def test_score_text(text: str, value: float) -> None:
    ((_, _, _, (score,)),) = read(b"ZADD k " + text.encode() + b" m")
    assert struct.pack("d", score) == struct.pack("d", value)


@pytest.mark.parametrize(
    "text",
    ["1e400", "-1e400", "1e-400", '""', '" 1"', '"1 "', "nan", "-nan", "nan(1)", "1_0", "1,5", "1e",
     "--1", "\u0661", ".", "-", "+", "1.2.3", "0x", "1f", "infin", "1e5x", "0x1p-9999", "1\x00",
     "1" + "0" * 400],
)  # fmt: skip
def test_text_that_is_no_score(text: str) -> None:
    line = f"ZADD k {text} m".encode()
    assert "line 1: score is not a valid float" in fault_of(line)


@pytest.mark.parametrize("spelling", ["r", ".17g", ".15e"])
def test_random_scores_are_rounded_as_python_does(spelling: str) -> None:
    rng = np.random.default_rng(9)
    bits = rng.integers(0, 2**64, 2000, dtype=np.uint64).view(np.float64)
    decimals = rng.integers(-(10**15), 10**15, 2000) / 10.0 ** rng.integers(0, 16, 2000)
    values = np.concatenate([bits[np.isfinite(bits)], decimals]).tolist()
    texts = [repr(value) if spelling == "r" else format(value, spelling) for value in values]
    data = "".join(f"ZADD k {text} m\n" for text in texts).encode()
    ((_, _, _, scores),) = read(data)
    assert [score.hex() for score in scores] == [float(text).hex() for text in texts]


def test_scores_do_not_depend_on_the_locale() -> None:
    """In German numbers the decimal point is a comma."""
    code = (
        "import io, locale, sys\n"
        "try: locale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')\n"
        "except locale.Error: sys.exit(77)\n"
        "from goblin.io import commands\n"
        "print([b.scores.tolist() for b in commands(io.BytesIO(b'ZADD k 1.25e3 a 0.5 b'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("the locale de_DE.UTF-8 is not installed")
    assert done.stdout == "[[1250.0, 0.5]]\n"


# Members as integers.


@pytest.mark.parametrize("value", [0, 1, -1, 10, 2**63 - 1, -(2**63), 84112066])
def test_integer_members(value: int) -> None:
    (batch,) = commands(io.BytesIO(b"ZADD k 1 5 2 %d" % value))
    integers = batch.int_members()
    assert integers is not None
    assert integers.dtype == np.int64
    assert integers.tolist() == [5, value]


@pytest.mark.parametrize(
    "text",
    ["007", "-0", "+5", "", "1.0", "1e3", " 7", "a", "-", "9223372036854775808",
     "-9223372036854775809", "1" * 30, "7\x00", "0x1"],
)  # fmt: skip
def test_members_that_are_no_integers(text: str) -> None:
    (batch,) = commands(io.BytesIO(f'ZADD k 1 5 2 "{text}"'.encode()))
    assert batch.int_members() is None
    assert batch.members.tolist() == [b"5", text.encode()]


# Members as columns of names.


@pytest.mark.parametrize("kind", ["str", "bytes"])
def test_names_lie_between_stops(kind: Literal["str", "bytes"]) -> None:
    text = "keyabécd".encode()
    names = _core.text_names(text, np.array([3, 4, 4, 8, 9]), kind)
    expected = [b"a", b"", "béc".encode(), b"d"]
    assert list(names) == [m if kind == "bytes" else m.decode() for m in expected]
    assert len(_core.text_names(text, np.array([3]), kind)) == 0


def test_names_keep_their_text_and_not_the_stops() -> None:
    stops = np.array([0, 2, 4])
    names = _core.text_names(b"".join([b"ab", b"cd"]), stops, "bytes")
    stops[:] = 1 << 40
    gc.collect()
    assert list(names) == [b"ab", b"cd"]


@pytest.mark.parametrize("stops", [[], [-1, 2], [3, 2], [0, 4], [4]])
def test_stops_that_do_not_fit(stops: list[int]) -> None:
    with pytest.raises(ValueError, match="stops"):
        _core.text_names(b"abc", np.array(stops, np.int64), "bytes")


def test_what_can_be_no_names() -> None:
    stops = np.array([0, 2, 3])
    assert list(_core.text_names(b"a\xc3\xa9", stops, "bytes")) == [b"a\xc3", b"\xa9"]
    for text in (b"a\xc3\xa9", b"a\xffb"):
        with pytest.raises(UnicodeDecodeError):
            _core.text_names(text, stops, "str")
    with pytest.raises(ValueError, match="uuid"):
        _core.text_names(b"abc", stops, "uuid")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _core.text_names(bytearray(b"abc"), stops, "str")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _core.text_names(b"abc", [0, 1], "str")  # type: ignore[arg-type]


# Files and blocks.


@pytest.mark.parametrize("block", [1, 3, 10, 64])
@pytest.mark.parametrize("form", ["inline", "resp"])
def test_commands_across_blocks(monkeypatch: pytest.MonkeyPatch, block: int, form: str) -> None:
    monkeypatch.setattr("goblin.io._reader.BLOCK", block)
    pairs = [(str(i * 0.5).encode(), b"m" * (i * 37 % 90 + 1)) for i in range(40)]
    if form == "inline":
        data = b"".join(b"ZINCRBY k %s %s\n" % pair for pair in pairs)
    else:
        data = b"".join(resp(b"ZINCRBY", b"k", *pair) for pair in pairs)
    batches = read(data)
    assert {(op, key) for op, key, _, _ in batches} == {("ZINCRBY", b"k")}
    assert [m for batch in batches for m in batch[2]] == [member for _, member in pairs]
    assert [s for batch in batches for s in batch[3]] == [float(score) for score, _ in pairs]


@pytest.mark.parametrize("form", ["inline", "resp"])
def test_a_command_longer_than_a_block(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setattr("goblin.io._reader.BLOCK", 1000)
    arguments = [b"ZADD", b"k"]
    for number in range(50_000):
        arguments += [b"%d" % number, b"%d" % (number * 7)]
    data = resp(*arguments) if form == "resp" else b" ".join(arguments)
    (batch,) = commands(io.BytesIO(data))
    integers = batch.int_members()
    assert integers is not None
    assert np.array_equal(integers, np.arange(50_000) * 7)
    assert np.array_equal(batch.scores, np.arange(50_000))


def test_a_command_past_the_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goblin.io._reader.MAX_RECORD", 10_000)
    monkeypatch.setattr("goblin.io._reader.BLOCK", 1000)
    endless = b"ZADD k 1 " + b"x" * 100_000
    assert "line 2: longer than 10,000 bytes" in fault_of(b"ZADD k 1 a\n" + endless)
    assert "command 1: longer than 10,000 bytes" in fault_of(
        b"*4\r\n$4\r\nZADD\r\n$1\r\nk\r\n$1\r\n1\r\n$900000\r\n" + b"x" * 100_000
    )


def test_files(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.cmds", tmp_path / "b.cmds.bz2"
    plain.write_bytes(b"ZADD k 1 a\n")
    packed.write_bytes(bz2.compress(b"ZADD k 2 b\n"))
    reader = commands([plain, packed])
    assert [batch.members.tolist() for batch in reader] == [[b"a"], [b"b"]]
    assert reader.bytes_read == reader.bytes_total
    assert reader.skipped == {}
    with pytest.raises(FileNotFoundError):
        commands(tmp_path / "gone")
    plain.write_bytes(b"ZADD k 1 a\nPING\n")
    with pytest.raises(TraceError, match=r"a\.cmds, line 2: "):
        list(commands(plain))


def test_cut_compressed_commands() -> None:
    data = bz2.compress(b"ZADD k 1 a\nZADD k 2 b\nZADD k") + bz2.compress(b" 3 c\n")[:20]
    delivered: list[bytes] = []
    with pytest.raises(TraceError, match="line 3: the compressed data is cut off"):
        for batch in commands(io.BytesIO(data)):
            delivered += batch.members.tolist()
    assert delivered == [b"a", b"b"]
