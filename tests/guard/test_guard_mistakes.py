"""Each mistake that people make: the rule, severity and place of every finding of the check.

The tables cover every rule, and every mistake that the design lists.
"""

import bz2
import gzip
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.core.rules import ACCEPTABLE, REFUSED, RULES, SUBMITTED, WARNED
from harness.errors import ConfigError, Finding
from harness.experiment.check import check_config, check_files, refused_config

Break = Callable[[Any], object]
Case = tuple[Break, str]
"""What breaks the files, and what is found: ``severity rule place`` of each error and warning."""
FOLD, GBRT = "fold1.txt", "gbrt/fold1.txt"


def lines(name: str, change: Callable[[list[str]], list[str]]) -> Break:
    """Change the lines of a file."""
    return lambda files: files.put(name, change(files.lines(name)))


def fields(name: str, change: Callable[..., tuple[object, ...]]) -> Break:
    """Change the fields of each line of a file."""
    return lines(
        name, lambda rows: [" ".join(map(str, change(*row.split()))) + "\n" for row in rows]
    )


def at(name: str, line: int, text: str) -> Break:
    """Replace one line of a file."""
    return lines(name, lambda rows: [*rows[: line - 1], f"{text}\n", *rows[line:]])


def grade(value: str) -> Break:
    """Replace the grade of the third row."""
    return lines(FOLD, lambda rows: [*rows[:2], f"{value}{rows[2][1:]}", *rows[3:]])


def binary(name: str, change: Callable[[bytes], bytes], new: str = "") -> Break:
    """Change the bytes of a file."""

    def breaks(files: Any) -> str:
        (files.folder / (new or name)).write_bytes(change((files.folder / name).read_bytes()))
        return new or name

    return breaks


def config(old: str, new: str) -> Break:
    return lines("c.yaml", lambda rows: ["".join(rows).replace(old, new)])


def both(*breaks: Break) -> Break:
    return lambda files: [one(files) for one in breaks][-1]


def scattered(files: Any) -> None:
    pairs = list(zip(*(files.lines(name) for name in (FOLD, GBRT)), strict=True))
    random.Random(1).shuffle(pairs)
    files.put(FOLD, [row for row, _ in pairs])
    files.put(GBRT, [score for _, score in pairs])


def query_of_two_folds(files: Any) -> None:
    """Fold 1 has the first query of fold 2, under another qid."""
    qids = [row.split()[1] for row in files.lines("fold2.txt")]
    rows = files.lines("fold2.txt")[: qids.count(qids[0])]
    files.put(FOLD, files.lines(FOLD) + [row.replace(f"{qids[0]} ", "qid:new ") for row in rows])
    for model in ("gbrt", "neural"):
        scores = files.lines(f"{model}/fold2.txt")[: len(rows)]
        files.put(f"{model}/fold1.txt", files.lines(f"{model}/fold1.txt") + scores)


def qid_of_two_folds(files: Any) -> None:
    first, own = (files.lines(name)[0].split(" ")[1] for name in (FOLD, "fold2.txt"))
    lines("fold2.txt", lambda rows: [row.replace(f" {own} ", f" {first} ") for row in rows])(files)


def labels(files: Any) -> None:
    files.put(GBRT, [f"{line.split()[0]}\n" for line in files.lines(FOLD)])


def noisy_labels(files: Any) -> None:
    """Labels with noise that breaks ties, on another scale."""
    noise = random.Random(3)
    grades = [float(line.split()[0]) for line in files.lines(FOLD)]
    files.put(GBRT, [f"{7 * grade + noise.gauss(0, 0.5)}\n" for grade in grades])


def columns(files: Any) -> None:
    """Labels and predictions are in each other's place."""
    pairs = list(zip(files.lines(GBRT), files.lines(FOLD), strict=True))
    labels(files)
    files.put(FOLD, [f"{score.strip()} {row.partition(' ')[2]}" for score, row in pairs])


