"""``harness evaluate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.leaderboard import Leaderboard
from ..core.names import BOUNDS, without_bounds
from ..core.policy import Policy
from ..errors import Finding, InputError, Problem, UnknownNameError, warn
from ..experiment.evaluate import evaluate_files
from ..input_files import url_of
from ..readers.format import Kind, guess_format
from ..readers.passages import TAKEN, Passages
from ..readers.query_weights import weights_of
from ..readers.source import STDIN, check_there
from ..reports.leaderboard import REPORTS, render_leaderboard, value_notes
from ..reports.select import in_order
from . import options
from .options import Texts
from .printing import show, terminal_width, with_short_errors

if TYPE_CHECKING:
    from ..guard.datasets import Grouping


@options.command()
@click.argument("qrels", metavar="QRELS", help="Qrels or a LETOR file; '-' is standard input.")
@options.several("runs", "RUN...", "Run files, or predictions for the rows of a LETOR file.")
@options.metrics("A metric, as in 'harness metrics'; required")
@click.option("--per-query", "-q", is_flag=True, help="Also print the values of every query.")
@options.sort
@options.fusion
@options.grouping
@options.format_option(*REPORTS, default="table", help="Format of the output.")
@options.evaluation
def command(
    qrels: str, runs: Texts, per_query: bool, sort: str | None, format: str, overrides: Texts,
    **settings: Any,
) -> None:  # fmt: skip
    """Evaluate runs against qrels, without a config.

    A query that the run does not answer counts as 0, as in 'trec_eval -c'. A note below the table
    counts these queries; the formats csv, jsonl and trec print it to standard error. The guard
    warns of mistakes such as predictions in another row order. 'harness check QRELS RUN...' finds
    more. If a run cannot be evaluated, the command evaluates the others and exits with 2.

    --set takes these keys of a config: policy.missing_queries, policy.empty_queries,
    policy.judged_only, policy.drop_identical_ids; dataset.columns, dataset.duplicates,
    dataset.group; run.documents, run.duplicates; groups.bins, groups.columns, groups.qid.

    --ties takes trec_eval, trec_eval10, docno+, stable, reverse, average, best, worst, random(SEED)
    or bounds.

    \b
    Examples:
      harness evaluate runs/trec/qrels.txt runs/trec/bm25.run -m map -m ndcg@10
      harness evaluate test.txt predictions.txt -m "ndcg(gain=exp)@5" -q -f csv
      harness evaluate qrels.txt bm25.run dense.run -m map --fuse "rrf(k=10)"
    """
    keys = options.sections(overrides, options.KEYS_OF_EVALUATION)
    board = evaluate(qrels, runs, keys=keys, keep_going=True, **settings)
    board = in_order(board.sliced(), sort, "--sort")
    if format in ("csv", "jsonl", "trec"):  # the others have notes
        for note in value_notes(board, has_runid=format == "trec"):
            warn(note)
    width = terminal_width(format)
    shown = with_short_errors(board, format)
    show(render_leaderboard(shown, format, per_query=per_query, width=width))
    for cell in board.failed:
        show(f"error: {cell.error}\n", error=True)
    if board.failed:
        raise click.exceptions.Exit(2)


def evaluate(
    qrels: str, runs: Sequence[str], metrics: Sequence[str], *, keys: Mapping[str, Any],
    groups: str | None, weights: str | None, ties: str, depth: int | None, **settings: Any,
) -> Leaderboard:  # fmt: skip
    """Evaluate files with the settings of `options.evaluation`, and the `keys` of `--set`."""
    settings |= options.settings_of_files(keys)
    if not metrics:
        raise InputError(list(_problems_without_metric(qrels, runs, settings)))
    if groups is None and keys["groups"]:
        message = f"--set groups.{next(iter(keys['groups']))}: expected a file of groups"
        raise UnknownNameError(message, fix="add --groups FILE")
    grouping = None if groups is None else _grouping(groups, keys["groups"])
    table = None if weights is None else weights_of(weights)
    policy = Policy(ties=without_bounds(ties), depth=depth, **keys["policy"])
    board = evaluate_files(qrels, runs, metrics, policy=policy, bounds=ties == BOUNDS, **settings)
    if (documents := keys["run"].get("documents")) is not None:
        warn(f"documents of passages: each has the {TAKEN[Passages.of(documents).take]}")
    if grouping is None and table is None:
        return board
    from ..guard.datasets import attach_groups, attach_weights

    dataset, entries, findings = board.entries[0].dataset, [*board.entries], list[Finding]()
    if table is not None:
        entries, findings = attach_weights(entries, {dataset: table})
    if grouping is not None:
        entries, of_groups = attach_groups(entries, {dataset: grouping})
        findings += of_groups
    for finding in findings:
        is_note = finding.severity == "note"
        warn(f"{finding.place}: {finding.what}" if is_note else finding.message)
    return replace(board, entries=tuple(entries))


def _problems_without_metric(
    qrels: str, runs: Sequence[str], settings: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield the missing metric, after files that do not exist or fit no format."""
    of_qrels, of_runs = ("qrels_format", "qrels_columns"), ("run_format", "columns")
    kinds: list[tuple[str, Kind, tuple[str, str]]] = [
        (qrels, "qrels", of_qrels), *((run, "run", of_runs) for run in runs)
    ]  # fmt: skip
    for path, kind, keys in kinds:
        try:
            check_there(path)
            if path != STDIN and not url_of(path) and not any(map(settings.get, keys)):
                guess_format(Path(path), kind)
        except InputError as error:
            yield from error.problems
    fix = "add one, such as -m map; 'harness metrics' lists all"
    yield Problem("--metric", "expected a metric, got none", fix=fix)


def _grouping(path: str, keys: Mapping[str, Any]) -> Grouping:
    """Return the grouping of queries by a file, with the keys of `--set groups.KEY=VALUE`."""
    from pydantic import ValidationError

    from ..config.load import wrong_value
    from ..config.model import Groups
    from ..guard.datasets import load_grouping

    try:
        return load_grouping(Groups.model_validate({"path": path, **keys}))
    except ValidationError as errors:
        error = errors.errors()[0]
        where = ".".join(["--set groups", *map(str, error["loc"][:1])])
        fix = 'write --set "groups.bins={length: [5, 10]}"'
        raise UnknownNameError(Problem(where, wrong_value(error), fix=fix)) from None
