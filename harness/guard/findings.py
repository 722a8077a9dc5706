"""Findings: their examples with lines, which follow from others, and which are accepted."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from .. import readers
from ..config.cells import Cell
from ..core.arrow import bytes_at, string_column, to_numpy
from ..core.entries import grouped_by
from ..core.qrels_and_runs import Docnos, Qrels, Run, rows_in_file
from ..core.ragged import Array, Bools, Ints, lengths_of, offsets_of, positions_of, rows_of
from ..core.rules import RULES, SHOWN, finding
from ..errors import Finding, HarnessError, Place, Problem, Severity, counted, shorten
from ..readers.array_files import load_numpy
from ..readers.columns import read_columns
from ..readers.format import COMMON, format_and_reader
from ..readers.predictions import RUN as SCORES
from ..readers.rows import Rows
from ..readers.source import Source

if TYPE_CHECKING:
    from ..config.model import RunEntry

BY_ROW = ("scores", "npy")
"""Formats of predictions, one number for each row."""


class Examples(NamedTuple):
    """The first queries, documents or rows of a rule, and the place of the first one."""

    names: tuple[str, ...] = ()
    row: int = -1
    """Position of the first one's row in its file, from 0; -1 if it has none."""
    words: tuple[str, ...] = ()
    """Words on the line of that row, if files of its format name them."""
    place: Place = Place()
    """The line or row, without the file, if it is known."""


class ExamplesByRule(dict[str, Examples]):
    """The first examples of each rule."""

    def add(self, rule: str, later: Examples) -> None:
        """Add examples, as long as the rule has too few."""
        earlier = self.get(rule)
        if earlier is not None:
            self[rule] = earlier._replace(names=(*earlier.names, *later.names)[:SHOWN])
        elif later.names:
            self[rule] = later

    def wants(self, rule: str) -> bool:
        """Whether a rule takes more examples."""
        return rule not in self or len(self[rule].names) < SHOWN

    def finding(
        self,
        rule: str,
        message: str,
        count: int,
        severity: Severity | None = None,
        effect: str = "",
        fix: str = "",
    ) -> Finding:
        """Return the finding of a rule, with its examples and no file."""
        examples = self.get(rule, Examples())
        return finding(rule, examples.place, message, count, examples.names, severity, effect, fix)


def place_findings(findings: Iterable[Finding], examples: Mapping[str, Examples]) -> list[Finding]:
    """Return findings with the places of their examples, without the file."""
    return [
        replace(finding, place=examples.get(finding.rule, Examples()).place) for finding in findings
    ]


def texts_at(names: pa.Array, rows: Ints) -> tuple[str, ...]:
    """Return a few identifiers as text."""
    return tuple(name.decode("utf-8", "replace") for name in bytes_at(names, rows))


def docnos_at(docnos: Docnos, rows: Ints) -> tuple[str, ...]:
    """Return the docnos of a few rows as text."""
    if docnos.strings is None:
        return texts_at(docnos.take(rows), np.arange(rows.size))
    return texts_at(docnos.strings, rows)


def examples_of_documents(
    qids: Iterable[str], docnos: Docnos, rows: Ints, notes: Iterable[str], places: Ints
) -> Examples:
    """Return documents with their queries and a note on each; `places` are rows of the file."""
    names = list(zip(qids, docnos_at(docnos, rows), strict=True))
    if not names:
        return Examples()
    descriptions = (
        f"query {qid}, document {docno}" + (f": {note}" if note else "")
        for (qid, docno), note in zip(names, notes, strict=True)
    )
    return Examples(tuple(descriptions), int(places[0]), () if docnos.positional else names[0])


def examples_of_queries(qids: pa.Array, positions: Ints, places: Ints) -> Examples:
    """Return some queries of a column, at the first row of the first of them."""
    if not positions.size:
        return Examples()
    names = texts_at(qids, positions[:SHOWN])
    return Examples(names, int(places[0]), names[:1])


def short_place(place: str) -> str:
    """Return a place for an example: its file with the last folder.

    >>> short_place("/data/mslr/fold1/test.txt:7")
    'fold1/test.txt:7'
    """
    return "/".join(place.rsplit("/", 2)[-2:])


def qrels_of(cell: Cell, source: Source | None = None) -> Qrels | None:
    """Return the judgements of a cell's dataset, read again; None if they cannot be."""
    with contextlib.suppress(HarnessError):
        return cell.read_qrels(source)
    return None


def scores_of(path: str) -> Array | None:
    """Return all numbers of a file of scores; None if a line is not a number."""
    with contextlib.suppress(HarnessError, TypeError, ValueError, OSError):
        source = Source(path)
        if path.endswith(".npy"):
            return np.asarray(load_numpy(source), np.float64).ravel()
        tables = read_columns(source, SCORES)
        scores: Array = np.concatenate([to_numpy(table["score"]) for table in tables])
        return scores
    return None


