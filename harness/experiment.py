"""The one-way flow: config -> readers -> align -> metrics -> reports."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import config as configs
from . import manifest as manifests
from . import origin, paper, store
from .cells.as_read import Input, changed_since
from .cells.cache import INDEX, Cache
from .cells.executors import executor
from .cells.failures import Failure, as_one, as_printed, by_cause, named, told
from .cells.flow import Evaluated, evaluate_all
from .cells.key import sources
from .cells.plugged import installed_code
from .comparing import SHOWN, find_rendering
from .comparing.csv import files as comparison_files
from .config import Config, gaps, sweep
from .core.comparison import Comparisons
from .core.incomplete import FEWER, incomplete
from .core.leaderboard import Failed, Leaderboard
from .core.pooling import key_of, lacking
from .errors import HarnessError, HarnessWarning
from .guard.finding import Finding
from .origin import MANIFEST, TIMING
from .reports import find
from .reports.table import columns
from .results import CELLS, LEADERBOARD, PER_QUERY, compare, systems

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """What :func:`run` made: the leaderboard, and where its files are.

    `comparisons` is None where the config has no ``compare``; `cached` evaluations were known
    from before. `errors` says what failed and why, with paths as they were opened, as in the
    leaderboard, and `told` the same in short, where many fail for one reason; `findings` is what
    the guard found, notes among it, with paths as in the manifest.
    """

    leaderboard: Leaderboard
    folder: Path
    files: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    comparisons: Comparisons | None = None
    cached: int = 0
    errors: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    told: tuple[str, ...] = ()

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
    lacking = gaps.shown(found)
    if lacking:
        lines.append(lacking)
    return "\n".join(lines) + "\n"


def run(
    config: str | Path | Config, *, overrides: Sequence[str] = (), jobs: int = 1,
    scheduler: str | None = None,
) -> Results:  # fmt: skip
    """Evaluate every run that a config names, and write the leaderboard.

    Parameters
    ----------
    config : path or Config
        A YAML file, or what :func:`harness.config.load` made of one.
    overrides : sequence of str
        ``"policy.ties=stable"``: values put in place of the file's.
    jobs : int
        Processes on this machine that evaluate.
    scheduler : str, optional
        Address of a Dask scheduler whose workers evaluate.

    Returns
    -------
    Results
        Its ``leaderboard`` holds every evaluation; ``folder`` has the files written. Runs that
        could not be evaluated are in ``leaderboard.failed``, with the reason.

    Raises
    ------
    ConfigError
        Where the config is wrong.
    InputError, AlignmentError
        Where no run at all could be evaluated, or the guard finds an error that is not one run's
        alone. Nothing is written then.
    VerificationError
        Where the cross-check finds a difference.
    """
    began = time.time()
    loaded = config if isinstance(config, Config) else configs.load(config, overrides=overrides)
    if scheduler is not None:
        loaded = loaded.from_anywhere()
    found = sweep.resolve(loaded)
    lacking = gaps.shown(found)
    if lacking:
        warnings.warn(lacking, HarnessWarning, stacklevel=2)
    store.check_writable(loaded.output_folder)
    if loaded.cache_folder and not loaded.cache:  # one that the config names may be anywhere
        store.below(loaded.output_folder, f"{loaded.cache_folder.name}/{INDEX}")
    paper.check(loaded)
    with (
        store.locked(loaded.output_folder, paper.FOLDERS) as hold,
        store.shared(loaded.cache_folder),
        executor(jobs, scheduler) as pool,
    ):
        evaluated = evaluate_all(loaded, found, Cache(loaded.cache_folder), pool, jobs)
        return _written(loaded, evaluated, began, hold)


@dataclass(frozen=True, eq=False)
class Derived:
    """What follows from evaluated cells, before anything is written.

    Parameters
    ----------
    board : Leaderboard
        An entry a cell.
    shown : Leaderboard
        An entry a system, where the config has a summary; the same otherwise.
    comparisons : Comparisons, optional
    warnings : tuple of str
        Paths in them as in the manifest.
    files : mapping of str to bytes
        The files of values, by name.
    manifest : bytes
    errors : tuple of str
        What failed and why; paths in them as they were opened.
    findings : tuple of Finding
        What the guard found; paths in them as in the manifest.
    printed : Leaderboard
        As `shown`, but with paths as they were opened in what says why a cell failed.
    told : tuple of str
        As `errors`; of many of one reason the first, and the places of the others.
    """

    board: Leaderboard
    shown: Leaderboard
    comparisons: Comparisons | None
    warnings: tuple[str, ...]
    files: Mapping[str, bytes]
    manifest: bytes
    errors: tuple[str, ...]
    findings: tuple[Finding, ...]
    printed: Leaderboard
    told: tuple[str, ...]


def derive(loaded: Config, evaluated: Evaluated) -> Derived:
    """Return the files of values and the manifest that evaluated cells make.

    Raises
    ------
    HarnessError
        Where there is none that could be evaluated.
    """
    failures = tuple(evaluated.failures)
    if failures and not evaluated.entries:
        raise as_one(failures)
    paths = {*evaluated.inputs}
    for each in failures:
        paths |= {each.cell.dataset_entry.path, each.cell.run_entry.path}
    names = manifests.names_of(paths, loaded.base)
    said = manifests.placed(evaluated.warnings, names)
    findings = _placed(evaluated.findings, names)
    errors = manifests.placed((str(each.error) for each in failures), names)
    failed = tuple(
        Failed(
            each.cell.dataset, each.cell.run, each.cell.columns, error,
            each.cell.dataset_key if each.cell.of_dataset else "",
        )
        for each, error in zip(failures, errors, strict=True)
    )  # fmt: skip
    board = Leaderboard(tuple(evaluated.entries), failed, loaded.summary.to_core())
    shown = printed = systems(board, loaded)
    if failures:
        printed = systems(replace(board, failed=as_printed(failed, failures)), loaded)
    comparisons = _comparisons(board, loaded)
    files = {LEADERBOARD: find("csv").render(shown, comparisons=comparisons).encode()}
    if shown is not board:
        files[CELLS] = find("csv").render(board).encode()
    for name in loaded.reports:
        if name != "csv":
            report = find(name)
            files[f"leaderboard{report.suffix}"] = report.render(shown).encode()
    files[PER_QUERY] = store.parquet(board.per_query_parts())
    if comparisons is not None:
        files |= comparison_files(comparisons)
    manifest = manifests.manifest(
        loaded.resolved(), _inputs(evaluated.inputs, names), loaded.base, board, said,
        evaluated.audits, files, sources(), evaluated.headers, findings,
        installed_code(loaded.parsed_metrics()),
    )  # fmt: skip
    return Derived(
        board,
        shown,
        comparisons,
        tuple(said),
        files,
        manifest,
        tuple(_errors(failures, board, printed)),
        findings,
        printed,
        (*told(failures, len(board.entries) + len(failures)), *_lacking(board, printed)),
    )


def _inputs(inputs: Mapping[str, Input], names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the files that were read, as the manifest has them."""
    for path, read in sorted(inputs.items()):
        yield {"path": names[path], "bytes": read.size, "sha256": read.digest}


