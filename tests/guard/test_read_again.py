"""A run whose queries are scattered is read again, whole, and its facts begin anew."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

QUERIES, DEPTH, STRETCH = 60, 1000, 50


def counts(folder: Path, name: str) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-m", "harness", "check", "--format", "json", "qrels.txt", name],
        cwd=folder, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return {one["rule"]: one["count"] for one in found}


@pytest.mark.parametrize("order", ["stretches", "shuffled"])
def test_what_is_counted_is_that_of_the_sorted_run(tmp_path: Path, order: str) -> None:
    """In 2 MB, which are two blocks: the first query comes back while they stream."""
    random = np.random.default_rng(1)
    scores = np.sort(random.random((QUERIES, DEPTH)).round(2))[:, ::-1]
    rows = [
        (at // STRETCH, f"q{query} Q0 doc-{query}-{at:05d} {at + 1} {score} a-system\n")
        for query, row in enumerate(scores.tolist())
        for at, score in enumerate(row)
    ]
    lines = [line for _, line in rows]
    (tmp_path / "sorted.run").write_text("".join(lines), encoding="utf-8")
    if order == "shuffled":
        random.shuffle(lines)
    else:  # each query's first fifty, then each one's next
        lines = [line for _, line in sorted(rows, key=lambda row: row[0])]
    (tmp_path / "scattered.run").write_text("".join(lines), encoding="utf-8")
    assert (tmp_path / "scattered.run").stat().st_size > 2 << 20
    judged = [
        f"q{query} 0 doc-{query}-{at:05d} {at % 3}\n"
        for query in range(QUERIES)
        for at in range(0, DEPTH, 20)
    ]
    (tmp_path / "qrels.txt").write_text("".join(judged), encoding="utf-8")

    before, after = counts(tmp_path, "sorted.run"), counts(tmp_path, "scattered.run")
    assert after.pop("scattered-queries") == QUERIES
    after.pop("ranks-against-scores", None)  # equal scores' ranks, in another order
    known = "unknown-docnos"  # of a sample
    assert before.pop(known) > 0
    assert after.pop(known) > 0
    assert {"unjudged-at-10", "score-ties"} <= {*before}
    assert after == before
