"""Comparisons of runs as grids, what must be said of them, and their formats."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from ..core.comparison import Comparison, Comparisons, Standing, comparison_rows, standing_rows
from ..core.systems import FEWER, System
from ..stats.blocks import blocks_of
from ..stats.differences import differences
from . import csv, html, jsonl, markdown, text
from .grid import Cell, Grid, and_more, grid
from .numbers import UNDEFINED, decimals, heading, p_value
from .phrases import CORRECTIONS, counted

SIGNIFICANCE, STANDINGS = "significance.csv", "standings.csv"
SHOWN = 20
"""Comparisons of one metric on one dataset that are printed below a leaderboard."""
INTERVALS = {
    "t": "t-intervals",
    "bca": "BCa bootstrap intervals",
    "simultaneous": "simultaneous intervals",
}
SIGNIFICANT = "*"
MOST = 5
"""Runs that a note names."""
MOST_QUERIES = 5
MOST_UNANSWERED = 50


def files(found: Comparisons) -> dict[str, bytes]:
    """Return what ``harness run`` writes, by file name."""
    rows = {SIGNIFICANCE: comparison_rows(found), STANDINGS: standing_rows(found)}
    return {name: csv.render(some).encode() for name, some in rows.items()}


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
    metric on each dataset, then what must be known of them.

    Parameters
    ----------
    found : Comparisons
    format : str
    width : int, optional
        Characters that a line of text may take.
    most : int, optional
        Rows of a table; those with the smallest p are kept.
    standings : bool
        Also tiers and ranks.
    extra : sequence of Grid
        Further tables.
    """
    if format == "csv":
        return csv.render(comparison_rows(found))
    if format == "jsonl":
        return jsonl.render(comparison_rows(found))
    tables = [*grids(found, most), *overall_grids(found), Grid(notes=tuple(notes(found)))]
    if standings:
        tables += [*standing_grids(found), Grid(notes=tuple(standing_notes(found)))]
    tables += extra
    if format == "text":
        return text.render(tables, width=width)
    return markdown.render(tables) if format == "markdown" else html.render(tables)


def grids(found: Comparisons, most: int | None = None) -> Iterator[Grid]:
    """Yield a table for each metric on each dataset, of at most so many rows: the smallest p."""
    for rows in _tables(found.rows):
        yield _grid(found, rows, most)


T = TypeVar("T", Comparison, Standing)


def _tables(found: Iterable[T]) -> Iterable[list[T]]:
    """Return comparisons or standings together by dataset and metric."""
    together: dict[tuple[str, str], list[T]] = {}
    for one in found:
        together.setdefault((one.dataset, str(one.metric)), []).append(one)
    return together.values()


def _grid(found: Comparisons, rows: Sequence[Comparison], most: int | None) -> Grid:
    order = sorted(range(len(rows)), key=lambda place: _key(rows[place]))
    kept = [rows[place] for place in sorted(order[:most])]
    first = rows[0]
    baselines = dict.fromkeys(one.baseline for one in rows)
    single = len(baselines) == 1
    title = _title(first.dataset, heading(first.metric))
    if single:
        base = {(one.baseline_value, one.n) for one in rows}
        value = f" ({decimals(first.baseline_value)}, n={first.n})" if len(base) == 1 else ""
        title += f", against {first.baseline}{value}"
    has_notes = any(one.note for one in kept)
    level = 100 * (1 - found.plan.level)
    header = [
        "run", *([] if single else ["against"]), "n", "value", "difference",
        f"{level:g} % interval", "p", "adjusted p", "d_z", "won/tied/lost", "detectable",
        *(["note"] if has_notes else []),
    ]  # fmt: skip
    body: list[list[str | Cell]] = [
        [
            one.run, *([] if single else [one.baseline]), str(one.n), decimals(one.run_value),
            decimals(one.difference, sign=True), _interval(one), p_value(one.p),
            Cell(p_value(one.p_adjusted), SIGNIFICANT if found.is_significant(one) else ""),
            decimals(one.d_z, 2, sign=True), f"{one.wins}/{one.ties}/{one.losses}",
            decimals(one.detectable), *([one.note] if has_notes else []),
        ]
        for one in kept
    ]  # fmt: skip
    more = and_more(len(rows) - len(kept), f"{SIGNIFICANCE} has them")
    return grid(header, body, left=1 if single else 2, title=title, notes=more)


