"""The metrics and the conventions as text: the lists, and each one's definition."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import metrics as metrics  # which registers them
from ..core.arguments import MOST, Parameter
from ..core.metric import REGISTRY, Definition, Metric
from ..core.names import NICKNAMES, known_names, parse
from ..core.policy import TIES, GradeRule, Policy
from ..core.settings import CONVENTIONS, NEEDED, PARAMETERS, WHOLE_LIST, Convention, find_convention
from ..core.tool_names import ToolName, listed_readings, rows_about, rows_of
from ..errors import UnknownNameError, fix_of_name
from .grid import Grid, grid
from .text import render, wrapped

WIDTH = 88
_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)
_ARROWS = {"higher": "higher is better", "lower": "lower is better", None: "neither is better"}
_SUMMARIES = {
    "mean": "mean over queries",
    "sum": "sum over queries",
    "gm": "geometric mean over queries (values are logarithms)",
    "median": "median over queries",
}
_KINDS = {int: "whole number", float: "number", bool: "true, false", str: "name"}
SETTINGS = {
    "convention": "all settings of one tool; settings written next to it take precedence",
    "ties": f"order of tied documents: {', '.join(TIES)}",
    "scores": "type that scores are compared in; none: scores are ignored, all are tied",
    "depth": "number of documents of each query that count",
    "judged_only": "remove unjudged documents, after depth",
    "drop_identical_ids": "first remove documents with the qid as docno",
    "labels": "grades outside the convention's bounds: an error, or the nearer bound",
    "empty": "value of a query without relevant documents",
    "few": "value of a query with too few documents for the convention",
    "undefined": "how the mean treats an undefined value: leaves it out, counts 0, or is undefined",
}
UNAVAILABLE = "not available"
_EMPTY = {"zero": "zero", "one": "one", "skip": "nan", "error": "zero"}
"""The setting that each policy of empty queries is."""


def in_force(metric: Metric, policy: Policy) -> dict[str, Any]:
    """Return every parameter and setting of a metric under a policy, except the cutoff."""
    fixed, under = metric.settings, policy.with_settings(metric.settings)
    values = {name: parameter.default for name, parameter in metric.definition.parameters.items()}
    values |= dict(metric.params)
    values.pop("cutoff", None)
    return {
        **values,
        "ties": under.ties,
        "scores": under.score_type,
        "empty": fixed.empty or _EMPTY[policy.empty_queries],
        "undefined": fixed.undefined or "skip",
        "judged_only": under.judged_only,
        "drop_identical_ids": under.drop_identical_ids,
        "depth": under.depth,
        "grades": metric.grade_rule(under),
    }


def plain(text: str) -> str:
    """Return text without the marks of a docstring.

    >>> plain("``cut`` as `short`; see `harness.rbo_weight`")
    'cut as short; see rbo_weight'
    """
    text = re.sub(r"`harness\.[\w.]*?(\w+)`", r"\1", text)
    return re.sub(r"``?([^`]+)``?", r"\1", text)


def sections(function: Callable[..., Any]) -> dict[str, str]:
    """Return the text under each heading of a docstring; what comes first is under ``""``."""
    text, *_ = re.split(r"\n+>>> ", plain(inspect.getdoc(function) or ""), maxsplit=1)
    lead, *rest = _HEADING.split(text)
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return {"": lead.strip(), **{name: text.strip() for name, text in pairs}}


def entries(section: str) -> dict[str, str]:
    """Return the description of each name in a section, as one paragraph."""
    return {
        name: " ".join(match[2].split())
        for match in re.finditer(r"^(\S.*)((?:\n(?:[ ]+.*)?)*)", section, re.M)
        for name in match[1].split(" : ")[0].split(", ")
    }


def _fractions(definition: Definition) -> str:
    takes, own = definition.fractions, definition.parameters
    if isinstance(takes, bool):
        return "accepted" if takes else "an error"
    conditions = []
    if takes is not None and "gain" in own:
        gains = [gain for gain in own["gain"].choices if takes(gain=gain)]
        conditions.append(f"with gain={' or '.join(gains)}")
    if "gains" in own:
        conditions.append("without gains")
    text = " and ".join(conditions)
    if names := [name for name in ("rel", "above") if name in own]:
        text += f"{', or ' * bool(text)}if the name has {' or '.join(names)}, as rel=0.5"
    return f"accepted {text}" if text else "an error"


def kind(rule: GradeRule) -> str:
    """Grades that a rule accepts, in few words.

    >>> kind(GradeRule(0, 30)), kind(GradeRule(whole=False)), kind(GradeRule(0, truncate=True))
    ('whole numbers 0 to 30', 'any number', 'numbers from 0 (rounded towards 0)')
    """
    text = f"numbers {rule.bounds}" if rule.bounds else "any number"
    if not rule.fractions:
        text = f"whole numbers {rule.bounds}".rstrip()
    return f"{text} (rounded towards 0)" if rule.truncate else text


def accepted(rule: GradeRule) -> str:
    """Grades that a rule accepts, and its treatment of others.

    >>> accepted(GradeRule(0, 1, act="clip", documents=2))
    'whole numbers 0 to 1, others clipped, queries of fewer than 2 documents: error'
    """
    texts = {
        kind(rule): True,
        "others clipped": rule.act == "clip",
        f"{rule.relevant_from} and above become 1, others 0": rule.relevant_from is not None,
        "documents scored 0 or below are not relevant": rule.positive_scores,
        f"queries of fewer than {rule.documents} documents: {rule.few}": rule.documents > 1,
    }
    return ", ".join(text for text, holds in texts.items() if holds)


def in_words(definition: Definition, name: str, value: Any) -> str:
    """Return a parameter's or setting's value; for a cutoff, that of a name without one."""
    if isinstance(value, GradeRule):
        return accepted(value)
    if name == "cutoff":
        if value in (NEEDED, None, WHOLE_LIST):
            texts = {NEEDED: "required", None: "whole list", WHOLE_LIST: "whole list only"}
            return texts[value]
        return "@" + ",".join(map(str, value if isinstance(value, tuple) else (value,)))
    if value is None or value == ():
        return "none"
    return {**definition.parameters, **PARAMETERS}[name].text(value)


def spelling(definition: Definition) -> str:
    """Spelling of the metric, with its parameters' defaults.

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
    return text + _cutoff(definition)


