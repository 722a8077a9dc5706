"""Output of ``harness check``: a verdict on each file with its findings, as text, JSON or SARIF."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .. import __version__
from ..config.cells import Cell
from ..core.entries import grouped_by
from ..core.pandas_frame import data_frame
from ..core.rules import RULES
from ..errors import SITE, Finding, and_more, counted, first_of, in_json, legible, lines_of
from ..reports.grid import Answer, Grid, Tone, grid
from ..reports.markdown import in_markdown
from ..reports.text import Shown, Styled, render, styled_lines
from .findings import APART, ORDER

if TYPE_CHECKING:
    import pandas

MOST, MOST_APART = 3, 20
"""Limits of the printed findings of one rule, and of the general rule. JSON has all."""
PLACES = 10
"""Places of the other findings of one rule that are printed."""
SUMMED_UP = 20
"""Above this number of submissions, a table counts those that break each rule."""
RULES_PAGE = f"{SITE}reference/rules/"
_VERDICT = re.compile("(?:OK|WARN|ERROR|REJECT)(?= )|(?:warning|error)(?=: )")
_TONES: Mapping[str, Tone] = {
    **{"ok": "good", "warn": "mixed", "warning": "mixed"},
    **{"error": "bad", "reject": "bad"},
}
VERDICTS: Mapping[str, str] = {"error": "ERROR", "warning": "WARN", "note": "OK"}
"""The word before a file, by the severity of its worst finding."""


@dataclass(frozen=True, repr=False)
class Checked(Shown):
    """Findings of ``harness check``.

    Parameters
    ----------
    findings : tuple of Finding
        All findings, errors first.
    cells : tuple of Cell
        Pairs of a run and its dataset.
    rows : int
        Number of rows that were read of all runs.
    alone : int
        Number of runs on a dataset that could not be read.
    submitted : bool
        Whether the runs are submissions to a shared task.
    """

    findings: tuple[Finding, ...]
    cells: tuple[Cell, ...]
    rows: int = 0
    alone: int = 0
    submitted: bool = False

    def count(self, severity: str) -> int:
        """Count the findings of one severity: "error", "warning" or "note"."""
        return sum(finding.severity == severity for finding in self.findings)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row for each finding (needs pandas)."""
        return data_frame([finding.as_dict() for finding in self.findings])

    def __str__(self) -> str:
        return findings_as_text(self).rstrip("\n")

    def __repr__(self) -> str:
        return f"<Checked: {checked_inputs(self) or 'no file'}: {severity_counts(self)}>"


def rule_address(rule: str) -> str:
    """Return the address of a rule in the docs."""
    return f"{RULES_PAGE}#{rule}"


def findings_as_text(checked: Checked, *, notes: bool = False, verbose: bool = False) -> str:
    """Render findings by file, and their number, as ``harness check`` prints them.

    With `verbose`, files without findings are listed too.
    """
    findings = [finding for finding in checked.findings if notes or finding.severity != "note"]
    lines = [*_by_file(findings, checked.cells if verbose else ())]
    lines += () if notes else _notes_left_out(checked)
    if findings:
        lines.append(f"what each rule means: {RULES_PAGE}")
    return _after_answer(checked, lines)


def _notes_left_out(checked: Checked) -> Iterator[str]:
    if checked.count("note"):
        yield f"{counted(checked.count('note'), 'note')} not shown; see --notes"


def _after_answer(checked: Checked, lines: Iterable[str]) -> Styled:
    """Return lines of text below the answer; the verdicts that begin them have colours."""
    matches = [(line, _VERDICT.match(line)) for line in map(legible, lines)]
    styled = [
        Styled(line, (match.start(), match.end(), _TONES[match[0].lower()])) if match else line
        for line, match in matches
    ]
    return render([Grid(answers=(_answer(checked),))]) + styled_lines(styled)


def _answer(checked: Checked) -> Answer:
    """Count the files, or submissions, that have errors and warnings, and what was checked."""
    if checked.submitted:
        worst = {file: word for file, word, _ in _by_run(checked)}
        noun, bad, faults = "run", "REJECT", ("is rejected", "are rejected")
    else:
        paths = [path for cell in checked.cells for path in _paths_of(cell)]
        worst = dict.fromkeys(paths, VERDICTS["note"])
        worst |= {
            _file_of(finding): VERDICTS[finding.severity] for finding in reversed(checked.findings)
        }
        noun, bad, faults = "file", "ERROR", ("has errors", "have errors")
    n, by = counted(len(worst), noun), Counter(worst.values())
    inputs = "" if checked.submitted else checked_inputs(checked)
    inputs = f" ({inputs})" if inputs else ""
    if not by[bad] and not by["WARN"]:
        return Answer(f"no problem in {n}{inputs}", "good")
    counts = [(by[bad], faults), (by["WARN"], ("has warnings", "have warnings"))]
    (first, verbs), *rest = [(k, verbs) for k, verbs in counts if k]
    parts = [f"{first:,} of {n} {verbs[first > 1]}"]
    parts += [f"{k:,} {verbs[k > 1]}" for k, verbs in rest]
    parts += [] if by[bad] else [f"none {faults[0]}"]
    return Answer(f"{', '.join(parts)}{inputs}", "bad" if by[bad] else "mixed")


