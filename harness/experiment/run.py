"""The one-way flow: config -> readers -> align -> metrics -> reports."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import files as store
from ..config import cells as gaps
from ..config import load as configs
from ..config import sweep as sweep
from ..config.cells import Cell
from ..config.model import Config
from ..core.arguments import FLAG, TEXT, TEXTS, check_arguments, instance_of, whole_from
from ..core.comparison import Comparisons
from ..core.leaderboard import Failed, Leaderboard
from ..core.pooling import key_of, lacking
from ..core.systems import FEWER, incomplete
from ..errors import Finding, HarnessError, HarnessWarning
from ..reports import comparisons as comparing
from ..reports import paper as paper
from ..reports.leaderboard import find
from ..reports.text import columns
from . import manifest as manifests
from . import origin as origin
from .cache import INDEX, Cache, foreign
from .cells import Evaluated, changed_since, evaluate_all
from .executors import executor
from .failures import as_one, as_printed, by_cause, named, told
from .origin import MANIFEST, TIMING
from .results import CELLS, LEADERBOARD, PER_QUERY, compare, systems

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """What a run made: the leaderboard, comparisons, findings and files.

    Parameters
    ----------
    config : Config
    board : Leaderboard
        An entry a cell; paths in errors as in the manifest.
    leaderboard : Leaderboard
        An entry a system if the config has a summary, else a cell; paths in errors as they were
        opened.
    comparisons : Comparisons, optional
        None if the config has no ``compare``.
    files : mapping of str to bytes
        By their names in the folder of results.
    manifest : bytes
    warnings : tuple of str
        Paths in them as in the manifest.
    findings : tuple of Finding
        Of the guard, with its notes; paths in them as in the manifest.
    errors, told : tuple of str
        What failed and why, with paths as they were opened; `told` is shorter if many fail for
        one reason.
    cached : int
        Cells whose values were all in the cache.
    """

    config: Config
    board: Leaderboard
    leaderboard: Leaderboard
    comparisons: Comparisons | None
    files: Mapping[str, bytes]
    manifest: bytes
    warnings: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    errors: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    cached: int = 0

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self.config.output_folder

    def __str__(self) -> str:
        text: str = find("table").render(self.leaderboard)
        if self.comparisons is not None:
            text += "\n" + compared(self.comparisons, "table")
        return text

    def __repr__(self) -> str:
        return f"<Outcome: {len(self.leaderboard.entries)} entries in {self.folder}>"

    def _repr_html_(self) -> str:
        text: str = find("html").render(self.leaderboard)
        return text + (compared(self.comparisons, "html") if self.comparisons else "")

    def to_pandas(self) -> pandas.DataFrame:
        """Return the leaderboard as a data frame, a row a dataset x run (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.leaderboard.rows())


def derive(config: Config, evaluated: Evaluated) -> Outcome:
    """Summarise and compare evaluated cells, and render the files of values and the manifest.

    Raises
    ------
    HarnessError
        If no cell could be evaluated.
    """
    failures = tuple(evaluated.failures)
    if failures and not evaluated.entries:
        raise as_one(failures)
    paths = {*evaluated.inputs}
    for each in failures:
        paths |= {each.cell.dataset_entry.path, each.cell.run_entry.path}
    names = manifests.names_of(paths, config.base)
    errors = manifests.placed((str(each.error) for each in failures), names)
    failed = tuple(
        Failed(
            each.cell.dataset, each.cell.run, each.cell.columns, error,
            each.cell.dataset_key if each.cell.of_dataset else "",
        )
        for each, error in zip(failures, errors, strict=True)
    )  # fmt: skip
    board = Leaderboard(tuple(evaluated.entries), failed, config.summary)
    rows = shown = systems(board, config)
    if failures:
        shown = systems(replace(board, failed=as_printed(failed, failures)), config)
    comparisons = _comparisons(board, config)
    files = {LEADERBOARD: find("csv").render(rows, comparisons=comparisons).encode()}
    if rows is not board:
        files[CELLS] = find("csv").render(board).encode()
    for name in config.reports:
        if name != "csv":
            report = find(name)
            files[f"leaderboard{report.suffix}"] = report.render(rows).encode()
    files[PER_QUERY] = store.parquet(board.per_query_parts())
    if comparisons is not None:
        files |= comparing.files(comparisons)
    texts = tuple(manifests.placed(evaluated.warnings, names))
    findings = _placed(evaluated.findings, names)
    manifest = manifests.manifest(
        config, evaluated, board, _inputs(evaluated, names), texts, findings, files
    )
    parts = tuple(_without_parts(board, shown))
    return Outcome(
        config, board, shown, comparisons, files, manifest, texts, findings,
        errors=(
            *(
                f"{named(cells)}: {text}"
                for cells, error in by_cause(failures)
                for text in error.texts
            ),
            *parts,
        ),
        told=(*told(failures, len(board.entries) + len(failures)), *parts),
        cached=evaluated.cached,
    )  # fmt: skip


