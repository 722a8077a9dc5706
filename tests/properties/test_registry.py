"""What holds for every metric there is, read off its own facts.

A new metric is held to it by being registered: nothing here lists metrics.
"""

import ast
import inspect
import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from alignments import Case, aligned_of, tables
from hypothesis import given
from hypothesis import strategies as st

from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.evaluation import evaluate
from harness.core.metric import REGISTRY, Definition, Metric
from harness.core.names import parse
from harness.core.policy import Policy
from harness.core.qrels_and_runs import Qrels, Run

# The width of a bound is no quality: it is largest where least is known. LETOR's script gives
# grades from 3 no gain, so that the order by grade is not the best for it.
NO_QUALITY = {("rbo", ("form", "res")), ("rbp", ("form", "residual"))}
# What could still be found is no less for want of relevant documents.
OPEN = {("form", "residual"), ("form", "upper")}
NO_QUALITY |= {(name, ("gain", "letor")) for name in ("dcg", "ndcg", "mean_ndcg")}
# Gains below 0 take the value out of its bounds.
UNBOUNDED = {("negative", "value"), ("denominator", "grades")}
TOLERANCE = 1e-9

DEFINITIONS = [d for d in REGISTRY.values() if d.function.__module__.startswith("harness.")]
each_definition = pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.name)


def variants(definition: Definition) -> Iterator[Metric]:
    settings_of: list[tuple[tuple[str, object], ...]] = [()]
    for name, parameter in definition.parameters.items():
        values: tuple[object, ...] = parameter.choices
        if parameter.type is bool:
            values = (True, False)
        if name == "rel":
            values = (1, 2)
        settings_of += [
            ((name, value),) for value in values if value not in (parameter.default, "error")
        ]
    cutoffs: tuple[float | None, ...] = (None,)
    if definition.cutoff is not None:
        some = definition.cutoffs[:3] + definition.cutoffs[-1:] or (1, 3, 10)
        cutoffs = tuple(dict.fromkeys(some))
        if not definition.needs_cutoff:
            cutoffs = (None, *cutoffs)
    for params, cutoff in itertools.product(settings_of, cutoffs):
        inside = ",".join(f"{n}={definition.parameters[n].text(value)}" for n, value in params)
        at = "" if cutoff is None else f"@{cutoff}"
        yield from parse(f"{definition.name}({inside}){at}")


METRICS = [metric for definition in DEFINITIONS for metric in variants(definition)]


def is_quality(metric: Metric) -> bool:
    named = {(metric.definition.name, param) for param in metric.params}
    return metric.definition.direction is not None and not NO_QUALITY & named


def columns(aligned: Aligned, metrics: list[Metric]) -> dict[str, np.ndarray]:
    return {str(metric): metric(aligned) for metric in metrics}


grades = st.sampled_from([-1, 0, 0, 0, 1, 1, 2, 3, 4])
docnos = st.sampled_from([f"d{number}" for number in range(15)])
scores = st.sampled_from([0.0, 0.5, 1.0, 2.0, -1.0]) | st.floats(-9, 9, width=32)
judged = st.dictionaries(docnos, grades, min_size=1, max_size=12)
retrieved = st.dictionaries(docnos, scores, max_size=12)
queries = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]), st.tuples(judged, retrieved), min_size=1
)


@each_definition
def test_facts_are_complete(definition: Definition) -> None:
    assert definition.source
    low, high = definition.bounds
    assert low <= high
    if definition.direction is not None and definition.empty is not None:
        assert math.isnan(definition.empty) or low <= definition.empty <= high
    if definition.direction == "lower":
        # a query without an answer must not get the best value there is
        assert definition.missing is None or math.isnan(definition.missing)
    if definition.summary == "sum" or not any(map(math.isfinite, definition.bounds)):
        assert definition.bounds != (0, 1)
    assert definition.needs_cutoff <= bool(definition.cutoffs)


@each_definition
def test_docstring_says_what_it_is(definition: Definition) -> None:
    text = inspect.getdoc(definition.function) or ""
    assert definition.headline
    assert definition.headline[0].isupper() or definition.headline[0].isdigit()
    assert text.split("\n\n", 1)[0].rstrip().endswith(".")
    assert "\n>>> " in text
    for name, parameter in definition.parameters.items():
        if name != "reference":
            assert parameter.about or name in text.partition("Parameters\n----------\n")[2], name


def test_each_metric_has_an_oracle() -> None:
    """A test marked ``@pytest.mark.oracle("arp")``, or pytrec_eval in test_trec_oracle.py."""
    proved = set()
    for path in Path(__file__).parents[1].rglob("test_*.py"):
        for test in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                for mark in test.decorator_list:
                    match mark:
                        case ast.Call(ast.Attribute(attr="oracle"), args):
                            proved |= {ast.literal_eval(name) for name in args}
    names = {definition.name for definition in DEFINITIONS}
    theirs = {d.name for d in DEFINITIONS if d.trec_name in pytrec_eval.supported_measures}
    assert proved <= names, "no metric has these names"
    assert names - theirs <= proved, "mark a test of these metrics as their oracle"


