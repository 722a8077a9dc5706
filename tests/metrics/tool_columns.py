"""Our name for each column of ../shared/golden/conventions.json, and what else to know of it."""

from dataclasses import dataclass, replace
from functools import cache

ALL = 100_000
"""A cutoff beyond every list."""


@dataclass(frozen=True)
class Name:
    """Our name for a column.

    Parameters
    ----------
    metric, convention, settings : str
        As in ``metric(convention=...,settings)@k``; no convention where there is none.
    uncut : str, optional
        The name where the tool is given no cutoff; the metric at `ALL` where left out,
        and none where the text is empty.
    """

    metric: str
    convention: str
    settings: str = ""
    uncut: str | None = None

    def at(self, cutoff: str) -> str:
        if cutoff == "none" and self.uncut is not None:
            return self.uncut
        inside = ",".join(filter(None, (f"convention={self.convention}", self.settings)))
        inside = inside if self.convention else self.settings
        return f"{self.metric}({inside})@{ALL if cutoff == 'none' else cutoff}"


def whole(metric: str, convention: str, settings: str = "") -> Name:
    """Bare name if the tool has no cutoff."""
    inside = ",".join(filter(None, (f"convention={convention}", settings)))
    return Name(metric, convention, settings, f"{metric}({inside})")


BY_TOOL = {
    "gdeval": "ndcg err", "ranklib": "ndcg dcg P err", "quickrank": "ndcg dcg map",
    "lightgbm": "ndcg map", "catboost": "map P", "sklearn": "ndcg dcg", "torchmetrics": "ndcg",
    "rankeval": "ndcg dcg map err P pfound rbp", "pytorchltr": "ndcg dcg", "allrank": "ndcg dcg",
    "tfr": "ndcg dcg map P",
}  # fmt: skip
"""Columns that are called as the metric is here, by tools that give their name to a convention."""
NAMES: dict[str, Name] = {
    f"{tool}.{metric}": Name(metric, tool)
    for tool, metrics in BY_TOOL.items() for metric in metrics.split()
} | {
    "pytrec_eval.recip_rank": whole("recip_rank", "trec_eval9"),
    "pytrec_eval.recip_rank.rel2": whole("recip_rank", "trec_eval9", "rel=2"),
    "ir_measures.ndcg": Name("ndcg", "trec_eval9"),
    "ir_measures.AP": Name("map", "trec_eval9"),
    "ir_measures.AP.rel2": Name("map", "trec_eval9", "rel=2"),
    "ir_measures.P": Name("P", "trec_eval9"),
    "ir_measures.ndcg_judged_only": Name("ndcg", "trec_eval9", "judged_only=true"),
    "ir_measures.RR": Name("recip_rank", "", "ties=docno+", "recip_rank(convention=trec_eval9)"),
    "ir_measures.RBP.rel1": Name("rbp", "", "", "rbp(p=0.8,ties=stable)"),
    "ir_measures.ndcg_exp": Name("ndcg", "gdeval", "empty=zero"),
    "ir_measures.ERR": Name("err", "gdeval", "empty=zero"),
    "letor3.ndcg": Name("ndcg", "letor", "short=nan,undefined=zero"),
    "letor3.P": Name("P", "letor", "short=nan,undefined=zero"),
    "ranklib.ndcg.bare": whole("ndcg", "ranklib"),
    "ranklib.map": whole("map", "ranklib"),
    "ranklib.rr": Name("recip_rank", "ranklib", "", ""),
    "quickrank.tndcg": Name("ndcg", "quickrank", "ties=average,spill=true"),
    "lightgbm.ndcg.linear_gain": Name("ndcg", "lightgbm", "gain=linear"),
    "xgboost.ndcg": whole("ndcg", "xgboost"),
    "xgboost.ndcg.k100000": Name("ndcg", "xgboost"),
    "xgboost.ndcg.linear_gain": whole("ndcg", "xgboost", "gain=linear"),
    "xgboost.ndcg.minus": Name("ndcg", "xgboost-minus"),
    "xgboost.map": whole("map", "xgboost"),
    "xgboost.map.bin1": whole("map", "xgboost", "labels=clip"),
    "xgboost.map.bin1.minus": Name("map", "xgboost-minus", "labels=clip"),
    "xgboost.pre": whole("P", "xgboost"),
    "xgboost.pre.bin1": whole("P", "xgboost", "labels=clip"),
    "catboost.ndcg.base": Name("ndcg", "catboost"),
    "catboost.ndcg.default": Name("ndcg", "catboost"),
    "catboost.ndcg.exp": Name("ndcg", "catboost-exp"),
    "catboost.ndcg.exp.position": Name("ndcg", "catboost-exp", "discount=position"),
    "catboost.dcg.exp": Name("dcg", "catboost-exp"),
    "catboost.map.border1.5": Name("map", "catboost", "above=1.5"),
    "catboost.mrr": Name("recip_rank", "catboost"),
    "catboost.err.p16": Name("err", "catboost", "stop=exp,max_grade=4"),
    "catboost.err.rawlabel": Name("err", "catboost"),
    "catboost.pfound.p16": Name("pfound", "catboost", "stop=exp,max_grade=4"),
    "catboost.queryauc_ranking": whole("opa", "catboost"),
    "sklearn.ndcg.ignore_ties": Name("ndcg", "sklearn", "ties=stable"),
    "sklearn.ndcg.exp_by_hand": Name("ndcg", "sklearn", "gain=exp"),
    "sklearn.average_precision.bin1": whole("map", "sklearn", "labels=clip"),
    "torchmetrics.ap": Name("map", "torchmetrics"),
    "torchmetrics.ap.bin1": Name("map", "torchmetrics", "labels=clip"),
    "torchmetrics.mrr.bin1": Name("recip_rank", "torchmetrics", "labels=clip"),
    "torchmetrics.P.bin1": Name(
        "P", "torchmetrics", "labels=clip",
        f"P(convention=torchmetrics,labels=clip,denominator=list)@{ALL}",
    ),
    "rankeval.ndcg.flat": Name("ndcg", "rankeval", "gain=linear"),
    "rankeval.mrr": Name("recip_rank", "rankeval"),
    "pytorchltr.ndcg.linear": Name("ndcg", "pytorchltr", "gain=linear"),
    "pytorchltr.arp": whole("arp", "pytorchltr"),
    "allrank.mrr": Name("recip_rank", "allrank", "empty=zero"),
    "allrank_batch.ndcg": Name("ndcg", "allrank"),
    "allrank_batch.dcg": Name("dcg", "allrank"),
    "allrank_batch.mrr": Name("recip_rank", "allrank"),
    "tfr.mrr": Name("recip_rank", "tfr"),
    "tfr.arp": whole("arp", "tfr"),
    "tfr.opa": whole("opa", "tfr"),
}  # fmt: skip
for _metric in ("ndcg", "map", "P"):
    for _tool in ("pytrec_eval", "trec_eval9", "trec_eval10"):
        _convention = "trec_eval9" if _tool == "pytrec_eval" else _tool
        NAMES[f"{_tool}.{_metric}"] = Name(_metric, _convention)
        if _metric != "ndcg":
            NAMES[f"{_tool}.{_metric}.rel2"] = Name(_metric, _convention, "rel=2")
