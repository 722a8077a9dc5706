"""Qrels and runs from files of any format: whole, in parts, or aligned while they are read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, get_args

from ..core.align import align, align_parts
from ..core.aligned import Aligned
from ..core.arguments import FLAG, TEXT, check_arguments, check_choice, instance_of
from ..core.policy import Duplicates, Policy
from ..core.tables import Qrels, Run
from .format import Path, ScatteredQueries, format_and_reader
from .rows import Rows
from .sanity_checks import Checks, warn_judgements, warn_unusable
from .source import Source

_PATH = instance_of("a path", str, os.PathLike, Source)
_DATASET = instance_of("qrels", Qrels, fix="give what harness.read_qrels returned")


def read_qrels(
    path: Path,
    *,
    format: str | None = None,
    duplicates: Duplicates = "error",
    name: str = "",
    fractions: bool = False,
    **options: Any,
) -> Qrels:
    """Read the judgements of a dataset.

    Parameters
    ----------
    path : str, path or Source
        A file, compressed or not, or ``-`` for standard input.
    format : str, optional
        One of :data:`~harness.readers.FORMATS`; guessed by default, if that is safe.
    duplicates : {"error", "first", "last"}
        What to do with a docno that a query names twice.
    name : str, optional
        Name for messages and reports; the file's own by default.
    fractions : bool
        Whether grades may be fractions, which only some conventions' metrics accept.
    **options
        The format's own: ``group`` for letor, ``columns`` for table and jsonl.

    Returns
    -------
    Qrels

    Raises
    ------
    InputError
        If the file cannot be read, with the lines that are wrong.
    UnknownNameError
        If there is no such format or option.

    Warns
    -----
    HarnessWarning
        If the rows of a query are scattered over the file, or none of its grades is at least 0.
    """
    check_arguments(locals(), path=_PATH, format=TEXT.or_none(), name=TEXT, fractions=FLAG)
    check_choice("duplicates", duplicates, get_args(Duplicates))
    source = Source.of(path)
    known, reader = format_and_reader(source, format, "qrels", options)
    qrels: Qrels = reader(
        source, duplicates=duplicates, name=name or source.label, fractions=fractions, **options
    )
    warn_unusable(Rows(source, known.is_data(source)), qrels)
    return qrels


def read_run(
    path: Path,
    *,
    dataset: Qrels | None = None,
    format: str | None = None,
    duplicates: Duplicates = "error",
    name: str = "",
    **options: Any,
) -> Run:
    """Read the scores of one system, whole.

    Parameters
    ----------
    dataset : Qrels, optional
        Its rows are those that the scores follow, for formats without docnos.

    Returns
    -------
    Run

    Warns
    -----
    HarnessWarning
        If rows are scattered, nearly all scores are constant, or they equal the grades. If a TREC
        run has several tags, or ranks that contradict the scores in the parts that are checked.

    See Also
    --------
    read_qrels : the other parameters and errors.
    stream_run : the same in parts, for files larger than the memory.
    """
    check_arguments(
        locals(), path=_PATH, format=TEXT.or_none(), name=TEXT, dataset=_DATASET.or_none()
    )
    check_choice("duplicates", duplicates, get_args(Duplicates))
    source = Source.of(path)
    _, reader = format_and_reader(source, format, "run", options)
    run: Run = reader(
        source, dataset=dataset, duplicates=duplicates, name=name or source.label, **options
    )
    checks = Checks(source, dataset)
    checks.add(run)
    checks.warn()
    return run


def stream_run(
    path: Path,
    *,
    dataset: Qrels | None = None,
    format: str | None = None,
    duplicates: Duplicates = "error",
    name: str = "",
    **options: Any,
) -> Iterator[Run]:
    """Yield the scores of one system in parts that hold different, whole queries.

    Formats that cannot be read in parts give one. Parameters and errors are those of
    :func:`read_run`, which gives the concatenation; only rows within one part may be scattered.

    ScatteredQueries if a query of an earlier part comes back: the run has to be read whole.
    """
    source = Source.of(path)
    known, _ = format_and_reader(source, format, "run", options)
    if known.stream is None:
        yield read_run(
            source, dataset=dataset, format=known.name, duplicates=duplicates, name=name, **options
        )
        return
    checks = Checks(source, dataset, follows=known.needs_dataset)
    parts = known.stream(
        source, dataset=dataset, duplicates=duplicates, name=name or source.label, **options
    )
    for part in parts:
        yield checks.add(part)
    checks.warn()


def align_run(
    qrels: Qrels,
    path: Path,
    policy: Policy | None = None,
    also: Iterable[Policy] = (),
    *,
    format: str | None = None,
    duplicates: Duplicates = "error",
    name: str = "",
    watch: Callable[[Run, bool], None] | None = None,
    **options: Any,
) -> Iterator[Aligned]:
    """Yield the alignment of a run file to qrels, in parts if that saves memory.

    A TREC run is aligned while it streams past, and gives one part; it is read whole if its
    queries are scattered. Scores for the rows of `qrels` give several parts, as
    :func:`~harness.core.align.align_parts`, one of them in memory at a time. Together they hold
    what ``align(qrels, read_run(path, dataset=qrels), policy)`` holds.

    `watch` is called with every part of the run, and whether it is the first: a run is read again
    from its beginning if a query turns out to be scattered. HarnessWarning as :func:`read_run`
    gives, and if scores equal the grades.
    """
    source = Source.of(path)
    known, _ = format_and_reader(source, format, "run", options)
    how: dict[str, Any] = {
        "dataset": qrels, "format": known.name, "duplicates": duplicates, "name": name, **options
    }  # fmt: skip

    def watched(parts: Iterable[Run]) -> Iterator[Run]:
        for number, part in enumerate(parts):
            if watch is not None:
                watch(part, not number)
            yield part

    if known.stream is not None and known.needs_dataset:
        yield from align_parts(qrels, watched(stream_run(source, **how)), policy, also)
        return
    if known.stream is not None:
        with contextlib.suppress(ScatteredQueries):
            aligned = align(qrels, watched(stream_run(source, **how)), policy, also)
            warn_judgements(source, aligned)
            yield aligned
            return
    (run,) = watched([read_run(source, **how)])
    for aligned in align_parts(qrels, run, policy, also):
        if run.docnos is not qrels.docnos:  # else the reader compared them, row by row
            warn_judgements(source, aligned)
        yield aligned
