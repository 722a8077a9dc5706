"""PyTorchLTR, which breaks ties at random and has no means of its own."""

from collections.abc import Sequence

import numpy as np

from . import ALL, CUTOFFS, Column, Printed, Query, name

CONVENTIONS = ("pytorchltr",)
GRADES = ((0, 4), (0, 1), (0, 0))
SINGLE = True


def printed(queries: Sequence[Query]) -> Printed:
    import torch
    from pytorchltr.evaluation import arp, dcg, ndcg

    width = max(len(query.grades) for query in queries)

    def padded(numbers: str, dtype: object) -> object:
        rows = [list(getattr(query, numbers)) for query in queries]
        return torch.tensor([row + [0] * (width - len(row)) for row in rows], dtype=dtype)

    batch = (
        padded("scores", torch.float32),
        padded("grades", torch.int64),
        torch.tensor([len(query.grades) for query in queries]),
    )
    settled = [not query.tied(np.float32) for query in queries]

    def column(values: object) -> Column:
        numbers = values.tolist()  # type: ignore[attr-defined]
        return Column([v if known else None for v, known in zip(numbers, settled, strict=True)])

    found = {name("arp", "pytorchltr"): column(arp(*batch))}
    for k in (*CUTOFFS, ALL):
        for settings, exp in (((), True), (("gain=linear",), False)):
            for metric, function in (("ndcg", ndcg), ("dcg", dcg)):
                found[name(metric, "pytorchltr", k, *settings)] = column(
                    function(*batch, k=k, exp=exp)
                )
    return found
