"""Train a ranker of XGBoost, follow nDCG@10 of the harness, and keep values by query."""

import numpy as np
import xgboost

import harness

random = np.random.default_rng(0)
qid = np.repeat(np.arange(30), 20)
features = random.normal(size=(600, 4))
grades = np.clip(np.round(features[:, 0] + random.normal(scale=0.5, size=600) + 1), 0, 4)

train = xgboost.DMatrix(features[:400], grades[:400], qid=qid[:400])
valid = xgboost.DMatrix(features[400:], grades[400:], qid=qid[400:])
metric = harness.xgboost.feval("ndcg(gain=exp)@10", "map")
xgboost.train(
    {"objective": "rank:ndcg", "disable_default_eval_metric": 1},
    train,
    num_boost_round=20,
    evals=[(valid, "valid")],
    custom_metric=metric,
    callbacks=[metric, harness.xgboost.early_stopping("ndcg(gain=exp)@10", 5)],
    verbose_eval=False,
)
first, last = metric.history[0]["valid"], metric.history[-1]["valid"]
print(last.summary())
gains = last.values[:, 0] - first.values[:, 0]
print(f"{(gains > 0).sum()} of {len(gains)} queries gained since the first tree")
