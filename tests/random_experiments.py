"""Small random experiments: data of every shape, written in every format, under every policy.

``Experiment(seed)`` draws one. ``str(experiment)`` shows all that is needed to replay it.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
from simple_evaluation import (
    METRICS,
    Choices,
    Expected,
    Judgements,
    Scored,
    evaluate,
    with_level,
)

QIDS = [
    "1", "2", "10", "007", "3", "07", "30", "q-1", "Q1", "+1", "-5", "nan", "None", "true",
    "null", "inf", "1.0", "1e3", "0x1F", "all", "é1", "日本", "a_b", "d'x", 'q"1', "a,b", "a|b",
    "a;b", "%41", "\\n", "&amp;", "<b>", "$x$", "_", "*", "~", "12345678901234567890", "{x}",
    "[1]", "a/b", "a:b", "qid", "query_id", "q" * 60, "no\xa0break", "e\u0301", "#3", "#q",
]  # fmt: skip
DOCNOS = [
    "d1", "d2", "d10", "1", "2", "10", "007", "7", "-1", "+1", "nan", "None", "true", "doc,1",
    'd"q', "d'q", "ünï", "文", "1e5", "a:b", "D1", "clueweb12-00-1", "0", "x_y", "%20", "<i>",
    "\\t", "http://x/y?z=1", "docno", "x" * 300, "#9", "no\xa0break", "e\u0301", "é", "😀",
]  # fmt: skip
BLANKS = ["a b", " lead", "trail ", "two  blanks", "x y z"]
"""Identifiers that formats with quotes or lengths can hold."""
NAMES = [
    "bm25", "run 2", "10", "7", "nan", "naïve", "true", "MQ-2007", "a,b", "it's", "x&y", "50%",
    "_",
]  # fmt: skip
"""What runs and datasets are called."""
SCORES = [0.0, 1.0, 0.5, -1.0, 2.5, 3.0, 1e-9, 1.0000000001, 1.0 + 2**-20, 12.75, -0.125, 1e6, 7.0]
GRADES = [0, 0, 0, 1, 1, 2, 3, 4, -1, -2]

TEXT = ["trec", "json", "jsonl", "csv", "tsv", "parquet", "arrow"]
QRELS_FORMATS = [*TEXT, "trec", "beir"]
RUN_FORMATS = [*TEXT, "trec", "msmarco"]
ROW_FORMATS = ["scores", "npy", "ranklib"]
SUFFIXES = {
    "trec": [".txt", ".qrels", ".run", ".trec", ".res"],
    "beir": [".tsv"],
    "msmarco": [".tsv", ".txt"],
    "json": [".json"],
    "jsonl": [".jsonl", ".ndjson"],
    "csv": [".csv"],
    "tsv": [".tsv"],
    "parquet": [".parquet"],
    "arrow": [".arrow", ".feather"],
    "scores": [".txt", ".pred", ".scores"],
    "npy": [".npy"],
    "ranklib": [".txt", ".score"],
    "letor": [".txt", ".letor", ".svm"],
    "batch": [".npz"],
}
TABLES = {"csv", "tsv", "parquet", "arrow"}
BY_LINES = {"trec", "beir", "msmarco", "letor", "ranklib", "csv", "tsv"}
"""Formats in which a row can begin with its qid."""
HEADERS = {
    "qid": ["qid", "query_id", "query", "q", "topic", "Qid"],
    "docno": ["docno", "doc_id", "docid", "document", "d", "docId"],
    "grade": ["grade", "relevance", "rel", "label"],
    "score": ["score", "s", "sim", "Score"],
}
ACCEPTED = [
    "no-relevant-documents", "other-collection", "other-topics", "docno-spelling",
    "labels-as-scores", "swapped-columns", "rank-as-score",
]  # fmt: skip
"""Rules of the guard that would stop a run for what random data look like."""

Rows = list[tuple[str, str, float]]


@dataclass
class File:
    """A file of judgements or of a run, and how it is to be named in a config."""

    name: str
    kind: str
    format: str
    rows: Rows
    path: str = ""
    data: bytes = b""
    is_guessed: bool = False
    columns: dict[str, Any] = field(default_factory=dict)
    dataset: int = 0
    error: str = ""
    has_comment: bool = False

    @property
    def format_name(self) -> str:
        return "table" if self.format in TABLES else self.format

    def entry(self, **more: Any) -> dict[str, Any]:
        """Return what a config says about it."""
        made: dict[str, Any] = {"path": self.path.replace("$", "$$"), **more}
        if not self.is_guessed:
            made["format"] = self.format_name
        if self.columns:
            made["columns"] = self.columns
        return made

    def __str__(self) -> str:
        text = self.data.decode("utf-8", "backslashreplace") if len(self.data) < 4000 else "..."
        shown = text if self.is_text else f"rows {self.rows}"
        about = "format guessed" if self.is_guessed else f"format {self.format_name}"
        return f"--- {self.kind} {self.path!r}: {self.format}, {about}, {self.columns}\n{shown!r}"

    @property
    def is_text(self) -> bool:
        return self.format not in ("parquet", "arrow", "npy", "batch") and self.path.endswith(
            tuple(SUFFIXES[self.format])
        )


class Experiment:
    """One experiment: some datasets, each with its runs, policies and metrics."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.draw = draw = random.Random(f"experiment {seed}")
        n_datasets = draw.choice([1, 1, 1, 2, 2, 3])
        self.n_runs = draw.choice([1, 1, 2, 2, 3])
        self.mode = draw.choices(["python", "evaluate", "run"], [55, 32, 13])[0]
        self.run_names = draw.sample(NAMES, self.n_runs)
        self.datasets: list[File] = []
        self.runs: list[File] = []
        for at, name in enumerate(draw.sample(NAMES, n_datasets)):
            self._add_dataset(at, name)
        self.metrics = draw.sample(list(METRICS), draw.randint(2, 6))
        self.choices = self._choices()
        level = self.choices.relevance_level or 1
        self.labels = [with_level(metric, level) for metric in self.metrics]
        self.log: list[str] = []

    def _choices(self) -> Choices:
        draw = self.draw
        errors = ["error"] if draw.random() < 0.3 and self.mode != "run" else []
        missing = ["zero", "zero", "skip", *errors]
        ties = ["trec_eval"] * 4 + ["trec_eval10", "docno+", "stable", "reverse"] * 2
        return Choices(
            ties=draw.choice([*ties, "average", "best", "worst", "random(7)"]),
            missing_queries=draw.choice(missing),
            empty_queries=draw.choice(["zero", "zero", "one", "skip", *errors]),
            depth=draw.choice([None] * 4 + [1, 3]),
            judged_only=draw.random() < 0.15,
            relevance_level=draw.choice([None] * 4 + [1, 2]),
        )

    # data

    def _add_dataset(self, at: int, name: str) -> None:
        draw = self.draw
        family = draw.choices(["named", "letor", "batch"], [70, 20, 10])[0]
        if family == "named":
            form = draw.choice(QRELS_FORMATS)
            run_forms = [draw.choice(RUN_FORMATS) for _ in range(self.n_runs)]
        elif family == "letor":
            form, run_forms = "letor", [draw.choice(ROW_FORMATS) for _ in range(self.n_runs)]
        else:
            form, run_forms = "batch", ["batch"] * self.n_runs
        forms = {form, *run_forms}
        qids, docnos = [*QIDS], [*DOCNOS]
        if not forms & {"trec", "beir", "msmarco", "letor", "ranklib"}:
            qids, docnos = qids + BLANKS, docnos + BLANKS
            if not forms & {"csv", "tsv", "batch"}:
                qids.append("tab\there")
        if "letor" in forms:
            qids = [qid for qid in qids if "#" not in qid]
            docnos = [d for d in docnos if "#" not in d]
        if draw.random() < 0.4:
            qids = [str(number) for number in range(1, 13)]
        if draw.random() < 0.3:
            docnos = [f"d{number}" for number in range(14)]
        queries = draw.sample(qids, draw.randint(1, 8))
        grades = GRADES if draw.random() < 0.6 else [0, 1]
        rows: Rows = [
            (qid, docno, draw.choice(grades))
            for qid in queries
            for docno in draw.sample(docnos, draw.randint(1, 8))
        ]
        rows = self._in_some_order(rows)
        dataset = File(name, "qrels", form, rows, dataset=at)
        self.datasets.append(dataset)
        if family == "letor":
            self._name_rows(dataset)
        elif family == "batch":
            dataset.rows = rows = self._by_query(rows)
            dataset.rows = _numbered(rows)
        for run_name, run_form in zip(self.run_names, run_forms, strict=True):
            run = File(run_name, "run", run_form, [], dataset=at)
            run.rows = self._scores(dataset, run, qids, docnos)
            self.runs.append(run)
            self._write(run)
        self._write(dataset)

    def _in_some_order(self, rows: Rows) -> Rows:
        draw = self.draw
        if draw.random() < 0.15:  # queries scattered
            return draw.sample(rows, len(rows))
        return rows

    def _by_query(self, rows: Rows) -> Rows:
        qids = list(dict.fromkeys(qid for qid, _, _ in rows))
        return sorted(rows, key=lambda row: qids.index(row[0]))

    def _name_rows(self, dataset: File) -> None:
        self.has_docids = self.draw.random() < 0.5
        if not self.has_docids:
            dataset.rows = _numbered(dataset.rows)

    def _scores(self, dataset: File, run: File, qids: list[str], docnos: list[str]) -> Rows:
        draw = self.draw
        scores = SCORES if draw.random() < 0.7 else SCORES[:3]

        def score() -> float:
            return draw.choice(scores) if draw.random() < 0.7 else draw.gauss(0, 3)

        if run.format in (*ROW_FORMATS, "batch"):
            return [(qid, docno, score()) for qid, docno, _ in dataset.rows]
        judged: dict[str, list[str]] = {}
        for qid, docno, _ in dataset.rows:
            judged.setdefault(qid, []).append(docno)
        answered = [qid for qid in judged if draw.random() < 0.9]
        extra = [qid for qid in draw.sample(qids, min(2, len(qids))) if qid not in judged]
        rows: Rows = []
        for qid in draw.sample(answered, len(answered)) + extra * (draw.random() < 0.4):
            known = judged.get(qid, [])
            some = draw.sample(known, draw.randint(0, len(known)))
            others = draw.sample(docnos, draw.randint(0, 3))
            names = list(dict.fromkeys([*some, *others]))[:8]
            draw.shuffle(names)
            rows += [(qid, docno, score()) for docno in names]
        if not rows:
            rows = [(dataset.rows[0][0], dataset.rows[0][1], score())]
        if run.format == "msmarco":
            seen: dict[str, int] = {}
            ranked: Rows = []
            for qid, docno, _ in rows:
                seen[qid] = seen.get(qid, 0) + 1
                ranked.append((qid, docno, -float(seen[qid])))
            rows = ranked
        return self._in_some_order(rows)

    # writing

    def _write(self, file: File) -> None:
        draw = self.draw
        file.is_guessed = draw.random() < 0.5
        data = getattr(self, f"_as_{file.format}")(file)
        if data.startswith(b"#") and not file.has_comment:  # there it would begin a comment
            file.rows.insert(0, ("first", "first", 1))
            file.columns = {}
            data = getattr(self, f"_as_{file.format}")(file)
        suffix = draw.choice(SUFFIXES[file.format])
        if file.format in BY_LINES | {"jsonl", "scores"}:
            if draw.random() < 0.25:
                data = data.replace(b"\n", b"\r\n")
            if draw.random() < 0.15:
                data = data.rstrip(b"\r\n")
            if draw.random() < 0.05 and file.format != "letor":
                data = b"\xef\xbb\xbf" + data
        if file.format not in ("parquet", "arrow", "npy", "batch") and draw.random() < 0.2:
            ending, pack = draw.choice(
                [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress),
                 (".zst", lambda it: pa.compress(it, "zstd", asbytes=True))]
            )  # fmt: skip
            data, suffix = pack(data), suffix + ending
        folder = f"{file.dataset}-{file.kind}"
        file.path, file.data = f"{folder}/{file.name}{suffix}", data

    def _as_trec(self, file: File) -> bytes:
        draw, lines = self.draw, []
        between = draw.choice([" ", "\t", "  ", " "])
        for at, (qid, docno, number) in enumerate(file.rows):
            if file.kind == "qrels":
                fields = [qid, draw.choice(["0", "Q0"]) if at else "0", docno, str(number)]
            else:
                fields = [qid, "Q0", docno, str(at % 7 + 1), _text(number), "tag"]
            lines.append(between.join(fields))
        if draw.random() < 0.1:
            lines.insert(0, "# made by a test")
            file.has_comment = True
        return _joined(lines)

    def _as_beir(self, file: File) -> bytes:
        lines = [f"{qid}\t{docno}\t{grade}" for qid, docno, grade in file.rows]
        return _joined(["query-id\tcorpus-id\tscore", *lines])

    def _as_msmarco(self, file: File) -> bytes:
        return _joined([f"{qid}\t{docno}\t{-score:.0f}" for qid, docno, score in file.rows])

    def _as_json(self, file: File) -> bytes:
        found: dict[str, dict[str, float]] = {}
        for qid, docno, number in file.rows:
            found.setdefault(qid, {})[docno] = number
        file.rows = [(qid, *row) for qid, rows in found.items() for row in rows.items()]
        indent, is_ascii = self.draw.choice([None, 2]), self.draw.random() < 0.5
        return json.dumps(found, indent=indent, ensure_ascii=is_ascii).encode()

    def _headers(self, file: File) -> list[str]:
        draw, last = self.draw, "grade" if file.kind == "qrels" else "score"
        roles = ["qid", "docno", last]
        if draw.random() < 0.15:
            names = ["Suchanfrage", "Absatz", "wert"]
            if draw.random() < 0.3:
                file.error = "unknown document column"
                return [draw.choice(HEADERS["qid"]), "Absatz", draw.choice(HEADERS[last])]
            file.columns = dict(zip(roles, names, strict=True))
            return names
        return [draw.choice(HEADERS[role]) for role in roles]

    def _as_jsonl(self, file: File) -> bytes:
        names = self._headers(file)
        whole = self.draw.random() < 0.3 and all(map(_is_whole, _qids(file)))
        rows = [(int(row[0]) if whole else row[0], *row[1:]) for row in file.rows]
        is_ascii = self.draw.random() < 0.5
        return _joined(
            [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=is_ascii) for row in rows]
        )

    def _as_csv(self, file: File, delimiter: str = ",") -> bytes:
        draw, names = self.draw, self._headers(file)
        has_header = not (draw.random() < 0.1 and not file.error)
        order = draw.sample(range(3), 3)
        if not has_header:
            roles = ["qid", "docno", "grade" if file.kind == "qrels" else "score"]
            file.columns = {role: order.index(at) + 1 for at, role in enumerate(roles)}
            file.is_guessed = False
        text, quoting = io.StringIO(), draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator="\n")
        if has_header:
            writer.writerow([names[at] for at in order])
        for qid, docno, number in file.rows:
            row = [qid, docno, str(number) if file.kind == "qrels" else _text(number)]
            writer.writerow([row[at] for at in order])
        return text.getvalue().encode()

    def _as_tsv(self, file: File) -> bytes:
        return self._as_csv(file, "\t")

    def _table(self, file: File) -> pa.Table:
        draw, names = self.draw, self._headers(file)
        columns: list[Any] = [list(column) for column in zip(*file.rows, strict=True)]
        arrays = []
        for at, values in enumerate(columns[:2]):
            if draw.random() < 0.3 and all(map(_is_whole, values)):
                arrays.append(pa.array(list(map(int, values)), pa.int64()))
            else:
                kind = draw.choice([pa.string(), pa.large_string(), pa.string()])
                array = pa.array(values, kind)
                arrays.append(
                    array.dictionary_encode() if draw.random() < 0.3 and at == 0 else array
                )
        kinds = [pa.int64(), pa.int8(), pa.float64()] if file.kind == "qrels" else [pa.float64()]
        arrays.append(pa.array(columns[2], pa.float64()).cast(draw.choice(kinds)))
        return pa.table(dict(zip(names, arrays, strict=True)))

    def _as_parquet(self, file: File) -> bytes:
        sink = io.BytesIO()
        parquet.write_table(self._table(file), sink, row_group_size=self.draw.choice([3, 1000]))
        return sink.getvalue()

    def _as_arrow(self, file: File) -> bytes:
        sink = io.BytesIO()
        feather.write_feather(self._table(file), sink, compression="uncompressed")
        return sink.getvalue()

    def _as_letor(self, file: File) -> bytes:
        draw, lines = self.draw, []
        comment = draw.choice(["#docid = {} inc = 1 prob = 0.5", "# {}", "#docid = {}"])
        for qid, docno, grade in file.rows:
            line = f"{grade} qid:{qid} 1:{draw.random():.3f} 2:0"
            lines.append(f"{line} {comment.format(docno)}" if self.has_docids else line)
        return _joined(lines)

    def _as_scores(self, file: File) -> bytes:
        return _joined([_text(score) for _, _, score in file.rows])

    def _as_npy(self, file: File) -> bytes:
        sink = io.BytesIO()
        np.save(sink, np.array([score for _, _, score in file.rows]))
        return sink.getvalue()

    def _as_ranklib(self, file: File) -> bytes:
        seen: dict[str, int] = {}
        lines = []
        for qid, _, score in file.rows:
            lines.append(f"{qid}\t{seen.get(qid, 0)}\t{_text(score)}")
            seen[qid] = seen.get(qid, 0) + 1
        return _joined(lines)

    def _as_batch(self, file: File) -> bytes:
        sink = io.BytesIO()
        qids = _qids(file)
        n = [sum(row[0] == qid for row in file.rows) for qid in qids]
        key = "relevance" if file.kind == "qrels" else "scores"
        numbers = np.array([number for _, _, number in file.rows])
        np.savez(sink, qids=np.array(qids), n=np.array(n), **{key: numbers})
        return sink.getvalue()

    # reading and what must come out

    def write(self, folder: Path) -> None:
        """Write every file, and the config."""
        for file in [*self.datasets, *self.runs]:
            (folder / file.path).parent.mkdir(exist_ok=True)
            (folder / file.path).write_bytes(file.data)
        (folder / "config.yaml").write_text(self.config(), encoding="utf-8")

    def config(self) -> str:
        """Return the config, as JSON, which is YAML too."""
        runs: dict[str, list[Any]] = {name: [] for name in self.run_names}
        for run in self.runs:
            runs[run.name].append(run.entry(dataset=self.datasets[run.dataset].name))
        policy = {name: value for name, value in vars(self.choices).items() if value is not None}
        made = {
            "name": "made",
            "output": "results",
            "datasets": {dataset.name: dataset.entry() for dataset in self.datasets},
            "runs": runs,
            "metrics": self.metrics,
            "policy": policy,
            "crosscheck": "all" if self.seed % 4 == 0 else "none",
            "guard": {"accept": ACCEPTED},
        }
        return json.dumps(made, indent=1, ensure_ascii=False)

    def expected(self, run: File) -> Expected:
        """Return what evaluating a run must give."""
        judgements: Judgements = {}
        for qid, docno, grade in self.datasets[run.dataset].rows:
            judgements.setdefault(qid, {})[docno] = int(grade)
        answers: dict[str, Scored] = {}
        for qid, docno, score in run.rows:
            answers.setdefault(qid, []).append((docno, score))
        found = evaluate(judgements, answers, self.metrics, self.choices)
        found.error = run.error or self.datasets[run.dataset].error or found.error
        return found

    def __str__(self) -> str:
        files = "\n".join(map(str, [*self.datasets, *self.runs]))
        log = "\n".join(self.log)
        return f"seed {self.seed}, {self.mode}\n{self.config()}\n{files}\n{log}"


def _numbered(rows: Rows) -> Rows:
    """Return rows whose documents are named by their position in the query."""
    seen: dict[str, int] = {}
    found: Rows = []
    for qid, _, number in rows:
        found.append((qid, f"d{seen.get(qid, 0)}", number))
        seen[qid] = seen.get(qid, 0) + 1
    return found


def _qids(file: File) -> list[str]:
    return list(dict.fromkeys(qid for qid, _, _ in file.rows))


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and str(int(text)) == text and len(text) < 18


def _text(number: float) -> str:
    return repr(number) if number % 1 or abs(number) > 1e5 else str(math.trunc(number))


def _joined(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()
