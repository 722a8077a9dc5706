"""``harness check``: reads every file of a config to its end, and reports all that is found."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

import numpy as np
from tqdm import tqdm

from .. import readers as readers
from ..config import load as configs
from ..config.cells import Cell, missing
from ..config.model import DatasetEntry, RunEntry
from ..core.metric import Metric
from ..core.names import parse
from ..core.policy import Policy
from ..core.tables import Qrels
from ..core.text import Shown
from ..core.views import takes_fractions
from ..errors import (
    ALIKE,
    ConfigError,
    Finding,
    HarnessError,
    HarnessWarning,
    Problem,
    UnknownNameError,
    for_terminal,
    in_json,
    legible,
    others_at,
)
from ..readers.build import last_line
from ..readers.source import NAMELESS, STDIN, HashedSource
from ..reports.phrases import counted
from .columns import with_ranks
from .facts import Facts, RunFacts, Watch, observing
from .judgements import JudgementFacts
from .lines import BY_ROW, add_lines, reading_again, run_format
from .registry import (
    ORDER,
    accepted,
    finding,
    in_order,
    of_warning,
    refused,
    rules_of,
    without_effects,
)
from .sweep import APART, Dataset, Failed, Seen, Sweep, accepted_rules

if TYPE_CHECKING:
    import pandas

_NAME = 40
"""Characters of a file's name at the bar, at most: the last ones."""
MOST = {"error": 20, "warning": 5, "note": 5}
"""Findings of one rule that are printed, if they are about anything; JSON has all."""
T = TypeVar("T")
FEW = 5
"""Findings of any other rule that are all printed; of more, the first three."""


@dataclass(frozen=True, repr=False)
class Checked(Shown):
    """What was looked at, and what was found.

    Parameters
    ----------
    findings : tuple of Finding
        Errors first.
    cells : tuple of Cell
    rows : int
        Of all runs that could be read.
    alone : int
        Runs that were not compared with their dataset, as that could not be read.
    """

    findings: tuple[Finding, ...]
    cells: tuple[Cell, ...]
    rows: int = 0
    alone: int = 0

    def count(self, severity: str) -> int:
        """Return how many findings are of a severity."""
        return sum(one.severity == severity for one in self.findings)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per finding (needs pandas)."""
        import pandas

        return pandas.DataFrame([one.as_dict() for one in self.findings])

    def __str__(self) -> str:
        return as_text(self).rstrip("\n")

    def __repr__(self) -> str:
        counts = ", ".join(counted(self.count(name), name) for name in ORDER)
        return f"<Checked: {looked_at(self)}: {counts}>"


class Progress:
    """A bar over the bytes of some files, each as often as it is read; on a terminal alone."""

    def __init__(self, paths: Iterable[str]) -> None:
        total = sum(map(_size, paths))
        self.bar = tqdm(total=total, unit="B", unit_scale=True, disable=None, leave=False)

    @contextlib.contextmanager
    def file(self, path: str) -> Iterator[Callable[[int], None]]:
        """Give what counts the bytes of a file as they pass; at the end all of them are counted."""
        self.bar.set_postfix_str(legible(path[-_NAME:]), refresh=True)
        left = _size(path)

        def count(n: int) -> None:
            nonlocal left
            n = min(n, left)  # a file that is read twice is counted once
            left -= n
            self.bar.update(n)

        try:
            yield count
        finally:
            count(left)


def _size(path: str) -> int:
    with contextlib.suppress(OSError):
        return os.path.getsize(path)
    return 0


@dataclass(eq=False)
class _Read(Generic[T]):
    """One file that was read: what a reader gave, the error that ended it, and its findings."""

    given: T | None = None
    source: HashedSource | None = None
    error: HarnessError | None = None
    findings: list[Finding] = field(default_factory=list)


def _read(path: str, count: Callable[[int], None], reader: Callable[[HashedSource], T]) -> _Read[T]:
    """Read a file: its reader's warnings, and a last line without an end, become findings."""
    read = _Read[T]()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", HarnessWarning)
        try:
            read.source = source = HashedSource(path)
            source.tell, source.again = count, True
            read.given = reader(source)
        except HarnessError as error:
            read.error = error
    for one in caught:
        if issubclass(one.category, HarnessWarning):
            found = of_warning(one.message, [_name_of(path)])
            read.findings.append(replace(found, place=found.place or path))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    is_cut = any(one.rule == "cut-line" for one in read.findings)
    if read.source is not None and read.source.unfinished and not (read.error or is_cut):
        last = read.source.unfinished.decode("utf-8", "replace")
        place = f"{read.source.name}:{last_line(read.source)}"
        read.findings.append(finding("no-line-end", place, "the last line has no end", 1, [last]))
    return read


