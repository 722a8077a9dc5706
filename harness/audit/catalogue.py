"""The metrics and the conventions as text: the lists, and what one of them is."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import metrics as metrics  # which registers them
from ..core.convention import CONVENTIONS, NEEDED, WHOLE_LIST, Convention, find
from ..core.metric import REGISTRY, Definition, Metric
from ..core.names import NICKNAMES, known_names, parse
from ..core.policy import TIES, GradeRule, Policy
from ..core.settings import PARAMETERS, Parameter
from ..errors import UnknownNameError, did_you_mean
from ..reports.text import columns, wrapped

_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)


def sections(function: Callable[..., Any]) -> dict[str, str]:
    """Return the text under each heading of a function's docstring; what comes first under ``""``.

    Roles and backticks are taken out.

    >>> def function(x):
    ...     '''Twice `x`.
    ...
    ...     Returns
    ...     -------
    ...     int
    ...     '''
    >>> sections(function)
    {'': 'Twice x.', 'Returns': 'int'}
    """
    first, *others = _HEADING.split(plain(inspect.getdoc(function) or ""))
    pairs = zip(others[::2], others[1::2], strict=True)
    return {"": first.strip(), **{name: text.strip() for name, text in pairs}}


def entries(section: str) -> dict[str, str]:
    """Return what a section says of each name, as one paragraph.

    >>> entries("rel, top : int\\n    Grades\\n    of it.\\nk : int\\n    Depth.")
    {'rel': 'Grades of it.', 'top': 'Grades of it.', 'k': 'Depth.'}
    """
    found = {}
    for match in re.finditer(r"^(\S.*)((?:\n(?:[ ]+.*)?)*)", section, re.M):
        for name in match[1].split(" : ")[0].split(", "):
            found[name] = " ".join(match[2].split())
    return found


def plain(text: str) -> str:
    """Return text without the marks of a docstring.

    >>> plain("``cut`` as `short`; see :func:`~harness.rbo_weight`")
    'cut as short; see rbo_weight'
    """
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", text)
    return re.sub(r"``?([^`]+)``?", r"\1", text)


WIDTH = 98


def _paragraph(text: str, indent: int, hanging: int = 0) -> list[str]:
    return wrapped(text, WIDTH, indent, hanging)


def kind(rule: GradeRule) -> str:
    """Return which grades a rule accepts, in few words.

    >>> kind(GradeRule(0, 30)), kind(GradeRule(whole=False)), kind(GradeRule(0, truncate=True))
    ('whole grades 0 to 30', 'takes fractions', 'cuts fractions off, grades from 0')
    """
    text = "whole grades"
    if rule.fractions:
        text = "cuts fractions off" if rule.truncate else "takes fractions"
    if rule.low is None and rule.high is None:
        return text
    if rule.low is None or rule.high is None:
        bounds = f"from {rule.low}" if rule.high is None else f"up to {rule.high}"
    else:
        bounds = f"{rule.low} to {rule.high}"
    return f"{text}, grades {bounds}" if rule.fractions else f"{text} {bounds}"


def accepted(rule: GradeRule) -> str:
    """Return which grades a rule accepts, and what it makes of others.

    >>> accepted(GradeRule(0, 1, act="clip", documents=2))
    'whole grades 0 to 1, others clipped, queries of fewer than 2 documents: error'
    """
    texts = [kind(rule)]
    if rule.act == "clip":
        texts.append("others clipped")
    if rule.relevant_from is not None:
        texts.append(f"{rule.relevant_from} and above become 1, others 0")
    if rule.positive_scores:
        texts.append("documents scored 0 or below are not relevant")
    if rule.documents > 1:
        texts.append(f"queries of fewer than {rule.documents} documents: {rule.few}")
    return ", ".join(texts)


def cutoffs(value: Any) -> str:
    """Return what the bare name stands for.

    >>> cutoffs((1, 2, 3)), cutoffs(20), cutoffs("needed")
    ('@1,2,3', '@20', 'none: write one')
    """
    if value == NEEDED:
        return "none: write one"
    if value is None or value == WHOLE_LIST:
        return "whole list" if value is None else "whole list only"
    return "@" + ",".join(map(str, value if isinstance(value, tuple) else (value,)))


def in_words(definition: Definition, name: str, value: Any) -> str:
    """Return a parameter's or setting's value."""
    if isinstance(value, GradeRule):
        return accepted(value)
    if name == "cutoff":
        return cutoffs(value)
    if value is None or value == ():
        return "none"
    return {**definition.parameters, **PARAMETERS}[name].text(value)


_ARROWS = {"higher": "higher is better", "lower": "lower is better", None: "a count"}
_SUMMARIES = {
    "mean": "mean over queries",
    "sum": "sum over queries",
    "gm": "geometric mean over queries (values are logarithms)",
}
_KINDS = {int: "whole number", float: "number", bool: "true or false", str: "name"}
_ABOUT = {
    "convention": "all settings of one tool; what is written beside it stands over them",
    "ties": f"order of tied documents: {', '.join(TIES)}",
    "scores": "type that scores are compared in; none: not looked at, all are tied",
    "depth": "only so many documents of each query are looked at",
    "judged_only": "unjudged documents are taken out first",
    "labels": "grades outside the convention's bounds: an error, or the nearer bound",
    "empty": "value of a query without relevant documents",
    "few": "value of a query with fewer documents than the convention takes",
    "undefined": "an undefined value in the mean: left out, 0, or the mean is undefined too",
}


def spelling(definition: Definition) -> str:
    """Return how the metric is written, with its parameters' defaults.

    >>> from harness.core.metric import REGISTRY
    >>> spelling(REGISTRY["rbp"])[:10]
    'rbp(p=0.8,'
    """
    inside = ",".join(
        f"{name}={p.text(p.default) if p.default not in (None, ()) else '...'}"
        for name, p in definition.parameters.items()
        if name != "cutoff"
    )
    text = definition.name + (f"({inside})" if inside else "")
    if definition.cutoff is None:
        return text
    return f"{text}@k" if definition.needs_cutoff else f"{text}[@k]"


def define(definition: Definition) -> str:
    """Return a metric's title, formula, parameters and facts."""
    parts = sections(definition.function)
    title, _, formula = parts[""].partition("\n")
    lines = [f"{definition.name}: {title}"]
    for paragraph in formula.strip().split("\n\n") if formula.strip() else ():
        lines += ["", *paragraph.split("\n")]
    lines += ["", f"written      {spelling(definition)}"]
    about = entries(parts.get("Parameters", ""))
    if definition.parameters:
        lines += ["", "parameters"]
    for name, parameter in definition.parameters.items():
        lines += _paragraph(f"{name}: {_values(parameter)}", 2, 4)
        text = about.get(name, "the run that the ranking is compared to; the ideal order without")
        lines += _paragraph(text, 6)
    if "Notes" in parts:
        lines += ["", parts["Notes"]]
    low, high = definition.bounds
    values = re.sub(r"^ndarray[^\n]*\n?", "", parts.get("Returns", "")).split()
    facts = [
        ("also read", ", ".join(definition.aliases)),
        ("trec_eval", definition.trec_name or ""),
        ("direction", _ARROWS[definition.direction]),
        ("bounds", f"{low:g} to {high:g} {definition.unit}".rstrip()),
        ("values", " ".join(values)),
        ("summary", _SUMMARIES[definition.summary]),
        ("no relevant", _empty(definition)),
        ("source", definition.source),
    ]
    lines.append("")
    for name, value in facts:
        if value:
            lines += _paragraph(f"{name:<12} {value}", 0, 13)
    return "\n".join([*lines, ""])


