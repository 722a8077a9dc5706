"""Write the generated pages of docs/reference and the JSON schemas.

Run ``python -m docs.generate``; a test fails if a page is out of date.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docs import api_pages, command_pages, holdings, metric_pages
from harness.config.model import SECTIONS, Config, DatasetEntry, FusedEntry, Groups, RunEntry
from harness.core.rules import FOUND, PLACED, REFUSED, RUN_RULES, SUBMITTED, WARNED
from harness.core.settings import CONVENTIONS, Convention
from harness.experiment import manifest as provenance
from harness.readers.column_roles import NAMES
from harness.readers.format import FORMATS
from harness.reports import catalogue
from harness.reports.page import Metadata
from harness.reports.paper_table.settings import Caption
from harness.stats.gate import MarginRule

HERE = Path(__file__).parent
NOTE = command_pages.NOTE


SAMPLES = """\
| file | sample line |
|---|---|
| TREC qrels | `7 0 DOC-00012 2` |
| TREC run | `7 Q0 DOC-00012 1 14.25 bm25` |
| LETOR dataset | `2 qid:7 1:0.5 2:0.031 #docid = DOC-00012` |
| predictions for it | `0.7312` |
| RankLib scores | `7 0 0.7312` |
| CSV with columns | `qid,docno,score`, then `7,DOC-00012,14.25` |
| JSON lines | `{"qid": "7", "docno": "DOC-00012", "score": 14.25}` |
| JSON lines of hits | `{"qid": "7", "hits": [{"docno": "DOC-00012", "score": 14.25}]}` |
| JSON of pytrec_eval | `{"7": {"DOC-00012": 14.25}}` |
| MS MARCO run | `7 DOC-00012 1` |
| ColBERT ranking | `7 DOC-00012 1 14.25` |
| BEIR qrels | `query-id corpus-id score`, then `7 DOC-00012 2`, with tabs |
"""


def pages() -> dict[str, str]:
    """Return each generated page's text by file name."""
    return {
        **metric_pages.pages(),
        **api_pages.pages(),
        **command_pages.pages(),
        "reference/formats.md": formats_page(),
        "reference/conventions.md": conventions_page(),
        "reference/rules.md": rules_page(),
        "config.schema.json": schema("config", config_schema()),
        "site/logo.svg": (HERE.parent / "harness/reports/page/logo.svg").read_text("utf-8"),
        "manifest.schema.json": schema("manifest", provenance.json_schema()),
    }


