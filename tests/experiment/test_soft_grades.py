"""Soft grades: metrics against literal loops and scikit-learn, and refusals without a level."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refuses
from table_forms import table_as

import harness
from harness.core.metric import REGISTRY
from harness.core.names import parse

RNG = np.random.default_rng(20)
LEVELS = (0.25, 0.5, 1, 1.75)
GRADES = [0.0, 0.1, 0.25, 0.4999, 0.5, 0.75, 1.0, 1.75, 3.5]


def soft_data(seed: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Qrels with fractions, and runs with ties, unjudged documents and a missing query."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for qid in ("10", "2", "1", "q=7"):
        judged = [f"d{number}" for number in rng.permutation(14)[:9]]
        qrels[qid] = dict(zip(judged, rng.choice(GRADES, 9).tolist(), strict=True))
        retrieved = [f"d{number}" for number in rng.permutation(20)[:11]]
        run[qid] = dict(zip(retrieved, rng.integers(0, 6, 11).astype(float).tolist(), strict=True))
    del run["q=7"]
    return qrels, run


def ranked(run: dict[str, float]) -> list[str]:
    return sorted(sorted(run, reverse=True), key=lambda docno: -np.float32(run[docno]))


def ndcg_of(
    grades: dict[str, float], run: dict[str, float], gain: Callable[[float], float]
) -> float:
    def dcg(values: list[float]) -> float:
        return sum(
            gain(value) / math.log2(rank + 2) for rank, value in enumerate(values) if value > 0
        )

    best = dcg(sorted(grades.values(), reverse=True))
    return dcg([grades.get(docno, 0.0) for docno in ranked(run)]) / best if best else 0.0


@pytest.mark.parametrize("seed", range(6))
def test_gains_of_fractions_are_those_of_literal_loops(seed: int) -> None:
    qrels, run = soft_data(seed)
    values = harness.evaluate(qrels, run, ["ndcg", "ndcg(gain=exp)", "dcg", "arp", "mse"]).to_dict()
    for qid, row in values.items():
        own = run.get(qid, {})
        assert row["ndcg"] == pytest.approx(ndcg_of(qrels[qid], own, float), abs=1e-14)
        assert row["ndcg(gain=exp)"] == pytest.approx(
            ndcg_of(qrels[qid], own, lambda grade: 2**grade - 1), abs=1e-14
        )
        if not own:
            continue
        judged = [
            (rank, qrels[qid][docno])
            for rank, docno in enumerate(ranked(own), 1)
            if docno in qrels[qid]
        ]
        total = sum(grade for _, grade in judged)
        if total:
            assert row["arp"] == pytest.approx(sum(r * g for r, g in judged) / total, abs=1e-12)
        errors = [
            (qrels[qid][docno] - score) ** 2 for docno, score in own.items() if docno in qrels[qid]
        ]
        assert row["mse"] == pytest.approx(np.mean(errors), abs=1e-12)


def test_ndcg_of_fractions_is_that_of_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    grades = RNG.choice(GRADES, (30, 12))
    scores = RNG.permuted(np.tile(np.arange(12.0), (30, 1)), axis=1)
    for k in (1, 5, 12):
        expected = [
            sklearn.ndcg_score(g[None], s[None], k=k) for g, s in zip(grades, scores, strict=True)
        ]
        values = harness.evaluate(grades, scores, [f"ndcg@{k}"], n=np.full(30, 12)).to_dict()
        assert [row[f"ndcg@{k}"] for row in values.values()] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "name",
    [name for name, definition in REGISTRY.items()
     if "rel" in definition.parameters and name not in ("Rndcg", "rbo", "ao")],
)  # fmt: skip
def test_a_level_is_a_threshold(name: str, level: float) -> None:
    """With a level, a metric of relevant documents has its value for grades 0 and 1."""
    definition = REGISTRY[name]
    cutoff = "@0.5" if name == "iprec_at_recall" else "@3" if definition.needs_cutoff else ""
    for seed in range(3):
        qrels, run = soft_data(seed)
        binary = {
            qid: {docno: int(grade >= level) for docno, grade in row.items()}
            for qid, row in qrels.items()
        }
        metric = f"{name}(rel={level}){cutoff}"
        soft = harness.evaluate(qrels, run, [metric]).to_dict()
        hard = harness.evaluate(binary, run, [f"{name}{cutoff}"]).to_dict()
        for qid, row in soft.items():
            assert [*row.values()] == pytest.approx([*hard[qid].values()], abs=0, nan_ok=True)
    first = next(docno for docno, grade in qrels["10"].items() if grade != int(grade))
    with refuses(f"query '10', document '{first}'", "grade-values"):
        harness.evaluate(qrels, run, [f"{name}{cutoff}"])


REFUSING = ["ndcg(gain=letor)@5", "ndcg(gains=1:3)", "relstring", "G(gains=2:3)"]


@pytest.mark.parametrize("name", REFUSING)
def test_metrics_of_tables_of_grades_refuse_fractions(name: str) -> None:
    qrels, run = soft_data(0)
    first = next(docno for docno, grade in qrels["10"].items() if grade != int(grade))
    with refuses(f"query '10', document '{first}'", "grade-values"):
        harness.evaluate(qrels, run, [name])


def test_a_level_has_one_name_however_it_is_written() -> None:
    names = [str(parse(f"map(rel={level})")[0]) for level in ("2", "2.0", "0.5", ".5", "1", "1.0")]
    assert names == ["map(rel=2)"] * 2 + ["map(rel=0.5)"] * 2 + ["map(rel=1)"] * 2
    qrels, run = soft_data(1)
    first: Any = harness.evaluate(qrels, run, ["map(rel=2)"]).to_dict()
    assert harness.evaluate(qrels, run, ["map"], relevance_level=2.0).to_dict() == first
    assert str(parse("map", {"rel": 1})[0]) == "map"
    with refuses(""):
        parse("map(rel=0)")


@pytest.mark.parametrize("ties", ["average", "best", "worst", "stable", "random(3)"])
@pytest.mark.parametrize("settings", [{}, {"depth": 4}, {"depth": 4, "judged_only": True}])
def test_a_level_meets_every_policy(ties: str, settings: dict[str, Any]) -> None:
    qrels, run = soft_data(2)
    policy = {"ties": ties, **settings}
    binary = {q: {d: int(g >= 0.5) for d, g in row.items()} for q, row in qrels.items()}
    metrics = ["map", "P@3", "recip_rank", "bpref", "recall@5"]
    soft = harness.evaluate(qrels, run, metrics, policy=policy, relevance_level=0.5).to_dict()
    hard = harness.evaluate(binary, run, metrics, policy=policy).to_dict()
    for qid, row in soft.items():
        assert [*row.values()] == pytest.approx([*hard[qid].values()], abs=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_level_is_met_by_the_grade_that_is_printed_alike(dtype: str, tmp_path: Path) -> None:
    grades = np.array([0.7, 0.1, 0.3, 0.7, 0.125], dtype)
    scores, metric = np.arange(5.0), ["num_rel(rel=0.7)", "num_rel(rel=0.1)", "num_rel(rel=0.3)"]
    table = pa.table({"qid": ["1"] * 5, "docno": [*"abcde"], "grade": grades})
    pq.write_table(table, tmp_path / "q.parquet")
    run = {"1": dict(zip("abcde", scores.tolist(), strict=True))}
    for qrels in (table, tmp_path / "q.parquet", table.to_pandas()):
        values = harness.evaluate(qrels, run, metric).to_dict()["1"]
        assert [*values.values()] == [2, 5, 3]
    values = harness.evaluate(grades, scores, metric, n=[5]).to_dict()["0"]
    assert [*values.values()] == [2, 5, 3]


@pytest.mark.parametrize("form", ["parquet", "csv", "json", "txt", "dict"])
def test_grades_of_a_model_in_double_precision_reach_their_level(tmp_path: Path, form: str) -> None:
    grades = np.array([0.7, 0.1, 0.9, 0.3], np.float32).astype(np.float64)
    assert grades[0] < 0.7
    qids, docnos = ["10", "10", "2", "2"], ["a", "b", "a", "b"]
    qrels: Any = {"10": {}, "2": {}}
    for qid, docno, grade in zip(qids, docnos, grades.tolist(), strict=True):
        qrels[qid][docno] = grade
    table = {"qid": qids, "docno": docnos, "grade": grades.tolist()}
    given: Any = tmp_path / "q"
    if form == "json":
        given.write_text(json.dumps(qrels))
    elif form == "txt":
        rows = zip(*table.values(), strict=True)
        given.write_text("".join("{} 0 {} {}\n".format(*row) for row in rows))
    else:
        given = qrels if form == "dict" else table_as(form, table, tmp_path)
    run = {qid: {"a": 2.0, "b": 1.0} for qid in qrels}
    board = harness.evaluate(given, run, ["P(rel=0.7)@1"])
    assert board.values.tolist() == [[1.0], [1.0]]
    # grades that were written in full are as they are
    written = {"10": {"a": 0.6999999880790710, "b": 0.1}}
    assert harness.evaluate(written, run, ["P(rel=0.7)@1"]).values.tolist() == [[0.0]]
