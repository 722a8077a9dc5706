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
from ..config.cells import Cell
from ..config.model import Config
from ..config.patterns import as_if_there
from ..core.leaderboard import Leaderboard, Summary
from ..core.metric import Metric
from ..core.pooling import whole_name
from ..core.systems import run_name
from ..errors import (
    HarnessError,
    HarnessWarning,
    InputError,
    Problem,
    ShortageError,
    csv_text,
    in_json,
)
from ..experiment import manifest as manifests
from ..experiment import origin as origin
from ..experiment.cache import Cache
from ..experiment.cache_key import Naming, installed_code, sources
from ..experiment.cells import Evaluated, evaluate_all
from ..experiment.executors import executor
from ..experiment.failures import as_one
from ..experiment.manifest import FORMAT, PICTURES
from ..experiment.origin import MANIFEST, TIMING
from ..experiment.results import CELLS, LEADERBOARD, PER_QUERY, systems
from ..experiment.run import Outcome, derive
from ..reports import paper as paper
from ..reports.leaderboard.rendering import as_csv
from .verify_files import Cause, Difference, compare, compare_plain, read_table

SHOWN_CELLS, SHOWN_FILES = 10, 5
"""How many cells or files a note lists."""
_GONE, _CODE = "gone", "code of the harness"
_MOVED = (
    "inputs are gone: if they or the results were moved, --inputs FOLDER says where the config's "
    "paths start from now"
)
_FROM_CACHE = {"queries": "rankings", "values": "values"}
"""Counts of a cross-check that depend on which cells came from the cache."""
_OF_ALL = ("unsettled",)
"""Columns of a leaderboard whose values follow from other rows too."""
_UNREADABLE = (HarnessError, ValueError, LookupError, csv.Error, pa.ArrowException)
Update = Callable[[bytes], bytes]
"""Gives the expected content of a file from the one in the folder."""


class Version(NamedTuple):
    """A version that is not the one that computed the results."""

    name: str
    then: str | None
    now: str | None


class Changed(NamedTuple):
    """Inputs of one dataset or run that are gone or changed, and what differs with them.

    `kind` is ``dataset``, ``run``, or empty for other inputs; `differ` names the metrics of which
    a value on the leaderboard of cells differs, out of `of`; None if that was not compared.
    """

    kind: str
    name: str
    inputs: tuple[str, ...]
    differ: tuple[str, ...] | None = None
    of: int = 0


@dataclass
class Verification:
    """What was computed again, and what of it differs.

    `differences` has the first of each file, inputs first; `by_file` how many there are in each,
    `changed` the inputs among them by dataset and run. `versions` that differ are no difference by
    themselves. `verified` counts what was compared, `notes` say what was left out.
    """

    folder: Path
    differences: list[Difference] = field(default_factory=list)
    by_file: Counter[str] = field(default_factory=Counter)
    changed: list[Changed] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)
    verified: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many differences there are in all."""
        return sum(self.by_file.values())

    @property
    def is_verified(self) -> bool:
        """Whether every input and every digit is as it was."""
        return not self.total

    def add(self, one: Difference, where: str, n: int = 1) -> None:
        """Add the first of `n` differences of a file, or of all inputs or cells."""
        self.differences.append(one)
        self.by_file[where] += n

    def cause(self, is_written: bool | None) -> Cause:
        """Return what a difference follows from, as far as hashes and versions tell.

        `is_written` says whether a file is the one that was written; None if no hash tells.
        """
        if is_written is False:
            return "edited"
        if any(one.kind == "input" for one in self.differences):
            return "input"
        if any(one.name == _CODE for one in self.versions):
            return "code"
        if self.versions:
            return "version"
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
    if manifest["manifest"] < FORMAT:
        what = f"has format {manifest['manifest']}, and verify needs format {FORMAT}"
        raise InputError(Problem(str(folder / MANIFEST), what, fix="run the config again"))
    if not plugins:
        origin.refuse_plugins(folder, manifest, "give --plugins if you trust this code")
    found = Verification(folder, versions=list(_versions(manifest)))
    gone = [path for path, _ in _inputs(folder, manifest) if not path.is_file()]
    try:
        with as_if_there(gone):
            place = folder if scheduler is None else folder.absolute()  # workers are elsewhere
            config, every = origin.again(place, manifest, failed=True, load_plugins=plugins)
    except HarnessError as error:
        _compare_inputs(found, manifest, {})
        if len(gone) == len(manifest["inputs"]) or found.is_verified:
            raise
        why = "; ".join(" ".join(str(one).split()) for one in error.problems)
        found.notes.append(f"nothing was derived anew: {why}")
        return found
    found.versions += _packages(manifest, config.parsed_metrics())
    naming = Naming(config, every)
    cells = [cell for cell in every if _has_files(naming, cell)]
    with warnings.catch_warnings(), executor(jobs, scheduler) as pool:
        warnings.simplefilter("ignore", HarnessWarning)  # they were given when it was run
        evaluated = evaluate_all(config, cells, Cache(None), pool, jobs)
    _compare_inputs(found, manifest, evaluated.digests)
    found.changed = _by_owner(found, manifest, naming, every)
    # a system that has too little memory says nothing about the values
    if short := [one for one in evaluated.failures if isinstance(one.error, ShortageError)]:
        raise as_one(short)
    if len(cells) < len(every):
        names = [origin.name_of(cell) for cell in every if cell not in cells]
        listed = _listed(names, SHOWN_CELLS, "; ")
        found.notes.append(f"not derived anew, as files of theirs are gone: {listed}")
        _compare_some(found, config, evaluated, manifest)
    elif failed := list(_failures(found, manifest, config, evaluated)):
        for one in failed:
            found.add(one, "cells")
        _compare_some(found, config, evaluated, manifest)
    else:
        _compare_all(found, config, cells, derive(config, evaluated), content, manifest)
    return found


def _has_files(naming: Naming, cell: Cell) -> bool:
    paths = (*naming.files(cell), *naming.others(cell))
    return all(Path(path).is_file() for path in paths)


def _listed(names: Sequence[str], most: int, between: str = ", ") -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return between.join(names[:most]) + more


def _inputs(folder: Path, manifest: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield where each input is, and what is recorded of it."""
    root = origin.root_of(folder, manifest)
    for each in manifest["inputs"]:
        yield root / each["path"], each


