"""Conventions against the installed tools, on drawn lists.

``tests/tools`` has one file for each tool. Tools that are not installed are skipped. The golden
values of ``tests/metrics`` cover many more tools.
"""

import math
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from goldens import golden
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tools import CUTOFFS, Column, Query, dicts

import harness
from harness.core.metric import REGISTRY
from harness.core.names import parse
from harness.core.settings import CONVENTIONS, WHOLE_LIST

TOOLS = {  # our file -> what has to be installed
    "lightgbm": "lightgbm", "xgboost": "xgboost", "catboost": "catboost",
    "scikit_learn": "sklearn", "torchmetrics": "torchmetrics", "ranx": "ranx",
    "ir_measures": "ir_measures",
    "beir": "beir.retrieval.evaluation", "mteb": "mteb", "recbole": "recbole.evaluator.metrics",
    "sentence_transformers": "sentence_transformers.evaluation", "rank_eval": "math",
}  # fmt: skip
# ir_measures warns on Python 3.12 and 3.13
pytestmark = pytest.mark.filterwarnings("ignore:.* deprecated and will be removed in Python 3.14")
EXAMPLES = {"ir_measures": 3}
"""Fewer where a call is slow."""
each_tool = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name == "ranx")) for name in TOOLS],
)
"""ranx compiles its functions."""


def tool(name: str) -> ModuleType:
    adapter = import_module(f"tools.{name}")
    if hasattr(adapter, "prepare"):
        adapter.prepare()
    pytest.importorskip(TOOLS[name], exc_type=ImportError)
    return adapter


def drawn(n_documents: int, kind: str, grades: tuple[int, int], seed: int, distinct: bool) -> Query:
    """Draw a query: its documents' names, grades and scores.

    All differences between distinct scores survive float32; those of ``narrow`` do not.
    """
    random = np.random.default_rng(seed)
    low, high = grades
    rare = random.random(n_documents) < 0.4
    values = np.where(rare, random.integers(low, high + 1, n_documents), max(low, 0))
    if distinct:
        scores = (random.permutation(2 * n_documents)[:n_documents] - n_documents) / 8
    elif kind == "narrow":
        scores = 1 + 1e-9 * random.integers(0, 4, n_documents)
    elif kind == "constant":
        scores = np.full(n_documents, float(random.integers(-1, 2)))
    else:
        scores = random.choice([-3.5, -1.0, -0.0, 0.0, 0.5, 0.75, 2.0], n_documents)
    docnos = random.permutation(1000)[:n_documents]
    return Query(
        tuple(f"d{docno}" for docno in docnos), tuple(values.tolist()), tuple(scores.tolist())
    )


@st.composite
def batches(draw: st.DrawFn, grades: tuple[tuple[int, int], ...], at_least: int) -> list[Query]:
    """Draw several queries whose grades lie in the same range; half of the time without ties."""
    bounds, distinct = draw(st.sampled_from(grades)), draw(st.booleans())
    one = st.builds(
        drawn,
        st.integers(at_least, 16) | st.integers(at_least, 40),
        st.sampled_from(["few", "narrow", "constant"]),
        st.sampled_from([bounds, bounds, bounds, (0, 0)]),
        st.integers(0, 2**32 - 1),
        st.just(distinct),
    )
    return draw(st.lists(one, min_size=1, max_size=12))


def ours(queries: list[Query], names: list[str]) -> harness.Evaluation:
    return harness.evaluate(*dicts(queries), names)


def within(adapter: Any, metric: str, value: float) -> float:
    """Largest difference allowed between our value and the tool's."""
    digits = getattr(adapter, "DIGITS", {})
    for convention, places in digits.items():
        if f"convention={convention}" in metric:
            return 0.5 * 10.0**-places + 1e-9
    return (3e-6 if getattr(adapter, "SINGLE", False) else 1e-9) * max(1.0, abs(value))


