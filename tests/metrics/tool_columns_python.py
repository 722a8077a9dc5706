"""Columns of Python libraries; see ``tool_columns``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tool_column import (
    ALL,
    ANY,
    AP,
    AP2,
    BINARY,
    FRACTIONS_FROM_0,
    NO_NEGATIVE,
    RR,
    TRUNCATED,
    WHOLE_LIST,
    Column,
    columns,
)

COLUMNS: dict[str, Column] = {}

_sklearn = Column("ndcg", ties="average", grades={**FRACTIONS_FROM_0, "documents": 2})
COLUMNS |= columns("sklearn", _sklearn, {
    "ndcg": {},
    "ndcg.ignore_ties": {"ties": "stable", "settled": 0, "note": "numpy's argsort, by processor"},
    "dcg": {"metric": "dcg(negative=value)", "grades": ANY, "empty": "own"},
    "ndcg.exp_by_hand": {
        "metric": "ndcg(gain=exp)", "note": "the caller mapped grades to 2^g - 1",
    },
    "average_precision.bin1": {
        "metric": "map(above=0,tied=together)", "grades": ANY, "given": "label > 0",
        "ties": "stable", "note": "over thresholds: tied scores enter together",
    },
})  # fmt: skip
_torchmetrics = Column("", ties="average", scores="float32", single=True)
_topk: Mapping[str, Any] = {
    "ties": "stable",
    "settled": 0,
    "note": "torch.topk, by processor; scores of 0 or below make a document not relevant",
}
_positive = {**BINARY, "positive_scores": True}
COLUMNS |= columns("torchmetrics", _torchmetrics, {
    "ndcg": {"metric": "ndcg(negative=value)", "grades": ANY, "empty": "own"},
    "ap": {
        **_topk, "metric": "map(above=0,denominator=hits)", "grades": _positive,
        "note": "grades must be 0 or 1, or all fractions that round down to them",
        "but": {"E04": "takes 0.5 for a binary target"},
    },
    "ap.bin1": {
        **_topk, "metric": "map(denominator=hits)", "grades": _positive, "given": "label > 0",
    },
    "mrr.bin1": {**_topk, "metric": "recip_rank", "grades": _positive, "given": "label > 0"},
    "P.bin1": {
        **_topk, "metric": "P", "grades": _positive, "given": "label > 0",
        "uncut": {"metric": "P(denominator=list)", "cutoff": ALL},
    },
})  # fmt: skip
_share_of_list = {"metric": "P(denominator=list)", "cutoff": ALL}
for _tool, _own in (
    ("ranx", Column("", ties="stable", grades=TRUNCATED, settled=15)),
    ("ranx_dict", Column("", ties="reverse", grades=ANY, settled=15)),
):
    _usual = replace(_own, note="drops grades below 1; fractions of Qrels are cut off")
    COLUMNS |= columns(_tool, _usual, {
        "ndcg": {"metric": "ndcg(floor=1)"},
        "ndcg_burges": {"metric": "ndcg(gain=exp,floor=1)"},
        "dcg": {"metric": "dcg(floor=1)"},
        "map": AP,
        "map.rel2": AP2,
        "mrr": RR,
        "precision": {"metric": "P", "uncut": _share_of_list},
    })  # fmt: skip
_rankeval = Column(
    "", ties="reverse", scores="float32", grades=ANY, single=True,
    settled=0, note="numpy's argsort turned around, by processor",
)  # fmt: skip
COLUMNS |= columns("rankeval", _rankeval, {
    "ndcg": {"metric": "ndcg(gain=exp,negative=value)", "empty": "one"},
    "ndcg.flat": {"metric": "ndcg(negative=value)", "empty": "one"},
    "dcg": {"metric": "dcg(gain=exp,negative=value)", "empty": "own"},
    "map": {
        "metric": "map(above=0,denominator=list,none_found=1)", "empty": "one",
        "but": {"E01": "counts every grade that is not 0 as relevant, below 0 too"},
        "note": "1 also wherever the first k hold no relevant document",
    },
    "mrr": RR,
    "err": {"metric": "err(max_grade=none)", "but": NO_NEGATIVE},
    "P": {"metric": "P(denominator=list)", "uncut": WHOLE_LIST},
    "pfound": {
        "metric": "pfound(decay=0.15,max_grade=none)", "but": NO_NEGATIVE,
        "note": "takes its p_abandonment for the probability to go on",
    },
    "rbp": {"metric": "rbp(p=0.5)"},
})  # fmt: skip
_pytorchltr = Column(
    "", ties="random", scores="float32", grades=TRUNCATED, single=True,
    note="ties at random in each call",
)  # fmt: skip
COLUMNS |= columns("pytorchltr", _pytorchltr, {
    "ndcg": {"metric": "ndcg(gain=exp,negative=value)", "empty": "own"},
    "ndcg.linear": {"metric": "ndcg(negative=value)", "empty": "own"},
    "dcg": {"metric": "dcg(gain=exp,negative=value)", "empty": "own"},
    "arp": {
        "metric": "arp(negative=value)", "undefined": "zero",
        "empty": "own", "note": "0 where the grades sum to 0, the best value there is",
    },
})  # fmt: skip
_allrank = Column(
    "", scores="float32", grades=ANY, judged_only=True, single=True,
    settled=16,
    note="torch.sort keeps the order of up to 16 entries; -1 is padding, -2 is not",
)  # fmt: skip
_minus_2 = {"E02": "-2 is no padding, and gains 2^-2 - 1"}
for _tool, _empty_rr in (("allrank", "zero"), ("allrank_batch", "one")):
    # In a batch every list is as wide as the longest.
    COLUMNS |= columns(_tool, replace(_allrank, settled=16 if _tool == "allrank" else 0), {
        "ndcg": {"metric": "ndcg(gain=exp)", "empty": "one"},
        "dcg": {"metric": "dcg(gain=exp)", "but": _minus_2},
        "mrr": {
            "metric": "recip_rank(target=largest)", "empty": _empty_rr,
            "but": {"E02": "alone in its batch"} if _tool == "allrank_batch" else {},
            "note": "the first of the largest grade; a list of zeros has 1 in a mixed batch",
        },
    })  # fmt: skip
_FRACTION = "a fraction below 1 counts as part of a relevant document"
_UNDEFINED = "NaN only where the ideal order has 0: the ratio of two negative numbers is 1"
_ptranking = Column(
    "", scores="float32", grades=ANY, empty="nan", undefined="nan", single=True,
    settled=16, note="torch.sort keeps the order of up to 16 documents",
    but={"E02": _UNDEFINED, "E03": _FRACTION, "E04": _FRACTION},
)  # fmt: skip
_SKIPPED = (
    "the evaluator leaves lists shorter than k out, and a query without relevant documents "
    "makes the mean NaN: short=nan with undefined=skip, and NaN by hand"
)
for _tool in ("ptranking0.0.5", "ptranking_master"):
    COLUMNS |= columns(_tool, _ptranking, {
        "ndcg_at_ks": {
            "metric": "ndcg(gain=exp,negative=value,short=zero)", "but": {"E02": _UNDEFINED},
        },
        "ap_at_ks": {"metric": "map(denominator=grades,short=zero)"},
        "nerr_at_ks": {
            "metric": "nerr(max_grade=none,short=zero)", "but": NO_NEGATIVE,
            "note": "the largest grade is that of the batch, here one list",
        },
        "P_at_ks": {"metric": "P(short=zero)", "empty": "zero"},
        "ndcg_at_k": {
            "metric": "ndcg(gain=exp,negative=value,short=error)", "but": {"E02": _UNDEFINED},
            "note": _SKIPPED,
        },
        "ap_at_k": {"metric": "map(denominator=grades)", "note": _SKIPPED},
        "nerr_at_k": {
            "metric": "nerr(max_grade=none)", "but": NO_NEGATIVE, "note": _SKIPPED,
        },
        "P_at_k": {"metric": "P(denominator=list)", "empty": "zero", "note": _SKIPPED},
    })  # fmt: skip
_tfr = Column(
    "", ties="random", scores="float32", grades=ANY, judged_only=True, single=True,
    note="ties at random in each call; grades below 0 are padding",
)  # fmt: skip
COLUMNS |= columns("tfr", _tfr, {
    "ndcg": {"metric": "ndcg(gain=exp)"},
    "dcg": {"metric": "dcg(gain=exp)"},
    "map": AP,
    "mrr": RR,
    "P": {"metric": "P(denominator=list)", "uncut": WHOLE_LIST},
    "arp": {
        "metric": "arp(over=grades)", "undefined": "zero",
        "note": "the mean is weighted by the sum of the grades",
    },
    "opa": {
        "metric": "opa(tied=wrong,over=pairs)", "undefined": "zero",
        "note": "the mean is weighted by the number of pairs; 0 where no two grades differ",
    },
})  # fmt: skip
