"""The paragraph for a methods section, its references, and sentences shared with captions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Literal

from .. import __version__
from ..core.entries import System, grouped_by
from ..core.fusion import TITLES
from ..core.metric import ENTRIES, Formula, Metric
from ..core.names import compared, is_bound
from ..core.settings import CONVENTIONS, texts_of
from ..errors import counted, unknown
from ..stats.comparison import REFERENCE_RUNS, Comparisons
from .latex import escape
from .leaderboard import Study, plan_of
from .notes import (
    BOUNDS,
    absent_baselines,
    counted_values,
    missing_in_words,
    repeated_over,
    repetitions_in_words,
    tested_parts,
    treatment,
)
from .phrases import (
    CORRECTIONS,
    INTERVALS,
    confidence,
    cutoffs_together,
    listed,
    sized,
    span,
    unadjusted,
    weighted_in_words,
    without_zero,
)

Markup = Literal["latex", "plain"]
Called = Callable[[str], str]
Shown = Literal["means", "differences", "average"]
"""Values next to the paragraph: intervals of means or of differences, means over datasets."""
SHOWN = 6
"""Datasets that a sentence names; more are counted."""


class Writer:
    """Writes parts of a sentence in LaTeX or plain text, and collects citations."""

    def __init__(self, markup: Markup, called: Called = str, command: str = "cite") -> None:
        self.is_latex = markup == "latex"
        self.command = command
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
        ('~\\cite{holm1979,sakai2018}', ' [holm1979]')
        """
        self.cited.update(dict.fromkeys(keys))
        if not keys:
            return ""
        if not self.is_latex:
            return f" [{', '.join(keys)}]"
        return f"~\\{self.command}{{{','.join(keys)}}}"


def data_in_words(systems: Sequence[System], name: Called) -> str:
    """Return the datasets of some systems with their queries; slices are counted."""
    sizes: dict[bool, dict[str, tuple[int, int]]] = {False: {}, True: {}}
    for system in systems:
        dataset, is_slice = name(system.dataset), bool(system.group)
        for evaluation in (entry.evaluation for entry in system.entries):
            size = sizes[is_slice].get(dataset, (0, 0))
            counts = max(evaluation.n().values(), default=0), evaluation.coverage[1]
            sizes[is_slice][dataset] = max(size[0], counts[0]), max(size[1], counts[1])
    whole, slices = sizes[False] or sizes[True], sizes[True] if sizes[False] else {}
    numbers = [n for n, _ in whole.values()]
    text = f"{len(whole)} datasets ({span(numbers)} queries each)" if numbers else ""
    text = sized(whole) if len(whole) <= SHOWN else text
    if slices:
        columns = listed(dict.fromkeys(s.group.partition("=")[0] for s in systems if s.group))
        sizes_of = f"{span([n for n, _ in slices.values()])} queries each"
        text += f", and on {len(slices)} groups of these by {columns} ({sizes_of})"
    return text


def parts_in_words(study: Study, systems: Sequence[System]) -> str:
    """Describe the aggregation over parts of datasets; nothing if no dataset has parts.

    It is the end of a sentence.
    """
    summary, cells = study.board.summary, study.board.entries
    patterns = {entry.pattern for system in systems for entry in system.entries}
    if not any(f"{{{name}}}" in pattern for name in summary.parts for pattern in patterns):
        return ""
    names = summary.average or summary.pool
    texts = [
        counted_values(name, len({cell.columns.get(name) for cell in cells})) for name in names
    ]
    if summary.average:
        return f", averaged over {listed(texts)} of equal weight"
    return f", with the queries of {listed(texts)} pooled"


def weights_of_systems(systems: Sequence[System], name: Called) -> str:
    """Return the query weights as the end of a sentence; nothing without weights."""
    words = weighted_in_words({name(one.whole): one.evaluation.weighted_by for one in systems})
    return f", each query {words}" if words else ""


def fused_in_words(
    study: Study, systems: Iterable[System], name: Called, cite: Callable[[Sequence[str]], str]
) -> Iterator[str]:
    """Yield a sentence on each fused run, with its runs and its method."""
    runs = {entry.run for system in systems for entry in system.entries}
    for run, (parts, fusions) in study.fusions.items():
        if run in runs or "{" in run:
            method = fusions[0].in_words(cite([TITLES[fusions[0].method][1]]))
            if len(fusions) > 1:
                number = f", with one of {len(fusions)} weightings"
                method = method.replace(fusions[0].weights_in_words, number)
            yield f"We fused {listed(map(name, parts))} into {name(run)} by {method}."