def _paths_of(cell: Cell) -> Iterator[str]:
    yield from filter(None, (cell.dataset_entry.path, cell.run_entry.path))


def _by_file(findings: Iterable[Finding], cells: Iterable[Cell]) -> Iterator[str]:
    """Yield a verdict on each run and on other files with findings, and the findings below it."""
    files = grouped_by(findings, _file_of)
    advised: set[tuple[str, ...]] = set()
    for file in dict.fromkeys([*files, *map(_main_file, cells)]):
        file_findings = files.get(file, [])
        severities = [finding.severity for finding in file_findings]
        worst = min(severities, key=ORDER.index, default="note")
        yield f"{VERDICTS[worst]:5}  {file}"
        heads = [
            (finding, f"{finding.severity}: {_in_file(finding)} [{finding.rule}]")
            for finding in file_findings
        ]
        yield from (f"  {line}" for line in _finding_lines(heads, advised))


def _main_file(cell: Cell) -> str:
    """Return the file that a verdict is about: the run, or the dataset if it was checked alone."""
    return cell.run_entry.path or cell.dataset_entry.path


def _finding_lines(
    heads: Iterable[tuple[Finding, str]], advised: set[tuple[str, ...]]
) -> Iterator[str]:
    """Yield findings by their first lines, those of one rule together, each advice once."""
    alike = grouped_by(heads, lambda pair: (pair[0].severity, pair[0].rule, *pair[0].advice))
    for (_, rule, *advice), group in alike.items():
        limit = MOST_APART if rule in APART else MOST
        yield from (head for _, head in group[:limit])
        if len(group) > limit:
            places = [finding.place for finding, _ in group[limit:]]
            yield f"  ... {''.join(and_more(len(places), first_of(places, PLACES)))}"
        if tuple(advice) not in advised:
            yield from advice
            advised.add(tuple(advice))


def _file_of(finding: Finding) -> str:
    """Return the file to look at: for a config that extends another one, that of the key."""
    return finding.place.base or finding.place.file


def _position_in_file(finding: Finding) -> dict[str, Any]:
    """Return the key in a config, the line or the row of a finding, if it has any."""
    parts = {"key": finding.place.key, "line": finding.place.line, "row": finding.place.row}
    return {name: value for name, value in parts.items() if value}


def _in_file(finding: Finding) -> str:
    position = (
        value if name == "key" else f"{name} {value}"
        for name, value in _position_in_file(finding).items()
    )
    return ": ".join(filter(None, (", ".join(position), f"{finding.what}{finding.shown}")))


def severity_counts(checked: Checked) -> str:
    """Return the number of findings of each severity."""
    parts = [counted(checked.count(name), name) for name in ORDER if checked.count(name)]
    return ", ".join(parts) or "nothing found"


def checked_inputs(checked: Checked) -> str:
    """Return the numbers of checked datasets, runs and rows, on one line."""
    datasets = {cell.dataset_entry.path for cell in checked.cells}
    runs = {(cell.run, cell.run_entry.path) for cell in checked.cells if cell.run_entry.path}
    files = [counted(len(datasets), "dataset"), counted(len(runs), "run")][: 2 if runs else 1]
    parts = [" and ".join(files)] if datasets else []
    parts += [counted(checked.rows, "row")] if checked.rows else []
    unmatched = f"; {counted(checked.alone, 'run')} without a dataset" if checked.alone else ""
    return ", ".join(parts) + unmatched


