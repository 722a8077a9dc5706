"""Changed inputs by what they belong to, and how many of its metrics differ with them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ..cells.naming import Naming
from ..config import Config
from ..config.cells import Cell
from .findings import Changed

Rows = Sequence[Mapping[str, str]]
OTHERS = "other inputs"


def changed_of(
    config: Config, cells: Sequence[Cell], inputs: Mapping[Path, str]
) -> tuple[Changed, ...]:
    """Return what each changed input belongs to: a dataset, a run, or neither.

    Parameters
    ----------
    config : Config
    cells : sequence of Cell
        All of them.
    inputs : mapping of Path to str
        Inputs that are gone or changed, resolved, and what they are called.
    """
    naming = Naming(config, cells)
    owners: dict[Path, tuple[str, str]] = {}
    for cell in cells:
        judgements, run, *rest = (Path(path).resolve() for path in naming.files(cell))
        owners.update(dict.fromkeys((judgements, *rest), ("dataset", cell.dataset_key)))
        owners.setdefault(run, ("run", cell.run))
    found: dict[tuple[str, str], list[str]] = {}
    for path, name in inputs.items():
        found.setdefault(owners.get(path, ("", OTHERS)), []).append(name)
    return tuple(Changed(*owner, tuple(names)) for owner, names in found.items())


def with_metrics(
    some: Iterable[Changed], cells: Sequence[Cell], metrics: Sequence[str],
    then: bytes, now: bytes,
) -> tuple[Changed, ...]:  # fmt: skip
    """Add which metrics differ, by the leaderboard of cells that is there and the one derived."""
    old, new = (_rows(one) for one in (then, now))
    if [_name(row) for row in old] != [_name(row) for row in new]:
        return tuple(some)
    pairs = list(zip(old, new, strict=True))
    datasets: dict[str, set[str]] = {}
    for cell in cells:
        datasets.setdefault(cell.dataset_key, set()).add(cell.dataset)

    def is_of(one: Changed) -> Callable[[Mapping[str, str]], bool]:
        if one.kind == "run":
            return lambda row: row.get("run") == one.name
        return lambda row: row.get("dataset") in datasets.get(one.name, ())

    def differ(one: Changed) -> tuple[str, ...]:
        own = is_of(one)
        rows = [(a, b) for a, b in pairs if own(b)]
        return tuple(m for m in metrics if any(a.get(m) != b.get(m) for a, b in rows))

    n = len(metrics)
    return tuple(one._replace(differ=differ(one), of=n) if one.kind else one for one in some)


def _rows(content: bytes) -> Rows:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8", "replace"), newline="")))


def _name(row: Mapping[str, str]) -> tuple[str | None, str | None]:
    return row.get("dataset"), row.get("run")
