"""The public names of Python: what they are called, what they show, and what they raise."""

from __future__ import annotations

import copy
import importlib
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import harness
from harness.errors import ArgumentError, HarnessError

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"a": 0, "b": 1}}
RUN = {"q1": {"d1": 0.2, "d2": 0.9}, "q2": {"a": 0.3, "b": 0.5}}
PUBLIC_MODULES = ["harness", "harness.batch", "harness.compat", "harness.compat.pytrec_eval"]


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_dir_of_a_module_shows_public_names_alone(name: str) -> None:
    module = importlib.import_module(name)
    assert dir(module) == sorted(module.__all__)
    assert [one for one in dir(module) if one.startswith("_")] in ([], ["__version__"])


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "policy": (lambda: harness.Policy(tie="stable"), "did you mean 'ties'"),  # type: ignore[call-arg]
    "mapping": (
        lambda: harness.evaluate(QRELS, RUN, ["map"], policy={"tie": "stable"}),
        "did you mean 'ties'",
    ),
    "range": (lambda: harness.Range(lo=3), "did you mean 'low'"),  # type: ignore[call-arg]
    "collector": (
        lambda: harness.BatchCollector(fraction=True),  # type: ignore[call-arg]
        "did you mean 'fractions'",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_misspelt_argument_is_an_error_of_the_harness(name: str) -> None:
    call, near = MISTAKES[name]
    with pytest.raises(ArgumentError, match=near):
        call()


def test_a_policy_is_still_copied_and_pickled() -> None:
    policy = harness.Policy(ties="stable")
    assert pickle.loads(pickle.dumps(policy)) == copy.deepcopy(policy) == policy


@pytest.mark.parametrize("name", ["rr@10", "MRR@10", "recip_rank@10"])
def test_a_metric_is_found_under_the_name_it_was_asked_by(name: str) -> None:
    found = harness.evaluate(QRELS, RUN, ["rr@10", "ndcg@5"])
    assert found.column(name).tolist() == [0.5, 1.0]
    assert found.summary()[name] == found.summary().get(name) == 0.75
    assert name in found.summary()
    assert "map" not in found.summary()
    assert found.n()[name] == 2
    assert found.to_dict()["q1"][name] == 0.5


def test_a_metric_that_is_not_held_is_named_with_the_nearest() -> None:
    summary = harness.evaluate(QRELS, RUN, ["ndcg@5"]).summary()
    with pytest.raises(HarnessError, match="did you mean 'ndcg@5'"):
        summary["ndgc@5"]
    with pytest.raises(KeyError):
        summary["map"]
