"""Cells as LaTeX: in plain columns flush right, or in siunitx's S columns."""

from __future__ import annotations

from collections.abc import Sequence

from .latex_text import escape, in_math
from .model import UNDEFINED, Cell


def shown(cell: Cell, most: Cell, siunitx: bool) -> str:
    """Return a cell; `most` is that of its column with the most marks: see :func:`widest`."""
    if siunitx:
        return _in_s(cell)
    text = _number(cell.text)
    if cell.best:
        text = rf"\textbf{{{text}}}"
    elif cell.second:
        text = rf"\underline{{{text}}}"
    return text + _marks(cell) + _lacking(cell, most) + _beside(cell)


def widest(cells: Sequence[Cell]) -> Cell:
    """Return the cell with the most marks above or below each other."""
    return max(cells, key=_places, default=Cell(""))


def specification(cells: Sequence[Cell], siunitx: bool) -> str:
    """Return what stands for a column between the braces of a tabular."""
    if not siunitx or not is_numeric(cells):
        return "r"
    numbers = [cell.text for cell in cells if cell.text != UNDEFINED]
    whole = max(len(text.lstrip("-").partition(".")[0]) for text in numbers)
    decimals = max(len(text.partition(".")[2]) for text in numbers)
    sign = "-" if any(text.startswith("-") for text in numbers) else ""
    options = [f"table-format={sign}{max(whole, 1)}" + f".{decimals}" * bool(decimals)]
    after = max((_after(cell) for cell in cells if _is_number(cell.text)), key=len)
    if after:
        options.append(f"table-space-text-post={{{after}}}")
    return f"S[{','.join(options)}]"


def is_numeric(cells: Sequence[Cell]) -> bool:
    """Whether a column holds numbers, and nothing else but cells without one."""
    texts = [cell.text for cell in cells if cell.text != UNDEFINED]
    return bool(texts) and all(_is_number(text) for text in texts)


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdigit()


def _in_s(cell: Cell) -> str:
    if not _is_number(cell.text):
        return f"{{{_number(cell.text)}{_beside(cell)}}}"
    text = (r"\bfseries " if cell.best else "") + cell.text
    # a line below the number takes no room, so that siunitx still aligns what stands above it
    line = rf"\llap{{\underline{{\phantom{{{_number(cell.text)}}}}}}}" if cell.second else ""
    after = _after(cell)
    return text + (f"{{{line}{after}}}" if line or after else "")


def _after(cell: Cell) -> str:
    beside = _beside(cell)
    return _marks(cell) + (rf"\mdseries{beside}" if beside else "")


def _number(text: str) -> str:
    if text == UNDEFINED:
        return "--"
    return f"$-${text[1:]}" if text.startswith("-") and _is_number(text) else escape(text)


def _marks(cell: Cell) -> str:
    above, below = (in_math("".join(signs)) for signs in (cell.marks, cell.worse))
    text = (f"^{{{above}}}" if above else "") + (f"_{{{below}}}" if below else "")
    return f"${text}$" if text else ""


def _places(cell: Cell) -> int:
    return max(sum(map(len, cell.marks)), sum(map(len, cell.worse)))


def _lacking(cell: Cell, most: Cell) -> str:
    """Return as much room as the marks of `most` take beyond the cell's own."""
    signs = max("".join(most.marks), "".join(most.worse), key=len)[_places(cell) :]
    return rf"\hphantom{{$^{{{in_math(signs)}}}$}}" if signs else ""


def _beside(cell: Cell) -> str:
    parts = [cell.spread.replace("-", "−"), f"({cell.note})" if cell.note else ""]
    return "".join("~" + escape(part).replace(" ", "~") for part in parts if part)
