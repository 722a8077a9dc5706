"""The layers of a config: its file, those that it extends, overrides, and sets of metrics."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from ..core.names import parse
from ..errors import ConfigError, Problem, UnknownNameError, did_you_mean
from ..readers.ir_metadata import SIZE
from ..readers.source import AS_UTF8, wide
from . import patterns as paths
from .patterns import NothingFoundError, files
from .yaml_file import AS_WRITTEN, Loc, Source, describe, parse_yaml, show

BY_NAME = ("datasets", "runs", "where", "metric_sets", "tables")
"""Mappings of entries that have names: one that is not there cannot be taken out."""


def override(source: Source, overrides: Iterable[str]) -> Source:
    """Return a config with values put in place of its own.

    Parameters
    ----------
    source : Source
        Its data are changed.
    overrides : iterable of str
        ``"policy.ties=stable"``; the value is read as YAML, the path may hold ``[1]``. ``null``
        takes a key out.
    """
    problems, changed = list(source.problems), set(source.set)
    for one in overrides:
        try:
            changed.add(_override(source.data, one))
        except ValueError as error:
            problems.append(Problem(f"--set {one}", str(error)))
    return replace(source, set=frozenset(changed), problems=tuple(problems))


def _override(data: dict[str, Any], override: str) -> Loc:
    """Put one ``path=value`` into `data`; return its location. ValueError says what is wrong."""
    path, equals, text = override.partition("=")
    path = path.strip().removeprefix("$").removeprefix(".")
    if not equals or not path:
        raise ValueError("write KEY=VALUE, as in policy.ties=stable")
    if path == "extends":
        raise ValueError("stands in the file only; give the other config itself, or edit the file")
    try:
        value = _value(path, text)
    except ConfigError as error:
        told = "; ".join(filter(None, (error.problems[0].what, error.problems[0].fix)))
        raise ValueError(f"cannot read the value: {told}") from None
    loc: Loc = ()
    at: Any = data
    parts = [part for part in re.split(r"\.|(\[\d+\])", path) if part]
    while parts:
        if isinstance(at, list):
            part: str | int = _place(at, parts.pop(0), loc)
        elif isinstance(at, dict):
            part = _key(at, parts)
        else:
            raise ValueError(f"{show(loc)} is {describe(at)} and holds no '{parts[0]}'")
        if not parts:
            _put(at, part, value, loc)
            return (*loc, part)
        if isinstance(at, dict) and part not in at:
            if loc:
                raise ValueError(
                    f"there is no {show((*loc, part))}{did_you_mean(str(part), at)}"
                    f"  (there are: {', '.join(at)})"
                )
            at[part] = {}
        loc, at = (*loc, part), at[part]
    raise ValueError("write KEY=VALUE, as in policy.ties=stable")


def _put(at: Any, part: str | int, value: Any, loc: Loc) -> None:
    """Put a value in its place; null takes a key out, as in a config that extends another."""
    if value is None and isinstance(at, dict) and part in at:
        del at[part]
    elif value is None and len(loc) == 1 and loc[0] in BY_NAME:
        near = did_you_mean(str(part), at)
        raise ValueError(f"there is no {show((*loc, part))} that could be taken out{near}")
    else:
        at[part] = value


def _value(path: str, text: str) -> Any:
    """Return the value of an override as it would be read at its place."""
    top = AS_WRITTEN if re.split(r"[.\[]", path)[0] == AS_WRITTEN else "value"
    below = top == AS_WRITTEN and path != top
    if below and text.strip().startswith("!"):  # a shell took off the quotes it was given
        return text.strip()
    source = parse_yaml(f"{top}:\n  value: {text}" if below else f"{top}: {text}", "")
    if source.problems:
        raise ConfigError(source.problems)
    found = source.data[top]
    return found["value"] if below else found


def _key(at: dict[str, Any], parts: list[str]) -> str:
    """Take the longest run of parts that is a key (a name may hold dots), else one part."""
    for n in range(len(parts), 1, -1):
        if ".".join(parts[:n]) in at:
            key = ".".join(parts[:n])
            del parts[:n]
            return key
    return parts.pop(0)


def _place(at: list[Any], part: str, loc: Loc) -> int:
    digits = part.strip("[]")
    if not re.fullmatch("[0-9]{1,9}", digits) or int(digits) >= len(at):
        raise ValueError(f"{show(loc)} is a list of {len(at)}; there is no '{digits}' in it")
    return int(digits)


_BYTES = 4 * SIZE
"""So many characters of UTF-8 have at most."""
_OWN = ("name", "extends")
"""Keys that an extending config does not take over."""


def text_of(path: Path) -> str:
    """Return the text of a config file.

    Raises
    ------
    LookupError
        Where it cannot be read; the text says why.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise LookupError("is no regular file: a device or a pipe may have no end")
        with path.open("rb") as file:
            data = file.read(_BYTES + 1)
        if len(data) > _BYTES:
            raise LookupError(f"is longer than {SIZE:,} characters")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LookupError(wide(data) or f"byte {error.start} is not UTF-8") from error
    except IsADirectoryError as error:
        raise LookupError("is a folder, not a config") from error
    except OSError as error:
        raise LookupError(_unreadable(path, error)) from error


