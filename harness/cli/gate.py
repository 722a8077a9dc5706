"""``harness gate``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import filterfalse
from pathlib import Path
from typing import Any, Literal

import click

from ..errors import HarnessError, Problem, UnknownNameError
from ..experiment import gate as gates
from ..experiment import run as experiment
from ..experiment.manifest import versions
from ..experiment.results import MANIFEST
from ..readers.source import STDIN, Source
from ..reports.gate import FORMATS, as_json, error_as_json, render
from ..stats.comparison import Plan
from ..stats.gate import GateSettings, Verdict
from . import options
from .compare import systems_of_files
from .printing import show, terminal_width
from .table import names_of

Undecided = Literal["pass", "fail"]
_INPUTS = "Run files, two results folders, or a config with 'gate:'."
_UNDECIDED = "Verdict if there are too few queries to decide."
_NAME = "Run or dataset OLD, called NEW in the candidate"
_COMMON = {"inputs", "on_undecided", "format"}
_OF_CONFIG = {*_COMMON, "overrides"}
_OF_RESULTS = {*_COMMON, "metrics", "margins", "names", "level", "correction"}
"""The parameters of each form; run files have all except names."""


@options.command()
@options.several("inputs", "BASELINE CANDIDATE...|CONFIG", _INPUTS)
@click.option("--qrels", metavar="QRELS", help="Qrels of the run files.")
@options.metrics("A metric (default: all metrics of the results)")
@options.many("--margin", "margins", metavar="[METRIC=]X", help="Tolerated drop: 0.005 or 1%")
@options.many("--name", "names", metavar="OLD=NEW", help=_NAME)
@options.setting(
    GateSettings, "level", metavar="ALPHA", help="Significance level of intervals and tests."
)
@options.setting(GateSettings, "correction", help="Correct p-values for several metrics or runs.")
@options.choice("--on-undecided", Undecided, default="fail", help=_UNDECIDED)
@options.grouping
@options.format_option(*FORMATS)
@options.evaluation
def command(on_undecided: Undecided, format: str, **settings: Any) -> None:
    """Test whether runs are worse than a baseline beyond a margin.

    The verdict on each metric and dataset is pass, fail or undecided. The command exits with 0 if
    every verdict is pass, and else with 1. An undecided verdict counts as fail, unless you give
    '--on-undecided pass'.

    --set changes any key of a CONFIG. For run files, it takes the keys of 'harness evaluate'.

    \b
    Examples:
      harness gate main.run new.run --qrels qrels.txt -m ndcg@10 --margin 0.005
      harness gate results/main results/new --margin 1% --format markdown
      harness gate examples/gate/gate.yaml
    """
    try:
        verdicts, files = _verdicts(**settings)
    except HarnessError as error:
        if format == "json":
            show(error_as_json(error, versions()))
        raise
    is_passed = _passes(verdicts, on_undecided)
    if format == "json":
        digests = {path: Source(path).sha256() for path in files if path != STDIN}
        show(as_json(verdicts, is_passed, versions(), digests))
    else:
        width = terminal_width(format)
        show(render(verdicts, format, undecided_fails=on_undecided == "fail", width=width))
    if not is_passed:
        raise click.exceptions.Exit(1)


def judged(words: Sequence[str]) -> tuple[tuple[Verdict, ...], bool]:
    """Return the verdicts for the words of a command line, and whether the gate passes."""
    with command.make_context("gate", [*words]) as context:
        settings = context.params
        on_undecided = settings.pop("on_undecided")
        del settings["format"]
        verdicts, _ = _verdicts(**settings)
    return verdicts, _passes(verdicts, on_undecided)


def _passes(verdicts: Sequence[Verdict], on_undecided: Undecided) -> bool:
    failing = {"fail", "undecided"} if on_undecided == "fail" else {"fail"}
    return not failing & {verdict.outcome for verdict in verdicts}


def _verdicts(
    inputs: Sequence[str], qrels: str | None, metrics: Sequence[str], **settings: Any
) -> tuple[tuple[Verdict, ...], Sequence[str]]:
    """Return the verdicts and their files."""
    margins, names, overrides = (settings.pop(key) for key in ("margins", "names", "overrides"))
    plan = {key: settings.pop(key) for key in ("level", "correction")}
    Plan(**plan)  # checks them
    if len(inputs) == 1 and _is_config(inputs[0]):
        options.allow(_OF_CONFIG, "a config")
        return _of_config(inputs[0], overrides)
    if len(inputs) < 2:
        message = f"expected a baseline and a candidate, got {inputs[0]} alone"
        raise UnknownNameError(Problem("gate", message, fix="name both, or a config with 'gate:'"))
    if qrels is not None and all(map(os.path.isdir, inputs)):
        options.refuse(("qrels",), "results folders")
    if qrels is not None:
        options.refuse(("names",), "run files")
        keys = options.sections(overrides, options.KEYS_OF_EVALUATION)
        settings["accept"] = ["same-file-twice"]  # a candidate may change nothing
        systems = systems_of_files(qrels, inputs, metrics, keys=keys, **settings)
        rules = gates.rules_of(margins, metrics)
        verdicts = gates.gate_baseline(systems, systems[0].run, rules, **plan)
        return verdicts, [qrels, *inputs]
    if len(inputs) != 2 or any(map(os.path.isfile, filterfalse(_is_config, inputs))):
        message = f"expected two results folders, got {', '.join(inputs)}"
        raise UnknownNameError(Problem("gate", message, fix="add --qrels QRELS to gate run files"))
    options.allow(_OF_RESULTS, "results folders")
    old, new = map(Path, inputs)
    renamed = dict(options.pairs("--name", names, lambda: names_of(old)))
    rules = gates.rules_of(margins, metrics)
    verdicts = gates.gate_folders(old, new, rules, **plan, names=renamed)
    return verdicts, [str(folder / MANIFEST) for folder in (old, new)]


def _of_config(config: str, overrides: Sequence[str]) -> tuple[tuple[Verdict, ...], Sequence[str]]:
    outcome = experiment.run(config, overrides=overrides)
    gates.check_complete(outcome)
    chosen = outcome.config.gate
    if chosen is None:
        message = "expected a key 'gate', which names the baseline"
        fix = "add gate: {baseline: RUN, rules: {ndcg@10: {margin: 0.005}}}"
        raise UnknownNameError(Problem(config, message, fix=fix))
    plan: dict[str, Any] = {"level": chosen.level, "correction": chosen.correction}
    verdicts = gates.gate_baseline(outcome.systems, chosen.baseline, chosen.rules, **plan)
    return verdicts, [config]


def _is_config(path: str) -> bool:
    return path.endswith((".yaml", ".yml"))
