"""What the policies did to the values of each metric, in words: to ties, depth, empty queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..core.evaluate import EMPTY, level_of
from ..core.evaluation import Counts
from ..core.metric import Metric
from ..core.policy import Policy
from .markup import listed

_TIES: Mapping[str, str] = {
    "trec_eval": "were ordered by document identifier, descending",
    "trec_eval10": "were ordered by document identifier, descending",
    "docno+": "were ordered by document identifier, ascending",
    "stable": "were kept in the order of the file",
    "reverse": "were put in the reverse of the order of the file",
    "average": "were averaged over all their orders",
    "best": "were put in the best order",
    "worst": "were put in the worst order",
}
_TYPES = {"float32": "in single precision ", "float64": "", "none": "(all of a query) "}
Name = Callable[[Metric], str]


def ties_in_words(policy: Policy) -> str:
    """Return what became of documents with equal scores, as the end of a sentence.

    >>> ties_in_words(Policy("stable")), ties_in_words(Policy("random(7)"))
    ('were kept in the order of the file', 'were put in an order drawn with seed 7')
    >>> ties_in_words(Policy())
    'in single precision were ordered by document identifier, descending'
    """
    words = _TIES.get(policy.ties) or f"were put in an order drawn with seed {policy.seed}"
    return f"{_TYPES[policy.score_type]}{words}"


def rankings_in_words(metrics: Sequence[Metric], policy: Policy, name: Name) -> Iterator[str]:
    """Yield the clauses on how documents were ranked, each metric by its own settings.

    Nothing is said of ties where every metric has a setting of its own for them, which stands in
    its name, nor of what was done for none of the metrics.

    Parameters
    ----------
    metrics : sequence of Metric
    policy : Policy
        What holds where a metric has no setting of its own.
    name : callable
        Gives what a metric is called.

    Examples
    --------
    >>> import harness.metrics
    >>> from harness.core.names import parse_all
    >>> metrics = parse_all(["map", "P@5", "ndcg(convention=lightgbm,depth=9)@5"])
    >>> for clause in rankings_in_words(metrics, Policy("docno+"), lambda one: str(one)[:4]):
    ...     print(clause)  # doctest: +NORMALIZE_WHITESPACE
    documents with equal scores were ordered by document identifier, ascending, but
      were kept in the order of the file for ndcg
    of the documents of each query all counted, but only the first 9 counted for ndcg
    """
    own = {one: policy.with_settings(one.settings) for one in metrics}
    if any(one.settings.ties is None for one in metrics):
        how = {one: ties_in_words(found) for one, found in own.items()}
        yield f"documents with equal scores {told(how, name)}"
    if any(found.depth is not None for found in own.values()):
        how = {one: _first(found.depth) for one, found in own.items()}
        yield f"of the documents of each query {told(how, name)}"
    if any(found.judged_only for found in own.values()):
        how = {one: _KEPT[found.judged_only] for one, found in own.items()}
        yield f"documents without judgement {told(how, name)}"


_KEPT = {True: "were removed first", False: "were kept"}


def _first(depth: int | None) -> str:
    return "all counted" if depth is None else f"only the first {depth:,} counted"


def empty_queries(
    counts: Iterable[tuple[str, Counts]], metrics: Iterable[Metric]
) -> tuple[str, int, int]:
    """Return how many queries have no relevant document: ``"at most "`` or not, n, of how many.

    They are counted at the highest level that a metric asks for, at which another may find some
    relevant.

    Parameters
    ----------
    counts : iterable of (str, Counts)
        Of each run, with the dataset's name; the run that has the most counts for its dataset.
    metrics : iterable of Metric
    """
    most: dict[str, Counts] = {}
    for dataset, found in counts:
        known = most.get(dataset)
        most[dataset] = found if known is None or found.empty > known.empty else known
    levels = {level_of(one) for one in metrics}
    n, queries = (sum(getattr(one, what) for one in most.values()) for what in ("empty", "queries"))
    return "at most " if len(levels) > 1 else "", n, queries


def values_of_empty(metrics: Iterable[Metric], rule: str) -> dict[Metric, float | None]:
    """Return what each metric gives a query without relevant documents.

    Its own setting where it has one, else what the policy's `rule` says; NaN where the query is
    left out, None where such a query is no special case.
    """
    return {one: _counted(_value_of_empty(one, rule), one) for one in metrics}


def values_of_missing(metrics: Iterable[Metric]) -> dict[Metric, float | None]:
    """Return what each metric gives a query that a run does not answer, and that is not left out.

    As :func:`values_of_empty` does.
    """
    return {one: _counted(one.definition.missing, one) for one in metrics}


def _value_of_empty(metric: Metric, rule: str) -> float | None:
    definition = metric.definition
    if metric.settings.empty is not None:
        return EMPTY[metric.settings.empty]
    if definition.empty is None or metric.reference is not None:
        return None
    if rule == "skip":
        return math.nan
    return 1.0 if rule == "one" and definition.bounds == (0.0, 1.0) else definition.empty


def _counted(value: float | None, metric: Metric) -> float | None:
    is_zero = value is not None and math.isnan(value) and metric.settings.undefined == "zero"
    return 0.0 if is_zero else value


def consequences(
    values: Mapping[Metric, float | None], name: Name, count: str, left_out: str
) -> str:
    """Return that queries count with the values that metrics have for them.

    Nothing where they are no special case to any metric.

    >>> import harness.metrics
    >>> from harness.core.names import parse_all
    >>> one, two, three = parse_all(["map", "P@5", "mse"])
    >>> consequences({one: 0.0, two: 0.0, three: math.nan}, str, "count", "are left out")
    'count as 0, but are left out for mse'
    >>> consequences({one: 0.0, two: 0.0, three: None}, str, "count", "are left out")
    'count as 0, but count as any other for mse'
    """
    if all(value is None for value in values.values()):
        return ""

    def how(metric: Metric, value: float | None) -> str:
        if value is None:
            return f"{count} as any other"
        if not math.isnan(value):
            return f"{count} as {value:g}"
        return f"{count} as undefined" if metric.settings.undefined == "nan" else left_out

    return told({metric: how(metric, value) for metric, value in values.items()}, name)


def told(how: Mapping[Metric, str], name: Name) -> str:
    """Return what was done for most metrics, and for which others something else was.

    >>> import harness.metrics
    >>> from harness.core.names import parse_all
    >>> metrics = parse_all(["map", "P@5", "mse", "arp"])
    >>> told(dict(zip(metrics, ("count", "count", "do not", "do not"), strict=True)), str)
    'count, but do not for mse and arp'
    """
    groups: dict[str, list[str]] = {}
    for metric, words in how.items():
        groups.setdefault(words, []).append(name(metric))
    usual = max(groups, key=lambda words: len(groups[words]), default="")
    others = [f"{words} for {listed(names)}" for words, names in groups.items() if words != usual]
    return f"{usual}, but {listed(others)}" if others else usual
