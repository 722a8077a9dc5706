"""Where judgements and a run come from: two files, or a folder of results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import readers
from ..config import Config, loads, sweep
from ..config.cells import Cell
from ..core.tables import Qrels, Run
from ..errors import ConfigError, InputError, Problem, UnknownNameError, did_you_mean
from ..store import sha256

MANIFEST = "manifest.json"


def from_results(
    folder: Path, run: str, dataset: str | None = None, columns: Sequence[str] = ()
) -> tuple[Qrels, Run, str]:
    """Read the inputs of one cell of a leaderboard.

    Parameters
    ----------
    folder : Path
        Where ``harness run`` wrote its results.
    run, dataset : str
        Names as they stand in the leaderboard; the dataset's where there are several.
    columns : sequence of str
        ``"seed=1"``: what placeholders captured, where the names do not tell the cell.

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
    manifest = _read(folder)
    config = _located(folder, manifest)
    cell = _cell(sweep.resolve(config), run, dataset, columns)
    root = config.base.resolve().parent
    recorded = {(root / each["path"]).resolve(): each["sha256"] for each in manifest["inputs"]}
    for path in (Path(cell.dataset_entry.path), Path(cell.run_entry.path)):
        if recorded.get(path.resolve()) != sha256(path):
            what = "is not the file that the results were computed from"
            raise InputError(
                Problem(str(path), what, fix="run the config again, or name two files")
            )
    qrels = readers.read_qrels(
        cell.dataset_entry.path, name=cell.dataset, fractions=True, **cell.dataset_entry.options()
    )
    scores = readers.read_run(
        cell.run_entry.path, dataset=qrels, name=cell.run, **cell.run_entry.options()
    )
    return qrels, scores, _name(cell)


def _read(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        what = "no file" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
        fix = "name a folder that harness run wrote, or give QRELS and RUN"
        raise InputError(Problem(str(path), what, fix=fix)) from error
    return manifest


def _located(folder: Path, manifest: Mapping[str, Any]) -> Config:
    """Return the config of the results, at the place that its paths start from.

    The manifest names no place on this machine: inputs start from the folder that holds the
    config's own, so that is looked for above the results and here.
    """
    inputs = [each["path"] for each in manifest["inputs"]]
    text = json.dumps(manifest["config"])
    for base in _bases(folder, manifest["config"]["output"]):
        root = base.resolve().parent
        if all((root / path).exists() for path in inputs):
            try:
                return loads(text, f"{folder / MANIFEST} ($.config)", base)
            except ConfigError:
                continue
    what = f"the inputs of these results were not found: {', '.join(inputs[:3])}"
    raise InputError(
        Problem(str(folder), what, fix="move the folder back to its place, or give QRELS and RUN")
    )


def _bases(folder: Path, output: str) -> Iterator[Path]:
    """Yield folders that a config which writes `output` into `folder` can be in."""
    places = [*folder.resolve().parents, Path.cwd(), *Path.cwd().parents]
    for place in dict.fromkeys(places):
        if (place / output).resolve() == folder.resolve():
            yield place
        yield from (each for each in sorted(place.glob("*/")) if _writes(each, output, folder))
    for place in dict.fromkeys(places[:3]):
        yield from (each for each in sorted(place.glob("*/")) if not each.name.startswith("."))


def _writes(base: Path, output: str, folder: Path) -> bool:
    return (base / output).resolve() == folder.resolve()


def _cell(cells: Sequence[Cell], run: str, dataset: str | None, columns: Sequence[str]) -> Cell:
    runs = dict.fromkeys(cell.run for cell in cells)
    if run not in runs:
        known = ", ".join(runs)
        raise UnknownNameError(
            f"no run '{run}' in these results{did_you_mean(run, runs)}  (there are: {known})"
        )
    some = [cell for cell in cells if cell.run == run]
    datasets = dict.fromkeys(cell.dataset for cell in some)
    if dataset is not None and dataset not in datasets:
        known = ", ".join(datasets)
        raise UnknownNameError(
            f"run {run} is not on a dataset '{dataset}'{did_you_mean(dataset, datasets)}"
            f"  (it is on: {known})"
        )
    wanted = dict(_column(text) for text in columns)
    found = [
        cell
        for cell in some
        if dataset in (None, cell.dataset)
        and all(cell.columns.get(name) == value for name, value in wanted.items())
    ]
    if len(found) == 1:
        return found[0]
    listed = "; ".join(map(_name, (found or some)[:8]))
    raise UnknownNameError(
        f"{len(found)} cells fit, where one is needed: name its --dataset, and its columns as in "
        f"--where seed=1  (there are: {listed})"
    )


def _column(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UnknownNameError(f"--where {text}: write it as NAME=VALUE, such as seed=1")
    return name, value


def _name(cell: Cell) -> str:
    columns = "".join(f", {name}={value}" for name, value in cell.columns.items())
    return f"{cell.run} on {cell.dataset}{columns}"
