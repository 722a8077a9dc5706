"""JSON as pytrec_eval takes it: ``{qid: {docno: number}}``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..core.arrow import string_column
from ..core.policy import Duplicates
from ..core.ragged import Array, offsets_of
from ..core.tables import Docnos, Qrels, Run, T, Table
from ..errors import SHOWN, InputError, Problem, shorten
from .build import keep_one, warn
from .format import Format, Head, Kind
from .number_text import of_number
from .source import Source, no_rows

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def parse(text: bytes, hook: Any = None) -> Any:
    r"""Return the value of a JSON text.

    Parameters
    ----------
    text : bytes
        UTF-8; :func:`json.loads` would guess other encodings, and let surrogates through.
    hook : callable, optional
        ``object_pairs_hook`` of :func:`json.loads`.

    Raises
    ------
    ValueError
        ``UnicodeDecodeError`` if it is not UTF-8, ``JSONDecodeError`` if it is not JSON.

    >>> parse(b'{"a": 1}')
    {'a': 1}
    >>> parse(b'"\\ud800"')
    Traceback (most recent call last):
        ...
    ValueError: \ud800 is half of a surrogate pair, which is no character
    """
    try:
        value = json.loads(text.decode("utf-8-sig"), object_pairs_hook=hook)
    except RecursionError:
        raise ValueError("too many objects or lists inside each other") from None
    if b"\\u" in text:
        halves = (match["half"] for match in _ESCAPE.finditer(text))
        if half := next(filter(None, halves), None):
            raise ValueError(
                f"\\{half.decode()} is half of a surrogate pair, which is no character"
            )
    return value


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys are different; for ``hook``. ValueError if one is repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        key = next(_repeated([key for key, _ in pairs]))
        raise ValueError(f"the key '{key:.60}' stands twice")
    return found


def is_finite(value: Any) -> bool:
    """Return whether a number is finite as a float64; JSON's integers have no end.

    >>> is_finite(1), is_finite(10**400), is_finite(float("nan"))
    (True, False, False)
    """
    try:
        return float("-inf") < float(value) < float("inf")
    except OverflowError:
        return False


class _Object(NamedTuple):
    """The members of a JSON object, repeated keys included."""

    keys: list[str]
    values: list[Any]


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    return _Object([key for key, _ in pairs], [value for _, value in pairs])


def read_qrels(
    source: Source, *, duplicates: Duplicates, name: str, fractions: bool = False
) -> Qrels:
    """Read ``{qid: {docno: grade}}``."""
    return _read(Qrels, source, duplicates, name, whole=not fractions)


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read ``{qid: {docno: score}}``."""
    return _read(Run, source, duplicates, name, whole=False)


def _read(of: type[T], source: Source, duplicates: Duplicates, name: str, *, whole: bool) -> T:
    queries = _without_repeats(of, source, _queries(source), duplicates)
    numbers = _numbers(of, source, queries, whole)
    if not numbers.size:
        raise no_rows(source.name)
    offsets = offsets_of(np.array([len(rows.keys) for rows in queries.values], np.int64))
    docnos = Docnos(
        string_column(chain.from_iterable(rows.keys for rows in queries.values)), offsets
    )
    if issubclass(of, Qrels):
        numbers = of.check_numbers(numbers, name, fractions=not whole)
    return of(string_column(queries.keys), offsets, docnos, numbers, name)


def _queries(source: Source) -> _Object:
    """Return the object of the file, each of its values an object."""
    try:
        found = parse(source.read(), _object)
    except UnicodeDecodeError:
        raise InputError(
            Problem(source.name, "not UTF-8 text", fix="convert the file to UTF-8")
        ) from None
    except json.JSONDecodeError as error:
        what = f"not JSON ({error.msg}, column {error.colno})"
        raise InputError(Problem(f"{source.name}:{error.lineno}", what)) from None
    except ValueError as error:
        raise InputError(Problem(source.name, f"not JSON ({error})")) from None
    if not isinstance(found, _Object) or any(type(rows) is not _Object for rows in found.values):
        what, fix = "not a mapping of qid to docno to number", 'write {"q1": {"d1": 1, "d2": 0}}'
        raise InputError(Problem(source.name, what, fix=fix))
    return found