def _name_of(path: str) -> str:
    """Return what readers call a file."""
    return NAMELESS if path == STDIN else path


class _Check:
    """Reads the files of cells one after the other, and keeps what the guard looks at.

    Parameters
    ----------
    policy : Policy
    fractions : bool
        Whether grades may be fractions.
    """

    def __init__(self, policy: Policy, fractions: bool) -> None:
        self.policy, self.fractions = policy, fractions
        self.findings: list[Finding] = []
        self.seen: dict[int, Seen] = {}
        self.failed: dict[int, tuple[Cell, HarnessError]] = {}
        self.datasets: dict[str, Dataset] = {}
        self.digests: dict[str, str] = {}
        self.n_rows = self.alone = 0

    def read_dataset(self, cell: Cell, count: Callable[[int], None]) -> Qrels | None:
        """Read a dataset, and return it; None if it cannot be read."""
        entry = cell.dataset_entry
        options: dict[str, Any] = {"name": cell.dataset, **entry.options()}

        def reader(source: HashedSource | str, fractions: bool = self.fractions) -> Qrels:
            return readers.read_qrels(source, fractions=fractions, **options)

        read = _read(entry.path, count, reader)
        qrels, self.findings = read.given, self.findings + read.findings
        if read.error is not None:
            self.findings += refused(entry.path, read.error)
            if "grade-values" in rules_of(read.error) and not self.fractions:
                with reading_again():  # as fractions, which rules about columns look at
                    qrels = reader(entry.path, True)
        if qrels is None or read.source is None:
            return None
        facts, marks = JudgementFacts.of(qrels), read.source.row_marks
        add_lines(facts.first, read.source, entry, tuple(facts.first))
        marks = np.zeros(0, np.uint64) if marks is None else marks
        self.datasets[entry.path] = Dataset(cell, facts, qrels.qids, marks)
        self.digests[entry.path] = read.source.sha256()
        return qrels

    def read_run(
        self, place: int, cell: Cell, qrels: Qrels | None, count: Callable[[int], None]
    ) -> None:
        """Read a run, and look at how it fits its judgements."""
        entry, form = cell.run_entry, run_format(cell)
        options: dict[str, Any] = {"name": cell.run, **entry.options()}
        watch = None if qrels is None else Watch(qrels, self.policy, _name_of(entry.path))

        def reader(source: HashedSource) -> int:
            if qrels is None or watch is None:
                parts = () if form in BY_ROW else readers.stream_run(source, **options)
                return sum(part.n_rows for part in parts)
            for aligned in readers.align_run(
                qrels, source, self.policy, watch=watch.run, **options
            ):
                watch.aligned(aligned)
            return 0

        read = _read(entry.path, count, reader)
        run = watch.facts() if watch is not None and read.error is None else None
        self.findings += read.findings if watch is None else [*read.findings, *watch.failures]
        self.alone += qrels is None
        self.n_rows += read.given or 0
        if read.source is not None:
            self.digests[entry.path] = read.source.sha256()
        if read.error is not None and qrels is not None:
            self.failed[place] = cell, read.error
        elif read.error is not None:
            self.findings += refused(entry.path, read.error)
        elif qrels is not None and run is not None:
            self.n_rows += run.queries.rows
            source = cast(HashedSource, read.source)
            facts = self._facts(cell, with_ranks(run, source) if form == "trec" else run, source)
            self.seen[place] = Seen(facts, read.findings, qrels.qids)

    def _facts(self, cell: Cell, run: RunFacts, source: HashedSource) -> Facts:
        """Return facts with the lines of what rules find in them."""
        entry, judged = cell.run_entry, self.datasets[cell.dataset_entry.path].facts
        facts = Facts(judged, run)
        rules = {"unrelated", *(one.rule for one in facts.findings(entry.path))}
        add_lines(run.first, source, entry, rules)
        return facts


