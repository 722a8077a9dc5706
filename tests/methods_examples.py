"""Configs of every kind with the methods paragraph of each, in ``tests/golden/methods.md``.

``PYTHONPATH=tests python -m tests.methods_examples`` writes the file again: read each paragraph
that changed, as a reviewer would, before you commit it.
"""

import random
import tempfile
import warnings
from pathlib import Path

import harness

ROOT = Path(__file__).parents[1]
GOLDEN = Path(__file__).parent / "golden" / "methods.md"
SYSTEMS = ("bm25", "bm25+rm3", "dense", "splade", "ours")
BEIR = ("arguana", "fiqa", "nfcorpus", "quora", "scidocs", "scifact", "touche")
HEAD = """\
# Methods paragraphs

Written by `python -m tests.methods_examples`: a config, then the paragraph of its first table.
"""
CODEC = """
datasets: {"{task}": "{task}.qrels"}
runs: {"{system}": "{task}/{system}.run"}
where: {task: [docs, entities]}
names: {docs: CODEC documents, entities: CODEC entities, bm25: BM25, bm25+rm3: BM25+RM3}
"""
DOCS = """
datasets: {docs: docs.qrels}
runs: {"{system}": "docs/{system}.run"}
names: {docs: CODEC documents, bm25: BM25, bm25+rm3: BM25+RM3}
"""
WEB = """
datasets: {web: web.qrels}
runs: {"{system}": "web/{system}.run"}
"""
LETOR = """
datasets: {"fold{fold}": {format: letor, path: "letor/fold{fold}/test.txt"}}
runs: {"{model}": {format: scores, path: "letor/{model}/fold{fold}-seed{seed}.txt"}}
"""
TUNED = """
datasets: {dev: docs.qrels, test: entities.qrels}
runs: {"{system}": "tuned/{dataset}/{system}-k{k}-b{b}.run"}
"""
EXAMPLES = {
    "Three metrics and two baselines": CODEC
    + """
metrics: [map, ndcg@10, recall@1000]
compare: {baseline: [bm25, bm25+rm3]}
""",
    "One run alone": WEB
    + """
where: {system: bm25}
metrics: [ndcg@10]
crosscheck: none
""",
    "Every query recomputed": DOCS
    + """
metrics: [ndcg_cut_10, ndcg_cut_100, P_5, recip_rank]
crosscheck: all
""",
    "All pairs": DOCS
    + """
metrics: [map, ndcg@10]
compare: {}
""",
    "Tukey's test": CODEC
    + """
metrics: [map, ndcg@10]
compare: {test: tukey}
""",
    "Randomised Tukey": DOCS
    + """
metrics: [map]
compare: {test: randomized-tukey, draws: 999, seed: 3}
""",
    "Friedman": DOCS
    + """
metrics: [map, P@10]
compare: {test: friedman-nemenyi, level: 0.01}
""",
    "Randomisation test, each metric a family": CODEC
    + """
metrics: [map, ndcg@10, "err(max_grade=3)@20"]
compare: {baseline: bm25, test: randomization, family: metric, draws: 4000, seed: 7}
""",
    "Bootstrap of some metrics, each dataset a family": CODEC
    + """
metrics: [map, ndcg@10, num_ret, judged@10]
compare: {baseline: dense, test: bootstrap, correction: bh, family: dataset, metrics: [ndcg@10]}
""",
    "Wilcoxon without correction, BCa intervals": DOCS
    + """
metrics: [map, P@10]
compare: {baseline: bm25, test: wilcoxon, correction: none, interval: bca, draws: 999}
""",
    "Intervals in a table": DOCS
    + """
metrics: [map, ndcg@10]
compare: {baseline: bm25, correction: bonferroni}
tables: {main: {spread: interval}}
""",
    "Sign test at another level": WEB
    + """
metrics: [map]
where: {system: [bm25, ours]}
compare: {baseline: bm25, test: sign, level: 0.001}
""",
    "Folds and seeds, one by one": LETOR
    + """
metrics: [map, ndcg@10, "swaps(normalize=true)"]
policy: {empty_queries: skip}
summary: {spread: [seed]}
compare: {baseline: linear-regression}
names: {fold1: Fold 1, fold2: Fold 2}
""",
    "Folds pooled": LETOR
    + """
metrics: [map, "ndcg(gain=exp)@1,5,10", "arp(over=grades)"]
policy: {empty_queries: skip}
summary: {pool: [fold], spread: [seed]}
compare: {baseline: linear-regression}
""",
    "The mean over folds, the best seed": LETOR
    + """
metrics: [map, mse, pairwise_logloss]
summary: {average: [fold], best: [seed]}
""",
    "The mean over folds, with tests": LETOR
    + """
metrics: [map, "ndcg(gain=exp)@10"]
policy: {empty_queries: skip}
summary: {average: [fold], spread: [seed]}
compare: {baseline: [linear-regression, median]}
""",
    "Settings chosen on validation": TUNED
    + """
metrics: [map, ndcg@10]
select: {on: dev, by: map, over: [k, b]}
compare: {baseline: bm25}
""",
    "Slices": """
datasets: {docs: {path: docs.qrels, groups: {path: topics.csv}}}
runs: {"{system}": "docs/{system}.run"}
metrics: [map, ndcg@10]
compare: {baseline: bm25}
names: {docs: CODEC documents, bm25: BM25}
""",
    "Query weights": """
datasets: {docs: {path: docs.qrels, weights: {path: topics.csv, column: clicks}}}
runs: {"{system}": "docs/{system}.run"}
metrics: [map, ndcg@10]
compare: {baseline: bm25, test: bootstrap, draws: 999}
""",
    "Documents of passages": """
datasets: {docs: docs.qrels}
runs: {"{system}": {path: "passages/{system}.run", documents: {from: "(.+)#[0-9]+$", take: max}}}
metrics: [ndcg@10, recall@100]
""",
    "Soft grades": """
datasets: {clicks: clicks.csv}
runs: {"{system}": "docs/{system}.run"}
metrics: [ndcg@10, "map(rel=0.5)", mse]
""",
    "Fused runs": """
datasets: {docs: docs.qrels}
runs:
  "{system}": "docs/{system}.run"
  rrf: {fuse: [bm25, dense], method: rrf, k: 60}
  sum: {fuse: [bm25, dense, splade], method: wsum, weights: [0.2, 0.3, 0.5], norm: z, depth: 50}
metrics: [map, ndcg@10]
compare: {baseline: [bm25, rrf]}
names: {bm25: BM25, rrf: RRF, sum: weighted sum}
""",
    "A depth, only judged documents, documents of the query itself removed": DOCS
    + """
metrics: [map, bpref, judged@10]
policy: {depth: 50, judged_only: true, drop_identical_ids: true}
""",
    "A stricter relevance level": DOCS
    + """
metrics: [map, "map(rel=3)", ndcg@10, P@10]
policy: {relevance_level: 2}
""",
    "Ties averaged, with bounds": DOCS
    + """
metrics: [map, ndcg@10]
policy: {ties: average}
""",
    "Ties in a random order, one metric in the worst": WEB
    + """
metrics: [map, "ndcg(ties=worst)@10"]
policy: {ties: random(42)}
""",
    "Many datasets with their average": """
datasets: {"{task}": "beir/{task}.qrels"}
runs: {"{system}": "beir/{task}/{system}.run"}
metrics: [ndcg@10, recall@100]
compare: {baseline: bm25}
tables: {main: {average: true}}
""",
    "Lower is better": LETOR
    + """
where: {fold: 1}
metrics: [arp, "swaps", mse, pairwise_logloss, first_rank]
compare: {baseline: random}
""",
    "Missing queries, counted as zero": WEB
    + """
metrics: [map, ndcg@10, num_rel, mse]
compare: {baseline: bm25}
""",
    "Missing and empty queries left out": WEB
    + """
metrics: [map, ndcg@10, num_rel]
policy: {missing_queries: skip, empty_queries: skip}
""",
    "Metrics with many settings": DOCS
    + """
metrics:
  - "rbp(p=0.95,gain=linear)"
  - "rbo(p=0.9)"
  - "rbo(p=0.8,reference=bm25)"
  - "ndcg(gain=exp,discount=position)@10"
  - "map(denominator=cutoff)@10"
  - "err(max_grade=3)@10"
  - "alpha_ndcg(alpha=0.3)@10"
  - "set_F(beta=2)"
""",
    "As another tool computes it": LETOR
    + """
convention: lightgbm
metrics: [ndcg@5, map@5]
""",
    "Two tools": DOCS
    + """
metrics: [ndcg@10, "ndcg(convention=sklearn)@10", "ndcg(convention=beir)@10"]
""",
    "Correlation with grades": LETOR
    + """
where: {fold: 2}
metrics: [kendall, spearman, pearson, tau_ap, auc, opa]
""",
    "A dataset whose name ends with a bracket": """
datasets: {"web (2009)": web.qrels, "web (2010)": docs.qrels}
runs:
  a (ours):
    - {path: web/ours.run, dataset: web (2009)}
    - {path: docs/ours.run, dataset: web (2010)}
  b & c:
    - {path: web/bm25.run, dataset: web (2009)}
    - {path: docs/bm25.run, dataset: web (2010)}
metrics: [map]
compare: {baseline: b & c}
""",
    "A baseline that was not run everywhere": """
datasets: {docs: docs.qrels, entities: entities.qrels}
runs:
  "{system}": "{dataset}/{system}.run"
  tuned: {path: docs/dense.run, dataset: docs}
metrics: [map]
compare: {baseline: [bm25, tuned]}
""",
}


