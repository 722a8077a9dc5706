"""Where judgements and a run come from: two files, or a folder of results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import origin, readers
from ..core.tables import Qrels, Run


def from_results(
    folder: Path, run: str, dataset: str | None = None, columns: Sequence[str] = ()
) -> tuple[Qrels, Run, str]:
    """Read the inputs of one cell of a leaderboard.

    Parameters
    ----------
    folder : Path
        Where ``harness run`` wrote its results.
    run, dataset, columns
        Which cell is meant; see :func:`harness.origin.one_cell`.

    Returns
    -------
    qrels, run, what it is

    Raises
    ------
    InputError
        Where the folder holds no results, or their inputs are not there or have changed.
    UnknownNameError
        Where there is no such cell, or there are several.
    """
    manifest = origin.read_manifest(folder)
    _, cells = origin.again(folder, manifest)
    cell = origin.one_cell(cells, run, dataset, columns)
    paths = (cell.dataset_entry.path, cell.run_entry.path)
    origin.check_inputs(folder, manifest, only=paths)
    qrels = readers.read_qrels(
        cell.dataset_entry.path, name=cell.dataset, fractions=True, **cell.dataset_entry.options()
    )
    scores = readers.read_run(
        cell.run_entry.path, dataset=qrels, name=cell.run, **cell.run_entry.options()
    )
    return qrels, scores, origin.name_of(cell)
