"""``harness pool``."""

from __future__ import annotations

from typing import Any

import click

from ..errors import Problem, UnknownNameError
from ..experiment.rankings import leave_out, pool
from ..reports import rankings as report
from ..reports.rankings import Unit
from . import options
from .options import Texts
from .printing import show_grids


@options.command()
@options.several("runs", "RUN...", "Run files.")
@options.whole("--depth", least=1, default=20, help="Pool this number of ranks of each run.")
@click.option("--per-query", "-q", is_flag=True, help="Count the documents of each query, too.")
@options.flag("--with-runs", "csv, jsonl: name the runs that have each document.")
@options.teams
@options.run_files
@options.overrides
@options.text(
    "--contributors", "FILE", "CSV of run and contributed, yes or no: FILE or FILE:COLUMN."
)
@options.choice("--leave-out", Unit, "unit", help="Rank runs without the judgements of each.")
@click.option("--qrels", metavar="FILE", help="Leave out the documents that it judges.")
@options.metrics("A metric, for --leave-out")
@options.format_option(*report.FORMATS, help="Format; csv and jsonl have every document.")
def command(
    runs: Texts,
    per_query: bool,
    with_runs: bool,
    unit: Unit | None,
    qrels: str | None,
    metrics: Texts,
    format: str,
    overrides: Texts,
    **settings: Any,
) -> None:
    """List the documents to judge, and the contribution of each run.

    The command prints the number of documents at several depths, and those of each run. With the
    formats csv and jsonl, it lists the documents by qid and docno. Assessors then see no runs,
    unless --with-runs names them. If any run cannot be read, the command pools nothing, lists those
    runs and exits with 2.

    --set takes the key run.duplicates, such as run.duplicates=best.

    With --qrels, the list has the documents that are not judged yet.

    With --contributors, only some runs are pooled; --leave-out still ranks all runs.

    With --leave-out, the command removes from --qrels the judgements that only one run or team
    contributed. It prints the change of the order of all runs: tau-b, and the largest change of
    rank.

    \b
    Examples:
      harness pool runs/trec/bm25.run runs/trec/lsi.run --depth 20
      harness pool runs/* --depth 20 -f csv > to-judge.csv
      harness pool runs/* --depth 40 --qrels qrels.txt -f csv > still-to-judge.csv
      harness pool runs/* --leave-out run --qrels qrels.txt -m map
    """
    settings |= options.settings_of_files(options.sections(overrides, {"run": ("duplicates",)}))
    if unit is None and metrics:
        fix = "add --leave-out run or --leave-out team"
        raise UnknownNameError(Problem("-m", "expected --leave-out with it", fix=fix))
    if unit is not None and not (qrels and metrics):
        message = "expected qrels and a metric with it"
        raise UnknownNameError(
            Problem("--leave-out", message, fix="add --qrels FILE and -m METRIC")
        )
    if unit == "team" and not settings["teams"]:
        fix = "add --teams with a CSV of run and team, or with a pattern"
        raise UnknownNameError(Problem("--leave-out team", "expected --teams with it", fix=fix))
    lists_documents = unit is None and format in ("csv", "jsonl")
    if unit is not None or lists_documents:
        options.refuse(("per_query",), f"--leave-out {unit}" if unit else f"--format {format}")
    if unit == "run" or lists_documents:
        options.refuse(("teams",), "--leave-out run" if unit else f"--format {format}")
    if not lists_documents:
        options.refuse(("with_runs",), f"--leave-out {unit}" if unit else f"--format {format}")
    if unit is None or qrels is None:
        pooled = pool(runs, qrels=qrels, **settings)
        grids = report.pool_grids(pooled, per_query)
        show_grids(grids, format, [*report.pool_records(pooled, with_runs)])
        return
    left_out = leave_out(runs, qrels, metrics, unit, **settings)
    records = [removal._asdict() for removal in left_out]
    show_grids([report.left_out_grid(left_out, unit)], format, records)
