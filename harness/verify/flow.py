"""A folder of results, derived anew from its inputs and compared."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

from .. import manifest as manifests
from .. import origin, paper, store
from ..cells.cache import Cache
from ..cells.executors import executor
from ..cells.failures import as_one
from ..cells.flow import Evaluated, evaluate_all
from ..cells.naming import Naming
from ..config import Config
from ..config.cells import Cell
from ..config.patterns import as_if_there
from ..derived import Derived, derive
from ..errors import HarnessError, HarnessWarning, ShortageError
from ..manifest import PICTURES
from ..origin import MANIFEST, TIMING
from ..results import CELLS, LEADERBOARD
from . import partly, recorded
from .changed import changed_of, with_metrics
from .files import Compared, compare
from .findings import Cause, Difference, Verification

_SHOWN = 5
_GONE = "gone"
_MOVED = (
    "inputs are gone: if they or the results were moved, --inputs FOLDER says where the config's "
    "paths start from now"
)


def verify(
    folder: Path, *, jobs: int = 1, scheduler: str | None = None, inputs: Path | None = None
) -> Verification:
    """Derive every number of a folder of results anew, and compare all digits.

    Inputs are hashed; every cell is evaluated from its files, none taken from a cache; summaries,
    counts, comparisons, standings and tables are made again and compared byte for byte, values
    in Parquet bit by bit. Pictures are compared where matplotlib is the same version.

    Parameters
    ----------
    folder : Path
        What ``harness run`` wrote.
    jobs, scheduler
        Where cells are evaluated, as in :func:`harness.run`.
    inputs : Path, optional
        The folder from which the config's paths start, where that or the results were moved.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        Where the folder holds no results, or none of its inputs is where it was.
    """
    content = origin.read_bytes(folder / MANIFEST)
    manifest = origin.with_inputs(origin.read_manifest(folder, content), inputs)
    found = Verification(folder, versions=tuple(recorded.versions(manifest)))
    gone = [path for path, _ in _paths(folder, manifest) if not path.is_file()]
    try:
        with as_if_there(gone):
            place = folder if scheduler is None else folder.absolute()  # workers are elsewhere
            config, cells = origin.again(place, manifest, failed=True)
    except HarnessError as error:
        found = _with_inputs(found, manifest, {})
        if len(gone) == len(manifest["inputs"]) or found.is_verified:
            raise
        return replace(found, notes=(f"nothing was derived anew: {_in_a_line(error)}",))
    others = recorded.packages(manifest, config.parsed_metrics())
    found = replace(found, versions=(*found.versions, *others))
    every = cells
    cells, lacking = partly.with_inputs(config, cells)
    with warnings.catch_warnings(), executor(jobs, scheduler) as pool:
        warnings.simplefilter("ignore", HarnessWarning)  # they were given when it was run
        evaluated = evaluate_all(config, cells, Cache(None), pool, jobs)
        found = _with_inputs(found, manifest, evaluated.digests)
        found = _with_owners(found, manifest, config, every)
        _check_enough(evaluated)
        if lacking:
            found = _joined(found, [], notes=lacking)
            return _with_some(found, config, evaluated, manifest)
        if failed := [*_cells(found, manifest, config, evaluated)]:
            return _with_some(_joined(found, failed), config, evaluated, manifest)
        return _with_files(found, config, cells, derive(config, evaluated), content, manifest)


def _in_a_line(error: HarnessError) -> str:
    """Return all that an error says, on one line."""
    return "; ".join(" ".join(str(one).split()) for one in error.problems)


def _with_files(
    found: Verification, config: Config, cells: Sequence[Cell], derived: Derived,
    content: bytes, manifest: Mapping[str, Any],
) -> Verification:  # fmt: skip
    """Add what comes of comparing every file."""
    folder, notes = found.folder, []
    if config.plots and (why := _not_drawn(manifest)):
        config = config.model_copy(update={"plots": ()})
        notes.append(f"pictures were not compared: {why}")
    made = paper.files(config, derived.board, derived.comparisons, content)
    differences: list[Difference] = []
    totals: dict[str, int] = {}
    for name, new in derived.files.items():
        totals[name] = _add(differences, found, manifest, name, new)
    now = json.loads(derived.manifest)
    said = list(recorded.differences(content.decode(), now, found.differences, config.base))
    differences += [one._replace(cause=_cause(found, manifest, None)) for one in said[:1]]
    totals[MANIFEST] = len(said)
    for name, new in made.items():
        totals[name] = _add(differences, found, manifest, name, new)
    notes += recorded.notes(manifest, now)
    notes += _unknown(folder, {*derived.files, *made, MANIFEST, TIMING}, config)
    entries = derived.board.entries
    verified = {
        **found.verified,
        "cells": len(entries) + len(derived.board.failed),
        "files": len(derived.files) + len(made),
        "values": sum(entry.evaluation.values.size for entry in entries),
        "summaries": sum(len(entry.evaluation.metrics) for entry in entries),
    }
    if derived.comparisons is not None:
        verified["comparisons"] = len(derived.comparisons.rows)
        verified["standings"] = len(derived.comparisons.standings)
    metrics = [str(metric) for metric in config.parsed_metrics()]
    board = next(name for name in (CELLS, LEADERBOARD) if name in derived.files)
    if found.changed and (folder / board).is_file():
        then, now = origin.read_bytes(folder / board), derived.files[board]
        changed = with_metrics(found.changed, cells, metrics, then, now)
        found = replace(found, changed=changed)
    return _joined(replace(found, verified=verified), differences, totals, notes)


def _with_some(
    found: Verification, config: Config, evaluated: Evaluated, manifest: Mapping[str, Any]
) -> Verification:
    """Add what comes of comparing the values of the cells that there are."""
    entries, compared, totals = evaluated.entries, [], dict[str, int]()
    differences: list[Difference] = []
    for name, splice in partly.splices(config, evaluated, manifest) if entries else ():
        compared.append(name)
        try:
            now = splice(origin.read_bytes(found.folder / name))
        except MemoryError:  # which Arrow's own exceptions are too
            raise
        except (HarnessError, ValueError, LookupError, pa.ArrowException) as error:
            what = f"cannot be read: {error}".splitlines()[0]
            differences.append(Difference("file", name, "the whole file", what, "as it is written"))
            totals[name] = 1
        else:
            totals[name] = _add(differences, found, manifest, name, now, "that was derived")
    said = f"compared in part: {', '.join(compared)}" if compared else "no value was compared"
    note = f"{said}; what else there is follows from all cells, and was not"
    values = sum(entry.evaluation.values.size for entry in entries)
    summaries = sum(len(entry.evaluation.metrics) for entry in entries)
    counts = {"cells": len(entries), "values": values, "summaries": summaries}
    found = replace(found, verified={**found.verified, **counts})
    return _joined(found, differences, totals, [note])


def _add(
    differences: list[Difference], found: Verification, manifest: Mapping[str, Any], name: str,
    now: bytes, of_it: str = "in it",
) -> int:  # fmt: skip
    """Compare one file, add its first difference, and return how many there are."""
    outputs = manifest.get("outputs", {})
    one, is_written = _file(found.folder / name, name, now, outputs, of_it)
    if one.first is not None:
        differences.append(one.first._replace(cause=_cause(found, manifest, is_written)))
    return one.total


def _joined(
    found: Verification, differences: Sequence[Difference],
    totals: Mapping[str, int] | None = None, notes: Iterable[str] = (),
) -> Verification:  # fmt: skip
    more = Counter(f"{one.kind}s" for one in differences) if totals is None else totals
    by_file = {**found.by_file, **{name: n for name, n in more.items() if n}}
    return replace(
        found, differences=(*found.differences, *differences), total=sum(by_file.values()),
        by_file=by_file, notes=(*found.notes, *notes),
    )  # fmt: skip


def _paths(folder: Path, manifest: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield where each input is, and what is recorded of it."""
    root = origin.root_of(folder, manifest)
    for each in manifest["inputs"]:
        yield root / each["path"], each


