"""Text with ``{placeholders}``, and the files on disk that match it."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from string import Formatter

from ..core.entries import natural
from ..errors import HarnessError, first_of
from ..input_files import url_of
from ..readers import remote
from ..readers.files import readable_name
from ..readers.source import IR_DATASETS, qrels_file

SHOWN = 5
"""Names of a folder that a message lists."""


@dataclass(frozen=True)
class Pattern:
    """Text with placeholders: ``fold{fold}-seed{seed}.txt``. Double a brace to mean itself.

    A placeholder matches one or more characters other than ``/``, an earlier one as many as it
    can. One that occurs twice matches the same text both times. A brace that is single, or
    encloses anything but a name, is a ValueError.

    >>> pattern = Pattern("{model}/fold{fold}.txt")
    >>> pattern.match("svm/fold12.txt"), pattern.match("svm/fold.txt")
    ({'model': 'svm', 'fold': '12'}, None)
    >>> pattern.fill({"model": "svm", "fold": "3"})
    'svm/fold3.txt'
    """

    text: str

    pieces: tuple[tuple[str, str | None], ...] = field(init=False, compare=False, repr=False)
    """Literal text and the placeholder that follows it, in turn."""

    def __post_init__(self) -> None:
        fix = "write {name} for a placeholder, {{ and }} for braces themselves"
        try:
            parsed = list(Formatter().parse(self.text))
        except ValueError:
            raise ValueError(f"there is a single brace in '{self.text}'; {fix}") from None
        for _, name, spec, conversion in parsed:
            is_name = name is None or re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name)
            if spec or conversion or not is_name:
                raise ValueError(f"'{{{name}}}' is not a placeholder in '{self.text}'; {fix}")
        pieces = tuple((literal, name) for literal, name, _, _ in parsed)
        object.__setattr__(self, "pieces", pieces)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The placeholders, each once, in order."""
        return tuple(dict.fromkeys(name for _, name in self.pieces if name is not None))

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the text with every placeholder replaced."""
        return "".join(text + (values[name] if name else "") for text, name in self.pieces)

    def match(self, text: str, captured: Mapping[str, str] | None = None) -> dict[str, str] | None:
        """Return the text that each placeholder matches, and `captured`; None if `text` differs."""
        values, expression = dict(captured or {}), ""
        earlier: set[str] = set()
        for literal, name in self.pieces:
            expression += re.escape(literal)
            if name in values:
                expression += re.escape(values[name])
            elif name is not None:
                expression += f"(?P={name})" if name in earlier else f"(?P<{name}>[^/]+)"
                earlier.add(name)
        matched = re.fullmatch(expression, text)
        return None if matched is None else {**values, **matched.groupdict()}


@dataclass(frozen=True)
class Found:
    """A file that matches a pattern, and the values of the placeholders."""

    path: Path
    values: Mapping[str, str]


class NothingFoundError(LookupError):
    """No file matches a pattern; the text lists the nearest files.

    `near` is the path with the nearest name, if a name is near.
    """

    def __init__(self, text: str, near: str = "") -> None:
        self.near = near
        super().__init__(text)


def matching_files(base: Path, text: str, captured: Mapping[str, str] | None = None) -> list[Found]:
    """Return the files that match a pattern, in natural order. The only look at the disk.

    A placeholder has its `captured` value, and matches no name that begins with a dot. Raises
    NothingFoundError if there is no such file: the pattern, and what the nearest folder holds.
    """
    try:
        if text.startswith(IR_DATASETS):
            return [Found(Path(qrels_file(text)), dict(captured or {}))]
        if url := url_of(text):
            return _matching_urls(url, captured or {})
        return _matching_files(base, text, captured or {})
    except HarnessError as error:
        (problem,) = error.problems
        what = f"{problem.where}: {problem.what}" if url_of(problem.where) else problem.what
        raise NothingFoundError("; ".join(filter(None, (what, problem.fix)))) from None
    except PermissionError as error:
        message = f"no permission to read {os.path.normpath(error.filename)}"
        raise NothingFoundError(f"{message}; change its mode or its owner") from None
    except OSError as error:  # a name that is too long, or a path
        raise NothingFoundError(f"{error.strerror}: {error.filename}") from None


def _matching_files(base: Path, text: str, captured: Mapping[str, str]) -> list[Found]:
    parts = Path(text).parts
    matches = [Found(Path(parts[0]) if Path(text).is_absolute() else base, dict(captured))]
    for part in parts[1:] if Path(text).is_absolute() else parts:
        folders = [match for match in matches if match.path.is_dir()] or matches
        matches = [match for folder in folders for match in _matches_in(folder, Pattern(part))]
        if not matches:
            raise _missing_file(base, text, captured, part, folders)
    files = (match for match in matches if match.path.is_file())
    regular = [
        replace(match, path=_tidy_path(match.path)) if ".." in match.path.parts else match
        for match in files
    ]
    if not regular:
        path = _tidy_path(matches[0].path)
        if not path.is_dir():
            raise NothingFoundError(f"{path} is not a regular file")
        names = _list_names(path, "")
        raise NothingFoundError(f"{path} is a folder, not a file; it contains {names}")
    return sorted(regular, key=lambda match: natural(str(match.path)))


def _matching_urls(url: str, captured: Mapping[str, str]) -> list[Found]:
    """Return the matching files of a store; only folders with placeholders are listed."""
    scheme, _, rest = url.partition("://")
    parts = [*map(Pattern, rest.split("/"))]
    matches, is_listed = [(f"{scheme}:/", captured)], False
    for n, part in enumerate(parts, 1):
        is_listed = not all(name in matches[0][1] for name in part.names)
        if not is_listed:
            matches = [(f"{path}/{part.fill(values)}", values) for path, values in matches]
            continue
        folders, slash = matches, "/" if n < len(parts) else ""
        matches = [
            (f"{path}/{name}", {**values, **matched})
            for path, values in folders
            for listed in sorted(remote.names_in(path), key=natural)
            if (name := listed.rstrip("/")) + slash == listed
            if name[0] != "." or part.text[0] == "."
            if (matched := part.match(name, values)) is not None
        ]
        if not matches:
            folder, text = folders[0][0], _literal_path(Pattern(url), captured)
            names = first_of(remote.names_in(folder) or ["nothing"], SHOWN)
            raise NothingFoundError(f"no file matches {text}; {folder}/ contains {names}")
    if not is_listed:
        there = [match for match in matches if remote.exists(match[0])]
        if not there:
            remote.check_there(matches[0][0])
        matches = there
    return [Found(Path(path), dict(values)) for path, values in matches]


def double_braces(text: str) -> str:
    """Return literal text as a pattern, with each brace doubled."""
    return text.replace("{", "{{").replace("}", "}}")


def _matches_in(folder: Found, part: Pattern) -> Iterator[Found]:
    if all(name in folder.values for name in part.names):
        path = folder.path / part.fill(folder.values)
        if path.exists():
            yield Found(path, folder.values)
        return
    for name in _sorted_names(folder.path):
        values = part.match(name, folder.values)
        if values is None or name[0] == "." != part.text[0]:
            continue
        if (readable := readable_name(name)) != name:
            message = f"the name of {folder.path / readable} is not UTF-8; rename it"
            raise NothingFoundError(message)
        yield Found(folder.path / name, values)


def _sorted_names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder), key=natural) if folder.is_dir() else []


def _tidy_path(path: Path) -> Path:
    """Return the path without ``..``, unless a link makes that another place."""
    short = Path(os.path.normpath(path))
    return short if short.exists() and short.samefile(path) else path


def _missing_file(
    base: Path, text: str, captured: Mapping[str, str], part: str, folders: list[Found]
) -> NothingFoundError:
    """Return the error of a part of a path that does not exist, with the names in its folder."""
    path = Path(os.path.normpath(base / _literal_path(Pattern(text), captured)))
    folder = Path(os.path.normpath(folders[0].path))
    verb = "no file" if set(Pattern(text).names) <= set(captured) else "no file matches"
    if not folder.is_dir():
        return NothingFoundError(f"{verb} {path}; {folder} is not a folder")
    place = "the folder" if folder == path.parent else f"{folder}/"
    guess = _literal_path(Pattern(part), folders[0].values)
    near = "" if Pattern(part).names else remote.nearest_file(guess, _sorted_names(folder))
    parts = [near if word == part else word for word in text.split("/")]
    message = f"{verb} {path}; {place} contains {_list_names(folder, guess)}"
    return NothingFoundError(message, "/".join(parts) if near else "")


def _literal_path(pattern: Pattern, captured: Mapping[str, str]) -> str:
    return pattern.fill({name: captured.get(name, f"{{{name}}}") for name in pattern.names})


def _list_names(folder: Path, guess: str) -> str:
    """Return a few names in a folder, those like `guess` first."""
    names = [name for name in _sorted_names(folder) if name[0] != "."]
    names = [f"{name}/" if (folder / name).is_dir() else name for name in names]
    similar = difflib.get_close_matches(guess, names, SHOWN)
    return first_of([*dict.fromkeys((*similar, *names))] or ["nothing"], SHOWN)
