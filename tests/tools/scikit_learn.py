"""scikit-learn: one row a query; it has no mean over lists of different lengths."""

from collections.abc import Sequence

import numpy as np

from . import ALL, CUTOFFS, Column, Printed, Query, name

CONVENTIONS = ("sklearn",)
GRADES = ((0, 4), (0, 1), (0, 0))
REFUSED = (("ndcg", -1), ("map", 2))
AT_LEAST = 2
"""Documents of a query; nDCG of one alone is an error."""


def _average_precision(query: Query) -> float:
    from sklearn.metrics import average_precision_score

    if max(query.grades) < 1:
        return 0.0  # what it gives, with a warning
    return float(average_precision_score(np.array(query.grades) > 0, query.scores))


def refuse(metric: str, query: Query) -> None:
    from sklearn import metrics

    if metric == "map":
        metrics.average_precision_score(query.grades, query.scores)
    else:
        getattr(metrics, f"{metric}_score")([query.grades], [query.scores])


def printed(queries: Sequence[Query]) -> Printed:
    from sklearn.metrics import dcg_score, ndcg_score

    found = {}
    for cutoff in (*CUTOFFS, ALL):
        k = cutoff if cutoff < ALL else None
        for settings, gain in (((), lambda g: g), (("gain=exp",), lambda g: 2.0**g - 1)):
            for metric, score in (("ndcg", ndcg_score), ("dcg", dcg_score)):
                found[name(metric, "sklearn", cutoff, *settings)] = Column(
                    [
                        float(score([gain(np.array(query.grades))], [query.scores], k=k))
                        for query in queries
                    ]
                )
    graded = any(grade > 1 for query in queries for grade in query.grades)
    settings = ("labels=clip",) if graded else ()
    found[name("map", "sklearn", None, *settings)] = Column(
        [_average_precision(query) for query in queries]
    )
    return found
