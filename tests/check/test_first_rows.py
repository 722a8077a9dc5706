"""Rules about all of a file name the first rows or queries, with the line, as they are there."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.cli.main import main
from harness.errors import Finding
from harness.guard.check import check_config, check_files

GBRT = "gbrt/fold1.txt"
Array = np.ndarray[Any, Any]


def finding(letor: Any, rule: str, file: str = GBRT) -> Finding:
    found = check_config(letor.folder / "c.yaml").findings
    (one,) = [one for one in found if one.rule == rule and file in one.place]
    return one


def heads(rows: list[str]) -> list[tuple[str, int]]:
    """The qid and the grade of each row."""
    return [(row.split()[1].removeprefix("qid:"), int(row.split()[0])) for row in rows]


def ranks(lines: list[str]) -> Array:
    found: Array = np.unique([float(line) for line in lines], return_inverse=True)[1]
    return found


def correlations(rows: list[str], scores: Array, grades: Array | None = None) -> dict[str, float]:
    """Pearson's r in each query where both differ, by numpy; of other grades, if given."""
    qids = np.array([qid for qid, _ in heads(rows)])
    held = np.array([grade for _, grade in heads(rows)]) if grades is None else grades
    found = {}
    for qid in dict.fromkeys(qids.tolist()):
        inside = qids == qid
        if np.ptp(held[inside]) and np.ptp(scores[inside]):
            found[qid] = float(np.corrcoef(held[inside], scores[inside])[0, 1])
    return found


def test_shifted_names_rows_and_their_predictions(letor: Any) -> None:
    lines, rows = letor.lines(GBRT), letor.lines("fold1.txt")
    letor.put(GBRT, ["# made here\n", "0.5\n", *lines[:-1]])  # a comment is no prediction
    one = finding(letor, "shifted")
    line = int(one.place.rpartition(":")[2])
    for at, example in enumerate(one.examples):
        of, row, qid, grade = re.fullmatch(  # type: ignore[union-attr]
            r"prediction (\d+) -> row (\d+) \(query (\d+), grade (\d)\)", example
        ).groups()
        assert int(of) == int(row) + 1 == line - 1 + at
        assert (qid, int(grade)) == heads(rows)[int(row) - 1]
        held = letor.lines(GBRT)[line - 1 + at]
        assert held == lines[int(row) - 1]  # what the model gave that row
    assert one.at_least
    assert one.head.count(f"(+at least {one.count - 3:,} more)") == 1


def test_shifted_in_an_array_names_the_row(letor: Any, tmp_path: Path) -> None:
    scores = np.array([float(line) for line in letor.lines(GBRT)])
    np.save(tmp_path / "p.npy", np.append(scores[1:], 0.5))
    found = check_files(
        str(letor.folder / "fold1.txt"), [str(tmp_path / "p.npy")], of_qrels={}, of_runs={}
    ).findings
    (one,) = [one for one in found if one.rule == "shifted"]
    row = int(one.place.rpartition(": row ")[2])
    assert one.examples[0].startswith(f"prediction {row} -> row {row + 1} (query ")


def test_unrelated_names_the_first_queries(letor: Any) -> None:
    lines, rows = letor.lines(GBRT), letor.lines("fold1.txt")
    letor.put(GBRT, [lines[at] for at in np.random.default_rng(1).permutation(len(lines))])
    one = finding(letor, "unrelated")
    by_hand = correlations(rows, ranks(letor.lines(GBRT)))
    expected = [f"{qid} ({r:.2f})" for qid, r in by_hand.items()]
    assert [*one.examples] == expected[:3]
    falling = sum(r < 0 for r in by_hand.values())
    assert f" within queries, below 0 in {falling} of {len(by_hand)}; those " in one.what
    assert one.count == len(by_hand)
    first = [qid for qid, _ in heads(rows)].index(next(iter(by_hand))) + 1
    assert one.place.endswith(f"{GBRT}:{first}")


def test_swapped_fold_names_queries_of_the_other(letor: Any) -> None:
    for fold in ("1", "2"):
        for name in (f"fold{fold}.txt", f"gbrt/fold{fold}.txt", f"neural/fold{fold}.txt"):
            letor.put(name, letor.lines(name)[:1000])
    letor.put(GBRT, letor.lines("gbrt/fold2.txt"))
    one = finding(letor, "swapped-fold")
    rows, scores = letor.lines("fold2.txt"), ranks(letor.lines(GBRT))
    there = correlations(rows, scores)
    own = np.array([grade for _, grade in heads(letor.lines("fold1.txt"))])
    here = correlations(rows, scores, own)
    better = [qid for qid in there if there[qid] > here.get(qid, 0)]
    assert one.count == len(better)
    assert f"as many; so in {len(better)} of {len(there)} queries of the other" in one.what
    expected = [f"query {q} ({there[q]:.2f}, and {here.get(q, 0):.2f})" for q in better[:3]]
    assert [*one.examples] == expected
    line = int(one.place.rpartition(":")[2])
    assert rows[line - 1].split()[1] == f"qid:{better[0]}"
    assert rows[line - 2].split()[1] != f"qid:{better[0]}" or line == 1


