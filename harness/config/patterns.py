"""Text with ``{placeholders}``, and the files on disk that it stands for."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePath
from string import Formatter
from typing import Any, NamedTuple

from ..core.text import readable_name
from ..errors import Problem
from ..readers.source import link_to
from .yaml_file import Loc, Source

SHOWN = 5
"""How many names of a folder a message lists."""


@dataclass(frozen=True)
class Pattern:
    """Text with placeholders: ``fold{fold}-seed{seed}.txt``. Double a brace to mean itself.

    A placeholder stands for one or more characters without ``/``. Where a text can be read in
    several ways, an earlier placeholder takes as much as it can. One that occurs again stands
    for the same text again.

    Parameters
    ----------
    text : str

    Raises
    ------
    ValueError
        Where a brace stands alone, or encloses anything but a name.

    Examples
    --------
    >>> pattern = Pattern("{model}/fold{fold}.txt")
    >>> pattern.match("svm/fold12.txt"), pattern.match("svm/fold.txt")
    ({'model': 'svm', 'fold': '12'}, None)
    >>> pattern.fill({"model": "svm", "fold": "3"})
    'svm/fold3.txt'
    """

    text: str

    def __post_init__(self) -> None:
        _ = self.pieces

    @cached_property
    def pieces(self) -> tuple[tuple[str, str | None], ...]:
        """Literal text and the placeholder that follows it, in turn."""
        fix = "write {name} for a placeholder, {{ and }} for braces themselves"
        try:
            parsed = list(Formatter().parse(self.text))
        except ValueError:
            raise ValueError(f"a brace stands alone in '{self.text}'; {fix}") from None
        for _, name, spec, conversion in parsed:
            if name is not None and (
                spec or conversion or not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name)
            ):
                raise ValueError(f"'{{{name}}}' is no placeholder in '{self.text}'; {fix}")
        return tuple((literal, name) for literal, name, _, _ in parsed)

    @property
    def names(self) -> tuple[str, ...]:
        """The placeholders, each once, in order."""
        return tuple(dict.fromkeys(name for _, name in self.pieces if name is not None))

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the text with every placeholder replaced. KeyError where one is not given."""
        return "".join(
            literal + ("" if name is None else values[name]) for literal, name in self.pieces
        )

    def match(self, text: str, known: Mapping[str, str] | None = None) -> dict[str, str] | None:
        """Return what the placeholders stand for in `text`, or None.

        Parameters
        ----------
        text : str
        known : mapping, optional
            Placeholders that are settled already, and must stand for just that.
        """
        values = dict(known or {})
        parts: list[str] = []  # literal text and a placeholder's name, in turn
        literal = ""
        for before, name in self.pieces:
            literal += before
            if name in values:
                literal += values[name]
            elif name is not None:
                parts += [literal, name]
                literal = ""
        found = _split(text, parts, literal)
        return None if found is None else {**values, **found}


def _split(text: str, parts: list[str], end: str) -> dict[str, str] | None:
    """Return what each placeholder stands for, an earlier one for as much as it can.

    A place from which the rest cannot be read is looked at once only: a regular expression
    would come back to it by every way that there is.
    """
    names = parts[1::2]
    if not text.endswith(end) or len(text) < len(names) + sum(map(len, (*parts[::2], end))):
        return None
    again = [name for place, name in enumerate(names) if name in names[:place]]
    return _rest(text, parts, end, again, set(), 0, 0, {})


def _rest(
    text: str, parts: list[str], end: str, again: list[str], failed: set[tuple[object, ...]],
    place: int, start: int, values: dict[str, str],
) -> dict[str, str] | None:  # fmt: skip
    """Return what all placeholders stand for, where those before `place` are known."""
    if place == len(parts):
        return values if text[start:] == end else None
    state = (place, start, *(values.get(name) for name in again))
    literal, name = parts[place : place + 2]
    if state in failed or not text.startswith(literal, start):
        return None
    start += len(literal)
    if name in values:
        stops: Iterable[int] = [start + len(values[name])] * text.startswith(values[name], start)
    else:
        slash = text.find("/", start)
        stops = range(len(text) if slash < 0 else slash, start, -1)
    for stop in stops:
        known = {**values, name: text[start:stop]}
        found = _rest(text, parts, end, again, failed, place + 2, stop, known)
        if found is not None:
            return found
    failed.add(state)
    return None


