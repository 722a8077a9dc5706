# ruff: noqa: E501
"""Record what every command gives, so that a restructured version can be compared with it.

Run ``python -m tests.behaviour record FILE`` before a change and
``python -m tests.behaviour compare FILE`` after it. Recorded are exit codes, values, files, and the
rule, file and line of each finding and error; the wording of text is not.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
from command_line import called  # noqa: E402

SHARED = ROOT.parent / "shared" / "data"
NUMBER = re.compile(r"(?<![\w.])-?\d*\.\d{2,}(?:e-?\d+)?(?![\w.])")
PLACE = re.compile(r"([\w./-]+\.[a-z]+(?:\.gz)?):(\d+)")
TRANSIENT = {"created", "seconds", "versions", "code", "host", "command", "environment"}

LETOR = "4 qid:10 1:0.5 #docid = a\n0 qid:10 1:0.1 #docid = b\n2 qid:2 1:0.3 #docid = c\n1 qid:2 1:0.2 #docid = d\n0 qid:1 1:0.9 #docid = e\n3 qid:1 1:0.8 #docid = f\n"
QRELS = "10 0 a 1\n10 0 b 0\n2 0 c 2\n2 0 d 0\n1 0 e 1\n1 0 f 0\n"
RUN = "10 Q0 a 1 3.5 t\n10 Q0 b 2 2.5 t\n2 Q0 d 1 1.5 t\n2 Q0 c 2 0.5 t\n1 Q0 f 1 9.5 t\n1 Q0 e 2 8.5 t\n"
PREDICTIONS = "0.9\n0.1\n0.4\n0.7\n0.2\n0.8\n"
BROKEN_RUNS = {
    "nan score": RUN.replace("2.5", "nan"),
    "infinite score": RUN.replace("2.5", "inf"),
    "text score": RUN.replace("2.5", "high"),
    "missing field": RUN.replace("10 Q0 b 2 2.5 t", "10 Q0 b 2.5"),
    "duplicate docno": RUN.replace("10 Q0 b", "10 Q0 a"),
    "cut": RUN[:-6],
    "crlf": RUN.replace("\n", "\r\n"),
    "tabs": RUN.replace(" ", "\t"),
    "byte order mark": "\ufeff" + RUN,
    "empty": "",
    "ranks as scores": "".join(
        f"{q} Q0 {d} {r} {r} t\n" for q in (10, 2, 1) for r, d in enumerate("abcdef", 1)
    ),
    "constant scores": re.sub(r"\d\.5", "1.0", RUN),
    "scattered queries": "".join(sorted(RUN.splitlines(True), key=lambda line: line[-9:])),
    "extra query": RUN + "77 Q0 a 1 1.0 t\n",
    "missing query": RUN[: RUN.index("2 Q0 d")],
    "other documents": RUN.replace(" a ", " x1 ").replace(" c ", " x2 "),
    "no common query": RUN.replace("10 Q0", "110 Q0")
    .replace("\n2 Q0", "\n12 Q0")
    .replace("\n1 Q0", "\n11 Q0"),
    "leading zeros": RUN.replace("10 Q0", "010 Q0")
    .replace("\n2 Q0", "\n02 Q0")
    .replace("\n1 Q0", "\n01 Q0"),
    "qrels as run": QRELS,
    "html": "<!DOCTYPE html>\n<html><body>404</body></html>\n",
    "labels as scores": "10 Q0 a 1 1 t\n10 Q0 b 2 0 t\n2 Q0 c 1 2 t\n2 Q0 d 2 0 t\n1 Q0 e 1 1 t\n1 Q0 f 2 0 t\n",
    "columns swapped": "".join(
        " ".join([w[2], w[1], w[0], *w[3:]]) + "\n" for w in map(str.split, RUN.splitlines())
    ),
}
BROKEN_PREDICTIONS = {
    "one too few": PREDICTIONS[:-4],
    "one too many": PREDICTIONS + "0.3\n",
    "header": "score\n" + PREDICTIONS,
    "index column": "".join(f"{i},{p}\n" for i, p in enumerate(PREDICTIONS.split())),
    "two columns": "".join(f"{p} {p}\n" for p in PREDICTIONS.split()),
    "list": str([float(p) for p in PREDICTIONS.split()]),
    "tensor": "tensor([0.9, 0.1, 0.4, 0.7, 0.2, 0.8])\n",
    "nan": PREDICTIONS.replace("0.4", "nan"),
    "text": PREDICTIONS.replace("0.4", "n/a"),
    "labels": "4\n0\n2\n1\n0\n3\n",
    "constant": "0.5\n" * 6,
    "utf-16": "\ufeff" + PREDICTIONS,
}
BROKEN_QRELS = {
    "fraction": QRELS.replace("2 0 c 2", "2 0 c 1.5"),
    "negative": QRELS.replace("2 0 c 2", "2 0 c -1"),
    "huge": QRELS.replace("2 0 c 2", "2 0 c 99999999999999999999"),
    "duplicate": QRELS + "10 0 a 1\n",
    "missing field": QRELS.replace("2 0 c 2", "2 c 2"),
    "none relevant": QRELS.replace(" 1\n", " 0\n").replace(" 2\n", " 0\n"),
    "run as qrels": RUN,
    "empty": "",
}
BROKEN_CONFIGS = {
    "no metrics": "name: x\ndatasets: {d: q.txt}\nruns: {r: r.run}\n",
    "unknown metric": "name: x\ndatasets: {d: {path: q.txt}}\nruns: {r: {path: r.run}}\nmetrics: [ndgc@10]\n",
    "unknown key": "name: x\ndataset: {d: {path: q.txt}}\nruns: {r: {path: r.run}}\nmetrics: [map]\n",
    "unknown parameter": "name: x\ndatasets: {d: {path: q.txt}}\nruns: {r: {path: r.run}}\nmetrics: ['rbo(q=0.9)']\n",
    "parameter range": "name: x\ndatasets: {d: {path: q.txt}}\nruns: {r: {path: r.run}}\nmetrics: ['rbo(p=1.9)']\n",
    "missing file": "name: x\ndatasets: {d: {path: none.txt}}\nruns: {r: {path: r.run}}\nmetrics: [map]\n",
    "tab": "name: x\ndatasets:\n\td: {path: q.txt}\nruns: {r: {path: r.run}}\nmetrics: [map]\n",
    "indentation": "name: x\ndatasets:\n  d:\n   path: q.txt\n  format: trec\nruns: {r: {path: r.run}}\nmetrics: [map]\n",
    "braces": "name: x\ndatasets: {d: {path: q.txt}}\nruns: {{model}: {path: r.run}}\nmetrics: [map]\n",
    "unknown baseline": "name: x\ndatasets: {d: {path: q.txt}}\nruns: {r: {path: r.run}, s: {path: r.run}}\nmetrics: [map]\ncompare: {baseline: zz}\n",
    "same file twice": "name: x\ndatasets: {d: {path: q.txt}}\nruns: {r: {path: r.run}, s: {path: r.run}}\nmetrics: [map]\n",
    "missing skip": "name: x\ndatasets: {d: {path: q.txt}}\nruns: {r: {path: r.run}}\nmetrics: [map, ndcg@2]\npolicy: {missing_queries: skip}\n",
}


def commands() -> Iterator[tuple[str, ...]]:
    """Yield every command that is run on the examples, in order; later ones read earlier results."""
    for config in ("quickstart", "trec", "folds", "sweep", "compare", "paper", "plugin"):
        yield ("run", f"configs/{config}.yaml", "--dry-run")
        yield ("run", f"configs/{config}.yaml", "--format", "csv")
        yield ("run", f"configs/{config}.yaml", "--format", "table")
        yield ("check", f"configs/{config}.yaml", "--format", "json")
    for kind in ("table", "csv", "jsonl", "markdown", "html", "trec"):
        yield ("run", "configs/quickstart.yaml", "--format", kind)
        yield ("evaluate", "runs/trec/qrels.txt", "runs/trec/bm25.run", "runs/trec/lsi.run", "-m", "map",
               "-m", "ndcg@10", "-m", "swaps", "-q", "--format", kind)  # fmt: skip
    letor = (
        "runs/letor/fold1/test.txt",
        "runs/letor/gbrt/fold1-seed1.txt",
        "runs/letor/neural/fold1-seed1.txt",
    )
    for options in ((), ("--ties", "stable"), ("--ties", "average"), ("--ties", "bounds"), ("--convention", "lightgbm"),
                    ("--empty", "one"), ("--empty", "skip"), ("-M", "3"), ("-l", "2"), ("-J",)):  # fmt: skip
        for metrics in (("ndcg@5",), ("map", "arp", "ndcg(gain=exp)@10"), ("official",)):
            if options in (("--ties", "average"), ("--ties", "bounds")) and metrics == (
                "official",
            ):
                continue
            words = [word for one in metrics for word in ("-m", one)]
            yield ("evaluate", *letor, *words, *options, "-q", "--format", "csv")
    for kind in ("text", "csv", "jsonl", "markdown"):
        yield ("compare", "bm25", "tfidf", "lsi", "--results", "results/trec", "--format", kind)
        yield ("compare", "runs/trec/bm25.run", "runs/trec/lsi.run", "--qrels", "runs/trec/qrels.txt", "-m",
               "map", "-m", "recip_rank", "--format", kind)  # fmt: skip
        yield ("compare", "results/quickstart", "results/trec", "--format", kind)
    for test in (
        "randomization",
        "bootstrap",
        "bootstrap-t",
        "wilcoxon",
        "sign",
        "tukey",
        "randomized-tukey",
        "friedman-nemenyi",
    ):
        yield ("compare", "runs/trec/bm25.run", "runs/trec/lsi.run", "runs/trec/tfidf.run", "--qrels",
               "runs/trec/qrels.txt", "-m", "map", "--all-pairs", "--test", test, "--draws", "999", "--format", "csv")  # fmt: skip
    for kind in ("latex", "markdown", "html", "csv", "text"):
        yield ("table", "results/paper", "--format", kind)
        yield (
            "table",
            "results/compare",
            "--format",
            kind,
            "--spread",
            "interval",
            "--digits",
            "4",
        )
        yield ("table", "results/quickstart", "--methods", "--format", kind)
    for kind in ("text", "csv", "html"):
        yield ("audit", "configs/quickstart.yaml", "--format", kind)
    yield ("why", "results/quickstart", "--run", "bm25", "--metric", "map")
    yield ("why", "results/paper", "--run", "gbrt", "--metric", "map", "--dataset", "letor-fold1")
    yield (
        "explain",
        "0.30",
        "runs/trec/qrels.txt",
        "runs/trec/bm25.run",
        "-m",
        "map",
        "--format",
        "jsonl",
    )
    yield ("explain", "0.866", *letor[:2], "-m", "ndcg", "--format", "jsonl", "--all")
    yield ("verify", "results/quickstart", "--format", "json")
    yield ("verify", "results/paper", "--format", "json")
    yield (
        "check-table",
        "results/paper/tables/main.tex",
        "--results",
        "results/paper",
        "--format",
        "jsonl",
    )
    yield (
        "check-table",
        "results/paper/tables/main.md",
        "--results",
        "results/paper",
        "--format",
        "jsonl",
    )
    yield ("cache", "list", "results/quickstart")
    yield ("cache", "verify", "results/quickstart")
    yield ("cache", "prune", "results/quickstart")
    yield ("init", "runs/trec", "-o", "made/trec.yaml")
    yield ("init", "runs/letor", "-o", "made/letor.yaml")
    yield ("run", "made/trec.yaml", "--dry-run")
    yield ("run", "made/letor.yaml", "--dry-run")
    yield ("annotate", "runs/trec/bm25.run", "--set", "actor.name=me", "-o", "made/bm25.run")
    yield ("metrics",)
    yield ("metrics", "ndcg")
    yield ("metrics", "--conventions")
    for version in ("9", "10"):
        for measure in ("official", "all_trec", "ndcg_cut.5,10", "set"):
            yield (
                "trec_eval",
                "--as",
                version,
                "-q",
                "-m",
                measure,
                "runs/trec/qrels.txt",
                "runs/trec/bm25.run",
            )
    for name in ("missing.run", "runs/trec"):
        yield ("evaluate", "runs/trec/qrels.txt", name, "-m", "map")
    yield ("evaluate", "runs/trec/qrels.txt", "runs/trec/bm25.run", "-m", "ndgc@10")
    yield ("evaluate", "runs/trec/qrels.txt", "runs/trec/bm25.run")
    yield ("run", "configs/quickstart.yaml", "--sett", "a=b")
    yield ("run", "configs/quickstart.yaml", "--set", "policy.ties=stabel")
    yield ("table", "configs")
    yield ("why", "results/quickstart", "--run", "bm52", "--metric", "map")


def small_files(folder: Path) -> Iterator[tuple[str, ...]]:
    """Write sound and broken files, and yield the commands that read each."""
    folder.mkdir()
    sound = {"q.txt": QRELS, "r.run": RUN, "test.txt": LETOR, "p.txt": PREDICTIONS}
    for name, text in sound.items():
        (folder / name).write_text(text)
    kinds = (
        (BROKEN_RUNS, "run", lambda f: ("small/q.txt", f)),
        (BROKEN_PREDICTIONS, "pred", lambda f: ("small/test.txt", f)),
        (BROKEN_QRELS, "qrels", lambda f: (f, "small/r.run")),
    )
    for texts, ending, files in kinds:
        for name, text in texts.items():
            path = folder / f"{name.replace(' ', '-')}.{ending}"
            path.write_text(text, encoding="utf-16" if name == "utf-16" else "utf-8")
            words = files(f"small/{path.name}")
            yield ("check", *words, "--format", "json")
            yield ("evaluate", *words, "-m", "map", "-m", "ndcg@3", "-q", "--format", "csv")
    for name, text in BROKEN_CONFIGS.items():
        path = folder / f"{name.replace(' ', '-')}.yaml"
        path.write_text(text)
        yield ("check", f"small/{path.name}", "--format", "json")
        yield ("run", f"small/{path.name}", "--format", "csv")


def real_files(folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield commands over real files, if they are there."""
    if not SHARED.is_dir():
        return
    covid = SHARED / "trec_covid_round1"
    runs = [str(path) for path in sorted((covid / "runs").iterdir())]
    metrics = ("-m", "map", "-m", "ndcg@10", "-m", "P@5", "-m", "bpref", "-m", "rbp(p=0.5)")
    for start in range(0, 24, 8):
        yield (
            "evaluate",
            str(covid / "qrels-rnd1.txt"),
            *runs[start : start + 8],
            *metrics,
            "--format",
            "csv",
        )
    yield ("check", str(covid / "qrels-rnd1.txt"), *runs[:6], "--format", "json")
    yield (
        "compare",
        *runs[:3],
        "--qrels",
        str(covid / "qrels-rnd1.txt"),
        "-m",
        "map",
        "--format",
        "text",
    )
    made = SHARED / "ltr" / "predictions_made_here"
    for name, data in (("mq2008_fold1", "mq2008_fold1/test.txt"), ("mslr_web10k_sample", "mslr_web10k_sample/mslr_fold1_test_sample.txt"),
                       ("lightgbm_lambdarank", "lightgbm_lambdarank/rank.test")):  # fmt: skip
        predictions = [str(path) for path in sorted((made / name).glob("*.pred"))]
        words = (str(SHARED / "ltr" / data), *predictions)
        yield (
            "evaluate",
            *words,
            "-m",
            "ndcg@10",
            "-m",
            "ndcg(convention=lightgbm)@5",
            "-m",
            "map",
            "--format",
            "csv",
        )
        yield ("check", *words, "--format", "json")


