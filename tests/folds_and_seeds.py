"""Two models on two folds with two seeds each, small enough to work out by hand."""

from pathlib import Path

DATA = {
    # fold: rows of grade and qid
    1: "2 qid:1 1:0\n0 qid:1 1:0\n1 qid:2 1:0\n0 qid:2 1:0\n0 qid:2 1:0\n",
    2: "1 qid:3 1:0\n0 qid:3 1:0\n",
}
SCORES = {
    # model, fold, seed
    ("a", 1, 1): [2, 1, 3, 2, 1],  # AP 1, 1
    ("a", 2, 1): [1, 2],  # AP 1/2
    ("a", 1, 2): [1, 2, 1, 2, 3],  # AP 1/2, 1/3
    ("a", 2, 2): [2, 1],  # AP 1
    ("b", 1, 1): [1, 2, 1, 3, 2],  # 1/2, 1/3
    ("b", 2, 1): [1, 2],  # 1/2
    ("b", 1, 2): [1, 2, 1, 3, 2],
    ("b", 2, 2): [1, 2],
}
CELLS = """
name: x
output: out
datasets: {"web-fold{fold}": {format: letor, path: "fold{fold}.txt"}}
runs: {"{model}": {format: scores, path: "{model}-{fold}-{seed}.txt"}}
"""
"""The beginning of a config for them."""


def put(folder: Path, more: str) -> Path:
    """Write the judgements, the predictions and a config with more lines into a folder."""
    for fold, rows in DATA.items():
        (folder / f"fold{fold}.txt").write_text(rows, encoding="utf-8")
    for (model, fold, seed), scores in SCORES.items():
        text = "".join(f"{score}\n" for score in scores)
        (folder / f"{model}-{fold}-{seed}.txt").write_text(text, encoding="utf-8")
    (folder / "x.yaml").write_text(CELLS + more, encoding="utf-8")
    return folder / "x.yaml"
