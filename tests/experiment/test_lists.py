"""Rankings and relevant documents without numbers, and rows in lists, on all paths."""

import collections
import itertools
import json
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from command_line import called, succeeds
from refusals import refuses, warns

import harness
from harness import Qrels, Run
from harness.errors import ArgumentError, InputError

Rankings = dict[str, list[str]]
RELEVANT: Rankings = {"10": ["b=1", "d2"], "2": ["d10"], "1": ["d2", "c", "z"]}
RANKED: Rankings = {"2": ["x", "d10", "y"], "10": ["d2", "a", "b=1", "q"], "1": ["c"], "7": ["c"]}
METRICS = ["map", "ndcg@2", "P@3", "recip_rank", "bpref", "mse", "swaps", "rbp", "unjudged@2"]


def graded(relevant: Rankings) -> dict[str, dict[str, int]]:
    return {qid: dict.fromkeys(docnos, 1) for qid, docnos in relevant.items()}


def scored(ranked: Rankings) -> dict[str, dict[str, float]]:
    return {
        qid: {docno: float(len(docnos) - place) for place, docno in enumerate(docnos)}
        for qid, docnos in ranked.items()
    }


QREL, RUN = graded(RELEVANT), scored(RANKED)
GRADES = [(qid, docno, 1) for qid, row in QREL.items() for docno in row]
PAIRED = [row[:2] for row in GRADES]
SCORES = [(qid, docno, score) for qid, row in RUN.items() for docno, score in row.items()]
EXPECTED = harness.evaluate(QREL, RUN, METRICS).to_dict()


class Judged(NamedTuple):  # as ir_measures has it
    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


Hit = collections.namedtuple("Hit", "query_id doc_id score")


def columns(rows: Rankings) -> dict[str, list[Any]]:
    return {"qid": [*rows], "docnos": [*rows.values()]}


def series(rows: Rankings) -> pd.Series:
    flat = [(qid, docno) for qid, docnos in rows.items() for docno in docnos]
    return pd.DataFrame(flat, columns=["qid", "docno"]).groupby("qid").docno.apply(list)


def records(rows: list[Any], *names: str) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in rows]


BOTH = {  # forms of rankings, of which each is one of relevant documents, too
    "lists": lambda rows: rows,
    "tuples": lambda rows: {qid: tuple(row) for qid, row in rows.items()},
    "arrays": lambda rows: {qid: np.array(row) for qid, row in rows.items()},
    "arrays of objects": lambda rows: {q: np.array(row, object) for q, row in rows.items()},
    "a series": series,
    "an Arrow table": lambda rows: pa.table(columns(rows)),
    "a data frame": lambda rows: pd.DataFrame(columns(rows)),
    "a polars frame": lambda rows: pl.DataFrame(columns(rows)),
    "records": lambda rows: [{"qid": q, "docnos": row} for q, row in rows.items()],
}
OF_QRELS: dict[str, Any] = {
    "sets": {qid: {*row} for qid, row in RELEVANT.items()},
    "frozen sets": {qid: frozenset(row) for qid, row in RELEVANT.items()},
    "keys": {qid: row.keys() for qid, row in QREL.items()},
    "rows": GRADES,
    "rows in lists": [*map(list, GRADES)],
    "named tuples": [Judged(*row) for row in GRADES],
    "graded records": records(GRADES, "query_id", "doc_id", "relevance"),
    "records without grades": records(PAIRED, "qid", "docno"),
    "columns without grades": dict(
        zip(["qid", "docno"], map(list, zip(*PAIRED, strict=True)), strict=True)
    ),
    "a frame without grades": pd.DataFrame(PAIRED, columns=["qid", "docno"]),
    "pairs": {qid: [*row.items()] for qid, row in QREL.items()},
}
OF_RUNS: dict[str, Any] = {
    "rows": SCORES,
    "named tuples": [Hit(*row) for row in SCORES],
    "scored records": records(SCORES[::-1], "topic_id", "did", "sim"),
    "pairs": {qid: [*row.items()][::-1] for qid, row in RUN.items()},
    "records by query": {
        qid: records([*row.items()][::-1], "corpus_id", "score") for qid, row in RUN.items()
    },
    "lists of scores": pa.table(
        {**columns(RANKED), "scores": [[*row.values()] for row in RUN.values()]}
    ),
}
QREL_FORMS = {name: form(RELEVANT) for name, form in BOTH.items()} | OF_QRELS
RUN_FORMS = {name: form(RANKED) for name, form in BOTH.items()} | OF_RUNS