def _title(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _key(one: Comparison) -> float:
    return math.inf if math.isnan(one.p_adjusted) else one.p_adjusted


def _interval(one: Comparison) -> str:
    if math.isnan(one.low):
        return UNDEFINED
    return f"[{decimals(one.low, sign=True)}, {decimals(one.high, sign=True)}]"


def overall_grids(found: Comparisons) -> Iterator[Grid]:
    """Yield a table of what a test of all runs together says, where one was made."""
    rows = [
        [
            one.dataset, heading(one.metric), one.name or UNDEFINED, decimals(one.statistic),
            p_value(one.p), decimals(one.critical_difference),
        ]
        for one in found.overall
    ]  # fmt: skip
    if rows:
        header = ["dataset", "metric", "statistic", "value", "p", "critical difference"]
        yield grid(header, rows, left=3, title="All runs together")


def standing_grids(found: Comparisons) -> Iterator[Grid]:
    """Yield a table of tiers and ranks for each metric on each dataset, best run first."""
    level = 100 * (1 - found.plan.level)
    header = ["run", "tier", "rank", "of ranks", "n", "value", f"{level:g} % interval"]
    for rows in _tables(found.standings):
        title = _title(rows[0].dataset, heading(rows[0].metric))
        body = [
            [
                one.run, one.tier or UNDEFINED, str(one.rank) if one.rank else UNDEFINED,
                f"{one.rank_low}-{one.rank_high}" if one.rank_high else UNDEFINED, str(one.n),
                decimals(one.value),
                f"[{decimals(one.low)}, {decimals(one.high)}]" if one.low == one.low else UNDEFINED,
            ]
            for one in sorted(rows, key=lambda one: one.rank or len(rows) + 1)
        ]  # fmt: skip
        yield grid(header, body, title=title)


def notes(found: Comparisons) -> list[str]:
    """Return what a reader of comparisons must know: test, correction and family, level, seed."""
    plan = found.plan
    title = found.title or plan.test
    lines = [f"{title[:1].upper()}{title[1:]}; {correction(found)}"]
    lines.append(f"{SIGNIFICANT} adjusted p at most {plan.level:g}")
    hows = dict.fromkeys(INTERVALS[one.interval] for one in found.rows)
    intervals = f"{100 * (1 - plan.level):g} % {' and '.join(hows)} of the difference"
    lines.append(f"{intervals}; d_z: mean difference over the deviation of the differences")
    lines.append(
        f"detectable: smallest difference that a paired t-test at {plan.level:g} finds with "
        "80 % power, given these queries"
    )
    for baseline, datasets in found.absent:
        lines.append(f"no test against {baseline} on {', '.join(datasets)}, where it was not run")
    lines += [f"{FEWER}: {one}" for one in found.lost]
    lines += _failed(found)
    for how in dict.fromkeys(found.chosen.values()):
        runs = dict.fromkeys(run for (_, run), one in found.chosen.items() if one == how)
        lines.append(f"{_first(list(runs))}: {how}, which no test allows for")
    lines += _unanswered(found)
    if found.drawn:
        lines.append(f"drawn: {plan.draws} times, seed {plan.seed}")
        lines += too_few_draws(found)
    return lines


def _failed(found: Comparisons) -> Iterator[str]:
    """Yield for each dataset which runs are not compared, as they could not be evaluated."""
    together: dict[str, list[str]] = {}
    for dataset, run in found.failed:
        together.setdefault(dataset, []).append(run)
    for dataset, runs in together.items():
        where = f" on {dataset}" if dataset else ""
        yield (
            f"fewer comparisons than the config has: {_first(runs)}{where} could not be evaluated"
        )


def _first(runs: Sequence[str]) -> str:
    return " ".join([", ".join(runs[:MOST]), *and_more(len(runs) - MOST)])


def _unanswered(found: Comparisons) -> Iterator[str]:
    """Yield for each dataset which runs leave queries without an answer."""
    together: dict[str, list[str]] = {}
    for one in found.unanswered:
        together.setdefault(one.dataset, []).append(str(one))
    for dataset, runs in together.items():
        more = f", and {len(runs) - MOST:,} more runs not all" if len(runs) > MOST else ""
        where = f"{dataset}: " if dataset else ""
        yield f"{where}{', '.join(runs[:MOST])}{more}; the rest are compared as they are averaged"


def too_few_draws(found: Comparisons) -> list[str]:
    """Return that no p can be small enough for the correction, where that is so."""
    plan = found.plan
    largest = max((size for _, size in found.family_sizes), default=0)
    is_drawn = any(one.method.endswith("draws") for one in found.rows)
    strict = plan.correction in ("holm", "bonferroni") and found.kind == "paired"
    if not (is_drawn and strict and largest / (plan.draws + 1) > plan.level):
        return []
    needed = math.ceil(largest / plan.level)
    return [
        f"too few draws: with {plan.draws} no p is below {1 / (plan.draws + 1):.2g}, which "
        f"corrected for {largest} comparisons is above {plan.level:g}; take {needed} or more"
    ]


def correction(found: Comparisons) -> str:
    """Return what was corrected for, and over which family."""
    sizes = [size for _, size in found.family_sizes]
    total = sum(sizes)
    if found.kind == "all-pairs":
        pairs = f"all pairs of runs for each metric on each dataset ({_sizes(sizes)})"
        return f"corrected by the test itself over {pairs}"
    if found.plan.correction == "none":
        return f"{counted(total, 'comparison')}, not corrected"
    of = {
        "table": "all comparisons",
        "metric": "the comparisons of each metric on each dataset",
        "dataset": "the comparisons of each dataset",
    }[found.plan.family]
    if not total:
        return "nothing to correct, as no comparison has a p"
    return f"{CORRECTIONS[found.plan.correction]} over {of} ({_sizes(sizes)})"


def _sizes(sizes: Sequence[int]) -> str:
    if len(set(sizes)) == 1:
        return f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} each"
    return ", ".join(map(str, sizes))


