"""Counts and merges on a cluster of processes against those of one process."""

from __future__ import annotations

import itertools
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import dask
import dask.array
import dask.bag
import dask.dataframe
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed
from distributed import Client, LocalCluster, wait

import goblin
import goblin.dask
from goblin import SortedSet

pytestmark = pytest.mark.xdist_group("dask")  # one cluster is enough

SHARDS = 3
NUMBERS = np.random.default_rng(5).zipf(1.3, 3000) % 50_000 * 1000
TEXTS = [f"name {number}" for number in NUMBERS.tolist()]
MEMBERS: dict[str, Any] = {
    "int64": NUMBERS,
    "int32": NUMBERS.astype(np.int32),
    "str": np.array(TEXTS, np.dtypes.StringDType()),
    "bytes": np.array([text.encode() for text in TEXTS], object),
    "uuid": np.array([number.tobytes() * 2 for number in NUMBERS]).astype("V16"),
}
LAYOUTS = list(zip(MEMBERS, ["float64", "float32", "float32", "float64", "float64"], strict=True))
METHODS = ("ordinal", "min", "max", "average", "dense")


@pytest.fixture(scope="module", autouse=True)
def client() -> Iterator[Client]:
    options: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **options) as cluster,
        Client(cluster) as one,
    ):
        yield one


def partitions(members: np.ndarray, parts: int = 5) -> list[Any]:
    """The members in delayed partitions, one of them empty."""
    cuts = np.array_split(members, parts)
    return [delayed(part) for part in (*cuts, members[:0])]


def assert_equal(result: SortedSet, expected: SortedSet) -> None:
    result._validate()
    assert result == expected
    assert result.layout == expected.layout
    assert result.digest() == expected.digest()


# ---- counts


@pytest.mark.parametrize(("member", "score"), LAYOUTS)
def test_count(member: Any, score: Any) -> None:
    expected = SortedSet.from_counts(MEMBERS[member], by=0.5, score=score)
    counted = goblin.dask.count(partitions(MEMBERS[member]), by=0.5, score=score, split_every=2)
    assert_equal(counted.compute(), expected)


def frame(parts: int, size: int = 3000) -> tuple[pd.DataFrame, Any]:
    data = {"page": NUMBERS[:size], "name": TEXTS[:size], "weight": NUMBERS[:size] % 7 / 4}
    pandas = pd.DataFrame(data).astype({"name": "string"})
    pandas["kind"] = pandas["name"].astype("category")
    return pandas, dask.dataframe.from_pandas(pandas, npartitions=parts)


@pytest.mark.parametrize("parts", [1, 7])
@pytest.mark.parametrize("column", ["page", "name", "kind"])
def test_count_frame(column: str, parts: int) -> None:
    pandas, lazy = frame(parts)
    expected = SortedSet.from_counts(pandas[column])
    assert_equal(goblin.dask.count(lazy, column).compute(), expected)
    assert_equal(goblin.dask.count(lazy[column]).compute(), expected)
    expected = SortedSet.from_counts(pandas[column], by=pandas["weight"])
    assert_equal(goblin.dask.count(lazy, column, by="weight").compute(), expected)
    assert_equal(goblin.dask.count(lazy[column], by=lazy["weight"]).compute(), expected)


def test_a_column_may_weigh_itself() -> None:
    pandas, lazy = frame(2, 50)
    expected = SortedSet.from_counts(pandas["page"], by=pandas["page"])
    assert_equal(goblin.dask.count(lazy, "page", by="page").compute(), expected)


def test_count_array() -> None:
    lazy = dask.array.from_array(NUMBERS, chunks=700)
    assert_equal(goblin.dask.count(lazy).compute(), SortedSet.from_counts(NUMBERS))
    weighted = goblin.dask.count(lazy, by=lazy % 5).compute()
    assert_equal(weighted, SortedSet.from_counts(NUMBERS, by=NUMBERS % 5))


def test_count_bag() -> None:
    expected = SortedSet.from_counts(TEXTS)
    bag = dask.bag.from_sequence(TEXTS, npartitions=4)
    assert_equal(goblin.dask.count(bag).compute(), expected)
    lazily = bag.map(str.upper).map(str.lower)
    assert_equal(goblin.dask.count(lazily).compute(), expected)
    records = bag.map(lambda text: {"name": text, "weight": 2})
    counted = goblin.dask.count(records, "name", by="weight").compute()
    assert_equal(counted, SortedSet.from_counts(TEXTS, by=2))
    generated = delayed(lambda n: ({"name": "a", "weight": i} for i in range(n)))(4)
    counted = goblin.dask.count([generated], "name", by="weight").compute(scheduler="threads")
    assert counted.to_dict() == {"a": 6.0}
    arrays = dask.bag.from_sequence(np.array_split(MEMBERS["str"], 6), npartitions=3)
    assert_equal(goblin.dask.count(arrays).compute(), expected)


