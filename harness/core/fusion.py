"""Fusion: one run from several, by the ranks or the normalised scores of their documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from ..errors import ArgumentError, Problem, check_known
from .align import rank_order
from .arguments import check_arguments, check_choice, is_number, whole_from, wrong
from .arrow import cast, encode, take
from .qrels_and_runs import Docnos, Run
from .ragged import Floats, Ints, lengths_of, offsets_of, positions_of, sum_by

Method = Literal["rrf", "combsum", "combmnz", "combanz", "combmax", "isr", "borda", "wsum"]
Norm = Literal["min-max", "z", "sum", "rank", "none"]
BY_RANK = ("rrf", "isr", "borda")
"""Methods that look at ranks alone, and take no normalisation."""
K = 60
TITLES: dict[str, tuple[str, str]] = {
    "rrf": ("reciprocal rank fusion", "cormack2009"),
    "combsum": ("CombSUM", "fox1993"),
    "combmnz": ("CombMNZ", "fox1993"),
    "combanz": ("CombANZ", "fox1993"),
    "combmax": ("CombMAX", "fox1993"),
    "isr": ("inverse square rank", "mourao2015"),
    "borda": ("Borda counts", "aslam2001"),
    "wsum": ("a weighted sum", "vogt1999"),
}
"""Name of each method in texts, and its reference."""
NORMS: dict[str, str] = {
    "min-max": "min-max normalised scores",
    "z": "z-scores",
    "sum": "sum-normalised scores",
    "rank": "rank-normalised scores",
    "none": "scores that are not normalised",
}


@dataclass(frozen=True)
class Fusion:
    """Settings of a fusion; `harness.fuse` describes them.

    >>> Fusion.parse("wsum(norm=z,weights=0.3/0.7)")
    Fusion(method='wsum', k=None, weights=(0.3, 0.7), norm='z', depth=None)
    """

    method: Method = "rrf"
    k: int | None = None
    weights: tuple[float, ...] | None = None
    norm: Norm | None = None
    depth: int | None = None

    def __post_init__(self) -> None:
        check_choice("method", self.method, get_args(Method))
        check_arguments(vars(self), k=whole_from(0).or_none(), depth=whole_from(1).or_none())
        if self.norm is not None:
            check_choice("norm", self.norm, get_args(Norm))
            if self.method in BY_RANK:
                raise _unused(self.method, "combsum", norm=self.norm)
        if self.k is not None and self.method != "rrf":
            raise _unused(self.method, "rrf", k=self.k)
        if self.method == "wsum" and self.weights is None:
            fix = "give one for each run, such as 0.3 and 0.7"
            raise ArgumentError(Problem("weights", "wsum needs weights, got none", fix=fix))
        if self.weights is not None and not (
            all(is_number(weight) and 0 <= weight < np.inf for weight in self.weights)
            and any(self.weights)
        ):
            raise wrong("weights", "numbers from 0, not all 0", str(self.weights))
        if self.method == "rrf" and self.k is None:
            vars(self).update(k=K)
        if self.method not in BY_RANK and self.norm is None:
            vars(self).update(norm="min-max")

    @classmethod
    def parse(cls, text: str) -> Fusion:
        """Return the fusion of a text such as ``rrf`` or ``wsum(weights=0.3/0.7,norm=z)``."""
        match = re.fullmatch(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", text)
        method, inside = match.groups() if match else (text, None)
        check_known("method", method, get_args(Method), "--fuse")
        settings: dict[str, Any] = {}
        for part in filter(None, (inside or "").split(",")):
            name, _, value = (piece.strip() for piece in part.partition("="))
            check_known("setting", name, [field.name for field in fields(cls)[1:]], "--fuse")
            try:
                if name == "weights":
                    settings[name] = tuple(map(float, value.split("/")))
                else:
                    settings[name] = value if name == "norm" else int(value)
            except ValueError:
                example = "0.3/0.7" if name == "weights" else "60"
                raise wrong(name, f"a value such as {example}", value) from None
        return cls(**{"method": method, **settings})

    def check_number(self, n_runs: int) -> None:
        """Raise ArgumentError unless there are several runs, and a weight for each."""
        if n_runs < 2:
            what = f"expected two runs or more, got {n_runs}"
            raise ArgumentError(Problem("fuse", what, fix="name another run, or fuse none"))
        if self.weights is not None and len(self.weights) != n_runs:
            message = f"expected a weight for each of {n_runs} runs, got {len(self.weights)}"
            raise ArgumentError(Problem("weights", message))

    def in_words(self, cite: str = "") -> str:
        """Return the method with its settings in words; a citation goes behind its name.

        >>> print(Fusion("rrf", depth=100).in_words(" [1]"))
        reciprocal rank fusion of the first 100 documents with k = 60 [1]
        >>> Fusion("combmnz").in_words()
        'CombMNZ of min-max normalised scores'
        """
        parts = [f"of {NORMS[self.norm]}"] if self.norm else []
        if self.depth is not None:
            parts.append(f"of the first {self.depth:,} documents")
        text = " ".join([TITLES[self.method][0], *parts])
        text += "" if self.k is None else f" with k = {self.k}"
        return text + self.weights_in_words + cite

    @property
    def weights_in_words(self) -> str:
        """Return the weights as a part of a sentence; nothing without them."""
        text = " and ".join(weights_text(self.weights or (), ", ").rsplit(", ", 1))
        return f" with weights {text}" if text else ""


def weights_text(weights: Sequence[float], between: str = "/") -> str:
    """Return weights as text: ``0.3/0.7``."""
    return between.join(f"{weight:g}" for weight in weights)


def _unused(method: str, other: str, **setting: Any) -> ArgumentError:
    (name,) = setting
    fix = f"leave '{name}' out, or write method {other}"
    return ArgumentError(Problem(name, f"{method} takes no {name}", fix=fix))


def fuse_runs(runs: Sequence[Run], fusion: Fusion, name: str = "") -> Run:
    """Return a run with the documents of all runs and their fused scores.

    `harness.fuse` has the formulas. Queries and documents come in the order of the runs.

    References
    ----------
    Cormack, Clarke and Büttcher, SIGIR 2009 (rrf); Fox and Shaw, TREC 1993 (combsum and others);
    Mourão, Martins and Magalhães, 2015 (isr); Aslam and Montague, SIGIR 2001 (borda).
    """
    fusion.check_number(len(runs))
    parts = [_Part.of(run, fusion.depth) for run in runs]
    fused = _union(parts, name)
    row = fused.row
    n_documents = lengths_of(fused.offsets)
    weights = fusion.weights or (1.0,) * len(runs)
    scores = np.full(fused.n_rows, -np.inf if fusion.method == "combmax" else 0.0)
    n_runs = np.zeros(fused.n_rows)
    for part, weight in zip(parts, weights, strict=True):
        place = part.place
        n_runs[place] += 1
        if fusion.method == "borda":
            lengths = np.zeros(fused.n_queries)
            lengths[part.query] = part.lengths
            points = ((n_documents - lengths + 1) / 2)[row]
            points[place] = n_documents[row[place]] - part.rank + 1
            scores += weight * points
        elif fusion.method == "combmax":
            scores[place] = np.maximum(scores[place], weight * part.normalised(fusion.norm))
        else:
            scores[place] += weight * _addends(part, fusion)
    if fusion.method in ("combmnz", "isr"):
        scores *= n_runs
    elif fusion.method == "combanz":
        scores /= n_runs
    checked = Run.check_numbers(scores, name or fusion.method)
    return Run(fused.qids, fused.offsets, fused.docnos, checked, name)


def _addends(part: _Part, fusion: Fusion) -> Floats:
    """Return the addends of a run's documents to their fused scores."""
    if fusion.method == "rrf":
        return 1 / (part.rank + float(fusion.k or 0))
    return 1 / part.rank**2.0 if fusion.method == "isr" else part.normalised(fusion.norm)


