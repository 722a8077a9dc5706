"""The methods section's paragraph on metrics, data, tests and software, and its references."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import resources

from ..core.comparison import Comparisons
from ..core.metric import ENTRIES, Metric
from ..core.names import NAMES
from ..core.systems import Study, compared, how_chosen
from ..errors import UnknownNameError, did_you_mean
from .phrases import INTERVALS, absent_baselines, capitalised, correction, counted, listed, span
from .wording import (
    Markup,
    Writer,
    data_in_words,
    has_level,
    metric_list,
    missing_in_words,
    parts_in_words,
    repetitions_in_words,
    titles_of,
    treatment,
)

CITED_CORRECTIONS = {
    "holm": ("holm1979",), "bonferroni": ("dunn1961",), "bh": ("benjamini1995",),
    "by": ("benjamini2001",), "none": (),
}  # fmt: skip
"""The literature behind the corrections."""
_TEXT = resources.files(__package__).joinpath("references.bib").read_text("utf-8")
REFERENCES = {entry[1]: entry[0] for entry in re.finditer(r"@\w+\{(\w+),\n(?:  .*\n)+\}\n", _TEXT)}
"""Every entry of ``references.bib`` by its key: first author and year."""


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries of some keys, each once, in alphabetical order.

    >>> bibtex(["holm1979"]).splitlines()[:2]
    ['@article{holm1979,', '  author = {Holm, Sture},']
    """
    known = {**ENTRIES, **REFERENCES}
    for key in (wanted := sorted(set(keys))):
        if key not in known:
            near, all_ = did_you_mean(key, known), ", ".join(known)
            raise UnknownNameError(f"unknown reference '{key}'{near}  (all: {all_})")
    return "\n".join(known[key] for key in wanted)


def methods(
    study: Study,
    markup: Markup = "latex",
    *,
    metrics: Sequence[str] = (),
    name: Callable[[str], str] = str,
) -> str:
    r"""Return a paragraph for a methods section, in which every number is the study's.

    Citations are ``\citep{key}``, or ``[key]`` in plain text. `metrics` are the canonical names of
    those reported, by default all. `name` gives what a run or dataset is called, before the
    config's `names`.
    """

    def called(own: str) -> str:
        return study.names.get(own, own) if name(own) == own else name(own)

    return _paragraph(study, Writer(markup, called), metrics)


