"""The Wikipedia-shaped trace: its proportions, its final state, and what it writes."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from goblin import synthetic
from goblin.io import commands, mediawiki
from goblin.synthetic import wikimedia

MEMBERS = 200_000


@pytest.fixture(scope="module")
def trace() -> synthetic.WikimediaTrace:
    return wikimedia(MEMBERS, seed=3)


@pytest.fixture(scope="module")
def events(trace: synthetic.WikimediaTrace) -> np.ndarray:
    return np.concatenate(list(trace))


@pytest.fixture(scope="module")
def final(trace: synthetic.WikimediaTrace) -> tuple[np.ndarray, np.ndarray]:
    return trace.final_arrays()


def test_final_state_is_that_of_the_events(
    trace: synthetic.WikimediaTrace, events: np.ndarray, final: tuple[np.ndarray, np.ndarray]
) -> None:
    members, counts = final
    assert members.dtype == counts.dtype == events.dtype == np.int64
    assert len(events) == trace.events == counts.sum()
    assert (np.diff(members) > 0).all()
    counted = np.bincount(events, minlength=int(members[-1]) + 1)
    assert np.array_equal(np.flatnonzero(counted), members)
    assert np.array_equal(counted[members], counts)


def test_proportions(events: np.ndarray, final: tuple[np.ndarray, np.ndarray]) -> None:
    members, counts = final
    assert len(members) == MEMBERS
    assert members[0] in (0, 1)
    assert MEMBERS / (members[-1] + 1) == pytest.approx(0.96, abs=0.001)
    assert (counts == 1).mean() == pytest.approx(0.34, abs=0.001)
    assert (counts >= 254).mean() == pytest.approx(0.01, abs=0.0005)
    assert counts.mean() == pytest.approx(18, rel=0.05)
    assert counts.max() > 10_000
    assert counts.min() == 1


def test_proportions_at_full_size() -> None:
    """The classes alone: no events are made."""
    trace = wikimedia(80_798_328)
    counts, sizes = trace._counts, trace._sizes.sum(axis=1)
    assert sizes.sum() == 80_798_328
    assert trace.events / trace.members == pytest.approx(17.93, rel=0.01)
    assert counts.max() == pytest.approx(2_162_914, abs=1)
    assert len(counts) == pytest.approx(7_236, rel=0.05)
    assert sizes[counts == 1].sum() / sizes.sum() == pytest.approx(0.34, abs=1e-6)
    assert sizes[counts >= 254].sum() / sizes.sum() == pytest.approx(0.01, abs=1e-6)
    tail_share = (sizes * counts)[counts >= 254].sum() / trace.events
    assert tail_share == pytest.approx(0.32, abs=0.02)


def test_ids_are_created_over_time(
    trace: synthetic.WikimediaTrace, events: np.ndarray, final: tuple[np.ndarray, np.ndarray]
) -> None:
    """A slice holds only ids created up to then, and each new id appears in its own slice."""
    members, _ = final
    created = np.cumsum(trace._created)
    start = 0
    sizes = [len(trace._slice_events(now)) for now in range(synthetic.SLICES)]
    for now, size in enumerate(sizes):
        ids = events[start : start + size]
        start += size
        assert ids.max() <= members[created[now] - 1]
        born = members[created[now - 1] if now else 0 : created[now]]
        assert np.isin(born, ids).all()
    assert start == len(events)
    assert max(sizes) < 3 * np.mean(sizes)


def test_events_of_a_member_spread_over_the_time_it_has(
    events: np.ndarray, final: tuple[np.ndarray, np.ndarray]
) -> None:
    members, counts = final
    eldest = members[: MEMBERS // 100]
    often = eldest[counts[: MEMBERS // 100] >= 200]
    assert len(often) > 5
    for member in often[:20]:
        places = np.flatnonzero(events == member) / len(events)
        assert places[0] < 0.05
        assert places[-1] > 0.95
        assert np.abs(np.quantile(places, [0.25, 0.5, 0.75]) - [0.25, 0.5, 0.75]).max() < 0.2


def test_events_are_shuffled_within_a_slice(trace: synthetic.WikimediaTrace) -> None:
    """Neighbours in time are no neighbours in id, and repeats of an id lie apart."""
    chunk = next(iter(trace))
    steps = np.diff(chunk)
    assert abs(np.mean(steps > 0) - 0.5) < 0.02
    assert abs(np.corrcoef(chunk[:-1], chunk[1:])[0, 1]) < 0.02
    assert abs(np.corrcoef(chunk, np.arange(len(chunk)))[0, 1]) < 0.05


def test_counts_do_not_follow_ids(final: tuple[np.ndarray, np.ndarray]) -> None:
    """Frequent members lie scattered: per run of 4096 their number varies as by chance."""
    _, counts = final
    frequent = (counts[: MEMBERS // 4096 * 4096] >= 20).reshape(-1, 4096).sum(axis=1)
    chance = np.sqrt(frequent.mean() * (1 - frequent.mean() / 4096))
    assert 0.4 < frequent.std() / chance < 2


def test_the_same_seed_gives_the_same_events(
    trace: synthetic.WikimediaTrace, events: np.ndarray
) -> None:
    assert np.array_equal(np.concatenate(list(trace)), events)
    assert np.array_equal(np.concatenate(list(wikimedia(MEMBERS, seed=3))), events)


def test_another_seed_gives_other_events(events: np.ndarray) -> None:
    other = np.concatenate(list(wikimedia(MEMBERS, seed=4)))
    assert not np.array_equal(other[:1000], events[:1000])


def test_the_events_stay_the_same_from_release_to_release() -> None:
    trace = wikimedia(1000, seed=1)
    chunk = np.concatenate(list(trace))
    assert (trace.events, int(chunk[0]), int(chunk[-1])) == (17704, 39, 1022)
    weights = np.arange(1, len(chunk) + 1)
    assert int((chunk * weights).sum()) == 90832609679


@pytest.mark.parametrize("members", [1, 2, 3, 10, 63, 64, 65, 1000])
@pytest.mark.parametrize("seed", [0, -1, 2**64 + 5])
def test_small_sizes(members: int, seed: int) -> None:
    trace = wikimedia(members, seed=seed)
    events = np.concatenate(list(trace))
    ids, counts = trace.final_arrays()
    found, number = np.unique(events, return_counts=True)
    assert len(ids) == members
    assert np.array_equal(found, ids)
    assert np.array_equal(number, counts)


@pytest.mark.parametrize("members", [0, -1, 5_000_000_000])
def test_sizes_that_are_none(members: int) -> None:
    with pytest.raises(ValueError, match="members"):
        wikimedia(members)


def test_memory_is_that_of_a_slice() -> None:
    trace = wikimedia(500_000)
    tracemalloc.start()
    total = sum(len(ids) for ids in trace)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == trace.events
    assert peak < total * 8 / 3  # all events at once would be eight bytes each


@pytest.mark.parametrize("columns", [70, 74, 76, 78])
@pytest.mark.parametrize("suffix", [".tsv", ".tsv.bz2"])
def test_a_written_dump_reads_back(tmp_path: Path, columns: int, suffix: str) -> None:
    trace = wikimedia(500, seed=2)
    path = tmp_path / f"dump{suffix}"
    skipped = trace.write_history(path, columns)
    assert path.read_bytes()[:3] == (b"BZh" if suffix.endswith("bz2") else b"enw")
    reader = mediawiki.history(path, columns=("page_id", "event_timestamp", "page_title"))
    batches = list(reader)
    ids = np.concatenate([batch.page_id for batch in batches])
    times = np.concatenate([batch.event_timestamp for batch in batches])
    assert np.array_equal(ids, np.concatenate(list(trace)))
    assert (times[1:] >= times[:-1]).all()
    assert times[-1] < np.datetime64("2026-09-01")
    assert reader.skipped == skipped
    assert min(skipped.values()) > 0
    assert batches[0].page_title[0] == f"Page_{ids[0]}"


def test_dumps_of_other_widths_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="columns"):
        wikimedia(10).write_history(tmp_path / "dump.tsv", 77)
    assert not (tmp_path / "dump.tsv").exists()


def test_written_commands_read_back(tmp_path: Path) -> None:
    trace = wikimedia(500)
    path = tmp_path / "trace.cmds"
    trace.write_commands(path, key="edits")
    batches = list(commands(path))
    assert {(batch.op, batch.key) for batch in batches} == {("ZINCRBY", b"edits")}
    assert all((batch.scores == 1).all() for batch in batches)
    ids = np.concatenate([batch.int_members() for batch in batches])
    assert np.array_equal(ids, np.concatenate(list(trace)))


@pytest.mark.parametrize("key", ["", "a b", "a\n", 'a"', "a'", "é"])
def test_keys_that_need_quotes(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="key"):
        wikimedia(10).write_commands(tmp_path / "trace.cmds", key=key)


def test_final_set(trace: synthetic.WikimediaTrace, final: tuple[np.ndarray, np.ndarray]) -> None:
    members, counts = final
    built = trace.final()
    assert len(built) == MEMBERS
    assert np.array_equal(built.scores(members), counts)