@dataclass(eq=False)
class _Part:
    """Part of a run that is fused: its rows, and the query, rank and score of each.

    `place` is that of each row in the fused run, `query` that of each of the run's queries.
    """

    run: Run
    rows: Ints
    row: Ints
    rank: Ints
    scores: Floats
    lengths: Ints
    place: Ints
    query: Ints

    @classmethod
    def of(cls, run: Run, depth: int | None) -> _Part:
        """Return the first `depth` documents of each query, all by default."""
        rank = np.empty(run.n_rows, dtype=np.int64)
        rank[rank_order(run)] = positions_of(run.offsets, first=1)
        rows = np.arange(run.n_rows) if depth is None else np.flatnonzero(rank <= depth)
        row, query = run.row[rows], np.arange(run.n_queries)
        lengths = np.bincount(row, minlength=run.n_queries)
        return cls(run, rows, row, rank[rows], run.scores[rows], lengths, rows, query)

    def normalised(self, norm: Norm | None) -> Floats:
        """Return the normalised scores; 0 if all scores of a query are equal."""
        n_queries, row = self.lengths.size, self.row
        if norm == "none":
            return self.scores
        if norm == "rank":
            return 1 - (self.rank - 1) / self.lengths[row]
        starts = offsets_of(self.lengths)[:-1][self.lengths > 0]
        low, high = (
            np.repeat(extreme.reduceat(self.scores, starts), self.lengths[self.lengths > 0])
            if starts.size
            else np.zeros(0)
            for extreme in (np.minimum, np.maximum)
        )
        if norm == "z":
            centred = self.scores - (sum_by(row, self.scores, n_queries)[row] / self.lengths[row])
            scale = np.sqrt(sum_by(row, centred**2, n_queries)[row] / self.lengths[row])
        else:
            centred = self.scores - low
            scale = high - low if norm == "min-max" else sum_by(row, centred, n_queries)[row]
        differs = high > low
        return np.divide(centred, scale, out=np.zeros(row.size), where=differs & (scale > 0))