def fix_of(error: LookupError) -> str:
    """Return what to do about a file that :func:`text_of` could not read; ``""`` if unknown."""
    return AS_UTF8 if isinstance(error.__cause__, UnicodeDecodeError) else ""


def read(text: str, where: str, base: Path, overrides: Iterable[str] = ()) -> Source:
    """Return the data of a config on top of those that it extends, with overrides put in.

    Mappings are merged key by key, everything else is replaced, and ``null`` takes a key out.
    A config's name is its own. Paths start at the folder of the file in which they stand.

    Parameters
    ----------
    text : str
        The YAML.
    where : str
        What it is called in messages.
    base : Path
        Folder where its paths start.
    overrides : iterable of str
        As :func:`~harness.config.load.override` takes them.

    Raises
    ------
    ConfigError
        Where one of the texts is not YAML or holds no mapping, or a config cannot be read or
        extends itself.
    """
    source = paths.expand(parse_yaml(text, where))
    own = PurePath(where).name
    source = _extended(source, base, [((base / own).resolve(), own)], where)
    source = override(source, overrides)
    return paths.expand(source, source.set) if source.set else source


def merge(base: Source, over: Source, name: str) -> Source:
    """Return `over` on top of `base`; of each part the line and the file where it stands.

    Parameters
    ----------
    base, over : Source
    name : str
        What the file of `base` is called.
    """
    lines, named = dict(base.lines), dict(base.files)
    problems = [*base.problems, *over.problems]

    def forget(loc: Loc) -> None:
        for other in [one for one in lines if one[: len(loc)] == loc]:
            del lines[other]
            named.pop(other, None)

    def merged(below: dict[str, Any], above: dict[str, Any], loc: Loc) -> dict[str, Any]:
        found = dict(below)
        for key, value in above.items():
            here = (*loc, key)
            if isinstance(value, dict) and isinstance(below.get(key), dict):
                found[key] = merged(below[key], value, here)
                continue
            forget(here)
            found[key] = value
            if value is None and here not in over.unread:
                if key in below:
                    del found[key]
                elif loc and loc[0] in BY_NAME and len(loc) == 1:
                    near = did_you_mean(key, below)
                    what = f"{name} has no '{key}' that could be taken out{near}"
                    problems.append(over.problem(here, what))
                    del found[key]
        return found

    data = merged({key: v for key, v in base.data.items() if key not in _OWN}, over.data, ())
    for loc in over.lines:
        named.pop(loc, None)
    return Source(
        over.where, data, {**lines, **over.lines}, over.set, tuple(problems),
        base.unread | over.unread, {**named, **over.files},
    )  # fmt: skip


