"""Names of metrics in other tools: the table, and its reading in our names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from ..errors import UnknownNameError


@dataclass(frozen=True, eq=False)
class ToolName:
    """Name of a metric in other tools, and its name here.

    Parameters
    ----------
    tools, name : str
        The tools, and the name as they write it, with ``k`` for its number: ``hit_rate@k``.
    ours : mapping of str to str
        Our name with a few words on it. One is read, several are refused with their words, and
        none is refused with the `note`. ``[@k]`` is a cutoff that may be left out.
    note : str
        A sentence for the reader of the table.
    parameters : mapping of str to str
        What may be written in the name, with our words for it: ``{"border": "above",
        "type=Exp": "gain=exp", "hints": ""}``. The cutoff's usual names are read anyway.
    listed_only : bool
        Whether the row is for readers alone, as the name is a metric's own here and stays it.
    """

    tools: str
    name: str
    ours: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    listed_only: bool = False


TOOL_NAMES: list[ToolName] = []
"""The table; `harness.metrics.tool_names` fills it."""
CUTOFF_NAMES: set[str] = set()
"""Names of a cutoff in tools."""
_NUMBER = re.compile(r"(?<=[@.=])k\b|(?<=_)k$")
_FORM = re.compile(
    r"(?P<head>[A-Za-z][\w/ -]*?)(?:\((?P<inside>[^()]*)\))?"
    r"(?:(?P<mark>@|_at_|_|\.)(?P<cut>\d+(?:\s*,\s*\d+)*))?"
    r"(?P<minus>-)?(?:-l(?P<level>\d+))?(?P<options>:[\w.=;~-]+)?"
)
_SIMILARITY = re.compile(r"(?:\w+_)?(?:cosine|dot|euclidean|manhattan|max)_(?=[a-z]+$)")
_OURS = re.compile(r"(?P<name>[^(@\[]+)(?:\((?P<params>.*)\))?(?P<cutoff>\[?@.+)?")


@dataclass(frozen=True)
class _Form:
    """The parts of a name in any tool's spelling."""

    head: str
    shapes: tuple[str, ...]
    cut: str | None
    level: str | None
    given: tuple[tuple[str, str], ...]


def _form(text: str) -> _Form | None:
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    inside, options = match["inside"] or "", (match["options"] or "")[1:]
    parts = (part.partition("=") for part in filter(None, re.split("[,;]", inside + options)))
    given = tuple((key.strip(), _plain(value.strip(" '\""))) for key, _, value in parts)
    start = ":" if options else "("
    mark = (match["mark"] or "") + (match["minus"] or "")
    return _Form(
        _SIMILARITY.sub("cosine_", match["head"]),
        (
            *(f"{start}{key}={value}" for key, value in given if value),
            *(f"{start}{key}" for key, _ in given),
            *([":"] if options else []),
            mark,
            *(
                ["@"]
                if mark in ("_at_", "_") or (not mark and CUTOFF_NAMES & dict(given).keys())
                else []
            ),
        ),
        match["cut"],
        match["level"],
        given,
    )


def _plain(value: str) -> str:
    return value.lower() if value in ("True", "False") else value


def _folded(head: str) -> str:
    return re.sub(r"[\s_-]", "", head).lower()


@lru_cache(1)
def _index(rows: tuple[ToolName, ...]) -> Mapping[tuple[str, str], tuple[str, ToolName]]:
    """Return head and row by head and shape, in the row's letters and in any."""
    index: dict[tuple[str, str], tuple[str, ToolName]] = {}
    for row in rows:
        form = _form(_NUMBER.sub("0", row.name))
        assert form is not None, row.name
        shape = form.shapes[0].removesuffix("=0")
        shape = ":" if shape[1:] in CUTOFF_NAMES and shape[0] == ":" else shape
        if not row.listed_only:
            index[form.head, shape] = form.head, row
            index.setdefault((_folded(form.head), shape), (form.head, row))
    return index


def in_our_words(text: str, is_ours: Callable[[str], bool]) -> str | None:
    """Return our name for a metric of another tool; None if no tool's name is known for it.

    `is_ours` tells the names that metrics have here: another tool's name must be written exactly
    so to be read in their place.

    Raises
    ------
    UnknownNameError
        If the name means several metrics, or one that is not here.
    """
    form = _form(text)
    if form is None:
        return None
    index = _index(tuple(TOOL_NAMES))
    if is_ours(form.head):
        keys = [(form.head, shape) for shape in form.shapes if shape or not form.given]
    else:
        shapes = [*form.shapes, "", ":"]
        keys = [(head, shape) for head in (form.head, _folded(form.head)) for shape in shapes]
    head, row = next((index[key] for key in keys if key in index), ("", None))
    if is_ours(form.head) and head != form.head:
        level_only = ToolName("ranx", text, {f"{form.head}[@k]": ""})
        row = None if form.level is None else level_only
    elif row is not None and row.ours and form.cut and not any(map(_NUMBER.search, row.ours)):
        row = None
    if row is None:
        return None
    if not row.ours:
        what, _, fix = row.note.partition("; ")
        raise UnknownNameError(f"{text} is {what}", fix=fix or "see 'harness metrics' for all")
    readings = {_written(row, ours, form, text): words for ours, words in row.ours.items()}
    if len(readings) > 1:
        fix = f"write {listed_readings(readings)}"
        raise UnknownNameError(f"{text} means several metrics", fix=fix)
    return next(iter(readings))


def _written(row: ToolName, ours: str, form: _Form, text: str) -> str:
    """Return our name with the values in the other tool's name."""
    match = _OURS.fullmatch(ours if form.cut is None else _NUMBER.sub(form.cut, ours))
    assert match is not None, ours
    cut, template = form.cut, match["cutoff"] or ""
    written = filter(None, (match["params"] or "").split(","))
    params = {name: value for name, _, value in (part.partition("=") for part in written)}
    for key, value in form.given:
        known = row.parameters.get(f"{key}={value}", row.parameters.get(key))
        if known is None and key in CUTOFF_NAMES:
            cut = value if value.isdigit() else None
        elif known is None or (known and "=" not in known):
            params[known or key] = value
        elif known:
            ours_name, _, params_value = known.partition("=")
            params[ours_name] = params_value
    if form.level is not None:
        params["rel"] = form.level
    inside = ",".join(f"{name}={value}" for name, value in params.items())
    name = match["name"] + (f"({inside})" if inside else "")
    if template.startswith("@") and cut is None and not re.fullmatch(r"@\d+", template):
        message = f"{text}: expected a cutoff"
        raise UnknownNameError(message, fix=f"write {name}@10")
    if template and not re.fullmatch(r"@\d+", template):
        return f"{name}@{cut}" if cut else name
    return name + template


def listed_readings(readings: Mapping[str, str]) -> str:
    """Return the possible metrics of a name, each with a description."""
    return ", or ".join(f"{ours} ({words})" for ours, words in readings.items())


def rows_about(text: str) -> list[ToolName]:
    """Return the rows with a text in their name or tools, ignoring case."""
    wanted = _folded(text)
    return [row for row in TOOL_NAMES if wanted in _folded(f"{row.name} {row.tools}")]


def rows_of(metric: str) -> list[ToolName]:
    """Return the rows with a metric among their counterparts, by its name here."""
    return [
        row for row in TOOL_NAMES if any(re.split(r"[(@[]", ours)[0] == metric for ours in row.ours)
    ]
