"""Each mistake that people make, listed in the design: ``harness check`` finds it at its place."""

from __future__ import annotations

import bz2
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cli.app import app

Break = Callable[[Any], object]
FOLD, GBRT = "fold1.txt", "gbrt/fold1.txt"


def lines(name: str, change: Callable[[list[str]], list[str]]) -> Break:
    """Change the lines of a file."""
    return lambda files: files.put(name, change(files.lines(name)))


def each(name: str, change: Callable[..., object]) -> Break:
    """Change the fields of each line of a file."""
    return lines(name, lambda rows: [f"{change(*row.split(' '))}".strip() + "\n" for row in rows])


def at(name: str, line: int, text: str) -> Break:
    """Replace one line of a file."""
    return lines(name, lambda rows: [*rows[: line - 1], f"{text}\n", *rows[line:]])


def binary(name: str, change: Callable[[bytes], bytes]) -> Break:
    """Change the bytes of a file."""

    def breaks(files: Any) -> None:
        path = files.folder / name
        path.write_bytes(change(path.read_bytes()))

    return breaks


def config(old: str, new: str) -> Break:
    """Replace a part of the config."""
    return lines("c.yaml", lambda rows: ["".join(rows).replace(old, new)])


def from_fold_1(files: Any) -> None:
    files.put(GBRT, [row.split(" ")[0] + "\n" for row in files.lines(FOLD)])


def shared_queries(files: Any) -> None:
    """The first query of fold 2 has the name of one in fold 1."""
    first = files.lines(FOLD)[0].split(" ")[1]
    own = files.lines("fold2.txt")[0].split(" ")[1]
    lines("fold2.txt", lambda rows: [row.replace(f" {own} ", f" {first} ") for row in rows])(files)


def same_file(files: Any) -> None:
    files.put("neural/fold1.txt", files.lines(GBRT))


def html(rows: list[str]) -> list[str]:
    return ["<!DOCTYPE html>\n", "<html><body>404 Not Found</body></html>\n"]


