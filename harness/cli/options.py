"""Options that several commands have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource

from ..core.arguments import MOST, Range, parameters_of
from ..core.policy import Policy, RunDuplicates
from ..errors import Problem, UnknownNameError, check_known, did_you_mean
from ..stats.comparison import Plan

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Option = Callable[[Decorated], Decorated]


SECTIONS = {
    "Comparison": "baselines baseline test correction level family all_pairs reproduction margins",
    "Evaluation": "relevance_level depth judged_only ties convention missing_queries empty_queries "
    "overrides",
    "Files": "duplicates qrels_format run_format group plugins plugin inputs groups bins",
    "Submissions": "topics docnos max_per_query tag_pattern max_runs teams",
    "Processes": "jobs scheduler worker_timeout",
    "Layout": "names digits percent leading_zero spread marks average extras width standalone",
    "Output": "format output force per_query sort details strict on_undecided picture",
}
"""The parameters of each section of a command's help; the others come first."""


class Sectioned(click.Command):
    """A command whose help lists options by section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of each section under its title."""
        title_of = {name: title for title, names in SECTIONS.items() for name in names.split()}
        sections: dict[str, list[tuple[str, str]]] = {"Options": [], **{t: [] for t in SECTIONS}}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and not isinstance(parameter, click.Argument):
                sections[title_of.get(parameter.name or "", "Options")].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def command() -> Callable[[Callable[..., Any]], click.Command]:
    """Return the decorator of a command."""
    return click.command(cls=Sectioned)


