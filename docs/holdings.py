"""What people have, and what to write: rows of a page, each with files that a test runs it on.

All rows hold one small dataset, so each gives the same value of `METRIC`.
"""

import collections
import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

GRADES = {"10": {"a": 1, "b": 0}, "2": {"c": 2}, "1": {"d": 0, "e": 1, "f": 0}}
SCORES = {"10": {"b": 2.5, "a": 1.5}, "2": {"c": 0.5}, "1": {"e": 0.75, "f": 0.5, "d": 0.25}}
METRIC, VALUE = "map", (0.5 + 1 + 1) / 3
LISTED = {"10": ["b", "a"], "2": ["c"], "1": ["e", "f", "d"]}
RELEVANT = {"10": ["a"], "2": ["c"], "1": ["e"]}
ROWS = [(qid, docno, grade) for qid, row in GRADES.items() for docno, grade in row.items()]
HITS = [(qid, docno, score) for qid, row in SCORES.items() for docno, score in row.items()]
BY_ROW = [SCORES[qid][docno] for qid, docno, _ in ROWS]
RANKS = [(q, d, list(SCORES[q]).index(d) + 1, s) for q, d, s in HITS]
SIZES = [len(row) for row in GRADES.values()]


class Holding(NamedTuple):
    """A row: what someone has, what to write, and the files or objects that it needs.

    What to write is the end of ``harness evaluate`` or, if `is_python`, a call that returns an
    `Evaluation`; `make` writes the files into the working folder and returns the objects by name.
    """

    have: str
    write: str
    make: Callable[[], dict[str, Any] | None]
    is_python: bool = False


def text(name: str, rows: list[Any], form: str, head: str = "") -> None:
    """Write one row a line, in a form with the numbers of the row's values."""
    lines = "".join(form.format(*row) + "\n" for row in rows)
    Path(name).write_text(head + lines, encoding="utf-8")


def qrels() -> None:
    """Write TREC qrels."""
    text("qrels.txt", ROWS, "{0} 0 {1} {2}")


def run(name: str = "bm25.run", form: str = "{0} Q0 {1} {2} {3} t", head: str = "") -> None:
    """Write qrels, and a run in a form of qid, docno, rank and score."""
    qrels()
    text(name, RANKS, form, head)


def letor(comments: bool = True) -> None:
    """Write a learning-to-rank file."""
    rows = [(g, q, i, d) for i, (q, d, g) in enumerate(ROWS)]
    text("test.txt", rows, "{0} qid:{1} 1:{2}" + (" # {3}" if comments else ""))


def scores(name: str = "scores.txt") -> None:
    """Write a learning-to-rank file and predictions, one a line."""
    letor()
    text(name, [(score,) for score in BY_ROW], "{0}")


def both(write: Callable[[], object], prepare: Callable[[], object] = qrels) -> Callable[[], None]:
    """Return a function that writes two things."""

    def make() -> None:
        prepare()
        write()

    return make


def dump(name: str, value: object) -> None:
    """Write JSON."""
    Path(name).write_text(json.dumps(value), encoding="utf-8")


def records(rows: list[Any], *names: str) -> list[dict[str, Any]]:
    """Return rows as records."""
    return [dict(zip(names, row, strict=True)) for row in rows]


def parquet(name: str, rows: list[Any], *names: str) -> None:
    """Write a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(records(rows, *names)), name)


def arrow() -> None:
    """Write a Feather file."""
    import pyarrow as pa
    import pyarrow.feather as feather

    table = pa.Table.from_pylist(records(HITS, "qid", "docno", "score"))
    feather.write_feather(table, "bm25.feather")


def zipped() -> None:
    """Write a compressed run."""
    run()
    Path("bm25.run.gz").write_bytes(gzip.compress(Path("bm25.run").read_bytes()))


def numpy_file() -> None:
    """Write predictions as a numpy file."""
    import numpy as np

    np.save("scores.npy", np.array(BY_ROW))


def torch_file() -> None:
    """Write predictions as a tensor."""
    import torch

    torch.save(torch.tensor(BY_ROW), "scores.pt")


def boosting() -> None:
    """Write LightGBM's features, group sizes and predictions."""
    text("features.txt", [(g, i) for i, (_, _, g) in enumerate(ROWS)], "{0} 1:{1}")
    text("sizes.txt", [(n,) for n in SIZES], "{0}")
    text("scores.txt", [(score,) for score in BY_ROW], "{0}")


