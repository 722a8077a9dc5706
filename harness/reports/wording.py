"""Sentences on metrics, data and policies that captions and methods texts share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from ..core.evaluation import EMPTY, Counts, level_of
from ..core.leaderboard import Summary
from ..core.metric import Formula, Metric
from ..core.policy import Policy
from ..core.settings import CONVENTIONS, Settings
from ..core.systems import System
from .latex import escape
from .phrases import listed, sized, span

Markup = Literal["latex", "plain"]
Name = Callable[[Metric], str]
SHOWN = 6
"""Datasets that a sentence names; more are counted."""


class Writer:
    """Writes parts of a sentence in LaTeX or plain text, and remembers what was cited."""

    def __init__(self, markup: Markup, called: Callable[[str], str] = str) -> None:
        self.is_latex = markup == "latex"
        self.called = called
        self.cited: dict[str, None] = {}

    def text(self, text: str) -> str:
        r"""Return text, escaped for LaTeX.

        >>> print(Writer("latex").text("my_run & 50%"), Writer("plain").text("my_run"))
        my\_run \& 50\% my_run
        """
        return escape(text) if self.is_latex else text

    def name(self, own: str) -> str:
        """Return what a run or dataset is called."""
        return self.text(self.called(own))

    def title(self, title: str | Formula) -> str:
        """Return a metric's title."""
        if isinstance(title, str):
            return self.text(title)
        return f"${title.latex}$" if self.is_latex else title.plain

    def formulas(self, text: str) -> str:
        r"""Return LaTeX text with formulas; plain text has no dollar signs and backslashes.

        >>> print(Writer("plain").formulas(r"$\alpha = 0.05$"))
        alpha = 0.05
        """
        return text if self.is_latex else text.replace("$", "").replace("\\", "")

    def cite(self, keys: Sequence[str]) -> str:
        r"""Return a citation with the blank before it; nothing without keys.

        >>> Writer("latex").cite(["holm1979", "sakai2018"]), Writer("plain").cite(["holm1979"])
        ('~\\citep{holm1979,sakai2018}', ' [holm1979]')
        """
        self.cited.update(dict.fromkeys(keys))
        if not keys:
            return ""
        return f"~\\citep{{{','.join(keys)}}}" if self.is_latex else f" [{', '.join(keys)}]"


def data_in_words(systems: Sequence[System], name: Callable[[str], str]) -> str:
    """Return the datasets of some systems with their queries."""
    sizes: dict[str, tuple[int, int]] = {}
    for system in systems:
        dataset = name(system.dataset)
        for one in (entry.evaluation for entry in system.entries):
            known = sizes.get(dataset, (0, 0))
            counts = max(one.n().values(), default=0), one.coverage[1]
            sizes[dataset] = max(known[0], counts[0]), max(known[1], counts[1])
    if len(sizes) > SHOWN:
        return f"{len(sizes)} datasets ({span(n for _, n in sizes.values())} queries each)"
    return sized(sizes)


def parts_in_words(summary: Summary) -> str:
    """Return how the parts of datasets were taken together, as the end of a sentence."""
    if summary.average:
        return f", with equal weight for each part ({listed(summary.average)})"
    return (
        f", with the queries of all parts ({listed(summary.pool)}) pooled" if summary.pool else ""
    )


def repetitions_in_words(systems: Sequence[System]) -> str:
    """Return over how many repetitions values are averaged; nothing if there is one."""
    times = [len(system.entries) for system in systems]
    if max(times, default=1) == 1:
        return ""
    names = sorted({name for system in systems for name in system.varying})
    return f"{span(times)} repetitions per system" + (f" ({listed(names)})" if names else "")


_TIES: Mapping[str, str] = {
    "trec_eval": "broken by descending document identifier, as in trec_eval",
    "trec_eval10": "broken by descending document identifier, as in trec_eval 10",
    "docno+": "broken by ascending document identifier",
    "stable": "kept in the order of the file",
    "reverse": "put in the reverse order of the file",
    "average": "averaged over all orders",
    "best": "put in the best order",
    "worst": "put in the worst order",
}
_PRECISION = {
    "float32": "(in single precision)",
    "float64": "(in double precision)",
    "none": "(all documents of a query)",
}