def compare(adapter: Any, queries: list[Query]) -> int:
    """Assert that every value and every mean is the tool's; return how many were compared."""
    printed = adapter.printed(queries)
    found = ours(queries, list(printed))
    assert found.qids.to_pylist() == sorted(found.qids.to_pylist())
    summary = found.summary()
    compared = 0
    for metric, column in printed.items():
        (parsed,) = parse(metric)
        values = found.values[:, [str(each) for each in found.metrics].index(str(parsed))]
        if parsed.settings.undefined == "zero":  # in the mean; each is NaN
            values = np.nan_to_num(values)
        pairs = list(zip(values.tolist(), column.values, queries, strict=True))
        if column.mean is not None:
            pairs.append((summary[str(parsed)], column.mean, queries))
        for mine, theirs, what in pairs:
            if theirs is None:
                continue
            where = (metric, mine, theirs, what)
            assert math.isnan(mine) == math.isnan(theirs), where
            assert math.isnan(mine) or abs(mine - theirs) <= within(adapter, metric, theirs), where
            compared += 1
    return compared


def missing(adapter: Any, names: list[str]) -> list[str]:
    """Metrics of the adapter's conventions that it does not cover."""
    bare = [name.replace(",labels=clip", "").replace(",denominator=list", "") for name in names]
    expected = []
    for convention in adapter.CONVENTIONS:
        for metric, own in CONVENTIONS[convention].metrics.items():
            cut = REGISTRY[metric].cutoff is not None and own.get("cutoff") != WHOLE_LIST
            cutoffs = [f"@{k}" for k in CUTOFFS] if cut else [""]
            expected += [f"{metric}(convention={convention}){at}" for at in cutoffs]
    return [name for name in expected if name not in bare]


HAND = [  # all grades 0 or 1, so that every metric is covered
    Query(("a", "b", "c"), (0, 1, 1), (3.0, 2.0, 1.0)),
    Query(("d", "e"), (0, 0), (0.25, 0.5)),
]


@each_tool
def test_every_metric_of_a_convention_is_covered(name: str) -> None:
    adapter = tool(name)
    assert missing(adapter, list(adapter.printed(HAND))) == []
    assert compare(adapter, HAND) > 10


@pytest.mark.filterwarnings("ignore:run. none of the")  # all grades drawn are below 0
@each_tool
def test_drawn_lists(name: str) -> None:
    adapter = tool(name)
    compared: list[int] = []

    @settings(
        max_examples=EXAMPLES.get(name, 8), deadline=None, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(batches(adapter.GRADES, getattr(adapter, "AT_LEAST", 1)))
    def check(queries: list[Query]) -> None:
        compared.append(compare(adapter, queries))

    check()
    assert sum(compared) > 100


GOLDEN = golden("tool_values")
"""What packages that few people have printed, through the same adapters, for eight lists."""


@pytest.mark.parametrize("name", GOLDEN["values"])
def test_values_of_packages_that_need_not_be_installed(name: str) -> None:
    queries = [Query(*map(tuple, one)) for one in GOLDEN["queries"]]
    columns = {}
    for metric, (values, mean) in GOLDEN["values"][name].items():
        columns[metric] = Column([math.nan if one == "nan" else one for one in values], mean)
    adapter = import_module(f"tools.{name}")
    printed = SimpleNamespace(**{**vars(adapter), "printed": lambda _: columns})
    assert missing(printed, list(columns)) == []
    assert compare(printed, queries) > 80


def refused() -> list[Any]:
    return [
        pytest.param(name, metric, grade, id=f"{name}-{metric}-{grade}")
        for name in TOOLS
        for metric, grade in getattr(import_module(f"tools.{name}"), "REFUSED", ())
    ]


@pytest.mark.parametrize(("name", "metric", "grade"), refused())
def test_grades_that_the_tool_refuses_are_refused(name: str, metric: str, grade: int) -> None:
    adapter = tool(name)
    query = Query(("a", "b", "c"), (0, grade, 1), (3.0, 2.0, 1.0))
    with pytest.raises(Exception, match=r"."):  # each has its own type
        adapter.refuse(metric, query)
    cutoff = "" if (name, metric) == ("scikit_learn", "map") else "@3"
    with pytest.raises(harness.HarnessError, match=rf" {grade}\b"):
        ours([query], [f"{metric}(convention={adapter.CONVENTIONS[0]}){cutoff}"])


@pytest.mark.parametrize("metric", ["ndcg", "dcg"])
def test_scikit_learn_refuses_a_document_alone(metric: str) -> None:
    adapter = tool("scikit_learn")
    query = Query(("a",), (1,), (1.0,))
    with pytest.raises(ValueError, match=r"1 document|supported"):
        adapter.refuse(metric, query)
    with pytest.raises(harness.HarnessError, match=r"\b2 documents\b"):
        ours([query], [f"{metric}(convention=sklearn)@3"])