class NearestChoice(click.Choice[str]):
    """One of a few words; a misspelt one gets the nearest."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """Return the words, and which one was probably meant."""
        near = did_you_mean(str(value), self.choices)
        return f"'{value}' is not one of {', '.join(self.choices)}{near}"


class Text(click.types.StringParamType):
    """Text that is required; the message about a missing one says what to give."""

    def __init__(self, advice: str) -> None:
        self.advice = advice

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        """Return the advice."""
        return self.advice


class Whole(click.IntRange):
    """A whole number in a range."""

    name = "whole number"


def setting(model: type, field: str, *names: str, help: str, **settings: Any) -> Option[Any]:
    """Return the option of a field of a settings model, which has its choices, range, default."""
    takes = parameters_of(model)[field]
    kind: Any = NearestChoice(takes.choices) if takes.choices else takes.type
    if takes.type is int:
        limits = takes.range or Range()
        kind = Whole(int(limits.low or 0), None if limits.high is None else int(limits.high))
    elif takes.type is bool:
        settings["is_flag"] = True
    settings = {"default": takes.default, "type": kind, **settings}
    return click.option(*(names or [f"--{field}"]), field, help=help, **settings)


def choice(name: str, words: Any, *names: str, **settings: Any) -> Option[Any]:
    """Return an option that takes one of the words of a Literal."""
    return click.option(name, *names, type=NearestChoice(get_args(words)), **settings)


def flag(name: str, help: str) -> Option[Any]:
    """Return an option without a value."""
    return click.option(name, is_flag=True, help=help)


def whole(*names: str, least: int, help: str, **settings: Any) -> Option[Any]:
    """Return an option that takes a whole number from `least` on."""
    return click.option(*names, metavar="N", type=Whole(least), help=help, **settings)


def path(*names: str, metavar: str, help: str, **settings: Any) -> Option[Any]:
    """Return an option that takes a file or folder."""
    return click.option(*names, metavar=metavar, type=Path, help=help, **settings)


def many(*names: str, metavar: str, help: str, **settings: Any) -> Option[Any]:
    """Return an option that may be repeated."""
    help = f"{help}; repeatable."
    return click.option(*names, metavar=metavar, help=help, multiple=True, **settings)


def metrics(help: str, required: bool = False) -> Option[Any]:
    """Return ``--metric``."""
    type = Text("Add one, such as -m ndcg@10; 'harness metrics' lists all.")
    names = ("--metric", "-m", "metrics")
    return many(*names, metavar="METRIC", help=help, required=required, type=type)


def several(name: str, metavar: str, help: str, **settings: Any) -> Option[Any]:
    """Return an argument that takes one word or more."""
    return click.argument(name, metavar=metavar, nargs=-1, required=True, help=help, **settings)


def format_option(
    *words: str, default: str | None = None, help: str = "How to print it."
) -> Option[Any]:
    """Return ``--format``; the first word is the default without `default`."""
    default = default or words[0]
    return click.option("--format", "-f", type=NearestChoice(words), default=default, help=help)


def joined(*options: Option[Any]) -> Option[Any]:
    """Return one decorator for several options, in this order."""

    def add(command: Decorated) -> Decorated:
        for option in reversed(options):
            command = option(command)
        return command

    return add


results = click.argument(
    "results", metavar="RESULTS", type=Path, help="A folder that 'harness run' wrote."
)
overrides = click.option(
    "--set", "overrides", metavar="KEY=VALUE", multiple=True,
    help="Override one value of the config.",
)  # fmt: skip
sort = click.option(
    "--sort", metavar="METRIC", help="Rows by this, best first; 'none' keeps their order."
)
workers = joined(
    whole("--jobs", "-j", least=1, default=1, help="Processes that evaluate."),
    click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler whose workers evaluate."),
    whole("--worker-timeout", least=1, help="Stop after N seconds without a worker (600)."),
)
inputs = path("--inputs", metavar="FOLDER", help="The config's folder, if it or RESULTS was moved.")
grouping = joined(
    click.option("--groups", metavar="FILE", help="CSV or Parquet of qid and groups of queries."),
    many("--bins", metavar="COLUMN=X,...", help="Where to cut numbers of --groups: length=5,10"),
)
comparison = joined(
    many("--baseline", "-b", "baselines", metavar="RUN", help="Compare again with this baseline"),
    setting(
        Plan,
        "test",
        "--test",
        "-t",
        metavar="TEST",
        default=None,
        help="Compare again with this test.",
    ),
    setting(Plan, "correction", default=None, help="Compare again with this correction."),
)
PLAN = ("baselines", "test", "correction", "level")
"""The parameters of `plan`."""
persistence = click.option(
    "--persistence", "p", metavar="P", default=0.9, help="Persistence of RBO.",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
)  # fmt: skip


def plan(help_of_baseline: str) -> Option[Any]:
    """Return the options of a plan of comparisons; see `pop_plan`."""
    return joined(
        many("--baseline", "-b", "baselines", metavar="RUN", help=help_of_baseline),
        setting(
            Plan, "test", "--test", "-t", metavar="TEST", help="A test, such as randomization."
        ),
        setting(Plan, "correction", help="Correct p-values for several comparisons."),
        setting(
            Plan, "level", metavar="ALPHA", help="An adjusted p-value up to this is significant."
        ),
    )


def pop_plan(settings: dict[str, Any], choices: Mapping[str, Any]) -> Plan:
    """Return the plan of comparisons, its options taken out of the parameters of a command.

    `choices` are further keys of a config's `compare:`.
    """
    return Plan(**{name: settings.pop(name) for name in PLAN}, **choices)


def sections(overrides: Sequence[str], **models: type) -> dict[str, dict[str, Any]]:
    """Return the keys that `--set SECTION.KEY=VALUE` sets, by the sections of a config.

    `models` are the sections that a command has; the options of their own are not among the keys.
    """
    from ..config.yaml_file import (  # which a command without --set skips
        override_values,
        parse_yaml,
    )

    context = click.get_current_context()
    own = {str(parameter.name) for parameter in context.command.params}
    chosen: dict[str, dict[str, Any]] = {name: {} for name in models}
    known = [
        f"{section}.{key}"
        for section, model in models.items()
        for key in parameters_of(model)
        if key not in own
    ]
    for text in overrides:
        check_known("key", text.partition("=")[0].strip(), known, "--set")
        source = parse_yaml("{}", "--set")
        override_values(source, [text])
        if source.problems:
            raise UnknownNameError(source.problems)
        for section, keys in source.data.items():
            chosen[section] |= keys
    return chosen


teams = click.option(
    "--teams", metavar="FILE|RE", default="",
    help="CSV of run and team, or a pattern on the tag.",
)  # fmt: skip
file_formats = joined(
    click.option(
        "--qrels-format", metavar="FORMAT", help="Format of QRELS, if it cannot be guessed."
    ),
    click.option(
        "--run-format", metavar="FORMAT", help="Format of the runs, if it cannot be guessed."
    ),
    click.option(
        "--group-sizes", "group", metavar="FILE", help="LightGBM's file of group sizes, for QRELS."
    ),
)
duplicates = choice(
    "--duplicates", RunDuplicates, default="error", help="What to do with a docno twice in a query."
)
POLICY = ("depth", "judged_only", "missing_queries", "empty_queries")
relevance_level = click.option(
    "--relevance-level", "-l", metavar="N", type=Whole(1, MOST),
    help="Smallest grade that is relevant.",
)  # fmt: skip
depth = setting(
    Policy, "depth", "--depth", "-M", metavar="N", help="Look at the first N documents only."
)
ties = setting(Policy, "ties", metavar="ORDER", help="Order of tied scores, such as stable.")
convention = click.option(
    "--convention", metavar="TOOL", help="Compute every metric as this tool does."
)
plugins = many("--plugin", "-p", "plugins", metavar="PLUGIN", help="A .py file or module to load")
evaluation = joined(
    relevance_level, depth,
    setting(
        Policy, "judged_only", "--judged-only", "-J", help="Take unjudged documents out after -M."
    ),
    ties, convention,
    setting(
        Policy, "missing_queries", "--missing-queries",
        help="How to count queries without an answer.",
    ),
    setting(
        Policy, "empty_queries", "--empty-queries",
        help="How to count queries with nothing relevant.",
    ),
    duplicates, file_formats, plugins,
)  # fmt: skip
"""How files are read and evaluated without a config; see `harness.cli.evaluate.evaluate`."""
keys = many("--set", "overrides", metavar="KEY=VALUE", help="Set another key of a config, as above")
usual_evaluation = joined(
    relevance_level, depth, ties, convention, duplicates, file_formats, plugins, keys
)
"""The same for commands in which `--set` has the rest; see `sections`."""


def pairs(option: str, texts: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the pairs of texts such as OLD=NEW.

    A sign in parentheses or brackets, as in map(rel=2)=MAP, is OLD's; OLD may be in double quotes.

    >>> pairs("--name", ("ndcg(gain=exp)@10=nDCG", "d [type=web]=Web", '"fold=1"=Fold 1'))
    [('ndcg(gain=exp)@10', 'nDCG'), ('d [type=web]', 'Web'), ('fold=1', 'Fold 1')]
    """
    plain = r"(?:[^=()\[\]]|\([^()]*\)|\[[^\[\]]*\])+"
    found = [re.fullmatch(rf'("[^"]+"|{plain})=(.+)', text) for text in texts]
    for text, both in zip(texts, found, strict=True):
        if both is None:
            form, example = (
                ("NAME=VALUE", "seed=1") if option == "--where" else ("OLD=NEW", "bm25=BM25")
            )
            what = f"expected {form}, got '{text}'"
            raise UnknownNameError(Problem(option, what, fix=f"write {option} {example}"))
    return [(both[1].strip('"'), both[2]) for both in found if both]


def allow(names: Iterable[str], inputs: str) -> None:
    """Raise UnknownNameError if the command line has an option other than these."""
    command = click.get_current_context().command
    refuse([str(one.name) for one in command.params if one.name not in {*names}], inputs)


def refuse(names: Iterable[str], inputs: str) -> None:
    """Raise UnknownNameError if the command line has one of these options, which do not apply."""
    context = click.get_current_context()
    options = {str(one.name): one.opts[0] for one in context.command.params}
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            what = f"{options[name]} is not for {inputs}"
            raise UnknownNameError(Problem("", what, fix=f"leave {options[name]} out"))
