"""Targets: the config loader, the metric grammar, trec_eval's arguments, tables of papers."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from pathlib import Path

from harness.audit.check_table import FORMATS, verify
from harness.audit.check_table_match import Known, match
from harness.compat.trec_eval import arguments
from harness.compat.trec_eval import input as rows
from harness.compat.trec_eval.arguments import Stop
from harness.config import load as config
from harness.config import plugins as trust
from harness.core import names
from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.evaluate import evaluate
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.errors import InputError

from .reading import RUN, TEXT
from .target import FOLDER, Target

ROOT = Path(__file__).resolve().parents[2]
CUT = b"\n---8<---\n"
"""What stands between a config and the one that it extends."""

CONFIG = b"""\
name: small
output: results/{name}
datasets:
  news-{fold}: {format: trec, path: "data/fold{fold}.qrels"}
runs:
  "{model}": {format: trec, path: "data/{model}-{fold}.run"}
where: {model: [a, b], fold: "1"}
metric_sets: {usual: [map, "ndcg@10"]}
metrics: [usual, "ndcg(gain=exp)@1,5", "rbo(p=0.9)"]
summary: {pool: [fold]}
policy: {ties: trec_eval}
compare: {baseline: a, test: paired-t}
tables:
  main: {metrics: [map], digits: 2}
