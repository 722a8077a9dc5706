r"""LaTeX with booktabs, to be \input."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from .grid import Cell, Grid
from .numbers import UNDEFINED

_COMMANDS = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}", "[": "{[}", "]": "{]}", "–": "--", "—": "---", "’": "'", "‘": "`",
    "“": "``", "”": "''", "…": r"\ldots{}", "§": r"\S{}", "¶": r"\P{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}  # fmt: skip
_FORMULAS = {
    "↑": r"\uparrow", "↓": r"\downarrow", "→": r"\rightarrow", "←": r"\leftarrow",
    "↔": r"\leftrightarrow", "±": r"\pm", "×": r"\times", "·": r"\cdot", "−": "-", "≤": r"\leq",
    "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "∞": r"\infty", "†": r"\dagger",
    "‡": r"\ddagger", "‖": r"\Vert", "√": r"\surd", "∑": r"\sum", "∆": r"\Delta",
    "²": "^2", "³": "^3", "¹": "^1", "°": r"^\circ", "µ": r"\mu", "★": r"\star", "•": r"\bullet",
}  # fmt: skip
_GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
    *("lambda", "mu", "nu", "xi", "o", "pi", "rho", "varsigma", "sigma", "tau", "upsilon"),
    *("phi", "chi", "psi", "omega"),
)
_CAPITALS = {"Γ", "Δ", "Θ", "Λ", "Ξ", "Π", "Σ", "Υ", "Φ", "Ψ", "Ω"}
for _place, _character_name in enumerate(_GREEK):
    _FORMULAS[chr(ord("α") + _place)] = (
        _character_name if _character_name == "o" else f"\\{_character_name}"
    )
    if (_capital := chr(ord("Α") + _place)) in _CAPITALS:
        _FORMULAS[_capital] = f"\\{_character_name.capitalize()}"
_COMMANDS |= dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True))
_IN_LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=,)(?=,)|(?<=')(?=')")
_SIGNS = {"†": r"\dagger", "‡": r"\ddagger", "§": r"\S", "¶": r"\P", "‖": r"\Vert", "–": "{-}"}
# the widths of Computer Modern's italics and symbols
_ROOM = dict(zip("abcdefghijklmnopqrstuvwxyz", (
    529, 429, 433, 520, 466, 490, 477, 576, 345, 412, 521, 298, 878, 600, 485, 503, 446, 451, 469,
    361, 572, 485, 716, 572, 490, 465,
), strict=True)) | {",": 278, "†": 444, "‡": 444, "§": 444, "¶": 611, "‖": 500, "–": 778
}  # fmt: skip
_LATIN = {chr(code) for code in range(0xA1, 0x180)} - {"\xad"}


def escape(text: str) -> str:
    r"""Return text that LaTeX prints as it stands.

    Latin letters with accents stay, and need ``T1`` for some of them; arrows, Greek and signs
    become formulas. What pdfLaTeX has no character for is written as ``[U+4E2D]``.

    >>> print(escape("P@5 ↑ of my_run & 50%"))
    P@5 $\uparrow$ of my\_run \& 50\%
    >>> print(escape("a--b, café, 中"))
    a-{}-b, café, {[}U+4E2D{]}
    """
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return "{}".join("".join(map(_one, part)) for part in _IN_LIGATURES.split(text))


def _one(sign: str) -> str:
    if sign in _COMMANDS:
        return _COMMANDS[sign]
    if sign in _FORMULAS:
        return f"${_FORMULAS[sign]}$"
    if " " <= sign <= "~" or sign in _LATIN:
        return sign
    return f"{{[}}U+{ord(sign):04X}{{]}}"


def in_math(sign: str) -> str:
    r"""Return a letter or daggers as a part of a formula.

    >>> print(in_math("ab"), in_math("†‡"))
    ab \dagger\ddagger
    """
    return "".join(_SIGNS.get(one, one) for one in sign)


def room(signs: str) -> int:
    r"""Return how wide letters and daggers are in a formula, in thousandths of an em.

    >>> room("ab"), room("m"), room("†")
    (958, 878, 444)
    """
    return sum(_ROOM.get(sign, 500) for sign in signs)


_SCRIPT, _USUAL = 0.7, 500
"""Size of raised letters, and the width of a usual letter in thousandths of an em."""
_SISETUP = r"\sisetup{mode=text,reset-text-series=false,print-zero-integer=false}"


def render(table: Grid, *, siunitx: bool = False, wide: bool = False) -> str:
    r"""Return a table environment; it needs ``booktabs``, and ``siunitx`` where asked for.

    Parameters
    ----------
    table : Grid
    siunitx : bool
        Numbers in S columns, aligned at the decimal point.
    wide : bool
        ``table*``, over both columns of the page.
    """
    environment = "table*" if wide else "table"
    notes = [rf"{escape(note)}\par" for note in table.notes]
    return "\n".join(
        [
            f"% {' '.join(table.source.split())}",
            rf"\begin{{{environment}}}[tb]",
            r"\centering",
            r"\setlength{\belowcaptionskip}{4pt}",
            rf"\caption{{{table.caption_latex or escape(table.caption)}}}",
            rf"\label{{{table.label}}}",
            r"\small",
            r"\setlength{\tabcolsep}{4pt}",
            *([_SISETUP] if siunitx else []),
            *_tabular(table, siunitx),
            *([r"\par\smallskip\raggedright\footnotesize", *notes] if notes else []),
            rf"\end{{{environment}}}",
            "",
        ]
    )


def _tabular(table: Grid, siunitx: bool) -> Iterator[str]:
    rows = table.rows
    columns = [_Column([row[at] for row in rows], siunitx) for at in range(1, len(table.columns))]
    yield rf"\begin{{tabular}}{{@{{}}l{''.join(each.specification for each in columns)}@{{}}}}"
    yield r"\toprule"
    if table.blocks:
        titles = [rf"\multicolumn{{{n}}}{{c}}{{{escape(title)}}}" for title, n in table.blocks]
        yield _line(["", *titles])
        yield "".join(_block_rules(table))
    headings = [
        each.heading(column.title, each is columns[-1])
        for each, column in zip(columns, table.columns[1:], strict=True)
    ]
    yield _line([escape(table.columns[0].title), *headings])
    for place, group in enumerate(table.groups):
        yield r"\midrule" if place == 0 or group.title else r"\addlinespace"
        if group.title:
            title = rf"\emph{{{escape(group.title)}}}"
            yield rf"\multicolumn{{{len(table.columns)}}}{{@{{}}l}}{{{title}}} \\"
        for name, *cells in group.rows:
            shown = [each.shown(cell) for each, cell in zip(columns, cells, strict=True)]
            yield _line([escape(name.text) + _raised(name.above), *shown])
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells).lstrip() + r" \\"


def _block_rules(table: Grid) -> Iterator[str]:
    at = 2
    for _, n in table.blocks:
        yield rf"\cmidrule(lr){{{at}-{at + n - 1}}}"
        at += n


class _Column:
    """One column: its signs and intervals are in boxes of one width, so that numbers align."""

    def __init__(self, cells: Sequence[Cell], siunitx: bool) -> None:
        self.cells, self.siunitx = cells, siunitx
        lists = (text for one in cells for text in (one.above, one.below))
        self.widest = max(lists, key=room, default="")
        self.beside = max(map(_beside, cells), key=len, default="")

    def shown(self, cell: Cell) -> str:
        """Return a cell."""
        if self.siunitx:
            return self._in_s(cell)
        text = _number(cell.text)
        if cell.bold:
            text = rf"\textbf{{{text}}}"
        elif cell.underlined:
            text = rf"\underline{{{text}}}"
        return text + self._boxed(cell) + _box(_beside(cell), self.beside)

    def heading(self, title: str, is_last: bool) -> str:
        """Return a heading above the numbers, also where their signs make the column wide."""
        if self.siunitx:
            return f"{{{escape(title)}}}"
        if _SCRIPT * room(self.widest) <= _USUAL * len(title):
            return escape(title)
        return rf"\multicolumn{{1}}{{l{'@{}' if is_last else ''}}}{{{escape(title)}}}"

    @property
    def specification(self) -> str:
        """The column's specification in a tabular."""
        numbers = [cell.text for cell in self.cells if cell.text != UNDEFINED]
        if not self.siunitx or not numbers or not all(map(_is_number, numbers)):
            return "r"
        whole = max(len(text.lstrip("-").partition(".")[0]) for text in numbers)
        decimals = max(len(text.partition(".")[2]) for text in numbers)
        sign = "-" if any(text.startswith("-") for text in numbers) else ""
        options = [f"table-format={sign}{max(whole, 1)}" + (f".{decimals}" if decimals else "")]
        shown = (cell for cell in self.cells if _is_number(cell.text))
        widest = max(map(_beside, shown), key=len)
        if after := _raised(self.widest) + _medium(widest):
            options.append(f"table-space-text-post={{{after}}}")
        return f"S[{','.join(options)}]"

    def _in_s(self, cell: Cell) -> str:
        beside = _beside(cell)
        if not _is_number(cell.text):
            return f"{{{_number(cell.text)}{beside}}}"
        text = (r"\bfseries " if cell.bold else "") + cell.text
        # a line below the number takes no room, so that siunitx still aligns what is above it
        line = rf"\llap{{\underline{{\phantom{{{_number(cell.text)}}}}}}}"
        after = line if cell.underlined else ""
        after += (self._boxed(cell) if beside else _signs(cell)) + _medium(beside)
        return text + (f"{{{after}}}" if after else "")

    def _boxed(self, cell: Cell) -> str:
        """Return the signs of a cell in a box that is as wide as the widest of the column."""
        signs = _signs(cell)
        if self.widest in (cell.above, cell.below):
            return signs
        return _box(signs, _raised(self.widest))


