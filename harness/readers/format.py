"""Formats of files: how to detect one, and how to read it whole, in parts or aligned."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Literal, TypeVar, get_args

from ..core.align import align, align_parts
from ..core.aligned import Aligned
from ..core.arguments import (
    TEXT,
    ArgumentKind,
    check_arguments,
    check_choice,
    instance_of,
    is_whole,
)
from ..core.policy import (
    Policy,
    QrelsDuplicates,
    RunDuplicates,
    ScoreOrder,
)
from ..core.qrels_and_runs import Qrels, Run
from ..errors import InputError, Place, Problem, UnknownNameError, did_you_mean, unknown
from .column_roles import naming
from .passages import Documents, Passages
from .rows import Checks, Rows, best_first, policy_of_rows, warn_judgements, warn_unusable
from .source import HEAD, Source, no_rows, reading
from .text import (
    BETWEEN,
    LOOK,
    NUMBERS_IN_BRACKETS,
    ONE_EACH,
    IsDataLine,
    count_head,
    decoded,
    is_like_number,
    is_wrapped,
)

T = TypeVar("T")
Path = str | os.PathLike[str] | Source
Kind = Literal["qrels", "run"]
_KIND = {"qrels": "qrels", "run": "a run"}
COMMON = frozenset({"format", "duplicates", "order", "documents"})
"""Options of every format."""
FIELDS: Mapping[Kind, tuple[str, ...]] = {
    "qrels": ("qid", "iteration", "docno", "grade"),
    "run": ("qid", "Q0", "docno", "rank", "score", "tag"),
}
"""The columns of TREC files."""
OTHER_JSON = (
    "expected {qid: {docno: number}}, {qid: [docno, ...]} or rows, got other JSON, as of to_json",
    "write docnos in quotes; or use harness.save_predictions, to_parquet, "
    "or to_json(PATH, orient='records', lines=True)",
)
"""Mistake and fix for JSON in other forms, such as those of pandas."""


class ScatteredQueries(Exception):  # noqa: N818 - a signal, not an error of the file
    """A query came back in a later part; the run has to be read whole."""


def name_it(kind: Kind, names: str) -> str:
    """Return the fix that names a format."""
    return f"name it: format: {names} in the config, --{kind}-format {names} on the command line"


def mostly(items: Sequence[T], fits: Callable[[T], object]) -> bool:
    """Whether more than half of `items` fit: one bad line must not hide a format."""
    return 2 * sum(map(bool, map(fits, items))) > len(items)


@dataclass(frozen=True)
class Head:
    """The first unpacked bytes of a file and its suffix, such as ``.csv``; they tell the format."""

    suffix: str
    data: bytes

    @cached_property
    def lines(self) -> list[bytes]:
        """The first lines (at most 20) that are neither blank nor a comment at the head.

        The last line of `data` counts only if it is complete, or there is no other.
        """
        complete, end, rest = self.data.rpartition(b"\n")
        lines = complete.split(b"\n") if end else []
        is_all = not end or len(self.data) < HEAD
        start = count_head([*lines, rest] if is_all else lines)
        rows = list(islice(filter(bytes.strip, lines[start:]), 20))
        if not rows and is_all and rest.strip() and start <= len(lines):
            return [rest]
        return rows

    @property
    def first(self) -> int:
        """Number of the first of these lines."""
        return self.data.split(b"\n").index(self.lines[0]) + 1

    @property
    def first_text(self) -> str:
        """The first of these lines."""
        return decoded(self.lines[0])

    @cached_property
    def between(self) -> str:
        """Separator of the fields of a table; empty for white space of any length."""
        heading = self.first_text.strip()
        words = heading.split()
        able = [character for character in "\t,;" if character in heading]
        if len(words) > 1 and mostly(self.lines, lambda line: len(line.split()) == len(words)):
            able.append("")
        for between in able:  # a comma may be part of a docno
            rows = [self.split(line, between) for line in self.lines]
            if mostly(rows, lambda row: any(map(is_like_number, row))):
                return between
        return able[0] if able else ","

    def split(self, line: bytes, between: str | None = None) -> list[str]:
        """Return the fields of one of these lines, without quotes."""
        between = self.between if between is None else between
        return [field.strip(' "\r') for field in decoded(line).split(between or None)]

    @property
    def has_heading(self) -> bool:
        """Whether a line of names is above lines of numbers, as in ``,0`` and ``0,0.53``."""
        if len(self.lines) < 2 or len(self.lines[0]) > LOOK:
            return False
        names, *rows = map(self.split, self.lines)
        is_index = len(names) > 1 and names[0] in ("", "Unnamed: 0")
        if not is_index and any(map(is_like_number, names)):
            return False
        if any(len(name.split()) != 1 or is_wrapped(name) for name in names[is_index:]):
            return False
        return mostly(
            rows,
            lambda row: len(row) == len(names) and all(not x or is_like_number(x) for x in row),
        )


@dataclass(frozen=True)
class Format:
    """One way to write qrels or runs to a file.

    A file is of this format if its bytes match `magic`, or its first two lines match `first` and
    more than half of its first lines match `rows`; and if `looks` then agrees.
    """

    name: str  # for the key format of a config
    about: str  # one line for lists of formats
    suffixes: tuple[str, ...]  # for lists of formats, not for deciding
    # qrels(source, *, duplicates, name, **options)
    qrels: Callable[..., Qrels] | None = None
    # run(source, *, dataset, duplicates, name, **options)
    run: Callable[..., Run] | None = None
    # as run, but yields parts that hold whole queries each, or raises ScatteredQueries
    stream: Callable[..., Iterator[Run]] | None = None
    needs_dataset: bool = False  # whether a run follows the rows of a dataset
    magic: re.Pattern[bytes] | None = None  # how files begin that are not text
    first: re.Pattern[bytes] | None = None
    rows: Mapping[Kind, re.Pattern[bytes]] = field(default_factory=dict)
    looks: Callable[[Head, Kind], bool] | None = None
    # is_data(source): which lines are rows, for files with one row a line, in order; or None
    is_data: Callable[[Source], IsDataLine | None] = lambda source: None
    has_rows: bool = False  # whether messages number the rows of a file, from 1

    def reader(self, kind: Kind) -> Callable[..., Any] | None:
        """Return the function that reads this kind of table, or None."""
        return self.qrels if kind == "qrels" else self.run

    def options(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of this format's own options."""
        reader = self.reader(kind)
        parameters = inspect.signature(reader).parameters.values() if reader is not None else ()
        names = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        return tuple(name for name in names if name not in ("dataset", "duplicates", "name"))

    def is_binary(self, head: Head) -> bool:
        """Whether a file has this format and is not text."""
        is_magic = self.magic is not None and self.magic.match(head.data) is not None
        return is_magic and (self.looks is None or self.looks(head, "run"))

    def fits(self, head: Head, kind: Kind) -> bool:
        """Whether a file with this head can contain qrels or a run in this format."""
        if self.reader(kind) is None:
            return False
        if self.is_binary(head):
            return True
        rows = self.rows.get(kind)
        if not head.lines or (rows is None and (self.rows or not self.first)):
            return False
        if self.first is not None and not self.first.match(b"\n".join(head.lines[:2])):
            return False
        if rows is not None and not mostly(head.lines, rows.match):
            return False
        return self.looks is None or self.looks(head, kind)