@pytest.mark.parametrize("form", QREL_FORMS)
def test_relevant_documents_have_grade_1(form: str) -> None:
    assert harness.evaluate(QREL_FORMS[form], RUN, METRICS).to_dict() == EXPECTED


@pytest.mark.parametrize("form", RUN_FORMS)
def test_a_ranking_has_falling_scores(form: str) -> None:
    assert harness.evaluate(QREL, RUN_FORMS[form], METRICS).to_dict() == EXPECTED


TIES = ["trec_eval", "stable", "average", "best", "worst", "bounds", "random(3)"]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_a_ranking_has_no_ties(ties: str, missing: str) -> None:
    policy = {"ties": ties, "missing_queries": missing}
    metrics = ["map", "ndcg@2", "recip_rank", "P@1"]
    found = harness.evaluate(RELEVANT, RANKED, metrics, policy=policy)
    for row in found.to_dict().values():
        for metric in metrics:
            values = {value for name, value in row.items() if name.startswith(metric)}
            assert len(values) == 1
    alone = harness.evaluate(
        RELEVANT, RANKED, metrics, policy={"missing_queries": missing}
    ).to_dict()
    assert {q: {m: row[m] for m in metrics} for q, row in found.to_dict().items()} == alone


def test_lists_with_qids() -> None:
    qids = [*RELEVANT]
    ranked = [RANKED[qid] for qid in qids]
    found = harness.evaluate([*RELEVANT.values()], ranked, METRICS, qids=qids)
    assert found.to_dict() == EXPECTED
    numbers = harness.evaluate([{*row} for row in RELEVANT.values()], ranked, METRICS,
                               qids=np.array([*map(int, qids)]))  # fmt: skip
    assert numbers.to_dict() == EXPECTED
    assert harness.evaluate(RELEVANT, ranked, METRICS, qids=qids).to_dict() == EXPECTED
    padded = harness.evaluate(np.array([["a"], ["b"]]), np.array([["a", "c"], ["d", "b"]]),
                              ["recip_rank"], qids=["2", "10"])  # fmt: skip
    assert padded.to_dict() == {"2": {"recip_rank": 1.0}, "10": {"recip_rank": 0.5}}
    compared = harness.evaluate(QREL, RUN, ["rbo(reference=x)"], qids=qids,
                                references={"x": ranked})  # fmt: skip
    assert (
        compared.to_dict()
        == harness.evaluate(
            QREL, RUN, ["rbo(reference=x)"], references={"x": {qid: RUN[qid] for qid in qids}}
        ).to_dict()
    )


def test_tables_from_dicts() -> None:
    assert Qrels.from_dict(RELEVANT).to_dict() == QREL
    assert Qrels.from_dict({q: {*row} for q, row in RELEVANT.items()}).to_dict() == QREL
    assert Run.from_dict(RANKED).to_dict() == RUN
    assert Run.from_dict({"q": []}).to_dict() == {"q": {}}
    first = Run.from_dict({"q": ["a", "b", "a"]}, duplicates="first")
    assert first.to_dict() == {"q": {"a": 3, "b": 2}}
    assert Run.from_dict({"q": ["a", "b", "a"]}, duplicates="last").to_dict() == {
        "q": {"b": 2, "a": 1}
    }


def test_a_query_with_an_empty_list() -> None:
    """It is not answered as a run, and left out of qrels with a warning."""
    metrics = ["map", "num_q"]
    for empty in ([], ()):
        run = {**RANKED, "10": empty}
        expected = harness.evaluate(QREL, {**RUN, "10": {}}, metrics)
        assert harness.evaluate(QREL, run, metrics).to_dict() == expected.to_dict()
    with warns("empty-groups"):
        found = harness.evaluate({**RELEVANT, "10": set()}, RANKED, metrics)
    assert [*found.to_dict()] == ["2", "1"]
    table = pa.table(columns({**RELEVANT, "10": []}))
    with warns("empty-groups"):
        assert harness.evaluate(table, RANKED, metrics).to_dict() == found.to_dict()