def _placed(findings: Sequence[Finding], names: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return findings with paths as in the manifest."""
    texts = [
        text
        for one in findings
        for text in (one.place, one.what, one.fix, *one.examples, *one.others)
    ]
    placed = iter(manifests.placed(texts, names))
    return tuple(
        replace(
            one, place=next(placed), what=next(placed), fix=next(placed),
            examples=tuple(next(placed) for _ in one.examples),
            others=tuple(next(placed) for _ in one.others),
        )
        for one in findings
    )  # fmt: skip


def _errors(failures: Sequence[Failure], board: Leaderboard, shown: Leaderboard) -> Iterator[str]:
    """Yield why each cell failed, and :func:`_lacking`."""
    for cells, error in by_cause(failures):
        yield from (f"{named(cells)}: {one}" for one in error.texts)
    yield from _lacking(board, shown)


def _lacking(board: Leaderboard, shown: Leaderboard) -> Iterator[str]:
    """Yield which systems lack a part though no cell of theirs failed."""
    parts = board.summary.parts
    known = {key_of(one, parts) for one in board.failed} if parts else set()
    for one in shown.failed if parts else ():
        if (one.dataset, one.run, tuple(one.columns.items())) not in known:
            where = "".join(f" {name}={value}" for name, value in one.columns.items())
            yield f"{one.run}{where} on {one.dataset}: {one.error}"


def _written(
    loaded: Config, evaluated: Evaluated, began: float, hold: Callable[[], None]
) -> Results:
    """Write what was evaluated, and all that is made from it; `hold` as of `store.locked`."""
    for text in evaluated.printed:  # before anything can stop it
        warnings.warn(text, HarnessWarning, stacklevel=3)
    found = derive(loaded, evaluated)
    if loaded.summary.spread and (fewer := incomplete(found.board)):
        what = f"{FEWER}: {', '.join(map(str, fewer.values()))}"
        warnings.warn(what, HarnessWarning, stacklevel=3)
    made = paper.files(loaded, found.board, found.comparisons, found.manifest)
    files = {**found.files, **made, MANIFEST: found.manifest}
    folder = loaded.output_folder
    told = {problem.where for each in evaluated.failures for problem in each.error.problems}
    for text in changed_since(evaluated.inputs, told):
        warnings.warn(text, HarnessWarning, stacklevel=3)
    hold()
    gone, own = store.unneeded(folder, origin.written(folder), files)
    if own:
        what = "of an earlier run, edited since, and no part of these results"
        warnings.warn(f"{folder}: {what}: {', '.join(own)}", HarnessWarning, stacklevel=3)
    timing = manifests.timing(began, len(evaluated.entries), evaluated.cached, made, gone)
    store.write_all(folder, {TIMING: timing, **files})
    store.remove(folder, gone)
    return Results(
        found.printed, loaded.output_folder, tuple(files), found.warnings, found.comparisons,
        evaluated.cached, found.errors, found.findings, found.told,
    )  # fmt: skip


def _comparisons(board: Leaderboard, config: Config) -> Comparisons | None:
    """Return the comparisons; a warning where runs that failed leave nothing to compare."""
    try:
        return compare(board, config)
    except HarnessError as error:
        if not lacking(board):
            raise
        what = f"runs could not be evaluated, and the others are not compared: {error}"
        warnings.warn(what, HarnessWarning, stacklevel=4)
        return None


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
