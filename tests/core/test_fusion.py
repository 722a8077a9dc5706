"""Fused runs: equal to literal loops on any data, and to ranx if it is installed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import harness
from harness.core.align import rank_order
from harness.core.fusion import BY_RANK, NORMS, TITLES, Fusion, fuse_runs
from harness.core.qrels_and_runs import Qrels, Run
from harness.errors import ArgumentError, HarnessError, UnknownNameError

Scores = Mapping[str, Mapping[str, float]]
CASES = [
    Fusion(method, weights=weights, norm=norm, depth=depth)  # type: ignore[arg-type]
    for method, weights, depth in product(TITLES, (None, (0.7, 0.0, 2.5)), (None, 3))
    for norm in ([None] if method in BY_RANK else [*NORMS])
    if method != "wsum" or weights
]


def literal(runs: Sequence[Scores], fusion: Fusion) -> dict[str, dict[str, float]]:
    """Fuse query by query and document by document, as the papers define it."""
    weights = fusion.weights or [1.0] * len(runs)
    fused: dict[str, dict[str, float]] = {}
    for qid in dict.fromkeys(qid for run in runs for qid in run):
        parts = []
        for run in runs:
            found = run.get(qid, {})
            by_docno = sorted(found, reverse=True)
            ranked = sorted(by_docno, key=lambda docno: -np.float32(found[docno]))
            parts.append({docno: found[docno] for docno in ranked[: fusion.depth]})
        for docno in dict.fromkeys(docno for part in parts for docno in part):
            addends = []
            n_documents = len({docno for part in parts for docno in part})
            for part, weight in zip(parts, weights, strict=True):
                if docno in part:
                    addends.append(weight * addend(part, docno, fusion, n_documents))
                elif fusion.method == "borda":
                    left = range(1, n_documents - len(part) + 1)
                    addends.append(weight * sum(left) / len(left))
            n = sum(docno in part for part in parts)
            factor = {"combmnz": n, "isr": n, "combanz": 1 / n}.get(fusion.method, 1)
            total = max(addends) if fusion.method == "combmax" else sum(addends)
            fused.setdefault(qid, {})[docno] = total * factor
    return fused


def addend(part: Mapping[str, float], docno: str, fusion: Fusion, n_documents: int) -> float:
    """Addend of one run, its documents in ranked order, to a document's score."""
    rank, values = [*part].index(docno) + 1, [*part.values()]
    if fusion.method in BY_RANK:
        by_rank = {"rrf": 1 / ((fusion.k or 0) + rank), "isr": 1 / rank**2}
        return by_rank.get(fusion.method, n_documents - rank + 1)
    if fusion.norm == "none":
        return part[docno]
    if fusion.norm == "rank":
        return 1 - (rank - 1) / len(values)
    low, mean = min(values), math.fsum(values) / len(values)
    centre, scale = {
        "min-max": (low, max(values) - low),
        "sum": (low, math.fsum(value - low for value in values)),
        "z": (mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values))),
    }[str(fusion.norm)]
    return (part[docno] - centre) / scale if max(values) > low else 0.0


def random_runs(seed: int, n: int = 3, *, ties: bool, same_queries: bool = False) -> list[Any]:
    """Runs as dicts; with ties some scores are equal, and single precision makes more."""
    rng, runs = np.random.default_rng(seed), []
    for number in range(n):
        run: dict[str, dict[str, float]] = {}
        for qid in rng.permutation(["10", "2", "q=1", "9", "é"]).tolist():
            if same_queries or rng.random() < 0.8:
                docnos = rng.permutation(25)[: int(rng.integers(1, 14))].tolist()
                values = rng.normal(0, 10.0**number, len(docnos))
                values = np.round(values) + 1e-9 * rng.random(len(docnos)) if ties else values
                scores = zip(docnos, values.tolist(), strict=True)
                run[qid] = {f"d{docno}": score for docno, score in scores}
        runs.append(run or {"2": {"d1": 1.0}})
    return runs