def swapped_folds(files: Any) -> None:
    for fold in ("1", "2"):
        for name in (f"fold{fold}.txt", f"gbrt/fold{fold}.txt", f"neural/fold{fold}.txt"):
            files.put(name, files.lines(name)[:1000])
    first, second = files.lines(GBRT), files.lines("gbrt/fold2.txt")
    files.put(GBRT, second)
    files.put("gbrt/fold2.txt", first)


def validation(files: Any) -> None:
    """Settings are chosen on fold 2, which has the qids of fold 1, the test set."""
    run = 'm: [{path: "{lr}/fold1.txt", dataset: test}, {path: "{lr}/fold2.txt", dataset: vali}]'
    files.put("c.yaml", [
        f"datasets: {{vali: fold2.txt, test: {FOLD}}}\nmetrics: [map]\nruns: {{{run}}}\n"
        "select: {on: vali, by: map, over: [lr]}\n"
    ])  # fmt: skip
    qid_of_two_folds(files)


LETOR: dict[str, Case] = {
    "too few predictions": (lines(GBRT, lambda rows: rows[:-3]), f"error row-count {GBRT}"),
    "too many predictions": (
        lines(GBRT, lambda rows: [*rows, "0.5\n"]), f"error row-count {GBRT}:1209"
    ),
    "predictions of another fold": (
        lambda files: files.put(GBRT, files.lines("gbrt/fold2.txt")), f"error row-count {GBRT}"
    ),
    "shifted down": (
        lines(GBRT, lambda rows: ["0.5\n", *rows[:-1]]), f"warning shifted {GBRT}:2"
    ),
    "shuffled": (
        lines(GBRT, lambda rows: random.Random(1).sample(rows, len(rows))),
        f"warning unrelated {GBRT}:1",
    ),
    "reversed": (lines(GBRT, lambda rows: rows[::-1]), f"warning row-order {GBRT}:1208"),
    "sorted by score": (
        lines(GBRT, lambda rows: sorted(rows, key=float)), f"warning sorted-by-score {GBRT}:1"
    ),
    "folds of one size, swapped": (
        swapped_folds,
        f"warning swapped-fold {GBRT}:1, warning swapped-fold gbrt/fold2.txt:1",
    ),
    "labels saved as scores": (labels, f"error labels-as-scores {GBRT}:9"),
    "labels and predictions swapped": (
        columns, f"error grade-values {FOLD}:1, error swapped-columns {GBRT}"
    ),
    "labels with noise": (noisy_labels, f"warning noisy-labels {GBRT}"),
    "the likeliest class": (
        fields(GBRT, lambda score: (round(float(score)),)), f"warning classes-as-scores {GBRT}"
    ),
    "half of the file shifted": (
        lines(GBRT, lambda rows: [*rows[:600], *rows[601:], "0.5\n"]),
        f"warning shifted {GBRT}:601",
    ),
    "the best document last": (
        fields(GBRT, lambda score: (-float(score),)), f"warning upside-down {GBRT}:1"
    ),
    "constant scores": (fields(GBRT, lambda _: (1,)), f"warning constant-scores {GBRT}:1"),
    "most scores tied": (
        fields(GBRT, lambda score: (round(float(score)) + 0.5,)),
        f"warning score-ties {GBRT}:9",
    ),
    "a large constant": (
        fields(GBRT, lambda score: (1e7 + float(score),)),
        f"warning single-precision {GBRT}:26, warning score-ties {GBRT}:26",
    ),
    "nan": (at(GBRT, 7, "nan"), f"error not-finite {GBRT}:7"),
    "inf": (at(GBRT, 7, "inf"), f"error not-finite {GBRT}:7"),
    "text": (at(GBRT, 7, "n/a"), f"error unreadable {GBRT}:7"),
    "a header line": (
        lines(GBRT, lambda rows: ["score\n", *rows]), f"error header-line {GBRT}:1"
    ),
    "an index column": (
        lines(GBRT, lambda rows: [f"{n},{row}" for n, row in enumerate(rows)]),
        f"error columns {GBRT}:1",
    ),
    "two columns of probabilities": (
        fields(GBRT, lambda score: (0.5, score)), f"error columns {GBRT}:1"
    ),
    "tensor(...)": (fields(GBRT, lambda one: (f"tensor({one})",)), f"error columns {GBRT}:1"),
    "a Python list": (
        lines(GBRT, lambda rows: [f"[{', '.join(row.strip() for row in rows)}]\n"]),
        f"error columns {GBRT}:1",
    ),
    "a truncated file": (
        lines(GBRT, lambda rows: ["".join(rows[:700]) + rows[700][:4]]),
        f"error row-count {GBRT}:701",
    ),
    "no last line end": (
        lines(GBRT, lambda rows: ["".join(rows).strip()]), f"note no-line-end {GBRT}:1208"
    ),
    "empty": (lines(GBRT, lambda rows: []), f"error empty-file {GBRT}"),
    "UTF-16": (
        binary(GBRT, lambda data: data.decode().encode("utf-16")), f"error unreadable {GBRT}"
    ),
    "tabs, CRLF and a BOM are read": (
        binary(FOLD, lambda data: b"\xef\xbb\xbf" + data.replace(b" ", b"\t")
               .replace(b"\n", b"\r\n")),
        "",
    ),
    "scattered queries": (
        scattered,  # the other model's lines stayed
        f"warning scattered-queries {FOLD}:7, warning unrelated neural/fold1.txt:1",
    ),
    "queries without relevant documents": (
        fields(FOLD, lambda grade, *rest: ("0", *rest)), f"error no-relevant-documents {FOLD}:1"
    ),
    "a query has only grades below 0": (
        lines(FOLD, lambda rows: [f"-1{row[1:]}" if row.split()[1] == "qid:46" else row
                                  for row in rows]),
        f"warning unusable-judgements {FOLD}:1",
    ),
    "fractional grades": (grade("0.5"), f"error grade-values {FOLD}:3"),
    "negative grades": (grade("-1"), f"note negative-grades {FOLD}:3"),
    "huge grades": (grade("40"), f"warning grades-above-30 {FOLD}:3"),
    "not a grade": (grade("x"), f"error unreadable {FOLD}:3"),
    "some rows name documents": (
        lines(FOLD, lambda rows: [rows[0].split("#")[0] + "\n", *rows[1:]]),
        f"warning reader {FOLD}",
    ),
    "rows name a document twice": (
        lines(FOLD, lambda rows: [f"{row.split('#')[0]}#docid = d{n // 2}\n"
                                  for n, row in enumerate(rows)]),
        f"warning repeated-rows {FOLD}:2",
    ),
    "folds share a qid": (qid_of_two_folds, "warning shared-queries fold2.txt:1"),
    "pooled folds share a qid": (
        both(qid_of_two_folds, config("metrics", "summary: {pool: [fold]}\nmetrics")),
        "error pooled-queries fold2.txt:1",
    ),
    "folds share a query": (query_of_two_folds, "warning same-queries fold2.txt:1"),
    "validation queries are test queries": (validation, "error validation-in-test fold2.txt:1"),
    "the same file twice": (
        lambda files: files.put("neural/fold1.txt", files.lines(GBRT)),
        f"warning same-file-twice {GBRT}",
    ),
    "a missing fold": (lambda files: (files.folder / GBRT).unlink(), "warning gaps c.yaml"),
    "a misspelt metric": (
        config("[map]", "[mapp]"), "error config c.yaml: $.metrics[0] (line 5)"
    ),
    "a misspelt key": (config("metrics:", "metric:"), "error config c.yaml: $.metric (line 5)"),
    "a misspelt parameter": (
        config("[map]", '["ndcg(gian=exp)"]'), "error config c.yaml: $.metrics[0] (line 5)"
    ),
    "a parameter out of range": (
        config("[map]", '["rbo(p=2)"]'), "error config c.yaml: $.metrics[0] (line 5)"
    ),
    "a misspelt path": (
        config('"{model}/fold', '"{model}/flod'),
        "error config c.yaml: $.runs.{model}.path (line 4)",
    ),
    "a misspelt run name": (
        config("[map]", "[map]\ncompare: {baseline: gbtr}"),
        "error config c.yaml: $.compare.baseline (line 6)",
    ),
    "unquoted braces": (
        config('"{model}": {', "{model}: {"), "error config c.yaml: $.runs (line 4)"
    ),
}  # fmt: skip
NO_YAML = {
    "wrong indentation": (config("runs:", "   runs:"), "c.yaml:3"),
    "a tab": (config("  \"{model}", "\t\"{model}"), "c.yaml:4"),
}  # fmt: skip


