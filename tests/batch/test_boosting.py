"""harness.lightgbm and harness.xgboost in the libraries' own training loops."""

from typing import Any

import numpy as np
import pytest
from refusals import refuses

import harness
from harness.errors import HarnessWarning

GROUPS = [7, 1, 12, 4]
METRICS = ("ndcg(gain=exp)@10", "mse", "recip_rank")


def rows(seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    return random.normal(size=(sum(GROUPS), 3)), random.integers(0, 4, sum(GROUPS))


def lightgbm(metric: Any, **settings: Any) -> dict[str, dict[str, list[float]]]:
    lgb = pytest.importorskip("lightgbm")
    train = lgb.Dataset(*rows(0), group=GROUPS, free_raw_data=False)
    valid = lgb.Dataset(*rows(1), group=GROUPS, reference=train, free_raw_data=False)
    log: dict[str, Any] = {}
    given = {"objective": "lambdarank", "metric": "ndcg", "ndcg_eval_at": [10], "verbose": -1,
             "min_data_in_leaf": 1, "seed": 1}  # fmt: skip
    model = lgb.train({**given, **settings}, train, 5, [train, valid], ["train", "dev"],
                      feval=metric, callbacks=[lgb.record_evaluation(log), metric])  # fmt: skip
    log["scores"] = model.predict(rows(1)[0], raw_score=True)
    return log


def xgboost(metric: Any, **settings: Any) -> dict[str, dict[str, list[float]]]:
    xgb = pytest.importorskip("xgboost")
    qids = np.repeat([2, 10, 11, 30], GROUPS)
    train, valid = (xgb.DMatrix(*rows(seed), qid=qids) for seed in (0, 1))
    log: dict[str, Any] = {}
    given = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "seed": 1}
    model = xgb.train({**given, **settings}, train, 5, evals=[(train, "train"), (valid, "dev")],
                      custom_metric=metric, evals_result=log, verbose_eval=False,
                      callbacks=[metric])  # fmt: skip
    log["scores"] = model.predict(valid)
    return log


@pytest.mark.parametrize("library", [lightgbm, xgboost])
def test_values_in_training_are_those_of_evaluate(library: Any) -> None:
    metric = getattr(harness, library.__name__).feval(*METRICS, policy={"ties": "stable"})
    log = library(metric)
    assert len(metric.history) == 5
    last = metric.history[-1]
    assert list(last) == ["train", "dev"]
    after = harness.evaluate(
        rows(1)[1], log["scores"], METRICS, n=GROUPS, policy={"ties": "stable"}
    )
    assert last["dev"].values == pytest.approx(after.values, rel=1e-5, abs=1e-6)
    assert last["dev"].values.shape == (4, 3)
    for name, value in last["dev"].summary().items():
        assert log["dev"][name][-1] == pytest.approx(value, abs=1e-6)
    own = f"ndcg(convention={library.__name__})@10"
    same = harness.evaluate(rows(1)[1], log["scores"], [own], n=GROUPS).summary()[own]
    assert log["dev"]["ndcg@10"][-1] == pytest.approx(same, abs=1e-6)


@pytest.mark.filterwarnings("ignore:.*eval_set.*deprecated")
def test_lightgbm_ranker_takes_our_metric() -> None:
    lgb = pytest.importorskip("lightgbm")
    metric = harness.lightgbm.feval("ndcg(gain=exp)@10", "mse")
    model = lgb.LGBMRanker(n_estimators=3, min_child_samples=1, verbose=-1)
    model.fit(*rows(0), group=GROUPS, eval_set=[rows(1)], eval_group=[GROUPS], eval_names=["dev"],
              eval_metric=metric, callbacks=[metric])  # fmt: skip
    after = harness.evaluate(rows(1)[1], model.predict(rows(1)[0]), ["mse"], n=GROUPS)
    assert model.evals_result_["dev"]["mse"][-1] == pytest.approx(after.summary()["mse"], abs=1e-6)
    assert metric.history[-1]["dev"].values.shape == (4, 2)


