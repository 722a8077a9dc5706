"""Comparisons of runs: tables, notes, and their formats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import TypeVar

import numpy as np

from ..core.entries import FEWER, System, grouped_by
from ..core.metric import Metric
from ..errors import and_more, first_of
from ..stats.comparison import Comparison, Comparisons, Standing, comparison_rows, standing_rows
from ..stats.differences import differences, largest_first
from ..stats.paired_values import paired_values
from . import formats
from .grid import Grid, GridCell, grid, grid_of
from .phrases import (
    INTERVALS,
    UNDEFINED,
    WARNED,
    absent_baselines,
    capitalised,
    confidence,
    correction,
    decimals,
    heading,
    interval,
    p_value,
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


def files(found: Comparisons) -> dict[str, bytes]:
    """Return what ``harness run`` writes, by file name."""
    rows = {SIGNIFICANCE: comparison_rows(found), STANDINGS: standing_rows(found)}
    return {name: formats.as_csv(some).encode() for name, some in rows.items()}


def render(
    found: Comparisons,
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
    tables = [*grids(found, most, standings), *extra]
    return formats.render(tables, format, comparison_rows(found), width=width)


def grids(found: Comparisons, most: int | None = None, standings: bool = False) -> list[Grid]:
    """Return the tables of `render`."""
    order = np.lexsort([[getattr(one, key) for one in found.rows] for key in ("p", "p_adjusted")])
    kept = [found.rows[place] for place in sorted(order[:most])]  # NaN is last
    tables = [_grid(found, rows) for rows in _tables(kept)]
    rest = "those with the smallest adjusted p are shown"
    more = and_more(len(found.rows) - len(kept), f"{rest}, {SIGNIFICANCE} has all")
    tables += [*_overall_grids(found), Grid(notes=(*more, *notes(found)))]
    if standings:
        tables += [*_standing_grids(found), Grid(notes=tuple(standing_notes(found)))]
    return tables


def _tables(rows: Iterable[T]) -> list[list[T]]:
    """Return comparisons or standings together by dataset and metric."""
    return list(grouped_by(rows, lambda one: (one.dataset, str(one.metric))).values())


def _grid(found: Comparisons, rows: Sequence[Comparison]) -> Grid:
    first = rows[0]
    single = len({one.baseline for one in rows}) == 1
    title = _title(first.dataset, first.metric)
    if single:
        title += f", against {''.join(_marked(found, first.baseline)[:2])}"
        if len({(one.baseline_value, one.n) for one in rows}) == 1:
            title += f" ({decimals(first.baseline_value)}, n={first.n})"
    has_notes = any(one.note for one in rows)
    share = f"{confidence(found.plan.level)} interval"
    body: list[dict[str, str | GridCell]] = [
        {
            "run": _marked(found, one.run),
            **({} if single else {"against": _marked(found, one.baseline)}),
            "n": str(one.n), "value": decimals(one.run_value),
            "difference": decimals(one.difference, sign=True),
            share: interval(one.low, one.high, sign=True), "p": p_value(one.p),
            "adjusted p": GridCell(
                p_value(one.p_adjusted), SIGNIFICANT if found.is_significant(one) else ""
            ),
            "d_z": decimals(one.d_z, 2, sign=True),
            "won/tied/lost": f"{one.wins}/{one.ties}/{one.losses}",
            "detectable": decimals(one.detectable), **({"note": one.note} if has_notes else {}),
        }
        for one in rows
    ]  # fmt: skip
    return grid_of(body, left=1 if single else 2, title=title)


def _marked(found: Comparisons, run: str) -> GridCell:
    """Return the name of a run, with a mark if the guard warns of it."""
    return GridCell(run, WARNED if run in found.warned else "")


def _title(dataset: str, metric: Metric) -> str:
    return ", ".join(filter(None, (dataset, heading(metric))))


def _overall_grids(found: Comparisons) -> Iterator[Grid]:
    """Yield a table of the test of all runs together, if one was made."""
    rows = [
        {
            "dataset": one.dataset, "metric": heading(one.metric),
            "statistic": one.name or UNDEFINED, "value": decimals(one.statistic),
            "p": p_value(one.p), "critical difference": decimals(one.critical_difference),
        }
        for one in found.overall
    ]  # fmt: skip
    if rows:
        yield grid_of(rows, left=3, title="All runs together")


def _standing_grids(found: Comparisons) -> Iterator[Grid]:
    """Yield a table of tiers and ranks for each metric on each dataset, best run first."""
    share = f"{confidence(found.plan.level)} interval"
    for rows in _tables(found.standings):
        body: list[dict[str, str | GridCell]] = [
            {
                "run": _marked(found, one.run), "tier": one.tier or UNDEFINED,
                "rank": str(one.rank or UNDEFINED),
                "of ranks": f"{one.rank_low}-{one.rank_high}" if one.rank_high else UNDEFINED,
                "n": str(one.n), "value": decimals(one.value), share: interval(one.low, one.high),
            }
            for one in sorted(rows, key=lambda one: one.rank or len(rows) + 1)
        ]  # fmt: skip
        yield grid_of(body, title=_title(rows[0].dataset, rows[0].metric))


def notes(found: Comparisons) -> list[str]:
    """Return what a reader of comparisons must know: test, correction and family, level, seed."""
    plan = found.plan
    hows = dict.fromkeys(INTERVALS[one.interval] for one in found.rows)
    lines = [
        f"{capitalised(found.title or plan.test)}; {correction(found)}",
        f"{SIGNIFICANT} adjusted p at most {plan.level:g}",
        f"{confidence(plan.level)} {' and '.join(hows)} of the difference; d_z: mean "
        "difference over the deviation of the differences",
        f"detectable: smallest difference that a paired t-test at {plan.level:g} finds with "
        "80 % power, given these queries",
    ]
    lines += absent_baselines(found, [one for _, missing in found.absent for one in missing])
    lines += [f"{FEWER}: {one}" for one in found.lost]
    for dataset, failed in grouped_by(found.failed, itemgetter(0)).items():
        where = f" on {dataset}" if dataset else ""
        lines.append(
            f"fewer comparisons than the config has: {first_of([run for _, run in failed], MOST)}"
            f"{where} could not be evaluated"
        )
    for how, rows in grouped_by(found.chosen, found.chosen.__getitem__).items():
        best = first_of([*dict.fromkeys(run for _, run in rows)], MOST)
        lines.append(f"{best}: {how}, which no test allows for")
    for dataset, some in grouped_by(found.unanswered, attrgetter("dataset")).items():
        where = f"{dataset}: " if dataset else ""
        texts = first_of([*map(str, some)], MOST)
        lines.append(f"{where}{texts}; the others count as in the leaderboard")
    lines += warned_of(found.warned.items())
    if found.drawn:
        lines.append(f"drawn: {plan.draws} times, seed {plan.seed}")
    size = max((size for _, size in found.family_sizes), default=0)
    is_drawn = any(one.drawn for one in found.rows)
    is_strict = plan.correction in ("holm", "bonferroni") and found.kind == "paired"
    if is_drawn and is_strict and size / (plan.draws + 1) > plan.level:
        lines.append(
            f"too few draws: with {plan.draws} no p is below {1 / (plan.draws + 1):.2g}, which "
            f"corrected for {size} comparisons is above {plan.level:g}; take "
            f"{math.ceil(size / plan.level)} or more"
        )
    return lines


def standing_notes(found: Comparisons) -> list[str]:
    """Return what tiers and ranks mean."""
    plan = found.plan
    by = "by the comparisons above and paired t-tests of all other pairs"
    if found.kind == "all-pairs":
        by = f"by {found.title or plan.test} over all pairs"
    lines = [
        f"tier: runs that share a number cannot be told apart at {plan.level:g}, {by}",
        f"of ranks: {confidence(plan.level)} interval of the rank, by bootstrap over queries "
        f"({plan.rank_draws} draws, seed {plan.seed})",
    ]
    if any(one.n > one.n_ranked for one in found.standings):
        lines.append("tier and ranks: over the queries for which every run has a value")
    return lines


def largest(systems: Sequence[System], found: Comparisons, most: int = MOST) -> Iterator[Grid]:
    """Yield for each metric the queries that the one run compared wins and loses by most."""
    for block in paired_values(systems, found.plan):
        one = next(iter(found.of(block.dataset, str(block.metric))), None)
        if one is None:
            continue
        base, run = (block.values[block.runs.index(name)] for name in (one.baseline, one.run))
        both = np.flatnonzero(~np.isnan(base) & ~np.isnan(run))
        difference = differences(run[both], base[both])
        rows = [
            [
                block.qids[int(both[place])].as_py(), decimals(base[both[place]]),
                decimals(run[both[place]]), decimals(difference[place], sign=True),
            ]
            for place in largest_first(difference, most)
        ]  # fmt: skip
        what = _title(block.dataset, block.metric)
        title = f"{what}: queries with the largest differences of {one.run} from {one.baseline}"
        if rows:
            yield grid(["qid", one.baseline, one.run, "difference"], rows, title=title)


def unanswered(found: Comparisons, most: int = MOST_UNANSWERED) -> Iterator[Grid]:
    """Yield for each dataset the queries that runs do not answer, if they are known."""
    known = [one for one in found.unanswered if one.qids]
    for dataset, some in grouped_by(known, attrgetter("dataset")).items():
        rows = [
            {
                "run": one.run, "n": str(one.n),
                "qids": " ".join([*one.qids[:most], *and_more(len(one.qids) - most)]),
            }
            for one in some
        ]  # fmt: skip
        title = ", ".join(filter(None, (dataset, "queries without an answer")))
        yield grid_of(rows, left=3, title=title)
