"""The verdicts of a gate: text, Markdown for a pull request, JSON, JUnit, GitHub annotations."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

from ..core.names import spelled
from ..errors import HarnessError, counted, first_of
from ..stats.gate import GateOutcome, Verdict
from . import formats
from .grid import Answer, Grid, Tone, filled, grid_of, not_shown
from .notes import NAMED, weighted
from .phrases import (
    CORRECTIONS,
    at_most,
    confidence,
    decimals,
    heading,
    interval,
    no_room,
    p_value,
    signed,
)
from .sentences import DIGITS
from .text import fitted

FORMATS = ("text", "markdown", "json", "junit", "github")
ORDER: dict[GateOutcome, int] = {"fail": 0, "undecided": 1, "pass": 2}
OUTCOMES: dict[tuple[GateOutcome, bool], str] = {
    ("fail", True): "the interval or the adjusted p shows a loss above the margin",
    ("fail", False): "the drop is above max_drop; no test decides",
    ("undecided", True): "the queries are too few to tell",
    ("pass", True): "the interval excludes a loss above the margin",
    ("pass", False): "the drop is at most max_drop; no test decides",
}
"""The meaning of each outcome, for margins that are tested and for those that are not."""
SHOWN = 30
"""Rows of a table; a comment on a pull request has at most 60 lines."""
WITH_QUERIES = 5
P = "adjusted p"
OPTIONAL = ("queries needed", "n", P, "candidate", "baseline", "margin", "max_drop", "limit")
"""Columns that a narrow terminal does not show, the first ones first."""
COMMON = ("level", "correction")
"""Fields that all verdicts share."""
SCHEMA = 1
"""Version of the JSON; a change that a reader of it must know increases it."""


def render(
    verdicts: Sequence[Verdict], format: str, undecided_fails: bool = True, width: int | None = None
) -> str:
    """Return the verdicts, the worst first, in a format for readers; `width` is of text."""
    ordered = worst_first(verdicts)
    if format == "junit":
        return _junit(ordered, undecided_fails)
    if format == "github":
        return "".join(f"{line}\n" for line in _annotations(ordered, undecided_fails))
    first = Grid(answers=(answer(ordered, undecided_fails),))
    tables = [first, _table(ordered, width), *_queries(ordered)]
    return formats.render(tables, format, width=width)


def worst_first(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return failing verdicts first, then undecided ones; within each the largest loss first."""
    return sorted(
        verdicts, key=lambda verdict: (ORDER[verdict.outcome], verdict.worst_gain + verdict.margin)
    )


def as_json(
    verdicts: Sequence[Verdict], is_passed: bool, versions: Mapping[str, str | None],
    files: Mapping[str, str],
) -> str:  # fmt: skip
    """Render verdicts as JSON; docs/gate.schema.json describes it.

    `files` has the SHA-256 of each input by its path.
    """
    counts = Counter(verdict.outcome for verdict in verdicts)
    undecided = "pass" if is_passed else "undecided"
    content = {
        "schema": SCHEMA,
        "outcome": "fail" if counts["fail"] else undecided,
        "exit_code": int(not is_passed),
        "counts": {name: counts[name] for name in ORDER},
        **{name: getattr(verdicts[0], name) for name in COMMON},
        "versions": versions,
        "inputs": [{"path": path, "sha256": digest} for path, digest in files.items()],
        "verdicts": [formats.plain(_record(verdict)) for verdict in worst_first(verdicts)],
    }
    return json.dumps(content, indent=1) + "\n"


def error_as_json(error: HarnessError, versions: Mapping[str, str | None]) -> str:
    """Render the error of a gate without a verdict as JSON."""
    names = {"where": "place", "what": "message", "found": "found", "fix": "fix", "rule": "rule"}
    errors = [
        {name: str(getattr(problem, field)) for field, name in names.items()}
        for problem in error.problems
    ]
    content = {"schema": SCHEMA, "outcome": "error", "exit_code": 2, "versions": versions}
    return json.dumps({**content, "errors": errors}, indent=1) + "\n"


def _record(verdict: Verdict) -> dict[str, Any]:
    worst = [{"qid": qid, "difference": lost} for qid, lost in verdict.worst]
    baseline, candidate = verdict.unanswered
    unanswered = {"baseline": baseline, "candidate": candidate}
    texts = {"metric": str(verdict.metric), "worst": worst, "unanswered": unanswered}
    own = {name: value for name, value in vars(verdict).items() if name not in COMMON}
    return {**own, **texts}