def record() -> dict[str, Any]:
    """Return what every command gave, by command."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in ("configs", "runs"):
            shutil.copytree(ROOT / each, folder / each, ignore=shutil.ignore_patterns("results"))
        for words in (*commands(), *small_files(folder / "small"), *real_files(folder)):
            before = files_in(folder)
            try:
                done = called(*words, cwd=folder)
                one = {
                    "code": done.code,
                    "out": output(words, done.out),
                    "places": places(done.err),
                }
            except Exception as error:
                one = {"crash": type(error).__name__}
            one["files"] = {p: h for p, h in files_in(folder).items() if before.get(p) != h}
            key = " ".join(words).replace(name, "").replace(str(SHARED), "DATA")
            found[key] = json.loads(json.dumps(one).replace(str(SHARED), "DATA"))
            print(".", end="", flush=True, file=sys.stderr)
        for results in sorted((folder / "results").iterdir()):
            found[f"results/{results.name}"] = results_in(results)
    return found


def output(words: tuple[str, ...], text: str) -> Any:
    """Return a command's output without its wording."""
    kind = words[words.index("--format") + 1] if "--format" in words else "text"
    if words[0] == "trec_eval":
        return text.splitlines()
    if words[0] == "check" and kind == "json" and text.startswith(("{", "[")):
        findings = json.loads(text)
        findings = findings.get("findings", findings) if isinstance(findings, dict) else findings
        return sorted(
            ([one.get(k) for k in ("severity", "rule", "file", "line")] for one in findings),
            key=str,
        )
    if kind == "csv":
        return list(csv.reader(io.StringIO(text)))
    if kind == "jsonl":
        return [numbers_in(json.loads(line)) for line in text.splitlines()]
    return sorted(set(NUMBER.findall(text)))


