"""Batches gathered in an evaluation loop."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refuses

import harness
from harness import BatchCollector, readers
from harness.core.ragged import Array
from harness.readers.batches import from_batch

Batch = tuple[Array, Array, Array]


def batches(n_batches: int = 3, size: int = 4, width: int = 6) -> list[Batch]:
    rng = np.random.default_rng(7)
    return [
        (
            rng.normal(size=(size, width)),
            rng.integers(0, 4, (size, width)),
            rng.integers(1, width + 1, size),
        )
        for _ in range(n_batches)
    ]


def filled(given: list[Batch]) -> BatchCollector:
    collector = BatchCollector()
    for batch in given:
        collector.add(*batch)
    return collector


def test_batches_together_equal_one_large_batch() -> None:
    given = batches()
    together = [np.concatenate(arrays) for arrays in zip(*given, strict=True)]
    collector = filled(given)
    found, expected = collector.to_tables(), from_batch(*together)
    for ours, theirs in zip(found, expected[:2], strict=True):
        assert ours.to_dict() == theirs.to_dict()
        assert ours.docnos.positional
    assert found[0].docnos is found[1].docnos
    assert len(collector) == 12
    metrics = ["ndcg@5", "map", "swaps", "num_q"]
    values = collector.evaluate(metrics, name="model")
    expected_values = harness.evaluate(
        together[1], together[0], metrics, n=together[2], qids=list(map(str, range(12)))
    )
    assert values.run == "model"
    assert values.qids.to_pylist() == [str(row) for row in range(12)]
    np.testing.assert_array_equal(values.values, expected_values.values)


def test_a_query_twice_is_an_error_and_nothing_is_kept() -> None:
    collector = BatchCollector()
    collector.add([[1.0]], [[1]], [1], ["a"])
    collector.add([[1.0]], [[1]], [1], ["b"])
    with refuses("qids") as caught:
        collector.add([[1.0], [1.0]], [[1], [1]], [1, 1], ["c", "b"])
    assert "'b'" in str(caught.value)
    assert len(collector) == 2
    collector.add([[1.0]], [[1]], [1], ["c"])
    assert collector.to_tables()[0].qids.to_pylist() == ["a", "b", "c"]


def test_a_batch_is_checked_when_it_is_added() -> None:
    collector = BatchCollector()
    with refuses("scores[0, 0]", "not-finite"):
        collector.add([[float("nan")]], [[1]], [1])
    assert len(collector) == 0


@pytest.mark.parametrize("use", ["evaluate", "save"])
def test_nothing_added(use: str, tmp_path: Path) -> None:
    collector = BatchCollector()
    assert repr(collector) == "<BatchCollector: 0 queries, 0 documents>"
    assert collector.to_tables()[0].to_dict() == {}
    call: dict[str, Any] = {
        "evaluate": lambda: collector.evaluate(["map"]),
        "save": lambda: collector.save(tmp_path / "model.npz"),
    }
    with refuses("BatchCollector"):
        call[use]()
    assert not list(tmp_path.iterdir())


def test_the_saved_file_is_read_back(tmp_path: Path) -> None:
    collector = filled(batches())
    path = tmp_path / "model.npz"
    collector.save(str(path))
    qrels, run = collector.to_tables()
    read = readers.read_qrels(path)
    assert read.to_dict() == qrels.to_dict()
    assert readers.read_run(path, dataset=read).to_dict() == run.to_dict()


def test_a_collector_that_was_evaluated_takes_no_more_batches() -> None:
    collector, other = BatchCollector(), BatchCollector()
    collector.add([[0.1, 0.9]], [[1, 0]], [2])
    assert collector.evaluate(["P@1"]).summary() == {"P@1": 0.0}
    with refuses("BatchCollector.add") as caught:
        collector.add([[0.9, 0.1]], [[1, 0]], [2])
    assert "reset()" in str(caught.value)
    assert collector.evaluate(["map"]).summary() == {"map": 0.5}  # other metrics of the same
    collector.reset()
    assert len(collector) == 0
    for one in (collector, other):
        one.add([[0.9, 0.1]], [[1, 0]], [2])
        assert one.evaluate(["P@1"]).to_dict() == {"0": {"P@1": 1.0}}
