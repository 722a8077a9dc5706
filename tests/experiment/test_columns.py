"""Columns, the order of scores and repeated docnos: the same options for all files and tables."""

import bz2
import gzip
import itertools
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import pytrec_eval
import yaml
from command_line import called
from csv_rows import csv_rows
from refusals import refuses
from table_forms import save_table

import harness
from harness.errors import ArgumentError, UnknownNameError

pytestmark = pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")

QRELS = {"2": {"a=1": 1, "b,x": 0, "c": 2}, "10": {"a=1": 0, "b,x": 1}, "1": {"c": 1, "a=1": 0}}
# tag, similarity, docno, text, qid: no column is where TREC has it; two docnos are there twice
ROWS = [
    ("t1", 0.25, "a=1", 7, "2"), ("t1", 0.75, "b,x", 7, "10"), ("t1", 0.5, "b,x", 3, "2"),
    ("t2", -1.5, "a=1", 9, "10"), ("t1", 2.0, "c", 1, "1"), ("t1", 0.375, "c", 5, "2"),
    ("t1", 2.5, "a=1", 1, "1"), ("t3", 0.625, "a=1", 8, "2"), ("t1", 0.125, "b,x", 2, "10"),
    ("t1", 0.5, "a=1", 2, "2"),
]  # fmt: skip
NAMES = ["system", "sim=cos", "url", "page", "frage"]
BY_NAME: dict[str, Any] = {"qid": "frage", "docno": "url", "score": "sim=cos"}
BY_NUMBER: dict[str, Any] = {"qid": 5, "docno": 3, "score": 2}
METRICS = ("map", "recip_rank", "ndcg_cut_2", "P_1")
SEPARATORS = {"blanks": "  ", "tabs": "\t", "semicolons": ";", "commas": ","}
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}  # fmt: skip


def rows_of(order: str, duplicates: str) -> list[tuple[Any, ...]]:
    """Rows as a file has them: distances if ascending, no docno twice if that is an error."""
    rows = ROWS[:7] if duplicates == "error" else ROWS
    return [(row[0], -row[1], *row[2:]) for row in rows] if order == "ascending" else rows


def wanted(duplicates: str) -> dict[str, dict[str, float]]:
    """The run that such rows are, by a loop over them."""
    run: dict[str, dict[str, float]] = {}
    for _, score, docno, _, qid in rows_of("descending", duplicates):
        scores = run.setdefault(qid, {})
        if docno not in scores or duplicates == "last":
            scores[docno] = score
        elif duplicates == "best":
            scores[docno] = max(score, scores[docno])
    return run


def expected(duplicates: str) -> dict[str, dict[str, float]]:
    values = pytrec_eval.RelevanceEvaluator(QRELS, METRICS).evaluate(wanted(duplicates))
    names = {"ndcg_cut_2": "ndcg@2", "P_1": "P@1"}
    return {
        qid: {names.get(name, name): value for name, value in of_query.items()}
        for qid, of_query in values.items()
    }


def text(rows: list[tuple[Any, ...]], between: str, names: bool) -> bytes:
    cells = [*([NAMES] if names else []), *rows]
    quoted = [
        [f'"{cell}"' if between in str(cell) else str(cell) for cell in line] for line in cells
    ]
    return "".join(f"{between.join(line)}\n" for line in quoted).encode()


def written(folder: Path, form: str, rows: list[tuple[Any, ...]]) -> tuple[Path, bool]:
    """Write rows; return the path, and whether columns have names."""
    kind, _, head = form.partition(" ")
    path = folder / f"r.{kind}"
    frame = pd.DataFrame(rows, columns=NAMES)
    if kind in SEPARATORS:
        path.write_bytes(text(rows, SEPARATORS[kind], head == "named"))
    elif kind == "npz":
        kinds = {"frage": str, "sim=cos": float, "url": str}
        np.savez(path, **{name: frame[name].to_numpy(kind) for name, kind in kinds.items()})
    else:
        save_table(path, frame)
    return path, kind not in SEPARATORS or head == "named"


FORMS = [f"{kind} {head}" for kind in SEPARATORS for head in ("named", "bare")]
FORMS += ["jsonl", "parquet", "arrow", "npz"]
ORDERS, DUPLICATES = ("descending", "ascending"), ("error", "first", "last", "best")


