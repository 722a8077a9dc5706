"""Studies whose means are known by hand, and checks of tables against them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import studies

from harness.audit.check_table import FORMATS, TableCheck, with_dataset
from harness.audit.table_names import Known, match
from harness.reports.leaderboard import Study
from harness.stats.compare import compare
from harness.stats.comparison import Plan

Means = Mapping[str, Mapping[str, tuple[float, ...]]]
MEANS: Means = {
    "web": {"bm25": (0.4001, 0.5512), "ql": (0.4123, 0.5498), "ours": (0.42361, 0.5731)},
    "news": {"bm25": (0.2204, 0.3101), "ql": (0.2304, 0.3333), "ours": (0.23037, 0.3250)},
}
"""Means of map and ndcg@10. On 20 queries, whose differences from bm25 have a deviation of about
.007, a paired t-test finds differences of more than .005."""
BASELINE = Plan(baselines=("bm25",), correction="none")
ALL = Plan(correction="none")


def study(plan: Plan | None = None, seeds: int = 1, means: Means = MEANS) -> Study:
    queries = np.arange(20)
    values: dict[str, dict[str, Any]] = {dataset: {} for dataset in means}
    for dataset, runs in means.items():
        for place, (run, both) in enumerate(runs.items()):
            # bm25: +-.1 from its mean; the others up to .01 from that, each in its own way
            own = 0.01 * np.sin((queries + 1.0) * (place + 1)) * (place > 0)
            pattern = 0.1 * np.where(queries % 2 == 0, 1.0, -1.0) + own - own.mean()
            for seed in range(seeds):
                # two seeds: .01 above and below, so that their deviation is .01 x sqrt(2) = .0141
                shift = 0.01 * (1 - 2 * seed) * (seeds > 1)
                key = f"{run}::{seed}" if seeds > 1 else run
                values[dataset][key] = np.stack([mean + pattern + shift for mean in both], axis=1)
    found = studies.study(values, ("map", "ndcg@10"))
    if plan is None:
        return found
    return replace(found, comparisons=compare(found.systems, plan))


@cache
def named_study(name: str) -> Study:
    return {
        "plain": study,
        "baseline": lambda: study(BASELINE),
        "pairs": lambda: study(ALL),
        "seeds": lambda: study(BASELINE, seeds=2),
    }[name]()


def verdict(
    text: str, found: Study, suffix: str = ".tex", at: int = 0, dataset: str | None = None,
    **names: str,
) -> TableCheck:  # fmt: skip
    grid = FORMATS[suffix](text)[at]
    one = with_dataset(match(grid, Known.of(found, [*names.items()])), dataset)
    return TableCheck(one, found, grid.name or "1").run()


def findings(one: TableCheck) -> list[tuple[str, str, str, str, str]]:
    """Return kind, row, column, found, right of each finding."""
    return [(f.kind, f.row, f.column, f.found, f.right) for f in one.findings]
