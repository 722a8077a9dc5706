"""The verdicts of a gate: text, Markdown for a pull request, JSON, JUnit, GitHub annotations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

from ..errors import and_more, first_of
from ..stats.gate import GateOutcome, Verdict
from . import formats
from .grid import Grid, grid, grid_of
from .phrases import decimals, heading, interval, p_value

FORMATS = ("text", "markdown", "json", "junit", "github")
ORDER: dict[GateOutcome, int] = {"fail": 0, "undecided": 1, "pass": 2}
SHOWN = 30
"""Rows of a table; a comment on a pull request has at most 60 lines."""
WITH_QUERIES = 5


def render(
    verdicts: Sequence[Verdict], format: str, *, undecided_fails: bool = True,
    width: int | None = None,
) -> str:  # fmt: skip
    """Return the verdicts, the worst first, in one of `FORMATS`; `width` is of text."""
    ordered = sorted(verdicts, key=lambda one: (ORDER[one.outcome], one.worst_gain + one.margin))
    if format == "json":
        content = [
            {**vars(one), "metric": str(one.metric), "worst": [*map(list, one.worst)]}
            for one in ordered
        ]
        return json.dumps({"verdicts": [*map(formats.plain, content)]}, indent=1) + "\n"
    if format == "junit":
        return _junit(ordered, undecided_fails)
    if format == "github":
        return "".join(f"{line}\n" for line in _annotations(ordered, undecided_fails))
    tables = [_table(ordered), *_queries(ordered)]
    return formats.render(tables, format, width=width)


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return the number of verdicts of each kind: ``1 fail, 2 undecided, 5 pass``."""
    counts = Counter(one.outcome for one in verdicts)
    return ", ".join(f"{counts[name]} {name}" for name in ORDER if counts[name])


def _table(verdicts: Sequence[Verdict]) -> Grid:
    grouped = any(one.group for one in verdicts)
    rows = [
        {
            "verdict": one.outcome, "run": one.run, "dataset": one.dataset,
            **({"group": one.group or "all"} if grouped else {}), "metric": heading(one.metric),
            "n": str(one.n), "baseline": decimals(one.baseline),
            "candidate": decimals(one.candidate), "difference": decimals(one.difference, sign=True),
            "interval": interval(one.low, one.high, sign=True), "margin": decimals(one.margin),
            "adjusted p": p_value(one.p_adjusted),
            "queries needed": "" if one.needed is None else f"{one.needed:,}",
        }
        for one in verdicts[:SHOWN]
    ]  # fmt: skip
    notes = [
        "pass: the interval excludes a loss above the margin; fail: the loss is above the margin, "
        "by the interval or the corrected test; undecided: too few queries to tell",
        *_unanswered(verdicts),
        *and_more(len(verdicts) - SHOWN, "--format json has them"),
    ]
    left = 5 if grouped else 4
    return grid_of(rows, left=left, title=f"gate: {summary(verdicts)}", notes=notes)


def _unanswered(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the runs that leave queries unanswered, and how many."""
    whole = {(one.run, one.dataset): one.unanswered for one in verdicts if not one.group}
    found = [
        f"{number:,} by {who} on {dataset}"
        for (run, dataset), numbers in whole.items()
        for who, number in zip((f"the baseline of {run}", run), numbers, strict=True)
        if number
    ]
    return [f"unanswered queries: {first_of(found)}"] if found else []


def _queries(verdicts: Sequence[Verdict]) -> list[Grid]:
    """Return the queries that lost most, of the worst verdicts that do not pass."""
    chosen = [one for one in verdicts if one.outcome != "pass" and one.worst][:WITH_QUERIES]
    rows = [
        [_place(one), ", ".join(f"{qid} ({decimals(lost, sign=True)})" for qid, lost in one.worst)]
        for one in chosen
    ]
    return [grid(["queries that lost most", ""], rows, left=2)] if rows else []


def _place(one: Verdict) -> str:
    return " / ".join(filter(None, (one.run, one.dataset, one.group, str(one.metric))))


def _sentence(one: Verdict) -> str:
    """Return the verdict in one sentence."""
    found = (
        f"{_place(one)}: {decimals(one.baseline)} -> {decimals(one.candidate)} "
        f"({decimals(one.difference, sign=True)}, "
        f"interval {interval(one.low, one.high, sign=True)}, "
        f"margin {decimals(one.margin)}, n={one.n})"
    )
    if one.outcome == "undecided" and one.needed is not None:
        found += f"; {one.needed:,} queries would be needed to tell"
    if any(one.unanswered):
        found += "; unanswered queries: {} by the baseline, {} by the run".format(*one.unanswered)
    return found


def _junit(verdicts: Sequence[Verdict], undecided_fails: bool) -> str:
    """Return JUnit's XML: one test case per run, dataset, group and metric."""
    failing = [one for one in verdicts if _fails(one, undecided_fails)]
    counts = {"tests": str(len(verdicts)), "failures": str(len(failing))}
    suite = ElementTree.Element("testsuite", {"name": "harness gate", **counts})
    for one in verdicts:
        name = " / ".join(filter(None, (one.group, str(one.metric))))
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": f"{one.run} on {one.dataset}", "name": name}
        )
        if _fails(one, undecided_fails):
            ElementTree.SubElement(case, "failure", {"message": _sentence(one)})
        elif one.outcome == "undecided":
            ElementTree.SubElement(case, "skipped", {"message": _sentence(one)})
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _annotations(verdicts: Sequence[Verdict], undecided_fails: bool) -> list[str]:
    """Return GitHub's annotations of what does not pass, and the summary as a notice."""
    lines = [
        f"::{'error' if _fails(one, undecided_fails) else 'warning'} "
        f"title=harness gate {one.outcome}::{_escape(_sentence(one))}"
        for one in verdicts
        if one.outcome != "pass"
    ]
    return [*lines, f"::notice title=harness gate::{_escape(summary(verdicts))}"]


def _escape(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _fails(one: Verdict, undecided_fails: bool) -> bool:
    return one.outcome == "fail" or (undecided_fails and one.outcome == "undecided")
