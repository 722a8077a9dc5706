"""What ``harness check`` prints: a verdict on each file with its findings, or JSON or SARIF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from .. import __version__
from ..core.leaderboard import grouped_by
from ..errors import Finding, Place, counted, in_json, lines_of, others_at
from ..guard.registry import APART, ORDER, RULES
from .markdown import in_markdown

if TYPE_CHECKING:
    from ..config.cells import Cell
    from ..guard.check import Checked

SHOWN, SHOWN_APART = 3, 20
"""Most findings of one rule that are printed, and of one about anything. JSON has all."""
RULES_PAGE = "https://ranking-harness.github.io/ranking-harness/reference/rules/"
VERDICTS: Mapping[str, str] = {"error": "ERROR", "warning": "WARN", "note": "OK"}
"""The word before a file, by the severity of its worst finding."""


def address(rule: str) -> str:
    """Return where the docs describe a rule."""
    return f"{RULES_PAGE}#{rule}"


def as_text(checked: Checked, *, notes: bool = False, by: Literal["run", "rule"] = "run") -> str:
    """Return what ``harness check`` prints: findings by file, or by rule, and their number."""
    shown = [one for one in checked.findings if notes or one.severity != "note"]
    by_rule = _lines(shown, lambda one: one.head, set())
    lines = [*(by_rule if by == "rule" else _by_file(shown, checked.cells))]
    hidden = " (not shown; see --notes)" if not notes and checked.count("note") else ""
    lines.append(f"{looked_at(checked)}: {counts(checked)}{hidden}")
    if shown:
        lines.append(f"what each rule means: {RULES_PAGE}")
    return lines_of(lines)


def _by_file(findings: Iterable[Finding], cells: Sequence[Cell]) -> Iterator[str]:
    """Yield a verdict on each run, and on other files with findings; these are below it."""
    files = grouped_by(findings, lambda one: one.place.base or one.place.file)
    advised: set[tuple[str, ...]] = set()

    def head(one: Finding) -> str:
        at = _at(one.place)
        where = [at["key"]] if "key" in at else []
        where += [f"{name} {at[name]}" for name in ("line", "row") if name in at]
        place = f"{', '.join(where)}: " if where else ""
        return f"{one.severity}: {place}{one.what}{one.shown} [{one.rule}]"

    for file in dict.fromkeys([*files, *(cell.run_entry.path for cell in cells)]):
        some = files.get(file, [])
        worst = min((one.severity for one in some), key=ORDER.index, default="note")
        rules = ", ".join(dict.fromkeys(one.rule for one in some if one.severity != "note"))
        yield f"{VERDICTS[worst]:5}  {file}" + (f"  {rules}" if rules else "")
        yield from (f"  {line}" for line in _lines(some, head, advised))


def _lines(
    findings: Iterable[Finding], head: Callable[[Finding], str], advised: set[tuple[str, ...]]
) -> Iterator[str]:
    """Yield findings, those of one rule together, each advice once."""
    alike = grouped_by(findings, lambda one: (one.severity, one.rule, *one.advice))
    for (_, rule, *advice), some in alike.items():
        most = SHOWN_APART if rule in APART else SHOWN
        yield from map(head, some[:most])
        if len(some) > most:
            yield f"  {others_at([one.place for one in some[most:]])}"
        if tuple(advice) not in advised:
            yield from advice
            advised.add(tuple(advice))


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


def places_of(checked: Checked) -> Iterator[tuple[Finding, dict[str, Any]]]:
    """Yield each finding with its file, and its line, row or key if it has any."""
    yield from ((one, _at(one.place)) for one in checked.findings)


def as_json(checked: Checked) -> str:
    """Return the same as one JSON object."""
    names = _names(checked.cells)
    content = {
        "findings": [
            {**one.as_dict(), **at, **names.get(at["file"], {})} for one, at in places_of(checked)
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
        {"run": file, "verdict": verdict, "reason": "; ".join(map(_reason, some))}
        for file, verdict, some in _by_run(checked)
    ]


_SUBMITTED = {**VERDICTS, "error": "REJECT"}


def _by_run(checked: Checked) -> Iterator[tuple[str, str, list[Finding]]]:
    """Yield each run, its verdict, and its errors and warnings."""
    files = dict.fromkeys(cell.run_entry.path for cell in checked.cells)
    wrong = [one for one in checked.findings if one.severity != "note"]
    found = grouped_by(wrong, lambda one: one.place.base or one.place.file)
    words = _SUBMITTED if checked.submitted else VERDICTS
    for file in files:
        some = found.get(file, [])
        yield file, words[some[0].severity if some else "note"], some


def _reason(one: Finding) -> str:
    at = _at(one.place)
    where = [f"{name} {at[name]}: " for name in ("line", "row") if name in at]
    return f"{''.join(where)}{one.what}{one.shown}"


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
            f"{in_markdown(_reason(one))} [{one.rule}]({address(one.rule)})" for one in some
        )
        lines.append(f"| {in_markdown(file)} | {verdict} | {reason} |")
    return lines_of(lines)


def _at(place: Place) -> dict[str, Any]:
    """Return the file of a place, and its key in a config, line or row, if it has any."""
    parts = {"key": place.key, "line": place.line, "row": place.row}
    return {"file": place.base or place.file, **{name: one for name, one in parts.items() if one}}


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
            "locations": _locations(one, at),
        }
        for one, at in places_of(checked)
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return in_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _locations(one: Finding, at: dict[str, Any]) -> list[dict[str, Any]]:
    """Return where a finding is, seen from the working directory; nothing without a file."""
    if not at["file"]:
        return []
    path = Path(at["file"])
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if "line" in at:
        place["region"] = {"startLine": max(1, at["line"])}
    return [{"physicalLocation": place}]
