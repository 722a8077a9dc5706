"""Names that are no metric's own: trec_eval's for several metrics, and those of other tools."""

from __future__ import annotations

from ..core.metric import TREC_CUT
from ..core.names import NICKNAMES, READERS_NAMES, READERS_PARAMETERS
from ..core.tool_names import CUTOFF_NAMES, TOOL_NAMES, ToolName

_OFFICIAL = "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank"
_OFFICIAL += " iprec_at_recall P"
_SET = "runid num_q num_ret num_rel num_rel_ret utility set_P set_relative_P set_recall set_map"
_SET += " set_F"
_ALL = _OFFICIAL + " relstring recall infAP gm_bpref Rprec_mult utility 11pt_avg binG G ndcg"
_ALL += " ndcg_rel Rndcg ndcg_cut map_cut relative_P success set_P set_relative_P set_recall"
_ALL += " set_map set_F num_nonrel_judged_ret"

TREC_CUT |= {"ndcg_cut": "ndcg", "map_cut": "map"}
NICKNAMES |= {
    "official": tuple(_OFFICIAL.split()),
    "set": tuple(_SET.split()),
    "all_trec": tuple(_ALL.split()),
}

READERS_NAMES |= {
    "11pt_avg": "11-pt AP", "P": "P", "Rndcg": "R-nDCG", "Rprec": "R-prec", "Rprec_mult": "R-prec",
    "ao": "AO", "auc": "AUC", "f1": "F1", "first_rank": "First rank", "gm_bpref": "GM bpref",
    "hits": "Hits", "iprec_at_recall": "iPrec", "judged": "Judged", "kendall": "Kendall’s τ",
    "mean_ndcg": "Mean nDCG", "median_first_rank": "Median first rank", "mse": "MSE",
    "ndcg_rel": "nDCG-rel", "nerr": "nERR", "num_nonrel_judged_ret": "Judged non-relevant",
    "num_q": "Queries", "num_rel": "Relevant", "num_rel_ret": "Relevant retrieved",
    "num_ret": "Retrieved", "opa": "OPA", "pairwise_logloss": "Pairwise log loss",
    "pearson": "Pearson’s r", "recall": "R", "relative_P": "Relative P", "relstring": "Grades",
    "runid": "Run tag", "set_F": "Set F", "set_P": "Set P", "set_map": "Set MAP",
    "set_recall": "Set R", "set_relative_P": "Set relative P", "spearman": "Spearman’s ρ",
    "success": "Success", "swaps": "Swaps", "tau_ap": "τ-AP", "unjudged": "Unjudged",
    "utility": "Utility", "yaap": "yaAP",
}  # fmt: skip
READERS_PARAMETERS |= {"gain": "", "normalize": "normalised"}


def _same(tools: str, name: str, ours: str, note: str = "", **parameters: str) -> ToolName:
    """Return the row of a name that means one metric."""
    return ToolName(tools, name, {ours: ""}, note, parameters)


def _read_as_ours(tools: str, name: str, ours: str, note: str = "") -> ToolName:
    """Return the row of a name that is read as our metric of that name, which is another."""
    return ToolName(tools, name, {ours: ""}, note, listed_only=True)


def _several(tools: str, name: str, ours: dict[str, str]) -> ToolName:
    """Return the row of a name that means several metrics."""
    return ToolName(tools, name, ours)


def _none(tools: str, names: str, note: str) -> list[ToolName]:
    """Return the rows of names that have no counterpart."""
    return [ToolName(tools, name, {}, note) for name in names.split()]


_GAIN = {"dcg=exp-log2": "gain=exp", "dcg=log2": ""}
_SCALED = {"T": "t", "max_rel": "max_grade", "min_rel=0": ""}
_SEARCH = {
    "relevant_rating_threshold": "rel",
    "ignore_unlabeled=true": "judged_only=true",
    "ignore_unlabeled=false": "",
}
_ADAPTIVE = {"adaptive_k=true": "denominator=list", "adaptive_k=false": ""}
_HINTS = {"hints": "", "use_weights": ""}
_TYPED = {
    **_HINTS,
    "type=Base": "",
    "type=Exp": "gain=exp",
    "denominator=LogPosition": "",
    "denominator=Position": "discount=position",
}
_BORDER = {**_HINTS, "border": "above"}
_OBJECTIVE = "a training objective, not a metric; write ndcg(gain=exp)@10"
_NOT_HERE = "not available"