def rank_from_the_end(files: Any) -> None:
    """n, ..., 2, 1: the rows are in the right order."""
    rows = [line.split() for line in files.lines("run")]
    depth = Counter(row[0] for row in rows)
    for row in rows:
        row[3] = row[4] = str(depth[row[0]] + 1 - int(row[3]))
    files.put("run", [" ".join(row) + "\n" for row in rows])


def swapped_files(files: Any) -> None:
    qrels, run = files.lines("qrels"), files.lines("run")
    files.put("qrels", run)
    files.put("run", qrels)


def table(files: Any) -> None:
    rows = [row.split() for row in files.lines("run")]
    text = [f"{row[0]},{row[2]},{row[4]},{row[2]}\n" for row in rows]
    files.put("run", ["qid,docno,score,page_id\n", *text])


def zipped(change: Callable[[bytes], bytes]) -> Break:
    return binary("run", lambda data: change(gzip.compress(data, mtime=0)), "run.gz")


TREC: dict[str, Case] = {
    "nothing": (lambda files: None, "note empty-queries qrels:183"),
    "ranks saved as scores": (
        fields("run", lambda q, z, d, r, s, t: (q, z, d, r, r, t)), "error rank-as-score run:1"
    ),
    "ranks from the end": (rank_from_the_end, "warning rank-as-score run:1"),
    "words for ranks": (
        fields("run", lambda q, z, d, r, s, t: (q, z, d, "x", r, t)), "error rank-as-score run:1"
    ),
    "ranks and scores swapped": (
        fields("run", lambda q, z, d, r, s, t: (q, z, d, s, r, t)), "error swapped-columns run:1"
    ),
    "qids and docnos swapped": (
        fields("run", lambda q, z, d, *more: (d, z, q, *more)),
        "error swapped-columns run, note gathered-queries run:112",
    ),
    "qrels and run swapped": (
        swapped_files, "error swapped-files qrels, error swapped-files run"
    ),
    "negated scores": (
        fields("run", lambda q, z, d, r, s, t: (q, z, d, r, -float(s), t)),
        "warning upside-down run:301",
    ),
    "ranks against scores": (
        fields("run", lambda q, z, d, r, s, t: (q, z, d, r, float(s) + 99 * (r == "5"), t)),
        "warning ranks-against-scores run:5",
    ),
    "a blank in docnos": (
        fields("run", lambda q, z, d, r, s, t: (q, z, f"{d} page", r, s, t)),
        "warning extra-fields run:1, error rank-as-score run:1, warning several-tags run:2",
    ),
    "cut in a line": (
        lines("run", lambda rows: ["".join(rows)[:-14]]), "error truncated run:2897"
    ),
    "a duplicate above a cut line": (
        lines("run", lambda rows: ["".join([rows[0], *rows])[:-14]]),
        "error duplicates run:2, error truncated run:2898",
    ),
    "cut in the tag": (
        lines("run", lambda rows: ["".join(rows)[:-2]]), "warning cut-line run:2897"
    ),
    "cut gzip data": (zipped(lambda data: data[: len(data) // 2]), "error truncated run.gz"),
    "damaged gzip data": (
        zipped(lambda data: data[:2000] + bytes(600) + data[2600:]), "error damaged run.gz"
    ),
    "wrong compression": (
        binary("run", bz2.compress, "run.gz"), "warning other-compression run.gz"
    ),
    "an HTML error page": (
        lines("run", lambda _: ["<!DOCTYPE html>\n", "<html><body>404</body></html>\n"]),
        "error unreadable run",
    ),
    "a duplicate docno": (
        lines("run", lambda rows: [*rows[:5], rows[2], *rows[5:]]), "error duplicates run:6"
    ),
    "qids with a prefix": (
        fields("run", lambda q, *more: (f"topic{q}", *more)), "error no-common-query run"
    ),
    "qids with leading zeros": (
        fields("run", lambda q, *more: (f"{q:0>3}", *more)), "error no-common-query run"
    ),
    "some qids with leading zeros": (
        fields("run", lambda q, *more: (f"{q:0>3}" if q in ("5", "9") else q, *more)),
        "warning qid-spelling run:1",
    ),
    "docnos in another case": (
        fields("run", lambda q, z, d, *more: (q, z, d.lower(), *more)),
        "error docno-spelling run:1",
    ),
    "qrels of another collection": (
        fields("qrels", lambda q, z, d, g: (q, z, f"X{d[::-1]}", g)),
        "error other-collection run:1",
    ),
    "few documents, none judged": (
        both(fields("qrels", lambda q, z, d, g: (q, z, f"X{d[::-1]}", g)),
             lines("run", lambda rows: rows[:99])),
        "error nothing-judged run:1, warning missing-queries run",
    ),
    "qrels of other queries": (
        fields("qrels", lambda q, *more: (f"9{q}", *more)), "error no-common-query run"
    ),
    "a header line": (
        lines("run", lambda rows: ["qid Q0 docno rank score tag\n", *rows]),
        "error header-line run:1",
    ),
    "no tag": (fields("run", lambda *row: row[:5]), "error columns run:1"),
    "missing queries": (
        lines("run", lambda rows: rows[:1234]), "warning missing-queries run"
    ),
    "extra queries": (
        lines("run", lambda rows: [*rows, "q99 Q0 DOC-1 1 1.0 bm25\n"]),
        "note extra-queries run:2898",
    ),
    "unjudged documents": (
        lines("qrels", lambda rows: rows[::2]), "note unjudged-at-10 run:1"
    ),
    "shuffled rows": (
        lines("run", lambda rows: random.Random(2).sample(rows, len(rows))),
        "note gathered-queries run:11",
    ),
    "two systems": (
        lines("run", lambda rows: [row.replace("bm25", "x" if n > 1399 else "bm25")
                                   for n, row in enumerate(rows)]),
        "warning several-tags run:1401",
    ),
    "a table with another identifier": (table, "note unused-columns run"),
    "a path that does not exist": (lambda files: "runn", "error missing-file runn"),
}  # fmt: skip


def judge(files: Any, findings: tuple[Finding, ...], expected: str) -> None:
    """Compare findings with a case, notes only if it has some, and check the parts of each."""
    found = {
        (one.severity, one.rule, one.place.replace(f"{files.folder}/", "")) for one in findings
    }
    known = {tuple(one.split(" ", 2)) for one in expected.split(", ") if one}
    assert {one for one in found if one[0] != "note" or one in known} == known
    for one in findings:
        assert one.count >= 1
        assert one.what
        assert one.effect
        assert one.fix
        assert len(one.examples) <= 3
        if RULES[one.rule] not in (*REFUSED, *WARNED) and one.rule != "config":  # readers' words
            assert max(len(one.effect), len(one.fix)) <= 108
        named = re.match(r"query (\S+), documents? ([^\s:]+)", next(iter(one.examples), ""))
        if named and one.place.line and one.place.file.endswith("run"):
            row = Path(one.place.file).read_text().splitlines()[one.place.line - 1].split()
            assert len(row) == 1 or (row[0], row[2]) == named.groups()  # one score a line


@pytest.mark.parametrize("case", LETOR.values(), ids=LETOR)
def test_learning_to_rank(letor: Any, case: Case) -> None:
    breaks, expected = case
    breaks(letor)
    found = check_config(letor.folder / "c.yaml").findings
    known = [one for one in found if one.rule != "empty-queries"]
    judge(letor, tuple(known), expected)


@pytest.mark.parametrize("case", NO_YAML.values(), ids=NO_YAML)
def test_what_is_not_yaml(letor: Any, case: Case) -> None:
    breaks, place = case
    breaks(letor)
    path = letor.folder / "c.yaml"
    with pytest.raises(ConfigError) as caught:
        check_config(path)
    judge(letor, refused_config(str(path), caught.value).findings, f"error config {place}")


@pytest.mark.parametrize("case", TREC.values(), ids=TREC)
def test_trec(trec: Any, case: Case) -> None:
    breaks, expected = case
    name = breaks(trec)
    paths = str(trec.folder / "qrels"), [str(trec.folder / (name or "run"))]
    judge(trec, check_files(*paths, of_qrels={}, of_runs={}).findings, expected)


DOCNOS = [f"d{n}" for n in range(200)]
ROWS = [f"{n // 20} Q0 {docno} 1 {-n} t\n" for n, docno in enumerate(DOCNOS)]
SVM = ["1 qid:1 1:0.5\n", "0 qid:1 1:0.4\n", "2.5 qid:2 1:0.1\n"]
NAMED = ["# made by\n", *(f"{n % 3} qid:{n // 10} 1:{n} #docid = GX{n}\n" for n in range(100))]
FLAT = [*(f"{n * 7 % 10}\n" for n in range(60)), *["5\n"] * 9, "4\n", *["1.5\n"] * 30]
OTHER: list[tuple[str, dict[str, list[str]], dict[str, str], dict[str, str]]] = [
    ("warning constant-scores run:71, note score-ties run:61", {"qrels": NAMED, "run": FLAT},
     {}, {}),
    ("warning dropped-rows run:1", {"qrels": ["q 0 a 1\n"],
                                    "run": ["q 0 b 1 2 t\n", "q 0 a 2 1 t\n", "q 0 b 3 0 t\n"]},
     {}, {"duplicates": "last"}),
    ("error other-topics run:1",
     {"qrels": [f"{(n // 20 + 1) % 10} 0 {docno} 1\n" for n, docno in enumerate(DOCNOS)],
      "run": ROWS}, {}, {}),
    ("warning cut-last-query run:198",
     {"qrels": [f"{n // 20} 0 {docno} {n % 2}\n" for n, docno in enumerate(DOCNOS)],
      "run": ROWS[:-2]}, {}, {}),
    ("",  # another query is one short, too
     {"qrels": [f"{n // 20} 0 {docno} {n % 2}\n" for n, docno in enumerate(DOCNOS)],
      "run": [*ROWS[:19], *ROWS[20:-2]]}, {}, {}),
    ("warning empty-groups sizes:2",
     {"qrels": ["0 1:1\n", "1 1:2\n", "2 1:3\n"], "run": ["1\n", "3\n", "2\n"],
      "sizes": ["2\n", "0\n", "1\n"]}, {"group": "sizes"}, {}),
    ("error group-sizes sizes",
     {"qrels": ["0 1:1\n", "1 1:2\n", "2 1:3\n"], "run": ["1\n", "3\n", "2\n"],
      "sizes": ["2\n", "2\n"]}, {"group": "sizes"}, {}),
    ("error other-rows run:3",
     {"qrels": SVM, "run": ["qid,label,score\n", "1,1,0.5\n", "1,1,0.2\n", "2,2.5,0.7\n"]}, {}, {}),
    ("note fractional-grades qrels:3",
     {"qrels": SVM, "run": ["1\n", "3\n", "2\n"]}, {}, {}),
]  # fmt: skip


@pytest.mark.parametrize("case", OTHER, ids=[one[0] for one in OTHER])
def test_other_files(trec: Any, case: Any) -> None:
    expected, texts, of_qrels, of_runs = case
    for name, text in texts.items():
        trec.put(name, text)
    of_qrels = {name: str(trec.folder / value) for name, value in of_qrels.items()}
    paths = str(trec.folder / "qrels"), [str(trec.folder / "run")]
    judge(trec, check_files(*paths, of_qrels=of_qrels, of_runs=of_runs).findings, expected)


def test_every_rule_is_in_a_case() -> None:
    cases = [*(case for _, case in (*LETOR.values(), *TREC.values())), *(one[0] for one in OTHER)]
    rules = {part.split()[1] for case in cases for part in case.split(", ") if part}
    in_other_tests = {"unpacks-too-far", "guard-failed", "group-queries", "reversal"}
    in_other_tests |= {"identical-ids"}  # tests/core/test_identical_ids.py
    in_other_tests |= {"unscored-rows", "unnamed-rows"}  # tests/guard/test_unscored_rows.py
    in_other_tests |= {"leaked-rows"}  # tests/guard/test_leaks.py
    in_other_tests |= {"group-order"}  # tests/guard/test_group_order.py
    in_other_tests |= {"query-weights", "unused-weights"}  # tests/experiment/test_query_weights.py
    in_other_tests |= {"passages", "sum-of-negatives"}  # tests/readers/test_passages.py
    in_other_tests |= {"distance-as-score"}  # tests/readers/test_score_columns.py
    in_other_tests |= {"refused-missing-queries", "refused-empty-queries"}
    in_other_tests |= {rule.name for rule in SUBMITTED}
    assert {*RULES} - rules == in_other_tests
    assert {"config", "pooled-queries", "row-count"}.isdisjoint(ACCEPTABLE)


def test_random_baselines_are_a_note(letor: Any, root: Path) -> None:
    (letor.folder / "random").mkdir()
    for fold in ("1", "2"):
        text = (root / f"runs/letor/random/fold{fold}-seed1.txt").read_text()
        letor.put(f"random/fold{fold}.txt", text.splitlines(True))
    found = check_config(letor.folder / "c.yaml").findings
    assert {one.severity for one in found if one.rule == "unrelated"} == {"note"}


def test_numbers_that_are_both_qids_and_docnos_are_not_swapped(trec: Any) -> None:
    """Documents and queries are numbered from 1, and queries are spelled otherwise in the qrels."""
    numbers: dict[str, str] = {}

    def number(name: str) -> str:
        return numbers.setdefault(name, str(len(numbers) + 1))

    fields("run", lambda q, z, d, *more: (q, z, number(d), *more))(trec)
    fields("qrels", lambda q, z, d, r: (f"q{q}", z, number(d), r))(trec)
    paths = str(trec.folder / "qrels"), [str(trec.folder / "run")]
    found = check_files(*paths, of_qrels={}, of_runs={}).findings
    assert {one.rule for one in found if one.severity != "note"} == {"no-common-query"}


def test_every_rule_that_a_reader_names_exists() -> None:
    folder = Path(harness.__file__).parent
    quoted = set()
    for path in [*(folder / "readers").glob("*.py"), *(folder / "core").glob("*.py")]:
        quoted |= {*re.findall(r'"([a-z]+(?:-[a-z]+)*)"', path.read_text(encoding="utf-8"))}
    of_readers = {rule.name for rule in (*REFUSED, *WARNED)} - {"unreadable", "reader"}
    assert of_readers <= quoted
