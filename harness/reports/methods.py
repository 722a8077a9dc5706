"""The paragraph for a methods section, its references, and sentences shared with captions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from operator import itemgetter
from typing import Literal

from ..core.entries import System, grouped_by, how_chosen
from ..core.evaluation import EMPTY, Counts
from ..core.fusion import TITLES
from ..core.leaderboard import Summary
from ..core.metric import ENTRIES, Formula, Metric
from ..core.names import NAMES, compared
from ..core.policy import Policy
from ..core.settings import CONVENTIONS, MetricSettings
from ..errors import counted, unknown
from ..stats.comparison import Comparisons
from .latex import escape
from .leaderboard import Study
from .phrases import (
    CORRECTIONS,
    INTERVALS,
    absent_baselines,
    capitalised,
    correction,
    listed,
    sized,
    span,
    weighted_in_words,
)

Markup = Literal["latex", "plain"]
Name = Callable[[Metric], str]
Called = Callable[[str], str]
SHOWN = 6
"""Datasets that a sentence names; more are counted."""


class Writer:
    """Writes parts of a sentence in LaTeX or plain text, and remembers what was cited."""

    def __init__(self, markup: Markup, called: Called = str) -> None:
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
        """Displayed name of a run or dataset."""
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


def data_in_words(systems: Sequence[System], name: Called) -> str:
    """Return the datasets of some systems with their queries."""
    sizes: dict[str, tuple[int, int]] = {}
    for system in systems:
        dataset = name(system.dataset)
        for evaluation in (entry.evaluation for entry in system.entries):
            size = sizes.get(dataset, (0, 0))
            counts = max(evaluation.n().values(), default=0), evaluation.coverage[1]
            sizes[dataset] = max(size[0], counts[0]), max(size[1], counts[1])
    if len(sizes) > SHOWN:
        return f"{len(sizes)} datasets ({span(n for _, n in sizes.values())} queries each)"
    return sized(sizes)


def parts_in_words(summary: Summary, systems: Sequence[System]) -> str:
    """Describe the aggregation over parts of datasets; nothing if no dataset has parts.

    It is the end of a sentence.
    """
    patterns = {entry.pattern for system in systems for entry in system.entries}
    if not any(f"{{{name}}}" in pattern for name in summary.parts for pattern in patterns):
        return ""
    if summary.average:
        return f", with equal weight for each part ({listed(summary.average)})"
    return f", with the queries of all parts ({listed(summary.pool)}) pooled"


def weights_of_systems(systems: Sequence[System], name: Called) -> str:
    """Return the query weights as the end of a sentence; nothing without weights."""
    words = weighted_in_words({name(one.whole): one.evaluation.weighted_by for one in systems})
    return f", {words}" if words else ""


def repetitions_in_words(systems: Sequence[System]) -> str:
    """Return over how many repetitions values are averaged; nothing if there is one."""
    times = [len(system.entries) for system in systems]
    if max(times, default=1) == 1:
        return ""
    names = sorted({name for system in systems for name in system.varying})
    return f"{span(times)} repetitions per system" + (f" ({listed(names)})" if names else "")


def fused_in_words(
    study: Study, systems: Iterable[System], name: Called, cite: Callable[[Sequence[str]], str]
) -> Iterator[str]:
    """Yield a sentence on each fused run: what it is made of, and how."""
    runs = {entry.run for system in systems for entry in system.entries}
    for run, (parts, fusions) in study.fusions.items():
        if run in runs or "{" in run:
            method = fusions[0].in_words(cite([TITLES[fusions[0].method][1]]))
            if len(fusions) > 1:
                method = method.replace(fusions[0].weights_in_words, f", {len(fusions)} weightings")
            yield f"{name(run)} is fused from {listed(map(name, parts))} by {method}."


_TIES: Mapping[str, str] = {
    "trec_eval": "broken by descending document identifier, as in trec_eval",
    "trec_eval10": "broken by descending document identifier, as in trec_eval 9.0.8 and 10",
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


_REMOVED = {
    "judged_only": ("without judgement", "removed"),
    "drop_identical_ids": ("whose docno equals the qid", "removed first"),
}
"""Which documents a setting removes, and whether before the depth cuts the list."""


def treatment(
    metrics: Sequence[Metric], policy: Policy, counts: Sequence[tuple[str, Counts]], name: Name
) -> Iterator[str]:
    """Yield sentences on ties, depth, unjudged documents and queries without relevant documents.

    A metric's own settings replace those of `policy`; `counts` are each evaluation's, with its
    dataset.
    """
    policies = {metric: policy.with_settings(metric.settings) for metric in metrics}
    if any(metric.settings.ties is None for metric in metrics):
        words = {}
        for metric, effective in policies.items():
            order = _TIES.get(effective.ties, f"put in random order (seed {effective.seed})")
            words[metric] = f"{_PRECISION[effective.score_type]} were {order}"
        yield f"Score ties {by_metric(words, name)}."
    if any(rules.depth for rules in policies.values()):
        words = {
            metric: f"only the first {rules.depth:,} counted" if rules.depth else "all counted"
            for metric, rules in policies.items()
        }
        yield f"Of the documents of each query {by_metric(words, name)}."
    for key, (which, done) in _REMOVED.items():
        if any(getattr(rules, key) for rules in policies.values()):
            removed = {metric: getattr(rules, key) for metric, rules in policies.items()}
            words = {metric: f"were {done}" if r else "were kept" for metric, r in removed.items()}
            yield f"Documents {which} {by_metric(words, name)}."
    yield from _empty_in_words(metrics, policy, counts, name)


def _empty_in_words(
    metrics: Sequence[Metric], policy: Policy, counts: Sequence[tuple[str, Counts]], name: Name
) -> Iterator[str]:
    """Yield the treatment of queries without relevant documents, a sentence per rule."""
    values = {metric: _value_of_empty(metric, policy.empty_queries) for metric in metrics}
    special = [metric for metric in metrics if metric.has_empty_queries]
    together = grouped_by(special, lambda metric: _largest_empty(counts, str(metric)))
    if len(together) < 2:
        together = {numbers: [*metrics] for numbers in together or [_largest_empty(counts, "")]}
    for (n, queries), members in together.items():
        group_values = {metric: values[metric] for metric in members}
        about = f" for {listed(map(name, members))}" if len(together) > 1 else ""
        if n and group_values and all(map(_is_left_out, group_values, group_values.values())):
            yield f"We excluded the {n:,} of {queries:,} queries without relevant documents{about}."
        elif n and (rule := rule_in_words(group_values, name)):
            yield f"Queries without relevant documents{about} ({n:,} of {queries:,}) {rule}."


def _largest_empty(counts: Sequence[tuple[str, Counts]], metric: str) -> tuple[int, int]:
    """Return the queries without relevant documents, and all queries, over the datasets.

    Each dataset's are those of the run that has the most.
    """
    by_dataset = grouped_by(counts, itemgetter(0)).values()
    largest = [max((c for _, c in rows), key=lambda c: c.empty_of(metric)) for rows in by_dataset]
    n = sum(count.empty_of(metric) for count in largest)
    return n, sum(count.queries for count in largest)


def _value_of_empty(metric: Metric, rule: str) -> float | None:
    """Return a metric's value of a query without relevant documents; None if it is a usual one."""
    definition = metric.definition
    if metric.settings.empty is not None:
        return EMPTY[metric.settings.empty]
    if not definition.skips_empty or metric.reference is not None:
        return None
    if rule == "skip":
        return math.nan
    return 1.0 if rule == "one" and definition.bounds == (0.0, 1.0) else definition.empty