def check_cells(
    cells: Sequence[Cell], policy: Policy, *, fractions: bool = False,
    known: Sequence[Finding] = (), accept: Sequence[str] = (), pooled: Sequence[str] = (),
    wary: bool = False,
) -> Checked:  # fmt: skip
    """Read every file of these cells, and return all that is found.

    Parameters
    ----------
    cells : sequence of Cell
        Those of one dataset next to each other.
    policy : Policy
        Under which runs are aligned.
    fractions : bool
        Whether grades may be fractions.
    known : sequence of Finding
        What was found before.
    accept : sequence of str
        Rules whose findings become notes.
    pooled : sequence of str
        Placeholders whose values are parts of one dataset, besides those called so.
    wary : bool
        Whether predictions that fit nothing are a warning in any case.
    """
    check, failures = _Check(policy, fractions), list[Finding]()
    groups = groupby(enumerate(cells), key=lambda one: (one[1].dataset, one[1].dataset_entry))
    datasets = [list(some) for _, some in groups]
    paths = [some[0][1].dataset_entry.path for some in datasets]
    progress = Progress([*paths, *(cell.run_entry.path for cell in cells)])
    with contextlib.closing(progress.bar):
        for path, some in zip(paths, datasets, strict=True):
            qrels = None
            with progress.file(path) as count, observing(failures, path):
                qrels = check.read_dataset(some[0][1], count)
            for place, cell in some:
                run = cell.run_entry.path
                with progress.file(run) as count, observing(failures, run):
                    check.read_run(place, cell, qrels, count)
        read = {place: cells[place] for place in check.seen}
        failed: Failed = check.failed
        sweep = Sweep(
            read, check.seen, check.datasets, failed, check.digests, pooled=pooled,
            most_read=np.inf, wary=wary,
        )  # fmt: skip
        # readers' warnings are in what was seen, as far as rules say nothing of the kind
        explained = {id(one) for seen in check.seen.values() for one in seen.warnings}
        loose = [one for one in check.findings if id(one) not in explained]
        found = [*known, *loose, *(one.finding for one in sweep.examine(accept)), *failures]
    found = [replace(one, place=_shown(one.place)) for one in found]
    kept = without_effects(found, accept)
    return Checked(tuple(in_order(accepted(kept, accept))), tuple(cells), check.n_rows, check.alone)


def _shown(place: str) -> str:
    """Return a place with standard input as its reader calls it.

    >>> _shown("-"), _shown("-:7"), _shown("-: row 2"), _shown("a-:7")
    ('<stdin>', '<stdin>:7', '<stdin>: row 2', 'a-:7')
    """
    is_stdin = re.fullmatch(f"{STDIN}((:|: row )[0-9]+)?", place)
    return NAMELESS + place[len(STDIN) :] if is_stdin else place


def check_config(path: str | Path, overrides: Sequence[str] = ()) -> Checked:
    """Check a config and every file that it names.

    Parameters
    ----------
    path : path
        A YAML file.
    overrides : sequence of str
        ``"policy.ties=stable"``: values put in place of the file's.

    Raises
    ------
    ConfigError
        If it cannot be read as YAML. All else that is wrong is found.
    """
    cells, parts, problems = configs.examine(path, overrides)
    gaps = missing(cells)
    stopped = [one for one in problems if gaps and one.where.startswith("$.complete")]
    known = [_of_config(str(path), one) for one in problems if one not in stopped]
    if gaps:
        what = f"{len(gaps):,} of {len(gaps) + len(cells):,} cells of the grids are missing"
        names = [gap.name for gap in gaps]
        found = finding("gaps", str(path), what, len(gaps), names)
        for problem in stopped:  # 'complete: true' is wanted, and not to be advised
            where = f"{path}: {problem.where}"
            found = finding("config", where, what, len(gaps), names, "error", fix=problem.fix)
        known.append(found)
    policy = parts.to_policy()
    defaults = parts.policy.metric_defaults(parts.convention)
    fractions = takes_fractions(_metrics(parts.metrics, defaults), policy)
    ties = parts.is_given("policy", "ties")
    accept = accepted_rules(parts.guard.accept, policy, parts.convention, ties)
    return check_cells(
        cells, policy, fractions=fractions, known=known, accept=accept, pooled=parts.summary.pool
    )


