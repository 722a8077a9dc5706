"""Comparisons and standings as flat rows: what CSV files and data frames hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .leaderboard import CHOSEN

if TYPE_CHECKING:
    from .comparison import Comparison, Comparisons

Value = str | int | float | bool | None
Row = dict[str, Value]


def comparison_rows(found: Comparisons) -> list[Row]:
    """Return a row for each comparison, with all that its p-value hangs on.

    The overall result of a test of all pairs stands in each row of its table; it is None for
    other tests. `draws` and `seed` are None where nothing was drawn; of a test of all pairs
    `correction` is ``of the test``.
    """
    return [_row(one, found) for one in found.rows]


def _row(one: Comparison, found: Comparisons) -> Row:
    plan = found.plan
    all_pairs = found.kind == "all-pairs"
    family, size = found.family(one)
    overall = found.overall_of(one)
    is_drawn = found.drawn and one.may_be_drawn
    return {
        "dataset": one.dataset,
        "metric": str(one.metric),
        "baseline": one.baseline,
        "run": one.run,
        "n": one.n,
        "baseline_value": one.baseline_value,
        "run_value": one.run_value,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
        "interval": one.interval,
        "level": plan.level,
        "d_z": one.d_z,
        "hedges_g": one.hedges_g,
        "cliffs_delta": one.cliffs_delta,
        "wins": one.wins,
        "ties": one.ties,
        "losses": one.losses,
        "detectable": one.detectable,
        "statistic": one.statistic,
        "p": one.p,
        "p_adjusted": one.p_adjusted,
        "significant": found.is_significant(one),
        "test": plan.test,
        "method": one.method,
        "correction": "of the test" if all_pairs else plan.correction,
        "family": family,
        "family_size": size,
        "draws": plan.draws if is_drawn else None,
        "seed": plan.seed if is_drawn else None,
        "note": found.remarks(one),
        "overall_statistic": None if overall is None else overall.statistic,
        "overall_p": None if overall is None else overall.p,
        "critical_difference": None if overall is None else overall.critical_difference,
    }


def standing_rows(found: Comparisons) -> list[Row]:
    """Return a row for each run by each metric on each dataset.

    Where any is the best of several, the last column says of what.
    """
    return [
        {
            "dataset": one.dataset,
            "run": one.run,
            "metric": str(one.metric),
            "n": one.n,
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "rank": one.rank or None,
            "rank_low": one.rank_low or None,
            "rank_high": one.rank_high or None,
            "tier": one.tier,
            "n_ranked": one.n_ranked,
            **({CHOSEN: found.chosen.get((one.dataset, one.run), "")} if found.chosen else {}),
        }
        for one in found.standings
    ]