_HIT_RATE = [
    _same("sentence-transformers, papers", "accuracy@k", "success@k"),
    _several(
        "BEIR, ir_measures",
        "Accuracy@k",
        {
            "success@k": "whether there is a relevant document, as in BEIR",
            "auc(depth=k)": "the share of pairs in order, near that of ir_measures",
        },
    ),
    _same("RecBole, papers", "hit@k", "success@k"),
    _same("ranx, torchmetrics, MTEB", "hit_rate@k", "success@k"),
    _same("papers", "hit_ratio@k", "success@k"),
    _same("papers", "hr@k", "success@k"),
    *(
        _several(
            "PyKEEN, TF-Ranking, ranx",
            name,
            {
                "success@k": "whether there is one, as in PyKEEN and TF-Ranking",
                "hits@k": "how many there are, as in ranx",
            },
        )
        for name in ("Hits@k", "hits_at_k")
    ),
    _read_as_ours(
        "PyKEEN, TF-Ranking", "hits@k", "success@k", "hits@k is the count here, as in ranx"
    ),
    _same("scikit-learn", "top_k_accuracy_score", "success@k"),
]
_PAPERS = [
    *(
        _several(
            "ranx, papers",
            name,
            {
                f"{ours}@10": "of the first 10 documents",
                f"set_{ours}": "of all retrieved documents",
            },
        )
        for name, ours in (("precision", "P"), ("Precision", "P"), ("Recall", "recall"))
    ),
    _same("papers", "prec@k", "P@k"),
    _same("ranx, papers", "r-precision", "Rprec"),
    _same("papers", "R-prec", "Rprec"),
    _same("papers", "average_precision", "map"),
    _same("LightGBM, papers", "mean_average_precision", "map"),
    *(
        _several(
            "LightGBM, papers",
            name,
            {
                "map@k": "divided by the relevant documents, as in trec_eval",
                "map(denominator=cutoff)@k": "divided by k if that is smaller",
            },
        )
        for name in ("average_precision@k", "mean_average_precision@k")
    ),
    _same("PyKEEN, papers", "mean_rank", "first_rank"),
    _same("PyKEEN, papers", "median_rank", "median_first_rank"),
]
_BEIR = [
    _same("BEIR", "R_cap@k", "relative_P@k"),
    _same("BEIR", "recall_cap@k", "relative_P@k"),
    _same(
        "BEIR",
        "hole@k",
        "unjudged@k",
        "BEIR takes a document as judged if any query's judges saw it",
    ),
    *(
        _same("MTEB", f"{name}_at_k", f"{ours}@k")
        for name, ours in {
            "ndcg": "ndcg",
            "map": "map",
            "mrr": "recip_rank",
            "recall": "recall",
            "precision": "P",
            "hit_rate": "success",
            "accuracy": "success",
        }.items()
    ),
    *_none(
        "MTEB",
        "nauc_ndcg_at_k nauc_map_at_k nauc_mrr_at_k nauc_recall_at_k nauc_precision_at_k",
        _NOT_HERE,
    ),
    *(
        _same("sentence-transformers", f"cosine_{name}@k", f"{ours}@k")
        for name, ours in {
            "accuracy": "success",
            "precision": "P",
            "recall": "recall",
            "mrr": "recip_rank",
            "ndcg": "ndcg",
            "map": "map(denominator=cutoff)",
        }.items()
    ),
]
_RANX = [
    _same("ranx", "ndcg_burges", "ndcg(gain=exp)"),
    _same("ranx", "ndcg_burges@k", "ndcg(gain=exp)@k"),
    _same("ranx", "dcg_burges", "dcg(gain=exp)"),
    _same("ranx", "dcg_burges@k", "dcg(gain=exp)@k"),
    _same("ranx", "rbp.k", "rbp(p=0.k)"),
    _read_as_ours("ranx", "map@k-l2", "map(rel=2)@k", "any metric of ranx; -l2 is rel=2"),
]
_IR_MEASURES = [
    ToolName("ir_measures", f"{name}(dcg)", {"ndcg[@k]": ""}, "dcg=exp-log2 is gain=exp", _GAIN)
    for name in ("nDCG", "NDCG")
]
_IR_MEASURES += [
    _same("ir_measures, cwl_eval", "INST", "inst(gain=linear)@1000", **_SCALED),
    _same("ir_measures, cwl_eval", "INSQ", "insq(gain=linear)@1000", **_SCALED),
    *_none("ir_measures", "Compat", f"{_NOT_HERE}; use rbo(p=0.95), which is near"),
    *_none("ir_measures", "alpha_DCG", f"{_NOT_HERE}; use alpha_ndcg@10, its normalised form"),
    *_none(
        "ir_measures",
        "BPM SDCG NERR8 NERR9 NERR10 NERR11 AP_IA P_IA StRecall NRBP nNRBP nERR_IA",
        _NOT_HERE,
    ),
]
_BOOSTING = [
    _several(
        "XGBoost",
        "ndcg@k-",
        {
            "ndcg(gain=exp,empty=zero)@k": "with XGBoost's usual gain",
            "ndcg(empty=zero)@k": "with ndcg_exp_gain=False",
        },
    ),
    _same("XGBoost", "map@k-", "map(denominator=cutoff,empty=zero)@k"),
    _same("XGBoost", "pre@k", "P(denominator=list)@k"),
    _same("XGBoost", "pre@k-", "P(denominator=list,empty=zero)@k"),
    _read_as_ours("LightGBM, XGBoost", "ndcg@k", "ndcg(gain=exp)@k"),
    _read_as_ours("LightGBM", "map@k", "map(denominator=list)@k"),
    _read_as_ours("XGBoost", "map@k", "map(denominator=cutoff)@k"),
    *_none("XGBoost", "rank:ndcg rank:map rank:pairwise", _OBJECTIVE),
    *_none("LightGBM", "lambdarank rank_xendcg xendcg xe_ndcg xe_ndcg_mart", _OBJECTIVE),
    _same("CatBoost", "NDCG:top=k", "ndcg[@k]", "type=Exp is gain=exp", **_TYPED),
    _same("CatBoost", "DCG:top=k", "dcg[@k]", "type=Exp is gain=exp", **_TYPED),
    _same("CatBoost", "MAP:top=k", "map(above=0.5,denominator=list)[@k]", **_BORDER),
    _same("CatBoost", "MRR:top=k", "recip_rank(above=0.5)[@k]", **_BORDER),
    _same("CatBoost", "PrecisionAt:top=k", "P(above=0.5,denominator=list)@k", **_BORDER),
    _same("CatBoost", "RecallAt:top=k", "recall@k", **_HINTS),
    _same("CatBoost", "ERR:top=k", "err(stop=linear,max_grade=1,beyond=keep)[@k]", **_HINTS),
    _same("CatBoost", "PFound:top=k", "pfound(stop=linear,max_grade=1,beyond=keep)[@k]", **_HINTS),
    _same("CatBoost", "QueryAUC", "auc", "of grades 0 and 1", **{**_HINTS, "type=Classic": ""}),
    _same("CatBoost", "QueryAUC:type=Ranking", "opa", **{**_HINTS, "type=Ranking": ""}),
    *_none("CatBoost", "AverageGain QueryAverage FilteredDCG", _NOT_HERE),
    *_none("CatBoost", "PairAccuracy", "accuracy on pairs that you give; use opa, on all pairs"),
    *_none(
        "CatBoost",
        "YetiRank YetiRankPairwise StochasticRank LambdaMart PairLogit QueryRMSE QuerySoftMax",
        _OBJECTIVE,
    ),
    *(
        _read_as_ours("RankLib", name, ours)
        for name, ours in {
            "NDCG@k": "ndcg(gain=exp)@k",
            "DCG@k": "dcg(gain=exp)@k",
            "ERR@k": "err@k",
            "P@k": "P@k",
            "RR@k": "recip_rank@k",
            "MAP": "map",
        }.items()
    ),
]
_SCIKIT_LEARN = [
    _same("scikit-learn", "ndcg_score", "ndcg[@k]"),
    _same("scikit-learn", "dcg_score", "dcg[@k]"),
    _same("scikit-learn", "average_precision_score", "map(tied=together)"),
    _same(
        "scikit-learn",
        "label_ranking_average_precision_score",
        "map(tied=together,empty=one)",
    ),
    *_none(
        "scikit-learn",
        "label_ranking_loss",
        f"{_NOT_HERE}; use opa(tied=wrong), which is 1 minus it",
    ),
    *_none("scikit-learn", "coverage_error", _NOT_HERE),
    *_none(
        "scikit-learn",
        "roc_auc_score",
        "pooled over all queries; use auc, which is per query",
    ),
]
_TORCHMETRICS = [
    *(
        _same("torchmetrics", name, ours, **_ADAPTIVE)
        for name, ours in {
            "RetrievalNormalizedDCG": "ndcg[@k]",
            "RetrievalMAP": "map(denominator=hits)[@k]",
            "retrieval_average_precision": "map(denominator=hits)[@k]",
            "RetrievalMRR": "recip_rank[@k]",
            "retrieval_reciprocal_rank": "recip_rank[@k]",
            "RetrievalPrecision": "set_P",
            "RetrievalPrecision(top_k=k)": "P@k",
            "RetrievalRecall": "set_recall",
            "RetrievalRecall(top_k=k)": "recall@k",
            "RetrievalHitRate": "success@k",
            "RetrievalRPrecision": "Rprec",
            "RetrievalAUROC": "auc",
        }.items()
    ),
    *_none(
        "torchmetrics",
        "RetrievalFallOut RetrievalPrecisionRecallCurve RetrievalRecallAtFixedPrecision",
        _NOT_HERE,
    ),
]
_TF_RANKING = [
    row
    for key, metric, ours in (
        ("ndcg", "NDCGMetric", "ndcg(gain=exp)[@k]"),
        ("dcg", "DCGMetric", "dcg(gain=exp)[@k]"),
        ("mrr", "MRRMetric", "recip_rank[@k]"),
        ("map", "MeanAveragePrecisionMetric", "map[@k]"),
        ("precision", "PrecisionMetric", "P(denominator=list)@k"),
        ("recall", "RecallMetric", "recall@k"),
        ("hits", "HitsMetric", "success@k"),
        ("arp", "ARPMetric", "arp"),
        ("ordered_pair_accuracy", "OPAMetric", "opa(tied=wrong)"),
        ("bpref", "BPrefMetric", "bpref"),
    )
    for row in (
        _same("TF-Ranking", f"metric/{key}{'_k' * ('@k' in ours)}", ours),
        *([_same("TF-Ranking", f"metric/{key}", ours)] if "[" in ours else []),
        _same("TF-Ranking", metric, ours),
    )
]
_TF_RANKING += _none(
    "TF-Ranking", "AlphaDCGMetric", f"{_NOT_HERE}; use alpha_ndcg@10, its normalised form"
)
_ALLRANK = [
    _several("allRank, papers", f"{name}_k", {f"{ours}@k": theirs, f"{ours}({other})@k": words})
    for name, ours, theirs, other, words in (
        ("ndcg", "ndcg", "trec_eval's ndcg_cut_k", "gain=exp", "allRank's"),
        ("dcg", "dcg", "the grade as gain", "gain=exp", "allRank's"),
        ("mrr", "recip_rank", "of the first relevant document", "target=largest", "allRank's"),
    )
]
_SEARCH_ENGINES = [
    _same(tools, name, ours, **{**_SEARCH, **further})
    for tools in ("Elasticsearch, OpenSearch",)
    for name, ours, further in (
        ("dcg(normalize=true)", "ndcg(gain=exp,ideal=list)@k", {"normalize=true": ""}),
        ("dcg(normalize=false)", "dcg(gain=exp)@k", {"normalize=false": ""}),
        ("dcg(k=k)", "dcg(gain=exp)@k", {}),
        ("precision(k=k)", "P(denominator=list)@k", {}),
        ("recall(k=k)", "recall@k", {}),
        ("mean_reciprocal_rank", "recip_rank[@k]", {}),
        ("expected_reciprocal_rank", "err[@k]", {"maximum_relevance": "max_grade"}),
    )
]

CUTOFF_NAMES |= {"k", "top", "top_k", "topn"}
TOOL_NAMES += [
    *_HIT_RATE,
    *_PAPERS,
    *_BEIR,
    *_RANX,
    *_IR_MEASURES,
    *_BOOSTING,
    *_SCIKIT_LEARN,
    *_TORCHMETRICS,
    *_TF_RANKING,
    *_ALLRANK,
    *_SEARCH_ENGINES,
]
