"""The arguments of ``harness table``; what it does is loaded when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..core.plan import Correction
from ..errors import Problem, UnknownNameError

_LISTS = {"metrics": "-m", "runs": "--run", "datasets": "--dataset", "extras": "--extra"}
_BY_KEY = {"names": "--name", "digits": "--digits"}
_SINGLE = {"sort": "--sort", "marks": "--marks", "label": "--label"}
"""Options by the settings that they stand for."""


def table_command(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A folder that 'harness run' wrote.")
    ],
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A table of the config; the first where left out."),
    ] = None,
    format: Annotated[
        Literal["latex", "markdown", "html", "csv", "text"],
        typer.Option("--format", "-f", help="How to write it."),
    ] = "text",
    metrics: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="A column, or a pattern such as 'ndcg*'; repeatable."),
    ] = None,
    runs: Annotated[
        list[str] | None,
        typer.Option("--run", help="A row or a pattern; '!random' leaves out; repeatable."),
    ] = None,
    datasets: Annotated[
        list[str] | None, typer.Option("--dataset", help="A block of columns; repeatable.")
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="OLD=NEW", help="What one of them is called; repeatable."),
    ] = None,
    sort: Annotated[
        str | None, typer.Option(metavar="METRIC", help="Rows by this, best first.")
    ] = None,
    digits: Annotated[
        list[str] | None,
        typer.Option(metavar="N", help="Decimals, or METRIC=N; repeatable."),
    ] = None,
    percent: Annotated[
        bool | None, typer.Option(help="Values x 100, of metrics in [0, 1].")
    ] = None,
    leading_zero: Annotated[bool | None, typer.Option(help="0.423 in place of .423.")] = None,
    spread: Annotated[
        Literal["none", "deviation", "interval"] | None,
        typer.Option(help="Beside each value: over repetitions, or over queries."),
    ] = None,
    marks: Annotated[
        Literal["letters", "daggers", "none"] | None, typer.Option(help="Signs of significance.")
    ] = None,
    average: Annotated[
        bool | None, typer.Option(help="A further block: the mean over datasets.")
    ] = None,
    extras: Annotated[
        list[str] | None,
        typer.Option("--extra", help="A further column: n, tier, rank, coverage; repeatable."),
    ] = None,
    siunitx: Annotated[bool | None, typer.Option(help="LaTeX: siunitx's S columns.")] = None,
    wide: Annotated[bool | None, typer.Option(help="LaTeX: table*, over the page.")] = None,
    caption: Annotated[str | None, typer.Option(help="What the caption begins with.")] = None,
    label: Annotated[str | None, typer.Option(help="LaTeX's label.")] = None,
    standalone: Annotated[
        bool, typer.Option("--standalone", help="LaTeX: a whole document, to look at.")
    ] = False,
    methods: Annotated[
        bool,
        typer.Option("--methods", help="Sentences for the methods section, in place of the table."),
    ] = False,
    bibtex: Annotated[
        bool, typer.Option("--bibtex", help="The references that --methods cites.")
    ] = False,
    baselines: Annotated[
        list[str] | None,
        typer.Option("--baseline", "-b", help="Compare anew, with this run; repeatable."),
    ] = None,
    test: Annotated[
        str | None, typer.Option("--test", "-t", help="Compare anew, by this test.")
    ] = None,
    correction: Annotated[
        Correction | None, typer.Option(help="Compare anew, with this correction.")
    ] = None,
) -> None:
    """Print the table for the paper: best values, significance, caption.

    What the config's 'tables:' says holds where an option is left out.

    \b
    Examples:
      harness table results/compare --format latex > table.tex
      harness table results/compare -m map -m ndcg@10 --sort map --spread deviation
      harness table results/compare --methods --format latex
    """
    from .. import output, tabulate

    given: dict[str, Any] = {
        "metrics": metrics, "runs": runs, "datasets": datasets, "sort": sort,
        "extras": tabulate.with_extras(extras) if extras else None,
        "leading_zero": leading_zero, "spread": spread, "marks": marks, "average": average,
        "siunitx": siunitx, "caption": caption, "label": label,
        "percent": None if percent is None else ("*",) * percent,
        "width": None if wide is None else "page" if wide else "column",
        "digits": tabulate.with_digits(digits) if digits else None,
        "names": tabulate.with_names(names) if names else None,
    }  # fmt: skip
    changes = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in given.items()
        if value is not None and value != []
    }
    if runs:
        changes["groups"] = {}
    plan = {"baselines": tuple(baselines or ()), "test": test, "correction": correction}
    compared = {key: value for key, value in plan.items() if value}
    try:
        if methods or bibtex:
            parts = (methods, bibtex)
            text = tabulate.methods_of(results, name, format, changes, compared, parts)
        else:
            text = tabulate.text_of(results, name, format, changes, compared, standalone)
    except UnknownNameError as error:
        raise UnknownNameError([of_option(one, changes) for one in error.problems]) from None
    output.show(text)


def of_option(problem: Problem, changes: Mapping[str, Any]) -> Problem:
    """Return a problem of the config's table as one of the option that was given in its place."""
    given = {f".{key}": (_SINGLE[key], str(changes[key])) for key in _SINGLE.keys() & changes}
    for key, option in _BY_KEY.items():
        some = changes.get(key, {}).items()
        given |= {f".{key}.{own}": (option, f"{own}={value}") for own, value in some}
    for key, option in _LISTS.items():
        values = enumerate(changes.get(key, ()))
        given |= {f".{key}[{place}]": (option, value) for place, value in values}
    ends = [end for end in given if problem.where.endswith(end)]
    if not ends:
        return problem
    end = max(ends, key=len)  # a run may be called 'sort'
    option, value = given[end]
    several = [part.strip() for part in value.split(",")] if end.endswith("]") else []
    fix = f"give {option} once for each: {' '.join(f'{option} {one}' for one in several)}"
    return replace(problem, where=f"{option} {value}", fix=fix if len(several) > 1 else problem.fix)
