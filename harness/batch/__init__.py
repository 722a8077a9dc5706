"""Metrics as functions of padded batches.

The metrics return a float64 array with a value for each query: NaN if the metric is not defined for
it, or it has no document.

``dcg`` and ``ndcg`` here have ``gain="exp"`` and ``k=10``; the metrics of these names have
``gain=linear`` and no cutoff.

For B queries of at most L documents, the metrics share these arguments:

Parameters
----------
scores, relevance : array_like, shape (B, L) or (B, L, 1)
    Scores and grades: lists, arrays, or tensors on any device.
n : array_like, shape (B,), optional
    Number of documents of each query; the rest is padding, which is never read. For scores and
    grades of shape (n_rows,): the group sizes, as for LightGBM.
mask : array_like of bool, shape (B, L), optional
    In place of `n`: True for a document, False for padding.
ties : {"trec_eval", "trec_eval10", "docno+", "stable", "reverse"}
    Order of tied documents, as in `harness.Policy`; docnos are d0, d1, ... by position. Scores are
    compared as float32 for ``trec_eval``, and as float64 for the others.

Examples
--------
>>> from harness import batch
>>> scores = [[1.0, 0.0, 1.5], [1.5, 0.2, 0.5]]
>>> batch.ndcg(scores, [[0, 1, 0], [0, 1, 1]], [3, 3]).round(4).tolist()
[0.5, 0.6934]
"""

from .functions import *  # noqa: F403
from .functions import __all__


def __dir__() -> list[str]:
    return __all__
