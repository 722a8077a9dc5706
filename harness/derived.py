"""What follows from evaluated cells: leaderboards, comparisons, files of values, the manifest."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import manifest as manifests
from . import store
from .cells.as_read import Input
from .cells.failures import Failure, as_one, as_printed, by_cause, named, told
from .cells.flow import Evaluated
from .cells.key import sources
from .cells.plugged import installed_code
from .comparing.csv import files as comparison_files
from .config import Config
from .core.comparison import Comparisons
from .core.leaderboard import Failed, Leaderboard
from .core.pooling import key_of, lacking
from .errors import HarnessError, HarnessWarning
from .guard.finding import Finding
from .reports import find
from .results import CELLS, LEADERBOARD, PER_QUERY, compare, systems


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
