"""``harness check``."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal, get_args

import click

from ..errors import Problem, UnknownNameError, first_of
from ..experiment import check
from ..guard import check_report
from ..guard.submissions import Terms
from . import options
from .options import Texts
from .printing import show

Format = Literal["text", "json", "sarif", "markdown", "accepted"]
_RUNS = "Run files, predictions for LETOR rows, or test data."
_TERMS = [field.name for field in fields(Terms)]


@options.command()
@options.argument("first", "CONFIG|QRELS|TRAIN", "A YAML config, qrels, or training data.")
@options.argument("runs", "[RUN|TEST]...", _RUNS, nargs=-1)
@options.flag("--strict", "Exit 1 if there are warnings.")
@options.flag("--notes", "Print notes too.")
@click.option("--verbose", "-v", is_flag=True, help="Print a line for each file that is OK.")
@options.text("--topics", "FILE", "Check submissions against these queries.")
@options.text("--docnos", "FILE", "Every docno of the collection, one per line.")
@options.whole("--max-per-query", least=1, help="Largest number of documents of a query.")
@options.text("--tag-pattern", "RE", "What the whole tag must match.")
@options.flag("--all-topics", "Reject runs without an answer to a query.")
@options.whole("--max-runs", least=1, help="Largest number of runs of a team; see --teams.")
@options.teams
@options.files
@options.overrides
@options.format_option(*get_args(Format))
def command(
    first: str, runs: Texts, strict: bool, notes: bool, verbose: bool, format: Format,
    **settings: Any,
) -> None:  # fmt: skip
    """Find mistakes in files that would make numbers wrong.

    The command reads every file to its end, and continues after errors. It finds predictions of
    another fold or shifted by a line, labels in place of scores, cut files, swapped columns or
    files, and unjudged documents. Each file with findings gets a line: WARN or ERROR with its
    rules. Below it, each finding states the mistake, its effect and the fix. -v adds a line for
    each file that is OK.

    You can check qrels and learning-to-rank data without runs. If you give several files with
    features, the command finds rows that are in two of them, such as training rows in test data.

    With --topics, all files are submissions to a shared task, and no qrels are needed. Each
    submission with a problem gets a line: WARN or REJECT, and the reason. --docnos and the options
    after it work with QRELS too. '--format accepted' prints the runs without an error, one per
    line.

    --set changes any key of a CONFIG. Without a config, it takes dataset.columns,
    dataset.duplicates, dataset.group, run.documents and run.duplicates.

    The command exits with 2 if there are errors, and with --strict with 1 if there are warnings.

    \b
    Examples:
      harness check runs/trec/qrels.txt runs/trec/bm25.run runs/trec/lsi.run
      harness check qrels.txt bm25.run dense.run.gz --strict
      harness check configs/sweep.yaml --notes
      harness check test.txt predictions.txt --format json
      harness check train.txt vali.txt test.txt
      harness check configs/sweep.yaml --format sarif > check.sarif
      harness check runs/* --topics topics.txt --docnos docnos.txt
      harness check runs/* --topics topics.txt -f accepted > accepted.txt
    """
    terms = {name: settings.pop(name) for name in _TERMS}
    if terms["topics"]:
        first, runs = terms["topics"], (first, *runs)
    task = Terms(**terms) if any(terms.values()) else None
    is_config = first.endswith((".yaml", ".yml"))
    if is_config:
        options.refuse((*_TERMS, *options.OF_FILES.split()), "a config")
    else:
        of_runs = {"run": ("duplicates",)}
        keys_of = of_runs if terms["topics"] else options.KEYS_OF_FILES
        keys = options.sections(settings["overrides"], keys_of)
        settings |= options.settings_of_files(keys)
    if task is not None and not runs:
        message = "expected run files with the options of submissions"
        fix = "give RUN... --topics FILE, or QRELS RUN..."
        raise UnknownNameError(message, fix=fix)
    if runs and is_config:
        message = f"expected a config alone, got it with {first_of(runs, 3)}"
        raise UnknownNameError(Problem(first, message, fix="name the runs in the config"))
    if terms["topics"]:
        options.refuse(("qrels_format",), "submissions without qrels")
    if format != "text":
        options.refuse(("notes", "verbose"), f"--format {format}")
    checked = check.check_paths(first, runs, terms=task, **settings)
    if format == "markdown":
        show(check_report.verdicts_as_markdown(checked))
    elif format == "json":
        show(check_report.findings_as_json(checked))
    elif format == "sarif":
        show(check_report.findings_as_sarif(checked))
    elif format == "accepted":
        show(check_report.accepted(checked))
    elif checked.submitted:
        show(check_report.verdicts_as_text(checked, notes=notes, verbose=verbose))
    else:
        show(check_report.findings_as_text(checked, notes=notes, verbose=verbose))
    if checked.count("error"):
        raise click.exceptions.Exit(2)
    if strict and checked.count("warning"):
        raise click.exceptions.Exit(1)
