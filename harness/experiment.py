"""The one-way flow: config -> readers -> align -> metrics -> reports."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from . import config as configs
from . import paper, readers, store
from .comparing import SHOWN, find_rendering
from .comparing.csv import files as comparison_files
from .config import Config, DatasetEntry, gaps, sweep
from .config.sweep import Cell
from .core.comparison import Comparisons
from .core.grade_check import check_grades, takes_fractions
from .core.leaderboard import Entry, Leaderboard
from .core.tables import Qrels, Run
from .core.views import policies_of
from .crosscheck import Audit, Crosscheck
from .direct import evaluate_one
from .errors import HarnessWarning, UnknownNameError
from .manifest import manifest
from .origin import MANIFEST
from .reports import find
from .reports.table import columns
from .results import LEADERBOARD, PER_QUERY, compare

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """What :func:`run` made: the leaderboard, and where its files are.

    `comparisons` is None where the config has no ``compare``.
    """

    leaderboard: Leaderboard
    folder: Path
    files: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    comparisons: Comparisons | None = None

    def __str__(self) -> str:
        text: str = find("table").render(self.leaderboard)
        if self.comparisons is not None:
            text += "\n" + compared(self.comparisons, "table")
        return text

    def __repr__(self) -> str:
        return f"<Results: {len(self.leaderboard.entries)} entries in {self.folder}>"

    def _repr_html_(self) -> str:
        text: str = find("html").render(self.leaderboard)
        return text + (compared(self.comparisons, "html") if self.comparisons else "")

    def to_pandas(self) -> pandas.DataFrame:
        """Return the leaderboard as a data frame, a row a dataset x run (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.leaderboard.rows())


def plan(config: str | Path, *, overrides: Sequence[str] = ()) -> str:
    """Return the cells that a config stands for, as text, without evaluating any."""
    loaded = configs.load(config, overrides=overrides)
    found = sweep.resolve(loaded)
    names = list(dict.fromkeys(name for cell in found for name in cell.columns))
    rows = [["dataset", "run", *names, "qrels path", "run path"]]
    rows += [
        [
            cell.dataset,
            cell.run,
            *(cell.columns.get(name, "") for name in names),
            cell.dataset_entry.path,
            cell.run_entry.path,
        ]
        for cell in found
    ]
    lines = [columns(rows, left=len(rows[0])), ""]
    lines.append(f"{len(found)} cells x {len(loaded.parsed_metrics())} metrics")
    lines += [part for part in (gaps.shown(found),) if part]
    return "\n".join(lines) + "\n"


def run(config: str | Path | Config, *, overrides: Sequence[str] = ()) -> Results:
    """Evaluate every run that a config names, and write the leaderboard.

    Parameters
    ----------
    config : path or Config
        A YAML file, or what :func:`harness.config.load` made of one.
    overrides : sequence of str
        ``"policy.ties=stable"``: values put in place of the file's.

    Returns
    -------
    Results
        Its ``leaderboard`` holds every evaluation; ``folder`` has the files written.

    Raises
    ------
    ConfigError, InputError, AlignmentError
        Where the config, a file, or a pair of files is wrong. Nothing is written then.
    """
    loaded = config if isinstance(config, Config) else configs.load(config, overrides=overrides)
    found = sweep.resolve(loaded)
    lacking = gaps.shown(found)
    if lacking:
        warnings.warn(lacking, HarnessWarning, stacklevel=2)
    store.check_writable(loaded.output_folder)
    paper.check(loaded)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", HarnessWarning)
        entries, audits = zip(*_entries(loaded, found), strict=True)
        board = Leaderboard(entries)
    said = list(dict.fromkeys(str(warning.message) for warning in caught))
    for text in said:
        warnings.warn(text, HarnessWarning, stacklevel=2)
    comparisons = compare(board, loaded)
    files = {LEADERBOARD: find("csv").render(board, comparisons=comparisons).encode()}
    for name in loaded.reports:
        if name != "csv":
            report = find(name)
            files[f"leaderboard{report.suffix}"] = report.render(board).encode()
    files[PER_QUERY] = store.parquet(board.per_query())
    if comparisons is not None:
        files |= comparison_files(comparisons)
    read = {Path(cell.dataset_entry.path) for cell in found}
    read |= {Path(cell.run_entry.path) for cell in found}
    read |= {Path(cell.dataset_entry.group) for cell in found if cell.dataset_entry.group}
    origin = manifest(loaded.resolved(), read, loaded.base, board, said, audits, files)
    files |= paper.files(loaded, board, comparisons, origin)
    files[MANIFEST] = origin
    store.write_all(loaded.output_folder, files)
    return Results(board, loaded.output_folder, tuple(files), tuple(said), comparisons)


def compared(comparisons: Comparisons, format: str, **options: Any) -> str:
    """Return the comparisons in the format of a report; nothing where it has none for them.

    Of each metric on each dataset those with the smallest p are shown. Options are the
    rendering's.
    """
    if format not in ("table", "markdown", "html"):
        return ""
    rendering = find_rendering("text" if format == "table" else format)
    text: str = rendering.render(comparisons, most=SHOWN, **options)
    return text


def _entries(config: Config, found: Sequence[Cell]) -> Iterator[tuple[Entry, Audit]]:
    """Evaluate cell after cell; each dataset is read once."""
    policy, metrics = config.to_policy(), config.parsed_metrics()
    also, fractions = policies_of(metrics, policy), takes_fractions(metrics, policy)
    at: DatasetEntry | None = None
    for place, cell in enumerate(tqdm(found, unit="cell", disable=None)):
        if cell.dataset_entry != at:
            at = cell.dataset_entry
            qrels = readers.read_qrels(
                at.path, name=cell.dataset, fractions=fractions, **at.options()
            )
            check_grades(qrels, metrics, policy)
        check = Crosscheck(qrels, metrics, policy, config.crosscheck, place, len(found))
        evaluation = evaluate_one(
            qrels, metrics, policy,
            stream=partial(
                readers.align_run, qrels, cell.run_entry.path, policy, also, name=cell.run,
                watch=check.watch, **cell.run_entry.options(),
            ),
            read=partial(_read_run, qrels, cell, check.watch),
            reference=partial(_read_reference, qrels, found, cell),
            run=cell.run, dataset=cell.dataset,
        )  # fmt: skip
        yield Entry(evaluation, cell.columns), check.compare(evaluation)


def _read_run(qrels: Qrels, cell: Cell, watch: Callable[[Run], None] | None = None) -> Run:
    entry = cell.run_entry
    ranking = readers.read_run(entry.path, dataset=qrels, name=cell.run, **entry.options())
    if watch is not None:
        watch(ranking)
    return ranking


def _read_reference(qrels: Qrels, found: Sequence[Cell], cell: Cell, name: str) -> Run:
    return _read_run(qrels, _reference(found, cell, name))


def _reference(found: Sequence[Cell], cell: Cell, name: str) -> Cell:
    """Return the cell of the run called `name` on this cell's dataset, of its own seed if many."""
    here = [
        other for other in found if other.run == name and other.dataset_entry == cell.dataset_entry
    ]
    same = [other for other in here if other.of_run == cell.of_run]
    if not here or (len(here) > 1 and not same):
        runs = sorted({other.run for other in found if other.dataset == cell.dataset})
        what = f"has {len(here)} runs of that name" if here else f"has {', '.join(runs)}"
        raise UnknownNameError(
            f"reference={name}: no such run to compare {cell.run} to; dataset {cell.dataset} {what}"
        )
    return (same or here)[0]
