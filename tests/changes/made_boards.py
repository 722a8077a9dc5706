"""Leaderboards made by hand: folders of results of a few queries, and CSV files."""

from collections.abc import Mapping
from pathlib import Path

import harness

Ranks = Mapping[str, Mapping[str, int]]
"""The rank of the one relevant document, by run and query: recip_rank is one over it."""

OLD: Ranks = {
    "base": {"q1": 1, "q2": 2, "q3": 2, "q4": 4, "q5": 1, "q6": 2},
    "good": {"q1": 1, "q2": 1, "q3": 2, "q4": 2, "q5": 1, "q6": 1},
    "poor": {"q1": 4, "q2": 4, "q3": 4, "q4": 4, "q5": 4, "q6": 4},
}


def folder(
    place: Path, ranks: Ranks, metrics: str = "recip_rank, num_ret", policy: str = ""
) -> Path:
    """Evaluate runs whose relevant documents are at these ranks, and return the results."""
    place.mkdir(parents=True, exist_ok=True)
    qids = sorted({qid for one in ranks.values() for qid in one})
    (place / "qrels.txt").write_text("".join(f"{qid} 0 yes 1\n" for qid in qids))
    runs = []
    for run, queries in ranks.items():
        lines = []
        for qid, rank in queries.items():
            names = [f"no{n}" for n in range(1, 5)]
            names.insert(rank - 1, "yes")
            lines += [f"{qid} Q0 {doc} {n} {9 - n} {run}\n" for n, doc in enumerate(names, 1)]
        (place / f"{run}.run").write_text("".join(lines))
        runs.append(f"  {run}: {{path: {run}.run}}\n")
    config = place / "made.yaml"
    config.write_text(
        f"name: made\noutput: results\ndatasets:\n  dev: {{path: qrels.txt}}\nruns:\n"
        f"{''.join(runs)}metrics: [{metrics}]\n{policy}"
    )
    return harness.run(config).folder


def table(place: Path, text: str) -> Path:
    """Write a CSV file, given with blanks before its lines."""
    place.write_text("".join(f"{line.strip()}\n" for line in text.strip().splitlines()))
    return place
