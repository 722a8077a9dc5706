"""``harness check``."""

from __future__ import annotations

from typing import Any, Literal

import click

from ..core.policy import RunDuplicates
from ..errors import Problem, UnknownNameError, first_of
from ..experiment import check
from ..guard import check_report
from ..guard.submissions import Terms
from . import options
from .printing import show


@options.command()
@click.argument("first", metavar="CONFIG|QRELS", help="A YAML config, or qrels followed by runs.")
@click.argument(
    "runs", metavar="[RUN]...", nargs=-1,
    help="Run files, or predictions for the rows of a LETOR file.",
)  # fmt: skip
@options.flag("--strict", "Exit 1 if there are warnings.")
@options.flag("--notes", "Print notes too.")
@options.choice(
    "--by",
    Literal["run", "rule"],
    default="run",
    help="Group findings by run or rule.",
)
@click.option(
    "--topics", metavar="FILE", default="", show_default=False,
    help="Check submissions against these queries.",
)  # fmt: skip
@click.option(
    "--docnos", metavar="FILE", default="", show_default=False,
    help="Every docno of the collection, one a line.",
)  # fmt: skip
@options.whole("--max-per-query", least=1, help="Documents of a query, at most.")
@click.option("--tag-pattern", metavar="RE", default="", help="What the whole tag must match.")
@options.whole("--max-runs", least=1, help="Runs of a team, at most.")
@options.teams
@options.overrides
@options.duplicates
@options.file_formats
@options.format_option("text", "json", "sarif", "markdown")
def command(
    first: str, runs: tuple[str, ...], strict: bool, notes: bool, by: Literal["run", "rule"],
    overrides: tuple[str, ...], duplicates: RunDuplicates,
    qrels_format: str | None, run_format: str | None, group: str | None,
    format: Literal["text", "json", "sarif", "markdown"], **terms: Any,
) -> None:  # fmt: skip
    """Find what would make numbers wrong, before any is computed.

    The command reads every file to its end and goes on after errors. It finds predictions of
    another fold or shifted by a line, labels in place of scores, cut files, swapped columns or
    files, and documents that are not judged. Each run gets one line: OK, WARN or ERROR with its
    rules. Below it, each finding says what is wrong, its effect on the numbers, and the fix.
    docs/reference/rules.md has every rule.

    With --topics all files are submissions to a shared task, and no qrels are needed. Each
    gets one line: OK, WARN or REJECT, and why. --docnos and the options after it check
    submissions against QRELS too.

    Exits 2 if there are errors (wrong data), and with --strict 1 if there are warnings.

    \b
    Examples:
      harness check configs/sweep.yaml
      harness check qrels.txt bm25.run dense.run.gz --strict
      harness check configs/sweep.yaml --by rule --notes
      harness check test.txt predictions.txt --format json
      harness check configs/sweep.yaml --format sarif > check.sarif
      harness check runs/* --topics topics.txt --docnos docnos.txt --max-per-query 1000
    """
    if terms["topics"]:
        first, runs = terms["topics"], (first, *runs)
    task = Terms(**terms) if any(terms.values()) else None
    is_config = first.endswith((".yaml", ".yml"))
    if is_config:
        options.refuse((*terms, "duplicates", "qrels_format", "run_format", "group"), "a config")
    else:
        options.refuse(("overrides",), "files without a config")
    if task is not None and not runs:
        what = "expected run files with the options of submissions"
        raise UnknownNameError(Problem("", what, fix="give RUN... --topics FILE, or QRELS RUN..."))
    if runs and is_config:
        what = f"expected a config alone, got it with {first_of(runs, 3)}"
        raise UnknownNameError(Problem(first, what, fix="name the runs in the config"))
    if terms["topics"]:
        options.refuse(("qrels_format", "group", "notes", "by"), "submissions without qrels")
    if terms["max_runs"] is None:
        options.refuse(("teams",), "checks without --max-runs")
    if format != "text":
        options.refuse(("notes", "by"), f"--format {format}")
    found = check.check_paths(
        first, runs, overrides, qrels_format=qrels_format, run_format=run_format, group=group,
        duplicates=duplicates, terms=task,
    )  # fmt: skip
    if format == "text":
        as_text = check_report.findings_as_text(found, notes=notes, by=by)
        show(check_report.verdicts_as_text(found) if found.submitted else as_text)
    elif format == "markdown":
        show(check_report.verdicts_as_markdown(found))
    else:
        show(
            check_report.findings_as_json(found)
            if format == "json"
            else check_report.findings_as_sarif(found)
        )
    if found.count("error"):
        raise click.exceptions.Exit(2)
    if strict and found.count("warning"):
        raise click.exceptions.Exit(1)
