"""The command: reads, searches, and says what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .. import readers
from ..core.tables import Qrels
from ..errors import UnknownNameError
from .asked import read
from .search import DEPTH, explain
from .space import Base, spaces_of
from .text import jsonl, render

MOST_LEVELS = 4
_PATIENCE = 2.0
"""Seconds after which a bar shows how far the search is."""


def explain_files(
    value: str,
    files: Sequence[str] = (),
    *,
    metrics: Sequence[str] = (),
    k: Sequence[int] = (),
    depth: int | None = None,
    results: Path | None = None,
    run: str | None = None,
    dataset: str | None = None,
    where: Sequence[str] = (),
    qrels_format: str | None = None,
    run_format: str | None = None,
    group: str | None = None,
    everything: bool = False,
    format: str = "text",
) -> tuple[str, bool]:
    """Search for the settings that give a published value, as ``harness explain`` does.

    Parameters
    ----------
    value : str
        As it was printed: ``0.4731``, ``47.31%``.
    files : sequence of str
        Judgements and a run; none where `results` is given.
    metrics : sequence of str
        Those that it can be; every one that a convention has where left out.
    k : sequence of int
        Cutoffs that it can have; those of :data:`harness.explain.space.CUTOFFS` and the whole
        list where left out.
    depth : int, optional
        Settings of a convention that are changed at most: 2, and 1 where no metric is named.
    results, run, dataset, where
        A cell of a folder of results; see :func:`harness.explain.sources.from_results`.
    qrels_format, run_format, group
        How the files are read, where it cannot be told.
    everything : bool
        Whether the text lists all.
    format : {"text", "jsonl"}

    Returns
    -------
    text : str
    found : bool
        Whether any settings give the value.

    Raises
    ------
    InputError, AlignmentError, UnknownNameError
        Where the value is no number, or files, metrics or names are wrong.
    """
    asked = read(value)
    spaces_of(metrics, k or None)  # what is wrong with the names is said before any file is read
    if results is None:
        if len(files) != 2 or run is not None or dataset is not None or where:
            raise UnknownNameError(
                "give QRELS and RUN, or --results FOLDER with --run NAME (and --dataset, --where)"
            )
        how: dict[str, Any] = {"group": group} if group else {}
        qrels = readers.read_qrels(files[0], format=qrels_format, fractions=True, **how)
        scores = readers.read_run(files[1], dataset=qrels, format=run_format)
        subject = f"{Path(files[1]).name} on {Path(files[0]).name}"
    else:
        if files or run is None:
            raise UnknownNameError("--results FOLDER takes --run NAME, and no QRELS and RUN")
        from .sources import from_results

        qrels, scores, subject = from_results(results, run, dataset, where)
    spaces = spaces_of(metrics, k or None, _levels(qrels))
    if depth is None:
        depth = DEPTH if metrics else 1
    found = explain(asked, qrels, scores, spaces, depth, _track)
    text = jsonl(found) if format == "jsonl" else render(found, subject, everything)
    return text, bool(found.explanations)


def _levels(qrels: Qrels) -> tuple[int, ...]:
    """Return the values of ``rel`` that make a difference."""
    largest = int(qrels.ideal.values.max(initial=1))
    return tuple(range(1, min(max(largest, 1), MOST_LEVELS) + 1))


def _track(bases: Sequence[Base]) -> Iterable[Base]:
    from tqdm import tqdm

    found: Iterable[Base] = tqdm(bases, unit="convention", disable=None, delay=_PATIENCE)
    return found