@pytest.mark.parametrize("form", FORMS)
def test_files_of_any_form(tmp_path: Path, form: str) -> None:
    packing = itertools.cycle(PACK.items())
    for order, duplicates in itertools.product(ORDERS, DUPLICATES):
        path, has_names = written(tmp_path, form, rows_of(order, duplicates))
        suffix, pack = next(packing)
        packed = path.with_name(f"{path.name}{suffix}")
        packed.write_bytes(pack(path.read_bytes()))
        settings = {"order": order, "duplicates": duplicates}
        mixed = {**BY_NAME, "docno": 3}
        for columns in [BY_NAME, mixed] if has_names else [BY_NUMBER]:
            if form == "jsonl" and columns is mixed:
                continue  # objects have keys and no columns
            run = harness.read_run(packed, columns=columns, **settings)
            assert run.to_dict() == wanted(duplicates)
            evaluation = harness.evaluate(QRELS, packed, METRICS, columns=columns, **settings)
            assert evaluation.to_dict() == expected(duplicates)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("duplicates", DUPLICATES)
def test_tables_in_memory(order: Any, duplicates: Any) -> None:
    frame = pd.DataFrame(rows_of(order, duplicates), columns=NAMES)
    arrow = pa.Table.from_pandas(frame)
    judged = [(qid, d, grade) for qid, docnos in QRELS.items() for d, grade in docnos.items()]
    qrels = pd.DataFrame(judged, columns=["who", "what", "much"])
    of_qrels = {"qid": "who", "docno": 2, "grade": "much"}
    forms = [frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy(), arrow,
             frame.set_index("page"), frame.to_dict("list"),
             {name: frame[name].to_numpy() for name in frame}]  # fmt: skip
    settings: dict[str, Any] = {"order": order, "duplicates": duplicates}
    for given in forms:
        evaluation = harness.evaluate(
            qrels, given, METRICS, columns=BY_NAME, qrels_columns=of_qrels, **settings
        )
        assert evaluation.to_dict() == expected(duplicates)
    for given in (*forms[:2], arrow):
        evaluation = harness.evaluate(QRELS, given, METRICS, columns=BY_NUMBER, **settings)
        assert evaluation.to_dict() == expected(duplicates)
    numbered = frame.set_axis([0, 1, 2, 3, 4], axis=1)
    columns = {"qid": 4, "docno": 2, "score": 1}  # the names of its columns
    evaluation = harness.evaluate(QRELS, numbered, METRICS, columns=columns, **settings)
    assert evaluation.to_dict() == expected(duplicates)
    given = frame["frage"], frame["url"], frame["sim=cos"]
    evaluation = harness.evaluate(QRELS, given, METRICS, **settings)
    assert evaluation.to_dict() == expected(duplicates)


def test_ascending_scores_without_columns() -> None:
    distances = {
        qid: {docno: -score for docno, score in docnos.items()}
        for qid, docnos in wanted("error").items()
    }
    evaluation = harness.evaluate(QRELS, distances, METRICS, order="ascending")
    assert evaluation.to_dict() == expected("error")
    grades, scores = [[2, 0, 1], [0, 1, 0]], np.array([[0.5, 1.5, 0.25], [3.0, 2.0, 7.0]])
    for shape in ((2, 3), (6,)):
        given = np.reshape(grades, shape), scores.reshape(shape)
        settings: dict[str, Any] = {"n": [3, 3]}
        right = harness.evaluate(given[0], -given[1], ["map"], **settings)
        ascending = harness.evaluate(*given, ["map"], order="ascending", **settings)
        assert ascending.to_dict() == right.to_dict()
    rows = ["2", "2", "10"], [1, 0, 1]
    right = harness.evaluate(rows, [-1.0, -2.0, 3.0], ["map"])
    ascending = harness.evaluate(rows, [1.0, 2.0, -3.0], ["map"], order="ascending")
    assert ascending.to_dict() == right.to_dict()
    by_query = {"2": np.array([1.0, 2.0]), "10": np.array([-3.0])}
    ascending = harness.evaluate(rows, by_query, ["map"], order="ascending")
    assert ascending.to_dict() == right.to_dict()