def test_most_partitions_of_a_bag_may_be_empty() -> None:
    bag = dask.bag.from_sequence(range(20), npartitions=10).filter(lambda number: number == 7)
    assert goblin.dask.count(bag).compute().to_dict() == {7: 1.0}
    sharded = goblin.dask.count(bag, shards=SHARDS)
    assert {shard.member_dtype for shard in dask.compute(*sharded.to_delayed())} == {"int64"}


def test_nothing_at_all() -> None:
    _, lazy = frame(3)
    none = lazy[lazy["page"] < 0]
    assert goblin.dask.count(none, "page").compute().layout == "int64-float64"
    assert goblin.dask.count(none, "name", score="float32").compute().layout == "str-float32"
    assert goblin.dask.count(none, "name", member="uuid").compute().layout == "uuid-float64"
    sharded = goblin.dask.count(none, "page", shards=SHARDS).persist()
    assert len(sharded) == 0
    assert sharded.total() == 0
    assert sharded.top().to_list() == []
    assert sharded.ranks([1]).tolist() == [-1]
    assert 1 not in sharded
    with pytest.raises(ValueError, match="no quantiles"):
        sharded.quantile(0.5)


def test_an_empty_partition_of_nullable_integers() -> None:
    pages = pd.DataFrame({"page": pd.array([3, 3, 5], "Int64")})
    lazy = dask.dataframe.from_pandas(pages, npartitions=2)
    assert goblin.dask.count(lazy[lazy["page"] > 3], "page").compute().to_dict() == {5: 1.0}
    assert goblin.dask.count(lazy[lazy["page"] > 5], "page").compute().layout == "int64-float64"


def test_widths_may_differ() -> None:
    parts = [delayed(MEMBERS["int32"]), delayed(NUMBERS + 2**40)]
    counted = goblin.dask.count(parts).compute()
    assert counted.layout == "int64-float64"
    assert counted.total() == 2 * len(NUMBERS)
    with pytest.raises(TypeError, match="different kinds"):
        goblin.dask.count([delayed(NUMBERS), delayed(TEXTS)]).compute()


def test_float32_is_rounded_once() -> None:
    parts = [delayed(np.array([7]))] * 3
    counted = goblin.dask.count(parts, by=2.0**24 + 1, score="float32", split_every=2).compute()
    assert counted.layout == "int64-float32"
    assert counted[7] == float(np.float32(3 * (2.0**24 + 1)))
    with pytest.raises(OverflowError):
        goblin.dask.count(parts, by=2e38, score="float32").compute()


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(["a", None], name="m", dtype="string"),
        pd.Series(["a", None], name="m", dtype=object),
        pd.Series([1, None], name="m", dtype="Int64"),
        pd.Series([1.0, None], name="m"),
        pd.Series(pd.Categorical(["a", None]), name="m"),
    ],
    ids=lambda series: str(series.dtype),
)
def test_nulls_are_an_error_that_says_what_to_do(series: pd.Series) -> None:
    lazy = dask.dataframe.from_pandas(series.to_frame(), npartitions=1)
    for given in ((lazy, "m"), (lazy["m"],)):
        with pytest.raises(ValueError, match=r"dropna\(subset=\['m'\]\)"):
            goblin.dask.count(*given).compute()
    if series.dtype != float:
        assert len(goblin.dask.count(lazy.dropna(subset=["m"]), "m").compute()) == 1


def test_arguments_of_count() -> None:
    _, lazy = frame(2, 10)
    for data in (NUMBERS, "text", [], [NUMBERS], 5, None, delayed(NUMBERS)):
        with pytest.raises(TypeError, match="iterable of Delayed is wanted"):
            goblin.dask.count(data)
    for by in ([1.0] * 5, np.ones(5), delayed(1.0)):  # would be the same for each partition
        with pytest.raises(TypeError, match="iterable of Delayed is wanted"):
            goblin.dask.count(lazy["page"], by=by)
    with pytest.raises(TypeError, match="which column"):
        goblin.dask.count(lazy)
    for names in ({"column": "page"}, {"by": "weight"}):
        for data in (lazy["page"], dask.array.ones(2, dtype=int)):
            with pytest.raises(TypeError, match="names a column, which a"):
                goblin.dask.count(data, **names)
    with pytest.raises(KeyError):
        goblin.dask.count(lazy, "absent")
    with pytest.raises(ValueError, match="one dimension"):
        goblin.dask.count(dask.array.ones((2, 2), dtype=int))
    with pytest.raises(ValueError, match="2 partitions of members, but 1"):
        goblin.dask.count(lazy["page"], by=lazy["weight"].repartition(npartitions=1))
    for wrong in ({"member": "int"}, {"score": "int64"}, {"split_every": 1}):
        with pytest.raises(ValueError):
            goblin.dask.count(lazy, "page", **wrong)
    for shards in (0, -1, 2**16):
        with pytest.raises(ValueError, match="shards must be in"):
            goblin.dask.count(lazy, "page", shards=shards)


