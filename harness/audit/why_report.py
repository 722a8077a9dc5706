"""The path of a value as text."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping

from ..core.systems import FEWER
from ..errors import lines_of
from ..reports import text as text_report
from ..reports.grid import Grid, grid
from .catalogue import resolved
from .why import UNCHANGED, Account
from .why_ranking import Step
from .why_row import Part, QueryRow, Repetition, Row, States

SHOWN_INPUTS = 5
"""How many of the files that changed are listed."""


def render(found: Account | Row | QueryRow, folder: str) -> str:
    """Return what ``harness why`` prints; `folder` as the command was given it."""
    if isinstance(found, Row):
        return lines_of(_of_row(found, folder))
    if isinstance(found, QueryRow):
        return lines_of(_of_query_row(found, folder))
    return lines_of(_of_query(found) if found.qid is not None else _of_cell(found))


def _shown(value: float | None) -> str:
    return "undefined" if value is None or math.isnan(value) else repr(value)


def _indented(table: Grid) -> Iterator[str]:
    yield from (f"  {line}" for line in text_report.render([table]).splitlines())


def _command(folder: str, columns: Mapping[str, str], **options: str) -> str:
    """Return the command that shows one cell."""
    words = [folder]
    for name, value in options.items():
        words += [f"--{name}", value]
    for name, value in columns.items():
        words += ["--where", f"{name}={value}"]
    return f"  harness why {shlex.join(words)}"


def _of_cell(account: Account) -> Iterator[str]:
    evaluation, metric = account.entry.evaluation, account.metric
    yield f"{metric} of {account.name}: {account.value!r}"
    yield ""
    yield "Inputs"
    for each in account.inputs:
        yield f"  {each['path']}  ({each['bytes']} bytes, sha256 {each['sha256']})"
        yield f"    {each['state']}"
    yield from _advice(account.inputs)
    yield ""
    yield "Queries"
    yield f"  {evaluation.notes}"
    n, queries = evaluation.n()[str(metric)], len(evaluation.qids)
    how = {"sum": "sum", "gm": "geometric mean"}.get(metric.definition.summary, "mean")
    undefined = f"; undefined for {queries - n}" if n < queries else ""
    weighted = ", each query by its weight" if metric.definition.weight is not None else ""
    yield f"  {how} over {n} queries{weighted}{undefined}"
    for name, pairs in zip(("largest: ", "smallest:"), account.extremes, strict=True):
        yield f"  {name} " + (", ".join(f"{qid} {value:.4f}" for qid, value in pairs) or "none")
    yield ""
    yield "Metric"
    for line in resolved([metric], evaluation.policy).rstrip().splitlines():
        yield f"  {line}".rstrip()
    yield ""
    yield "Made by"
    versions = account.manifest["versions"]
    yield "  " + ", ".join(f"{name} {text}" for name, text in versions.items() if text)
    if git := account.manifest.get("git"):
        yield f"  git {git['commit'][:12]}" + (
            " with changes not committed" if git["dirty"] else ""
        )
    check = account.cell.get("crosscheck", {})
    if check.get("queries"):
        yield (
            f"  pytrec_eval evaluated {check['queries']} queries again: largest difference "
            f"{check['largest_difference']:g}"
        )
    if metric.is_built_in:
        yield ""
        yield "--query QID shows the ranking behind one query's value."


def _of_query(account: Account) -> Iterator[str]:
    metric, policy = account.metric, account.entry.evaluation.policy
    yield f"{metric} of query {account.qid}, {account.name}: {_shown(account.value)}"
    if not account.ranking:
        yield f"  the run does not answer the query (missing_queries: {policy.missing_queries})"
    else:
        yield ""
        yield from _indented(_steps(account.ranking, "so far"))
    if account.ideal and account.ranking:
        total = account.ideal[-1].running or 0.0
        yield ""
        yield f"The ideal order, whose DCG is {total!r}"
        yield from _indented(_steps(account.ideal, "DCG so far"))
        parts = [step.added for step in account.ranking if step.added is not None]
        yield ""
        yield f"{metric} = {math.fsum(parts)!r} / {total!r}"
    if account.derived is not None:
        same = "the same as in the results" if account.is_confirmed else "NOT what the results hold"
        yield ""
        yield f"derived again from the files: {_shown(account.derived)}, {same}"


def _steps(steps: tuple[Step, ...], running: str) -> Grid:
    """Return a ranking as a table, with the columns that it has values for."""
    columns = {
        "rank": [str(step.rank) for step in steps],
        "docno": [step.docno for step in steps],
        "score": [_number(step.score) for step in steps],
        "grade": ["not judged" if step.grade is None else f"{step.grade:g}" for step in steps],
        "gain": [_number(step.gain) for step in steps],
        "/ discount": [_number(step.discount) for step in steps],
        "adds": [_number(step.added) for step in steps],
        running: [_number(step.running) for step in steps],
    }
    columns = {name: texts for name, texts in columns.items() if any(texts)}
    rows, last = [], 0
    for step, *row in zip(steps, *columns.values(), strict=True):
        if step.rank > last + 1:
            rows.append([f"({step.rank - last - 1} more)", *[""] * (len(row) - 1)])
        rows.append(row)
        last = step.rank
    return grid(list(columns), rows, left=2 if "docno" in columns else 1)


def _number(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.6g}"


def _inputs(found: States, unseen: str) -> Iterator[str]:
    """Yield how many files are still the same, and those that are not."""
    changed = [each for each in found if each["state"] != UNCHANGED]
    if unseen:
        yield f"inputs: not looked at: {unseen}"
    elif not changed:
        yield f"inputs: {len(found)} files, {UNCHANGED}"
    else:
        yield f"inputs: {len(changed)} of {len(found)} files ARE NOT WHAT THEY WERE"
        yield from (f"  {each['path']}: {each['state']}" for each in changed[:SHOWN_INPUTS])
        if len(changed) > SHOWN_INPUTS:
            yield f"  ... and {len(changed) - SHOWN_INPUTS} more"
        yield from _advice(found)


def _advice(found: States) -> Iterator[str]:
    """Yield what to do if no file is where it was."""
    if found and not any(each["there"] for each in found):
        yield "  --inputs FOLDER says where the config's paths start from, if they were moved"


def _of_row(row: Row, folder: str) -> Iterator[str]:
    yield f"{row.metric} of {row.name}: {_shown(row.value)}"
    if not row.is_confirmed:
        yield f"  leaderboard.csv holds ANOTHER value: {_shown(row.recorded)}"
    n = len(row.repetitions)
    if n > 1:
        yield f"  mean of {n} repetitions, standard deviation {_shown(row.deviation)}"
    if row.incomplete is not None:
        absent = f"; without {row.incomplete.lacks}" if row.incomplete.absent else ""
        yield f"  {FEWER}: {row.incomplete}{absent}"
    if not math.isnan(row.low):
        yield f"  interval {_shown(row.low)} to {_shown(row.high)}"
    if row.chosen is not None:
        names = " and ".join(row.chosen.names)
        yield (
            f"  best of {row.chosen.of} values of {names}, chosen on these queries by "
            f"{row.chosen.metric}"
        )
    for one in row.repetitions:
        yield ""
        name = " ".join(f"{name}={value}" for name, value in one.columns.items()) or "value"
        yield f"{name}: {_shown(one.value)}{_quotient(one, row)}"
        if len(one.parts) > 1 or one.parts[0].dataset != one.whole.dataset:
            yield from _indented(_parts(one, row))
    cell = next((part for one in row.repetitions for part in one.parts), row.repetitions[0].whole)
    yield ""
    yield from _inputs(row.inputs, row.unseen)
    yield ""
    yield "One of the cells, with its files, counts and settings:"
    options = {"run": row.run, "metric": str(row.metric), "dataset": cell.dataset}
    yield _command(folder, cell.columns, **options)


def _parts(one: Repetition, row: Row) -> Grid:
    """Return what each fold adds to the value of a repetition, and their sum."""
    weighted = row.metric.definition.weight is not None
    total = "sum of logarithms" if row.metric.definition.summary == "gm" else "sum"
    sums = ["weights", "sum of weight x value"] if weighted else [total]

    def cells(part: Part) -> list[str]:
        numbers = [part.weight, part.total] if weighted else [part.total]
        return [str(part.n), *map(_shown, numbers)]

    rows = [[part.dataset, _shown(part.value), *cells(part)] for part in one.parts]
    if not row.averaged:
        rows.append(["all", "", *cells(one.whole)])
    return grid(["dataset", "value", "queries", *sums], rows)


def _quotient(one: Repetition, row: Row) -> str:
    """Return the sum and quotient that make a value."""
    how, whole = row.metric.definition.summary, one.whole
    if row.averaged:
        values = " + ".join(_shown(part.value) for part in one.parts)
        return f" = ({values}) / {len(one.parts)}, parts count alike"
    if how == "sum" or math.isnan(one.value):
        return ""
    quotient = f"{_shown(whole.total)} / {_shown(whole.weight)}"
    return f" = exp({quotient})" if how == "gm" else f" = {quotient}"


def _of_query_row(found: QueryRow, folder: str) -> Iterator[str]:
    yield f"{found.metric} of query {found.qid}, {found.name}: {_shown(found.value)}"
    yield f"  mean of {len(found.values)} repetitions, as comparisons take it"
    for columns, value in found.values:
        yield f"  {' '.join(f'{name}={text}' for name, text in columns.items())}: {_shown(value)}"
    yield ""
    yield from _inputs(found.inputs, found.unseen)
    yield ""
    yield "The ranking behind one of them:"
    names = {"run": found.run, "metric": str(found.metric), "dataset": found.dataset}
    yield _command(folder, found.values[0][0], **names, query=found.qid)
