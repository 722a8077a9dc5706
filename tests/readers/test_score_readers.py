"""Scores that follow the rows of a dataset: one a line, RankLib's, .npy."""

from __future__ import annotations

import gzip
import io
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness import readers
from harness.core.tables import Qrels
from harness.errors import HarnessWarning, InputError
from harness.readers.source import Source

Write = Callable[..., str]


@pytest.mark.parametrize(
    "text",
    ["3\n1\n2\n0.5\n1.5\n", "3\r\n1\r\n2\r\n.5\r\n1.5\r\n", " 3\n1 \n2\n5e-1\n+1.5\n\n\n",
     "# by x\n3\n1\n2\n0.5\n1.5"],
    ids=["plain", "crlf", "blanks", "comment"],
)  # fmt: skip
def test_one_score_a_line(write: Write, dataset: Qrels, text: str) -> None:
    run = readers.read_run(write("p.txt", text), dataset=dataset)
    assert run.scores.tolist() == [3, 1, 2, 0.5, 1.5]
    assert run.docnos is dataset.docnos


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "3\n1\n2\n0.5\n",
            "p.txt: 4 predictions for 5 rows of test.txt; they end in query 'q2'\n"
            "  fix:   predict every row of that file, in its order, and nothing else",
        ),
        (
            "3\n1\n2\n0.5",
            "p.txt: the file may be cut, as its last line has no line end: 4 predictions for 5 "
            "rows of test.txt; they end in query 'q2'\n"
            "  fix:   get the whole file again; or predict every row of that file, in its order, "
            "and nothing else",
        ),
        ("3\n1\n", "p.txt: 2 predictions for 5 rows of test.txt; they end in query 'q1'\n"),
        ("3\n1\n2\n0.5\n1\n1\n", "p.txt: 6 predictions for 5 rows of test.txt\n"),
        (
            "score\n3\n1\n2\n0.5\n1\n",
            "p.txt:1: score 'score' is not a number; it looks like a header line\n"
            "  found: score\n"
            "  fix:   delete the header line",
        ),
        (
            "score\n1\n2\n0.5\n1\n",
            "p.txt:1: score 'score' is not a number; it looks like a header line, and 4 "
            "predictions for 5 rows follow\n"
            "  found: score\n"
            "  fix:   write the first row's prediction too: the header stands in its place",
        ),
        (
            "score\n1\n2\n0.5\n",
            "p.txt:1: score 'score' is not a number; it looks like a header line, and 3 "
            "predictions for 5 rows follow\n"
            "  found: score\n"
            "  fix:   delete the header line, and predict every row of the dataset, in its order",
        ),
        (
            "3\n1\nnan\n0.5\n1\n",
            "p.txt:3: score 'nan' is not a finite number\n"
            "  found: nan\n"
            "  fix:   repair the system's output: line by line, a score for each row of the "
            "dataset",
        ),
        (
            "# a\n3\n1\nnan\n\n",
            "p.txt:4: score 'nan' is not a finite number\n"
            "  found: nan\n"
            "  fix:   repair the system's output: line by line, a score for each row of the "
            "dataset\n"
            "p.txt: 3 predictions for 5 rows of test.txt; they end in query 'q2'\n"
            "  fix:   predict every row of that file, in its order, and nothing else",
        ),
        ("3\n1\n2 7\n0.5\n1\n", "p.txt:3: 2 columns where one number a line belongs\n"),
        (
            "3\n1\n2\nx\n1\n",
            "p.txt:4: score 'x' is not a number\n"
            "  found: x\n"
            "  fix:   repair the system's output: line by line, a score for each row of the "
            "dataset",
        ),
        (
            "3\n1\n\n0.5\n1\n1\n",
            "p.txt:3: a blank line where a score belongs\n"
            "  fix:   repair the system's output: line by line, a score for each row of the "
            "dataset",
        ),
        ("\n3\n1\n2\n0.5\n1\n", "p.txt:1: a blank line where a score belongs\n"),
        ("3\n1\n2\n0.5\n \t\r\n1\n", "p.txt:5: a blank line where a score belongs\n"),
        ("3\n1\n2\n\n# a\n0.5\n1", "p.txt:4: a blank line where a score belongs\n"),
        ("3\n1\n2\n0.5\n1\n\n# the end\n", "p.txt:6: a blank line where a score belongs\n"),
        (
            "3\n1\n2\n0.5\n1e",
            "p.txt:5: the file ends in the middle of a line: score '1e' is not a number\n"
            "  found: 1e\n"
            "  fix:   get the whole file: lines after this one may be lost too",
        ),
    ],
)
def test_scores_that_are_refused(write: Write, dataset: Qrels, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        readers.read_run(write("p.txt", text), dataset=dataset)
    assert str(error.value).startswith(message)


_LIST = "a list of numbers", "write each number on a line of its own, as "
_COLUMNS = "columns", f"{_LIST[1]}'\\n'.join(map(str, scores)) does; of several for one row, such "


@pytest.mark.parametrize("format", [None, "scores"])
@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        (str([-1.27, 2.5, 0.1, 4.0, 1e-9]), *_LIST),
        (f"{[-1.27, 2.5, 0.1, 4.0, 1e-9]}\n", *_LIST),
        (str([i / 7 for i in range(20_000)]), *_LIST),
        (f"# of a model\n{[-1.27, 2.5, 0.1, 4.0, 1e-9]}\n", *_LIST),
        ("[0.5, 0.25]\n" * 5, *_LIST),
        ("[-1.27 2.5\n 3. 1.25\n 0.5]\n", *_LIST),
        ("[0.5,\n0.25,\n1.5,\n2,\n1]\n", *_LIST),
        ("tensor([0.5, 0.25], device='cuda:0')\n", *_LIST),
        ("array([[0.5], [0.25]])\n", "a number in brackets", "write 0.5 alone, as .item()"),
        ("0.3 0.7\n" * 5, *_COLUMNS),
        ("0.3\t0.7\n" * 5, *_COLUMNS),
        ("0.3,0.7\n" * 5, *_COLUMNS),
        ("0.1 0.2 0.7\n" * 5, *_COLUMNS),
        (", ".join(str(i / 7) for i in range(1, 20_000) if i % 7), *_COLUMNS),
        ("tensor(1.33)\n" * 5, "a number in brackets", "write 1.33 alone, as .item() and "),
        ("tensor(1.33, grad_fn=<X>)\n" * 5, "a number in brackets", "write 1.33 alone, as .item("),
        ("np.float64(-2.)\n" * 5, "a number in brackets", "write -2. alone, as .item()"),
        ("[1.33]\n" * 5, "a number in brackets", "write 1.33 alone; numbers of shape (n, 1) are"),
    ],
    ids=lambda text: text[:12],
)
def test_what_is_no_single_number(
    write: Write, dataset: Qrels, format: str | None, text: str, what: str, fix: str
) -> None:
    """Nothing of it was cut, with a line end and without."""
    with pytest.raises(InputError) as error:
        readers.read_run(write("p.txt", text), dataset=dataset, format=format)
    first = error.value.problems[0]
    assert f"{what} where one number a line belongs" in first.what
    assert first.where == ("p.txt:2" if text[0] == "#" else "p.txt:1")
    assert (first.fix[: len(fix)], first.rule) == (fix, "columns")


