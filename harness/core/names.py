"""The grammar of metric names: text to metrics; and the metrics that runs are compared by.

``name``, ``name@10``, ``name(param=value,...)@10``, a list of cutoffs (``ndcg@1,3,5``),
trec_eval's spellings (``ndcg_cut_10``, ``P.5,10``, ``official``), ir_measures' (``nDCG@10``) and
other tools' (``hit_rate@10``, in ``core.tool_names``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..errors import HarnessError, Problem, UnknownNameError, fix_of_name, nearest, unknown
from .arguments import TEXT, Parameter, check_arguments, wrong
from .metric import REGISTRY, TREC_CUT, Definition, Metric
from .policy import Policy
from .ragged import Floats
from .settings import NEEDED, PARAMETERS, WHOLE_LIST, MetricSettings, find_convention
from .tool_names import in_our_words

NAMES = ("min", "expected", "max")
BOUNDS = "bounds"
"""The value of ``ties`` for bounds."""


def bound(metric: Metric, name: str) -> Metric:
    """Return a metric for the smallest, expected or largest value over orders of ties.

    Its label is the metric's name with "min", "expected" or "max" at its end.
    """
    smallest, largest = ("best", "worst") if metric.sign < 0 else ("worst", "best")
    ties = {"min": smallest, "expected": "average", "max": largest}[name]
    return replace(metric, settings=replace(metric.settings, ties=ties), label=f"{metric}_{name}")


def metric_name(text: str) -> str:
    """Return the canonical name of a metric, as in CSV, JSON lines and columns of tables.

    Raises
    ------
    UnknownNameError
        If there is no such metric, or `text` means several metrics.

    >>> metric_name("rr@10"), metric_name("NDCG@5")
    ('recip_rank@10', 'ndcg@5')
    """
    check_arguments(locals(), text=TEXT)
    metrics = parse(text)
    if len(metrics) != 1:
        names = ", ".join(map(str, metrics))
        raise UnknownNameError(Problem("metric", f"expected one metric, got '{text}': {names}"))
    return str(metrics[0])


def with_bounds(metrics: Iterable[Metric], policy: Policy) -> tuple[Metric, ...]:
    """Return the metrics, each followed by its bounds, but for those with ties of their own.

    If the best and the worst order of ties do not give a metric's extreme values under the
    policy, only the expected value follows.
    """
    followed: list[Metric] = []
    for metric in metrics:
        followed.append(metric)
        if metric.settings.ties is None or metric.convention is not None:
            names = NAMES if metric.is_bounded(policy) else ("expected",)
            followed += [bound(metric, name) for name in names]
    return tuple(dict.fromkeys(followed))


def unproven_bound(metric: Metric, policy: Policy) -> Problem | None:
    """Return the problem of ``map_min`` or ``map_max`` if orders by grade do not give it."""
    match = BOUND.fullmatch(metric.label or "")
    is_extreme = match is not None and metric.settings.ties in ("best", "worst")
    if match is None or not is_extreme or metric.is_bounded(policy):
        return None
    under = "" if policy.depth is None else f" at depth {policy.depth}"
    message = f"{metric}: expected a metric whose smallest and largest values over orders of ties"
    fix = f"write {match['metric']}_expected"
    return Problem("", f"{message} are known{under}, got {match['metric']}", fix=fix)


def without_bounds(ties: str) -> str:
    """Return the policy for ties that metrics are computed under, without their bounds."""
    return "trec_eval" if ties == BOUNDS else ties


_SPEC = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9_+-]*?)(?:\((?P<params>(?:[^()]|\([^()]*\))*)\))?(?:@(?P<cutoffs>[^@()]*))?"
)
COMMA = re.compile(r",\s*(?![^()]*\))")
"""A comma outside of parentheses."""
BOUND = re.compile(rf"(?P<metric>.+)[_ ](?P<bound>{'|'.join(NAMES)})")
_NUMBERS = re.compile(r"[._]([-.\d].*)")
NICKNAMES: dict[str, tuple[str, ...]] = {}
"""trec_eval's names for several measures, in its order."""
READERS_NAMES: dict[str, str] = {}
"""Names of metrics in tables and plots, for metrics whose title is a phrase or missing."""
READERS_PARAMETERS: dict[str, str] = {}
"""Words for parameters in these names; a value has none if its word is empty."""
_SETTINGS = {field.name for field in fields(MetricSettings)}
_DEFAULT_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