def _with_inputs(
    found: Verification, manifest: Mapping[str, Any], digests: Mapping[str, str]
) -> Verification:
    """Add the inputs that are gone, or of other bytes; hashes what was not hashed before."""
    known = {Path(path).resolve(): f"sha256 {digest}" for path, digest in digests.items()}
    differences = []
    for path, each in _paths(found.folder, manifest):
        then, now = f"sha256 {each['sha256']}", known.get(path.resolve()) or _state(path)
        if now != then:
            differences.append(Difference("input", each["path"], "bytes", then, now, "input"))
    verified = {"inputs": len(manifest["inputs"]) - len(differences)}
    moved = [_MOVED] if any(one.now == _GONE for one in differences) else []
    return _joined(replace(found, verified=verified), differences, notes=moved)


def _state(path: Path) -> str:
    """Return the hash of a file, or why it has none."""
    if not path.is_file():
        return _GONE
    try:
        return f"sha256 {store.sha256(path)}"
    except PermissionError:
        return "no permission to read it"


def _with_owners(
    found: Verification, manifest: Mapping[str, Any], config: Config, cells: Sequence[Cell]
) -> Verification:
    """Add what the inputs that are not as they were belong to."""
    names = {one.file for one in found.differences if one.kind == "input"}
    paths = _paths(found.folder, manifest) if names else ()
    inputs = {path.resolve(): each["path"] for path, each in paths if each["path"] in names}
    return replace(found, changed=changed_of(config, cells, inputs)) if inputs else found


