"""A folder of results, computed again from its inputs and compared."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from .. import files as store
from ..config.model import Config
from ..config.patterns import as_if_there
from ..core.leaderboard import Leaderboard
from ..errors import (
    HarnessError,
    HarnessWarning,
    InputError,
    ShortageError,
    first_of,
    in_json,
)
from ..experiment import folder as origin
from ..experiment import manifest as manifests
from ..experiment.cache import Cache
from ..experiment.cache_key import Keys, installed_code, sources
from ..experiment.cells import Evaluated, evaluate_all
from ..experiment.executors import executor
from ..experiment.failures import as_one
from ..experiment.folder import CELLS, LEADERBOARD, MANIFEST, PER_QUERY, TIMING
from ..experiment.manifest import PICTURES
from ..experiment.outcome import Outcome
from ..experiment.run import derive
from ..reports import paper as paper
from ..reports.csv import csv_text
from ..reports.leaderboard import as_csv
from .file_differences import Cause, Difference, compare, compare_plain, read_table

_GONE, _CODE = "gone", "code of the harness"
_MOVED = (
    "inputs are gone; if they or the results were moved, --inputs FOLDER is where the config's "
    "paths start from now"
)
_FROM_CACHE = {"queries", "values"}
"""Counts of a cross-check that depend on which cells came from the cache."""
_UNREADABLE = (HarnessError, ValueError, LookupError, csv.Error, pa.ArrowException)
Update = Callable[[bytes], bytes]
"""Gives the expected content of a file from the one in the folder."""


class Version(NamedTuple):
    """A version that is not the one that computed the results."""

    name: str
    then: str | None
    now: str | None


@dataclass
class Verification:
    """What was computed again, and what of it differs.

    `differences` has the first of each file, inputs first; `by_file` how many there are in each.
    `versions` that differ are no difference by themselves. `verified` counts what was compared,
    `notes` list what was left out.
    """

    folder: Path
    manifest: Mapping[str, Any] = field(repr=False)
    differences: list[Difference] = field(default_factory=list)
    by_file: Counter[str] = field(default_factory=Counter)
    versions: list[Version] = field(default_factory=list)
    verified: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many differences there are in all."""
        return sum(self.by_file.values())

    @property
    def is_verified(self) -> bool:
        """Whether every input and every digit is unchanged."""
        return not self.total

    def add(self, one: Difference, where: str, n: int = 1) -> None:
        """Add the first of `n` differences of a file, or of all inputs or cells."""
        self.differences.append(one)
        self.by_file[where] += n

    def cause(self, is_written: bool | None) -> Cause:
        """Return the cause of a difference, as far as hashes and versions tell.

        `is_written` is whether a file is the one that was written; None if no hash tells.
        """
        if is_written is False:
            return "edited"
        if any(one.kind == "input" for one in self.differences):
            return "input"
        if self.versions:
            return "code" if any(one.name == _CODE for one in self.versions) else "version"
        return "edited" if is_written is None else "unknown"