def findings_as_json(checked: Checked) -> str:
    """Return the same as one JSON object."""
    names = _names_by_file(checked.cells)
    content = {
        "findings": [
            {
                **finding.as_dict(),
                "file": _file_of(finding),
                **_position_in_file(finding),
                **names.get(_file_of(finding), {}),
            }
            for finding in checked.findings
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


def _names_by_file(cells: Iterable[Cell]) -> dict[str, dict[str, str]]:
    """Return the dataset and the run that each file belongs to, if it is only one."""
    names_by_file: dict[str, dict[str, set[str]]] = {}
    for cell in cells:
        if run := cell.run_entry.path:
            names_by_file.setdefault(run, {}).setdefault("run", set()).add(cell.run)
        for path in _paths_of(cell):
            names_by_file.setdefault(path, {}).setdefault("dataset", set()).add(cell.dataset)
    return {
        path: {kind: next(iter(names)) for kind, names in kinds.items() if len(names) == 1}
        for path, kinds in names_by_file.items()
    }


def verdicts(checked: Checked, notes: bool = False) -> list[dict[str, str]]:
    """Return OK, WARN or REJECT for each run, with a reason of one line that can be mailed."""
    return [
        {
            "run": file,
            "verdict": verdict,
            "reason": "; ".join(_reason(finding, findings) for finding in findings),
        }
        for file, verdict, findings in _by_run(checked, notes)
    ]


def _reason(finding: Finding, findings: Sequence[Finding]) -> str:
    """Return a finding of a run; one that does not decide the verdict says so."""
    is_aside = finding.severity == "note" or finding.severity != findings[0].severity
    return f"{finding.severity}: {_in_file(finding)}" if is_aside else _in_file(finding)


def accepted(checked: Checked) -> str:
    """Return the runs without an error, one a line; none if their dataset cannot be read."""
    by_run = () if checked.alone else _by_run(checked)
    return lines_of(file for file, _, own in by_run if not own or own[0].severity != "error")


def _by_run(checked: Checked, notes: bool = False) -> Iterator[tuple[str, str, list[Finding]]]:
    """Yield each run, its verdict, and its errors and warnings; with `notes`, those too."""
    reported = [finding for finding in checked.findings if notes or finding.severity != "note"]
    by_file = grouped_by(reported, _file_of)
    words = {**VERDICTS, "error": "REJECT"} if checked.submitted else VERDICTS
    for file in dict.fromkeys(map(_main_file, checked.cells)):
        findings = by_file.get(file, [])
        yield file, words[findings[0].severity if findings else "note"], findings


def verdicts_as_text(checked: Checked, *, notes: bool = False, verbose: bool = False) -> str:
    """Return the answer, and a line for each submission; OK ones without notes if `verbose`."""
    rows = verdicts(checked, notes)
    shown = [row for row in rows if verbose or row["reason"]]
    lines = [f"{row['verdict']:6}  {row['run']}  {row['reason']}".rstrip() for row in shown]
    lines += () if notes else _notes_left_out(checked)
    if len(rows) > SUMMED_UP:
        lines += [*[""] * bool(lines), *render([_summary(checked)]).splitlines()]
    return _after_answer(checked, lines)


def _summary(checked: Checked) -> Grid:
    """Return a row for each rule that runs break: the verdict it gives, and which runs."""
    words = {**VERDICTS, "error": "REJECT"}
    broken: dict[tuple[str, str], dict[str, None]] = {}
    for file, _, findings in _by_run(checked):
        for found in findings:
            broken.setdefault((words[found.severity], found.rule), {})[Path(file).name] = None
    ordered = sorted(broken.items(), key=lambda item: (item[0][0], -len(item[1])))
    rows = [
        [verdict, rule, first_of([*runs], MOST), f"{len(runs):,}"]
        for (verdict, rule), runs in ordered
    ]
    return grid(["verdict", "rule", "such as", "runs"], rows, left=3)


def verdicts_as_markdown(checked: Checked) -> str:
    """Return the verdicts as a table; each reason links to its rule."""
    lines = ["| run | verdict | reason |", "| --- | --- | --- |"]
    for file, verdict, findings in _by_run(checked):
        reason = "; ".join(
            f"{in_markdown(_reason(finding, findings))} "
            f"[{finding.rule}]({rule_address(finding.rule)})"
            for finding in findings
        )
        lines.append(f"| {in_markdown(file)} | {verdict} | {reason} |")
    return lines_of(lines)


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def findings_as_sarif(checked: Checked) -> str:
    """Render findings as one SARIF log."""
    names = list(dict.fromkeys(finding.rule for finding in checked.findings))
    rules = [
        {
            "id": name,
            "shortDescription": {"text": RULES[name].about},
            "help": {"text": f"Effect: {RULES[name].effect}. Fix: {RULES[name].fix}."},
            "helpUri": rule_address(name),
            "defaultConfiguration": {"level": RULES[name].severity},
        }
        for name in names
    ]
    driver = {
        "name": "harness",
        "version": __version__,
        "informationUri": RULES_PAGE,
        "rules": rules,
    }
    results = [
        {
            "ruleId": finding.rule,
            "ruleIndex": names.index(finding.rule),
            "level": finding.severity,
            "message": {"text": "\n".join([f"{finding.what}{finding.shown}", *finding.advice])},
            "locations": _sarif_locations(finding),
        }
        for finding in checked.findings
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return in_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _sarif_locations(finding: Finding) -> list[dict[str, Any]]:
    """Return the place of a finding for SARIF, from the working directory; empty without a file."""
    if not _file_of(finding):
        return []
    path = Path(_file_of(finding))
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if finding.place.line:
        place["region"] = {"startLine": finding.place.line}
    return [{"physicalLocation": place}]