plots: [differences]
reports: [csv]
"""
EXTENDING = b"extends: base.yaml\nmetrics: [map]\nwhere: null\n" + CUT + CONFIG
_YAML = (
    b"&a ", b"*a", b"<<: *a", b"[", b"]", b"{", b"}", b": ", b"- ", b"!!int ", b"!!timestamp x",
    b"!!python/object/apply:os.system [ls]", b"!!binary x", b"!!set {a}", b"\\ud800",
    b'"\\U00110000"',
    b"extends: ", b"{a}{b}", b"null", b"1e400", b".nan", b"2001-13-45", b"1:99:99", b"#", b"|\n",
    b"---\n", b"...\n", b"%YAML 9.9\n", b"? ", b"'", b'"', *TEXT,
)  # fmt: skip
_METRICS = (
    b"ndcg", b"@", b"(", b")", b",", b"=", b"gain=exp", b"rel=2", b"convention=lightgbm", b"_cut_",
    b"P.5,10", b"official", b"ndcg.1=3,2=9", b"_best", b"_worst", b"rbo(p=0.9)", b"none", b":",
    b";", b"1_0", "\uff11".encode(), "\u0661".encode(), b"nan", b"inf", b"1e400", b"-1", b"9" * 30,
)  # fmt: skip


def _folder() -> Path:
    folder = FOLDER / "configs"
    if not folder.is_dir():
        (folder / "data").mkdir(parents=True)
        for name in ("fold1.qrels", "fold2.qrels", "a-1.run", "a-2.run", "b-1.run", "b-2.run"):
            (folder / "data" / name).write_text("q1 0 d1 1\n")
    return folder


@functools.cache
def _tiny(policy: Policy) -> Aligned:
    """Two queries, with ties, an unjudged document and one that is not retrieved."""
    qrels = Qrels.from_dict({"1": {"a": 2, "b": 0, "c": 1, "e": 1}, "2": {"a": 0}})
    run = Run.from_dict({"1": {"b": 3.0, "a": 2.0, "x": 2.0, "c": 1.0}, "2": {"a": 1.0}})
    return align(qrels, run, policy)


def _config(data: bytes) -> None:
    folder = _folder()
    trust.allow_plugins(False)  # else a word of the input could be any module
    text, _, base = data.partition(CUT)
    (folder / "base.yaml").write_bytes(base)
    (folder / "fuzzed.yaml").write_bytes(text)
    try:
        found = config.load(folder / "fuzzed.yaml")
    finally:
        trust.allow_plugins(True)
    json.dumps(json.loads(found.model_dump_json())).encode()
    evaluate(_tiny(found.to_policy()), found.parsed_metrics())


def _metric(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for metric in names.parse(text):
        assert names.parse(str(metric)) == [metric], f"{metric} is read as another"
        evaluate(_tiny(Policy()), [metric])


def _arguments(data: bytes) -> None:
    words = [os.fsdecode(word) for word in data.split(b"\n") if b"\0" not in word]
    try:
        arguments.parse(words)
    except Stop as stop:
        str(stop).encode("utf-8", "surrogateescape")


def _rows(data: bytes) -> None:
    for version in (9, 10):
        found = expected = None
        with contextlib.suppress(Stop, rows._Malformed):
            found = rows.rows_of(data, version)
        with contextlib.suppress(rows._Malformed):
            expected = None if b"\0" in data else rows.by_lines(data, version)
        assert (found is None) == (expected is None), f"{found} in place of {expected}"
        if found is None or expected is None:
            continue
        assert found.num_rows == expected.num_rows
        for name in expected.column_names:
            got, wanted = (t[name].combine_chunks() for t in (found, expected))
            if name != "score":
                got, wanted = (c.view("binary") for c in (got, wanted))
            assert str(got.to_pylist()) == str(wanted.to_pylist()), name


_STUDY: list[object] = []


def _study() -> object:
    if not _STUDY:
        sys.path.insert(0, str(ROOT / "tests" / "check_table"))
        from known_means import study

        _STUDY.append(study())
    return _STUDY[0]


SUFFIXES = (".tex", ".md", ".csv", ".html")


def _paper(data: bytes) -> None:
    text = data[1:].decode("utf-8-sig", "replace")
    suffix = SUFFIXES[data[0] % 4] if data else ".csv"
    found = _study()
    try:
        grids = FORMATS[suffix](text)
    except (InputError, RecursionError):
        return
    for grid in grids:
        assert len({len(row) for row in grid.rows}) == 1
        verify(match(grid, Known.of(found, [])), found, "1")


PAPERS = (
    b"\0\\begin{tabular}{lc} & Web MAP \\\\ \\midrule bm25 & \\textbf{.400} \\\\ ours & .424\\\\"
    b"\n\\multicolumn{2}{c}{\\num{3}} \\end{tabular}",
    b"\1| | web MAP |\n|---|---|\n| bm25 | **0.400** |\n| ours | 0.424<sup>a</sup> |\n",
    b"\2run,web MAP\nbm25,.400\nours,**.424**\n",
    b"\3<table><tr><td></td><th colspan=1>web MAP</th></tr><tr><td>bm25</td><td><b>.4</b></td>"
    b"</tr></table>",
)
_MARKUP = (
    b"\\", b"{", b"}", b"&", b"\\\\", b"%", b"$", b"^", b"_", b"\\newcommand{\\x}[1]{", b"\\x",
    b"\\def\\x{\\x\\x}", b"\\multirow{2}{*}{", b"\\multicolumn{999}{c}{", b"|", b"<td rowspan=999>",
    b"<tr>", b"</table>", b"<sup>", b"**", b"`", b"[", b"]", b"(", b")", b'"', b"\n", b"\r", b"\0",
    b"<!--", b"&#x110000;", b"&#55296;", b"\xc2\xb2", b"\xd9\xa3", b"1e999",
)  # fmt: skip

TARGETS = (
    Target("config", _config, (CONFIG, EXTENDING), _YAML),
    Target("metric-names", _metric, (b"ndcg(gain=exp,rel=2)@10", b"P.5,10", b"rbo(p=0.9)",
           b"ndcg_cut_10", b"ndcg.1=3,2=9", b"nDCG@1,3", b"map_best", b"official",
           b"ndcg(convention=lightgbm)@5", b"utility.1,-1,0,0"), _METRICS),
    Target("trec_eval-arguments", _arguments, (b"-q\n-m\nP.5,10\nqrels\nrun\n-l2",
           b"--as=10\n-mall_trec\n-M100\na\nb", b"-h\n-m\nmap"),
           (*_METRICS, b"-N", b"-D", b"--le")),
    Target("trec_eval-rows", _rows, (RUN, RUN.replace(b" ", b"\t")), TEXT),
    Target("papers", _paper, PAPERS, _MARKUP),
)  # fmt: skip