def ranklib() -> None:
    """Write a learning-to-rank file and RankLib's scores."""
    letor()
    places = [row for n in SIZES for row in range(n)]
    rows = [(q, place, s) for (q, *_), place, s in zip(ROWS, places, BY_ROW, strict=True)]
    text("ranklib.txt", rows, "{0}\t{1}\t{2}")


def soft() -> None:
    """Write a run, and grades of half the size."""
    run()
    text("qrels.txt", [(q, d, g / 2) for q, d, g in ROWS], "{0} 0 {1} {2}")


def repeated() -> None:
    """Write a run that names a document twice."""
    run()
    with open("bm25.run", "a", encoding="utf-8") as file:
        file.write("10 Q0 b 3 -1 t\n")


def frames(library: str) -> Callable[[], dict[str, Any]]:
    """Return a function that makes two data frames."""

    def make() -> dict[str, Any]:
        import importlib

        frame = importlib.import_module(library).DataFrame
        return {
            "grades": frame(records(ROWS, "qid", "docno", "grade")),
            "hits": frame(records(HITS, "qid", "docno", "score")),
        }

    return make


def padded() -> dict[str, Any]:
    """Return a padded batch."""
    import numpy as np

    labels, predicted = np.zeros((3, 3), dtype=int), np.zeros((3, 3))
    place = 0
    for row, n in enumerate(SIZES):
        labels[row, :n] = [grade for _, _, grade in ROWS[place : place + n]]
        predicted[row, :n] = BY_ROW[place : place + n]
        place += n
    mask = np.arange(3) < np.array(SIZES)[:, None]
    return {"labels": labels, "scores": predicted, "n": SIZES, "mask": mask}


def tensors() -> dict[str, Any]:
    """Return a padded batch as tensors."""
    import torch

    return {name: torch.tensor(values) for name, values in padded().items()}


def flat() -> dict[str, Any]:
    """Return grades and scores of all rows, and the size of each query."""
    return {"labels": [grade for _, _, grade in ROWS], "scores": BY_ROW, "group": SIZES}


def dicts() -> dict[str, Any]:
    """Return pytrec_eval's dicts."""
    return {"qrel": GRADES, "run": SCORES}


def lists() -> dict[str, Any]:
    """Return rankings and relevant documents as lists."""
    qids, relevant, ranked = [*LISTED], [*RELEVANT.values()], [*LISTED.values()]
    both_forms = {"relevant": RELEVANT, "ranked": LISTED}
    return both_forms | {"qids": qids, "relevant_lists": relevant, "ranked_lists": ranked}


def sets() -> dict[str, Any]:
    """Return relevant documents as sets, and rankings as lists."""
    return {"relevant": {qid: {*docnos} for qid, docnos in RELEVANT.items()}, "ranked": LISTED}


def tuples() -> dict[str, Any]:
    """Return qrels as named tuples, and hits as records."""
    judged = collections.namedtuple("Qrel", "query_id doc_id relevance")
    hits = records(HITS, "query_id", "doc_id", "score")
    return {"grades": [judged(*row) for row in ROWS], "hits": hits}


def letor_and_scores() -> dict[str, Any]:
    """Write a learning-to-rank file, and return scores of its rows."""
    import numpy as np

    letor()
    return {"scores": np.array(BY_ROW)}