def sources(study: Study, *, metrics: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the keys that :func:`methods` cites, in order."""
    writer = Writer("plain")
    _paragraph(study, writer, metrics)
    return tuple(writer.cited)


def bibliography(study: Study, *, metrics: Sequence[str] = ()) -> str:
    """Return the BibTeX entries that :func:`methods` cites."""
    return bibtex(sources(study, metrics=metrics))


def _paragraph(study: Study, writer: Writer, names: Sequence[str]) -> str:
    metrics = [one for one in study.board.metrics if not names or str(one) in names]
    own = [one for one in metrics if not _is_bound(one)]
    sentences = [*_measured(study, own, writer), *_treated(study, own, writer)]
    if len(own) < len(metrics):
        sentences.append("Bounds are over all orders of tied documents.")
    sentences.append(_software(study, writer))
    if study.comparisons is not None and study.comparisons.rows:
        sentences += _compared(study.comparisons, study, writer)
    return " ".join(sentences) + "\n"


def _is_bound(metric: Metric) -> bool:
    return metric.label is not None and metric.label.endswith(tuple(f"_{one}" for one in NAMES))


def _measured(study: Study, metrics: Sequence[Metric], writer: Writer) -> Iterator[str]:
    levels = Counter(dict(one.params).get("rel", 1) for one in metrics if has_level(one))
    level = levels.most_common(1)[0][0] if levels else 1
    data = data_in_words(study.systems, writer.name)
    repeated = repetitions_in_words(study.systems)
    averaged = f", averaged over {writer.text(repeated)}" if repeated else ""
    parts = parts_in_words(study.board.summary)
    yield f"We report {metric_list(metrics, level, writer)} on {data}{averaged}{parts}."
    if level != 1:
        yield f"Documents of grade {level} and above are relevant."
    choices = dict.fromkeys(c for one in study.board.entries for c in one.choices)
    if study.board.selection is not None and choices:
        numbers = [len(one.ranked) for one in choices]
        plan, each = study.board.selection.settings, ["system"]
        each += dict.fromkeys(name for one in choices for name, _ in one.within)
        (metric,) = compared(study.board.entries[0].evaluation.metrics, [plan.by])
        title = titles_of([metric], writer)[metric]
        over, on = writer.text(listed(plan.over)), writer.text(plan.shown)
        yield f"For each {writer.text(listed(each))}, we chose the best of {span(numbers)} settings"
        yield f"({over}) by {title} on the validation queries ({on})."
    elif chosen := how_chosen(study.systems):
        yield f"Each system is the {writer.text(chosen)}."


def _treated(study: Study, metrics: Sequence[Metric], writer: Writer) -> Iterator[str]:
    entries = study.board.entries
    policy, name = entries[0].evaluation.policy, titles_of(metrics, Writer("plain")).__getitem__
    counts = [(one.dataset, one.evaluation.counts) for one in entries]
    yield from map(writer.text, treatment(metrics, policy, counts, name))
    missing = [each.missing for _, each in counts if each.missing]
    if missing:
        what = f"{sum(missing):,} in {len(missing)} of {counted(len(entries), 'run')}"
        rule = writer.text(missing_in_words(metrics, policy, name))
        yield f"Queries that a run did not answer ({what}) {rule}."


def _software(study: Study, writer: Writer) -> str:
    versions = study.manifest.get("versions", {})
    own = f"ranking-harness {versions.get('harness', '')}".rstrip()
    text = f"Values were computed with {own}{writer.cite(['rankingharness2026'])}"
    checks = [cell.get("crosscheck", {}) for cell in study.manifest.get("cells", ())]
    if not (values := sum(one.get("values", 0) for one in checks)):
        return f"{text}."
    tool = writer.text(f"pytrec_eval {versions.get('pytrec-eval-terrier', '')}".rstrip())
    largest = max(one.get("largest_difference", 0.0) for one in checks)
    result = f"differed by at most {largest:g}" if largest else "matched exactly"
    cited = writer.cite(["vangysel2018"])
    return f"{text}; {values:,} of them were recomputed with {tool}{cited} and {result}."


def _compared(comparisons: Comparisons, study: Study, writer: Writer) -> Iterator[str]:
    plan, rows = comparisons.plan, comparisons.rows
    titles = titles_of(list(dict.fromkeys(one.metric for one in rows)), writer)
    who = "We compared all pairs of systems"
    if plan.baselines:
        who = f"We compared each system with {listed(map(writer.name, plan.baselines))}"
    article = "" if "'s " in comparisons.title[:20] else "a "  # not before Tukey's
    test = f"{article}{comparisons.title}{writer.cite(comparisons.sources)}"
    if repetitions_in_words(study.systems):
        test += " on per-query means over repetitions"
    how = correction(comparisons, writer.cite(CITED_CORRECTIONS[plan.correction]))
    how = how if comparisons.kind == "all-pairs" else f"with {how}"
    level = writer.formulas(rf"$\alpha = {plan.level:g}$")
    yield f"{who} on {listed(titles.values())} using {test}, {how} ({level})."
    intervals = dict.fromkeys(INTERVALS[one.interval] for one in rows if not math.isnan(one.low))
    if intervals:
        cited = writer.cite(["efron1987"]) if plan.interval == "bca" else ""
        percent = writer.text(f"{100 * (1 - plan.level):g}%")
        yield f"Intervals are {percent} {listed(intervals)}{cited}."
    if comparisons.drawn:
        yield f"We used {plan.draws:,} random draws (seed {plan.seed})."
    absent = absent_baselines(comparisons, study.datasets, writer.name)
    yield from (f"{capitalised(one)}." for one in absent)
    overall = []
    for one in comparisons.overall:
        if not math.isnan(one.p):
            name = one.name.replace("chi-squared", r"\chi^2")
            statistic = f"{name} = {one.statistic:.4g}"
            shown = writer.formulas(f"${statistic}$") if "(" in name else writer.text(statistic)
            p = f"$p = {one.p:.3g}$" if one.p >= 0.001 else "$p < 0.001$"
            where = f"{titles[one.metric]} on {writer.name(one.dataset)}"
            overall.append(f"{shown}, {writer.formulas(p)} ({where})")
    if overall:
        yield f"All systems together: {'; '.join(overall)}."
