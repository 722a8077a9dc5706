"""What the renderings share: cells of text, and what must be said of comparisons."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..core.comparison import Comparison, Comparisons, Standing
from ..core.comparison_rows import Row
from ..core.incomplete import FEWER
from ..reports._cells import UNDEFINED, heading

CORRECTIONS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "Benjamini and Hochberg's correction",
    "by": "Benjamini and Yekutieli's correction",
}
INTERVALS = {
    "t": "t-intervals",
    "bca": "BCa bootstrap intervals",
    "simultaneous": "simultaneous intervals",
}
SIGNIFICANT = "*"
MOST = 5
"""Runs that a note names."""


@dataclass(frozen=True)
class Grid:
    """One table: title, heading, rows; how many rows were left out at its end."""

    title: str
    header: list[str]
    rows: list[list[str]]
    left: int
    more: int = 0


def number(value: float, digits: int = 4, sign: bool = False) -> str:
    """Return a value as it is shown.

    >>> number(0.12345), number(0.12345, sign=True), number(float("nan"))
    ('0.1235', '+0.1235', '–')
    """
    if math.isnan(value):
        return UNDEFINED
    return f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"


def p_value(p: float) -> str:
    """Return a p-value as it is shown; the files have every digit.

    >>> p_value(0.03217), p_value(0.00001), p_value(0.99999), p_value(float("nan"))
    ('0.0322', '<0.0001', '1.0000', '–')
    """
    return "<0.0001" if p < 0.0001 else number(p)


def grids(found: Comparisons, most: int | None = None) -> Iterator[Grid]:
    """Yield a table of comparisons for each metric on each dataset.

    Parameters
    ----------
    found : Comparisons
    most : int, optional
        Rows of a table; those with the smallest p are kept, in their order.
    """
    together: dict[tuple[str, str], list[Comparison]] = {}
    for one in found.rows:
        together.setdefault((one.dataset, str(one.metric)), []).append(one)
    for rows in together.values():
        yield _grid(found, rows, most)


def _grid(found: Comparisons, rows: Sequence[Comparison], most: int | None) -> Grid:
    kept = rows
    if most is not None and len(rows) > most:
        order = sorted(range(len(rows)), key=lambda place: (_key(rows[place]), place))
        kept = [rows[place] for place in sorted(order[:most])]
    first = rows[0]
    baselines = dict.fromkeys(one.baseline for one in rows)
    single = len(baselines) == 1
    title = ", ".join(filter(None, (first.dataset, heading(first.metric))))
    if single:
        base = {(one.baseline_value, one.n) for one in rows}
        value = f" ({number(first.baseline_value)}, n={first.n})" if len(base) == 1 else ""
        title += f", against {first.baseline}{value}"
    has_notes = any(one.note for one in kept)
    level = 100 * (1 - found.plan.level)
    header = ["run", *(["against"] * (not single)), "n", "value", "difference",
              f"{level:g} % interval", "p", "adjusted p", "d_z", "won/tied/lost", "detectable",
              *(["note"] * has_notes)]  # fmt: skip
    body = [
        [
            one.run, *([one.baseline] * (not single)), str(one.n), number(one.run_value),
            number(one.difference, sign=True), _interval(one), p_value(one.p),
            p_value(one.p_adjusted) + SIGNIFICANT * found.is_significant(one),
            number(one.d_z, 2, sign=True), f"{one.wins}/{one.ties}/{one.losses}",
            number(one.detectable), *([one.note] * has_notes),
        ]
        for one in kept
    ]  # fmt: skip
    return Grid(title, header, body, 1 if single else 2, len(rows) - len(kept))


def _key(one: Comparison) -> float:
    return math.inf if math.isnan(one.p_adjusted) else one.p_adjusted


def _interval(one: Comparison) -> str:
    if math.isnan(one.low):
        return UNDEFINED
    return f"[{number(one.low, sign=True)}, {number(one.high, sign=True)}]"


def overall_grids(found: Comparisons) -> Iterator[Grid]:
    """Yield a table of what a test of all runs together says, where one was made."""
    rows = [
        [
            one.dataset, heading(one.metric), one.name or UNDEFINED, number(one.statistic),
            p_value(one.p), number(one.critical_difference),
        ]
        for one in found.overall
    ]  # fmt: skip
    if rows:
        header = ["dataset", "metric", "statistic", "value", "p", "critical difference"]
        yield Grid("All runs together", header, rows, 3)


def standing_grids(found: Comparisons) -> Iterator[Grid]:
    """Yield a table of tiers and ranks for each metric on each dataset, best run first."""
    together: dict[tuple[str, str], list[Standing]] = {}
    for one in found.standings:
        together.setdefault((one.dataset, str(one.metric)), []).append(one)
    level = 100 * (1 - found.plan.level)
    header = ["run", "tier", "rank", "of ranks", "n", "value", f"{level:g} % interval"]
    for rows in together.values():
        title = ", ".join(filter(None, (rows[0].dataset, heading(rows[0].metric))))
        body = [
            [
                one.run, one.tier or UNDEFINED, str(one.rank) if one.rank else UNDEFINED,
                f"{one.rank_low}-{one.rank_high}" if one.rank_high else UNDEFINED, str(one.n),
                number(one.value),
                f"[{number(one.low)}, {number(one.high)}]" if one.low == one.low else UNDEFINED,
            ]
            for one in sorted(rows, key=lambda one: one.rank or len(rows) + 1)
        ]  # fmt: skip
        yield Grid(title, header, body, 1)


def notes(found: Comparisons) -> list[str]:
    """Return what a reader of comparisons must know: test, correction and family, level, seed."""
    plan = found.plan
    title = found.title or plan.test
    lines = [f"{title[:1].upper()}{title[1:]}; {correction(found)}"]
    lines.append(f"{SIGNIFICANT} adjusted p at most {plan.level:g}")
    hows = dict.fromkeys(INTERVALS[one.interval] for one in found.rows)
    said = f"{100 * (1 - plan.level):g} % {' and '.join(hows)} of the difference"
    lines.append(f"{said}; d_z: mean difference over the deviation of the differences")
    lines.append(
        f"detectable: smallest difference that a paired t-test at {plan.level:g} finds with "
        "80 % power, given these queries"
    )
    for baseline, datasets in found.absent:
        lines.append(f"no test against {baseline} on {', '.join(datasets)}, where it was not run")
    lines += [f"{FEWER}: {one}" for one in found.lost]
    lines += _failed(found)
    for said in dict.fromkeys(found.chosen.values()):
        runs = list(dict.fromkeys(run for (_, run), one in found.chosen.items() if one == said))
        more = f" and {len(runs) - MOST} more" * (len(runs) > MOST)
        lines.append(f"{', '.join(runs[:MOST])}{more}: {said}, which no test allows for")
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
        more = f" and {len(runs) - MOST} more" if len(runs) > MOST else ""
        where = f" on {dataset}" if dataset else ""
        yield (
            f"fewer comparisons than the config has: {', '.join(runs[:MOST])}{more}{where} could "
            "not be evaluated"
        )


def _unanswered(found: Comparisons) -> Iterator[str]:
    """Yield for each dataset which runs leave queries without an answer."""
    together: dict[str, list[str]] = {}
    for one in found.unanswered:
        together.setdefault(one.dataset, []).append(str(one))
    for dataset, runs in together.items():
        more = f", and {len(runs) - MOST} more runs not all" if len(runs) > MOST else ""
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
        return f"{total} comparison{'s' * (total != 1)}, not corrected"
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


def plain(row: Row) -> Row:
    """Return a row with None in place of NaN, which JSON does not have."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }
