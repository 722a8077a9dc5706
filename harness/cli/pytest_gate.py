"""The pytest fixture ``harness_gate``, which pytest loads by its entry point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def harness_gate() -> Callable[..., Any]:
    """Return a function that fails the test if ``harness gate`` would fail.

    It takes the arguments of the command, and its options as keywords:
    ``harness_gate("main.run", "new.run", qrels="qrels.txt", metric="ndcg@10", margin=0.005)``. It
    returns the verdicts.
    """
    from ..reports.gate import render
    from .gate import judged

    def gate(*inputs: Any, **options: Any) -> Any:
        words = [str(one) for one in inputs]
        for name, given in options.items():
            for one in given if isinstance(given, (list, tuple)) else [given]:
                words += [f"--{name.replace('_', '-')}", *([] if one is True else [str(one)])]
        verdicts, passes = judged(words)
        if not passes:
            pytest.fail(render(verdicts, "text"), pytrace=False)
        return verdicts

    return gate