class _Spec(NamedTuple):
    """The parts of a metric's name: definition, parameters and cutoffs."""

    definition: Definition
    given: dict[str, Any]
    cutoffs: list[float]


def parse(text: str, defaults: Mapping[str, Any] | None = None) -> list[Metric]:
    """Return the metrics that one name stands for.

    >>> import harness.metrics
    >>> [str(m) for m in parse("ndcg_cut_10")], [str(m) for m in parse("P.5,10")]
    (['ndcg@10'], ['P@5', 'P@10'])
    >>> [str(m) for m in parse("ndcg.1=3,2=9")]
    ['ndcg(gains=1:3;2:9)']
    >>> [str(m) for m in parse("AP(rel=2)@100")]
    ['map(rel=2)@100']
    """
    defaults, definitions = defaults or {}, tuple(REGISTRY.values())
    return [*_parsed(text.strip(), tuple(defaults.items()), definitions)]


@lru_cache(1024)
def _parsed(
    text: str, defaults: tuple[tuple[str, Any], ...], definitions: tuple[Definition, ...]
) -> Sequence[Metric]:
    """Return the metrics of one name, parsed once for the same registry."""
    given = dict(defaults)
    if text not in REGISTRY and (match := BOUND.fullmatch(text)) is not None:
        return [bound(metric, match["bound"]) for metric in parse(match["metric"], given)]
    if text in NICKNAMES:
        return [metric for name in NICKNAMES[text] for metric in parse(name, given)]
    if (ours := in_our_words(text, _is_ours)) is not None:
        return parse(ours, given)
    stem, at, cutoff = text.partition("@")
    stems = [name for name, shown in READERS_NAMES.items() if shown == stem]
    spec = _read(f"{stems[-1 if at else 0]}{at}{cutoff}" if stems else text)
    if spec is None:
        raise UnknownNameError(_unknown(text))
    try:
        return _metrics(spec, given)
    except UnknownNameError as error:
        problems = [
            replace(
                problem, where="", what=": ".join(filter(None, (text, problem.where, problem.what)))
            )
            for problem in error.problems
        ]
        raise UnknownNameError(problems) from None


def parse_all(
    texts: Iterable[str | Metric], defaults: Mapping[str, Any] | None = None
) -> tuple[Metric, ...]:
    """Return the metrics that several names stand for, each once, in order."""
    metrics: dict[str, Metric] = {}
    known, problems = (tuple((defaults or {}).items()), tuple(REGISTRY.values())), []
    if isinstance(texts, (str, Metric)):
        texts = [texts]
    if not isinstance(texts, Iterable) or isinstance(texts, bytes):
        raise wrong("metrics", "a list of metric names", texts, "write ['map', 'ndcg@10']")
    if (convention := (defaults or {}).get("convention")) not in (None, "none"):
        find_convention(convention, "convention")
    for position, text in enumerate(texts):
        if type(text).__module__.startswith("ir_measures"):
            text = str(text)
        if not isinstance(text, (str, Metric)):
            raise wrong(f"metrics[{position}]", "the name of a metric", text, "write 'ndcg@10'")
        try:
            parsed = [text] if isinstance(text, Metric) else _parsed(text.strip(), *known)
        except UnknownNameError as error:
            problems += [replace(one, where=one.where or "metrics") for one in error.problems]
            continue
        metrics.update((str(metric), metric) for metric in parsed)
    if problems:
        raise UnknownNameError(problems)
    return tuple(metrics.values())


def known_names() -> list[str]:
    """Return every name that a metric can be called by, nicknames included."""
    aliases = [alias for definition in REGISTRY.values() for alias in definition.aliases]
    return [*REGISTRY, *aliases, *TREC_CUT, *NICKNAMES]


def each_cutoff(name: str) -> list[str]:
    """Return a name for each cutoff of a list of them."""
    match = re.fullmatch(r"(.+@)(\d+(?:\s*,\s*\d+)+)", name.strip())
    return [match[1] + cutoff.strip() for cutoff in match[2].split(",")] if match else [name]


