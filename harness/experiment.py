"""The one-way flow: config -> readers -> align -> metrics -> reports.

The only module that knows both the edges and the core.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from . import config as configs
from . import inputs, readers, store
from . import metrics as _built_in
from .config import Config, sweep
from .config.sweep import Cell, missing
from .core.align import align, align_parts, as_reference
from .core.aligned import Aligned
from .core.evaluation import Evaluation
from .core.evaluation import evaluate as evaluate_aligned
from .core.leaderboard import Entry, Leaderboard
from .core.metric import Metric
from .core.names import parse_all
from .core.policy import Duplicates, Policy
from .core.tables import Qrels, Run
from .crosscheck import Audit, Crosscheck
from .errors import HarnessWarning, UnknownNameError, did_you_mean
from .manifest import manifest
from .reports import find
from .reports.table import columns

del _built_in

LEADERBOARD, PER_QUERY, MANIFEST = "leaderboard.csv", "per_query.parquet", "manifest.json"


@dataclass(frozen=True, eq=False)
class Results:
    """What :func:`run` made: the leaderboard, and where its files are."""

    leaderboard: Leaderboard
    folder: Path
    files: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        text: str = find("table").render(self.leaderboard)
        return text

    def _repr_html_(self) -> str:
        text: str = find("html").render(self.leaderboard)
        return text


def evaluate(
    qrels: Any,
    run: Any,
    metrics: Iterable[str | Metric],
    *,
    policy: Policy | None = None,
    rel: int | None = None,
    n: Any = None,
    qids: Any = None,
    references: Mapping[str, Any] | None = None,
    name: str = "",
    dataset: str = "",
) -> Evaluation:
    """Evaluate one run against judgements, whatever form both are in.

    Parameters
    ----------
    qrels, run : path, mapping, Arrow table, data frame, tuple of columns, arrays, or tables
        See :func:`harness.inputs.as_pair`. Two arrays of shape (B, L), grades and scores, are
        a padded batch.
    metrics : iterable of str or Metric
        Names in any spelling; ``harness metrics`` lists them.
    policy : Policy, optional
        Ties, missing and empty queries, depth.
    rel : int, optional
        Smallest relevant grade, for the metrics that have one and do not name it.
    n, qids : array_like, optional
        For a padded batch: documents of each query, shape (B,), and its identifier.
    references : mapping of str to run, optional
        Runs that metrics such as ``rbo(reference=bm25)`` compare to.
    name, dataset : str
        Names for the table.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError, AlignmentError, UnknownNameError
        Where the input is wrong, does not fit together, or a metric does not exist.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1, "d2": 0}}
    >>> run = {"q1": {"d1": 0.2, "d2": 0.9}}
    >>> evaluate(qrels, run, ["P@1", "recip_rank"]).to_dict()
    {'q1': {'P@1': 0.0, 'recip_rank': 0.5}}
    """
    wanted = parse_all(metrics, {"rel": rel} if rel is not None else None)
    others = references or {}

    def reference(key: str) -> Run:
        if key not in others:
            raise UnknownNameError(
                f"reference={key}: no such run{did_you_mean(key, others)}; "
                f"give references={{'{key}': run}}"
            )
        return inputs.as_table(Run, others[key])

    judgements, given = inputs.as_pair(qrels, run, n=n, qids=qids)
    stream: Callable[[], Aligned | Iterable[Aligned]]
    if isinstance(given, Run):
        stream, read = partial(align_parts, judgements, given, policy), lambda: given
    else:
        stream = partial(readers.align_run, judgements, given, policy)
        read = partial(readers.read_run, given, dataset=judgements)
    return _evaluate_one(
        judgements, wanted, policy, stream=stream, read=read, reference=reference,
        run=name, dataset=dataset,
    )  # fmt: skip


def evaluate_files(
    qrels: str,
    runs: Sequence[str],
    metrics: Iterable[str],
    *,
    policy: Policy | None = None,
    rel: int | None = None,
    duplicates: Duplicates = "error",
    qrels_format: str | None = None,
    run_format: str | None = None,
) -> Leaderboard:
    """Evaluate run files against one file of judgements, as ``harness evaluate`` does.

    A metric's ``reference`` names one of the runs by its file name without endings.
    """
    wanted = parse_all(metrics, {"rel": rel} if rel is not None else None)
    judgements = readers.read_qrels(qrels, format=qrels_format, duplicates=duplicates)
    names = _short_names(runs)
    options: dict[str, Any] = {"format": run_format, "duplicates": duplicates}

    def read(name: str) -> Run:
        if name not in names:
            raise UnknownNameError(
                f"reference={name}: no such run{did_you_mean(name, names)}  "
                f"(all: {', '.join(names)})"
            )
        path = runs[names.index(name)]
        return readers.read_run(path, dataset=judgements, name=name, **options)

    entries = []
    quiet = None if len(runs) > 1 else True
    for path, name in tqdm(list(zip(runs, names, strict=True)), unit="run", disable=quiet):
        stream = partial(readers.align_run, judgements, path, policy, name=name, **options)
        evaluation = _evaluate_one(
            judgements, wanted, policy, stream=stream, read=partial(read, name), reference=read,
            run=name,
        )  # fmt: skip
        entries.append(Entry(evaluation))
    return Leaderboard(tuple(entries))


def plan(config: str | Path, *, overrides: Sequence[str] = ()) -> str:
    """Return the cells that a config stands for, as text, without evaluating any."""
    loaded = configs.load(config, overrides=overrides)
    found = sweep.resolve(loaded)
    names = list(dict.fromkeys(name for cell in found for name in cell.columns))
    rows = [["dataset", "run", *names, "judgements", "predictions"]]
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
    for gap in missing(found):
        where = " ".join(f"{name}={value}" for name, value in gap.columns.items())
        lines.append(f"missing: {gap.run} on {gap.dataset} {where}".rstrip())
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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", HarnessWarning)
        entries, audits = zip(*_entries(loaded, found), strict=True)
        board = Leaderboard(entries)
    said = list(dict.fromkeys(str(warning.message) for warning in caught))
    for text in said:
        warnings.warn(text, HarnessWarning, stacklevel=2)
    files = {LEADERBOARD: find("csv").render(board).encode()}
    for name in loaded.reports:
        if name != "csv":
            report = find(name)
            files[f"leaderboard{report.suffix}"] = report.render(board).encode()
    files[PER_QUERY] = store.parquet(board.per_query())
    read = {Path(cell.dataset_entry.path) for cell in found}
    read |= {Path(cell.run_entry.path) for cell in found}
    read |= {Path(cell.dataset_entry.group) for cell in found if cell.dataset_entry.group}
    files[MANIFEST] = manifest(loaded.resolved(), read, loaded.base, board, said, audits)
    store.write_all(loaded.output_folder, files)
    return Results(board, loaded.output_folder, tuple(files), tuple(said))


def _entries(config: Config, found: Sequence[Cell]) -> Iterator[tuple[Entry, Audit]]:
    """Evaluate cell after cell; each dataset is read once."""
    policy, metrics = config.to_policy(), config.parsed_metrics()
    at: str | None = None
    for cell in tqdm(found, unit="cell", disable=None):
        if cell.dataset_entry.path != at:
            at = cell.dataset_entry.path
            qrels = readers.read_qrels(at, name=cell.dataset, **cell.dataset_entry.options())
        check = Crosscheck(qrels, metrics, policy, config.crosscheck)
        evaluation = _evaluate_one(
            qrels, metrics, policy,
            stream=partial(
                readers.align_run, qrels, cell.run_entry.path, policy, name=cell.run,
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
        other
        for other in found
        if other.run == name and other.dataset_entry.path == cell.dataset_entry.path
    ]
    same = [other for other in here if other.of_run == cell.of_run]
    if not here or (len(here) > 1 and not same):
        runs = sorted({other.run for other in found if other.dataset == cell.dataset})
        what = f"has {len(here)} runs of that name" if here else f"has {', '.join(runs)}"
        raise UnknownNameError(
            f"reference={name}: no such run to compare {cell.run} to; dataset {cell.dataset} {what}"
        )
    return (same or here)[0]


def _evaluate_one(
    qrels: Qrels,
    metrics: Sequence[Metric],
    policy: Policy | None,
    *,
    stream: Callable[[], Aligned | Iterable[Aligned]],
    read: Callable[[], Run],
    reference: Callable[[str], Run],
    run: str = "",
    dataset: str = "",
) -> Evaluation:
    """Evaluate one run: as it streams past, or whole where a metric compares it to another."""
    names = {metric.reference for metric in metrics if metric.reference is not None}
    if not names:
        return evaluate_aligned(stream(), metrics, run=run, dataset=dataset)
    ranking = read()
    aligned = align(qrels, ranking, policy)
    whole = replace(policy or Policy(), missing_queries="zero")
    references = {
        name: align(as_reference(reference(name), aligned.qids, policy), ranking, whole)
        for name in names
    }
    return evaluate_aligned(aligned, metrics, references=references, run=run, dataset=dataset)


def _short_names(paths: Sequence[str]) -> list[str]:
    """Return file names without endings, whole paths where two would be the same.

    >>> _short_names(["a/bm25.run.gz", "b/dense.run"]), _short_names(["a/x.run", "b/x.run"])
    (['bm25', 'dense'], ['a/x.run', 'b/x.run'])
    """
    endings = (".gz", ".bz2", ".xz", ".zst", ".run", ".txt", ".trec", ".res", ".tsv", ".csv")
    names = []
    for path in paths:
        name = Path(path).name
        while name.endswith(endings) and len(name) > len(Path(name).suffix):
            name = Path(name).stem
        names.append(name)
    return names if len(set(names)) == len(names) else list(paths)