def test_steps_that_are_to_come() -> None:
    members = [delayed([7, 8]), delayed([7])]
    steps = [delayed([1.0, 2.0]), delayed([4.0])]
    assert goblin.dask.count(members, by=iter(steps)).compute() == {7: 5.0, 8: 2.0}
    with pytest.raises(ValueError, match="2 partitions of members, but 1"):
        goblin.dask.count(members, by=steps[:1])


def test_names_in_the_dashboard() -> None:
    lazy = goblin.dask.count(partitions(NUMBERS), shards=2)
    shown = {dask.utils.key_split(key) for key in lazy.__dask_graph__()}
    assert {f"goblin-{word}" for word in ("count", "split", "merge", "pack")} <= shown


# ---- merges

SETS = [SortedSet({1: 1.0, 2: 2.0**25 + 1, n: n / 4}, score="float32") for n in range(3, 12)]


@pytest.mark.parametrize("aggregate", ["sum", "min", "max", "count"])
@pytest.mark.parametrize("split_every", [2, 20])
@pytest.mark.parametrize("weights", [None, np.arange(9) / 2 - 1])
def test_merge(aggregate: Any, split_every: int, weights: Any) -> None:
    expected = goblin.union(SETS, weights=weights, aggregate=aggregate)
    merged = goblin.dask.merge(*SETS, weights=weights, aggregate=aggregate, split_every=split_every)
    assert_equal(merged.compute(), expected)


def test_merge_takes_what_is_to_come(client: Client) -> None:
    a = SortedSet({"a": 1.0, "b": 2.0}, compress=False)
    future = client.submit(SortedSet, {"b": 3.0})
    merged = goblin.dask.merge(delayed(a), future, goblin.dask.count([delayed(["c"])])).compute()
    assert merged.to_dict() == {"a": 1.0, "c": 1.0, "b": 5.0}
    assert merged._compress is False


def test_merge_leaves_its_inputs_alone() -> None:
    with dask.config.set(scheduler="synchronous"):
        one = SortedSet({"a": 1.0})
        merged = goblin.dask.merge(one).compute()
        merged.increment("a")
        assert one["a"] == 1.0


def test_the_first_set_decides_the_layout() -> None:
    narrow, wide = SortedSet([1], 1.0, member="int32"), SortedSet([2], 1.0)
    assert goblin.dask.merge(narrow, wide, split_every=2).compute().layout == "int32-float64"
    with pytest.raises(OverflowError):
        goblin.dask.merge(narrow, SortedSet([2**40], 1.0)).compute()


def test_arguments_of_merge() -> None:
    with pytest.raises(ValueError, match="at least one"):
        goblin.dask.merge()
    with pytest.raises(ValueError, match="aggregate"):
        goblin.dask.merge(SETS[0], aggregate="mean")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1 sets, but 2 weights"):
        goblin.dask.merge(SETS[0], weights=[1, 2])
    with pytest.raises(TypeError, match="SortedSets are wanted"):
        goblin.dask.merge({1: 2.0}).compute()
    with pytest.raises(TypeError, match="different kinds"):
        goblin.dask.merge(SETS[0], SortedSet({"a": 1.0})).compute()


# ---- shards


@pytest.fixture(scope="module", params=LAYOUTS, ids="-".join)
def both(request: pytest.FixtureRequest, client: Client) -> tuple[SortedSet, Any]:
    """A set, and the same in shards that the workers keep."""
    member, score = request.param
    single = SortedSet.from_counts(MEMBERS[member], by=0.5, score=score)
    sharded = goblin.dask.count(partitions(MEMBERS[member]), by=0.5, score=score, shards=SHARDS)
    kept = sharded.persist()
    wait(kept)
    return single, kept


@pytest.fixture(scope="module")
def sharded(client: Client) -> goblin.dask.Sharded[int]:
    return goblin.dask.count(partitions(NUMBERS), shards=SHARDS).persist()


def test_shards(both: Any) -> None:
    single, sharded = both
    parts = dask.compute(*sharded.to_delayed())
    assert len(parts) == SHARDS
    assert {part.layout for part in parts} == {single.layout}
    assert sum(map(len, parts)) == len(sharded) == len(single)
    assert_equal(sharded.compute(), single)
    assert repr(sharded) == "Sharded(3 shards)"


def test_look_ups(both: Any) -> None:
    single, sharded = both
    assert sharded.total() == single.total()
    members = single.sample(40, rng=1).members
    np.testing.assert_array_equal(sharded.scores(members), single.scores(members))
    assert sharded.scores(members).dtype == single.score_dtype
    member, score = single.by_rank[5]
    assert sharded[member] == score
    assert member in sharded
    for absent in (None, 2**70, object(), [member]):
        assert absent not in sharded
        for read in (sharded.__getitem__, sharded.rank):
            with pytest.raises(KeyError):
                read(absent)


