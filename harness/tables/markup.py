"""How a sentence is written: citations, escapes and formulas in LaTeX, or in plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from .latex_text import escape

Markup = Literal["latex", "plain"]


class Formula(NamedTuple):
    """A formula in LaTeX's mathematics, and as plain text."""

    latex: str
    plain: str


class Writer:
    """Writes parts of a sentence, and remembers what was cited.

    Parameters
    ----------
    markup : {"latex", "plain"}
    called : callable, optional
        Gives what a run or dataset is called.
    """

    def __init__(self, markup: Markup, called: Callable[[str], str] = str) -> None:
        self.is_latex = markup == "latex"
        self.called = called
        self.cited: dict[str, None] = {}

    def text(self, text: str) -> str:
        """Return a name as it may stand in a sentence.

        >>> Writer("latex").text("my_run & 50%"), Writer("plain").text("my_run")
        ('my\\\\_run \\\\& 50\\\\%', 'my_run')
        """
        return escape(text) if self.is_latex else text

    def name(self, own: str) -> str:
        """Return what a run or dataset is called, as it may stand in a sentence.

        >>> Writer("latex", str.upper).name("fold1")
        'FOLD1'
        """
        return self.text(self.called(own))

    def formula(self, formula: Formula) -> str:
        """Return a formula."""
        return f"${formula.latex}$" if self.is_latex else formula.plain

    def cite(self, keys: Sequence[str]) -> str:
        r"""Return a citation with the space before it; nothing where there are no keys.

        >>> Writer("latex").cite(["holm1979", "sakai2018"]), Writer("plain").cite(["holm1979"])
        ('~\\citep{holm1979,sakai2018}', ' [holm1979]')
        """
        self.cited.update(dict.fromkeys(keys))
        if not keys:
            return ""
        if self.is_latex:
            return f"~\\citep{{{','.join(keys)}}}"
        return f" [{', '.join(keys)}]"


def listed(parts: Iterable[str], last: str = "and") -> str:
    """Return parts with commas and an "and" before the last.

    >>> listed(["a"]), listed(["a", "b"]), listed("abc")
    ('a', 'a and b', 'a, b and c')
    """
    *before, end = parts
    return f"{', '.join(before)} {last} {end}" if before else end


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "query", "queries"), counted(1200, "query", "queries"), counted(2, "run")
    ('1 query', '1,200 queries', '2 runs')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"
