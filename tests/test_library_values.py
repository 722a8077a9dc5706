"""The values that other tools print, from the settings of docs/reference/conventions.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness

DATASETS = {
    "lightgbm_lambdarank": "rank.test",
    "mslr_web10k_sample": "mslr_fold1_test_sample.txt",
    "mq2008_fold1": "test.txt",
}
MODELS = ("lgb_lambdarank", "lgb_rank_xendcg", "xgb_rank_ndcg", "xgb_rank_pairwise", "xgb_rank_map")
CUTOFFS = (1, 3, 5, 10)
DEFAULT = harness.Policy()
STABLE = harness.Policy(ties="stable")
BOOSTED = harness.Policy(ties="stable", empty_queries="one")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dataset", DATASETS)
def test_boosting_libraries_on_their_own_predictions(
    shared: Path, dataset: str, model: str
) -> None:
    folder = shared / "data" / "ltr"
    predictions = folder / "predictions_made_here"
    reported = json.loads((predictions / "library_reported_ndcg.json").read_text(encoding="utf-8"))
    qrels = harness.read_qrels(folder / dataset / DATASETS[dataset])
    if model == "xgb_rank_map":  # it takes two grades only: relevant or not
        grades = (qrels.grades >= 1).astype(np.int64)
        qrels = harness.Qrels(qrels.qids, qrels.offsets, qrels.docnos, grades)
    prefix = "eval-" if model.startswith("xgb") else ""
    found = harness.evaluate(
        qrels, predictions / dataset / f"{model}.pred", ["ndcg(gain=exp)@1,3,5,10"], policy=BOOSTED
    ).summary()
    for k in CUTOFFS:
        own = float(reported[dataset][model][f"{prefix}ndcg@{k}"])
        assert found[f"ndcg(gain=exp)@{k}"] == pytest.approx(own, abs=1e-12, rel=0), k


@pytest.mark.parametrize("dataset", DATASETS)
def test_lightgbm_l2_is_a_mean_over_rows(shared: Path, dataset: str) -> None:
    folder = shared / "data" / "ltr"
    predictions = folder / "predictions_made_here"
    reported = json.loads((predictions / "library_reported_ndcg.json").read_text(encoding="utf-8"))
    found = harness.evaluate(
        folder / dataset / DATASETS[dataset],
        predictions / dataset / "lgb_regression.pred",
        ["mse(over=pairs)"],
    ).summary()
    own = reported[dataset]["lgb_regression"]["l2"]
    assert found["mse(over=pairs)"] == pytest.approx(own, abs=1e-12, rel=0)


def test_the_same_predictions_as_the_readme_shows_them(shared: Path) -> None:
    folder = shared / "data" / "ltr"
    files = (
        folder / "mq2008_fold1" / "test.txt",
        folder / "predictions_made_here" / "mq2008_fold1" / "lgb_lambdarank.pred",
    )
    pytrec_eval = harness.evaluate(*files, ["ndcg@10"]).summary()["ndcg@10"]
    lightgbm = harness.evaluate(*files, ["ndcg(gain=exp)@10"], policy=BOOSTED).summary()
    assert f"{pytrec_eval:.10f}" == "0.4732608070"  # as pytrec_eval 0.5.11 gave it
    assert f"{lightgbm['ndcg(gain=exp)@10']:.4f}" == "0.7933"


CASES = [  # tool and setting, cutoffs, metric, policy, tolerance, float32 scores, lists with ties
    ("lightgbm.ndcg", CUTOFFS, "ndcg(gain=exp)@{k}", BOOSTED, 1e-12, False, True),
    ("lightgbm.ndcg.linear_gain", CUTOFFS, "ndcg@{k}", BOOSTED, 1e-12, False, True),
    ("xgboost.ndcg", CUTOFFS, "ndcg(gain=exp)@{k}", BOOSTED, 1e-12, True, True),
    ("xgboost.ndcg", (None,), "ndcg(gain=exp)@32", BOOSTED, 1e-12, True, True),
    ("xgboost.ndcg.linear_gain", CUTOFFS, "ndcg@{k}", BOOSTED, 1e-12, True, True),
    ("xgboost.ndcg.minus", CUTOFFS, "ndcg(gain=exp)@{k}", STABLE, 1e-12, True, True),
    ("pytrec_eval.ndcg", CUTOFFS, "ndcg@{k}", DEFAULT, 0, False, True),
    ("ir_measures.ndcg", CUTOFFS, "ndcg@{k}", DEFAULT, 0, False, True),
    ("ir_measures.AP", (None,), "map", DEFAULT, 0, False, True),
    ("ir_measures.RR", (None,), "recip_rank", DEFAULT, 0, False, True),
    ("trec_eval9.ndcg", CUTOFFS, "ndcg@{k}", DEFAULT, 5.1e-5, False, True),
    (
        "trec_eval10.ndcg", CUTOFFS, "ndcg@{k}", harness.Policy(ties="trec_eval10"), 5.1e-5,
        False, True,
    ),
    ("pytorchltr.ndcg", CUTOFFS, "ndcg(gain=exp)@{k}", DEFAULT, 2e-6, True, False),
    ("pytorchltr.ndcg.linear", CUTOFFS, "ndcg@{k}", DEFAULT, 2e-6, True, False),
    ("pytorchltr.dcg", CUTOFFS, "dcg(gain=exp)@{k}", DEFAULT, 2e-4, True, False),
    ("pytorchltr.arp", (None,), "arp", DEFAULT, 2e-4, True, False),
    ("sklearn.ndcg", CUTOFFS, "ndcg@{k}", STABLE, 1e-12, False, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("column", "cutoffs", "metric", "policy", "tolerance", "narrow", "tied"),
    CASES,
    ids=[f"{case[0]}-{case[2]}" for case in CASES],
)
def test_tools_on_the_same_lists(
    shared: Path, column: str, cutoffs: tuple[int | None, ...], metric: str,
    policy: harness.Policy, tolerance: float, narrow: bool, tied: bool,
) -> None:  # fmt: skip
    golden = json.loads((shared / "golden" / "conventions.json").read_text(encoding="utf-8"))
    compared = 0
    for problem, lists in (("S0", golden["lists"]), ("R1", golden["sets"]["R1"]["queries"])):
        qrels, run = _tables(lists, narrow)
        for k in cutoffs:
            found = harness.evaluate(qrels, run, [metric.format(k=k)], policy=policy)
            mine = dict(zip(found.qids.to_pylist(), found.values[:, 0].tolist(), strict=True))
            printed = golden["values"][column][problem]["per_query"][str(k or "none")]
            for one, value in zip(lists, printed, strict=True):
                if not isinstance(value, float):  # it gives none: random, or an error
                    continue
                if not tied and len(set(run[one["id"]].values())) < len(run[one["id"]]):
                    continue
                if column == "pytorchltr.arp" and not any(one["labels"]):
                    assert value == 0.0  # NaN here
                    assert np.isnan(mine[one["id"]])
                    continue
                assert mine[one["id"]] == pytest.approx(value, abs=tolerance, rel=0), one["id"]
                compared += 1
    assert compared > 200 * len(cutoffs)


def _tables(lists: list[dict[str, Any]], narrow: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    qrels, run = {}, {}
    for one in lists:
        docnos = one.get("docids") or [f"d{i:05}" for i in range(len(one["labels"]))]
        scores = np.array(one["scores"], dtype=np.float32 if narrow else np.float64)
        qrels[one["id"]] = dict(zip(docnos, one["labels"], strict=True))
        run[one["id"]] = dict(zip(docnos, scores.astype(np.float64).tolist(), strict=True))
    return qrels, run


FASTRANK = {  # its own test's NDCG@5 of one-feature rankers on its example's training data
    "caption_count": (1, 0.363671198812673),
    "caption_partial": (2, 0.2119744912371782),
    "caption_position": (3, 0.3838323029697044),
    "pagerank": (4, 0.28879573536768505),
    "para-fraction": (5, 0.43942925167146063),
}


@pytest.mark.parametrize("feature", FASTRANK)
def test_fastrank_s_single_features(shared: Path, feature: str) -> None:
    # fastrank has gain 2^g - 1 and puts the lower grade first where scores tie. That order is
    # given to us as scores of its own, since no policy here looks at grades.
    number, expected = FASTRANK[feature]
    data = shared / "data/ltr/fastrank_trec_news_2018/examples/trec_news_2018.train"
    rows = [line.split() for line in data.read_text().splitlines()]
    grade = np.array([int(row[0]) for row in rows])
    score = np.array(
        [
            next((float(x.split(":")[1]) for x in row if x.startswith(f"{number}:")), 0.0)
            for row in rows
        ]
    )
    order = np.lexsort((grade, -score))
    ranked = np.empty(order.size)
    ranked[order] = -np.arange(order.size)
    found = harness.evaluate(data, ranked, ["ndcg(gain=exp)@5"])
    assert found.summary()["ndcg(gain=exp)@5"] == pytest.approx(expected, rel=1e-12)
