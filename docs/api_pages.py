"""Write the reference of the Python API: a page for each task, from signatures and docstrings."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import re
import sys
import types
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin

import harness
from docs import metric_pages
from docs.command_pages import NOTE, code
from harness import errors

TASKS = {
    "evaluate": ("Evaluate", "evaluate Evaluation metric_name Policy fuse"),
    "training": (
        "Evaluate while you train",
        "lightgbm xgboost catboost sklearn torch BatchCollector to_pytrec_eval from_pytrec_eval "
        "batch",
    ),
    "compare": ("Compare and gate", "compare per_query Comparisons rank_similarity gate"),
    "configs": ("Run a config and trace numbers", "run Results trace conventions"),
    "check": ("Check files", "check Checked"),
    "report": ("Make tables, plots and pages", "table Table plot Plots page"),
    "files": ("Read and write files", "read_qrels read_run Qrels Run save_predictions"),
    "pytrec_eval": ("Replace pytrec_eval", "compat"),
    "extend": (
        "Extend",
        "metric Range paired_test all_pairs_test align Aligned",
    ),
    "errors": ("Errors", "HarnessError"),
}
"""Title of the page of each task, and its public names."""
GUIDES = {
    "evaluate": (
        ("start/python.md#evaluate", "Python in five minutes"),
        ("reference/metrics.md", "Metrics"),
        ("reference/conventions.md", "Conventions"),
        ("reference/formats.md", "Formats"),
    ),
    "training": (
        ("how-to/training-loop.md", "Evaluate in a training loop"),
        ("how-to/gradient-boosting.md", "Evaluate LightGBM, XGBoost or CatBoost"),
    ),
    "compare": (
        ("how-to/compare-systems.md", "Compare systems"),
        ("explanation/choosing-a-test.md", "Choosing a test"),
        ("how-to/gate.md", "Gate a pull request"),
    ),
    "configs": (
        ("how-to/notebook.md", "Work with results in a notebook"),
        ("how-to/write-a-config.md", "Write a config"),
        ("how-to/trace-a-number.md", "Trace a number to its ranking"),
    ),
    "check": (
        ("how-to/check-files.md", "Find mistakes in your files"),
        ("reference/rules.md", "Rules of the guard"),
    ),
    "report": (
        ("how-to/latex-table.md", "Make a LaTeX table"),
        ("how-to/figures.md", "Draw figures"),
        ("how-to/report-page.md", "Publish a report page"),
    ),
    "files": (
        ("reference/formats.md", "Formats"),
        ("how-to/other-programs.md", "Analyse values in other programs"),
    ),
    "pytrec_eval": (("how-to/replace-pytrec-eval.md", "Replace pytrec_eval or trec_eval"),),
    "extend": (
        ("how-to/add-a-metric.md", "Add a metric"),
        ("explanation/choosing-a-test.md", "Choosing a test"),
    ),
    "errors": (("how-to/troubleshooting.md", "Troubleshooting"),),
}
"""Pages that show how to use the names of a page."""
SCRIPTS = {
    "run": ("start/python.md", "experiment.py"),
    "trace": ("how-to/trace-a-number.md", "value.py"),
    "check": ("start/python.md", "check.py"),
    "table": ("how-to/notebook.md", "paper.py"),
    "read_run": ("how-to/other-programs.md", "read.py"),
    "HarnessError": ("how-to/notebook.md", "mistake.py"),
}
"""Scripts of other pages, whose output is tested, as examples."""
ERRORS = (
    errors.HarnessError, errors.ConfigError, errors.InputError, errors.UnknownNameError,
    errors.ArgumentError, errors.AlignmentError, errors.VerificationError, errors.ShortageError,
)  # fmt: skip
CONSTRUCTED = (
    "BatchCollector", "Policy", "Range", "RankingMetric", "RelevanceEvaluator"
)  # fmt: skip
"""Classes that users call; functions return the others."""
INTERNAL = {
    "Account": "entry manifest choices chosen incomplete warned",
    "Checked": "alone cells submitted",
    "Comparison": "may_be_drawn",
    "Comparisons": "absent averaged chosen failed family lost of overall_of remarks warned",
    "Evaluation": "summary_over",
    "Finding": "advice head problem shown",
    "HarnessError": "findings texts fix rule",
    "Policy": "grades with_settings",
    "Qrels": "check_named check_numbers find knows place",
    "Results": "citations is_sampled names readings shown similarity sort summarised with_metrics",
    "Run": "check_numbers",
    "Verdict": "limit worst_gain",
}
"""Methods and fields of classes for other modules of the harness."""
INHERITED = dict.fromkeys(("Qrels", "Run"), ("n_queries", "n_rows", "from_dict", "to_dict"))
"""Members of a base class without a page."""
FIELDS = (
    "Account", "AllPairs", "Comparison", "Finding", "Outcome", "Overall", "Problem",
    "RankSimilarity", "Standing", "Verdict",
)  # fmt: skip
"""Classes without a public name, whose fields are below the function or class that has them."""
WITH_RESULTS = (harness.paired_test, harness.all_pairs_test)
"""Functions with the classes of their results in the text above the parameters."""
HEADINGS = {
    "evaluate": {
        "Data": "qrels run metrics n mask qids references weights",
        "Settings": "policy relevance_level convention",
        "Names": "name dataset",
        "Reading files": "columns qrels_columns order duplicates documents",
    },
    "metric": {
        "Required": "name direction bounds source",
        "Common": "summary empty missing aliases cutoffs unit title cite",
        "Names of trec_eval": "trec_name trec_parameter",
        "Rare": "weight reference fractions check variants empty_of short_of expected bounded "
        "unbounded_with",
    },
}
"""Headings in long lists of arguments."""
PLAIN_TYPES = {
    "ArrayLike": "array_like", "Bools": "array of bool", "Floats": "array of float",
    "Ints": "array of int", "PathLike": "path", "tuple[str, ...]": "tuple of str",
}  # fmt: skip
"""Annotations in plain words."""
SIMILAR = {
    "feval": ("lightgbm.feval",),
    "read_run": ("read_qrels",),
    **dict.fromkeys(harness.batch.__all__, ("batch.ndcg", "BatchCollector.add", "compare")),
}
"""Functions with the meaning of arguments that a docstring leaves to them."""
MEANINGS = {
    "alpha": "Factor of the differences between scores.",
    "correction": "Correct p-values for several metrics or runs.",
    "formats": "Formats of the files.",
    "interval": "Method of the intervals: Student's t, or the bootstrap (BCa).",
    "policy": "Ties, missing and empty queries; see `evaluate`.",
    "problems": "What went wrong.",
    "qrel": "Judgements: `{qid: {docno: grade}}`.",
    "board": "The leaderboard.",
    "by": "Name of the weights.",
    "dataset": "Name of the dataset.",
    "folder": "Folder to write into.",
    "form": "Form of the value; see the metric.",
    "format": "Format of the text.",
    "func_dict": "A function for each measure, or the names of measures.",
    "high": "Largest value; None for no bound.",
    "items": "Ascending indices of items.",
    "low": "Smallest value; None for no bound.",
    "mask": "True for each document, False for padding, in place of `n`.",
    "metric": "A metric, in any spelling.",
    "metrics": "Metrics or their names.",
    "counts": "Counts of queries, documents and judgements.",
    "n": "Number of documents of each query; the rest of a row is padding.",
    "name": "Name in reports and configs.",
    "names": "Spelling of the names.",
    "normalize": "Divide by the number of pairs.",
    "one": "One of the `rows`.",
    "open": "Exclude the bounds themselves.",
    "p": "Persistence: chance that a reader goes on to the next rank.",
    "path": "The file; see `read_qrels`.",
    "qids": "Qid of each query.",
    "qrels": "The judgements.",
    "queries": "Mask of queries, shape (n_queries,).",
    "random": "The test draws random numbers.",
    "rel": "Smallest grade that is relevant.",
    "relevance": "Grades, a row for each query.",
    "run": "Name of the run.",
    "scores": "Scores, a row for each query.",
    "settings": "Object with attributes named as the fields.",
    "severity": "`error`, `warning` or `note`.",
    "some": "Slice or mask of queries.",
    "sources": "Keys of the literature to cite.",
    "text": "Name of the metric, in any spelling.",
    "tied": "How ties count; see the metric.",
    "ties": "Order of tied documents.",
    "title": "Name in a methods section.",
    "weighted": "The test takes weights of queries.",
    "weights": "Weight of each query.",
    "x": "Numbers.",
    "baseline": "Name of the baseline.",
    "k": "Cutoff, or several.",
    "gain": "2^g - 1 (`exp`) or the grade itself (`linear`).",
}
"""Meanings of arguments that several short docstrings leave out."""


class Entry(NamedTuple):
    """An argument or attribute of a docstring."""

    kind: str
    meaning: str


def pages() -> dict[str, str]:
    """Return the index of the Python API and the page of each task, by file name."""
    index = [
        NOTE + "# Python API\n",
        "`import harness` gives every public name; each is loaded on first use. "
        "`harness.__version__` is the version. "
        "[Python in five minutes](../start/python.md) shows the main ones.\n",
        "| task | names |",
        "|---|---|",
    ]
    written = {}
    for page, (title, names) in TASKS.items():
        links = [f"[`{name}`](python/{page}.md#harness.{name})" for name in names.split()]
        index.append(f"| [{title}](python/{page}.md) | {', '.join(links)} |")
        lines = [NOTE + f"# {title}\n", _guides(GUIDES[page])]
        for name in names.split():
            lines += _described(f"harness.{name}", getattr(harness, name), 2)
        lines += _errors() if page == "errors" else []
        written[f"reference/python/{page}.md"] = "\n".join(lines)
    return {"reference/python.md": "\n".join([*index, ""]), **written}


def _guides(guides: tuple[tuple[str, str], ...]) -> str:
    links = [f"[{title}](../../{path})" for path, title in guides]
    return f"See also {', '.join(links)}.\n".replace("../../reference/", "../")


def _errors() -> list[str]:
    """Return the table of the errors and of the warning."""
    lines = [
        "## All errors { #all-errors }\n",
        "Import one of these from `harness.errors` to handle one kind of mistake.\n",
    ]
    lines += ["| name | meaning | subclass of |", "|---|---|---|"]
    for kind in ERRORS[1:]:
        meaning = inspect.getdoc(kind).partition("\n\n")[0].replace("\n", " ")
        name = code(kind.__name__, f"harness.errors.{kind.__name__}")
        bases = ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
        lines.append(f"| {name} | {inline(meaning)} | {bases} |")
    warning = inspect.getdoc(errors.HarnessWarning).partition("\n\n")[0]
    lines += ["", "## HarnessWarning { #harness.errors.HarnessWarning }\n", f"{inline(warning)}\n"]
    lines += [
        "To silence warnings that you have read, filter them by this class:\n",
        "```py",
        "import warnings",
        "from harness.errors import HarnessWarning",
        "",
        'warnings.filterwarnings("ignore", category=HarnessWarning)',
        "```\n",
    ]
    return lines


def _script(name: str) -> list[str]:
    """Return a script of another page with its output."""
    if name not in SCRIPTS:
        return []
    page, file = SCRIPTS[name]
    text = (Path(__file__).parent / page).read_text("utf-8")
    found = re.search(rf"```python\n# {file}\n.*?```\n\n```console\n\$ python .*?```\n", text, re.S)
    assert found is not None, (page, file)
    return [re.sub(r"\n\$ (?!python).*?(?=```)", "\n", found[0], flags=re.S)]


def internal(thing: Any) -> list[str]:
    """Return the names of a class that its page leaves out."""
    kinds = thing.__mro__ if inspect.isclass(thing) else ()
    return " ".join(INTERNAL.get(kind.__name__, "") for kind in kinds).split()


def inline(text: str) -> str:
    """Return a docstring's text as Markdown; names of the package are links to their sections."""
    text = re.sub(r"`harness\.([\w.]+)`", r"`@\1`", text)
    return re.sub(r"`@([\w.]+)`", lambda match: _link(match[1]), metric_pages.inline(text))