def check_files(
    qrels: str, runs: Sequence[str], *, of_qrels: Mapping[str, Any], of_runs: Mapping[str, Any]
) -> Checked:
    """Check judgements and runs, or a learning-to-rank file and its predictions.

    Parameters
    ----------
    qrels : str
        A file.
    runs : sequence of str
        Files; one that is named twice is checked once.
    of_qrels, of_runs : mapping
        How they are read, as in a config: ``{"format": "trec"}``.
    """
    dataset = DatasetEntry(path=qrels, **of_qrels)
    cells = [
        Cell(qrels, run, dataset, RunEntry(path=run, **of_runs), qrels, run, {}, {})
        for run in dict.fromkeys(runs)
    ]
    # of one file that is asked about; in a sweep, one of many models may be a random baseline
    return check_cells(cells, Policy(), fractions=True, wary=True)


def refused_config(path: str, error: HarnessError) -> Checked:
    """Return what was found if nothing could be looked at: the config cannot be read."""
    if isinstance(error, ConfigError):  # it may be that of a config which this one extends
        path = error.where
    return Checked(tuple(_of_config(path, one) for one in error.problems), ())


_LINE = re.compile(r"line (\d+)(?:, column (\d+))?")


def _of_config(path: str, problem: Problem) -> Finding:
    place = path if problem.where in ("", path) else f"{path}: {problem.where}"
    what = problem.what
    if at := _LINE.fullmatch(problem.where):  # of a text that is no YAML and has no keys
        place = f"{path}:{at[1]}"
        what = f"column {at[2]}: {what}" if at[2] else what
    if problem.rule == "missing-file" and not problem.where:  # of the config itself
        return finding(problem.rule, path, what, effect="nothing is checked", fix=problem.fix)
    examples = [problem.found] if problem.found else []
    return finding("config", place, what, 1, examples, fix=problem.fix)


def _metrics(names: Iterable[str], defaults: Mapping[str, Any]) -> list[Metric]:
    """Return the metrics that exist."""
    found: list[Metric] = []
    for name in names:
        with contextlib.suppress(UnknownNameError):
            found += parse(name, defaults)
    return found


VERDICTS: Mapping[str, str] = {"error": "ERROR", "warning": "WARN", "note": "OK"}
"""The word before a file, by the severity of its worst finding."""


def as_text(checked: Checked, *, notes: bool = False, by: Literal["run", "rule"] = "run") -> str:
    """Return what ``harness check`` prints: findings by file, or by rule, and their number."""
    shown = [one for one in checked.findings if notes or one.severity != "note"]
    by_rule = _lines(shown, lambda one: one.head, set())
    lines = [*(by_rule if by == "rule" else _by_file(shown, checked.cells))]
    counts = [counted(checked.count(name), name) for name in ORDER if checked.count(name)]
    hidden = " (not shown; see --notes)" if not notes and checked.count("note") else ""
    lines.append(f"{looked_at(checked)}: {', '.join(counts) or 'nothing found'}{hidden}")
    return for_terminal("".join(f"{legible(line)}\n" for line in lines))


def _by_file(findings: Iterable[Finding], cells: Sequence[Cell]) -> Iterator[str]:
    """Yield a verdict on each run, and on other files with findings; these are below it."""
    names = _names(cells)
    files: dict[str, list[Finding]] = {}
    for one in findings:
        files.setdefault(_at(one.place, names)["file"], []).append(one)
    advised: set[tuple[str, ...]] = set()

    def head(one: Finding) -> str:
        at = _at(one.place, names)
        where = [at["key"]] if "key" in at else []
        where += [f"{name} {at[name]}" for name in ("line", "row") if name in at]
        place = f"{', '.join(where)}: " if where else ""
        return f"{one.severity}: {place}{one.what}{one.shown} [{one.rule}]"

    for file in dict.fromkeys([*files, *(_shown(cell.run_entry.path) for cell in cells)]):
        some = files.get(file, [])
        worst = min((one.severity for one in some), key=ORDER.index, default="note")
        rules = ", ".join(dict.fromkeys(one.rule for one in some if one.severity != "note"))
        yield f"{VERDICTS[worst]:5}  {file}" + (f"  {rules}" if rules else "")
        yield from (f"  {line}" for line in _lines(some, head, advised))


