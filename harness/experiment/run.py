"""The flow of an experiment: evaluate all cells, summarise, compare, render, write."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path

from ..config import load as configs
from ..config.cells import Cell, missing_text, resolve
from ..config.checks import reported_names
from ..config.model import Config
from ..core.arguments import FLAG, TEXT, TEXTS, check_arguments, instance_of, whole_from
from ..core.leaderboard import Leaderboard
from ..core.names import compared
from ..core.selection import select
from ..core.systems import dataset_name, incomplete, system_key, systems_of
from ..errors import Finding, HarnessError, counted, first_of, warn, warning_of_errors
from ..guard.datasets import reversals
from ..guard.findings import accept_findings
from ..input_files import add_inputs, check_outputs, keeping_inputs, name_of
from ..readers import files
from ..reports import comparisons as comparing
from ..reports import html
from ..reports.grid import grid
from ..reports.leaderboard import REPORTS, as_csv, render_leaderboard
from ..reports.notes import missing_repetitions
from ..reports.paper_table.settings import SUFFIXES
from ..reports.plots import plot as plots
from ..reports.text import render as render_text
from ..stats.comparison import Plan, too_many
from . import manifest as manifests
from .cache import Cache, group_sizes_of
from .crosscheck import skipped
from .evaluate_all import as_one, evaluate_all, executor
from .manifest import Manifest
from .results import (
    CELLS,
    LEADERBOARD,
    MANIFEST,
    PAGE,
    PLOTS,
    RENDERED,
    TIMING,
    Results,
    render_comparisons,
    timing_of,
    with_comparisons,
    written,
)

_CONFIG = instance_of("the path of a config, or a Config", str, os.PathLike, Config)


def run(
    config: str | Path | Config,
    *,
    overrides: Sequence[str] = (),
    jobs: int = 1,
    scheduler: str | None = None,
    worker_timeout: int | None = None,
    force: bool = False,
) -> Results:
    """Evaluate every run of a config, and write the leaderboard and reports.

    Parameters
    ----------
    config : path or Config
        A YAML file, or a config in memory (`harness.config.load.load`).
    overrides : sequence of str
        Values that replace those of the config, such as ``"policy.ties=stable"``.
    jobs : int
        Number of worker processes on this machine.
    scheduler : str, optional
        Address of a Dask scheduler; its workers evaluate the runs.
    worker_timeout : int, optional
        Seconds to wait if the scheduler has no worker; 600 by default.
    force : bool
        Replace files in the output folder that the harness did not write, or that were edited.

    Returns
    -------
    Results
        ``rows`` and ``to_pandas()`` have the leaderboard, ``comparisons`` the tests,
        ``folder`` the path of the files, and ``leaderboard.failed`` the runs that could not be
        evaluated, with the reason.

    Raises
    ------
    ConfigError
        If the config is wrong.
    InputError, AlignmentError
        If every run failed, the guard finds an error between files, or files in the output
        folder would be replaced without `force`. No file is written then.
    VerificationError
        If the cross-check finds a difference.
    """
    began = time.time()
    check_arguments(
        locals(),
        config=_CONFIG,
        overrides=TEXTS,
        jobs=whole_from(1),
        scheduler=TEXT.or_none(),
        worker_timeout=whole_from(1).or_none(),
        force=FLAG,
    )
    with keeping_inputs():
        loaded = config if isinstance(config, Config) else configs.load(config, overrides=overrides)
        if scheduler is not None:
            loaded = loaded.from_anywhere()
        cells = resolve(loaded)
        known = [missing_text(cells), skipped(loaded.crosscheck)]
        if loaded.compare is not None:
            known.append(_many_tests(loaded, loaded.compare, cells))
        for text in filter(None, known):
            warn(text)
        add_inputs(*loaded.files())
        for cell in cells:
            dataset = cell.dataset_entry
            add_inputs(dataset.path, *filter(None, [group_sizes_of(dataset)]), *cell.run_files)
        with _held_folders(loaded, force), executor(jobs, scheduler, worker_timeout) as pool:
            with warning_of_errors():
                results = evaluate_all(loaded, cells, Cache(loaded.cache_folder), pool)
            for finding in results.shown:
                warn(finding)
            results = render(summarise(results, cells))
            return write(results, began, force=force)


def _many_tests(config: Config, plan: Plan, cells: Sequence[Cell]) -> str:
    """Return a warning of many tests, before any cell is evaluated; empty if there are few."""
    datasets, runs = reported_names(config, cells)
    n_metrics = len(compared(config.parsed_metrics(), plan.metrics))
    return too_many(plan, len(runs), len(datasets), n_metrics)


@contextlib.contextmanager
def _held_folders(config: Config, force: bool) -> Iterator[None]:
    """Lock the output folders of a run; HarnessError, before any work, if that is not possible."""
    folder, cache_folder = config.output_folder, config.cache_folder
    files.check_writable(folder)
    if cache_folder and not config.cache:  # a link must not lead its records out of the results
        files.below(folder, f"{cache_folder.name}/records")
    if config.plots:
        plots.check_installed()
    with files.locked(folder, RENDERED):
        if cache_folder is not None:  # other runs may write to it now
            folders = cache_folder, *cache_folder.glob(files.RECORDS)
            files.remove_unfinished(*folders, age=files.ABANDONED)
        names = [MANIFEST, TIMING, LEADERBOARD, manifests.PER_QUERY]  # which each run writes
        planned = [*names, CELLS, comparing.SIGNIFICANCE, comparing.STANDINGS]
        planned += [
            PAGE if name == "page" else f"leaderboard{REPORTS[name]}" for name in config.reports
        ]
        for name, table in config.tables.items():
            planned += [f"tables/{name}{SUFFIXES[format]}" for format in table.formats]
        check_outputs(folder, planned)  # but for pictures, whose names follow from the results
        files.check_own(folder, names, written(folder)[0], force=force)
        yield


def plan(config: str | Path, *, overrides: Sequence[str] = ()) -> str:
    """Return the cells of a config as text, without evaluating any."""
    loaded = configs.load(config, overrides=overrides)
    cells = resolve(loaded)
    names = list(dict.fromkeys(name for cell in cells for name in cell.columns))
    header, rows = ["dataset", "run", *names, "qrels path", "run path"], []
    for cell in cells:
        captured = [cell.columns.get(name, "") for name in names]
        paths = cell.dataset_entry.path, " + ".join(cell.run_files)
        rows.append([cell.dataset, cell.run, *captured, *paths])
    size = f"{counted(len(cells), 'cell')} x {counted(len(loaded.parsed_metrics()), 'metric')}"
    table = render_text([grid(header, rows, left=len(header))])
    lines = [table, size, missing_text(cells)]
    return "\n".join(lines).rstrip("\n") + "\n"


def summarise(evaluated: Results, cells: Sequence[Cell]) -> Results:
    """Choose settings, summarise and compare; HarnessError if no cell could be evaluated."""
    config, cells_board = evaluated.config, evaluated.board
    if cells_board.failed and not cells_board.entries:
        raise as_one(cells_board.failed)
    board = cells_board if config.select is None else select(cells_board, config.select)
    results = replace(evaluated, board=board)
    rows = results.leaderboard
    results = with_comparisons(results) if config.compare is not None else results
    reversals = _reversals(evaluated, board, cells) if cells_board.groups else ()
    errors = list[str]()
    if cells_board.failed:
        errors += as_one(cells_board.failed).texts
    if board.selection is not None or board.summary.parts:
        errors += _incomplete(board, rows)
    return replace(
        results, summarised=rows, findings=(*evaluated.findings, *reversals), errors=tuple(errors)
    )


def _reversals(evaluated: Results, board: Leaderboard, cells: Sequence[Cell]) -> Iterator[Finding]:
    """Yield pairs of systems in reversed order in every group of queries."""
    config, entries = evaluated.config, evaluated.board.entries
    file = {cell.dataset: cell.dataset_entry.path for cell in cells}
    places = {dataset_name(entry, config.summary): file[entry.dataset] for entry in entries}
    paths = manifests.Paths(places.values(), config.base)
    findings = accept_findings(reversals(systems_of(board), places), config.guard.accept)
    yield from map(paths.placed_finding, findings)


def _incomplete(board: Leaderboard, rows: Leaderboard) -> Iterator[str]:
    """Yield systems with missing parts although none of their cells failed."""
    absent = [] if board.selection is None else [*board.selection.absent]
    if board.summary.parts:
        keys = {system_key(failed, board.summary) for failed in board.failed}
        absent += [failed for failed in rows.failed if failed.key not in keys]
    for failed in absent:
        yield f"{failed.key.run_with_columns} on {failed.dataset}: {failed.error}"


def render(results: Results, provenance: Manifest | None = None) -> Results:
    """Render the files of values, the reports and the manifest.

    The report page shows `provenance`, the manifest of an earlier run, or the new manifest.
    """
    contents, board = _files(results), results.board
    outputs = files.hashes_of(contents)
    manifest = results.manifest.model_copy(
        update={
            "choices": manifests.chosen_settings(board.selection) if board.selection else (),
            "findings": results.findings,
            "outputs": outputs,
        }
    )
    if "page" in results.config.reports:
        from .page import page_files  # which loads SciPy

        pages = page_files(replace(results, manifest=provenance or manifest, files=contents))
        outputs |= files.hashes_of(pages)
        contents |= pages
    trace = sha256(manifests.as_bytes(manifest)).hexdigest()
    return replace(results, files=contents, manifest=manifest, trace=trace)


def _files(results: Results) -> dict[str, bytes]:
    """Return the files of values and the reports, but for the page, by name."""
    config, rows, comparisons = results.config, results.leaderboard, results.comparisons
    contents = {LEADERBOARD: as_csv(rows, comparisons=comparisons).encode()}
    grouped = any(dataset.groups is not None for dataset in config.datasets.values())
    if config.summary or config.select or grouped:  # else the leaderboard's rows are the cells
        contents[CELLS] = as_csv(results.cells).encode()
    for name in (name for name in config.reports if name not in ("csv", "page")):
        text = render_leaderboard(rows, name)
        if name == "html":
            text += "" if comparisons is None else render_comparisons(comparisons, name)
            text = html.document(config.name, text)
        contents[f"leaderboard{REPORTS[name]}"] = text.encode()
    contents[manifests.PER_QUERY] = files.parquet(
        results.cells.per_query_parts(), {manifests.SCHEMA: manifests.PER_QUERY_SCHEMA}
    )
    return contents if comparisons is None else contents | comparing.files(comparisons)


def write(results: Results, began: float, *, force: bool) -> Results:
    """Write the files of results, their tables and plots; remove those of earlier runs."""
    config, folder, board = results.config, results.folder, results.board
    notes = [] if board.selection is None else [*board.selection.notes(board.selection.choices)]
    if config.summary.spread and (fewer := incomplete(board)):
        failures = {row.run for row in board.failed}  # with errors of their own
        notes += missing_repetitions(gap for gap in fewer if gap.run not in failures)
    kind = "reversal", "warning"
    notes += [
        finding.message for finding in results.findings if (finding.rule, finding.severity) == kind
    ]
    contents = dict(results.files)
    if config.tables or config.plots:
        contents |= tables_and_plots(results)
    contents[MANIFEST] = manifests.as_bytes(results.manifest)  # last: the others belong to it
    written_before, edited = written(folder)
    by_run = timing_of(folder).get("files", {})
    files.check_own(folder, [TIMING, *contents], written_before, force=force)
    if left := [name for name in edited if name not in contents and name != TIMING]:
        message = "kept edited files of an earlier run, which are not part of these results"
        notes.append(f"{name_of(folder)}: {message}: {', '.join(left)}")
    for text in notes:
        warn(text)
    timing = {
        "began": datetime.fromtimestamp(began, timezone.utc).isoformat(timespec="seconds"),
        "seconds": max(0.0, round(time.time() - began, 3)),  # the clock may have been set back
        "cells": len(results.cells.entries),
        "from_cache": results.cached,
        "files": files.hashes_of(contents),
        "earlier": written_before,  # if this run is killed now, the next one knows whose they are
    }
    text = json.dumps(timing, indent=1) + "\n"
    files.write_all(folder, {TIMING: text.encode(), **contents})
    gone = written_before.keys() - contents.keys() - {TIMING}
    pages = {name for name in gone - by_run.keys() if name.endswith((".html", ".js"))}
    pictures = {name for name in gone if name.startswith(f"{PLOTS}/")}
    files.remove(folder, gone - pages - pictures)  # which commands have added since
    return replace(results, files=contents)


def evaluate_again(results: Results, names: Sequence[str]) -> Results:
    """Return results with further metrics, for a plot; HarnessError if a file has changed since."""
    config = results.config
    update = {"metrics": (*config.metrics, *names), "crosscheck": "none"}
    again = config.model_copy(update=update)
    evaluated = evaluate_all(again, resolve(again), Cache(again.cache_folder))
    now, then = (
        {(one.path, one.sha256) for one in of.manifest.inputs} for of in (evaluated, results)
    )
    if changed := sorted(path for path, _ in now - then):
        what = f"{first_of(changed, 3)} changed since it was evaluated"
        raise HarnessError(what, fix="run the config again")
    board = evaluated.board
    return replace(
        evaluated, board=board if config.select is None else select(board, config.select)
    )


def tables_and_plots(results: Results) -> dict[str, bytes]:
    """Return the tables and pictures that a config asks for, by path in the folder of results.

    They contain the hash of the manifest, so the manifest cannot contain theirs.
    """
    config, contents = results.config, dict[str, bytes]()
    if config.tables:
        from ..reports.paper_table.build import render_all  # which loads SciPy

        contents |= render_all(results, config.tables)
    if config.plots:
        drawn = plots.render_all(results, config.plots)
        contents |= {f"{PLOTS}/{name}": content for name, content in drawn.items()}
    return contents