def add_lines(
    examples: dict[str, Examples],
    source: Source,
    among: Container[str] | None = None,
    *,
    whole: bool,
) -> None:
    """Add the line of each example's row in place, or the row's number in files without lines.

    The file was read before, so that its rows are on the same lines. Lines are added for the rules
    `among`; those after the first block are found only if the `whole` file may be read again.
    """
    rows = {
        rule: example
        for rule, example in examples.items()
        if example.row >= 0 and (among is None or rule in among)
    }
    if not rows or not source.format:
        return
    with contextlib.suppress(HarnessError):
        form = readers.FORMATS[source.format]
        is_data = form.is_data(source)
        if is_data is not None:
            words_by_row = {example.row: example.words for example in rows.values()}
            lines_by_row = Rows(source, is_data).find(words_by_row, whole=whole)
            for rule, example in rows.items():
                line, _ = lines_by_row.get(example.row, (0, ""))
                examples[rule] = example._replace(place=Place(line=line))
        elif form.has_rows:
            for rule, example in rows.items():
                examples[rule] = example._replace(place=Place(row=example.row + 1))


def source_of(entry: RunEntry) -> Source:
    """Return the file of a run, and the format in which it is read."""
    source, options = Source(entry.path), entry.options()
    format_options = {name: value for name, value in options.items() if name not in COMMON}
    format_and_reader(source, entry.format, "run", format_options)
    return source


def place_of_run_row(entry: RunEntry, row: int) -> Place:
    """Return the place of a row of a run, by reading its file again; the file if unknown."""
    examples = {"": Examples(row=row)}
    with contextlib.suppress(HarnessError, OSError):
        add_lines(examples, source_of(entry), whole=True)
    return examples[""].place.within(entry.path)


def places_of_queries(cell: Cell, qids: Sequence[str]) -> dict[str, Place]:
    """Return the place of the first row of each query in a cell's dataset, which is read again."""
    entry = cell.dataset_entry
    try:
        source = Source(entry.path)
    except HarnessError:
        return {}
    qrels = qrels_of(cell, source)
    if qrels is None:
        return {}
    codes = qrels.place(string_column(qids))
    rows = rows_in_file(qrels, qrels.offsets[codes])
    examples = {
        qid: Examples((qid,), row, (qid,))
        for qid, row, place in zip(qids, rows.tolist(), codes.tolist(), strict=True)
        if place >= 0
    }
    with contextlib.suppress(HarnessError, OSError):
        add_lines(examples, source, whole=True)
    return {qid: example.place.within(entry.path) for qid, example in examples.items()}


LOOKED_AT = 64
"""Queries at the beginning of a run that examples are taken from."""


class RunPart:
    """Whole queries of a run; `rows_before` are the rows of the file before them."""

    def __init__(self, run: Run, qrels: Qrels, follows: bool, rows_before: int) -> None:
        self.run, self.qrels, self.follows = run, qrels, follows
        self.rows_before = rows_before
        self.lengths = lengths_of(run.offsets)
        """Rows of each query, ``(n_queries,)``."""
        self.n_source = run.n_rows if follows or run.n_source is None else run.n_source
        """Rows that the part had in the file, dropped ones among them."""

    @cached_property
    def codes(self) -> Ints:
        """Positions of the first queries in the dataset; -1 for other queries."""
        return self.qrels.place(self.run.qids.slice(0, LOOKED_AT))

    def places(self, rows: Ints) -> Ints:
        """Return the positions of some rows in the file, from 0."""
        if self.follows and self.run.order is None:  # RankLib names the row of each score
            return rows_in_file(self.qrels, rows + self.rows_before)
        return rows_in_file(self.run, rows) + self.rows_before

    def query(self, rows: Ints) -> Ints:
        """Return the query of each of some rows, by its position in this part."""
        return np.searchsorted(self.run.offsets, rows, side="right") - 1

    def documents(self, rows: Ints, notes: Iterable[str] | None = None) -> Examples:
        """Return the documents of some rows, with a note on each."""
        rows = rows[:SHOWN]
        qids = texts_at(self.run.qids, self.query(rows))
        notes = [""] * rows.size if notes is None else notes
        examples = examples_of_documents(qids, self.run.docnos, rows, notes, self.places(rows))
        return examples._replace(words=()) if self.follows else examples

    def queries(self, positions: Ints) -> Examples:
        """Return some queries, at the first row of the first."""
        positions = positions[:SHOWN]
        rows = self.places(self.run.offsets[positions])
        examples = examples_of_queries(self.run.qids, positions, rows)
        return examples._replace(words=()) if self.follows else examples

    def head(self, depth: int) -> Ints:
        """Return the first rows of each of the first judged queries."""
        judged = np.flatnonzero(self.codes >= 0)
        offsets = offsets_of(np.minimum(self.lengths[judged], depth))
        rows: Ints = self.run.offsets[judged][rows_of(offsets)] + positions_of(offsets)
        return rows

    def are_judged(self, rows: Ints) -> Bools:
        """Tell for a few rows of the first queries if they are judged for the query they answer."""
        docnos = Docnos(self.run.docnos.take(rows), np.array([0, rows.size]))
        is_judged = np.zeros(rows.size, dtype=bool)
        is_judged[self.qrels.find(self.codes[self.query(rows)], docnos)[0]] = True
        return is_judged


