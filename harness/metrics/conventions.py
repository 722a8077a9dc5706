"""Settings of each tool, as data, which reproduce its numbers.

The versions are those of the comparisons. Settings of a single metric are next to the
metric; ``cutoff`` is the meaning of its bare name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.policy import GradeRule
from ..core.settings import CONVENTIONS, NEEDED, WHOLE_LIST, Convention

Own = Mapping[str, Any]

_WHOLE = GradeRule()
_FROM_0 = GradeRule(low=0)
_ANY = GradeRule(whole=False)
_CUT_OFF = GradeRule(truncate=True)
_BINARY = GradeRule(low=0, high=1)
_NAMES = (
    "num_q num_ret num_rel num_rel_ret num_nonrel_judged_ret map gm_map infAP bpref gm_bpref "
    "Rprec Rprec_mult recip_rank iprec_at_recall 11pt_avg P recall relative_P success ndcg "
    "ndcg_rel Rndcg G binG set_P set_relative_P set_recall set_map set_F utility"
)
_TREC: dict[str, Own] = {name: {} for name in _NAMES.split(" ")}
_ROUNDED_IN_10 = ("iprec_at_recall", "11pt_avg")
_LETOR: Own = {"gain": "letor", "discount": "jarvelin"}
_MSLR: Own = {"gain": "mslr", "discount": "jarvelin"}
_SIGNED: Own = {"negative": "value"}
_SIGNED_EXP: Own = {"gain": "exp", "negative": "value"}
_LIST: Own = {"denominator": "list"}
_UP_TO_31 = GradeRule(low=0, high=31)
_XGBOOST_LINEAR: Own = {"negative": "value", "grades": _ANY}
_XGBOOST_MAP: Own = {"denominator": "cutoff", "grades": _BINARY}
_POSITIVE = GradeRule(low=0, high=1, positive_scores=True)
_RELEVANT = GradeRule(relevant_from=1)
_BEIR: Own = {"ties": "trec_eval", "scores": "float32", "cutoff": (1, 3, 5, 10, 100, 1000)}
_BEIR_OWN: Own = {**_BEIR, "ties": "stable", "scores": "float64"}
_MTEB: Own = {"cutoff": (1, 3, 5, 10, 20, 100, 1000)}
_RANK_EVAL_COMMON: Own = {"ties": "stable", "scores": "float32"}
_RANK_EVAL: dict[str, Own] = {
    "dcg": {**_SIGNED_EXP, "cutoff": 10},
    "ndcg": {**_SIGNED_EXP, "ideal": "list", "cutoff": 10},
    "P": {**_LIST, "cutoff": 10},
    "recall": {"cutoff": 10},
    "recip_rank": {"cutoff": 10},
    "err": {"grades": _FROM_0, "cutoff": 10},
}
_RANK_EVAL_SOURCE = (
    "rankeval/DiscountedCumulativeGain.java, PrecisionAtK.java, ExpectedReciprocalRank.java"
)
_RANK_EVAL_NOTE = (
    "Hits come ranked from the engine, so keep their order in the file. The ideal ranking of nDCG "
    "ends at the number of hits. maximum_relevance is err(max_grade=...), "
    "relevant_rating_threshold is rel, ignore_unlabeled is judged_only=true."
)
_FROM_GRADE_1: Own = {"floor": 1.0}
_AS_TREC: Own = {}
_AT_10: Own = {"cutoff": 10}
_AT_1_TO_10: Own = {"cutoff": (1, 3, 5, 10)}
_CATBOOST: dict[str, Own] = {
    "map": {"above": 0.5, "denominator": "list"},
    "recip_rank": {"above": 0.5},
    "P": {"above": 0.5, "denominator": "list"},
    "recall": {"grades": _WHOLE, "empty": "one"},
    "err": {"stop": "linear", "max_grade": 1, "beyond": "keep"},
    "pfound": {"stop": "linear", "max_grade": 1, "beyond": "keep"},
    "opa": {"undefined": "zero"},
}
_CATBOOST_COMMON: Own = {"ties": "worst", "scores": "float64", "grades": _ANY}

_ALL = (
    Convention(
        "trec_eval9",
        "trec_eval 9.0.7",
        "form_res_rels.c (float scores, docno descending), m_ndcg_cut.c, m_map_cut.c",
        {"ties": "trec_eval", "scores": "float32", "grades": _CUT_OFF},
        _TREC,
        "This is the default, also of pytrec_eval and ir_measures. A grade below 0 is unjudged. "
        "The tags v9.0.7 and v9.0.8 of the source both print 9.0.7; only the tag trec_eval-9.0.8 "
        "compares double precision (trec_eval9.0.8). The policy missing_queries decides on queries "
        "that the run does not answer.",
    ),
    Convention(
        "trec_eval9.0.8",
        "trec_eval 9.0.8",
        "form_res_rels.c:35 (double scores, docno descending)",
        {"ties": "trec_eval", "scores": "float64", "grades": _CUT_OFF},
        _TREC,
        "This is the tag trec_eval-9.0.8 of 2023. It differs from trec_eval9 only in the type of "
        "scores.",
    ),
    Convention(
        "trec_eval10",
        "trec_eval 10.0",
        "form_res_rels.c (double scores, docno descending), m_ndcg_cut.c, m_rbp.c",
        {"ties": "trec_eval", "scores": "float64", "grades": _CUT_OFF},
        {
            **{name: settings for name, settings in _TREC.items() if name not in _ROUNDED_IN_10},
            "dcg": {},
            "rbp": {"p": 0.9, "gain": "linear", "max_grade": None},
        },
        "It exits if a query is missing from the run, unless -c is given. It rounds levels of "
        "recall, so iprec_at_recall and 11pt_avg differ: harness trec_eval --as 10 computes them.",
    ),
    Convention(
        "gdeval",
        "gdeval.pl 1.3",
        "gdeval.pl:96-99,167,182,310-334",
        {"ties": "trec_eval", "scores": "float64", "empty": "nan", "grades": GradeRule(high=4)},
        {"ndcg": {"gain": "exp", "cutoff": 20}, "err": {"max_grade": 4, "cutoff": 20}},
        "It prints 5 decimals. It leaves out a query without a judgement above 0; ir_measures "
        "counts it 0 (empty=zero).",
    ),
    Convention(
        "letor",
        "Eval-Score-4.0.pl (LETOR 3.0 and 4.0)",
        "Eval-Score-4.0.pl:147,160,307-313,326",
        {"ties": "stable", "scores": "float64", "grades": _FROM_0},
        {
            "ndcg": {**_LETOR, "short": "zero", "cutoff": NEEDED},
            "mean_ndcg": _LETOR,
            "P": {"top": 2, "cutoff": NEEDED},
            "map": {"top": 2, "cutoff": WHOLE_LIST},
        },
        "It prints 4 decimals. Grades 3 and 4 are not relevant and gain nothing. Eval-Score-3.0.pl "
        "prints nothing for a list shorter than k and counts it 0 in the mean "
        "(short=nan,undefined=zero).",
        cite=("qin2010",),
    ),
    Convention(
        "mslr",
        "eval-score-mslr.pl (2010-06-12)",
        "eval-score-mslr.pl:15-19,148,161,296-302,315",
        {"ties": "stable", "scores": "float64", "grades": _FROM_0},
        {
            "ndcg": {**_MSLR, "short": "zero", "cutoff": NEEDED},
            "mean_ndcg": _MSLR,
            "P": {"rel": 2, "top": 4, "cutoff": NEEDED},
            "map": {"rel": 2, "top": 4, "cutoff": WHOLE_LIST},
        },
        "It prints 4 decimals. Grade 1 is not relevant for P and MAP.",
    ),
    Convention(
        "ranklib",
        "RankLib 2.10.2 (codelibs)",
        "DCGScorer.java:26-71, NDCGScorer.java:103-174, APScorer.java:75-99, Ranker.java:88-95",
        {"ties": "stable", "scores": "float32"},
        {
            "ndcg": {"gain": "exp-int32", "grades": GradeRule(low=0, truncate=True), "cutoff": 10},
            "dcg": {"gain": "exp-int32", "grades": GradeRule(low=0, truncate=True), "cutoff": 10},
            "map": {"above": 0.0, "grades": GradeRule(low=0, whole=False), "cutoff": WHOLE_LIST},
            "P": {"above": 0.0, "denominator": "list", "grades": GradeRule(low=0, whole=False)},
            "recip_rank": {"above": 0.0, "grades": GradeRule(low=0, whole=False)},
            "err": {"beyond": "keep", "grades": GradeRule(low=0, truncate=True), "cutoff": 10},
        },
        "MAP uses the whole list, and ignores a cutoff. RR without a cutoff prints 0 for every "
        "query; recip_rank uses the whole list instead.",
    ),
    Convention(
        "quickrank",
        "QuickRank (master, 2018)",
        "dcg.cc:33-57, ndcg.cc:49-58, map.cc:33-45, queryresults.cc:47-53",
        {"ties": "stable", "scores": "float64", "grades": _ANY},
        {
            "ndcg": {**_SIGNED_EXP, "grades": _WHOLE},
            "dcg": _SIGNED_EXP,
            "map": {"above": 0.0, "denominator": "hits", "scores": "none"},
        },
        "MAP ignores the scores and uses the order of the file. TNDCG is ties=average,spill=true. "
        "The order of more than 16 tied documents depends on the library. nDCG sorts the ideal "
        "ranking by whole grades, so fractions are an error.",
    ),
    Convention(
        "lightgbm",
        "LightGBM 4.7.0",
        "dcg_calculator.cpp:17-170, rank_metric.hpp:63-123, map_metric.hpp:64-102",
        {"ties": "stable", "scores": "float64", "empty": "one"},
        {
            "ndcg": {"gain": "exp", "grades": GradeRule(low=0, high=30), "cutoff": (1, 2, 3, 4, 5)},
            "map": {"above": 0.5, "denominator": "list", "grades": _ANY, "cutoff": (1, 2, 3, 4, 5)},
        },
        "If you set label_gain=0,1,2,3,4, add gain=linear.",
        cite=("ke2017",),
    ),
    Convention(
        "xgboost",
        "XGBoost 3.2.0",
        "ranking_utils.h:42-127,359-375, rank_metric.cc:278-439",
        {"ties": "stable", "scores": "float32", "empty": "one"},
        {
            "ndcg": {"gain": "exp", "grades": _UP_TO_31, "cutoff": 32},
            "map": {**_XGBOOST_MAP, "cutoff": 32},
            "P": {**_LIST, "grades": _BINARY, "empty": "zero", "cutoff": 32},
        },
        "The default cutoff is 32. For ndcg_exp_gain=False, add gain=linear; it accepts any grade.",
        {"ndcg(gain=linear)": _XGBOOST_LINEAR},
        cite=("chen2016",),
    ),
    Convention(
        "xgboost-minus",
        "XGBoost 3.2.0, metrics written with a minus (ndcg@10-)",
        "ranking_utils.cc:95-109, rank_metric.cc:344",
        {"ties": "stable", "scores": "float32", "empty": "zero"},
        {
            "ndcg": {"gain": "exp", "grades": _UP_TO_31, "cutoff": 32},
            "map": {**_XGBOOST_MAP, "cutoff": 32},
            "P": {**_LIST, "grades": _BINARY, "cutoff": 32},
        },
        "Like xgboost, but a query without relevant documents counts 0.",
        {"ndcg(gain=linear)": _XGBOOST_LINEAR},
        cite=("chen2016",),
    ),
    Convention(
        "catboost",
        "CatBoost 1.2.10",
        "dcg.cpp:19-104, precision_recall_at_k.cpp, metric.cpp (CalcQueryERR), doc_comparator.h",
        _CATBOOST_COMMON,
        {"ndcg": {**_SIGNED, "empty": "one"}, "dcg": _SIGNED, **_CATBOOST},
        "ERR and PFound use the grade as a probability, which is meaningless for grades above 1. "
        "Map such grades to (2^g - 1) / 2^max first (stop=exp,max_grade=4).",
        cite=("prokhorenkova2018",),
    ),
    Convention(
        "catboost-exp",
        "CatBoost 1.2.10 with type=Exp",
        "dcg.cpp:69-104, metric.cpp (TDcgMetric)",
        _CATBOOST_COMMON,
        {"ndcg": {**_SIGNED_EXP, "empty": "one"}, "dcg": _SIGNED_EXP, **_CATBOOST},
        "NDCG and DCG have type=Exp; the others are those of catboost. denominator=Position is "
        "discount=position.",
        cite=("prokhorenkova2018",),
    ),
    Convention(
        "sklearn",
        "scikit-learn 1.9.1",
        "metrics/_ranking.py:1698-1759,1944,2058-2063",
        {"ties": "average", "scores": "float64"},
        {
            "ndcg": {"grades": GradeRule(low=0, whole=False, documents=2)},
            "dcg": {**_SIGNED, "grades": GradeRule(whole=False, documents=2)},
            "map": {"ties": "stable", "tied": "together", "grades": _BINARY, "cutoff": WHOLE_LIST},
        },
        "It has no mean over lists of different lengths. The order of ties with ignore_ties=True "
        "depends on the processor, so no setting reproduces it.",
        cite=("pedregosa2011",),
    ),
    Convention(
        "torchmetrics",
        "torchmetrics 1.9.0",
        "functional/retrieval/ndcg.py:22-111, average_precision.py:55-62, retrieval/base.py",
        {"ties": "stable", "scores": "float32", "grades": _POSITIVE},
        {
            "ndcg": {**_SIGNED, "ties": "average", "grades": _ANY},
            "map": {"denominator": "hits"},
            "recip_rank": {},
            "P": {},
            "success": {"grades": _BINARY},
        },
        "Except for nDCG and the hit rate (success), a document with a score of 0 or below counts "
        "as not relevant, and torch.topk orders ties; the harness uses the order of the input. Its "
        "recall still divides by all relevant documents; no setting reproduces that.",
        cite=("detlefsen2022",),
    ),
    Convention(
        "ranx",
        "ranx 0.3.21",
        "metrics/ndcg.py:19-65, average_precision.py:42, data_structures/common.py:55-85",
        {"ties": "stable", "scores": "float64", "grades": _CUT_OFF},
        {
            **dict.fromkeys(("ndcg", "dcg"), _FROM_GRADE_1),
            **dict.fromkeys(
                ("map", "recip_rank", "P", "recall", "success", "hits", "f1"), _AS_TREC
            ),
        },
        "ndcg_burges is gain=exp. With dicts in place of Qrels and Run it reverses the order of "
        "ties (ties=reverse). The order of more than 15 tied documents depends on the library.",
        cite=("bassani2022",),
    ),
    Convention(
        "tfr",
        "TensorFlow Ranking 0.5.5",
        "metrics_impl.py:31-119,258-265,530-536,620-670, utils.py:140-164",
        {"ties": "average", "scores": "float32", "grades": _ANY, "judged_only": True},
        {
            "ndcg": {"gain": "exp"},
            "dcg": {"gain": "exp"},
            "map": {},
            "recip_rank": {},
            "P": _LIST,
            "arp": {"over": "grades", "undefined": "zero"},
            "opa": {"tied": "wrong", "over": "pairs", "undefined": "zero"},
        },
        "It breaks ties at random in each call; the harness computes the expected value. Grades "
        "below 0 are padding. ARP and OPA weight queries by their grades and pairs.",
        cite=("pasumarthi2019",),
    ),
    Convention(
        "rankeval",
        "RankEval 0.8.2",
        "dcg.py:87-98, ndcg.py:21,131-134, map.py:96-112, err.py:88, metric.py:65-70",
        {"ties": "reverse", "scores": "float32", "grades": _ANY},
        {
            "ndcg": {**_SIGNED_EXP, "empty": "one"},
            "dcg": _SIGNED_EXP,
            "map": {"above": 0.0, "denominator": "list", "none_found": 1, "empty": "one"},
            "recip_rank": {},
            "err": {"max_grade": None},
            "P": _LIST,
            "pfound": {"decay": 0.15, "max_grade": None},
            "rbp": {"p": 0.5},
        },
        "Its order of ties (numpy's argsort, reversed) depends on the processor. The harness "
        "reverses the order of the input, as a stable sort would.",
        cite=("lucchese2017",),
    ),
    Convention(
        "allrank",
        "allRank 1.4.3",
        "models/metrics.py:7-108",
        {"ties": "stable", "scores": "float32", "grades": _ANY, "judged_only": True},
        {
            "ndcg": {"gain": "exp", "empty": "one"},
            "dcg": {"gain": "exp"},
            "recip_rank": {"target": "largest", "empty": "one"},
        },
        "Its MRR uses the rank of the largest grade, not of the first relevant document. A list of "
        "zeros has 1 in a batch with other lists, and 0 alone. The order of more than 16 padded "
        "entries depends on the library.",
    ),
    Convention(
        "ptranking",
        "ptranking 0.0.5 (the functions *_at_ks)",
        "metric/adhoc_metric.py:88-89,213-264",
        {"ties": "stable", "scores": "float32", "grades": _ANY, "empty": "nan", "undefined": "nan"},
        {
            "ndcg": {**_SIGNED_EXP, "short": "zero"},
            "map": {"denominator": "grades", "short": "zero", "grades": _WHOLE},
            "nerr": {"max_grade": None, "short": "zero"},
            "P": {"short": "zero", "empty": "zero", "undefined": "skip", "grades": _WHOLE},
        },
        "A query without relevant documents makes the mean NaN. The *_at_k functions leave out "
        "lists shorter than k (short=nan). MAP and P count a fraction as part of a relevant "
        "document, so fractions are an error.",
    ),
    Convention(
        "pytorchltr",
        "PyTorchLTR 0.2.1",
        "evaluation/dcg.py:36-99, evaluation/arp.py:32-42",
        {"ties": "average", "scores": "float32", "grades": _CUT_OFF},
        {
            "ndcg": _SIGNED_EXP,
            "dcg": _SIGNED_EXP,
            "arp": {**_SIGNED, "undefined": "zero", "empty": "zero"},
        },
        "It breaks ties at random in each call; the harness computes the expected value. exp=False "
        "is gain=linear. ARP is 0 if the grades sum to 0.",
    ),
    Convention(
        "beir",
        "BEIR 2.2.0",
        "retrieval/evaluation.py (EvaluateRetrieval.evaluate), retrieval/custom_metrics.py",
        {"drop_identical_ids": True},
        {
            **dict.fromkeys(("ndcg", "map", "recall", "P"), _BEIR),
            **dict.fromkeys(("recip_rank", "relative_P", "success"), _BEIR_OWN),
        },
        "It drops documents with the qid as docno (ignore_identical_ids), then calls pytrec_eval. "
        "Its R_cap is relative_P here, its Accuracy is success. It prints 5 decimals. Means of "
        "MRR, R_cap and Accuracy are over all queries, other means over those of the run.",
        cite=("thakur2021",),
    ),
    Convention(
        "mteb",
        "MTEB 2.26.24",
        "_evaluators/retrieval_evaluator.py, _evaluators/retrieval_metrics.py",
        {"drop_identical_ids": True, "ties": "trec_eval", "scores": "float32"},
        {
            **dict.fromkeys(("ndcg", "map", "recall", "P", "success"), _MTEB),
            "recip_rank": {"ties": "trec_eval10", "scores": "float64", **_MTEB},
        },
        "Its hit_rate is success here. Tasks with ignore_identical_ids, such as ArguAna, FiQA, "
        "Quora and MS MARCO, drop documents with the qid as docno; write drop_identical_ids=false "
        "for the others.",
        cite=("muennighoff2023",),
    ),
    Convention(
        "sentence-transformers",
        "Sentence Transformers 6.2.0 (InformationRetrievalEvaluator)",
        "sentence_transformer/evaluation/information_retrieval.py (compute_metrics)",
        {"ties": "docno+", "scores": "float32", "grades": _RELEVANT, "empty": "nan"},
        {
            **dict.fromkeys(("success", "P", "recall"), _AT_1_TO_10),
            **dict.fromkeys(("recip_rank", "ndcg"), _AT_10),
            "map": {"denominator": "cutoff", "cutoff": 100},
        },
        "Every relevant grade is 1. Its accuracy is success here. It keeps documents with the qid "
        "as docno, and leaves out queries without relevant documents. No setting reproduces the "
        "order of ties of older versions, which use a heap.",
        cite=("reimers2019",),
    ),
    *(
        Convention(
            tool.lower(),
            f"{tool} (modules/rank-eval)",
            _RANK_EVAL_SOURCE,
            _RANK_EVAL_COMMON,
            _RANK_EVAL,
            _RANK_EVAL_NOTE,
        )
        for tool in ("Elasticsearch", "OpenSearch")
    ),
    Convention(
        "recbole",
        "RecBole 1.2.1",
        "evaluator/metrics.py, evaluator/base_metric.py (TopkMetric)",
        {"ties": "stable", "scores": "float32", "grades": _RELEVANT, "empty": "nan"},
        {
            "success": _AT_10,
            "recip_rank": _AT_10,
            "map": {"denominator": "cutoff", "cutoff": 10},
            **dict.fromkeys(("recall", "ndcg", "P"), _AT_10),
        },
        "Every relevant grade is 1. Its Hit is success here. It prints 4 decimals, and leaves out "
        "users without test items. torch.topk orders its ties; the harness uses the order of the "
        "input.",
    ),
)


def _with_levels(convention: Convention) -> Convention:
    """Replace the threshold of the tool by the level in a name."""
    levels = {
        f"{metric}(rel)": {"above": None}
        for metric, settings in convention.metrics.items()
        if "above" in settings
    }
    return replace(convention, variants={**levels, **convention.variants})


CONVENTIONS |= {convention.name: _with_levels(convention) for convention in _ALL}
