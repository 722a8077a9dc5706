"""Qrels and runs of files in any format: read whole, or aligned while they stream past."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, get_args

from ..core.align import align, align_parts
from ..core.aligned import Aligned
from ..core.arguments import TEXT, check_arguments, check_choice, instance_of
from ..core.policy import Policy, QrelsDuplicates, RunDuplicates, ScoreOrder
from ..core.qrels_and_runs import Qrels, Run
from ..errors import Place
from .format import COLUMNS, COMMON, FORMATS, Path, ScatteredQueries, format_and_reader
from .passages import Documents, Passages
from .rows import Checks, Rows, best_first, policy_of_rows, warn_judgements, warn_unusable
from .source import Source, reading


def options_of_files(
    *,
    duplicates: RunDuplicates = "error",
    qrels_format: str | None = None,
    run_format: str | None = None,
    group: str | os.PathLike[str] | None = None,
    columns: Mapping[str, str | int | None] | None = None,
    qrels_columns: Mapping[str, str | int | None] | None = None,
    order: ScoreOrder = "descending",
    documents: Any = None,
    qrels_duplicates: QrelsDuplicates | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of `read_qrels` and of `read_run` for files without a config.

    Python names each option as this function does; `duplicates` is for the qrels, too, unless
    these have their own.
    """
    check_arguments(locals(), columns=COLUMNS.or_none(), qrels_columns=COLUMNS.or_none())
    check_choice("duplicates", duplicates, get_args(RunDuplicates))
    check_choice("order", order, get_args(ScoreOrder))
    usual = "error" if duplicates == "best" else duplicates  # as the best score is a run's
    of_qrels = {
        "duplicates": qrels_duplicates or usual,
        "format": qrels_format,
        "group": group,
        "columns": qrels_columns or None,
    }
    of_runs = {
        "duplicates": duplicates,
        "order": order,
        "format": run_format,
        "columns": columns or None,
        "documents": documents,
    }
    of_qrels, of_runs = (
        {name: value for name, value in options.items() if value is not None}
        for options in (of_qrels, of_runs)
    )
    return of_qrels, of_runs


_TO_FILE = (
    "write it to a file first: df.to_csv(path); harness.evaluate takes data frames themselves"
)
_PATH = instance_of("a path", str, os.PathLike, Source, fix=_TO_FILE)
_DATASET = instance_of("qrels", Qrels, fix="give what harness.read_qrels returned")


def read_qrels(
    path: Path,
    *,
    format: str | None = None,
    duplicates: QrelsDuplicates = "error",
    name: str = "",
    **options: Any,
) -> Qrels:
    """Read the judgements of a dataset from a file.

    Parameters
    ----------
    path : str, path or Source
        A file, compressed or not, or ``-`` for standard input.
    format : str, optional
        Name of a format, such as ``trec`` or ``letor``; detected by default.
    duplicates : {"error", "first", "last"}
        If a query has a docno twice: an error, or the row to keep.
    name : str, optional
        Name in messages and reports; by default that of the file.
    **options
        Options of the format: ``group`` for letor, ``columns`` for table and jsonl.

    Returns
    -------
    Qrels

    Raises
    ------
    InputError
        If the file cannot be read; the error lists the wrong lines.
    UnknownNameError
        If the format or option does not exist.

    Warns
    -----
    HarnessWarning
        If the rows of a query are scattered over the file, or all of its grades are below 0.
    """
    check_arguments(locals(), path=_PATH, format=TEXT.or_none(), name=TEXT)
    check_choice("duplicates", duplicates, get_args(QrelsDuplicates))
    with reading(path) as source:
        file_format, reader = format_and_reader(source, format, "qrels", options)
        qrels: Qrels = reader(source, duplicates=duplicates, name=name or source.label, **options)
        if qrels.numbers.min(initial=0) < 0:
            warn_unusable(Rows(source, file_format.is_data(source)), qrels)
        return qrels


def place_of_row(source: Source, row: int) -> Place:
    """Return the place of a row, counted from 0, of a file that was read; empty if unknown."""
    form = FORMATS[source.format]
    if (is_data := form.is_data(source)) is not None:
        return Rows(source, is_data).place(row)
    return Place(source.name, row=row + 1) if form.has_rows else Place()