ORDER: tuple[Severity, ...] = ("error", "warning", "note")
APART = ("reader", "unreadable", "config")
"""General rules; their findings are not grouped."""
MANY = 0.1
"""Share from which on a finding is a warning: a smaller one seldom changes the order of systems."""
FOLLOWS: Mapping[str, Collection[str]] = {
    "labels-as-scores": {
        "score-ties", "constant-scores", "ranks-against-scores", "upside-down", "unrelated",
        "sorted-by-score", "classes-as-scores",
    },
    "classes-as-scores": {"score-ties", "constant-scores"},
    "rank-as-score": {"ranks-against-scores", "upside-down", "other-topics", "unjudged-at-10"},
    "upside-down": {"ranks-against-scores", "other-topics", "unjudged-at-10"},
    "other-topics": {"missing-queries", "extra-queries"},
    "docno-spelling": {
        "unjudged-at-10", "nothing-judged", "other-collection", "other-topics", "unscored-rows",
    },
    "other-collection": {"unscored-rows"},
    "truncated": {"missing-queries", "cut-last-query", "empty-file"},
    "leaked-rows": {"same-queries", "shared-queries", "same-file-twice"},
    "swapped-columns": {
        "no-common-query", "ranks-against-scores", "upside-down", "classes-as-scores",
    },
}  # fmt: skip
"""Rules that add nothing about a file, by the rule that is their cause."""


def rule_of(problem: Problem) -> str:
    """Return the rule of a problem of a reader's error."""
    return problem.rule or "unreadable"


def rules_of_error(error: HarnessError) -> list[str]:
    """Return the rule of each problem of a reader's error."""
    return [rule_of(problem) for problem in error.problems]


_LINE_SHOWN, _QUOTED = 120, 40
"""Limits of characters: of a line that is shown alone, and of one next to its number."""


def findings_of_error(place: str, error: HarnessError) -> Iterator[Finding]:
    """Yield one finding for each rule of an error; `place` is for problems without one."""
    n_unlisted = error.total - len(error.problems)
    for rule, problems in grouped_by(error.problems, rule_of).items():
        example = problems[0]
        is_quoted = f"'{example.found}'" in example.what
        examples = [shorten(example.found, _LINE_SHOWN)] if example.found and not is_quoted else []
        if len(problems) > 1:
            examples = [_numbered_line(problem) for problem in problems]
        n, where = len(problems) + n_unlisted, example.where or place
        settings: dict[str, Any] = {"fix": example.fix, "at_least": error.at_least}
        yield finding(rule, where, example.what, n, examples, **settings)
        n_unlisted = 0


def _numbered_line(problem: Problem) -> str:
    where = Place.of(problem.where)
    if number := where.line or where.row:
        return f"line {number} {shorten(problem.found, _QUOTED)!r}"
    return problem.found or problem.what


def accept_findings(findings: Iterable[Finding], names: Collection[str]) -> list[Finding]:
    """Return findings, with those of accepted rules as notes."""
    return [
        replace(finding, severity="note") if finding.rule in names else finding
        for finding in findings
    ]


def warning_summary(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the number of warnings and their rules, from ``(rule, severity)`` of each finding.

    >>> warning_summary([("upside-down", "warning"), ("swapped-fold", "warning"), ("d", "note")])
    '2 warnings (swapped-fold, upside-down)'
    >>> warning_summary([("score-ties", "warning")])  # which every leaderboard shows
    ''
    """
    rules = [rule for rule, severity in pairs if severity == "warning"]
    rules = [rule for rule in rules if not (rule in RULES and RULES[rule].in_table)]
    return f"{counted(len(rules), 'warning')} ({', '.join(sorted({*rules}))})" if rules else ""


def without_effects(findings: Iterable[Finding], accept: Collection[str] = ()) -> list[Finding]:
    """Return findings without those that follow from another one of the same file.

    An error that follows from an accepted finding stays, as that one becomes a note.
    """
    all_findings = [*findings]
    effects = set[tuple[str, str, Severity]]()
    for cause in all_findings:
        severities = ORDER[1:] if cause.rule in accept else ORDER
        effects |= {*product([cause.place.file], FOLLOWS.get(cause.rule, ()), severities)}
    return [f for f in all_findings if (f.place.file, f.rule, f.severity) not in effects]


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings once each, errors first."""
    return sorted(dict.fromkeys(findings), key=lambda finding: ORDER.index(finding.severity))


def by_share(part: int, total: int, many: float = MANY) -> Severity:
    """Return "warning" if a part is at least the share `many`, "note" otherwise."""
    return "warning" if part >= many * total else "note"


def percent(part: int, total: int) -> str:
    """Return a share in per cent.

    >>> percent(1, 3), percent(1, 2000)
    ('33%', '0.05%')
    """
    share = 100 * part / total
    return f"{share:.0f}%" if share >= 10 else f"{share:.2g}%"
