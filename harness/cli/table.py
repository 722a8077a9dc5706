"""``harness table``."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from .. import files as output
from ..core.comparison import Plan
from ..core.study import Study
from ..core.systems import dataset_name, run_name
from ..errors import HarnessError, HarnessWarning, Problem, UnknownNameError, did_you_mean
from ..experiment import folder as results_of
from ..experiment.outcome import Outcome, with_comparisons
from ..guard.registry import warned
from ..reports import sweep as sweeps
from ..reports.methods import bibliography, methods
from ..reports.paper_table.build import build
from ..reports.paper_table.model import PaperTable
from ..reports.paper_table.rendering import render, too_wide
from ..reports.paper_table.settings import DEFAULT, Extra, Format, Marks, Settings, Spread
from ..reports.select import metric_spellings, select
from ..reports.wording import Markup
from . import options

_OPTIONS = {
    "metrics": "-m", "runs": "--run", "datasets": "--dataset", "extras": "--extra",
    "names": "--name", "digits": "--digits", "sort": "--sort", "marks": "--marks",
    "label": "--label",
}  # fmt: skip
"""Options by the settings that they change."""


@click.command(cls=options.Command)
@options.results
@click.argument(
    "name",
    metavar="[NAME]",
    required=False,
    help="A table of the config; the first where left out.",
)
@options.format_option(
    "latex", "markdown", "html", "csv", "text", default="text", help="How to write it."
)
@options.many(
    "--metric", "-m", "metrics", metavar="METRIC", help="A column, or a pattern such as 'ndcg*'"
)
@options.many("--run", "runs", metavar="RUN", help="A row or a pattern; '!random' leaves out")
@options.many("--dataset", "datasets", metavar="DATASET", help="A block of columns")
@options.many("--name", "names", metavar="OLD=NEW", help="What one of them is called")
@click.option("--sort", metavar="METRIC", help="Rows by this, best first.")
@options.many("--digits", metavar="N", help="Decimals, or METRIC=N")
@click.option("--percent/--no-percent", default=None, help="Values x 100, of metrics in [0, 1].")
@click.option("--leading-zero/--no-leading-zero", default=None, help="0.423 instead of .423.")
@options.choice("--spread", Spread, help="Next to each value: over repetitions, or over queries.")
@options.choice("--marks", Marks, help="Signs of significance.")
@click.option(
    "--average/--no-average", default=None, help="A further block: the mean over datasets."
)
@options.choice("--extra", Extra, multiple=True, help="A further column; repeatable.")
@click.option("--siunitx/--no-siunitx", default=None, help="LaTeX: siunitx's S columns.")
@click.option("--wide/--no-wide", default=None, help="LaTeX: table*, over the page.")
@click.option("--longtable/--no-longtable", default=None, help="LaTeX: over several pages.")
@click.option("--caption", metavar="TEXT", help="What the caption begins with.")
@click.option("--label", metavar="TEXT", help="LaTeX's label.")
@click.option("--standalone", is_flag=True, help="LaTeX: a whole document, to look at.")
@click.option(
    "--methods", is_flag=True, help="Sentences for the methods section, instead of the table."
)
@click.option("--bibtex", is_flag=True, help="The references that --methods cites.")
@options.many("--sweep", metavar="COLUMN", help="Values against a setting, such as lr")
@click.option("--top", metavar="N", type=click.IntRange(1), help="The best N settings of --sweep.")
@options.comparison
def command(
    results: Path,
    name: str | None,
    format: Format,
    names: tuple[str, ...],
    digits: tuple[str, ...],
    extra: tuple[str, ...],
    percent: bool | None,
    wide: bool | None,
    standalone: bool,
    methods: bool,
    bibtex: bool,
    sweep: tuple[str, ...],
    top: int | None,
    **settings: Any,
) -> None:
    """Print the table for the paper: best values, significance, caption.

    What the config's 'tables:' says holds where an option is left out.

    \b
    Examples:
      harness table results/compare --format latex > table.tex
      harness table results/compare -m map -m ndcg@10 --sort map --spread deviation
      harness table results/compare --methods --format latex
      harness table results/tuned --sweep lr --top 5
    """
    if sweep or top is not None:
        some = [settings.pop(key) for key in ("metrics", "runs", "datasets")]
        others = [key for key, value in settings.items() if value not in (None, (), False)]
        if name is not None or others:
            what = "expected no table and no other settings with --sweep"
            fix = "give --metric, --run, --dataset, --top and --format alone"
            raise UnknownNameError(Problem("", what, name or ", ".join(others), fix=fix))
        output.show(sweep_of(results, sweep, top, format, *some))
        return
    plan = options.changed_plan(*(settings.pop(key) for key in ("baselines", "test", "correction")))
    changes = {key: value for key, value in settings.items() if value not in (None, ())}
    if names:
        changes["names"] = dict(options.pairs("--name", names))
    if digits:
        changes["digits"] = with_digits(digits)
    if extra:
        changes["extras"] = extra
    if percent is not None:
        changes["percent"] = ("*",) if percent else ()
    if wide is not None:
        changes["width"] = "page" if wide else "column"
    if settings["runs"]:
        changes["groups"] = {}
    try:
        table, made_with, study = table_of(results, name, changes, plan)
    except UnknownNameError as error:
        raise UnknownNameError([of_option(one, changes) for one in error.problems]) from None
    found = study.manifest.get("findings", ())
    if counts := warned((one["rule"], one["severity"]) for one in found):
        _warn(f"the results have {counts} of the guard; 'findings' in manifest.json has each")
    if methods or bibtex:
        output.show(methods_of(table, made_with, study, format, methods, bibtex))
        return
    if format == "latex" and not standalone:
        _warn(too_wide(table, made_with))
    output.show(render(table, format, made_with, standalone=standalone))


def sweep_of(
    folder: Path, names: Sequence[str], n: int | None, format: Format, metrics: Sequence[str],
    runs: Sequence[str], datasets: Sequence[str],
) -> str:  # fmt: skip
    """Return the values of a folder of results against some settings, in one of the formats."""
    found = results_of.read(folder)
    plan = found.config.compare or Plan()
    if not names:
        what = "--top: expected --sweep COLUMN with it"
        listed = ", ".join(sweeps.columns_swept(found)) or "none"
        raise UnknownNameError(Problem("", f"{what}  (there are: {listed})"))
    board = sweeps.sweep(found, names, plan)
    known = {str(metric): metric for metric in board.metrics}
    wanted = [*known]
    if metrics:
        wanted = [*select(metrics, wanted, "metric", metric_spellings(known))]
    kept = select(runs or ("*",), list(dict.fromkeys(one.run for one in board.entries)), "run")
    some = [name for name, _ in board.by_dataset()]
    some = [*select(datasets or ("*",), some, "dataset")]
    if n is not None:
        board = sweeps.top(board, names, known[wanted[0]], n)
    entries = [one for one in board.entries if one.run in kept and one.dataset in some]
    board = replace(board, entries=tuple(entries))
    return sweeps.render(board, [known[name] for name in wanted], plan, format)


def _warn(text: str | None) -> None:
    if text:
        warnings.warn(text, HarnessWarning, stacklevel=3)


def of_option(problem: Problem, changes: Mapping[str, Any]) -> Problem:
    """Return a problem of the config's table as one of the option that changed it."""
    place = re.search(rf"\.({'|'.join(_OPTIONS)})(?:\[(\d+)\]|\.(.+))?$", problem.where)
    if place is None or place[1] not in changes:
        return problem
    key, number, name = place.groups()
    value = changes[key]
    if number is not None:
        value = value[int(number)]
    elif name is not None:
        value = f"{name}={value[name]}"
    return replace(problem, where=f"{_OPTIONS[key]} {value}")