@dataclass(frozen=True)
class Found:
    """A file that a pattern stands for, and what its placeholders stand for."""

    path: Path
    values: Mapping[str, str]


class NothingFoundError(LookupError):
    """No file is what a pattern stands for; the text says what there is instead."""


_gone: ContextVar[frozenset[str]] = ContextVar("_gone", default=frozenset())


@contextlib.contextmanager
def as_if_there(paths: Iterable[Path]) -> Iterator[None]:
    """Let patterns stand for files that are gone, too: for what a config meant when they were."""
    absolute = {os.path.abspath(path) for path in paths}
    token = _gone.set(frozenset(absolute))
    try:
        yield
    finally:
        _gone.reset(token)


_hidden: ContextVar[dict[str, None] | None] = ContextVar("_hidden", default=None)


@contextlib.contextmanager
def hidden_folders() -> Iterator[Collection[str]]:
    """Collect the folders that placeholders would stand for if their names began with no dot."""
    found: dict[str, None] = {}
    token = _hidden.set(found)
    try:
        yield found
    finally:
        _hidden.reset(token)


def _is_file(path: Path) -> bool:
    return path.is_file() or os.path.abspath(path) in _gone.get()


def _is_folder(path: Path) -> bool:
    return path.is_dir() or any(_inside(path))


def _inside(folder: Path) -> Iterator[str]:
    """Yield the names in a folder on the way to files that are gone."""
    gone = _gone.get()
    start = f"{os.path.abspath(folder)}{os.sep}" if gone else ""
    for path in gone:
        if path.startswith(start):
            yield path.removeprefix(start).split(os.sep)[0]


def files(base: Path, text: str, known: Mapping[str, str] | None = None) -> list[Found]:
    """Return the files that a pattern stands for, in natural order. The one look at the disk.

    Names that begin with a dot are passed over, unless the pattern has the dot.

    Parameters
    ----------
    base : Path
        Folder that a relative pattern starts from.
    text : str
        Path with placeholders.
    known : mapping, optional
        Placeholders that are settled already.

    Raises
    ------
    NothingFoundError
        Where there is no such file: the pattern, and what the nearest folder holds.
    """
    try:
        return _files(base, text, known or {})
    except PermissionError as error:  # what it holds would be left out without a word
        path = Path(os.path.normpath(error.filename))
        folder = path if os.path.isdir(path) else path.parent
        what = f"no permission to look into {folder}; change its mode or its owner"
        raise NothingFoundError(what) from None
    except OSError as error:  # a name that is too long, or a path
        raise NothingFoundError(f"{error.strerror}: {error.filename}") from None


def _files(base: Path, text: str, known: Mapping[str, str]) -> list[Found]:
    parts = Path(text).parts
    at = [Found(Path(parts[0]) if Path(text).is_absolute() else base, dict(known))]
    for part in parts[1:] if Path(text).is_absolute() else parts:
        stuck = [folder for folder in at if _is_folder(folder.path)] or at
        at = [found for folder in stuck for found in _step(folder, Pattern(part))]
        if not at:
            raise NothingFoundError(_explain(base, text, known, part, stuck))
    whole = [Found(_tidy(found.path), found.values) for found in at if _is_file(found.path)]
    if not whole:
        if not _is_folder(at[0].path):
            raise NothingFoundError(f"{_tidy(at[0].path)} is no regular file")
        names = _listing(at[0].path, "")
        raise NothingFoundError(f"{_tidy(at[0].path)} is a folder, not a file; it holds {names}")
    return sorted(whole, key=lambda found: natural(str(found.path)))


def natural(text: str) -> tuple[tuple[int, int, str, str], ...]:
    """Return a key that sorts numbers in text by size.

    >>> sorted(["fold10", "fold2", "fold1", "fold02"], key=natural)
    ['fold1', 'fold02', 'fold2', 'fold10']
    """
    pieces = re.findall(r"[0-9]+|[^0-9]+", text)
    return tuple(
        (0, len(size := p.lstrip("0")), size, p) if p[0] in "0123456789" else (1, 0, p, p)
        for p in pieces
    )  # of numbers the longer is larger; Python reads none of more than 4,300 digits