def _signs(cell: Cell) -> str:
    text = f"^{{{in_math(cell.above)}}}" if cell.above else ""
    text += f"_{{{in_math(cell.below)}}}" if cell.below else ""
    return f"${text}$" if text else ""


def _box(text: str, widest: str) -> str:
    r"""Return text that takes as much room as the widest.

    >>> print(_box("b", "ab"), _box("", "ab"), _box("ab", "ab"))
    \rlap{b}\hphantom{ab} \hphantom{ab} ab
    """
    if text == widest:
        return text
    return (rf"\rlap{{{text}}}" if text else "") + rf"\hphantom{{{widest}}}"


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdigit()


def _number(text: str) -> str:
    if text == UNDEFINED:
        return "--"
    return f"$-${text[1:]}" if text.startswith("-") and _is_number(text) else escape(text)


def _raised(signs: str) -> str:
    return f"$^{{{in_math(signs)}}}$" if signs else ""


def _medium(beside: str) -> str:
    """Return what follows a number, which is not bold where the number is."""
    return rf"\mdseries{beside}" if beside else ""


def _beside(cell: Cell) -> str:
    parts = [cell.spread.replace("-", "−"), f"({cell.note})" if cell.note else ""]
    return "".join("~" + escape(part).replace(" ", "~") for part in parts if part)


