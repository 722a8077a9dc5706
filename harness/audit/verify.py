"""A folder of results, computed again from its inputs and compared."""

from __future__ import annotations

import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..config.model import Config
from ..core.arrow import call, cast, to_numpy
from ..core.leaderboard import Leaderboard
from ..errors import InputError, and_more, counted, in_json
from ..experiment import manifest as manifests
from ..experiment.cache import Cache, sources
from ..experiment.evaluate_all import evaluate_all, executor
from ..experiment.manifest import PICTURES, Manifest, installed_packages
from ..experiment.results import (
    MANIFEST,
    Results,
    changed_inputs,
    config_and_cells,
    read_bytes,
    read_manifest,
    refuse_plugins,
    root_of,
    with_inputs,
)
from ..experiment.results import written as files_written
from ..experiment.run import render, summarise, tables_and_plots
from ..input_files import joined, name_of, url_of
from ..readers.files import is_file
from ..reports.grid import Answer, Grid, grid
from ..reports.phrases import listed
from ..reports.text import cut_all

_CODE = "code of the harness"
_MOVED = (
    "inputs are gone; if you moved them or the results, give the folder that the config's paths "
    "start from now: --inputs FOLDER"
)
_FROM_CACHE = {"mode", "queries", "values"}
"""Counts of a cross-check: they depend on cached cells and on pytrec_eval."""
_CAUSES = {
    "input": "an input changed",
    "edited": "the file differs from its hash in manifest.json: edited, or a run was stopped",
    "version": "computed by other versions now",
    "code": "the harness's code changed",
    "unknown": "inputs and versions are the same",
}
SHOWN_INPUTS = 6
Cause = Literal["input", "edited", "version", "code", "unknown"]
NOTHING, ABSENT = "(nothing)", "undefined"
"""Shown for an empty text, and for a field without a value."""
_NAMES = ("dataset", "run", "baseline", "metric", "qid")
"""Columns that identify a row."""
WIDTH = 120
"""Characters of a text that are shown."""


class Mismatch(NamedTuple):
    """One difference: `file` is relative to the results, or an input's path.

    `kind` is an input, a cell that was or is evaluated, a value, or a file beyond its values.
    `cause` follows from the manifest: the input changed, the file was edited after it was
    written, or versions or the code differ.
    """

    kind: Literal["input", "cell", "value", "file"]
    file: str
    where: str
    then: str
    now: str
    cause: Cause = "unknown"


class VersionChange(NamedTuple):
    """A version that differs from the one that computed the results."""

    name: str
    then: str | None
    now: str | None


