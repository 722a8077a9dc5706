"""Metrics: functions of an `harness.core.aligned.Aligned`, with their facts.

``@metric(...)`` puts a function into the registry. Its keyword-only parameters, their
annotations and defaults are the metric's parameters; nothing is declared twice.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from ..errors import HarnessError, Problem
from .aligned import Aligned, without_queries
from .arguments import (
    TEXT,
    TEXTS,
    ArgumentKind,
    Parameter,
    check_arguments,
    check_choice,
    instance_of,
    is_number,
    wrong,
)
from .policy import USUAL, GradeRule, Policy
from .ragged import Bools, Floats
from .settings import MetricSettings, texts_of

Direction = Literal["higher", "lower"]
Summary = Literal["mean", "sum", "gm", "median"]
Expected = Literal["itself", "average"]


class Formula(NamedTuple):
    """A formula in LaTeX's mathematics, and as plain text."""

    latex: str
    plain: str


Title = tuple[str | Formula, tuple[str, ...]]
"""Name of a metric in a sentence, and keys of the literature to cite."""
Function = Callable[..., Any]
TREC_CUT: dict[str, str] = {}
"""Names in trec_eval of metrics with a cutoff, if they differ from those without."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Definition:
    """Name, function and facts of a metric; `metric` explains them."""

    name: str
    function: Function
    direction: Direction | None
    bounds: tuple[float, float]
    source: str
    unit: str = ""
    summary: Summary = "mean"
    empty: float | None = 0.0
    missing: float | None = 0.0
    trec_name: str | None = None
    trec_parameter: str | None = None
    aliases: tuple[str, ...] = ()
    cutoffs: tuple[float, ...] = ()
    weight: Callable[..., Floats | None] | None = None
    empty_of: Callable[..., Bools] | None = None
    short_of: Callable[..., Bools] | None = None
    reference: bool = False
    expected: Expected | None = None
    bounded: bool = True
    unbounded_with: tuple[str, ...] = ()
    fractions: bool | Callable[..., bool] | None = None
    check: Callable[..., None] | None = None
    title: str | Formula = ""
    cite: tuple[str, ...] = ()
    variants: Mapping[str, Title] = field(default_factory=dict)
    recorded: Mapping[str, Parameter] | None = None

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The function's keyword-only parameters by name.

        They are read at first use, as those of all metrics take 8 ms.
        """
        if self.recorded is not None:
            return self.recorded
        hints = typing.get_type_hints(self.function, include_extras=True)
        parameters = {
            parameter.name: Parameter.of(parameter.name, hints[parameter.name], parameter.default)
            for parameter in inspect.signature(self.function).parameters.values()
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.name != "average"
        }
        if self.reference:
            parameters["reference"] = Parameter("reference", str, None, optional=True)
        return parameters

    @cached_property
    def is_built_in(self) -> bool:
        """Whether it belongs to the harness, not to a plugin."""
        return self.function.__module__.startswith("harness.")

    @cached_property
    def skips_empty(self) -> bool:
        """Whether ``empty_queries: skip`` leaves out a query without relevant documents.

        Counts, and metrics that do not look at relevance, keep the value of such a query.
        """
        return self.empty is not None or (self.summary == "mean" and "rel" in self.parameters)

    @cached_property
    def cutoff(self) -> Parameter | None:
        """The cutoff's parameter, if the metric takes one."""
        return self.parameters.get("cutoff")

    @cached_property
    def is_text(self) -> bool:
        """Whether its values are text in trec_eval, so that there is no number to show."""
        return self.bounds == (0, 0)

    @cached_property
    def needs_cutoff(self) -> bool:
        """Whether the metric means nothing without a cutoff."""
        return self.cutoff is not None and not self.cutoff.optional

    @property
    def headline(self) -> str:
        """The first sentence of the function's docstring."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]


@dataclass(frozen=True)
class Metric:
    """A definition with its parameters: ``ndcg(gain=exp)@10``. A value; print it for its name.

    `params` are the parameters that differ from their defaults (and those always shown), in the
    order of the signature. `settings` are its differences from the policy of the run. With a
    `convention`, parameters and settings come from it, and `given` are those written next to it.
    `label` is a name that does not follow from the above.
    """

    definition: Definition = field(repr=False)
    cutoff: float | None = None
    params: tuple[tuple[str, Any], ...] = ()
    settings: MetricSettings = field(default_factory=MetricSettings)
    convention: str | None = None
    given: tuple[tuple[str, str], ...] = ()
    label: str | None = None

    def __str__(self) -> str:
        return self._name

    @cached_property
    def _name(self) -> str:
        """The canonical name; cached, as large tables ask for it often."""
        if self.label is not None:
            return self.label
        parameters = self.definition.parameters
        if self.convention is not None:
            texts = [("convention", self.convention), *self.given]
        else:
            texts = [(name, parameters[name].text(value)) for name, value in self.params]
            texts += texts_of(self.settings)
        inside = ",".join(f"{name}={text}" for name, text in texts)
        text = self.definition.name + (f"({inside})" if inside else "")
        if self.cutoff is not None and self.definition.cutoff is not None:
            text += f"@{self.definition.cutoff.text(self.cutoff)}"
        return text

    def __repr__(self) -> str:
        return f"<Metric {self}>"

    @property
    def sign(self) -> int:
        """1, or -1 if lower values are better."""
        return -1 if self.definition.direction == "lower" else 1

    @cached_property
    def reference(self) -> str | None:
        """Name of the run that this metric compares to, if it does."""
        return dict(self.params).get("reference")

    @property
    def trec_name(self) -> str:
        """Key of pytrec_eval's results (``ndcg_cut_10``) if it has the metric, else the name.

        It leaves out parameters other than the cutoff: ``set_F`` for any beta. The level ``rel``
        is left out too.
        """
        definition, base = self.definition, self.definition.trec_name
        ours = {name for name, _ in self.params} - {"rel", definition.trec_parameter}
        if (
            base is None
            or ours
            or self.label
            or self.convention
            or self.settings != MetricSettings()
        ):
            return str(self)
        if self.cutoff is None:
            return base
        if not definition.needs_cutoff:
            cut = next((cut for cut, name in TREC_CUT.items() if name == base), None)
            return f"{cut}_{self.cutoff}" if cut else str(self)
        is_level = type(self.cutoff) is float  # which gets two decimals, and eight characters
        return f"{base}_{f'{self.cutoff:.2f}'[:8] if is_level else self.cutoff}"

    def is_bounded(self, policy: Policy = USUAL) -> bool:
        """Whether the best and the worst order of tied documents give its extreme values.

        An order by grade says nothing of the similarity to another run.
        """
        given = {text for name, value in self.params for text in (name, f"{name}={value}")}
        if policy.depth is not None:
            given |= {"depth", "judged_only"} if policy.judged_only else {"depth"}
        without = (set(parts.split("+")) for parts in self.definition.unbounded_with)
        is_free = self.definition.bounded and self.reference is None
        return is_free and not any(parts <= given for parts in without)

    @cached_property
    def takes_fractions(self) -> bool:
        """Whether grades may be fractions."""
        takes = self.definition.fractions
        if isinstance(takes, bool):
            return takes
        return "rel" in dict(self.params) or (takes is not None and takes(**self.arguments))

    def with_level(self, rel: float) -> Metric | None:
        """Return the metric with a smallest relevant grade; None if it takes none."""
        if "rel" not in self.definition.parameters or self.reference or self.convention:
            return None
        params = {**dict(self.params), "rel": rel}
        ordered = tuple((n, params[n]) for n in self.definition.parameters if n in params)
        return replace(self, params=ordered)

    def grade_rule(self, policy: Policy) -> GradeRule:
        """Return the grades that it accepts under a policy with its own settings."""
        if self.settings.grades is None and not self.takes_fractions:
            return replace(policy.grades, whole=True)
        return policy.grades

    @property
    def title(self) -> Title:
        """Name in a sentence, and keys of the literature to cite."""
        definition, variants = self.definition, self.definition.variants
        texts = (f"{n}={definition.parameters[n].text(value)}" for n, value in self.params)
        usual: Title = (definition.title, definition.cite)
        return next((variants[text] for text in texts if text in variants), usual)

    @cached_property
    def arguments(self) -> Mapping[str, Any]:
        """The keyword arguments of the metric's function."""
        arguments = {n: v for n, v in self.params if n != "reference"}
        if self.definition.cutoff is not None:
            arguments["cutoff"] = self.cutoff
        return arguments

    def __call__(self, aligned: Aligned) -> Floats:
        """Return the metric's value for each query, ``(n_queries,)`` float64."""
        function = self.definition.function
        if self.definition.is_built_in:
            return np.asarray(function(aligned, **self.arguments), dtype=np.float64)
        try:
            values = np.asarray(function(aligned, **self.arguments), dtype=np.float64)
        except Exception as error:
            raise HarnessError(self._problem(f"{type(error).__name__}: {error}")) from error
        if values.shape != (aligned.n_queries,):
            wrong = f"returned shape {values.shape} where {(aligned.n_queries,)} belongs"
            raise HarnessError(self._problem(wrong))
        return values

    def _problem(self, message: str) -> Problem:
        code = self.definition.function.__code__
        fix = f"see {code.co_filename}:{code.co_firstlineno}; --debug shows the traceback"
        return Problem(f"metric {self}", message, fix=fix)

    def expectation(self, aligned: Aligned) -> Floats | None:
        """Return each query's exact expectation over the orders of tied documents, if known."""
        if self.definition.expected != "average":
            return self(aligned) if self.definition.expected == "itself" else None
        values = self.definition.function(aligned, **self.arguments, average=True)
        return None if values is None else np.asarray(values, dtype=np.float64)

    def weights(self, aligned: Aligned) -> Floats | None:
        """Return each query's weight in the summary, or None if all weigh the same."""
        weight = self.definition.weight
        return None if weight is None else weight(aligned, **self.arguments)

    @cached_property
    def is_weighted(self) -> bool:
        """Whether queries have different weights in the summary."""
        return self.definition.weight is not None and self.weights(without_queries()) is not None

    @cached_property
    def has_empty_queries(self) -> bool:
        """Whether a query without relevant documents is special to it."""
        special = self.settings.empty is not None or self.definition.empty is not None
        return special and self.reference is None

    def empty_queries(self, aligned: Aligned) -> Bools:
        """Mask of queries without relevant documents in the metric's sense, ``(n_queries,)``."""
        if self.definition.empty_of is not None:
            return self.definition.empty_of(aligned, **self.arguments)
        if "rel" in self.definition.parameters:
            return np.equal(aligned.n_relevant(dict(self.params).get("rel", 1)), 0)
        return aligned.without_grades

    def short_lists(self, aligned: Aligned) -> Bools:
        """Mask of queries with lists that are too short for the metric, ``(n_queries,)``."""
        if self.definition.short_of is None:
            return np.zeros(aligned.n_queries, dtype=bool)
        return self.definition.short_of(aligned, **self.arguments)