def _inputs(evaluated: Evaluated, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the files that were read, as the manifest has them."""
    for path, read in sorted(evaluated.inputs.items()):
        unused = evaluated.unused.get(path)
        yield {
            "path": names[path],
            "bytes": read.size,
            "sha256": read.digest,
            **({"unused_columns": unused} if unused else {}),
        }


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


def _without_parts(board: Leaderboard, shown: Leaderboard) -> Iterator[str]:
    """Yield which systems lack a part though no cell of theirs failed."""
    parts = board.summary.parts
    known = {key_of(one, parts) for one in board.failed} if parts else set()
    for one in shown.failed if parts else ():
        if (one.dataset, one.run, tuple(one.columns.items())) not in known:
            where = "".join(f" {name}={value}" for name, value in one.columns.items())
            yield f"{one.run}{where} on {one.dataset}: {one.error}"


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
    counts = ("cell", len(found)), ("metric", len(loaded.parsed_metrics()))
    lines.append(" x ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in counts))
    lacking = gaps.shown(found)
    if lacking:
        lines.append(lacking)
    return "\n".join(lines) + "\n"


_CONFIG = instance_of("the path of a config, or a Config", str, os.PathLike, Config)


def run(
    config: str | Path | Config, *, overrides: Sequence[str] = (), jobs: int = 1,
    scheduler: str | None = None, force: bool = False,
) -> Outcome:  # fmt: skip
    """Evaluate every run that a config names, and write the leaderboard.

    Parameters
    ----------
    config : path or Config
        A YAML file, or what :func:`harness.config.load.load` made of one.
    overrides : sequence of str
        ``"policy.ties=stable"``: values put in place of the file's.
    jobs : int
        Processes on this machine that evaluate.
    scheduler : str, optional
        Address of a Dask scheduler whose workers evaluate.
    force : bool
        Whether to replace files in the output folder that an earlier run did not write, or that
        were edited since.

    Returns
    -------
    Outcome
        Its ``leaderboard`` holds every evaluation; ``folder`` has the files written. Runs that
        could not be evaluated are in ``leaderboard.failed``, with the reason.

    Raises
    ------
    ConfigError
        Where the config is wrong.
    InputError, AlignmentError
        Where no run at all could be evaluated, or the guard finds an error that is not one run's
        alone, or the output folder has files that would be replaced and are not ours. Nothing is
        written then.
    VerificationError
        Where the cross-check finds a difference.
    """
    began = time.time()
    check_arguments(
        locals(),
        config=_CONFIG,
        overrides=TEXTS,
        jobs=whole_from(1),
        scheduler=TEXT.or_none(),
        force=FLAG,
    )
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
        store.locked(loaded.output_folder, paper.FOLDERS),
        store.shared(loaded.cache_folder),
        executor(jobs, scheduler) as pool,
    ):
        folder, cache = loaded.output_folder, Cache(loaded.cache_folder)
        store.check_own(
            folder, output_names(loaded, found), origin.written(folder).own, force=force
        )
        if cache.folder is not None and not force:
            store.check_own(cache.folder, foreign(cache.folder), ())
        evaluated = evaluate_all(loaded, found, cache, pool, jobs)
        return _written(loaded, evaluated, began, force)


def _written(config: Config, evaluated: Evaluated, began: float, force: bool) -> Outcome:
    """Write what was evaluated, and all that is made from it."""
    for text in evaluated.printed:  # before anything can stop it
        warnings.warn(text, HarnessWarning, stacklevel=3)
    outcome, folder = derive(config, evaluated), config.output_folder
    if config.summary.spread and (fewer := incomplete(outcome.board)):
        what = f"{FEWER}: {', '.join(map(str, fewer.values()))}"
        warnings.warn(what, HarnessWarning, stacklevel=3)
    made = paper.files(config, outcome.board, outcome.comparisons, outcome.manifest)
    files = {**outcome.files, **made, MANIFEST: outcome.manifest}
    reported = {problem.where for each in evaluated.failures for problem in each.error.problems}
    for text in changed_since(evaluated.inputs, reported):
        warnings.warn(text, HarnessWarning, stacklevel=3)
    earlier = origin.written(folder)
    store.check_own(folder, [TIMING, *files], earlier.own, force=force)
    drawn = {name: digest for name, digest in earlier.drawn.items() if name not in files}
    if left := [name for name in earlier.edited if name not in files and name != TIMING]:
        what = "of an earlier run, edited since, and no part of these results"
        warnings.warn(f"{folder}: {what}: {', '.join(left)}", HarnessWarning, stacklevel=3)
    timing = manifests.timing(
        began, len(evaluated.entries), evaluated.cached, files, earlier.own, drawn
    )
    store.write_all(folder, {TIMING: timing, **files})
    store.remove(folder, earlier.own.keys() - files.keys() - drawn.keys() - {TIMING})
    return replace(outcome, files=files)


def output_names(loaded: Config, cells: Sequence[Cell]) -> list[str]:
    """Return the files that a run writes into its output folder, as far as the config tells.

    Those of pictures may be more than are drawn: some data do not allow one.
    """
    names = [MANIFEST, TIMING, LEADERBOARD, PER_QUERY]
    names += [CELLS] if loaded.summary else []
    names += [f"leaderboard{find(name).suffix}" for name in loaded.reports]
    names += [comparing.SIGNIFICANCE, comparing.STANDINGS] if loaded.compare is not None else []
    return [*dict.fromkeys([*names, *paper.names(loaded, cells)])]


def compared(comparisons: Comparisons, format: str, **options: Any) -> str:
    """Return the comparisons in the format of a report; nothing where it has none for them.

    Of each metric on each dataset those with the smallest p are shown. Options are the
    rendering's.
    """
    if format not in ("table", "markdown", "html"):
        return ""
    format = "text" if format == "table" else format
    return comparing.render(comparisons, format, most=comparing.SHOWN, **options)
