"""The grammar of metric names: text in, metrics out.

``name``, ``name@10``, ``name(param=value,...)@10``, a list of cutoffs (``ndcg@1,3,5``),
trec_eval's spellings (``ndcg_cut_10``, ``P.5,10``, ``official``) and ir_measures' (``nDCG@10``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from shlex import quote
from typing import Any

from ..errors import UnknownNameError, did_you_mean
from .arguments import wrong
from .convention import NEEDED, WHOLE_LIST, find
from .metric import REGISTRY, TREC_CUT, Definition, Metric
from .settings import PARAMETERS, Settings

NAMES = ("min", "expected", "max")
BOUNDS = "bounds"
"""What stands for a policy for ties where bounds are asked for."""


def bound(metric: Metric, name: str) -> Metric:
    """Return a metric whose value is the smallest, expected or largest over orders of ties.

    Parameters
    ----------
    metric : Metric
    name : {"min", "expected", "max"}
        Its label is the metric's name with this at its end.

    Examples
    --------
    >>> from harness.core.names import parse
    >>> str(bound(parse("P@5")[0], "min")), str(parse("P@5_min")[0])
    ('P@5_min', 'P@5_min')
    """
    largest = "worst" if metric.definition.direction == "lower" else "best"
    smallest = "best" if metric.definition.direction == "lower" else "worst"
    ties = {"min": smallest, "expected": "average", "max": largest}[name]
    return replace(metric, settings=replace(metric.settings, ties=ties), label=f"{metric}_{name}")


def with_bounds(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Return the metrics, each followed by its bounds, but for those with ties of their own.

    Where the best and the worst order of ties do not give a metric's extreme values, only the
    expected value follows.
    """
    found: list[Metric] = []
    for metric in metrics:
        found.append(metric)
        if metric.settings.ties is None or metric.convention is not None:
            names = NAMES if metric.bounded else ("expected",)
            found += [bound(metric, name) for name in names]
    return tuple(dict.fromkeys(found))


def without_bounds(ties: str) -> str:
    """Return the policy for ties that metrics are computed under beside their bounds."""
    return "trec_eval" if ties == BOUNDS else ties


_SPEC = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9_+-]*?)(?:\((?P<params>(?:[^()]|\([^()]*\))*)\))?(?:@(?P<cutoffs>[^@()]*))?"
)
_BOUND = re.compile(rf"(?P<metric>.+)_(?P<bound>{'|'.join(NAMES)})")
_NUMBERS = re.compile(r"[._]([-.\d].*)")
_OFFICIAL = "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank"
_OFFICIAL += " iprec_at_recall P"
_SET = "runid num_q num_ret num_rel num_rel_ret utility set_P set_relative_P set_recall set_map"
_SET += " set_F"
_ALL = _OFFICIAL + " relstring recall infAP gm_bpref Rprec_mult utility 11pt_avg binG G ndcg"
_ALL += " ndcg_rel Rndcg ndcg_cut map_cut relative_P success set_P set_relative_P set_recall"
_ALL += " set_map set_F num_nonrel_judged_ret"
NICKNAMES: Mapping[str, tuple[str, ...]] = {
    "official": tuple(_OFFICIAL.split()),
    "set": tuple(_SET.split()),
    "all_trec": tuple(_ALL.split()),
}
"""trec_eval's names for several measures at once, in its own order."""
_ELSEWHERE = {
    **dict.fromkeys(("hit", "hits", "hitrate", "hit_rate", "hit_ratio", "hr"), "success"),
    **dict.fromkeys(("average_precision", "mean_average_precision", "avg_prec"), "map"),
    "prec": "P",
}
"""What other tools call a metric; to be suggested, not read."""
_SETTINGS = {field.name for field in fields(Settings)}
_PREFERENCES = ("all_prefs", "prefs", "qrels_jg")
_DEFAULT_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