def missing_in_words(metrics: Iterable[Metric], policy: Policy, name: Name) -> str:
    """Treatment of queries that a run does not answer."""
    if policy.missing_queries == "skip":
        return _LEFT_OUT
    values = {metric: metric.definition.missing for metric in metrics}
    return rule_in_words(values, name) or "count as usual"


_LEFT_OUT = "are left out"


def _is_left_out(metric: Metric, value: float | None) -> bool:
    is_undefined = value is not None and math.isnan(value)
    return is_undefined and metric.settings.undefined in (None, "skip")


def rule_in_words(values: Mapping[Metric, float | None], name: Name) -> str:
    """Treatment of queries by each metric's value for them; nothing if all values are None."""
    words = {}
    for metric, value in values.items():
        if value is None:
            words[metric] = "count as usual"
        elif _is_left_out(metric, value):
            words[metric] = _LEFT_OUT
        elif math.isnan(value) and metric.settings.undefined == "nan":
            words[metric] = "count as undefined"
        else:
            words[metric] = f"count as {0.0 if math.isnan(value) else value:g}"
    return "" if all(value is None for value in values.values()) else by_metric(words, name)


def by_metric(texts: Mapping[Metric, str], name: Name) -> str:
    """Treatment that most metrics share, and the exceptions.

    >>> import harness.metrics
    >>> from harness.core.names import parse_all
    >>> metrics = parse_all(["map", "P@5", "mse", "arp"])
    >>> by_metric(dict(zip(metrics, ("count", "count", "do not", "do not"), strict=True)), str)
    'count, but do not for mse and arp'
    """
    groups = grouped_by(texts, texts.__getitem__)
    usual = max(groups, key=lambda words: len(groups[words]), default="")
    others = (item for item in groups.items() if item[0] != usual)
    exceptions = [f"{words} for {listed(map(name, members))}" for words, members in others]
    return f"{usual}, but {listed(exceptions)}" if exceptions else usual


