"""Record what every command gives, so that a restructured version can be compared with it.

Run ``python tests/behaviour.py record FILE`` before a change and ``... compare FILE`` after it. It
records exit codes, values, files, and the rule, file and line of each finding and error, over the
examples and the data in ../shared. It leaves out the words of text.
"""

import csv
import gzip
import io
import itertools
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from command_line import called

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
NUMBER = re.compile(r"(?<![\w.])-?\d*\.\d{2,}(?:e-?\d+)?(?![\w.])")
PLACE = re.compile(r"([\w./-]+\.[a-z]+(?:\.gz)?):(\d+)")
TRANSIENT = {"created", "seconds", "versions", "code", "host", "command", "environment"}
TREC = "runs/trec/qrels.txt runs/trec/bm25.run"
LETOR = "runs/letor/fold1/test.txt runs/letor/gbrt/fold1-seed1.txt"
COVID = f"{SHARED}/trec_covid_round1"
LTR = f"{SHARED}/ltr"
MADE = f"{LTR}/predictions_made_here"
COMMANDS = f"""
run configs/[quickstart|trec|folds|sweep|compare|paper|plugin].yaml --[dry-run|format csv]
check configs/[quickstart|trec|folds|sweep|compare|paper|plugin].yaml --format json
run configs/quickstart.yaml --format [table|jsonl|markdown|html|trec]
evaluate {TREC} runs/trec/lsi.run -m map -m ndcg@10 -m swaps -q --format [table|csv|jsonl|html|trec]
evaluate {LETOR} -m map -m arp -m ndcg(gain=exp)@10 -q -f csv --ties [stable|average|bounds]
evaluate {LETOR} -m official -q -f csv [-M 3|-l 2|--set policy.judged_only=true|--ties reverse]
evaluate {LETOR} -m official -q -f csv --set policy.empty_queries=[one|skip]
evaluate {LETOR} -m ndcg@5 -m map -q -f csv --convention lightgbm
compare bm25 tfidf lsi --results results/trec --format [text|csv|jsonl|markdown]
diff results/quickstart results/trec --format [text|csv|jsonl|markdown]
compare runs/trec/bm25.run runs/trec/lsi.run --qrels runs/trec/qrels.txt -m map -f [text|jsonl]
compare bm25 tfidf lsi --results results/trec -m map --all-pairs --set compare.draws=999 \
-f csv --test \
[randomization|bootstrap|bootstrap-t|wilcoxon|sign|tukey|randomized-tukey|friedman-nemenyi]
table results/paper --format [latex|markdown|html|csv|text]
table results/compare --spread interval --digits 4 --format [latex|markdown|html|csv|text]
table results/quickstart --methods --format [latex|markdown|html|csv|text]
conventions configs/quickstart.yaml --format [text|csv|html]
trace results/quickstart --run bm25 --metric map
trace results/paper --run gbrt --metric map --dataset letor-fold1
conventions results/quickstart --match 0.4049 --run bm25 -m map --format csv
verify results/[quickstart|paper] --format json
diff results/paper results/paper/tables/main.md --format jsonl
init runs/[trec|letor] -o made/config.yaml --force
run made/config.yaml --dry-run
metrics [ndcg|--conventions]
trec_eval --as [9|10] -q -m [official|all_trec|ndcg_cut.5,10|set] {TREC}
evaluate runs/trec/qrels.txt [missing.run|runs/trec] -m map
evaluate {TREC} [-m ndgc@10|-q]
run configs/quickstart.yaml [--sett a=b|--set policy.ties=stabel]
table configs
trace results/quickstart --run bm52 --metric map
"""
REAL = f"""
evaluate {COVID}/qrels-rnd1.txt {COVID}/runs/* -m map -m P@5 -m bpref -m rbp(p=0.5) -f csv
check {COVID}/qrels-rnd1.txt {COVID}/runs/*1.gz -f json
evaluate {LTR}/mq2008_fold1/test.txt {MADE}/mq2008_fold1/*.pred -m ndcg@10 -m map -f csv
check {LTR}/mq2008_fold1/test.txt {MADE}/mq2008_fold1/*.pred -f json
check {LTR}/lightgbm_lambdarank/rank.test {MADE}/lightgbm_lambdarank/*.pred -f json
"""


