"""What does a hash cost beside a dict and a hash of redis-server, from 32 to 1,625 fields?

Fields of 14 bytes and values of 16. Bytes by goblin's own count, which agrees with its allocator to
the byte, those of dicts by `sys.getsizeof` of the dict and all that it holds, those of redis-server
by MEMORY USAGE. Then single calls by the place of the key, and calls on many fields.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from harness import Contender, Report, Times, arguments, race, size
from peers import Redis, redis_server

from goblin import Hash

FIELDS = [32, 40, 50, 64, 80, 101, 128, 161, 203, 256, 322, 406, 512, 1625]
TIMED = [32, 512, 1625]
MANY = 100
CALLS = 20_000
ENGINES = ("dict", "compact", "full")
FULL = {"max_compact_fields": 0}


def main() -> None:
    args = arguments(__doc__, repeat=15)
    report = Report("hash", "bytes a hash and ns a call, fields of 14 bytes, values of 16", args)
    with redis_server() as server:
        for fields in size(args, FIELDS[::6], FIELDS, FIELDS):
            add_memory(report, fields, server)
    calls = size(args, CALLS // 100, CALLS, CALLS)
    for fields in size(args, TIMED[:1], TIMED, TIMED):
        add_times(report, fields, calls, args.repeat)
    report.finish()


def content(fields: int) -> dict[str, str]:
    return {f"field:{i:08d}": f"value:{i:010d}" for i in range(fields)}


def hashes(fields: int) -> dict[str, Any]:
    """The same content in each engine."""
    d = content(fields)
    return dict(zip(ENGINES, (d, Hash(d), Hash(d, **FULL)), strict=True))


# ---- bytes


def add_memory(report: Report, fields: int, server: Redis | None) -> None:
    d = content(fields)
    raw = {key.encode(): value.encode() for key, value in d.items()}
    compact, full, grown = Hash(d), Hash(d, **FULL), Hash(**FULL)
    for key, value in d.items():
        grown[key] = value
    full.optimize()
    row = {
        "compact": compact.memory().total,
        "a field": compact.memory().per_field,
        "full, optimized": full.memory().total,
        "full, grown": grown.memory().total,
        "dict of str": bytes_of(d),
        "dict of bytes": bytes_of(raw),
        "redis-server": "not installed" if server is None else redis_bytes(server, raw),
    }
    report.row(fields=fields, **row)
    limit = 34 * fields + 96
    report.figure(f"{fields} fields, compact, with its object", row["compact"], limit, "bytes")
    if fields == 512:
        share = row["full, optimized"] / row["compact"]
        report.figure("512 fields, full form / compact form", share, 1.15, "times")


def bytes_of(d: dict[Any, Any]) -> int:
    return sys.getsizeof(d) + sum(sys.getsizeof(part) for item in d.items() for part in item)


def redis_bytes(server: Redis, raw: dict[bytes, bytes]) -> int:
    server.clear()
    words = [b"HSET", b"key:0123456789"]
    for item in raw.items():
        words += item
    server.send([(b" ".join(words) + b"\r\n", 1)], 1)
    return server.integer(b"MEMORY USAGE key:0123456789 SAMPLES 0\r\n")


# ---- time


def add_times(report: Report, fields: int, calls: int, rounds: int) -> None:
    keys = list(content(fields))
    places = {"first": keys[0], "middle": keys[fields // 2], "last": keys[-1], "miss": "field:none"}
    limit = 2.0 if fields <= 512 else 2.5
    for place, key in places.items():
        times = compare(hashes(fields), getting(key, calls), calls, rounds)
        add_row(report, fields, f"get, {place}", times)
        ratio = times.ratio("compact", "dict")
        what = f"{fields} fields, get, {place}, compact / dict"
        report.figure(what, ratio, limit, "times")
    some = [keys[i * 7919 % fields] for i in range(MANY)]
    add_get_many(report, fields, some, calls // MANY, rounds)
    for name, values in {
        "set, same width": ["value:a", "value:b"],
        "set, other width": ["value", "value:longer"],
    }.items():
        times = compare(hashes(fields), setting(places["middle"], values, calls), calls, rounds)
        add_row(report, fields, name, times)
    add_whole(report, fields, calls, rounds)


def add_get_many(report: Report, fields: int, some: list[str], count: int, rounds: int) -> None:
    """By new keys, by equal ones that Python has hashed, and by the dict's own objects."""
    engines = hashes(fields)
    own = {key: key for key in engines["dict"]}
    some = [own[key] for key in some]
    for keys, make in {"new": renewed, "hashed": hashed, "own": list}.items():
        contenders = [
            Contender(name, get_many, count * MANY, partial(prepared, engine, some, count, make))
            for name, engine in engines.items()
        ]
        times = race(contenders, rounds)
        add_row(report, fields, f"get_many of {MANY}, {keys} keys", times)
        if keys == "new":
            for form in ("compact", "full"):
                what = f"{fields} fields, get_many of {MANY} new keys, {form} / list of dict"
                report.figure(what, times.ratio(form, "dict"), 1, "times")


def renewed(keys: list[str]) -> list[str]:
    return [key.encode().decode() for key in keys]


def hashed(keys: list[str]) -> list[str]:
    new = renewed(keys)
    assert all(hash(key) for key in new)
    return new


def prepared(
    engine: Any, keys: list[str], count: int, make: Callable[[list[str]], list[str]]
) -> tuple[Any, list[list[str]]]:
    return engine, [make(keys) for _ in range(count)]


def get_many(state: tuple[Any, list[list[str]]]) -> None:
    h, lists = state
    if isinstance(h, dict):
        for keys in lists:
            [h[key] for key in keys]
    else:
        for keys in lists:
            h.get_many(keys)


def add_whole(report: Report, fields: int, calls: int, rounds: int) -> None:
    """Whole hashes made, and taken apart again field by field."""
    pairs = list(content(fields).items())
    makers: dict[str, Callable[[Any], Any]] = {
        "dict": dict,
        "compact": Hash,
        "full": lambda data: Hash(data, **FULL),
    }
    count = max(calls // fields, 1)
    build, delete = [], []
    for engine, make in makers.items():
        several = partial(make_several, make, pairs, count)
        build.append(
            Contender(engine, lambda several: several(), fields * count, lambda s=several: s)
        )
        delete.append(Contender(engine, delete_all, fields * count, several))
    add_row(report, fields, "build", race(build, rounds))
    add_row(report, fields, "delete", race(delete, rounds))


def make_several(make: Callable[[Any], Any], pairs: list[tuple[str, str]], count: int) -> list[Any]:
    return [make(pairs) for _ in range(count)]


def delete_all(several: list[Any]) -> None:
    for h in several:
        for key in list(h):
            del h[key]


def getting(key: str, calls: int) -> Callable[[Any], None]:
    def run(h: Any) -> None:
        for _ in repeat(None, calls):
            h.get(key)

    return run


def setting(key: str, values: Sequence[str], calls: int) -> Callable[[Any], None]:
    one, other = values

    def run(h: Any) -> None:
        for _ in repeat(None, calls // 2):
            h[key] = one
            h[key] = other

    return run


def compare(
    engines: dict[str, Any], run: Callable[[Any], object], units: int, rounds: int
) -> Times:
    contenders = [
        Contender(name, run, units, lambda engine=engine: engine)
        for name, engine in engines.items()
    ]
    return race(contenders, rounds)


def add_row(report: Report, fields: int, what: str, times: Times) -> None:
    medians = {engine: times.median(engine) for engine in ENGINES}
    report.row(fields=fields, call=what, **medians, samples=times.rounds)


if __name__ == "__main__":
    main()
