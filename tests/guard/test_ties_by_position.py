"""The tie finding counts the pairs whose order follows from d0, d1, ... of rows without docnos."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.guard.check import check_config


@pytest.mark.parametrize(
    ("docid", "ties", "counted"),
    [
        ("", "trec_eval", True), ("", "docno+", True), ("", "stable", False),
        (" #docid = GX{}", "trec_eval", False),
    ],
)  # fmt: skip
def test_pairs_without_docnos(tmp_path: Path, docid: str, ties: str, counted: bool) -> None:
    judged, run = tmp_path / "mq.txt", tmp_path / "p.txt"
    rows = [f"{at % 3} qid:{at // 10} 1:0.{at}{docid.format(at)}\n" for at in range(100)]
    judged.write_text("".join(rows))
    run.write_text("".join(f"{at % 5 + at // 10}\n" for at in range(100)))
    config = tmp_path / "c.yaml"
    config.write_text("datasets: {mq: mq.txt}\nruns: {lm: p.txt}\nmetrics: map\n")
    found = check_config(config, [f"policy.ties={ties}"]).findings
    (text,) = [one.what for one in found if one.rule == "score-ties"]
    assert ("50 pairs are ordered by d0, d1" in text) == counted
