"""Every rule, set off by a small file: each finding has its place, count, examples and advice."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import harness
from harness.errors import Finding
from harness.guard.check import check_config, check_files
from harness.guard.registry import REFUSED, RULES, WARNED

Rows = list[list[str]]

OF_WHOLE_FILES = {
    "missing-file", "truncated", "damaged", "unpacks-too-far", "empty-file", "group-sizes",
    "swapped-files", "no-common-query", "other-compression", "reader", "unreadable", "config",
    "unused-columns",
}  # fmt: skip
"""What is about a file as a whole: there is no first row to name beyond what the text says."""
NO_LINE = OF_WHOLE_FILES | {
    "missing-queries", "gaps", "same-file-twice", "swapped-columns", "row-count",
    "empty-groups",
}  # fmt: skip
"""What is about something that has no line in the file: a query that is not there, another file."""

OF_QUERIES = {
    "empty-queries", "no-relevant-documents", "one-document-queries", "constant-scores",
    "nearly-constant-scores", "extra-queries", "unusable-judgements", "upside-down",
}  # fmt: skip
"""What names queries, at the first line of the first of them."""


class Files:
    """Judgements of 40 queries, a run of all their documents and one more, and what is checked."""

    def __init__(self, folder: Path) -> None:
        random = np.random.default_rng(3)
        self.folder = folder
        self.qrels: Rows = []
        self.run: Rows = []
        for query in range(40):
            grades = random.permutation([0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 0, 0])
            scores = np.sort(grades + random.normal(0, 2, 12))[::-1]
            order = np.argsort(-(grades + random.normal(0, 2, 12)))
            self.qrels += [
                [f"q{query}", "0", f"d{query}-{d}", str(g)] for d, g in enumerate(grades)
            ]
            self.run += [
                [f"q{query}", "Q0", f"d{query}-{d}", str(rank), f"{scores[rank - 1]:.6f}", "tag"]
                for rank, d in enumerate(order.tolist(), 1)
            ]

    def text(self, rows: Rows) -> str:
        return "".join(" ".join(row) + "\n" for row in rows)

    def put(self, name: str, text: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    def check(self, qrels: str | bytes = "", *runs: str | bytes, **of_runs: Any) -> list[Finding]:
        """What is found in these texts; in those of the rows by default."""
        texts = runs or (self.text(self.run),)
        names = [self.put(f"run{at or ''}", text) for at, text in enumerate(texts)]
        judged = self.put("qrels", qrels or self.text(self.qrels))
        return [*check_files(judged, names, of_qrels={}, of_runs=of_runs).findings]


Case = Callable[[Files], list[Finding]]
CASES: dict[str, Case] = {}


def case(*rules: str) -> Callable[[Case], Case]:
    def known(breaks: Case) -> Case:
        CASES.update(dict.fromkeys(rules, breaks))
        return breaks

    return known


def grades(rule: str, *values: str) -> None:
    """A case in which the last rows of the judgements have these grades."""

    @case(rule)
    def breaks(files: Files) -> list[Finding]:
        for row, value in zip(files.qrels[100:], values, strict=False):
            row[3] = value
        return files.check()


grades("grades-above-30", "31")
grades("fractional-grades", "0.5", "1.5")
grades("negative-grades", "-1", "-2")
grades("not-finite", "nan")


def scores(rule: str, change: Callable[[int, float], float], first: int = 0, n: int = 480) -> None:
    """A case in which some rows of the run have other scores."""

    @case(rule)
    def breaks(files: Files) -> list[Finding]:
        for at, row in enumerate(files.run[first : first + n]):
            row[4] = repr(change(at, float(row[4])))
        return files.check()


scores("constant-scores", lambda at, score: 1.5, 60, 60)
scores("nearly-constant-scores", lambda at, score: 1.5 - (at % 12 == 11), 60, 60)
scores("score-ties", lambda at, score: round(score))
scores("single-precision", lambda at, score: 1e6 + score / 1e5)
scores("overflow", lambda at, score: 1e39 * (2 - at), 240, 2)
scores("rank-as-score", lambda at, score: float(at % 12 + 1))
scores("ranks-against-scores", lambda at, score: score + 9 * (at % 12 == 5))
scores("upside-down", lambda at, score: -score)


@case("no-relevant-documents", "empty-queries")
def _(files: Files) -> list[Finding]:
    few = [[*row[:3], "0"] if row[0] in ("q3", "q4", "q30", "q31") else row for row in files.qrels]
    none = [[*row[:3], "0"] for row in files.qrels]
    return [*files.check(files.text(few)), *files.check(files.text(none))]


@case("unusable-judgements")
def _(files: Files) -> list[Finding]:
    for row in files.qrels[120:144]:
        row[3] = "-1"
    return files.check()


@case("other-collection", "nothing-judged")
def _(files: Files) -> list[Finding]:
    other = [[*row[:2], f"x{row[2][::-1]}", *row[3:]] for row in files.run]
    return [*files.check("", files.text(other)), *files.check("", files.text(other[:24]))]


@case("docno-spelling", "qid-spelling")
def _(files: Files) -> list[Finding]:
    for row in files.run:
        row[0] = row[0].upper() if row[0] > "q4" else row[0]
        row[2] = row[2].upper()
    return files.check()


@case("other-topics")
def _(files: Files) -> list[Finding]:
    return files.check("", files.text([[f"q{(at // 12 + 1) % 40}", *row[1:]]
                                       for at, row in enumerate(files.run)]))  # fmt: skip


@case("missing-queries", "extra-queries", "unjudged-at-10")
def _(files: Files) -> list[Finding]:
    judged = [row for row in files.qrels if row[0] not in ("q5", "q6")]
    judged = [row for at, row in enumerate(judged) if at % 5]
    run = [row for row in files.run if row[0] != "q0"]
    return files.check(files.text(judged), files.text(run[:30] + run[31:]))


@case("cut-last-query")
def _(files: Files) -> list[Finding]:
    return files.check("", files.text(files.run[:-2]))


@case("labels-as-scores")
def _(files: Files) -> list[Finding]:
    return files.check("", files.text([[row[0], "Q0", row[2], "1", row[3], "t"]
                                       for row in files.qrels]))  # fmt: skip


@case("unjudged-unlike-others")
def _(files: Files) -> list[Finding]:
    other = [[*row[:2], f"x{row[2][::-1]}" if at % 2 else row[2], *row[3:]]
             for at, row in enumerate(files.run)]  # fmt: skip
    alike = [files.text([[*row[:5], tag] for row in files.run]) for tag in "abc"]
    return files.check("", files.text(other), *alike)


@case("same-file-twice")
def _(files: Files) -> list[Finding]:
    return files.check("", *[files.text(files.run)] * 2)


@case("duplicates")
def _(files: Files) -> list[Finding]:
    return files.check("", files.text([*files.run[:40], files.run[39], *files.run[40:]]))


@case("dropped-rows")
def _(files: Files) -> list[Finding]:
    run = files.text([*files.run[:40], files.run[39], *files.run[40:]])
    return files.check("", run, duplicates="last")


@case("scattered-queries")
def _(files: Files) -> list[Finding]:
    return files.check("", files.text([*files.run[1:], files.run[0]]))


@case("several-tags")
def _(files: Files) -> list[Finding]:
    files.run[7][5] = "other"
    return files.check()


@case("unused-columns")
def _(files: Files) -> list[Finding]:
    rows = [f"{qid},{docno},{score},{docno}" for qid, _, docno, _, score, _ in files.run]
    return files.check("", "\n".join(["qid,docno,score,page_id", *rows, ""]))


@case("extra-fields")
def _(files: Files) -> list[Finding]:
    files.run[7].append("more")
    return files.check()


@case("cut-line", "no-line-end")
def _(files: Files) -> list[Finding]:
    text = files.text(files.run)
    return [*files.check("", text[:-2]), *files.check("", text[:-1])]


@case("columns")
def _(files: Files) -> list[Finding]:
    del files.run[7][5]
    return files.check()


@case("header-line")
def _(files: Files) -> list[Finding]:
    return files.check("", "qid Q0 docno rank score tag\n" + files.text(files.run))


@case("swapped-files")
def _(files: Files) -> list[Finding]:
    return files.check(files.text(files.run), files.text(files.qrels))


@case("no-common-query")
def _(files: Files) -> list[Finding]:
    return files.check("", files.text([[f"x{row[0]}", *row[1:]] for row in files.run]))


@case("swapped-columns")
def _(files: Files) -> list[Finding]:
    return files.check("", files.text([[row[2], row[1], row[0], *row[3:]] for row in files.run]))


@case("truncated", "damaged")
def _(files: Files) -> list[Finding]:
    packed = gzip.compress(files.text(files.run).encode(), mtime=0)
    broken = packed[:2000] + bytes(len(packed[2000:2600])) + packed[2600:]
    return [*files.check("", packed[:-500]), *files.check("", broken)]


@case("other-compression")
def _(files: Files) -> list[Finding]:
    judged, run = files.put("q", files.text(files.qrels)), files.put("r.gz", files.text(files.run))
    return [*check_files(judged, [run], of_qrels={}, of_runs={}).findings]


@case("missing-file", "empty-file", "unreadable")
def _(files: Files) -> list[Finding]:
    judged, empty = files.put("q", files.text(files.qrels)), files.put("r", "")
    text = files.put("s", files.text(files.run)[:60].replace(" ", "\0"))
    none = str(files.folder / "none")
    return [*check_files(judged, [empty, none, text], of_qrels={}, of_runs={}).findings]


class Learning:
    """Folds of a learning-to-rank dataset, and predictions for them."""

    def __init__(self, folder: Path, folds: int = 4) -> None:
        random = np.random.default_rng(5)
        self.folder = folder
        self.rows: list[list[str]] = []
        self.scores: list[list[str]] = []
        for fold in range(folds):
            grades = random.integers(0, 4, 600)
            features = random.normal(size=(600, 2))
            self.rows.append(
                [f"{grade} qid:{fold * 60 + at // 10 + 500} 1:{one:.9f} 2:{two:.9f}\n"
                 for at, (grade, (one, two)) in enumerate(zip(grades, features, strict=True))]
            )  # fmt: skip
            made = grades + random.normal(0, 1, 600)
            self.scores.append([f"{score:.6f}\n" for score in made])

    def check(self) -> list[Finding]:
        for fold, (rows, some) in enumerate(zip(self.rows, self.scores, strict=True), 1):
            (self.folder / f"fold{fold}.txt").write_text("".join(rows))
            (self.folder / f"m{fold}.txt").write_text("".join(some))
        config = self.folder / "c.yaml"
        config.write_text(
            'datasets: {"s{fold}": {format: letor, path: "fold{fold}.txt"}}\n'
            'runs: {"m": {format: scores, path: "m{fold}.txt"}}\n'
            "metrics: [map]\nextra: 1\n"
        )
        return [*check_config(config).findings]


@case("shifted", "swapped-fold", "unrelated", "row-count", "config")
def _(files: Files) -> list[Finding]:
    data = Learning(files.folder)
    first, second, third, fourth = data.scores
    data.scores = [["0.1\n", *first[:-1]], third, second[::-1], fourth[:-1]]
    found = data.check()
    data.scores = [first, second, [f"{-float(score)}\n" for score in third], second]
    return [*found, *data.check()]


@case("other-rows")
def _(files: Files) -> list[Finding]:
    (files.folder / "t.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.4\n1 qid:2 1:0.1\n")
    (files.folder / "p.csv").write_text("qid,label,score\n1,0,0.5\n1,1,0.2\n2,0,0.7\n")
    paths = str(files.folder / "t.txt"), [str(files.folder / "p.csv")]
    return [*check_files(*paths, of_qrels={}, of_runs={}).findings]


@case("row-order", "sorted-by-score")
def _(files: Files) -> list[Finding]:
    data = Learning(files.folder)
    data.scores = [data.scores[0][::-1], sorted(data.scores[1], key=float), *data.scores[2:]]
    return data.check()


@case("same-queries", "same-rows", "shared-queries", "one-document-queries", "repeated-rows")
def _(files: Files) -> list[Finding]:
    data = Learning(files.folder, 2)
    first, second = data.rows
    data.rows[1] = [*first[:20], *second[20:300], first[40], *second[301:]]
    data.rows[1][-1] = data.rows[1][-1].replace("qid:619", "qid:503")
    found = data.check()
    data.rows[0] = [line.replace("\n", f" #docid = d{at // 2}\n") for at, line in enumerate(first)]
    return [*found, *data.check()]


@case("pooled-queries")
def _(files: Files) -> list[Finding]:
    data = Learning(files.folder, 2)
    data.rows[1] = data.rows[1][:300] + [line.replace("qid:5", "qid:4") for line in data.rows[0]]
    data.rows[1][-10:] = data.rows[0][-10:]
    data.scores[1] = ["0.5\n"] * len(data.rows[1])
    data.check()
    text = (files.folder / "c.yaml").read_text() + "summary: {pool: [fold]}\n"
    return [*check_config(Path(files.put("c.yaml", text))).findings]


@case("empty-groups")
def _(files: Files) -> list[Finding]:
    judged, sizes = files.put("j", "0 1:1\n1 1:2\n2 1:3\n"), files.put("sizes", "2\n0\n1\n")
    runs = [files.put("p", "1\n2\n3\n")]
    return [*check_files(judged, runs, of_qrels={"group": sizes}, of_runs={}).findings]


@case("group-sizes", "reader", "grade-values")
def _(files: Files) -> list[Finding]:
    data = Learning(files.folder, 1)
    data.rows[0][3] = data.rows[0][3].replace("\n", " #docid = d3\n")
    found = data.check()
    data.rows[0][3] = "0.5" + data.rows[0][3][1:]
    found += data.check()
    judged, sizes = files.put("j", "0 1:1\n1 1:2\n2 1:3\n"), files.put("sizes", "2\n2\n")
    given = check_files(
        judged, [files.put("p", "1\n2\n3\n")], of_qrels={"group": sizes}, of_runs={}
    )
    return [*found, *given.findings]


@case("gaps")
def _(files: Files) -> list[Finding]:
    data = Learning(files.folder, 3)
    for fold in (1, 2, 3):
        for seed in (1, 2):
            files.put(f"m{seed}-{fold}.txt", "".join(data.scores[fold - 1]))
    data.check()
    (files.folder / "m2-3.txt").unlink()
    text = (files.folder / "c.yaml").read_text().replace("m{fold}", "m{seed}-{fold}")
    return [*check_config(Path(files.put("c.yaml", text))).findings]


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
@pytest.mark.parametrize("rule", sorted({*RULES} - {"unpacks-too-far", "guard-failed"}))
def test_a_finding_has_each_of_its_parts(rule: str, tmp_path: Path) -> None:
    found = [one for one in CASES[rule](Files(tmp_path)) if one.rule == rule]
    assert found, "nothing set it off"
    for one in found:
        assert one.severity in ("error", "warning", "note")
        assert one.place.startswith(str(tmp_path)) or rule == "missing-file"
        assert one.what
        assert one.count >= 1
        assert one.effect
        assert one.fix
        if RULES[rule] not in (*REFUSED, *WARNED) and rule != "config":  # in others' words
            said = f"{one.what}{one.shown} [{rule}]"
            said = said.replace(f"{tmp_path}/", "").replace(f"{tmp_path.name}/", "")
            assert len(said) <= 108
            assert max(len(one.effect), len(one.fix)) <= 108
        assert rule in OF_WHOLE_FILES or 1 <= len(one.examples) <= 3
        file, _, line = one.place.rpartition(":")
        if rule not in NO_LINE:
            assert line.isdigit(), one.place
            held = Path(file).read_text().splitlines()[int(line) - 1]
            named = re.match(r"query (\S+), documents? ([^\s:]+)", one.examples[0])
            if named and "qid:" not in held and " " in held:  # and no score alone
                assert [*named.groups()] == [held.split()[0], held.split()[2]]
            if rule in OF_QUERIES:
                assert one.examples[0].split()[0] in re.split(r"[ :]", held)


def test_texts_of_rules_are_short_and_plain() -> None:
    for rule in RULES.values():
        assert len(rule.about) <= 120, rule.about
        assert rule.about.endswith(".")
        for text in (rule.effect, rule.fix, rule.fix_of_note):
            assert len(text) <= 108, text
            assert not text.endswith("."), text
        text = " ".join((rule.about, rule.effect, rule.fix, rule.fix_of_note))
        assert not re.search(
            r"\b(lack\w*|so many|is another|none is|stands?|is said|what is there)\b", text
        )


def test_lines_of_predictions_for_documents_with_names(tmp_path: Path) -> None:
    """A file of scores has a line for each row, and neither its query nor its document."""
    rows = [f"{at % 3} qid:{at // 10} 1:{at} #docid = GX{at}\n" for at in range(100)]
    files = Files(tmp_path)
    judged = files.put("test", "# made by\n" + "".join(rows))
    scores = [f"{at * 7 % 10}\n" for at in range(60)] + ["5\n"] * 9 + ["4\n"] + ["1e39\n"] * 30
    run = files.put("p", "".join(scores))
    found = {one.rule: one for one in check_files(judged, [run], of_qrels={}, of_runs={}).findings}
    assert found["constant-scores"].place == f"{run}:71"
    assert found["constant-scores"].examples == ("7", "8", "9")
    assert found["overflow"].place == f"{run}:71"
    assert found["overflow"].examples[0] == "query 7, document GX70: 1e+39"
    # of query 6, most of whose scores are 5: the pair of ranks 1 and 2
    assert found["score-ties"].place == f"{run}:61"
    assert found["score-ties"].examples[0] == "query 6, documents GX60 and GX61: 5.0"


def test_every_rule_that_a_reader_names_exists() -> None:
    folder = Path(harness.__file__).parent
    quoted = set()
    for path in [*(folder / "readers").glob("*.py"), *(folder / "core").glob("*.py")]:
        quoted |= {*re.findall(r'"([a-z]+(?:-[a-z]+)*)"', path.read_text(encoding="utf-8"))}
    of_readers = {rule.name for rule in (*REFUSED, *WARNED)} - {"unreadable", "reader"}
    assert of_readers <= quoted


def test_places_in_files_without_lines(tmp_path: Path) -> None:
    """A row of an array or a Parquet table by its number, a mapping by its keys."""
    grades = np.random.default_rng(1).integers(0, 4, 200)
    judged = tmp_path / "judged.txt"
    judged.write_text("".join(f"{g} qid:{at // 10} 1:{at}\n" for at, g in enumerate(grades)))
    scores = grades + np.random.default_rng(2).normal(size=200)
    scores[123] = 1e39
    np.save(tmp_path / "p.npy", scores)
    table = {"qid": [f"q{at // 10}" for at in range(200)], "docno": [f"d{at}" for at in range(200)]}
    pq.write_table(pa.table({**table, "grade": grades}), tmp_path / "q.parquet")
    pq.write_table(pa.table({**table, "score": scores}), tmp_path / "r.parquet")
    rows = zip(table["qid"], table["docno"], grades.tolist(), scores.tolist(), strict=True)
    files: tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]] = ({}, {})
    for qid, docno, *values in rows:
        for content, value in zip(files, values, strict=True):
            content.setdefault(qid, {})[docno] = value
    for name, content in zip(("q.json", "r.json"), files, strict=True):
        (tmp_path / name).write_text(json.dumps(content))
    for qrels, run, place in [
        ("judged.txt", "p.npy", "p.npy: row 124"),
        ("q.parquet", "r.parquet", "r.parquet: row 124"),
        ("q.json", "r.json", "r.json"),
    ]:
        paths = str(tmp_path / qrels), [str(tmp_path / run)]
        found = {one.rule: one for one in check_files(*paths, of_qrels={}, of_runs={}).findings}
        assert found["overflow"].place == f"{tmp_path}/{place}"
        assert found["overflow"].examples[0].endswith(": 1e+39")