def verify(
    folder: Path, *, jobs: int = 1, scheduler: str | None = None, inputs: Path | None = None,
    plugins: bool = False,
) -> Verification:  # fmt: skip
    """Compute every number of a folder of results again, and compare all digits.

    Inputs are hashed; every cell is evaluated from its files, none taken from a cache; summaries,
    counts, comparisons, standings and tables are made again and compared byte for byte, values
    in Parquet bit by bit. Pictures are compared if matplotlib is the same version.

    Parameters
    ----------
    folder : Path
        What ``harness run`` wrote.
    jobs, scheduler
        Where cells are evaluated, as in :func:`harness.run`.
    inputs : Path, optional
        The folder from which the config's paths start, if that or the results were moved.
    plugins : bool
        Whether the plugins that the config names are run.

    Raises
    ------
    InputError
        If the folder holds no results, or those of an older format; if none of its inputs is where
        it was; if its config names plugins and `plugins` is false.
    """
    content = origin.read_bytes(folder / MANIFEST)
    manifest = origin.with_inputs(origin.read_manifest(folder, content), inputs)
    if not plugins:
        origin.refuse_plugins(folder, manifest, "give --plugins if you trust this code")
    found = Verification(folder, manifest)
    gone = [path for path, _ in _inputs(found) if not path.is_file()]
    try:
        with as_if_there(gone):
            place = folder if scheduler is None else folder.absolute()  # workers are elsewhere
            config, every = origin.config_and_cells(
                place, manifest, failed=True, load_plugins=plugins
            )
    except HarnessError as error:
        _compare_inputs(found, {})
        if len(gone) == len(manifest["inputs"]) or found.is_verified:
            raise
        why = "; ".join(" ".join(str(one).split()) for one in error.problems)
        found.notes.append(f"nothing was computed again: {why}")
        return found
    found.versions += _versions(manifest, config)
    naming = Keys(config, every)
    cells = [
        cell
        for cell in every
        if all(Path(path).is_file() for path in (*naming.files(cell), *naming.others(cell)))
    ]
    with warnings.catch_warnings(), executor(jobs, scheduler) as pool:
        warnings.simplefilter("ignore", HarnessWarning)  # they were given when it was run
        evaluated = evaluate_all(config, cells, Cache(None), pool)
    _compare_inputs(found, evaluated.digests)
    # a system that has too little memory says nothing about the values
    if short := [one for one in evaluated.failures if isinstance(one.error, ShortageError)]:
        raise as_one(short)
    if len(cells) < len(every):
        names = [origin.name_of(cell) for cell in every if cell not in cells]
        found.notes.append(f"not computed again, as their files are gone: {first_of(names)}")
        _compare_some(found, config, evaluated)
    elif failed := list(_failures(found, evaluated)):
        for one in failed:
            found.add(one, "cells")
        _compare_some(found, config, evaluated)
    else:
        _compare_all(found, config, derive(config, evaluated, manifest), content)
    return found