def _cutoff(definition: Definition) -> str:
    """Return the cutoff in the spelling of a metric; in brackets if it is optional."""
    return "" if definition.cutoff is None else "@k" if definition.needs_cutoff else "[@k]"


def define(definition: Definition) -> str:
    """Return a metric's title, formula, parameters and facts."""
    parts = sections(definition.function)
    title, _, formula = parts[""].partition("\n")
    lines = [f"{definition.name}: {title}"]
    lines += ["", *formula.strip().split("\n")] if formula.strip() else []
    lines += ["", f"written          {spelling(definition)}"]
    about = entries(parts.get("Parameters", ""))
    lines += ["", "parameters"] if definition.parameters else []
    for name, parameter in definition.parameters.items():
        lines += wrapped(f"{name}: {values_and_default(parameter)}", WIDTH, 2, 4)
        usual = "the run that the ranking is compared to; the ideal order without"
        text = about.get(name, plain(parameter.about) or usual)
        lines += wrapped(text, WIDTH, 6, 0)
    lines += ["", parts["Notes"]] if "Notes" in parts else []
    lines.append("")
    for name, value in facts(definition).items():
        lines += wrapped(f"{name:<15}  {value}", WIDTH, 0, 17) if value else []
    return "\n".join([*lines, ""])


def facts(definition: Definition) -> dict[str, str]:
    """Return a metric's properties by name: other spellings, values, summary and others."""
    returned = sections(definition.function).get("Returns", "")
    values = " ".join(re.sub(r"^ndarray[^\n]*\n?", "", returned).split())
    if not values:
        low, high = definition.bounds
        values = f"{low:g} to {high:g} {definition.unit}".rstrip()
        if definition.empty is not None:
            empty = "NaN" if math.isnan(definition.empty) else f"{definition.empty:g}"
            values += f"; {empty} for a query without relevant documents"
    return {
        "other spellings": ", ".join(definition.aliases),
        "trec_eval": definition.trec_name or "",
        "other tools": ", ".join(_names_elsewhere(definition)),
        "direction": _ARROWS[definition.direction],
        "values": values,
        "summary": _SUMMARIES[definition.summary],
        "fractions": _fractions(definition),
        "source": definition.source,
    }