def table_of(
    folder: Path | Outcome, name: str | None, changes: Mapping[str, Any], plan: Mapping[str, Any]
) -> tuple[PaperTable, Settings, Study]:
    """Return a table of results, with changed settings and plan of comparisons."""
    results = folder if isinstance(folder, Outcome) else results_of.read(folder)
    tables = results.config.tables
    if name is not None and name not in tables:
        has = f"it has: {', '.join(tables) or 'none'}"
        near = did_you_mean(name, tables)
        raise UnknownNameError(f"the config of these results has no table '{name}'{near}  ({has})")
    name = name or next(iter(tables), None)
    settings = DEFAULT if name is None else tables[name]
    if "caption" in changes:
        caption = replace(settings.caption, text=changes["caption"])
        changes = {**changes, "caption": caption}
    names = {**settings.names, **changes.get("names", {})}
    settings = replace(settings, **{**changes, "names": names})
    extras = {"tier", "rank"} & {*settings.extras}
    if settings.marks != "none" or settings.spread == "interval" or extras:
        results = _compared(results, plan)
    return build(results, settings, name or "table"), settings, results


def methods_of(
    table: PaperTable,
    settings: Settings,
    study: Study,
    format: Format,
    with_methods: bool,
    with_references: bool,
) -> str:
    """Return the methods paragraph of a table, the references that it cites, or both."""
    runs = {row.run for row in table.rows}
    datasets = {one.dataset for one in table.columns}
    summary = study.board.summary
    entries = [
        one
        for one in study.board.entries
        if dataset_name(one, summary) in datasets
        and run_name(one.run, one.columns, one.pattern, summary) in runs
    ]
    study = replace(study, board=replace(study.board, entries=tuple(entries)))
    metrics = [str(one.metric) for one in table.columns if one.metric is not None]
    markup: Markup = "latex" if format == "latex" else "plain"
    parts = []
    if with_methods:
        parts.append(methods(study, markup, metrics=metrics, name=settings.name))
    if with_references:
        parts.append(bibliography(study, metrics=metrics))
    return "\n".join(parts)


def with_digits(given: Sequence[str]) -> dict[str, int]:
    """Return ``["2", "map=4"]`` as decimals by metric.

    >>> with_digits(["2", "ndcg(gain=exp)@10=4"])
    {'*': 2, 'ndcg(gain=exp)@10': 4}
    """
    found = {}
    for text in given:
        metric, _, digits = text.rpartition("=")
        if not re.fullmatch("[0-9]{1,2}", digits) or int(digits) > 17:
            what = f"--digits takes a number from 0 to 17, or METRIC=NUMBER, and is '{text}'"
            raise UnknownNameError(Problem("", what))
        found[metric or "*"] = int(digits)
    return found


def _compared(results: Outcome, changes: Mapping[str, Any]) -> Outcome:
    """Return results with comparisons; without, if runs that failed leave nothing to compare."""
    plan = None
    if changes:
        own = results.config.compare
        plan = replace(Plan() if own is None else own, **changes)
    try:
        return with_comparisons(results, plan)
    except HarnessError as error:
        if plan or not results.failed:
            raise
        _warn(f"runs could not be evaluated, and the others are not compared: {error}")
        return results