def parse(text: str, defaults: Mapping[str, Any] | None = None) -> list[Metric]:
    """Return the metrics that one name stands for.

    Parameters
    ----------
    text : str
        A name in any of the spellings above.
    defaults : mapping, optional
        Parameters for every metric that has them and is not given them, such as ``rel``.

    Returns
    -------
    list of Metric
        One, or one a cutoff, or all of a nickname's.

    Raises
    ------
    UnknownNameError
        Where there is no such metric or parameter, or a value is out of range.

    Examples
    --------
    >>> import harness.metrics
    >>> [str(m) for m in parse("ndcg_cut_10")], [str(m) for m in parse("P.5,10")]
    (['ndcg@10'], ['P@5', 'P@10'])
    >>> [str(m) for m in parse("ndcg.1=3,2=9")]
    ['ndcg(gains=1:3;2:9)']
    >>> [str(m) for m in parse("AP(rel=2)@100")]
    ['map(rel=2)@100']
    """
    text = text.strip()
    if (match := _BOUND.fullmatch(text)) is not None:
        return [bound(metric, match["bound"]) for metric in parse(match["metric"], defaults)]
    if text in NICKNAMES:
        return [metric for name in NICKNAMES[text] for metric in parse(name, defaults)]
    if text in _PREFERENCES or text.startswith("prefs_"):
        raise UnknownNameError(f"'{text}' needs preference judgements, which are not read here")
    read = _read(text)
    if read is None:
        raise UnknownNameError(_unknown(text))
    definition, given, cutoffs = read
    return _metrics(text, definition, given, cutoffs, dict(defaults or {}))


def _read(text: str) -> tuple[Definition, dict[str, Any], list[float]] | None:
    """Return a metric, its parameters and its cutoffs; None where there is no such metric."""
    match = _SPEC.fullmatch(text)
    if match is not None and (definition := _lookup(match["name"])) is not None:
        given = _read_params(definition, match["params"], text)
        cutoffs = _read_cutoffs(definition, match["cutoffs"], text)
        if match["name"] in TREC_CUT and not cutoffs:
            cutoffs = list(_DEFAULT_CUTOFFS)
        return definition, given, cutoffs
    if match is None or (match["params"] is None and match["cutoffs"] is None):
        return _parse_trec(text)
    return None


def _unknown(text: str) -> str:
    """Return what is said of a text that names no metric, with the name that it is near to."""
    if (match := _SPEC.fullmatch(text)) is not None:
        cutoffs = f"@{match['cutoffs']}" if match["cutoffs"] else ""
        near = _with_end(_near(match["name"]), cutoffs)
        return f"unknown metric '{match['name']}{cutoffs}'{near}  (all: harness metrics)"
    if several := _several(text):
        each, listed = " ".join(f"-m {quote(name)}" for name in several), ", ".join(several)
        return (
            f"'{text}' names several metrics; give each by itself: {each}; in a config: [{listed}]"
        )
    return (
        f"cannot read the metric '{text}'; write name, name@10 or name(param=value)@10"
        f"{did_you_mean(text, known_names())}"
    )


def _metrics(
    text: str,
    definition: Definition,
    given: dict[str, Any],
    cutoffs: list[float],
    defaults: dict[str, Any],
) -> list[Metric]:
    """Return a metric a cutoff: what was written, over the convention, over the defaults."""
    for name, value in defaults.items():
        if name in definition.parameters and not given.get("reference"):
            given.setdefault(name, value)
    labels = defaults.get("labels")
    convention = given.pop("convention", defaults.get("convention"))
    usual: dict[str, Any] = {}
    if convention in (None, "none"):
        convention = None
    else:
        usual = _usual(text, convention, definition)
        convention = find(convention).name
        for name, value in given.items():
            usual |= find(convention).variants.get(f"{definition.name}({name}={value})", {})
        if cutoffs and usual.get("cutoff") == WHOLE_LIST:
            raise UnknownNameError(
                f"{text}: {find(convention).tool} has {definition.name} of the whole list only"
            )
        given = {
            name: value
            for name, value in given.items()
            if name not in usual or usual[name] != value  # None can be given, as max_grade=none
        }
        rule = usual.get("grades")
        if labels is not None and rule is not None and (rule.low, rule.high) != (None, None):
            given.setdefault("labels", labels)
        if "rel" in given:
            usual.pop("above", None)  # a level that is given stands over the tool's threshold
    cutoffs = cutoffs or _default_cutoffs(text, usual)
    if not cutoffs and definition.needs_cutoff:
        if not definition.cutoffs:
            raise UnknownNameError(f"{text}: a cutoff is needed, as in {definition.name}@10")
        cutoffs = list(definition.cutoffs)
    values = {**usual, **given}
    rule = usual.get("grades")
    if "rel" in given and rule is not None and rule.high == 1:
        # The tool takes relevant or not, and the level says which grades are.
        usual["grades"] = replace(rule, relevant_from=values.pop("rel"))
    params = tuple(
        (name, values.get(name, parameter.default))
        for name, parameter in definition.parameters.items()
        if name != "cutoff"
        and (parameter.shown or values.get(name, parameter.default) != parameter.default)
    )
    _check_together(text, definition, values, cutoffs)
    settings = Settings()
    try:
        for layer in (usual, given):
            settings = settings.with_values(
                {name: value for name, value in layer.items() if name in _SETTINGS}
            )
    except UnknownNameError as error:
        raise UnknownNameError(f"{text}: {error}") from None
    known = {**definition.parameters, **PARAMETERS}
    said = tuple((name, known[name].text(value)) for name, value in given.items())
    said = said if convention is not None else ()
    some: list[float | None] = [*cutoffs] or [None]
    return [Metric(definition, cutoff, params, settings, convention, said) for cutoff in some]