def table_of_rows() -> None:
    """Write a learning-to-rank file, and its predictions as a column of a table."""
    letor()
    text("predictions.csv", [(i, s) for i, s in enumerate(BY_ROW)], "{0},{1}", "row,prediction\n")


IN_MEMORY = "harness.evaluate(grades, hits, ['map'])"
HOLDINGS = [
    Holding("TREC qrels and a TREC run", "qrels.txt bm25.run", run),
    Holding("compressed files", "qrels.txt bm25.run.gz", zipped),
    Holding("a folder of runs", "qrels.txt runs/*.run", both(
        lambda: (Path("runs").mkdir(), run("runs/a.run"), run("runs/b.run")))),
    Holding("a TREC run with tabs between its fields", "qrels.txt bm25.run",
            lambda: run(form="{0}\tQ0\t{1}\t{2}\t{3}\tt")),
    Holding("a TREC run without tags", "qrels.txt bm25.run --columns qid=1,docno=3,score=5",
            lambda: run(form="{0} Q0 {1} {2} {3}")),
    Holding("a TREC run with a header line", "qrels.txt bm25.run --run-format table",
            lambda: run(head="qid Q0 docno rank score tag\n")),
    Holding("CSV with columns `qid,docno,grade` and `qid,docno,score`", "qrels.csv bm25.csv", both(
        lambda: text("bm25.csv", HITS, "{0},{1},{2}", "qid,docno,score\n"),
        lambda: text("qrels.csv", ROWS, "{0},{1},{2}", "qid,docno,grade\n"))),
    Holding("CSV with semicolons", "qrels.txt bm25.csv", both(
        lambda: text("bm25.csv", HITS, "{0};{1};{2}", "qid;docno;score\n"))),
    Holding("CSV with other names of columns",
            "qrels.txt bm25.csv --columns qid=topic,docno=url,score=sim", both(lambda: text(
                "bm25.csv", HITS, "{0},{1},{2}", "topic,url,sim\n"))),
    Holding("CSV without a header line", "qrels.txt bm25.csv --columns qid=1,docno=2,score=3",
            both(lambda: text("bm25.csv", HITS, "{0},{1},{2}"))),
    Holding("qrels of BEIR", "qrels.tsv bm25.run", both(
        lambda: text("qrels.tsv", ROWS, "{0}\t{1}\t{2}", "query-id\tcorpus-id\tscore\n"), run)),
    Holding("Parquet", "qrels.parquet bm25.parquet", both(
        lambda: parquet("qrels.parquet", ROWS, "query_id", "doc_id", "relevance"),
        lambda: parquet("bm25.parquet", HITS, "query_id", "doc_id", "score"))),
    Holding("Arrow or Feather", "qrels.txt bm25.feather", both(arrow)),
    Holding("JSON of `{qid: {docno: number}}`", "qrels.json bm25.json", both(
        lambda: dump("bm25.json", SCORES), lambda: dump("qrels.json", GRADES))),
    Holding("JSON Lines of `{qid, docno, score}`", "qrels.txt bm25.jsonl", both(
        lambda: text("bm25.jsonl", [(json.dumps(row),) for row in records(
            HITS, "qid", "docno", "score")], "{0}"))),
    Holding("JSON of rankings, `{qid: [docno, ...]}`, and of relevant documents",
            "relevant.json ranked.json", both(
                lambda: dump("ranked.json", LISTED), lambda: dump("relevant.json", RELEVANT))),
    Holding("JSON Lines of `{qid, docnos: [...]}`", "qrels.txt ranked.jsonl", both(
        lambda: text("ranked.jsonl", [(json.dumps({"qid": q, "docnos": row}),)
                                      for q, row in LISTED.items()], "{0}"))),
    Holding("a JSON array of records", "qrels.txt hits.json", both(
        lambda: dump("hits.json", records(HITS, "query_id", "doc_id", "score")))),
    Holding("relevant documents, one `qid docno` per line", "relevant.tsv bm25.run", both(
        lambda: text("relevant.tsv", [(q, *row) for q, row in RELEVANT.items()], "{0}\t{1}"),
        run)),
    Holding("a run of MS MARCO, `qid docno rank`", "qrels.txt run.tsv",
            lambda: run("run.tsv", "{0}\t{1}\t{2}")),
    Holding("a run of MS MARCO with ranks from 0", "qrels.txt run.tsv --run-format msmarco", both(
        lambda: text("run.tsv", [(q, d, rank - 1) for q, d, rank, _ in RANKS], "{0}\t{1}\t{2}"))),
    Holding("a ranking of ColBERT, `qid docno rank score`", "qrels.txt ranking.tsv",
            lambda: run("ranking.tsv", "{0}\t{1}\t{2}\t{3}")),
    Holding("distances: the lowest is best", "qrels.txt dense.run --lower-is-better", both(
        lambda: text("dense.run", [(q, d, -s) for q, d, s in HITS], "{0} Q0 {1} 0 {2} t"))),
    Holding("distances in a column with another name",
            "qrels.txt near.csv --columns score=_distance --lower-is-better", both(lambda: text(
                "near.csv", [(q, d, -s) for q, d, s in HITS], "{0},{1},{2}",
                "qid,docno,_distance\n"))),
    Holding("a run of passages `D1#0`, qrels of documents `D1`",
            "qrels.txt passages.run --set 'run.documents=(.+)#[0-9]+'", both(lambda: text(
                "passages.run", [(q, d, n, s - n) for q, d, s in HITS for n in (0, 1)],
                "{0} Q0 {1}#{2} 0 {3} t"))),
    Holding("a docno twice in a query", "qrels.txt bm25.run --set run.duplicates=best", repeated),
    Holding("grades that are fractions", "qrels.txt bm25.run --relevance-level 0.5", soft),
    Holding("a weight for each query, such as its traffic",
            "qrels.txt bm25.run --weights traffic.csv:views", both(
        lambda: text("traffic.csv", [("10", 5), ("2", 5), ("1", 5)], "{0},{1}", "qid,views\n"),
        run)),
    Holding("a learning-to-rank file (LETOR, SVMlight) and one score per line",
            "test.txt scores.txt", scores),
    Holding("a learning-to-rank file and a run that names documents", "test.txt bm25.run", both(
        letor, run)),
    Holding("a learning-to-rank file and a `.npy` of scores", "test.txt scores.npy",
            both(numpy_file, letor)),
    Holding("a learning-to-rank file and a tensor (`torch.save`)", "test.txt scores.pt",
            both(torch_file, letor)),
    Holding("a learning-to-rank file and a table of predictions", "test.txt predictions.csv",
            table_of_rows),
    Holding("a learning-to-rank file and scores of RankLib", "test.txt ranklib.txt", ranklib),
    Holding("features and group sizes of LightGBM",
            "features.txt scores.txt --set dataset.group=sizes.txt", boosting),
    Holding("dicts as in pytrec_eval", "harness.evaluate(qrel, run, ['map'])", dicts, True),
    Holding("rankings and relevant documents as lists by qid",
            "harness.evaluate(relevant, ranked, ['map'])", lists, True),
    Holding("such lists in the order of qids",
            "harness.evaluate(relevant_lists, ranked_lists, ['map'], qids=qids)", lists, True),
    Holding("relevant documents as sets", "harness.evaluate(relevant, ranked, ['map'])", sets,
            True),
    Holding("named tuples or records (`ir_measures`, `ir_datasets`)", IN_MEMORY, tuples, True),
    Holding("rows `(qid, docno, number)`", IN_MEMORY,
            lambda: {"grades": ROWS, "hits": HITS}, True),
    Holding("pandas data frames", IN_MEMORY, frames("pandas"), True),
    Holding("polars data frames", IN_MEMORY, frames("polars"), True),
    Holding("data frames with other names",
            "harness.evaluate(grades, hits, ['map'], columns={'docno': 'url', 'score': 'sim'})",
            lambda: frames("pandas")() | {"hits": frames("pandas")()["hits"].rename(
                columns={"docno": "url", "score": "sim"})}, True),
    Holding("columns: qids, docnos, numbers",
            "harness.evaluate((qids, docnos, grades), run, ['map'])",
            lambda: dict(zip(("qids", "docnos", "grades"), map(list, zip(*ROWS, strict=True)),
                             strict=True)) | {"run": SCORES}, True),
    Holding("a padded batch (B, L), and the length of each list",
            "harness.evaluate(labels, scores, ['map'], n=n)", padded, True),
    Holding("tensors, and a mask", "harness.evaluate(labels, scores, ['map'], mask=mask)", tensors,
            True),
    Holding("labels and scores of all rows, and group sizes",
            "harness.evaluate(labels, scores, ['map'], n=group)", flat, True),
    Holding("a learning-to-rank file, and an array of scores",
            "harness.evaluate('test.txt', scores, ['map'])", letor_and_scores, True),
]  # fmt: skip
"""Rows of the page of formats, in order."""


