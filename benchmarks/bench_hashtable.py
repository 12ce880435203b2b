"""What do many records with the same fields cost, beside a dict of dicts and a DataFrame?

100,000 records of 32 fields of 14 bytes, with values of 16 bytes or integers: bytes a record by
goblin's own count and by the growth of the resident set, in a process of its own; the time to fill
them from columns, to read a column, and to read and set a value of a record by its key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from harness import Contender, Report, arguments, isolated, race, rss, size

from goblin import HashTable

FIELDS = [f"field:{i:08d}" for i in range(32)]
KINDS = ("str", "int64")
READS = 20_000
PEERS = ("HashTable", "dict of dicts", "DataFrame")


def main() -> None:
    args = arguments(__doc__, repeat=5)
    report = Report("hashtable", "bytes a record, and ns a value, record or call", args)
    records = size(args, 2_000, 100_000, 1_000_000)
    for kind in KINDS:
        memory = {peer: isolated(bytes_a_record, peer, records, kind) for peer in PEERS}
        times = {name: race_of(name, records, kind, args.repeat) for name in ACTIONS}
        for peer in PEERS:
            medians = {name: times[name].median(peer) for name in ACTIONS}
            samples = {name: times[name].rounds[peer] for name in ACTIONS}
            report.row(case=kind, contender=peer, **memory[peer], **medians, samples=samples)
        if kind == "str":
            ours = memory["HashTable"]["own"]
            report.figure("bytes a record of 32 values of 16 bytes", ours, 620, "bytes")
        else:
            ratio = times["column"].ratio("HashTable", "dict of dicts")
            report.figure("column of int64, HashTable / dict of dicts", ratio, 1, "times")
    report.finish()


def keys_of(records: int) -> list[str]:
    return [f"record:{i:07d}" for i in range(records)]


def columns_of(records: int, kind: str) -> dict[str, Any]:
    """Values that differ from each other, in an array of StringDType or int64 for each field."""
    rng = np.random.default_rng(1)
    if kind == "int64":
        return {field: rng.integers(0, 1 << 30, records) for field in FIELDS}
    numbers = {field: rng.integers(0, 10**10, records) for field in FIELDS}
    texts = {field: np.char.mod("value:%010d", column) for field, column in numbers.items()}
    return {field: column.astype(np.dtypes.StringDType()) for field, column in texts.items()}


def fill(peer: str, keys: list[str], columns: dict[str, Any], kind: Any) -> Any:
    if peer == "HashTable":
        return HashTable.from_arrays(keys, columns, value=kind)
    if peer == "DataFrame":
        plain = {field: column.astype("O") for field, column in columns.items()}
        return pd.DataFrame(plain if kind == "str" else columns, index=keys)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return {key: dict(zip(FIELDS, row, strict=True)) for key, row in zip(keys, rows, strict=True)}


def column(peer: str, table: Any, field: str) -> Any:
    if peer == "HashTable":
        return table.column(field)
    if peer == "DataFrame":
        return table[field].to_numpy()
    return np.array([record[field] for record in table.values()])


def get(peer: str, table: Any, keys: list[str]) -> None:
    field = FIELDS[16]
    if peer == "DataFrame":
        for key in keys:
            table.at[key, field]
    else:
        for key in keys:
            table[key][field]


def put(peer: str, table: Any, keys: list[str]) -> None:
    field = FIELDS[16]
    value = table["record:0000000"][field] if peer != "DataFrame" else table.iloc[0][field]
    if peer == "DataFrame":
        for key in keys:
            table.at[key, field] = value
    else:
        for key in keys:
            table[key][field] = value


def bytes_a_record(peer: str, records: int, kind: str) -> dict[str, Any]:
    keys, columns = keys_of(records), columns_of(records, kind)
    before = rss()
    table = fill(peer, keys, columns, kind)
    grown = rss() - before
    own: dict[str, Any] = {"own": "", "optimized": ""}
    if peer == "HashTable":
        own["own"] = table.memory().per_record
        table.optimize()
        own["optimized"] = table.memory().per_record
    return {**own, "rss": grown / records}


# What is timed on a table, and how many units that is.
ACTIONS: dict[str, tuple[Callable[..., Any], Callable[[int], int]]] = {
    "fill": (fill, lambda records: records * len(FIELDS)),
    "column": (column, lambda records: records),
    "get": (get, lambda records: READS),
    "set": (put, lambda records: READS),
}


def race_of(name: str, records: int, kind: str, repeat: int) -> Any:
    action, units = ACTIONS[name]
    keys, columns = keys_of(records), columns_of(records, kind)
    chosen = np.random.default_rng(2).choice(keys, READS).tolist()
    contenders = []
    for peer in PEERS:
        if name == "fill":
            call = lambda _, peer=peer: fill(peer, keys, columns, kind)  # noqa: E731
        else:
            table = fill(peer, keys, columns, kind)
            what = FIELDS[16] if name == "column" else chosen
            call = lambda _, peer=peer, table=table, what=what: action(peer, table, what)  # noqa: E731
        contenders.append(Contender(peer, call, units(records)))
    return race(contenders, repeat)


if __name__ == "__main__":
    main()
