"""Fractions as grades, from a file or memory to a value; and grades that a metric refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import harness
from harness import readers
from harness.core.convention import CONVENTIONS
from harness.errors import InputError
from harness.experiment import evaluate as direct

# Lists E03 and E04 of the comparison of tools, and what each tool printed for them: the whole
# list, or at a cutoff of 3.
E03 = {"a": 0.5, "b": 0.0, "c": 1.5, "d": 1.0}
E04 = {"a": 0.0, "b": 0.5, "c": 0.0}
RANKED = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
PRINTED = {
    "ndcg(convention=trec_eval9)@3": (0.3066, 0.0),
    "map(convention=trec_eval9)": (0.4167, 0.0),
    "P(convention=trec_eval9)@3": (0.3333, 0.0),
    "recip_rank(convention=trec_eval9)": (0.3333, 0.0),
    "ndcg(convention=trec_eval10)@3": (0.3066, 0.0),
    "map(convention=trec_eval10)": (0.4167, 0.0),
    "P(convention=trec_eval10)@3": (0.3333, 0.0),
    "recip_rank(convention=trec_eval10)": (0.3333, 0.0),
    "ndcg(convention=ranklib)@3": (0.30657359638272924, 0.0),
    "dcg(convention=ranklib)@3": (0.5, 0.0),
    "map(convention=ranklib)": (0.8055555555555555, 0.5),
    "P(convention=ranklib)@3": (0.6666666666666666, 0.3333333333333333),
    "recip_rank(convention=ranklib)@3": (1.0, 0.5),
    "err(convention=ranklib)@3": (0.020833333333333332, 0.0),
    "dcg(convention=quickrank)@3": (1.3284271247461903, 0.26133966083401244),
    "map(convention=quickrank)@3": (0.8333333333333333, 0.5),
    "map(convention=lightgbm)@3": (0.16666666666666666, 1.0),
    "ndcg(convention=catboost)@3": (0.5250049893849102, 0.6309297535714574),
    "map(convention=catboost)@3": (0.16666666666666666, 0.0),
    "recip_rank(convention=catboost)@3": (0.3333333333333333, 0.0),
    "P(convention=catboost)@3": (0.3333333333333333, 0.0),
    "err(convention=catboost)@3": (0.75, 0.25),
    "opa(convention=catboost)": (0.33333333333333337, 0.5),
    "ndcg(convention=catboost-exp)@3": (0.4981980984481893, 0.6309297535714574),
    "dcg(convention=catboost-exp)@3": (1.3284271247461903, 0.26133966083401244),
    "ndcg(convention=sklearn)@3": (0.5250049893849102, 0.6309297535714573),
    "dcg(convention=sklearn)@3": (1.25, 0.31546487678572865),
    "ndcg(convention=torchmetrics)@3": (0.5250049829483032, 0.630929708480835),
    "ndcg(convention=ranx)@3": (0.3065735963827292, 0.0),
    "dcg(convention=ranx)@3": (0.5, 0.0),
    "map(convention=ranx)@3": (0.16666666666666666, 0.0),
    "recip_rank(convention=ranx)@3": (0.3333333333333333, 0.0),
    "P(convention=ranx)@3": (0.3333333333333333, 0.0),
    "ndcg(convention=tfr)@3": (0.49819809198379517, 0.6309298276901245),
    "dcg(convention=tfr)@3": (1.3284270763397217, 0.2613396644592285),
    "map(convention=tfr)@3": (0.1666666716337204, 0.0),
    "recip_rank(convention=tfr)@3": (0.3333333432674408, 0.0),
    "P(convention=tfr)@3": (0.3333333432674408, 0.0),
    "arp(convention=tfr)": (3.0, 2.0),
    "opa(convention=tfr)": (0.3333333432674408, 0.5),
    "ndcg(convention=rankeval)@3": (0.49819809198379517, 0.6309297680854797),
    "dcg(convention=rankeval)@3": (1.3284270763397217, 0.26133963465690613),
    "map(convention=rankeval)@3": (0.5555555820465088, 0.5),
    "recip_rank(convention=rankeval)@3": (0.3333333432674408, 0.0),
    "err(convention=rankeval)@3": (0.330372154712677, 0.1464466005563736),
    "P(convention=rankeval)@3": (0.3333333432674408, 0.0),
    "pfound(convention=rankeval)@3": (0.15886157751083374, 0.04393398016691208),
    "rbp(convention=rankeval)@3": (0.125, 0.0),
    "ndcg(convention=allrank)@3": (0.49819809198379517, 0.6309298276901245),
    "dcg(convention=allrank)@3": (1.3284270763397217, 0.2613396644592285),
    "recip_rank(convention=allrank)@3": (0.3333333432674408, 0.5),
    "ndcg(convention=ptranking)@3": (0.49819809198379517, 0.630929708480835),
    "nerr(convention=ptranking)@3": (0.45878422260284424, 0.5),
    "ndcg(convention=pytorchltr)@3": (0.3065735995769501, 0.0),
    "dcg(convention=pytorchltr)@3": (0.5, 0.0),
    "arp(convention=pytorchltr)": (3.5, 0.0),
}
NOT_PRINTED = {
    "dcg(convention=catboost)", "pfound(convention=catboost)", "pfound(convention=catboost-exp)",
    "recall(convention=ranx)", "success(convention=ranx)",
    *(f"{metric}(convention=catboost-exp)" for metric in ("map", "recip_rank", "P", "err", "opa")),
}  # fmt: skip
"""The tool's own numbers are there of other settings alone."""


