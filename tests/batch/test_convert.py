"""Padded batches to tables and dicts and back, in every form an array can have."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from refusals import refuses

from harness import from_pytrec_eval, to_pytrec_eval
from harness.core.ragged import Array
from harness.errors import InputError
from harness.readers.batches import from_batch

SCORES = [[1.0, 0.0, 1.5], [1.5, 0.25, 0.5]]
GRADES = [[0, 1, 0], [0, 2, 1]]
N = [3, 2]
QREL = {"q0": {"d0": 0, "d1": 1, "d2": 0}, "q1": {"d0": 0, "d1": 2}}
RUN = {"q0": {"d0": 1.0, "d1": 0.0, "d2": 1.5}, "q1": {"d0": 1.5, "d1": 0.25}}


def literal(
    scores: Any, relevance: Any, n: Any, qids: Any, offset: int, q: str, d: str
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    qrel: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for row in range(len(n)):
        qid = f"{q}{row + offset if qids is None else int(qids[row])}"
        qrel[qid] = {f"{d}{place}": int(relevance[row][place]) for place in range(int(n[row]))}
        run[qid] = {f"{d}{place}": float(scores[row][place]) for place in range(int(n[row]))}
    return qrel, run


@st.composite
def batches(draw: st.DrawFn) -> tuple[Array, Array, Array, Any]:
    shape = draw(st.tuples(st.integers(0, 5), st.integers(0, 6)))
    dtype = draw(st.sampled_from([np.float16, np.float32, np.float64]))
    width = np.dtype(dtype).itemsize * 8
    finite = st.floats(allow_nan=False, allow_infinity=False, width=width)
    scores = draw(arrays_of.arrays(dtype, shape, elements=finite))
    grades = draw(arrays_of.arrays(np.int64, shape, elements=st.integers(-1, 5)))
    n = draw(arrays_of.arrays(np.int64, shape[0], elements=st.integers(0, shape[1])))
    qids = draw(
        st.none()
        | st.lists(st.integers(-5, 2**40), min_size=shape[0], max_size=shape[0], unique=True)
    )
    return scores, grades, n, qids


@given(batches(), st.integers(0, 99), st.sampled_from(["q", "", "topic-"]), st.sampled_from("dx"))
@pytest.mark.filterwarnings("ignore:relevance")  # grades below 0
def test_dicts_equal_the_literal_definition(
    batch: tuple[Array, Array, Array, Any], offset: int, q: str, d: str
) -> None:
    scores, grades, n, qids = batch
    expected = literal(scores, grades, n, qids, offset, q, d)
    found = to_pytrec_eval(scores, grades, n, qids, offset, q, d)
    assert found == expected
    assert [list(table) for table in found] == [list(table) for table in expected]
    for table, kind in zip(found, (int, float), strict=True):
        assert {type(number) for row in table.values() for number in row.values()} <= {kind}
    tensors = [torch.from_numpy(array) for array in (scores, grades, n)]
    given_qids = None if qids is None else torch.tensor(qids, dtype=torch.int64)
    assert to_pytrec_eval(*tensors, given_qids, offset, q, d) == expected


@given(batches())
@pytest.mark.filterwarnings("ignore:relevance")  # grades below 0
def test_from_dicts_is_the_inverse(batch: tuple[Array, Array, Array, Any]) -> None:
    qrel, run = to_pytrec_eval(*batch)
    scores, relevance, n, qids = from_pytrec_eval(qrel, run)
    assert to_pytrec_eval(scores, relevance, n, qids, q_prefix="") == (qrel, run)
    for row, (given_row, length) in enumerate(zip(batch[0], batch[2], strict=True)):
        assert scores[row, :length].tolist() == given_row[:length].astype(float).tolist()
        assert relevance[row, :length].tolist() == batch[1][row, :length].tolist()
        assert not scores[row, length:].any()
        assert not relevance[row, length:].any()
    assert n.tolist() == batch[2].tolist()
    assert qids == list(qrel)


def forms(values: Any) -> dict[str, Any]:
    array = np.array(values)
    tensor = torch.tensor(values)
    return {
        "lists": values,
        "tuples": tuple(map(tuple, values)),
        "(B, L, 1) lists": array[:, :, None].tolist(),
        **{f"numpy {kind}": array.astype(kind) for kind in ("f2", "f4", "f8", ">f4", "O")},
        "not contiguous": np.asfortranarray(array),
        "read-only": np.broadcast_to(array, array.shape),
        "(B, L, 1)": array[:, :, None],
        "tensor": tensor,
        "tensor (B, L, 1)": tensor[:, :, None],
        "requires grad": tensor.double().requires_grad_(),
        "half": tensor.half(),
        "bfloat16": tensor.bfloat16().requires_grad_(),
        "list of tensors": [row.double().requires_grad_() for row in tensor],
        "__array__": WithArray(array),
        "DLPack": WithDlpack(array),
    }


class WithArray:
    def __init__(self, array: Array) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.array


class WithDlpack:
    def __init__(self, array: Array) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("form", list(forms(SCORES)))
def test_every_form_of_array(form: str) -> None:
    found = to_pytrec_eval(forms(SCORES)[form], forms(GRADES)[form], N)
    assert found == (QREL, RUN)


@pytest.mark.parametrize(
    "n",
    [N, (3, 2), np.array(N, "u1"), np.array([3.0, 2.0]), torch.tensor(N), torch.tensor([3.0, 2])],
)
def test_every_form_of_n(n: Any) -> None:
    assert to_pytrec_eval(SCORES, GRADES, n) == (QREL, RUN)


@pytest.mark.parametrize("padding", [float("nan"), float("inf"), -1e9, None])
def test_padding_is_never_read(padding: Any) -> None:
    scores = np.array(SCORES, dtype=object)
    grades = np.array(GRADES, dtype=object)
    scores[1, 2] = grades[1, 2] = padding
    assert to_pytrec_eval(scores, grades, N) == (QREL, RUN)
    assert to_pytrec_eval(scores.tolist(), grades, N) == (QREL, RUN)
    if isinstance(padding, float):
        tensors = [torch.tensor(array.astype(np.float32)) for array in (scores, grades)]
        assert to_pytrec_eval(*tensors, N) == (QREL, RUN)


NAN = float("nan")


@pytest.mark.parametrize(
    ("batch", "place"),
    [
        (([1.0], GRADES, N), "scores"),
        (([[1.0], [1.0, 2.0]], GRADES, N), "scores"),
        (([["a", "b", "c"]] * 2, GRADES, N), "scores"),
        (([[1, 2, NAN], [3, NAN, NAN]], GRADES, N), "scores[0, 2]"),
        (([[1, 2, 3], [3, float("-inf"), NAN]], GRADES, N), "scores[1, 1]"),
        *(((bad, GRADES, N), "scores") for bad in (object(), 3, "scores", {"a": 1}, None)),
        ((SCORES, [[0], [1]], N), "relevance"),
        ((SCORES, [[0, 1e300, 0]] * 2, N), "relevance[0, 1]"),
        ((SCORES, [[0, NAN, 0]] * 2, N), "relevance[0, 1]"),
        ((SCORES, np.array([[0, 2**64 - 1, 0]] * 2, "u8"), N), "relevance[0, 1]"),
        ((SCORES, GRADES, [3]), "n"),
        ((SCORES, GRADES, [3, 4]), "n[1]"),
        ((SCORES, GRADES, [-1, 3]), "n[0]"),
        ((SCORES, GRADES, [1.5, 3]), "n[0]"),
        ((SCORES, GRADES, N, [1]), "qids"),
        ((SCORES, GRADES, N, np.zeros((2, 1))), "qids"),
        ((SCORES, GRADES, N, ["a", "a"]), "qids"),
        ((SCORES, GRADES, N, [1, 1.5]), "qids[1]"),
        ((SCORES, GRADES, N, [True, False]), "qids[0]"),
        ((SCORES, GRADES, N, [None, 1]), "qids[0]"),
    ],
)
def test_errors_say_which_argument(batch: tuple[Any, ...], place: str) -> None:
    with pytest.raises(InputError) as error:
        from_batch(*batch)
    assert [problem.where for problem in error.value.problems] == [place]


def test_fractions_are_no_grades_of_pytrec_eval() -> None:
    with refuses("query '1', document 'd1'", "grade-values"):
        to_pytrec_eval(SCORES, [[0, 1, 0], [0, 0.5, 0]], N)
    with refuses("qrel: query 'q', document 'd'", "grade-values"):
        from_pytrec_eval({"q": {"d": 1.5}}, {"q": {"d": 1.0}})