for _tool in ("trec_eval9", "trec_eval10"):
    del NAMES[f"{_tool}.P.rel2"]
    NAMES[f"{_tool}.recip_rank"] = whole("recip_rank", _tool)
    NAMES[f"{_tool}.ndcg.M"] = Name("ndcg", _tool, "ideal=full")
for _tool in ("letor", "mslr"):
    _column = "letor4" if _tool == "letor" else _tool
    NAMES[f"{_column}.ndcg"] = Name("ndcg", _tool)
    NAMES[f"{_column}.P"] = Name("P", _tool)
    NAMES[f"{_column}.map"] = whole("map", _tool)
    NAMES[f"{_column}.mean_ndcg"] = whole("mean_ndcg", _tool)
NAMES["letor3.map"] = NAMES["letor4.map"]
for _tool, _order in (("ranx", ""), ("ranx_dict", "ties=reverse")):

    def _of_ranx(metric: str, settings: str = "", uncut: str = "", order: str = _order) -> Name:
        return Name(metric, "ranx", ",".join(filter(None, (settings, order))), uncut or None)

    NAMES[f"{_tool}.ndcg"] = _of_ranx("ndcg")
    NAMES[f"{_tool}.ndcg_burges"] = _of_ranx("ndcg", "gain=exp")
    NAMES[f"{_tool}.dcg"] = _of_ranx("dcg")
    NAMES[f"{_tool}.map"] = _of_ranx("map")
    NAMES[f"{_tool}.map.rel2"] = _of_ranx("map", "rel=2")
    NAMES[f"{_tool}.mrr"] = _of_ranx("recip_rank")
    NAMES[f"{_tool}.precision"] = _of_ranx("P", "", _of_ranx("P", "denominator=list").at("none"))
