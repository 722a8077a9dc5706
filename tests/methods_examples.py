"""Configs of every kind with the methods paragraph of each, in ``tests/golden/methods.md``.

To add an example, write its title, config and any paragraph there.
``PYTHONPATH=tests python -m tests.methods_examples`` writes the paragraphs again: read each that
changed, as a reviewer would, before you commit it.
"""

import random
import re
import tempfile
import warnings
from pathlib import Path

import harness

ROOT = Path(__file__).parents[1]
GOLDEN = Path(__file__).parent / "golden" / "methods.md"
SYSTEMS = ("bm25", "bm25+rm3", "dense", "splade", "ours")
BEIR = ("arguana", "fiqa", "nfcorpus", "quora", "scidocs", "scifact", "touche")
EXAMPLE = re.compile(r"^## (.+?)\n\n```yaml\n(.+?)```\n\n(.+?\n)(?=\n## |\Z)", re.S | re.M)
"""Title, config and paragraph."""
EXAMPLES = {title: given for title, *given in EXAMPLE.findall(GOLDEN.read_text("utf-8"))}
assert len(EXAMPLES) == GOLDEN.read_text("utf-8").count("\n## ")


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


def evaluated(config: str, folder: Path) -> harness.Table:
    """First table of an example whose data are in a folder."""
    path = folder / "example.yaml"
    path.write_text(f"name: example\noutput: results\ncache: none\n{config}", "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return harness.table(harness.run(path, force=True).folder)


def main() -> None:
    """Write the paragraphs of the golden file again."""
    with tempfile.TemporaryDirectory() as name:
        folder = prepared(Path(name))

        def updated(example: re.Match[str]) -> str:
            return example[0].removesuffix(example[3]) + evaluated(example[2], folder).methods()

        text = EXAMPLE.sub(updated, GOLDEN.read_text("utf-8"))
    GOLDEN.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
