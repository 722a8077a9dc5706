"""What was found, as text and as JSON."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ..config.cells import Cell
from ..errors import ALIKE, Finding, for_terminal, in_json, legible, others_at
from .check import Checked, shown
from .registry import APART, ORDER, plural

MOST = {"error": 20, "warning": 5, "note": 5}
"""Findings of one rule that are printed, if they are about anything; JSON has all."""
FEW = 5
"""Findings of any other rule that are all printed; of more, the first three."""

_PLACE = re.compile(
    r"(?P<file>.+?)"
    r"(?::(?P<line>\d+)|: row (?P<row>\d+)|: (?P<key>\$.*?)"
    r"(?: \((?:(?P<base>[^()]+), )?line (?P<of_key>\d+)\))?)?"
)


def text(checked: Checked, *, notes: bool = True) -> str:
    """Return what ``harness check`` prints; without notes, how many there are."""
    return for_terminal("".join(f"{legible(line)}\n" for line in _lines(checked, notes)))


def _lines(checked: Checked, notes: bool) -> Iterator[str]:
    for alike in _by_rule(one for one in checked.findings if notes or one.severity != "note"):
        most = MOST[alike[0].severity]
        if len(alike) > FEW and alike[0].rule not in APART:
            most = ALIKE
        yield from (one.head for one in alike[:most])
        if len(alike) > most:
            yield f"  {others_at([one.place for one in alike[most:]])}"
        yield from alike[0].advice
    counts = [plural(checked.count(name), name) for name in ORDER if checked.count(name)]
    hidden = "" if notes or not checked.count("note") else " (not shown)"
    yield f"{looked_at(checked)}: {', '.join(counts) or 'nothing found'}{hidden}"


def _by_rule(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return findings that have the same to advise together, in the order of the first of each."""
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for one in findings:
        alike.setdefault((one.severity, one.rule, *one.advice), []).append(one)
    return list(alike.values())


def looked_at(checked: Checked) -> str:
    """Return in one line what was looked at."""
    cells = checked.cells
    datasets = {cell.dataset_entry.path for cell in cells}
    runs = {(cell.run, cell.run_entry.path) for cell in cells}
    files = f"{plural(len(datasets), 'dataset')} and {plural(len(runs), 'run')}"
    its = "its" if checked.alone == 1 else "their"
    alone = f"; {plural(checked.alone, 'run')} without {its} dataset" if checked.alone else ""
    return f"checked {files}, {plural(checked.rows, 'row')}{alone}"


def as_json(checked: Checked) -> str:
    """Return the same as one JSON object."""
    names = _names(checked.cells)
    content = {
        "findings": [
            {**one.as_dict(), **(at := _at(one.place, names)), **names.get(at["file"], {})}
            for one in checked.findings
        ],
        "counts": {name: checked.count(name) for name in ORDER},
        "rows": checked.rows,
        "runs_without_dataset": checked.alone,
        "checked": [_cell(cell) for cell in checked.cells],
    }
    return in_json(content, indent=1) + "\n"


def _names(cells: Iterable[Cell]) -> dict[Any, dict[str, str]]:
    """Return of each file the names of its dataset and its run, where it is of one alone."""
    found: dict[Any, dict[str, set[str]]] = {}
    for cell in cells:
        of_run = found.setdefault(shown(cell.run_entry.path), {"dataset": set(), "run": set()})
        of_run["run"].add(cell.run)
        for path in (cell.run_entry.path, cell.dataset_entry.path):
            known = found.setdefault(shown(path), {"dataset": set(), "run": set()})
            known["dataset"].add(cell.dataset)
    return {
        path: {what: next(iter(some)) for what, some in of.items() if len(some) == 1}
        for path, of in found.items()
    }


def _at(place: str, files: Collection[str] = ()) -> dict[str, Any]:
    """Return the file of a place, and its line, its row or its key in a config, if it has any.

    >>> _at("a.run:7"), _at("a.npy: row 2")
    ({'file': 'a.run', 'line': 7}, {'file': 'a.npy', 'row': 2})
    >>> _at("c.yaml: $.metrics[1] (line 6)"), _at("a:7", ["a:7"])
    ({'file': 'c.yaml', 'key': '$.metrics[1]', 'line': 6}, {'file': 'a:7'})
    >>> _at("c.yaml: $.metrics[1] (base.yaml, line 6)")
    {'file': 'base.yaml', 'key': '$.metrics[1]', 'line': 6}
    """
    found = None if place in files else _PLACE.fullmatch(place)
    if found is None:
        return {"file": place}
    parts = {what: text for what, text in found.groupdict().items() if text is not None}
    line = parts.pop("of_key", parts.pop("line", None))
    row = parts.pop("row", None)
    parts["file"] = parts.pop("base", parts["file"])  # of the config that this one extends
    numbers = {"line": line, "row": row}
    return {**parts, **{what: int(text) for what, text in numbers.items() if text}}


def _cell(cell: Cell) -> dict[str, object]:
    return {
        "dataset": cell.dataset,
        "run": cell.run,
        "columns": cell.columns,
        "dataset_path": cell.dataset_entry.path,
        "run_path": cell.run_entry.path,
    }