def _read(text: str) -> _Spec | None:
    """Return the definition, parameters and cutoffs in a name; None if no metric has it."""
    match = _SPEC.fullmatch(text)
    if match is not None and (definition := _lookup(match["name"])) is not None:
        params = _read_params(definition, match["params"], text)
        cutoffs = _read_cutoffs(definition, match["cutoffs"], text)
        if match["name"] in TREC_CUT and not cutoffs:
            cutoffs = list(_DEFAULT_CUTOFFS)
        return _Spec(definition, params, cutoffs)
    if match is None or (match["params"] is None and match["cutoffs"] is None):
        return _read_trec(text)
    return None


def _lookup(name: str) -> Definition | None:
    name = TREC_CUT.get(name, name)
    if name in REGISTRY:
        return REGISTRY[name]
    return next((d for d in REGISTRY.values() if name in d.aliases), None)


def _is_ours(name: str) -> bool:
    return _lookup(name) is not None


def _read_trec(text: str) -> _Spec | None:
    """Read ``ndcg_cut_10``, ``P.5,10``, ``set_F.0.5``: a known trec_eval name, then parameters."""
    bases = {d.trec_name for d in REGISTRY.values() if d.trec_name} | set(TREC_CUT)
    for base in sorted(bases, key=lambda base: -len(base)):
        match = _NUMBERS.fullmatch(text, len(base)) if text.startswith(base) else None
        definition = _lookup(base) if match else None
        if match is None or definition is None:
            continue
        gains = next((param for param in definition.parameters.values() if param.pairs), None)
        if "=" in match[1] and gains is not None and base not in TREC_CUT:
            return _Spec(definition, {gains.name: gains.parse(match[1], text)}, [])
        if definition.needs_cutoff or base in TREC_CUT:
            return _Spec(definition, {}, _read_cutoffs(definition, match[1], text))
        if definition.trec_parameter is not None:
            parameter = definition.parameters[definition.trec_parameter]
            return _Spec(definition, {parameter.name: parameter.parse(match[1], text)}, [])
        ours = f"{definition.name}@{match[1]}" if definition.cutoff else definition.name
        message = f"{text}: trec_eval's {base} takes no number"
        raise UnknownNameError(message, fix=f"write {ours}")
    return None


def _read_params(definition: Definition, inside: str | None, text: str) -> dict[str, Any]:
    params: dict[str, Any] = {}
    parameters = [name for name in definition.parameters if name != "cutoff"]
    readable = {**PARAMETERS, **definition.parameters}
    for item in filter(None, (part.strip() for part in (inside or "").split(","))):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            message = f"{text}: expected name=value, got '{item}'"
            fitting = [n for n in (*parameters, *PARAMETERS) if _takes(readable[n], item)]
            written = f"{fitting[0]}={item}" if fitting else "rel=2"
            fix = f"write {text.replace(item, written, 1)}"
            raise UnknownNameError(message, fix=fix)
        if name in params:
            message = f"{text}: expected each parameter once, got {name} twice"
            raise UnknownNameError(message, fix="remove one of them")
        if name not in (*parameters, *PARAMETERS):
            message = f"{text}: {definition.name} has no parameter '{name}'"
            fix = fix_of_name(name, [*parameters, *PARAMETERS])
            raise UnknownNameError(message, fix=fix)
        params[name] = readable[name].parse(value, text)
    return params


def _takes(parameter: Parameter, text: str) -> bool:
    """Whether a text is a value of a parameter, and not only because that takes any text."""
    try:
        parameter.parse(text, "")
    except UnknownNameError:
        return False
    return bool(parameter.choices) or parameter.type is not str


def _read_cutoffs(definition: Definition, cutoffs: str | None, text: str) -> list[float]:
    if cutoffs is None:
        return []
    if definition.cutoff is None:
        message = f"{text}: {definition.name} takes no cutoff"
        fix = f"write {text.rpartition('@')[0] or definition.name}"
        raise UnknownNameError(message, fix=fix)
    return [definition.cutoff.parse(item, text) for item in cutoffs.split(",")]


