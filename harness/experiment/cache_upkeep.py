"""A cache looked after: what it holds, what is not needed any more, whether it is sound."""

from __future__ import annotations

import json
import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..config import load as configs
from ..config import sweep as sweep
from ..config.cells import Cell
from ..config.model import Config
from ..config.patterns import natural
from ..errors import InputError, Problem, in_json, legible
from ..reports.text import columns
from . import origin as origin
from .cache import INDEX, MARKER, Cache, is_marked
from .cache_key import Naming, cell_key, code
from .cell_record import Record
from .origin import MANIFEST
from .work import Job, each

_DAY = 86_400.0
OTHER_CODE, CHANGED, NO_CELL = "other code", "inputs changed since", "no cell of these"
"""Why a record is none of a config's cells."""


@dataclass(frozen=True, eq=False)
class Kept:
    """One record of a cache.

    Parameters
    ----------
    path : Path
    size : int
        Bytes.
    age : float
        Days since it was written.
    record : Record, optional
        None where it cannot be read.
    error : str
        Why it cannot, or why it is not what its name says; empty where it is sound.
    """

    path: Path
    size: int
    age: float
    record: Record | None
    error: str = ""

    @property
    def key(self) -> str:
        """Its name: the hash of all that it follows from."""
        return self.path.stem

    @property
    def about(self) -> Mapping[str, Any]:
        """What it is of."""
        return {} if self.record is None else self.record.about

    @property
    def is_current(self) -> bool:
        """Whether the code that is here would look for it."""
        return self.about.get("code") == code()


def folder_of(place: Path) -> Path:
    """Return the cache of a config, of a folder of results, or a cache itself.

    Raises
    ------
    InputError
        If there is none.
    """
    folder: Path | None = place
    if place.is_file():
        folder = configs.load(place).cache_folder
    elif (place / MANIFEST).is_file():
        manifest = origin.read_manifest(place)
        name = manifest["config"].get("cache") or str((place / "cells").absolute())
        if not isinstance(name, str):
            raise origin.misfit(place / MANIFEST, f"expected text for $.config.cache, got {name!r}")
        folder = None if name == "none" else place / manifest["base"] / name
    elif not (place / INDEX).is_file() and not any(Cache(place).records()):
        folder = place / "cells"
        if not folder.is_dir():
            what = "is neither a config, nor a folder of results, nor a cache"
            raise InputError(Problem(str(place), what, fix="name one of these"))
    if folder is None:
        raise InputError(Problem(str(place), "keeps no evaluated cells: cache is none"))
    return folder


def config_of(place: Path) -> tuple[Config, list[Cell]]:
    """Return a config and its cells: of its file, or of a folder of results.

    Raises
    ------
    InputError
        Where `place` is neither.
    """
    if place.is_file():
        config = configs.load(place)
        return config, sweep.resolve(config)
    manifest = origin.read_manifest(place)
    # without its code no record of a plugin's metric would be found again
    origin.refuse_plugins(place, manifest, "name the config that wrote them")
    return origin.again(place, manifest)


class Wanted(NamedTuple):
    """A cell, and what its record calls the metrics that compare to another run."""

    cell: Cell
    names: Mapping[str, str]


def keys_of(
    config: Config, cells: Sequence[Cell], cache: Cache, then: Mapping[Path, str] | None = None
) -> dict[str, Wanted]:
    """Return the cells of a config by the names of their records, whether there are any or not.

    Files whose hash is not known are read for it; `then` has the hashes that are to be taken in
    place of today's, by resolved path.
    """
    naming, found = Naming(config, cells), {}
    for cell in cells:
        paths = (*naming.files(cell), *naming.others(cell))
        known = {
            path: (then or {}).get(Path(path).resolve()) or cache.hashed(path).digest
            for path in paths
        }
        key = cell_key(naming.follows_from(cell, known))
        found[key] = Wanted(cell, naming.names(cell, known))
    return found


def kept(folder: Path) -> Iterator[Kept]:
    """Yield every record of a cache, read and checked, in the order of their names."""
    for path in Cache(folder).records():
        record, error = None, ""
        try:
            found = path.stat()
            record = Record.from_parquet(path.read_bytes())
            parts = {part: record.about.get(part) for part in ("code", "inputs", "choices")}
            error = "" if cell_key(parts) == path.stem else "is not what its name says"
        except FileNotFoundError:
            continue  # another run put a new one in its place, or pruned it
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as problem:
            error = f"cannot be read: {' '.join(str(problem).split())}"
        yield Kept(path, found.st_size, (time.time() - found.st_mtime) / _DAY, record, error)


