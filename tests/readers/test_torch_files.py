"""Files of torch.save, and files that are something else than their reader expects."""

import io
import sys
from collections.abc import Callable
from typing import Any

import pytest
from outcomes import warned
from refusals import refuses

from harness import readers
from harness.core.qrels_and_runs import Qrels

Write = Callable[..., str]
torch = pytest.importorskip("torch")
SCORES = [3.0, 1.0, 2.0, 0.5, 1.5]
T = torch.tensor(SCORES)
GRADES = torch.tensor([2, 0, 1, 0, 1])
QIDS = ["q1", "q1", "q1", "q2", "q2"]
DOCNOS = ["d0", "d1", "d2", "d0", "d1"]
PADDED = torch.tensor([[3.0, 1.0, 2.0], [0.5, 1.5, 9.0]])


def saved(content: Any, **how: Any) -> bytes:
    sink = io.BytesIO()
    torch.save(content, sink, **how)
    return sink.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        T, T[:, None], T.half(), T.to(torch.bfloat16), T.double().requires_grad_(),
        {"scores": T}, {"y_pred": T[:, None]}, {"my_model": T}, {"label": GRADES, "pred": T},
        {"labels": GRADES, "scores": T},
        {"qid": QIDS, "docno": DOCNOS, "score": T}, {"qid": QIDS, "score": T},
        [T[:2], T[2:]], {"epoch": 3, "scores": T}, {"q2": T[3:], "q1": T[:3]},
        {"scores": PADDED, "n": torch.tensor([3, 2]), "qids": ["q1", "q2"]},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("zipped", [True, False])
def test_scores(write: Write, dataset: Qrels, content: Any, zipped: bool) -> None:
    path = write("p.pt", saved(content, _use_new_zipfile_serialization=zipped))
    run, _ = warned(readers.read_run, path, dataset=dataset)
    assert run.scores.tolist() == SCORES


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ({"a": T, "b": T}, "columns"), ({"a": T, "b": T[:2]}, ""), ({}, ""), (PADDED, ""),
        ({"epoch": 3}, ""), (T[:4], "row-count"), (torch.nn.Linear(2, 1), ""),
    ],
)  # fmt: skip
def test_what_is_no_run(write: Write, dataset: Qrels, content: Any, rule: str) -> None:
    path = write("p.pt", saved(content))
    with refuses("p.pt", rule):
        readers.read_run(path, dataset=dataset)


@pytest.mark.parametrize("zipped", [True, False])
def test_without_torch(
    write: Write, dataset: Qrels, monkeypatch: pytest.MonkeyPatch, zipped: bool
) -> None:
    path = write("p.pt", saved(T, _use_new_zipfile_serialization=zipped))
    monkeypatch.setitem(sys.modules, "torch", None)
    with refuses("p.pt") as caught:
        readers.read_run(path, dataset=dataset)
    assert "torch.save" in str(caught.value)
