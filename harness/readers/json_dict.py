"""JSON as pytrec_eval takes it: ``{qid: {docno: number}}``."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ..core.arrow import string_column
from ..core.policy import Duplicates
from ..core.ragged import offsets_of
from ..core.tables import GRADE_LIMIT, Docnos, Qrels, Run, T
from ..errors import SHOWN, InputError, Problem, shorten
from .build import keep_one, warn
from .format import Format, Head, Kind
from .number_text import check_number
from .source import Source, no_rows

_Pairs = list[tuple[str, Any]]


def parse(text: bytes, hook: Callable[[_Pairs], Any] | None = None) -> Any:
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
    """
    try:
        value = json.loads(text.decode("utf-8-sig"), object_pairs_hook=hook)
        if b"\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("too many objects or lists inside each other") from None
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair, which is not a character") from None
    return value


def unrepeated(pairs: _Pairs) -> dict[str, Any]:
    """Return an object with different keys; for ``hook``. ValueError if one is repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"the key '{_repeated(pairs)[0]:.60}' is repeated")
    return found


def _repeated(pairs: _Pairs) -> list[str]:
    seen: set[str] = set()
    return [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]


def is_finite(value: Any) -> bool:
    """Return whether a number is finite as a float64; JSON's integers have no end.

    >>> is_finite(1), is_finite(10**400), is_finite(float("nan"))
    (True, False, False)
    """
    try:
        return float("-inf") < float(value) < float("inf")
    except OverflowError:
        return False


def read(
    of: type[T],
    source: Source,
    *,
    duplicates: Duplicates,
    name: str,
    dataset: Qrels | None = None,
    fractions: bool = False,
) -> T:
    """Read ``{qid: {docno: grade or score}}``."""
    word = "grade" if issubclass(of, Qrels) else "score"
    whole = word == "grade" and not fractions
    repeated: list[str] = []

    def hook(pairs: _Pairs) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            repeated.extend(_repeated(pairs))
            if duplicates == "first":
                found = dict([*reversed(pairs)])
                found = {key: found[key] for key, _ in pairs}
        return found

    queries = _queries(source, hook)
    if repeated and duplicates == "error":
        what, fix = "expected each qid, and each docno in a query, once", keep_one(of)
        problems = [
            Problem(source.name, what, shorten(key), fix, "duplicates") for key in repeated[:SHOWN]
        ]
        raise InputError(problems, total=len(repeated))
    if repeated:
        what = f"keys that are repeated in one object: {len(repeated):,}; the {duplicates} is kept"
        warn(source, what, "dropped-rows", len(repeated))
    if not any(queries.values()):
        raise no_rows(source.name)
    wrong = []
    for qid, rows in queries.items():
        for docno, value in rows.items():
            is_score = type(value) is float and not whole and is_finite(value)
            if is_score or (type(value) is int and abs(value) <= GRADE_LIMIT):
                continue
            text = json.dumps(value)
            if (problem := check_number(text, word, whole)) is not None:
                where = f"{source.name}: query '{shorten(qid)}', docno '{shorten(docno)}'"
                wrong.append(Problem(where, problem.what, fix=problem.fix, rule=problem.rule))
    if wrong:
        raise InputError(wrong[:SHOWN], total=len(wrong))
    offsets = offsets_of([len(rows) for rows in queries.values()])
    docnos = Docnos(string_column(chain.from_iterable(queries.values())), offsets)
    values = chain.from_iterable(rows.values() for rows in queries.values())
    numbers = np.fromiter(values, np.float64)
    if issubclass(of, Qrels):
        numbers = of.check_numbers(numbers, name, fractions=not whole)
    return of(string_column(queries), offsets, docnos, numbers, name)


def _queries(source: Source, hook: Callable[[_Pairs], Any]) -> dict[str, dict[str, Any]]:
    """Return the object of the file, each of its values an object."""
    try:
        found = parse(source.read(), hook)
    except UnicodeDecodeError:
        fix = "convert the file to UTF-8"
        raise InputError(Problem(source.name, "not UTF-8 text", fix=fix)) from None
    except json.JSONDecodeError as error:
        what = f"not JSON ({error.msg}, column {error.colno})"
        raise InputError(Problem(f"{source.name}:{error.lineno}", what)) from None
    except ValueError as error:
        raise InputError(Problem(source.name, f"not JSON ({error})")) from None
    if not isinstance(found, dict) or not all(isinstance(rows, dict) for rows in found.values()):
        what, fix = "not a mapping of qid to docno to number", 'write {"q1": {"d1": 1, "d2": 0}}'
        raise InputError(Problem(source.name, what, fix=fix))
    return found


def looks(head: Head, kind: Kind) -> bool:
    """Whether an object begins whose first value is an object."""
    start = b"".join(head.data[:4096].split())
    return start.startswith(b'{"') and b'":{' in start.partition(b",")[0]


FORMAT = Format(
    name="json",
    about="JSON as pytrec_eval takes it: {qid: {docno: number}}",
    suffixes=(".json",),
    looks=looks,
    qrels=partial(read, Qrels),
    run=partial(read, Run),
)