def _ties_in_words(policy: Policy) -> str:
    how = _TIES.get(policy.ties, f"put in random order (seed {policy.seed})")
    return f"{_PRECISION[policy.score_type]} were {how}"


def treatment(
    metrics: Sequence[Metric],
    policy: Policy,
    counts: Iterable[tuple[str, Counts]],
    name: Name,
) -> Iterator[str]:
    """Yield sentences on ties, depth, unjudged documents and queries without relevant documents.

    A metric's own settings replace those of `policy`; `counts` are each evaluation's, with its
    dataset.
    """
    own = {one: policy.with_settings(one.settings) for one in metrics}
    if any(one.settings.ties is None for one in metrics):
        how = {one: _ties_in_words(each) for one, each in own.items()}
        yield f"Score ties {by_metric(how, name)}."
    if any(each.depth for each in own.values()):
        how = {
            one: f"only the first {each.depth:,} counted" if each.depth else "all counted"
            for one, each in own.items()
        }
        yield f"Of the documents of each query {by_metric(how, name)}."
    if any(each.judged_only for each in own.values()):
        done = {True: "were removed first", False: "were kept"}
        how = {one: done[bool(each.judged_only)] for one, each in own.items()}
        yield f"Documents without judgement {by_metric(how, name)}."
    if any(each.drop_identical_ids for each in own.values()):
        dropped = {True: "were removed from runs first", False: "were kept"}
        how = {one: dropped[bool(each.drop_identical_ids)] for one, each in own.items()}
        yield f"Documents whose docno equals the qid {by_metric(how, name)}."
    # per dataset, the run with the most empty queries
    most: dict[str, Counts] = {}
    for dataset, count in counts:
        most[dataset] = max(most.get(dataset, count), count, key=lambda one: one.empty)
    n, queries = (sum(getattr(one, key) for one in most.values()) for key in ("empty", "queries"))
    rule = rule_in_words({one: _value_of_empty(one, policy.empty_queries) for one in metrics}, name)
    bound = "at most " if len({level_of(one) for one in metrics}) > 1 else ""
    if n and rule == _LEFT_OUT and not bound:
        yield f"We excluded the {n:,} of {queries:,} queries without relevant documents."
    elif n and rule:
        yield f"Queries without relevant documents ({bound}{n:,} of {queries:,}) {rule}."


def _value_of_empty(metric: Metric, rule: str) -> float | None:
    """Return a metric's value of a query without relevant documents; None if it is a usual one."""
    definition = metric.definition
    if metric.settings.empty is not None:
        return EMPTY[metric.settings.empty]
    if definition.empty is None or metric.reference is not None:
        return None
    if rule == "skip":
        return math.nan
    return 1.0 if rule == "one" and definition.bounds == (0.0, 1.0) else definition.empty


def missing_in_words(metrics: Iterable[Metric], policy: Policy, name: Name) -> str:
    """Return how queries that a run does not answer count."""
    if policy.missing_queries == "skip":
        return _LEFT_OUT
    return rule_in_words({one: one.definition.missing for one in metrics}, name) or "count as usual"


_LEFT_OUT = "are left out"


def rule_in_words(values: Mapping[Metric, float | None], name: Name) -> str:
    """Return how queries count for which each metric has a value; nothing if all are None."""
    how = {}
    for metric, value in values.items():
        undefined = metric.settings.undefined
        if value is None:
            how[metric] = "count as usual"
        elif not math.isnan(value) or undefined == "zero":
            how[metric] = f"count as {0.0 if math.isnan(value) else value:g}"
        else:
            how[metric] = "count as undefined" if undefined == "nan" else _LEFT_OUT
    return "" if all(value is None for value in values.values()) else by_metric(how, name)


