"""Snapshots that are cut, flipped, lied in or made up: refused, or read as something sound.

Cases B42 and B43. The fast run takes a sample of the damage with a fixed seed; `-m slow` runs all
of it.
"""

from __future__ import annotations

import contextlib
import os
import random
import struct
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from resident import resident
from snapshots import (
    ENTRY,
    HEAD,
    KIND_AT,
    TAIL,
    Subject,
    assert_alike,
    hash_subjects,
    paged_subjects,
    subjects,
    table_subjects,
)

from goblin import Hash, HashTable, SnapshotError, SortedSet
from goblin._testing import reseal

SUBJECTS = list(subjects())
PAGED = list(paged_subjects())
HASHES = [*hash_subjects(), *table_subjects()]
SAMPLE = 60  # of a sorted set; there are more hashes and tables
LIES = (0, 1, 2**31, 2**32, 2**61, 2**63 - 1, 2**64 - 1)

Read = Callable[[bytes], Any]
slow = pytest.mark.slow


def named(subject: Subject) -> str:
    return subject.name


every_subject = pytest.mark.parametrize("subject", SUBJECTS + PAGED + HASHES, ids=named)
# Of hashes and tables a third, in which every kind, form and size is.
most_subjects = pytest.mark.parametrize("subject", SUBJECTS + PAGED + HASHES[::3], ids=named)


@contextlib.contextmanager
def mapping(subject: Subject, path: Path) -> Iterator[Read]:
    """Reads bytes as an object that maps a file, which is rewritten in place: that is fastest."""
    with open(path, "wb", buffering=0) as file:

        def read(data: bytes) -> Any:
            os.pwrite(file.fileno(), data, 0)
            file.truncate(len(data))
            return subject.container.load(path, mmap=True)

        yield read


@pytest.fixture(params=["bytes", "mapped"])
def read(request: pytest.FixtureRequest, tmp_path: Path, subject: Subject) -> Iterator[Read]:
    """Reads damaged bytes as an object of the subject's container."""
    if request.param == "bytes":
        yield subject.container.from_bytes
        return
    with mapping(subject, tmp_path / "damaged") as read:
        yield read


def expect_refused(read: Read, data: bytes) -> None:
    with pytest.raises(SnapshotError):
        read(data)


def expect_harmless(read: Read, data: bytes) -> None:
    """Refused, or an object that can be read, copied and saved."""
    try:
        made = read(data)
    except SnapshotError:
        return
    made._validate()
    copied = made.copy()
    copied._validate()
    copied.clear()
    assert_alike(made, type(made).from_bytes(made.to_bytes()))


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def lies(data: bytes, rng: random.Random, rate: float) -> Iterator[bytes]:
    """Some of the lies: at every multiple of its width, a number of 2, 4 or 8 bytes."""
    for width in (8, 4, 2):
        for at in range(0, len(data) - width + 1, width):
            told = int.from_bytes(data[at : at + width], "little")
            for lie in (*LIES, told - 1, told + 1):
                if rate == 1.0 or rng.random() < rate:
                    number = (lie % 2 ** (8 * width)).to_bytes(width, "little")
                    yield data[:at] + number + data[at + width :]


def every_bit(data: bytes, all_below: int) -> Iterator[int]:
    """Those of a small snapshot, and some of a large one."""
    return iter(range(0, len(data) * 8, 1 if len(data) < all_below else 61))


def chosen(n: int, subject: Subject, most: int = SAMPLE) -> list[int]:
    """Some of the numbers below n: always the last ones, where list and tail are."""
    rng = random.Random(subject.name)
    most = most if subject.container is SortedSet else most // 5
    return sorted({*range(max(n - 4, 0), n), *(rng.randrange(n) for _ in range(min(n, most)))})


# ---- cut, longer, or no snapshot


@most_subjects
def test_truncations_are_refused(subject: Subject, read: Read) -> None:
    data = subject.data()
    for end in chosen(len(data), subject, 30):
        expect_refused(read, data[:end])


@slow
@pytest.mark.parametrize("subject", SUBJECTS + HASHES, ids=named)
def test_every_truncation_is_refused(subject: Subject, read: Read) -> None:
    data = subject.data()
    for end in range(len(data)):
        expect_refused(read, data[:end])


