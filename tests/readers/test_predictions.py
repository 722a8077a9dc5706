"""Scores that follow the rows of a dataset: one a line, RankLib's, .npy, in parts."""

from collections.abc import Callable

import numpy as np
import pytest
from outcomes import refused, warned

import harness.metrics  # noqa: F401 - fills the registry
from harness import readers
from harness.core.qrels_and_runs import Qrels

Write = Callable[..., str]


@pytest.mark.parametrize(
    "text",
    ["3\n1\n2\n0.5\n1.5\n", "3\r\n1\r\n2\r\n.5\r\n1.5\r\n", " 3\n1 \n2\n5e-1\n+1.5\n\n \n",
     "# by x\n3\n1\n2\n0.5\n1.5"],
)  # fmt: skip
def test_one_score_a_line(write: Write, dataset: Qrels, text: str) -> None:
    run = readers.read_run(write("p.txt", text), dataset=dataset)
    assert run.scores.tolist() == [3, 1, 2, 0.5, 1.5]
    assert run.docnos is dataset.docnos
    assert refused(readers.read_run, "p.txt") == [("p.txt", "")]  # without a dataset


@pytest.mark.parametrize(
    "text",
    [
        "q1\t0\t3.0\nq1\t1\t1.0\nq1\t2\t2.0\nq2\t0\t0.5\nq2\t1\t1.5\n",
        "q2\t1\t1.5\nq1\t2\t2.0\nq1\t0\t3.0\nq1\t1\t1.0\nq2\t0\t0.5\n",
    ],
)
def test_ranklib(write: Write, dataset: Qrels, text: str) -> None:
    run = readers.read_run(write("s.txt", text), dataset=dataset, format="ranklib")
    assert run.scores.tolist() == [3, 1, 2, 0.5, 1.5]
    for wrong in (text.replace("q2\t1\t1.5\n", ""), text.replace("q2", "q7")):
        found = refused(readers.read_run, write("s.txt", wrong), dataset=dataset, format="ranklib")
        assert found == [("s.txt", "row-count")]


@pytest.mark.usefixtures("write")
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32", ">i8", ">f4"])
@pytest.mark.parametrize("shape", [(5,), (5, 1)])
def test_npy(dataset: Qrels, dtype: str, shape: tuple[int, ...]) -> None:
    np.save("p.npy", np.array([3, 1, 2, 0, 1], dtype=dtype).reshape(shape))
    assert readers.read_run("p.npy", dataset=dataset).scores.tolist() == [3, 1, 2, 0, 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2\n0\n1\n0\n1\n", [("labels-as-scores", 1, 0)]),
        ("1\n1\n1\n0\n0\n", [("constant-scores", 2, 0)]),
        ("1\n1\n1\n0\n1\n", []),
    ],
)
def test_warnings(write: Write, dataset: Qrels, text: str, expected: object) -> None:
    path = write("p.txt", text)
    assert warned(readers.read_run, path, dataset=dataset)[1] == expected
    assert warned(lambda path: list(readers.align_run(dataset, path)), path)[1] == expected
