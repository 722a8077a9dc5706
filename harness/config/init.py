"""A look at folders of judgements and runs -> a config to begin with."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from yaml import YAMLError

from .. import files as store
from ..core.text import part, wrong_with
from ..errors import ConfigError, HarnessWarning, InputError, Problem, in_json, legible
from ..readers.ir_metadata import load
from .init_entries import (
    MODEL,
    WORDS,
    Entry,
    Proposal,
    escaped,
    filled,
    in_braces,
    numbered,
    propose,
)
from .init_files import Look, look
from .load import check_way, loads
from .yaml_file import PlacedProblem

SHOWN = 100
"""Lines of files left out; of those that differ in the number of a fold or seed there is one."""
_TREC = ["map", "ndcg_cut_10", "P_10", "recip_rank"]
_ROWS = ["map", "ndcg@1,5,10", "ndcg(gain=exp)@1,5,10"]
_PLAIN = re.compile(r"[A-Za-z0-9_./+][A-Za-z0-9_./+ -]*")


def propose_config(folders: Path | Sequence[Path], base: Path, where: str = "config.yaml") -> str:
    """Return a config for what a folder holds, or several.

    Parameters
    ----------
    folders : Path or sequence of Path
        Judgements and runs, at any depth.
    base : Path
        Folder in which the config will stand.
    where : str
        What it will be called.

    Returns
    -------
    str
        YAML with comments. It loads as it is, unless judgements or runs are lacking: then it says
        what to fill in.

    Raises
    ------
    InputError
        Where a folder is none, or they hold neither, or ``harness run`` would refuse the config.
    """
    folders = [folders] if isinstance(folders, Path) else [*folders]
    fix = "give the folders of your judgements and runs"
    wrong = [Problem(str(one), "is no folder", fix=fix) for one in folders if not one.is_dir()]
    if wrong:
        raise InputError(wrong)
    with warnings.catch_warnings():  # which harness run and harness check give
        warnings.simplefilter("ignore", HarnessWarning)
        return _proposed(look(folders), folders, base, where)


def _proposed(found: Look, folders: Sequence[Path], base: Path, where: str) -> str:
    if not found.files:
        n = len(found.every)
        what = f"none of its {n} files is a run or judgements" if n else "holds no files"
        said = ", ".join(map(str, folders))
        raise InputError(Problem(said, what, fix="formats that are known: docs/formats.md"))
    check_way(base / Path(where).name)
    made = propose(found)
    while made.datasets and made.runs:
        text = render(made, base, where)
        try:
            loads(text, where, base)
        except ConfigError as error:
            if not _set_aside(made, error):
                raise _not_loaded(folders, error) from error
        else:
            return text
    return render(made, base, where)


def save(folders: Path | Sequence[Path], output: Path, *, force: bool = False) -> None:
    """Write a config for what a folder holds, or several, into a file.

    Raises
    ------
    InputError
        Where the file is there already and `force` is not given; as :func:`propose_config`.
    """
    if output.exists() and not force:
        what = "is there already, and is left as it is"
        raise InputError(Problem(str(output), what, fix="name another file, or give --force"))
    store.check_writable(output.parent)
    with store.made(output.parent):  # from which its paths start
        text = propose_config(folders, output.parent, str(output))
        store.write_all(output.parent, {output.name: text.encode()}, alone=False)


def _not_loaded(folders: Sequence[Path], error: ConfigError) -> InputError:
    """Return the error that no config for these folders loads; ours, or a name nobody expected."""
    said = ", ".join(map(str, folders))
    first = error.problems[0]
    what = f"expected a config that harness run loads, got: {first.where}: {first.what}"
    fix = "rename the folder or file that this is about, or write the config by hand"
    return InputError(Problem(said, what, fix=fix))


def _set_aside(made: Proposal, error: ConfigError) -> bool:
    """Leave out the runs that something is wrong with, and say why; whether there was one."""
    wrong = {
        problem.loc[1]: problem.what
        for problem in reversed(error.problems)
        if isinstance(problem, PlacedProblem) and problem.loc[:1] == ("runs",)
    }
    made.aside |= {entry.path: wrong[entry.key] for entry in made.runs if entry.key in wrong}
    before = len(made.runs)
    made.runs = [entry for entry in made.runs if entry.key not in wrong]
    return len(made.runs) < before


def render(made: Proposal, base: Path, where: str) -> str:
    """Return the config.

    Parameters
    ----------
    made : Proposal
    base : Path
        Folder in which the config will stand.
    where : str
        What the config will be called. It needs a ``name`` if that is no name for a folder.
    """
    way = Path(os.path.relpath(made.folder.resolve(), base.resolve())).as_posix()
    start = "" if way == "." else escaped(way) + "/"
    lines = [
        "# Written by harness init. Paths start at the folder of this file; {placeholders} stand",
        "# for whatever the files on disk have there. docs/config.md has every key.",
        "# harness run FILE --dry-run shows the cells.",
        *([f"name: config-{part(stem)}"] if wrong_with(stem := Path(where).stem) else []),
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
        *_compare(made),
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


def _compare(made: Proposal) -> Iterator[str]:
    """Yield a plan of comparison, unless there is one run alone."""
    names = [*dict.fromkeys(name for entry in made.runs for name in _models(entry))] or ["RUN"]
    known = [name for name in names if re.search("bm25|baseline|linear|random", name, re.I)]
    if names == ["RUN"] or len(names) > 1:
        baseline = _quoted((known or names)[0])
        yield f"# compare: {{baseline: {baseline}, test: paired-t, correction: holm}}"


def _models(entry: Entry) -> list[str]:
    models = [values.get("model", "") for values in entry.group.values.values()]
    return [
        filled(entry.key, {MODEL: in_braces(model)}).replace("{{", "{").replace("}}", "}")
        for model in models
    ]


def _quoted(text: str) -> str:
    """Return text as YAML, in quotes where it needs them."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in ("y", "n")  # YAML 1.1's true and false
    with contextlib.suppress(YAMLError):  # a number that YAML reads otherwise than it looks
        if plain and load(text) == text:
            return text
    return in_json(text)
