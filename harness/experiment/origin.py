"""Where a folder of results came from: its manifest, its config, and the cells it holds."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from ..config import sweep as sweep
from ..config.cells import Cell
from ..config.load import loads
from ..config.model import Config
from ..config.patterns import natural
from ..core.leaderboard import Entry, Failed
from ..errors import SHOWN, HarnessError, InputError, Problem, UnknownNameError, did_you_mean
from ..files import compare_recorded, sha256
from ..readers.json_dict import parse
from ..readers.source import no_permission
from .manifest import FORMAT, FROM_CONFIG, Manifest

MANIFEST, TIMING = "manifest.json", "timing.json"
C = TypeVar("C", Cell, Entry)
_LISTED = 8
RULE = "damaged-results"
"""Of every error that says that files of a folder of results do not belong together."""
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
_AGAIN = "put the file back, or run the config again and use those results"


def misfit(path: Path, what: str, line: int = 0) -> InputError:
    """Return the error of a file of results that does not fit its manifest, or is damaged."""
    where = f"{path}:{line}" if line else str(path)
    return InputError(Problem(where, what, fix=_AGAIN, rule=RULE))


def read_bytes(path: Path) -> bytes:
    """Return a file of a folder of results.

    Raises
    ------
    InputError
        Where it is not there, cannot be read, or is no regular file: a pipe would never end.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            what = f"expected a regular file, got {_KINDS.get(stat.S_IFMT(mode), 'a device')}"
            raise misfit(path, what)
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        folder = path.parent
        fix = "give the folder that the config's 'output:' names"
        if folder.is_dir():
            what = f"the folder holds no {path.name}, so harness run did not write it"
        elif folder.exists():
            what = "is a file, and results are a folder"
        else:
            above = folder.absolute().parent
            names = sorted(one.name for one in above.glob("*") if one.is_dir())
            what = f"there is no such folder{did_you_mean(folder.name, names)}"
        raise InputError(Problem(str(folder), what, fix=fix)) from None
    except OSError as error:
        raise misfit(path, f"cannot be read: {error.strerror}") from error


def read_manifest(folder: Path, content: bytes | None = None) -> dict[str, Any]:
    """Return the manifest of a folder of results.

    Raises
    ------
    InputError
        Where the folder holds none, or one that is not understood.
    """
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = parse(read_bytes(path) if content is None else content)
    except ValueError as error:
        raise misfit(path, f"cannot be read: {error}") from error
    version = manifest.get("manifest") if isinstance(manifest, dict) else None
    if isinstance(version, int) and version > FORMAT:
        what = f"has format {version}, and this harness knows those to {FORMAT}"
        raise InputError(Problem(str(path), what, fix="update the harness"))
    try:
        Manifest.model_validate(manifest)
    except ValidationError as error:
        raise schema_error(path, error) from None
    cells = [*manifest["cells"], *manifest.get("failed", ())]
    names = Counter(_identity(each, each.get("columns", {})) for each in cells)
    (dataset, run, *_), n = names.most_common(1)[0]
    if n > 1:
        raise misfit(path, f"expected each cell once, got {run} on {dataset} twice")
    return manifest


def schema_error(path: Path, error: ValidationError, below: str = "$") -> InputError:
    """Return the error of a manifest whose values are missing or of another type."""
    problems = [
        Problem(
            f"{path}: {'.'.join([below, *map(str, one['loc'])])}", one["msg"].lower(), fix=_AGAIN,
            rule=RULE,
        )
        for one in error.errors()
    ]  # fmt: skip
    return InputError(problems[:SHOWN], total=len(problems))


@dataclass(frozen=True)
class Written:
    """What earlier commands wrote into a folder of results.

    Parameters
    ----------
    own : mapping of str to str
        SHA-256 of the files that still hold what was written to them, by name.
    edited : tuple of str
        Files that hold something else now.
    drawn : mapping of str to str
        Pictures among `own` that ``harness plot`` drew, which no run removes.
    """

    own: Mapping[str, str]
    edited: tuple[str, ...]
    drawn: Mapping[str, str]