def _lines(
    findings: Iterable[Finding], head: Callable[[Finding], str], advised: set[tuple[str, ...]]
) -> Iterator[str]:
    """Yield findings, those of one rule together, each advice once."""
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for one in findings:
        alike.setdefault((one.severity, one.rule, *one.advice), []).append(one)
    for (severity, rule, *advice), some in alike.items():
        most = ALIKE if len(some) > FEW and rule not in APART else MOST[severity]
        yield from map(head, some[:most])
        if len(some) > most:
            yield f"  {others_at([one.place for one in some[most:]])}"
        if tuple(advice) not in advised:
            yield from advice
            advised.add(tuple(advice))


def looked_at(checked: Checked) -> str:
    """Return in one line what was looked at."""
    datasets = {cell.dataset_entry.path for cell in checked.cells}
    runs = {(cell.run, cell.run_entry.path) for cell in checked.cells}
    alone = f"; {counted(checked.alone, 'run')} without a dataset" if checked.alone else ""
    files = f"{counted(len(datasets), 'dataset')} and {counted(len(runs), 'run')}"
    return f"checked {files}, {counted(checked.rows, 'row')}{alone}"


def as_json(checked: Checked) -> str:
    """Return the same as one JSON object."""
    names = _names(checked.cells)
    content = {
        "findings": [
            {**one.as_dict(), **(at := _at(one.place, names)), **names.get(at["file"], {})}
            for one in checked.findings
        ],
        "counts": {name: checked.count(name) for name in ORDER},
        "rows": checked.rows,
        "runs_without_dataset": checked.alone,
        "checked": [
            {
                "dataset": cell.dataset,
                "run": cell.run,
                "columns": cell.columns,
                "dataset_path": cell.dataset_entry.path,
                "run_path": cell.run_entry.path,
            }
            for cell in checked.cells
        ],
    }
    return in_json(content, indent=1) + "\n"


def _names(cells: Iterable[Cell]) -> dict[Any, dict[str, str]]:
    """Return the dataset and the run that each file belongs to, if it is only one."""
    found: dict[Any, dict[str, set[str]]] = {}
    for cell in cells:
        run, dataset = (_shown(one.path) for one in (cell.run_entry, cell.dataset_entry))
        found.setdefault(run, {}).setdefault("run", set()).add(cell.run)
        for path in (run, dataset):
            found.setdefault(path, {}).setdefault("dataset", set()).add(cell.dataset)
    return {
        path: {what: next(iter(some)) for what, some in of.items() if len(some) == 1}
        for path, of in found.items()
    }


_PLACE = re.compile(
    r"(?P<file>.+?)"
    r"(?::(?P<line>\d+)|: row (?P<row>\d+)|: (?P<key>\$.*?)"
    r"(?: \((?:(?P<base>[^()]+), )?line (?P<of_key>\d+)\))?)?"
)


def _at(place: str, files: Collection[str] = ()) -> dict[str, Any]:
    """Return the file of a place, and its line, its row or its key in a config, if it has any.

    >>> _at("a.run:7"), _at("a.npy: row 2")
    ({'file': 'a.run', 'line': 7}, {'file': 'a.npy', 'row': 2})
    >>> _at("c.yaml: $.metrics[1] (line 6)"), _at("a:7", ["a:7"])
    ({'file': 'c.yaml', 'key': '$.metrics[1]', 'line': 6}, {'file': 'a:7'})
    >>> _at("c.yaml: $.metrics[1] (base.yaml, line 6)")
    {'file': 'base.yaml', 'key': '$.metrics[1]', 'line': 6}
    """
    found = None if place in files else _PLACE.fullmatch(place)
    if found is None:
        return {"file": place}
    parts = {what: text for what, text in found.groupdict().items() if text is not None}
    line = parts.pop("of_key", parts.pop("line", None))
    row = parts.pop("row", None)
    parts["file"] = parts.pop("base", parts["file"])  # of the config that this one extends
    numbers = {"line": line, "row": row}
    return {**parts, **{what: int(text) for what, text in numbers.items() if text}}