def _without_repeats(
    of: type[Table], source: Source, queries: _Object, duplicates: Duplicates
) -> _Object:
    """Return the object with each query, and each docno of a query, once."""
    repeated = [key for rows in (*queries.values, queries) for key in _repeated(rows.keys)]
    if not repeated:
        return queries
    if duplicates == "error":
        problems = [
            Problem(
                source.name, "a key stands twice in one object", shorten(key), keep_one(of),
                "duplicates",
            )
            for key in repeated[:SHOWN]
        ]  # fmt: skip
        raise InputError(problems, total=len(repeated))
    stand = "1 key stands" if len(repeated) == 1 else f"{len(repeated):,} keys stand"
    what = f"{stand} twice in one object; the {duplicates} of each is kept"
    warn(source, what, "dropped-rows", len(repeated))
    keys, values = _kept(queries, duplicates)
    return _Object(keys, [_kept(rows, duplicates) for rows in values])


def _repeated(keys: list[str]) -> Iterator[str]:
    """Yield the keys that an earlier one equals."""
    if len({*keys}) == len(keys):
        return
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            yield key
        seen.add(key)


def _kept(members: _Object, duplicates: Duplicates) -> _Object:
    """Return the first or the last member of each key, in the order of the file."""
    places = range(len(members.keys))
    order = reversed(places) if duplicates == "first" else places
    rows = sorted({members.keys[at]: at for at in order}.values())
    return _Object([members.keys[at] for at in rows], [members.values[at] for at in rows])


def _numbers(of: type[Table], source: Source, queries: _Object, whole: bool) -> Array:
    """Return all values as float64; raise if one is not a finite (or whole) number."""
    parts = [_finite_floats(rows.values) for rows in queries.values]
    if all(part is not None and not (whole and (part % 1).any()) for part in parts):
        return np.concatenate([np.zeros(0), *parts])
    word = "grade" if issubclass(of, Qrels) else "score"
    wrong = [*_wrong(source, queries, word, whole)]
    raise InputError(wrong[:SHOWN], total=len(wrong))


def _finite_floats(values: Iterable[Any]) -> Array | None:
    if not {*map(type, values)} <= {int, float} or not all(map(is_finite, values)):
        return None
    return np.array(values, np.float64)


def _wrong(source: Source, queries: _Object, word: str, whole: bool) -> Iterator[Problem]:
    for qid, rows in zip(*queries, strict=True):
        for docno, value in zip(*rows, strict=True):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                wanted, rule = "a number", ""
            elif not is_finite(value):
                wanted, rule = "a finite number", of_number(word, False)
            elif whole and value != int(value):
                wanted, rule = "a whole number", of_number(word, True)
            else:
                continue
            at = f"query '{shorten(qid)}', docno '{shorten(docno)}'"
            text = shorten(json.dumps(_plain(value)), 60)
            yield Problem(f"{source.name}: {at}", f"{word} {text} is not {wanted}", rule=rule)


def _plain(value: Any) -> Any:
    if isinstance(value, _Object):
        return dict(zip(value.keys, map(_plain, value.values), strict=True))
    return [*map(_plain, value)] if isinstance(value, list) else value


def looks(head: Head, kind: Kind) -> bool:
    """Whether an object begins whose first value is an object."""
    start = b"".join(head.data[:4096].split())
    return start.startswith(b'{"') and b'":{' in start.partition(b",")[0]


FORMAT = Format(
    name="json",
    about="JSON as pytrec_eval takes it: {qid: {docno: number}}",
    suffixes=(".json",),
    looks=looks,
    qrels=read_qrels,
    run=read_run,
)