def settings() -> str:
    """Return the settings that every metric takes beside its own parameters."""
    lines = ["settings of every metric, as the run's policy where they are not written"]
    for name, parameter in PARAMETERS.items():
        choices = f" ({', '.join(parameter.choice_texts)})" if parameter.choices else ""
        lines += _paragraph(f"{name}: {_ABOUT.get(name, parameter.type.__name__)}{choices}", 2, 4)
    return "\n".join([*lines, ""])


def _empty(definition: Definition) -> str:
    if definition.empty is None:
        return "no special case"
    return "undefined" if math.isnan(definition.empty) else f"{definition.empty:g}"


def _values(parameter: Parameter) -> str:
    """Return what a parameter can be, and its default."""
    if parameter.choices:
        kind = ", ".join(parameter.choice_texts)
    elif parameter.pairs:
        kind = "grade:number;grade:number..."
    else:
        kind = _KINDS[parameter.type] + ("s, as 1:0" if parameter.many else "")
    limits = f" in {parameter.range}" if parameter.range else ""
    default = parameter.default
    if default is inspect.Parameter.empty:
        return f"{kind}{limits}; has to be given"
    if default in (None, ()):
        whole = "the whole list" if parameter.name == "cutoff" else "none"
        return f"{kind}{limits}; default {whole}"
    return f"{kind}{limits}; default {parameter.text(default)}"