def test_lightgbm_stops_early_by_our_metric() -> None:
    pytest.importorskip("lightgbm")
    found = harness.lightgbm.feval("mse", "map")([0.0, 1.0], _Data([0, 1], [2]))
    assert [(name, higher) for name, _, higher in found] == [("mse", False), ("map", True)]


class _Data:
    def __init__(self, labels: list[int], group: list[int] | None) -> None:
        self.get_label, self.get_group = (lambda: np.array(labels)), (lambda: group)


def test_errors_name_the_place_and_a_fix() -> None:
    with refuses("feval"):
        harness.lightgbm.feval("map")([0.5], _Data([1], None))
    with refuses("feval"):
        harness.lightgbm.feval()
    with refuses("metrics", suggests="ndcg@10"):
        harness.lightgbm.feval("ndgc@10")


def stopped(metric: str, *, ours: bool) -> tuple[float, list[float], Any]:
    """Value of the model that XGBoost keeps, the values it saw, and the metric."""
    xgb = pytest.importorskip("xgboost")
    random = np.random.default_rng(3)
    features = random.normal(size=(600, 3))
    grades = (features[:, 0] + random.normal(size=600) > 1).astype(int)
    qids = np.repeat([1, 2, 10, *range(30, 57)], 20)
    train = xgb.DMatrix(features[:300], grades[:300], qid=qids[:300])
    valid = xgb.DMatrix(features[300:], grades[300:], qid=qids[300:])
    feval = harness.xgboost.feval(metric)
    stop = [harness.xgboost.early_stopping(metric, 5)] if ours else []
    settings = {"objective": "rank:ndcg", "disable_default_eval_metric": 1, "max_depth": 2,
                "eta": 0.1, "nthread": 1}  # fmt: skip
    model = xgb.train(
        settings, train, 40, evals=[(valid, "dev")], custom_metric=feval, verbose_eval=False,
        callbacks=[feval, *stop], early_stopping_rounds=None if ours else 5,
    )  # fmt: skip
    (name,) = map(str, feval.metrics)
    values = [one["dev"].summary()[name] for one in feval.history]
    return values[model.best_iteration], values, feval


HIGHER = ["recip_rank", "P@5", "ndcg@10", "map"]
LOWER = ["arp", "mse"]


@pytest.mark.parametrize("metric", [*HIGHER, *LOWER])
def test_xgboost_keeps_the_best_model(metric: str) -> None:
    kept, values, _ = stopped(metric, ours=True)
    assert kept == (max if metric in HIGHER else min)(values)


@pytest.mark.parametrize("metric", ["recip_rank", "P@5"])
def test_the_worse_model_is_warned_of(metric: str) -> None:
    with pytest.warns(HarnessWarning) as caught:
        kept, values, _ = stopped(metric, ours=False)
    assert kept < max(values)
    assert "harness.xgboost.early_stopping" in str(caught[0].message)


def test_a_second_training_needs_a_reset() -> None:
    _, _, feval = stopped("map", ours=True)
    with refuses("feval") as caught:
        feval.before_training(None)
    assert "reset()" in str(caught.value)
    feval.reset()
    assert feval.before_training("model") == "model"
    metric = harness.lightgbm.feval("map")
    lightgbm(metric)
    with refuses("feval"):
        lightgbm(metric)
    metric.reset()
    lightgbm(metric)
    assert len(metric.history) == 5


def test_xgbranker_is_told_to_use_the_scorer() -> None:
    xgb = pytest.importorskip("xgboost")
    ranker = xgb.XGBRanker(n_estimators=2, eval_metric=harness.xgboost.feval("map"))
    qids = np.repeat([2, 10, 11, 30], GROUPS)
    with refuses("harness.xgboost.feval") as caught:
        ranker.fit(*rows(0), qid=qids, eval_set=[rows(1)], eval_qid=[qids], verbose=False)
    assert "xgboost.scorer(" in str(caught.value)


def test_early_stopping_needs_a_direction() -> None:
    pytest.importorskip("xgboost")
    for metric in ("num_ret", "ndcg@5,10"):
        with refuses("metric"):
            harness.xgboost.early_stopping(metric, 5)