def number_of(docno: str) -> int:
    """Return a whole number in place of a docno."""
    return ord(docno)


def numbered() -> dict[str, Any]:
    """Return dicts with whole numbers as identifiers, and hits of a semantic search."""
    grades = {int(qid): {number_of(d): n for d, n in row.items()} for qid, row in GRADES.items()}
    scores = {int(qid): {number_of(d): n for d, n in row.items()} for qid, row in SCORES.items()}
    hits = [[{"corpus_id": d, "score": n} for d, n in row.items()] for row in scores.values()]
    return {"grades": grades, "scores": scores, "hits": hits, "qids": [*scores]}


def elasticsearch() -> None:
    """Write a request of ``_rank_eval``, its answer, and search results by qid."""
    ratings = {qid: [{"_index": "i", "_id": d, "rating": n} for d, n in row.items()]
               for qid, row in GRADES.items()}  # fmt: skip
    requests = [{"id": qid, "request": {}, "ratings": rows} for qid, rows in ratings.items()]
    dump("request.json", {"requests": requests, "metric": {"dcg": {"k": 10}}})
    hits = {qid: [{"_index": "i", "_id": d, "_score": n} for d, n in row.items()]
            for qid, row in SCORES.items()}  # fmt: skip
    details = {qid: {"metric_score": 0.5, "hits": [{"hit": hit, "rating": None} for hit in rows]}
               for qid, rows in hits.items()}  # fmt: skip
    dump("answer.json", {"metric_score": 0.5, "details": details, "failures": {}})
    dump("searches.json", {qid: {"took": 2, "hits": {"hits": rows}} for qid, rows in hits.items()})


