"""What rules advise can be done: their pieces of config load, and do what is said of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest
import yaml

from harness.config.model import Config, Policy
from harness.guard.registry import RULES

SNIPPET = re.compile(r"'([a-z_]+: [^']+)'")
OF_RUNS = {"duplicates"}
"""Keys that belong to a run, and not to the config as a whole."""
BASE: dict[str, Any] = {
    "name": "x",
    "datasets": {"d": {"path": "qrels"}},
    "runs": {"r": {"path": "run"}},
    "metrics": ["map"],
}


def texts(rule: str) -> str:
    one = RULES[rule]
    return " ".join([one.about, one.effect, one.fix])


def snippets() -> Iterator[tuple[str, str]]:
    for rule in RULES:
        for found in SNIPPET.findall(texts(rule)):
            yield rule, found.replace("...", "[fold]")


def config_of(snippet: str) -> Config:
    given = yaml.safe_load(snippet)
    if given.keys() & OF_RUNS:
        return Config.model_validate({**BASE, "runs": {"r": {"path": "run", **given}}})
    return Config.model_validate({**BASE, **given})


@pytest.mark.parametrize(("rule", "snippet"), [*snippets()])
def test_snippets_of_config_load(rule: str, snippet: str) -> None:
    assert config_of(snippet).datasets, rule


def test_there_are_snippets() -> None:
    assert {"single-precision", "overflow", "score-ties", "duplicates"} <= {
        one for one, _ in snippets()
    }


def test_keys_of_the_policy_exist() -> None:
    for rule in RULES:
        for key in re.findall(r"policy\.([a-z_]+)", texts(rule)):
            assert key in {one.name for one in fields(Policy)}, rule


@pytest.mark.parametrize("rule", ["single-precision", "overflow"])
def test_what_double_precision_is_called(rule: str) -> None:
    (ties,) = re.findall(r"'(policy: .*?)'", RULES[rule].fix)
    assert config_of(ties).to_policy().score_type == "float64"


@pytest.mark.parametrize("wrong", ["policy: {scores: float64}", "guard: {accept: [no-rule]}"])
def test_a_key_that_does_not_exist_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"scores|no-rule"):
        config_of(wrong)
