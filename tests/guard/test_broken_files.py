"""Files of the example data, broken in the ways that happen: the findings of ``harness check``."""

from __future__ import annotations

import gzip
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from harness.guard.check import check_config, check_files

Found = set[tuple[str, str, int, str]]
"""Rule, severity, count and place of each error and warning."""
Case = tuple[Callable[[Any], object], Found]
GBRT = "gbrt/fold1.txt"
N_ROWS = 1208  # of fold 1; fold 2 has 1151
MOST = 1000  # wrong lines that a reader looks for
N = 2897  # rows of the TREC run


def of_letor(files: Any) -> Found:
    found = check_config(files.folder / "c.yaml").findings
    return _warned(files, [one for one in found if one.rule != "empty-queries"])


def of_trec(files: Any, name: str = "run", **options: Any) -> Found:
    qrels, run = str(files.folder / "qrels"), str(files.folder / name)
    return _warned(files, check_files(qrels, [run], of_qrels={}, of_runs=options).findings)


def _warned(files: Any, findings: Any) -> Found:
    return {
        (one.rule, one.severity, one.count, one.place.removeprefix(f"{files.folder}/"))
        for one in findings
        if one.severity != "note"
    }


def lines(change: Callable[[list[str]], list[str]], name: str = GBRT) -> Callable[[Any], None]:
    """Put changed lines in the place of a file's."""
    return lambda files: files.put(name, change(files.lines(name)))


def fields(change: Callable[..., tuple[str, ...]], name: str = "run") -> Callable[[Any], None]:
    """Put changed fields in the place of each line's."""
    return lines(lambda rows: [" ".join(change(*row.split())) + "\n" for row in rows], name)


def scattered(files: Any) -> None:
    pairs = list(zip(*(files.lines(name) for name in ("fold1.txt", GBRT)), strict=True))
    random.Random(1).shuffle(pairs)
    files.put("fold1.txt", [row for row, _ in pairs])
    files.put(GBRT, [score for _, score in pairs])


def add_rows(files: Any, which: slice, new: Callable[[str], str]) -> None:
    """Add rows of fold 2, and their predictions, to fold 1."""
    rows = files.lines("fold2.txt")[which]
    files.put("fold1.txt", files.lines("fold1.txt") + [new(row) for row in rows])
    for model in ("gbrt", "neural"):
        scores = files.lines(f"{model}/fold2.txt")[which]
        files.put(f"{model}/fold1.txt", files.lines(f"{model}/fold1.txt") + scores)


def query_of_two_folds(files: Any) -> None:
    qids = [row.split()[1] for row in files.lines("fold2.txt")]
    n = qids.count(qids[0])
    add_rows(files, slice(n), lambda row: row.replace(f"{qids[0]} ", "qid:new "))


def rows_of_two_folds(files: Any) -> None:  # 60 of its 1151 rows, a few of each query
    add_rows(files, slice(None, None, 20), lambda row: f"0 qid:new {row.split(' ', 2)[2]}")


def labels(files: Any) -> None:
    files.put(GBRT, [f"{line.split()[0]}\n" for line in files.lines("fold1.txt")])


def columns(files: Any) -> None:
    scores, rows = files.lines(GBRT), files.lines("fold1.txt")
    labels(files)
    pairs = zip(scores, rows, strict=True)
    files.put("fold1.txt", [f"{score.strip()} {row.partition(' ')[2]}" for score, row in pairs])


def swapped_folds(files: Any) -> None:
    for fold in ("1", "2"):
        for name in (f"fold{fold}.txt", f"gbrt/fold{fold}.txt", f"neural/fold{fold}.txt"):
            files.put(name, files.lines(name)[:1000])
    first, second = files.lines(GBRT), files.lines("gbrt/fold2.txt")
    files.put(GBRT, second)
    files.put("gbrt/fold2.txt", first)


