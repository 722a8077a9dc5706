"""What the tools themselves printed for 200 queries is explained by their own conventions."""

from __future__ import annotations

import math
from functools import cache

import pytest
from goldens import shared_conventions

from harness.audit.explain import Search, try_all
from harness.audit.explain_space import Space, read
from harness.core.metric import REGISTRY
from harness.core.tables import Qrels, Run

AS_THEY_STAND = {
    "pytrec_eval": ("trec_eval9", "ndcg map recip_rank P"),
    "trec_eval9": ("trec_eval9", "ndcg map recip_rank P"),
    "trec_eval10": ("trec_eval10", "ndcg map recip_rank P"),
    "ir_measures": ("trec_eval9", "ndcg AP:map P"),
    "gdeval": ("gdeval", "ndcg err"),
    "letor4": ("letor", "ndcg P map mean_ndcg"),
    "mslr": ("mslr", "ndcg P map mean_ndcg"),
    "ranklib": ("ranklib", "ndcg dcg map P rr:recip_rank err"),
    "quickrank": ("quickrank", "ndcg dcg map"),
    "lightgbm": ("lightgbm", "ndcg map"),
    "xgboost": ("xgboost", "ndcg"),
    "catboost": (
        "catboost", "ndcg.default:ndcg map mrr:recip_rank P queryauc_ranking:opa",
    ),
    "torchmetrics": ("torchmetrics", "ndcg"),
    "ranx": ("ranx", "ndcg dcg map mrr:recip_rank precision:P"),
    "rankeval": ("rankeval", "ndcg dcg map mrr:recip_rank err P pfound rbp"),
    "pytorchltr": ("pytorchltr", "ndcg dcg arp"),
    "allrank": ("allrank", "ndcg dcg"),
    "allrank_batch": ("allrank", "ndcg dcg mrr:recip_rank"),
    "ptranking0.0.5": ("ptranking", "P_at_ks:P"),
    "tfr": ("tfr", "ndcg dcg map mrr:recip_rank P arp opa"),
}  # fmt: skip
"""Columns of the golden file, by tool, with the convention and the metric that they are."""
COLUMNS = [
    (f"{tool}.{column}", convention, metric or column)
    for tool, (convention, names) in AS_THEY_STAND.items()
    for column, _, metric in (name.partition(":") for name in names.split())
] + [
    ("catboost.ndcg.exp", "catboost-exp", "ndcg"),
    ("catboost.dcg.exp", "catboost-exp", "dcg"),
    ("xgboost.ndcg.k100000", "xgboost", "ndcg"),
    ("xgboost.ndcg.minus", "xgboost-minus", "ndcg"),
]
DEFAULT_CUTOFFS = {"xgboost.ndcg": 32}
NOT_OFFERED = {("ranklib.rr", None)}
"""RankLib's RR without a cutoff is 0 for every query."""


@cache
def data() -> tuple[Qrels, Run]:
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in shared_conventions()["sets"]["R1"]["queries"]:
        docnos = [f"d{place:05}" for place in range(len(query["labels"]))]
        qrels[query["id"]] = dict(zip(docnos, query["labels"], strict=True))
        run[query["id"]] = dict(zip(docnos, query["scores"], strict=True))
    return Qrels.from_dict(qrels), Run.from_dict(run)


def means(column: str) -> dict[int | None, float]:
    """Return the tool's means by cutoff, its own or those of its values."""
    problem = shared_conventions()["values"][column]["R1"]
    found = {}
    for cutoff, values in problem["per_query"].items():
        kept = [value for value in values if isinstance(value, (int, float))]
        mean = problem.get("mean", {}).get(cutoff, math.fsum(kept) / max(len(kept), 1))
        if kept and isinstance(mean, (int, float)):
            known = DEFAULT_CUTOFFS.get(column) if cutoff == "none" else int(cutoff)
            found[known] = float(mean)
    return found


def search(mean: str, metric: str, cutoff: int | None, depth: int) -> Search:
    return try_all(read(mean), *data(), [Space(REGISTRY[metric], (cutoff,))], depth)


@pytest.mark.parametrize(("column", "convention", "metric"), COLUMNS, ids=lambda text: text)
def test_published_means(column: str, convention: str, metric: str) -> None:
    explained = 0
    for cutoff, mean in means(column).items():
        if (cutoff is None and REGISTRY[metric].needs_cutoff) or (column, cutoff) in NOT_OFFERED:
            continue
        found = search(f"{mean:.4f}", metric, cutoff, 0)
        names = {
            fit.base.convention.name
            for explanation in found.explanations
            for fit in explanation.fits
            if fit.base.convention is not None
        }
        assert convention in names, (column, cutoff, mean, found.nearest, found.difference)
        explained += 1
    assert explained


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("catboost.ndcg.exp.position", "ndcg(convention=catboost-exp,discount=position)@10"),
        ("lightgbm.ndcg.linear_gain", "ndcg(convention=lightgbm,gain=linear)@10"),
        ("xgboost.ndcg.linear_gain", "ndcg(convention=xgboost,gain=linear)@10"),
        ("xgboost.map.bin1", "map(convention=xgboost,labels=clip)@10"),
        ("ir_measures.ndcg_exp", "ndcg(convention=gdeval,empty=zero)@10"),
        ("ir_measures.ERR", "err(convention=gdeval,empty=zero)@10"),
        ("trec_eval9.ndcg.M", "ndcg(ideal=full)@10"),
        ("pytrec_eval.map.rel2", "map(rel=2)@10"),
        ("ranx.ndcg_burges", "ndcg(convention=ranx,gain=exp)@10"),
        ("letor3.ndcg", "ndcg(convention=letor)@10"),
    ],
)
def test_published_means_of_one_setting_changed(column: str, name: str) -> None:
    metric, _, cutoff = name.partition("(")[0], *name.partition("@")[1:]
    found = search(f"{means(column)[int(cutoff)]:.4f}", metric, int(cutoff), 1)
    assert name in {fit.name for e in found.explanations for fit in e.fits}
