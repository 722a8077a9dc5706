"""The tidy frame of many runs, and the file that has the same rows."""

import math
from pathlib import Path

import folds_and_seeds
import pyarrow.parquet as pq
import pytest

import harness
from harness.errors import InputError

QRELS = {"10": {"a": 1, "b": 0}, "2": {"a": 0, "b": 2}, "1": {"a": 0}}
RUNS = {"up=1": {"10": {"a": 1.0, "b": 2.0}, "2": {"b": 1.0}}, "b": {"10": {"a": 3.0}}}
METRICS = ["recip_rank", "ndcg@1"]
pytest.importorskip("pandas")


def test_a_row_for_each_value_of_runs_in_memory() -> None:
    frame = harness.per_query(QRELS, RUNS, METRICS, dataset="web", policy={"empty_queries": "skip"})
    assert [*frame] == ["dataset", "run", "qid", "metric", "value"]
    assert set(frame["dataset"]) == {"web"}
    rows = {row[1:4]: row[4] for row in frame.itertuples(index=False)}
    assert len(frame) == len(rows) == 2 * 3 * 2
    assert rows["up=1", "10", "recip_rank"] == 0.5
    assert rows["b", "2", "ndcg@1"] == 0.0
    assert math.isnan(rows["b", "1", "recip_rank"])
    evaluations = {
        name: harness.evaluate(QRELS, run, METRICS, dataset="web", policy={"empty_queries": "skip"})
        for name, run in RUNS.items()
    }
    assert harness.per_query(evaluations).equals(frame)


def test_a_column_for_each_placeholder_of_results(tmp_path: Path) -> None:
    config = folds_and_seeds.put(tmp_path, "metrics: [map, P@1]\nsummary: {spread: [seed]}\n")
    results = harness.run(config)
    frame = results.to_frame()
    assert [*frame] == ["dataset", "run", "fold", "seed", "qid", "metric", "value"]
    assert harness.per_query(results).equals(frame)
    assert harness.per_query(results.folder).equals(frame)
    is_map = (frame["metric"] == "map") & (frame["run"] == "a") & (frame["seed"] == "2")
    assert frame[is_map][["qid", "value"]].values.tolist() == [["1", 0.5], ["2", 1 / 3], ["3", 1.0]]
    file = pq.read_table(results.folder / "per_query.parquet")
    assert file.schema.metadata[b"ranking-harness.per_query"] == b"1"
    assert file.to_pylist() == frame.to_dict("records")


def test_settings_without_runs_are_refused() -> None:
    evaluations = {"b": harness.evaluate(QRELS, RUNS["b"], METRICS)}
    for name, value in {"metrics": ["map"], "dataset": "web", "order": "ascending"}.items():
        with pytest.raises(InputError) as caught:
            harness.per_query(evaluations, **{name: value})  # type: ignore[arg-type]
        assert caught.value.problems[0].where == name
