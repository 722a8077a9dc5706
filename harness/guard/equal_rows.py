"""Pairs of rows to which every model gives one score: said once of the dataset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from .finding import Finding
from .registry import finding
from .sweep import GuardedCell

RUNS = 3
"""Runs that must tie the same pairs before their rows, and not the models, are why."""
ABOUT = 1.25
"""How many times as many pairs as the others a run may tie beside these."""
_SCORE = re.compile(r": [^:]*$")
_LINE = re.compile(r":\d+$|: row \d+$")


def said_once(findings: Sequence[Finding], cells: Iterable[GuardedCell]) -> list[Finding]:
    """Return findings, with ties that several runs have alike as one of their dataset."""
    found = [*findings]
    for one, runs in _of_rows(cells):
        kept = [
            old for old in found if old.rule != one.rule or _LINE.sub("", old.place) not in runs
        ]
        if len(found) - len(kept) >= RUNS:
            found = [*kept, one]
    return found


def _of_rows(cells: Iterable[GuardedCell]) -> Iterator[tuple[Finding, set[str]]]:
    """Yield the finding for each dataset, and the runs of which it is true."""
    alike: dict[tuple[str, str], dict[str, GuardedCell]] = {}
    for cell in cells:
        pairs = _pairs(cell)
        if cell.facts.run.follows and pairs:
            alike.setdefault((cell.dataset, pairs[0]), {})[cell.run] = cell
    for (dataset, _), same in alike.items():
        least = min(cell.facts.run.tied for cell in same.values())
        runs = {run: cell for run, cell in same.items() if cell.facts.run.tied <= ABOUT * least}
        if len(runs) >= RUNS:
            first = next(iter(runs.values()))
            shared = [
                pair for pair in _pairs(first) if all(pair in _pairs(c) for c in runs.values())
            ]
            share = 100 * least / first.facts.run.pairs
            what = (
                f"{len(runs):,} runs give the same pairs of rows one score, {share:.2g} % of all "
                "pairs of a query, as models do where features are equal"
            )
            yield finding(
                "score-ties", dataset, what, least, shared, "note" if share < 10 else None,
                fix="nothing, where features are equal: no model can tell such rows apart",
            ), {*runs}  # fmt: skip


def _pairs(cell: GuardedCell) -> list[str]:
    """Return the first tied pairs of a run, without their scores."""
    first = cell.facts.run.first.get("score-ties")
    return [] if first is None else [_SCORE.sub("", name) for name in first.names]