def standing_notes(found: Comparisons) -> list[str]:
    """Return what tiers and ranks mean."""
    plan = found.plan
    fewer = any(one.n > one.n_ranked for one in found.standings)
    return [
        f"tier: runs that share a number cannot be told apart at {plan.level:g}, {_by(found)}",
        f"of ranks: {100 * (1 - plan.level):g} % interval of the rank, by bootstrap over queries "
        f"({plan.rank_draws} draws, seed {plan.seed})",
        *(["tier and ranks: over the queries that all runs with values have one for"] * fewer),
    ]


def _by(found: Comparisons) -> str:
    """Return what tells the runs of different tiers apart."""
    if found.kind == "all-pairs":
        return f"by {found.title or found.plan.test} over all pairs"
    runs = Counter((one.dataset, one.metric) for one in found.standings)
    pairs = Counter((one.dataset, one.metric) for one in found.rows)
    if all(pairs[where] == math.comb(n_runs, 2) for where, n_runs in runs.items()):
        return "by the comparisons above"
    how = CORRECTIONS.get(found.plan.correction)
    over = f"{how} over the pairs of each table" if how else "not corrected"
    return f"by the comparisons above or by paired t-tests of every pair ({over})"


def largest(
    systems: Sequence[System], found: Comparisons, most: int = MOST_QUERIES
) -> Iterator[Grid]:
    """Yield for each metric on each dataset the queries that the run wins and loses by most.

    `systems` are two on each dataset: those that were compared.
    """
    for block in blocks_of(systems, found.plan):
        one = next(iter(found.of(block.dataset, str(block.metric))), None)
        if one is None:
            continue
        base, run = (block.values[block.runs.index(name)] for name in (one.baseline, one.run))
        both = np.flatnonzero(~np.isnan(base) & ~np.isnan(run))
        difference = differences(run[both], base[both])
        first, last = (np.argsort(one, kind="stable")[:most] for one in (-difference, difference))
        high = [place for place in first.tolist() if difference[place] > 0]
        low = [place for place in last.tolist() if difference[place] < 0]
        qids = block.qids.to_pylist()
        rows = [
            [
                qids[both[place]], decimals(base[both[place]]), decimals(run[both[place]]),
                decimals(difference[place], sign=True),
            ]
            for place in [*high, *reversed(low)]
        ]  # fmt: skip
        what = _title(block.dataset, heading(block.metric))
        title = f"{what}: queries with the largest differences of {one.run} from {one.baseline}"
        if rows:
            yield grid(["qid", one.baseline, one.run, "difference"], rows, title=title)


def unanswered(found: Comparisons, most: int = MOST_UNANSWERED) -> Iterator[Grid]:
    """Yield for each dataset the queries that runs do not answer, where they are known."""
    together: dict[str, list[list[str]]] = {}
    for one in found.unanswered:
        if one.qids:
            qids = " ".join([*one.qids[:most], *and_more(len(one.qids) - most)])
            together.setdefault(one.dataset, []).append([one.run, str(one.n), qids])
    for dataset, rows in together.items():
        title = _title(dataset, "queries without an answer")
        yield grid(["run", "n", "qids"], rows, left=3, title=title)