def titles_of(metrics: Sequence[Metric], writer: Writer) -> dict[Metric, str]:
    """Displayed name of each metric: its title, with its settings if two have the same title."""
    titles = {metric: _title(metric, writer) for metric in metrics}
    times = Counter(titles.values())
    for metric, title in titles.items():
        if times[title] > 1:
            parts = (_with_settings(metric, title, 1, writer), _of_tool(metric, writer))
            titles[metric] = " ".join(filter(None, parts))
    return titles


def _title(metric: Metric, writer: Writer) -> str:
    if (own := writer.called(str(metric))) != str(metric):
        return writer.text(own)
    title = writer.title(metric.title[0] or metric.definition.name)
    if metric.cutoff is None or "{}" in title:
        return title.replace("{}", f"{metric.cutoff or 0:g}")
    return f"{title}{' in the top ' if ' ' in title else '@'}{metric.cutoff:g}"


def _with_settings(metric: Metric, title: str, level: float, writer: Writer) -> str:
    nouns = [*_facts(metric, level, writer)]
    text = title + (f" with {listed(nouns)}" if nouns else "")
    return " ".join([text, *_details(metric, writer)])


def _of_tool(metric: Metric, writer: Writer) -> str:
    tool = CONVENTIONS[metric.convention].tool if metric.convention is not None else ""
    return f"as computed by {writer.text(tool)}" if tool else ""


def metric_list(metrics: Sequence[Metric], level: float, writer: Writer) -> str:
    """Return all metrics in words; those that differ in their cutoff alone are together.

    `level` is the smallest relevant grade that the text already states.

    >>> import harness.metrics
    >>> from harness.core.names import parse_all
    >>> metrics = parse_all(["map", "ndcg@5,10", "ndcg(gain=exp)@10"])
    >>> print(metric_list(metrics, 1, Writer("plain")))  # doctest: +NORMALIZE_WHITESPACE
    MAP [buckley2005], nDCG at 5 and 10 with linear gain [jarvelin2002], and nDCG@10 with
    exponential gain 2^g - 1 [burges2005]
    """
    families = grouped_by(metrics, lambda metric: replace(metric, cutoff=None, label=None))
    is_shared = len(families) > 1 == len({metric.convention for metric in metrics})
    texts, cited = [], set[str]()
    for metric, members in families.items():
        keys, tool = metric.title[1], "" if is_shared else _of_tool(metric, writer)
        if str(dict(metric.params).get("gain", "")).startswith("exp"):
            keys = (*keys, "burges2005")
        if tool:
            keys = (*keys, *CONVENTIONS[metric.convention or ""].cite)
        titles = cutoffs_together(_title(member, writer) for member in members)
        text = _with_settings(members[0], listed(titles), level, writer)
        text = " ".join(filter(None, (text, tool)))
        text += writer.cite([key for key in keys if key not in cited])
        cited.update(keys)
        texts += titles if text == listed(titles) else [text]
    text = listed(texts)
    if is_shared and (tool := _of_tool(metrics[0], writer)):
        text += f", {tool}{writer.cite(CONVENTIONS[metrics[0].convention or ''].cite)},"
    return text


def has_level(metric: Metric) -> bool:
    """Whether a metric has a smallest relevant grade: not if it compares to another run."""
    params = dict(metric.params)
    has = "rel" in metric.definition.parameters and metric.reference is None
    return has and params.get("above") is None


def has_gain(metric: Metric) -> bool:
    """Whether a metric takes a gain from each grade."""
    return "gain" in metric.definition.parameters


