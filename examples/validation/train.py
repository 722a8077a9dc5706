"""Train ridge regressions with several settings; save their predictions below tuned/."""

from pathlib import Path

import numpy as np

PENALTIES, SIZES, SEEDS = (0.1, 10, 100), (100, 200), (1, 2)


def read(fold):
    lines = Path(f"runs/letor/fold{fold}/test.txt").read_text().splitlines(keepends=True)
    rows = [line.split() for line in lines]
    pairs = [[field for field in row[2:] if field[0].isdigit()] for row in rows]
    features = np.array([[float(pair.split(":")[1]) for pair in row] for row in pairs])
    return lines, np.array([int(row[0]) for row in rows]), features, [row[1] for row in rows]


for fold in (1, 2):
    _, train_grades, train_features, _ = read(3 - fold)
    lines, _, features, qids = read(fold)
    queries = list(dict.fromkeys(qids))
    for split, chosen in (("vali", set(queries[:25])), ("test", set(queries[25:]))):
        rows = np.array([qid in chosen for qid in qids])
        folder = Path(f"tuned/fold{fold}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{split}.txt").write_text("".join(np.array(lines)[rows]))
        for seed in SEEDS:
            for size in SIZES:
                sample = np.random.default_rng(seed).choice(len(train_grades), size)
                x, y = train_features[sample], train_grades[sample]
                for penalty in PENALTIES:
                    weights = np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ y)
                    name = f"{split}-ridge-penalty{penalty}-size{size}-seed{seed}.txt"
                    np.savetxt(folder / name, features[rows] @ weights)