def _compare_inputs(
    found: Verification, manifest: Mapping[str, Any], digests: Mapping[str, str]
) -> None:
    """Add the inputs that are gone, or of other bytes; hashes what was not hashed before."""
    known = {Path(path).resolve(): f"sha256 {digest}" for path, digest in digests.items()}
    for path, each in _inputs(found.folder, manifest):
        then, now = f"sha256 {each['sha256']}", known.get(path.resolve()) or _state(path)
        if now != then:
            found.add(Difference("input", each["path"], "bytes", then, now, "input"), "inputs")
    found.verified["inputs"] = len(manifest["inputs"]) - len(found.differences)
    if any(one.now == _GONE for one in found.differences):
        found.notes.append(_MOVED)


def _state(path: Path) -> str:
    """Return the hash of a file, or why it has none."""
    try:
        return f"sha256 {store.sha256(path)}" if path.is_file() else _GONE
    except PermissionError:
        return "no permission to read it"


def _by_owner(
    found: Verification, manifest: Mapping[str, Any], naming: Naming, cells: Sequence[Cell]
) -> list[Changed]:
    """Return which dataset or run each changed input belongs to, if it is of one."""
    owners: dict[Path, tuple[str, str]] = {}
    for cell in cells:
        judgements, run, *rest = (Path(path).resolve() for path in naming.files(cell))
        owners.update(dict.fromkeys((judgements, *rest), ("dataset", cell.dataset_key)))
        owners.setdefault(run, ("run", cell.run))
    names = {one.file for one in found.differences if one.kind == "input"}
    changed: dict[tuple[str, str], list[str]] = {}
    for path, each in _inputs(found.folder, manifest):
        if each["path"] in names:
            owner = owners.get(path.resolve(), ("", "other inputs"))
            changed.setdefault(owner, []).append(each["path"])
    return [Changed(*owner, tuple(paths)) for owner, paths in changed.items()]


def _with_metrics(
    one: Changed, cells: Sequence[Cell], metrics: Sequence[str], then: bytes, now: bytes
) -> Changed:
    """Add which metrics differ, by the leaderboard of cells that is there and the one computed."""
    try:
        old, new = (list(csv.DictReader(io.StringIO(x.decode("utf-8", "replace"), newline="")))
                    for x in (then, now))  # fmt: skip
    except csv.Error:  # which the comparison of files reports
        return one
    names = [[(row.get("dataset"), row.get("run")) for row in rows] for rows in (old, new)]
    if not one.kind or names[0] != names[1]:
        return one
    own = {one.name}
    if one.kind == "dataset":
        own = {cell.dataset for cell in cells if cell.dataset_key == one.name}
    pairs = [(a, b) for a, b in zip(old, new, strict=True) if b.get(one.kind) in own]
    differ = tuple(m for m in metrics if any(a.get(m) != b.get(m) for a, b in pairs))
    return one._replace(differ=differ, of=len(metrics))