def commands() -> Iterator[list[str]]:
    """Every command, each choice in brackets in turn; later ones read earlier results."""
    text = COMMANDS + REAL * SHARED.is_dir()
    for line in text.replace("\\\n", "").split("\n"):
        if not line:
            continue
        parts = [part.split("|") for part in re.split(r"[\[\]]", line)]
        for chosen in itertools.product(*parts):
            words = "".join(chosen).split()
            yield [file for word in words for file in files_of(word)]


def files_of(word: str) -> list[str]:
    if "*" not in word:
        return [word]
    return sorted(map(str, Path("/").glob(word.lstrip("/"))))


def record() -> dict[str, Any]:
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in ("configs", "runs"):
            shutil.copytree(ROOT / each, folder / each, ignore=shutil.ignore_patterns("results"))
        for words in commands():
            before = files_in(folder)
            try:
                code, out, err = called(*words, cwd=folder)
                one = {"code": code, "out": output(words, out), "places": places(err)}
            except Exception as error:
                one = {"crash": type(error).__name__}
            one["files"] = sorted(files_in(folder) - before)
            key = " ".join(words).replace(str(SHARED), "DATA")
            found[key] = json.loads(json.dumps(one).replace(str(SHARED), "DATA"))
            print(".", end="", flush=True, file=sys.stderr)
        for results in sorted((folder / "results").iterdir()):
            found[f"results/{results.name}"] = results_in(results)
    return found


def output(words: list[str], text: str) -> Any:
    """Command's output without its wording."""
    kinds = [after for one, after in pairwise(words) if one in ("--format", "-f")]
    kind = kinds[0] if kinds else "text"
    if words[0] == "trec_eval":
        return text.splitlines()
    if words[0] == "check" and kind == "json" and text.startswith("{"):
        names = ("severity", "rule", "file", "line")
        found = ([one.get(name) for name in names] for one in json.loads(text)["findings"])
        return sorted(found, key=str)
    if kind == "csv":
        return list(csv.reader(io.StringIO(text)))
    if kind == "jsonl":
        return [numbers_in(json.loads(line)) for line in text.splitlines()]
    return sorted(set(NUMBER.findall(text)))


def numbers_in(value: Any) -> Any:
    """Nested data with its texts of several words left out."""
    if isinstance(value, dict):
        return {k: numbers_in(v) for k, v in value.items() if k not in TRANSIENT}
    if isinstance(value, list):
        return [numbers_in(one) for one in value]
    return None if isinstance(value, str) and " " in value else value


def places(text: str) -> list[str]:
    return sorted({f"{Path(file).name}:{line}" for file, line in PLACE.findall(text)})


def files_in(folder: Path) -> set[str]:
    paths = (path for path in folder.rglob("*") if path.is_file() and "cells" not in path.parts)
    return {str(path.relative_to(folder)) for path in paths}


def results_in(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.startswith("cells") or path.is_dir():
            continue
        if path.suffix == ".parquet":
            found[name] = json.loads(json.dumps(pq.read_table(path).to_pydict(), default=str))
        elif path.suffix == ".csv":
            found[name] = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
        elif path.suffix in (".tex", ".md", ".html"):
            found[name] = sorted(set(NUMBER.findall(path.read_text(encoding="utf-8"))))
        else:
            found[name] = "present"
    return found


def difference(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """Places where two records differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key not in old or key not in new:
                yield f"{at} / {key}: only {'after' if key in new else 'before'}"
            else:
                yield from difference(old[key], new[key], f"{at} / {key}")
    elif old != new:
        if isinstance(old, list) and isinstance(new, list):
            old, new = ([x for x in a if x not in b] for a, b in ((old, new), (new, old)))
        yield f"{at}: {str(old)[:300]} -> {str(new)[:300]}"


def main(what: str, file: str) -> int:
    path, found = Path(file), record()
    if what == "record":
        path.write_bytes(gzip.compress(json.dumps(found).encode(), mtime=0))
        return 0
    differing = list(difference(json.loads(gzip.decompress(path.read_bytes())), found))
    print("", *differing, f"{len(differing)} differences", sep="\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