def write_data(folder: Path) -> None:
    """Write judgements, runs, passages and topics into a folder; always the same ones."""
    _write_dataset(folder, "docs", 42, SYSTEMS)
    _write_dataset(folder, "entities", 42, SYSTEMS, first=101)
    _write_dataset(folder, "web", 50, SYSTEMS, empty=4, missing=3)
    for at, name in enumerate(BEIR):
        _write_dataset(folder, name, 20 + 5 * at, SYSTEMS[:3], below="beir/")
    draw = random.Random("topics")
    rows = [
        f"{qid},{draw.choice(('entity', 'essay'))},{draw.randint(1, 9)}\n" for qid in range(1, 43)
    ]
    (folder / "topics.csv").write_text("qid,type,clicks\n" + "".join(rows), "utf-8")
    qrels = (line.split() for line in (folder / "docs.qrels").read_text("utf-8").splitlines())
    soft = [f"{qid},{docno},{int(grade) / 4 + 0.125}\n" for qid, _, docno, grade in qrels]
    (folder / "clicks.csv").write_text("qid,docno,grade\n" + "".join(soft), "utf-8")
    (folder / "passages").mkdir()
    for system in SYSTEMS:
        lines = (folder / "docs" / f"{system}.run").read_text("utf-8").splitlines()
        rows = [line.split() for line in lines]
        passages = [
            f"{qid} Q0 {docno}#{part} 0 {float(score) - part} x\n"
            for qid, _, docno, _, score, _ in rows for part in (1, 2)
        ]  # fmt: skip
        (folder / "passages" / f"{system}.run").write_text("".join(passages), "utf-8")
    for name, split in (("docs", "dev"), ("entities", "test")):
        (folder / "tuned" / split).mkdir(parents=True)
        for system, source in (("bm25", "bm25"), ("ql", "dense")):
            for k, b in (("1", "0.5"), ("1", "0.75"), ("2", "0.5"), ("2", "0.75")):
                text = (folder / name / f"{source}.run").read_text("utf-8").splitlines()
                rows = [line.split() for line in text]
                noisy = [
                    f"{row[0]} Q0 {row[2]} 0 {float(row[4]) + draw.gauss(0, 2)} x\n" for row in rows
                ]
                path = folder / "tuned" / split / f"{system}-k{k}-b{b}.run"
                path.write_text("".join(noisy), "utf-8")