@dataclass
class Verification:
    """Result of recomputing a folder: the differences and their causes.

    `differences` has the first of each file, inputs first; `by_file` how many there are in each.
    `versions` that differ are not a difference by themselves. `verified` counts what was compared,
    `notes` list what was left out.
    """

    folder: Path
    manifest: Manifest = field(repr=False)
    differences: list[Mismatch] = field(default_factory=list)
    by_file: Counter[str] = field(default_factory=Counter)
    versions: list[VersionChange] = field(default_factory=list)
    verified: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Number of all differences."""
        return sum(self.by_file.values())

    @property
    def is_verified(self) -> bool:
        """Whether every input and every digit is unchanged."""
        return not self.total

    def add(self, first: Mismatch, where: str, n: int = 1) -> None:
        """Add the first of `n` differences of a file, or of all inputs or cells."""
        self.differences.append(first)
        self.by_file[where] += n

    def cause(self, is_written: bool | None) -> Cause:
        """Return the cause of a difference.

        `is_written` is whether the file has the hash it was written with; None without a hash.
        """
        if is_written is False:
            return "edited"
        if any(difference.kind == "input" for difference in self.differences):
            return "input"
        if self.versions:
            return "code" if _CODE in {change.name for change in self.versions} else "version"
        return "edited" if is_written is None else "unknown"


def verify(
    folder: Path,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    worker_timeout: int | None = None,
    inputs: Path | None = None,
    plugins: bool = False,
) -> Verification:
    """Recompute every number of a results folder, and compare all digits.

    Cells are evaluated from their files, none from a cache; every file is made again and compared
    byte for byte, values in Parquet bit by bit. Pictures are compared if matplotlib is the same
    version. `inputs` is where the config's paths start from, if files were moved; `plugins` is
    whether to run the config's plugins.

    Raises InputError if the folder holds no results or those of an older format, if all of its
    inputs are gone, or if its config names plugins and `plugins` is false.
    """
    content = read_bytes(folder / MANIFEST)
    manifest = with_inputs(read_manifest(folder, content), inputs)
    if not plugins:
        refuse_plugins(folder, manifest, "give --plugins if you trust this code")
    outcome = Verification(folder, manifest)
    root = root_of(folder, manifest)
    present = [is_file(joined(root, file.path)) for file in manifest.inputs]
    if any(present) and not all(present):
        _compare_inputs(outcome, {})
        outcome.notes.append("nothing was computed again, as inputs are gone")
        return outcome
    is_near = scheduler is None or url_of(folder)  # to workers, which are elsewhere
    place = folder if is_near else folder.absolute()
    config, cells = config_and_cells(place, manifest, failed=True, load_plugins=plugins)
    outcome.versions += _versions(manifest, config)
    with executor(jobs, scheduler, worker_timeout) as pool:
        evaluated = evaluate_all(config, cells, Cache(None), pool)
    policy = config.policy.for_runs()
    ties = {policy.with_settings(metric.settings).ties for metric in config.parsed_metrics()}
    if without_peer := sorted(way for way in ties if way.startswith(("average", "random"))):
        reason = "pytrec_eval has no counterpart to check them against"
        outcome.notes.append(f"values under ties: {', '.join(without_peer)}: {reason}")
    files = evaluated.manifest.inputs
    _compare_inputs(outcome, {name_of(joined(root, file.path)): file.sha256 for file in files})
    for mismatch in _failures(outcome, evaluated.board):
        outcome.add(mismatch, "cells")
    if outcome.by_file["cells"]:
        outcome.notes.append("values were not compared: they need all cells")
    else:
        _compare_all(outcome, config, render(summarise(evaluated, cells), manifest), content)
    return outcome


def _compare_inputs(outcome: Verification, digests: Mapping[str, str]) -> None:
    """Add the inputs that are gone or have other bytes."""
    changed = [*changed_inputs(outcome.folder, outcome.manifest, hashed=digests)]
    gone = {change.path for change in changed if not is_file(change.path)}
    for record, path, now in changed:
        then = f"sha256 {record.sha256}"
        new = f"sha256 {now}" if now else "gone" if path in gone else "cannot be read"
        outcome.add(Mismatch("input", record.path, "bytes", then, new, "input"), "inputs")
    outcome.verified["inputs"] = len(outcome.manifest.inputs) - len(changed)
    if gone:
        outcome.notes.append(_MOVED)


def _failures(outcome: Verification, board: Leaderboard) -> Iterator[Mismatch]:
    """Yield the cells that are evaluated now and failed then, or the other way round."""
    now = {str(failed.key): failed.error.splitlines()[0] for failed in board.failed}
    now |= dict.fromkeys((str(entry.key) for entry in board.entries), "")
    for record in (*outcome.manifest.failed, *outcome.manifest.cells):
        cell, error = str(record.key), getattr(record, "error", "")
        new = now.get(cell)
        if new is None or bool(new) != bool(error):
            text = "not found under this name" if new is None else new or "evaluated"
            yield Mismatch("cell", cell, "error", error or "evaluated", text, outcome.cause(True))


def _compare_all(outcome: Verification, config: Config, derived: Results, content: bytes) -> None:
    then = outcome.manifest.versions.get(PICTURES) or "not recorded"
    now = manifests.versions(pictures=True)[PICTURES]
    if config.plots and then != now:
        why = "is not installed here" if now is None else f"was {then}, and is {now} here"
        outcome.notes.append(f"pictures were not compared: matplotlib {why}")
        config = config.model_copy(update={"plots": ()})
    written, trace = Manifest.model_validate_json(content), sha256(content).hexdigest()
    rendered = tables_and_plots(replace(derived, config=config, manifest=written, trace=trace))
    again = _written_again(outcome)
    for name in sorted(again):
        outcome.notes.append(f"{name} was not compared: 'harness page' wrote it again")
    files = {name: new for name, new in derived.files.items() if name not in again}
    for name, new in files.items():
        _compare_file(outcome, name, new)
    _compare_manifest(outcome, derived.manifest)
    for name, new in rendered.items():
        _compare_file(outcome, name, new)
    entries = derived.cells.entries
    outcome.verified |= {
        "cells": len(entries) + len(derived.cells.failed),
        "files": len(files) + len(rendered),
        "values": sum(entry.evaluation.values.size for entry in entries),
        "summaries": sum(len(entry.evaluation.metrics) for entry in entries),
    }
    if derived.comparisons is not None:
        outcome.verified["comparisons"] = len(derived.comparisons.rows)
        outcome.verified["standings"] = len(derived.comparisons.standings)


def _written_again(outcome: Verification) -> set[str]:
    """Return the files of the page that ``harness page`` has written after the run."""
    now, _ = files_written(outcome.folder)
    then = outcome.manifest.outputs
    pages = (name for name in now if name.endswith((".html", ".js")))
    return {name for name in pages if now[name] != then.get(name, now[name])}


def _compare_file(outcome: Verification, name: str, now: bytes) -> None:
    """Compare a file of the folder with the expected content, and add the first difference."""
    try:
        then = read_bytes(outcome.folder / name)
    except InputError:
        texts = "the whole file", "missing", "the file as it is written"
        outcome.add(Mismatch("file", name, *texts, outcome.cause(None)), name)
        return
    recorded = outcome.manifest.outputs.get(name)
    is_written = None if recorded is None else sha256(then).hexdigest() == recorded
    first, total = compare(name, then, now)
    if first is None and is_written is False:
        then_text = "different bytes with the same values"
        first, total = Mismatch("file", name, "bytes", then_text, f"{len(now)} bytes"), 1
    if first is not None:
        outcome.add(first._replace(cause=outcome.cause(is_written)), name, total)


def _compare_manifest(outcome: Verification, now: Manifest) -> None:
    """Add where the manifest's cells, inputs and files differ from those computed."""
    changed = {diff.file for diff in outcome.differences if diff.kind == "input"}
    written = outcome.manifest.outputs

    def computed(manifest: Manifest) -> dict[str, Any]:
        """Return the parts that do not depend on the cache."""
        plain = manifest.model_dump(exclude_defaults=True)
        cells = {}
        for at, cell in enumerate(plain["cells"]):
            check = {k: n for k, n in cell["crosscheck"].items() if k not in _FROM_CACHE}
            cells[str(at)] = {**cell, "crosscheck": check}
        inputs = {file["path"]: file for file in plain["inputs"] if file["path"] not in changed}
        outputs = {k: v for k, v in manifest.outputs.items() if k not in written}
        rest = {name: plain.get(name) for name in ("failed", "choices", "seeds")}
        return {"cells": cells, **rest, "inputs": inputs, "outputs": outputs}

    differences = list(leaves(computed(outcome.manifest), computed(now)))
    if differences:
        where, *values = differences[0]
        a, b = (NOTHING if value is None else str(value) for value in values)
        first = Mismatch("value", MANIFEST, where, a, b, outcome.cause(None))
        outcome.add(first, MANIFEST, len(differences))


