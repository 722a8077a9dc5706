"""The methods section's sentences on metrics, data, tests and software, from a finished study."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..core.comparison import Comparisons
from ..core.metric import Formula, Metric
from ..core.names import NAMES
from ..core.study import Study
from ..core.systems import how_chosen
from .phrases import CORRECTIONS, capitalised, counted, listed, span
from .references import bibtex
from .wording import (
    Markup,
    Name,
    Writer,
    consequences,
    empty_queries,
    has_level,
    metric_list,
    rankings_in_words,
    titles_of,
    values_of_empty,
    values_of_missing,
)

_CORRECTIONS = {
    "holm": "holm1979", "bonferroni": "dunn1961", "bh": "benjamini1995", "by": "benjamini2001",
}  # fmt: skip
"""The literature behind the corrections."""
_FAMILIES = {
    "table": "over all {} comparisons{by}",
    "metric": "over the {} comparisons by each metric on each dataset",
    "dataset": "over the {} comparisons on each dataset",
}
_PACKAGE = "ranking-harness"
_PACKAGES = {"numpy": "NumPy", "scipy": "SciPy"}
_SIMULTANEOUS = ("tukey",)
_SHOWN = 6


def methods(
    study: Study,
    markup: Markup = "latex",
    *,
    metrics: Sequence[str] = (),
    name: Callable[[str], str] = str,
) -> str:
    r"""Return a few sentences for a methods section.

    What was measured on what; how ties, missing and empty queries were treated, with which
    software; and how runs were compared, where they were. Every number is the study's.

    Parameters
    ----------
    study : Study
    markup : {"latex", "plain"}
        Citations as ``\citep{key}``, or as ``[key]``.
    metrics : sequence of str, optional
        Canonical names of those named; all where left out.
    name : callable, optional
        Gives what a run or dataset is called.

    Returns
    -------
    str
        A paragraph of one line, with its line end.
    """
    return _written(study, Writer(markup, name), metrics)


def sources(study: Study, *, metrics: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the keys that :func:`methods` cites, in order."""
    writer = Writer("plain")
    _written(study, writer, metrics)
    return tuple(writer.cited)


def bibliography(study: Study, *, metrics: Sequence[str] = ()) -> str:
    """Return the BibTeX entries that :func:`methods` cites."""
    return bibtex(sources(study, metrics=metrics))


def _written(study: Study, writer: Writer, names: Sequence[str]) -> str:
    metrics = [one for one in study.board.metrics if not names or str(one) in names]
    found = [_measured(study, metrics, writer), _treated(study, metrics, writer)]
    if study.comparisons is not None and study.comparisons.rows:
        found.append(_compared(study.comparisons, study, metrics, writer))
    return " ".join(found) + "\n"


def _is_bound(metric: Metric) -> bool:
    return metric.label is not None and metric.label.endswith(tuple(f"_{one}" for one in NAMES))


def _level(metrics: Sequence[Metric]) -> int:
    """Return the smallest relevant grade of most metrics that have one."""
    levels = Counter(dict(one.params).get("rel", 1) for one in metrics if has_level(one))
    return levels.most_common(1)[0][0] if levels else 1


def _measured(study: Study, metrics: Sequence[Metric], writer: Writer) -> str:
    named = [one for one in metrics if not _is_bound(one)]
    level = _level(named)
    text = f"We report {metric_list(named, level, writer)} on {_datasets(study, writer)}"
    if level != 1:
        text += f"; documents of grade {level} and above are relevant"
    repeated = [len(system.entries) for system in study.systems]
    if max(repeated) > 1:
        columns = sorted({name for one in study.systems for name in one.varying})
        by = f" ({listed(map(writer.text, columns))})" if columns else ""
        text += f"; values are means over {span(repeated)} repetitions of each system{by}"
    if chosen := how_chosen(study.systems):
        text += f"; each system is the {writer.text(chosen)}"
    return text + "."


def _datasets(study: Study, writer: Writer) -> str:
    sizes: dict[str, int] = {}
    for system in study.systems:
        queries = (entry.evaluation.coverage[1] for entry in system.entries)
        sizes[system.dataset] = max(sizes.get(system.dataset, 0), *queries)
    if len(sizes) > _SHOWN:
        return f"{len(sizes)} datasets ({span(sizes.values())} queries each){_parts(study)}"
    names = listed(
        f"{writer.name(name)} ({counted(n, 'query', 'queries')})" for name, n in sizes.items()
    )
    return f"{names}{_parts(study)}"