_NOUNS: Mapping[str, str] = {
    "gain=linear": "linear gain",
    "gain=exp": "exponential gain $2^g - 1$",
    "gain=exp-int32": "exponential gain $2^g - 1$ in 32 bits",
    "gain=letor": "gains 0, 1, 3 for grades 0, 1, 2",
    "gain=mslr": "gains 0, 1, 3, 7, 15 for grades 0 to 4",
    "gain=binary": "binary gain",
    "gains": "gains by grade {}",
    "discount=jarvelin": "no discount at the first two ranks",
    "discount=position": "discounts 1/rank",
    "p": "$p = {}$",
    "alpha=1": "",
    "beta=1": "",
    "alpha": r"$\alpha = {}$",
    "beta": r"$\beta = {}$",
    "t": "$T = {}$",
    "decay": "a decay of {}",
    "max_grade": "a highest grade of {}",
    "stop=linear": "linear stopping probabilities",
    "ideal=full": "the ideal gain of the whole list",
    "ideal=list": "the ideal order of the list",
    "ideal=retrieved": "the ideal order of the retrieved documents",
    "negative=value": "negative gains",
    "form=res": "the residual",
    "form=residual": "the residual",
    "form=min": "the lower bound",
    "form=max": "the upper bound",
    "form=upper": "the upper bound",
    "form=truncated": "truncated lists",
    "k": "lists of {} documents",
    "target=largest": "the highest grade as the target",
    "coefficients": "coefficients {}",
    "levels": "levels of recall {}",
    "ties=trec_eval": "ties by descending document identifier",
    "ties=docno+": "ties by ascending document identifier",
    "ties=stable": "ties in the order of the file",
    "ties=reverse": "ties in the reverse order of the file",
    "ties=average": "ties averaged over all orders",
    "ties": "ties in the {} order",
    "scores": "scores compared as {}",
    "depth": "the first {} documents only",
    "judged_only=true": "unjudged documents removed",
    "judged_only=false": "unjudged documents kept",
    "drop_identical_ids=true": "documents of the query's identifier removed",
    "undefined=nan": "undefined values kept",
    "undefined=zero": "undefined values counted as 0",
    "undefined=skip": "undefined values left out",
    "few=nan": "queries of too few documents left out",
    "few": "queries of too few documents counted as {}",
    "labels=clip": "grades clipped to the bounds of the tool",
}
"""Settings in words, by name and value or by name alone; ``{}`` is the value."""
_CLAUSES: Mapping[str, str] = {
    "denominator=cutoff": "divided by the cutoff",
    "denominator=list": "divided by the length of the list",
    "denominator=hits": "divided by the relevant documents retrieved",
    "denominator=grades": "divided by the sum of grades",
    "over=grades": "averaged over all relevant documents",
    "over=pairs": "averaged over all pairs",
    "above": "of scores above {}",
    "short=nan": "undefined for shorter lists",
    "short=zero": "zero for shorter lists",
    "reference": "against {}",
    "unfound": "of {} if none is retrieved",
}
"""The same for settings that do not follow "with"."""
_ALWAYS = {"gain", "p", "alpha", "beta", "t", "decay", "max_grade"}
"""Parameters that a reader could not guess, stated with their default too."""
_IN_TITLE = {"normalize", "rel"}


def settings_in_words(metric: Metric) -> str:
    """Return the settings of a metric that a reader could not guess; empty if there are none.

    >>> import harness.metrics
    >>> from harness.core.names import parse
    >>> settings_in_words(*parse("ndcg(gain=exp)@10"))
    'exponential gain'
    """
    # a formula in plain text helps no reader of a table
    facts = (text.partition(" 2^g")[0] for text in _facts(metric, 1, Writer("plain")))
    return listed(texts) if (texts := [*facts]) else ""


def _facts(metric: Metric, level: float, writer: Writer) -> Iterator[str]:
    """Yield the settings of a metric that a reader could not guess, as nouns."""
    definition, own = metric.definition, dict(metric.params)
    given = own.keys() if metric.convention is None else dict(metric.given).keys()
    gain = own.get("gain", getattr(definition.parameters.get("gain"), "default", ""))
    hidden = {*_IN_TITLE, "max_grade"} if gain == "binary" else _IN_TITLE
    for name, parameter in definition.parameters.items():
        text = parameter.text(own.get(name, parameter.default))
        keys = {name, f"{name}={text}"}
        is_told = keys & {*hidden, *definition.variants, *_CLAUSES}
        if not is_told and name in {*given, *_ALWAYS}:
            words = _NOUNS.get(f"{name}={text}", _NOUNS.get(name, f"{name.replace('_', ' ')} {{}}"))
            if words:
                yield writer.formulas(words.replace("{}", text.replace(":", ", ")))
    if has_level(metric) and own.get("rel", 1) != level:
        yield f"grades of {own.get('rel', 1):g} and above as relevant"
    for name, text in metric.given if metric.convention is not None else texts_of(metric.settings):
        if name not in definition.parameters and name != "empty":  # a sentence tells that
            words = _NOUNS.get(f"{name}={text}", _NOUNS.get(name, f"{name.replace('_', ' ')} {{}}"))
            yield writer.text(words.replace("{}", text))