def assert_close(actual: Run, expected: Scores) -> None:
    assert {q: {*row} for q, row in actual.to_dict().items()} == {
        q: {*row} for q, row in expected.items()
    }
    for qid, row in actual.to_dict().items():
        for docno, score in row.items():
            assert score == pytest.approx(expected[qid][docno], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("fusion", CASES, ids=str)
def test_a_fused_run_is_that_of_literal_loops(fusion: Fusion) -> None:
    for seed in range(8):
        runs = random_runs(seed, ties=seed % 2 == 0)
        assert_close(fuse_runs([Run.from_dict(run) for run in runs], fusion), literal(runs, fusion))


NAMES = {
    "combsum": "sum", "combmnz": "mnz", "combanz": "anz", "combmax": "max", "borda": "bordafuse",
}  # fmt: skip
NORM_NAMES = {"z": "zmuv", "none": None}


AS_RANX = [
    fusion
    for fusion in CASES
    if fusion.depth is None and (fusion.weights is None or fusion.method == "wsum")
]
"""ranx has no depth, and weights for a weighted sum alone."""


def assert_as_ranx(runs: list[Scores], fusion: Fusion) -> None:
    ranx = pytest.importorskip("ranx")
    params = {"rrf": {"k": fusion.k}, "wsum": {"weights": fusion.weights and [*fusion.weights]}}
    peer = ranx.fuse(
        [ranx.Run(run) for run in runs],
        norm=NORM_NAMES.get(str(fusion.norm), fusion.norm),
        method=NAMES.get(fusion.method, fusion.method),
        params=params.get(fusion.method),
    )
    assert_close(fuse_runs([Run.from_dict(run) for run in runs], fusion), peer.to_dict())


@pytest.mark.slow  # ranx compiles each method
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fusion", AS_RANX, ids=str)
def test_a_fused_run_is_that_of_ranx(fusion: Fusion) -> None:
    """ranx breaks ties by the order of the file, so the scores here have none."""
    runs = random_runs(5, ties=False, same_queries=True)
    assert_as_ranx(runs, fusion)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fusion", AS_RANX, ids=str)
def test_real_runs_are_fused_as_ranx_does(shared: Path, fusion: Fusion) -> None:
    """Methods that look at ranks get scores without ties, in the order of trec_eval."""
    files = sorted((shared / "data/codec/runs").glob("document_*.run"))[:3]
    runs = [harness.read_run(path, duplicates="last") for path in files]
    if fusion.method in BY_RANK or fusion.norm == "rank":
        for place, run in enumerate(runs):
            ranks = np.empty(run.n_rows)
            ranks[rank_order(run)] = np.arange(run.n_rows, 0, -1)
            runs[place] = Run(run.qids, run.offsets, run.docnos, ranks, run.name)
    own = [run.to_dict() for run in runs]
    shared_qids = set.intersection(*map(set, own))
    own = [{qid: run[qid] for qid in shared_qids} for run in own]
    assert_as_ranx(own, fusion)


def test_runs_that_share_rows_keep_sharing_them() -> None:
    """Predictions of learning-to-rank rows: no docno is looked up."""
    qrels = Qrels.from_columns(pa.array(["2"] * 3 + ["10"] * 3), None, np.zeros(6))
    scores = np.array([[1.0, 3, 2, 0, 5, 4], [2.0, 2, 9, 1, 1, 1]])
    runs = [Run.for_rows(qrels, row) for row in scores]
    fused = fuse_runs(runs, Fusion("combsum"))
    assert fused.docnos is qrels.docnos
    named = [Run.from_dict(run.to_dict()) for run in runs]
    assert fused.to_dict() == fuse_runs(named, Fusion("combsum")).to_dict()
    cut = Fusion("combsum", norm="none", depth=1)
    assert_close(fuse_runs(runs, cut), literal([run.to_dict() for run in runs], cut))
    mixed = fuse_runs([runs[0], named[1]], Fusion("combsum"))
    assert mixed.to_dict() == fused.to_dict()


def test_queries_and_documents_keep_the_order_of_the_runs() -> None:
    first, second = {"2": {"b": 1.0, "a": 5.0}}, {"10": {"z": 1.0}, "2": {"c": 1.0, "b": 2.0}}
    fused = fuse_runs([Run.from_dict(first), Run.from_dict(second)], Fusion(), name="both")
    assert [(qid, [*row]) for qid, row in fused.to_dict().items()] == [
        ("2", ["b", "a", "c"]),
        ("10", ["z"]),
    ]
    assert fused.name == "both"


@pytest.mark.parametrize("norm", ["min-max", "sum", "z"])
def test_equal_scores_of_a_query_become_zero(norm: Any) -> None:
    run = Run.from_dict({"1": {"a": 0.1, "b": 0.1, "c": 0.1}})
    fused = fuse_runs([run, run], Fusion("combsum", norm=norm))
    assert fused.scores.tolist() == [0, 0, 0]


def test_a_run_without_documents_adds_nothing() -> None:
    run, empty = Run.from_dict({"1": {"a": 2.0, "b": 1.0}}), Run.from_dict({"1": {}})
    for fusion in CASES:
        if fusion.method != "borda":
            weights = fusion.weights and fusion.weights[:2]
            two = fuse_runs([run, empty], replace(fusion, weights=weights))
            assert_close(two, literal([run.to_dict(), {}], replace(fusion, weights=weights)))


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"method": "rff"}, UnknownNameError),
        ({"method": "combsum", "k": 60}, ArgumentError),
        ({"method": "rrf", "norm": "z"}, ArgumentError),
        ({"method": "combsum", "norm": "zscore"}, UnknownNameError),
        ({"method": "wsum"}, ArgumentError),
        ({"weights": (0.0, 0.0)}, ArgumentError),
        ({"weights": (1.0, -1.0)}, ArgumentError),
        ({"weights": (1.0, math.inf)}, ArgumentError),
        ({"k": -1}, ArgumentError),
        ({"k": 1.5}, ArgumentError),
        ({"depth": 0}, ArgumentError),
    ],
)
def test_settings_that_make_no_fusion_are_refused(
    settings: dict[str, Any], kind: type[HarnessError]
) -> None:
    with pytest.raises(kind):
        Fusion(**settings)


def test_every_run_has_a_weight() -> None:
    run = Run.from_dict({"1": {"a": 2.0}})
    with pytest.raises(ArgumentError):
        fuse_runs([run, run], Fusion(weights=(1.0, 2.0, 3.0)))
    with pytest.raises(ArgumentError):
        fuse_runs([run], Fusion())


@pytest.mark.parametrize("text", ["rrf(k=x)", "rrf(kk=3)", "rrf(k=3", "wsum(weights=1/b)", ""])
def test_a_text_that_names_no_fusion_is_refused(text: str) -> None:
    with pytest.raises(HarnessError):
        Fusion.parse(text)


def test_passages_become_documents_before_they_are_fused() -> None:
    first = {"q10": {"D1#0": 2.0, "D1#1": 5.0, "D2#0": 3.0}}
    second = {"q10": {"D2#3": 2.0, "D1#9": 1.0, "D=3#0": 1.5}}
    fused = harness.fuse([first, second], "combsum", documents=r"(.+)#\d+")
    of_documents = [{"q10": {"D1": 5.0, "D2": 3.0}}, {"q10": {"D2": 2.0, "D1": 1.0, "D=3": 1.5}}]
    assert fused.to_dict() == harness.fuse(of_documents, "combsum").to_dict()