ROOM = {"column": 240.0, "page": 505.0}
"""Points that a column, or both, of a page have in most two-column classes."""
SIZE = 9.5
r"""Points of ``\small``, and what its fonts are wider than others of their size."""
_GAP = 8.0
_BOLD = 1.12
_WIDE = dict.fromkeys("mwMW@%–−±×↑↓≤≥", 0.8) | dict.fromkeys("–", 0.5)
_NARROW = dict.fromkeys("iljt.,:;|!'`()[]I /", 0.3) | dict.fromkeys("frs-", 0.37)


def width(table: Grid) -> float:
    """Return the points that the table's rows will be wide."""
    rows = table.rows
    names = (_text(row[0].text) + _raised_width(row[0].above) for row in rows)
    # a group's title runs over all columns, and widens none of them
    total = max(names, default=0.0)
    columns = [
        max([_text(column.title), *(_cell_width(row[at]) for row in rows)])
        for at, column in enumerate(table.columns)
    ]
    at = 1
    for title, size in table.blocks or [("", len(columns) - 1)]:
        own = sum(columns[at : at + size]) + _GAP * (size - 1)
        total += max(own, _text(title)) + _GAP
        at += size
    return max([total, *(_text(group.title) for group in table.groups)])


def _cell_width(cell: Cell) -> float:
    signs = max(_raised_width(cell.above), _raised_width(cell.below))
    beside = (f" {cell.spread}" if cell.spread else "") + (f" ({cell.note})" if cell.note else "")
    return _text(cell.text) * (_BOLD if cell.bold else 1) + signs + _text(beside)


def _text(text: str) -> float:
    return SIZE * sum(_WIDE.get(sign) or _NARROW.get(sign) or _usual(sign) for sign in text)


def _usual(sign: str) -> float:
    return 0.7 if sign.isupper() else 0.5


def _raised_width(signs: str) -> float:
    return SIZE * 0.7 * room(signs) / 1000


_A4 = (598.0, 845.0)
"""Width and height of a page, in points."""
_MARGIN = 43.0
_LINE = 13.0


def document(table: Grid, *, siunitx: bool = False) -> str:
    """Return a document that holds nothing but the table, on a page that it fits, A4 at least."""
    lines = 30 + sum(len(group.rows) + 2 for group in table.groups)
    paper = max(_A4[0], 1.1 * width(table) + 2 * _MARGIN)
    tall = max(_A4[1], _LINE * lines)
    page = f"paperwidth={paper:.0f}pt,paperheight={tall:.0f}pt,margin={_MARGIN:.0f}pt"
    text = render(table, siunitx=siunitx)
    return "\n".join(
        [
            r"\documentclass{article}",
            r"\usepackage[T1]{fontenc}",
            r"\usepackage[utf8]{inputenc}",
            rf"\usepackage[{page}]{{geometry}}",
            r"\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{\usepackage{mathptmx}}",
            r"\usepackage{booktabs}",
            *([r"\usepackage{siunitx}"] if siunitx else []),
            r"\pagestyle{empty}",
            r"\begin{document}",
            text.replace("[tb]", "[!h]", 1).rstrip(),
            r"\end{document}",
            "",
        ]
    )
