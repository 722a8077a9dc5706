"""``{placeholder}`` patterns x files on disk -> cells: each is one run on one dataset."""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import readers
from ..core.cell_key import CellKey, Keyed
from ..core.entries import grouped_by, natural
from ..core.evaluation import Counts
from ..core.fusion import Fusion, fuse_runs
from ..core.leaderboard import WEIGHTED
from ..errors import (
    SHOWN,
    ConfigError,
    Problem,
    UnknownNameError,
    and_more,
    first_of,
    fix_of_name,
    nearest,
)
from ..input_files import name_of
from ..reports.select import matched, pattern_problems
from .patterns import Found, NothingFoundError, Pattern, matching_files
from .yaml_file import Loc

if TYPE_CHECKING:
    from ..core.qrels_and_runs import Qrels, Run
    from ..readers.source import Source
    from .model import Config, DatasetEntry, FusedEntry, RunEntry

DATASET = "dataset"
"""The placeholder for each dataset's name in a run's path."""
RESERVED = (DATASET, "run", "qid", "metric", "value", "undefined", WEIGHTED, *Counts().as_dict())
"""Columns of the outputs; no placeholder may have one of these names."""


@dataclass(frozen=True)
class Cell(Keyed):
    """One run on one dataset.

    `dataset` and `run` are their names with placeholders filled in, the keys those of the config,
    the entries have paths of files, ready to open. `of_dataset` and `of_run` are what placeholders
    captured: those of the dataset's path, and those of the run's alone. A run's grid goes `across`
    datasets if its path has ``{dataset}``.
    """

    dataset: str
    run: str
    dataset_entry: DatasetEntry
    run_entry: RunEntry
    dataset_key: str
    run_key: str
    of_dataset: Mapping[str, str]
    of_run: Mapping[str, str]
    across: bool = False

    @property
    def columns(self) -> dict[str, str]:
        """Return the captured placeholders, but for one that is the run's whole name."""
        captured = {**self.of_dataset, **self.of_run}
        return {name: text for name, text in captured.items() if self.run_key != f"{{{name}}}"}

    @property
    def all_columns(self) -> dict[str, str]:
        """Columns that `where` can choose the cell by: its names and all captured placeholders."""
        return {DATASET: self.dataset, "run": self.run, **self.of_dataset, **self.of_run}

    def read_qrels(self, source: Source | None = None) -> Qrels:
        """Read the judgements, from a source if it is open already."""
        entry = self.dataset_entry
        file = source or readers.Source(entry.path)
        return readers.read_qrels(file, name=self.dataset, **entry.options())

    def read_run(
        self, dataset: Qrels | None, opens: Callable[[str], Source] = readers.Source
    ) -> Run:
        """Read the scores, whole, or fuse them; `dataset` has the rows that they may follow."""
        entry: Any = self.run_entry
        if self.is_fused:
            runs = [cell.read_run(dataset, opens) for cell in entry.cells]
            return fuse_runs(runs, entry.fusion, self.run)
        file = opens(entry.path)
        return readers.read_run(file, dataset=dataset, name=self.run, **entry.options())

    @property
    def sign_of_scores(self) -> int:
        """Factor, 1 or -1, that turns a score of a run into that of the file."""
        return -1 if self.run_entry.options().get("order") == "ascending" else 1

    @property
    def is_fused(self) -> bool:
        """Whether the run is fused from others, without a file."""
        return hasattr(self.run_entry, "fusion")

    @property
    def run_files(self) -> list[str]:
        """Return the file of the run, or those of all runs that it is fused from."""
        entry: Any = self.run_entry
        if self.is_fused:
            return [path for cell in entry.cells for path in cell.run_files]
        return [entry.path]

    @property
    def place(self) -> tuple[str, str]:
        """The entry and the file of its dataset."""
        return self.dataset_key, self.dataset_entry.path


@dataclass(frozen=True)
class FusedRuns:
    """Stands for the entry of a run that is fused from those of other cells.

    Its `path` names it in findings; there is no such file.
    """

    path: str
    cells: tuple[Cell, ...]
    fusion: Fusion
    format = None

    def options(self) -> dict[str, Any]:
        """Return all settings that the scores depend on."""
        parts = [cell.run_entry.options() for cell in self.cells]
        return {"fuse": parts, **asdict(self.fusion)}


