"""Where findings are: in files without lines, in two files at once, and far into a large one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness import readers
from harness.core.align import align
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.errors import Finding, HarnessWarning
from harness.guard.check import check_config, check_files
from harness.guard.watch import Watch

N = 400
QUERY = np.arange(N) // 10 + 7
RANDOM = np.random.default_rng(2)
GRADES = RANDOM.integers(0, 4, N)
SCORES = GRADES + RANDOM.normal(0, 1, N)
ORDER = RANDOM.permutation(N)


@pytest.fixture
def judged(tmp_path: Path) -> str:
    lines = (f"{g} qid:{q} 1:{s:.6f}\n" for g, q, s in zip(GRADES, QUERY, SCORES, strict=True))
    path = tmp_path / "judged.txt"
    path.write_text("# made here\n" + "".join(lines))
    return str(path)


def check(judged: str, run: Path, **of_runs: str) -> dict[str, Finding]:
    found = check_files(judged, [str(run)], of_qrels={}, of_runs=of_runs)
    return {one.rule: one for one in found.findings}


def test_a_row_of_an_array_is_given_by_its_number(judged: str, tmp_path: Path) -> None:
    scores = SCORES.copy()
    scores[123] = 1e39
    np.save(tmp_path / "p.npy", scores)
    one = check(judged, tmp_path / "p.npy")["overflow"]
    # of row 124: the fourth of query 12 + 7
    assert one.place == f"{tmp_path}/p.npy: row 124"
    assert one.examples == ("query 19, document d3: 1e+39",)


def test_a_row_of_parquet_is_given_by_its_number(tmp_path: Path) -> None:
    names = [f"d{at}" for at in range(N)]
    scores = SCORES.copy()
    scores[123] = 1e39
    columns = {"qid": QUERY.astype(str), "docno": names}
    pq.write_table(pa.table({**columns, "grade": GRADES * 3}), tmp_path / "q.parquet")
    mixed = pa.table({**columns, "score": scores}).take(ORDER)
    pq.write_table(mixed, tmp_path / "r.parquet")
    found = check(str(tmp_path / "q.parquet"), tmp_path / "r.parquet")
    place, _, row = found["overflow"].place.rpartition(" ")
    assert place == f"{tmp_path}/r.parquet: row"
    assert mixed["score"][int(row) - 1].as_py() == 1e39
    place, _, row = found["grades-above-4"].place.rpartition(" ")
    assert place == f"{tmp_path}/q.parquet: row"
    assert int(row) == 1 + int(np.flatnonzero(GRADES * 3 > 4)[0])


def test_lines_of_ranklib_are_its_own(judged: str, tmp_path: Path) -> None:
    """They stand in any order, and not in that of the dataset."""
    scores = SCORES.copy()
    scores[123] = 1e39
    lines = [f"{QUERY[at]}\t{at % 10}\t{scores[at]}\n" for at in ORDER.tolist()]
    (tmp_path / "p").write_text("".join(lines))
    one = check(judged, tmp_path / "p", format="ranklib")["overflow"]
    path, _, line = one.place.rpartition(":")
    assert path == str(tmp_path / "p")
    assert lines[int(line) - 1] == "19\t3\t1e+39\n"


def test_a_mapping_is_looked_up_by_query_and_document(tmp_path: Path) -> None:
    judged = {str(q): {f"d{at}": at % 2 for at in range(5)} for q in range(30)}
    scored = {q: {docno: float(docno[1:]) for docno in rows} for q, rows in judged.items()}
    scored["17"]["d3"] = 1e39
    (tmp_path / "q.json").write_text(json.dumps(judged))
    (tmp_path / "r.json").write_text(json.dumps(scored))
    one = check(str(tmp_path / "q.json"), tmp_path / "r.json")["overflow"]
    assert one.place == str(tmp_path / "r.json")
    assert one.examples == ("query 17, document d3: 1e+39",)


def test_queries_of_predictions_that_are_upside_down(judged: str, tmp_path: Path) -> None:
    scores = -SCORES
    scores[:10] = SCORES[:10]  # but for the first query
    (tmp_path / "p").write_text("".join(f"{score:.6f}\n" for score in scores))
    one = check(judged, tmp_path / "p")["upside-down"]
    falling = {}
    for query in np.unique(QUERY).tolist():
        inside = query == QUERY
        ranks = np.unique(np.round(scores, 6), return_inverse=True)[1][inside]
        r = np.corrcoef(GRADES[inside], ranks)[0, 1]
        falling |= {query: r} if r < 0 else {}
    assert 30 < one.count == len(falling)
    assert one.examples == tuple(f"{query} ({r:.2f})" for query, r in [*falling.items()][:3])
    assert one.what.endswith(f" within queries, below 0 in {len(falling)} of them")
    first = int(np.flatnonzero(min(falling) == QUERY)[0])
    assert one.place == f"{tmp_path}/p:{first + 1}"


def test_queries_of_a_run_that_is_upside_down() -> None:
    # a share of 1 of 4 pairs in q2 (b before d), of 0 in q3, of all in q1
    grades = {q: {"a": 0, "b": 1, "c": 0, "d": 1} for q in ("q1", "q2", "q3")}
    scores = {
        "q1": {"b": 4, "d": 3, "a": 2, "c": 1},
        "q2": {"a": 4, "b": 3, "c": 2, "d": 1},
        "q3": {"a": 4, "c": 3, "b": 2, "d": 1},
    }
    more = {f"r{at}": scores["q3"] for at in range(20)}
    qrels = Qrels.from_dict({**grades, **dict.fromkeys(more, grades["q1"])})
    run = Run.from_dict({**scores, **more})  # type: ignore[dict-item]
    watch = Watch(qrels, Policy())
    watch.run(run)
    watch.aligned(align(qrels, run, Policy()))
    first = watch.facts().first["upside-down"]
    assert (first.names, first.row) == (("q2 (25 %)", "q3 (0 %)", "r0 (0 %)"), 4)


def test_rows_of_two_datasets_are_placed_in_both(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    fold = [[f"{at % 4} qid:{name}{at // 10} 1:{random.normal():.9f}\n" for at in range(300)]
            for name in "12"]  # fmt: skip
    # query 12 (its rows are lines 21 to 30) is query 24 of the other, and row 5 is its row 100
    fold[1][40:50] = [line.replace("qid:12", "qid:24") for line in fold[0][20:30]]
    fold[1][99] = "3 qid:29 " + fold[0][4].split(" ", 2)[2]
    for at, lines in enumerate(fold, 1):
        (tmp_path / f"{at}.txt").write_text("# a comment\n" + "".join(lines))
        (tmp_path / f"p{at}.txt").write_text("".join(f"{random.normal()}\n" for _ in lines))
    (tmp_path / "c.yaml").write_text(
        'datasets: {"d{fold}": {path: "{fold}.txt"}}\n'
        'runs: {m: {path: "p{fold}.txt"}}\nmetrics: [map]\n'
    )
    found = {one.rule: one for one in check_config(tmp_path / "c.yaml").findings}
    assert found["same-queries"].place.endswith("/2.txt:42")
    assert found["same-queries"].examples == ("query 24: 1.txt:22, query 12",)
    assert found["same-rows"].place.endswith("/2.txt:101")
    assert found["same-rows"].examples == ("line 101: 1.txt:6",)
    assert readers.read_qrels(tmp_path / "2.txt").qids.to_pylist()[4] == "24"


@pytest.mark.parametrize("form", ["txt", "parquet"])
def test_queries_that_folds_share_are_placed_in_both(tmp_path: Path, form: str) -> None:
    for fold, shift in enumerate((0, 8), 1):
        rows = [(f"q{at // 4 + shift}", f"d{at % 4}", at % 3) for at in range(40)]
        path = tmp_path / f"{fold}.{form}"
        qids, docnos, grades = zip(*rows, strict=True)
        if form == "txt":
            path.write_text("".join(f"{qid} 0 {docno} {grade}\n" for qid, docno, grade in rows))
        else:
            pq.write_table(pa.table({"qid": qids, "docno": docnos, "grade": grades}), path)
        lines = (f"{qid} Q0 {docno} 1 {at} t\n" for at, (qid, docno, _) in enumerate(rows))
        (tmp_path / f"{fold}.run").write_text("".join(lines))
    (tmp_path / "c.yaml").write_text(
        f'datasets: {{"d{{fold}}": {{path: "{{fold}}.{form}"}}}}\n'
        'runs: {m: {path: "{fold}.run"}}\nmetrics: [map]\n'
    )
    (one,) = (one for one in check_config(tmp_path / "c.yaml").findings
              if one.rule == "shared-queries")  # fmt: skip
    # q8 and q9 are the last two of the first fold and the first two of the second
    at = {"txt": "{}:{}", "parquet": "{}: row {}"}[form]
    places = [[at.format(f"{fold}.{form}", row) for fold, row in two]
              for two in (((1, 33), (2, 1)), ((1, 37), (2, 5)))]  # fmt: skip
    (a, b), (c, d) = places
    assert one.examples == (f"query q8: {a} and {b}", f"query q9: {c} and {d}")
    assert one.place == str(tmp_path / b)
    assert one.count == 2


def far_away(tmp_path: Path, change: Any, **options: str) -> dict[str, Finding]:
    """What is found in a run of 6 MB, of which pieces are kept, with a change to its rows."""
    rows = [
        [f"q{at // 100}", "Q0", f"document-{at:06}", str(at % 100 + 1), str(100 - at % 100), "t"]
        for at in range(150_000)
    ]
    change(rows)
    (tmp_path / "run").write_text("# made here\n" + "".join(" ".join(row) + "\n" for row in rows))
    (tmp_path / "qrels").write_text("".join(f"q{q} 0 document-{q}00000 1\n" for q in range(1500)))
    found = check_files(
        str(tmp_path / "qrels"), [str(tmp_path / "run")], of_qrels={}, of_runs=options
    )
    return {one.rule: one for one in found.findings}


def line_of(one: Finding) -> str:
    """The line that a finding names, which is its first example too."""
    path, _, line = one.place.rpartition(":")
    text = Path(path).read_text().splitlines()[int(line) - 1]
    assert one.examples == (text,)
    return text


@pytest.mark.parametrize("at", [50, 74_950, 149_999])
def test_rows_that_were_dropped_anywhere(tmp_path: Path, at: int) -> None:
    def again(rows: Any) -> None:
        rows[at][2] = rows[at - 7][2]

    one = far_away(tmp_path, again, duplicates="first")["dropped-rows"]
    assert line_of(one).split()[:4] == [
        f"q{at // 100}", "Q0", f"document-{at - 7:06}", str(at % 100 + 1)
    ]  # fmt: skip


@pytest.mark.parametrize("at", [250, 74_950])
def test_a_query_that_comes_back_anywhere(tmp_path: Path, at: int) -> None:
    def back(rows: Any) -> None:
        rows[at][0] = rows[at - 120][0]

    one = far_away(tmp_path, back)["scattered-queries"]
    assert line_of(one).split()[2] == f"document-{at:06}"


def test_a_tag_anywhere(tmp_path: Path) -> None:
    def other(rows: Any) -> None:
        rows[74_950][5] = "other"

    one = far_away(tmp_path, other)["several-tags"]
    assert line_of(one).split()[2] == "document-074950"


def test_rows_that_contradict_their_ranks_from_the_middle_on(tmp_path: Path) -> None:
    def rising(rows: Any) -> None:
        for row in rows[74_900:]:
            row[4] = str(100 - float(row[4]))

    one = far_away(tmp_path, rising)["ranks-against-scores"]
    assert line_of(one).split()[2] == "document-074901"


def test_rows_of_parquet_that_were_dropped_or_came_back(tmp_path: Path) -> None:
    columns = {"qid": ["a", "a", "b", "a"], "docno": ["x", "x", "y", "z"]}
    pq.write_table(pa.table({**columns, "score": [3.0, 2.0, 1.0, 0.0]}), tmp_path / "r.parquet")
    with pytest.warns(HarnessWarning) as caught:
        readers.read_run(tmp_path / "r.parquet", duplicates="first")
    said = {one.message.rule: one.message.examples for one in caught}  # type: ignore[union-attr]
    assert said["dropped-rows"] == ("row 2: query a, document x",)
    mixed = pa.table({"qid": ["a", "b", "a"], "docno": ["x", "y", "z"], "score": [3.0, 2.0, 1.0]})
    pq.write_table(mixed, tmp_path / "m.parquet")
    with pytest.warns(HarnessWarning) as caught:
        readers.read_run(tmp_path / "m.parquet")
    assert [one.message.examples for one in caught] == [("row 3: query a",)]  # type: ignore[union-attr]