def _names_elsewhere(definition: Definition) -> dict[str, None]:
    rows = rows_of(definition.name)
    return dict.fromkeys(row.name for row in rows if len(row.ours) == 1 and not row.listed_only)


def counterparts(rows: Sequence[ToolName]) -> list[list[str]]:
    """Return tools, their name, our name or "not available", and a remark, for each row."""
    listed = []
    for row in rows:
        ours, remark = " or ".join(row.ours), _remark(row)
        if not ours:
            ours, remark = UNAVAILABLE, remark.removeprefix(UNAVAILABLE).removeprefix("; ")
        listed.append([row.tools, row.name, ours, remark])
    return listed


def _remark(row: ToolName) -> str:
    if len(row.ours) > 1:
        return "ambiguous: choose one of the two"
    if row.listed_only and not row.note:
        theirs, ours = (re.sub(r"\bk\b", "7", text) for text in (row.name, *row.ours))
        if parse(theirs) != parse(ours):
            return f"write this: '{row.name}' has other settings here"
    return row.note


def settings() -> str:
    """Return the settings that every metric takes next to its own parameters."""
    lines = ["settings of every metric; the run's policy applies to those not written"]
    for name, parameter in PARAMETERS.items():
        choices = f" ({', '.join(parameter.choice_texts)})" if parameter.choices else ""
        lines += wrapped(f"{name}: {SETTINGS[name]}{choices}", WIDTH, 2, 4)
    return "\n".join([*lines, ""])


def values(parameter: Parameter) -> str:
    """Accepted values of a parameter.

    >>> from harness.core.metric import REGISTRY
    >>> own = REGISTRY["map"].parameters
    >>> values(own["cutoff"]), values(own["none_found"]), values(own["rel"])
    ('1, 2, 3, ...', '0, 1', 'above 0')
    """
    if parameter.choices:
        return ", ".join(parameter.choice_texts)
    if parameter.pairs:
        return "grade:number;grade:number..."
    limits, text = parameter.range, _KINDS[parameter.type]
    if parameter.many:
        return f"{text}s separated by colons" + (f", each {limits}" if limits else "")
    if parameter.type is int and limits and limits.low is not None:
        numbers = range(int(limits.low), int(limits.high or MOST) + 1)
        listed = ", ".join(map(str, numbers[:3])) + ", ..." * (len(numbers) > 3)
        return listed + f", {limits.high}" * bool(limits.high and len(numbers) > 3)
    return str(limits or text)


def values_and_default(parameter: Parameter) -> str:
    """Accepted values of a parameter, and its default."""
    text, default = values(parameter), parameter.default
    if default is inspect.Parameter.empty:
        return f"{text}; required"
    fallback = "the whole list" if parameter.name == "cutoff" else "none"
    return f"{text}; default {fallback if default in (None, ()) else parameter.text(default)}"