def written(folder: Path) -> Written:
    """Return what earlier commands wrote into a folder of results.

    ``timing.json`` is the first file that a run writes, and has the hashes of all that it writes
    and replaces: so the next run knows them even if this one is killed. The manifest has those of
    values, and counts as written by us if there is no ``timing.json``.
    """
    recorded: defaultdict[str, set[str]] = defaultdict(set)
    drawn: set[str] = set()
    for name, needed, keys in (
        (TIMING, {"seconds", "files"}, ("files", "earlier", "drawn")),
        (MANIFEST, {"config", "base", "inputs", "cells"}, ("outputs",)),
    ):
        with contextlib.suppress(HarnessError, ValueError, AttributeError):
            data = read_bytes(folder / name)
            content = parse(data)
            if not needed <= content.keys():
                continue
            recorded[name] = recorded[name] or {hashlib.sha256(data).hexdigest()}
            for key in keys:
                hashes = content[key] if isinstance(content.get(key), dict) else {}
                for one, digest in hashes.items():
                    recorded[one].add(str(digest))
                if key == "drawn":
                    drawn |= hashes.keys()
    own, edited = compare_recorded(folder, recorded)
    return Written(
        own,
        tuple(name for name in edited if name not in drawn),
        {name: own[name] for name in sorted(own.keys() & drawn)},
    )


def record_drawn(folder: Path, files: Mapping[str, bytes]) -> bytes:
    """Return ``timing.json`` of a folder of results with pictures that ``harness plot`` drew."""
    content: dict[str, Any] = {"began": None, "seconds": None, "files": {}}  # not known
    with contextlib.suppress(OSError, ValueError):
        content = parse((folder / TIMING).read_bytes())
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    earlier = written(folder)
    content = {
        **content, "earlier": earlier.own, "drawn": {**earlier.drawn, **hashes},
    }  # fmt: skip
    return (json.dumps(content, indent=1) + "\n").encode()


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
    failed: bool = False, gone: bool = False, load_plugins: bool = False,
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
    load_plugins : bool
        Whether the plugins that the config names are run.

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
    base = folder / manifest["base"]
    config = loads(text, str(folder / MANIFEST), base, overrides, load_plugins=load_plugins)
    then = [*manifest["cells"], *(manifest.get("failed", ()) if failed else ())]
    known = {_identity(each, each.get("columns", {})) for each in then}
    cells = [
        cell
        for cell in sweep.resolve(config)
        if _identity({"dataset": cell.dataset, "run": cell.run}, cell.columns) in known
    ]
    return config, cells


def refuse_plugins(folder: Path, manifest: Mapping[str, Any], fix: str) -> None:
    """Raise InputError if metrics of results can only be computed by running their plugins.

    Parameters
    ----------
    folder : Path
        Of the results.
    manifest : mapping
    fix : str
        What to do instead.
    """
    names = manifest["config"].get("plugins")
    if names:
        got = ", ".join(map(str, names)) if isinstance(names, list) else str(names)
        what = "expected results that need no code of their own, got plugins that would be run: "
        raise InputError(Problem(str(folder / MANIFEST), what + got, fix=fix))


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
    cells: Sequence[C], run: str, dataset: str | None = None, columns: Sequence[str] = ()
) -> C:
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
    some = list(cells)
    for what, name in (("run", run), ("dataset", dataset)):
        names = dict.fromkeys(getattr(cell, what) for cell in some)
        if name is not None and name not in names:
            text, there = f"no run '{name}' in these results", "there are"
            if what == "dataset":
                text, there = f"run {run} is not on a dataset '{name}'", "it is on"
            near = did_you_mean(name, names)
            raise UnknownNameError(f"{text}{near}  ({there}: {', '.join(names)})")
        some = [cell for cell in some if name in (None, getattr(cell, what))]
    check_columns([cell.columns for cell in some], columns)
    found = [cell for cell in some if columns_of(columns).items() <= cell.columns.items()]
    if len(found) == 1:
        return found[0]
    listed = "; ".join(map(name_of, (found or some)[:_LISTED]))
    if (more := len(found or some) - _LISTED) > 0:
        listed += f"; and {more} more"
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


def name_of(cell: Cell | Entry | Failed) -> str:
    """Return what a cell is called in messages: ``gbrt on letor-fold1, fold=1, seed=2``."""
    columns = "".join(f", {name}={value}" for name, value in cell.columns.items())
    return f"{cell.run} on {cell.dataset}{columns}"