def _details(metric: Metric, writer: Writer) -> Iterator[str]:
    """Yield the settings of a metric that do not follow "with"."""
    given = dict(metric.params)
    if metric.convention is not None:
        given = {name: value for name, value in given.items() if name in dict(metric.given)}
    for name, value in given.items():
        text = metric.definition.parameters[name].text(value)
        if words := _CLAUSES.get(f"{name}={text}", _CLAUSES.get(name, "")):
            yield words.replace("{}", writer.name(text) if name == "reference" else text)


_TEXT = resources.files(__package__).joinpath("references.bib").read_text("utf-8")
_TEXT = _TEXT.replace("VERSION", __version__)
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
    study: Study, markup: Markup = "latex", *, metrics: Sequence[str] = (), name: Called = str,
    shown: Sequence[Shown] = (), cite: str = "cite",
) -> str:  # fmt: skip
    r"""Return a paragraph for a methods section, with the numbers of the study.

    Citations are ``\cite{key}`` or another command `cite`, and ``[key]`` in plain text. `metrics`
    are the canonical names of those reported, by default all. `name` returns the name of a run,
    dataset or metric, and precedes the config's `names`. `shown` are the values next to it.
    """

    def called(spelling: str) -> str:
        return study.names.get(spelling, spelling) if name(spelling) == spelling else name(spelling)

    return _paragraph(study, Writer(markup, called, cite), metrics, shown)


def bibliography(study: Study, *, metrics: Sequence[str] = (), shown: Sequence[Shown] = ()) -> str:
    """Return the BibTeX entries that `methods` cites."""
    writer = Writer("plain")
    _paragraph(study, writer, metrics, shown)
    return bibtex(writer.cited)


def _paragraph(study: Study, writer: Writer, names: Sequence[str], shown: Sequence[Shown]) -> str:
    metrics = [metric for metric in study.board.metrics if not names or str(metric) in names]
    measured = [metric for metric in metrics if not is_bound(metric)]
    sentences = [*_measured(study, measured, writer, shown), *_treated(study, measured, writer)]
    if len(measured) < len(metrics):
        sentences.append(BOUNDS)
    if study.comparisons is not None and study.comparisons.rows:
        sentences += _compared(study.comparisons, study, measured, writer)
    sentences += [*_intervals(study, writer, shown), _software(study, writer)]
    return " ".join(sentences) + "\n"


def _measured(
    study: Study, metrics: Sequence[Metric], writer: Writer, shown: Sequence[Shown]
) -> Iterator[str]:
    levels = Counter(dict(metric.params).get("rel", 1) for metric in metrics if has_level(metric))
    level = levels.most_common(1)[0][0] if levels else 1
    data = data_in_words(study.systems, writer.name)
    repeated = repetitions_in_words(study.systems)
    averaged = f", averaged over {writer.text(repeated)}" if repeated else ""
    parts = writer.text(parts_in_words(study, study.systems))
    weighted = writer.text(weights_of_systems(study.systems, writer.called))
    if averaged:
        parts = parts.replace(", averaged over", " and over")
    parts += ", with means over these datasets" if "average" in shown else ""
    yield f"We report {metric_list(metrics, level, writer)} on {data}{averaged}{parts}{weighted}."
    yield from map(writer.text, study.readings)
    yield from fused_in_words(study, study.systems, writer.name, writer.cite)
    gains = [dict(metric.params).get("gain", "linear") for metric in metrics if has_gain(metric)]
    if levels and (level != 1 or any(gain != "binary" for gain in gains)):
        yield f"Grades of {level:g} and above counted as relevant."
    choices = dict.fromkeys(c for entry in study.board.entries for c in entry.choices)
    if study.board.selection is not None and choices:
        numbers = [len(choice.ranked) for choice in choices]
        plan, units = study.board.selection.settings, ["system"]
        units += dict.fromkeys(name for choice in choices for name, _ in choice.within)
        (metric,) = compared(study.board.entries[0].evaluation.metrics, [plan.by])
        title = titles_of([metric], writer)[metric]
        over, on = writer.text(listed(plan.over)), writer.text(plan.shown)
        how = f"the best of {span(numbers)} settings of {over} by {title}"
        yield f"For each {writer.text(listed(units))}, we chose {how} on the validation data, {on}."
    elif chosen := [s.best_of for s in study.systems if s.best_of and s.best_of.of > 1]:
        sizes, values = {choice.of for choice in chosen}, listed(chosen[0].names)
        several = f"{span(sizes)} values of {values}"
        several = counted_values(values, *sizes) if len(sizes) == 1 else several
        by = {str(metric): title for metric, title in titles_of(metrics, writer).items()}
        titles = listed(dict.fromkeys(by.get(c.metric, writer.text(c.metric)) for c in chosen))
        best = f"the best of {writer.text(several)}, chosen on these queries by {titles}"
        yield f"Each system is {best}."