def compare(name: str, then: bytes, now: bytes) -> tuple[Mismatch | None, int]:
    """Return the first difference of two versions of a file, and how many fields or lines differ.

    CSV and Parquet are compared by rows and columns, text by lines, other files whole.
    """
    is_parquet = name.endswith(".parquet")
    if then == now:
        return None, 0
    if not is_parquet and b"\0" in then + now:
        return _only(name, "bytes", f"{len(then)} bytes", f"{len(now)} other bytes")
    if is_parquet or name.endswith(".csv"):
        new = _table(now, is_parquet)
        try:
            old = _table(then, is_parquet)
        except (pa.ArrowException, OSError, ValueError, LookupError) as error:
            return _only(name, "the whole file", f"cannot be read: {error}", f"{len(new)} rows")
        first, total = _tables(name, old, new)
        if is_parquet or total:
            return first, total
    lines = (side.decode("utf-8", "backslashreplace").split("\n") for side in (then, now))
    pairs = enumerate(itertools.zip_longest(*lines, fillvalue=NOTHING), start=1)
    wrong = [(f"line {number}", old, new) for number, (old, new) in pairs if old != new]
    return _only(name, *wrong[0])[0], len(wrong)


def _only(name: str, where: str, then: str, now: str) -> tuple[Mismatch, int]:
    return Mismatch("value", name, where, then, now), 1


def _tables(name: str, old: pa.Table, new: pa.Table) -> tuple[Mismatch | None, int]:
    """Return the first field in which two tables of text differ, and how many do."""
    if old.column_names != new.column_names:
        return _only(name, "columns", ", ".join(old.column_names), ", ".join(new.column_names))
    if len(old) != len(new):
        return _only(name, "number of rows", str(len(old)), str(len(new)))
    pairs = zip(old.columns, new.columns, strict=True)
    rows = [np.flatnonzero(to_numpy(call("not_equal", pair))).tolist() for pair in pairs]
    total = sum(map(len, rows))
    if not total:
        return None, 0
    row, at = min((differing[0], at) for at, differing in enumerate(rows) if differing)
    names = ", ".join(str(new[name][row]) for name in _NAMES if name in new.column_names)
    line = f"row {row + 1}" if name.endswith(".parquet") else f"line {row + 2}"
    a, b = (str(table[at][row]) or NOTHING for table in (old, new))
    where = f"{line} ({names}), {new.column_names[at]}"
    return Mismatch("value", name, where, a, b), total


