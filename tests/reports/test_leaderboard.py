"""The renderings of one small leaderboard, pinned to the letter, and the numbers in them."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from csv_rows import csv_rows
from hypothesis import given
from hypothesis import strategies as st

from harness.core.align import align
from harness.core.entries import Entry
from harness.core.evaluation import Counts, Evaluation, evaluate
from harness.core.leaderboard import Leaderboard
from harness.core.names import parse, parse_all
from harness.core.qrels_and_runs import Qrels, Run
from harness.reports.leaderboard import render_leaderboard
from harness.reports.phrases import fixed


@pytest.fixture
def board() -> Leaderboard:
    qrels = Qrels.from_dict({"q1": {"a": 1, "b": 0}, "q2": {"a": 1}})
    runs = {
        "good|<b>": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}, "q9": {"a": 1.0}},
        "bad": {"q1": {"a": 1.0, "b": 1.0}},
    }
    entries = []
    for place, (name, scores) in enumerate(runs.items()):
        aligned = align(qrels, Run.from_dict(scores))
        found = evaluate(aligned, parse_all(["P@1", "num_ret"]), run=name, dataset="toy")
        entries.append(Entry(found, {"seed": str(place)}))
    return Leaderboard(tuple(entries))


def test_table(board: Leaderboard) -> None:
    # P@1: good has both queries right, bad loses q1 to the tie (b > a) and misses q2.
    assert render_leaderboard(board, "table") == (
        "toy\n"
        "run       seed  queries  ties   P@1 ↑   Retrieved\n"
        "good|<b>     0      2/2     0  1.0000^          3\n"
        "bad          1      1/2     2  0.0000           2\n"
        "  ^ marks the best value of each metric; it need not be significantly better.\n"
        "  ties counts documents that share a score with another document of their query.\n"
        "  bad leaves 1 of 2 queries unanswered; it counts 0.\n"
        "  Equal scores (single precision) are ordered by descending document identifier, as in "
        "trec_eval.\n"
        "  1 query of good|<b> is answered but not judged, and does not count.\n"
    )


def test_queries_of_several_runs_are_side_by_side_in_natural_order() -> None:
    qrels = Qrels.from_dict({qid: {"a": 1, "b": 0} for qid in ("10", "2", "1")})
    runs = {"x=1": {"10": {"a": 2.0}, "1": {"b": 2.0, "a": 1.0}}, "y": {"2": {"a": 1.0}}}
    metrics = parse_all(["P@1", "num_ret"])
    found = [
        Entry(evaluate(align(qrels, Run.from_dict(scores)), metrics, run=name, dataset="toy"))
        for name, scores in runs.items()
    ]
    text = render_leaderboard(Leaderboard(tuple(found)), "table", per_query=True)
    tables = text.split("\n\n")[1:]
    assert [" ".join(table.split()) for table in tables] == [
        "toy, P@1 ↑ qid x=1 y 1 0.0000 0.0000 2 0.0000 1.0000 10 1.0000 0.0000",
        "toy, Retrieved qid x=1 y 1 2 0 2 0 1 10 1 0",
    ]
    alone = render_leaderboard(Leaderboard((found[0],)), "table", per_query=True).split("\n\n")[1:]
    assert [" ".join(table.split()) for table in alone] == [
        "x=1 on toy qid P@1 Retrieved 1 0.0000 2 2 0.0000 0 10 1.0000 1"
    ]


def test_csv_has_every_digit_and_reads_back(board: Leaderboard) -> None:
    rows = csv_rows(render_leaderboard(board, "csv"))
    assert list(rows[0]) == [
        "dataset", "run", "seed", "queries", "missing", "extra", "empty", "retrieved", "judged",
        "judgements", "tied", "undefined", "P@1", "num_ret",
    ]  # fmt: skip
    assert [row["missing"] for row in rows] == ["0", "1"]
    long = csv_rows(render_leaderboard(board, "csv", per_query=True))
    assert (long[0]["run"], long[0]["qid"], long[0]["P@1"]) == ("good|<b>", "q1", "1.0")
    assert [row["qid"] for row in long] == ["q1", "q2", "all"] * 2
    assert (long[5]["P@1"], long[5]["num_ret"]) == ("0.0", "2.0")
    assert rows[1]["num_ret"] == "2"  # a count


def test_jsonl(board: Leaderboard) -> None:
    rows = [json.loads(line) for line in render_leaderboard(board, "jsonl").splitlines()]
    assert rows[0] == {
        "dataset": "toy", "run": "good|<b>", "seed": "0", "metric": "P@1", "qid": "all",
        "value": 1.0,
    }  # fmt: skip
    assert len(render_leaderboard(board, "jsonl", per_query=True).splitlines()) == 2 * 2 * (2 + 1)


def test_json_has_counts_values_queries_and_notes(board: Leaderboard) -> None:
    content = json.loads(render_leaderboard(board, "json", per_query=True))
    assert (content["schema"], content["failed"]) == (1, [])
    good, bad = content["systems"]
    assert (good["dataset"], good["run"], good["columns"]) == ("toy", "good|<b>", {"seed": "0"})
    assert (good["counts"]["extra"], bad["counts"]["missing"], bad["counts"]["tied"]) == (1, 1, 2)
    assert good["values"] == {"P@1": 1.0, "num_ret": 3}
    assert bad["queries"] == {"q1": {"P@1": 0, "num_ret": 2}, "q2": {"P@1": 0, "num_ret": 0}}
    assert content["notes"] == ["bad leaves 1 of 2 queries unanswered; it counts 0."]
    assert "queries" not in json.loads(render_leaderboard(board, "json"))["systems"][0]


def test_trec_prints_the_program_s_three_columns(board: Leaderboard) -> None:
    text = render_leaderboard(board, "trec", per_query=True)
    assert "P_1                   \tq1\t1.0000\n" in text
    assert "num_ret               \tall\t3\n" in text
    assert "runid                 \tall\tbad\n" in text


def test_undefined_values_are_a_dash_an_empty_field_a_null_and_counted() -> None:
    metric = parse("P@1")[0]
    values = np.array([[np.nan], [np.nan]])
    evaluation = Evaluation(
        values, pa.array(["1", "2"]), (metric,), counts=Counts(queries=2), run="r", dataset="d"
    )
    board = Leaderboard((Entry(evaluation),))
    assert "–" in render_leaderboard(board, "table")
    text = render_leaderboard(board, "table")
    assert "P@1 is undefined for 2 queries; the mean is over the rest." in text
    (row,) = csv_rows(render_leaderboard(board, "csv"))
    assert (row["P@1"], row["undefined"]) == ("", "P@1=2")
    assert json.loads(render_leaderboard(board, "jsonl"))["value"] is None
    assert json.loads(render_leaderboard(board, "json"))["systems"][0]["values"] == {"P@1": None}


DOUBLES = st.floats(-1e6, 1e6)


@given(DOUBLES, st.integers(0, 17))
def test_rounding_is_that_of_format(value: float, digits: int) -> None:
    expected = f"{value:.{digits}f}"
    if not expected.strip("-0."):
        expected = expected.removeprefix("-")
    assert fixed(value, digits, leading_zero=True) == expected


@pytest.mark.parametrize(
    ("value", "digits", "percent", "text"),
    [
        (0.0005, 3, False, ".001"),  # the double is 0.00050000000000000001...
        (0.0015, 3, False, ".002"),  # 0.0015000000000000000312...
        (0.0025, 3, False, ".003"),  # 0.00250000000000000005...
        (0.5, 0, False, "0"),  # a tie, to even
        (1.5, 0, False, "2"),
        (0.125, 2, False, ".12"),  # exact in binary: a tie, to even
        (0.28, 0, True, "28"),  # 0.28 * 100 is 28.000000000000004 in floating point
        (0.00125, 1, True, "0.1"),  # 0.12500000000000000260 % : no tie
        (-0.0001, 2, False, ".00"),
        (-1.25, 1, False, "-1.2"),
        (-0.25, 2, False, "-.25"),
        (1.0, 3, False, "1.000"),
        (math.nan, 3, False, "–"),
        (math.inf, 3, False, "–"),
    ],
)
def test_what_is_shown(value: float, digits: int, percent: bool, text: str) -> None:
    assert fixed(value, digits, percent=percent) == text
