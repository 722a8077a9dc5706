"""Options that several commands have."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource

from ..core.arguments import MOST, Range, parameters_of, signs_in, split_assignment
from ..core.names import COMMA, readable
from ..core.policy import Choices, Policy
from ..errors import HarnessError, Problem, UnknownNameError, check_known, fix_of_name, nearest
from ..stats.comparison import Plan

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Option = Callable[[Decorated], Decorated]
Texts = tuple[str, ...]

OF_FILES = "qrels_format run_format columns order"
"""Parameters for reading files without a config; see `files`."""
KEYS_OF_FILES: dict[str, Collection[str]] = {
    "dataset": ("columns", "duplicates", "group"),
    "run": ("documents", "duplicates"),
}
"""Keys of a config's datasets and runs that `--set` gives files without a config."""
KEYS_OF_EVALUATION = {
    **KEYS_OF_FILES,
    "groups": ("bins", "columns", "qid"),
    "policy": parameters_of(Choices),
}
"""The same, if the files are evaluated."""
_WITHOUT_OPTION = {"dataset.columns", "groups.columns"}
"""Keys with the name of an option that sets another key."""
SECTIONS = {
    "Comparison": "baselines baseline test correction level family all_pairs reproduction margins "
    "on_undecided",
    "Evaluation": "relevance_level depth ties convention",
    "Files": f"{OF_FILES} plugins plugin inputs groups weights",
    "Fusion": "fuse write",
    "Submissions": "topics docnos max_per_query tag_pattern all_topics max_runs teams",
    "Processes": "jobs scheduler worker_timeout",
    "Layout": "digits percent leading_zero spread marks average extras width",
    "Output": "format output force per_query sort details strict",
}
"""The parameters of each section of a command's help; the others come first."""


def by_section(parameters: Iterable[click.Parameter]) -> dict[str, list[click.Parameter]]:
    """Return the options of each section of a command's help, without empty sections."""
    title_of = {name: title for title, names in SECTIONS.items() for name in names.split()}
    sections: dict[str, list[click.Parameter]] = {"Options": [], **{t: [] for t in SECTIONS}}
    for parameter in parameters:
        if not isinstance(parameter, click.Argument):
            title = title_of.get(parameter.name or "", "Options")
            is_of_table = parameter.name == "columns" and not parameter.multiple
            sections["Layout" if is_of_table else title].append(parameter)
    return {title: options for title, options in sections.items() if options}