def _write_dataset(
    folder: Path, name: str, n: int, systems: tuple[str, ...], empty: int = 0, missing: int = 0,
    below: str = "", first: int = 1,
) -> None:  # fmt: skip
    draw = random.Random(name)
    judged = {}
    for qid in range(first, first + n):
        grades = [0 if qid <= empty else draw.choice((0, 0, 0, 1, 2, 3)) for _ in range(30)]
        judged[qid] = dict(zip(draw.sample(range(100, 999), 30), grades, strict=True))
        if qid > empty:
            judged[qid][99] = 3
    (folder / below / name).mkdir(parents=True)
    qids = draw.sample(list(judged), n)
    lines = [f"{qid} 0 d{doc} {grade}\n" for qid in qids for doc, grade in judged[qid].items()]
    (folder / below / f"{name}.qrels").write_text("".join(lines), "utf-8")
    for at, system in enumerate(systems):
        rows = []
        for qid in qids[: n - missing * (at > 1)]:
            names = [*judged[qid], *draw.sample(range(1000, 2000), 40)]
            for doc in names:
                score = judged[qid].get(doc, 0) + draw.gauss(0, 4 - at / 2)
                rows.append(f"{qid} Q0 d{doc} 0 {round(score, 1)} {system}\n")
        (folder / below / name / f"{system}.run").write_text("".join(rows), "utf-8")


def prepared(folder: Path) -> Path:
    """Write the data of all examples into a folder, and return it."""
    write_data(folder)
    (folder / "letor").symlink_to(ROOT / "runs" / "letor")
    return folder


def evaluated(title: str, folder: Path) -> harness.Table:
    """Return the first table of an example whose data are in a folder."""
    path = folder / "example.yaml"
    path.write_text(f"name: example\noutput: results\ncache: none\n{EXAMPLES[title]}", "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return harness.table(harness.run(path, force=True).folder)


def section(title: str, paragraph: str) -> str:
    """Return the part of the golden file on one example."""
    return f"\n## {title}\n\n```yaml\n{EXAMPLES[title].strip()}\n```\n\n{paragraph}"


def main() -> None:
    """Write the golden file."""
    with tempfile.TemporaryDirectory() as name:
        folder = prepared(Path(name))
        parts = [section(title, evaluated(title, folder).methods()) for title in EXAMPLES]
    GOLDEN.write_text(HEAD + "".join(parts), "utf-8")


if __name__ == "__main__":
    main()