def titles_of(metrics: Sequence[Metric], writer: Writer) -> dict[Metric, str]:
    """Displayed name of each metric: its title, or its name if two have the same title."""
    titles = {metric: _title(metric, writer) for metric in metrics}
    times = Counter(titles.values())
    repeated = {metric for metric, title in titles.items() if times[title] > 1}
    return titles | {metric: writer.text(str(metric)) for metric in repeated}


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
    families = grouped_by(metrics, lambda metric: replace(metric, cutoff=None, label=None))
    texts = []
    for metric, members in families.items():
        keys = metric.title[1]
        if str(dict(metric.params).get("gain", "")).startswith("exp"):
            keys = (*keys, "burges2005")
        text = listed(_title(metric, writer) for metric in members) + writer.cite(keys)
        facts = ", ".join(_facts(members[0], level, writer))
        texts.append(f"{text} ({facts})" if facts else text)
    return listed(texts)


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
    """Yield the settings of a metric that a reader could not guess."""
    params = {name: parameter.default for name, parameter in metric.definition.parameters.items()}
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
    elif metric.settings != MetricSettings() or {*dict(metric.params)} - _IN_WORDS:
        yield f"computed as {writer.text(str(replace(metric, cutoff=None)))}"


_TEXT = resources.files(__package__).joinpath("references.bib").read_text("utf-8")
REFERENCES = {entry[1]: entry[0] for entry in re.finditer(r"@\w+\{(\w+),\n(?:  .*\n)+\}\n", _TEXT)}
"""Every entry of ``references.bib`` by its key: first author and year."""


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries of some keys, each once, in alphabetical order.

    >>> bibtex(["holm1979"]).splitlines()[:2]
    ['@article{holm1979,', '  author = {Holm, Sture},']
    """
    entries = {**ENTRIES, **REFERENCES}
    for key in (cited := sorted(set(keys))):
        if key not in entries:
            raise unknown("reference", key, entries)
    return "\n".join(entries[key] for key in cited)


def methods(
    study: Study, markup: Markup = "latex", *, metrics: Sequence[str] = (), name: Called = str
) -> str:
    r"""Return a paragraph for a methods section, in which every number is the study's.

    Citations are ``\citep{key}``, or ``[key]`` in plain text. `metrics` are the canonical names of
    those reported, by default all. `name` gives what a run or dataset is called, before the
    config's `names`.
    """

    def called(spelling: str) -> str:
        return study.names.get(spelling, spelling) if name(spelling) == spelling else name(spelling)

    return _paragraph(study, Writer(markup, called), metrics)


def bibliography(study: Study, *, metrics: Sequence[str] = ()) -> str:
    """Return the BibTeX entries that `methods` cites."""
    writer = Writer("plain")
    _paragraph(study, writer, metrics)
    return bibtex(writer.cited)


def _paragraph(study: Study, writer: Writer, names: Sequence[str]) -> str:
    metrics = [metric for metric in study.board.metrics if not names or str(metric) in names]
    ends = tuple(f"_{name}" for name in NAMES)  # of bounds
    measured = [metric for metric in metrics if not (metric.label or "").endswith(ends)]
    sentences = [*_measured(study, measured, writer), *_treated(study, measured, writer)]
    if len(measured) < len(metrics):
        sentences.append("Bounds are over all orders of tied documents.")
    sentences.append(_software(study, writer))
    if study.comparisons is not None and study.comparisons.rows:
        sentences += _compared(study.comparisons, study, writer)
    return " ".join(sentences) + "\n"


def _measured(study: Study, metrics: Sequence[Metric], writer: Writer) -> Iterator[str]:
    levels = Counter(dict(metric.params).get("rel", 1) for metric in metrics if has_level(metric))
    level = levels.most_common(1)[0][0] if levels else 1
    data = data_in_words(study.systems, writer.name)
    repeated = repetitions_in_words(study.systems)
    averaged = f", averaged over {writer.text(repeated)}" if repeated else ""
    parts = parts_in_words(study.board.summary, study.systems)
    weighted = writer.text(weights_of_systems(study.systems, writer.called))
    yield f"We report {metric_list(metrics, level, writer)} on {data}{averaged}{parts}{weighted}."
    yield from map(writer.text, study.readings)
    yield from fused_in_words(study, study.systems, writer.name, writer.cite)
    if level != 1:
        yield f"Documents of grade {level} and above are relevant."
    choices = dict.fromkeys(c for entry in study.board.entries for c in entry.choices)
    if study.board.selection is not None and choices:
        numbers = [len(choice.ranked) for choice in choices]
        plan, units = study.board.selection.settings, ["system"]
        units += dict.fromkeys(name for choice in choices for name, _ in choice.within)
        (metric,) = compared(study.board.entries[0].evaluation.metrics, [plan.by])
        title = titles_of([metric], writer)[metric]
        over, on = writer.text(listed(plan.over)), writer.text(plan.shown)
        unit = writer.text(listed(units))
        yield f"For each {unit}, we chose the best of {span(numbers)} settings"
        yield f"({over}) by {title} on the validation queries ({on})."
    elif chosen := how_chosen(study.systems):
        yield f"Each system is the {writer.text(chosen)}."


def _treated(study: Study, metrics: Sequence[Metric], writer: Writer) -> Iterator[str]:
    entries = study.board.entries
    policy, name = entries[0].evaluation.policy, titles_of(metrics, Writer("plain")).__getitem__
    counts = [(entry.dataset, entry.evaluation.counts) for entry in entries]
    yield from map(writer.text, treatment(metrics, policy, counts, name))
    missing = [count.missing for _, count in counts if count.missing]
    if missing:
        counts_text = f"{sum(missing):,} in {len(missing)} of {counted(len(entries), 'run')}"
        rule = writer.text(missing_in_words(metrics, policy, name))
        yield f"Queries that a run did not answer ({counts_text}) {rule}."


def _software(study: Study, writer: Writer) -> str:
    versions, (values, largest) = study.versions, study.recomputed
    software = f"ranking-harness {versions.get('harness', '')}".rstrip()
    text = f"Values were computed with {software}{writer.cite(['rankingharness2026'])}"
    if not values:
        return f"{text}."
    tool = writer.text(f"pytrec_eval {versions.get('pytrec-eval-terrier', '')}".rstrip())
    result = f"differed by at most {largest:g}" if largest else "matched exactly"
    cited = writer.cite(["vangysel2018"])
    return f"{text}; {values:,} of them were recomputed with {tool}{cited} and {result}."


def _compared(comparisons: Comparisons, study: Study, writer: Writer) -> Iterator[str]:
    plan, rows = comparisons.plan, comparisons.rows
    titles = titles_of(list(dict.fromkeys(row.metric for row in rows)), writer)
    subject = "We compared all pairs of systems"
    if plan.baselines:
        subject = f"We compared each system with {listed(map(writer.name, plan.baselines))}"
    article = "" if plan.test == "tukey" else "a "  # its title begins with a name
    test = f"{article}{comparisons.title}{writer.cite(comparisons.sources)}"
    if repetitions_in_words(study.systems):
        test += " on per-query means over repetitions"
    if comparisons.weighted:
        test += " of weighted means"
    adjustment = correction(comparisons, writer.cite(CORRECTIONS[plan.correction].sources))
    adjustment = adjustment if comparisons.kind == "all-pairs" else f"with {adjustment}"
    level = writer.formulas(rf"$\alpha = {plan.level:g}$")
    yield f"{subject} on {listed(titles.values())} using {test}, {adjustment} ({level})."
    intervals = dict.fromkeys(INTERVALS[row.interval] for row in rows if not math.isnan(row.low))
    if intervals:
        is_bca = any(row.interval == "bca" for row in rows)
        cited = writer.cite(["efron1987"]) if is_bca else ""
        percent = writer.text(f"{100 * (1 - plan.level):g}%")
        yield f"Intervals are {percent} {listed(intervals)}{cited}."
    if comparisons.drawn:
        yield f"We used {plan.draws:,} random draws (seed {plan.seed})."
    absent = absent_baselines(comparisons, study.datasets, writer.name)
    yield from (f"{capitalised(text)}." for text in absent)
    overall = []
    for result in comparisons.overall:
        if not math.isnan(result.p):
            name = result.name.replace("chi-squared", r"\chi^2")
            statistic = f"{name} = {result.statistic:.4g}"
            text = writer.formulas(f"${statistic}$") if "(" in name else writer.text(statistic)
            p = f"$p = {result.p:.3g}$" if result.p >= 0.001 else "$p < 0.001$"
            where = f"{titles[result.metric]} on {writer.name(result.dataset)}"
            overall.append(f"{text}, {writer.formulas(p)} ({where})")
    if overall:
        yield f"All systems together: {'; '.join(overall)}."
