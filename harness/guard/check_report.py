"""What ``harness check`` prints: a verdict on each file with its findings, or JSON or SARIF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from .. import __version__
from ..config.cells import Cell
from ..core.entries import grouped_by
from ..core.pandas_frame import data_frame
from ..core.rules import RULES
from ..errors import Finding, and_more, counted, first_of, in_json, lines_of
from ..reports.markdown import in_markdown
from ..reports.text import Shown
from .findings import APART, ORDER

if TYPE_CHECKING:
    import pandas

MOST, MOST_APART = 3, 20
"""Most findings of one rule that are printed, and of one about anything. JSON has all."""
PLACES = 10
"""Places of the other findings of one rule that are printed."""
RULES_PAGE = "https://ranking-harness.github.io/ranking-harness/reference/rules/"
VERDICTS: Mapping[str, str] = {"error": "ERROR", "warning": "WARN", "note": "OK"}
"""The word before a file, by the severity of its worst finding."""


@dataclass(frozen=True, repr=False)
class Checked(Shown):
    """What ``harness check`` found.

    Parameters
    ----------
    findings : tuple of Finding
        Errors first.
    cells : tuple of Cell
        Each run on its dataset.
    rows : int
        Of all runs that could be read.
    alone : int
        Runs that were not compared with their dataset, as that could not be read.
    submitted : bool
        Whether the runs were checked as submissions to a shared task.
    """

    findings: tuple[Finding, ...]
    cells: tuple[Cell, ...]
    rows: int = 0
    alone: int = 0
    submitted: bool = False

    def count(self, severity: str) -> int:
        """Return how many findings are of a severity: "error", "warning" or "note"."""
        return sum(one.severity == severity for one in self.findings)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per finding (needs pandas)."""
        return data_frame([one.as_dict() for one in self.findings])

    def __str__(self) -> str:
        return as_text(self).rstrip("\n")

    def __repr__(self) -> str:
        return f"<Checked: {looked_at(self)}: {counts(self)}>"


def address(rule: str) -> str:
    """Return where the docs describe a rule."""
    return f"{RULES_PAGE}#{rule}"


def as_text(checked: Checked, *, notes: bool = False, by: Literal["run", "rule"] = "run") -> str:
    """Return what ``harness check`` prints: findings by file, or by rule, and their number."""
    shown = [one for one in checked.findings if notes or one.severity != "note"]
    by_rule = _lines([(one, one.head) for one in shown], set())
    lines = [*(by_rule if by == "rule" else _by_file(shown, checked.cells))]
    hidden = " (not shown; see --notes)" if not notes and checked.count("note") else ""
    lines.append(f"{looked_at(checked)}: {counts(checked)}{hidden}")
    if shown:
        lines.append(f"what each rule means: {RULES_PAGE}")
    return lines_of(lines)


def _by_file(findings: Iterable[Finding], cells: Iterable[Cell]) -> Iterator[str]:
    """Yield a verdict on each run, and on other files with findings; these are below it."""
    files = grouped_by(findings, _file)
    advised: set[tuple[str, ...]] = set()
    for file in dict.fromkeys([*files, *(cell.run_entry.path for cell in cells)]):
        some = files.get(file, [])
        worst = min((one.severity for one in some), key=ORDER.index, default="note")
        rules = ", ".join(dict.fromkeys(one.rule for one in some if one.severity != "note"))
        yield f"{VERDICTS[worst]:5}  {file}" + (f"  {rules}" if rules else "")
        heads = [(one, f"{one.severity}: {_in_file(one)} [{one.rule}]") for one in some]
        yield from (f"  {line}" for line in _lines(heads, advised))


def _lines(heads: Iterable[tuple[Finding, str]], advised: set[tuple[str, ...]]) -> Iterator[str]:
    """Yield findings by their first lines, those of one rule together, each advice once."""
    alike = grouped_by(heads, lambda one: (one[0].severity, one[0].rule, *one[0].advice))
    for (_, rule, *advice), some in alike.items():
        most = MOST_APART if rule in APART else MOST
        yield from (head for _, head in some[:most])
        if len(some) > most:
            places = [one.place for one, _ in some[most:]]
            yield f"  ... {''.join(and_more(len(places), first_of(places, PLACES)))}"
        if tuple(advice) not in advised:
            yield from advice
            advised.add(tuple(advice))


def _file(one: Finding) -> str:
    """Return the file to look at: for a config that extends another one, that of the key."""
    return one.place.base or one.place.file


def _at(one: Finding) -> dict[str, Any]:
    """Return the key in a config, the line or the row of a finding, if it has any."""
    parts = {"key": one.place.key, "line": one.place.line, "row": one.place.row}
    return {name: value for name, value in parts.items() if value}


def _in_file(one: Finding) -> str:
    """Return the place in the file, what is wrong, and examples."""
    at = (value if name == "key" else f"{name} {value}" for name, value in _at(one).items())
    return ": ".join(filter(None, (", ".join(at), f"{one.what}{one.shown}")))