def _check_together(
    text: str, definition: Definition, values: Mapping[str, Any], cutoffs: list[float]
) -> None:
    """Raise UnknownNameError if parameters or settings contradict each other."""
    if definition.check is not None:
        own = {n: values.get(n, p.default) for n, p in definition.parameters.items()}
        try:
            definition.check(**own)
        except UnknownNameError as error:
            raise UnknownNameError(f"{text}: {error}") from None
    depth, cutoff = values.get("depth"), max(cutoffs, default=0)
    if depth is not None and values.get("short") == "error" and depth < cutoff:
        what = f"no list can have {cutoff} documents if depth={depth}"
        raise UnknownNameError(f"{text}: {what}, so short=error would refuse every query")
    rel, above, top = values.get("rel"), values.get("above"), values.get("top")
    if rel is not None and above is not None:
        raise UnknownNameError(f"{text}: rel and above both say what is relevant; give one of them")
    least = rel or 1
    if top is not None and (top < least if above is None else top <= above):
        lowest = f"at least {least}" if above is None else f"above {above:g}"
        what = f"no grade is {lowest} and at most {top}"
        raise UnknownNameError(f"{text}: {what}, so that nothing would be relevant")


def _default_cutoffs(text: str, usual: dict[str, Any]) -> list[float]:
    """Take what a bare name means out of a convention's settings."""
    cutoff = usual.pop("cutoff", None)
    if cutoff == NEEDED:
        raise UnknownNameError(f"{text}: the tool has no default cutoff; write one, as in @10")
    if cutoff is None or cutoff == WHOLE_LIST:
        return []
    return list(cutoff) if isinstance(cutoff, tuple) else [cutoff]


def _usual(text: str, convention: str, definition: Definition) -> dict[str, Any]:
    try:
        return find(convention).of(definition.name)
    except UnknownNameError as error:
        raise UnknownNameError(f"{text}: {error}") from None


def parse_all(
    texts: Iterable[str | Metric], defaults: Mapping[str, Any] | None = None
) -> tuple[Metric, ...]:
    """Return the metrics that several names stand for, each once, in order.

    Raises
    ------
    UnknownNameError
        With every name that is wrong.
    ArgumentError
        If they are no names.
    """
    metrics: dict[str, Metric] = {}
    problems = []
    if isinstance(texts, (str, Metric)):
        texts = [texts]
    if not isinstance(texts, Iterable) or isinstance(texts, bytes):
        raise wrong("metrics", "a list of metric names", texts, "write ['map', 'ndcg@10']")
    for at, text in enumerate(texts):
        if not isinstance(text, (str, Metric)):
            raise wrong(f"metrics[{at}]", "the name of a metric", text, "write 'ndcg@10'")
        try:
            found = [text] if isinstance(text, Metric) else parse(text, defaults)
        except UnknownNameError as error:
            problems.extend(error.problems)
            continue
        metrics.update((str(metric), metric) for metric in found)
    if problems:
        raise UnknownNameError(problems)
    return tuple(metrics.values())


def known_names() -> list[str]:
    """Return every name that a metric can be called by, nicknames included."""
    aliases = [alias for definition in REGISTRY.values() for alias in definition.aliases]
    return [*REGISTRY, *aliases, *TREC_CUT, *NICKNAMES]