def _metrics(spec: _Spec, defaults: dict[str, Any]) -> list[Metric]:
    """Return a metric for each cutoff; written values precede the convention and the defaults."""
    definition, chosen, cutoffs = spec
    kept = {"rel"} & {*chosen}  # a threshold that is written may be the usual 1
    for name, value in defaults.items():
        if name in definition.parameters and not chosen.get("reference"):
            chosen.setdefault(name, int(value) if name == "rel" and value == int(value) else value)
    convention = chosen.pop("convention", defaults.get("convention"))
    usual: dict[str, Any] = {}
    if convention == "none":
        convention = None
    if convention is not None:
        tool = find_convention(convention)
        convention, usual = tool.name, tool.of(definition.name)
        for name, value in chosen.items():
            usual |= tool.variants.get(f"{definition.name}({name})", {})
            usual |= tool.variants.get(f"{definition.name}({name}={value})", {})
        if cutoffs and usual.get("cutoff") == WHOLE_LIST:
            message = f"{tool.tool} has {definition.name} of the whole list only"
            raise UnknownNameError(message, fix="leave out the cutoff")
        chosen = {
            name: value
            for name, value in chosen.items()
            if name not in usual or usual[name] != value  # None can be given, as max_grade=none
        }
        rule = usual.get("grades")
        if rule is not None and (rule.low, rule.high) != (None, None) and defaults.get("labels"):
            chosen.setdefault("labels", defaults["labels"])
    cutoffs = cutoffs or _usual_cutoffs(definition, usual)
    values, rule = {**usual, **chosen}, usual.get("grades")
    if "rel" in chosen and rule is not None and rule.high == 1:
        # The tool takes relevant or not, and the level says which grades are.
        usual["grades"] = replace(rule, relevant_from=values.pop("rel"), whole=False)
    definition_params = {
        name: values.get(name, parameter.default)
        for name, parameter in definition.parameters.items()
    }
    params = tuple(
        (name, definition_params[name])
        for name, parameter in definition.parameters.items()
        if name != "cutoff"
        and (parameter.shown or definition_params[name] != parameter.default or name in kept)
    )
    if definition.check is not None:
        definition.check(**{**values, "cutoff": max(cutoffs, default=None)})
    settings = MetricSettings()
    for layer in (usual, chosen):
        settings = settings.with_values({n: value for n, value in layer.items() if n in _SETTINGS})
    written = {**definition.parameters, **PARAMETERS}
    texts = [(name, written[name].text(value)) for name, value in chosen.items() if convention]
    cuts: list[float | None] = [*cutoffs] or [None]
    return [Metric(definition, cut, params, settings, convention, tuple(texts)) for cut in cuts]


def _usual_cutoffs(definition: Definition, usual: dict[str, Any]) -> list[float]:
    """Cutoffs of a bare name: the convention's, removed from `usual`, or the metric's own."""
    cutoff = usual.pop("cutoff", None)
    if cutoff == NEEDED:
        message = "expected a cutoff: the tool has no default"
        raise UnknownNameError(message, fix="add one, such as @10")
    if cutoff not in (None, WHOLE_LIST):
        return list(cutoff) if isinstance(cutoff, tuple) else [cutoff]
    if definition.needs_cutoff and not definition.cutoffs:
        fix = f"write {definition.name}@10"
        raise UnknownNameError("expected a cutoff", fix=fix)
    return list(definition.cutoffs) if definition.needs_cutoff else []


def _unknown(text: str) -> Problem:
    """Return the message for a text that names no metric, with the name that it is near to."""
    match = re.fullmatch(r"([A-Za-z0-9][\w+-]*?)(\(.*\))?([._@][\d.,]+)?@?", text)
    if match is None:
        if len(names := COMMA.split(text)) > 1 and all(map(readable, names)):
            message = f"expected one metric, got {len(names)}: {text}"
            return Problem("", message, fix=f"write {names}")
        fix = "write name, name@10 or name(param=value)@10, and each metric separately"
        if moved := re.fullmatch(r"(\w+)(@[\d,.]+)(\(.*\))", text):  # map@10(rel=2)
            fix = f"write {moved[1]}{moved[3]}{moved[2]}"
        return Problem("", f"cannot read the metric '{text}'", fix=fix)
    name, _, end = match.groups("")
    stem = name if end else name.rstrip("0123456789")  # of NDCG10
    cut = end or name[len(stem) :]
    near_name = nearest(stem, known_names())
    for candidate in (
        (f"{near_name}{cut}", f"{near_name}@{cut.lstrip('._@')}") if near_name and cut else ()
    ):
        with suppress(UnknownNameError):
            if _read(candidate) is not None:
                near_name = candidate
                break
    fix = fix_of_name(near_name, [near_name] if near_name else [], "harness metrics")
    return Problem("", f"unknown metric '{name}{end}'", fix=fix)


