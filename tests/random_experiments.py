"""Small random experiments: awkward data in several formats, under every policy.

``Experiment(seed)`` draws one. ``str(experiment)`` shows all that is needed to replay it.
"""

import csv
import gzip
import io
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simple_evaluation import METRICS, Choices, Expected, Judgements, Scored, evaluate, with_level

QIDS = [
    "1", "2", "10", "007", "3", "07", "30", "q-1", "Q1", "+1", "-5", "nan", "None", "true",
    "null", "inf", "1.0", "1e3", "0x1F", "all", "é1", "日本", "a_b", "d'x", 'q"1', "a,b", "a|b",
    "a;b", "%41", "\\n", "&amp;", "<b>", "$x$", "_", "*", "~", "12345678901234567890", "{x}",
    "[1]", "a/b", "a:b", "qid", "query_id", "q" * 60, "no\xa0break", "e\u0301",
]  # fmt: skip
DOCNOS = [
    "d1", "d2", "d10", "1", "2", "10", "007", "7", "-1", "+1", "nan", "None", "true", "doc,1",
    'd"q', "d'q", "ünï", "文", "1e5", "a:b", "D1", "clueweb12-00-1", "0", "x_y", "%20", "<i>",
    "\\t", "http://x/y?z=1", "docno", "x" * 300, "no\xa0break", "e\u0301", "é", "😀",
]  # fmt: skip
BLANKS = ["a b", " lead", "trail ", "two  blanks", "x y z"]
"""Identifiers that formats with quotes or lengths can hold."""
NAMES = ["bm25", "run 2", "10", "7", "nan", "naïve", "true", "MQ-2007", "a,b", "it's", "50%", "_"]
"""What runs and datasets are called."""
SCORES = [0.0, 1.0, 0.5, -1.0, 2.5, 3.0, 1e-9, 1.0000000001, 1.0 + 2**-20, 12.75, -0.125, 1e6, 7.0]
GRADES = [0, 0, 0, 1, 1, 2, 3, 4, -1, -2]
SUFFIXES = {
    "trec": [".txt", ".qrels", ".run"], "json": [".json"], "csv": [".csv"],
    "scores": [".txt", ".pred"], "letor": [".txt", ".letor"],
}  # fmt: skip
NAMED = ["trec", "trec", "json", "csv"]
ACCEPTED = [
    "no-relevant-documents", "other-collection", "other-topics", "docno-spelling",
    "labels-as-scores", "swapped-columns", "rank-as-score",
]  # fmt: skip
"""Rules of the guard that would stop a run for what random data look like."""
TIES = ["trec_eval", "trec_eval10", "docno+", "stable", "reverse", "average", "best", "worst"]

Rows = list[tuple[str, str, float]]


@dataclass
class File:
    name: str
    kind: str
    format: str
    dataset: int
    rows: Rows
    path: str = ""
    data: bytes = b""

    @property
    def format_name(self) -> str:
        return "table" if self.format == "csv" else self.format