def _cells(
    found: Verification, manifest: Mapping[str, Any], config: Config, evaluated: Evaluated
) -> Iterator[Difference]:
    """Yield the cells that are evaluated now and were not then, or the other way round."""
    cause = _cause(found, manifest, True)
    naming = Naming(config, evaluated.cells)
    hashed = {path.resolve() for path, _ in _paths(found.folder, manifest)}
    errors = {_name(one.cell): str(one.error) for one in evaluated.failures}
    then = {_name_of(one): one["error"] for one in manifest.get("failed", ())}
    before = dict.fromkeys(map(_name_of, manifest["cells"]))
    for cell in evaluated.cells:
        if (name := _name(cell)) in then:
            is_hashed = hashed.issuperset(Path(path).resolve() for path in naming.files(cell))
            why = cause if is_hashed or cause != "unknown" else "unhashed"
            yield Difference("cell", name, "error", then[name], "evaluated", why)
    for name, error in errors.items():
        if name in before:
            yield Difference("cell", name, "error", "evaluated", error.splitlines()[0], cause)
    known = {*errors, *map(_name, evaluated.cells)}
    for name in (*before, *then):
        if name not in known:
            yield Difference("cell", name, "files", "there", "not found under these names", cause)


def _check_enough(evaluated: Evaluated) -> None:
    """Raise where the system had not enough to evaluate a cell, which says nothing of its values.

    Raises
    ------
    ShortageError
    """
    short = [one for one in evaluated.failures if isinstance(one.error, ShortageError)]
    if short:
        raise as_one(short)


def _name(cell: Cell) -> str:
    return origin.name_of(cell)


def _name_of(each: Mapping[str, Any]) -> str:
    columns = "".join(f", {name}={value}" for name, value in each.get("columns", {}).items())
    return f"{each['run']} on {each['dataset']}{columns}"


def _file(
    path: Path, name: str, now: bytes, outputs: Mapping[str, str], of_it: str
) -> tuple[Compared, bool | None]:
    """Return how a file compares, and whether it is the one that was written, where known."""
    try:
        then = path.read_bytes()
    except OSError:
        missing = Difference("file", name, "the whole file", "missing", f"{len(now)} bytes")
        return Compared(missing, 1, 0), None
    is_written = None if name not in outputs else sha256(then).hexdigest() == outputs[name]
    found = compare(name, then, now)
    if found.first is None and is_written is False:
        what = f"other bytes, though every value {of_it} is the same"
        found = Compared(Difference("file", name, "bytes", what, f"{len(now)} bytes"), 1, 0)
    return found, is_written


def _cause(found: Verification, manifest: Mapping[str, Any], is_written: bool | None) -> Cause:
    """Return what a difference follows from, as far as hashes and versions tell."""
    if is_written is False:
        return "edited"
    if any(one.kind == "input" for one in found.differences):
        return "input"
    if any(one.name.startswith("code") for one in found.versions):
        return "code"
    if found.versions:
        return "version"
    return "edited" if is_written is None and "code" in manifest else "unknown"


def _not_drawn(manifest: Mapping[str, Any]) -> str:
    """Return why pictures cannot be compared; nothing where they can."""
    then = manifest["versions"].get(PICTURES)
    now = manifests.versions(pictures=True)[PICTURES]
    if now is None:
        return "matplotlib is not installed here"
    return "" if then == now else f"matplotlib was {then or 'not recorded'}, and is {now} here"


def _unknown(folder: Path, known: set[str], config: Config) -> Iterator[str]:
    """Yield the files of a folder that no run of its config writes."""
    cells, others = config.cache_folder, []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or name in known or name.startswith("."):
            continue
        inside = cells is not None and path.resolve().is_relative_to(cells.resolve())
        drawn = name.startswith(f"{paper.PLOTS}/")
        if not inside and not name.startswith("cells/") and not (drawn and not config.plots):
            others.append(name)
    if others:
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        listed = ", ".join(others[:_SHOWN])
        yield f"not written by a run of this config, and not verified: {listed}{more}"
