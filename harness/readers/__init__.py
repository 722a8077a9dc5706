"""Bytes to validated qrels and runs: one file a format, each found by being here.

To add a format, put a file beside this one with a ``FORMAT``; nothing else lists it.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..core.align import align, align_parts
from ..core.aligned import Aligned
from ..core.policy import Duplicates, Policy
from ..core.tables import Qrels, Run
from ..errors import InputError, Problem, UnknownNameError, did_you_mean
from .checks import Checks, warn_judgements, warn_unusable
from .format import Format, Head, Kind, ScatteredQueries, name_it, once
from .near_miss import after_blanks, check_first_line, near_miss, with_numbers
from .on_disk import missing
from .source import Source
from .table import from_frame

__all__ = [
    "FORMATS",
    "Format",
    "ScatteredQueries",
    "Source",
    "align_run",
    "from_frame",
    "guess_format",
    "missing",
    "read_qrels",
    "read_run",
    "stream_run",
]

Path = str | os.PathLike[str] | Source


def _find_formats() -> dict[str, Format]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return {one.FORMAT.name: one.FORMAT for one in modules if hasattr(one, "FORMAT")}


FORMATS: dict[str, Format] = _find_formats()
"""Every format by the name that ``format:`` in a config takes."""


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
        One of :data:`FORMATS`; told by the options, or guessed where that is safe.
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
        Where the file cannot be read, with the lines that are wrong.
    UnknownNameError
        Where there is no such format or option.

    Warns
    -----
    HarnessWarning
        Where the rows of a query are scattered over the file, or none of its grades is at
        least 0.
    """
    source = Source.of(path)
    reader = _reader(source, format, "qrels", options)
    qrels: Qrels = reader(
        source, duplicates=duplicates, name=name or source.label, fractions=fractions, **options
    )
    known = _format(source, format, "qrels", options)
    warn_unusable(source, qrels, known.is_data(source) if known.is_data is not None else None)
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
        Whose rows the scores follow, for the formats that name no documents.

    Returns
    -------
    Run

    Warns
    -----
    HarnessWarning
        Where rows are scattered, nearly all scores are constant, or they equal the grades; where
        a TREC run has several tags, or ranks that contradict the scores in the pieces looked at.

    See Also
    --------
    read_qrels : the other parameters and errors.
    stream_run : the same in parts, for files larger than the memory.
    """
    source = Source.of(path)
    reader = _reader(source, format, "run", options)
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

    Raises
    ------
    ScatteredQueries
        Where a query of an earlier part comes back; the run has to be read whole. See
        :func:`align_run`.
    """
    source = Source.of(path)
    known = _format(source, format, "run", options)
    _reader(source, known.name, "run", options)
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
    watch: Callable[[Run], None] | None = None,
    **options: Any,
) -> Iterator[Aligned]:
    """Yield the alignment of a run file to qrels, in parts where that saves memory.

    A TREC run is aligned while it streams past, and gives one part; whole, where its queries
    are scattered. Scores for the rows of `qrels` give several, as
    :func:`~harness.core.align.align_parts`, of which only one is in memory at a time. Together
    they hold what ``align(qrels, read_run(path, dataset=qrels), policy)`` holds.

    Parameters
    ----------
    also : iterable of Policy
        As :func:`~harness.core.align.align` takes it.
    watch : callable, optional
        Shown every part of the run as it was read; a part twice where a query turns out to be
        scattered.

    Warns
    -----
    HarnessWarning
        As :func:`read_run`; and where scores equal the grades, whatever the format.
    """
    source = Source.of(path)
    known = _format(source, format, "run", options)
    how: dict[str, Any] = {
        "dataset": qrels, "format": known.name, "duplicates": duplicates, "name": name, **options
    }  # fmt: skip

    def seen(part: Run) -> Run:
        if watch is not None:
            watch(part)
        return part

    if known.stream is not None and known.needs_dataset:
        yield from align_parts(qrels, map(seen, stream_run(source, **how)), policy, also)
        return
    if known.stream is not None:
        with contextlib.suppress(ScatteredQueries):
            aligned = align(qrels, map(seen, stream_run(source, **how)), policy, also)
            warn_judgements(source, aligned)
            yield aligned
            return
    run = seen(read_run(source, **how))
    for aligned in align_parts(qrels, run, policy, also):
        if run.docnos is not qrels.docnos:  # else the reader compared them, row by row
            warn_judgements(source, aligned)
        yield aligned