LETOR: dict[str, tuple[Break, str, str, str]] = {
    "too few predictions": (lines(GBRT, lambda rows: rows[:-3]), "error", "row-count", GBRT),
    "too many predictions": (
        lines(GBRT, lambda rows: [*rows, "0.5\n"]), "error", "row-count", f"{GBRT}:1209"
    ),
    "predictions of another fold": (
        lambda files: files.put(GBRT, files.lines("gbrt/fold2.txt")), "error", "row-count", GBRT
    ),
    "shifted predictions": (
        lines(GBRT, lambda rows: [*rows[1:], "0\n"]), "warning", "shifted", f"{GBRT}:1"
    ),
    "shuffled predictions": (
        lines(GBRT, lambda rows: random.Random(1).sample(rows, len(rows))),
        "warning", "unrelated", f"{GBRT}:1",
    ),
    "labels saved as scores": (from_fold_1, "error", "labels-as-scores", f"{GBRT}:9"),
    "the best document last": (
        each(GBRT, lambda score: -float(score)), "warning", "upside-down", f"{GBRT}:1"
    ),
    "constant scores": (
        each(GBRT, lambda score: 1), "warning", "constant-scores", f"{GBRT}:1"
    ),
    "most scores tied": (
        each(GBRT, lambda score: round(float(score))), "warning", "score-ties", f"{GBRT}:9"
    ),
    "nan": (at(GBRT, 7, "nan"), "error", "not-finite", f"{GBRT}:7"),
    "inf": (at(GBRT, 7, "inf"), "error", "not-finite", f"{GBRT}:7"),
    "text": (at(GBRT, 7, "n/a"), "error", "unreadable", f"{GBRT}:7"),
    "a header line": (
        lines(GBRT, lambda rows: ["score\n", *rows]), "error", "header-line", f"{GBRT}:1"
    ),
    "an index column": (
        lines(GBRT, lambda rows: [f"{n},{row}" for n, row in enumerate(rows)]),
        "error", "columns", f"{GBRT}:1",
    ),
    "two columns of probabilities": (
        each(GBRT, lambda score: f"0.5 {score}"), "error", "columns", f"{GBRT}:1"
    ),
    "tensor(...)": (
        each(GBRT, lambda score: f"tensor({score.strip()})"), "error", "columns", f"{GBRT}:1"
    ),
    "a Python list": (
        lines(GBRT, lambda rows: [f"[{', '.join(row.strip() for row in rows)}]\n"]),
        "error", "columns", f"{GBRT}:1",
    ),
    "a truncated file": (
        lines(GBRT, lambda rows: ["".join(rows)[:5000]]), "error", "row-count", GBRT
    ),
    "no last line end": (
        lines(GBRT, lambda rows: ["".join(rows).strip()]), "note", "no-line-end", f"{GBRT}:1208"
    ),
    "UTF-16": (
        binary(GBRT, lambda data: data.decode().encode("utf-16")), "error", "unreadable", GBRT
    ),
    "tabs and CRLF are read": (
        lambda files: (
            binary(FOLD, lambda data: data.replace(b" ", b"\t").replace(b"\n", b"\r\n"))(files),
            lines(GBRT, lambda rows: rows[1:])(files),
        ),
        "error", "row-count", GBRT,
    ),
    "a BOM is read": (
        lambda files: (
            binary(FOLD, lambda data: b"\xef\xbb\xbf" + data)(files),
            lines(GBRT, lambda rows: rows[1:])(files),
        ),
        "error", "row-count", GBRT,
    ),
    "scattered queries": (
        lines(FOLD, lambda rows: [*rows[1:], rows[0]]),
        "warning", "scattered-queries", f"{FOLD}:1208",
    ),
    "queries without relevant documents": (
        each(FOLD, lambda grade, *rest: " ".join(("0", *rest))),
        "error", "no-relevant-documents", f"{FOLD}:1",
    ),
    "fractional grades": (at(FOLD, 3, "0.5 qid:46 1:1"), "error", "grade-values", f"{FOLD}:3"),
    "negative grades": (at(FOLD, 3, "-1 qid:46 1:1"), "note", "negative-grades", f"{FOLD}:3"),
    "huge grades": (at(FOLD, 3, "500 qid:46 1:1"), "warning", "grades-above-30", f"{FOLD}:3"),
    "folds that share queries": (shared_queries, "warning", "shared-queries", "fold2.txt:1"),
    "the same file twice": (same_file, "warning", "same-file-twice", GBRT),
    "a missing fold": (
        lambda files: (files.folder / GBRT).unlink(), "warning", "gaps", "c.yaml"
    ),
    "a misspelt metric": (
        config("[map]", "[mapp]"), "error", "config", "c.yaml: $.metrics[0] (line 5)"
    ),
    "a misspelt key": (
        config("metrics:", "metric:"), "error", "config", "c.yaml: $.metric (line 5)"
    ),
    "a misspelt parameter": (
        config("[map]", '["ndcg(gian=exp)"]'), "error", "config", "c.yaml: $.metrics[0] (line 5)"
    ),
    "a parameter out of range": (
        config("[map]", '["rbo(p=2)"]'), "error", "config", "c.yaml: $.metrics[0] (line 5)"
    ),
    "a misspelt path": (
        config('"{model}/fold', '"{model}/flod'), "error", "config",
        "c.yaml: $.runs.{model}.path (line 4)",
    ),
    "a misspelt run name": (
        config("[map]", "[map]\ncompare: {baseline: gbtr}"), "error", "config",
        "c.yaml: $.compare.baseline (line 6)",
    ),
    "wrong indentation": (config("runs:", "   runs:"), "error", "config", "c.yaml:3"),
    "a tab": (config("  \"{model}", "\t\"{model}"), "error", "config", "c.yaml:4"),
    "unquoted braces": (
        config('"{model}": {', "{model}: {"), "error", "config", "c.yaml: $.runs (line 4)"
    ),
}  # fmt: skip


def run(*changes: Callable[[list[str]], object]) -> Break:
    """Change the fields of each row of the run."""

    def change(rows: list[str]) -> list[str]:
        fields = [row.split() for row in rows]
        for one in changes:
            for row in fields:
                one(row)
        return [" ".join(row) + "\n" for row in fields]

    return lines("run", change)


