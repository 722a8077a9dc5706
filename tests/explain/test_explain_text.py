"""The published value as it is read, and what is printed."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pytest

from harness.core.tables import Qrels, Run
from harness.errors import InputError
from harness.explain.asked import read
from harness.explain.search import Found, explain
from harness.explain.space import spaces_of
from harness.explain.text import WIDTH, jsonl, render

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


@pytest.mark.parametrize("text", ["", "x", "nan", "inf", "0,4731", "47.31%%"])
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert str(caught.value) == (
        f"'{text}' is not a number\n"
        "  fix:   write the value as it was printed, such as 0.4731, .473 or 47.31%"
    )


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


def test_the_text_of_several_explanations() -> None:
    text = render(search("0.80", ["ndcg"], 2))
    title, counts, _, first, who, same, *_ = text.splitlines()
    assert title == "0.80, 2 queries"
    assert counts.endswith(" were tried")
    assert " settings give it, in " in counts
    assert first == "1. 0.796708  ndcg(convention=gdeval)@10"
    assert who == "             as gdeval.pl 1.3 computes it"
    assert same == "   the same on every query:"
    assert "     +" in text
    assert max(map(len, text.splitlines())) <= WIDTH
    everything = render(search("0.80", ["ndcg"], 2), everything=True)
    assert " more" not in everything
    assert len(everything) > len(text)


def test_the_text_where_nothing_fits() -> None:
    assert render(search("0.7960", ["ndcg@3"], 0), "run on qrels") == (
        "0.7960 of run on qrels, 2 queries\n"
        "no settings give it; 21 were tried\n"
        "\n"
        "nearest: 0.796708 (+0.000708)  ndcg(convention=gdeval)@3\n"
        "                               as gdeval.pl 1.3 computes it\n"
        "\n"
        "  tried: ndcg; the default and 20 conventions, as they stand; cutoff 3\n"
    )


def test_what_was_left_out_is_said_once_for_each_reason() -> None:
    text = " ".join(render(search("0.9", ["map", "P"], 0)).split())
    assert text.endswith(
        " tried: map, P; the default and 16 conventions, as they stand; cutoffs 1-20, 25, 30, 32, "
        "50, 100, 1000 and the whole list"
        " left out: map(convention=xgboost), map(convention=xgboost-minus), "
        "map(convention=sklearn), map(convention=torchmetrics), P(convention=xgboost), "
        "P(convention=torchmetrics): query 'q': a judgement of 2, where whole grades 0 to 1 are "
        "accepted"
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