@each_definition
def test_name_round_trips(definition: Definition) -> None:
    for metric in variants(definition):
        assert parse(str(metric)) == [metric]
        if metric.cutoff is not None or not metric.definition.needs_cutoff:
            # trec_eval's names leave out the relevance level, which is an option of the program
            level = {name: value for name, value in metric.params if name == "rel"}
            assert metric in parse(metric.trec_name, level)


@given(queries)
def test_values_are_within_bounds_and_the_same_when_computed_twice(case: Case) -> None:
    aligned = aligned_of(case)
    first = columns(aligned, METRICS)
    for metric in METRICS[::-1]:
        values = metric(aligned)
        np.testing.assert_array_equal(values, first[str(metric)], str(metric))
        assert values.shape == (aligned.n_queries,)
        assert values.dtype == np.float64
        low, high = metric.definition.bounds
        inside = np.isnan(values) | ((values >= low) & (values <= high))
        assert inside.all() or UNBOUNDED & set(metric.params), (str(metric), values)


@given(queries, st.randoms(use_true_random=False))
def test_the_order_of_the_input_changes_nothing(case: Case, random: object) -> None:
    def shuffled(mapping: dict) -> dict:
        items = list(mapping.items())
        random.shuffle(items)  # type: ignore[attr-defined]
        return dict(items)

    other = {qid: (shuffled(qrel), shuffled(run)) for qid, (qrel, run) in shuffled(case).items()}
    qrels, run = tables(case)
    moved_qrels, moved_run = tables(other)
    moved_run = Run.from_dict(shuffled(moved_run.to_dict()))
    policy = Policy(ties="trec_eval")
    before = evaluate(align(qrels, run, policy), METRICS)
    after = evaluate(align(moved_qrels, moved_run, policy), METRICS)
    place = [after.qids.to_pylist().index(qid) for qid in before.qids.to_pylist()]
    np.testing.assert_array_equal(before.values, after.values[place])


@given(
    st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, 4]), min_size=1, max_size=10),
    st.lists(st.floats(-9, 9, width=32), min_size=10, max_size=10, unique=True),
    st.permutations(range(10)),
)
def test_the_ideal_order_gives_the_best_value(
    labels: list[int], values: list[float], order: list[int]
) -> None:
    """The same scores, handed out by falling grade or at random, to documents all judged."""
    docs = [f"d{i}" for i in range(len(labels))]
    used = values[: len(labels)]
    by_grade = sorted(docs, key=lambda d: -labels[docs.index(d)])
    ideal = dict(zip(by_grade, sorted(used, reverse=True), strict=True))
    anyhow = dict(zip(docs, [used[i] for i in order if i < len(used)], strict=True))
    judged = dict(zip(docs, labels, strict=True))
    best, other = (aligned_of({"q": (judged, scores)}) for scores in (ideal, anyhow))
    for metric in METRICS:
        if not is_quality(metric):
            continue
        sign = 1 if metric.definition.direction == "higher" else -1
        ahead = sign * (metric(best) - metric(other))
        scale = np.abs(metric(best)) + 1
        assert np.isnan(ahead).all() or (ahead >= -TOLERANCE * scale).all(), str(metric)


FALLING = {"a": 2.0, "b": 1.0}
EMPTY = {"empty": ({"a": 0, "b": 0}, FALLING), "fine": ({"a": 1, "b": 0}, FALLING)}


@each_definition
def test_a_query_without_relevant_documents(definition: Definition) -> None:
    policies = (Policy(empty_queries=how) for how in ("zero", "skip", "one"))
    aligned, skipped, filled = (aligned_of(EMPTY, policy) for policy in policies)
    for metric in variants(definition):
        value, expected = metric(aligned)[0], definition.empty
        if expected is None:
            continue
        if not {("short", "nan"), *OPEN} & set(metric.params):
            if metric.params == (("normalize", True),):
                expected = math.nan  # a share of no pairs
            if metric.params == (("form", "a"),):
                expected = 0.0  # tau-a of equal grades: no pair is right and none wrong
            np.testing.assert_equal(value, expected, str(metric))
        assert np.isnan(evaluate(skipped, [metric]).values[0, 0])
        in_unit = definition.bounds == (0, 1)
        one = evaluate(filled, [metric]).values[0, 0]
        np.testing.assert_equal(one, 1.0 if in_unit else value, str(metric))


@each_definition
def test_queries_without_an_answer_and_of_one_document(definition: Definition) -> None:
    qrels = Qrels.from_dict({"one": {"a": 1}, "none": {"a": 0}, "lost": {"a": 1}, "no": {"a": 1}})
    run = Run.from_dict({"one": {"a": 1.0}, "none": {"a": 1.0}, "lost": {"x": 1.0}})
    aligned = align(qrels, run)
    low, high = definition.bounds
    for metric in variants(definition):
        values = evaluate(aligned, [metric]).values[:, 0]
        assert (np.isnan(values) | ((values >= low) & (values <= high))).all()
        expected = definition.missing
        np.testing.assert_equal(values[3], metric(aligned)[3] if expected is None else expected)
        if is_quality(metric) and definition.direction == "higher":
            assert not values[2] > values[0]


@each_definition
def test_weights_fit_the_values(definition: Definition) -> None:
    aligned = aligned_of(EMPTY)
    for metric in variants(definition):
        weights = metric.weights(aligned)
        assert weights is None or (weights.shape == (2,) and (weights >= 0).all())