def _union(parts: Sequence[_Part], name: str) -> Run:
    """Return the run of all documents, without scores; each part gets its places in it."""
    first = parts[0].run
    shared = all(part.run.docnos is first.docnos for part in parts)
    if shared and all(part.rows.size == first.n_rows for part in parts):  # rows of one dataset
        return Run(first.qids, first.offsets, first.docnos, np.zeros(first.n_rows), name)
    all_qids, queries = encode(_joined([part.run.qids for part in parts]))
    all_docnos, document = encode(_joined([part.run.docnos.take(part.rows) for part in parts]))
    ends = np.cumsum([part.run.n_queries for part in parts])
    for part, query in zip(parts, np.split(queries, ends[:-1]), strict=True):
        part.query = query
    query_of_row = np.concatenate([part.query[part.row] for part in parts])
    pairs, begins, which = np.unique(
        query_of_row * max(len(all_docnos), 1) + document, return_index=True, return_inverse=True
    )
    order = np.lexsort((begins, query_of_row[begins]))
    place = np.empty(pairs.size, dtype=np.int64)
    place[order] = np.arange(pairs.size)
    ends = np.cumsum([part.rows.size for part in parts])
    for part, which_of_part in zip(parts, np.split(which, ends[:-1]), strict=True):
        part.place = place[which_of_part]
    offsets = offsets_of(np.bincount(query_of_row[begins], minlength=len(all_qids)))
    docnos = take(all_docnos, document[begins[order]])
    return Run(all_qids, offsets, Docnos(docnos, offsets), np.zeros(pairs.size), name)


def _joined(columns: Sequence[pa.Array]) -> pa.Array:
    """Return string columns as one; a long one makes all of them long."""
    kinds = {column.type for column in columns}
    kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
    return pa.concat_arrays([cast(column, kind) for column in columns])
