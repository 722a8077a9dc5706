"""``harness cache``: lists the records of a cache, finds unneeded ones, and checks values."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..config import load as configs
from ..config.cells import Cell, resolve
from ..config.model import Config
from ..config.patterns import natural
from ..errors import InputError, Problem, counted, in_json, lines_of
from ..reports.text import columns
from .cache import DAMAGED, INDEX, VALUES, Cache, Keys, Record, code, hash_of
from .results import MANIFEST, config_and_cells, read_manifest, refuse_plugins
from .workers import Job, each

OTHER_CODE = "other code"
"""Text for a record that the present code would not look for."""


@dataclass(frozen=True, eq=False)
class StoredRecord:
    """One record of a cache."""

    path: Path
    size: int
    """Bytes."""
    days: float
    """Since it was written."""
    record: Record | None
    """The record; None if it cannot be read."""
    error: str = ""
    """The reason, if it cannot be read or does not fit its name."""

    @property
    def key(self) -> str:
        """Return its name: the hash of all that its values depend on."""
        return self.path.stem

    @property
    def about(self) -> Mapping[str, Any]:
        """Dataset, run and files of its cell, and what its values follow from."""
        return {} if self.record is None else self.record.notes.about

    @property
    def is_current(self) -> bool:
        """Whether the present code would look for it."""
        return bool(self.about.get("code", [""])[0] == code())


def folder_of(place: Path) -> Path:
    """Return the cache of a config, of a folder of results, or a cache itself; else InputError."""
    folder: Path | None = place
    if place.is_file():
        folder = configs.load(place).cache_folder
    elif (place / MANIFEST).is_file():
        manifest = read_manifest(place)
        name = str(manifest.config.get("cache") or (place / "cells").absolute())
        folder = None if name == "none" else place / manifest.base / name
    elif not (place / INDEX).is_file() and not any(Cache(place).records()):
        folder = place / "cells"
        if not folder.is_dir():
            what = "expected a config, a folder of results or a cache"
            raise InputError(Problem(str(place), what))
    if folder is None:
        raise InputError(Problem(str(place), "expected a cache, got cache: none"))
    return folder


def config_of(place: Path) -> tuple[Config, list[Cell]]:
    """Return a config and its cells: of its file, or of a folder of results; else InputError."""
    if place.is_file():
        config = configs.load(place)
        return config, resolve(config)
    manifest = read_manifest(place)
    # without its code no record of a plugin's metric would be found
    refuse_plugins(place, manifest, "name the config that wrote them")
    return config_and_cells(place, manifest)


def cells_by_key(place: Path, cache: Cache) -> dict[str, Cell]:
    """Return the cells of a config or of results by the names of the records to look for."""
    config, cells = config_of(place)
    keys, found = Keys(config, cells), {}
    for cell in cells:
        digests = {path: cache.hashed(path).digest for path in keys.paths(cell)}
        found[hash_of(keys.parts(cell, digests))] = cell
    return found


def records(folder: Path) -> Iterator[StoredRecord]:
    """Yield every record of a cache, read and checked, in the order of their names."""
    for path in Cache(folder).records():
        record, error = None, ""
        try:
            found = path.stat()
            record = Record.from_parquet(path.read_bytes())
            parts = {part: record.notes.about.get(part) for part in ("code", "inputs", "choices")}
            error = "" if hash_of(parts) == path.stem else "is not what its name says"
        except FileNotFoundError:
            continue  # another run put a new one in its place, or pruned it
        except DAMAGED as problem:
            error = f"cannot be read: {' '.join(str(problem).split())}"
        days = (time.time() - found.st_mtime) / 86_400
        yield StoredRecord(path, found.st_size, days, record, error)


def unneeded(
    folder: Path, keep: Sequence[Path] = (), days: float | None = None
) -> tuple[list[StoredRecord], int]:
    """Return the records that can go, and how many there are in all.

    Records of the cells of configs and results in `keep` stay. With `days`, only records written
    longer ago go. InputError without either.
    """
    if not keep and days is None:
        what = "expected --keep or --days, got neither"
        fix = "name the configs or results whose records to keep, or the age of those to delete"
        raise InputError(Problem(str(folder), what, fix=fix))
    cache = Cache(folder)
    needed = {key for place in keep for key in cells_by_key(place, cache)}
    found = list(records(folder))
    gone = [one for one in found if one.key not in needed and (days is None or one.days > days)]
    return gone, len(found)


def check_deletable(folder: Path, place: Path) -> None:
    """Raise unless records may be deleted from a cache that was reached from `place`.

    It must lie in the folder of results unless `place` is the cache.
    """
    results = configs.load(place).output_folder if place.is_file() else place
    if not folder.resolve().is_relative_to(results.resolve()):
        what = f"expected a cache in the folder of results {results}, got one outside of it"
        fix = f"name the cache itself: harness cache prune {shlex.quote(str(folder))} --delete "
        fix += f"--keep {shlex.quote(str(place))}"
        raise InputError(Problem(str(folder), what, fix=fix))


def recomputed(place: Path, found: Sequence[StoredRecord], n: int) -> Iterator[StoredRecord]:
    """Yield one in `n` records of a config or results, with the first value that differs now."""
    config, cells = config_of(place)
    keys = cells_by_key(place, Cache(folder_of(place)))
    for one in [one for one in found if one.key in keys][::n]:
        if one.record is not None:
            cell = keys[one.key]
            ((_, now),) = each(Job.of(config, cells, [cells.index(cell)]))
            if isinstance(now, Record):
                error = _difference(one.record, now)
            else:
                error = f"cannot be evaluated again: {now}"
            yield replace(one, error=error and f"{cell.run} on {cell.dataset}: {error}")


def _difference(then: Record, now: Record) -> str:
    """Return the first difference of two records, by the metrics of the second; "" for none."""
    if not then.qids.equals(now.qids):
        return "has other queries now"
    for name in now.metrics:
        old, new = (one.columns[f"{VALUES}:{name}"] for one in (then, now))
        same = (old.view(np.int64) == new.view(np.int64)) | (np.isnan(old) & np.isnan(new))
        if not same.all():
            at = int(np.argmin(same))
            return f"{name} of query {then.qids[at]} was {float(old[at])!r}, got {float(new[at])!r}"
    was, is_now = then.notes.counts, now.notes.counts
    return "" if was == is_now else f"counts were {was}, got {is_now}"


def table(found: Sequence[StoredRecord], *, width: int | None = None) -> str:
    """Return a line a record, by dataset, run and files, and the sum."""
    rows = [["record", "dataset", "run", "files", "queries", "metrics", "size", "days", ""]]
    for one in _ordered(found):
        record, what = one.record, [""] * 5
        if record is not None:
            names = (one.about.get(name, "") for name in ("dataset", "run"))
            files = " ".join(one.about.get("files", ()))
            what = [*map(str, (*names, files, len(record.qids), len(record.metrics)))]
        state = one.error or ("" if one.is_current else OTHER_CODE)
        rows.append([one.key[:12], *what, f"{one.size / 1000:,.1f} kB", f"{one.days:.1f}", state])
    shown = [columns(rows, left=4, width=width)] if found else []
    return "".join(f"{part.rstrip()}\n" for part in (*shown, _sum(found)))


def _ordered(found: Iterable[StoredRecord]) -> list[StoredRecord]:
    """Return records by dataset, run and files (which have the seed), numbers by their size."""
    names = ("dataset", "run", "files")
    return sorted(found, key=lambda one: [natural(str(one.about.get(n, ""))) for n in names])


def _sum(found: Sequence[StoredRecord]) -> str:
    return f"{counted(len(found), 'record')}, {sum(one.size for one in found) / 1000:,.1f} kB"


def as_json(found: Sequence[StoredRecord]) -> str:
    """Return all that is known of each record."""
    rows = [
        {
            "record": one.key,
            "path": str(one.path),
            "bytes": one.size,
            "days": round(one.days, 3),
            "current": one.is_current,
            "error": one.error,
            "queries": 0 if one.record is None else len(one.record.qids),
            "metrics": [] if one.record is None else one.record.metrics,
            **one.about,
        }
        for one in _ordered(found)
    ]
    return in_json(rows, indent=1) + "\n"


def checked(found: Sequence[StoredRecord], again: Sequence[StoredRecord] | None) -> str:
    """Return what is wrong with records, and how many were evaluated again."""
    lines = [f"{one.path}: {one.error}" for one in (*found, *(again or ())) if one.error]
    parts = [f"{len(lines)} wrong" if lines else "all sound"]
    if again is not None:
        some = [one.record for one in again if one.record is not None]
        values = sum(len(one.qids) * len(one.metrics) for one in some)
        n = f"{len(again):,} of {len(found):,} evaluated again"
        parts.append(f"{n}, {counted(values, 'value')}")
    return lines_of([*lines, f"{_sum(found)}: {'; '.join(parts)}"])