def read_run(
    path: Path,
    *,
    dataset: Qrels | None = None,
    format: str | None = None,
    duplicates: RunDuplicates = "error",
    order: ScoreOrder = "descending",
    documents: Passages | Mapping[str, str] | str | None = None,
    name: str = "",
    **options: Any,
) -> Run:
    """Read the scores of one system from a file.

    Parameters
    ----------
    dataset : Qrels, optional
        Dataset with the rows of the scores, for formats without docnos.
    duplicates : {"error", "first", "last", "best"}
        If a query has a docno twice: an error, or the row to keep (``best``: of the best score).
    order : {"descending", "ascending"}
        ``ascending`` if the lowest score is best, as for distances and losses; the run then has
        the negated scores.
    documents : str or mapping, optional
        Pattern that turns passages into documents: its only group is the docno of the document, as
        in ``"(.+)#\\d+$"`` for D1#0. A document has the best score of its passages. For another
        score write ``{"from": pattern, "take": "sum"}``, or take ``"mean"`` or ``"first"``.

    Returns
    -------
    Run

    Warns
    -----
    HarnessWarning
        If rows are scattered, scores equal the grades or are constant in most queries, or a TREC
        run has several tags or ranks that contradict the scores.

    See Also
    --------
    read_qrels : the other parameters and errors.
    """
    check_arguments(
        locals(), path=_PATH, format=TEXT.or_none(), name=TEXT, dataset=_DATASET.or_none()
    )
    check_choice("duplicates", duplicates, get_args(RunDuplicates))
    check_choice("order", order, get_args(ScoreOrder))
    with reading(path) as source:
        _, reader = format_and_reader(source, format, "run", options)
        options |= {"dataset": dataset, "duplicates": duplicates, "order": order}
        options |= {"documents": documents, "name": name}
        (run,) = _checked(source, reader, **options)
        return run


def _checked(
    source: Source,
    read: Callable[..., Run | Iterator[Run]],
    watch: Callable[[Run, bool], None] | None = None,
    *,
    follows: bool = False,
    dataset: Qrels | None,
    duplicates: RunDuplicates = "error",
    order: ScoreOrder = "descending",
    documents: Passages | Mapping[str, str] | str | None = None,
    name: str = "",
    **options: Any,
) -> Iterator[Run]:
    """Yield a run that is `read`, or its parts, the best score highest; warn of what they show.

    `watch` is as in `align_run`. A part `follows` the rows of the dataset if these have no docnos.
    """
    source.ascending = order == "ascending"
    checks = Checks(source, dataset, follows=follows)
    made = None if documents is None else Documents(source, Passages.of(documents))
    row_policy = policy_of_rows(duplicates, order)
    parts = read(
        source, dataset=dataset, duplicates=row_policy, name=name or source.label, **options
    )
    for number, part in enumerate([parts] if isinstance(parts, Run) else parts):
        part = best_first(part, source, source.has_ranks) if source.ascending else part
        run = checks.add(part)
        run = run if made is None else made.of(run)
        if watch is not None:
            watch(run, not number)
        yield run
    checks.warn()
    if made is not None:
        made.report()


def align_run(
    qrels: Qrels,
    path: Path,
    policy: Policy | None = None,
    also: Iterable[Policy] = (),
    *,
    format: str | None = None,
    watch: Callable[[Run, bool], None] | None = None,
    **settings: Any,
) -> Iterator[Aligned]:
    """Yield the alignment of a run file to qrels, in parts if that saves memory.

    A TREC run is aligned while it streams past, and gives one part; it is read whole if its
    queries are scattered. Scores for the rows of `qrels` give several parts, as
    `harness.core.align.align_parts`, one of them in memory at a time. Together they
    equal ``align(qrels, read_run(path, dataset=qrels), policy)``.

    `watch` is called with every part of the run, and whether it is the first: a run is read again
    from its beginning if a query turns out to be scattered. `settings` are the other arguments of
    `read_run`. HarnessWarning as `read_run` gives, and if scores equal the grades.
    """
    with reading(path) as source:
        options = {name: value for name, value in settings.items() if name not in (*COMMON, "name")}
        file_format, reader = format_and_reader(source, format, "run", options)
        settings["dataset"], follows = qrels, file_format.needs_dataset
        if file_format.stream is not None:
            parts = _checked(source, file_format.stream, watch, follows=follows, **settings)
            if follows:
                yield from align_parts(qrels, parts, policy, also)
                return
            with contextlib.suppress(ScatteredQueries):
                aligned = align(qrels, parts, policy, also)
                warn_judgements(source, aligned)
                yield aligned
                return
        (run,) = _checked(source, reader, watch, **settings)
        for aligned in align_parts(qrels, run, policy, also):
            if run.docnos is not qrels.docnos:  # else the reader compared them, row by row
                warn_judgements(source, aligned)
            yield aligned