def accepting() -> set[str]:
    """Return the metrics of conventions that accept fractions, but for trec_eval's many."""
    rules = {
        f"{metric}(convention={convention.name})": {**convention.common, **own}.get("grades")
        for convention in CONVENTIONS.values()
        for metric, own in convention.metrics.items()
        if not convention.name.startswith("trec_eval")
    }
    return {name for name, rule in rules.items() if rule is not None and rule.fractions}


def test_every_convention_that_takes_fractions_is_here() -> None:
    printed = {name.partition("@")[0] for name in PRINTED if "trec_eval" not in name}
    assert accepting() == printed | NOT_PRINTED


@pytest.mark.parametrize("name", PRINTED)
def test_values_that_the_tools_printed(name: str) -> None:
    qrels = {"E03": E03, "E04": E04}
    run = {qid: {docno: RANKED[docno] for docno in row} for qid, row in qrels.items()}
    found = harness.evaluate(qrels, run, [name]).values[:, 0].tolist()
    within = 5e-5 if "trec_eval" in name else 3e-6
    assert found == pytest.approx(PRINTED[name], abs=within)


QRELS = {"q1": {"a": 0.5, "b": 0.0, "c": 2.5}, "q2": {"d": 1.0}}
RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"d": 1.0}}
METRIC = "dcg(convention=catboost)"
VALUE = 0.5 + 2.5 / 2  # ranks 1 and 3: 1 / log2(2) = 1 and 1 / log2(4) = 1/2; 1 for q2
ROWS = [(qid, docno, grade) for qid, row in QRELS.items() for docno, grade in row.items()]
QIDS, DOCNOS, GRADES = (list(column) for column in zip(*ROWS, strict=True))
FRAME = {"qid": QIDS, "docno": DOCNOS, "grade": GRADES}


def batch_file(path: Path) -> None:
    np.savez(
        path, qids=np.array(["q1", "q2"]), n=np.array([3, 1]), relevance=np.array(GRADES),
        docnos=np.array(DOCNOS),
    )  # fmt: skip


def lines(form: str) -> Callable[[Path], None]:
    text = "".join(f"{form.format(qid=q, docno=d, grade=g)}\n" for q, d, g in ROWS)
    return lambda path: path.write_text(text, encoding="utf-8") and None


def with_header(header: str, between: str) -> Callable[[Path], None]:
    rows = [between.join(map(str, row)) for row in ROWS]
    return lambda path: path.write_text("\n".join([header, *rows, ""]), encoding="utf-8") and None


FILES: dict[str, Callable[[Path], None]] = {
    "q.qrels": lines("{qid} 0 {docno} {grade}"),
    "q.txt": lines("{grade} qid:{qid} 1:0.25 # {docno}"),
    "slow.txt": lines("{grade}  qid:{qid}  1:0.25 # {docno}"),
    "q.jsonl": lines('{{"qid": "{qid}", "docno": "{docno}", "grade": {grade}}}'),
    "q.csv": with_header("qid,docno,grade", ","),
    "table.tsv": with_header("qid\tdocno\tgrade", "\t"),
    "beir.tsv": with_header("query-id\tcorpus-id\tscore", "\t"),
    "q.parquet": lambda path: pq.write_table(pa.table(FRAME), path),
    "q.json": lambda path: path.write_text(json.dumps(QRELS), encoding="utf-8") and None,
    "q.npz": batch_file,
}


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    FILES[name](path)
    found = harness.evaluate(path, RUN, [METRIC]).to_dict()
    assert found == {"q1": {METRIC: VALUE}, "q2": {METRIC: 1.0}}
    with pytest.raises(InputError, match="whole number"):
        harness.evaluate(path, RUN, ["dcg"])
    assert readers.read_qrels(path, fractions=True).to_dict() == QRELS


def test_files_and_configs(tmp_path: Path) -> None:
    FILES["q.qrels"](tmp_path / "q.qrels")
    (tmp_path / "bm25.run").write_text(
        "".join(
            f"{qid} Q0 {docno} 1 {score} bm25\n"
            for qid, row in RUN.items()
            for docno, score in row.items()
        ),
        encoding="utf-8",
    )
    qrels, run = str(tmp_path / "q.qrels"), str(tmp_path / "bm25.run")
    (entry,) = direct.evaluate_files(qrels, [run], ["ndcg"], convention="catboost").entries
    # q1: 0.5 + 2.5 / 2 of 2.5 + 0.5 / log2(3)
    expected = (VALUE / (2.5 + 0.5 / np.log2(3)), 1.0)
    assert entry.evaluation.values[:, 0] == pytest.approx(expected, abs=1e-15)
    config = tmp_path / "x.yaml"
    text = "\n".join([
        "output: out", "datasets: {d: {path: q.qrels}}", "runs: {bm25: {path: bm25.run}}",
        "metrics: [ndcg, 'map(convention=trec_eval9)']", "convention: catboost", "crosscheck: all",
    ])  # fmt: skip
    config.write_text(text, encoding="utf-8")
    (entry,) = harness.run(config).leaderboard.entries
    assert entry.evaluation.values[:, 0] == pytest.approx(expected, abs=1e-15)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert '"values": 0' in json.dumps(manifest)  # pytrec_eval takes no fractions
    with pytest.raises(InputError, match=r"^d: query 'q1', document 'a': a judgement of 0\.5, "):
        harness.run(config, overrides=["metrics=[ndcg, swaps(convention=none)]"])
