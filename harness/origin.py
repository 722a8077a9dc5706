"""Where a folder of results came from: its manifest, its config, and the cells it holds."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from .config import Config, loads, sweep
from .config.cells import Cell
from .config.patterns import natural
from .errors import SHOWN, InputError, Problem, UnknownNameError, did_you_mean
from .manifest_format import FORMAT, FROM_CONFIG
from .readers.json_text import parse
from .readers.on_disk import no_permission
from .store import sha256

MANIFEST, TIMING = "manifest.json", "timing.json"
_LISTED = 8
_KEYS = ("config", "base", "inputs", "cells")
_AGAIN = "put the file back, or run the config again and use those results"


def read_bytes(path: Path) -> bytes:
    """Return a file of a folder of results.

    Raises
    ------
    InputError
        Where it is not there or cannot be read.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        folder = path.parent
        if not folder.is_dir():
            raise InputError(_no_folder(folder)) from None
        what = f"the folder holds no {path.name}, so harness run did not write it"
        fix = "give the folder that the config's 'output:' names"
        raise InputError(Problem(str(path.parent), what, fix=fix)) from None
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError(Problem(str(path), what, fix=_AGAIN)) from error


def _no_folder(folder: Path) -> Problem:
    fix = "give the folder that the config's 'output:' names"
    if folder.exists():
        return Problem(str(folder), "is a file, and results are a folder", fix=fix)
    beside = folder.absolute().parent
    names = [one.name for one in beside.iterdir() if one.is_dir()] if beside.is_dir() else []
    near = did_you_mean(folder.name, sorted(names))
    return Problem(str(folder), f"there is no such folder{near}", fix=fix)


def read_manifest(folder: Path, content: bytes | None = None) -> dict[str, Any]:
    """Return the manifest of a folder of results.

    Raises
    ------
    InputError
        Where the folder holds none, or one that is not understood.
    """
    path = folder / MANIFEST
    try:
        found = parse(read_bytes(path) if content is None else content)
    except ValueError as error:
        raise InputError(Problem(str(path), f"cannot be read: {error}", fix=_AGAIN)) from error
    lacking = [key for key in _KEYS if not isinstance(found, dict) or key not in found]
    if lacking:
        what = f"does not say {', '.join(lacking)}: it is none of this version's manifests"
        raise InputError(Problem(str(path), what, fix="run the config again"))
    manifest: dict[str, Any] = found
    _check(manifest, path)
    return manifest


def _check(manifest: Mapping[str, Any], path: Path) -> None:
    """Raise where a manifest is none of those that are described."""
    version = manifest.get("manifest")
    if isinstance(version, int) and version > FORMAT:
        what = f"has format {version}, and this harness knows those to {FORMAT}"
        raise InputError(Problem(str(path), what, fix="update the harness"))
    from .provenance import Manifest  # 20 ms, and most runs read none

    try:
        Manifest.model_validate(manifest)
    except ValidationError as error:
        problems = [
            Problem(f"{path}: $.{'.'.join(map(str, one['loc']))}", one["msg"].lower())
            for one in error.errors()
        ]
        raise InputError(problems[:SHOWN], total=len(problems)) from None


