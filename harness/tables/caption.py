"""What a caption says: over what, with which test, by which rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Set

from ..core.comparison import Comparison, Comparisons
from ..core.metric import Metric
from ..core.same_queries import UNLIKE
from ..core.study import Study
from ..core.systems import System, how_chosen
from .markup import counted, listed
from .model import Column
from .rules import consequences, empty_queries, rankings_in_words, values_of_empty
from .settings import Settings
from .signs import Signs

BEST = "The best value of a column is in bold"
SECOND = ", the second best underlined"
WORSE = "below the line"
SHOWN = 6
_CORRECTIONS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "Benjamini and Hochberg's correction",
    "by": "Benjamini and Yekutieli's correction",
}
_FAMILIES = {"table": "", "metric": " of each metric and dataset", "dataset": " of each dataset"}


def caption(
    study: Study, settings: Settings, columns: Sequence[Column], systems: Sequence[System],
    signs: Signs, marked: Set[str],
) -> tuple[str, ...]:  # fmt: skip
    """Return the sentences of a caption that come after the author's own.

    Parameters
    ----------
    study : Study
    settings : Settings
    columns : sequence of Column
    systems : sequence of System
        Those shown.
    signs : Signs
    marked : set of {"best", "second", "signs", "worse"}
        What any cell is, or has: signs, and among them those of better baselines.
    """
    found = []
    metrics = metrics_of(columns)
    if systems:
        found.append(_over(settings, metrics, systems, study.board.summary.average))
        if said := how_chosen(systems):
            found.append(f"Each run is the {said}.")
    found.append(_percent(settings, metrics))
    found.append(_spread(study, settings, systems))
    if "best" in marked:
        found.append(f"{BEST}{SECOND * ('second' in marked)}.")
    found.append(_unlike(settings, columns))
    if signs.comparisons is not None and (outcomes := shown_of(signs, columns, systems)):
        repeated = any(len(system.entries) > 1 for system in systems)
        test = _test(signs.comparisons, repeated, len(outcomes))
        if "signs" in marked:
            found.append(_significance(test, settings, signs, "worse" in marked))
        else:
            found.append(f"No difference is significant ({test}).")
        found += _untested(signs.comparisons, settings, columns)
    if systems:
        found += _rules(settings, metrics, systems)
    found.append(_meant(settings, metrics))
    return tuple(filter(None, found))


def finished(text: str | None) -> str:
    """Return the author's own words with a full stop.

    >>> finished("Both folds"), finished("Both folds!"), finished(None)
    ('Both folds.', 'Both folds!', '')
    """
    own = (text or "").strip()
    return own if own.endswith((".", "!", "?")) or not own else f"{own}."


def metrics_of(columns: Iterable[Column]) -> list[Metric]:
    """Return the metrics of some columns, each once."""
    return list(dict.fromkeys(one.metric for one in columns if one.metric is not None))


def _over(
    settings: Settings, metrics: Sequence[Metric], systems: Sequence[System], alike: Sequence[str]
) -> str:
    sizes: dict[str, int] = {}
    for system in systems:
        name = settings.name(system.dataset)
        sizes[name] = max(sizes.get(name, 0), len(system.qids))
    what = "Means" if all(one.definition.summary == "mean" for one in metrics) else "Summaries"
    if len(sizes) > SHOWN:
        low, high = min(sizes.values()), max(sizes.values())
        each = f"{low:,} to {high:,}" if low < high else f"{low:,}"
        where = f"the queries of {len(sizes)} datasets ({each} each)"
    elif len(sizes) == 1:
        ((name, n),) = sizes.items()
        where = f"the {counted(n, 'query', 'queries')}" + f" of {name}" * bool(name)
    else:
        where = f"the queries of {listed(f'{name} ({n:,})' for name, n in sizes.items())}"
    if alike:
        where += f", whose parts ({listed(alike)}) count alike,"
    return f"{what} over {where}{_repeated(systems)}".rstrip(",") + "."


def _repeated(systems: Sequence[System]) -> str:
    counts = {len(system.entries) for system in systems}
    if max(counts) == 1:
        return ""
    low, high = min(counts), max(counts)
    names = dict.fromkeys(name for system in systems for name in system.varying)
    by = f" ({listed(names)})" if names else ""
    return f" and over {low if low == high else f'{low} to {high}'} repetitions{by}"


def _unlike(settings: Settings, columns: Sequence[Column]) -> str:
    """Return of which columns no value is called the best."""
    unlike = [one for one in columns if not one.is_fair]
    if not unlike:
        return ""
    where = list(dict.fromkeys(one.block for one in unlike))
    on = f" on {listed(where)}" if len({one.block for one in columns}) > 1 else ""
    names = listed(settings.name(str(one)) for one in metrics_of(unlike))
    return f"{UNLIKE[0].upper()}{UNLIKE[1:]}: {names}{on}."


def _percent(settings: Settings, metrics: Sequence[Metric]) -> str:
    those = [settings.name(str(one)) for one in metrics if settings.is_percent(one)]
    if not those:
        return ""
    if len(those) == len(metrics):
        return "Values are × 100."
    return f"{listed(those)} {'is' if len(those) == 1 else 'are'} × 100."


def _spread(study: Study, settings: Settings, systems: Sequence[System]) -> str:
    if settings.spread == "interval" and not study.board.summary.average:
        known = study.comparisons
        level = 0.05 if known is None else known.plan.level
        how = "BCa bootstrap" if known is not None and known.plan.interval == "bca" else "t"
        over = f"queries ({how})"
        if all(len(system.entries) > 1 for system in systems):
            over = "queries and repetitions (clustered bootstrap)"
        elif any(len(system.entries) > 1 for system in systems):
            over += ", of repeated runs over queries and repetitions (clustered bootstrap)"
        return f"In brackets: {100 * (1 - level):g} % interval of the mean over {over}."
    if settings.spread == "deviation" and any(len(system.entries) > 1 for system in systems):
        return "After ±: standard deviation over the repetitions."
    return ""


def _significance(test: str, settings: Settings, signs: Signs, is_any_worse: bool) -> str:
    if signs.kind == "letters":
        text = "A letter beside a value: significantly better than the system of that letter"
    else:
        each = [
            f"{sign} {'significantly better ' * (place == 0)}than {settings.name(run)}"
            for place, (run, sign) in enumerate(signs.of.items())
        ]
        text = ", ".join(each) + f"; {WORSE}: significantly worse" * is_any_worse
    return f"{text} ({test})."


def shown_of(
    signs: Signs, columns: Iterable[Column], systems: Iterable[System]
) -> list[Comparison]:
    """Return the comparisons, among those with a p-value, that a table shows the outcome of."""
    cells = {(one.dataset, str(one.metric)) for one in columns if one.kind == "metric"}
    runs = {(system.dataset, system.run) for system in systems}
    return [
        one
        for one in (signs.comparisons.rows if signs.comparisons is not None else ())
        if not math.isnan(one.p_adjusted)
        and (one.dataset, str(one.metric)) in cells
        and (one.dataset, one.run) in runs
        and signs.of.keys() & {one.baseline, one.run}
    ]


def _test(found: Comparisons, repeated: bool, shown: int) -> str:
    means = " of each query's mean over the repetitions" * repeated
    parts = [(found.title or found.plan.test) + means]
    if found.kind == "all-pairs":
        parts.append("corrected for all pairs of each metric and dataset")
    elif found.plan.correction != "none":
        sizes = sorted({n for _, n in found.family_sizes})
        of = (
            f"{sizes[0]:,} to {sizes[-1]:,}" if len(sizes) > 1 else f"{sizes[0]:,}" if sizes else ""
        )
        over = f" over {of} comparisons{_FAMILIES[found.plan.family]}" if of else ""
        over = over.replace("over 1 comparisons", "over 1 comparison")
        if found.plan.family == "table" and len(sizes) == 1 and shown < sizes[0]:
            over += f" of which {shown:,} {'is' if shown == 1 else 'are'} shown"
        parts.append(_CORRECTIONS[found.plan.correction] + over)
    elif len(found.rows) > 1:
        parts.append("not corrected")
    if found.drawn:
        parts.append(f"{found.plan.draws:,} draws, seed {found.plan.seed}")
    return ", ".join([*parts, f"p ≤ {found.plan.level:g}"])


def _untested(found: Comparisons, settings: Settings, columns: Sequence[Column]) -> Iterator[str]:
    tested = {str(one.metric) for one in found.rows}
    rest = [settings.name(str(one)) for one in metrics_of(columns) if str(one) not in tested]
    if rest:
        yield f"No test is made of {listed(rest)}."
    shown = {one.dataset for one in columns}
    for baseline, datasets in found.absent:
        if lacking := [settings.name(name) for name in datasets if name in shown]:
            name = settings.name(baseline)
            yield f"No test against {name} is made on {listed(lacking)}, where it was not run."
    if any(one.dataset is None for one in columns):
        yield "No test is made of means over datasets."


def _rules(
    settings: Settings, metrics: Sequence[Metric], systems: Sequence[System]
) -> Iterator[str]:
    policy = systems[0].entries[0].evaluation.policy

    def name(metric: Metric) -> str:
        return settings.name(str(metric))

    for clause in rankings_in_words(metrics, policy, name):
        yield f"{clause[0].upper()}{clause[1:]}."
    counts = ((one.dataset, entry.evaluation.counts) for one in systems for entry in one.entries)
    most, n, _ = empty_queries(counts, metrics)
    words = ("counts", "is left out") if n == 1 else ("count", "are left out")
    values = values_of_empty(metrics, policy.empty_queries)
    if n and (rule := consequences(values, name, *words)):
        what = f"{most}{counted(n, 'query', 'queries')}"
        yield f"{what[0].upper()}{what[1:]} without relevant documents {rule}."


def _meant(settings: Settings, metrics: Sequence[Metric]) -> str:
    """Return what the new name of a metric with parameters stands for."""
    names = {settings.name(str(one)): str(one) for one in metrics}
    return "; ".join(
        f"{new} is {old}" for new, old in names.items() if new != old and "(" in old
    ) + "." * any(new != old and "(" in old for new, old in names.items())
