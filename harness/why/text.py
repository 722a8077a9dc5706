"""The path of a cell as text."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..catalogue.resolved import resolved
from ..escaping import lines_of
from ..reports.table import columns
from .account import Account, Step
from .inputs import hint


def render(account: Account) -> str:
    """Return what ``harness why`` prints."""
    lines = list(_of_query(account) if account.qid is not None else _of_cell(account))
    return lines_of(lines)


def _of_cell(account: Account) -> Iterator[str]:
    evaluation, metric = account.entry.evaluation, account.metric
    yield f"{metric} of {account.name}: {account.value!r}"
    yield ""
    yield "Inputs"
    for each in account.inputs:
        yield f"  {each['path']}  ({each['bytes']} bytes, sha256 {each['sha256']})"
        yield f"    {each['state']}"
    yield from hint(account.inputs)
    yield ""
    yield "Queries"
    yield f"  {evaluation._notes()}"
    n, queries = evaluation.n()[str(metric)], len(evaluation.qids)
    how = {"sum": "sum", "gm": "geometric mean"}.get(metric.definition.summary, "mean")
    undefined = f"; undefined for {queries - n}" if n < queries else ""
    weighed = ", each query by its weight" if metric.definition.weight is not None else ""
    yield f"  {how} over {n} queries{weighed}{undefined}"
    high, low = account.extremes
    yield f"  largest:  {_pairs(high)}"
    yield f"  smallest: {_pairs(low)}"
    yield ""
    yield "Metric"
    yield from (
        f"  {line}".rstrip() for line in resolved([metric], evaluation.policy).rstrip().splitlines()
    )
    yield ""
    yield "Made by"
    versions = account.manifest.get("versions", {})
    yield "  " + ", ".join(f"{name} {text}" for name, text in versions.items() if text)
    git = account.manifest.get("git")
    if git:
        yield f"  git {git['commit'][:12]}{' with changes not committed' * git['dirty']}"
    check = account.cell.get("crosscheck", {})
    if check.get("queries"):
        yield (
            f"  pytrec_eval evaluated {check['queries']} queries again: largest difference "
            f"{check['largest_difference']:g}"
        )
    yield ""
    yield "--query QID shows the ranking behind one query's value."


def _pairs(pairs: list[tuple[str, float]]) -> str:
    return ", ".join(f"{qid} {value:.4f}" for qid, value in pairs) or "none"


def _of_query(account: Account) -> Iterator[str]:
    metric, policy = account.metric, account.entry.evaluation.policy
    value = "undefined" if math.isnan(account.value) else repr(account.value)
    yield f"{metric} of query {account.qid}, {account.name}: {value}"
    if not account.ranking:
        yield f"  the run does not answer the query (missing_queries: {policy.missing_queries})"
    else:
        yield ""
        yield from _table(account.ranking, "so far")
    if account.ideal and account.ranking:
        total = account.ideal[-1].running or 0.0
        yield ""
        yield f"The ideal order, whose DCG is {total!r}"
        yield from _table(account.ideal, "DCG so far")
        parts = [step.added for step in account.ranking if step.added is not None]
        yield ""
        yield f"{metric} = {math.fsum(parts)!r} / {total!r}"
    if account.derived is not None:
        same = "the same as in the results" if account.is_confirmed else "NOT what the results hold"
        yield ""
        again = "undefined" if math.isnan(account.derived) else repr(account.derived)
        yield f"derived again from the files: {again}, {same}"


def _table(steps: tuple[Step, ...], running: str) -> Iterator[str]:
    named = any(step.docno for step in steps)
    sums = any(step.gain is not None for step in steps)
    sofar = any(step.running is not None and not math.isnan(step.running) for step in steps)
    header = ["rank", *(["docno", "score"] * named), "grade"]
    header += [*(["gain", "/ discount", "adds"] * sums), *([running] * sofar)]
    rows, last = [header], 0
    for step in steps:
        if step.rank > last + 1:
            rows.append([f"({step.rank - last - 1} more)", *[""] * (len(header) - 1)])
        last = step.rank
        row = [str(step.rank)]
        row += [step.docno, f"{step.score:.6g}"] * named
        row.append("not judged" if step.grade is None else f"{step.grade:g}")
        if sums:
            row += [_number(step.gain), _number(step.discount), _number(step.added)]
        if sofar:
            row.append(_number(step.running))
        rows.append(row)
    yield from (f"  {line}" for line in columns(rows, left=2 if named else 1).splitlines())


def _number(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.6g}"
