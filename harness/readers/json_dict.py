"""JSON as pytrec_eval takes it: ``{qid: {docno: number}}``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..core.policy import Duplicates
from ..core.tables import Qrels, Run
from ..errors import SHOWN, InputError, Problem, shorten
from .build import KEEP_ONE, warn
from .format import Format, Head, Kind
from .json_text import is_finite, parse
from .number_text import of_number
from .source import Source, no_rows

_Pairs = list[tuple[str, Any]]


def read_qrels(
    source: Source, *, duplicates: Duplicates, name: str, fractions: bool = False
) -> Qrels:
    """Read ``{qid: {docno: grade}}``."""
    table = _load(source, duplicates)
    _check(source, table, "grade", whole=not fractions)
    return Qrels.from_dict(table, name=name, fractions=fractions)


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read ``{qid: {docno: score}}``."""
    table = _load(source, duplicates)
    _check(source, table, "score", whole=False)
    return Run.from_dict(table, name=name)


def _load(source: Source, duplicates: Duplicates) -> dict[str, dict[str, Any]]:
    """Return the mapping; JSON allows a key twice, Python's reader keeps the last in silence."""
    twice: list[str] = []

    def mapping(pairs: _Pairs) -> dict[str, Any]:
        made = dict(pairs if duplicates != "first" else reversed(pairs))
        if len(made) < len(pairs):
            seen: set[str] = set()
            twice.extend(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return dict(reversed(made.items())) if duplicates == "first" else made

    try:
        table = parse(source.read(), mapping)
    except json.JSONDecodeError as error:
        where = f"{source.name}:{error.lineno}"
        raise InputError(Problem(where, f"not JSON ({error.msg}, column {error.colno})")) from None
    except UnicodeDecodeError:
        raise InputError(Problem(source.name, "not UTF-8 text")) from None
    except ValueError as error:
        raise InputError(Problem(source.name, f"not JSON ({error})")) from None
    if twice and duplicates == "error":
        problems = [
            Problem(
                source.name, f"the key '{shorten(key)}' stands twice in one object",
                fix=KEEP_ONE, rule="duplicates",
            )
            for key in twice[:SHOWN]
        ]  # fmt: skip
        raise InputError(problems, total=len(twice))
    if not isinstance(table, dict) or not all(isinstance(row, dict) for row in table.values()):
        raise InputError(
            Problem(source.name, "not a mapping of qid to docno to number",
                    fix='write {"q1": {"d1": 1, "d2": 0}}')
        )  # fmt: skip
    if twice:
        stand = "1 key stands" if len(twice) == 1 else f"{len(twice)} keys stand"
        what = f"{stand} twice in one object; the {duplicates} of each is kept"
        warn(source, what, "dropped-rows", len(twice))
    if not any(table.values()):
        raise no_rows(source.name)
    return table


def _check(source: Source, table: dict[str, dict[str, Any]], word: str, *, whole: bool) -> None:
    """Raise where a value is not a finite number, or is not whole and should be."""
    problems = list(_wrong(source, table, word, whole))
    if problems:
        raise InputError(problems[:SHOWN], total=len(problems))


def _wrong(
    source: Source, table: dict[str, dict[str, Any]], word: str, whole: bool
) -> Iterator[Problem]:
    for qid, row in table.items():
        for docno, value in row.items():
            what = ""
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                what = "a number"
            elif not is_finite(value):
                what = "a finite number"
            elif whole and value != int(value):
                what = "a whole number"
            if what:
                at = f"query '{shorten(qid)}', docno '{shorten(docno)}'"
                said = shorten(json.dumps(value), 60)
                rule = "" if what == "a number" else of_number(word, what == "a whole number")
                yield Problem(f"{source.name}: {at}", f"{word} {said} is not {what}", rule=rule)


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