def answer(verdicts: Sequence[Verdict], undecided_fails: bool = True) -> Answer:
    """Name the outcome of the gate and its reason, given the verdicts with the worst first."""
    worst, n = verdicts[0], len(verdicts)
    counts = Counter[str](verdict.outcome for verdict in verdicts)
    text = spelled(worst.metric, [*dict.fromkeys(verdict.metric for verdict in verdicts)])
    text += f" of {worst.run}"
    text += f" on {worst.dataset}" if len({verdict.dataset for verdict in verdicts}) > 1 else ""
    text += f" ({worst.group})" if worst.group else ""
    text += f" {_change(worst.difference)}"
    facts = f" ({worst.limit} {worst.margin:.3g}, {counted(worst.n, 'query', 'queries')})"
    if worst.outcome == "undecided":
        queries = counted(worst.n, "query is", "queries are")
        facts = f"; {queries} too few to rule out a loss above {worst.margin:.3g}"
        facts += f" (about {worst.needed:,} are needed)" if worst.needed else ""
    several = n > 1 and worst.outcome == "pass"
    parts = [f"none of {n} values got worse by more than its margin" if several else text + facts]
    verbs = {"fail": ("fails", "fail"), "undecided": ("is undecided", "are undecided")}
    for outcome, pair in verbs.items() if n > 1 else ():
        if k := counts[outcome]:
            parts.append(f"{k} of {n} values {pair[k > 1]}")
    is_failed = _fails(worst, undecided_fails)
    undecided = f"undecided ({'fails' if is_failed else 'passes'})"
    verdict = {"fail": "failed", "pass": "passed"}.get(worst.outcome, undecided)
    tone: Tone = "bad" if is_failed else "good" if worst.outcome == "pass" else "mixed"
    return Answer(f"{verdict}: {'; '.join(parts)}", tone)


def _change(difference: float) -> str:
    """Name the change of a value.

    >>> _change(0.25), _change(-1e-5), _change(0.0)
    ('rose by 0.250', 'fell by 1.0e-05', 'did not change')
    """
    if not difference:
        return "did not change"
    return f"{'rose' if difference > 0 else 'fell'} by {signed(difference, DIGITS)[1:]}"


def _table(verdicts: Sequence[Verdict], width: int | None) -> Grid:
    grouped = any(verdict.group for verdict in verdicts)
    datasets = {verdict.dataset for verdict in verdicts}
    limits = {verdict.limit for verdict in verdicts}
    limit = "limit" if len(limits) > 1 else limits.pop()
    sizes = {verdict.n for verdict in verdicts}
    queries = counted(max(sizes), "query", "queries")
    same_size = [] if len(sizes) > 1 else [f"All values are over {queries}."]
    rows = [
        {
            "verdict": verdict.outcome,
            "run": verdict.run,
            "dataset": verdict.dataset if len(datasets) > 1 else "",
            **({"group": verdict.group or "all"} if grouped else {}),
            "metric": heading(verdict.metric),
            "n": str(verdict.n) if len(sizes) > 1 else "",
            "baseline": decimals(verdict.baseline),
            "candidate": decimals(verdict.candidate),
            "difference": decimals(verdict.difference, sign=True),
            f"{confidence(verdict.level)} interval": interval(verdict.low, verdict.high, sign=True),
            limit: decimals(verdict.margin),
            P: p_value(verdict.p_adjusted),
            "queries needed": "" if verdict.needed is None else f"{verdict.needed:,}",
        }
        for verdict in verdicts[:SHOWN]
    ]
    notes = [
        *same_size,
        *_legend(verdicts),
        *_weights(verdicts),
        *_unanswered(verdicts),
        *not_shown(len(verdicts) - SHOWN, "verdict", "--format json lists all"),
    ]
    left = 3 + grouped + (len(datasets) > 1)
    title = "" if len(datasets) > 1 else verdicts[0].dataset
    (table,), left_out = fitted([grid_of(filled(rows), left=left, title=title)], width, OPTIONAL)
    notes += [] if P in left_out else _test(verdicts)
    return replace(table, notes=(*notes, *no_room(left_out, "--format json")))


