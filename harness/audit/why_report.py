"""The path of a value as text."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..core.selection import Choice
from ..core.systems import FEWER, best_of, pairs
from ..errors import lines_of
from ..reports import text as text_report
from ..reports.grid import Grid, and_more, grid
from ..reports.phrases import warned_of
from .catalogue import resolved
from .why import UNCHANGED, Account, Part, Repetition, Step

SHOWN_INPUTS = EXTREMES = 5
"""Changed files, and largest and smallest values, that are listed."""


def render(found: Account, folder: str) -> str:
    """Return what ``harness why`` prints; `folder` as the command was given it."""
    query = f" of query {found.qid}," if found.qid else " of"
    lines = [f"{found.metric}{query} {found.name}: {_text(found.value)}"]
    lines += warned_of({rule: [found.run] for rule in found.warned})
    if found.repetitions:
        lines += [*_row(found), *_chosen(found.choices), "", *_inputs(found)]
        cell = (found.repetitions[0].parts or [found.repetitions[0].whole])[0]
        lines += ["", "One of the cells, with its files, counts and settings:"]
        lines.append(_command(folder, found, cell.dataset, cell.columns))
    elif found.values:
        lines.append(f"  mean of {len(found.values)} repetitions, as comparisons take it")
        lines += [f"  {_pairs(columns)}: {_text(value)}" for columns, value in found.values]
        lines += ["", *_inputs(found), "", "The ranking behind one of them:"]
        columns = found.values[0][0]
        lines.append(_command(folder, found, found.dataset, columns, query=str(found.qid)))
    else:
        lines += _cell(found) if found.qid is None else _query(found)
    return lines_of(lines)


def _text(value: float | None) -> str:
    return "undefined" if value is None or math.isnan(value) else repr(value)


def _pairs(columns: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in columns.items())


def _indented(table: Grid) -> Iterator[str]:
    yield from (f"  {line}" for line in text_report.render([table]).splitlines())


def _command(
    folder: str, found: Account, dataset: str, columns: Mapping[str, str], **more: str
) -> str:
    """Return the command that shows one cell."""
    options = {"run": found.run, "metric": str(found.metric), "dataset": dataset, **more}
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    words += [word for one in columns.items() for word in ("--where", "=".join(one))]
    return f"  harness why {shlex.join([folder, *words])}"


def _inputs(found: Account) -> Iterator[str]:
    """Yield how many files are unchanged, and those that are not."""
    changed = [each for each in found.inputs if each["state"] != UNCHANGED]
    if found.unseen:
        yield f"inputs: not hashed: {found.unseen}"
    elif not changed:
        yield f"inputs: {len(found.inputs)} files, {UNCHANGED}"
    else:
        yield f"inputs: {len(changed)} of {len(found.inputs)} files HAVE CHANGED"
        yield from (f"  {each['path']}: {each['state']}" for each in changed[:SHOWN_INPUTS])
        yield from (f"  {note}" for note in and_more(len(changed) - SHOWN_INPUTS))
        if not any(each["there"] for each in found.inputs):
            yield "  if they were moved: --inputs FOLDER, from which the config's paths start"


def _chosen(choices: Sequence[Choice]) -> Iterator[str]:
    """Yield the settings chosen on validation queries, and the ranking of all if there is one."""
    if not choices:
        return
    yield from ("", f"Setting chosen on validation queries by {choices[0].metric}")
    rows = [
        [one.name, pairs(one.setting), _text(one.value), f"best of {len(one.ranked)}"
         + f", tied with {', '.join(map(pairs, one.tied))}" * bool(one.tied)]
        for one in choices
    ]  # fmt: skip
    yield from _indented(grid(["for", "setting", "validation value", "chosen as"], rows, left=2))
    if len(choices) == 1:
        (one,) = choices
        yield from ("", f"All settings on {', '.join(one.datasets)}, best first")
        ranked = [[pairs(setting), _text(value)] for setting, value in one.ranked]
        ranked += [[pairs(setting), "left out: not every value"] for setting in one.left_out]
        yield from _indented(grid(["setting", one.metric], ranked))


def _cell(account: Account) -> Iterator[str]:
    assert account.entry is not None
    evaluation, metric = account.entry.evaluation, account.metric
    yield from _chosen(account.choices)
    yield ""
    yield from _inputs(account)
    for each in account.inputs:
        yield f"  {each['path']}  ({each['bytes']} bytes, sha256 {each['sha256']})"
    yield from ("", "Queries", f"  {evaluation.notes}")
    n, queries = evaluation.n()[str(metric)], len(evaluation.qids)
    how = {"sum": "sum", "gm": "geometric mean"}.get(metric.definition.summary, "mean")
    weighted = ", each query by its weight" if metric.definition.weight is not None else ""
    undefined = f"; undefined for {queries - n}" if n < queries else ""
    yield f"  {how} over {n} queries{weighted}{undefined}"
    values, qids = evaluation.column(str(metric)), evaluation.qids.to_pylist()
    order = [at for at in np.argsort(values, kind="stable") if not math.isnan(values[at])]
    ranked = [f"{qids[at]} {values[at]:.4f}" for at in order]
    yield f"  largest:  {', '.join(ranked[::-1][:EXTREMES]) or 'none'}"
    yield f"  smallest: {', '.join(ranked[:EXTREMES]) or 'none'}"
    yield from ("", "Metric")
    for line in resolved([metric], evaluation.policy).rstrip().splitlines():
        yield f"  {line}".rstrip()
    yield from ("", "Made by")
    versions = account.manifest["versions"]
    yield "  " + ", ".join(f"{name} {text}" for name, text in versions.items() if text)
    if git := account.manifest.get("git"):
        dirty = " with changes not committed" if git["dirty"] else ""
        yield f"  git {git['commit'][:12]}{dirty}"
    check = account.cell.get("crosscheck", {})
    if check.get("queries"):
        yield (
            f"  pytrec_eval evaluated {check['queries']} queries again: largest difference "
            f"{check['largest_difference']:g}"
        )
    if metric.is_built_in:
        yield from ("", "--query QID shows the ranking behind one query's value.")


def _query(account: Account) -> Iterator[str]:
    if not account.ranking:
        assert account.entry is not None
        policy = account.entry.evaluation.policy
        yield f"  the run does not answer the query (missing_queries: {policy.missing_queries})"
        return
    yield ""
    yield from _indented(_steps(account.ranking, "so far"))
    if account.ideal:
        total = account.ideal[-1].running or 0.0
        yield from ("", f"The ideal order, whose DCG is {total!r}")
        yield from _indented(_steps(account.ideal, "DCG so far"))
        parts = [step.added for step in account.ranking if step.added is not None]
        yield from ("", f"{account.metric} = {math.fsum(parts)!r} / {total!r}")
    if account.derived is not None:
        same = "the same as in the results" if account.is_confirmed else "NOT the results' value"
        yield from ("", f"computed again from the files: {_text(account.derived)}, {same}")


def _steps(steps: tuple[Step, ...], running: str) -> Grid:
    """Return a ranking as a table, with the columns that have values."""

    def number(value: float | None) -> str:
        return "" if value is None or math.isnan(value) else f"{value:.6g}"

    columns = {
        "rank": [str(step.rank) for step in steps],
        "docno": [step.docno for step in steps],
        "score": [number(step.score) for step in steps],
        "grade": ["not judged" if step.grade is None else f"{step.grade:g}" for step in steps],
        "gain": [number(step.gain) for step in steps],
        "/ discount": [number(step.discount) for step in steps],
        "adds": [number(step.added) for step in steps],
        running: [number(step.running) for step in steps],
    }
    columns = {name: texts for name, texts in columns.items() if any(texts)}
    rows, last = [], 0
    for step, *row in zip(steps, *columns.values(), strict=True):
        if step.rank > last + 1:
            rows.append([f"({step.rank - last - 1} more)", *[""] * (len(row) - 1)])
        rows.append(row)
        last = step.rank
    return grid(list(columns), rows, left=2 if "docno" in columns else 1)


def _row(row: Account) -> Iterator[str]:
    if not row.is_confirmed:
        yield f"  leaderboard.csv holds ANOTHER value: {_text(row.recorded)}"
    if len(row.repetitions) > 1:
        n, deviation = len(row.repetitions), _text(row.deviation)
        yield f"  mean of {n} repetitions, standard deviation {deviation}"
    if row.incomplete is not None:
        absent = f"; without {row.incomplete.missing}" if row.incomplete.absent else ""
        yield f"  {FEWER}: {row.incomplete}{absent}"
    if not math.isnan(row.low):
        yield f"  interval {_text(row.low)} to {_text(row.high)}"
    if row.chosen is not None:
        yield f"  {best_of([row.chosen])}"
    for one in row.repetitions:
        yield from ("", f"{_pairs(one.columns) or 'value'}: {_text(one.value)}{_made(one, row)}")
        if len(one.parts) > 1 or one.parts[0].dataset != one.whole.dataset:
            yield from _indented(_parts(one, row))


def _parts(one: Repetition, row: Account) -> Grid:
    """Return what each fold adds to the value of a repetition, and their sum."""
    weighted = row.metric.definition.weight is not None
    total = "sum of logarithms" if row.metric.definition.summary == "gm" else "sum"
    sums = ["weights", "sum of weight x value"] if weighted else [total]

    def cells(name: str, value: str, part: Part) -> list[str]:
        numbers = [part.weight, part.total] if weighted else [part.total]
        return [name, value, str(part.n), *map(_text, numbers)]

    rows = [cells(part.dataset, _text(part.value), part) for part in one.parts]
    if not row.averaged:
        rows.append(cells("all", "", one.whole))
    return grid(["dataset", "value", "queries", *sums], rows)


def _made(one: Repetition, row: Account) -> str:
    """Return the sum and quotient that make a value."""
    how = row.metric.definition.summary
    if row.averaged:
        values = " + ".join(_text(part.value) for part in one.parts)
        return f" = ({values}) / {len(one.parts)}, parts count alike"
    if how == "sum" or math.isnan(one.value):
        return ""
    quotient = f"{_text(one.whole.total)} / {_text(one.whole.weight)}"
    return f" = exp({quotient})" if how == "gm" else f" = {quotient}"