def resolved(metrics: Sequence[Metric], policy: Policy | None = None) -> Grid:
    """Return the parameters and settings of metrics of one definition, and where each is from.

    `policy` is the run's, or the default policy.
    """
    metric, run = metrics[0], policy or Policy()
    definition, convention = metric.definition, metric.convention
    title = ", ".join(map(str, metrics))
    written = {name for name, _ in metric.given}
    usual = {name for name, value in vars(metric.settings).items() if value is not None}
    usual |= {name for name, _ in metric.params}
    if convention is None:
        written = usual
    else:
        usual |= {*CONVENTIONS[convention].of(definition.name)}
        title += f", as {CONVENTIONS[convention].tool} computes it"
    otherwise = "the run's policy, by default so" if policy is None else "the run's policy"
    rows = []
    for name, value in in_force(metric, run).items():
        text = in_words(definition, name, value)
        if name == "empty" and metric.settings.empty is None:
            default = "no special case" if definition.empty is None else f"{definition.empty:g}"
            text = default if run.empty_queries == "zero" else run.empty_queries
        source = "default" if name in definition.parameters else otherwise
        source = "the tool's" if name in usual else source
        if written & ({name, "labels", "few"} if name == "grades" else {name}):
            source = "written"
        rows.append([name, text, source])
    if definition.cutoff is not None:
        cutoffs = [f"{metric.cutoff:g}" for metric in metrics if metric.cutoff is not None]
        rows.append(["cutoff", ", ".join(cutoffs) or "whole list", ""])
    return grid(["setting", "value", "from"], rows, left=3, title=title)


def conventions(convention: Convention | None = None) -> str:
    """Return a convention with its settings, metrics of the same ones together; all of them."""
    listed = CONVENTIONS.values() if convention is None else [convention]
    return "\n\n".join(map(_block, listed)) + "\n"


def settings_of(convention: Convention) -> Mapping[tuple[str, ...], list[str]]:
    """Return the metrics of a convention by their settings in words.

    Last are names with a parameter, ``map(rel=...)``, and what it changes.
    """
    together: dict[tuple[str, ...], list[str]] = {}
    main = [(name, "", convention.of(name)) for name in convention.metrics]
    for name, also, values in (
        *main,
        *((name, "also ", values) for name, values in convention.variants.items()),
    ):
        definition = REGISTRY[name.partition("(")[0]]
        texts: list[str] = []
        for key, value in values.items():
            text = in_words(definition, key, value)
            if key == "cutoff":
                labels = {NEEDED: "cutoff ", None: "", WHOLE_LIST: ""}
                text = labels.get(value, "without a cutoff: ") + text
            else:
                text = f"grades: {text}" if key == "grades" else f"{key}={text}"
            texts.append(also * (not texts) + text)
        title = re.sub(r"\((\w+)\)$", r"(\1=...)", name)
        together.setdefault(tuple(texts), []).append(title)
    return together


def _block(convention: Convention) -> str:
    lines = [f"{convention.name}: {convention.tool}", *wrapped(convention.note, WIDTH, 2, 0)]
    for texts, names in settings_of(convention).items():
        lines += wrapped(", ".join(names), WIDTH, 4, 0)
        lines += wrapped(", ".join(texts), WIDTH, 8, 0)
    return "\n".join([*lines, *wrapped(f"source: {convention.source}", WIDTH, 2, 0)])


def table(definition: Definition) -> str:
    """Return the tools that have a metric with the settings in which they differ.

    Raises UnknownNameError if no convention has it.
    """
    tools = [tool for tool in CONVENTIONS.values() if definition.name in tool.metrics]
    if not tools:
        message = f"no convention has the metric '{definition.name}'"
        fix = "see 'harness metrics --conventions'"
        raise UnknownNameError(message, fix=fix)
    usual = {name: parameter.default for name, parameter in definition.parameters.items()}
    usual |= {**in_force(Metric(definition), Policy()), "empty": None}
    if definition.cutoff is not None:
        usual["cutoff"] = definition.cutoffs or (NEEDED if definition.needs_cutoff else None)
    rows = {"(none)": usual} | {tool.name: {**usual, **tool.of(definition.name)} for tool in tools}
    names = [name for name in usual if len({repr(row[name]) for row in rows.values()}) > 1]

    def shown(name: str, row: Mapping[str, Any]) -> str:
        if row is usual and name == "empty":
            return "policy"
        if row is not usual and repr(row[name]) == repr(usual[name]):
            return "-"
        return kind(row[name]) if name == "grades" else in_words(definition, name, row[name])

    header = ["convention", *("without cutoff" if name == "cutoff" else name for name in names)]
    cells = [[label, *(shown(name, row) for name in names)] for label, row in rows.items()]
    return (
        f"{definition.name}: {plain(definition.headline)}\n\n"
        f"{render([grid(header, cells, left=len(header))], width=WIDTH)}\n"
        "'-': as without a convention.\n"
        "'harness metrics TOOL' has its notes and sources.\n"
    )