def numbers_in(value: Any) -> Any:
    """Return nested data with its texts of several words left out."""
    if isinstance(value, dict):
        return {k: numbers_in(v) for k, v in value.items() if k not in TRANSIENT}
    if isinstance(value, list):
        return [numbers_in(one) for one in value]
    return None if isinstance(value, str) and " " in value else value


def places(text: str) -> list[str]:
    """Return each file and line that a message names."""
    return sorted({f"{Path(file).name}:{line}" for file, line in PLACE.findall(text)})


def files_in(folder: Path) -> dict[str, int]:
    """Return the outputs in a folder."""
    return {
        str(path.relative_to(folder)): 1
        for path in folder.rglob("*")
        if path.is_file() and "small" not in path.parts and "cells" not in path.parts
    }


def results_in(folder: Path) -> dict[str, Any]:
    """Return every value of a results folder."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.startswith("cells") or path.is_dir():
            continue
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            found[name] = json.loads(json.dumps(table.to_pydict(), default=str))
        elif path.suffix == ".csv":
            found[name] = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
        elif path.suffix in (".tex", ".md", ".html"):
            found[name] = sorted(set(NUMBER.findall(path.read_text(encoding="utf-8"))))
        else:
            found[name] = "present"
    return found


def difference(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """Yield the places where two records differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key not in old or key not in new:
                yield f"{at} / {key}: only {'after' if key in new else 'before'}"
            else:
                yield from difference(old[key], new[key], f"{at} / {key}")
    elif old != new:
        if isinstance(old, list) and isinstance(new, list):
            gone = [one for one in old if one not in new][:4]
            come = [one for one in new if one not in old][:4]
            yield f"{at}: {len(old)} -> {len(new)} items; gone {str(gone)[:300]}; come {str(come)[:300]}"
        else:
            yield f"{at}: {str(old)[:200]} -> {str(new)[:200]}"


def main(what: str, file: str) -> int:
    """Record, or compare with a record; return how many places differ."""
    path, found = Path(file), record()
    if what == "record":
        path.write_bytes(gzip.compress(json.dumps(found).encode(), mtime=0))
        print(f"\n{len(found)} commands recorded")
        return 0
    differing = list(difference(json.loads(gzip.decompress(path.read_bytes())), found))
    print("", *differing, f"{len(differing)} differences", sep="\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