def _treated(study: Study, metrics: Sequence[Metric], writer: Writer) -> Iterator[str]:
    entries = study.board.entries
    policy, name = entries[0].evaluation.policy, titles_of(metrics, Writer("plain")).__getitem__
    counts = [(entry.dataset, entry.evaluation.counts) for entry in entries]
    yield from map(writer.text, treatment(metrics, policy, counts, name, past=True))
    missing = [count.missing for _, count in counts if count.missing]
    if missing:
        counts_text = f"{sum(missing):,} in {len(missing)} of {counted(len(entries), 'run')}"
        rule = writer.text(missing_in_words(metrics, policy, name, past=True))
        yield f"Queries that a run did not answer ({counts_text}) {rule}."


def _software(study: Study, writer: Writer) -> str:
    versions, (values, largest) = study.versions, study.recomputed
    software = f"ranking-harness {versions.get('harness', '')}".rstrip()
    text = f"Values were computed with {software}{writer.cite(['rankingharness2026'])}"
    if not values:
        return f"{text}."
    tool = writer.text(f"pytrec_eval {versions.get('pytrec-eval-terrier', '')}".rstrip())
    result = f"differed by at most {largest:g}" if largest else "matched exactly"
    part = f"a sample of {counted(values, 'value')}" if study.is_sampled else f"{values:,} of them"
    if values == sum(entry.evaluation.values.size for entry in study.cells.entries):
        part = f"all {values:,} values"
    verb = "were" if values > 1 and not study.is_sampled else "was"
    cited = writer.cite(["vangysel2018"])
    return f"{text}; {part} {verb} recomputed with {tool}{cited} and {result}."


def _compared(
    comparisons: Comparisons, study: Study, shown: Sequence[Metric], writer: Writer
) -> Iterator[str]:
    plan, rows = comparisons.plan, comparisons.rows
    metrics = list(dict.fromkeys(row.metric for row in rows))
    titles = titles_of(list(dict.fromkeys((*shown, *metrics))), writer)
    systems = dict.fromkeys(name for row in rows for name in (row.baseline, row.run))
    pairs = listed(map(writer.name, systems)) if len(systems) == 2 else "all pairs of systems"
    subject = f"We compared {pairs}"
    if plan.baselines:
        runs = dict.fromkeys(row.run for row in rows if row.run not in plan.baselines)
        names = (REFERENCE_RUNS.get(name) or writer.name(name) for name in plan.baselines)
        system = writer.name(*runs) if len(runs) == 1 else "each system"
        subject = f"We tested {system} against {listed(names)}"
    ranked = [metric for metric in shown if metric.definition.direction]
    untested = [metric for metric in ranked if metric not in metrics]
    if untested and len(untested) < len(metrics):
        subject += f" on all metrics but {listed(map(titles.__getitem__, untested))}"
    elif untested or not set(metrics) <= set(ranked):
        subject += f" on {listed(map(titles.__getitem__, metrics))}"
    level = f"$\\alpha = {without_zero(plan.level)}$"
    tests, dimensions = _family(comparisons, writer)
    facts = f"({'; '.join(filter(None, (dimensions, writer.formulas(level))))})"
    title, cited = comparisons.title, writer.cite(comparisons.sources)
    if comparisons.kind == "all-pairs":
        family = tests.replace("test", "pair")
        yield f"{subject} by {title}{cited}, which adjusts p-values over {family} {facts}."
    else:
        several = sum(not math.isnan(row.p) for row in rows) > 1
        title = re.sub(r"\btest\b", "tests", title, count=1) if several else f"a {title}"
        test = f"{subject} with {title}{cited}{_units(comparisons, study)}"
        correction = CORRECTIONS[plan.correction]
        if re.match("(the )?1 test", tests):
            if each := tests.partition("1 test")[2]:
                facts = f"(one test{each.replace(' of ', ' for ')}; {facts[1:]}"
            yield f"{test} {facts}."
        elif plan.correction == "none":
            yield f"{test}, without adjusting the p-values of {tests} {facts}."
        else:
            method = correction.title.replace("correction", "method")
            method += writer.cite(correction.sources)
            yield f"{test}, and adjusted p-values by {method} over {tests} {facts}."
    if any(row.drawn for row in rows):
        yield f"The tests used {plan.draws:,} random draws (seed {plan.seed})."
    yield from map(writer.text, tested_parts(comparisons))
    yield from absent_baselines(comparisons, study.datasets, writer.name)
    yield from _overall(comparisons, titles, writer)