for _tool in ("ptranking0.0.5", "ptranking_master"):
    NAMES[f"{_tool}.ndcg_at_ks"] = Name("ndcg", "ptranking")
    NAMES[f"{_tool}.ap_at_ks"] = Name("map", "ptranking")
    NAMES[f"{_tool}.nerr_at_ks"] = Name("nerr", "ptranking")
    NAMES[f"{_tool}.P_at_ks"] = Name("P", "ptranking")
    NAMES[f"{_tool}.ndcg_at_k"] = whole("ndcg", "ptranking", "short=error")
    NAMES[f"{_tool}.ap_at_k"] = Name("map", "ptranking", "short=cut")
    NAMES[f"{_tool}.nerr_at_k"] = Name("nerr", "ptranking", "short=cut")
    NAMES[f"{_tool}.P_at_k"] = Name("P", "ptranking", "short=cut,denominator=list")

NOT_OFFERED = {"ranklib.rr.bare"}
"""RankLib's RR without a cutoff is 0 for everything."""
_WHOLE = "a fraction is refused: without a convention grades are whole"
_COUNTED = "a fraction is refused: the tool counts it in a way that no setting gives"
_NOTHING = "0 is the tool's mean over nothing; ours is NaN"
_PTRANKING = [
    f"{tool}.{m}"
    for tool in ("ptranking0.0.5", "ptranking_master")
    for m in ("ap_at_ks", "ap_at_k", "P_at_ks", "P_at_k")
]
DIFFERENT: dict[tuple[str, str], str] = {
    **{(key, one): "an error to pytrec_eval; trec_eval cuts fractions off"
       for key in NAMES if key.startswith("pytrec_eval") for one in ("E03", "E04")},
    **{(key, "E02"): "trec_eval ends with an error where nothing is judged"
       for key in NAMES if key.startswith("trec_eval")},
    **{(key, one): _WHOLE for key in ("ir_measures.RR", "ir_measures.RBP.rel1")
       for one in ("E03", "E04")},
    **{(key, one): _COUNTED for key in (*_PTRANKING, "quickrank.ndcg", "quickrank.tndcg")
       for one in ("E03", "E04")},
    ("torchmetrics.ap", "E04"): "takes 0.5 for a binary target",
    **{(f"ranx_dict.{metric}", "E03"): "fractions of dicts are not cut off, those of Qrels are"
       for metric in ("ndcg", "ndcg_burges", "dcg")},
    ("pytorchltr.arp", "E02"): "the ratio of two negative sums; ours is 0",
    ("gdeval.ndcg", "E02"): _NOTHING, ("gdeval.err", "E02"): _NOTHING,
    ("tfr.arp", "E02"): _NOTHING, ("tfr.opa", "E02"): _NOTHING,
}  # fmt: skip
"""Odd lists where a convention is not the tool, and why."""


@dataclass(frozen=True)
class Tool:
    """How a tool computes and prints.

    Parameters
    ----------
    scores : {"float32", "float64", "none"}
        The type that scores are compared in.
    digits : int, optional
        Decimals that are printed; all of them if left out.
    single : bool
        Whether it computes with float32, so that only 3e-6 can be asked for.
    settled : int, optional
        The longest list whose ties have an order. In longer ones it depends on the processor.
    random : bool
        Whether ties are ordered at random in each call, so that only the expectation is compared.
    binary : bool
        Whether the caller gave ``label > 0``.
    but : tuple of str
        Lists that no setting reproduces.
    """

    scores: str = "float64"
    digits: int | None = None
    single: bool = False
    settled: int | None = None
    random: bool = False
    binary: bool = False
    but: tuple[str, ...] = ()