def _step(folder: Found, part: Pattern) -> Iterator[Found]:
    """Yield what is in `folder` under a name that fits `part`."""
    if all(name in folder.values for name in part.names):
        path = folder.path / part.fill(folder.values)
        if path.exists() or _is_file(path) or _is_folder(path):
            yield Found(path, folder.values)
        return
    for name in _names(folder.path):
        values = part.match(name, folder.values)
        if values is not None and name[0] == "." != part.text[0]:
            hidden = _hidden.get()
            if hidden is not None and (folder.path / name).is_dir():
                hidden[readable_name(str(_tidy(folder.path / name)))] = None
        elif values is not None:
            if not name.isascii() and (shown := readable_name(name)) != name:
                what = f"the name of {folder.path / shown} is not UTF-8; rename it"
                raise NothingFoundError(what)
            yield Found(folder.path / name, values)


def _names(folder: Path) -> list[str]:
    try:
        found = os.listdir(folder)
    except PermissionError:
        raise
    except OSError:  # a file
        found = []
    return sorted({*found, *_inside(folder)}, key=natural)


def _tidy(path: Path) -> Path:
    """Return the path without ``..`` where that leads to the same place."""
    short = Path(os.path.normpath(path))
    return short if short.exists() and short.samefile(path) else path


def _explain(base: Path, text: str, known: Mapping[str, str], part: str, stuck: list[Found]) -> str:
    """Say which part of the path is not there, and what is."""
    wanted = {found.path: _literal(Pattern(part), found.values) for found in stuck}
    nearest = max(wanted, key=lambda folder: _nearness(wanted[folder], _names(folder)))
    path = Path(os.path.normpath(base / _literal(Pattern(text), known)))
    folder = Path(os.path.normpath(nearest))
    verb = "no file" if set(Pattern(text).names) <= set(known) else "no file matches"
    if path.is_symlink():
        return f"{verb} {path}; {link_to(path)}"
    if not nearest.is_dir():
        return f"{verb} {path}; {folder} is no folder"
    place = "the folder" if folder == path.parent else f"{folder}/"
    what = f"{verb} {path}; {place} holds {_listing(nearest, wanted[nearest])}"
    return what + ("  ('*' is taken as it stands: write {name})" if "*" in part else "")


def _literal(pattern: Pattern, known: Mapping[str, str]) -> str:
    return pattern.fill({name: known.get(name, f"{{{name}}}") for name in pattern.names})


def _nearness(wanted: str, names: Iterable[str]) -> float:
    return max((difflib.SequenceMatcher(None, wanted, name).ratio() for name in names), default=0)


def _listing(folder: Path, wanted: str) -> str:
    """Return a few names in a folder, those like `wanted` first, then those that end like it."""
    names = [name + "/" * (folder / name).is_dir() for name in _names(folder) if name[0] != "."]
    like = difflib.get_close_matches(wanted, names, n=len(names) or 1, cutoff=0.6)
    like.sort(key=lambda name: (-_nearness(wanted, [name]), natural(name)))
    near = like[:SHOWN]
    others = [name for name in names if name not in near]
    others.sort(key=lambda name: _end(name) != _end(wanted))
    first = [*near, *others][:SHOWN]
    more = len(names) - len(first)
    return ", ".join(first or ["nothing"]) + (f" and {more} more" if more else "")


def _end(name: str) -> str:
    return Path(name).suffix.lower().replace(".yml", ".yaml")


_DOLLAR = re.compile(r"\$\$|\$\{(?:[^{}]|\{[^{}]*\})*\}|\$\{")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?\}", re.S)


class Place(NamedTuple):
    """A path in a config: where it is, and what holds it under which key."""

    loc: Loc
    holder: Any
    key: Any
    pattern: bool
    """Whether it may have placeholders, so that braces are doubled."""

    @property
    def text(self) -> str:
        """The path."""
        return str(self.holder[self.key])