def field(place: int, change: Callable[[list[str]], str]) -> Callable[[list[str]], None]:
    def put(row: list[str]) -> None:
        row[place] = change(row)

    return put


def swap(name: str, one: int, other: int) -> Break:
    def change(row: str) -> str:
        fields = row.split()
        fields[one], fields[other] = fields[other], fields[one]
        return " ".join(fields) + "\n"

    return lines(name, lambda rows: [change(row) for row in rows])


def swapped(files: Any) -> None:
    qrels, rows = files.lines("qrels"), files.lines("run")
    files.put("qrels", rows)
    files.put("run", qrels)


def qrels_of(change: Callable[[list[str]], object]) -> Break:
    def changed(row: str) -> str:
        fields = row.split()
        change(fields)
        return " ".join(fields) + "\n"

    return lines("qrels", lambda rows: [changed(row) for row in rows])


TREC: dict[str, tuple[Break, str, str, str]] = {
    "ranks saved as scores": (
        run(field(4, lambda row: row[3])), "error", "rank-as-score", "run:1"
    ),
    "a truncated file": (
        lines("run", lambda rows: ["".join(rows)[:-14]]), "error", "truncated", "run:2897"
    ),
    "wrong compression": (
        binary("run.gz", bz2.compress), "warning", "other-compression", "run.gz"
    ),
    "an HTML error page": (lines("run", html), "error", "unreadable", "run"),
    "a duplicate docno": (
        lines("run", lambda rows: [rows[0], *rows]), "error", "duplicates", "run:2"
    ),
    "qids with a prefix": (
        run(field(0, lambda row: f"topic{row[0]}")), "error", "no-common-query", "run"
    ),
    "qids with leading zeros": (
        run(field(0, lambda row: f"{row[0]:0>3}")), "error", "no-common-query", "run"
    ),
    "docnos in another case": (
        run(field(2, lambda row: row[2].lower())), "error", "docno-spelling", "run:1"
    ),
    "qrels of another collection": (
        qrels_of(field(2, lambda row: f"X{row[2][::-1]}")), "error", "other-collection", "run:1"
    ),
    "qrels and run swapped": (swapped, "error", "swapped-files", "run"),
    "qids and docnos swapped": (swap("run", 0, 2), "error", "swapped-columns", "run"),
    "ranks and scores swapped": (swap("run", 3, 4), "error", "swapped-columns", "run:1"),
    "missing queries": (
        lines("run", lambda rows: rows[:-900]), "warning", "missing-queries", "run"
    ),
    "extra queries": (
        lines("run", lambda rows: [*rows, "q99 Q0 DOC-1 1 1.0 bm25\n"]),
        "note", "extra-queries", "run:2898",
    ),
    "a path that does not exist": (
        lambda files: (files.folder / "run").unlink(), "error", "missing-file", "run"
    ),
}  # fmt: skip


def found(folder: Any, *words: object) -> set[tuple[str, str, str]]:
    result = CliRunner().invoke(app, ["check", *map(str, words), "--format", "json"])
    assert result.exit_code in (0, 2), result.output
    return {
        (one["severity"], one["rule"], one["place"].replace(f"{folder}/", ""))
        for one in json.loads(result.stdout)["findings"]
    }


@pytest.mark.parametrize("name", LETOR)
def test_mistakes_in_learning_to_rank(letor: Any, name: str) -> None:
    breaks, *expected = LETOR[name]
    breaks(letor)
    assert tuple(expected) in found(letor.folder, letor.folder / "c.yaml")


@pytest.mark.parametrize("name", TREC)
def test_mistakes_in_trec_files(trec: Any, name: str) -> None:
    breaks, *expected = TREC[name]
    path = expected[2].partition(":")[0]
    if path == "run.gz":
        trec.put("run.gz", trec.lines("run"))
    breaks(trec)
    assert tuple(expected) in found(trec.folder, trec.folder / "qrels", trec.folder / path)
