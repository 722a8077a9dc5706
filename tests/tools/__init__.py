"""One file for each installed tool: what it gives for lists, under the names that we have for it.

Each file has ``CONVENTIONS``, whose every metric it covers; ``GRADES``, the ranges of grades
that it takes; ``SINGLE``, whether it computes with float32; and ``printed(queries)``, which
returns, for our name of each metric, what the tool itself gave.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

CUTOFFS = (1, 3, 5, 10)
ALL = 1000
"""A cutoff beyond every list."""


@dataclass(frozen=True)
class Query:
    docnos: tuple[str, ...]
    grades: tuple[int, ...]
    scores: tuple[float, ...]

    def tied(self, dtype: type[np.floating] = np.float64) -> bool:
        return len(set(np.asarray(self.scores, dtype).tolist())) < len(self.scores)


@dataclass(frozen=True)
class Column:
    """What a tool gave for one metric.

    Parameters
    ----------
    values : sequence
        One a query; NaN if it leaves the query out, None if no rule gives its value.
    mean : float, optional
        Its own mean, if it has one.
    """

    values: Sequence[float | None]
    mean: float | None = None


Printed = dict[str, Column]
Table = dict[str, dict[str, float]]


def name(metric: str, convention: str, cutoff: int | None = None, *settings: str) -> str:
    """Our name of a metric.

    >>> name("ndcg", "lightgbm", 5, "gain=linear")
    'ndcg(convention=lightgbm,gain=linear)@5'
    """
    inside = ",".join((f"convention={convention}", *settings))
    return f"{metric}({inside})" + (f"@{cutoff}" if cutoff else "")


def dicts(queries: Sequence[Query]) -> tuple[Table, Table]:
    """Judgements and scores by query and document; qids are in order as text, too."""
    qids = [f"{1000 + place}" for place in range(len(queries))]
    grades = [dict(zip(query.docnos, query.grades, strict=True)) for query in queries]
    scores = [dict(zip(query.docnos, query.scores, strict=True)) for query in queries]
    return dict(zip(qids, grades, strict=True)), dict(zip(qids, scores, strict=True))


def flat(columns: Iterable[Sequence[float]]) -> list[float]:
    return list(chain.from_iterable(columns))


def sizes(queries: Sequence[Query]) -> list[int]:
    return [len(query.grades) for query in queries]