COMMON: Mapping[str, Any] = {
    "ties": Policy().ties, "scores": Policy().score_type, "grades": Policy().grades,
    "empty": None, "undefined": "skip", "depth": None, "judged_only": False,
}  # fmt: skip
"""The settings of every metric, as they are where nothing is said."""


def resolved(metrics: Sequence[Metric], policy: Policy | None = None) -> str:
    """Return the parameters and settings of what one name stands for, and where each is from.

    Parameters
    ----------
    metrics : sequence of Metric
        Of one definition, with different cutoffs.
    policy : Policy, optional
        That of a run; the default one where left out.
    """
    metric = metrics[0]
    definition, convention = metric.definition, metric.convention
    lines = [str(each) for each in metrics]
    if convention is not None:
        lines.append(f"as {CONVENTIONS[convention].tool} computes it")
    usual = set() if convention is None else {*CONVENTIONS[convention].of(definition.name)}
    usual |= {name for name, value in vars(metric.settings).items() if value is not None}
    usual |= {name for name, _ in metric.params}
    written, params = dict(metric.given), dict(metric.params)
    rows = []
    for name, parameter in definition.parameters.items():
        if name != "cutoff":
            value = params.get(name, parameter.default)
            is_written = name in written or (convention is None and name in params)
            origin = "written" if is_written else "the tool's" if name in usual else "default"
            rows.append([name, in_words(definition, name, value), origin])
    otherwise = "the run's policy, by default so" if policy is None else "the run's policy"
    for name, value in _common(metric, policy or Policy()).items():
        spellings = {name, "labels", "few"} if name == "grades" else {name}
        is_written = not spellings.isdisjoint(written) or (
            convention is None and getattr(metric.settings, name) is not None
        )
        origin = "written" if is_written else "the tool's" if name in usual else otherwise
        rows.append([name, value, origin])
    if definition.cutoff is not None:
        cutoffs = [each.cutoff for each in metrics if each.cutoff is not None]
        rows.append(["cutoff", ", ".join(f"{k:g}" for k in cutoffs) or "whole list", ""])
    table = columns([["  " + name, *rest] for name, *rest in rows], left=3)
    return "\n".join([*lines, "", table, ""])


def _common(metric: Metric, run: Policy) -> dict[str, str]:
    """Return the settings of every metric as they are in force under a run's policy."""
    definition, settings = metric.definition, metric.settings
    policy = run.with_settings(settings)
    usual = "no special case" if definition.empty is None else f"{definition.empty:g}"
    empty = settings.empty or (usual if run.empty_queries == "zero" else run.empty_queries)
    return {
        "ties": policy.ties,
        "scores": policy.score_type,
        "grades": in_words(definition, "grades", policy.grades),
        "empty": empty,
        "undefined": settings.undefined or "skip",
        "depth": "whole list" if policy.depth is None else str(policy.depth),
        "judged_only": str(policy.judged_only).lower(),
    }


_LABELS = {"cutoff": "bare name"}


def conventions(convention: Convention | None = None) -> str:
    """Return a convention with its settings, metrics of the same ones together; all of them."""
    if convention is not None:
        return _block(convention) + "\n"
    return "\n\n".join(map(_block, CONVENTIONS.values())) + "\n"


def _block(convention: Convention) -> str:
    together: dict[str, list[str]] = {}
    for name in convention.metrics:
        text = _settings(REGISTRY[name], convention.of(name))
        together.setdefault(text, []).append(name)
    lines = [f"{convention.name}: {convention.tool}", *_paragraph(convention.note, 2)]
    for settings, names in together.items():
        lines += [*_paragraph(", ".join(names), 4), *_paragraph(settings, 8)]
    for spelling, changed in convention.variants.items():
        further = _settings(REGISTRY[spelling.split("(")[0]], changed)
        lines += [*_paragraph(f"{spelling}, further", 4), *_paragraph(further, 8)]
    return "\n".join([*lines, *_paragraph(f"source: {convention.source}", 2)])


def _settings(definition: Definition, settings: Mapping[str, Any]) -> str:
    texts = []
    for name, value in settings.items():
        text = in_words(definition, name, value)
        if name == "cutoff":
            texts.append(text if value in (None, WHOLE_LIST) else f"bare name: {text}")
        else:
            texts.append(f"grades: {text}" if name == "grades" else f"{name}={text}")
    return ", ".join(texts)


