"""Options that several commands have: how files are read, what is done where data leave it open."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.parameter import MOST
from ..core.policy import TIES, Duplicates, Empty, Missing

Rel = Annotated[
    int | None,
    typer.Option(
        "--relevance-level", "-l", min=1, max=MOST, help="Smallest grade that is relevant."
    ),
]
Depth = Annotated[
    int | None,
    typer.Option("--depth", "-M", min=1, max=MOST, help="Look at the first N documents only."),
]
JudgedOnly = Annotated[
    bool, typer.Option("--judged-only", "-J", help="Take unjudged documents out first.")
]
Ties = Annotated[
    str, typer.Option(metavar="ORDER", help=f"Order of tied scores: {', '.join(TIES)}, bounds.")
]
Convention = Annotated[
    str | None, typer.Option(metavar="TOOL", help="Compute every metric as this tool does.")
]
MissingQueries = Annotated[
    Missing, typer.Option(help="Judged queries that the run does not answer.")
]
EmptyQueries = Annotated[Empty, typer.Option(help="Queries without relevant documents.")]
Twice = Annotated[Duplicates, typer.Option(help="A docno that a query names twice.")]
QrelsFormat = Annotated[str | None, typer.Option(help="Format of QRELS, where it cannot be told.")]
RunFormat = Annotated[str | None, typer.Option(help="Format of the runs, where it cannot be told.")]
Group = Annotated[str | None, typer.Option(help="LightGBM's file of group sizes, for QRELS.")]
Plugins = Annotated[
    list[str] | None,
    typer.Option("--plugin", "-p", help="A .py file or module with metrics; repeatable."),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        metavar="DIFFERENCE",
        help="Largest difference that is none. By default half of the last digit that a CSV "
        "prints; 0 for folders.",
    ),
]
AnyChange = Annotated[
    bool, typer.Option("--any-change", help="Exit 1 where anything has changed, better or worse.")
]
Lower = Annotated[
    list[str] | None,
    typer.Option(
        "--lower", metavar="METRIC", help="Lower is better by this one of a CSV; repeatable."
    ),
]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar="COLUMN",
        help="Of a CSV: the column of runs, then those that tell rows apart; repeatable.",
    ),
]
Renamed = Annotated[
    list[str] | None,
    typer.Option(
        "--name", metavar="OLD=NEW", help="What a run, dataset or metric is called; repeatable."
    ),
]
Persistence = Annotated[
    float | None, typer.Option("--p", metavar="P", help="Persistence of RBO; 0.9 by default.")
]
Reproduction = Annotated[
    bool,
    typer.Option(
        "--reproduction",
        help="NEW reproduces OLD: RMSE, t-tests; with --baseline effect ratio and DeltaRI.",
    ),
]
Inputs = Annotated[
    Path | None,
    typer.Option(
        "--inputs", metavar="FOLDER",
        help="Where the config's paths start from, if that or RESULTS was moved.",
    ),
]  # fmt: skip
