"""Cells as LaTeX: in plain columns flush right, or in siunitx's S columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .latex_text import escape, in_math, room
from .model import UNDEFINED, Cell

_SCRIPT, _USUAL = 0.7, 500
"""Size of raised letters, and the width of a usual letter in thousandths of an em."""


class Column:
    """One column of cells.

    Signs stand in boxes of one width, and so do intervals: numbers stand below each other.

    Parameters
    ----------
    cells : sequence of Cell
    siunitx : bool
        Whether it is an S column, aligned at the decimal point.
    joined : callable
        Gives the signs beside a value as one text.
    """

    def __init__(
        self, cells: Sequence[Cell], siunitx: bool, joined: Callable[[Sequence[str]], str]
    ) -> None:
        self.cells, self.siunitx, self.joined = cells, siunitx, joined
        lists = (joined(signs) for cell in cells for signs in (cell.marks, cell.worse))
        self.widest = max(lists, key=room, default="")
        self.beside = max(map(_beside, cells), key=len, default="")

    def shown(self, cell: Cell) -> str:
        """Return a cell."""
        if self.siunitx:
            return self._in_s(cell)
        text = _number(cell.text)
        if cell.best:
            text = rf"\textbf{{{text}}}"
        elif cell.second:
            text = rf"\underline{{{text}}}"
        return text + self._boxed(cell) + _box(_beside(cell), self.beside)

    def heading(self, title: str, is_last: bool) -> str:
        """Return a heading above the numbers, also where their signs make the column wide."""
        if self.siunitx:
            return f"{{{escape(title)}}}"
        if _SCRIPT * room(self.widest) <= _USUAL * len(title):
            return escape(title)
        return rf"\multicolumn{{1}}{{l{'@{}' * is_last}}}{{{escape(title)}}}"

    @property
    def specification(self) -> str:
        """What stands for the column between the braces of a tabular."""
        if not self.siunitx or not is_numeric(self.cells):
            return "r"
        numbers = [cell.text for cell in self.cells if cell.text != UNDEFINED]
        whole = max(len(text.lstrip("-").partition(".")[0]) for text in numbers)
        decimals = max(len(text.partition(".")[2]) for text in numbers)
        sign = "-" if any(text.startswith("-") for text in numbers) else ""
        options = [f"table-format={sign}{max(whole, 1)}" + f".{decimals}" * bool(decimals)]
        shown = [cell for cell in self.cells if _is_number(cell.text)]
        beside = max(shown, key=lambda cell: len(_beside(cell)))
        if after := _raised(self.widest) + _medium(beside):
            options.append(f"table-space-text-post={{{after}}}")
        return f"S[{','.join(options)}]"

    def _in_s(self, cell: Cell) -> str:
        if not _is_number(cell.text):
            return f"{{{_number(cell.text)}{_beside(cell)}}}"
        text = (r"\bfseries " if cell.best else "") + cell.text
        # a line below the number takes no room, so that siunitx still aligns what stands above it
        line = rf"\llap{{\underline{{\phantom{{{_number(cell.text)}}}}}}}" if cell.second else ""
        beside = _medium(cell)
        after = line + (self._boxed(cell) if beside else self._signs(cell)) + beside
        return text + (f"{{{after}}}" if after else "")

    def _signs(self, cell: Cell) -> str:
        above, below = (in_math(self.joined(signs)) for signs in (cell.marks, cell.worse))
        text = (f"^{{{above}}}" if above else "") + (f"_{{{below}}}" if below else "")
        return f"${text}$" if text else ""

    def _boxed(self, cell: Cell) -> str:
        """Return the signs of a cell in a box that is as wide as the widest of the column."""
        signs = self._signs(cell)
        if self.widest in map(self.joined, (cell.marks, cell.worse)):
            return signs
        return _box(signs, _raised(self.widest))


def _box(text: str, widest: str) -> str:
    r"""Return text that takes as much room as the widest.

    >>> print(_box("b", "ab"), _box("", "ab"), _box("ab", "ab"))
    \rlap{b}\hphantom{ab} \hphantom{ab} ab
    """
    if text == widest:
        return text
    return (rf"\rlap{{{text}}}" if text else "") + rf"\hphantom{{{widest}}}"


def is_numeric(cells: Sequence[Cell]) -> bool:
    """Whether a column holds numbers, and nothing else but cells without one."""
    texts = [cell.text for cell in cells if cell.text != UNDEFINED]
    return bool(texts) and all(_is_number(text) for text in texts)


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdigit()


def _number(text: str) -> str:
    if text == UNDEFINED:
        return "--"
    return f"$-${text[1:]}" if text.startswith("-") and _is_number(text) else escape(text)


def _raised(signs: str) -> str:
    return f"$^{{{in_math(signs)}}}$" if signs else ""


def _medium(cell: Cell) -> str:
    """Return what stands beside a number, which is not bold where the number is."""
    beside = _beside(cell)
    return rf"\mdseries{beside}" if beside else ""


def _beside(cell: Cell) -> str:
    parts = [cell.spread.replace("-", "−"), f"({cell.note})" if cell.note else ""]
    return "".join("~" + escape(part).replace(" ", "~") for part in parts if part)