def _link(name: str) -> str:
    first, last = name.split(".")[0], name.split(".")[-1]
    for page, (_, names) in TASKS.items():
        if first in names.split():
            return f"[`{name}`]({page}.md#harness.{name})"
    for family, (_, _, names, _) in metric_pages.FAMILIES.items():
        if first == "metrics" and last in names.split():
            return f"[`{last}`](../metrics/{family}.md#{last.lower()})"
    return f"`{last}`"


def members(thing: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions of a module, or the documented methods of a class."""
    is_module = isinstance(thing, types.ModuleType)
    of_class = () if is_module else (*vars(thing), *INHERITED.get(thing.__name__, ()))
    for name in getattr(thing, "__all__", ()) if is_module else of_class:
        member = inspect.getattr_static(thing, name, None) or getattr(thing, name)
        member = getattr(member, "__func__", member)
        hidden = name[0] == "_" or name in internal(thing)
        if not hidden and callable(member) and inspect.getdoc(member):
            yield name, member
    if is_module and not hasattr(thing, "__all__"):
        for name, member in inspect.getmembers(thing):
            is_shown = inspect.isfunction(member) or name in CONSTRUCTED
            if is_shown and member.__module__ == thing.__name__ and not name.startswith("_"):
                yield name, member


def arguments(
    name: str, function: Callable[..., Any]
) -> dict[str, tuple[inspect.Parameter, Entry]]:
    """Return the arguments of a function with what its docstring says about each."""
    entries = _entries(_sections(function).get("Parameters", ""))
    found = {}
    for key, parameter in inspect.signature(function).parameters.items():
        if key in ("self", "cls", *internal(function)):
            continue
        entry = entries.get(key, Entry("", ""))
        if entry.kind.startswith("see ") and not entry.meaning:
            found[key] = (parameter, Entry("", f"{entry.kind.capitalize()}."))
            continue
        same = re.fullmatch(r"(?:As|See) `harness\.(\w+)`(?: takes (?:it|them))?\.?", entry.meaning)
        similar = [same[1]] if same and same[1] != name else SIMILAR.get(name, ())
        for other in similar if same or not entry.meaning else ():
            source: Any = harness
            for part in other.split("."):
                source = getattr(source, part)
            there = _entries(_sections(source).get("Parameters", "")).get(key)
            if there and there.meaning:
                entry = Entry(entry.kind or there.kind, there.meaning)
                break
        meaning = entry.meaning or MEANINGS.get(key, "")
        found[key] = (parameter, Entry(entry.kind or _annotation(parameter, function), meaning))
    return found


def _described(name: str, thing: Any, level: int, shared: Collection[str] = ()) -> list[str]:
    """Return the section of a function, class or module: a sentence, an example, the details.

    It leaves out the shared arguments, which the section of a module describes.
    """
    sections = _sections(thing)
    short = name.removeprefix("harness.")
    lines = [f"{'#' * level} {short} {{ #{name} }}\n"]
    if isinstance(thing, types.ModuleType):
        lines += [f"{inline(part)}\n" for part in _paragraphs(sections[""])]
        shared = _entries(sections.get("Parameters", ""))
        lines += _attributes(thing, sections) if shared else []
        for member, function in members(thing):
            lines += _described(f"{name}.{member}", function, level + 1, shared)
        return lines
    is_class = inspect.isclass(thing)
    called = not is_class or thing.__name__ in CONSTRUCTED
    summary, *rest = [f"{inline(part)}\n" for part in _paragraphs(sections[""])] or [""]
    lines.append(summary)
    lines += _script(short)
    if sections.get("Examples"):
        lines += ["```pycon", _with_imports(name, sections["Examples"].strip()), "```\n"]
    if called:
        lines += ["```py", _signature(name, thing), "```\n"]
    lines += rest
    if called:
        found = arguments(short.rpartition(".")[2], thing)
        found = {key: argument for key, argument in found.items() if key not in shared}
        for title, keys in HEADINGS.get(short, {"": " ".join(found)}).items():
            lines += [f"**{title}**\n"] * bool(title)
            lines += _arguments(name, {key: found[key] for key in keys.split()})
    else:
        lines += _attributes(thing, sections)
    for title in ("Returns", "Yields", "Raises", "Warns"):
        lines += _listed(title, sections.get(title, ""))
    for part in _paragraphs(sections.get("Notes", "")):
        lines.append(f"{inline(part)}\n")
    mentioned = (
        sections[""] * (thing in WITH_RESULTS)
        + sections.get("Returns", "")
        + sections.get("Parameters", "") * (not called)
    )
    for kind in dict.fromkeys(re.findall(r"\b[A-Z]\w+", mentioned)):
        if kind in FIELDS:
            owner = getattr(sys.modules[thing.__module__], kind)
            about = _sections(owner)
            lines += [f"{'#' * (level + 1)} {kind} {{ #harness.{kind} }}\n"]
            lines += [f"{inline(about[''])}\n", *_attributes(owner, about)]
    if is_class:
        for member, function in members(thing):
            if not isinstance(function, type):
                lines += _described(f"{name}.{member}", function, level + 1)
    return lines


def _arguments(name: str, found: dict[str, tuple[inspect.Parameter, Entry]]) -> list[str]:
    """Return a list of arguments, those of one type, default and meaning together."""
    together: dict[tuple[str, str], list[str]] = {}
    for key, (parameter, entry) in found.items():
        default = "" if entry.meaning.startswith("See ") and not entry.kind else _default(parameter)
        optional = "optional" in entry.kind and default == code("None")
        default = default.replace("<code>", "default <code>")
        kind = ", ".join(filter(None, (inline(entry.kind), "" if optional else default)))
        term = code(_starred(parameter), f"{name}-{key}")
        together.setdefault((kind, entry.meaning), []).append(term)
    described = sorted(together.items(), key=lambda item: not item[0][0])  # stars and links last
    return [line for key, terms in described for line in _defined(terms, *key)]


def _with_imports(name: str, example: str) -> str:
    """Return an example that begins by importing the public names that it uses."""
    called = re.findall(r"(?<![\w.\"'])@?(\w+)(?=\()", example)
    called += re.findall(r"(?<![\w.\"'])([A-Z]\w+)", example)
    used = {name for name in called if f"{name} = " not in example}
    lines = []
    for module in dict.fromkeys((name.rpartition(".")[0], "harness")):
        owner = functools.reduce(getattr, module.split(".")[1:], harness)
        exported = getattr(owner, "__all__", None) or [
            key
            for key, value in vars(owner).items()
            if getattr(value, "__module__", "") == owner.__name__
        ]
        if names := sorted(used.intersection(exported)):
            lines.append(f">>> from {module} import {', '.join(names)}")
            used.difference_update(names)
    return "\n".join([*lines, example])


def _defined(terms: list[str], kind: str, meaning: str) -> list[str]:
    """Return an entry of a definition list, in which a docstring's list is a list.

    >>> _defined(["`qrels`"], "path", "Forms:\\n* a path\\n  or URL\\n* a dict")
    ['`qrels` (path)', ':   Forms:\\n\\n    - a path or URL\\n    - a dict\\n']
    """
    text = ""
    for part in re.split(r"\n(?=\* |(?<=\S)\n\S)", meaning):
        if part.startswith("* "):
            item, *after = re.split(r"\n(?=\S)", part, maxsplit=1)
            gap = "\n" if "\n    - " in text else "\n\n"
            text += f"{gap}    - {inline(item[2:].rstrip(';.'))}"
            text += "".join(f"\n\n    {inline(rest)}" for rest in _paragraphs("".join(after)))
        else:
            text += inline(part)
    term = ", ".join(terms) + (f" ({kind})" if kind else "")
    return [term, f":   {text}\n"] if text else [f"{term}\n"]


def _attributes(kind: Any, sections: dict[str, str]) -> list[str]:
    """Return the list of a class's attributes."""
    entries = _entries(sections.get("Parameters", "") + "\n" + sections.get("Attributes", ""))
    for key, meaning in field_texts(kind).items() if not entries else ():
        annotation = inspect.get_annotations(kind)[key].replace("Place", "str")
        entries[key] = Entry(_plain(annotation), meaning)
    for key in (*vars(kind), *INHERITED.get(kind.__name__, ())):
        value = inspect.getattr_static(kind, key)
        if isinstance(value, (property, cached_property)) and key[0] != "_":
            document = _document(value).partition("\n\n")[0]
            entries.setdefault(key, Entry(_returned(value), document))
    alike: dict[Entry, list[str]] = {}
    for key, (kind_of, meaning) in entries.items():
        entry = Entry(kind_of, meaning or MEANINGS.get(key, ""))
        if key not in internal(kind):
            alike.setdefault(entry, []).append(code(key))
    defined = [_defined(names, _kind(entry.kind), entry.meaning) for entry, names in alike.items()]
    return [line for lines in defined for line in lines]


def field_texts(kind: type) -> dict[str, str]:
    """Return the texts below the keys of a model or settings class, as its source has them."""
    if not kind.__module__.startswith("harness."):
        return {}
    (definition,) = ast.parse(inspect.getsource(kind)).body
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    return {
        key.target.id: inspect.cleandoc(text.value.value)
        for key, text in pairwise(body)
        if isinstance(key, ast.AnnAssign)
        and isinstance(key.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def _returned(value: Any) -> str:
    """Return the type of a property in plain words."""
    function = getattr(value, "fget", None) or getattr(value, "func", None)
    text = str(getattr(function, "__annotations__", {}).get("return", ""))
    return _plain(text)


def _plain(text: str) -> str:
    """Return an annotation in plain words."""
    text = text.replace(" | None", ", optional").replace(" | ", " or ")
    for written, plain in PLAIN_TYPES.items():
        text = text.replace(written, plain)
    return text


def _kind(text: str) -> str:
    """Return the type of an attribute or result; classes with a section are links to it."""

    def link(match: re.Match[str]) -> str:
        name = match[0]
        if name in FIELDS:
            return f"[{name}](#harness.{name})"
        if any(kind.__name__ == name for kind in (*ERRORS, errors.HarnessWarning)):
            return f"[{name}](errors.md#harness.errors.{name})"
        return _link(name).replace("`", "") if hasattr(harness, name) else name

    return re.sub(r"\b[A-Z]\w+", link, inline(text))


def _listed(title: str, section: str) -> list[str]:
    """Returns, errors or warnings of a function, as a list."""
    if not section.strip():
        return []
    lines = [f"**{title}**\n"]
    for match in re.finditer(r"^(\S.*)\n?((?:^[ ]+.*\n?|^\n)*)", section, re.M):
        names = match[1].partition(" : ")
        name = f"`{names[0]}` ({names[2]})" if names[2] else _kind(match[1])
        text = inline(match[2])
        lines.append(f"- {name}: {text}" if text else f"- {name}")
    return [*lines, ""]


def _signature(name: str, thing: Any) -> str:
    """Return a call with an argument a line, without types; short ones on one line."""
    parts, starred = [], False
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name in ("self", "cls", *internal(thing)):
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            starred = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts, starred = [*parts, "*"], True
        default = "" if parameter.default is parameter.empty else f"={_value(parameter.default)}"
        parts.append(_starred(parameter) + default)
    flat = f"{name}({', '.join(parts)})"
    return flat if len(flat) <= 88 else f"{name}(\n" + "".join(f"    {p},\n" for p in parts) + ")"


def _starred(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    return stars + parameter.name


def _default(parameter: inspect.Parameter) -> str:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return ""
    return "required" if parameter.default is parameter.empty else code(_value(parameter.default))


def _value(value: Any) -> str:
    text = repr(value) if not isinstance(value, str) else json.dumps(value)
    return "..." if " at 0x" in text or len(text) > 40 else text


def _annotation(parameter: inspect.Parameter, function: Callable[..., Any]) -> str:
    """Return an annotation in plain words where that is short; choices are a set."""
    text = parameter.annotation
    text = text if isinstance(text, str) else getattr(text, "__name__", "")
    alias = getattr(sys.modules[function.__module__], text, None)
    if get_origin(alias) is Literal:
        return "{" + ", ".join(map(_value, get_args(alias))) + "}"
    text = re.sub(r"^Literal\[(.*)\]$", r"{\1}", text).replace("'", '"')
    text = re.sub(r"\b(?:npt|pa|np)\.", "", "" if text == "_empty" else text)
    text = _plain(text)
    return re.sub(r"\b(?:Any|Ranked)\b", "object", text)


def _document(thing: Any) -> str:
    """Return a docstring; that of the base class if it refers to it."""
    document = inspect.getdoc(thing) or ""
    if not document.startswith("See the base class"):
        return document
    function = getattr(thing, "fget", None) or getattr(thing, "func", thing)
    owner = getattr(sys.modules[function.__module__], function.__qualname__.partition(".")[0])
    same = (vars(kind).get(function.__name__) for kind in owner.__mro__[1:])
    return next(text for text in map(inspect.getdoc, filter(None, same)) if text)


def _sections(thing: Any) -> dict[str, str]:
    """Return the parts of a docstring by heading; the text before them is under ``""``."""
    document = _document(thing)
    lead, *rest = re.split(r"^(\w[\w ]*)\n-{3,}\n", document, flags=re.M)
    parts = {"": lead, **dict(zip(rest[::2], rest[1::2], strict=True))}
    for title, text in parts.items():
        before, mark, example = text.partition("\n>>> ")
        if mark and title != "Examples":
            parts[title] = before
            return {**parts, "Examples": f">>> {example}"}
    return parts


def _entries(section: str) -> dict[str, Entry]:
    """Return the type and meaning of each name in a section."""
    entries = {}
    for match in re.finditer(r"^(\S.*)\n?((?:^[ ]+.*\n?|^\n)*)", section, re.M):
        names, _, kind = match[1].partition(" : ")
        for name in names.split(", "):
            entries[name.strip("*")] = Entry(kind, inspect.cleandoc(match[2]))
    return entries


def _paragraphs(text: str) -> list[str]:
    return [part for part in re.split(r"\n\s*\n", text.strip()) if part]
