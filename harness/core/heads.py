"""Stretches of rows that have the same qid."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .arrow import equal, string_column, take, to_numpy
from .hashing import hash_strings
from .ragged import Ints


def heads(qids: pa.Array) -> tuple[pa.Array, Ints]:
    """Return the qid of each stretch of rows that have the same one, and the row after its last."""
    encoded = pa.types.is_run_end_encoded(qids.type)
    values = qids.values if encoded else qids
    if len(values) == 0:
        return string_column([]), np.zeros(0, dtype=np.int64)
    changes = ~equal(values.slice(1), values.slice(0, len(values) - 1))
    if changes.all():
        return values, to_numpy(qids.run_ends) if encoded else np.arange(1, len(values) + 1)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    ends = np.append(starts[1:], len(values))
    if encoded:
        ends = to_numpy(qids.run_ends)[ends - 1]
    return take(values, starts), ends


def are_distinct(texts: pa.Array) -> bool:
    """Whether no two texts have one hash, so that none is there twice."""
    hashes = hash_strings(texts)
    hashes.sort()
    return not bool((hashes[1:] == hashes[:-1]).any())