def _near(name: str) -> str:
    """Return which name is nearest, or which one with the same number: ``P_10`` of ``p_10``."""
    names, near = known_names(), ""
    if (other := _ELSEWHERE.get(name.lower())) is not None:
        return f"; did you mean '{other}'?"
    if (numbered := re.fullmatch(r"(.+?)([._]\d[\d.,]*)", name)) is not None:
        if (other := _ELSEWHERE.get(numbered[1].lower())) is not None:
            return _with_end(f"; did you mean '{other}'?", numbered[2])
        near = _with_end(did_you_mean(numbered[1], names), numbered[2])
    return near or did_you_mean(name, names)


def _with_end(near: str, end: str) -> str:
    """Return which name is nearest with its cutoffs; without them, and why, where it has none."""
    if not near or not end:
        return near
    name, why = near.partition("'")[2].removesuffix("'?"), ""
    for text in (f"{name}{end}", f"{name}@{end[1:]}"):
        try:
            if _read(text) is not None:
                return f"; did you mean '{text}'?"
        except UnknownNameError as error:
            why = why or f" ({error})"
    return f"{near}{why}"


def _several(text: str) -> list[str]:
    """Return the names between commas outside of parentheses, if a metric is among several."""
    found: list[str] = []
    for part in re.split(r",(?![^()]*\))", text):
        if found and re.fullmatch(r"\s*\d+\s*", part):
            found[-1] += f",{part.strip()}"  # of a list of cutoffs
        else:
            found.append(part.strip())
    one = (_SPEC.fullmatch(name) for name in found)
    known = (spec is not None and _lookup(spec["name"]) is not None for spec in one)
    return found if len(found) > 1 and any(known) else []


def _lookup(name: str) -> Definition | None:
    name = TREC_CUT.get(name, name)
    if name in REGISTRY:
        return REGISTRY[name]
    return next((d for d in REGISTRY.values() if name in d.aliases), None)


def _parse_trec(text: str) -> tuple[Definition, dict[str, Any], list[float]] | None:
    """Read ``ndcg_cut_10``, ``P.5,10``, ``set_F.0.5``: a known trec_eval name, then parameters."""
    bases = {d.trec_name for d in REGISTRY.values() if d.trec_name} | set(TREC_CUT)
    for base in sorted(bases, key=lambda base: -len(base)):
        match = _NUMBERS.fullmatch(text, len(base)) if text.startswith(base) else None
        definition = _lookup(base) if match else None
        if match is None or definition is None:
            continue
        gains = definition.parameters.get("gains")
        if "=" in match[1] and gains is not None and base not in TREC_CUT:
            return definition, {"gains": gains.parse(match[1], text)}, []
        if definition.needs_cutoff or base in TREC_CUT:
            return definition, {}, _read_cutoffs(definition, match[1], text)
        if definition.trec_parameter is None:
            if definition.cutoff:
                _read_cutoffs(definition, match[1], text)  # which says what is wrong with them
            raise UnknownNameError(
                f"{text}: trec_eval's {base} takes no number"
                + (f"; write {definition.name}@{match[1]}" if definition.cutoff else "")
            )
        parameter = definition.parameters[definition.trec_parameter]
        return definition, {parameter.name: parameter.parse(match[1], text)}, []
    return None


def _read_params(definition: Definition, inside: str | None, text: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    own = [name for name in definition.parameters if name != "cutoff"]
    known = {**definition.parameters, **PARAMETERS}
    allowed = [*own, *PARAMETERS]
    for item in filter(None, (part.strip() for part in (inside or "").split(","))):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise UnknownNameError(f"{text}: write parameters as name=value, not '{item}'")
        if name in given:
            raise UnknownNameError(f"{text}: {name} is given twice")
        if name not in allowed:
            raise UnknownNameError(
                f"{text}: {definition.name} has no parameter '{name}'{did_you_mean(name, allowed)}"
                f"  (it has: {', '.join(own) or 'none'}; every metric: {', '.join(PARAMETERS)})"
            )
        given[name] = known[name].parse(value, text)
    return given


def _read_cutoffs(definition: Definition, cutoffs: str | None, text: str) -> list[float]:
    if cutoffs is None:
        return []
    if definition.cutoff is None:
        raise UnknownNameError(f"{text}: {definition.name} takes no cutoff")
    return [definition.cutoff.parse(item, text) for item in cutoffs.split(",")]