@pytest.mark.parametrize("ending", ["txt", "npy"])
def test_many_scores_and_too_few(write: Write, ending: str) -> None:
    """Nine that are not finite are printed, that the last rows are lost, and how many more."""
    scores = np.array([np.nan] * 12 + [1.0])
    npy = io.BytesIO()
    np.save(npy, scores)
    text = "".join(f"{one}\n" for one in scores).encode()
    with pytest.raises(InputError) as error:
        readers.read_run(
            write(f"p.{ending}", npy.getvalue() if ending == "npy" else text), dataset=_rows(15)
        )
    rules = [problem.rule for problem in error.value.problems]
    assert rules == ["not-finite"] * 9 + ["row-count"]
    assert str(error.value).count("\n... and 3 more") == 1
    assert f"p.{ending}: 13 predictions for 15 rows" in str(error.value)


def _rows(n: int) -> Qrels:
    return Qrels.from_dict({"q": {f"d{i}": i % 2 for i in range(n)}})


_FIXED = [f"{i}.{i:06}" for i in range(100)]  # 0.000000 ... 99.000099
_FULL = [f"-{i}.{i + 10}{'7' * (13 if i % 2 else 11)}" for i in range(1, 90)] * 2  # 13, 15 decimals


@pytest.mark.parametrize(
    ("before", "last", "said"),
    [
        (_FIXED, "3.84142", "5 decimals where each of the 100 lines before has 6"),
        (_FIXED, "3.", "0 decimals where each of the 100 lines before has 6"),
        (_FULL, "-3.84142", "5 decimals where each of the 100 lines before has at least 13"),
        (_FULL, "-3.84142845678", "11 decimals where each of the 100 lines before has at least"),
        (_FIXED, "3.841420", ""),  # whole
        (_FULL, "-3.841428456789", ""),  # one less than the shortest: a writer left out a 0
        (_FULL, "12345678.12345678", ""),  # as many digits in all
        (_FULL, "-3.84142\n", ""),  # it has its end
        (_FIXED[1:], "3.84142", ""),  # too few lines to tell
        ([*_FIXED[1:], "2"], "3", ""),
    ],
)
def test_a_last_number_that_is_cut(
    write: Write, recwarn: pytest.WarningsRecorder, before: list[str], last: str, said: str
) -> None:
    path, n = write("p.txt", "\n".join([*before, last])), len(before) + 1
    readers.read_run(path, dataset=_rows(n))
    found = [one.message for one in recwarn if getattr(one.message, "rule", "") == "cut-line"]
    assert len(found) == bool(said)
    for one in found:
        assert isinstance(one, HarnessWarning)
        assert f"{one}".startswith("p.txt: the last line may be cut: it has no line end, and ")
        assert said in f"{one}"
        assert (one.line, one.examples) == (n, (last,))


