"""What each column of ../shared/golden/conventions.json is in our settings, as data.

A column is one tool, one of its metrics, one way to call it. See ``Column``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

ALL = 100_000
"""A cutoff beyond every list, for metrics that need one."""


@dataclass(frozen=True)
class Column:
    """One column: metric, parameters, and the settings that every metric has.

    Parameters
    ----------
    metric : str
        Our metric with its parameters; the cutoff is put behind it. Empty where there is none.
    ties : str
        Order of tied scores: a policy for ties. ``random``: at random in each call, so that
        only the expectation can be compared.
    scores : {"float32", "float64", "none"}
        The type that scores are compared in.
    empty : {"zero", "one", "nan", "own"}
        Value of a query without relevant documents; ``own``: what the metric gives it. A short
        list is looked at first: see `metric`'s ``short``.
    undefined : {"skip", "zero", "nan"}
        What an undefined value does to the mean.
    grades : mapping
        Grades that are accepted: ``low``, ``high``, ``whole`` (True where left out),
        ``truncate``, ``positive_scores``, ``documents``, as in ``GradeRule``.
    judged_only : bool
        Whether grades below 0 are padding and leave the list.
    uncut : mapping
        What differs where the tool is given no cutoff: ``cutoff``, ``metric``, or a setting.
    given : {"labels", "label > 0"}
        What the caller handed to the tool.
    digits : int, optional
        Decimals that are printed; all of them where left out.
    single : bool
        Whether the tool computes with float32, so that only 3e-6 can be asked for.
    settled : int, optional
        The longest list whose ties are ordered so. In longer ones their order hangs on the
        processor, the library or the rest of the batch; never where left out.
    but : mapping of str to str
        Lists that no setting reproduces, and why; ``short``: all with fewer than k documents.
    note : str
        Why it is so, or what else there is to know.
    """

    metric: str
    ties: str = "stable"
    scores: str = "float64"
    empty: str = "zero"
    undefined: str = "skip"
    grades: Mapping[str, Any] = field(default_factory=dict)
    judged_only: bool = False
    uncut: Mapping[str, Any] = field(default_factory=dict)
    given: str = "labels"
    digits: int | None = None
    single: bool = False
    settled: int | None = None
    but: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def at(self, cutoff: int | None) -> tuple[Column, str]:
        """Return the settings at a cutoff (None: the tool is given none), and the metric."""
        changes = dict(self.uncut) if cutoff is None else {}
        cutoff = changes.pop("cutoff", cutoff)
        column = replace(self, **changes, uncut={})
        return column, column.metric + (f"@{cutoff}" if cutoff else "")


FROM_0: Mapping[str, Any] = {"low": 0}
ANY: Mapping[str, Any] = {"whole": False}
TRUNCATED: Mapping[str, Any] = {"truncate": True}
BINARY: Mapping[str, Any] = {"low": 0, "high": 1}
WHOLE_LIST: Mapping[str, Any] = {"cutoff": ALL}
HIDDEN_32: Mapping[str, Any] = {"cutoff": 32}

COLUMNS: dict[str, Column] = {}


def _add(tool: str, usual: Column, metrics: Mapping[str, Mapping[str, Any]]) -> None:
    COLUMNS.update((f"{tool}.{name}", replace(usual, **own)) for name, own in metrics.items())


# --- trec_eval and what calls it --------------------------------------------------------------
_NDCG: Mapping[str, Any] = {"metric": "ndcg"}
_AP: Mapping[str, Any] = {"metric": "map"}
_AP2: Mapping[str, Any] = {"metric": "map(rel=2)"}
_RR: Mapping[str, Any] = {"metric": "recip_rank"}
_P: Mapping[str, Any] = {"metric": "P"}
_trec = Column("", "trec_eval", "float32", note="a grade below 0 is unjudged")
_add("pytrec_eval", _trec, {
    "ndcg": _NDCG, "map": _AP, "map.rel2": _AP2, "recip_rank": _RR,
    "recip_rank.rel2": {"metric": "recip_rank(rel=2)"}, "P": _P, "P.rel2": {"metric": "P(rel=2)"},
})  # fmt: skip
for _version, _scores in (("9", "float32"), ("10", "float64")):
    _add(f"trec_eval{_version}", replace(_trec, scores=_scores, digits=4, grades=TRUNCATED), {
        "ndcg": _NDCG, "map": _AP, "map.rel2": _AP2, "recip_rank": _RR, "P": _P,
        "ndcg.M": {"metric": "ndcg(ideal=full)", "note": "-M k is depth: k with ndcg; the same"},
    })  # fmt: skip
_gdeval = Column(
    "ndcg(gain=exp)", "trec_eval", "float64", grades={"high": 4}, digits=5,
    note="docno descending, as trec_eval, but float64; dies of a grade above 4",
)  # fmt: skip
_add("gdeval", replace(_gdeval, empty="nan"), {
    "ndcg": {}, "err": {"metric": "err"},
})  # fmt: skip
_add("ir_measures", _trec, {
    "ndcg": _NDCG, "AP": _AP, "AP.rel2": _AP2, "P": _P,
    "ndcg_judged_only": {"metric": "ndcg", "judged_only": True},
    "RR": {
        "metric": "recip_rank", "ties": "docno+", "scores": "float64", "grades": TRUNCATED,
        "uncut": {"ties": "trec_eval", "scores": "float32"},
        "note": "RR@k comes from its msmarco provider, RR from pytrec_eval",
    },
    "RBP.rel1": {
        "metric": "rbp(p=0.8)", "ties": "stable", "scores": "float64", "grades": TRUNCATED,
        "note": "from its cwl_eval provider",
    },
})  # fmt: skip
_add("ir_measures", _gdeval, {
    "ndcg_exp": {"note": "gdeval, but a query without relevant documents counts 0"},
    "ERR": {"metric": "err", "note": "gdeval, but a query without relevant documents counts 0"},
})  # fmt: skip

# --- scripts of LETOR and MSLR ----------------------------------------------------------------
_letor = Column("", grades=FROM_0, note="grades 3 and 4 are not relevant and gain nothing")
_add("letor3", replace(_letor, undefined="zero"), {
    "ndcg": {"metric": "ndcg(gain=letor,discount=jarvelin,short=nan)"},
    "P": {"metric": "P(top=2,short=nan)"},
    "map": {"metric": "map(top=2)"},
})  # fmt: skip
_add("letor4", replace(_letor, digits=4), {
    "ndcg": {"metric": "ndcg(gain=letor,discount=jarvelin,short=zero)"},
    "mean_ndcg": {"metric": "mean_ndcg(gain=letor,discount=jarvelin)"},
    "P": {"metric": "P(top=2)"},
    "map": {"metric": "map(top=2)"},
})  # fmt: skip
_mslr = Column("", grades=FROM_0, digits=4, note="grade 1 is not relevant; nor are those from 5")
_add("mslr", _mslr, {
    "ndcg": {"metric": "ndcg(gain=mslr,discount=jarvelin,short=zero)"},
    "mean_ndcg": {"metric": "mean_ndcg(gain=mslr,discount=jarvelin)"},
    "P": {"metric": "P(rel=2,top=4)"},
    "map": {"metric": "map(rel=2,top=4)"},
})  # fmt: skip

# --- RankLib ----------------------------------------------------------------------------------
_ranklib = Column("", scores="float32", note="scores go through a feature, which is float32")
_cut_off = {"low": 0, "truncate": True}
_from_0 = {"low": 0, "whole": False}
_add("ranklib", _ranklib, {
    "ndcg": {"metric": "ndcg(gain=exp-int32)", "grades": _cut_off},
    "ndcg.bare": {
        "metric": "ndcg(gain=exp-int32)", "grades": _cut_off, "uncut": {"cutoff": 10},
        "note": "no cutoff means 10",
    },
    "dcg": {"metric": "dcg(gain=exp-int32)", "grades": _cut_off},
    "map": {"metric": "map(above=0)", "grades": _from_0, "note": "whole list, whatever k"},
    "P": {
        "metric": "P(above=0,denominator=list)", "grades": _from_0, "uncut": WHOLE_LIST,
    },
    "rr": {
        "metric": "recip_rank(above=0)", "grades": _from_0, "uncut": {"metric": ""},
        "single": True,
        "note": "without a cutoff k is 0, and every value 0: not offered",
    },
    "rr.bare": {
        "metric": "", "grades": _from_0, "note": "k is 0, and every value 0: not offered",
    },
    "err": {
        "metric": "err(beyond=keep)", "grades": _cut_off,
        "but": {"E08": "2^40 in 32 bits is 2^8"},
    },
})  # fmt: skip

# --- QuickRank --------------------------------------------------------------------------------
_quickrank = Column(
    "", grades=ANY, settled=16, note="std::sort keeps the order of up to 16 documents",
    but={"E04": "sorts the ideal order by whole grades"},
)  # fmt: skip
_only_negative = {"E02": "0 where only grades below 0 are judged; ours is the ratio of two of them"}
_add("quickrank", _quickrank, {
    "ndcg": {
        "metric": "ndcg(gain=exp,negative=value)", "but": {**_quickrank.but, **_only_negative},
    },
    "dcg": {"metric": "dcg(gain=exp,negative=value)", "empty": "own", "but": {}},
    "tndcg": {
        "metric": "ndcg(gain=exp,negative=value,spill=true)", "ties": "average",
        "settled": None, "but": {**_quickrank.but, **_only_negative},
        "note": "a tied group that reaches past k is summed whole, so that it can exceed 1",
    },
    "map": {
        "metric": "map(above=0,denominator=hits)", "scores": "none", "settled": None, "but": {},
        "note": "never looks at the scores: the order of the file",
    },
})  # fmt: skip

# --- gradient boosting ------------------------------------------------------------------------
_lightgbm = Column("", empty="one", grades={"low": 0, "high": 30})
_add("lightgbm", _lightgbm, {
    "ndcg": {"metric": "ndcg(gain=exp)"},
    "ndcg.linear_gain": {"metric": "ndcg"},
    "map": {
        "metric": "map(above=0.5,denominator=list)", "grades": ANY,
        "note": "E03, E04: a query whose only grade is 0.5 is empty",
    },
})  # fmt: skip
_xgboost = Column("", scores="float32", empty="one", uncut=HIDDEN_32, note="no cutoff means 32")
_upto_31 = {"low": 0, "high": 31}
_add("xgboost", _xgboost, {
    "ndcg": {"metric": "ndcg(gain=exp)", "grades": _upto_31},
    "ndcg.linear_gain": {"metric": "ndcg(negative=value)", "grades": ANY},
    "ndcg.minus": {
        "metric": "ndcg(gain=exp)", "grades": _upto_31, "empty": "zero", "uncut": {},
        "note": "without a cutoff asked for as @100000-",
    },
    "ndcg.k100000": {
        "metric": "ndcg(gain=exp)", "grades": _upto_31, "uncut": {}, "note": "whole list",
    },
    "map": {"metric": "map(denominator=cutoff)", "grades": BINARY},
    "map.bin1": {
        "metric": "map(denominator=cutoff)", "grades": BINARY, "given": "label > 0",
    },
    "map.bin1.minus": {
        "metric": "map(denominator=cutoff)", "grades": BINARY, "given": "label > 0",
        "empty": "zero", "uncut": {}, "note": "without a cutoff asked for as @100000-",
    },
    "pre": {"metric": "P(denominator=list)", "grades": BINARY, "empty": "zero"},
    "pre.bin1": {
        "metric": "P(denominator=list)", "grades": BINARY, "given": "label > 0", "empty": "zero",
    },
})  # fmt: skip
_catboost = Column("", ties="worst", grades=ANY)
_as_probability = (
    "the caller mapped grades to (2^g - 1) / 16, which is stop=exp,max_grade=4 on the grades"
)
_no_negative = {
    "E01": "a grade below 0 is a probability below 0",
    "E02": "a grade below 0 is a probability below 0",
}
_add("catboost", _catboost, {
    "ndcg.base": {"metric": "ndcg(negative=value)", "empty": "one"},
    "ndcg.default": {"metric": "ndcg(negative=value)", "empty": "one"},
    "ndcg.exp": {"metric": "ndcg(gain=exp,negative=value)", "empty": "one"},
    "ndcg.exp.position": {
        "metric": "ndcg(gain=exp,discount=position,negative=value)", "empty": "one",
    },
    "dcg.exp": {"metric": "dcg(gain=exp,negative=value)", "empty": "own"},
    "map": {"metric": "map(above=0.5,denominator=list)"},
    "map.border1.5": {"metric": "map(above=1.5,denominator=list)"},
    "mrr": {"metric": "recip_rank(above=0.5)"},
    "P": {"metric": "P(above=0.5,denominator=list)", "uncut": WHOLE_LIST},
    "err.p16": {
        "metric": "err(beyond=keep)", "but": _no_negative, "single": True,
        "note": _as_probability,
    },
    "err.rawlabel": {
        "metric": "err(stop=linear,max_grade=1,beyond=keep)", "but": _no_negative,
        "note": "the grade is taken for a probability: nonsense above 1",
    },
    "pfound.p16": {
        "metric": "pfound(beyond=keep)", "but": _no_negative, "single": True,
        "note": _as_probability,
    },
    "queryauc_ranking": {
        "metric": "opa", "undefined": "zero", "note": "0 where no two grades differ",
        "but": {"E01": "-1 is a grade like any other", "E02": "-1 is a grade like any other"},
    },
})  # fmt: skip

# --- Python libraries -------------------------------------------------------------------------
_sklearn = Column("ndcg", ties="average", grades={**_from_0, "documents": 2})
_add("sklearn", _sklearn, {
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
_add("torchmetrics", _torchmetrics, {
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
    _add(_tool, replace(_own, note="drops grades below 1; fractions of Qrels are cut off"), {
        "ndcg": {"metric": "ndcg(floor=1)"},
        "ndcg_burges": {"metric": "ndcg(gain=exp,floor=1)"},
        "dcg": {"metric": "dcg(floor=1)"},
        "map": _AP,
        "map.rel2": _AP2,
        "mrr": _RR,
        "precision": {"metric": "P", "uncut": _share_of_list},
    })  # fmt: skip
_rankeval = Column(
    "", ties="reverse", scores="float32", grades=ANY, single=True,
    settled=0, note="numpy's argsort turned around, by processor",
)  # fmt: skip
_add("rankeval", _rankeval, {
    "ndcg": {"metric": "ndcg(gain=exp,negative=value)", "empty": "one"},
    "ndcg.flat": {"metric": "ndcg(negative=value)", "empty": "one"},
    "dcg": {"metric": "dcg(gain=exp,negative=value)", "empty": "own"},
    "map": {
        "metric": "map(above=0,denominator=list,none_found=1)", "empty": "one",
        "but": {"E01": "counts every grade that is not 0 as relevant, below 0 too"},
        "note": "1 also wherever the first k hold no relevant document",
    },
    "mrr": _RR,
    "err": {"metric": "err(max_grade=none)", "but": _no_negative},
    "P": {"metric": "P(denominator=list)", "uncut": WHOLE_LIST},
    "pfound": {
        "metric": "pfound(decay=0.15,max_grade=none)", "but": _no_negative,
        "note": "takes its p_abandonment for the probability to go on",
    },
    "rbp": {"metric": "rbp(p=0.5)"},
})  # fmt: skip
_pytorchltr = Column(
    "", ties="random", scores="float32", grades=TRUNCATED, single=True,
    note="ties at random in each call",
)  # fmt: skip
_add("pytorchltr", _pytorchltr, {
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
    _add(_tool, replace(_allrank, settled=16 if _tool == "allrank" else 0), {
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
    _add(_tool, _ptranking, {
        "ndcg_at_ks": {
            "metric": "ndcg(gain=exp,negative=value,short=zero)", "but": {"E02": _UNDEFINED},
        },
        "ap_at_ks": {"metric": "map(denominator=grades,short=zero)"},
        "nerr_at_ks": {
            "metric": "nerr(max_grade=none)",
            "but": {**_no_negative, "short": "0 for a list shorter than k"},
            "note": "the largest grade is that of the batch, here one list",
        },
        "P_at_ks": {"metric": "P(short=zero)", "empty": "zero"},
        "ndcg_at_k": {
            "metric": "ndcg(gain=exp,negative=value,short=error)", "but": {"E02": _UNDEFINED},
            "note": _SKIPPED,
        },
        "ap_at_k": {"metric": "map(denominator=grades)", "note": _SKIPPED},
        "nerr_at_k": {
            "metric": "nerr(max_grade=none)", "but": _no_negative, "note": _SKIPPED,
        },
        "P_at_k": {"metric": "P(denominator=list)", "empty": "zero", "note": _SKIPPED},
    })  # fmt: skip
_tfr = Column(
    "", ties="random", scores="float32", grades=ANY, judged_only=True, single=True,
    note="ties at random in each call; grades below 0 are padding",
)  # fmt: skip
_add("tfr", _tfr, {
    "ndcg": {"metric": "ndcg(gain=exp)"},
    "dcg": {"metric": "dcg(gain=exp)"},
    "map": _AP,
    "mrr": _RR,
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