def listing() -> str:
    """Return all metrics, one a line, with direction and first sentence."""
    header, rows = ["metric", "better", "definition"], []
    for name in sorted(REGISTRY, key=str.lower):
        definition = REGISTRY[name]
        name += _cutoff(definition)
        rows.append([name, definition.direction or "", plain(definition.headline)])
    names = "\n".join(f"  {name}: {' '.join(members)}" for name, members in NICKNAMES.items())
    return (
        f"{render([grid(header, rows, left=3)])}\n"
        f"Several metrics (nicknames of trec_eval):\n{names}\n\n"
        "Other spellings work too: ndcg_cut_10, P.5,10 (trec_eval); nDCG@10, AP(rel=2) "
        "(ir_measures);\nhit_rate@10, cosine_ndcg@10, NDCG:top=10 (other tools).\n"
        "'harness metrics NAME' defines a metric, also by the name of another tool.\n"
    )


def show(name: str | None = None, tools: bool = False) -> str:
    """Text of ``harness metrics`` for a metric or a convention; for all by default.

    `tools` is whether to show the settings of the tools. Raises UnknownNameError.
    """
    if name is None:
        return conventions() if tools else listing()
    name = name.strip()
    if name.lower() in map(str.lower, CONVENTIONS):
        return conventions(find_convention(name))
    if name in NICKNAMES:
        return f"{name} means: {', '.join(NICKNAMES[name])}\n"
    definition = next((d for d in REGISTRY.values() if name in (d.name, *d.aliases)), None)
    if definition is not None and not tools:
        several = "".join(
            f"{row.name} means several metrics: {listed_readings(row.ours)}\n\n"
            for row in rows_about(name)
            if row.name == name and len(row.ours) > 1
        )
        return several + _defined(definition)
    try:
        metrics = parse(name)
    except UnknownNameError:
        if definition is None and (matches := _matches(name)):
            return matches
        if re.fullmatch(r"[\w+-]+", name) and name not in known_names():
            fix = fix_of_name(name, [*known_names(), *CONVENTIONS], "harness metrics")
            message = f"unknown metric or convention '{name}'"
            raise UnknownNameError(message, fix=fix) from None
        raise
    definition = metrics[0].definition
    if tools:
        return table(definition)
    notes = [f"'harness metrics {definition.name}' defines them"]
    if (head := re.split(r"[(@]", name)[0]) not in (definition.name, *definition.aliases):
        notes.insert(0, f"{name} is {metrics[0]} here")
    notes += [
        f"{row.name} of {row.tools} is {', '.join(row.ours)}"
        for row in rows_about(head)
        if row.listed_only and re.split(r"[(@]", row.name)[0] == head
    ]
    return render([replace(resolved(metrics), notes=tuple(notes))])


def _matches(text: str) -> str:
    rows = [
        [name, f"{ours} ({remark})" if remark else ours, tools]
        for tools, name, ours, remark in counterparts(rows_about(text))
    ]
    wanted = text.lower()
    listed = [
        [spelling(definition), plain(definition.headline)]
        for definition in REGISTRY.values()
        if wanted in f"{definition.name} {definition.headline}".lower()
    ]
    tables = [grid(["name", "here", "tools that have it"], rows, left=3)] if rows else []
    tables += [grid(["metric", "definition"], listed, left=2)] if listed else []
    note = "'harness metrics NAME' defines a metric.\n"
    return f"{render(tables, width=WIDTH)}\n{note}" if tables else ""


def _defined(definition: Definition) -> str:
    blocks = [define(definition), settings()]
    if any(definition.name in tool.metrics for tool in CONVENTIONS.values()):
        blocks.append(f"'harness metrics {definition.name} --conventions' compares the tools;")
        bracket = f'"{definition.name}(convention=TOOL)"'
        blocks.append(f"'harness metrics {bracket}' shows the settings of one.\n")
    return "\n".join(blocks)
