"""Two tree models and a linear one on two folds, with seeds and a grid of settings."""

import itertools
import random
from pathlib import Path

FOLDS, SEEDS, LRS, LEAVES = (1, 2), (1, 2), ("0.01", "0.1", "1"), ("7", "31")
MODELS = ("gbrt", "lambdamart")
SETTINGS = [*itertools.product(LRS, LEAVES)]
CONFIG = """
name: swept
output: out
datasets:
  "vali-fold{fold}": {format: letor, path: "data/Fold{fold}/vali.txt"}
  "test-fold{fold}": {format: letor, path: "data/Fold{fold}/test.txt"}
runs:
  "{model}": {format: scores, path: "scores/{model}/{dataset}/lr{lr}-leaves{leaves}-seed{seed}.txt"}
  linear: {format: scores, path: "scores/linear/{dataset}.txt"}
metrics: [map, ndcg@10]
crosscheck: none
select: {on: "vali-fold{fold}", by: ndcg@10, over: [lr, leaves], within: [model, fold, seed]}
"""
POOLED = CONFIG + "summary: {pool: [fold], spread: [seed]}\n"


def put(folder: Path) -> None:
    """Write features, grades and predictions; scores follow the grades with noise."""
    draw = random.Random(19)
    for split, fold in itertools.product(("vali", "test"), FOLDS):
        grades = [[draw.choice((0, 0, 0, 1, 2)) for _ in range(8)] for _ in range(12)]
        first = 1000 * fold + (500 if split == "test" else 0)
        rows = [
            f"{grade} qid:{first + query} 1:{draw.random():.4f} 2:{draw.random():.4f}\n"
            for query, some in enumerate(grades)
            for grade in some
        ]
        path = folder / f"data/Fold{fold}/{split}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(rows), encoding="utf-8")
        every = [grade for some in grades for grade in some]
        where = f"{split}-fold{fold}"
        write(folder / f"scores/linear/{where}.txt", every, 2.0, draw)
        for model, seed, (lr, leaves) in itertools.product(MODELS, SEEDS, SETTINGS):
            path = folder / f"scores/{model}/{where}/lr{lr}-leaves{leaves}-seed{seed}.txt"
            write(path, every, draw.uniform(0.5, 3), draw)


def write(path: Path, grades: list[int], noise: float, draw: random.Random) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    scores = (f"{grade + draw.gauss(0, noise):.6f}\n" for grade in grades)
    path.write_text("".join(scores), encoding="utf-8")