FORMATS: dict[str, Format] = {}
"""Every format by the name that ``format:`` in a config takes; in the order of names."""


def add_formats(*formats: Format) -> None:
    """Make formats known by their names."""
    extended = FORMATS | {format.name: format for format in formats}
    FORMATS.clear()
    FORMATS.update(sorted(extended.items()))


def able_formats(kind: Kind) -> list[Format]:
    """Return the formats that qrels or runs can have."""
    return [format for format in FORMATS.values() if format.reader(kind) is not None]


def guess_format(path: Path, kind: Kind) -> str:
    """Return the name of the only format that a file can be; InputError if none or several fit."""
    with reading(path) as source:
        head = Head(source.suffix, source.head)
        if not any(format.is_binary(head) for format in FORMATS.values()):
            source.check_text()
        if not head.lines:
            if len(source.head) < HEAD:
                raise no_rows(source.name)
            message = f"cannot detect the format: no row in the first {HEAD >> 10} KiB"
            raise source.error(message, name_it(kind, "NAME"))
        fitting = [format.name for format in FORMATS.values() if format.fits(head, kind)]
        if len(fitting) != 1:
            raise _format_error(source, head, kind, fitting)
        return fitting[0]


def _format_error(source: Source, head: Head, kind: Kind, fitting: list[str]) -> InputError:
    """Return the error for a file that fits no format, or several."""
    text, place = head.first_text, Place(source.name, head.first)
    shown_line = text if text.isprintable() or "\t" in text else ""
    if fitting:
        message = f"cannot detect the format: it could be {' or '.join(fitting)}"
        return InputError(Problem(source.name, message, shown_line, name_it(kind, "NAME")))
    source.check_length()
    if _CONFIG.search(source.head):
        message = f"expected {_KIND[kind]}, got a config"
        fix = f"harness run {shlex.quote(source.name)}"
        return InputError(Problem(source.name, message, fix=fix))
    if kind == "run" and is_wrapped(text):
        return InputError(Problem(place, NUMBERS_IN_BRACKETS, shown_line, ONE_EACH, "columns"))
    if text.lstrip().startswith(("{", "[")):
        message, fix = OTHER_JSON
        return InputError(Problem(place, message, shown_line, fix, "columns"))
    message, fix = f"the file is in no known format of {_KIND[kind]}", name_it(kind, "NAME")
    other_kind: Kind = "run" if kind == "qrels" else "qrels"
    words = fields_of(head.lines[0])
    if (
        kind == "run"
        and len(words) == 4
        and (words[1].upper() == "Q0" or _FRACTION.match(words[3]))
    ):
        return without_names(source, head, kind)
    fitting_names = [format.name for format in FORMATS.values() if format.fits(head, other_kind)]
    if fitting_names == ["pairs"]:  # may be any words
        fix = "if they are qids and docnos, write ranks next to them: qid docno rank"
        return InputError(Problem(place, message, shown_line, fix))
    # the ranks of MS MARCO may be grades as well
    if fitting_names and fitting_names != ["msmarco"]:
        message += f"; it looks like {_KIND[other_kind]} ({fitting_names[0]})"
        if kind == "run" and len(words) == 4 and words[1] != "0":
            fix = f"if the columns are qid docno rank score, {name_it(kind, 'ranking')}"
        fix = f"swap the two files, or {fix}"
        return InputError(Problem(source.name, message, shown_line, fix, "swapped-files"))
    if mostly(head.lines, lambda line: any(map(is_like_number, fields_of(line)))):
        return without_names(source, head, kind)
    if kind == "qrels" and head.lines and head.lines[0].lstrip().lower().startswith(b"<top"):
        message += "; it looks like topics"
        fix = "give qrels; with topics alone, run harness check RUN... --topics FILE"
        return InputError(Problem(place, message, shown_line, fix))
    names = ", ".join(format.name for format in able_formats(kind))
    return InputError(Problem(place, message, shown_line, f"{fix}; one of {names}"))


