"""Fusion of runs given as files or in memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.arguments import PATH, TEXT, check_arguments, instance_of
from ..core.fusion import Fusion, Method, Norm, fuse_runs
from ..core.policy import RunDuplicates, ScoreOrder
from ..core.qrels_and_runs import Qrels, Run
from ..readers import in_memory as inputs
from ..readers.passages import Passages
from ..readers.read import options_of_files

_RUNS = instance_of("a list of runs", list, tuple)
_WEIGHTS = instance_of("a list of numbers", list, tuple, np.ndarray, type(None))


def fuse(
    runs: Sequence[Any],
    method: Method = "rrf",
    k: int | None = None,
    weights: Sequence[float] | None = None,
    norm: Norm | None = None,
    depth: int | None = None,
    *,
    dataset: Any = None,
    name: str = "",
    write: str | os.PathLike[str] | None = None,
    columns: Mapping[str, str | int | None] | None = None,
    order: ScoreOrder = "descending",
    duplicates: RunDuplicates = "error",
    documents: str | Mapping[str, str] | None = None,
) -> Run:
    """Fuse several runs into one run with the documents of all.

    The rank of a document in a run is that of trec_eval: scores in single precision, ties by
    descending docno.

    Parameters
    ----------
    runs : list
        Two runs or more, each in a form that `harness.evaluate` takes.
    method : {"rrf", "combsum", "combmnz", "combanz", "combmax", "isr", "borda", "wsum"}
        Score of a document that n runs have. Each has a weight w, and gives the document the rank
        r and the normalised score s.

        * rrf: the sum of w / (k + r); isr: n times the sum of w / r^2;
        * combsum and wsum: the sum of w s; combmnz: n times that sum; combanz: it divided by n;
        * combmax: the largest w s;
        * borda: the sum of w (c - r + 1), for c documents of the query in all runs. A run with m
          of them gives w (c - m + 1) / 2 to each of the others.
    k : int, optional
        The constant of rrf, 60 by default.
    weights : list of float, optional
        A weight of at least 0 for each run, 1 by default; wsum needs them.
    norm : {"min-max", "z", "sum", "rank", "none"}, optional
        Normalisation of the m scores x of a query in a run, min-max by default; not for methods
        of ranks.

        * min-max: (x - min) / (max - min); sum: (x - min) / sum(x - min);
        * z: (x - mean) / deviation; rank: 1 - (r - 1) / m.

        If all scores are equal, they become 0, except under rank and none. A document that a run
        does not have gets 0 from it, which is the mean under z.
    depth : int, optional
        Number of documents of each query and run that are fused; all by default.
    dataset : qrels, optional
        Dataset of the runs, if these are scores without docnos.
    name : str
        Name of the fused run.
    write : path, optional
        File to write the fused run to, in TREC format.
    columns, documents : see `harness.evaluate`
    order : see `harness.evaluate`
    duplicates : see `harness.evaluate`

    Returns
    -------
    Run

    Raises
    ------
    ArgumentError, UnknownNameError
        If a setting is wrong, or the method does not have it.
    InputError
        If a run cannot be read.

    Examples
    --------
    >>> bm25 = {"q1": {"d1": 7.2, "d2": 3.5}}
    >>> dense = {"q1": {"d2": 0.9, "d3": 0.4}}
    >>> fuse([bm25, dense], "combsum").to_dict()
    {'q1': {'d1': 1.0, 'd2': 1.0, 'd3': 0.0}}
    """
    check_arguments(locals(), runs=_RUNS, name=TEXT, write=PATH.or_none(), weights=_WEIGHTS)
    fusion = Fusion(method, k, None if weights is None else tuple(weights), norm, depth)
    fusion.check_number(len(runs))
    passages = None if documents is None else Passages.of(documents, len(runs))
    _, of_runs = options_of_files(
        columns=columns, order=order, duplicates=duplicates, documents=passages
    )
    rows = None if dataset is None else inputs.as_table(Qrels, dataset)
    tables = [
        inputs.as_run(run, f"runs[{place}]", dataset=rows, **of_runs)
        for place, run in enumerate(runs)
    ]
    fused = fuse_runs(tables, fusion, name)
    if write is not None:
        inputs.write_run(write, fused)
    return fused