def test_too_few_name_the_first_rows_without_a_prediction(letor: Any) -> None:
    rows = letor.lines("fold1.txt")
    letor.put("fold1.txt", ["# made here\n", *rows])
    letor.put(GBRT, letor.lines(GBRT)[:-4])
    one = finding(letor, "row-count")
    assert "they fit if 4 rows that follow each other from one of rows " in one.what
    assert (one.count, len(one.examples)) == (4, 3)
    n = len(rows) - 3  # the first of the last four, which is a line further on
    qid = heads(rows)[n - 1][0]
    assert one.examples[0] == f"row {n:,}, query {qid} (fold1.txt:{n + 1})"


def test_too_many_of_no_model_name_the_first_without_a_row(letor: Any, root: Path) -> None:
    text = (root / "runs/letor/random/fold1-seed1.txt").read_text()
    letor.put(GBRT, ["# made here\n", *text.splitlines(True), "0.25\n", "0.75\n"])
    one = finding(letor, "row-count")
    assert one.what.endswith("1,210 predictions for 1,208 rows of letor-fold1; in their order "
                             "without a row")  # fmt: skip
    assert one.examples == ("prediction 1,209: 0.25", "prediction 1,210: 0.75")
    assert one.place.endswith(f"{GBRT}:1210")  # the comment is a line


CONFIG = """\
datasets: {"d{fold}": {format: FORMAT, path: "{fold}.data"}}
runs: {m: {format: RUN, path: "{fold}.run"}}
metrics: [map]
"""


def sweep(folder: Path, form: str, scores: list[list[float]]) -> list[Finding]:
    """Five documents for each of 20 queries of each fold, with these scores."""
    random = np.random.default_rng(3)
    for fold, some in enumerate(scores, 1):
        names = [(f"q{fold}-{at // 5}", f"d{at % 5}") for at in range(len(some))]
        grades = random.integers(0, 2, len(some)).tolist()
        if form == "letor":
            rows = [f"{g} qid:{q} 1:{random.random():.9f}\n" for (q, _), g in zip(names, grades, strict=True)]  # fmt: skip # noqa: E501
            lines = [f"{score}\n" for score in some]
        else:
            rows = [f"{q} 0 {d} {g}\n" for (q, d), g in zip(names, grades, strict=True)]
            lines = [f"{q} Q0 {d} 1 {s} t\n" for (q, d), s in zip(names, some, strict=True)]
        (folder / f"{fold}.data").write_text("".join(rows))
        (folder / f"{fold}.run").write_text("".join(lines))
    text = CONFIG.replace("FORMAT", form).replace("RUN", "scores" if form == "letor" else "trec")
    (folder / "c.yaml").write_text(text)
    return [one for one in check_config(folder / "c.yaml").findings if one.rule == "score-range"]


def test_json_and_the_manifest_have_them(letor: Any, capsys: Any) -> None:
    letor.put(GBRT, ["0.5\n", *letor.lines(GBRT)[:-1]])
    config = str(letor.folder / "c.yaml")
    with pytest.raises(SystemExit):
        main(["check", config, "--format", "json"])
    said = json.loads(capsys.readouterr().out)["findings"]
    with pytest.raises(SystemExit):
        main(["run", config, "--set", f"output={letor.folder / 'out'}"])
    kept = json.loads((letor.folder / "out/manifest.json").read_text())["findings"]
    for found in (said, kept):
        (one,) = [one for one in found if one["rule"] == "shifted"]
        assert one["place"].endswith(f"{GBRT}:32")
        assert len(one["examples"]) == 3
        assert one["at_least"]


def test_real_models_that_are_shuffled(shared: Path, tmp_path: Path) -> None:
    """Of MQ2008's 156 queries, 52 have one grade alone: no correlation."""
    folder = shared / "data/ltr"
    data = folder / "mq2008_fold1/test.txt"
    rows = data.read_text().splitlines()
    lines = (folder / "predictions_made_here/mq2008_fold1/lgb_lambdarank.pred").read_text()
    order = np.random.default_rng(1).permutation(len(rows))
    mixed = [lines.splitlines()[at] for at in order.tolist()]
    (tmp_path / "p.txt").write_text("".join(f"{line}\n" for line in mixed))
    found = check_files(str(data), [str(tmp_path / "p.txt")], of_qrels={}, of_runs={}).findings
    (one,) = [one for one in found if one.rule == "unrelated"]
    by_hand = correlations(rows, ranks(mixed))
    assert [*one.examples] == [f"{qid} ({r:.2f})" for qid, r in by_hand.items()][:3]
    several = Counter(qid for qid, _ in {*heads(rows)})
    assert one.count == len(by_hand) == sum(n > 1 for n in several.values())