def mteb() -> None:
    """Write the predictions of MTEB, and qrels."""
    qrels()
    dump("predictions.json", {"mteb_model_meta": {"model_name": "m"}, "default": {"test": SCORES}})


def hugging_face() -> dict[str, Any]:
    """Return datasets, one of which is shuffled."""
    from datasets import Dataset

    grades = Dataset.from_list(records(ROWS, "query-id", "corpus-id", "score"))
    hits = Dataset.from_list(records(HITS, "qid", "docno", "score"))
    return {"grades": grades.shuffle(seed=1), "hits": hits}


def ranx_objects() -> dict[str, Any]:
    """Return qrels and a run of ranx."""
    import ranx

    return {"grades": ranx.Qrels(GRADES), "hits": ranx.Run(SCORES)}


def ir_objects() -> dict[str, Any]:
    """Return rows and metrics of ir_measures."""
    import ir_measures

    rows = {"grades": [ir_measures.Qrel(*row) for row in ROWS]}
    rows["hits"] = [ir_measures.ScoredDoc(*row) for row in HITS]
    return {**rows, "AP": ir_measures.AP}


def ir_dataset() -> dict[str, Any]:
    """Write files, and return them as a dataset of ir_datasets."""
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import TrecQrels, TrecScoredDocs

    run()
    qrels_file, run_file = (
        SimpleNamespace(stream=partial(open, Path(name).resolve(), "rb"))
        for name in ("qrels.txt", "bm25.run")
    )
    return {"dataset": Dataset(TrecQrels(qrels_file, {}), TrecScoredDocs(run_file))}


