"""What each column of ../shared/golden/conventions.json is in our settings, as data.

A column is one tool, one of its metrics, one way to call it. See ``tool_column.Column``.
"""

from __future__ import annotations

from dataclasses import replace

from tool_column import (
    ANY,
    AP,
    AP2,
    BINARY,
    FRACTIONS_FROM_0,
    FROM_0,
    HIDDEN_32,
    NDCG,
    NO_NEGATIVE,
    RR,
    TRUNCATED,
    WHOLE_LIST,
    Column,
    P,
    columns,
)
from tool_columns_python import COLUMNS as OF_PYTHON_LIBRARIES

COLUMNS: dict[str, Column] = {}

# --- trec_eval and what calls it --------------------------------------------------------------
_trec = Column("", "trec_eval", "float32", note="a grade below 0 is unjudged")
COLUMNS |= columns("pytrec_eval", _trec, {
    "ndcg": NDCG, "map": AP, "map.rel2": AP2, "recip_rank": RR,
    "recip_rank.rel2": {"metric": "recip_rank(rel=2)"}, "P": P, "P.rel2": {"metric": "P(rel=2)"},
})  # fmt: skip
for _version, _scores in (("9", "float32"), ("10", "float64")):
    _usual = replace(_trec, scores=_scores, digits=4, grades=TRUNCATED)
    COLUMNS |= columns(f"trec_eval{_version}", _usual, {
        "ndcg": NDCG, "map": AP, "map.rel2": AP2, "recip_rank": RR, "P": P,
        "ndcg.M": {"metric": "ndcg(ideal=full)", "note": "-M k is depth: k with ndcg; the same"},
    })  # fmt: skip
_gdeval = Column(
    "ndcg(gain=exp)", "trec_eval", "float64", grades={"high": 4}, digits=5,
    note="docno descending, as trec_eval, but float64; dies of a grade above 4",
)  # fmt: skip
COLUMNS |= columns("gdeval", replace(_gdeval, empty="nan"), {
    "ndcg": {}, "err": {"metric": "err"},
})  # fmt: skip
COLUMNS |= columns("ir_measures", _trec, {
    "ndcg": NDCG, "AP": AP, "AP.rel2": AP2, "P": P,
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
COLUMNS |= columns("ir_measures", _gdeval, {
    "ndcg_exp": {"note": "gdeval, but a query without relevant documents counts 0"},
    "ERR": {"metric": "err", "note": "gdeval, but a query without relevant documents counts 0"},
})  # fmt: skip

# --- scripts of LETOR and MSLR ----------------------------------------------------------------
_letor = Column("", grades=FROM_0, note="grades 3 and 4 are not relevant and gain nothing")
COLUMNS |= columns("letor3", replace(_letor, undefined="zero"), {
    "ndcg": {"metric": "ndcg(gain=letor,discount=jarvelin,short=nan)"},
    "P": {"metric": "P(top=2,short=nan)"},
    "map": {"metric": "map(top=2)"},
})  # fmt: skip
COLUMNS |= columns("letor4", replace(_letor, digits=4), {
    "ndcg": {"metric": "ndcg(gain=letor,discount=jarvelin,short=zero)"},
    "mean_ndcg": {"metric": "mean_ndcg(gain=letor,discount=jarvelin)"},
    "P": {"metric": "P(top=2)"},
    "map": {"metric": "map(top=2)"},
})  # fmt: skip
_mslr = Column("", grades=FROM_0, digits=4, note="grade 1 is not relevant; nor are those from 5")
COLUMNS |= columns("mslr", _mslr, {
    "ndcg": {"metric": "ndcg(gain=mslr,discount=jarvelin,short=zero)"},
    "mean_ndcg": {"metric": "mean_ndcg(gain=mslr,discount=jarvelin)"},
    "P": {"metric": "P(rel=2,top=4)"},
    "map": {"metric": "map(rel=2,top=4)"},
})  # fmt: skip

# --- RankLib ----------------------------------------------------------------------------------
_ranklib = Column("", scores="float32", note="scores go through a feature, which is float32")
_cut_off = {"low": 0, "truncate": True}
COLUMNS |= columns("ranklib", _ranklib, {
    "ndcg": {"metric": "ndcg(gain=exp-int32)", "grades": _cut_off},
    "ndcg.bare": {
        "metric": "ndcg(gain=exp-int32)", "grades": _cut_off, "uncut": {"cutoff": 10},
        "note": "no cutoff means 10",
    },
    "dcg": {"metric": "dcg(gain=exp-int32)", "grades": _cut_off},
    "map": {"metric": "map(above=0)", "grades": FRACTIONS_FROM_0, "note": "whole list, whatever k"},
    "P": {
        "metric": "P(above=0,denominator=list)", "grades": FRACTIONS_FROM_0, "uncut": WHOLE_LIST,
    },
    "rr": {
        "metric": "recip_rank(above=0)", "grades": FRACTIONS_FROM_0, "uncut": {"metric": ""},
        "single": True,
        "note": "without a cutoff k is 0, and every value 0: not offered",
    },
    "rr.bare": {
        "metric": "", "grades": FRACTIONS_FROM_0, "note": "k is 0, and every value 0: not offered",
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
COLUMNS |= columns("quickrank", _quickrank, {
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
COLUMNS |= columns("lightgbm", _lightgbm, {
    "ndcg": {"metric": "ndcg(gain=exp)"},
    "ndcg.linear_gain": {"metric": "ndcg"},
    "map": {
        "metric": "map(above=0.5,denominator=list)", "grades": ANY,
        "note": "E03, E04: a query whose only grade is 0.5 is empty",
    },
})  # fmt: skip
_xgboost = Column("", scores="float32", empty="one", uncut=HIDDEN_32, note="no cutoff means 32")
_upto_31 = {"low": 0, "high": 31}
COLUMNS |= columns("xgboost", _xgboost, {
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
COLUMNS |= columns("catboost", _catboost, {
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
        "metric": "err(beyond=keep)", "but": NO_NEGATIVE, "single": True,
        "note": _as_probability,
    },
    "err.rawlabel": {
        "metric": "err(stop=linear,max_grade=1,beyond=keep)", "but": NO_NEGATIVE,
        "note": "the grade is taken for a probability: nonsense above 1",
    },
    "pfound.p16": {
        "metric": "pfound(beyond=keep)", "but": NO_NEGATIVE, "single": True,
        "note": _as_probability,
    },
    "queryauc_ranking": {
        "metric": "opa", "undefined": "zero", "note": "0 where no two grades differ",
        "but": {"E01": "-1 is a grade like any other", "E02": "-1 is a grade like any other"},
    },
})  # fmt: skip

COLUMNS |= OF_PYTHON_LIBRARIES
