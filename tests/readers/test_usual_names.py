"""Columns by their usual names; tables whose document column has an unknown name are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

import harness
from harness import readers
from harness.core.tables import Qrels, Run
from harness.errors import HarnessWarning, InputError
from harness.readers.source import Source

Columns = dict[str, list[Any]]
pytestmark = pytest.mark.filterwarnings("ignore:.* back after another began")

QIDS = ["10", "2", "1", "10", "2", "1", "10"]
DOCNOS = ["x7", "30", "b", "30", "x7", "zz", "b"]
GRADES = [0, 2, 1, 2, 0, 0, 1]
SHUFFLED = [4, 0, 6, 5, 3, 1, 2]
SCORES = [GRADES[at] - 0.25 for at in SHUFFLED]
RUN: Columns = {
    "qid": [QIDS[at] for at in SHUFFLED],
    "docno": [DOCNOS[at] for at in SHUFFLED],
    "score": SCORES,
}
QRELS: Columns = {"qid": QIDS, "docno": DOCNOS, "grade": GRADES}

OF_DOCUMENTS = [
    "docno", "doc_id", "docid", "doc-id", "DocId", "DOC_ID", "document_id", "document-id",
    "documentId", "document", "doc", "did", "d", "document_no", "doc_name", "document_number",
    "corpus_id", "corpus-id", "CorpusID", "cord_uid", "pid", "passage_id", "passage-id",
    "passage", "passageid", "psg_id", "para_id", "paragraph_id", "chunk_id", "snippet_id",
    "page_id", "article_id", "paper_id", "pmid", "item_id", "item", "itemId", "product_id",
    "product-id", "product", "asin", "sku", "url", "URL", "uri", "doc_url", "entity_id",
    "entity", "answer_id", "candidate_id", "tweet_id", "video_id", "table_id",
]  # fmt: skip
OF_QUERIES = [
    "qid", "query_id", "query-id", "QueryID", "queryid", "q", "query", "topic", "topic_id",
    "topicno", "qno", "qnum",
]  # fmt: skip
OF_GRADES = [
    "grade", "relevance", "rel", "label", "Relevance-Label", "relevancy", "judgment",
    "judgement", "rating",
]  # fmt: skip
OF_SCORES = [
    "score", "sim", "similarity", "pred", "prediction", "y_pred", "model_score",
    "Relevance_Score", "prob",
]  # fmt: skip
UNKNOWN = [
    "thing", "clef", "my_document_column", "key_of_hit", "id", "ref", "docket", "Unnamed",
    "name", "text",
]  # fmt: skip


def in_csv(table: Columns, path: Path) -> str:
    pd.DataFrame(table).to_csv(path.with_suffix(".csv"), index=False)
    return str(path.with_suffix(".csv"))


def in_tsv(table: Columns, path: Path) -> str:
    pd.DataFrame(table).to_csv(path.with_suffix(".tsv"), index=False, sep="\t")
    return str(path.with_suffix(".tsv"))


def in_jsonl(table: Columns, path: Path) -> str:
    rows = (dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True))
    path.with_suffix(".jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path.with_suffix(".jsonl"))


def in_parquet(table: Columns, path: Path) -> str:
    parquet.write_table(pa.table(table), path.with_suffix(".parquet"))
    return str(path.with_suffix(".parquet"))


def in_arrow(table: Columns, path: Path) -> str:
    feather.write_feather(pa.table(table), path.with_suffix(".arrow"))
    return str(path.with_suffix(".arrow"))


FILES = [in_csv, in_tsv, in_jsonl, in_parquet, in_arrow]
FRAMES = [
    lambda table, path: pd.DataFrame(table),
    lambda table, path: pl.DataFrame(table),
    lambda table, path: pa.table(table),
]
MAKE: list[Callable[[Columns, Path], Any]] = [*FILES, *FRAMES]
IDS = ["csv", "tsv", "jsonl", "parquet", "arrow", "pandas", "polars", "table"]


def renamed(table: Columns, **names: str) -> Columns:
    return {names.get(role, role): values for role, values in table.items()}


def ndcg(qrels: Any, run: Any) -> float:
    return float(harness.evaluate(qrels, run, ["ndcg"]).values.min())


def as_table(given: Any, of: type[Qrels] | type[Run], **options: Any) -> Any:
    if not isinstance(given, str):
        return readers.from_frame(given, of, **options)
    return (readers.read_qrels if of is Qrels else readers.read_run)(given, **options)


@pytest.mark.parametrize("make", MAKE, ids=IDS)
@pytest.mark.parametrize("name", OF_DOCUMENTS)
def test_names_of_documents(tmp_path: Path, make: Any, name: str) -> None:
    qrels = make(renamed(QRELS, docno=name), tmp_path / "q")
    run = make(renamed(RUN, docno=name), tmp_path / "r")
    assert ndcg(qrels, run) == 1


@pytest.mark.parametrize("make", MAKE, ids=IDS)
@pytest.mark.parametrize("role", ["qid", "grade", "score"])
def test_names_of_other_columns(tmp_path: Path, make: Any, role: str) -> None:
    for name in {"qid": OF_QUERIES, "grade": OF_GRADES, "score": OF_SCORES}[role]:
        qrels = make(renamed(QRELS, **{role: name}), tmp_path / "q")
        run = make(renamed(RUN, **{role: name}), tmp_path / "r")
        assert ndcg(qrels, run) == 1, name


@pytest.mark.parametrize("make", FILES, ids=IDS[:5])
def test_as_beir_has_them(tmp_path: Path, make: Any) -> None:
    (tmp_path / "q.tsv").write_text(
        "query-id\tcorpus-id\tscore\n"
        + "".join(f"{q}\t{d}\t{g}\n" for q, d, g in zip(QIDS, DOCNOS, GRADES, strict=True))
    )
    run = make(renamed(RUN, qid="query_id", docno="corpus_id"), tmp_path / "r")
    assert ndcg(str(tmp_path / "q.tsv"), run) == 1
    qrels = make(renamed(QRELS, qid="query-id", docno="corpus-id", grade="score"), tmp_path / "p")
    assert ndcg(qrels, run) == 1


@pytest.mark.parametrize("make", MAKE, ids=IDS)
@pytest.mark.parametrize("whole", [False, True], ids=["text", "integers"])
@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_names_are_refused(tmp_path: Path, make: Any, name: str, whole: bool) -> None:
    numbers = {docno: at for at, docno in enumerate(dict.fromkeys(DOCNOS), 100)}
    for of, table in ((Qrels, QRELS), (Run, RUN)):
        docnos = [numbers[one] for one in table["docno"]] if whole else table["docno"]
        given = make(renamed({**table, "docno": docnos}, docno=name), tmp_path / "f")
        options = {} if of is Qrels else {"dataset": Qrels.from_dict({"10": {"a": 1}})}
        with pytest.raises(InputError) as error:
            as_table(given, of, **options)
        (problem,) = error.value.problems
        assert (problem.where, problem.rule) == (
            given if isinstance(given, str) else "data frame", "columns",
        )  # fmt: skip
        assert problem.what == f"expected a column of docnos, got column {name} that may hold them"
        assert f"columns: {{docno: {name}}}" in problem.fix
        columns = {"docno": name}
        read = as_table(given, of, columns=columns)
        assert read.n_rows == 7
        assert not read.docnos.positional


@pytest.mark.parametrize("make", MAKE, ids=IDS)
def test_rows_in_the_order_of_a_dataset(tmp_path: Path, make: Any) -> None:
    scores = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
    unnamed = Qrels.from_columns(pa.array(QIDS), None, GRADES)
    named = Qrels.from_columns(pa.array(QIDS), pa.array(DOCNOS), GRADES)
    plain = make({"qid": QIDS, "score": scores}, tmp_path / "plain")
    by_query = [0.5, 3.5, 6.5, 1.5, 4.5, 2.5, 5.5]
    assert as_table(plain, Run, dataset=unnamed).scores.tolist() == by_query
    with pytest.raises(InputError) as error:
        as_table(plain, Run, dataset=named)
    assert error.value.problems[0].what == (
        "expected a column of docnos, as the dataset has docnos, got none"
    )
    asked = {"docno": "none"}
    run = as_table(plain, Run, dataset=named, columns=asked)
    assert run.to_dict()["10"] == {"x7": 0.5, "30": 3.5, "b": 6.5}
    extra = make({"qid": QIDS, "score": scores, "thing": DOCNOS}, tmp_path / "extra")
    with pytest.raises(InputError, match="got column thing that may hold them"):
        as_table(extra, Run, dataset=unnamed)
    assert as_table(extra, Run, dataset=named, columns=asked).n_rows == 7


@pytest.mark.parametrize("make", MAKE, ids=IDS)
def test_features_are_no_documents(tmp_path: Path, make: Any) -> None:
    """Whole numbers of which a query has one twice, fractions, and texts of whole queries."""
    table = {
        "qid": QIDS, "label": GRADES, "f1": [3, 3, 1, 3, 3, 1, 2],
        "f2": [0.5, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0],
        "lang": ["en", "de", "en", "en", "de", "en", "en"],
        "Unnamed: 0": [0, 1, 2, 3, 4, 5, 6],
    }  # fmt: skip
    assert as_table(make(table, tmp_path / "q"), Qrels).docnos.positional


@pytest.mark.parametrize("make", FILES, ids=IDS[:5])
def test_columns_that_are_not_read(tmp_path: Path, make: Any) -> None:
    table = {"rank": [1] * 7, **RUN, "passage_id": DOCNOS, "f1": SCORES, "Label": GRADES}
    source = Source(make(table, tmp_path / "r"))
    with pytest.warns(HarnessWarning) as caught:
        readers.read_run(source)
    said = [one.message for one in caught if isinstance(one.message, HarnessWarning)]
    (warning,) = (one for one in said if one.rule == "unused-columns")
    assert warning.count == 2
    assert str(warning) == (
        f"{source.name}: not read: columns passage_id, Label, which may hold identifiers or "
        "labels; read are qid from 'qid', docno from 'docno', score from 'score'"
    )
    assert source.unused_columns == ("rank", "passage_id", "f1", "Label")


@pytest.mark.parametrize("make", FILES, ids=IDS[:5])
def test_two_spellings_of_one_name(tmp_path: Path, make: Any) -> None:
    path = make({**renamed(RUN, docno="doc_id"), "doc-id": DOCNOS}, tmp_path / "r")
    with pytest.raises(InputError) as error:
        readers.read_run(path)
    assert error.value.problems[0].what == "expected one column of docnos, got doc_id, doc-id"
    with pytest.warns(HarnessWarning, match="not read: column doc-id, "):
        assert readers.read_run(path, columns={"docno": "doc_id"}).n_rows == 7


def test_a_docno_that_the_first_line_lacks(tmp_path: Path) -> None:
    rows = ['{"qid": "7", "score": 0.5}', '{"qid": "7", "score": 0.25, "docno": "d9"}']
    (tmp_path / "r.jsonl").write_text("\n".join(rows))
    with pytest.raises(InputError) as error:
        readers.read_run(tmp_path / "r.jsonl", dataset=Qrels.from_dict({"7": {"a": 1}}))
    assert error.value.problems[0].where == f"{tmp_path / 'r.jsonl'}:1"
    assert error.value.problems[0].what == "no key 'docno'"


def test_an_index_is_a_column() -> None:
    frame = pd.DataFrame(RUN).set_index("docno")
    assert readers.from_frame(frame, Run).to_dict()["1"] == {"zz": -0.25, "b": 0.75}


def test_structs_may_hold_docnos(tmp_path: Path) -> None:
    hits = [{"name": docno} for docno in RUN["docno"]]
    for make, how in ((in_jsonl, "jsonl"), (in_parquet, "table"), (in_arrow, "table")):
        path = make({"qid": RUN["qid"], "hit": hits, "score": SCORES}, tmp_path / "r")
        with pytest.raises(InputError, match="got column hit that may hold them"):
            readers.read_run(path, format=how, dataset=Qrels.from_dict({"7": {"a": 1}}))


def test_the_manifest_lists_columns_that_are_not_read(tmp_path: Path) -> None:
    in_csv({**QRELS, "text": DOCNOS}, tmp_path / "q")
    in_parquet({**RUN, "passage_id": DOCNOS, "bm25": SCORES}, tmp_path / "r")
    (tmp_path / "c.yaml").write_text(
        "datasets: {news: {path: q.csv}}\nruns: {mine: {path: r.parquet, dataset: news}}\n"
        "metrics: [ndcg]\noutput: out\n"
    )
    for _ in range(2):  # the second time from the cache
        harness.run(tmp_path / "c.yaml")
        manifest = json.loads((tmp_path / "out/manifest.json").read_text())
        unused = {one["path"]: one.get("unused_columns") for one in manifest["inputs"]}
        assert unused == {"q.csv": ["text"], "r.parquet": ["passage_id", "bm25"]}
        (one,) = (one for one in manifest["findings"] if one["rule"] == "unused-columns")
        assert (one["severity"], one["place"]) == ("note", "r.parquet")
        assert "passage_id" in one["what"]