def _extended(source: Source, folder: Path, chain: list[tuple[Path, str]], where: str) -> Source:
    """Return a config on top of the one that it extends."""
    given = source.data.get("extends")
    if not isinstance(given, str):
        return source
    path = folder / given
    name = PurePath(os.path.normpath(PurePath(chain[-1][1]).parent / given)).as_posix()
    for place, (file, _) in enumerate(chain):
        if file == path.resolve():
            way = " -> ".join([known for _, known in chain[place:]] + [name])
            raise ConfigError(source.problem(("extends",), f"extends itself: {way}"), where=where)
    try:
        text = text_of(path)
    except LookupError as error:
        problem = source.problem(("extends",), str(error), fix=fix_of(error))
        raise ConfigError(problem, where=where) from error
    base = paths.expand(parse_yaml(text, str(path), name))
    base = _extended(base, path.parent, [*chain, (path.resolve(), name)], where)
    paths.rebase(base.data, os.path.dirname(given))
    return merge(base, source, name)


def _unreadable(path: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        try:
            files(path.parent, path.name.replace("{", "{{").replace("}", "}}"))
        except NothingFoundError as nothing:
            return str(nothing)
    return f"cannot be read: {error.strerror}"


def expand_sets(source: Source) -> Source:
    """Put the metrics of a set wherever a list of metrics has its name.

    Parameters
    ----------
    source : Source
        Its data are changed.

    Returns
    -------
    Source
        It knows where each metric is written, and has a problem for a set that holds itself.
    """
    sets = metric_sets(source.data)
    stands: dict[Loc, Loc] = dict(source.stands)
    for loc, holder in _holders(source.data):
        given = holder["metrics"]
        names = [given] if isinstance(given, str) else given
        if not isinstance(names, list) or not any(_is_set(name, sets) for name in names):
            continue
        at = [loc] if isinstance(given, str) else [(*loc, place) for place in range(len(names))]
        metrics: list[Any] = []
        for name, here in zip(names, at, strict=True):
            for metric, there in _metrics(name, here, sets, []):
                put: Loc = (*loc, len(metrics))
                stands[put] = there if loc == ("metrics",) else here
                metrics.append(metric)
        holder["metrics"] = metrics
    problems = []
    for name in sets:
        circles: list[tuple[str, ...]] = []
        list(_metrics(name, (), sets, circles))
        if way := next((one for one in circles if one[0] == name), ()):
            what = f"holds itself: {' -> '.join(way)}"
            problems.append(source.problem(("metric_sets", name), what))
    return replace(source, stands=stands, problems=(*source.problems, *problems))


def metric_sets(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the sets of metrics, as far as they are lists."""
    given = data.get("metric_sets")
    items = given.items() if isinstance(given, dict) else ()
    return {name: metrics for name, metrics in items if isinstance(metrics, list)}


def is_metric(name: str) -> bool:
    """Whether a metric has this name."""
    try:
        return bool(parse(name))
    except UnknownNameError:
        return False


def _holders(data: dict[str, Any]) -> list[tuple[Loc, dict[str, Any]]]:
    """Return what has a key ``metrics``, and the place of that."""
    tables, plots = data.get("tables"), data.get("plots")
    found: list[tuple[Loc, Any]] = [((), data), (("compare",), data.get("compare"))]
    if isinstance(tables, dict):
        found += [(("tables", name), table) for name, table in tables.items()]
    if isinstance(plots, list):
        found += [(("plots", place), plot) for place, plot in enumerate(plots)]
    return [
        ((*loc, "metrics"), holder)
        for loc, holder in found
        if isinstance(holder, dict) and "metrics" in holder
    ]


def _metrics(
    name: Any, loc: Loc, sets: Mapping[str, list[Any]], circles: list[tuple[str, ...]],
    above: tuple[str, ...] = (),
) -> Iterator[tuple[Any, Loc]]:  # fmt: skip
    """Yield the metrics that a name stands for, and the place of each; add the circles."""
    if not _is_set(name, sets):
        yield name, loc
    elif name in above:
        circles.append((*above, name))
    else:
        for place, one in enumerate(sets[name]):
            there = ("metric_sets", name, place)
            yield from _metrics(one, there, sets, circles, (*above, name))


def _is_set(name: Any, sets: Mapping[str, list[Any]]) -> bool:
    return isinstance(name, str) and name in sets and not is_metric(name)