class Sectioned(click.Command):
    """A command with options by section, and significance tests at `{tests}`, in its help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; UnknownNameError for words too many, or a single option given twice."""
        if any(parameter.name == "metrics" for parameter in self.params):
            _check_metrics(args)
        _, extra, order = self.make_parser(ctx).parse_args([*args])
        if extra and not {"-h", "--help"} & {*args}:
            fix = "write " + " ".join(ctx.get_usage().split()[1:])
            raise UnknownNameError(f"unexpected words: {' '.join(extra)}", fix=fix)
        single = [p for p in order if isinstance(p, click.Option) and not (p.multiple or p.is_flag)]
        for option, times in Counter(single).items():
            if times > 1:
                message = f"expected one value, got {times}"
                fix = f"write {option.opts[0]} once"
                raise UnknownNameError(Problem(option.opts[0], message, fix=fix))
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command; its errors name options as they are written."""
        try:
            return super().invoke(ctx)
        except HarnessError as error:
            given = options_by_name()
            written = {option.strip("-"): option for option in given.values()} | given
            error.problems = [
                replace(one, where=written.get(re.sub(r"\[\d+\]$", "", one.where), one.where))
                for one in error.problems
            ]
            raise

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help text."""
        if self.help and "{tests}" in self.help:
            from ..stats.registry import names_by_kind  # which loads SciPy

            self.help = self.help.replace("{tests}", names_by_kind())
        super().format_help_text(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of each section under its title."""
        for title, options in by_section(self.get_params(ctx)).items():
            with formatter.section(title):
                formatter.write_dl(
                    list(filter(None, (one.get_help_record(ctx) for one in options)))
                )


def _check_metrics(words: Sequence[str]) -> None:
    """Raise UnknownNameError for several metrics after one ``-m``: ``map,P@5`` or ``map P@5``."""
    for place in (place for place, word in enumerate(words) if word in ("-m", "--metric")):
        first = "".join(words[place + 1 : place + 2])
        later = [*takewhile(_is_no_file, words[place + 2 :])]
        if "," in first or later:
            import_module("..metrics", __package__)  # which a command without results has loaded
            names: list[str] = [first] if readable(first) else COMMA.split(first)
            names += takewhile(readable, later)
            if len(names) > 1 and any(map(readable, names)):
                message = f"expected one metric, got {len(names)}: {', '.join(names)}"
                fix = "write " + " ".join(f"-m {shlex.quote(name)}" for name in names)
                raise UnknownNameError(Problem("--metric", message, fix=fix))


def _is_no_file(word: str) -> bool:
    return word[:1] != "-" and not os.path.exists(word)


def command() -> Callable[[Callable[..., Any]], click.Command]:
    """Return the decorator of a command."""
    return click.command(cls=Sectioned)


class NearestChoice(click.Choice[str]):
    """One of a few words; an error suggests the nearest."""

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> str:
        """Return the word; raises UnknownNameError for another one."""
        check_known(param.name.replace("_", " "), str(value), self.choices, param.opts[0])
        return super().convert(value, param, ctx)


class Number(click.FloatRange):
    """A number in a range; another text raises UnknownNameError."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> float:
        """Return the number."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            raise _out_of_range(self, value, param) from None


class Whole(click.IntRange):
    """A whole number in a range; another text raises UnknownNameError."""

    name = "whole number"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> int:
        """Return the number."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            raise _out_of_range(self, value, param) from None


def _out_of_range(kind: Number | Whole, value: Any, param: click.Parameter) -> UnknownNameError:
    bounds = f" above {kind.min}" if kind.min_open else f" of at least {kind.min}"
    if kind.max is not None:
        bounds = f" between {kind.min} and {kind.max}"
    message = f"expected a {kind.name}{bounds}, got {value}"
    usual = param.to_info_dict()["default"]
    example = max(1, kind.min or 0) if usual is None else usual
    return UnknownNameError(Problem(param.opts[0], message, fix=f"write {param.opts[0]} {example}"))


def setting(model: type, field: str, *names: str, help: str, **settings: Any) -> Option[Any]:
    """Return the option of a field of a settings model, with its choices, range and default."""
    takes = parameters_of(model)[field]
    kind: Any = NearestChoice(takes.choices) if takes.choices else takes.type
    if takes.type is int:
        limits = takes.range or Range()
        high = None if limits.high in (None, MOST) else int(limits.high)
        kind = Whole(int(limits.low or 0), high)
    elif takes.type is float and takes.range:
        kind = Number(takes.range.low, takes.range.high, takes.range.open, takes.range.open)
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
    """Return an option that takes a whole number of at least `least`."""
    return click.option(*names, metavar="N", type=Whole(least), help=help, **settings)


def path(*names: str, metavar: str, help: str, **settings: Any) -> Option[Any]:
    """Return an option that takes a file or folder."""
    return click.option(*names, metavar=metavar, type=Path, help=help, **settings)


def many(*names: str, metavar: str, help: str, **settings: Any) -> Option[Any]:
    """Return an option that may be repeated."""
    help = f"{help}; repeatable."
    return click.option(*names, metavar=metavar, help=help, multiple=True, **settings)


def metrics(help: str) -> Option[Any]:
    """Return ``--metric``."""
    return many("--metric", "-m", "metrics", metavar="METRIC", help=help)


def text(name: str, metavar: str, help: str) -> Option[Any]:
    """Return an option that takes text, empty by default."""
    return click.option(name, metavar=metavar, default="", show_default=False, help=help)


def argument(name: str, metavar: str, help: str, **settings: Any) -> Option[Any]:
    """Return an argument."""
    return click.argument(name, metavar=metavar, help=help, **settings)


def several(
    name: str, metavar: str, help: str, required: bool = True, **settings: Any
) -> Option[Any]:
    """Return an argument that takes one word or more, or none if it is not required."""
    return argument(name, metavar, help, nargs=-1, required=required, **settings)


def format_option(
    *words: str, default: str | None = None, help: str = "Format of the output."
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


results = argument("results", "RESULTS", "A folder that 'harness run' wrote.", type=Path)
overrides = many("--set", "overrides", metavar="KEY=VALUE", help="Set a key of a config")
_SORT = "Sort rows by this metric; 'none' keeps their order."
sort = click.option("--sort", metavar="METRIC", help=_SORT)
workers = joined(
    whole("--jobs", "-j", least=1, default=1, help="Number of worker processes."),
    click.option(
        "--scheduler", metavar="ADDRESS", help="Address of a Dask scheduler with workers."
    ),
    whole(
        "--worker-timeout", least=1, help="Stop after N seconds without a worker, by default 600."
    ),
)
inputs = path("--inputs", metavar="FOLDER", help="The config's folder, if it or RESULTS was moved.")
_WEIGHTS = "Query weights, CSV or Parquet: FILE or FILE:COLUMN."
grouping = joined(
    click.option("--groups", metavar="FILE", help="Groups of queries, CSV or Parquet, with qid."),
    click.option("--weights", metavar="FILE", help=_WEIGHTS),
)


fusion = joined(
    click.option("--fuse", metavar="METHOD", help="Add a fused run: 'rrf' or 'combsum(norm=z)'."),
    path("--write", metavar="FILE", help="Write the fused run to a file, cut at --depth."),
)


def baselines(help: str) -> Option[Any]:
    """Return ``--baseline``, which may be repeated."""
    return many("--baseline", "-b", "baselines", metavar="RUN", help=help)


def _test(help: str, **settings: Any) -> Option[Any]:
    return setting(Plan, "test", "--test", "-t", metavar="TEST", help=help, **settings)


comparison = joined(
    baselines("Repeat the comparisons with this baseline"),
    _test("Repeat the comparisons with this test.", default=None),
    setting(Plan, "correction", default=None, help="Repeat the comparisons with this correction."),
)
PLAN = ("baselines", "test", "correction", "level")
"""The parameters of `plan`."""
_SHARE = Number(0, 1, min_open=True, max_open=True)
persistence = click.option(
    "--persistence", "p", metavar="P", default=0.9, help="Persistence of RBO.", type=_SHARE
)
_LEVEL = "An adjusted p-value up to this is significant."


def plan(help_of_baseline: str) -> Option[Any]:
    """Return the options of a plan of comparisons; see `pop_plan`."""
    return joined(
        baselines(help_of_baseline),
        _test("A test, such as randomization."),
        setting(Plan, "correction", help="Correct p-values for several comparisons."),
        setting(Plan, "level", metavar="ALPHA", help=_LEVEL),
    )


def pop_plan(settings: dict[str, Any], choices: Mapping[str, Any]) -> Plan:
    """Return the plan of comparisons, and remove its options from the parameters of a command.

    `choices` are further keys of a config's `compare:`.
    """
    return Plan(**{name: settings.pop(name) for name in PLAN}, **choices)


def with_defaults(plan: Plan, configured: Plan | None, choices: Collection[str]) -> Plan:
    """Return a plan with a config's settings for options and `choices` that are not given."""
    names = ("test", "correction", "family", "level", "interval", "draws", "seed")
    left_out = (name for name in names if name not in choices and not is_given(name))
    changes = {name: getattr(configured, name) for name in left_out} if configured else {}
    return replace(plan, **changes)


def check_correction(test: str, choices: Collection[str]) -> None:
    """Raise UnknownNameError if a correction is given with a test of all pairs."""
    if is_given("correction") or "family" in choices:
        from ..stats.registry import check_corrected  # loads SciPy

        check_corrected(test, "--correction" if is_given("correction") else "--set compare.family")


def is_given(name: str) -> bool:
    """Whether the command line has the option of a parameter."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def sections(
    overrides: Sequence[str], keys_of: Mapping[str, Collection[str]]
) -> dict[str, dict[str, Any]]:
    """Return the keys that `--set SECTION.KEY=VALUE` sets, by the sections of a config.

    `keys_of` has the keys of each section that a command has; those with an option are refused.
    """
    from ..config import yaml_file  # which a command without --set skips

    parameters = click.get_current_context().command.params
    own = {str(parameter.name): parameter.opts[0] for parameter in parameters}
    chosen: dict[str, dict[str, Any]] = {name: {} for name in keys_of}
    known = {f"{name}.{key}": own.get(key) for name, keys in keys_of.items() for key in keys}
    known |= dict.fromkeys(known.keys() & _WITHOUT_OPTION)
    for text in overrides:
        key, _, value = map(str.strip, text.partition("="))
        if key not in known or known[key]:
            raise UnknownNameError(_wrong_key(key, value, known))
        source = yaml_file.parse_yaml("{}", "--set")
        yaml_file.override_values(source, [text])
        if source.problems:
            raise UnknownNameError(source.problems)
        for section, keys in source.data.items():
            chosen[section] |= keys
    if any(chosen.get(section) for section in KEYS_OF_FILES):
        _check_entries(chosen)
    return chosen


def _wrong_key(key: str, value: str, known: Mapping[str, str | None]) -> Problem:
    """Return the problem of a key that is misspelt, or has an option; `known` has the options."""
    section, _, last = key.rpartition(".")
    inside = [name for name in known if name.startswith(section)] or known
    names = {name.rpartition(".")[2]: name for name in inside}
    near = names.get(nearest(last, names), "")
    fix = f"write --set {near}={value}" if near else fix_of_name(key, inside)
    if option := known.get(near):
        is_plain = re.fullmatch(r"[\w.+-]+", value) and value != "true"
        fix = f"write {option} {value}" if is_plain else f"write {option}"
    message = f"{key} is an option of this command" if key in known else f"unknown key '{key}'"
    return Problem("--set", message, fix=fix)


def _check_entries(chosen: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise UnknownNameError if a key of `KEYS_OF_FILES` has a wrong value."""
    from pydantic import ValidationError

    from ..config.load import fix_of_choice, wrong_value
    from ..config.model import DatasetEntry, RunEntry

    for section, entry in (("dataset", DatasetEntry), ("run", RunEntry)):
        try:
            entry.model_validate({"path": "", **chosen[section]})
        except ValidationError as errors:
            error = errors.errors()[0]
            where = f"--set {section}.{error['loc'][0]}"
            problem = Problem(where, wrong_value(error), fix=fix_of_choice(error))
            raise UnknownNameError(problem) from None


def settings_of_files(keys: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the parameters of `options_of_files` that have keys of `KEYS_OF_FILES`."""
    dataset = {"duplicates": "error", **keys.get("dataset", {})}
    names = {"columns": "qrels_columns", "duplicates": "qrels_duplicates"}
    return {**{names.get(key, key): value for key, value in dataset.items()}, **keys["run"]}


teams = text("--teams", "FILE|RE", "CSV of run and team, or a pattern on its name.")


def _format_of(option: str, files: str) -> Option[Any]:
    return click.option(
        option, metavar="FORMAT", help=f"Format of {files}, if it cannot be detected."
    )


def _read_columns(context: object, parameter: object, texts: Texts) -> dict[str, str | int] | None:
    return columns_in(texts) or None


def columns_in(texts: Texts) -> dict[str, str | int]:
    """Return the column of each role, a name or a number from 1; a name may be in quotes.

    >>> columns_in(("qid=1,score=a=b,c", "score='2'"))
    {'qid': 1, 'score': '2'}
    """
    columns: dict[str, str | int] = {}
    for text in texts:
        for part in re.findall(r"((?:'[^']*'|\"[^\"]*\"|.)+?)(?:,\s*(?=\w+\s*=)|$)", text):
            role, _, column = map(str.strip, part.partition("="))
            check_known("column", role, ROLES, "--columns")
            is_number = column.isascii() and column.isdigit()
            if not column or (is_number and not int(column)):
                message = f"{role}: expected a name or a number from 1, got '{column}'"
                fix = f"write --columns {role}=3 or --columns {role}=NAME"
                raise UnknownNameError(Problem("--columns", message, fix=fix))
            columns[role] = int(column) if is_number else re.sub(r"^(['\"])(.*)\1$", r"\2", column)
    return columns


ROLES = ("qid", "docno", "score", "rank", "grade", "row")
_COLUMNS = "Columns of runs, by name or number: qid=1"
_LOWER = "The lowest score is best in all runs, as for distances."
lower_is_better = click.option(
    "--lower-is-better",
    "order",
    flag_value="ascending",
    default="descending",
    help=_LOWER,
    show_default=False,
)
run_files = joined(
    _format_of("--run-format", "the runs"),
    many("--columns", metavar="ROLE=COLUMN,...", help=_COLUMNS, callback=_read_columns),
    lower_is_better,
)
"""Options of `options_of_files` for runs that name their documents."""
files = joined(
    _format_of("--qrels-format", "QRELS"),
    run_files,
)
"""Options of `options_of_files`; `--set` gives the others, see `settings_of_files`."""
_RELEVANT = "Smallest grade that is relevant, such as 2 (usually 1)."
_TOOL = "Compute every metric as this tool does."
_DEPTH = "Look at the first N documents only (default: all)."
evaluation = joined(
    click.option(
        "--relevance-level", "-l", metavar="N", type=Number(0, min_open=True), help=_RELEVANT
    ),
    setting(Policy, "depth", "--depth", "-M", metavar="N", help=_DEPTH),
    setting(Policy, "ties", metavar="ORDER", help="Order of tied scores, such as stable."),
    click.option("--convention", metavar="TOOL", help=_TOOL),
    files,
    many("--plugin", "-p", "plugins", metavar="PLUGIN", help="A .py file or module to load"),
    overrides,
)
"""Parameters for evaluating files without a config; see `harness.cli.evaluate.evaluate`."""


def pairs(
    option: str, texts: Sequence[str], known: Callable[[], Iterable[str]] = tuple
) -> list[tuple[str, str]]:
    """Return the pairs of texts such as OLD=NEW.

    A sign in parentheses or brackets, as in map(rel=2)=MAP, is OLD's; OLD may be in double quotes.
    If a text has several other signs, OLD is the longest of the `known` names.

    >>> pairs("--name", ("ndcg(gain=exp)@10=nDCG", "d [type=web]=Web", '"fold=1"=Fold 1'))
    [('ndcg(gain=exp)@10', 'nDCG'), ('d [type=web]', 'Web'), ('fold=1', 'Fold 1')]
    """
    names = {*known()} if any(len(signs_in(text)) > 1 for text in texts) else ()
    split = [split_assignment(text, names) for text in texts]
    for text, parts in zip(texts, split, strict=True):
        if not all(parts):
            is_column = option == "--where"
            form, example = ("NAME=VALUE", "seed=1") if is_column else ("OLD=NEW", "bm25=BM25")
            message = f"expected {form}, got '{text}'"
            raise UnknownNameError(Problem(option, message, fix=f"write {option} {example}"))
    return [(old.strip('"'), new) for old, new in split]


def allow(names: Collection[str], inputs: str) -> None:
    """Raise UnknownNameError if the command line has an option other than these."""
    command = click.get_current_context().command
    refuse([str(option.name) for option in command.params if option.name not in names], inputs)


def options_by_name() -> dict[str, str]:
    """Return the options on the command line by the names of their parameters.

    A key that `--set SECTION.KEY=VALUE` sets is an option with the name of its last part.
    """
    context = click.get_current_context()
    keys = [text.partition("=")[0].strip() for text in context.params.get("overrides", ())]
    options = {key.rpartition(".")[2]: f"--set {key}" for key in keys}
    given = [option for option in context.command.params if is_given(str(option.name))]
    return options | {str(option.name): option.opts[0] for option in given}


def refuse(names: Iterable[str], inputs: str) -> None:
    """Raise UnknownNameError if the command line has one of these options, which do not apply."""
    options = options_by_name()
    for name in names:
        if name in options:
            message = f"{options[name]} is not for {inputs}"
            raise UnknownNameError(message, fix=f"leave {options[name]} out")