def schema(name: str, content: dict[str, object]) -> str:
    """Return a JSON schema as text, with the address that editors look it up by."""
    address = f"https://ranking-harness.github.io/ranking-harness/{name}.schema.json"
    content = {"$schema": content["$schema"], "$id": address, **content}
    return json.dumps(content, indent=1) + "\n"


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema of a config, in which each key has the text below it."""
    text = json.dumps(Config.model_json_schema())
    parts = (DatasetEntry, RunEntry, FusedEntry, Groups, Metadata, MarginRule, Caption)
    kinds: dict[str, type] = {one.__name__: one for one in parts}
    kinds |= {key.title().rstrip("s"): kind for key, kind in SECTIONS.items()}
    for name, kind in kinds.items():
        qualified = f"{kind.__module__}.{kind.__qualname__}".replace(".", "__")
        for own in (kind.__name__, qualified):
            text = text.replace(f'"{own}":', f'"{name}":').replace(f'/{own}"', f'/{name}"')
    schema: dict[str, Any] = json.loads(text)
    for name, kind in [("", Config), *kinds.items()]:
        part = schema["$defs"][name] if name else schema
        part["title"] = name or "A config of the ranking harness"
        for parent in reversed(kind.__mro__):
            for key, description in api_pages.field_texts(parent).items():
                shown = "baseline" if key == "baselines" else key
                if shown in part["properties"]:
                    part["properties"][shown]["description"] = description
    schema["required"].remove("name")
    schema["$defs"] = dict(sorted(schema["$defs"].items()))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def conventions_page() -> str:
    """Return the reference of conventions: a section for each, with a table of its settings."""
    tools = {re.sub(r"(-minus|-exp|9|9\.0\.8|10)$", "", name) for name in CONVENTIONS}
    lines = [
        NOTE + "# Conventions\n",
        "Compute a metric the way another tool does, with one of "
        f"{len(CONVENTIONS)} conventions of {len(tools)} tools. Write a convention into a metric "
        "(`ndcg(convention=lightgbm)@10`), or `convention: lightgbm` into a config. "
        "[Why tools disagree](../explanation/why-tools-disagree.md) explains the choices.\n",
        "The tables list the [settings](metrics.md#settings-of-every-metric) and parameters that "
        "each tool fixes. `grades` lists the labels that the tool accepts. "
        "`without a cutoff: @20` means that `ndcg` is `ndcg@20`.\n",
        "In the table of all conventions, `stable` is the order of the file, `reverse` its "
        "opposite, `average` the expected value over all orders, and `worst` puts low grades "
        "first. `docno+` is the docno, ascending. [Ties](../explanation/ties.md#ties) explains "
        "them.\n",
    ]
    lines += [f"{command_pages.example_of('reference/conventions.md')}", "## All conventions\n"]
    lines += ["| convention | tool | ties | query without relevant documents | gain of nDCG |"]
    lines += ["|---|---|---|---|---|"]
    empty = {"one": "1", "zero": "0", "skip": "left out", "nan": "left out"}
    for name, convention in CONVENTIONS.items():
        ndcg = convention.metrics.get("ndcg")
        own = {**convention.common, **(ndcg or {})}
        ties = {"trec_eval": "docno, descending"}.get(own.get("ties", "trec_eval"), own.get("ties"))
        gain = "" if ndcg is None else f"`{own.get('gain', 'linear')}`"
        unanswerable = empty.get(own.get("empty", "zero"), own.get("empty"))
        if own.get("empty") == own.get("undefined") == "nan":
            unanswerable = "the mean is NaN"
        tool = metric_pages.coded(convention.tool)
        lines.append(f"| [`{name}`](#{name}) | {tool} | {ties} | {unanswerable} | {gain} |")
    lines.append("")
    first = next(iter(CONVENTIONS.values()))
    earlier: dict[str, Any] = {}
    for name, convention in CONVENTIONS.items():
        settings = catalogue.settings_of(convention)
        about = convention.note, settings
        same = next((other for other in earlier if earlier[other] == about), "")
        parent = same or name.rpartition("-")[0]
        inherited = earlier.get(parent, ("", {}))[1]
        earlier[name] = about
        of_metrics = [texts for texts in settings if not texts[0].startswith("also ")]
        shared = [text for text in of_metrics[0] if all(text in texts for texts in of_metrics)]
        shared *= len(of_metrics) > 1
        note = f"The same as [{same}](#{same})." if same else metric_pages.coded(convention.note)
        lines += [f"## {name}\n", f"{metric_pages.coded(f'**{convention.tool}.**')} {note}\n"]
        table = [f"Every metric: {', '.join(map(_setting, shared))}.\n"] * bool(shared)
        table += [f"| metric | {'further ' * bool(shared)}settings |", "|---|---|"]
        for texts, names in settings.items():
            if inherited.get(texts) == names:
                continue
            own = [_setting(text) for text in texts if text not in shared]
            names = [f"`{name}`" for name in names] if convention is first else _short(names, first)
            table.append(f"| {', '.join(names)} | {', '.join(own) or 'none'} |")
        table += [f"| others | those of [{parent}](#{parent}) |"] * bool(inherited)
        lines += [] if same else [*table, ""]
        lines.append(f"Source: {metric_pages.inline(convention.source)}.\n")
    return "\n".join(lines)


def _setting(text: str) -> str:
    """Return a setting of a convention, with what users can write as code."""
    label, colon, value = text.rpartition(": ")
    if label == "without a cutoff":
        return f"{label}{colon}`{value}`"
    return re.sub(r"\S*=\S*", r"`\g<0>`", text)


def _short(names: list[str], first: Convention) -> list[str]:
    """Return names as code; most metrics of the first convention as a link to its list."""
    if len(names) * 2 < len(first.metrics):
        return [f"`{name}`" for name in names]
    missing = [f"`{name}`" for name in first.metrics if name not in names]
    own = [f"`{name}`" for name in names if name not in first.metrics]
    link = f"those of [{first.name}](#{first.name})"
    return [*own, link + f" without {' and '.join(missing)}" * bool(missing)]


def _column_names() -> str:
    """Return a table of the usual names of each column."""
    lines = ["| column | names |", "|---|---|"]
    for role in ("qid", "docno", "grade", "score", "rank"):
        names = [f"`{name}`" for name in NAMES[role]]
        more = f" and {len(names) - 12} more" if len(names) > 12 else ""
        lines.append(f"| {role} | {', '.join(names[:12])}{more} |")
    return "\n".join(lines)


def formats_page() -> str:
    """Return the table of formats."""
    lines = [
        NOTE + "# Formats\n",
        "Find your data in these tables, and use the command or call next to it. Add metrics to "
        "each command, such as `-m map`. In a call, the first argument has the judgements, and the "
        "second has the run. The readers detect the format from the content. If they take it for "
        "another, name it with `format:` in a config, `--qrels-format` or `--run-format`. Any file "
        "may be compressed with gz, bz2, xz or zst; "
        "`-` is standard input.\n",
        "## What you have, what to write\n",
        holdings.table(),
        "In a config, use the keys `columns`, `order: ascending`, `documents`, `duplicates` "
        "and `group` of a dataset or a run: see [config keys](config.md).\n",
        "## Objects and files of other tools\n",
        f"{holdings.tools_table()}\n",
        "## Formats by name\n",
    ]
    for name, known in sorted(FORMATS.items()):
        uses = " and ".join(["datasets"] * bool(known.qrels) + ["runs"] * bool(known.run))
        content = re.sub(r"\{[^}]*\}+", lambda found: f"`{found[0]}`", known.about)
        suffixes = ", ".join(map(command_pages.code, known.suffixes))
        lines += [
            f"{command_pages.code(name, name)} ({uses}; {suffixes})",
            f":   {content[:1].upper()}{content[1:]}.\n",
        ]
    lines.append(
        f"## Sample lines\n\n{SAMPLES}\n"
        "## Tables of predictions\n\n"
        "If a table or a dict of tensors has no qids, its predictions must be in the order of "
        "the dataset's rows. The harness accepts:\n\n"
        "- a CSV of one column with a header,\n"
        "- `series.to_csv(path)` from pandas, if its index is increasing,\n"
        "- a column `score`, `pred`, `prediction`, `y_pred` or `yhat`.\n\n"
        "## Names of columns\n\n"
        "The readers find columns by these names. Case, blanks, hyphens and underscores in them do "
        f"not matter:\n\n{_column_names()}\n\n"
        "If your scores have another name, name "
        "their column. If two columns fit, such as `label` and `relevance`, name the right one. "
        "The readers prefer a column called `grade` or `score`. Give the name in the header, or "
        "the number of the column from 1. If the lowest score is best, as for distances and "
        "losses, say so too:\n\n"
        "| where | columns | the lowest is best |\n|---|---|---|\n"
        "| `harness evaluate`, `compare`, `gate`, `check` | `--columns qid=1,docno=3,score=sim`, "
        "`--set 'dataset.columns={grade: label}'` | `--lower-is-better` |\n"
        "| a config | `columns: {qid: 1, docno: 3, score: sim}` | `order: ascending` |\n"
        "| `harness.evaluate`, `compare`, `gate`, `page`, `check` | `columns={'score': 'sim'}`, "
        "`qrels_columns={'grade': 'label'}` | `order='ascending'` |\n\n"
        "Options apply to all runs of a command. If runs differ, such as BM25 scores and "
        "distances of passages, write [a config](../how-to/fuse-runs.md#fuse-distances), or call "
        "`harness.read_run` for each in Python.\n\n"
        "Blanks, tabs, commas or semicolons separate the columns of a file. "
        "In JSON Lines, give names of columns, not numbers. In Python, `columns` "
        "also names the columns of data frames, Arrow tables and dicts of arrays. The manifest "
        "lists the columns that were read.\n\n"
        "If a dataset has numbered columns of fractions, such as `f1` and `f2`, its rows are "
        "learning-to-rank rows: `harness check` reports rows without a score. A dataset without "
        "features, such as `qid,docno,label`, is read as qrels: a run may leave documents out.\n\n"
        "pandas may write the qid 7 as `7.0`. If all qids of a CSV or TSV end in `.0`, the readers "
        "drop it, unless it is in quotes.\n\n"
        "## Passages\n\n"
        "If the run ranks passages and the qrels judge documents, add `documents` to the run: "
        "a pattern with one group for the docno of the document, such as `documents: "
        "'(.+)#\\d+$'` for `D1#0`. `harness check` proposes a pattern for common spellings. "
        "A document gets the best score of its passages. Write "
        "`{from: PATTERN, take: sum}` for the sum, `mean` for the mean, or `first` for the passage "
        "with the lowest number. On the command line, write "
        "`--set run.documents=PATTERN`, or `TAKE:PATTERN` as in `sum:(.+)#[0-9]+`.\n"
    )
    lines.append(
        "## What the readers reject\n\n"
        "The readers reject these mistakes, with file and line:\n\n"
        "- a NaN or infinite score,\n"
        "- a docno twice in a query (`duplicates: first`, `last` or `best` keeps one of them),\n"
        "- a line with missing fields,\n"
        "- more or fewer predictions than rows in the dataset.\n\n"
        "Grades may be fractions. Metrics of gains, such as `ndcg`, `dcg`, `arp` and `mse`, accept "
        "them. Metrics of relevant documents, such as `map` and `P`, need the smallest "
        "relevant grade: `map(rel=0.5)`, or `relevance_level: 0.5` for all metrics. Otherwise the "
        "first fraction is an error.\n\n"
        "If the rows of a query are not next to each other, the readers gather them, with a "
        "warning for LETOR files and a note for others.\n"
    )
    lines.append(
        "## Comments\n\n"
        "Text files may begin with comments: lines above the first row that start with `#`. "
        "Later lines that start with `#` are rows, such as `#7 Q0 d1 1 0.5 t` of query `#7`. "
        "In LETOR files, the text after a `#` is a comment on every line.\n"
    )
    lines.append(
        "## Qrels of ir_datasets, and URLs\n\n"
        "Write `ir_datasets:ID` instead of a path, such as `ir_datasets:beir/arguana`, for the "
        "qrels of [ir_datasets](https://ir-datasets.com). It needs the extra `ir_datasets`, and "
        "a network connection the first time. The harness then stores the qrels as a "
        "TREC file in the cache of ir_datasets, in the folder `ranking-harness`.\n"
    )
    lines.append(
        "For a file [on another machine](../how-to/data-elsewhere.md), write its URL instead of a "
        "path, such as `s3://bucket/bm25.run.gz`. It needs the extra `remote`.\n"
    )
    return "\n".join(lines)


def rules_page() -> str:
    """Return every rule of ``harness check`` and the guard, with an anchor each."""
    lines = [
        NOTE + "# Rules of the guard\n",
        "Look up a finding of `harness check` by its rule. `harness run` also reports most of "
        "them. If a finding is intended, accept its rule in the config: `guard: {accept: [RULE]}`. "
        "[Find mistakes in your files](../how-to/check-files.md) shows how to use the check.\n",
        "The command prints the rule in brackets: `no answer to 1 of 30 judged queries: 17 "
        "[missing-queries]`. Findings have one of three severities:\n",
        "- *error*: values are wrong or impossible; `harness check` exits with 2.",
        "- *warning*: values may not mean what you expect; with `--strict` it exits with 1.",
        "- *note*: a fact to know, shown with `--notes`.\n",
    ]
    parts = (
        ("Findings of harness run and harness check", (*RUN_RULES, *PLACED)),
        ("Findings of harness check only", FOUND),
        ("Findings in submissions to a shared task", SUBMITTED),
        ("Warnings of readers", WARNED),
        ("Errors of readers", REFUSED),
    )
    for title, rules in parts:
        lines.append(f"## {title}\n")
        for rule in rules:
            about, effect, fix = map(command_pages.marked, (rule.about, rule.effect, rule.fix))
            lines += [f"### {rule.name}\n", f"*{rule.severity}*: {about}\n"]
            lines += [f"- Effect: {effect}.\n- Fix: {fix}.\n"]
    return "\n".join(lines)


def main() -> None:
    """Write every page."""
    for name, text in pages().items():
        (HERE / name).parent.mkdir(exist_ok=True)
        (HERE / name).write_text(text, encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