def counts(checked: Checked) -> str:
    """Return the number of findings of each severity."""
    found = [counted(checked.count(name), name) for name in ORDER if checked.count(name)]
    return ", ".join(found) or "nothing found"


def looked_at(checked: Checked) -> str:
    """Return in one line what was looked at."""
    datasets = {cell.dataset_entry.path for cell in checked.cells}
    runs = {(cell.run, cell.run_entry.path) for cell in checked.cells}
    alone = f"; {counted(checked.alone, 'run')} without a dataset" if checked.alone else ""
    files = f"{counted(len(datasets), 'dataset')} and {counted(len(runs), 'run')}"
    return f"checked {files}, {counted(checked.rows, 'row')}{alone}"


def as_json(checked: Checked) -> str:
    """Return the same as one JSON object."""
    names = _names(checked.cells)
    content = {
        "findings": [
            {**one.as_dict(), "file": _file(one), **_at(one), **names.get(_file(one), {})}
            for one in checked.findings
        ],
        "counts": {name: checked.count(name) for name in ORDER},
        "rows": checked.rows,
        "runs_without_dataset": checked.alone,
        **({"verdicts": verdicts(checked)} if checked.submitted else {}),
        "checked": [
            {
                "dataset": cell.dataset,
                "run": cell.run,
                "columns": cell.columns,
                "dataset_path": cell.dataset_entry.path,
                "run_path": cell.run_entry.path,
            }
            for cell in checked.cells
        ],
    }
    return in_json(content, indent=1) + "\n"


def _names(cells: Iterable[Cell]) -> dict[str, dict[str, str]]:
    """Return the dataset and the run that each file belongs to, if it is only one."""
    found: dict[str, dict[str, set[str]]] = {}
    for cell in cells:
        run, dataset = (one.path for one in (cell.run_entry, cell.dataset_entry))
        found.setdefault(run, {}).setdefault("run", set()).add(cell.run)
        for path in (run, dataset):
            found.setdefault(path, {}).setdefault("dataset", set()).add(cell.dataset)
    return {
        path: {what: next(iter(some)) for what, some in of.items() if len(some) == 1}
        for path, of in found.items()
    }


def verdicts(checked: Checked) -> list[dict[str, str]]:
    """Return OK, WARN or REJECT for each run, with a reason of one line that can be mailed."""
    return [
        {"run": file, "verdict": verdict, "reason": "; ".join(map(_in_file, some))}
        for file, verdict, some in _by_run(checked)
    ]


def _by_run(checked: Checked) -> Iterator[tuple[str, str, list[Finding]]]:
    """Yield each run, its verdict, and its errors and warnings."""
    found = grouped_by([one for one in checked.findings if one.severity != "note"], _file)
    words = {**VERDICTS, "error": "REJECT"} if checked.submitted else VERDICTS
    for file in dict.fromkeys(cell.run_entry.path for cell in checked.cells):
        some = found.get(file, [])
        yield file, words[some[0].severity if some else "note"], some


def verdicts_as_text(checked: Checked) -> str:
    """Return a line for each submission, and the number of each verdict."""
    found = verdicts(checked)
    lines = [f"{one['verdict']:6}  {one['run']}  {one['reason']}".rstrip() for one in found]
    number = Counter(one["verdict"] for one in found)
    lines.append(", ".join(f"{number[name]:,} {name}" for name in ("OK", "WARN", "REJECT")))
    return lines_of(lines)


def as_markdown(checked: Checked) -> str:
    """Return the verdicts as a table; each reason links to its rule."""
    lines = ["| run | verdict | reason |", "| --- | --- | --- |"]
    for file, verdict, some in _by_run(checked):
        reason = "; ".join(
            f"{in_markdown(_in_file(one))} [{one.rule}]({address(one.rule)})" for one in some
        )
        lines.append(f"| {in_markdown(file)} | {verdict} | {reason} |")
    return lines_of(lines)


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_sarif(checked: Checked) -> str:
    """Return what ``harness check`` found as one SARIF log."""
    names = list(dict.fromkeys(one.rule for one in checked.findings))
    rules = [
        {
            "id": name,
            "shortDescription": {"text": RULES[name].about},
            "help": {"text": f"Effect: {RULES[name].effect}. Fix: {RULES[name].fix}."},
            "helpUri": address(name),
            "defaultConfiguration": {"level": RULES[name].severity},
        }
        for name in names
    ]
    driver = {
        "name": "harness", "version": __version__, "informationUri": RULES_PAGE, "rules": rules,
    }  # fmt: skip
    results = [
        {
            "ruleId": one.rule,
            "ruleIndex": names.index(one.rule),
            "level": one.severity,
            "message": {"text": "\n".join([f"{one.what}{one.shown}", *one.advice])},
            "locations": _locations(one),
        }
        for one in checked.findings
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return in_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _locations(one: Finding) -> list[dict[str, Any]]:
    """Return where a finding is, seen from the working directory; nothing without a file."""
    if not _file(one):
        return []
    path = Path(_file(one))
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if one.place.line:
        place["region"] = {"startLine": one.place.line}
    return [{"physicalLocation": place}]
