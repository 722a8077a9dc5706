"""A TREC run of the example data and its judgements, broken in the ways that happen."""

from __future__ import annotations

import gzip
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from harness.cli.main import main
from harness.guard.check import check_files

Found = tuple[str, str, int, str]
N = 2897  # rows of the run


def found(files: Any, name: str = "run", **options: Any) -> dict[Found, str]:
    """What is warned of, and in which words; paths from the folder."""
    checked = check_files(
        str(files.folder / "qrels"), [str(files.folder / name)], of_qrels={}, of_runs=options
    )
    return {
        (one.rule, one.severity, one.count, one.place.removeprefix(f"{files.folder}/")): str(one)
        for one in checked.findings
        if one.severity != "note"
    }


def columns(files: Any, name: str, new: Callable[..., tuple[str, ...]]) -> None:
    files.put(name, [" ".join(new(*line.split())) + "\n" for line in files.lines(name)])


def swapped_files(files: Any) -> None:
    qrels, run = files.lines("qrels"), files.lines("run")
    files.put("qrels", run)
    files.put("run", qrels)


def rank_as_score(files: Any) -> None:
    columns(files, "run", lambda q, z, d, r, s, t: (q, z, d, r, r, t))


def rank_and_score_swapped(files: Any) -> None:
    columns(files, "run", lambda q, z, d, r, s, t: (q, z, d, s, r, t))


def whole_scores_swapped(files: Any) -> None:
    columns(files, "run", lambda q, z, d, r, s, t: (q, z, d, str(9000 - 3 * int(r)), r, t))


def words_for_ranks(files: Any) -> None:
    columns(files, "run", lambda q, z, d, r, s, t: (q, z, d, "x", r, t))


def a_blank_in_docnos(files: Any) -> None:
    columns(files, "run", lambda q, z, d, r, s, t: (q, z, f"{d} page", r, s, t))


def a_blank_before_docnos(files: Any) -> None:
    columns(files, "run", lambda q, z, d, r, s, t: (q, z, f"page {d}", r, s, t))


def rank_from_the_end(files: Any) -> None:
    lines = [line.split() for line in files.lines("run")]
    depth = Counter(fields[0] for fields in lines)
    for fields in lines:  # n, ..., 2, 1: the rows are in the right order
        fields[3] = fields[4] = str(depth[fields[0]] + 1 - int(fields[3]))
    files.put("run", [" ".join(fields) + "\n" for fields in lines])


def cut(files: Any) -> None:
    files.put("run", ["".join(files.lines("run"))[:-12]])


def cut_in_the_tag(files: Any) -> None:
    files.put("run", ["".join(files.lines("run"))[:-2]])


