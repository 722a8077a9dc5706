"""The queries where two runs differ most, and those that one of them does not answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..core.comparison import Comparisons
from ..core.systems import System
from ..core.unanswered import Unanswered
from ..reports._cells import heading
from ..stats.blocks import blocks_of
from ..stats.differences import differences
from .cells import Grid, number

MOST = 5
MOST_UNANSWERED = 50


def largest(systems: Sequence[System], found: Comparisons, most: int = MOST) -> Iterator[Grid]:
    """Yield for each metric on each dataset the queries that the run wins and loses by most.

    Parameters
    ----------
    systems : sequence of System
        Two on each dataset: those that were compared.
    found : Comparisons
    most : int
        Queries in either direction.
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
        qids = block.systems[0].qids
        rows = [
            [
                qids[both[place]], number(base[both[place]]), number(run[both[place]]),
                number(difference[place], sign=True),
            ]
            for place in [*high, *reversed(low)]
        ]  # fmt: skip
        what = ", ".join(filter(None, (block.dataset, heading(block.metric))))
        title = f"{what}: queries with the largest differences of {one.run} from {one.baseline}"
        if rows:
            yield Grid(title, ["qid", one.baseline, one.run, "difference"], rows, 1)


def unanswered(found: Comparisons, most: int = MOST_UNANSWERED) -> Iterator[Grid]:
    """Yield for each dataset the queries that runs do not answer, where they are known."""
    together: dict[str, list[Unanswered]] = {}
    for one in found.unanswered:
        if one.qids:
            together.setdefault(one.dataset, []).append(one)
    for dataset, runs in together.items():
        rows = [
            [
                one.run, str(one.n),
                " ".join(one.qids[:most])
                + f" and {len(one.qids) - most} more" * (len(one.qids) > most),
            ]
            for one in runs
        ]  # fmt: skip
        title = ", ".join(filter(None, (dataset, "queries without an answer")))
        yield Grid(title, ["run", "n", "qids"], rows, 3)
