"""``{placeholder}`` patterns x files on disk -> concrete cells."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.evaluation import Counts
from ..errors import ConfigError, did_you_mean, near_names
from ..reports.phrases import first_of
from . import cells as grid
from .cells import DATASET, Cell, GridProblem, columns_of, missing
from .patterns import Found, NothingFoundError, Pattern, files, natural
from .yaml_file import Loc

if TYPE_CHECKING:
    from .model import Config, DatasetEntry, RunEntry

RESERVED = (
    DATASET, "run", "qid", "metric", "value", "undefined", *(one.name for one in fields(Counts)),
)  # fmt: skip
"""Columns of the outputs; no placeholder may have one of these names."""


def resolve(config: Config) -> list[Cell]:
    """Return the cells of a config, given the files on disk.

    Datasets come in the config's order, then runs; names and captured values in natural order
    (fold2 before fold10). Raises ConfigError with all problems: files that are missing, runs
    without a dataset, datasets without a run, cells that are the same, gaps if ``complete: true``.
    """
    cells, wrong = find(
        config.datasets, config.runs, config.base, where=config.where, whole=config.complete
    )
    if wrong:
        problems = [config.problem(one.loc, one.what, fix=one.fix) for one in wrong]
        raise ConfigError(problems, where=config.file)
    return cells


def run_entries(
    runs: Mapping[str, RunEntry | tuple[RunEntry, ...]],
) -> Iterator[tuple[str, Loc, RunEntry]]:
    """Yield the name, the place and the settings of every run entry."""
    for key, entry in runs.items():
        if isinstance(entry, tuple):
            yield from ((key, ("runs", key, place), one) for place, one in enumerate(entry))
        else:
            yield key, ("runs", key), entry


def find(
    datasets: Mapping[str, DatasetEntry],
    runs: Mapping[str, RunEntry | tuple[RunEntry, ...]],
    base: Path,
    *,
    where: grid.Where | None = None,
    whole: bool = False,
    complete: bool = True,
) -> tuple[list[Cell], list[GridProblem]]:
    """Return the cells, and everything that is wrong.

    `where` keeps cells, missing cells of a grid are wrong if `whole`. Unless `complete`, some
    entries are wrong and left out, so runs without a dataset and datasets without a run are not
    reported.
    """
    search = _Search(datasets, base, where or {}, complete)
    for key, loc, entry in run_entries(runs):
        search.add_run(key, entry, loc)
    if search.complete:
        search.check_datasets("run")
        search.choose()
        search.check_same()
        search.wrong += grid.dataset_files_as_runs(search.cells)
    keys = list(datasets), list(runs)
    cells = sorted((cell for cell, _ in search.cells), key=lambda cell: _order(cell, *keys))
    gaps = missing(cells) if whole and not search.wrong else []
    if gaps:
        fix = "make them, leave them out with 'where:', or take 'complete' out"
        search.report(("complete",), grid.listed(gaps, len(cells)), fix)
    return cells, search.wrong


@dataclass(frozen=True)
class _Dataset:
    """A dataset on disk."""

    key: str
    name: str
    entry: DatasetEntry
    values: Mapping[str, str]

    def fits(self, found: Found) -> bool:
        """Whether the placeholders that both have captured the same."""
        return all(found.values.get(name, value) == value for name, value in self.values.items())


class _Search:
    """Finds datasets, then the runs on them; collects cells and what is wrong."""

    def __init__(
        self, entries: Mapping[str, DatasetEntry], base: Path, where: grid.Where, complete: bool
    ) -> None:
        self.entries, self.base, self.where = entries, base, where
        self.paths: dict[str, Pattern] = {}
        self.cells: list[tuple[Cell, Loc]] = []
        self.wrong: list[GridProblem] = []
        self.datasets = [one for key, entry in entries.items() for one in self._find(key, entry)]
        first: dict[str, _Dataset] = {}
        for one in self.datasets:
            other = first.setdefault(one.name, one)
            if other.key != one.key:
                both = f"{other.entry.path} and {one.entry.path}"
                what = f"dataset '{one.name}' is there twice: {both}"
                self.report(("datasets", one.key), what, "give one of them another name")
        self.complete = complete and not self.wrong

    def report(self, loc: Loc, what: str, fix: str = "") -> None:
        self.wrong.append(GridProblem(loc, what, fix))

    def add_run(self, key: str, entry: RunEntry, loc: Loc) -> None:
        at = (*loc, "path")
        name, path = self._pattern(key, ("runs", key)), self._pattern(entry.path, at)
        if name is None or path is None or not self._check_columns(path, key, at):
            return
        datasets = self._datasets_of(key, entry, path, loc)
        known = {DATASET, *path.names, *(n for one in datasets for n in one.values)}
        if datasets and not self._check_fill(name, known, ("runs", key)):
            return
        strangers = []
        for found, near in self._files_and_datasets(entry, path, datasets, at):
            fitting = [one for one in near if one.fits(found)]
            if not fitting and self._may_be_kept(found.values):
                strangers.append(found)
            for one in fitting:
                run = name.fill({**found.values, **one.values, DATASET: one.name})
                own = {n: found.values[n] for n in path.names if n not in (*one.values, DATASET)}
                concrete = entry.model_copy(update={"path": str(found.path)})
                cell = Cell(
                    one.name, run, one.entry, concrete, one.key, key, one.values, own,
                    across=DATASET in path.names,
                )  # fmt: skip
                self.cells.append((cell, loc))
        if strangers and datasets and self.complete:
            shared = [name for name in datasets[0].values if name in strangers[0].values]
            has = "; ".join(
                f"{name} {first_of(sorted({one.values[name] for one in datasets}, key=natural), 5)}"
                for name in shared
            )
            paths = [str(found.path) for found in strangers]
            what = f"no dataset for {first_of(paths, 5)}; there is {has}"
            self.report(at, what, "add the dataset, or narrow the path")

    def check_datasets(self, run: str, but: Collection[str] = ()) -> None:
        """Report datasets that no run has predictions for, unless something else is wrong."""
        if self.wrong:
            return
        busy = {cell.dataset_entry.path for cell, _ in self.cells}
        for key in self.entries:
            own = [
                one
                for one in self.datasets
                if one.key == key
                and one.entry.path not in busy
                and self._may_be_kept({**one.values, DATASET: one.name})
            ]
            if own and key not in but:
                fix = "add them, or narrow the path"
                used = [one.values for one in self.datasets if one.key == key and one not in own]
                for name in used[0] if used else ():
                    some = {one[name] for one in used}
                    if some.isdisjoint(one.values[name] for one in own):
                        listed = ", ".join(sorted(some, key=natural))
                        fix = f"add them, or leave them out: 'where: {{{name}: [{listed}]}}'"
                        break
                names = first_of([one.name for one in own], 5)
                self.report(("datasets", key), f"no {run} has predictions for {names}", fix)

    def choose(self) -> None:
        """Keep the cells that ``where`` keeps."""
        if not self.where or self.wrong:
            return
        seen = [columns_of(cell) for cell, _ in self.cells]
        self.wrong += grid.check_where(self.where, seen)
        values, cells = grid.kept(self.where, seen), self.cells
        self.cells = [one for one in cells if grid.keeps(values, columns_of(one[0]))]
        if not self.cells and not self.wrong:
            what = f"keeps none of the {len(seen)} cells: none has all of these at once"
            self.report(("where",), what)
        left_out = {*self.entries} - {cell.dataset_key for cell, _ in self.cells}
        self.check_datasets("run that 'where' keeps", left_out)

    def check_same(self) -> None:
        """Report cells that would be the same row of the leaderboard, one for each entry."""
        first: dict[Any, Cell] = {}
        reported: set[Loc] = set()
        for cell, loc in self.cells:
            same = (cell.dataset, cell.run, frozenset(cell.columns.items()))
            other = first.setdefault(same, cell)
            if other is not cell and loc not in reported:
                reported.add(loc)
                both = f"{other.run_entry.path} and {cell.run_entry.path}"
                what = f"run '{cell.run}' on dataset '{cell.dataset}' is there twice: {both}"
                self.report(loc, what, "give one of them another name")

    def _may_be_kept(self, columns: Mapping[str, str]) -> bool:
        return grid.keeps(grid.kept(self.where, [columns]), columns)

    def _find(self, key: str, entry: DatasetEntry) -> Iterator[_Dataset]:
        """Yield the datasets of one entry."""
        loc: Loc = ("datasets", key)
        name, path = self._pattern(key, loc), self._pattern(entry.path, (*loc, "path"))
        group = self._pattern(entry.group or "", (*loc, "group"))
        of_queries = entry.groups.path if entry.groups else None
        groups = self._pattern(of_queries or "", (*loc, "groups", "path"))
        if name is None or path is None or group is None or groups is None:
            return
        self.paths[key] = path
        if not (
            self._check_columns(path, "", (*loc, "path"))
            and self._check_fill(name, path.names, loc)
            and self._check_fill(group, path.names, (*loc, "group"))
            and self._check_fill(groups, path.names, (*loc, "groups", "path"))
        ):
            return
        for found in self._files(entry.path, {}, (*loc, "path")):
            update: dict[str, Any] = {"path": str(found.path)}
            if entry.groups and of_queries is not None:
                tables = self._files(of_queries, found.values, (*loc, "groups", "path"))
                there = {"path": str(tables[0].path)} if tables else {}
                update["groups"] = entry.groups.model_copy(update=there)
            if entry.group is not None:
                sizes = self._files(entry.group, found.values, (*loc, "group"))
                update["group"] = str(sizes[0].path) if sizes else entry.group
            concrete = entry.model_copy(update=update)
            yield _Dataset(key, name.fill(found.values), concrete, found.values)

    def _datasets_of(self, key: str, entry: RunEntry, path: Pattern, loc: Loc) -> list[_Dataset]:
        """Return the datasets that a run entry may belong to."""
        if entry.dataset is not None:
            known = list(dict.fromkeys([*self.entries, *(one.name for one in self.datasets)]))
            if entry.dataset not in known and self.complete:
                near, listed = did_you_mean(entry.dataset, known), near_names(entry.dataset, known)
                what = f"there is no dataset '{entry.dataset}'{near}  (there are: {listed})"
                self.report((*loc, "dataset"), what)
            return [one for one in self.datasets if entry.dataset in (one.key, one.name)]
        if DATASET in path.names or len(self.entries) == 1:
            return self.datasets
        sharing = [one for one, other in self.paths.items() if {*other.names} & {*path.names}]
        if len(sharing) != 1 and self.complete:
            some = sharing if len(sharing) > 1 else [*self.entries]
            fix = f"add dataset: NAME (one of {near_names(key, some)}), or a list with an entry "
            fix += "for each: [{dataset: NAME, path: ...}, ...]"
            self.report(loc, "it is not clear which dataset this run belongs to", fix)
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
            self.report(loc, nothing[0])
        return both

    def _files(self, text: str, known: Mapping[str, str], loc: Loc) -> list[Found]:
        try:
            return files(self.base, text, known)
        except NothingFoundError as error:
            self.report(loc, str(error))
            return []

    def _pattern(self, text: str, loc: Loc) -> Pattern | None:
        try:
            return Pattern(text)
        except ValueError as error:
            self.report(loc, str(error))
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
            self.report(loc, f"the outputs have a column '{name}' already", fix)
        return not taken

    def _check_fill(self, pattern: Pattern, known: Collection[str], loc: Loc) -> bool:
        """Whether the path has every placeholder of a name."""
        unknown = [name for name in pattern.names if name not in known]
        for name in unknown:
            has = ", ".join(f"{{{one}}}" for one in known if one != DATASET) or "none"
            near = did_you_mean(name, known)
            self.report(loc, f"nothing fills {{{name}}}{near}  (the path has: {has})")
        return not unknown


def _order(cell: Cell, datasets: Sequence[str], runs: Sequence[str]) -> tuple[Any, ...]:
    return (
        datasets.index(cell.dataset_key),
        natural(cell.dataset),
        [natural(value) for value in cell.of_dataset.values()],
        runs.index(cell.run_key),
        natural(cell.run),
        [natural(value) for value in cell.of_run.values()],
    )