def _failures(
    found: Verification, manifest: Mapping[str, Any], config: Config, evaluated: Evaluated
) -> Iterator[Difference]:
    """Yield the cells that are evaluated now and were not then, or the other way round."""
    cause = found.cause(True)
    naming = Naming(config, evaluated.cells)
    hashed = {path.resolve() for path, _ in _inputs(found.folder, manifest)}
    errors = {origin.name_of(one.cell): str(one.error) for one in evaluated.failures}
    then = {_name(one): one["error"] for one in manifest.get("failed", ())}
    before = dict.fromkeys(map(_name, manifest["cells"]))
    for cell in evaluated.cells:
        if (name := origin.name_of(cell)) in then:
            is_hashed = hashed.issuperset(Path(path).resolve() for path in naming.files(cell))
            why = cause if is_hashed or cause != "unknown" else "unhashed"
            yield Difference("cell", name, "error", then[name], "evaluated", why)
    for name, error in errors.items():
        if name in before:
            yield Difference("cell", name, "error", "evaluated", error.splitlines()[0], cause)
    known = {*errors, *map(origin.name_of, evaluated.cells)}
    for name in (*before, *then):
        if name not in known:
            yield Difference("cell", name, "files", "there", "not found under these names", cause)


def _name(each: Mapping[str, Any]) -> str:
    columns = "".join(f", {name}={value}" for name, value in each.get("columns", {}).items())
    return f"{each['run']} on {each['dataset']}{columns}"


def _compare_all(
    found: Verification, config: Config, cells: Sequence[Cell], derived: Outcome,
    content: bytes, manifest: Mapping[str, Any],
) -> None:  # fmt: skip
    """Compare every file of the folder."""
    if config.plots and (why := _not_drawn(manifest)):
        config = config.model_copy(update={"plots": ()})
        found.notes.append(f"pictures were not compared: {why}")
    made = paper.files(config, derived.board, derived.comparisons, content)
    now = json.loads(derived.manifest)
    for name, new in derived.files.items():
        _compare_file(found, manifest, name, new)
    _compare_manifest(found, content, now)
    for name, new in made.items():
        _compare_file(found, manifest, name, new)
    found.notes += _other_notes(manifest, now)
    found.notes += _unknown_files(found.folder, {*derived.files, *made, MANIFEST, TIMING}, config)
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
    board = CELLS if CELLS in derived.files else LEADERBOARD
    if found.changed and (found.folder / board).is_file():
        metrics = [str(metric) for metric in config.parsed_metrics()]
        pair = origin.read_bytes(found.folder / board), derived.files[board]
        found.changed = [_with_metrics(one, cells, metrics, *pair) for one in found.changed]


def _compare_some(
    found: Verification, config: Config, evaluated: Evaluated, manifest: Mapping[str, Any]
) -> None:
    """Compare the values of the cells that could be computed; what follows from all is left out."""
    entries, compared = evaluated.entries, []
    if entries:
        alone = config.model_copy(update={"compare": None, "reports": ("csv",)})
        derived = derive(alone, evaluated)
        for name, update in _updates(config, derived.board, manifest):
            compared.append(name)
            _compare_file(found, manifest, name, update, "that was derived")
        now = {_identity(one): one for one in json.loads(derived.manifest)["cells"]}
        compared.append(MANIFEST)
        content = origin.read_bytes(found.folder / MANIFEST)
        cells = [  # which queries are cross-checked depends on how many cells there are
            {**now.get(_identity(one), one), "crosscheck": one["crosscheck"]}
            for one in manifest["cells"]
        ]
        _compare_manifest(found, content, {**json.loads(content), "cells": cells})
    text = f"compared in part: {', '.join(compared)}" if compared else "no value was compared"
    found.notes.append(f"{text}; what else there is follows from all cells, and was not")
    found.verified |= {
        "cells": len(entries),
        "values": sum(entry.evaluation.values.size for entry in entries),
        "summaries": sum(len(entry.evaluation.metrics) for entry in entries),
    }