def _parts(study: Study) -> str:
    """Return how the parts of datasets were taken together, where they were."""
    summary = study.board.summary
    n = len({entry.dataset for entry in study.board.entries})
    if not summary.parts or n == len(study.datasets):
        return ""
    if summary.average:
        return f", means over {n} parts ({listed(summary.average)}) that count alike"
    return f", whose {n} parts ({listed(summary.pool)}) were pooled by query"


def _treated(study: Study, metrics: Sequence[Metric], writer: Writer) -> str:
    entries = study.board.entries
    policy = entries[0].evaluation.policy
    named = [one for one in metrics if not _is_bound(one)]
    name = titles_of(named, writer).__getitem__
    parts = list(rankings_in_words(named, policy, name))
    if any(_is_bound(one) for one in metrics):
        parts.append("bounds are over all orders of tied documents")
    parts += _unanswered(study, named, name)
    parts += _without_relevant(study, named, name)
    software = f"values were computed with {_software(study, writer)}"
    parts.append(f"{software}{_checked(study, writer)}")
    return " ".join(f"{capitalised(part)}." for part in parts)


def _unanswered(study: Study, metrics: Sequence[Metric], name: Name) -> Iterator[str]:
    entries = study.board.entries
    counts = [one.evaluation.counts.missing for one in entries if one.evaluation.counts.missing]
    if not counts:
        return
    what = f"queries that a run did not answer ({sum(counts):,} in {len(counts)} of "
    what += f"{counted(len(entries), 'run')})"
    if entries[0].evaluation.policy.missing_queries == "skip":
        yield f"{what} were left out"
        return
    yield f"{what} {_by_value(values_of_missing(metrics), name)}"


def _without_relevant(study: Study, metrics: Sequence[Metric], name: Name) -> Iterator[str]:
    entries = study.board.entries
    counts = ((entry.dataset, entry.evaluation.counts) for entry in entries)
    most, empty, queries = empty_queries(counts, metrics)
    values = values_of_empty(metrics, entries[0].evaluation.policy.empty_queries)
    if empty:
        what = f"queries without relevant documents ({most}{empty:,} of {queries:,})"
        yield f"{what} {_by_value(values, name)}"


def _by_value(values: Mapping[Metric, float | None], name: Name) -> str:
    """Return that queries count with the values that metrics have for them."""
    how = consequences(values, name, "counted", "were left out")
    return how or "are no special case to any metric"


def _software(study: Study, writer: Writer) -> str:
    versions = study.manifest.get("versions", {})
    own = f"{_PACKAGE} {versions['harness']}" if versions.get("harness") else _PACKAGE
    own += writer.cite(["rankingharness2026"])
    with_ = [f"{title} {versions[name]}" for name, title in _PACKAGES.items() if versions.get(name)]
    return own + (f" ({listed(with_)})" if with_ else "")


def _checked(study: Study, writer: Writer) -> str:
    """Return what pytrec_eval computed again; nothing where it was asked nothing."""
    audits: list[dict[str, Any]] = [
        cell.get("crosscheck", {}) for cell in study.manifest.get("cells", ())
    ]
    values = sum(one.get("values", 0) for one in audits)
    if not values:
        return ""
    queries = sum(one.get("queries", 0) for one in audits)
    version = study.manifest.get("versions", {}).get("pytrec-eval-terrier")
    tool = writer.text("pytrec_eval" + (f" {version}" if version else ""))
    largest = max(one.get("largest_difference", 0.0) for one in audits)
    differed = "which agreed exactly" if largest == 0 else f"which differed by at most {largest:g}"
    whole = f"{counted(values, 'value')} of {counted(queries, 'ranking')}"
    return (
        f", and {whole} were computed again with {tool} ({writer.text('trec_eval')} 9.0.8)"
        f"{writer.cite(['vangysel2018'])}, {differed}"
    )


def _compared_of(found: Comparisons, metrics: Sequence[Metric]) -> int:
    """Return how many of the metrics that are reported runs were compared by."""
    return len({str(one.metric) for one in found.rows} & set(map(str, metrics)))


def _in_terms_of(found: Comparisons, metrics: Sequence[Metric], writer: Writer) -> str:
    """Return by which metrics runs were compared, where not by all that are reported."""
    used = {str(one.metric): one.metric for one in found.rows}
    named = [one for one in metrics if not _is_bound(one)]
    rest = [one for one in named if str(one) not in used]
    titles = titles_of(list(dict.fromkeys([*named, *used.values()])), writer)
    if not rest:
        return ""
    if len(rest) < len(used):
        return f" in terms of all metrics but {listed(titles[one] for one in rest)}"
    return f" in terms of {listed(titles[one] for one in used.values())}"


