"""Comparisons of runs: tables, notes, and their formats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from typing import TypeVar

import numpy as np

from ..core.entries import System, grouped_by
from ..core.metric import Metric
from ..errors import and_more, first_of
from ..stats.comparison import (
    REFERENCE_RUNS,
    Comparison,
    Comparisons,
    Standing,
    comparison_rows,
    standing_rows,
)
from ..stats.differences import differences, largest_first
from ..stats.paired_values import paired_values
from . import formats
from .answers import answers
from .grid import Grid, GridCell, filled, grid, grid_of, not_shown
from .notes import leaving, missing_repetitions, tiers, weighted
from .phrases import (
    INTERVALS,
    UNDEFINED,
    WARNED,
    absent_baselines,
    at_most,
    confidence,
    correction,
    decimals,
    heading,
    interval,
    p_value,
    shown_name,
    tested_parts,
    warned_of,
)

SIGNIFICANCE, STANDINGS = "significance.csv", "standings.csv"
SHOWN = 10
"""Comparisons that are printed below a leaderboard."""
SIGNIFICANT = "*"
MOST = 5
"""Runs that a note names, and queries with the largest differences."""
MOST_UNANSWERED = 50
T = TypeVar("T", Comparison, Standing)


def files(comparisons: Comparisons) -> dict[str, bytes]:
    """Content of the files that ``harness run`` writes, by file name."""
    rows = {SIGNIFICANCE: comparison_rows(comparisons), STANDINGS: standing_rows(comparisons)}
    return {name: formats.as_csv(table_rows).encode() for name, table_rows in rows.items()}


def render(
    comparisons: Comparisons,
    format: str,
    *,
    width: int | None = None,
    most: int | None = None,
    standings: bool = False,
    extra: Sequence[Grid] = (),
) -> str:
    """Return comparisons in a format: ``text``, ``markdown``, ``html``, ``csv`` or ``jsonl``.

    ``csv`` and ``jsonl`` have the columns of ``significance.csv``; the others a table for each
    metric on each dataset, then notes. A line of text takes at most `width` characters. The
    tables have at most `most` comparisons, those with the smallest adjusted p. With `standings`,
    tiers and ranks follow, then `extra` tables.
    """
    tables = chain(grids(comparisons, most, standings), extra)
    return formats.render(tables, format, comparison_rows(comparisons), width=width)


def grids(
    comparisons: Comparisons,
    most: int | None = None,
    standings: bool = False,
    everything: str = SIGNIFICANCE,
) -> Iterator[Grid]:
    """Yield the tables of `render`; `everything` has the comparisons that are not shown."""
    p, adjusted = ([getattr(row, k) for row in comparisons.rows] for k in ("p", "p_adjusted"))
    order = np.lexsort([p, adjusted])
    selected = [comparisons.rows[place] for place in sorted(order[:most])]  # NaN is last
    if comparisons.rows:
        yield Grid(answers=tuple(answers(comparisons)))
    yield from (_grid(comparisons, rows) for rows in _tables(selected))
    yield from _overall_grids(comparisons)
    hidden = len(comparisons.rows) - len(selected)
    note = not_shown(hidden, f"these have the smallest adjusted p, and {everything} has all")
    yield Grid(notes=(*note, *notes(comparisons)))
    if standings:
        yield from _standing_grids(comparisons)
        yield Grid(notes=tuple(standing_notes(comparisons)))


def _tables(rows: Iterable[T]) -> list[list[T]]:
    """Return comparisons or standings together by dataset and metric."""
    return list(grouped_by(rows, lambda row: (row.dataset, str(row.metric))).values())


def _grid(comparisons: Comparisons, rows: Sequence[Comparison]) -> Grid:
    head = rows[0]
    single = len({row.baseline for row in rows}) == 1
    title = _title(head.dataset, head.metric)
    if single:
        against = _marked(comparisons, head.baseline)[:2]
        title += f", against {REFERENCE_RUNS.get(head.baseline) or ''.join(against)}"
        if len({(row.baseline_value, row.n) for row in rows}) == 1:
            title += f" ({decimals(head.baseline_value)}, n={head.n})"
    share = f"{confidence(comparisons.plan.level)} interval"
    is_weighted = head.dataset in comparisons.weighted
    body: list[dict[str, str | GridCell]] = []
    for row in rows:
        star = SIGNIFICANT if comparisons.is_significant(row) else ""
        cells: dict[str, str | GridCell] = {
            "run": _marked(comparisons, row.run),
            "against": "" if single else _marked(comparisons, row.baseline),
            "n": str(row.n),
            "value": decimals(row.run_value),
            "difference": decimals(row.difference, sign=True),
            share: interval(row.low, row.high, sign=True),
            "p": p_value(row.p),
            "adjusted p": GridCell(p_value(row.p_adjusted), star),
            "d_z": "" if is_weighted else decimals(row.d_z, 2, sign=True),
            "won/tied/lost": f"{row.wins}/{row.ties}/{row.losses}",
            "detectable": "" if is_weighted else decimals(row.detectable),
            "note": row.note,
        }
        body.append(cells)
    return grid_of(filled(body), left=1 if single else 2, title=title)


def _marked(comparisons: Comparisons, run: str) -> GridCell:
    """Return the name of a run, with a mark if the guard warns of it."""
    return GridCell(run, WARNED if run in comparisons.warned else "")


def _title(dataset: str, metric: Metric) -> str:
    return ", ".join(filter(None, (dataset, heading(metric))))


def _overall_grids(comparisons: Comparisons) -> Iterator[Grid]:
    """Yield a table of the test of all runs together, if one was made."""
    header = ["dataset", "metric", "statistic", "value", "p", "critical difference"]
    rows = []
    for row in comparisons.overall:
        numbers = decimals(row.statistic), p_value(row.p), decimals(row.critical_difference)
        rows.append([row.dataset, heading(row.metric), row.name or UNDEFINED, *numbers])
    if rows:
        yield grid(header, rows, left=3, title="All runs together")


def _standing_grids(comparisons: Comparisons) -> Iterator[Grid]:
    """Yield a table of tiers and ranks for each metric on each dataset, best run first."""
    share = f"{confidence(comparisons.plan.level)} interval"
    header = ["run", "tier", "rank", "of ranks", "n", "value", share]
    for rows in _tables(comparisons.standings):
        body: list[list[str | GridCell]] = []
        for row in sorted(rows, key=lambda row: row.rank or len(rows) + 1):
            ranks = f"{row.rank_low}-{row.rank_high}" if row.rank_high else UNDEFINED
            run, tier, rank = _marked(comparisons, row.run), row.tier, str(row.rank or UNDEFINED)
            numbers = str(row.n), decimals(row.value), interval(row.low, row.high)
            body.append([run, tier or UNDEFINED, rank, ranks, *numbers])
        yield grid(header, body, title=_title(rows[0].dataset, rows[0].metric))


def notes(comparisons: Comparisons) -> list[str]:
    """Notes on comparisons: test, correction and family, level, seed."""
    plan = comparisons.plan
    hows = dict.fromkeys(INTERVALS[row.interval] for row in comparisons.rows)
    lines = [
        f"The test is {_with_article(comparisons.title or plan.test)}.",
        _adjusted(comparisons),
    ]
    if any(map(comparisons.is_significant, comparisons.rows)):
        lines.append(f"{SIGNIFICANT} marks an adjusted {at_most(plan.level)}.")
    lines += tested_parts(comparisons)
    by = {row.dataset: comparisons.weighted.get(row.dataset, "") for row in comparisons.rows}
    for note in weighted(by):
        lines += [note, "won/tied/lost are numbers of queries, without weights."]
    if hows:
        share = confidence(plan.level)
        lines.append(f"Intervals are {share} {' and '.join(hows)} of the difference.")
    if not (by and all(by.values())):
        lines += [
            "d_z is the mean difference divided by the standard deviation of the differences.",
            "detectable is the smallest difference that a paired t-test finds with 80% power at "
            f"{plan.level:g}.",
        ]
    datasets = [dataset for _, missing in comparisons.absent for dataset in missing]
    lines += absent_baselines(comparisons, datasets)
    lines += missing_repetitions(comparisons.lost)
    for dataset, failed in grouped_by(comparisons.failed, itemgetter(0)).items():
        runs = first_of([run for _, run in failed], MOST) + (f" on {dataset}" if dataset else "")
        verb = "is" if len(failed) == 1 else "are"
        lines.append(f"{runs} could not be evaluated and {verb} not compared.")
    for rule, rows in grouped_by(comparisons.chosen, comparisons.chosen.__getitem__).items():
        best = first_of([*dict.fromkeys(run for _, run in rows)], MOST)
        before, by_word, metric = rule.rpartition(" by ")
        how = f"{before}{by_word}{shown_name(metric)}"
        lines.append(f"{best}: {how}. The test does not account for this choice.")
    for dataset, entries in grouped_by(comparisons.unanswered, attrgetter("dataset")).items():
        runs_compared = {run for row in comparisons.rows for run in (row.run, row.baseline)}
        numbers, total = {entry.run: entry.n for entry in entries}, entries[0].n_queries
        text = leaving(numbers, len(runs_compared), total, dataset if len(by) > 1 else "")
        lines.append(f"{text}; each counts as in the leaderboard.")
    lines += warned_of(comparisons.warned.items())
    if comparisons.drawn:
        lines.append(f"The tests use {plan.draws:,} random draws (seed {plan.seed}).")
    size = max((size for _, size in comparisons.family_sizes), default=0)
    is_drawn = any(row.drawn for row in comparisons.rows)
    is_strict = plan.correction in ("holm", "bonferroni") and comparisons.kind == "paired"
    if is_drawn and is_strict and size / (plan.draws + 1) > plan.level:
        least = f"With {plan.draws:,} draws no p is below {1 / (plan.draws + 1):.2g}"
        lines += [
            f"{least}, so no corrected p of {size:,} comparisons is at most {plan.level:g}.",
            f"Take {math.ceil(size / plan.level):,} draws or more.",
        ]
    return lines


def _adjusted(comparisons: Comparisons) -> str:
    """Return the note on the correction of p-values."""
    largest, text = (
        max((n for _, n in comparisons.family_sizes), default=0),
        correction(comparisons),
    )
    if largest == 1 and comparisons.kind == "paired":
        return f"The adjusted p equals p, as there is {text}."
    return f"The adjusted p has {text}."


def _with_article(test: str) -> str:
    """Return the name of a test in a sentence.

    >>> _with_article("two-sided sign test"), _with_article("the randomised Tukey HSD test")
    ('a two-sided sign test', 'the randomised Tukey HSD test')
    """
    return test if test[:1].isupper() or test.startswith("the ") else f"a {test}"


def standing_notes(comparisons: Comparisons) -> list[str]:
    """Notes that explain tiers and ranks."""
    plan = comparisons.plan
    tests = "bootstrap tests" if comparisons.weighted else "paired t-tests"
    source = f"the comparisons above and {tests} of all other pairs"
    if comparisons.kind == "all-pairs":
        source = f"{comparisons.title or plan.test} over all pairs"
    lines = [
        tiers(plan.level),
        f"Tiers follow from {source}.",
        f"'of ranks' is the {confidence(plan.level)} interval of the rank, by bootstrap over "
        f"queries ({plan.rank_draws:,} draws, seed {plan.seed}).",
    ]
    if any(row.n > row.n_ranked for row in comparisons.standings):
        lines.append("Tiers and ranks use the queries for which every run has a value.")
    return lines


def largest(systems: Sequence[System], found: Comparisons) -> Iterator[Grid]:
    """Yield for each metric the queries that the one run compared wins and loses by most."""
    for block in paired_values(systems, found.plan):
        row = next(iter(found.of(block.dataset, str(block.metric))), None)
        if row is None:
            continue
        base, run = (block.values[block.runs.index(name)] for name in (row.baseline, row.run))
        both = np.flatnonzero(~np.isnan(base) & ~np.isnan(run))
        difference = differences(run[both], base[both])
        places = largest_first(difference, MOST)
        rows = []
        for query, change in zip(both[places].tolist(), difference[places], strict=True):
            values = decimals(base[query]), decimals(run[query]), decimals(change, sign=True)
            rows.append([block.qids[query].as_py(), *values])
        title = f"{_title(block.dataset, block.metric)}: queries with the largest differences "
        title += f"of {row.run} from {row.baseline}"
        if rows:
            yield grid(["qid", row.baseline, row.run, "difference"], rows, title=title)


def unanswered(comparisons: Comparisons) -> Iterator[Grid]:
    """Yield for each dataset the queries that runs do not answer, if they are known."""
    listed = [entry for entry in comparisons.unanswered if entry.qids]
    for dataset, entries in grouped_by(listed, attrgetter("dataset")).items():
        rows = []
        for entry in entries:
            rest = and_more(len(entry.qids) - MOST_UNANSWERED)
            qids = " ".join([*entry.qids[:MOST_UNANSWERED], *rest])
            rows.append([entry.run, str(entry.n), qids])
        title = ", ".join(filter(None, (dataset, "queries without an answer")))
        yield grid(["run", "n", "qids"], rows, left=3, title=title)
