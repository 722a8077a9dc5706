"""What differs in where two folders of results come from: inputs, config, versions, counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ..errors import shorten
from .changes_board import Board

ABSENT, WIDTH = "–", 60
_EMPTY: tuple[Any, ...] = (None, {}, [], "")


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same: which kind (input, version, config...), what, old, new."""

    kind: str
    what: str
    old: str
    new: str


def origins(old: Board, new: Board) -> tuple[Difference, ...]:
    """Return what differs between two folders, in the order in which it is likely to matter.

    Empty where a side is no folder.
    """
    if old.manifest is None or new.manifest is None:
        return ()
    first, second = old.manifest, new.manifest
    return (
        *_inputs(first, second),
        *_config(first, second),
        *_pairs("version", first.get("versions"), second.get("versions")),
        *_scalars(first, second),
        *_counts(old, new),
    )


def _inputs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    gone, come = (
        {each["path"]: f"sha256 {each['sha256'][:12]}, {each['bytes']} bytes" for each in one}
        for one in (old["inputs"], new["inputs"])
    )
    for path in [path for path in gone if path in come]:
        first, second = gone.pop(path), come.pop(path)
        if first != second:
            yield Difference("input", path, first, second)
    for path, text in list(gone.items()):  # the same bytes elsewhere are the same input
        elsewhere = next((other for other, bytes_ in come.items() if bytes_ == text), None)
        if elsewhere is not None:
            del gone[path], come[elsewhere]
    for path in list(gone):  # nor is another folder another file
        alike = [[other for other in one if _name(other) == _name(path)] for one in (gone, come)]
        if len(alike[0]) == len(alike[1]) == 1:
            yield Difference("input", alike[1][0], gone.pop(path), come.pop(alike[1][0]))
    yield from (Difference("input", path, text, ABSENT) for path, text in gone.items())
    yield from (Difference("input", path, ABSENT, text) for path, text in come.items())


def _name(path: str) -> str:
    return PurePosixPath(path).name


def _config(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    for path, first, second in _leaves(old["config"], new["config"]):
        if path not in ("output", "name"):  # never the same, and the cause of nothing
            is_policy = path.startswith("policy.")
            kind = "policy" if is_policy else "config"
            yield Difference(kind, path.removeprefix("policy."), _text(first), _text(second))


def _leaves(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the parts of two configs that differ, as deep as both have them: ``compare.test``.

    What is empty in one is the same as what is not there.
    """
    if old == new or (old in _EMPTY and new in _EMPTY):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys([*old, *new]):
            yield from _leaves(old.get(name), new.get(name), f"{path}.{name}".lstrip("."))
    else:
        yield path, old, new


def _pairs(
    kind: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None
) -> Iterator[Difference]:
    first, second = old or {}, new or {}
    for name in dict.fromkeys([*first, *second]):
        if first.get(name) != second.get(name):
            yield Difference(kind, name, _text(first.get(name)), _text(second.get(name)))


def _scalars(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    for kind in ("code", "platform", "git"):
        first, second = old.get(kind), new.get(kind)
        if first != second:
            sides = [_text(one)[:12] if kind == "code" else _text(one) for one in (first, second)]
            yield Difference(kind, "of the harness" if kind == "code" else "", *sides)


def _counts(old: Board, new: Board) -> Iterator[Difference]:
    for key, row in old.rows.items():
        if key in new.rows:
            for one in _pairs("count", row.counts, new.rows[key].counts):
                yield Difference("count", f"{one.what}, {key}", one.old, one.new)


def _text(value: Any) -> str:
    if value is None:
        return ABSENT
    if isinstance(value, Mapping):
        return shorten(", ".join(f"{name}: {_text(one)}" for name, one in value.items()), WIDTH)
    if isinstance(value, list):
        return shorten(", ".join(map(_text, value)), WIDTH)
    return str(value)