def _test(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the meaning of the adjusted p."""
    if n := sum(not math.isnan(verdict.p) for verdict in verdicts):
        title = CORRECTIONS[verdicts[0].correction].title
        how = f", {title} over {n:,} tests" if n > 1 else ""
        test = "bootstrap test" if verdicts[0].weighted_by else "paired t-test"
        at = at_most(verdicts[0].level)
        yield f"An adjusted {at} shows a loss above the margin (one-sided {test}{how})."


def _legend(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the meaning of each outcome in the table; by metric if some margins are not tested."""
    is_mixed = len({verdict.tested for verdict in verdicts}) > 1
    metrics = {key: dict[str, None]() for key in OUTCOMES}
    for verdict in verdicts:
        metrics[verdict.outcome, verdict.tested][spelled(verdict.metric)] = None
    for key, meaning in OUTCOMES.items():
        if names := [*metrics[key]]:
            yield f"{key[0]}{f' of {first_of(names)}' if is_mixed else ''}: {meaning}."


def _weights(verdicts: Sequence[Verdict]) -> list[str]:
    notes = [*weighted({verdict.dataset: verdict.weighted_by for verdict in verdicts})]
    return [*notes, "Intervals and tests use a bootstrap over queries."] if notes else []


def _unanswered(verdicts: Sequence[Verdict]) -> list[str]:
    whole = [verdict for verdict in verdicts if not verdict.group]
    counts = {(verdict.run, verdict.dataset): verdict.unanswered for verdict in whole}
    texts = [
        f"{run_name} leaves {counted(number, 'query', 'queries')} of {dataset} unanswered."
        for (run, dataset), numbers in counts.items()
        for run_name, number in zip((f"The baseline of {run}", run), numbers, strict=True)
        if number
    ]
    return [*texts[:NAMED], *not_shown(len(texts) - NAMED, "such run", "--format json lists all")]


def _queries(verdicts: Sequence[Verdict]) -> list[Grid]:
    lines = []
    for verdict in verdicts:
        if verdict.outcome != "pass" and verdict.worst:
            losses = [f"{qid} ({decimals(lost, sign=True)})" for qid, lost in verdict.worst]
            lines.append(f"{_place(verdict)}: {', '.join(losses)}")
    table = Grid(title="queries that lost most", notes=tuple(lines[:WITH_QUERIES]))
    return [table] if lines else []


def _place(verdict: Verdict) -> str:
    names = (verdict.run, verdict.dataset, verdict.group, spelled(verdict.metric))
    return " / ".join(filter(None, names))


def _sentence(verdict: Verdict) -> str:
    sentence = (
        f"{_place(verdict)}: {decimals(verdict.baseline)} -> {decimals(verdict.candidate)} "
        f"({decimals(verdict.difference, sign=True)}, "
        f"interval {interval(verdict.low, verdict.high, sign=True)}, "
        f"{verdict.limit} {decimals(verdict.margin)}, n={verdict.n})"
    )
    if verdict.weighted_by:
        sentence += f"; weighted by {verdict.weighted_by}"
    if verdict.outcome == "undecided" and verdict.needed is not None:
        sentence += f"; {verdict.needed:,} queries would be needed to tell"
    if any(verdict.unanswered):
        text = "; unanswered queries: {} by the baseline, {} by the run"
        sentence += text.format(*verdict.unanswered)
    return sentence


def _junit(verdicts: Sequence[Verdict], undecided_fails: bool) -> str:
    failing = [verdict for verdict in verdicts if _fails(verdict, undecided_fails)]
    counts = {"tests": str(len(verdicts)), "failures": str(len(failing))}
    suite = ElementTree.Element("testsuite", {"name": "harness gate", **counts})
    for verdict in verdicts:
        name = " / ".join(filter(None, (verdict.group, str(verdict.metric))))
        names = {"classname": f"{verdict.run} on {verdict.dataset}", "name": name}
        case = ElementTree.SubElement(suite, "testcase", names)
        if _fails(verdict, undecided_fails):
            ElementTree.SubElement(case, "failure", {"message": _sentence(verdict)})
        elif verdict.outcome == "undecided":
            ElementTree.SubElement(case, "skipped", {"message": _sentence(verdict)})
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _annotations(verdicts: Sequence[Verdict], undecided_fails: bool) -> list[str]:
    lines = [
        f"::{'error' if _fails(verdict, undecided_fails) else 'warning'} "
        f"title=harness gate {verdict.outcome}::{_escape(_sentence(verdict))}"
        for verdict in verdicts
        if verdict.outcome != "pass"
    ]
    return [
        *lines,
        f"::notice title=harness gate::{_escape(answer(verdicts, undecided_fails).text)}",
    ]


def _escape(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _fails(verdict: Verdict, undecided_fails: bool) -> bool:
    return verdict.outcome == "fail" or (undecided_fails and verdict.outcome == "undecided")