def places(data: Mapping[str, Any]) -> Iterator[Place]:
    """Yield the paths of a config; parts that are of a wrong type are passed over."""
    for key in ("extends", "output", "cache"):
        yield from _places((), data, (key,), pattern=False)
    for name, entry in _items(data.get("datasets")):
        yield from _places(("datasets", name), entry, ("path", "group"), pattern=True)
    for name, given in _items(data.get("runs")):
        if isinstance(given, list):
            for place, entry in enumerate(given):
                yield from _places(("runs", name, place), entry, ("path",), pattern=True)
        else:
            yield from _places(("runs", name), given, ("path",), pattern=True)
    plugins = data.get("plugins")
    for place, name in enumerate(plugins if isinstance(plugins, list) else []):
        if isinstance(name, str) and (name.endswith(".py") or "/" in name):
            yield Place(("plugins", place), plugins, place, False)


def expand(source: Source, only: Collection[Loc] | None = None) -> Source:
    """Put the values of environment variables into the paths of a config.

    ``${NAME}`` is the variable's value, ``${NAME:-default}`` the default where it is not set or
    empty, and ``$$`` a dollar sign.

    Parameters
    ----------
    source : Source
        Its data are changed.
    only : collection of locations, optional
        Parts that are looked at; everything where left out.

    Returns
    -------
    Source
        With a problem for each variable that is not set, and each path with a zero byte; such a
        path is taken out.
    """
    problems: list[Problem] = []
    unread: set[Loc] = set()
    for place in list(places(source.data)):
        if only is not None and not any(_same(place.loc, loc) for loc in only):
            continue
        text, wrong = _expanded(place.text, place.pattern)
        for what, fix in wrong:
            problems.append(source.problem(place.loc, what, fix=fix))
            unread.add(place.loc)
        if not wrong:
            place.holder[place.key] = text
        elif isinstance(place.holder, dict):
            del place.holder[place.key]
    return replace(source, problems=(*source.problems, *problems), unread=source.unread | unread)


def escape(data: Mapping[str, Any]) -> None:
    """Write the dollar signs of paths so that :func:`expand` gives the same paths again."""
    for place in places(data):
        place.holder[place.key] = re.sub(r"\$(?=[${])", "$$", place.text)


def rebase(data: Mapping[str, Any], folder: str) -> None:
    """Let relative paths start one step higher: `folder` is the way to where they started."""
    if folder in ("", "."):
        return
    for place in places(data):
        if not PurePath(place.text).is_absolute() and (place.key, place.text) != ("cache", "none"):
            start = _doubled(folder) if place.pattern else folder
            place.holder[place.key] = f"{start.rstrip('/')}/{place.text}"


def _expanded(text: str, pattern: bool) -> tuple[str, list[tuple[str, str]]]:
    """Return the text with variables filled in, and what is wrong with which, and what to do."""
    wrong: list[tuple[str, str]] = []
    if "\0" in text:
        wrong.append(("holds the character \\0, which no path may", "take it out"))

    def value(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        known = _VARIABLE.fullmatch(match[0])
        if known is None:
            fix = "write ${NAME} or ${NAME:-default}; $$ is a dollar sign"
            wrong.append((f"'{match[0]}' is no environment variable in '{text}'", fix))
            return match[0]
        name, default = known.groups()
        if os.environ.get(name):
            return _doubled(os.environ[name]) if pattern else os.environ[name]
        if default is None:
            state = "is empty" if name in os.environ else "is not set"
            fix = f"set it, or give a default: ${{{name}:-../data}}"
            wrong.append((f"the environment variable {name} {state}", fix))
        return default or ""

    return _DOLLAR.sub(value, text), wrong


def _doubled(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _same(one: Loc, other: Loc) -> bool:
    """Whether one part holds the other."""
    n = min(len(one), len(other))
    return one[:n] == other[:n]


def _items(part: Any) -> list[tuple[str, Any]]:
    return list(part.items()) if isinstance(part, dict) else []


def _places(loc: Loc, holder: Any, keys: tuple[str, ...], pattern: bool) -> Iterator[Place]:
    for key in keys:
        if isinstance(holder, dict) and isinstance(holder.get(key), str) and holder[key]:
            yield Place((*loc, key), holder, key, pattern)
