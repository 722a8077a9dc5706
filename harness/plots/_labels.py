"""Names in pictures, and of their files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ..core.metric import Metric


def cut(text: str, width: int) -> str:
    """Return `text` in at most `width` characters, its middle left out.

    >>> cut("a-very-long-name-of-a-run", 12)
    'a-very…a-run'
    """
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def cut_all(texts: Sequence[str], width: int) -> list[str]:
    """Return the texts, each cut where that leaves them different; else they are numbered.

    >>> cut_all(["model-a-of-fold1", "model-b-of-fold1", "bm25"], 13)
    ['mo…a-of-fold1', 'mo…b-of-fold1', 'bm25']
    >>> cut_all(["a" * 20 + "1" + "b" * 20, "a" * 20 + "2" + "b" * 20], 9)
    ['aa…a1bbb…', 'aa…a2bbb…']
    >>> cut_all(["same-name", "same-name"], 9)
    ['same-name 1', 'same-name 2']
    """
    found = [cut(text, width) for text in texts]
    again = Counter(found)
    for short in [short for short, times in again.items() if times > 1]:
        places = [place for place, text in enumerate(found) if text == short]
        group = [" ".join(texts[place].split()) for place in places]
        for place, text in zip(places, _told_apart(group, short, width), strict=True):
            found[place] = text
    return found


def _told_apart(group: Sequence[str], short: str, width: int) -> list[str]:
    columns = enumerate(zip(*group, strict=False))
    differ = next((at for at, letters in columns if len(set(letters)) > 1), 0)
    start = max(differ - 1, 0)
    ways = (
        [f"{text[:2]}…{text[len(text) - width + 3 :]}" for text in group],
        [f"{text[: width - 1]}…" for text in group],
        [f"{text[:2]}…{text[start : start + width - 4]}…" for text in group],
        [f"{short} {number}" for number in range(1, len(group) + 1)],
    )
    return next(way for way in ways if len(set(way)) == len(group))


def better(metric: Metric) -> str:
    """Return the arrow of the way that is better, after a blank; nothing where there is none."""
    return {"higher": " ↑", "lower": " ↓", None: ""}[metric.definition.direction]


def safe(text: str) -> str:
    """Return `text` as a part of a file's name that every system and LaTeX take.

    >>> safe("rbo(p=0.9,reference=a/b)@10"), safe("../\N{GREEK SMALL LETTER ALPHA}")
    ('rbo-p-0-9-reference-a-b-10', 'x')
    """
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")[:60].strip("-") or "x"


def paths(stems: Iterable[str]) -> list[str]:
    """Return the stems with a number after those that were there before, whatever their case.

    >>> paths(["a", "b", "A"])
    ['a', 'b', 'A-2']
    """
    taken: set[str] = set()
    found = []
    for stem in stems:
        path, number = stem, 1
        while path.lower() in taken:
            number += 1
            path = f"{stem}-{number}"
        taken.add(path.lower())
        found.append(path)
    return found