def fields_of(line: bytes) -> list[str]:
    """Return the first fields of a line, with any separator."""
    return BETWEEN.split(decoded(line[:LOOK]).strip())


_BETWEEN = {",": "commas", ";": "semicolons", "\t": "tabs"}
_CONFIG = re.compile(rb"^(datasets|runs|metrics|extends):(?:\s|$)", re.MULTILINE)
_FRACTION = re.compile(r"[+-]?\d*\.\d*[1-9]")
_WHOLE_THIRD = re.compile(rb"\s*\S+\s+\S+\s+\d+\s*$")


def _columns_of(rows: Sequence[Sequence[str]], number: str) -> list[str]:
    """Return usual names for the columns of rows, by their number.

    Numbers are in the last column; if it has text, in the last one of fractions.
    """
    n = len(rows[0])
    columns = [[row[place] for row in rows if place < len(row)] for place in range(n)]
    numeric = [place for place in range(n) if mostly(columns[place], is_like_number)]
    fractions = [place for place in numeric if any(map(_FRACTION.match, columns[place]))]
    last = n - 1 if n - 1 in numeric else [n - 1, *numeric, *fractions][-1]
    names = ["qid", "docno", "rank"]
    if n > 4 or (n == 4 and rows[0][1].upper() in ("0", "Q0")):
        names = ["qid", "Q0", "docno", "rank", "tag"]
    names = [*names, *(f"column{place}" for place in range(len(names), n))][: n - 1]
    return [*names[:last], number, *names[last:]]