def _compared(found: Comparisons, study: Study, metrics: Sequence[Metric], writer: Writer) -> str:
    plan = found.plan
    if plan.baselines:
        who = f"Runs were compared with {listed(map(writer.name, plan.baselines))}"
    else:
        who = "All pairs of runs on a dataset were compared"
    who += _in_terms_of(found, metrics, writer)
    level = writer.formula(Formula(rf"\alpha = {plan.level:g}", f"alpha = {plan.level:g}"))
    text = f"{who} by {_article(found.title)}{writer.cite(found.sources)}"
    if any(len(system.entries) > 1 for system in study.systems):
        text += " of each query's mean over the repetitions"
    text += f", at {level}{_corrected(found, _compared_of(found, metrics), writer)}"
    drawn, absent = any("draws" in one.method for one in found.rows), ""
    if drawn:
        text += f", with {plan.draws:,} random draws (seed {plan.seed})"
    for baseline, datasets in found.absent:
        where = listed(writer.name(name) for name in datasets if name in study.datasets)
        if where:
            name = writer.name(baseline)
            absent += f" No test against {name} is made on {where}, where it was not run."
    return f"{text}{_intervals(found, drawn, writer)}.{absent}{_together(found, writer)}"


def _together(found: Comparisons, writer: Writer) -> str:
    """Return what a test of all systems together says, a metric and dataset each; or the range."""
    known = [one for one in found.overall if one.p == one.p]
    if not known:
        return ""
    if len(known) > _SHOWN:
        low, high = (_p(choose(one.p for one in known), writer) for choose in (min, max))
        return f" The {len(known)} tests of all systems together have {low} to {high}."
    each = []
    titles = titles_of(list(dict.fromkeys(one.metric for one in known)), writer)
    for one in known:
        name = one.name or "statistic"
        value = f"{one.statistic:.2f}" if abs(one.statistic) >= 1 else f"{one.statistic:.3g}"
        latex = name.replace("chi-squared", r"\chi^2") if "(" in name else rf"\text{{{name}}}"
        said = writer.formula(Formula(f"{latex} = {value}", f"{name} = {value}"))
        where = f"{titles[one.metric]} on {writer.text(one.dataset)}"
        each.append(f"{said}, {_p(one.p, writer)} ({where})")
    return f" All systems together: {'; '.join(each)}."


def _p(p: float, writer: Writer) -> str:
    said = f"p = {p:.3g}" if p >= 0.001 else "p < 0.001"
    return writer.formula(Formula(said, said))


def _intervals(found: Comparisons, drawn: bool, writer: Writer) -> str:
    plan = found.plan
    if all(math.isnan(one.low) for one in found.rows):
        return ""
    percent = f"{100 * (1 - plan.level):g}" + (r"\%" if writer.is_latex else "%")
    if plan.test in _SIMULTANEOUS:
        return f"; {percent} intervals of differences are simultaneous"
    if plan.interval == "t":
        return f"; {percent} intervals of differences are from the t distribution"
    by = f"by the BCa bootstrap{writer.cite(['efron1987'])}"
    draws = "" if drawn else f" with {plan.draws:,} draws (seed {plan.seed})"
    return f"; {percent} intervals of differences are {by}{draws}"


def _article(title: str) -> str:
    """Return a test's title with an article, but where it starts with a name: Tukey's HSD.

    >>> _article("paired t-test"), _article("Tukey's HSD test"), _article("Friedman test")
    ('a paired t-test', "Tukey's HSD test", 'a Friedman test')
    """
    has_own = title.split(" ")[0] in ("the", "a", "an") or "'s " in title[:20]
    return title if has_own else f"a {title}"


def _corrected(found: Comparisons, shown: int, writer: Writer) -> str:
    """Return how comparisons were corrected; a test of all pairs corrects by itself."""
    plan, sizes = found.plan, [size for _, size in found.family_sizes]
    if found.kind == "all-pairs" or max(sizes, default=0) < 2:
        return ""
    used = len({str(one.metric) for one in found.rows})
    # else a reader who sees fewer metrics counts fewer comparisons
    by = f" by {used} metrics" if used > shown else ""
    over = _FAMILIES[plan.family].format(span(sizes), by=by)
    if plan.correction == "none":
        return f", without correction for {over.removeprefix('over ')}"
    cited = writer.cite([_CORRECTIONS[plan.correction]])
    return f", with {CORRECTIONS[plan.correction]}{cited} {over}"