_TREC = Tool("float32")
_PTRANKING_ = Tool("float32", single=True, settled=16, but=("E02", "E03", "E04"))
_TOOLS = {
    "pytrec_eval": _TREC, "trec_eval9": replace(_TREC, digits=4), "trec_eval10": Tool(digits=4),
    "gdeval": Tool(digits=5), "ir_measures": _TREC, "letor3": Tool(), "letor4": Tool(digits=4),
    "mslr": Tool(digits=4), "ranklib": _TREC, "quickrank": Tool(settled=16, but=("E02", "E04")),
    "lightgbm": Tool(), "xgboost": _TREC, "catboost": Tool(), "sklearn": Tool(),
    "torchmetrics": Tool("float32", single=True, settled=0),
    "ranx": Tool(settled=15), "ranx_dict": Tool(settled=15),
    "rankeval": Tool("float32", single=True, settled=0),
    "pytorchltr": Tool("float32", single=True, random=True),
    "allrank": Tool("float32", single=True, settled=16),
    "allrank_batch": Tool("float32", single=True, settled=0),
    "ptranking0.0.5": _PTRANKING_, "ptranking_master": _PTRANKING_,
    "tfr": Tool("float32", single=True, random=True),
}  # fmt: skip
_NO_NEGATIVE = ("E01", "E02")  # a grade below 0 is a probability below 0
_OWN = {
    "ir_measures.RR": Tool(), "ir_measures.RBP.rel1": Tool(),
    "ir_measures.ndcg_exp": Tool(digits=5), "ir_measures.ERR": Tool(digits=5),
    "ranklib.rr": Tool("float32", single=True), "ranklib.err": Tool("float32", but=("E08",)),
    "quickrank.dcg": Tool(settled=16), "quickrank.tndcg": Tool(but=("E02", "E04")),
    "quickrank.map": Tool("none"),
    "catboost.err.p16": Tool(single=True, but=_NO_NEGATIVE),
    "catboost.err.rawlabel": Tool(but=_NO_NEGATIVE),
    "catboost.pfound.p16": Tool(single=True, but=_NO_NEGATIVE),
    "catboost.queryauc_ranking": Tool(but=_NO_NEGATIVE),
    "sklearn.ndcg.ignore_ties": Tool(settled=0),
    "torchmetrics.ndcg": Tool("float32", single=True),
    "torchmetrics.ap": Tool("float32", single=True, settled=0, but=("E04",)),
    "allrank.dcg": replace(_TOOLS["allrank"], but=("E02",)),
    "allrank_batch.dcg": replace(_TOOLS["allrank_batch"], but=("E02",)),
    "allrank_batch.mrr": replace(_TOOLS["allrank_batch"], but=("E02",)),
    **{f"rankeval.{name}": replace(_TOOLS["rankeval"], but=but)
       for name, but in (("map", ("E01",)), ("err", _NO_NEGATIVE), ("pfound", _NO_NEGATIVE))},
    **{f"{tool}.{name}_at_{k}": replace(_PTRANKING_, but=but)
       for tool in ("ptranking0.0.5", "ptranking_master") for k in ("k", "ks")
       for name, but in (("ndcg", ("E02",)), ("nerr", _NO_NEGATIVE))},
}  # fmt: skip


@cache
def tool_of(key: str, cutoff: str) -> Tool:
    """Settings that the values of a column were computed with."""
    if key == "ir_measures.RR" and cutoff == "none":
        return _TREC
    if key in _OWN:
        return _OWN[key]
    name = next(tool for tool in sorted(_TOOLS, key=len)[::-1] if key.startswith(f"{tool}."))
    is_binary = ".bin1" in key
    return replace(_TOOLS[name], binary=is_binary)
