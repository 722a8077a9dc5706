"""``{placeholder}`` patterns x files on disk -> concrete cells."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.evaluation import Counts
from ..errors import ConfigError, did_you_mean
from . import cells as grid
from .cells import DATASET, Cell, Finding, Gap, Loc, columns_of, missing
from .patterns import Found, NothingFoundError, Pattern, files, natural

if TYPE_CHECKING:
    from .model import Config, DatasetEntry, RunEntry

__all__ = ["Cell", "Finding", "Gap", "find", "missing", "resolve"]

RESERVED = (
    DATASET,
    "run",
    "qid",
    "metric",
    "value",
    "undefined",
    *(f.name for f in fields(Counts)),
)
"""Columns of the outputs; no placeholder may become a second one of that name."""


def resolve(config: Config) -> list[Cell]:
    """Return the cells that a config stands for, given the files on disk.

    Datasets come in the config's order, then runs; names and captured values in natural order
    (fold2 before fold10).

    Raises
    ------
    ConfigError
        Where a file is missing, a run has no dataset or a dataset no run, two cells are the
        same, or one is missing under ``complete: true``; all of it together.
    """
    cells, findings = find(
        config.datasets, config.runs, config.base, where=config.where, whole=config.complete
    )
    if findings:
        problems = [config.problem(f.loc, f.what, fix=f.fix) for f in findings]
        raise ConfigError(problems, where=config.file)
    return cells


def run_entries(
    runs: Mapping[str, RunEntry | tuple[RunEntry, ...]],
) -> Iterator[tuple[str, Loc, RunEntry]]:
    """Yield the name, the place and the settings of every run entry."""
    for key, given in runs.items():
        if isinstance(given, tuple):
            yield from ((key, ("runs", key, place), one) for place, one in enumerate(given))
        else:
            yield key, ("runs", key), given


def find(
    datasets: Mapping[str, DatasetEntry],
    runs: Mapping[str, RunEntry | tuple[RunEntry, ...]],
    base: Path,
    *,
    where: grid.Where | None = None,
    whole: bool = False,
    complete: bool = True,
) -> tuple[list[Cell], list[Finding]]:
    """Return the cells, and everything that is wrong.

    Parameters
    ----------
    datasets, runs : mapping of name to entry
        As in :class:`~harness.config.load.Config`.
    base : Path
        Folder that paths start from.
    where : mapping, optional
        Which cells are kept, as in :attr:`~harness.config.load.Config.where`.
    whole : bool
        Whether cells that a grid lacks are wrong.
    complete : bool
        False where entries were left out because they are wrong in themselves: then nothing is
        said of runs without a dataset and datasets without a run.
    """
    search = _Search(datasets, base, where or {}, complete)
    for key, loc, entry in run_entries(runs):
        search.add_run(key, entry, loc)
    if search.complete:
        search.look_for_lonely_datasets("run")
        search.choose()
        search.look_for_twins()
        search.findings += grid.taken(search.cells)
    places = list(datasets), list(runs)
    cells = sorted((c for c, _ in search.cells), key=lambda c: _order(c, *places))
    gaps = missing(cells) if whole and not search.findings else []
    if gaps:
        fix = "make them, leave them out with 'where:', or take 'complete' out"
        search.findings.append(Finding(("complete",), grid.listed(gaps, len(cells)), fix))
    return cells, search.findings


@dataclass(frozen=True)
class _Dataset:
    """A dataset on disk."""

    key: str
    name: str
    entry: DatasetEntry
    values: Mapping[str, str]

    def fits(self, found: Found) -> bool:
        """Whether the placeholders that both have stand for the same."""
        return all(found.values.get(name, value) == value for name, value in self.values.items())


class _Search:
    """Looks for datasets, then for the runs on them; collects cells and what is wrong."""

    def __init__(
        self, entries: Mapping[str, DatasetEntry], base: Path, where: grid.Where, complete: bool
    ) -> None:
        self.entries, self.base, self.where = entries, base, where
        self.paths: dict[str, Pattern] = {}
        self.cells: list[tuple[Cell, Loc]] = []
        self.findings: list[Finding] = []
        self.datasets = [one for key, entry in entries.items() for one in self._find(key, entry)]
        first: dict[str, _Dataset] = {}
        for one in self.datasets:
            other = first.setdefault(one.name, one)
            if other.key != one.key:
                both = f"{other.entry.path} and {one.entry.path}"
                what = f"dataset '{one.name}' is there twice: {both}"
                self._say(("datasets", one.key), what, "give one of them another name")
        self.complete = complete and not self.findings

    def add_run(self, key: str, entry: RunEntry, loc: Loc) -> None:
        """Add the cells of one entry: its files, each with its dataset."""
        name, path = self._pattern(key, ("runs", key)), self._pattern(entry.path, (*loc, "path"))
        if name is None or path is None or not self._check_columns(path, key, (*loc, "path")):
            return
        datasets = self._datasets_of(entry, path, loc)
        known = {DATASET, *path.names, *(n for one in datasets for n in one.values)}
        if datasets and not self._check_fill(name, known, ("runs", key)):
            return
        base = str(self.base).replace("{", "{{").replace("}", "}}")
        strangers = []
        for found, near in self._files_and_datasets(entry, path, datasets, (*loc, "path")):
            fitting = [one for one in near if one.fits(found)]
            if not fitting and self._may_be_kept(found.values):
                strangers.append(found)
            for one in fitting:
                run = name.fill({**found.values, **one.values, DATASET: one.name})
                own = {n: found.values[n] for n in path.names if n not in (*one.values, DATASET)}
                concrete = entry.model_copy(update={"path": str(found.path)})
                cell = Cell(
                    one.name, run, one.entry, concrete, one.key, key, one.values, own,
                    across=DATASET in path.names, run_path=os.path.join(base, path.text),
                )  # fmt: skip
                self.cells.append((cell, loc))
        if strangers and datasets and self.complete:
            self._say_strangers(strangers, datasets, (*loc, "path"))

    def look_for_lonely_datasets(self, run: str, fix: str = "", but: Collection[str] = ()) -> None:
        """Say which datasets no run has predictions for, unless that has another reason."""
        if self.findings:
            return
        busy = {cell.dataset_entry.path for cell, _ in self.cells}
        for key in self.entries:
            own = [one for one in self.datasets if one.key == key]
            others = [one.values for one in own if one.entry.path in busy]
            own = [one for one in own if one.entry.path not in busy]
            own = [one for one in own if self._may_be_kept({**one.values, DATASET: one.name})]
            if own and key not in but:
                what = f"no {run} has predictions for {_some(one.name for one in own)}"
                fix = fix or grid.without([one.values for one in own], others)
                self._say(("datasets", key), what, fix)

    def choose(self) -> None:
        """Keep the cells that ``where`` keeps."""
        if not self.where or self.findings:
            return
        seen = [columns_of(cell) for cell, _ in self.cells]
        wrong = list(grid.check(self.where, seen))
        self.findings += wrong
        values = grid.kept(self.where, seen)
        kept = [
            one
            for one, columns in zip(self.cells, seen, strict=True)
            if grid.keeps(values, columns)
        ]
        if not kept and not wrong:
            what = f"keeps none of the {len(seen)} cells: none has all of these at once"
            self._say(("where",), what)
        self.cells = kept
        left_out = {*self.entries} - {cell.dataset_key for cell, _ in kept}
        fix = "add them, or leave the dataset out in 'where:' too"
        self.look_for_lonely_datasets("run that 'where' keeps", fix, left_out)

    def look_for_twins(self) -> None:
        """Say which cells would be the same row of the leaderboard."""
        first: dict[Any, Cell] = {}
        said: set[Loc] = set()
        for cell, loc in self.cells:
            same = (cell.dataset, cell.run, frozenset(cell.columns.items()))
            other = first.setdefault(same, cell)
            if other is not cell and loc not in said:
                said.add(loc)
                both = f"{other.run_entry.path} and {cell.run_entry.path}"
                what = f"run '{cell.run}' on dataset '{cell.dataset}' is there twice: {both}"
                self._say(loc, what, "give one of them another name")

    def _may_be_kept(self, columns: Mapping[str, str]) -> bool:
        """Whether ``where`` leaves these columns in, as far as they are known."""
        return grid.keeps(grid.kept(self.where, [columns]), columns)

    def _find(self, key: str, entry: DatasetEntry) -> Iterator[_Dataset]:
        """Yield the datasets of one entry."""
        loc: Loc = ("datasets", key)
        name, path = self._pattern(key, loc), self._pattern(entry.path, (*loc, "path"))
        group = self._pattern(entry.group or "", (*loc, "group"))
        if name is None or path is None or group is None:
            return
        self.paths[key] = path
        if not (
            self._check_columns(path, "", (*loc, "path"))
            and self._check_fill(name, path.names, loc)
            and self._check_fill(group, path.names, (*loc, "group"))
        ):
            return
        for found in self._files(entry.path, {}, (*loc, "path")):
            update = {"path": str(found.path)}
            if entry.group is not None:
                sizes = self._files(entry.group, found.values, (*loc, "group"))
                update["group"] = str(sizes[0].path) if sizes else entry.group
            concrete = entry.model_copy(update=update)
            yield _Dataset(key, name.fill(found.values), concrete, found.values)

    def _datasets_of(self, entry: RunEntry, path: Pattern, loc: Loc) -> list[_Dataset]:
        """Return the datasets that a run entry may belong to."""
        if entry.dataset is not None:
            known = list(dict.fromkeys([*self.entries, *(one.name for one in self.datasets)]))
            if entry.dataset not in known and self.complete:
                near = did_you_mean(entry.dataset, known)
                what = f"there is no dataset '{entry.dataset}'{near}  (there are: {_some(known)})"
                self._say((*loc, "dataset"), what)
            return [one for one in self.datasets if entry.dataset in (one.key, one.name)]
        if DATASET in path.names or len(self.entries) == 1:
            return self.datasets
        sharing = [key for key, other in self.paths.items() if {*other.names} & {*path.names}]
        if len(sharing) != 1 and self.complete:
            what = "it cannot be told which dataset this run belongs to"
            self._say(loc, what, f"add dataset: NAME, one of {', '.join(self.entries)}")
        return [one for one in self.datasets if [one.key] == sharing]

    def _files_and_datasets(
        self, entry: RunEntry, path: Pattern, datasets: list[_Dataset], loc: Loc
    ) -> list[tuple[Found, list[_Dataset]]]:
        """Return each file of a run entry, with the datasets it may belong to."""
        if DATASET not in path.names:
            return [(found, datasets) for found in self._files(entry.path, {}, loc)]
        both, nothing = [], []
        for name in dict.fromkeys(one.name for one in datasets):
            same = [one for one in datasets if one.name == name]
            try:
                both += [(found, same) for found in files(self.base, entry.path, {DATASET: name})]
            except NothingFoundError as error:
                nothing.append(str(error))
        if nothing and not both:
            self._say(loc, nothing[0])
        return both

    def _files(self, text: str, known: Mapping[str, str], loc: Loc) -> list[Found]:
        try:
            return files(self.base, text, known)
        except NothingFoundError as error:
            self._say(loc, str(error))
            return []

    def _pattern(self, text: str, loc: Loc) -> Pattern | None:
        try:
            return Pattern(text)
        except ValueError as error:
            self._say(loc, str(error))
            return None

    def _check_columns(self, path: Pattern, run_key: str, loc: Loc) -> bool:
        """Whether every placeholder can be a column; ``{dataset}`` is none in a run's path."""
        taken = [
            name
            for name in path.names
            if name in RESERVED and f"{{{name}}}" != run_key and not (name == DATASET and run_key)
        ]
        for name in taken:
            fix = f"call it something else; taken are {', '.join(RESERVED)}"
            self._say(loc, f"the outputs have a column '{name}' already", fix)
        return not taken

    def _check_fill(self, pattern: Pattern, known: Collection[str], loc: Loc) -> bool:
        """Whether the path gives every placeholder of a name."""
        unknown = [name for name in pattern.names if name not in known]
        for name in unknown:
            has = ", ".join(f"{{{one}}}" for one in known if one != DATASET) or "none"
            what = f"nothing fills {{{name}}}{did_you_mean(name, known)}"
            self._say(loc, f"{what}  (the path has: {has})")
        return not unknown

    def _say_strangers(self, strangers: list[Found], datasets: list[_Dataset], loc: Loc) -> None:
        shared = [name for name in datasets[0].values if name in strangers[0].values]
        have = {
            n: sorted({d.values[n] for d in datasets if n in d.values}, key=natural) for n in shared
        }
        has = "; ".join(f"{name} {_some(values)}" for name, values in have.items())
        what = f"no dataset for {_some(str(found.path) for found in strangers)}; there is {has}"
        self._say(loc, what, "add the dataset, or narrow the path")

    def _say(self, loc: Loc, what: str, fix: str = "") -> None:
        self.findings.append(Finding(loc, what, fix))


def _order(cell: Cell, datasets: Sequence[str], runs: Sequence[str]) -> tuple[Any, ...]:
    return (
        datasets.index(cell.dataset_key),
        natural(cell.dataset),
        [natural(value) for value in cell.of_dataset.values()],
        runs.index(cell.run_key),
        natural(cell.run),
        [natural(value) for value in cell.of_run.values()],
    )


def _some(names: Iterator[str] | Sequence[str]) -> str:
    """Return the first few of the names, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more
