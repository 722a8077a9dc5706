"""``harness gate``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import click

from ..core.entries import System
from ..core.systems import systems_of
from ..errors import Problem, UnknownNameError
from ..experiment import gate as gates
from ..experiment import run as experiment
from ..reports.gate import FORMATS, render
from ..stats.comparison import Correction, Plan
from ..stats.gate import GateSettings, Verdict
from . import options
from .evaluate import evaluate
from .printing import show, terminal_width

Undecided = Literal["pass", "fail"]
AGAIN = "the same run"
"""What the baseline is called as its own candidate."""
_PRINTING = {"inputs", "on_undecided", "format"}
_TAKEN = {
    "a config": {*_PRINTING, "overrides"},
    "results folders": {*_PRINTING, "metrics", "margins", "names", "level", "correction"},
}
"""The parameters that are not for run files alone."""


@click.command()
@options.several(
    "inputs", "BASELINE CANDIDATE...|CONFIG",
    "Run files, two results folders, or a config with 'gate:'.",
)  # fmt: skip
@click.option("--qrels", metavar="QRELS", help="Qrels of the run files.")
@options.metrics("A metric, by default all of results folders")
@options.many("--margin", "margins", metavar="[METRIC=]X", help="Tolerated drop: 0.005 or 1%")
@options.many("--name", "names", metavar="OLD=NEW", help="A run's name in the baseline and now")
@options.setting(GateSettings, "level", metavar="ALPHA", help="Level of intervals and tests.")
@options.setting(GateSettings, "correction", help="Correct p-values for several metrics or runs.")
@options.choice(
    "--on-undecided",
    Undecided,
    default="fail",
    help="Verdict if there are too few queries to tell.",
)
@options.grouping
@options.format_option(*FORMATS, help="How to print the verdicts.")
@options.overrides
@options.evaluation
def command(on_undecided: Undecided, format: str, **settings: Any) -> None:
    """Test whether a candidate is worse than its baseline by more than a margin.

    For each metric and dataset the verdict is pass, fail or undecided. Exits 0 if all pass, 1 if
    one fails. Undecided counts as --on-undecided says.

    \b
    Examples:
      harness gate main.run new.run --qrels qrels.txt -m ndcg@10 --margin 0.005
      harness gate results/main results/new --margin 1% --format markdown
      harness gate gate.yaml
    """
    verdicts = _verdicts(**settings)
    width = terminal_width(format)
    show(render(verdicts, format, undecided_fails=on_undecided == "fail", **width))
    if not _passes(verdicts, on_undecided):
        raise click.exceptions.Exit(1)


def judged(words: Sequence[str]) -> tuple[tuple[Verdict, ...], bool]:
    """Return the verdicts that the words of a command line ask for, and whether the gate passes."""
    with command.make_context("gate", [*words]) as context:
        settings = context.params
        on_undecided = settings.pop("on_undecided")
        del settings["format"]
        verdicts = _verdicts(**settings)
    return verdicts, _passes(verdicts, on_undecided)


def _passes(verdicts: Sequence[Verdict], on_undecided: Undecided) -> bool:
    failing = {"fail", "undecided"} if on_undecided == "fail" else {"fail"}
    return not failing & {one.outcome for one in verdicts}


def _verdicts(
    inputs: Sequence[str], qrels: str | None, metrics: Sequence[str], margins: Sequence[str],
    names: Sequence[str], level: float, correction: Correction, overrides: Sequence[str],
    **settings: Any,
) -> tuple[Verdict, ...]:  # fmt: skip
    plan: dict[str, Any] = {"level": level, "correction": correction}
    Plan(**plan)  # checks them
    is_config = len(inputs) == 1 and inputs[0].endswith((".yaml", ".yml"))
    if qrels is not None and not is_config:
        options.refuse(("names", "overrides"), "run files")
    else:
        kind = "a config" if is_config else "results folders"
        options.refuse({str(one.name) for one in command.params} - _TAKEN[kind], kind)
    if is_config:
        outcome = experiment.run(inputs[0], overrides=overrides)
        gates.check_complete(outcome)
        chosen = outcome.config.gate
        if chosen is None:
            what = "expected a key 'gate', which names the baseline"
            fix = "add gate: {baseline: RUN, rules: {ndcg@10: {margin: 0.005}}}"
            raise UnknownNameError(Problem(inputs[0], what, fix=fix))
        return gates.gate_baseline(
            outcome.systems, chosen.baseline, chosen.rules, level=chosen.level,
            correction=chosen.correction,
        )  # fmt: skip
    if qrels is None and (len(inputs) != 2 or any(map(os.path.isfile, inputs))):
        what = f"expected two results folders, got {', '.join(inputs)}"
        raise UnknownNameError(Problem("gate", what, fix="add --qrels QRELS to gate run files"))
    if len(inputs) < 2:
        what = f"expected a baseline and a candidate, got {inputs[0]} alone"
        raise UnknownNameError(Problem("gate", what, fix="name both, or a config with 'gate:'"))
    rules = gates.rules_of(margins, metrics)
    if qrels is None:
        renamed = dict(options.pairs("--name", tuple(names)))
        return gates.gate_folders(Path(inputs[0]), Path(inputs[1]), rules, names=renamed, **plan)
    if not metrics:
        fix = "add one, such as -m ndcg@10; 'harness metrics' lists them"
        raise UnknownNameError(Problem("gate", "expected a metric, got none", fix=fix))
    # a candidate that changes nothing is not a mistake
    settings["accept"] = ["same-file-twice"]
    board = evaluate(qrels, list(dict.fromkeys(inputs)), metrics, **settings)
    systems = systems_of(board)
    if inputs.count(inputs[0]) > 1:  # a first try: does the same run pass?
        systems += tuple(
            System.of(one.entries, AGAIN) for one in systems if one.run == systems[0].run
        )
    return gates.gate_baseline(systems, systems[0].run, rules, **plan)