def _table(content: bytes, is_parquet: bool) -> pa.Table:
    """Return a table's values as text: a float has every digit, and a NaN is equal to itself.

    It is read without threads: one that is not done when the process ends would abort it.
    """
    if not is_parquet:
        header, *rows = csv.reader(io.StringIO(content.decode("utf-8")))
        columns = ([row[at] for row in rows] for at in range(len(header)))
        return pa.table([pa.array(texts, pa.string()) for texts in columns], header)
    table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
    texts = (cast(column, pa.string()) for column in table.columns)
    absent = pa.scalar(ABSENT)
    return pa.table([call("coalesce", [text, absent]) for text in texts], table.column_names)


def leaves(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the keys at which two pieces of plain data differ, such as ``compare.test``."""
    if old == new or (not old and not new and 0 not in (old, new)):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys([*old, *new]):
            yield from leaves(old.get(name), new.get(name), f"{path}.{name}".lstrip("."))
    else:
        yield path, old, new


def _versions(manifest: Manifest, config: Config) -> Iterator[VersionChange]:
    versions = manifests.versions(pictures=PICTURES in manifest.versions)
    then: dict[str, str | None] = {**manifest.versions, "platform": manifest.platform}
    now: dict[str, str | None] = {**versions, "platform": manifests.SYSTEM}
    then[_CODE], now[_CODE] = manifest.code[:12], sources()[:12]
    packages = manifest.packages, installed_packages(config.parsed_metrics())
    for side, installed in zip((then, now), packages, strict=True):
        for name, package in installed.items():
            side[f"package {name}"] = f"{package.version} ({package.sha256[:12]})"
    return (VersionChange(*change) for change in leaves(then, now))


def grids(outcome: Verification) -> Iterator[Grid]:
    """Yield the tables of ``harness verify``: the answer, differences, inputs first, versions."""
    yield Grid(answers=(_answer(outcome),))
    inputs = [diff for diff in outcome.differences if diff.kind == "input"]
    yield from map(_difference, inputs[:SHOWN_INPUTS])
    for note in and_more(len(inputs) - SHOWN_INPUTS, "--format json lists every input"):
        yield Grid(title=f"input: {note}")
    yield from map(_difference, outcome.differences[len(inputs) :])
    if outcome.versions:
        rows = [[each.name, each.then or "none", each.now or "none"] for each in outcome.versions]
        yield grid(["version", "then", "now"], rows, left=3)
    yield from (Grid(title=f"note: {note}") for note in outcome.notes)


def _answer(outcome: Verification) -> Answer:
    """Name the verdict on a folder, and count what was compared."""
    counts = listed([f"{n:,} {name}" for name, n in outcome.verified.items() if n] or ["nothing"])
    folder = name_of(outcome.folder)
    if outcome.is_verified:
        return Answer(f"{folder} is verified: every digit is the same ({counts})", "good")
    total = counted(outcome.total, "difference")
    places = listed(f"{n:,} in {name}" for name, n in outcome.by_file.items())
    return Answer(f"{folder} is not verified: {total}, {places} (compared: {counts})", "bad")


def _difference(mismatch: Mismatch) -> Grid:
    kind, file, where, then, now, cause = mismatch
    why = "" if kind == "input" else f" ({_CAUSES[cause]})"
    if cause == "edited" and file == MANIFEST:
        why = " (the file was edited after it was written)"
    then, now = cut_all((then, now), WIDTH)
    notes = f"then: {then}", f"now:  {now}"
    return Grid(title=f"{kind}: {file}: {where}{why}", notes=notes)


def as_json(outcome: Verification) -> str:
    """Return the same as one JSON object."""
    content = {
        "folder": name_of(outcome.folder),
        "verified": outcome.is_verified,
        "total": outcome.total,
        "by_file": dict(outcome.by_file),
        "differences": [mismatch._asdict() for mismatch in outcome.differences],
        "versions": [change._asdict() for change in outcome.versions],
        "counts": dict(outcome.verified),
        "notes": list(outcome.notes),
    }
    return in_json(content, indent=1) + "\n"