LETOR: dict[str, Case] = {
    "a header": (
        lines(lambda rows: ["score\n", *rows]), {("header-line", "error", 1, f"{GBRT}:1")}
    ),
    "a header of pandas": (
        lines(lambda rows: ["0\n", *rows]), {("row-count", "error", 1, f"{GBRT}:1")}
    ),
    "no last row": (lines(lambda rows: rows[:-1]), {("row-count", "error", 1, GBRT)}),
    "no first row": (lines(lambda rows: rows[1:]), {("row-count", "error", 1, GBRT)}),
    "half": (lines(lambda rows: rows[:600]), {("row-count", "error", 608, GBRT)}),
    "cut within a number": (
        lines(lambda rows: [*rows[:700], rows[700][:4]]),
        {("row-count", "error", 507, GBRT), ("cut-line", "warning", 1, f"{GBRT}:701")},
    ),
    "another fold": (
        lambda files: files.put(GBRT, files.lines("gbrt/fold2.txt")),
        {("row-count", "error", 57, GBRT)},
    ),
    "shifted down": (
        lines(lambda rows: ["0.5\n", *rows[:-1]]), {("shifted", "warning", 1207, f"{GBRT}:2")}
    ),
    "shifted up": (
        lines(lambda rows: [*rows[1:], "0.5\n"]), {("shifted", "warning", 1207, f"{GBRT}:1")}
    ),
    "shuffled": (
        lines(lambda rows: random.Random(1).sample(rows, len(rows))),
        {("unrelated", "warning", 42, f"{GBRT}:1")},
    ),
    "two folds of one size, swapped": (
        swapped_folds,
        {("swapped-fold", "warning", 1000, f"{GBRT}:1"),
         ("swapped-fold", "warning", 1000, "gbrt/fold2.txt:1")},
    ),
    "no numbers": (
        lines(lambda rows: [*rows[:9], "nan\n", rows[10], "nan\n", *rows[12:]]),
        {("not-finite", "error", 2, f"{GBRT}:10")},
    ),
    "an index": (
        lines(lambda rows: [f"{at},{row}" for at, row in enumerate(rows)]),
        {("columns", "error", MOST, f"{GBRT}:1")},
    ),
    "scattered queries": (
        scattered,
        {("scattered-queries", "warning", 49, "fold1.txt:7"),
         ("unrelated", "warning", 42, "neural/fold1.txt:1")},  # whose lines stayed
    ),
    "a query of two folds": (query_of_two_folds, {("same-queries", "warning", 1, "fold2.txt:1")}),
    "rows of two folds": (rows_of_two_folds, {("same-rows", "warning", 60, "fold2.txt:1")}),
    "negated": (
        lines(lambda rows: [f"{-float(row)}\n" for row in rows]),
        {("upside-down", "warning", 42, f"{GBRT}:1")},
    ),
    "constant": (
        lines(lambda rows: ["1\n"] * len(rows)), {("constant-scores", "warning", 49, f"{GBRT}:1")}
    ),
    "labels": (labels, {("labels-as-scores", "error", N_ROWS, f"{GBRT}:9")}),
    "labels for predictions, and predictions for labels": (
        columns,
        {("grade-values", "error", MOST, "fold1.txt:1"),
         ("swapped-columns", "error", N_ROWS, GBRT),
         ("constant-scores", "warning", 7, f"{GBRT}:552"),
         ("nearly-constant-scores", "warning", 11, f"{GBRT}:274"),
         ("score-ties", "warning", 14045, f"{GBRT}:9")},
    ),
    "empty": (lines(lambda rows: []), {("empty-file", "error", 1, GBRT)}),
    "gone": (lambda files: (files.folder / GBRT).unlink(), {("gaps", "warning", 1, "c.yaml")}),
    "no such metric": (
        lines(lambda rows: [row.replace("map", "mapp") for row in rows], "c.yaml"),
        {("config", "error", 1, "c.yaml: $.metrics[0] (line 5)")},
    ),
    "a wrong grade": (
        lines(lambda rows: [*rows[:3], f"x{rows[3]}", *rows[4:]], "fold1.txt"),
        {("unreadable", "error", 1, "fold1.txt:4")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LETOR.values(), ids=LETOR)
def test_learning_to_rank(letor: Any, case: Case) -> None:
    breaks, expected = case
    breaks(letor)
    assert of_letor(letor) == expected


def test_sound_files_have_no_finding(letor: Any, trec: Any, root: Any) -> None:
    assert of_letor(letor) == of_trec(trec) == set()
    (letor.folder / "random").mkdir()
    for fold in ("1", "2"):  # a random baseline is only a note
        text = (root / f"runs/letor/random/fold{fold}-seed1.txt").read_text()
        letor.put(f"random/fold{fold}.txt", text.splitlines(True))
    assert of_letor(letor) == set()
    found = check_config(letor.folder / "c.yaml").findings
    assert {one.severity for one in found if one.rule == "unrelated"} == {"note"}
    (letor.folder / "random/fold1.txt").unlink()
    (letor.folder / "random/fold2.txt").unlink()
    letor.put(GBRT, ["".join(letor.lines(GBRT)).rstrip("\n")])
    found = check_config(letor.folder / "c.yaml").findings
    assert [one.place for one in found if one.rule == "no-line-end"] == [
        f"{letor.folder}/{GBRT}:1208"
    ]


def rank_from_the_end(files: Any) -> None:
    rows = [line.split() for line in files.lines("run")]
    depth = Counter(row[0] for row in rows)
    for row in rows:  # n, ..., 2, 1: the rows are in the right order
        row[3] = row[4] = str(depth[row[0]] + 1 - int(row[3]))
    files.put("run", [" ".join(row) + "\n" for row in rows])


def packed(damage: Callable[[bytes], bytes]) -> Callable[[Any], str]:
    def breaks(files: Any) -> str:
        data = gzip.compress("".join(files.lines("run")).encode(), mtime=0)
        (files.folder / "run.gz").write_bytes(damage(data))
        return "run.gz"

    return breaks


def swapped_files(files: Any) -> None:
    qrels, run = files.lines("qrels"), files.lines("run")
    files.put("qrels", run)
    files.put("run", qrels)


TREC: dict[str, Case] = {
    "swapped files": (
        swapped_files,
        {("swapped-files", "error", 1, "qrels"), ("swapped-files", "error", 1, "run")},
    ),
    "ranks for scores": (
        fields(lambda q, z, d, r, s, t: (q, z, d, r, r, t)),
        {("rank-as-score", "error", N, "run:1")},
    ),
    "ranks from the end": (rank_from_the_end, {("rank-as-score", "warning", N, "run:1")}),
    "ranks and scores swapped": (
        fields(lambda q, z, d, r, s, t: (q, z, d, s, r, t)),
        {("swapped-columns", "error", N - 30, "run:1")},  # 30 queries, whose first rows follow none
    ),
    "whole scores swapped": (
        fields(lambda q, z, d, r, s, t: (q, z, d, str(9000 - 3 * int(r)), r, t)),
        {("swapped-columns", "error", N - 30, "run:1")},
    ),
    "words for ranks": (
        fields(lambda q, z, d, r, s, t: (q, z, d, "x", r, t)),
        {("rank-as-score", "error", N - 30, "run:1")},
    ),
    "qids and docnos swapped": (
        fields(lambda q, z, d, *more: (d, z, q, *more)),
        {("swapped-columns", "error", 30, "run"),
         ("scattered-queries", "warning", 883, "run:112")},
    ),
    "qids and docnos of the judgements swapped": (
        fields(lambda q, z, d, *more: (d, z, q, *more), "qrels"),
        {("swapped-columns", "error", 977, "run"), ("empty-queries", "warning", 647, "qrels:2"),
         ("scattered-queries", "warning", 540, "qrels:127")},
    ),
    "a blank in docnos": (
        fields(lambda q, z, d, r, s, t: (q, z, f"{d} page", r, s, t)),
        {("extra-fields", "warning", N, "run:1"), ("rank-as-score", "error", N - 30, "run:1"),
         ("several-tags", "warning", 999, "run:2")},
    ),
    "a blank before docnos": (  # by their first words all documents of a query are one
        fields(lambda q, z, d, r, s, t: (q, z, f"page {d}", r, s, t)),
        {("duplicates", "error", N - 30, "run:2")},
    ),
    "cut": (
        lines(lambda rows: ["".join(rows)[:-12]], "run"), {("truncated", "error", 1, "run:2897")}
    ),
    "cut in the tag": (
        lines(lambda rows: ["".join(rows)[:-2]], "run"), {("cut-line", "warning", 1, "run:2897")}
    ),
    "cut gzip data": (
        packed(lambda data: data[: len(data) // 2]), {("truncated", "error", 1, "run.gz")}
    ),
    "damaged gzip data": (
        packed(lambda data: data[:2000] + bytes(600) + data[2600:]),
        {("damaged", "error", 1, "run.gz")},
    ),
    "a plain file called gz": (
        lambda files: (files.put("run.gz", files.lines("run")), "run.gz")[1],
        {("other-compression", "warning", 1, "run.gz")},
    ),
    "a document twice": (
        lines(lambda rows: [*rows[:5], rows[2], *rows[5:]], "run"),
        {("duplicates", "error", 1, "run:6")},
    ),
    "another collection": (
        fields(lambda q, z, d, g: (q, z, f"X{d[::-1]}", g), "qrels"),
        {("other-collection", "error", N, "run:1")},
    ),
    "other queries": (
        fields(lambda q, z, d, g: (f"9{q}", z, d, g), "qrels"),
        {("no-common-query", "error", 1, "run")},
    ),
    "qids written otherwise": (
        fields(lambda q, *more: (f"Q{q}", *more)), {("no-common-query", "error", 30, "run")}
    ),
    "not a number": (
        fields(lambda q, z, d, r, s, t: (q, z, d, r, "nan" if (q, r) == ("5", "8") else s, t)),
        {("not-finite", "error", 1, "run:8")},
    ),
    "a header": (
        lines(lambda rows: ["qid Q0 docno rank score tag\n", *rows], "run"),
        {("header-line", "error", 1, "run:1")},
    ),
    "the first queries alone": (
        lines(lambda rows: rows[:1234], "run"), {("missing-queries", "warning", 16, "run")}
    ),
    "the last queries alone": (
        lines(lambda rows: rows[1234:], "run"), {("missing-queries", "warning", 13, "run")}
    ),
    "no tag": (fields(lambda *row: row[:5]), {("columns", "error", 1, "run:1")}),
    "shuffled": (
        lines(lambda rows: random.Random(2).sample(rows, len(rows)), "run"),
        {("scattered-queries", "warning", 30, "run:11")},
    ),
    "two systems": (
        lines(lambda rows: [row.replace("bm25", "x" if at > 1399 else "bm25")
                            for at, row in enumerate(rows)], "run"),
        {("several-tags", "warning", 1, "run:1401")},
    ),
    "negated": (  # of 30 queries, two found nothing relevant
        fields(lambda q, z, d, r, s, t: (q, z, d, r, str(-float(s)), t)),
        {("upside-down", "warning", 28, "run:301")},
    ),
    "gone": (lambda files: "runn", {("missing-file", "error", 1, "runn")}),
}  # fmt: skip


@pytest.mark.parametrize("case", TREC.values(), ids=TREC)
def test_trec(trec: Any, case: Case) -> None:
    breaks, expected = case
    assert of_trec(trec, str(breaks(trec) or "run")) == expected


def test_duplicates_that_are_dropped(trec: Any) -> None:
    TREC["a document twice"][0](trec)
    assert of_trec(trec, duplicates="last") == {("dropped-rows", "warning", 1, "run:3")}


def test_numbers_that_are_both_qids_and_docnos_are_not_swapped(trec: Any) -> None:
    """Documents and queries are numbered from 1, and queries are written otherwise in the qrels."""
    numbers: dict[str, str] = {}

    def number(name: str) -> str:
        return numbers.setdefault(name, str(len(numbers) + 1))

    fields(lambda q, z, d, *more: (q, z, number(d), *more))(trec)
    fields(lambda q, z, d, r: (f"q{q}", z, number(d), r), "qrels")(trec)
    assert {rule for rule, *_ in of_trec(trec)} == {"no-common-query"}


def test_a_dataset_that_cannot_be_read_stops_nothing(letor: Any) -> None:
    LETOR["a wrong grade"][0](letor)
    letor.put("gbrt/fold2.txt", letor.lines("gbrt/fold2.txt")[1:])
    assert {rule for rule, *_ in of_letor(letor)} == {"unreadable", "row-count"}
    assert check_config(letor.folder / "c.yaml").alone == 2