def test_other_functions_take_lists(tmp_path: Path) -> None:
    other = {qid: row[::-1] for qid, row in RANKED.items()}
    lists, dicts = {"a": RANKED, "b": other}, {"a": RUN, "b": scored(other)}
    found = harness.compare(RELEVANT, lists, ["map", "ndcg"], baseline="a")
    assert str(found) == str(harness.compare(QREL, dicts, ["map", "ndcg"], baseline="a"))
    gates = [harness.gate(q, r, ["map"], baseline="a", margin="1%")
             for q, r in ((RELEVANT, lists), (QREL, dicts))]  # fmt: skip
    assert str(gates[0]) == str(gates[1])
    pages = [harness.page(tmp_path / "p.html", q, r, ["map"]).read_text()
             for q, r in ((RELEVANT, lists), (QREL, dicts))]  # fmt: skip
    assert pages[0] == pages[1]
    batch = harness.from_pytrec_eval({"1": ["a", "b"]}, {"1": ["b", "a"]})
    assert [part.tolist() for part in batch[:3]] == [[[1, 2]], [[1, 1]], [2]]


LAST = f"qrels: row {len(GRADES) + 1}"
AB: dict[str, Any] = {"qid": "1", "docnos": ["a", "b"]}
REFUSED: dict[str, tuple[Any, Any, str, str]] = {
    "a set as a run": (RELEVANT, {"1": {"a"}}, "run", ""),
    "keys as a run": (RELEVANT, {"1": RUN["1"].keys()}, "run", ""),
    "a docno twice": (
        RELEVANT, {"1": ["b", "a"], "2": ["a", "b", "a"]}, "run: query '2'", "duplicates",
    ),
    "a judgement twice": ({"1": ["a", "a"]}, RANKED, "qrels: query '1'", "duplicates"),
    "fractions as qids": ({1.5: ["a"]}, RANKED, "qrels", ""),
    "numbers among docnos": ({"1": ["a", 7]}, RANKED, "qrels", ""),
    "nothing among docnos": (RELEVANT, {"1": ["a", None]}, "run", ""),
    "numbers as docnos": ({1: [20, 40]}, {1: [10, 20, 30]}, "run", ""),
    "arrays of numbers as docnos": ({1: [20, 40]}, {1: np.array([40, 20])}, "run", ""),
    "a list and a dict": (RELEVANT, {"1": ["a"], "2": {"b": 1.0}}, "run", ""),
    "text in place of a list": ({"1": ["a"], "2": "b"}, RANKED, "qrels", ""),
    "lists without qids": ([["a"]], [["b", "a"]], "qids", ""),
    "several runs": (RELEVANT, [RANKED, RANKED], "run", ""),
    "rows of two forms": ([*GRADES, ("1", "v")], RANKED, LAST, "columns"),
    "two rows of a document": ([*GRADES, GRADES[0]], RANKED, LAST, "duplicates"),
    "grades of two types": ([*GRADES, ("1", "v", "2")], RANKED, "qrels", "columns"),
    "a record without a score": (
        RELEVANT, [*records(SCORES, "qid", "docno", "score"), {"qid": "1", "docno": "b"}],
        f"run: row {len(SCORES) + 1}", "",
    ),
    "a ranking without numbers": (RELEVANT, [{"qid": "1", "docno": "a"}], "run", ""),
    "two rankings of a query": (RELEVANT, [AB, {**AB, "docnos": ["c"]}], "run", "duplicates"),
    "fewer scores": (RELEVANT, [{**AB, "scores": [1.0]}], "run: row 1", "columns"),
    "a docno twice in a row": (
        RELEVANT, pa.table({"qid": ["1", "2"], "docnos": [["a", "b"], ["c", "c"]]}),
        "data frame: row 2", "duplicates",
    ),
    "scores of an unknown name": (RELEVANT, [{**AB, "odd": [1.0, 2.0]}], "run", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    qrels, run, place, rule = REFUSED[case]
    with refuses(place, rule, InputError):
        harness.evaluate(qrels, run, ["map"])


ORDERS = {
    "lists": RANKED,
    "records of lists": [{"qid": qid, "docnos": row} for qid, row in RANKED.items()],
    "an Arrow table": pa.table(columns(RANKED)),
}


@pytest.mark.parametrize("form", ORDERS)
def test_a_ranking_is_no_distance(form: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        harness.evaluate(RELEVANT, ORDERS[form], ["map"], order="ascending")
    assert caught.value.problems[0].rule == "columns"
    for name in ("lists.json", "rows.jsonl"):
        (tmp_path / name).write_text(FILES_OF_RUNS[name])
        with refuses(name, "columns", InputError):
            harness.evaluate(RELEVANT, tmp_path / name, ["map"], order="ascending")


def test_options_of_lists(tmp_path: Path) -> None:
    """A docno that a list names twice counts where the setting says, in files, too."""
    twice = {"1": ["z", "x", "c", "z"], "2": ["y", "d10"]}
    (tmp_path / "a.json").write_text(json.dumps(twice))
    rows = lines({"q_no": qid, "found": row} for qid, row in twice.items())
    (tmp_path / "a.jsonl").write_text(rows)
    names = {"qid": "q_no", "docno": "found"}
    forms = [(twice, None), (tmp_path / "a.json", None), (tmp_path / "a.jsonl", names)]
    once = {"first": ["z", "x", "c"], "best": ["z", "x", "c"], "last": ["x", "c", "z"]}
    for duplicates, ranking in once.items():
        expected = harness.evaluate(QREL, scored({**twice, "1": ranking}), ["map", "recip_rank"])
        for run, columns_read in forms:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", harness.errors.HarnessWarning)
                found = harness.evaluate(RELEVANT, run, ["map", "recip_rank"],
                                         duplicates=duplicates, columns=columns_read)  # fmt: skip
            assert found.to_dict() == expected.to_dict()
    with refuses("a.json: query '1'", "duplicates", InputError):
        harness.evaluate(RELEVANT, tmp_path / "a.json", ["map"])
    with refuses("a.jsonl:1", "duplicates", InputError):
        harness.evaluate(RELEVANT, tmp_path / "a.jsonl", ["map"], columns=names)


AMBIGUOUS = {
    "small numbers may be grades": ("1\t3\n10\t2\n", "columns"),
    "sentences": ("1\twhat is love\n10\tc d e\n", "columns"),
}


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_pairs_that_are_not_guessed(case: str, tmp_path: Path) -> None:
    text, rule = AMBIGUOUS[case]
    (tmp_path / "q.tsv").write_text(text)
    with refuses("q.tsv:1", rule, InputError):
        harness.read_qrels(tmp_path / "q.tsv")
    expected = [line.split("\t")[1] for line in text.splitlines()]
    assert harness.read_qrels(tmp_path / "q.tsv", format="pairs").to_dict() == {
        "1": {expected[0]: 1}, "10": {expected[1]: 1},
    }  # fmt: skip


def test_numbers_that_are_no_grades_are_docnos(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("10 71880\n1 91002\n10 5500\n")
    assert harness.read_qrels(tmp_path / "q.txt").to_dict() == {
        "10": {"71880": 1, "5500": 1}, "1": {"91002": 1},
    }  # fmt: skip
    with refuses("q.txt:1", error=InputError):
        harness.read_run(tmp_path / "q.txt")


def test_qids_that_do_not_fit() -> None:
    for qids in (["1", "2"], ["1", "1", "2"]):
        with refuses("qids", error=InputError):
            harness.evaluate([["a"], ["b"], ["c"]], [["a"], ["b"], ["c"]], ["map"], qids=qids)
    with pytest.raises(ArgumentError):
        Qrels.from_dict([["a"]])  # type: ignore[arg-type]


def test_compat_keeps_the_rules_of_pytrec_eval() -> None:
    for qrel in ({"1": ["a"]}, {"1": {"a"}}):
        with pytest.raises(TypeError):
            harness.compat.RelevanceEvaluator(qrel, {"map"})
    evaluator = harness.compat.RelevanceEvaluator({"1": {"a": 1}}, {"map"})
    with pytest.raises(TypeError):
        evaluator.evaluate({"1": ["a"]})


def lines(rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


FILES_OF_BOTH = {
    "lists.json": lambda rows: json.dumps(rows),
    "indented.json": lambda rows: json.dumps(rows, indent=2),
    "queries.jsonl": lambda rows: lines({qid: row} for qid, row in rows.items()),
    "rows.jsonl": lambda rows: lines({"query_id": q, "doc_ids": row} for q, row in rows.items()),
    "array.json": lambda rows: json.dumps([{"qid": q, "docnos": row} for q, row in rows.items()]),
}
FILES_OF_QRELS = {name: form(RELEVANT) for name, form in FILES_OF_BOTH.items()} | {
    "records.json": json.dumps(records(GRADES, "query_id", "doc_id", "relevance")),
    "rows.json": json.dumps(GRADES),
    "records.jsonl": lines(records(PAIRED, "qid", "docno")),
    **{f"pairs{n}.txt": "".join(f"{q}{between}{d}\n" for q, d in PAIRED)
       for n, between in enumerate(" \t,;")},
    "crlf.tsv": "".join(f"{q}\t{d}\r\n" for q, d in PAIRED),
    "comments.txt": "# by hand\n" + "".join(f" {q}   {d} \n" for q, d in PAIRED),
    "named.csv": "query-id,corpus-id\n" + "".join(f"{q},{d}\n" for q, d in PAIRED),
    "named.txt": "qid docno\n" + "".join(f"{q} {d}\n" for q, d in PAIRED),
}  # fmt: skip
FILES_OF_RUNS = {name: form(RANKED) for name, form in FILES_OF_BOTH.items()} | {
    "records.json": json.dumps(records(SCORES, "query_id", "doc_id", "score"), indent=1),
    "rows.json": json.dumps(SCORES),
    "dicts.jsonl": lines({qid: row} for qid, row in RUN.items()),
    "scores.jsonl": lines(
        {"qid": qid, "docnos": [*row], "scores": [*row.values()]} for qid, row in RUN.items()),
}  # fmt: skip
COMMON_FILES = [*itertools.product(FILES_OF_QRELS, ["lists.json"]),
                *itertools.product(["lists.json"], FILES_OF_RUNS)]  # fmt: skip


@pytest.mark.parametrize(("qrels", "run"), COMMON_FILES, ids=map("-".join, COMMON_FILES))
def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qrels: str, run: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path(f"q-{qrels}").write_bytes(FILES_OF_QRELS[qrels].encode())
    Path(f"r-{run}").write_text(FILES_OF_RUNS[run])
    assert harness.evaluate(f"q-{qrels}", f"r-{run}", METRICS).to_dict() == EXPECTED
    Path("q.txt").write_text("".join(f"{q} 0 {d} 1\n" for q, d in PAIRED))
    Path("r.run").write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, d, s in SCORES))
    asked = [word for metric in METRICS for word in ("-m", metric)]
    shown = succeeds("evaluate", f"q-{qrels}", f"r-{run}", *asked, "--per-query", "-f", "csv")
    usual = succeeds("evaluate", "q.txt", "r.run", *asked, "--per-query", "-f", "csv")
    assert [row.split(",")[2:] for row in shown.splitlines()] == [
        row.split(",")[2:] for row in usual.splitlines()
    ]
    assert called("check", f"q-{qrels}", f"r-{run}").code == 0
    config = {"datasets": {"d": {"path": f"q-{qrels}"}},
              "runs": {"r": {"path": f"r-{run}"}}, "metrics": METRICS}  # fmt: skip
    Path("c.yaml").write_text(json.dumps(config))
    succeeds("run", "c.yaml")
    assert harness.run("c.yaml").board.entries[0].evaluation.to_dict() == EXPECTED
