"""A cache looked after: what it holds, what is not needed any more, whether it is sound."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .. import config as configs
from .. import origin
from ..config import Config, sweep
from ..config.cells import Cell
from ..errors import InputError, Problem
from ..origin import MANIFEST
from .cache import INDEX, Cache
from .key import cell_key, code
from .naming import Naming, keys_of
from .record import Record
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
        Where there is none.
    """
    if place.is_file():
        return _kept_in(configs.load(place))
    if (place / MANIFEST).is_file():
        manifest = origin.read_manifest(place)
        said = manifest["config"].get("cache", "")
        if said == "none":
            raise _nothing(str(place / MANIFEST))
        return place / manifest["base"] / said if said else place / "cells"
    if (place / INDEX).is_file() or any(True for _ in Cache(place).records()):
        return place
    if (place / "cells").is_dir():
        return place / "cells"
    what = "is neither a config, nor a folder of results, nor a cache"
    raise InputError(Problem(str(place), what, fix="name one of these"))


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
    return origin.again(place, origin.read_manifest(place))


def kept(folder: Path) -> Iterator[Kept]:
    """Yield every record of a cache, read and checked, in the order of their names."""
    for path in Cache(folder).records():
        record, error = None, ""
        try:
            found = path.stat()
            record = Record.from_parquet(path.read_bytes())
            error = _misnamed(record, path.stem)
        except FileNotFoundError:
            continue  # another run put a new one in its place, or pruned it
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as problem:
            error = f"cannot be read: {' '.join(str(problem).split())}"
        yield Kept(path, found.st_size, (time.time() - found.st_mtime) / _DAY, record, error)


def _misnamed(record: Record, name: str) -> str:
    said = {part: record.about.get(part) for part in ("code", "inputs", "choices")}
    return "" if cell_key(said) == name else "is not what its name says"


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
    keys, known = keys_of(config, cells, cache), set[str]()
    for cell in cells:
        files = naming.files(cell)
        choices = naming.follows_from(cell, dict.fromkeys(files, ""))["choices"]
        known.add(_what(cell.dataset, cell.run, [Path(path).name for path in files], choices))
    why = {}
    for one in found:
        about = one.about
        if one.key in keys or one.error:
            continue
        what = _what(*(about.get(name) for name in ("dataset", "run", "files", "choices")))
        why[one.key] = OTHER_CODE if not one.is_current else CHANGED if what in known else NO_CELL
    return why


def _what(*parts: Any) -> str:
    return json.dumps(parts, sort_keys=True)


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
    """Return where two records differ, by the metrics of the second; nothing where they do not."""
    if not then.qids.equals(now.qids):
        return "has other queries now"
    for name, values in now.values.items():
        wrong = np.flatnonzero(
            (then.values[name].view(np.int64) != values.view(np.int64))
            & ~(np.isnan(then.values[name]) & np.isnan(values))
        )
        if wrong.size:
            at = int(wrong[0])
            old, new = float(then.values[name][at]), float(values[at])
            return f"{name} of query {then.qids[at]} is {old!r}, and {new!r} when derived anew"
    return "" if then.counts == now.counts else f"counts are {then.counts}, and {now.counts} anew"


def _kept_in(config: Config) -> Path:
    if config.cache_folder is None:
        raise _nothing(config.file)
    return config.cache_folder


def _nothing(where: str) -> InputError:
    return InputError(Problem(where, "keeps no evaluated cells: cache is none"))
