"""Metrics as XGBoost, scikit-learn, CatBoost and torchmetrics take them, against pytrec_eval."""

import os
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from refusals import refuses

import harness
from harness.errors import HarnessError, InputError

GROUPS = [7, 5, 12, 4]
QIDS = np.repeat([10, 2, 1, 30], GROUPS)
NAMES = {"ndcg@10": "ndcg_cut_10", "map": "map", "recip_rank": "recip_rank"}


def data(seed: int) -> tuple[Any, Any]:
    """Rows with many ties, and a query without relevant documents."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, len(QIDS))
    labels[QIDS == 2] = 0
    return random.integers(0, 3, (len(QIDS), 2)).astype(float), labels


def oracle(name: str, qids: Any, labels: Any, scores: Any) -> float:
    """Mean of pytrec_eval; documents are d0, d1, ... within each query."""
    qrel: Any = defaultdict(dict)
    run: Any = defaultdict(dict)
    for qid, label, score in zip(qids, labels, scores, strict=True):
        docno = f"d{len(run[str(qid)])}"
        qrel[str(qid)][docno], run[str(qid)][docno] = int(label), float(score)
    found = pytrec_eval.RelevanceEvaluator(dict(qrel), {NAMES[name]}).evaluate(dict(run))
    return float(np.mean([values[NAMES[name]] for values in found.values()]))


@pytest.mark.parametrize("name", NAMES)
def test_xgboost_classes_log_the_mean_of_pytrec_eval(name: str) -> None:
    xgboost = pytest.importorskip("xgboost")
    rows, labels = data(1)
    sorted_rows = np.argsort(QIDS, kind="stable")
    qid, rows, labels = QIDS[sorted_rows], rows[sorted_rows], labels[sorted_rows]
    stop = harness.xgboost.early_stopping(name, 3)
    model = xgboost.XGBRanker(n_estimators=2, eval_metric=harness.xgboost.scorer(name, qid=qid),
                              callbacks=[stop], n_jobs=1)  # fmt: skip
    model.fit(rows, labels, qid=qid, eval_set=[(rows, labels)], eval_qid=[qid], verbose=False)
    logged = model.evals_result()["validation_0"][name][-1]
    assert logged == pytest.approx(
        oracle(name, qid, labels, model.predict(rows, iteration_range=(0, 2))), abs=1e-6
    )

    mixed = np.random.default_rng(3).permutation(len(QIDS))
    qid, rows, labels = qid[mixed], rows[mixed], labels[mixed]
    metric = harness.xgboost.scorer(name, qid=[f"q={one}" for one in qid])
    regressor = xgboost.XGBRegressor(n_estimators=2, eval_metric=metric, n_jobs=1)
    regressor.fit(rows, labels, eval_set=[(rows, labels)], verbose=False)
    logged = regressor.evals_result()["validation_0"][name][-1]
    assert logged == pytest.approx(oracle(name, qid, labels, regressor.predict(rows)), abs=1e-6)


def test_xgboost_scorer_refuses_what_xgbranker_would_count_otherwise() -> None:
    by_query = [1, 0], [0.5, 0.25]
    for name, qid in (("map", [2, 2, 10]), ("gm_map", [2, 2, 10, 10, 1, 1]), ("map", [2] * 5)):
        with refuses("harness.xgboost.scorer", error=InputError):
            harness.xgboost.scorer(name, qid=qid)(*by_query)


@pytest.mark.parametrize("name", [*NAMES, "mse"])
def test_scikit_learn_scorer_gets_the_groups_of_each_fold(name: str) -> None:
    sklearn = pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GridSearchCV, GroupKFold

    mixed = np.random.default_rng(3).permutation(len(QIDS))
    rows, labels = (part[mixed] for part in data(5))
    groups = QIDS[mixed]
    with pytest.raises(HarnessError) as error:
        harness.sklearn.scorer(name)
    assert "enable_metadata_routing" in error.value.problems[0].fix
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = harness.sklearn.scorer(name)
        grid = {"fit_intercept": [True]}
        search = GridSearchCV(LinearRegression(), grid, scoring=scorer, cv=GroupKFold(2))
        search.fit(rows, labels, groups=groups)
        for fold, (train, test) in enumerate(GroupKFold(2).split(rows, labels, groups)):
            scores = LinearRegression().fit(rows[train], labels[train]).predict(rows[test])
            found = search.cv_results_[f"split{fold}_test_score"][0]
            if name == "mse":
                given = (groups[test], labels[test]), scores, [name]
                assert found == -harness.evaluate(*given).summary()[name]
            else:
                assert found == oracle(name, groups[test], labels[test], scores)
        with refuses("harness.sklearn.scorer", error=InputError):
            scorer(search.best_estimator_, rows, labels)


@pytest.mark.parametrize("name", NAMES)
def test_catboost_logs_the_mean_of_pytrec_eval(name: str) -> None:
    catboost = pytest.importorskip("catboost")
    pools = [catboost.Pool(*data(seed), group_id=QIDS) for seed in (1, 2)]
    settings = {"iterations": 3, "verbose": False, "allow_writing_files": False}
    metric = harness.catboost.metric(name, *pools)
    model = catboost.CatBoostRanker(**settings, eval_metric=metric, thread_count=1,
                                    use_best_model=False)  # fmt: skip
    model.fit(pools[0], eval_set=pools[1])
    assert metric.is_max_optimal()
    for seed, part in ((1, "learn"), (2, "validation")):
        expected = oracle(name, QIDS, data(seed)[1], model.predict(pools[seed - 1]))
        logged = model.get_evals_result()[part][name][-1]
        assert logged == pytest.approx(expected, abs=1e-12)
    model = catboost.CatBoostRanker(**settings, eval_metric=harness.catboost.metric(name, pools[0]))
    with pytest.raises(catboost.CatBoostError):
        model.fit(pools[0], eval_set=pools[1])
    with refuses("pools", error=InputError):
        harness.catboost.metric(name, catboost.Pool(*data(1)))


def batches(with_qids: bool) -> list[list[dict[str, Any]]]:
    """Batches of two processes: one query comes to both, as samplers do it."""
    scores, labels = data(4)
    scores = scores[:, 0]
    parts = [
        {
            "scores": scores[qid == QIDS][None],
            "relevance": labels[qid == QIDS][None],
            "n": [int((qid == QIDS).sum())],
        }
        | ({"qids": [int(qid)]} if with_qids else {})
        for qid in (10, 2, 1, 30)
    ]
    return [[parts[0], parts[2], parts[3]], [parts[1], *([parts[0]] if with_qids else [])]]


def process(rank: int, folder: str) -> None:
    """Evaluate in one of two processes, with qids and without."""
    import torch

    store = torch.distributed.FileStore(f"{folder}/store", 2)
    torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=2)
    found = []
    for name, with_qids in product(NAMES, (True, False)):
        metric = harness.torch.RankingMetric(name)
        for batch in batches(with_qids)[rank]:
            metric.update(**batch | {"scores": torch.tensor(batch["scores"])})
        found.append(float(metric.compute()))
    lonely = harness.torch.RankingMetric("map")
    if rank == 0:
        lonely.update([[2.0, 1.0]], [[0, 1]], [2], qids=[2**40])
    Path(folder, f"{rank}.txt").write_text(repr((found, float(lonely.compute()))))
    torch.distributed.destroy_process_group()


def test_a_ranking_metric_joins_the_queries_of_two_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchmetrics")
    tests = Path(__file__).parents[1]
    paths = [str(tests), str(tests.parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    torch.multiprocessing.spawn(process, (str(tmp_path),), nprocs=2)
    scores, labels = data(4)
    expected = [oracle(name, QIDS, labels, scores[:, 0]) for name in NAMES for _ in range(2)]
    for rank in (0, 1):
        found, lonely = eval(Path(tmp_path, f"{rank}.txt").read_text())
        assert found == pytest.approx(expected, abs=1e-15)
        assert lonely == 0.5


def test_a_ranking_metric_knows_its_direction_and_its_states() -> None:
    pytest.importorskip("torchmetrics")
    metric = harness.torch.RankingMetric("mse")
    assert not metric.higher_is_better
    metric.update([[0.5, 1.0]], [[1, 0]], [2], qids=[2])
    metric.update([[0.5, 1.0]], [[1, 0]], [2])
    with refuses("qids", error=InputError):
        metric.compute()
    metric.reset()
    for qids in (["a"], [2**53 + 1]):
        with refuses("qids", error=InputError):
            metric.update([[0.5, 1.0]], [[1, 0]], [2], qids=qids)
    with pytest.warns(UserWarning, match="before"), refuses("BatchCollector", error=InputError):
        harness.torch.RankingMetric("map").compute()
