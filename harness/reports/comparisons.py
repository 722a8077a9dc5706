"""Comparisons of runs: tables, notes, and their formats."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from typing import TypeVar

import numpy as np

from ..core.entries import System, best_of, grouped_by
from ..core.names import shown_name
from ..core.policy import Policy
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
from .notes import (
    WARNED,
    absent_baselines,
    missing_repetitions,
    tested_parts,
    tests_of_tiers,
    tiers,
    warned_of,
    weighted,
)
from .notes import unanswered as unanswered_queries
from .phrases import (
    UNDEFINED,
    at_most,
    confidence,
    correction,
    decimals,
    heading,
    interval,
    no_room,
    p_value,
    unadjusted,
)
from .text import fitted

SIGNIFICANCE, STANDINGS = "significance.csv", "standings.csv"
SHOWN = 10
"""Comparisons that are printed below a leaderboard."""
SIGNIFICANT = "*"
OPTIONAL = ("detectable", "d_z", "won/tied/lost", "p", "n", "value")
"""Columns that a narrow terminal does not show, the first ones first."""
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
    everything: str = SIGNIFICANCE,
    extra: Sequence[Grid] = (),
) -> str:
    """Return comparisons in a format: ``text``, ``markdown``, ``html``, ``csv`` or ``jsonl``.

    ``csv`` and ``jsonl`` have the columns of ``significance.csv``; the others a table for each
    metric on each dataset, then notes. A line of text takes at most `width` characters, and
    `everything` has the columns that do not fit. The first tables have at most `most` comparisons.
    With `standings`, tiers and ranks follow, then `extra` tables.
    """
    tables = chain(grids(comparisons, most, standings, everything, width), extra)
    return formats.render(tables, format, comparison_rows(comparisons), width=width)


def grids(
    comparisons: Comparisons,
    most: int | None = None,
    standings: bool = False,
    everything: str = SIGNIFICANCE,
    width: int | None = None,
) -> Iterator[Grid]:
    """Yield the tables of `render`; `everything` has what is not shown."""
    is_pair = len({(row.run, row.baseline) for row in comparisons.rows}) == 1
    selected = [*_first(_tables(comparisons.rows, by_metric=not is_pair), most)]
    if comparisons.rows:
        is_whole = len(comparisons.rows) == sum(map(len, selected))
        yield Grid(answers=tuple(answers(comparisons, "" if is_whole else everything)))
    table_of = _pair_grid if is_pair else _grid
    blocks, left_out = fitted((table_of(comparisons, rows) for rows in selected), width, OPTIONAL)
    yield from blocks
    yield from _overall_grids(comparisons)
    hidden = len(comparisons.rows) - sum(map(len, selected))
    lines = [
        *not_shown(hidden, "comparison", f"{everything} has all"),
        *notes(comparisons, left_out),
    ]
    lines += no_room(left_out, everything)
    yield Grid(notes=tuple(lines))
    if standings and not is_pair:
        yield from _standing_grids(comparisons)
        yield Grid(notes=tuple(standing_notes(comparisons)))


def _tables(rows: Iterable[T], by_metric: bool = True) -> list[list[T]]:
    return list(grouped_by(rows, lambda row: (row.dataset, by_metric and str(row.metric))).values())


def _first(tables: Iterable[Sequence[T]], most: int | None) -> Iterator[Sequence[T]]:
    """Yield the first tables, of at most `most` rows together; only the first may be cut."""
    n = 0
    for rows in tables:
        if n and most is not None and n + len(rows) > most:
            return
        yield rows[:most]
        n += len(rows)


def _grid(comparisons: Comparisons, rows: Sequence[Comparison]) -> Grid:
    head, is_single = rows[0], len({row.baseline for row in rows}) == 1
    title, n = _title(head.dataset, heading(head.metric)), ""
    if is_single:
        title += f", against {_baseline(comparisons, head)}"
    if is_single and len({(row.baseline_value, row.n) for row in rows}) == 1:
        n = f"n={head.n}"
        title += f" ({decimals(head.baseline_value)}, {n})"
    body = [
        {
            "run": _marked(comparisons, row.run),
            "against": "" if is_single else _marked(comparisons, row.baseline),
            "n": "" if n else str(row.n),
            "value": decimals(row.run_value),
            **_tested(comparisons, row),
        }
        for row in rows
    ]
    return grid_of(filled(body), left=1 if is_single else 2, title=title)


def _pair_grid(comparisons: Comparisons, rows: Sequence[Comparison]) -> Grid:
    head = rows[0]
    run = "".join(_marked(comparisons, head.run)[:2])
    body = [
        {
            "metric": heading(row.metric),
            "n": str(row.n),
            "baseline": decimals(row.baseline_value),
            "run": decimals(row.run_value),
            **_tested(comparisons, row),
        }
        for row in rows
    ]
    title = _title(head.dataset, f"{run} against {_baseline(comparisons, head)}")
    return grid_of(filled(body), title=title)


def _baseline(comparisons: Comparisons, row: Comparison) -> str:
    return REFERENCE_RUNS.get(row.baseline) or "".join(_marked(comparisons, row.baseline)[:2])


def _tested(comparisons: Comparisons, row: Comparison) -> dict[str, str | GridCell]:
    is_weighted = row.dataset in comparisons.weighted
    star = SIGNIFICANT if comparisons.is_significant(row) else ""
    return {
        "difference": decimals(row.difference, sign=True),
        f"{confidence(comparisons.plan.level)} interval": interval(row.low, row.high, sign=True),
        "p": p_value(row.p),
        "adjusted p": GridCell(p_value(row.p_adjusted), star),
        "won/tied/lost": f"{row.wins}/{row.ties}/{row.losses}",
        "d_z": "" if is_weighted else decimals(row.d_z, 2, sign=True),
        "detectable": "" if is_weighted else decimals(row.detectable),
        "note": row.note,
    }


def _marked(comparisons: Comparisons, run: str) -> GridCell:
    """Return the name of a run, with a mark if the guard warns of it."""
    return GridCell(run, WARNED if run in comparisons.warned else "")


def _title(dataset: str, rest: str) -> str:
    return ", ".join(filter(None, (dataset, rest)))


def _overall_grids(comparisons: Comparisons) -> Iterator[Grid]:
    header = ["dataset", "metric", "statistic", "value", "p", "critical difference"]
    rows = []
    for row in comparisons.overall:
        numbers = decimals(row.statistic), p_value(row.p), decimals(row.critical_difference)
        rows.append([row.dataset, heading(row.metric), row.name or UNDEFINED, *numbers])
    if rows:
        yield grid(header, rows, left=3, title="All runs together")


def _standing_grids(comparisons: Comparisons) -> Iterator[Grid]:
    share = f"{confidence(comparisons.plan.level)} interval"
    header = ["run", "tier", "rank", "rank interval", "n", "value", share]
    for rows in _tables(comparisons.standings):
        if len(rows) == 1:
            continue
        body: list[list[str | GridCell]] = []
        for row in sorted(rows, key=lambda row: row.rank or len(rows) + 1):
            ranks = f"{row.rank_low}-{row.rank_high}" if row.rank_high else UNDEFINED
            run, tier, rank = _marked(comparisons, row.run), row.tier, str(row.rank or UNDEFINED)
            numbers = str(row.n), decimals(row.value), interval(row.low, row.high)
            body.append([run, tier or UNDEFINED, rank, ranks, *numbers])
        yield grid(header, body, title=_title(rows[0].dataset, heading(rows[0].metric)))


def notes(comparisons: Comparisons, left_out: Container[str] = ()) -> list[str]:
    """Notes on comparisons: test, correction and family, level, seed; not on columns left out."""
    plan = comparisons.plan
    share = confidence(plan.level)
    hows = dict.fromkeys(unadjusted(row.interval, share) for row in comparisons.rows)
    lines = [
        f"The test is {_with_article(comparisons.title or plan.test)}.",
        _adjusted(comparisons),
    ]
    if any(map(comparisons.is_significant, comparisons.rows)):
        lines.append(f"{SIGNIFICANT} marks an adjusted {at_most(plan.level)}.")
    lines += tested_parts(comparisons)
    by = {row.dataset: comparisons.weighted.get(row.dataset, "") for row in comparisons.rows}
    for note in weighted(by):
        lines.append(note)
        if "won/tied/lost" not in left_out:
            lines.append("won/tied/lost are numbers of queries, without weights.")
    if hows:
        lines.append(f"Intervals of differences are {' and '.join(hows)}.")
    if not (by and all(by.values())):
        meanings = {
            "d_z": "the mean difference divided by the standard deviation of the differences.",
            "detectable": "the smallest difference that a paired t-test finds with 80% power at "
            f"{plan.level:g}.",
        }
        lines += [f"{name} is {text}" for name, text in meanings.items() if name not in left_out]
    datasets = [dataset for _, missing in comparisons.absent for dataset in missing]
    lines += absent_baselines(comparisons, datasets)
    lines += missing_repetitions(comparisons.lost)
    for dataset, failed in grouped_by(comparisons.failed, itemgetter(0)).items():
        runs = first_of([run for _, run in failed], MOST) + (f" on {dataset}" if dataset else "")
        verb = "is" if len(failed) == 1 else "are"
        lines.append(f"{runs} could not be evaluated and {verb} not compared.")
    rules = {key: best_of([choice], shown_name) for key, choice in comparisons.chosen.items()}
    for how, rows in grouped_by(rules, rules.__getitem__).items():
        best = first_of([*dict.fromkeys(run for _, run in rows)], MOST)
        lines.append(f"{best}: {how}. The test does not account for this choice.")
    slices = {row.dataset for row in comparisons.rows if row.group}
    for dataset, entries in grouped_by(comparisons.unanswered, attrgetter("dataset")).items():
        if dataset in slices:
            continue
        total = entries[0].n_queries
        names = (name for row in comparisons.rows for name in (row.run, row.baseline))
        coverages = dict.fromkeys(names, (total, total))
        coverages |= {entry.run: (total - entry.n, total) for entry in entries}
        metrics = dict.fromkeys(row.metric for row in comparisons.rows)
        on = dataset if len(by) > 1 else ""
        lines += unanswered_queries(coverages, metrics, Policy(), on=on)
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
    largest, text = (
        max((n for _, n in comparisons.family_sizes), default=0),
        correction(comparisons),
    )
    if largest == 1 and comparisons.kind == "paired":
        return f"The adjusted p equals p, as there is {text}."
    n_shown, n_all = len(comparisons.rows), sum(n for _, n in comparisons.family_sizes)
    return f"The adjusted p has {text}{f', {n_shown:,} shown' if n_shown < n_all else ''}."


def _with_article(test: str) -> str:
    """Return the name of a test in a sentence.

    >>> _with_article("two-sided sign test"), _with_article("the randomised Tukey HSD test")
    ('a two-sided sign test', 'the randomised Tukey HSD test')
    """
    return test if test[:1].isupper() or test.startswith("the ") else f"a {test}"


def standing_notes(comparisons: Comparisons) -> list[str]:
    """Notes that explain tiers and ranks."""
    plan = comparisons.plan
    lines = [
        tiers(plan.level),
        tests_of_tiers(comparisons),
        f"The rank interval is a {confidence(plan.level)} interval, by bootstrap over "
        f"queries ({plan.rank_draws:,} draws, seed {plan.seed}).",
    ]
    if any(row.n > row.n_ranked for row in comparisons.standings):
        lines.append("Tiers and ranks use the queries for which every run has a value.")
    return lines


def largest(systems: Sequence[System], found: Comparisons) -> Iterator[Grid]:
    """Yield the queries that a run wins and loses by most, by the first metric on each dataset."""
    datasets = set[str]()
    for block in paired_values(systems, found.plan):
        row = next(iter(found.of(block.dataset, str(block.metric))), None)
        if row is None or row.group or row.dataset in datasets:
            continue
        datasets.add(row.dataset)
        base, run = (block.values[block.runs.index(name)] for name in (row.baseline, row.run))
        both = np.flatnonzero(~np.isnan(base) & ~np.isnan(run))
        difference = differences(run[both], base[both])
        places = largest_first(difference, MOST)
        rows = []
        for query, change in zip(both[places].tolist(), difference[places], strict=True):
            values = decimals(base[query]), decimals(run[query]), decimals(change, sign=True)
            rows.append([block.qids[query].as_py(), *values])
        title = f"{_title(block.dataset, heading(block.metric))}: queries with the largest "
        title += f"differences of {row.run} from {row.baseline}"
        if rows:
            yield grid(["qid", row.baseline, row.run, "difference"], rows, title=title)


def unanswered(comparisons: Comparisons) -> Iterator[Grid]:
    """Yield for each dataset the queries that runs do not answer, if they are known."""
    slices = {row.dataset for row in comparisons.rows if row.group}
    known = [entry for entry in comparisons.unanswered if entry.qids]
    for dataset, entries in grouped_by(known, attrgetter("dataset")).items():
        if dataset in slices:
            continue
        rows = []
        for entry in entries:
            rest = and_more(len(entry.qids) - MOST_UNANSWERED)
            qids = " ".join([*entry.qids[:MOST_UNANSWERED], *rest])
            rows.append([entry.run, str(entry.n), qids])
        title = ", ".join(filter(None, (dataset, "queries without an answer")))
        yield grid(["run", "n", "qids"], rows, left=3, title=title)
