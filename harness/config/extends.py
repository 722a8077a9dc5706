"""`extends:`: a config on top of another one, with the place of every part."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any

from ..core.guarded_yaml import SIZE
from ..errors import ConfigError, did_you_mean
from ..readers.no_text import AS_UTF8, wide
from . import paths, yamlfile
from .overrides import BY_NAME, override
from .patterns import NothingFoundError, files
from .yamlfile import Loc, Source

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
        As :func:`~harness.config.overrides.override` takes them.

    Raises
    ------
    ConfigError
        Where one of the texts is not YAML or holds no mapping, or a config cannot be read or
        extends itself.
    """
    source = paths.expand(yamlfile.parse(text, where))
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
    """Return a config on top of the one that it extends.

    Parameters
    ----------
    source : Source
    folder : Path
        Its own.
    chain : list of (Path, str)
        The files from the one that was asked for to this one, and what they are called.
    where : str
        The file that was asked for.
    """
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
    base = paths.expand(yamlfile.parse(text, str(path), name))
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