@most_subjects
def test_extra_bytes_are_refused(subject: Subject, read: Read) -> None:
    data = subject.data()
    for more in (b"\0", b"\0" * 8, b"\n", data, data[-TAIL:], data[-TAIL - ENTRY :]):
        expect_refused(read, data + more)
        expect_refused(read, more + data)
        expect_refused(read, reseal(data + more))
    expect_refused(read, data[:HEAD] + b"\0" * 8 + data[HEAD:])
    expect_refused(read, reseal(data[:-TAIL] + b"\0" * ENTRY + data[-TAIL:]))


@pytest.mark.parametrize("subject", SUBJECTS[:1], ids=named)
def test_bytes_that_are_no_snapshot_are_refused(subject: Subject, read: Read) -> None:
    data, rng = subject.data(), random.Random(42)
    for content in (b"", b"\0", data[:HEAD], data[-TAIL:], data[:HEAD] + data[-TAIL:]):
        expect_refused(read, content)
    for _ in range(1000):
        noise = rng.randbytes(rng.randrange(1, 300))
        expect_refused(read, noise)
        expect_refused(read, reseal(data[:HEAD] + noise + data[-TAIL:]))


@pytest.mark.parametrize("subject", SUBJECTS[:1], ids=named)
def test_other_containers_and_versions_are_refused(subject: Subject, read: Read) -> None:
    data = bytearray(subject.data())
    for kind in (0, 2, 3, 4, 255):
        data[KIND_AT] = kind
        expect_refused(read, bytes(data))
        expect_refused(read, reseal(data))
    with pytest.raises(SnapshotError, match="newer goblin"):
        read(reseal(data[:8] + b"\2" + data[9:]))


@pytest.mark.parametrize("wrong", [SortedSet, Hash, HashTable])
@pytest.mark.parametrize("right", [SortedSet, Hash, HashTable])
@pytest.mark.parametrize("mmap", [False, True])
def test_another_container_is_told_which_it_is(
    right: Any, wrong: Any, mmap: bool, tmp_path: Path
) -> None:
    path = tmp_path / "other"
    right().save(path)
    if right is wrong:
        assert type(right.load(path, mmap=mmap)) is right
        return
    told = f"no {wrong.__name__} can be read from this: it is of a {right.__name__}$"
    with pytest.raises(SnapshotError, match=told):
        wrong.load(path, mmap=mmap)
    # A head that lies about it, with right checksums.
    data = bytearray(right().to_bytes())
    data[KIND_AT] = wrong().to_bytes()[KIND_AT]
    expect_refused(wrong.from_bytes, reseal(data))


# ---- texts that are none