def written(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of the files that earlier runs wrote into a folder, by name.

    Those of values are in the manifest, tables and pictures beside them in ``timing.json``. What
    either does not say is left out: nothing depends on it but what is removed.
    """
    found: dict[str, str] = {}
    for name, keys in ((MANIFEST, ("outputs",)), (TIMING, ("removed", "files"))):
        with contextlib.suppress(OSError, ValueError):
            content = parse((folder / name).read_bytes())
            for key in keys if isinstance(content, dict) else ():
                some = content.get(key)
                found |= some if isinstance(some, dict) else {}
    return {name: digest for name, digest in found.items() if isinstance(digest, str)}


def root_of(folder: Path, manifest: Mapping[str, Any]) -> Path:
    """Return the folder that paths of inputs start from: the config's, which has any name."""
    base: Path = (folder / manifest["base"]).resolve()
    return base if manifest["manifest"] >= FROM_CONFIG else base.parent


def with_inputs(manifest: Mapping[str, Any], base: Path | None) -> Mapping[str, Any]:
    """Return a manifest whose paths start from another folder, where one is given.

    Raises
    ------
    InputError
        Where it is none.
    """
    if base is None:
        return manifest
    if not base.is_dir():
        fix = "give the folder that the config's paths start from: its own"
        raise InputError(Problem(str(base), "is no folder", fix=fix))
    return {**manifest, "base": str(base.absolute())}


def again(
    folder: Path, manifest: Mapping[str, Any], overrides: Iterable[str] = (), *,
    failed: bool = False, gone: bool = False,
) -> tuple[Config, list[Cell]]:  # fmt: skip
    """Return the config that made the results, and the cells evaluated then.

    Parameters
    ----------
    folder : Path
        Of the results.
    manifest : mapping
    overrides : iterable of str
        ``"policy.ties=stable"``: values put in place of the config's.
    failed : bool
        Whether those that could not be evaluated are wanted too.
    gone : bool
        Whether it is none of the caller's concern that no input is where it was.

    Raises
    ------
    InputError
        Where none of its inputs is where it was, seen from the folder: that was moved alone.
    ConfigError
        Where the files that it names are not there any more.
    """
    root = root_of(folder, manifest)
    if not gone and not any((root / each["path"]).exists() for each in manifest["inputs"]):
        what = f"the inputs of these results are not where they were, seen from {folder}"
        listed = ", ".join(str(root / each["path"]) for each in manifest["inputs"][:3])
        fix = "move the folder back to its place, or its inputs along with it"
        fix += "; to verify and why, --inputs says where the config's paths start from now"
        raise InputError(Problem(str(folder / MANIFEST), what, f"no file {listed}", fix=fix))
    text = yaml.safe_dump(manifest["config"], allow_unicode=True, sort_keys=False)
    config = loads(text, str(folder / MANIFEST), folder / manifest["base"], overrides)
    then = [*manifest["cells"], *(manifest.get("failed", ()) if failed else ())]
    known = {_identity(each, each.get("columns", {})) for each in then}
    cells = [
        cell
        for cell in sweep.resolve(config)
        if _identity({"dataset": cell.dataset, "run": cell.run}, cell.columns) in known
    ]
    return config, cells


def _identity(names: Mapping[str, Any], columns: Mapping[str, str]) -> tuple[Any, ...]:
    return (names["dataset"], names["run"], *columns.items())


def changes(
    folder: Path, manifest: Mapping[str, Any], only: Iterable[str] | None = None
) -> Iterator[Problem]:
    """Yield the inputs that are gone or hold other bytes than those that were evaluated.

    Parameters
    ----------
    folder : Path
        Of the results.
    manifest : mapping
    only : iterable of str, optional
        Paths of the inputs to look at; all of them where left out.
    """
    root = root_of(folder, manifest)
    wanted = None if only is None else {Path(path).resolve() for path in only}
    for each in manifest["inputs"]:
        path = Path(os.path.normpath(root / each["path"]))
        if wanted is not None and path.resolve() not in wanted:
            continue
        if not path.is_file():
            what = "is gone; the results were computed from it"
            yield Problem(str(path), what, fix=_AGAIN)
            continue
        try:
            now = sha256(path)
        except PermissionError:
            yield no_permission(str(path)).problems[0]
            continue
        if now != each["sha256"]:
            what = (
                f"has changed since the results were computed: sha256 {each['sha256'][:12]}... "
                f"then, {now[:12]}... now"
            )
            yield Problem(str(path), what, fix=_AGAIN)


def check_inputs(
    folder: Path, manifest: Mapping[str, Any], only: Iterable[str] | None = None
) -> None:
    """Raise InputError with every input that is gone or has changed; see :func:`changes`."""
    problems = list(changes(folder, manifest, only))
    if problems:
        raise InputError(problems)


def one_cell(
    cells: Sequence[Cell], run: str, dataset: str | None = None, columns: Sequence[str] = ()
) -> Cell:
    """Return the one cell that is meant.

    Parameters
    ----------
    cells : sequence of Cell
    run, dataset : str
        Names as they stand in the leaderboard; the dataset's where there are several.
    columns : sequence of str
        ``"seed=1"``: what placeholders captured, where the names do not tell the cell.

    Raises
    ------
    UnknownNameError
        Where there is no such cell, or there are several.
    """
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
    some = [cell for cell in some if dataset in (None, cell.dataset)]
    check_columns([cell.columns for cell in some], columns)
    wanted = columns_of(columns)
    found = [
        cell
        for cell in some
        if all(cell.columns.get(name) == value for name, value in wanted.items())
    ]
    if len(found) == 1:
        return found[0]
    listed = "; ".join(map(name_of, (found or some)[:_LISTED]))
    more = len(found or some) - _LISTED
    listed += f"; and {more} more" if more > 0 else ""
    raise UnknownNameError(
        f"{len(found)} cells fit, where one is needed: name its --dataset, and its columns as in "
        f"--where seed=1  (there are: {listed})"
    )


def check_columns(seen: Sequence[Mapping[str, str]], texts: Iterable[str]) -> None:
    """Raise UnknownNameError where no cell has a column, or no cell a value.

    Parameters
    ----------
    seen : sequence of mapping
        The columns of each cell; nothing is said where there is no cell.
    texts : iterable of str
        ``NAME=VALUE``.
    """
    names = dict.fromkeys(name for columns in seen for name in columns)
    for name, value in columns_of(texts).items() if seen else ():
        if name not in names:
            there = f"there are: {', '.join(names)}" if names else "there are none"
            raise UnknownNameError(f"no column '{name}'{did_you_mean(name, names)}  ({there})")
        values = sorted({columns[name] for columns in seen if name in columns}, key=natural)
        if value not in values:
            listed = ", ".join(values[:_LISTED]) + ", ..." * (len(values) > _LISTED)
            raise UnknownNameError(
                f"no {name} {value}{did_you_mean(value, values)}; there are {listed}"
            )


def columns_of(texts: Iterable[str]) -> dict[str, str]:
    """Return ``NAME=VALUE`` by name.

    Raises
    ------
    UnknownNameError
        Where one is written in another way.
    """
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UnknownNameError(f"--where {text}: write it as NAME=VALUE, such as seed=1")
        found[name] = value
    return found


def name_of(cell: Cell) -> str:
    """Return what a cell is called in messages: ``gbrt on letor-fold1, fold=1, seed=2``."""
    columns = "".join(f", {name}={value}" for name, value in cell.columns.items())
    return f"{cell.run} on {cell.dataset}{columns}"