@dataclass(frozen=True)
class FileEntry:
    """Stands for an entry of a config, for a file that no config names."""

    path: str
    settings: Mapping[str, Any]
    groups = weights = leaks = None

    @property
    def format(self) -> str | None:
        """Name of the format; by default the one that the file looks like."""
        return self.settings.get("format")

    def options(self) -> dict[str, Any]:
        """Return the reader's options that are set."""
        return {name: value for name, value in self.settings.items() if value is not None}


Options = Mapping[str, Any]


def cell_of_files(
    qrels: str, run: str, of_qrels: Options, of_run: Options, names: tuple[str, str] | None = None
) -> Cell:
    """Return the cell of two files that no config names, with the options of their readers.

    `names` are those of the dataset and the run; their paths by default.
    """
    entries: tuple[Any, Any] = (FileEntry(qrels, of_qrels), FileEntry(run, of_run))
    return Cell(*(names or (qrels, run)), *entries, qrels, run, {}, {})


def fused_cell(cells: Iterable[Cell], name: str, fusion: Fusion, path: str = "") -> Cell:
    """Return the cell of a run that is fused from those of cells on one dataset."""
    cells = tuple(cells)
    entry: Any = FusedRuns(path or name, cells, fusion)
    return replace(cells[0], run=name, run_entry=entry, run_key=name)


def resolve(config: Config) -> list[Cell]:
    """Return the cells of a config, given the files on disk.

    Datasets come in the config's order, then runs; names and captured values in natural order
    (fold2 before fold10). Raises ConfigError with all problems: files that are missing, runs
    without a dataset, datasets without a run, cells that are the same, gaps if ``complete: true``.
    A config of results has the cells that were evaluated then, whatever files came since.
    """
    cells, wrong = find_cells(config, config._complete)
    if config._is_recorded is not None:
        return [*filter(config._is_recorded, cells)]
    if wrong:
        raise ConfigError(wrong, where=config.file)
    return cells


def run_entries(
    runs: Mapping[str, RunEntry | FusedEntry | tuple[RunEntry, ...]],
) -> Iterator[tuple[str, Loc, RunEntry | FusedEntry]]:
    """Yield the name, the place and the settings of every run entry."""
    for key, entry in runs.items():
        if isinstance(entry, tuple):
            yield from ((key, ("runs", key, place), item) for place, item in enumerate(entry))
        else:
            yield key, ("runs", key), entry


def find_cells(config: Config, complete: bool = True) -> tuple[list[Cell], list[Problem]]:
    """Return the cells of a config, and everything that is wrong.

    Unless `complete`, some entries are wrong and left out, so runs without a dataset and datasets
    without a run are not reported.
    """
    search = _Search(config, complete)
    entries = list(run_entries(config.runs))
    for key, loc, entry in sorted(entries, key=lambda one: hasattr(one[2], "fuse")):
        with search.collecting():
            add: Any = search.add_fused if hasattr(entry, "fuse") else search.add_run
            add(key, entry, loc)
    if search.complete:
        search.check_datasets("run")
    if search.where and ((search.complete and not search.wrong) or config._is_recorded is not None):
        search.choose()
    if search.complete and len(search.cells) > 1:
        search.check_same()
    keys = list(config.datasets), list(config.runs)
    cells = sorted((cell for cell, _ in search.cells), key=lambda cell: _cell_order(cell, *keys))
    if config.complete and search.complete and not search.wrong and (text := missing_text(cells)):
        fix = "add their files, leave them out with 'where:', or remove 'complete'"
        search.report(("complete",), text, fix)
    return cells, search.wrong


def _cell_order(cell: Cell, datasets: Sequence[str], runs: Sequence[str]) -> tuple[Any, ...]:
    return (
        datasets.index(cell.dataset_key),
        natural(cell.dataset),
        [natural(value) for value in cell.of_dataset.values()],
        runs.index(cell.run_key),
        natural(cell.run),
        [natural(value) for value in cell.of_run.values()],
    )


@dataclass(frozen=True)
class _FoundDataset:
    """A dataset on disk."""

    key: str
    name: str
    entry: DatasetEntry
    values: Mapping[str, str]