def _units(comparisons: Comparisons, study: Study) -> str:
    over = repeated_over(study.systems)
    means = f" on per-query means over {over}" if over else ""
    return means + (" of weighted means" if comparisons.weighted else "")


def _family(comparisons: Comparisons, writer: Writer) -> tuple[str, str]:
    rows = [row for row in comparisons.rows if not math.isnan(row.p)]
    families = grouped_by(rows, lambda row: comparisons.family(row)[0]).values()
    largest = max(families, key=len, default=[])
    each = []
    for name, words in (("metric", "of each metric"), ("dataset", "on each dataset")):
        numbers = {len({getattr(row, name) for row in family}) for family in families}
        if numbers == {1} and len({getattr(row, name) for row in rows}) > 1:
            each.append(words)
    if len(families) > 1 and not each:  # slices, which are corrected by themselves
        each.append("on all queries and on each group of them")
    number = counted(1, "test") if not families else f"{span(map(len, families))} tests"
    number = number.replace("1 tests", "1 test") if largest[1:] == [] else number
    pairs = {"run": "systems", "baseline": "baselines"}
    columns = pairs if comparisons.plan.baselines else {"pair": "pairs of systems"}
    columns |= {"metric": "metrics", "dataset": "datasets"}
    values = {
        name: {(row.run, row.baseline) if name == "pair" else getattr(row, name) for row in largest}
        for name in columns
    }
    varying = [columns[name] for name, different in values.items() if len(different) > 1]
    times = writer.title(Formula(r"\times", "x"))
    dimensions = f" {times} ".join(varying) if len(varying) > 1 else ""
    return " ".join(["the", number, *each] if each else [number]), dimensions


def _overall(
    comparisons: Comparisons, titles: Mapping[Metric, str], writer: Writer
) -> Iterator[str]:
    results = [result for result in comparisons.overall if not math.isnan(result.p)]
    level, texts = comparisons.plan.level, []
    for result in results:
        name = result.name.replace("chi-squared", r"\chi^2")
        digits = 2 if "(" in name else 4
        statistic = f"{name} = {result.statistic:.{digits}f}"
        text = writer.formulas(f"${statistic}$") if "(" in name else writer.text(statistic)
        p = f"= {without_zero(float(f'{result.p:.3g}'))}" if result.p >= 0.001 else "< .001"
        where = f" for {titles[result.metric]}" if len({r.metric for r in results}) > 1 else ""
        if len({r.dataset for r in results}) > 1:
            where += f" on {writer.name(result.dataset)}"
        texts.append(f"{text}, {writer.formulas(f'$p {p}$')}{where}")
    if len(texts) > SHOWN:
        n = sum(result.p <= level for result in results)
        what = "combinations of metric and dataset"
        yield f"Over all systems, differences are significant for {n} of {len(texts)} {what}."
    elif texts:
        yield f"Over all systems: {'; '.join(texts)}."


def _intervals(study: Study, writer: Writer, shown: Sequence[Shown]) -> Iterator[str]:
    plan = plan_of(study)
    percent = writer.text(confidence(plan.level))
    if "means" in shown and not study.board.summary.average:
        kinds = mean_intervals(study, study.systems)
        yield f"Intervals of means are unadjusted {percent} {listed(kinds)}."
    if "differences" in shown and study.comparisons is not None:
        rows = [row for row in study.comparisons.rows if not math.isnan(row.low)]
        for kind in dict.fromkeys(row.interval for row in rows):
            cited = writer.cite(["efron1987"]) if kind == "bca" else ""
            yield f"Intervals of differences are {unadjusted(kind, percent)}{cited}."


def mean_intervals(study: Study, systems: Sequence[System]) -> list[str]:
    """Return the kinds of intervals of the means of some systems."""
    repeated = [len(system.entries) > 1 for system in systems]
    is_bca = plan_of(study).interval == "bca" or weights_of_systems(systems, str)
    kinds = [] if all(repeated) else [INTERVALS["bca" if is_bca else "t"]]
    clustered = "clustered bootstrap intervals over queries and repetitions"
    return kinds + ([clustered] if any(repeated) else [])