def table(definition: Definition) -> str:
    """Return the tools that have a metric with the settings in which they differ.

    Raises
    ------
    UnknownNameError
        Where no convention has the metric.
    """
    having = [each for each in CONVENTIONS.values() if definition.name in each.metrics]
    if not having:
        raise UnknownNameError(
            f"no convention has the metric '{definition.name}'"
            "  (all: harness metrics --conventions)"
        )
    usual = {**COMMON, **{name: p.default for name, p in definition.parameters.items()}}
    if definition.cutoff is not None:
        usual["cutoff"] = definition.cutoffs or None
        if definition.needs_cutoff and not definition.cutoffs:
            usual["cutoff"] = "needed"
    rows = [usual, *({**usual, **each.of(definition.name)} for each in having)]
    differing = [name for name in usual if len({repr(row[name]) for row in rows}) > 1]
    ahead = [name for name in differing if name not in COMMON]
    names = [*ahead, *(name for name in differing if name in COMMON and name != "grades")]
    names += [name for name in differing if name == "grades"]  # the widest
    cells = [["convention", *(_LABELS.get(name, name) for name in names)]]
    for label, row in zip(["(none)", *(each.name for each in having)], rows, strict=True):
        cells.append([label, *(_cell(definition, name, row, usual) for name in names)])
    head = f"{definition.name}: {definition.headline}\n\n"
    return (
        f"{head}{columns([_flush(row, cells) for row in cells], width=WIDTH)}\n\n"
        "'-': as without a convention. 'bare name': the cutoff where none is written.\n"
        "'harness metrics TOOL' has its notes and sources.\n"
    )


def _cell(definition: Definition, name: str, row: dict[str, Any], usual: dict[str, Any]) -> str:
    if row is not usual and repr(row[name]) == repr(usual[name]):
        return "-"
    if name == "grades":
        return kind(row[name]).replace("grades ", "")
    return "policy" if name == "empty" and row is usual else in_words(definition, name, row[name])


def _flush(row: list[str], rows: list[list[str]]) -> list[str]:
    """Return cells as wide as their columns, so that words stand flush left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]


def listing() -> str:
    """Return all metrics, one a line, with direction and first sentence."""
    rows = [["metric", "better", "what it is"]]
    for name in sorted(REGISTRY, key=str.lower):
        definition = REGISTRY[name]
        rows.append([spelling(definition), definition.direction or "", plain(definition.headline)])
    text = columns(rows, left=3)
    names = "\n".join(f"  {name}: {' '.join(members)}" for name, members in NICKNAMES.items())
    return (
        f"{text}\n\nSeveral at once (trec_eval's nicknames):\n{names}\n\n"
        "Other spellings are read too: ndcg_cut_10, P.5,10 (trec_eval); nDCG@10, AP(rel=2) "
        "(ir_measures).\n'harness metrics NAME' defines one.\n"
    )


def show(name: str | None = None, tools: bool = False) -> str:
    """Return what ``harness metrics`` prints.

    Parameters
    ----------
    name : str, optional
        A metric, with parameters or without, or a convention; all of them where left out.
    tools : bool
        Whether the settings of the tools are asked for: of all metrics, or of the one named.

    Raises
    ------
    UnknownNameError
        Where there is neither a metric nor a convention of that name.
    """
    if name is None:
        return conventions() if tools else listing()
    name = name.strip()
    if name.lower() in map(str.lower, CONVENTIONS):
        return conventions(find(name))
    if name in NICKNAMES:
        return f"{name} stands for: {', '.join(NICKNAMES[name])}\n"
    try:
        metrics = parse(name)
    except UnknownNameError:
        if re.fullmatch(r"[\w+-]+", name) and name not in known_names():
            near = did_you_mean(name, [*known_names(), *CONVENTIONS])
            raise UnknownNameError(
                f"unknown metric or convention '{name}'{near}"
                "  (all: harness metrics, harness metrics --conventions)"
            ) from None
        raise
    definition = metrics[0].definition
    if tools:
        return table(definition)
    if re.search("[(@]", name) or metrics != parse(definition.name):
        return f"{resolved(metrics)}\n'harness metrics {definition.name}' says what they mean.\n"
    blocks = [define(definition), settings()]
    if any(definition.name in each.metrics for each in CONVENTIONS.values()):
        blocks.append(
            f"What each tool sets: 'harness metrics {definition.name} --conventions'. What one "
            f"of them means:\n'harness metrics \"{definition.name}(convention=TOOL)\"'.\n"
        )
    return "\n".join(blocks)
