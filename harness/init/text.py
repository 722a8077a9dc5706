"""Entries -> the text of a config, with comments."""

from __future__ import annotations

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from yaml import YAMLError

from ..core.guarded_yaml import load
from ..escaping import in_json, legible
from .entries import Entry, Proposal
from .names import WORDS, escaped, numbered

SHOWN = 100
"""Lines of files left out; of those that differ in the number of a fold or seed there is one."""
_TREC = ["map", "ndcg_cut_10", "P_10", "recip_rank"]
_ROWS = ["map", "ndcg@1,5,10", "ndcg(gain=exp)@1,5,10"]
_PLAIN = re.compile(r"[A-Za-z0-9_./+][A-Za-z0-9_./+ -]*")


def render(made: Proposal, base: Path) -> str:
    """Return the config.

    Parameters
    ----------
    made : Proposal
    base : Path
        Folder in which the config will stand.
    """
    way = Path(os.path.relpath(made.folder.resolve(), base.resolve())).as_posix()
    start = "" if way == "." else escaped(way) + "/"
    lines = [
        "# Written by harness init. Paths start at the folder of this file; {placeholders} stand",
        "# for whatever the files on disk have there. docs/config.md has every key.",
        "# harness run FILE --dry-run shows the cells.",
        "# output: results/{name}   # {name}: that of this file",
        "",
        "datasets:",
        *_datasets(made, start),
        "",
        "runs:",
        *_runs(made, start),
        "",
        *_where(made),
        *_metrics(made),
        "",
        "# policy: {ties: trec_eval, missing_queries: zero, empty_queries: zero}   # the defaults",
        *_summary(made),
        f"# compare: {{baseline: {_baseline(made)}, test: paired-t, correction: holm}}",
        "# reports: [csv, markdown]",
    ]
    if made.aside:
        lines += ["", "# Not used:", *_not_used(made.aside)]
    return "\n".join(lines) + "\n"


def _not_used(aside: Mapping[str, str]) -> list[str]:
    """Return a line for each file left out, or for each pattern of such files."""
    alike: dict[str, list[str]] = defaultdict(list)
    for path, why in aside.items():
        alike[why].append(path)
    lines = []
    for why, paths in alike.items():
        for group in numbered(paths):
            one = len(group.values) == 1
            shown = f"{next(iter(group.values))}: " if one else f"{group.pattern}: "
            files = "" if one else f"{len(group.values)} files: "
            lines.append(legible(f"#   {shown}{files}{why}"))
    more = len(lines) - SHOWN
    return [*lines[:SHOWN], f"#   ... and {more} more"] if more > 0 else lines


def _datasets(made: Proposal, start: str) -> Iterator[str]:
    if not made.datasets:
        yield "  # fill in: no judgements were found (qrels, or a learning-to-rank file)"
        yield "  data: {path: FILL-IN}"
    for entry in made.datasets:
        path = _quoted(start + entry.path)
        yield f"  {_quoted(entry.key)}: {{format: {entry.format}, path: {path}}}"


def _runs(made: Proposal, start: str) -> Iterator[str]:
    if not made.runs:
        yield "  # fill in: no run was found that fits the judgements; {model} may stand in a path"
        if len(made.datasets) < 2:
            yield "  model: {path: FILL-IN}"
        else:
            yield "  model:"
            for entry in made.datasets:
                yield f"    - {{dataset: {_quoted(entry.key)}, path: FILL-IN}}"
    for key in dict.fromkeys(entry.key for entry in made.runs):
        entries = [entry for entry in made.runs if entry.key == key]
        if len(entries) == 1:
            yield from _notes(entries[0], "  ")
            yield f"  {_quoted(key)}: {_entry(entries[0], made.datasets, start)}"
            continue
        yield f"  {_quoted(key)}:"
        for entry in entries:
            yield from _notes(entry, "    ")
            yield f"    - {_entry(entry, made.datasets, start)}"


def _notes(entry: Entry, indent: str) -> Iterator[str]:
    if entry.note:
        yield f"{indent}# {legible(entry.note)}"


def _entry(entry: Entry, datasets: Sequence[Entry], start: str) -> str:
    parts = [f"format: {entry.format}", f"path: {_quoted(start + entry.path)}"]
    if entry.names_dataset:
        parts.insert(0, f"dataset: {_quoted(datasets[entry.dataset].key)}")
    return f"{{{', '.join(parts)}}}"


def _where(made: Proposal) -> Iterator[str]:
    names = dict.fromkeys(name for entry in made.runs for name in entry.group.names)
    if made.where:
        parts = [f"{name}: [{', '.join(map(_quoted, some))}]" for name, some in made.where.items()]
        yield f"where: {{{', '.join(parts)}}}   # there are data for more, but no runs"
        yield ""
    elif names:
        name = next(iter(names))
        entry = next(entry for entry in made.runs if name in entry.group.names)
        value = next(iter(entry.group.values.values()))[name]
        yield f"# where: {{{name}: [{_quoted(value)}]}}   # evaluate a part of it"
        yield "# complete: true   # make gaps in the grid an error"
        yield ""


def _metrics(made: Proposal) -> Iterator[str]:
    kinds = {entry.format in ("letor", "batch") for entry in made.datasets}
    names = [*(_ROWS if True in kinds else []), *(_TREC if kinds != {True} else [])]
    yield "metrics:   # all of them: harness metrics"
    yield from (f"  - {_quoted(name)}" for name in dict.fromkeys(names))


def _summary(made: Proposal) -> Iterator[str]:
    """Yield what makes a row a system of folds and seeds, where there are any."""
    pool = dict.fromkeys(name for entry in made.datasets for name in entry.group.names)
    own = dict.fromkeys(name for entry in made.runs for name in entry.group.names)
    spread = [name for name in own if name in WORDS and name not in pool]
    sharing = any(entry.shares_queries for entry in made.datasets)
    ways = {"average" if sharing else "pool": pool, "spread": spread}
    said = [f"{way}: [{', '.join(names)}]" for way, names in ways.items() if names]
    if said:
        yield f"# summary: {{{', '.join(said)}}}   # a row a system, not a row a cell"
    if sharing:
        yield "#   average, which goes without compare: folds share queries, and cannot be pooled"


def _baseline(made: Proposal) -> str:
    names = [m for entry in made.runs for m in _models(entry)]
    known = [name for name in names if re.search("bm25|baseline|linear|random", name, re.I)]
    return _quoted((known or names or ["RUN"])[0])


def _models(entry: Entry) -> list[str]:
    models = [values.get("model", "") for values in entry.group.values.values()]
    return [entry.key.replace("{model}", model) for model in models]


def _quoted(text: str) -> str:
    """Return text as YAML, in quotes where it needs them."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in ("y", "n")  # YAML 1.1's true and false
    with contextlib.suppress(YAMLError):  # a number that YAML reads otherwise than it looks
        if plain and load(text) == text:
            return text
    return in_json(text)