@pytest.mark.parametrize("block", [1, 3, 4, 5, 6, 9])
def test_blank_lines_across_blocks(
    write: Write, dataset: Qrels, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(Source.blocks, "__defaults__", (block,))
    with pytest.raises(InputError) as error:
        readers.read_run(write("p.txt", "3\n1\n\n\n0.5\n1\n1\n"), dataset=dataset)
    assert [problem.where for problem in error.value.problems] == ["p.txt:3", "p.txt:4"]
    run = readers.read_run(write("p.txt", "3\n1\n2\n0.5\n1.5\n\n \n"), dataset=dataset)
    assert run.n_rows == 5


def test_an_index_beside_the_scores(write: Write, dataset: Qrels) -> None:
    with pytest.raises(InputError) as error:
        readers.read_run(write("p.csv", ",0\n0,3.0\n"), dataset=dataset, format="scores")
    assert str(error.value).startswith(
        "p.csv:1: 2 columns where one number a line belongs\n  found: ,0\n"
        "p.csv:2: 2 columns where one number a line belongs\n  found: 0,3.0\n"
        "  fix:   write it without the index, as series.to_csv(path, index=False, header=False) "
    )


def test_a_dataset_is_needed(write: Write) -> None:
    with pytest.raises(InputError) as error:
        readers.read_run(write("p.txt", "1\n2\n"))
    assert str(error.value) == (
        "p.txt: a file of scores alone means nothing without the dataset whose rows it follows\n"
        "  fix:   name the dataset too"
    )


def test_grades_in_place_of_scores(write: Write, dataset: Qrels) -> None:
    with pytest.warns(HarnessWarning) as caught:
        readers.read_run(write("p.txt", "2\n0\n1\n0\n1\n"), dataset=dataset)
    assert [str(w.message) for w in caught] == [
        "p.txt: the scores equal the grades of the dataset, row by row; is it the column of "
        "grades that was saved?"
    ]


def test_constant_scores(write: Write, dataset: Qrels) -> None:
    with pytest.warns(HarnessWarning) as caught:
        readers.read_run(write("p.txt", "1\n1\n1\n0\n0\n"), dataset=dataset)
    assert [str(w.message) for w in caught] == [
        "p.txt: all scores are equal in 2 of 2 queries; there the policy for ties decides the order"
    ]
    readers.read_run(write("p.txt", "1\n1\n1\n0\n1\n"), dataset=dataset)  # one of two: no warning


def test_constant_scores_in_a_stream_are_told_once(write: Write) -> None:
    text = "".join(f"q{i // 2} Q0 d{i} 1 1 t\n" for i in range(40))
    with pytest.warns(HarnessWarning, match="equal in 20 of 20 queries") as caught:
        list(readers.stream_run(write("a.run", text)))
    assert len(caught) == 1


# RankLib: rows are named, so that the order of the lines does not matter.
def test_ranklib(write: Write, dataset: Qrels) -> None:
    text = "q1\t0\t3.0\nq1\t1\t1.0\nq1\t2\t2.0\nq2\t0\t0.5\nq2\t1\t1.5\n"
    assert readers.read_run(write("s.txt", text), dataset=dataset).scores.tolist() == [
        3, 1, 2, 0.5, 1.5
    ]  # fmt: skip
    text = "q2\t1\t1.5\nq1\t2\t2.0\nq1\t0\t3.0\nq1\t1\t1.0\nq2\t0\t0.5\n"
    run = readers.read_run(write("s.txt", text), dataset=dataset, format="ranklib")
    assert run.scores.tolist() == [3, 1, 2, 0.5, 1.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "q1\t0\t3\nq1\t1\t1\nq2\t0\t0.5\nq2\t1\t1.5\n",
            "s.txt: 4 predictions for 5 rows; query 'q1' has 3 rows and 2 predictions\n"
            "  fix:   predict every row of the dataset once",
        ),
        (
            "q1\t0\t3\nq1\t1\t1\nq1\t2\t1\nq7\t0\t0.5\nq7\t1\t1.5\n",
            "s.txt: 5 predictions for 5 rows; query 'q7' is not in the dataset; "
            "query 'q2' has 2 rows and 0 predictions\n",
        ),
        (
            "q1\t0\t3\nq1\t1\t1\nq1\t1\t1\nq2\t0\t0.5\nq2\t1\t1.5\n",
            "s.txt:3: the row is beyond its query's rows, or given twice\n"
            "  found: q1\\t1\\t1\n"
            "  fix:   count rows from 0 in each query",
        ),
        ("q1\t0\t3\nq1\t1\t1\nq1\t3\t1\nq2\t0\t0.5\nq2\t1\t1.5\n", "s.txt:3: the row is beyond"),
        ("q1\t0\t3\nq1\tx\t1\nq1\t3\t1\nq2\t0\t0.5\nq2\t1\t1.5\n", "s.txt: a row is not a whole"),
        (
            "q1\t0\t3\nq1\t1\tinf\n",
            "s.txt:2: score 'inf' is not a finite number\n"
            "  found: q1\\t1\\tinf\n"
            "  fix:   repair the system's output; every row of the dataset needs its score",
        ),
    ],
)
def test_ranklib_refused(write: Write, dataset: Qrels, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        readers.read_run(write("s.txt", text), dataset=dataset, format="ranklib")
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32"])
@pytest.mark.parametrize("shape", [(5,), (5, 1)])
def test_npy(write: Write, dataset: Qrels, dtype: str, shape: tuple[int, ...]) -> None:
    write("x", "")
    np.save("p.npy", np.array([3, 1, 2, 0, 1], dtype=dtype).reshape(shape))
    assert readers.read_run("p.npy", dataset=dataset).scores.tolist() == [3, 1, 2, 0, 1]


def test_packed_npy(write: Write, dataset: Qrels) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(5.0))
    packed = write("p.npy.gz", gzip.compress(buffer.getvalue()))
    assert readers.read_run(packed, dataset=dataset).scores.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(InputError, match=r"^p\.npy: not an array of numbers \("):
        readers.read_run(write("p.npy", buffer.getvalue()[:-9]), dataset=dataset)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (
            np.zeros((5, 2)),
            "p.npy: an array of shape (5, 2) and type float64\n"
            "  fix:   save one number for each row: shape (n,)",
        ),
        (np.array(["a"] * 5), "p.npy: an array of shape (5,) and type <U1\n"),
        (np.zeros(4), "p.npy: 4 predictions for 5 rows of test.txt; they end in query 'q2'\n"),
        (
            np.array([1, np.nan, 2, np.inf, 0]),
            "p.npy: row 2: score 'nan' is not a finite number\n"
            "p.npy: row 4: score 'inf' is not a finite number\n"
            "  fix:   repair the system's output",
        ),
        (
            np.array([{}, 1, 2, 3, 4], dtype=object),
            "p.npy: holds Python objects\n"
            "  fix:   save plain numbers: np.save(path, scores.astype(float))",
        ),
    ],
)
def test_npy_refused(write: Write, dataset: Qrels, array: np.ndarray, message: str) -> None:  # type: ignore[type-arg]
    write("x", "")
    np.save("p.npy", array)
    with pytest.raises(InputError) as error:
        readers.read_run("p.npy", dataset=dataset)
    assert str(error.value).startswith(message)


def test_no_npy_at_all(write: Write, dataset: Qrels) -> None:
    with pytest.raises(InputError) as error:
        readers.read_run(write("p.npy", "1\n2\n"), dataset=dataset, format="npy")
    assert str(error.value) == (
        "p.npy: not an array of numbers (no file of numpy's)\n"
        "  fix:   save plain numbers: np.save(path, scores.astype(float))"
    )


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("format", [None, "npy"])
def test_a_pickle_under_the_name_of_an_array(
    tmp_path: Path, protocol: int, format: str | None
) -> None:
    path = tmp_path / "p.npy"
    path.write_bytes(pickle.dumps([0.5, 0.25], protocol))
    with pytest.raises(InputError) as error:
        readers.read_run(path, format=format, dataset=Qrels.from_dict({"q": {"a": 1, "b": 0}}))
    assert str(error.value) == (
        f"{path}: no .npy file, but a pickle, which is never loaded, as it can run code\n"
        "  fix:   save plain numbers: np.save(path, scores.astype(float))"
    )
    path = path.rename(tmp_path / "p.pred")
    with pytest.raises(InputError, match=r"p.pred: a pickle, which is never loaded"):
        readers.read_run(path)
