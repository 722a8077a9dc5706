"""Metrics as a methods section names them: in words, with what they are computed with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from ..core.convention import CONVENTIONS
from ..core.grade_rule import GradeRule
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.settings import Settings
from .markup import Formula, Writer, listed
from .rules import ties_in_words

Named = tuple[str | Formula, tuple[str, ...]]

FAMILIES: Mapping[str, Named] = {
    "map": ("MAP", ("buckley2005",)),
    "gm_map": ("GMAP", ("robertson2006",)),
    "infAP": ("infAP", ("yilmaz2006",)),
    "bpref": ("bpref", ("buckley2004",)),
    "gm_bpref": ("the geometric mean of bpref", ("buckley2004",)),
    "P": ("precision", ()),
    "recall": ("recall", ()),
    "success": ("success", ()),
    "Rprec": ("R-precision", ("buckley2005",)),
    "recip_rank": ("MRR", ("voorhees1999",)),
    "ndcg": ("nDCG", ("jarvelin2002",)),
    "dcg": ("DCG", ("jarvelin2002",)),
    "mean_ndcg": ("the mean of nDCG over all ranks", ("jarvelin2002",)),
    "err": ("ERR", ("chapelle2009",)),
    "nerr": ("normalised ERR", ("chapelle2009",)),
    "pfound": ("pFound", ("gulin2009",)),
    "rbp": ("RBP", ("moffat2008",)),
    "rbo": ("RBO", ("webber2010",)),
    "ao": ("average overlap", ("fagin2003",)),
    "tau_ap": (Formula(r"\tau_\mathrm{AP}", "tau_ap"), ("yilmaz2008",)),
    "spearman": (Formula(r"\rho", "Spearman's rho"), ("spearman1904",)),
    "pearson": ("Pearson's correlation", ()),
    "swaps": ("the number of swaps", ("kendall1938",)),
    "arp": ("ARP", ("joachims2017",)),
    "mse": ("mean squared error", ()),
    "opa": ("ordered pair accuracy", ("joachims2002",)),
    "auc": ("AUC per query", ("hanley1982",)),
    "pairwise_logloss": ("pairwise log loss", ("burges2005",)),
    "yaap": ("yaAP", ("robertson2012",)),
    "set_P": ("set precision", ()),
    "set_recall": ("set recall", ()),
    "set_F": ("set F", ("vanrijsbergen1979",)),
    "num_ret": ("the number of documents retrieved", ()),
    "num_rel": ("the number of relevant documents", ()),
    "num_rel_ret": ("the number of relevant documents retrieved", ()),
    "num_q": ("the number of queries", ()),
}
"""What a metric is called, and the literature it is from."""
_KENDALL: Mapping[str, Named] = {
    "b": (Formula(r"\tau_b", "Kendall's tau-b"), ("kendall1945",)),
    "a": (Formula(r"\tau_a", "Kendall's tau-a"), ("kendall1938",)),
    "gamma": (Formula(r"\gamma", "Goodman and Kruskal's gamma"), ()),
}
_EXP = Formula("2^g - 1", "2^g - 1")
_GAINS: Mapping[str, tuple[str, Formula | None]] = {
    "linear": ("linear gain", None),
    "exp": ("exponential gain", _EXP),
    "letor": ("gains 0, 1, 3 for grades 0, 1, 2", None),
    "mslr": ("gains 0, 1, 3, 7, 15 for grades 0 to 4", None),
    "exp-int32": ("exponential gain", Formula(r"2^g - 1\ \text{in 32 bits}", "2^g - 1 in 32 bits")),
    "binary": ("binary gain", None),
}
_DISCOUNTS: Mapping[str, Formula] = {
    "log2": Formula(r"\log_2(i + 1)", "log2(i + 1)"),
    "jarvelin": Formula(r"\max(1, \log_2 i)", "max(1, log2(i))"),
    "position": Formula("i", "i"),
}
_SCORES = {
    "float32": "scores compared in single precision",
    "float64": "scores compared in double precision",
    "none": "scores not looked at",
}
TOOLS: Mapping[str, tuple[str, ...]] = {
    "letor": ("qin2010",), "lightgbm": ("ke2017",), "xgboost": ("chen2016",),
}  # fmt: skip
"""The literature behind the tools that conventions are named after."""


def metric_list(metrics: Sequence[Metric], level: int, writer: Writer) -> str:
    """Return all metrics in words; those that differ in their cutoff alone are one.

    Parameters
    ----------
    metrics : sequence of Metric
        Without bounds of ties.
    level : int
        Smallest relevant grade that is said elsewhere.
    writer : Writer

    Examples
    --------
    >>> import harness.metrics
    >>> from harness.core.names import parse_all
    >>> metrics = parse_all(["map", "ndcg@5,10", "ndcg(gain=exp)@10"])
    >>> print(metric_list(metrics, 1, Writer("plain")))  # doctest: +NORMALIZE_WHITESPACE
    MAP [buckley2005], nDCG [jarvelin2002] at cutoffs 5 and 10 (linear gain) and
    nDCG [jarvelin2002, burges2005] at cutoff 10 (exponential gain 2^g - 1)
    """
    ordered = sorted(metrics, key=lambda one: _first(one, metrics))
    families = groupby(ordered, key=lambda one: _first(one, metrics))
    return listed(_family(list(members), level, writer) for _, members in families)


def has_level(metric: Metric) -> bool:
    """Whether there is a smallest relevant grade to it: not where it compares to another run."""
    params = dict(metric.params)
    return (
        "rel" in metric.definition.parameters
        and metric.reference is None
        and params.get("above") is None
    )


def title_of(metric: Metric, writer: Writer) -> str:
    """Return what a metric is called, with its cutoff: ``nDCG@10``.

    >>> import harness.metrics
    >>> from harness.core.names import parse
    >>> title_of(parse("ndcg@10")[0], Writer("plain"))
    'nDCG@10'
    """
    title, _ = _named(metric)
    shown = writer.text(title) if isinstance(title, str) else writer.formula(title)
    return shown if metric.cutoff is None else f"{shown}@{metric.cutoff:g}"


def titles_of(metrics: Sequence[Metric], writer: Writer) -> dict[Metric, str]:
    """Return what each metric is called where several are told apart.

    The tool that it is computed as, or its own name, where :func:`title_of` says the same of two.

    >>> import harness.metrics
    >>> from harness.core.names import parse_all
    >>> metrics = parse_all(["map", "ndcg@5", "ndcg(convention=lightgbm)@5", "ndcg(gain=exp)@5"])
    >>> list(titles_of(metrics, Writer("plain")).values())
    ['MAP', 'ndcg@5', 'nDCG@5 as computed by LightGBM 4.7.0', 'ndcg(gain=exp)@5']
    """
    found = {one: title_of(one, writer) for one in metrics}
    for one in _shared(found):
        if one.convention is not None:
            tool = writer.text(CONVENTIONS[one.convention].tool)
            found[one] += f" as computed by {tool}"
    return found | {one: writer.text(str(one)) for one in _shared(found)}


def _shared(titles: Mapping[Metric, str]) -> list[Metric]:
    times = Counter(titles.values())
    return [one for one, title in titles.items() if times[title] > 1]


def _plain(metric: Metric) -> Metric:
    return replace(metric, cutoff=None, label=None)


def _first(metric: Metric, metrics: Sequence[Metric]) -> int:
    """Return the place of the first metric that differs from this one in its cutoff alone."""
    return next(at for at, other in enumerate(metrics) if _plain(other) == _plain(metric))


def _family(members: Sequence[Metric], level: int, writer: Writer) -> str:
    metric = members[0]
    title, keys = _named(metric)
    shown = writer.text(title) if isinstance(title, str) else writer.formula(title)
    text = shown + writer.cite(keys)
    cuts = [f"{one.cutoff:g}" for one in members if one.cutoff is not None]
    whole = len(members) > len(cuts)
    if cuts:
        at = f"at cutoff{'s' * (len(cuts) > 1)} {listed(cuts)}"
        text += f", over the whole list and {at}" if whole else f" {at}"
    facts = list(_facts(metric, level, writer))
    return f"{text} ({', '.join(facts)})" if facts else text


def _named(metric: Metric) -> Named:
    name, params = metric.definition.name, dict(metric.params)
    if name == "kendall":
        return _KENDALL[params.get("form", "b")]
    title, keys = FAMILIES.get(name, (metric.definition.name, ()))
    if name == "swaps" and params.get("normalize"):
        title = "the share of swapped pairs"
    if str(params.get("gain", "")).startswith("exp"):
        keys = (*keys, "burges2005")
    if name == "rbo" and params.get("tied", "none") != "none":
        keys = (*keys, "corsi2024")
    if name == "tau_ap" and params.get("tied", "none") != "none":
        keys = (*keys, "urbano2017")
    return title, keys


def _facts(metric: Metric, level: int, writer: Writer) -> Iterable[str]:
    """Yield what a metric is computed with, where a reader could think otherwise."""
    definition, params = metric.definition, dict(metric.params)
    if metric.convention is not None:
        tool = writer.text(CONVENTIONS[metric.convention].tool)
        yield f"as computed by {tool}{writer.cite(TOOLS.get(metric.convention, ()))}"
    for name, parameter in definition.parameters.items():
        if name in ("cutoff", "normalize") or (name == "form" and definition.name == "kendall"):
            continue
        value = params.get(name, parameter.default)
        usual = value == parameter.default
        if name == "gain":
            words, formula = _GAINS[value]
            yield words + (f" {writer.formula(formula)}" if formula else "")
        elif name == "discount" and not usual:
            yield f"divided by {writer.formula(_DISCOUNTS[value])} at rank {_rank(writer)}"
        elif name == "rel":
            if has_level(metric) and value != level:
                yield f"grades from {value} relevant"
        elif name == "p" or (name == "stop" and not usual) or name == "max_grade":
            yield _value(name, parameter.text(value), writer)
        elif name == "reference" and value is not None:
            yield f"compared with the ranking of {writer.text(str(value))}"
        elif not usual:
            yield _value(name, parameter.text(value), writer)
    yield from _settings(metric.settings)


def _rank(writer: Writer) -> str:
    return writer.formula(Formula("i", "i"))


def _value(name: str, text: str, writer: Writer) -> str:
    if name == "p":
        return writer.formula(Formula(f"p = {text}", f"p = {text}"))
    return writer.text(f"{name.replace('_', ' ')} {text}")


def _settings(settings: Settings) -> Iterable[str]:
    if settings.ties is not None:
        yield f"documents with equal scores {ties_in_words(Policy().with_settings(settings))}"
    elif settings.scores is not None:
        yield _SCORES[settings.scores]
    said: Mapping[str, Any] = {
        "zero": "0", "one": "1", "nan": "undefined",
    }  # fmt: skip
    if settings.empty is not None:
        yield f"{said[settings.empty]} for queries without relevant documents"
    if settings.depth is not None:
        yield f"of the first {settings.depth:,} documents"
    if settings.judged_only:
        yield "of judged documents only"
    if settings.undefined == "zero":
        yield "0 where undefined"
    if isinstance(settings.grades, GradeRule) and settings.grades.relevant_from is not None:
        yield f"grades from {settings.grades.relevant_from} relevant"