NO_UTF8 = (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80")


@pytest.mark.parametrize("bad", NO_UTF8, ids=bytes.hex)
@pytest.mark.parametrize("length", [4, 60, 300])  # texts with a code, or a length before them
@pytest.mark.parametrize("most", [None, 0])
@pytest.mark.parametrize("part", ["key", "value"])
def test_a_hash_of_str_has_no_other_bytes(
    part: str, most: int | None, length: int, bad: bytes, tmp_path: Path
) -> None:
    marked = "#" * length
    content = {marked: "x", "k": "v"} if part == "key" else {"k": marked, "x": "v"}
    h = Hash(content, max_compact_fields=most)
    # A bad key must lie where its hash says: so it is told of as bytes first.
    with_bad = bad.ljust(length, b"#")
    raw = {k.encode().replace(marked.encode(), with_bad): v.encode().replace(
        marked.encode(), with_bad) for k, v in content.items()}  # fmt: skip
    twin = Hash(raw, key="bytes", value="bytes", max_compact_fields=most)
    expect_text_refused(Hash, h, twin, ("key", "value"), tmp_path)


@pytest.mark.parametrize("bad", NO_UTF8, ids=bytes.hex)
@pytest.mark.parametrize("length", [4, 60, 300])
@pytest.mark.parametrize("part", ["key", "field", "value"])
def test_a_table_of_str_has_no_other_bytes(
    part: str, length: int, bad: bytes, tmp_path: Path
) -> None:
    with_bad = bad.ljust(length, b"#")
    key, field, value = (with_bad if part == p else b"ok" for p in ("key", "field", "value"))
    kinds = {"key": "bytes", "field": "bytes", "value": "bytes"}
    twin = HashTable({key: {field: value, b"b": b"1"}, b"x": {}}, **kinds)
    expect_text_refused(HashTable, HashTable(), twin, tuple(kinds), tmp_path)


def expect_text_refused(
    container: Any, text: Any, twin: Any, parts: tuple[str, ...], tmp_path: Path
) -> None:
    """The snapshot of bytes whose options say str is refused, and is sound as bytes."""
    data = bytearray(twin.to_bytes())
    assert_alike(twin, container.from_bytes(reseal(data)))
    data[HEAD : HEAD + len(parts)] = text.to_bytes()[HEAD : HEAD + len(parts)]
    path = tmp_path / "text"
    path.write_bytes(reseal(data))
    for read in (container.from_bytes, lambda _: container.load(path, mmap=True)):
        with pytest.raises(SnapshotError, match="UTF-8"):
            read(path.read_bytes())


# ---- flipped


@most_subjects
def test_flipped_bits_are_refused(subject: Subject, read: Read) -> None:
    data = subject.data()
    for bit in chosen(len(data) * 8, subject):
        expect_refused(read, flipped(data, bit))


@most_subjects
def test_flipped_bits_with_right_checksums_do_no_harm(subject: Subject, read: Read) -> None:
    data = subject.data()
    for bit in chosen(len(data) * 8, subject):
        expect_harmless(read, reseal(flipped(data, bit)))


@slow
@every_subject
def test_every_flipped_bit_is_refused(subject: Subject) -> None:
    data = subject.data()
    for bit in every_bit(data, 2**20 if subject.container is SortedSet else 6000):
        expect_refused(subject.container.from_bytes, flipped(data, bit))


@slow
@every_subject
def test_every_flipped_bit_with_right_checksums_does_no_harm(subject: Subject) -> None:
    data = subject.data()
    for bit in every_bit(data, 2**20 if subject.container is SortedSet else 6000):
        expect_harmless(subject.container.from_bytes, reseal(flipped(data, bit)))


@slow
@every_subject
def test_every_flipped_bit_of_a_file_that_is_mapped(subject: Subject, tmp_path: Path) -> None:
    """All of a small file, and some of a large one: what is mapped is copied and checked first."""
    data = subject.data()
    with mapping(subject, tmp_path / "damaged") as read:
        for bit in every_bit(data, 6000):
            expect_refused(read, flipped(data, bit))
            expect_harmless(read, reseal(flipped(data, bit)))


# ---- lies

# Runs in a process of its own, which may have little more memory than it has.
LIARS = """
    import random, resource, sys
    sys.path.insert(0, sys.argv[1])
    from test_snapshot_damage import HASHES, PAGED, SUBJECTS, expect_harmless, lies, reseal

    used = next(int(line.split()[1]) for line in open("/proc/self/status") if "VmSize" in line)
    limit = (used << 10) + (48 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for subject in SUBJECTS + PAGED + HASHES:
        data = subject.data()
        rate = float(sys.argv[2 + (subject in HASHES)]) * min(1, 1000 / len(data))
        for changed in lies(data, random.Random(subject.name), rate):
            expect_harmless(subject.container.from_bytes, reseal(changed))
    print("harmless")
"""


def tell_lies(of_sets: float, of_hashes: float) -> None:
    here = os.path.dirname(__file__)
    script = [sys.executable, "-c", textwrap.dedent(LIARS), here, str(of_sets), str(of_hashes)]
    path = os.pathsep.join([os.path.dirname(here), *sys.path])
    run = subprocess.run(
        script, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert run.stdout == "harmless\n", run.stderr


@resident
def test_sizes_that_lie_take_no_memory() -> None:
    tell_lies(0.02, 0.004)


@slow
@resident
def test_all_sizes_that_lie_take_no_memory() -> None:
    tell_lies(1.0, 1.0)


SMALLEST = [s for s in SUBJECTS if "-2" in s.name] + [s for s in HASHES if "-3" in s.name]


@pytest.mark.parametrize("subject", SMALLEST, ids=named)
def test_lies_in_a_file_that_is_mapped(subject: Subject, tmp_path: Path) -> None:
    rng = random.Random(subject.name)
    with mapping(subject, tmp_path / "lying") as read:
        for changed in lies(subject.data(), rng, 0.02):
            expect_harmless(read, reseal(changed))


# ---- large files that are mapped

UNCHECKED = {2, 3, 5, 7}  # tables, names, pages and blocks, whose bytes are judged when read


@pytest.mark.parametrize("member", ["int64", "str"])
def test_a_large_file_that_is_mapped_has_sound_sizes_and_places(
    member: str, tmp_path: Path
) -> None:
    """All but the bytes of large sections is checked; without mmap these are, too."""
    ids: Any = np.random.default_rng(2).integers(0, 2**62, 300_000)
    ids[:60_000] = range(60_000)
    z = SortedSet(ids.astype(str).astype(object) if member == "str" else ids, 0.5, member=member)
    next(iter(z))
    data, rng = z.to_bytes(), random.Random(7)
    assert len(data) > 4 << 20
    subject = Subject(member, SortedSet, lambda: z)
    found = set()
    with mapping(subject, tmp_path / "large") as read:
        assert len(read(data)) == len(z)
        for section, offset, size in sections(data):
            found.add(section)
            bits = [rng.randrange(offset * 8, (offset + size) * 8) for _ in range(4)]
            for bit in bits if section not in UNCHECKED else ():
                expect_refused(read, flipped(data, bit))
            expect_refused(SortedSet.from_bytes, flipped(data, bits[0]))
        end = len(data) * 8
        for bit in [*range(HEAD * 8), *rng.sample(range(end - 8 * (TAIL + 2 * ENTRY), end), 40)]:
            expect_refused(read, flipped(data, bit))
        for cut in (1, 8, TAIL, len(data) // 2):
            expect_refused(read, data[:-cut])
        expect_refused(read, data + bytes(8))
    assert found == ({1, 2, 3, 6, 7} if member == "str" else {1, 2, 4, 5, 6, 7})


def sections(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Number, offset and size of each."""
    at, count = struct.unpack_from("<QI", data, len(data) - TAIL)
    for entry in range(count):
        section, _, offset, size, _ = struct.unpack_from("<IIQQQ", data, at + entry * ENTRY)
        yield section, offset, size


@pytest.mark.parametrize("n", [300, 400_000])  # of one thread, and of two
def test_the_order_of_another_set_is_refused(n: int) -> None:
    members = np.arange(n)
    one = SortedSet(members, members % 200)
    other = SortedSet(members, np.where(members == n - 1, 5, members % 200))
    for z in (one, other):
        z.rank(5)
        z.optimize()
    index, order = one.to_bytes(), other.to_bytes()
    (at,) = [offset for section, offset, _ in sections(order) if section == 6]
    assert [part for part in sections(index) if part[0] < 6] == [
        part for part in sections(order) if part[0] < 6
    ]
    expect_refused(SortedSet.from_bytes, reseal(index[:at] + order[at:]))


# Loads while there is room for ever more of what a load takes.
SHORT = """
    import resource, sys
    import numpy as np
    from goblin import SortedSet

    members = np.random.default_rng(1).integers(0, 2**62, 200_000)
    members[:60_000] = range(60_000)
    if sys.argv[1] == "names":
        members = [str(member) for member in members[:60_000].tolist()]
    z = SortedSet(members, np.arange(len(members)) / 3)
    next(iter(z))
    digest, data, failed = z.digest(), z.to_bytes(), 0
    used = next(int(line.split()[1]) for line in open("/proc/self/status") if "VmSize" in line)
    for extra in range(-1 << 20, 2 * len(data), len(data) // 40):
        resource.setrlimit(resource.RLIMIT_AS, ((used << 10) + extra, resource.RLIM_INFINITY))
        try:
            made = SortedSet.from_bytes(data)
        except MemoryError:
            failed += 1
            continue
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        made._validate()
        assert made.digest() == digest
        del made
    assert failed > 0
    print("sound")
"""


@resident
@pytest.mark.parametrize("kind", ["integers", "names"])
def test_a_load_without_memory(kind: str) -> None:
    giving_back = {"MALLOC_MMAP_THRESHOLD_": "4096", "MALLOC_TRIM_THRESHOLD_": "0"}
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SHORT), kind],
        capture_output=True, text=True, env={**os.environ, **giving_back},
    )  # fmt: skip
    assert run.stdout == "sound\n", run.stderr