def _inputs(found: Verification) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield where each input is, and what is recorded of it."""
    root = origin.root_of(found.folder, found.manifest)
    for each in found.manifest["inputs"]:
        yield root / each["path"], each


def _compare_inputs(found: Verification, digests: Mapping[str, str]) -> None:
    """Add the inputs that are gone or have other bytes."""
    hashed = {Path(path).resolve(): digest for path, digest in digests.items()}
    for path, each in _inputs(found):
        now = _GONE
        if path.is_file():
            try:
                now = f"sha256 {hashed.get(path.resolve()) or store.sha256(path)}"
            except PermissionError:
                now = "no permission to read it"
        if now != (then := f"sha256 {each['sha256']}"):
            found.add(Difference("input", each["path"], "bytes", then, now, "input"), "inputs")
    found.verified["inputs"] = len(found.manifest["inputs"]) - len(found.differences)
    if any(one.now == _GONE for one in found.differences):
        found.notes.append(_MOVED)


def _failures(found: Verification, evaluated: Evaluated) -> Iterator[Difference]:
    """Yield the cells that are evaluated now and were not then, or the other way round."""
    cause = found.cause(True)
    now = {origin.name_of(one.cell): str(one.error).splitlines()[0] for one in evaluated.failures}
    now |= {origin.name_of(cell): "evaluated" for cell in evaluated.cells}
    then = {_name(one): one["error"] for one in found.manifest.get("failed", ())}
    then |= {_name(one): "evaluated" for one in found.manifest["cells"]}
    for name, old in then.items():
        new = now.get(name, "not found under this name")
        if name not in now or (old == "evaluated") != (new == "evaluated"):
            yield Difference("cell", name, "error", old, new, cause)


def _name(one: Mapping[str, Any]) -> str:
    columns = "".join(f", {name}={value}" for name, value in one.get("columns", {}).items())
    return f"{one['run']} on {one['dataset']}{columns}"


def _compare_all(found: Verification, config: Config, derived: Outcome, content: bytes) -> None:
    """Compare every file of the folder."""
    if config.plots and (why := _not_drawn(found.manifest)):
        config = config.model_copy(update={"plots": ()})
        found.notes.append(f"pictures were not compared: {why}")
    made = paper.files(config, derived.board, derived.comparisons, content)
    now = derived.manifest
    for name, new in derived.files.items():
        _compare_file(found, name, new)
    _compare_manifest(found, content, now)
    for name, new in made.items():
        _compare_file(found, name, new)
    if sorted(found.manifest["warnings"]) != sorted(now["warnings"]):
        found.notes.append("the warnings in the manifest differ from those given now")
    if _checks(found.manifest) != _checks(now):
        found.notes.append("other values were cross-checked then: cached cells keep their checks")
    written = {*derived.files, *made, MANIFEST, TIMING}
    if others := list(_unknown_files(found.folder, written, config)):
        listed = first_of(others)
        found.notes.append(f"not written by a run of this config, and not verified: {listed}")
    entries = derived.board.entries
    found.verified |= {
        "cells": len(entries) + len(derived.board.failed),
        "files": len(derived.files) + len(made),
        "values": sum(entry.evaluation.values.size for entry in entries),
        "summaries": sum(len(entry.evaluation.metrics) for entry in entries),
    }
    if derived.comparisons is not None:
        found.verified["comparisons"] = len(derived.comparisons.rows)
        found.verified["standings"] = len(derived.comparisons.standings)


def _checks(manifest: Mapping[str, Any]) -> list[Any]:
    return [cell["crosscheck"] for cell in manifest["cells"]]


def _compare_some(found: Verification, config: Config, evaluated: Evaluated) -> None:
    """Compare the values of the cells that could be computed, and nothing that needs all cells."""
    entries, compared = evaluated.entries, []
    if entries:
        derived = derive(
            config.model_copy(update={"compare": None, "reports": ("csv",)}), evaluated
        )
        for name, update in _updates(config, derived.board, found.manifest):
            compared.append(name)
            _compare_file(found, name, update)
        now = {_identity(one): one for one in derived.manifest["cells"]}
        compared.append(MANIFEST)
        content = origin.read_bytes(found.folder / MANIFEST)
        cells = [  # which queries are cross-checked depends on how many cells there are
            {**now.get(_identity(one), one), "crosscheck": one["crosscheck"]}
            for one in found.manifest["cells"]
        ]
        _compare_manifest(found, content, {**json.loads(content), "cells": cells})
    text = f"only {', '.join(compared)} were compared" if compared else "no value was compared"
    found.notes.append(f"{text}; other files need all cells")
    found.verified |= {
        "cells": len(entries),
        "values": sum(entry.evaluation.values.size for entry in entries),
        "summaries": sum(len(entry.evaluation.metrics) for entry in entries),
    }


def _compare_file(found: Verification, name: str, expected: bytes | Update) -> None:
    """Compare a file of the folder with the expected content, and add the first difference."""
    where, written = "the whole file", "the file as it is written"
    try:
        then = origin.read_bytes(found.folder / name)
    except InputError:
        found.add(Difference("file", name, where, "missing", written, found.cause(None)), name)
        return
    try:
        now = expected(then) if callable(expected) else expected
    except MemoryError:  # Arrow's own is an ArrowException too
        raise
    except _UNREADABLE as error:
        what = f"cannot be read: {error}".splitlines()[0]
        found.add(Difference("file", name, where, what, written), name)
        return
    recorded = found.manifest.get("outputs", {}).get(name)
    is_written = None if recorded is None else sha256(then).hexdigest() == recorded
    first, total = compare(name, then, now)
    if first is None and is_written is False:
        what = "other bytes, though every compared value is the same"
        first, total = Difference("file", name, "bytes", what, f"{len(now)} bytes"), 1
    if first is not None:
        found.add(first._replace(cause=found.cause(is_written)), name, total)


def _compare_manifest(found: Verification, content: bytes, now: Mapping[str, Any]) -> None:
    """Add where the manifest's cells, inputs and files differ from those computed."""
    then = json.loads(content)
    changed = {one.file for one in found.differences if one.kind == "input"}

    def computed(manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parts that do not depend on the cache."""
        cells = [
            {**one, "crosscheck": {k: v for k, v in one["crosscheck"].items()
                                   if k not in _FROM_CACHE}}
            for one in manifest["cells"]
        ]  # fmt: skip
        inputs = {one["path"]: one for one in manifest["inputs"] if one["path"] not in changed}
        parts = {"cells": cells, "failed": manifest.get("failed"), "seeds": manifest.get("seeds")}
        return {**parts, "inputs": inputs}

    differences = list(compare_plain(MANIFEST, computed(then), computed(now)))
    if (in_json(then, indent=1) + "\n").encode() != content:
        what = "other spacing or order", "the file as it is written"
        differences.append(Difference("file", MANIFEST, "bytes", *what))
    outputs, expected = then.get("outputs", {}), now.get("outputs", {})
    missing = {name: digest for name, digest in expected.items() if name not in outputs}
    differences += compare_plain(MANIFEST, {"outputs": {}}, {"outputs": missing})
    if differences:
        first = differences[0]._replace(cause=found.cause(None))
        found.add(first, MANIFEST, len(differences))


def _updates(
    config: Config, board: Leaderboard, manifest: Mapping[str, Any]
) -> Iterator[tuple[str, Update]]:
    """Yield the files with values of cells, each with what puts the computed ones into it."""
    then = {_identity(one): one for one in manifest["cells"]}
    by_cell = {(one.dataset, one.run, *sorted(one.columns.items())): one for one in board.entries}
    entries = {key: entry for key, entry in by_cell.items() if key in then}
    cells = as_csv(Leaderboard(tuple(entries.values()), (), config.summary))
    yield CELLS if config.summary else LEADERBOARD, partial(_with_rows, now=cells)
    n_metrics = len(config.parsed_metrics())  # an entry such as ndcg@1,5,10 is several
    sizes = [one["counts"]["queries"] * n_metrics for one in then.values()]
    parts = [Leaderboard((entries[key],)).per_query() if key in entries else None for key in then]
    yield PER_QUERY, partial(_with_values, sizes=sizes, parts=parts)


def _identity(one: Mapping[str, Any]) -> tuple[Any, ...]:
    return one["dataset"], one["run"], *sorted(one.get("columns", {}).items())


def _with_rows(then: bytes, now: str) -> bytes:
    """Return a leaderboard in CSV with some of its rows computed."""
    header, *rows = csv.reader(io.StringIO(then.decode("utf-8"), newline=""))
    names = header[: header.index("queries")]
    places = {tuple(row[: len(names)]): at for at, row in enumerate(rows)}
    for row in csv.DictReader(io.StringIO(now, newline="")):
        at = places.setdefault(tuple(row.get(name, "") for name in names), len(rows))
        if at == len(rows):
            rows.append([""] * len(header))
        rows[at] = [
            old if name == "unsettled" else row.get(name, old)  # which follows from other rows
            for name, old in zip(header, rows[at], strict=True)
        ]
    return csv_text([header, *rows]).encode()


def _with_values(then: bytes, sizes: Sequence[int], parts: Sequence[pa.Table | None]) -> bytes:
    """Return the values of queries in Parquet with those of some cells computed."""
    old = read_table(then)
    if len(old) != sum(sizes):
        raise ValueError(f"expected {sum(sizes)} rows, got {len(old)}")
    tables, at = [], 0
    for size, part in zip(sizes, parts, strict=True):
        table = old.slice(at, size) if part is None else part
        columns = [  # a cell may lack a column that others have
            table[one.name].cast(one.type)
            if one.name in table.column_names
            else pa.nulls(len(table), one.type)
            for one in old.schema
        ]
        tables.append(pa.table(columns, schema=old.schema))
        at += size
    return store.parquet([pa.concat_tables(tables)])


def _versions(manifest: Mapping[str, Any], config: Config) -> Iterator[Version]:
    """Yield the versions that are not those of the manifest."""
    versions = manifests.versions(pictures=PICTURES in manifest["versions"])
    then: dict[str, str | None] = {**manifest["versions"], "platform": manifest["platform"]}
    now: dict[str, str | None] = {**versions, "platform": manifests.system()}
    then[_CODE], now[_CODE] = str(manifest.get("code") or sources())[:12], sources()[:12]
    packages = manifest.get("packages", {}), installed_code(config.parsed_metrics())
    for side, each in zip((then, now), packages, strict=True):
        for name, one in each.items():
            side[f"package {name}"] = f"{one['version']} ({one['sha256'][:12]})"
    for name in dict.fromkeys((*then, *(name for name in now if name.startswith("package")))):
        if then.get(name) != now.get(name):
            yield Version(name, then.get(name), now.get(name))


def _not_drawn(manifest: Mapping[str, Any]) -> str:
    """Return why pictures cannot be compared; nothing if they can."""
    then = manifest["versions"].get(PICTURES)
    now = manifests.versions(pictures=True)[PICTURES]
    if now is None:
        return "matplotlib is not installed here"
    return "" if then == now else f"matplotlib was {then or 'not recorded'}, and is {now} here"


def _unknown_files(folder: Path, written: set[str], config: Config) -> Iterator[str]:
    """Yield the files of a folder that no run of its config writes."""
    cells = config.cache_folder
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if (
            path.is_dir()
            or name in {*written, MANIFEST, TIMING}
            or name.startswith((".", "cells/"))
        ):
            continue
        is_cached = cells is not None and path.resolve().is_relative_to(cells.resolve())
        if not is_cached and (config.plots or not name.startswith(f"{paper.PLOTS}/")):
            yield name