def without_names(source: Source, head: Head, kind: Kind) -> InputError:
    """Return the error for columns without names; its fix guesses their roles."""
    rows = [head.split(line) for line in head.lines]
    number = "grade" if kind == "qrels" else "score"
    fields = f"{len(FIELDS[kind])} fields ({' '.join(FIELDS[kind])})"
    if kind == "run" and len(rows[0]) < 3:
        fields = f"one score a line, {fields}"
    message = f"expected {fields}, or names above the columns, got {len(rows[0])}"
    if len(rows[0]) == len(FIELDS[kind]):
        column = FIELDS[kind].index(number)
        message = f"expected a number in column {column + 1} ({number}), got '{rows[0][column]}'"
        if head.between:
            message = f"expected {fields} between blanks, or names above the columns, got "
            message += f"{_BETWEEN.get(head.between, repr(head.between))} between them"
    roles = _columns_of(rows, number)
    names = (head.between.replace("\t", " ") or " ").join(roles)
    place = roles.index(number)
    has_header = [is_like_number(row[place]) for row in rows[:2] if place < len(row)] == [0, 1]
    columns = rows[0] if has_header else range(1, len(roles) + 1)
    numbered: dict[str, str | int] = dict(zip(roles, columns, strict=True))
    asked = {role: numbered[role] for role in ("qid", "docno", number) if role in numbered}
    fix = f"{naming(kind, asked)}; or write names above the columns: {names}"
    if kind == "run" and len(roles) == 2 and all(_FRACTION.fullmatch(row[0]) for row in rows[:2]):
        fix = naming(kind, {number: 2})  # two columns of probabilities
    if kind == "run" and len(rows[0]) == 3 and mostly(head.lines, _WHOLE_THIRD.match):
        fix = f"if the third are ranks, {name_it(kind, 'msmarco')}; if they are scores, {fix}"
    if kind == "qrels" and len(rows[0]) == 2:
        fix = f"if the second are docnos, {name_it(kind, 'pairs')}; if they are grades, {fix}"
    where = Place(source.name, head.first)
    return InputError(Problem(where, message, head.first_text, fix, "columns"))


def format_of(source: Source, name: str | None, kind: Kind, options: dict[str, Any]) -> Format:
    """Return the named format; without a name, that of the options, or the guessed one."""
    if name is not None:
        return named_format(name, source.name)
    asked = able_formats(kind) if options else []
    able = [format for format in asked if {*options} <= {*format.options(kind)}]
    if not able:
        return FORMATS[guess_format(source, kind)]
    if len(able) > 1:  # of columns
        head = Head(source.suffix, source.head)
        if any(format.is_binary(head) for format in FORMATS.values()) or (
            FORMATS["json"].fits(head, kind)
        ):
            return FORMATS[guess_format(source, kind)]
        is_json = source.head.lstrip().startswith((b"{", b"["))
        able = [FORMATS["jsonl" if is_json else "table"]]
    return able[0]


def named_format(name: str, where: str) -> Format:
    """Return the format of this name; UnknownNameError if there is none."""
    if name not in FORMATS:
        raise unknown("format", name, FORMATS, where)
    return FORMATS[name]


def format_and_reader(
    source: Source, name: str | None, kind: Kind, options: dict[str, Any]
) -> tuple[Format, Callable[..., Any]]:
    """Return the format of a file, and the function that reads it with the options of a format."""
    check_arguments({"columns": None, **options}, columns=_COLUMNS.or_none())
    file_format = format_of(source, name, kind, options)
    source.format = file_format.name
    return file_format, reader_of(source.name, file_format, kind, options)