_BOUNDS = ArgumentKind(
    "a pair of numbers, the smallest and the largest value",
    lambda value: isinstance(value, tuple) and len(value) == 2 and all(map(is_number, value)),
)
_TITLE = instance_of("text, or a Formula", str, Formula)
_VARIANTS = instance_of("a mapping", Mapping, type(None))
REGISTRY: dict[str, Definition] = {}
"""Every metric by its name. Filled by `metric`; read it through ``core.names``."""
ENTRIES: dict[str, str] = {}
"""BibTeX entries that metrics bring along, by their keys."""


def _key(cite: str) -> str:
    """Return the key of a citation, and keep its BibTeX entry if it is one."""
    entry = re.match(r"@\w+\{([^,\s]+),", cite.strip())
    if entry is None:
        return cite
    ENTRIES[entry[1]] = cite.strip() + "\n"
    return entry[1]


def metric(
    name: str,
    *,
    direction: Direction | None,
    bounds: tuple[float, float],
    source: str,
    unit: str = "",
    summary: Summary = "mean",
    empty: float | None = 0.0,
    missing: float | None = 0.0,
    trec_name: str | None = None,
    trec_parameter: str | None = None,
    aliases: tuple[str, ...] = (),
    cutoffs: tuple[float, ...] = (),
    weight: Callable[..., Floats | None] | None = None,
    empty_of: Callable[..., Bools] | None = None,
    short_of: Callable[..., Bools] | None = None,
    reference: bool = False,
    expected: Expected | None = None,
    bounded: bool = True,
    unbounded_with: tuple[str, ...] = (),
    fractions: bool | Callable[..., bool] | None = None,
    check: Callable[..., None] | None = None,
    title: str | Formula = "",
    cite: tuple[str, ...] = (),
    variants: Mapping[str, Title] | None = None,
) -> Callable[[Function], Function]:
    """Register a function on `harness.core.aligned.Aligned` as a metric.

    Parameters
    ----------
    name : str
        Name in configs and tables.
    direction : str or None
        ``"higher"`` or ``"lower"`` is better; None for counts.
    bounds : (float, float)
        Smallest and largest value.
    source : str
        Paper or program that defines the metric.
    unit : str
        Unit of a value ("documents", "ranks"); empty for shares.
    summary : {"mean", "sum", "gm", "median"}
        Summary over queries: mean, sum (of counts), exp of the mean (of logarithms), or median.
    empty : float or None
        Value of a query without relevant documents; None to call the function for it too.
    missing : float or None
        Value of a query that the run does not answer, under ``missing_queries: zero``. Choose NaN
        if 0 would be the best value, and None to call the function with an empty list.
    trec_name : str, optional
        Name in trec_eval, without cutoff.
    trec_parameter : str, optional
        Parameter that trec_eval appends to the name, as in ``set_F_0.5``.
    aliases : tuple of str
        Other names to accept, such as those of ir_measures.
    cutoffs : tuple of numbers
        Cutoffs of a name without any, for a metric that needs a cutoff.
    weight : callable, optional
        Function of the same arguments that returns the weight of each query in the summary.
    empty_of : callable, optional
        Function of the same arguments that returns a mask of the queries without relevant
        documents. By default, a grade of at least ``rel`` is relevant, or above 0 without ``rel``.
    short_of : callable, optional
        Function of the same arguments that returns a mask of the lists too short for the metric,
        whose values the setting ``empty`` does not change.
    reference : bool
        Add the parameter ``reference=NAME``: the metric compares with the ideal order, so it can
        compare with another run instead.
    expected : str, optional
        Exact expectation over the orders of tied documents. ``"average"``: the function computes
        it with ``average=True``, or returns None if its arguments have no closed form.
        ``"itself"``: no order changes the value. By default random orders estimate it.
    bounded : bool
        Whether the extreme values over the orders of tied documents are those with higher grades
        first and with higher grades last.
    unbounded_with : tuple of str
        Settings with which `bounded` is false: a parameter (``gains``) or one value of it
        (``gain=letor``), the policy's ``depth``, or ``judged_only`` after a depth. Join settings
        that must come together (``short+judged_only``).
    fractions : bool or callable, optional
        Whether grades may be fractions, or a function of the parameters that decides it. By
        default they may if the name has the threshold ``rel``.
    check : callable, optional
        Function that raises UnknownNameError if parameters do not fit together. It is called before
        any data are read, with the parameters and settings of the name and the largest ``cutoff``.
    title : str or Formula
        Name in a paper, such as "nDCG"; by default `name`.
    cite : tuple of str
        Papers to cite: keys of ``harness/reports/references.bib``, or BibTeX entries.
    variants : mapping of str to (title, cite), optional
        Title and papers for a value of a parameter: ``{"form=a": ("tau-a", ("kendall1938",))}``.

    Returns
    -------
    callable
        A decorator that returns the function unchanged. The function's keyword-only parameters
        become those of the metric; ``cutoff`` is written after ``@``.

    Raises
    ------
    ValueError
        If the name is taken, or a parameter has no annotation.

    Examples
    --------
    >>> import harness
    >>> @metric("first_grade", direction="higher", bounds=(0, 4), source="this example")
    ... def first_grade(aligned: Aligned):
    ...     '''Grade of the document at rank 1.'''
    ...     return aligned.sum(aligned.grade * (aligned.rank == 1))
    >>> harness.evaluate({"q1": {"a": 3, "b": 1}}, {"q1": ["b", "a"]}, ["first_grade"]).summary()
    {'first_grade': 1.0}
    """

    facts: dict[str, Any] = {**locals()}
    check_arguments(facts, name=TEXT, bounds=_BOUNDS, source=TEXT, unit=TEXT, aliases=TEXTS)
    check_arguments(facts, title=_TITLE, cite=TEXTS, variants=_VARIANTS)
    check_choice("summary", summary, typing.get_args(Summary))
    if direction is not None:
        check_choice("direction", direction, typing.get_args(Direction))
    facts |= {"title": title or name, "cite": (*map(_key, cite),), "variants": variants or {}}

    def register(function: Function) -> Function:
        if not callable(function):
            raise wrong(f"metric '{name}'", "a function", function)
        definition = Definition(function=function, **facts)
        earlier = REGISTRY.get(name)
        if earlier is not None and (
            earlier.function.__qualname__ != function.__qualname__
            or (earlier.is_built_in and not definition.is_built_in)
        ):
            raise ValueError(f"there is a metric '{name}' already")
        if not definition.is_built_in:
            definition.parameters  # noqa: B018 - a plugin's mistake is an error when it is loaded
        REGISTRY[name] = definition
        return function

    return register