def unneeded(
    folder: Path, keep: Iterable[Path] = (), days: float | None = None
) -> tuple[list[Kept], int]:
    """Return the records that can go, and how many there are in all.

    Parameters
    ----------
    folder : Path
        The cache.
    keep : iterable of Path
        Configs and folders of results whose cells stay, as far as the code here would look for
        their records; of results also those that they were made of, if inputs changed since.
    days : float, optional
        Only those written longer ago.

    Raises
    ------
    InputError
        Where nothing says what stays.
    """
    places = list(keep)
    if not places and days is None:
        what = "nothing says which of its records are needed"
        fix = "name a config or results with --keep, or an age with --days"
        raise InputError(Problem(str(folder), what, fix=fix))
    cache = Cache(folder)
    needed: set[str] = set()
    for place in places:
        known = config_of(place)
        needed |= {*keys_of(*known, cache), *keys_of(*known, cache, _then(place))}
    found = list(kept(folder))
    gone = [
        one for one in found if one.key not in needed and (days is None or one.age > days)
    ]  # fmt: skip
    return gone, len(found)


def _then(place: Path) -> dict[Path, str]:
    """Return the hashes of the inputs that results were made of; none of a config."""
    if place.is_file():
        return {}
    manifest = origin.read_manifest(place)
    root = origin.root_of(place, manifest)
    return {(root / each["path"]).resolve(): each["sha256"] for each in manifest["inputs"]}


def strangers(place: Path, found: Iterable[Kept]) -> dict[str, str]:
    """Return why records are not those of a config's cells as they are now, by their names.

    Parameters
    ----------
    place : Path
        The config, or a folder of results.
    found : iterable of Kept
        Records of its cache.
    """
    config, cells = config_of(place)
    cache, naming = Cache(folder_of(place)), Naming(config, cells)
    keys, known = keys_of(config, cells, cache), list[Any]()
    for cell in cells:
        files = naming.files(cell)
        choices = naming.follows_from(cell, dict.fromkeys(files, ""))["choices"]
        known.append([cell.dataset, cell.run, [Path(path).name for path in files], choices])
    known = json.loads(json.dumps(known))  # as records hold it
    why = {}
    for one in found:
        if one.key not in keys and not one.error:
            what = [one.about.get(name) for name in ("dataset", "run", "files", "choices")]
            changed = CHANGED if what in known else NO_CELL
            why[one.key] = changed if one.is_current else OTHER_CODE
    return why


def check_deletable(folder: Path, place: Path) -> None:
    """Raise unless records may be deleted from a cache that was reached from `place`.

    A manifest or a config can name any folder. So the cache must hold the marker that
    ``harness run`` writes, and lie in the folder of results unless `place` is the cache itself.

    Raises
    ------
    InputError
    """
    results = configs.load(place).output_folder if place.is_file() else place
    if not folder.resolve().is_relative_to(results.resolve()):
        what = f"expected a cache in the folder of results {results}, got one outside of it"
        fix = f"name the cache itself: harness cache prune {shlex.quote(str(folder))} --delete "
        fix += f"--keep {shlex.quote(str(place))}"
        raise InputError(Problem(str(folder), what, fix=fix))
    if not is_marked(folder):
        what = f"expected a cache with the file {MARKER} that harness run writes, got none"
        fix = "run a config with this cache first, or delete its files yourself"
        raise InputError(Problem(str(folder), what, fix=fix))


def remove(some: Iterable[Kept]) -> None:
    """Delete records; a run that looks for one of them computes it again."""
    for one in some:
        one.path.unlink(missing_ok=True)


class Recomputed(NamedTuple):
    """A record whose cell was evaluated again: how many values, and the first that differs."""

    kept: Kept
    values: int
    error: str = ""


def recomputed(place: Path, found: Sequence[Kept], one_in: int) -> Iterator[Recomputed]:
    """Yield what comes of evaluating one in so many of a config's cells again.

    Parameters
    ----------
    place : Path
        The config, or a folder of results.
    found : sequence of Kept
        The records of its cache.
    one_in : int
        1 for all of them.
    """
    config, cells = config_of(place)
    records = {one.key: one for one in found}
    keys = keys_of(config, cells, Cache(folder_of(place)))
    known = [(one, one.record, keys[key]) for key, one in records.items() if key in keys]
    for one, record, (cell, known_as) in known[::one_in]:
        if record is None:
            continue
        names = tuple(str(metric) for metric in config.parsed_metrics())
        names = tuple(name for name in names if known_as.get(name, name) in record.values)
        (done,) = each(Job.of(config, cells, {cells.index(cell): names}))
        if done.record is None:
            yield Recomputed(one, 0, f"cannot be evaluated again: {done.error}")
        else:
            anew = done.record.renamed(known_as)
            yield Recomputed(one, len(record.qids) * len(names), _differs(record, anew))