def over_same_queries(metric: Metric, runs: Iterable[tuple[pa.Array, Floats]]) -> bool:
    """Whether the summaries of several runs, (qids, values) each, are over the same queries.

    Undefined values (NaN) count as the metric's setting `undefined` says. Runs without any value
    are left out.
    """
    defined = [(qids, np.isnan(values)) for qids, values in runs]
    defined = [(qids, undefined) for qids, undefined in defined if not undefined.all()]
    is_counted = metric.settings.undefined not in (None, "skip")
    return all(
        qids.equals(defined[0][0]) and (is_counted or np.array_equal(undefined, defined[0][1]))
        for qids, undefined in defined[1:]
    )


def why_not(metric: Metric) -> str:
    """Return the reason why runs cannot be compared by a metric; empty if they can."""
    definition = metric.definition
    if definition.summary == "sum":
        return "it is a sum over the queries, not a mean"
    if definition.summary == "gm":
        return "its values are logarithms, summarised by a geometric mean"
    if definition.summary == "median":
        return "its summary is a median, and tests are of means"
    if definition.direction is None:
        return "it has no better and no worse"
    if metric.is_weighted:
        return "its queries have different weights"
    return ""


def check_comparable(metric: Metric) -> None:
    """Raise UnknownNameError if runs cannot be compared by a metric."""
    if reason := why_not(metric):
        message = f"runs cannot be compared by {metric}: {reason}"
        raise UnknownNameError(message, fix="choose another metric, such as ndcg@10")


def first_with_direction(metrics: Iterable[Metric]) -> Metric | None:
    """Return the first metric that has a better and a worse."""
    return next((metric for metric in metrics if metric.definition.direction is not None), None)


def compared(metrics: Sequence[Metric], names: Sequence[str] = ()) -> tuple[Metric, ...]:
    """Return the evaluated `metrics` that runs are compared by.

    `names` may have any spelling and may leave out settings that all metrics share; without names
    it is every metric that can be compared, without the bounds of ties. Raises UnknownNameError
    for a name that was not evaluated or cannot be compared.
    """
    if not names:
        return tuple(metric for metric in metrics if not why_not(metric) and not is_bound(metric))
    by_name = {str(metric): metric for metric in metrics}
    comparable, spellings = dict[Metric, None](), metric_spellings(by_name)
    for name in chain.from_iterable(map(each_cutoff, names)):
        matching = [name] if name in by_name else spellings(name)
        if not matching:
            raise unknown("metric", name, by_name, "metrics")
        metric = by_name[matching[0]]
        check_comparable(metric)
        comparable[metric] = None
    return tuple(comparable)


def is_bound(metric: Metric) -> bool:
    """Whether a metric is a bound, or the expected value, over orders of ties."""
    return metric.label is not None and metric.label.endswith(tuple(f"_{name}" for name in NAMES))


def shown_name(name: str) -> str:
    """Return the reader's name of a metric that is known by its name alone.

    >>> import harness.metrics
    >>> shown_name("ndcg@10"), shown_name("Fold 1 MAP")
    ('nDCG@10', 'Fold 1 MAP')
    """
    with suppress(HarnessError):
        metrics = parse(name)
        if [name] == [*map(str, metrics)]:
            return spelled(metrics[0])
    return name


def spelled(metric: Metric, among: Sequence[Metric] | None = None) -> str:
    """Return the reader's name of a metric, in tables and plots.

    Parameters follow in parentheses; with `among`, only if one of these metrics has the same name
    without them.

    >>> from harness.core.names import parse_all
    >>> metrics = parse_all(["map", "ndcg@10", "ndcg(gain=exp)@10", "recall@1000", "rr@10"])
    >>> [spelled(metric, metrics) for metric in metrics]
    ['MAP', 'nDCG@10', 'nDCG@10 (exp)', 'R@1000', 'MRR@10']
    >>> spelled(metrics[2]), spelled(metrics[2], metrics[2:])
    ('nDCG@10 (exp)', 'nDCG@10')
    """
    name, others = _plainly_spelled(metric), [] if among is None else among
    inside = "" if metric.label else str(metric).partition("(")[2].rpartition(")")[0]
    parameters = ", ".join(map(_parameter_in_words, filter(None, _PARAMETER.split(inside))))
    is_unique = [_plainly_spelled(other) for other in others].count(name) < 2
    return name if not parameters or (among is not None and is_unique) else f"{name} ({parameters})"


