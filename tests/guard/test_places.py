"""Places of examples: lines of predictions, rows of arrays and tables."""

from __future__ import annotations

from pathlib import Path

from harness.errors import Finding
from harness.guard.check import check_files


def found(qrels: Path, run: Path) -> dict[str, Finding]:
    """What is found, by rule."""
    checked = check_files(str(qrels), [str(run)], of_qrels={}, of_runs={})
    return {one.rule: one for one in checked.findings}


def test_lines_of_predictions_for_documents_with_names(tmp_path: Path) -> None:
    """A file of scores has a line for each row, and neither its query nor its document."""
    judged, run = tmp_path / "test", tmp_path / "p"
    rows = [f"{at % 3} qid:{at // 10} 1:{at} #docid = GX{at}\n" for at in range(100)]
    judged.write_text("# made by\n" + "".join(rows))
    scores = [f"{at * 7 % 10}\n" for at in range(60)] + ["5\n"] * 9 + ["4\n"] + ["1.5\n"] * 30
    run.write_text("".join(scores))
    findings = found(judged, run)
    assert findings["constant-scores"].place == f"{run}:71"
    assert findings["constant-scores"].examples == ("7", "8", "9")
    # of query 6, most of whose scores are 5: the pair of ranks 1 and 2
    assert findings["score-ties"].place == f"{run}:61"
    assert findings["score-ties"].examples[0] == "query 6, documents GX60 and GX61: 5.0"
