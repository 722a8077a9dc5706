"""How a sentence is written: citations, escapes and formulas in LaTeX, or in plain text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal

from ..core.convention import CONVENTIONS
from ..core.evaluate import EMPTY, level_of
from ..core.evaluation import Counts
from ..core.grades import GradeRule
from ..core.metric import Formula, Metric, Title
from ..core.policy import Policy
from ..core.settings import Settings
from .latex import escape
from .phrases import listed

Markup = Literal["latex", "plain"]


class Writer:
    """Writes parts of a sentence, and remembers what was cited."""

    def __init__(self, markup: Markup, called: Callable[[str], str] = str) -> None:
        self.is_latex = markup == "latex"
        self.called = called
        self.cited: dict[str, None] = {}

    def text(self, text: str) -> str:
        """Return a name as it may stand in a sentence.

        >>> Writer("latex").text("my_run & 50%"), Writer("plain").text("my_run")
        ('my\\\\_run \\\\& 50\\\\%', 'my_run')
        """
        return escape(text) if self.is_latex else text

    def name(self, own: str) -> str:
        """Return what a run or dataset is called, as it may stand in a sentence.

        >>> Writer("latex", str.upper).name("fold1")
        'FOLD1'
        """
        return self.text(self.called(own))

    def formula(self, formula: Formula) -> str:
        """Return a formula."""
        return f"${formula.latex}$" if self.is_latex else formula.plain

    def cite(self, keys: Sequence[str]) -> str:
        r"""Return a citation with the space before it; nothing where there are no keys.

        >>> Writer("latex").cite(["holm1979", "sakai2018"]), Writer("plain").cite(["holm1979"])
        ('~\\citep{holm1979,sakai2018}', ' [holm1979]')
        """
        self.cited.update(dict.fromkeys(keys))
        if not keys:
            return ""
        if self.is_latex:
            return f"~\\citep{{{','.join(keys)}}}"
        return f" [{', '.join(keys)}]"


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
        how = {one: _first_rule(found.depth) for one, found in own.items()}
        yield f"of the documents of each query {told(how, name)}"
    if any(found.judged_only for found in own.values()):
        how = {one: _KEPT[found.judged_only] for one, found in own.items()}
        yield f"documents without judgement {told(how, name)}"


_KEPT = {True: "were removed first", False: "were kept"}


def _first_rule(depth: int | None) -> str:
    return "all counted" if depth is None else f"only the first {depth:,} counted"


def empty_queries(
    counts: Iterable[tuple[str, Counts]], metrics: Iterable[Metric]
) -> tuple[str, int, int]:
    """Return how many queries have no relevant document: ``"at most "`` or not, n, of how many.

    They are counted at the highest level that a metric asks for, at which another may find some
    relevant.
    `counts` are those of each run with its dataset; the run that has the most counts.
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


def metric_list(metrics: Sequence[Metric], level: int, writer: Writer) -> str:
    """Return all metrics in words; those that differ in their cutoff alone are one.

    `metrics` are without bounds of ties; the smallest relevant grade is written where it is not
    `level`.

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


def _named(metric: Metric) -> Title:
    title, keys = metric.title
    is_exponential = str(dict(metric.params).get("gain", "")).startswith("exp")
    return title, (*keys, "burges2005") if is_exponential else keys


def _facts(metric: Metric, level: int, writer: Writer) -> Iterable[str]:
    """Yield what a metric is computed with, where a reader could think otherwise."""
    definition, params = metric.definition, dict(metric.params)
    if metric.convention is not None:
        convention = CONVENTIONS[metric.convention]
        yield f"as computed by {writer.text(convention.tool)}{writer.cite(convention.cite)}"
    for name, parameter in definition.parameters.items():
        if name in ("cutoff", "normalize") or (name == "form" and definition.name == "kendall"):
            continue
        value = params.get(name, parameter.default)
        usual = value == parameter.default
        if name == "gain":
            words, formula = _GAINS[value]
            yield words + (f" {writer.formula(formula)}" if formula else "")
        elif name == "discount" and not usual:
            rank = writer.formula(_DISCOUNTS["position"])
            yield f"divided by {writer.formula(_DISCOUNTS[value])} at rank {rank}"
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


def _value(name: str, text: str, writer: Writer) -> str:
    if name == "p":
        return writer.formula(Formula(f"p = {text}", f"p = {text}"))
    return writer.text(f"{name.replace('_', ' ')} {text}")


def _settings(settings: Settings) -> Iterable[str]:
    if settings.ties is not None:
        yield f"documents with equal scores {ties_in_words(Policy().with_settings(settings))}"
    elif settings.scores is not None:
        yield _SCORES[settings.scores]
    if settings.empty is not None:
        value = {"zero": "0", "one": "1", "nan": "undefined"}[settings.empty]
        yield f"{value} for queries without relevant documents"
    if settings.depth is not None:
        yield f"of the first {settings.depth:,} documents"
    if settings.judged_only:
        yield "of judged documents only"
    if settings.undefined == "zero":
        yield "0 where undefined"
    if isinstance(settings.grades, GradeRule) and settings.grades.relevant_from is not None:
        yield f"grades from {settings.grades.relevant_from} relevant"
