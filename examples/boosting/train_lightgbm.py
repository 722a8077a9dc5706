"""Train LambdaMART, follow nDCG@10 of the harness, and keep values by query."""

import lightgbm
import numpy as np

import harness

random = np.random.default_rng(0)
group = [20] * 30
features = random.normal(size=(600, 4))
grades = np.clip(np.round(features[:, 0] + random.normal(scale=0.5, size=600) + 1), 0, 4)

train = lightgbm.Dataset(features[:400], grades[:400], group=group[:20])
valid = lightgbm.Dataset(features[400:], grades[400:], group=group[20:], reference=train)
metric = harness.lightgbm.feval("ndcg(gain=exp)@10", "map")
lightgbm.train(
    {"objective": "lambdarank", "metric": "none", "verbose": -1},
    train,
    num_boost_round=20,
    valid_sets=[valid],
    valid_names=["valid"],
    feval=metric,
    callbacks=[metric, lightgbm.early_stopping(5, first_metric_only=True, verbose=False)],
)
first, last = metric.history[0]["valid"], metric.history[-1]["valid"]
print(last.summary())
gains = last.values[:, 0] - first.values[:, 0]
print(f"{(gains > 0).sum()} of {len(gains)} queries gained since the first tree")