def duckdb_relation() -> dict[str, Any]:
    """Return the result of a query of DuckDB."""
    import duckdb

    rows = ", ".join(f"('{q}', '{d}', {n})" for q, d, n in HITS)
    query = f"SELECT * FROM (VALUES {rows}) AS hits (qid, docno, score)"
    return {"relation": duckdb.sql(query), "grades": GRADES}


def arrays() -> dict[str, Any]:
    """Return structured arrays."""
    import numpy as np

    kinds = [("qid", "U8"), ("docno", "U8")]
    grades = np.array(ROWS, dtype=[*kinds, ("grade", "i4")])
    return {"grades": grades, "hits": np.array(HITS, dtype=[*kinds, ("score", "f8")])}


def stream() -> dict[str, Any]:
    """Return a stream of Arrow."""
    import pyarrow as pa

    return {"reader": pa.Table.from_pylist(records(HITS, "qid", "docno", "score")).to_reader(),
            "grades": GRADES}  # fmt: skip


def terrier() -> dict[str, Any]:
    """Return the frames of a retrieval pipeline, with ranks from 0 and the text of each query."""
    import pandas as pd

    hits = [(q, f"text of {q}", d, rank - 1, s) for q, d, rank, s in RANKS]
    names = ("qid", "query", "docno", "rank", "score")
    return {"qrels": pd.DataFrame(records(ROWS, "qid", "docno", "label")),
            "hits": pd.DataFrame(records(hits, *names))}  # fmt: skip


def booster() -> dict[str, Any]:
    """Return labels, sizes of groups, and a trained model of LightGBM that keeps the order."""
    import lightgbm
    import numpy as np

    labels = np.array([grade for _, _, grade in ROWS])
    features = np.array(BY_ROW)[:, None]
    settings = {"objective": "regression", "min_data_in_leaf": 1, "min_data_in_bin": 1,
                "verbose": -1, "num_leaves": 8}  # fmt: skip
    model = lightgbm.train(settings, lightgbm.Dataset(features, np.array(BY_ROW)), 200)
    return {"labels": labels, "features": features, "model": model, "group": SIZES}


def torch_batch() -> dict[str, Any]:
    """Return a padded batch of tensors."""
    import torch

    longest = max(SIZES)
    grades = [[*row.values()] + [0] * (longest - len(row)) for row in GRADES.values()]
    found = [[SCORES[qid][docno] for docno in row] + [0] * (longest - len(row))
             for qid, row in GRADES.items()]  # fmt: skip
    return {"relevance": torch.tensor(grades), "scores": torch.tensor(found), "n": SIZES}


def cat_pool() -> dict[str, Any]:
    """Return CatBoost's data set, and scores."""
    import catboost

    qids, labels = [int(qid) for qid, *_ in ROWS], [grade for *_, grade in ROWS]
    pool = catboost.Pool([[s] for s in BY_ROW], labels, group_id=qids)
    return {"pool": pool, "scores": BY_ROW}