def _differs(then: Record, now: Record) -> str:
    """Return where two records differ, by the metrics of the second; nothing if they do not."""
    if not then.qids.equals(now.qids):
        return "has other queries now"
    for name, values in now.values.items():
        old = then.values[name]
        same = (old.view(np.int64) == values.view(np.int64)) | (np.isnan(old) & np.isnan(values))
        if not same.all():
            at = int(np.argmin(same))
            was, found = float(old[at]), float(values[at])
            return f"{name} of query {then.qids[at]} is {was!r}, and {found!r} when derived anew"
    return "" if then.counts == now.counts else f"counts are {then.counts}, and {now.counts} anew"


SPARED = "not asked for"
_COLUMNS = ("record", "dataset", "run", "files", "queries", "metrics", "size", "days", "")


def table(found: Sequence[Kept], why: Mapping[str, str] | None = None) -> str:
    """Return a line a record, by dataset, run and files, and the sum.

    `why` says what is the matter with records, by their names.
    """
    rows = [list(_COLUMNS), *(_row(one, (why or {}).get(one.key, "")) for one in ordered(found))]
    shown = [columns(rows, left=4)] if found else []
    return "".join(f"{part.rstrip()}\n" for part in (*shown, summed(found)))


def ordered(found: Iterable[Kept]) -> list[Kept]:
    """Return records by dataset, run and files (which have the seed), numbers by their size."""

    def place(one: Kept) -> tuple[Any, ...]:
        names = (str(one.about.get(name, "")) for name in ("dataset", "run"))
        files = [natural(str(name)) for name in one.about.get("files", ())]
        return *map(natural, names), files, one.key

    return sorted(found, key=place)


def summed(found: Sequence[Kept]) -> str:
    """Return how many records there are, and of how many bytes.

    >>> summed([])
    '0 records, 0 B'
    """
    n = len(found)
    return f"{n:,} record{'s' * (n != 1)}, {size(sum(one.size for one in found))}"


def size(n: int) -> str:
    """Return bytes as people read them.

    >>> size(999), size(12_345), size(5_000_000)
    ('999 B', '12.3 kB', '5.0 MB')
    """
    for unit, name in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")):
        if n >= unit:
            return f"{n / unit:.1f} {name}"
    return f"{n} B"


def _row(one: Kept, why: str) -> list[str]:
    record, about = one.record, one.about
    if record is None:
        what = [""] * 5
    else:
        names = (about.get("dataset", ""), about.get("run", ""), " ".join(about.get("files", ())))
        what = [*map(str, names), str(len(record.qids)), str(len(record.values))]
    state = one.error or ("" if one.is_current else OTHER_CODE) or why
    return [one.key[:12], *what, size(one.size), f"{one.age:.1f}", state]


def as_json(found: Sequence[Kept]) -> str:
    """Return all that is known of each record."""
    rows = [
        {
            "record": one.key,
            "path": str(one.path),
            "bytes": one.size,
            "days": round(one.age, 3),
            "current": one.is_current,
            "error": one.error,
            "queries": 0 if one.record is None else len(one.record.qids),
            "metrics": [] if one.record is None else list(one.record.values),
            **one.about,
        }
        for one in ordered(found)
    ]
    return in_json(rows, indent=1) + "\n"


def checked(
    found: Sequence[Kept], again: Sequence[Recomputed] | None, others: Mapping[str, str]
) -> str:
    """Return what is wrong with records, and how many were looked at.

    Parameters
    ----------
    found : sequence of Kept
    again : sequence of Recomputed, optional
        None if no cell was to be evaluated again.
    others : mapping of str to str
        Why records were not evaluated again, by their names.
    """
    lines = [f"{one.path}: {one.error}" for one in found if one.error]
    for one in again or ():
        if one.error:
            about = one.kept.about
            run = f"{about.get('run')} on {about.get('dataset')}"
            lines.append(f"{one.kept.path}: {run}: {one.error}")
    parts = [f"{len(lines)} wrong" if lines else "all sound"]
    if again is not None:
        values = f", {sum(one.values for one in again):,} values"
        parts.append(f"{len(again):,} evaluated anew{values}" if again else "none evaluated anew")
        reasons = Counter(others.values())
        reasons[SPARED] = sum(not one.error for one in found) - len(again) - len(others)
        parts += [f"{count:,} not: {why}" for why, count in reasons.items() if count > 0]
    lines.append(f"{summed(found)}: {'; '.join(parts)}")
    return "".join(f"{legible(line)}\n" for line in lines)