def _compare_file(
    found: Verification, manifest: Mapping[str, Any], name: str, expected: bytes | Update,
    of_it: str = "in it",
) -> None:  # fmt: skip
    """Compare a file of the folder with what is expected, and add the first difference."""
    try:
        then = origin.read_bytes(found.folder / name)
    except InputError:
        missing = "as it is written" if callable(expected) else f"{len(expected)} bytes"
        one = Difference("file", name, "the whole file", "missing", missing, found.cause(None))
        found.add(one, name)
        return
    try:
        now = expected(then) if callable(expected) else expected
    except MemoryError:  # Arrow's own is an ArrowException too
        raise
    except _UNREADABLE as error:
        what = f"cannot be read: {error}".splitlines()[0]
        one = Difference("file", name, "the whole file", what, "as it is written")
        found.add(one, name)
        return
    recorded = manifest.get("outputs", {}).get(name)
    is_written = None if recorded is None else sha256(then).hexdigest() == recorded
    first, total = compare(name, then, now)
    if first is None and is_written is False:
        what = f"other bytes, though every value {of_it} is the same"
        first, total = Difference("file", name, "bytes", what, f"{len(now)} bytes"), 1
    if first is not None:
        found.add(first._replace(cause=found.cause(is_written)), name, total)


def _compare_manifest(found: Verification, content: bytes, now: Mapping[str, Any]) -> None:
    """Add where the manifest says of cells, inputs and files what is computed otherwise."""
    then = json.loads(content)
    changed = {one.file for one in found.differences if one.kind == "input"}
    outputs = then.get("outputs", {})

    def computed(manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parts that are the same whatever was cached."""
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
        differences.append(
            Difference("file", MANIFEST, "bytes", "other spacing or order", "as it is written")
        )
    missing = {
        name: digest for name, digest in now.get("outputs", {}).items() if name not in outputs
    }
    differences += compare_plain(MANIFEST, {"outputs": {}}, {"outputs": missing})
    if differences:
        cause = found.cause(None)
        found.add(differences[0]._replace(cause=cause), MANIFEST, len(differences))


def _updates(
    config: Config, board: Leaderboard, manifest: Mapping[str, Any]
) -> Iterator[tuple[str, Update]]:
    """Yield the files that hold values of single cells, each with what puts computed ones into it.

    Of a leaderboard of systems, a row is computed if all of its cells are.
    """
    then = {_identity(one): one for one in manifest["cells"]}
    by_cell = {(one.dataset, one.run, *sorted(one.columns.items())): one for one in board.entries}
    entries = {key: entry for key, entry in by_cell.items() if key in then}
    summary = config.summary
    cells = as_csv(Leaderboard(tuple(entries.values()), (), summary))
    yield CELLS if summary else LEADERBOARD, partial(_with_rows, now=cells)
    if summary:
        incomplete = {_row(one, summary) for key, one in then.items() if key not in entries}
        whole = [e for key, e in entries.items() if _row(then[key], summary) not in incomplete]
        if whole:
            rows = as_csv(systems(Leaderboard(tuple(whole), (), summary), config))
            yield LEADERBOARD, partial(_with_rows, now=rows)
    n_metrics = len(config.parsed_metrics())  # an entry such as ndcg@1,5,10 is several
    sizes = [one["counts"]["queries"] * n_metrics for one in then.values()]
    parts = [Leaderboard((entries[key],)).per_query() if key in entries else None for key in then]
    yield PER_QUERY, partial(_with_values, sizes=sizes, parts=parts)


def _identity(one: Mapping[str, Any]) -> tuple[Any, ...]:
    return one["dataset"], one["run"], *sorted(one.get("columns", {}).items())


def _row(one: Mapping[str, Any], summary: Summary) -> tuple[str, str]:
    """Return the row of a leaderboard of systems that a cell of a manifest is a part of."""
    columns, pattern = one.get("columns", {}), one.get("pattern", "")
    dataset = one["dataset"]
    if summary.parts:
        dataset = whole_name(pattern or dataset, columns, summary.parts)
    return dataset, run_name(one["run"], columns, pattern, summary)


def _with_rows(then: bytes, now: str) -> bytes:
    """Return a leaderboard in CSV with some of its rows computed."""
    header, *rows = csv.reader(io.StringIO(then.decode("utf-8"), newline=""))
    names = header[: header.index("queries")]
    places = {tuple(row[: len(names)]): at for at, row in enumerate(rows)}
    for row in csv.DictReader(io.StringIO(now, newline="")):
        at = places.get(tuple(row.get(name, "") for name in names))
        if at is None:
            rows.append([row.get(name, "") for name in header])
            continue
        rows[at] = [
            old if name in _OF_ALL else row.get(name, old)
            for name, old in zip(header, rows[at], strict=True)
        ]
    return csv_text([header, *rows]).encode()


def _with_values(then: bytes, sizes: Sequence[int], parts: Sequence[pa.Table | None]) -> bytes:
    """Return the values of queries in Parquet with those of some cells computed."""
    old = read_table(then)
    if len(old) != sum(sizes):
        raise ValueError(f"expected {sum(sizes)} rows, got {len(old)}")
    schema = pa.schema(
        [(one.name, one.type.value_type if pa.types.is_dictionary(one.type) else one.type)
         for one in old.schema]
    )  # fmt: skip
    old, tables, at = old.cast(schema), [], 0
    for size, part in zip(sizes, parts, strict=True):
        if part is None:
            part = old.slice(at, size)
        at += size
        columns = [  # a cell may lack a column that others have
            part[one.name].cast(one.type)
            if one.name in part.column_names
            else pa.nulls(len(part), one.type)
            for one in schema
        ]
        tables.append(pa.table(columns, schema=schema))
    return store.parquet([pa.concat_tables(tables)])


def _versions(manifest: Mapping[str, Any]) -> Iterator[Version]:
    """Yield the versions that are not those of the manifest."""
    then: dict[str, str | None] = {**manifest["versions"], "platform": manifest["platform"]}
    now = {**manifests.versions(pictures=PICTURES in then), "platform": manifests.system()}
    for name, old in then.items():
        if old != now.get(name):
            yield Version(name, old, now.get(name))
    code = str(manifest.get("code") or sources())
    if code != sources():
        yield Version(_CODE, code[:12], sources()[:12])


def _packages(manifest: Mapping[str, Any], metrics: Sequence[Metric]) -> Iterator[Version]:
    """Yield the installed packages of a config's metrics whose code is not the same."""
    packages: list[Mapping[str, Any]] = [manifest.get("packages", {}), installed_code(metrics)]
    then, now = (
        {name: f"{one['version']} ({one['sha256'][:12]})" for name, one in each.items()}
        for each in packages
    )
    for name in dict.fromkeys((*then, *now)):
        if then.get(name) != now.get(name):
            yield Version(f"package {name}", then.get(name), now.get(name))


def _other_notes(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield what differs in the manifest without being a value."""
    if sorted(then["warnings"]) != sorted(now["warnings"]):
        yield "the warnings of the manifest are not those that are given now"
    checks = [[cell["crosscheck"] for cell in one["cells"]] for one in (then, now)]
    if checks[0] != checks[1]:
        before, after = (
            " and ".join(
                f"{sum(one[what] for one in each):,} {name}" for what, name in _FROM_CACHE.items()
            )
            for each in checks
        )
        of = f"of {before} then, and is of {after} now"
        if before == after:
            of = f"of {before}, of some cells by others now than then"
        yield (
            f"the cross-check was {of}, as cells from the cache keep what was checked when they "
            "were evaluated; it found no difference either time"
        )


def _not_drawn(manifest: Mapping[str, Any]) -> str:
    """Return why pictures cannot be compared; nothing if they can."""
    then = manifest["versions"].get(PICTURES)
    now = manifests.versions(pictures=True)[PICTURES]
    if now is None:
        return "matplotlib is not installed here"
    return "" if then == now else f"matplotlib was {then or 'not recorded'}, and is {now} here"


def _unknown_files(folder: Path, known: set[str], config: Config) -> Iterator[str]:
    """Yield a note of the files of a folder that no run of its config writes."""
    cells, others = config.cache_folder, []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or name in known or name.startswith((".", "cells/")):
            continue
        is_cached = cells is not None and path.resolve().is_relative_to(cells.resolve())
        is_drawn = name.startswith(f"{paper.PLOTS}/") and not config.plots
        if not is_cached and not is_drawn:
            others.append(name)
    if others:
        listed = _listed(others, SHOWN_FILES)
        yield f"not written by a run of this config, and not verified: {listed}"