def reader_of(where: str, file_format: Format, kind: Kind, options: Iterable[str]) -> Any:
    """Return the function that reads a kind of file; UnknownNameError for a wrong option."""
    reader = file_format.reader(kind)
    if reader is None:
        message = f"format {file_format.name} does not contain {_KIND[kind]}"
        able = ", ".join(format.name for format in able_formats(kind))
        raise InputError(Problem(where, message, fix=f"one of {able}"))
    allowed = file_format.options(kind) if options else ()
    if wrong := [option for option in options if option not in allowed]:
        near = did_you_mean(wrong[0], allowed)
        message = f"format {file_format.name} has no option '{wrong[0]}'{near}"
        fix = f"its options: {', '.join(allowed)}" if allowed else f"leave {wrong[0]} out"
        if names := [form.name for form in able_formats(kind) if wrong[0] in form.options(kind)]:
            fix += f", or name a format that has it: {', '.join(names)}"
        raise UnknownNameError(Problem(where, message, fix=fix))
    return reader


_COLUMNS = ArgumentKind(
    "a mapping of qid, docno, ... to names or numbers of columns",
    lambda given: (
        isinstance(given, Mapping)
        and all(name is None or isinstance(name, str) or is_whole(name) for name in given.values())
    ),
)


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
    check_arguments(locals(), columns=_COLUMNS.or_none(), qrels_columns=_COLUMNS.or_none())
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
        (run,) = _checked(source, lambda *rows, **settings: [reader(*rows, **settings)], **options)
        return run


def _checked(
    source: Source,
    read: Callable[..., Iterable[Run]],
    watch: Callable[[Run, bool], None] | None = None,
    *,
    follows: bool = False,
    dataset: Qrels | None,
    duplicates: RunDuplicates,
    order: ScoreOrder,
    documents: Passages | Mapping[str, str] | str | None,
    name: str,
    **options: Any,
) -> Iterator[Run]:
    """Yield the parts of a run that are `read`, the best score highest; warn of what they show.

    `watch` is as in `align_run`. A part `follows` the rows of the dataset if these have no docnos.
    """
    source.ascending = order == "ascending"
    checks = Checks(source, dataset, follows=follows)
    made = None if documents is None else Documents(source, Passages.of(documents))
    row_policy = policy_of_rows(duplicates, order)
    parts = read(
        source, dataset=dataset, duplicates=row_policy, name=name or source.label, **options
    )
    for number, part in enumerate(parts):
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
    duplicates: RunDuplicates = "error",
    order: ScoreOrder = "descending",
    documents: Passages | Mapping[str, str] | str | None = None,
    name: str = "",
    watch: Callable[[Run, bool], None] | None = None,
    **options: Any,
) -> Iterator[Aligned]:
    """Yield the alignment of a run file to qrels, in parts if that saves memory.

    A TREC run is aligned while it streams past, and gives one part; it is read whole if its
    queries are scattered. Scores for the rows of `qrels` give several parts, as
    `harness.core.align.align_parts`, one of them in memory at a time. Together they
    equal ``align(qrels, read_run(path, dataset=qrels), policy)``.

    `watch` is called with every part of the run, and whether it is the first: a run is read again
    from its beginning if a query turns out to be scattered. HarnessWarning as `read_run`
    gives, and if scores equal the grades.
    """
    with reading(path) as source:
        file_format, _ = format_and_reader(source, format, "run", options)
        options |= {"dataset": qrels, "duplicates": duplicates, "order": order, "name": name}
        options["documents"] = documents
        if file_format.stream is not None:
            follows = file_format.needs_dataset
            parts = _checked(source, file_format.stream, watch, follows=follows, **options)
            if follows:
                yield from align_parts(qrels, parts, policy, also)
                return
            with contextlib.suppress(ScatteredQueries):
                aligned = align(qrels, parts, policy, also)
                warn_judgements(source, aligned)
                yield aligned
                return
        run = read_run(source, format=file_format.name, **options)
        if watch is not None:
            watch(run, True)
        for aligned in align_parts(qrels, run, policy, also):
            if run.docnos is not qrels.docnos:  # else the reader compared them, row by row
                warn_judgements(source, aligned)
            yield aligned