def by_metric(how: Mapping[Metric, str], name: Name) -> str:
    """Return what was done for most metrics, and for which others something else was.

    >>> import harness.metrics
    >>> from harness.core.names import parse_all
    >>> metrics = parse_all(["map", "P@5", "mse", "arp"])
    >>> by_metric(dict(zip(metrics, ("count", "count", "do not", "do not"), strict=True)), str)
    'count, but do not for mse and arp'
    """
    groups: dict[str, list[str]] = {}
    for metric, words in how.items():
        groups.setdefault(words, []).append(name(metric))
    usual = max(groups, key=lambda words: len(groups[words]), default="")
    others = [f"{words} for {listed(names)}" for words, names in groups.items() if words != usual]
    return f"{usual}, but {listed(others)}" if others else usual


def titles_of(metrics: Sequence[Metric], writer: Writer) -> dict[Metric, str]:
    """Return what each metric is called: its title, or its name if two have the same title."""
    titles = {one: _title(one, writer) for one in metrics}
    times = Counter(titles.values())
    return {
        one: title if times[title] == 1 else writer.text(str(one)) for one, title in titles.items()
    }


def _title(metric: Metric, writer: Writer) -> str:
    title = writer.title(metric.title[0] or metric.definition.name)
    return title if metric.cutoff is None else f"{title}@{metric.cutoff:g}"


def metric_list(metrics: Sequence[Metric], level: int, writer: Writer) -> str:
    """Return all metrics in words; those that differ in their cutoff alone are together.

    `level` is the smallest relevant grade that the text already states.

    >>> import harness.metrics
    >>> from harness.core.names import parse_all
    >>> metrics = parse_all(["map", "ndcg@5,10", "ndcg(gain=exp)@10"])
    >>> print(metric_list(metrics, 1, Writer("plain")))  # doctest: +NORMALIZE_WHITESPACE
    MAP [buckley2005], nDCG@5 and nDCG@10 [jarvelin2002] (linear gain) and
    nDCG@10 [jarvelin2002, burges2005] (exponential gain 2^g - 1)
    """
    families: dict[Metric, list[Metric]] = {}
    for one in metrics:
        families.setdefault(replace(one, cutoff=None, label=None), []).append(one)
    return listed(_family(members, level, writer) for members in families.values())


def _family(members: Sequence[Metric], level: int, writer: Writer) -> str:
    metric, keys = members[0], members[0].title[1]
    if str(dict(metric.params).get("gain", "")).startswith("exp"):
        keys = (*keys, "burges2005")
    text = listed(_title(one, writer) for one in members) + writer.cite(keys)
    facts = list(_facts(metric, level, writer))
    return f"{text} ({', '.join(facts)})" if facts else text


def has_level(metric: Metric) -> bool:
    """Whether a metric has a smallest relevant grade: not if it compares to another run."""
    params = dict(metric.params)
    has = "rel" in metric.definition.parameters and metric.reference is None
    return has and params.get("above") is None


_GAINS = {
    "linear": "linear gain",
    "exp": "exponential gain $2^g - 1$",
    "exp-int32": "exponential gain $2^g - 1$ in 32 bits",
    "letor": "gains 0, 1, 3 for grades 0, 1, 2",
    "mslr": "gains 0, 1, 3, 7, 15 for grades 0 to 4",
    "binary": "binary gain",
}
_IN_WORDS = {"gain", "p", "rel", "normalize", "form"}
"""Parameters that a sentence has words for."""


def _facts(metric: Metric, level: int, writer: Writer) -> Iterator[str]:
    """Yield what a metric is computed with, if a reader could think otherwise."""
    params = {name: one.default for name, one in metric.definition.parameters.items()}
    params |= dict(metric.params)
    if "gain" in params:
        yield writer.formulas(_GAINS[params["gain"]])
    if "p" in params:
        yield writer.formulas(f"$p = {params['p']:g}$")
    if has_level(metric) and params["rel"] != level:
        yield f"grades from {params['rel']} relevant"
    if metric.convention is not None:
        convention = CONVENTIONS[metric.convention]
        yield f"as computed by {writer.text(convention.tool)}{writer.cite(convention.cite)}"
    elif metric.settings != Settings() or {*dict(metric.params)} - _IN_WORDS:
        yield f"computed as {writer.text(str(replace(metric, cutoff=None)))}"