class _Search:
    """Finds datasets, then the runs on them; collects cells and problems."""

    def __init__(self, config: Config, complete: bool) -> None:
        self.config, self.entries, self.where = config, config.datasets, config.where
        self.values: dict[str, dict[str, None]] = {}  # of each column of `where`
        self.kept: dict[str, set[str]] = {}  # those of these values that `where` keeps
        self.paths: dict[str, Pattern] = {}
        self.datasets: list[_FoundDataset] = []
        self.cells: list[tuple[Cell, Loc]] = []
        self.wrong: list[Problem] = []
        for key, entry in self.entries.items():
            with self.collecting():
                self.datasets += self._datasets_in(key, entry)
        by_name: dict[str, _FoundDataset] = {}
        for dataset in self.datasets:
            earlier = by_name.setdefault(dataset.name, dataset)
            if earlier.key != dataset.key:
                both = f"{earlier.entry.path} and {dataset.entry.path}"
                message = f"expected one dataset '{dataset.name}', got two: {both}"
                fix = "give one of them another name"
                self.report(("datasets", dataset.key), message, fix)
        self.complete = complete and not self.wrong

    @contextlib.contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect the problems of an entry, and continue with the next one."""
        try:
            yield
        except ConfigError as error:
            self.wrong += error.problems

    def report(self, loc: Loc, message: str, fix: str = "") -> None:
        """Note something that is wrong at a place in the config."""
        self.wrong.append(self.config.problem(loc, message, fix=fix))

    def error(self, loc: Loc, message: str, fix: str = "") -> ConfigError:
        """Return the error of an entry; its cells are left out."""
        return ConfigError(self.config.problem(loc, message, fix=fix), where=self.config.file)

    def _datasets_in(self, key: str, entry: DatasetEntry) -> list[_FoundDataset]:
        loc: Loc = ("datasets", key)
        self.paths[key] = path = self._path(entry.path, (*loc, "path"))
        name = self._pattern(key, loc, path.names)
        datasets = []
        for file in self._files(entry.path, {}, (*loc, "path")):
            update: dict[str, Any] = {"path": name_of(file.path)}
            with self.collecting():
                if entry.groups is not None:
                    path_loc = (*loc, "groups", "path")
                    table = self._file_next_to(file, entry.groups.path, path_loc)
                    update["groups"] = entry.groups.model_copy(update={"path": table})
                if entry.weights is not None:
                    table = self._file_next_to(file, entry.weights.path, (*loc, "weights", "path"))
                    update["weights"] = entry.weights.model_copy(update={"path": table})
                if entry.leaks is not None:
                    train = self._file_next_to(file, entry.leaks.train, (*loc, "leaks", "train"))
                    update["leaks"] = entry.leaks.model_copy(update={"train": train})
                if entry.group is not None:
                    update["group"] = self._file_next_to(file, entry.group, (*loc, "group"))
            concrete = entry.model_copy(update=update)
            datasets.append(_FoundDataset(key, name.fill(file.values), concrete, file.values))
        return datasets

    def _pattern(self, text: str, loc: Loc, allowed: Collection[str] | None = None) -> Pattern:
        """Return a pattern; ConfigError if its text is wrong or a placeholder is not `allowed`."""
        try:
            pattern = Pattern(text)
        except ValueError as error:
            raise self.error(loc, str(error)) from None
        for name in pattern.names:
            if allowed is not None and name not in allowed:
                others = [column for column in allowed if column != DATASET]
                near = others[0] if len(others) == 1 else nearest(name, allowed)
                fix = f"write {{{near}}}" if near else f"add {{{name}}} to the path"
                raise self.error(loc, f"{{{name}}} is not in the path", fix)
        return pattern

    def _path(self, text: str, loc: Loc, run_key: str = "") -> Pattern:
        """Return the pattern of a path; its placeholders except ``{dataset}`` can be columns."""
        pattern = self._pattern(text, loc)
        for name in pattern.names:
            is_own = f"{{{name}}}" == run_key or (name == DATASET and run_key)
            if name in RESERVED and not is_own:
                fix = f"choose a name other than {', '.join(RESERVED)}"
                raise self.error(loc, f"the outputs have a column '{name}' already", fix)
        return pattern

    def _file_next_to(self, neighbour: Found, text: str, loc: Loc) -> str:
        """Return the file of a pattern with the placeholder values of another file."""
        self._pattern(text, loc, neighbour.values)
        return name_of(self._files(text, neighbour.values, loc)[0].path)

    def add_run(self, key: str, entry: RunEntry, loc: Loc) -> None:
        """Add the cells of a run entry; ConfigError if it has none."""
        path_loc = (*loc, "path")
        path = self._path(entry.path, path_loc, key)
        datasets = self._datasets_of(entry, path, loc)
        placeholders = {DATASET, *path.names, *(n for dataset in datasets for n in dataset.values)}
        name = self._pattern(key, ("runs", key), placeholders if datasets else None)
        strangers = []
        for file, possible_datasets in self._files_and_datasets(entry, path, datasets, path_loc):
            fitting = [  # their placeholders captured the same
                dataset
                for dataset in possible_datasets
                if all(
                    file.values.get(name, value) == value for name, value in dataset.values.items()
                )
            ]
            if not fitting and self._keeps(file.values):
                strangers.append(file)
            for dataset in fitting:
                run = name.fill({**file.values, **dataset.values, DATASET: dataset.name})
                captured = {
                    n: file.values[n] for n in path.names if n not in (*dataset.values, DATASET)
                }
                concrete = entry.model_copy(update={"path": name_of(file.path)})
                entries = dataset.entry, concrete, dataset.key, key, dataset.values, captured
                cell = Cell(dataset.name, run, *entries, across=DATASET in path.names)
                self.cells.append((cell, loc))
        if strangers and datasets and self.complete:
            paths = [name_of(file.path) for file in strangers]
            has = first_of([dataset.name for dataset in datasets], 5)
            message = f"no dataset for {first_of(paths, 5)}; there are {has}"
            raise self.error(path_loc, message, "add the dataset, or narrow the path")

    def add_fused(self, key: str, entry: FusedEntry, loc: Loc) -> None:
        """Add the cells of a fused run: on each dataset, its runs that captured the same."""
        parts: list[tuple[tuple[Cell, ...], dict[str, str]]] = [((), {})]
        for place, name in enumerate(entry.fuse):
            cells = [cell for cell, _ in self.cells if name in (cell.run_key, cell.run)]
            if not cells and self.complete and not self.wrong:
                runs = dict.fromkeys(cell.run for cell, _ in self.cells)
                fix = fix_of_name(name, runs)
                raise self.error((*loc, "fuse", place), f"no run '{name}'", fix)
            own = [
                (cell, cell.of_run if name == cell.run_key else _outside_name(cell))
                for cell in cells
            ]
            parts = [
                ((*fused, cell), {**columns, **captured})
                for fused, columns in parts
                for cell, captured in own
                if not fused or cell.place == fused[0].place
                if all(columns.get(name, value) == value for name, value in captured.items())
            ]
        if not parts and self.complete and not self.wrong:
            message = f"no dataset and seed have all of {', '.join(entry.fuse)}"
            raise self.error((*loc, "fuse"), message, "fuse runs on the same datasets")
        for fused, columns in parts:
            first = fused[0]
            placeholders = {DATASET, *first.of_dataset, *columns}
            values = {**columns, **first.of_dataset, DATASET: first.dataset}
            run = self._pattern(key, loc, placeholders).fill(values)
            across = any(cell.across for cell in fused)
            for weights, fusion in entry.fusions():
                captured = {**columns, **weights}
                columns_of_cell = {**first.of_dataset, **captured}
                path = str(CellKey(first.dataset, run, tuple(columns_of_cell.items())))
                cell = fused_cell(fused, run, fusion, path)
                cell = replace(cell, run_key=key, of_run=captured, across=across)
                self.cells.append((cell, loc))

    def _datasets_of(self, entry: RunEntry, path: Pattern, loc: Loc) -> list[_FoundDataset]:
        """Return the datasets that a run entry may belong to."""
        if entry.dataset is not None:
            names = [*dict.fromkeys([*self.entries, *(found.name for found in self.datasets)])]
            if entry.dataset not in names and self.complete:
                fix = fix_of_name(entry.dataset, names)
                raise self.error((*loc, "dataset"), f"no dataset '{entry.dataset}'", fix)
            return [found for found in self.datasets if entry.dataset in (found.key, found.name)]
        if DATASET in path.names or len(self.entries) == 1:
            return self.datasets
        sharing = [key for key, pattern in self.paths.items() if {*pattern.names} & {*path.names}]
        if len(sharing) != 1 and self.complete:
            keys = sharing if len(sharing) > 1 else [*self.entries]
            fix = f"add dataset: NAME (one of {first_of(keys)}), or a list with an entry "
            fix += "for each: [{dataset: NAME, path: ...}, ...]"
            raise self.error(loc, "it is not clear which dataset this run belongs to", fix)
        return [dataset for dataset in self.datasets if [dataset.key] == sharing]

    def _files_and_datasets(
        self, entry: RunEntry, path: Pattern, datasets: list[_FoundDataset], loc: Loc
    ) -> list[tuple[Found, list[_FoundDataset]]]:
        """Return each file of a run entry, with the datasets it may belong to."""
        if DATASET not in path.names:
            return [(file, datasets) for file in self._files(entry.path, {}, loc)]
        both, nothing = [], []
        for name in dict.fromkeys(dataset.name for dataset in datasets):
            namesakes = [dataset for dataset in datasets if dataset.name == name]
            try:
                files_of_name = self._files(entry.path, {DATASET: name}, loc)
                both += [(file, namesakes) for file in files_of_name]
            except ConfigError as problem:
                nothing.append(problem)
        if nothing and not both:
            raise nothing[0]
        return both

    def _files(self, text: str, captured: Mapping[str, str], loc: Loc) -> list[Found]:
        try:
            return matching_files(self.config.base, text, captured)
        except NothingFoundError as error:
            fix = f"write {error.near}" if error.near else "correct the path"
            fix = "write {name} instead of '*', or list the paths" if "*" in text else fix
            raise self.error(loc, str(error), fix) from None

    def _keeps(self, columns: Mapping[str, str]) -> bool:
        """Whether ``where`` keeps a cell: in each column that it has, its value is kept.

        A pattern that is a value of the column, such as ``!b``, is that value.
        """
        names = (name for name in self.where if name in columns)
        return all(columns[name] in self._kept(name, columns[name]) for name in names)

    def _kept(self, name: str, value: str) -> Collection[str]:
        values = self.values.setdefault(name, {})
        if value not in values:
            values[value] = None
            self.kept[name] = {*matched(self.where[name], [*values])}
        return self.kept[name]

    def check_datasets(self, run: str, but: Collection[str] = ()) -> None:
        """Report datasets that no run has predictions for, unless something else is wrong."""
        if self.wrong:
            return
        predicted = {cell.dataset_entry.path for cell, _ in self.cells}
        for key in self.entries:
            of_key = (found for found in self.datasets if found.key == key)
            without = (found for found in of_key if found.entry.path not in predicted)
            unused = [
                found.name
                for found in without
                if self._keeps({**found.values, DATASET: found.name})
            ]
            if unused and key not in but:
                fix = "add them, narrow the path, or leave the datasets out with 'where:'"
                message = f"no {run} has predictions for {first_of(unused, 5)}"
                self.report(("datasets", key), message, fix)

    def choose(self) -> None:
        """Keep the cells that ``where`` selects; report its mistakes."""
        rows = [cell.all_columns for cell, _ in self.cells]
        names = list(dict.fromkeys(column for columns in rows for column in columns))
        for column, patterns in self.where.items():
            if column not in names:
                fix = fix_of_name(column, names)
                self.report(("where", column), f"no column '{column}'", fix)
                continue
            values = sorted({row[column] for row in rows if column in row}, key=natural)
            self.values[column] = dict.fromkeys(values)
            self.kept[column] = {*matched(patterns, values)}
            for place, problem in pattern_problems(patterns, values, column):
                loc = ("where", column) if len(patterns) == 1 else ("where", column, place)
                self.report(loc, problem.what, problem.fix)
        self.cells = [pair for pair in self.cells if self._keeps(pair[0].all_columns)]
        if not self.cells and not self.wrong:
            message = f"keeps none of the {len(rows)} cells: no cell has all these values"
            self.report(("where",), message)
        left_out = {*self.entries} - {cell.dataset_key for cell, _ in self.cells}
        self.check_datasets("run that 'where' keeps", left_out)

    def check_same(self) -> None:
        """Report cells that would be the same row of the leaderboard, one for each entry."""
        by_key: dict[CellKey, Cell] = {}
        reported: set[Loc] = set()
        for cell, loc in self.cells:
            earlier = by_key.setdefault(cell.key, cell)
            if earlier is not cell and loc not in reported:
                reported.add(loc)
                both = " and ".join(" + ".join(each.run_files) for each in (earlier, cell))
                expected = f"expected one run '{cell.run}' on dataset '{cell.dataset}'"
                self.report(loc, f"{expected}, got two: {both}", "give one of them another name")


def missing_cells(cells: Iterable[Cell]) -> list[str]:
    """Return the combinations that would complete each run's grid: ``gbrt on f1 fold=1 seed=2``.

    A run's grid is every dataset of one entry (every fold) x every value that each of the
    run's own placeholders takes in any of its cells. If the run's path has ``{dataset}``, it
    is every dataset of all the entries that it has cells on. Runs that belong to one dataset, as
    those of the rounds of a shared task, are not a grid.
    """
    datasets: dict[str, dict[str, Cell]] = {}
    grids: dict[tuple[str, str, tuple[str, ...]], list[Cell]] = {}
    for cell in cells:
        datasets.setdefault(cell.dataset_key, {}).setdefault(cell.dataset_entry.path, cell)
        key = "" if cell.across else cell.dataset_key
        grids.setdefault((key, cell.run_key, tuple(cell.of_run)), []).append(cell)
    gaps = []
    for (_, run_key, names), grid in grids.items():
        if _are_own_runs(grid):
            continue
        present = {(cell.place, *cell.of_run.values()) for cell in grid}
        axes = [sorted({cell.of_run[name] for cell in grid}, key=natural) for name in names]
        keys = dict.fromkeys(cell.dataset_key for cell in grid)
        on_datasets = [on_dataset for key in keys for on_dataset in datasets[key].values()]
        for cell, values in itertools.product(on_datasets, itertools.product(*axes)):
            if (cell.place, *values) not in present:
                of_run = dict(zip(names, values, strict=True))
                run = Pattern(run_key).fill({**cell.of_dataset, **of_run, DATASET: cell.dataset})
                gap = replace(cell, run_key=run_key, of_run=of_run)
                columns = map("=".join, gap.columns.items())
                gaps.append(" ".join((f"{run} on {cell.dataset}", *columns)))
    return gaps


def _are_own_runs(grid: Sequence[Cell]) -> bool:
    """Whether most datasets mostly have runs that no other dataset has."""
    places: dict[str, set[tuple[str, str]]] = {}
    for cell in grid:
        places.setdefault(cell.run, set()).add(cell.place)
    n_own = Counter(next(iter(datasets)) for datasets in places.values() if len(datasets) == 1)
    runs = Counter(place for datasets in places.values() for place in datasets)
    return len(runs) > 1 and 2 * sum(2 * n_own[place] > runs[place] for place in runs) > len(runs)


def missing_text(cells: Sequence[Cell]) -> str:
    """Return the number of missing cells, and the first, one a line; ``""`` if none are missing."""
    gaps = missing_cells(cells) if len(cells) > 1 else []
    if not gaps:
        return ""
    rest = [f"... {text}" for text in and_more(len(gaps) - SHOWN)]
    head = f"{len(gaps)} of {len(gaps) + len(cells)} cells are missing:"
    return "\n  ".join([head, *gaps[:SHOWN], *rest])


def reference_cell(cells: Iterable[Cell], cell: Cell, name: str) -> Cell:
    """Return the cell of the run `name` on this cell's dataset, of the same seed if several.

    Raises UnknownNameError if there is none, or several.
    """
    on_dataset = [near for near in cells if near.dataset == cell.dataset]
    named = [near for near in on_dataset if near.run == name]
    matches = [near for near in named if near.dataset_entry == cell.dataset_entry]
    same_seed = [near for near in matches if _outside_name(near) == _outside_name(cell)]
    if not matches or (len(matches) > 1 and not same_seed):
        runs = sorted({near.run for near in on_dataset})
        listed = f"{len(matches)} runs of that name" if matches else ", ".join(runs)
        message = f"reference={name}: expected one run on dataset {cell.dataset}, got {listed}"
        fix = f"name the run that {cell.run} is compared with"
        raise UnknownNameError(message, fix=fix)
    return (same_seed or matches)[0]


def without_reference(cells: Iterable[Cell], name: str) -> Iterator[UnknownNameError]:
    """Yield an error for each dataset entry on which a run cannot be the reference.

    A fold without its predictions does not count if other folds have some.
    """
    for group in grouped_by(cells, lambda cell: cell.dataset_key).values():
        errors = []
        for cell in group:
            try:
                reference_cell(group, cell, name)
            except UnknownNameError as error:
                errors.append(error)
        if len(errors) == len(group):
            yield errors[0]


def _outside_name(cell: Cell) -> dict[str, str]:
    """Return the values captured outside the run's name: its seed."""
    return {name: value for name, value in cell.of_run.items() if f"{{{name}}}" not in cell.run_key}
