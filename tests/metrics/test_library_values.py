"""The values that other tools print, from the settings of docs/reference/conventions.md."""

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
BOOSTED = harness.Policy(ties="stable", empty_queries="one")


def prediction(shared: Path, dataset: str, model: str) -> Path:
    return shared / "data/ltr/predictions_made_here" / dataset / f"{model}.pred"


def reported(shared: Path) -> Any:
    path = shared / "data/ltr/predictions_made_here/library_reported_ndcg.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dataset", DATASETS)
def test_boosting_libraries_on_their_own_predictions(
    shared: Path, dataset: str, model: str
) -> None:
    folder = shared / "data" / "ltr"
    qrels = harness.read_qrels(folder / dataset / DATASETS[dataset])
    if model == "xgb_rank_map":  # it takes two grades only: relevant or not
        grades = (qrels.grades >= 1).astype(np.int64)
        qrels = harness.Qrels(qrels.qids, qrels.offsets, qrels.docnos, grades)
    prefix = "eval-" if model.startswith("xgb") else ""
    found = harness.evaluate(
        qrels, prediction(shared, dataset, model), ["ndcg(gain=exp)@1,3,5,10"], policy=BOOSTED
    ).summary()
    for k in CUTOFFS:
        own = float(reported(shared)[dataset][model][f"{prefix}ndcg@{k}"])
        assert found[f"ndcg(gain=exp)@{k}"] == pytest.approx(own, abs=1e-12, rel=0), k


@pytest.mark.parametrize("dataset", DATASETS)
def test_lightgbm_l2_is_a_mean_over_rows(shared: Path, dataset: str) -> None:
    folder = shared / "data" / "ltr"
    qrels, run = folder / dataset / DATASETS[dataset], prediction(shared, dataset, "lgb_regression")
    found = harness.evaluate(qrels, run, ["mse(over=pairs)"]).summary()
    own = reported(shared)[dataset]["lgb_regression"]["l2"]
    assert found["mse(over=pairs)"] == pytest.approx(own, abs=1e-12, rel=0)


def test_the_same_predictions_as_the_readme_shows_them(shared: Path) -> None:
    run = prediction(shared, "mq2008_fold1", "lgb_lambdarank")
    files = (shared / "data/ltr/mq2008_fold1/test.txt", run)
    pytrec_eval = harness.evaluate(*files, ["ndcg@10"]).summary()["ndcg@10"]
    lightgbm = harness.evaluate(*files, ["ndcg(gain=exp)@10"], policy=BOOSTED).summary()
    assert f"{pytrec_eval:.10f}" == "0.4732608070"  # as pytrec_eval 0.5.11 gave it
    assert f"{lightgbm['ndcg(gain=exp)@10']:.4f}" == "0.7933"


FASTRANK = {  # its own test's NDCG@5 of one-feature rankers on its example's training data
    "caption_count": (1, 0.363671198812673),
    "caption_partial": (2, 0.2119744912371782),
    "caption_position": (3, 0.3838323029697044),
    "pagerank": (4, 0.28879573536768505),
    "para-fraction": (5, 0.43942925167146063),
}


@pytest.mark.filterwarnings("ignore:.*upside-down")  # by lower grades first
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
