"""trec_eval's counts, and the two measures that are text."""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated

import numpy as np

from ..core.aligned import Aligned
from ..core.arguments import Range
from ..core.ragged import Floats, Ints
from .shared import Rel, trec_measure

count = partial(
    trec_measure,
    direction=None,
    bounds=(0, math.inf),
    unit="documents",
    summary="sum",
    empty=None,
    expected="itself",
)
"""Register a count; the summary is its sum over queries."""


@count(
    "num_q",
    "m_num_q.c",
    fractions=True,
    title="the number of queries",
    unit="queries",
    missing=None,
    aliases=("NumQ",),
)
def num_q(aligned: Aligned) -> Floats:
    """Number of queries.

    It counts queries that the run does not answer too, as ``trec_eval -c`` does, unless the policy
    leaves them out.

    Returns
    -------
    ndarray, shape (n_queries,)
        1 for each query.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q1": {"a": 1}, "q2": {"a": 1}})
    >>> num_q(align(qrels, Run.from_dict({"q1": {"a": 3.0}}))).tolist()
    [1.0, 1.0]
    """
    return np.ones(aligned.n_queries)


@count(
    "num_ret",
    "m_num_ret.c",
    fractions=True,
    title="the number of documents retrieved",
    aliases=("NumRet",),
    unbounded_with=("judged_only",),
)
def num_ret(aligned: Aligned) -> Ints:
    """Number of retrieved documents, after ``depth`` and ``judged_only`` of the policy.

    Returns
    -------
    ndarray, shape (n_queries,)
        At least 0.

    >>> from harness import Qrels, Run, align
    >>> qrels, run = Qrels.from_dict({"q": {"a": 1}}), Run.from_dict({"q": {"x": 3.0}})
    >>> num_ret(align(qrels, run)).tolist()
    [1]
    """
    return aligned.n_retrieved


@count(
    "num_rel",
    "m_num_rel.c",
    title="the number of relevant documents",
    missing=None,
    aliases=("NumRel",),
)
def num_rel(aligned: Aligned, *, rel: Rel = 1) -> Ints:
    """Number of relevant documents in the qrels, retrieved or not.

    It counts queries that the run does not answer too, as ``trec_eval -c`` does. Unlike there,
    `rel` applies to these queries too.

    Returns
    -------
    ndarray, shape (n_queries,)
        At least 0.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> num_rel(align(qrels, Run.from_dict({"q": {"a": 3.0}}))).tolist()
    [2]
    """
    return aligned.n_relevant(rel)


@count(
    "num_rel_ret",
    "m_num_rel_ret.c",
    direction="higher",
    title="the number of relevant documents retrieved",
    aliases=("NumRelRet",),
)
def num_rel_ret(aligned: Aligned, *, rel: Rel = 1) -> Ints:
    """Number of retrieved relevant documents.

    Returns
    -------
    ndarray, shape (n_queries,)
        At least 0.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> num_rel_ret(align(qrels, Run.from_dict({"q": {"a": 3.0, "x": 2.0}}))).tolist()
    [1]
    """
    return aligned.found(rel).lengths


@count(
    "num_nonrel_judged_ret",
    "m_num_nonrel_judged_ret.c",
    title="the number of documents retrieved that are judged not relevant",
    unbounded_with=("depth",),
)
def num_nonrel_judged_ret(aligned: Aligned, *, rel: Rel = 1) -> Ints:
    """Number of retrieved documents that are judged non-relevant.

    Parameters
    ----------
    rel : int
        Smallest grade that counts as relevant; documents with smaller grades from 0 are counted.

    Returns
    -------
    ndarray, shape (n_queries,)
        At least 0.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": -1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> num_nonrel_judged_ret(align(qrels, run)).tolist()
    [1]
    """
    return aligned.count((aligned.grade >= 0) & (aligned.grade < rel))


@trec_measure(
    "relstring",
    "m_relstring.c",
    title="the first grades as text",
    direction=None,
    bounds=(0, 0),
    empty=None,
    trec_parameter="length",
    expected="itself",
)
def relstring(aligned: Aligned, *, length: Annotated[int, Range(0, None)] = 10) -> Floats:
    """Always 0: trec_eval prints the first grades as text, and pytrec_eval gives 0.

    Tables, CSV and JSON lines leave it out with a note. It exists for the nickname ``all_trec``.

    Parameters
    ----------
    length : int
        Number of grades that trec_eval prints.

    Returns
    -------
    ndarray, shape (n_queries,)
        Always 0.

    >>> from harness import Qrels, Run, align
    >>> qrels, run = Qrels.from_dict({"q": {"a": 1}}), Run.from_dict({"q": {"a": 3.0}})
    >>> relstring(align(qrels, run)).tolist()
    [0.0]
    """
    return np.zeros(aligned.n_queries)


@trec_measure(
    "runid",
    "m_runid.c",
    title="the run's tag",
    direction=None,
    bounds=(0, 0),
    empty=None,
    expected="itself",
    fractions=True,
)
def runid(aligned: Aligned) -> Floats:
    """Always 0: trec_eval prints the run's tag as text, and pytrec_eval gives 0.

    Tables, CSV and JSON lines leave it out with a note; the format ``trec`` prints the name of the
    run. It exists for the nicknames ``official`` and ``set``.

    Returns
    -------
    ndarray, shape (n_queries,)
        Always 0.

    >>> from harness import Qrels, Run, align
    >>> qrels, run = Qrels.from_dict({"q": {"a": 1}}), Run.from_dict({"q": {"a": 3.0}})
    >>> runid(align(qrels, run)).tolist()
    [0.0]
    """
    return np.zeros(aligned.n_queries)