def test_rows_of_a_dataset(tmp_path: Path) -> None:
    dataset, losses = tmp_path / "test.txt", tmp_path / "losses.csv"
    dataset.write_text("0 qid:2 1:1\n1 qid:2 1:2\n1 qid:10 1:3\n2 qid:10 1:3\n")
    losses.write_text("0.5,0.75\n0.25,3\n0.5,1\n0.125,2\n")
    settings: dict[str, Any] = {"columns": {"score": 2}, "order": "ascending"}
    evaluation = harness.evaluate(dataset, losses, ["recip_rank", "ndcg"], **settings)
    right = harness.evaluate(dataset, [-0.75, -3, -1, -2], ["recip_rank", "ndcg"])
    assert evaluation.to_dict() == right.to_dict()
    words = "--columns", "score=2", "--lower-is-better", "-f", "csv"
    done = called("evaluate", dataset, losses, "-m", "recip_rank", *words)
    (row,) = csv_rows(done.out)
    assert float(row["recip_rank"]) == right.summary()["recip_rank"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs and qrels with columns of their own, and the same as TREC has them."""
    judged = [(qid, d, grade) for qid, docnos in QRELS.items() for d, grade in docnos.items()]
    (tmp_path / "own").mkdir()
    (tmp_path / "own/q.csv").write_text("".join(f'"{d}",{g},{q}\n' for q, d, g in judged))
    (tmp_path / "q.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in judged))
    for name, factor in (("one", 1), ("two", -0.5)):
        rows = [(tag, -factor * score, *rest) for tag, score, *rest in ROWS]
        (tmp_path / f"own/{name}.run").write_bytes(text(rows, " ", names=False))
        rows = [(tag, factor * score, *rest) for tag, score, *rest in ROWS]
        best: dict[tuple[str, str], float] = {}
        for _, score, docno, _, qid in rows:
            best[qid, docno] = max(score, best.get((qid, docno), -np.inf))
        lines = (f"{qid} Q0 {docno} 1 {score} t\n" for (qid, docno), score in best.items())
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


OPTIONS = (
    "--columns", "qid=5,docno=3", "--columns", "score=2", "--lower-is-better",
    "--set", "dataset.columns={qid: 3, docno: 1, grade: 2}", "--set", "run.duplicates=best",
)  # fmt: skip
SETTINGS: dict[str, Any] = {
    "columns": BY_NUMBER, "qrels_columns": {"qid": 3, "docno": 1, "grade": 2},
    "order": "ascending", "duplicates": "best",
}  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "QRELS", "one", "two", "-m", "map", "-m", "ndcg@2", "-q", "-f", "csv"),
        ("compare", "one", "two", "--qrels", "QRELS", "-m", "map", "-f", "csv"),
        ("gate", "one", "two", "--qrels", "QRELS", "-m", "map", "--margin", ".5", "-f", "junit"),
        ("check", "QRELS", "one", "two", "-f", "json"),
    ],
)
def test_commands(folder: Path, words: tuple[str, ...]) -> None:
    plain = [{"one": "one.run", "two": "two.run", "QRELS": "q.txt"}.get(w, w) for w in words]
    named = [
        {"one": "own/one.run", "two": "own/two.run", "QRELS": "own/q.csv"}.get(w, w) for w in words
    ]
    right = called(*plain, cwd=folder)
    done = called(*named, *OPTIONS, cwd=folder)
    assert done.code == right.code, done
    if words[0] == "check":
        findings, plain_findings = (json.loads(said.out)["findings"] for said in (done, right))
        rules = {finding["rule"] for finding in findings}
        assert rules - {finding["rule"] for finding in plain_findings} <= {
            "dropped-rows", "gathered-queries"
        }  # fmt: skip
    else:
        assert done.out == right.out


def test_a_config(folder: Path) -> None:
    runs = {
        name: {"path": f"own/{name}.run", "columns": BY_NUMBER, "order": "ascending",
               "duplicates": "best"} for name in ("one", "two")
    }  # fmt: skip
    qrels = {"path": "own/q.csv", "columns": SETTINGS["qrels_columns"]}
    config = {"datasets": {"d": qrels}, "runs": runs, "metrics": [*METRICS], "output": "o"}
    (folder / "c.yaml").write_text(yaml.safe_dump(config))
    harness.run(folder / "c.yaml")
    for row in csv_rows(folder / "o" / "leaderboard.csv"):
        right = harness.evaluate(folder / "q.txt", folder / f"{row['run']}.run", METRICS)
        assert {name: float(row[name]) for name in right.summary()} == right.summary()


def test_functions(folder: Path) -> None:
    named = {name: folder / f"own/{name}.run" for name in ("one", "two")}
    plain = {name: folder / f"{name}.run" for name in ("one", "two")}
    files, right = (folder / "own/q.csv", named, ["map"]), (folder / "q.txt", plain, ["map"])
    compared = harness.compare(*files, **SETTINGS)
    assert compared.rows == harness.compare(*right).rows
    gated = harness.gate(*files, baseline="one", margin=0.1, **SETTINGS)
    assert [*gated] == [*harness.gate(*right, baseline="one", margin=0.1)]
    one = harness.page(folder / "one.html", *files, **SETTINGS).read_bytes()
    assert one == harness.page(folder / "two.html", *right).read_bytes()
    assert not harness.check(folder / "own/q.csv", [*named.values()], **SETTINGS).count("error")
    reference = harness.evaluate(
        folder / "own/q.csv", named["one"], ["rbo(reference=other)"],
        references={"other": named["two"]}, **SETTINGS,
    )  # fmt: skip
    expected_value = harness.evaluate(
        folder / "q.txt", plain["one"], ["rbo(reference=other)"],
        references={"other": plain["two"]},
    )  # fmt: skip
    assert reference.to_dict() == expected_value.to_dict()


def test_what_has_no_columns_or_order_is_refused() -> None:
    run = wanted("error")
    for given in (run, harness.Run.from_dict(run), (["2"], ["a=1"], [1.0])):
        with refuses("run", "columns"):
            harness.evaluate(QRELS, given, ["map"], columns=BY_NAME)
    with refuses("qrels", "columns"):
        harness.evaluate(QRELS, run, ["map"], qrels_columns={"qid": "who"})
    with refuses("run", "columns"):
        harness.evaluate([[1, 0]], [[0.5, 1]], ["map"], columns=BY_NAME)
    with refuses("run", ""):
        harness.evaluate(QRELS, harness.Run.from_dict(run), ["map"], order="ascending")
    ranks = pd.DataFrame(ROWS[:7], columns=NAMES).assign(rank=range(1, 8))
    with refuses("data frame", "columns"):
        columns = {"qid": "frage", "docno": "url", "rank": "rank"}
        harness.evaluate(QRELS, ranks, ["map"], columns=columns, order="ascending")
    with pytest.raises(ArgumentError):
        harness.read_run(__file__, columns={"qid": 1.5})
    for wrong in ({"columns": {"qid": 1.5}}, {"qrels_columns": "qid"}):
        with pytest.raises(ArgumentError):
            harness.evaluate(QRELS, ranks, ["map"], **wrong)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError):
        harness.evaluate(QRELS, ranks, ["map"], order="rising")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "columns", "line", "rule"),
    [
        ("2 Q0 a 1 .5\n", {"qid": 1, "docno": 3, "score": 6}, None, "columns"),
        ("wer was wert\n2 a .5\n3 a .5\n", {"qid": 1, "docno": 2, "score": 3}, 1, "header-line"),
        ("2 a .5\n2 b x\n3 a 1\n", {"qid": 1, "docno": 2, "score": 3}, 2, ""),
        ("wer was wert\n2 a .5\n3 a .5\n", {"qid": "wer", "docno": "wo", "score": 3}, None, ""),
    ],
)
def test_wrong_columns_of_a_file(
    tmp_path: Path, content: str, columns: dict[str, Any], line: int | None, rule: str
) -> None:
    path = tmp_path / "r.txt"
    path.write_text(content)
    with refuses(str(path) if line is None else f"{path}:{line}", rule):
        harness.read_run(path, columns=columns)


@pytest.mark.parametrize(
    "content", ['{"2": {"a": 0.5, "b": 1}, "10": {"a": 1}}', "2 Q0 a 1 .5 t\n"]
)
def test_formats_without_columns(tmp_path: Path, content: str) -> None:
    path = tmp_path / "r"
    path.write_text(content)
    form = "json" if content[0] == "{" else "trec"
    with pytest.raises(UnknownNameError):
        harness.read_run(path, format=form, columns={"qid": 1})


@pytest.mark.parametrize("words", ["--run-format lettor", "--run-format trec --columns qid=1"])
def test_check_reports_an_option_that_cannot_be_used(folder: Path, words: str) -> None:
    done = called("check", "q.txt", "one.run", *words.split(), "-f", "json", cwd=folder)
    (finding,) = json.loads(done.out)["findings"]
    assert (done.code, finding["rule"], finding["place"]) == (2, "unreadable", "one.run")