@once
def guess_format(path: Path, kind: Kind, *, bad_numbers: bool = False) -> str:
    """Return the name of the only format that a file can be.

    Parameters
    ----------
    kind : {"qrels", "run"}
        What the file is to be read as.
    bad_numbers : bool
        Whether a format fits too whose reader will refuse numbers for how they are spelled.

    Raises
    ------
    InputError
        Where none or several fit; it lists the formats and says how to name one.
    """
    source = Source.of(path)
    head = Head(source.suffix, source.head)
    if not any(known.magic and known.is_binary(head) for known in FORMATS.values()):
        source.check_text()
    if not head.lines:
        return after_blanks(source)
    fitting = [
        known.name
        for known in FORMATS.values()
        if known.reader(kind) is not None and known.looks(head, kind)
    ]
    if len(fitting) == 1:
        return fitting[0]
    first = head.lines[0].decode("utf-8", "replace")
    found = first if first.isprintable() or "\t" in first else ""
    if fitting:
        what, fix = f"could be {' or '.join(fitting)}", name_it(kind, "NAME")
        raise InputError(Problem(source.name, what, found, fix))
    check_first_line(source, head)
    other: Kind = "run" if kind == "qrels" else "qrels"
    others = [f for f in FORMATS.values() if f.reader(other) is not None and f.looks(head, other)]
    names = ", ".join(f.name for f in FORMATS.values() if f.reader(kind) is not None)
    what, fix = f"in no format of {_KIND[kind]} known", f"{name_it(kind, 'NAME')}; one of {names}"
    where, rule = source.name, ""
    near = near_miss(head, kind)
    if near is not None:
        (what, fix), rule = near, "columns"
        where = f"{where}:{head.first}"
    elif bad_numbers and not others:
        mended = with_numbers(head)
        able = [FORMATS[name] for name in _OF_ROWS if FORMATS[name].reader(kind) is not None]
        nearly = [known.name for known in able if known.looks(mended, kind)]
        if len(nearly) == 1:
            return nearly[0]
    if others:
        rule = "swapped-files"
        what += f"; it looks like {_KIND[other]} ({others[0].name})"
        fix = f"swap the two files, or {fix}"
    raise InputError(Problem(where, what, found, fix, rule))


_OF_ROWS = ("ranklib", "scores", "trec")
"""Formats told by a number in each row."""
_KIND = {"qrels": "qrels", "run": "a run"}


def _format(source: Source, name: str | None, kind: Kind, options: dict[str, Any]) -> Format:
    if name is None:
        implied = _implied(source, kind, options)
        return FORMATS[implied or guess_format(source, kind, bad_numbers=True)]
    if name not in FORMATS:
        raise UnknownNameError(
            Problem(source.name, f"unknown format '{name}'{did_you_mean(name, FORMATS)}",
                    fix=f"one of {', '.join(FORMATS)}")
        )  # fmt: skip
    return FORMATS[name]


def _implied(source: Source, kind: Kind, options: dict[str, Any]) -> str:
    """Return the format that the options given belong to, or ``""`` where they belong to none."""
    if not options:
        return ""
    able = [name for name, known in FORMATS.items() if {*options} <= {*known.options(kind)}]
    if not able:
        return ""
    if {*able} == {"table", "jsonl"}:
        return "jsonl" if source.head.lstrip().startswith(b"{") else "table"
    return able[0] if len(able) == 1 else ""


def _reader(source: Source, name: str | None, kind: Kind, options: dict[str, Any]) -> Any:
    """Return the function that reads `source`, after a look at its options."""
    known = _format(source, name, kind, options)
    reader = known.reader(kind)
    if reader is None:
        able = ", ".join(f.name for f in FORMATS.values() if f.reader(kind) is not None)
        raise InputError(
            Problem(source.name, f"format {known.name} does not hold {_KIND[kind]}",
                    fix=f"one of {able}")
        )  # fmt: skip
    allowed = known.options(kind) if options else ()
    for option in options:
        if option not in allowed:
            listed = ", ".join(allowed) or "none"
            raise UnknownNameError(
                Problem(source.name, f"format {known.name} has no option '{option}'"
                        f"{did_you_mean(option, allowed)}", fix=f"its options: {listed}")
            )  # fmt: skip
    return reader