class Experiment:
    def __init__(self, seed: int, mode: str = "", policy: dict[str, Any] | None = None) -> None:
        self.seed = seed
        self.draw = draw = random.Random(f"experiment {seed}")
        self.mode = mode or draw.choices(["python", "evaluate", "run"], [55, 32, 13])[0]
        self.run_names = draw.sample(NAMES, draw.choice([1, 1, 2, 2, 3]) if policy is None else 2)
        self.datasets: list[File] = []
        self.runs: list[File] = []
        for at, name in enumerate(draw.sample(NAMES, draw.choice([1, 1, 1, 2, 2, 3]))):
            self._add_dataset(at, name)
        self.metrics = draw.sample(list(METRICS), draw.randint(2, 6))
        self.choices = self._choices() if policy is None else Choices(**policy)
        level = self.choices.relevance_level or 1
        self.labels = [with_level(metric, level) for metric in self.metrics]
        self.log: list[str] = []

    def _choices(self) -> Choices:
        draw = self.draw
        errors = ["error"] if draw.random() < 0.3 and self.mode != "run" else []
        return Choices(
            ties=draw.choice([*TIES, "trec_eval", "random(7)"]),
            missing_queries=draw.choice(["zero", "zero", "skip", *errors]),
            empty_queries=draw.choice(["zero", "zero", "one", "skip", *errors]),
            depth=draw.choice([None] * 4 + [1, 3]),
            judged_only=draw.random() < 0.15,
            relevance_level=draw.choice([None] * 4 + [1, 2]),
        )

    def _add_dataset(self, at: int, name: str) -> None:
        draw, is_letor = self.draw, self.draw.random() < 0.2
        form = "letor" if is_letor else draw.choice(NAMED)
        run_form = "scores" if is_letor else draw.choice(NAMED)
        has_blanks = not {form, run_form} & {"trec", "letor"}
        qids, docnos = QIDS + BLANKS * has_blanks, DOCNOS + BLANKS * has_blanks
        if draw.random() < 0.4:
            qids = [str(number) for number in range(1, 13)]
        if draw.random() < 0.3:
            docnos = [f"d{number}" for number in range(14)]
        grades = GRADES if draw.random() < 0.6 else [0, 1]
        rows: Rows = [
            (qid, docno, draw.choice(grades))
            for qid in draw.sample(qids, draw.randint(1, 8))
            for docno in draw.sample(docnos, draw.randint(1, 8))
        ]
        rows = self._in_some_order(rows)
        self.has_docids = draw.random() < 0.5
        dataset = File(name, "qrels", form, at, rows)
        if is_letor and not self.has_docids:
            dataset.rows = _numbered(rows)
        for run_name in self.run_names:
            run = File(run_name, "run", run_form, at, self._scores(dataset, qids, docnos))
            self.runs.append(run)
            self._render(run)
        self.datasets.append(dataset)
        self._render(dataset)

    def _in_some_order(self, rows: Rows) -> Rows:
        if self.draw.random() < 0.15:  # queries scattered
            return self.draw.sample(rows, len(rows))
        return rows

    def _scores(self, dataset: File, qids: list[str], docnos: list[str]) -> Rows:
        draw = self.draw
        scores = SCORES if draw.random() < 0.7 else SCORES[:3]

        def score() -> float:
            return draw.choice(scores) if draw.random() < 0.7 else draw.gauss(0, 3)

        if dataset.format == "letor":
            return [(qid, docno, score()) for qid, docno, _ in dataset.rows]
        judged: dict[str, list[str]] = {}
        for qid, docno, _ in dataset.rows:
            judged.setdefault(qid, []).append(docno)
        answered = [qid for qid in judged if draw.random() < 0.9]
        extra = [qid for qid in draw.sample(qids, 2) if qid not in judged]
        rows: Rows = []
        for qid in draw.sample(answered, len(answered)) + extra * (draw.random() < 0.4):
            known = judged.get(qid, [])
            some = draw.sample(known, draw.randint(0, len(known)))
            names = list(dict.fromkeys([*some, *draw.sample(docnos, draw.randint(0, 3))]))[:8]
            draw.shuffle(names)
            rows += [(qid, docno, score()) for docno in names]
        judged_rows = {(qid, docno) for qid, docno, grade in dataset.rows if grade >= 0}
        if judged_rows.isdisjoint((qid, docno) for qid, docno, _ in rows):
            qid, docno = min(judged_rows, default=dataset.rows[0][:2])  # else the run is refused
            rows = [row for row in rows if row[:2] != (qid, docno)]
            at = next((at for at, row in enumerate(rows) if row[0] == qid), len(rows))
            rows.insert(at, (qid, docno, max([0.0, *(row[2] for row in rows)]) + 1))
        return self._in_some_order(rows)

    def _render(self, file: File) -> None:
        draw = self.draw
        if file.format == "csv" and {qid for qid, _, _ in file.rows} == {"1.0"}:
            file.format = "json"  # a table of whole decimals has whole numbers as qids
        data, suffix = getattr(self, f"_as_{file.format}")(file), draw.choice(SUFFIXES[file.format])
        if file.format != "json":
            if draw.random() < 0.25:
                data = data.replace(b"\n", b"\r\n")
            if draw.random() < 0.15:
                data = data.rstrip(b"\r\n")
            if draw.random() < 0.05 and file.format != "letor":
                data = b"\xef\xbb\xbf" + data
        if draw.random() < 0.2:
            data, suffix = gzip.compress(data), suffix + ".gz"
        file.path, file.data = f"{file.dataset}-{file.kind}/{file.name}{suffix}", data

    def _as_trec(self, file: File) -> bytes:
        between = self.draw.choice([" ", "\t", "  "])
        lines = ["# made by a test"] * (self.draw.random() < 0.1)
        for at, (qid, docno, number) in enumerate(file.rows):
            fields = [qid, "0", docno, str(number)]
            if file.kind == "run":
                fields = [qid, "Q0", docno, str(at % 7 + 1), repr(number), "tag"]
            lines.append(between.join(fields))
        return _joined(lines)

    def _as_json(self, file: File) -> bytes:
        found: dict[str, dict[str, float]] = {}
        for qid, docno, number in file.rows:
            found.setdefault(qid, {})[docno] = number
        file.rows = [(qid, *row) for qid, rows in found.items() for row in rows.items()]
        return json.dumps(found, ensure_ascii=self.draw.random() < 0.5).encode()

    def _as_csv(self, file: File) -> bytes:
        draw, order = self.draw, self.draw.sample(range(3), 3)
        text, quoting = io.StringIO(), draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        writer = csv.writer(text, quoting=quoting, lineterminator="\n")
        last = "grade" if file.kind == "qrels" else "score"
        for row in [("qid", "docno", last), *file.rows]:
            writer.writerow([row[at] for at in order])
        return text.getvalue().encode()

    def _as_letor(self, file: File) -> bytes:
        comment = " " + self.draw.choice(["#docid = {} inc = 1 prob = 0.5", "# {}"])
        return _joined(
            [
                f"{grade} qid:{qid} 1:{len(docno)} 2:0" + comment.format(docno) * self.has_docids
                for qid, docno, grade in file.rows
            ]
        )

    def _as_scores(self, file: File) -> bytes:
        return _joined([repr(score) for _, _, score in file.rows])

    def write(self, folder: Path) -> None:
        for file in [*self.datasets, *self.runs]:
            (folder / file.path).parent.mkdir(exist_ok=True)
            (folder / file.path).write_bytes(file.data)
        (folder / "config.yaml").write_text(self.config(), encoding="utf-8")

    def config(self) -> str:
        """Config, as JSON, which is YAML too."""
        runs: dict[str, list[Any]] = {name: [] for name in self.run_names}
        for run in self.runs:
            runs[run.name].append(_entry(run) | {"dataset": self.datasets[run.dataset].name})
        policy = {name: value for name, value in vars(self.choices).items() if value is not None}
        made = {
            "name": "made",
            "output": "results",
            "datasets": {dataset.name: _entry(dataset) for dataset in self.datasets},
            "runs": runs,
            "metrics": self.metrics,
            "policy": policy,
            "crosscheck": "all" if self.seed % 4 == 0 else "none",
            "guard": {"accept": ACCEPTED},
        }
        return json.dumps(made, indent=1, ensure_ascii=False)

    def expected(self, run: File) -> Expected:
        judgements: Judgements = {}
        for qid, docno, grade in self.datasets[run.dataset].rows:
            judgements.setdefault(qid, {})[docno] = int(grade)
        answers: dict[str, Scored] = {}
        for qid, docno, score in run.rows:
            answers.setdefault(qid, []).append((docno, score))
        return evaluate(judgements, answers, self.metrics, self.choices)

    def __str__(self) -> str:
        files = [f"--- {file.path!r}: {file.rows}" for file in [*self.datasets, *self.runs]]
        return "\n".join([f"seed {self.seed}, {self.mode}", self.config(), *files, *self.log])


def _entry(file: File) -> dict[str, Any]:
    return {"path": file.path.replace("$", "$$"), "format": file.format_name}


def _numbered(rows: Rows) -> Rows:
    """Rows whose documents are named by their position in the query."""
    seen: dict[str, int] = {}
    found: Rows = []
    for qid, _, number in rows:
        found.append((qid, f"d{seen.get(qid, 0)}", number))
        seen[qid] = seen.get(qid, 0) + 1
    return found


def _joined(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()
