"""What runs, datasets and metrics are called in papers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..core.evaluation import names_of
from ..core.metric import Metric

_ARROWS = re.compile(r"[↑↓▲▼△▽⇑⇓]|\((?:in\s*)?%\)|%|\(\s*\)")
_PAPER: Mapping[str, str] = {
    "ndcg": "ndcg", "normalizeddcg": "ndcg", "normalizeddiscountedcumulativegain": "ndcg",
    "dcg": "dcg", "map": "map", "ap": "map", "meanaverageprecision": "map",
    "averageprecision": "map", "p": "P", "prec": "P", "precision": "P", "mrr": "recip_rank",
    "rr": "recip_rank", "reciprank": "recip_rank", "meanreciprocalrank": "recip_rank",
    "r": "recall", "rec": "recall", "recall": "recall", "success": "success", "hit": "success",
    "hits": "success", "hr": "success", "s": "success", "rprec": "Rprec", "rprecision": "Rprec",
    "gmap": "gm_map", "bpref": "bpref", "err": "err", "nerr": "nerr", "rbp": "rbp", "rbo": "rbo",
    "infap": "infAP", "tau": "kendall", "taub": "kendall", "kendall": "kendall",
    "kendallstau": "kendall", "kendalltau": "kendall", "rho": "spearman", "spearman": "spearman",
    "spearmansrho": "spearman", "pearson": "pearson", "pearsonsr": "pearson", "mse": "mse",
    "swaps": "swaps", "arp": "arp", "auc": "auc", "opa": "opa", "tauap": "tau_ap",
    "kendallstaub": "kendall", "ao": "ao", "pfound": "pfound", "judged": "judged",
    "logloss": "pairwise_logloss",
}  # fmt: skip
_GREEK = {sign: unicodedata.name(sign).split()[-1].lower() for sign in "αβγδεζηθικλμνξοπρστυφχψω"}
_GREEK["λ"] = "lambda"  # which Unicode calls lamda
_AT = re.compile(
    r"(?P<name>.*?[A-Za-z)])[\s@_.\-]*?(?:@|cut|at)?[\s_.]*(?P<k>\d{1,9})(?P<rest>\D*)"
)


def plain(text: str) -> str:
    """Return a name without case, spaces, hyphens and accents, its Greek letters by their names.

    >>> plain("Query-Likelihood (μ)"), plain("lambda_MART"), plain("λMART")
    ('querylikelihoodmu', 'lambdamart', 'lambdamart')
    """
    flat = unicodedata.normalize("NFKD", text).casefold()
    return "".join(_GREEK.get(sign, sign) for sign in flat if sign.isalnum())


def named(text: str, names: Mapping[str, str]) -> str | None:
    """Return whose name a text is; what stands in brackets beside a name may be left out.

    Parameters
    ----------
    text : str
    names : mapping of str to str
        Own names by what they may be called.

    >>> named("BM25 (ours) [12]", {"bm25": "bm25"}), named("BM26", {"bm25": "bm25"})
    ('bm25', None)
    """
    if text in names:  # where another differs from it in case or accents alone
        return names[text]
    known: dict[str, str] = {}
    for name, own in names.items():
        known.setdefault(plain(name), own)
    for shorter in (text, re.sub(r"\[[^\]]*\]", "", text), re.sub(r"[\[(][^\])]*[\])]", "", text)):
        if (key := plain(shorter)) in known:
            return known[key]
    return None


def metrics_called(text: str, metrics: Sequence[Metric], names: Mapping[str, str]) -> list[Metric]:
    """Return the metrics that a heading can mean, of those that there are.

    Parameters
    ----------
    text : str
        ``nDCG@10 ↑``, ``ndcg_cut_10``, ``MAP``, ``Prec. @ 5``.
    metrics : sequence of Metric
    names : mapping of str to str
        Canonical names by what a table's settings call them.
    """
    clean = _ARROWS.sub("", text).strip()
    by_name = {str(metric): metric for metric in metrics}
    for written in (text.strip(), clean):
        own = names.get(written, written)
        if own in by_name:
            return [by_name[own]]
    for shown, own in (*names.items(), *zip(by_name, by_name, strict=True)):
        if plain(shown) == plain(clean) and own in by_name:
            return [by_name[own]]
    found = [by_name[name] for name in names_of(clean) if name in by_name]
    if len(found) == 1:
        return found
    return _as_in_papers(clean, metrics)


def sharing(
    text: str, taken: Metric, metrics: Sequence[Metric], names: Mapping[str, str]
) -> list[str]:
    """Return the other metrics that a heading could be but for case and hyphens.

    None where it is written as the metric taken is called.

    Parameters
    ----------
    text : str
    taken : Metric
    metrics : sequence of Metric
    names : mapping of str to str
        Canonical names by what a table's settings call them.
    """
    clean = _ARROWS.sub("", text).strip()
    called = [(shown, own) for shown, own in names.items() if plain(shown) == plain(clean)]
    if (clean, str(taken)) in called:
        return []
    there = {str(metric) for metric in metrics} - {str(taken)}
    return list(dict.fromkeys(own for _, own in called if own in there))


def _as_in_papers(text: str, metrics: Sequence[Metric]) -> list[Metric]:
    match = _AT.fullmatch(text)
    name, cutoff = (match["name"], int(match["k"])) if match else (text, None)
    words = [plain(word) for word in re.split(r"[^\w]+|_", name) if plain(word)]
    words += [plain(word) for word in re.split(r"[^\w]+|_", match["rest"])] if match else []
    words = [word for word in words if word]
    parts = [(start, end) for end in range(len(words), 0, -1) for start in range(end)]
    for start, end in sorted(parts, key=lambda part: part[0] - part[1]):
        own = _PAPER.get("".join(words[start:end]))
        if own is None:
            continue
        family = [one for one in metrics if one.definition.name == own and one.label is None]
        exact = [one for one in family if one.cutoff == cutoff]
        found = exact or (family if cutoff is None else [])
        for word in words[:start] + words[end:]:
            found = [one for one in found if word in _words_of(one)]
        simple = [one for one in found if not one.params and one.convention is None]
        return simple if len(found) > 1 and len(simple) == 1 else found
    return []


def _words_of(metric: Metric) -> set[str]:
    """Return the words that a heading may have beside the name of a metric."""
    params = dict(metric.params)
    said = {plain(word) for word in re.split(r"[^\w]+|_", str(metric))}
    said |= {"exponential", "gain"} if params.get("gain") == "exp" else set()
    said |= {"linear", "gain"} if params.get("gain", "linear") == "linear" else set()
    return said | ({"normalized", "normalised"} if params.get("normalize") else set())


def joined(headings: Sequence[str]) -> Iterator[str]:
    """Yield what headings over one column can mean together: each, then neighbours as one.

    >>> list(joined(["nDCG", "@10"]))
    ['nDCG', '@10', 'nDCG@10']
    """
    for size in range(1, len(headings) + 1):
        for start in range(len(headings) - size + 1):
            yield "".join(headings[start : start + size])


def ways(own: Iterable[str], given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return own names by all that they may be called: themselves first.

    >>> ways(["bm25"], [("bm25", "BM25 (k1 = 1.2)"), ("other", "x")])
    {'bm25': 'bm25', 'BM25 (k1 = 1.2)': 'bm25'}
    """
    found = {name: name for name in own}
    for name, shown in given:
        if name in found:
            found.setdefault(shown, name)
    return found