TOOLS = [
    ("Hugging Face Datasets", Holding("two `Dataset`", IN_MEMORY, hugging_face, True)),
    ("ranx", Holding("`Qrels` and `Run`", IN_MEMORY, ranx_objects, True)),
    ("ir_measures", Holding("`Qrel` and `ScoredDoc`", IN_MEMORY, ir_objects, True)),
    ("ir_measures", Holding("metrics, such as `AP` or `nDCG@10`",
                            "harness.evaluate(grades, hits, [AP])", ir_objects, True)),
    ("ir_datasets", Holding("a dataset with qrels and scored documents",
                            "harness.evaluate(dataset, dataset, ['map'])", ir_dataset, True)),
    ("ir_datasets", Holding("iterators of rows", "harness.evaluate(dataset.qrels_iter(), "
                            "dataset.scoreddocs_iter(), ['map'])", ir_dataset, True)),
    ("sentence-transformers", Holding("hits of `semantic_search`, one list per query",
                                      "harness.evaluate(grades, hits, ['map'], qids=qids)",
                                      numbered, True)),
    ("recommenders", Holding("dicts with whole numbers as identifiers",
                             "harness.evaluate(grades, scores, ['map'])", numbered, True)),
    ("recommenders", Holding("records with `user_id` and `item_id`", IN_MEMORY, lambda: {
        "grades": records(ROWS, "user_id", "item_id", "rating"),
        "hits": records(HITS, "user_id", "item_id", "prediction")}, True)),
    ("Elasticsearch, OpenSearch", Holding("a `_rank_eval` request, and its answer",
                                          "request.json answer.json", elasticsearch)),
    ("Elasticsearch, OpenSearch", Holding("search results by qid",
                                          "request.json searches.json", elasticsearch)),
    ("MTEB", Holding("saved predictions", "qrels.txt predictions.json", mteb)),
    ("BEIR", Holding("`qrels` and `results` of a retriever",
                     "harness.evaluate(qrel, run, ['map'])", dicts, True)),
    ("PyTerrier", Holding("qrels and results as data frames",
                          "harness.evaluate(qrels, hits, ['map'])", terrier, True)),
    ("DuckDB", Holding("the result of a query", "harness.evaluate(grades, relation, ['map'])",
                       duckdb_relation, True)),
    ("Arrow", Holding("a `RecordBatchReader`", "harness.evaluate(grades, reader, ['map'])",
                      stream, True)),
    ("NumPy", Holding("structured arrays", IN_MEMORY, arrays, True)),
    ("LightGBM", Holding("a model, and group sizes", "harness.evaluate(labels, "
                         "model.predict(features), ['map'], n=group)", booster, True)),
    ("CatBoost", Holding("a `Pool` with groups, and scores", "harness.evaluate(("
                         "pool.get_group_id_hash(), pool.get_label().astype(int)), scores, "
                         "['map'])", cat_pool, True)),
    ("PyTorch", Holding("a padded batch of tensors",
                        "harness.evaluate(relevance, scores, ['map'], n=n)", torch_batch, True)),
]  # fmt: skip
"""Objects and files of other tools, as rows of a second table."""


def tools_table() -> str:
    """Objects and files of other tools, as a table in Markdown."""
    rows = [(f"{tool}: {row.have}", row) for tool, row in TOOLS]
    return _table("tool, and its object or file", rows)


def table() -> str:
    """Return the rows as a table in Markdown."""
    parts: dict[str, list[tuple[str, Holding]]] = {
        "Files of qrels and runs": [], "Learning-to-rank files": [], "Python objects": []
    }  # fmt: skip
    files, rows, objects = parts.values()
    for row in HOLDINGS:
        is_rows = row.have.startswith(("a learning-to-rank file", "features"))
        (objects if row.is_python else rows if is_rows else files).append((row.have, row))
    tables = (f"### {title}\n\n{_table('what you have', own)}\n" for title, own in parts.items())
    return "\n".join(tables)


def _table(title: str, rows: list[tuple[str, Holding]]) -> str:
    by_call: dict[str, list[str]] = {}
    for have, row in rows:
        call = row.write if row.is_python else f"harness evaluate {row.write}"
        by_call.setdefault(call, []).append(have)
    lines = [f"| {title} | what to write |", "|---|---|"]
    lines += [f"| {'<br>'.join(have)} | `{call}` |" for call, have in by_call.items()]
    return "\n".join(lines)