def test_ranks(both: Any) -> None:
    single, sharded = both
    members = single.sample(60, rng=2).members
    np.testing.assert_array_equal(sharded.ranks(members), single.ranks(members))
    member = single.by_rank[len(single) // 2][0]
    assert sharded.rank(member, descending=True) == single.rank(member, descending=True)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_methods_of_ranks(sharded: Any, method: Any, descending: bool) -> None:
    single = SortedSet.from_counts(NUMBERS)
    members = np.append(single.sample(60, rng=2).members, -5)
    ranks = sharded.ranks(members, method=method, descending=descending)
    expected = single.ranks(members, method=method, descending=descending)
    np.testing.assert_array_equal(ranks, expected)
    assert ranks.dtype == expected.dtype
    rank = sharded.rank(members[0], method=method, descending=descending)
    assert rank == expected[0]
    assert type(rank) is type(single.rank(members[0], method=method))


@pytest.mark.parametrize("n", [0, 7, 10**30])
def test_ends(both: Any, n: int) -> None:
    single, sharded = both
    for rows, expected in (
        (sharded.top(n), single.top(n)),
        (sharded.bottom(n), single.bottom(n)),
    ):
        assert rows == expected
        assert rows.ranks.tolist() == expected.ranks.tolist()


def test_quantiles(both: Any) -> None:
    single, sharded = both
    q = np.linspace(0, 1, 13)
    np.testing.assert_array_equal(sharded.quantile(q), single.quantile(q))


def test_shapes_and_methods_of_quantiles(sharded: Any) -> None:
    single = SortedSet.from_counts(NUMBERS)
    assert sharded.quantile(0.99) == single.quantile(0.99)
    q = [[0.5], [0.9]]
    expected = single.quantile(q, method="hazen")
    np.testing.assert_array_equal(sharded.quantile(q, method="hazen"), expected)


def test_what_is_no_argument(sharded: Any) -> None:
    assert np.isnan(sharded.scores([-5])).all()
    assert sharded.scores([-5], missing=-1).tolist() == [-1]
    assert sharded.scores([]).shape == sharded.ranks([]).shape == (0,)
    assert sharded.ranks([-5], method="min").tolist() == [-1]
    assert np.isnan(sharded.ranks([-5], method="average")).all()
    with pytest.raises(TypeError):
        sharded.scores(["text"])
    for call in (
        lambda: sharded.ranks([1], method="middle"),
        lambda: sharded.top(-1),
        lambda: sharded.quantile(1.5),
        lambda: sharded.quantile(0.5, method="middle"),
    ):
        with pytest.raises(ValueError):
            call()


def test_it_is_not_iterated_over(sharded: Any) -> None:
    with pytest.raises(TypeError, match="not iterable"):
        list(sharded)


def test_infinite_scores() -> None:
    parts = [delayed(pd.DataFrame({"m": [1, 2, 3, 2**20], "s": [-np.inf, np.inf, np.inf, 0.25]}))]
    both_signs = goblin.dask.count(parts, "m", by="s", shards=2)
    assert np.isnan(both_signs.total())
    assert both_signs.quantile([0, 1]).tolist() == [-np.inf, np.inf]
    assert both_signs.quantile(1 / 3) == 0.25


def test_a_copy_of_the_collection(sharded: Any) -> None:
    (again,) = dask.optimize(sharded)
    assert again.top(3) == sharded.top(3)
    assert dask.base.tokenize(sharded) == dask.base.tokenize(again)


def test_shards_on_threads() -> None:
    with dask.config.set(scheduler="threads"):
        kept = goblin.dask.count(partitions(NUMBERS), shards=SHARDS).persist()
        assert kept.compute() == SortedSet.from_counts(NUMBERS)


def test_the_hash_of_python_does_not_matter() -> None:
    """Workers of one cluster share a seed; those of another have theirs."""
    script = (
        "import pickle, sys\n"
        "from goblin import SortedSet, _shards\n"
        "z = SortedSet((f'name {i}' for i in range(100)), 1.0)\n"
        "sys.stdout.buffer.write(pickle.dumps([sorted(s) for s in _shards.split(z, 3)]))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert sorted(itertools.chain(*pickle.loads(outputs.pop()))) == sorted(
        f"name {i}" for i in range(100)
    )


def test_without_dask_the_error_says_what_to_install() -> None:
    script = (
        "import sys\n"
        "sys.modules['dask'] = None\n"
        "import goblin\n"
        "try:\n"
        "    import goblin.dask\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "goblin.dask needs dask: pip install 'goblin-core[dask]'\n"