_PARAMETER = re.compile(r",(?=\w+=)")


def _plainly_spelled(metric: Metric) -> str:
    definition, title = metric.definition, metric.definition.title
    if metric.label is not None:
        bound = BOUND.fullmatch(metric.label)
        return metric.label if bound is None else f"{shown_name(bound['metric'])} {bound['bound']}"
    if not isinstance(title, str) or title == title.lower() or " " in title:
        title = definition.name
    name = READERS_NAMES.get(definition.name, title)
    if metric.cutoff is None or definition.cutoff is None:
        return name
    return f"{name}@{definition.cutoff.text(metric.cutoff)}"


def _parameter_in_words(text: str) -> str:
    """Return a parameter as a heading has it.

    >>> import harness.metrics
    >>> [*map(_parameter_in_words, ["gain=exp", "rel=2", "normalize=true", "p=0.8"])]
    ['exp', 'grades ≥ 2', 'normalised', 'p = 0.8']
    """
    name, _, value = text.partition("=")
    if name == "rel":
        return f"grades ≥ {value}"
    word = READERS_PARAMETERS.get(name, name)
    if not word or name == "convention":
        return value
    if value in ("true", "false"):
        return word if value == "true" else f"not {word}"
    return f"{value} {word}" if value.isalpha() else f"{word} = {value}"


def metric_spellings(known: Iterable[str]) -> Callable[[str], list[str]]:
    """Return a function that finds metrics of `known` by any spelling (``ndcg_cut_10``).

    Settings that all metrics have (``relevance_level: 2``, ``convention: lightgbm``) may be left
    out: the name then means the one metric that is the same but for them.

    >>> import harness.metrics
    >>> metric_spellings(["ndcg@5", "ndcg@10"])("ndcg_cut_10")
    ['ndcg@10']
    >>> known = metric_spellings(["map(rel=2)", "ndcg(gain=exp)@10"])
    >>> known("AP"), known("ndcg@10"), known("nDCG@10 (exp)")
    (['map(rel=2)'], [], ['ndcg(gain=exp)@10'])
    """
    metrics = {name: next(iter(readable(name)), None) for name in known}

    def find(text: str) -> list[str]:
        asked = readable(text)
        equal = [name for name in map(str, asked) if name in metrics]
        equal = equal or [name for name in metrics if shown_name(name) == text]
        if equal or not asked or asked[0] != Metric(asked[0].definition, asked[0].cutoff):
            return equal
        like = [n for n, own in metrics.items() if own and _is_but_for_settings(own, asked[0])]
        return like if len(like) == 1 else []

    return find


def readable(text: str) -> list[Metric]:
    """Return the metrics that a text means; none if it cannot be read."""
    try:
        return parse(text)
    except (UnknownNameError, ValueError):
        return []


def _is_but_for_settings(metric: Metric, asked: Metric) -> bool:
    parameters = {name for name, _ in metric.params} - {"rel"}  # gain=exp makes another metric
    is_same = (metric.definition, metric.cutoff) == (asked.definition, asked.cutoff)
    return is_same and metric.label is None and (metric.convention is not None or not parameters)


def folded(name: str) -> str:
    """Return the same text for two names that some system takes for one file."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def distinct(stems: Iterable[str]) -> list[str]:
    """Return the stems, with a number after those that are taken already in any case."""
    names: dict[str, str] = {}
    for stem in stems:
        name, number = stem, 1
        while folded(name) in names:
            number += 1
            name = f"{stem}-{number}"
        names[folded(name)] = name
    return list(names.values())


def tracker_names(names: list[str]) -> list[str]:
    """Return names of metrics as trackers accept them, all different.

    >>> tracker_names(["ndcg@10", "rbo(p=0.9)", "rbo(p_0.9)"])
    ['ndcg_at_10', 'rbo_p_0.9', 'rbo_p_0.9-2']
    """
    plain = (name.replace("@", " at ") for name in names)
    return distinct([re.sub(r"[^\w.-]+", "_", name).strip("_") for name in plain])
