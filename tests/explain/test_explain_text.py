"""The published value as it is read, and what is printed."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pytest

from harness.audit.explain import Found, explain
from harness.audit.explain_report import jsonl, render
from harness.audit.explain_space import read, spaces_of
from harness.core.tables import Qrels, Run
from harness.errors import InputError

# nDCG@2 is 0.796708 with gain 2^g - 1, 0.859719 with gain g: see test_explain_search
QRELS = {"q": {"a": 1, "b": 2}, "r": {"a": 0, "b": 0}}
RUN = {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 2.0, "b": 1.0}}


def search(value: str, names: list[str], depth: int) -> Found:
    return explain(read(value), Qrels.from_dict(QRELS), Run.from_dict(RUN), spaces_of(names), depth)


@pytest.mark.parametrize(
    ("text", "number", "windows"),
    [
        ("0.4731", "0.4731", [(0.47305, 0.47315)]),
        (".473", "0.473", [(0.4725, 0.4735)]),
        ("0.50", "0.50", [(0.495, 0.505)]),
        ("1", "1", [(0.5, 1.5)]),
        ("47.31%", "47.31", [(0.47305, 0.47315)]),
        ("0.5 %", "0.5", [(0.0045, 0.0055)]),
        ("47.31", "47.31", [(47.305, 47.315), (0.47305, 0.47315)]),
        ("4.731e-1", "0.4731", [(0.47305, 0.47315)]),
    ],
)
def test_a_published_value(text: str, number: str, windows: list[tuple[float, float]]) -> None:
    asked = read(text)
    assert asked.number == Decimal(number)
    assert [(w.low, w.high) for w in asked.windows()] == windows


def test_both_ways_of_rounding_a_half_are_accepted() -> None:
    (window,) = read("0.4731").windows()
    values = np.array([0.47304, 0.47305, 0.4731, 0.47315, 0.47316])
    assert (window.distances(values) == 0).tolist() == [False, True, True, True, False]
    assert window.distances(values)[-1] == pytest.approx(0.00006)
    # 0.47305 as a mean in floating point: a rounding error below it
    assert window.distances(np.nextafter([0.47305], 0)).tolist() == [0.0]


@pytest.mark.parametrize("text", ["", "x", "nan", "inf", "1,234.5", "47.31%%"])
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert str(caught.value) == (
        f"'{text}' is not a number\n"
        "  fix:   write the value as it was printed, such as 0.4731, .473 or 47.31%"
    )


@pytest.mark.parametrize(
    ("value", "names", "line"),
    [
        ("79.67", ["ndcg@3"], "read as 79.67 %, as ndcg lies within 0 and 1; 79.67 itself"),
        ("79.67", ["ndcg@3", "map"], "read as 79.67 %, as map and ndcg lie within 0 and 1; "),
        ("79.67%", ["ndcg@3"], "1 setting gives it"),
        ("0.7967", ["ndcg@3"], "1 setting gives it"),
        ("1.5", ["dcg@3"], "no settings give it"),
    ],
)
def test_how_a_value_above_1_was_read(value: str, names: list[str], line: str) -> None:
    assert render(search(value, names, 0)).splitlines()[1].startswith(line)


def test_a_value_above_1_is_itself_before_it_is_a_percentage() -> None:
    # dcg@2 of q is 1 + 2/log2(3) = 2.2619 with gain g, of r 0: the mean is 1.1309
    found = search("1.13", ["ndcg", "dcg@2"], 1)
    best = [explanation.best.value for explanation in found.explanations]
    assert best[0] == pytest.approx(1.13093, abs=1e-5)
    assert best == sorted(best, key=lambda value: value < 1)


def test_tied_documents_where_nothing_fits() -> None:
    # P@1 of a relevant and another document of one score: 1 or 0, and 0.5 on average
    qrels, run = Qrels.from_dict({"q": {"a": 1, "b": 0}}), Run.from_dict({"q": {"a": 1, "b": 1}})
    found = explain(read("0.3"), qrels, run, spaces_of(["P@1"]), 1)
    assert (found.explanations, found.n_tied, found.n_retrieved) == ((), 2, 2)
    reaches = {str(reach.metric): (reach.low, reach.high) for reach in found.reaches}
    assert reaches["P@1"] == reaches["P(convention=torchmetrics)@1"] == (0, 1)
    assert "P(convention=lightgbm)@1" not in reaches  # whose order follows a rule
    text = " ".join(render(found).split())
    assert "2 of 2 retrieved documents are tied: where no rule gives their order (" in text
    assert "0.3 lies between them for P@1 0.000000 to 1.000000" in text
    (row,) = map(json.loads, jsonl(found).splitlines())
    assert row["tied"] == 2
    assert {"metric": "P@1", "low": 0, "high": 1} in row["between"]
    found = explain(read("1.3"), qrels, run, spaces_of(["dcg@1"]), 1)
    text = " ".join(render(found).split())
    assert "1.3 lies between them for none of the metrics and usual cutoffs" in text


def test_the_text_of_an_explanation() -> None:
    # Cutoff 3 with lists of two documents, so that letor, mslr and ptranking give 0
    assert render(search("0.7967", ["ndcg@3"], 0), "run on qrels") == (
        "0.7967 of run on qrels, 2 queries\n"
        "1 setting gives it; 21 were tried\n"
        "\n"
        "1. 0.796708  ndcg(convention=gdeval)@3\n"
        "             as gdeval.pl 1.3 computes it\n"
        "   without effect here: missing_queries\n"
        "\n"
        "  tried: ndcg; the default and 20 conventions, as they stand; cutoff 3\n"
    )


def test_json_lines() -> None:
    (row,) = map(json.loads, jsonl(search("79.67%", ["ndcg@3"], 0)).splitlines())
    assert row == {
        "published": "79.67%", "fits": True, "place": 1, "metric": "ndcg(convention=gdeval)@3",
        "missing_queries": "zero", "tool": "gdeval.pl 1.3", "changed": 0,
        "value": pytest.approx(0.796708, abs=1e-6), "same": [],
        "without_effect": ["missing_queries"], "tried": 21,
    }  # fmt: skip
    (row,) = map(json.loads, jsonl(search("0.7960", ["ndcg@3"], 0)).splitlines())
    assert row["fits"] is False
    assert row["difference"] == pytest.approx(0.000708, abs=1e-6)
    rows = [json.loads(line) for line in jsonl(search("0.8", ["ndcg"], 1)).splitlines()]
    assert [row["place"] for row in rows] == [*range(1, len(rows) + 1)]
    assert all({"metric", "tool", "changed"} <= {*other} for row in rows for other in row["same"])
