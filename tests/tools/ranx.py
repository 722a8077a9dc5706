"""ranx: ``evaluate`` of ``Qrels`` and ``Run``, and of dicts, which sort otherwise.

Compiling it takes a minute, so it runs as plain Python here. numpy orders its ties then, so that
lists with ties are left to the golden values.
"""

import sys
from collections.abc import Sequence
from contextlib import suppress

from . import ALL, CUTOFFS, Column, Printed, Query, dicts, name

CONVENTIONS = ("ranx",)
GRADES = ((0, 4), (0, 1), (-1, 4))
_METRICS = {
    "ndcg": ("ndcg", ()), "ndcg_burges": ("ndcg", ("gain=exp",)), "dcg": ("dcg", ()),
    "dcg_burges": ("dcg", ("gain=exp",)), "map": ("map", ()), "mrr": ("recip_rank", ()),
    "precision": ("P", ()), "recall": ("recall", ()), "hit_rate": ("success", ()),
    "hits": ("hits", ()), "f1": ("f1", ()),
}  # fmt: skip


def prepare() -> None:
    """Let it run uncompiled, unless it is there already."""
    if "ranx" not in sys.modules:
        with suppress(ImportError):
            import numba

            numba.config.DISABLE_JIT = True


def _columns(queries: Sequence[Query], metrics: list[str], as_dicts: bool) -> dict[str, Column]:
    import ranx

    qrels, run = dicts(queries)
    given = (qrels, run) if as_dicts else (ranx.Qrels(qrels), ranx.Run(run))
    each = ranx.evaluate(*given, metrics, return_mean=False)
    means = ranx.evaluate(*given, metrics)
    settled = [not query.tied() for query in queries]
    return {
        metric: Column(
            [float(v) if known else None for v, known in zip(each[metric], settled, strict=True)],
            float(means[metric]) if all(settled) else None,
        )
        for metric in metrics
    }


def printed(queries: Sequence[Query]) -> Printed:
    metrics = [f"{metric}{at}" for metric in _METRICS for at in ("", *(f"@{k}" for k in CUTOFFS))]
    found = {}
    for as_dicts in (False, True):
        for column, given in _columns(queries, metrics, as_dicts).items():
            metric, _, cutoff = column.partition("@")
            ours, settings = _METRICS[metric]
            settings += ("ties=reverse",) if as_dicts else ()
            settings += ("denominator=list",) if column == "precision" else ()
            depth = int(cutoff or ALL) if cutoff or column != "f1" else None
            found[name(ours, "ranx", depth, *settings)] = given
    return found
