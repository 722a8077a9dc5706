"""Padded batches: metrics as functions, a collector, and pytrec_eval's dicts."""

from .functions import (
    ao,
    arp,
    dcg,
    kendall,
    lambdas,
    mse,
    ndcg,
    pairwise_logloss,
    pearson,
    rbo,
    rbo_weight,
    sigmoid,
    spearman,
    swaps,
    tau_ap,
)

__all__ = [
    "ao",
    "arp",
    "dcg",
    "kendall",
    "lambdas",
    "mse",
    "ndcg",
    "pairwise_logloss",
    "pearson",
    "rbo",
    "rbo_weight",
    "sigmoid",
    "spearman",
    "swaps",
    "tau_ap",
]


def __dir__() -> list[str]:
    return __all__
