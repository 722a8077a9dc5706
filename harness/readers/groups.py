"""Queries put into groups, and runs put into teams, by files."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from ..core.entries import BELOW
from ..errors import (
    InputError,
    Place,
    Problem,
    counted,
    first_of,
    fix_of_name,
    warn,
)
from ..input_files import add_inputs, name_of, url_of
from . import remote
from .column_roles import guess
from .source import missing

MOST = 20
"""Largest number of groups of a column; a column with more has numbers or identifiers."""
TAKEN = ("dataset", "run", "qid", "metric", "value", "weight")
"""Columns of the file of values per query."""
CONTRIBUTED = "contributed"
Labels = dict[str, dict[str, str]]
"""Labels by column, then qid."""
Bins = Mapping[str, Sequence[float]]


def read_groups(path: Path, qid: str, columns: Sequence[str], bins: Bins | None) -> Labels:
    """Return the groups of the queries of a CSV, TSV or Parquet file.

    Raises
    ------
    InputError
        If a qid occurs twice, a column is missing, or a column has too many groups.
    """
    rows = rows_by_qid(path, qid, [*columns, *(bins or ())])
    names = list(next(iter(rows.values()))[1]) if rows else []
    labelled = columns or [name for name in names if name != qid]
    texts = {column: [row[column] for _, row in rows.values()] for column in labelled}
    return _labels_of(name_of(path), list(rows), texts, bins)


def rows_by_qid(
    path: Path, qid: str, columns: Sequence[str]
) -> dict[str, tuple[int, dict[str, str]]]:
    """Return the line and the columns of each qid of a CSV, TSV or Parquet file.

    Raises
    ------
    InputError
        If a qid occurs twice, or a column is missing.
    """
    rows, place = _rows(path), name_of(path)
    names = list(rows[0]) if rows else []
    if qid == "qid" and qid not in names and (usual := guess(names, "qrels").get("qid")):
        rows = [{qid if name == usual else name: row[name] for name in names} for row in rows]
        names = list(rows[0])
    for name in (qid, *columns):
        if name not in names:
            message = f"expected a column '{name}', got {first_of(names)}"
            fix = fix_of_name(name, [known for known in names if known != qid])
            if name == qid:
                fix = f"rename the column of qids to '{qid}', or name it in a config: 'qid:'"
            raise InputError(Problem(Place(place, 1), message, fix=fix))
    by_qid: dict[str, tuple[int, dict[str, str]]] = {}
    for line, row in enumerate(rows, 2):
        if row[qid] in by_qid:
            message = f"expected each qid once, got '{row[qid]}' on line {by_qid[row[qid]][0]} too"
            raise InputError(Problem(Place(place, line), message, fix="keep one of the lines"))
        by_qid[row[qid]] = line, row
    return by_qid


def _labels_of(
    place: str, qids: Sequence[str], columns: Mapping[str, Sequence[str]], bins: Bins | None
) -> Labels:
    """Return the label of each query in each column, numbers cut by `bins`; checked."""
    groups: Labels = {}
    for name, values in columns.items():
        if name in TAKEN:
            message = f"a column of groups cannot be called '{name}', as the outputs have one"
            fix = "rename it, or name others in a config: 'columns:'"
            raise InputError(Problem(place, message, fix=fix))
        texts = [value.strip() for value in values]
        if bins and name in bins:
            cut = cut_by([_number(place, name, text) for text in texts], bins[name])
            texts = [label or "" for label in cut]
        labels = {qid: text for qid, text in zip(qids, texts, strict=True) if text}
        if (n := len({*labels.values()})) > MOST:
            message = f"column '{name}': expected at most {MOST} groups, got {n}"
            fix = f'cut numbers with --set "groups.bins={{{name}: [5, 10]}}", '
            fix += f"in a config with 'bins: {{{name}: [5, 10]}}'"
            raise InputError(Problem(place, message, fix=fix))
        groups[name] = labels
    return groups


def cut_by(numbers: Sequence[float | None], edges: Sequence[float]) -> list[str | None]:
    """Return the bin of each number; a bin includes its lower edge.

    >>> cut_by([2, 5, 7, None], [5, 10])
    ['below 5', '5 to 10', '5 to 10', None]
    """
    texts = [f"{edge:g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    labels = [f"{BELOW}{texts[0]}", *between, f"{texts[-1]} or more"]
    return [
        None if number is None else labels[int(np.searchsorted(edges, number, side="right"))]
        for number in numbers
    ]


def _number(place: str, name: str, text: str) -> float | None:
    try:
        number = float(text) if text else None
    except ValueError:
        number = math.nan
    if number is not None and math.isnan(number):
        message = f"column '{name}': expected a number to be cut by bins, got '{text}'"
        fix = "correct it, or take the column out of the bins"
        raise InputError(Problem(place, message, fix=fix))
    return number


def _rows(path: Path) -> list[dict[str, str]]:
    add_inputs(path)
    copy = remote.fetched(url) if (url := url_of(path)) else None
    file_path = Path(copy.path) if copy else path
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet as pq

            table = pq.ParquetFile(file_path).read(use_threads=False)
            return [
                {name: "" if value is None else str(value) for name, value in row.items()}
                for row in table.to_pylist()
            ]
        with file_path.open(encoding="utf-8-sig", newline="") as file:
            tab = path.suffix in (".tsv", ".txt")
            reader = csv.DictReader(file, delimiter="\t" if tab else ",", restval=None)
            rows = []
            for row in reader:
                if None in row or None in row.values():
                    fields = counted(len(reader.fieldnames or ()), "field")
                    message = f"expected {fields}, as in the header"
                    fix = f"separate columns with {'tabs' if tab else 'commas'}"
                    place = Place(name_of(path), reader.line_num)
                    raise InputError(Problem(place, message, fix=fix))
                rows.append(row)
            return rows
    except FileNotFoundError:
        fix = "correct the path of the file of groups, weights or teams"
        raise missing(path, fix) from None
    except (OSError, ValueError, csv.Error) as error:
        message = f"expected CSV or Parquet, got: {getattr(error, 'strerror', '') or error}"
        fix = "write a CSV file in UTF-8, with a header line"
        raise InputError(Problem(name_of(path), message, fix=fix)) from error


def teams_of(runs: Sequence[Sequence[str]], teams: str) -> list[str]:
    r"""Return the team of each run, found by its name or else its tags.

    `teams` is a CSV file with the columns run and team, or a regular expression; its first group,
    or the whole match, is the team. A run without a team is a team with the run's name.

    >>> teams_of([("uni-a_1",), ("run 2", "uni-a_2"), ("x",)], r"(.+)_\d")
    ['uni-a', 'uni-a', 'x']
    """
    if not os.path.exists(teams) and not url_of(teams):
        try:
            pattern = re.compile(teams)
        except re.error as error:
            message = f"expected a CSV file or a regular expression, got neither ({error})"
            raise InputError(Problem(f"--teams {teams}", message)) from error
        if teams.endswith(".csv"):
            raise missing(teams)

        def team(name: str) -> str:
            match = pattern.search(name)
            return (match[pattern.groups and 1] or "") if match else ""

        return [next(filter(None, map(team, run)), run[0]) for run in runs]
    rows = _rows(Path(teams))
    if rows and not {"run", "team"} <= rows[0].keys():
        message = f"expected the columns run and team, got {', '.join(rows[0])}"
        raise InputError(Problem(Place(teams, 1), message, fix="write a first line: run,team"))
    named = {row["run"]: row["team"] for row in rows}
    found = [next(filter(None, map(named.get, run)), "") for run in runs]
    if unnamed := [run[0] for run, name in zip(runs, found, strict=True) if not name]:
        who = f"{counted(len(unnamed), 'run')} without a team, each a team of its own"
        warn(f"{teams}: {who}: {first_of(unnamed, 3)}")
    return [name or run[0] for run, name in zip(runs, found, strict=True)]


_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def contributing(names: Sequence[Sequence[str]], file: str) -> list[bool]:
    """Whether each run, found by its name or tags, contributes to a pool according to a file.

    `file` is a CSV file with a column run and a column of yes and no, ``FILE:COLUMN``; by default
    the column whose name begins with 'contributed'.
    """
    path, colon, column = file.rpartition(":")
    if not colon or os.path.exists(file):
        path, column = file, ""
    rows = _rows(Path(path))
    header = [*rows[0]] if rows else []
    columns = [name for name in header if (name == column if column else name[:11] == CONTRIBUTED)]
    if "run" not in header or not columns:
        message = f"expected the columns run and {column or CONTRIBUTED}, got {', '.join(header)}"
        fix = "write them, or name the column of yes and no: FILE:COLUMN"
        raise InputError(Problem(Place(path, 1), message, fix=fix))
    words = {row["run"]: (line, row[columns[0]].strip()) for line, row in enumerate(rows, 2)}
    flags = []
    for run in names:
        line, word = next((words[name] for name in run if name in words), (1, ""))
        if word.lower() not in _YES:
            message = f"run '{run[0]}': expected yes or no, got " + (
                f"'{word}'" if word else "none"
            )
            fix = "write yes or no for each run"
            raise InputError(Problem(Place(path, line), message, fix=fix))
        flags.append(_YES[word.lower()])
    if not any(flags):
        message = f"column '{columns[0]}': expected a run that contributes, got none"
        raise InputError(Problem(Place(path, 1), message, fix="write yes for a run"))
    return flags