def cut_gz(files: Any) -> str:
    packed = gzip.compress("".join(files.lines("run")).encode(), mtime=0)
    (files.folder / "run.gz").write_bytes(packed[: len(packed) // 2])
    return "run.gz"


def damaged_gz(files: Any) -> str:
    packed = bytearray(gzip.compress("".join(files.lines("run")).encode(), mtime=0))
    packed[len(packed) // 2] ^= 255
    (files.folder / "run.gz").write_bytes(packed)
    return "run.gz"


def twice(files: Any) -> None:
    lines = files.lines("run")
    files.put("run", [*lines[:5], lines[2], *lines[5:]])


def other_collection(files: Any) -> None:
    columns(files, "qrels", lambda q, z, d, g: (q, z, f"X{d[::-1]}", g))


def other_topics(files: Any) -> None:
    columns(files, "qrels", lambda q, z, d, g: (f"9{q}", z, d, g))


def not_a_number(files: Any) -> None:
    lines = files.lines("run")
    fields = lines[7].split()
    files.put("run", [*lines[:7], " ".join([*fields[:4], "nan", fields[5]]) + "\n", *lines[8:]])


def top(files: Any) -> None:
    files.put("run", files.lines("run")[:1234])


def top_cut_off(files: Any) -> None:
    files.put("run", files.lines("run")[1234:])


def no_tag(files: Any) -> None:
    columns(files, "run", lambda q, z, d, r, s, t: (q, z, d, r, s))


def shuffled(files: Any) -> None:
    lines = files.lines("run")
    random.Random(2).shuffle(lines)
    files.put("run", lines)


def two_systems(files: Any) -> None:
    lines = files.lines("run")
    files.put("run", [*lines[:1400], *(line.replace("bm25", "other") for line in lines[1400:])])


def negated(files: Any) -> None:
    columns(files, "run", lambda q, z, d, r, s, t: (q, z, d, r, str(-float(s)), t))


CASES: list[tuple[Callable[[Any], str | None], set[Found], str]] = [
    (
        swapped_files,
        {("swapped-files", "error", 1, "qrels"), ("swapped-files", "error", 1, "run")},
        "it looks like a run (trec)",
    ),
    (
        rank_as_score,
        {
            ("rank-as-score", "error", N, "run:1"),
        },
        "the score is the rank in 2,897 of 2,897 rows",
    ),
    (
        rank_from_the_end,
        {
            ("rank-as-score", "warning", N, "run:1"),
        },
        "the score is the rank in 2,897 of 2,897 rows, and falls down the file",
    ),
    (
        rank_and_score_swapped,  # 30 queries, whose first rows follow none
        {("swapped-columns", "error", N - 30, "run:1")},
        "the scores are 1, 2, 3, ... in 2,867 of 2,867 rows after the first, and the ranks are "
        "numbers that fall: the score stands in column 4 and the rank in column 5",
    ),
    (
        whole_scores_swapped,
        {("swapped-columns", "error", N - 30, "run:1")},
        "the score stands in column 4 and the rank in column 5",
    ),
    (
        words_for_ranks,
        {("rank-as-score", "error", N - 30, "run:1")},
        "the scores are 1, 2, 3, ... in 2,867 of 2,867 rows after the first",
    ),
    (
        a_blank_in_docnos,
        {
            ("rank-as-score", "error", N - 30, "run:1"),
            ("extra-fields", "warning", N, "run:1"),
            ("several-tags", "warning", 999, "run:2"),
        },
        "the scores are 1, 2, 3, ... in 2,867 of 2,867 rows after the first",
    ),
    (
        a_blank_before_docnos,  # by their first words all documents of a query are one
        {("duplicates", "error", N - 30, "run:2")},
        "the docno stands already on line 1, for the same query",
    ),
    (
        cut,
        {("truncated", "error", 1, "run:2897")},
        "the file ends in the middle of a line: 5 fields where 6 belong",
    ),
    (
        cut_in_the_tag,
        {("cut-line", "warning", 1, "run:2897")},
        "its tag 'bm2' is the beginning of 'bm25' on the line before",
    ),
    (cut_gz, {("truncated", "error", 1, "run.gz")}, "the gzip data is cut short"),
    (damaged_gz, {("damaged", "error", 1, "run.gz")}, "the gzip data is damaged"),
    (
        twice,
        {("duplicates", "error", 1, "run:6")},
        "the docno stands already on line 3, for the same query",
    ),
    (
        other_collection,
        {("other-collection", "error", N, "run:1")},
        "none of the 2,897 documents retrieved is judged",
    ),
    (
        other_topics,
        {("no-common-query", "error", 1, "run")},
        "qrels have '94', '920', '918', the run has '5', '14', '19'",
    ),
    (not_a_number, {("not-finite", "error", 1, "run:8")}, "score 'nan' is not a finite number"),
    (
        top,
        {("missing-queries", "warning", 16, "run")},
        "16 of 30 judged queries: 18, 8, 25 (+13 more)",
    ),
    (
        top_cut_off,
        {("missing-queries", "warning", 13, "run")},
        "13 of 30 judged queries: 4, 20, 29 (+10 more)",
    ),
    (no_tag, {("columns", "error", 1, "run:1")}, "5 fields where 6 belong"),
    (
        shuffled,
        {("scattered-queries", "warning", 30, "run:6")},
        "30 queries come back after another began",
    ),
    (
        two_systems,
        {("several-tags", "warning", 1, "run:1401")},
        "2 tags in one run: 'bm25', 'other'; it may be several systems' output",
    ),
    (
        negated,
        {
            ("upside-down", "warning", 28, "run:301"),  # of 30 queries, two found nothing relevant
        },
        "a relevant document comes before another one in 13 % of all pairs (mean over 28 "
        "queries; below a half in 28)",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_a_break_is_found_and_nothing_else(
    trec: Any, case: tuple[Callable[[Any], str | None], set[Found], str]
) -> None:
    breaks, expected, said = case
    assert not found(trec)
    after = found(trec, breaks(trec) or "run")
    assert {*after} == expected
    assert said in "\n".join(after.values())


@pytest.mark.parametrize("name", ["run", "qrels"])
def test_qid_and_docno_that_changed_places(trec: Any, name: str) -> None:
    columns(trec, name, lambda q, z, d, *more: (d, z, q, *more))
    after = {one[:2]: text for one, text in found(trec).items()}
    assert ("no-common-query", "error") not in after  # which follows from it
    said = after["swapped-columns", "error"]
    assert "in one of the two files qid and docno have changed places" in said
    assert "  effect: nothing is evaluated, or every query counts 0\n" in said


def test_a_file_that_is_not_there(trec: Any) -> None:
    after = found(trec, "runn")
    assert {*after} == {("missing-file", "error", 1, "runn")}
    assert "the folder holds run" in after["missing-file", "error", 1, "runn"]


def test_duplicates_are_no_error_where_they_are_dropped(trec: Any) -> None:
    twice(trec)
    assert {*found(trec, duplicates="last")} == {("dropped-rows", "warning", 1, "run:3")}


def test_judgements_that_are_dropped_are_mended_where_they_are_made(
    trec: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    trec.put("qrels", [*trec.lines("qrels"), trec.lines("qrels")[0]])
    files = str(trec.folder / "qrels"), [str(trec.folder / "run")]
    checked = check_files(*files, of_qrels={"duplicates": "last"}, of_runs={})
    (one,) = [one for one in checked.findings if one.rule == "dropped-rows"]
    said = (
        "the grade that is kept decides", "remove the duplicates where the judgements are made"
    )  # fmt: skip
    assert (one.effect, one.fix) == said
    config = "datasets: {d: {path: qrels, duplicates: last}}\nruns: {r: {path: run}}\n"
    trec.put("c.yaml", [config, "metrics: [map]\n"])
    with pytest.raises(SystemExit):
        main(["run", str(trec.folder / "c.yaml"), "--set", f"output={trec.folder / 'out'}"])
    assert "  effect: {}\n  fix:    {}\n".format(*said) in capsys.readouterr().err


def test_a_noisy_copy_of_the_grades_with_the_other_sign(trec: Any) -> None:
    grades = {tuple(line.split()[::2]): int(line.split()[3]) for line in trec.lines("qrels")}
    chance = random.Random(1)

    def score(q: str, z: str, d: str, r: str, s: str, t: str) -> tuple[str, ...]:
        return q, z, d, r, f"{chance.gauss(0, 1) - grades.get((q, d), 0):.4f}", t

    columns(trec, "run", score)
    assert "upside-down" in {rule for rule, *_ in found(trec)}


def test_numbers_that_are_both_qids_and_docnos_have_not_changed_places(trec: Any) -> None:
    # documents and topics are numbered from 1, and topics are written otherwise in the judgements
    numbers: dict[str, str] = {}

    def number(name: str) -> str:
        return numbers.setdefault(name, str(len(numbers) + 1))

    columns(trec, "run", lambda q, z, d, *more: (q, z, number(d), *more))
    columns(trec, "qrels", lambda q, z, d, r: (f"q{q}", z, number(d), r))
    assert {rule for rule, *_ in found(trec)} == {"no-common-query"}
