r"""LaTeX with booktabs, to be \input."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from .grid import Grid, GridCell
from .phrases import UNDEFINED

_COMMANDS = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}", "[": "{[}", "]": "{]}", "–": "--", "—": "---", "’": "'", "‘": "`",
    "“": "``", "”": "''", "…": r"\ldots{}", "§": r"\S{}", "¶": r"\P{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True)),
}  # fmt: skip
_FORMULAS = {
    "↑": r"\uparrow", "↓": r"\downarrow", "→": r"\rightarrow", "←": r"\leftarrow",
    "↔": r"\leftrightarrow", "±": r"\pm", "×": r"\times", "·": r"\cdot", "−": "-", "≤": r"\leq",
    "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "∞": r"\infty", "†": r"\dagger",
    "‡": r"\ddagger", "‖": r"\Vert", "√": r"\surd", "∑": r"\sum", "∆": r"\Delta",
    "²": "^2", "³": "^3", "¹": "^1", "°": r"^\circ", "µ": r"\mu", "★": r"\star", "•": r"\bullet",
    "ο": "o", "λ": r"\lambda", "Λ": r"\Lambda", "ς": r"\varsigma",
}  # fmt: skip
_GREEK = re.compile("GREEK (SMALL|CAPITAL) LETTER ([A-Z]+)")
_IN_LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=,)(?=,)|(?<=')(?=')")
_SIGNS = {"†": r"\dagger", "‡": r"\ddagger", "§": r"\S", "¶": r"\P", "‖": r"\Vert", "–": "{-}"}
_LATIN = {chr(code) for code in range(0xA1, 0x180)} - {"\xad"}


def escape(text: str) -> str:
    r"""Return text that LaTeX prints unchanged.

    Latin letters with accents stay, and need ``T1`` for some of them; arrows, Greek and signs
    become formulas. Characters that pdfLaTeX does not have are written as ``[U+4E2D]``.

    >>> print(escape("P@5 ↑ of my_run & 50%"))
    P@5 $\uparrow$ of my\_run \& 50\%
    >>> print(escape("a--b, café, 中, αΩ"))
    a-{}-b, café, {[}U+4E2D{]}, $\alpha$$\Omega$
    """
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return "{}".join("".join(map(_character, part)) for part in _IN_LIGATURES.split(text))


def _character(sign: str) -> str:
    if sign in _COMMANDS:
        return _COMMANDS[sign]
    if sign in _FORMULAS:
        return f"${_FORMULAS[sign]}$"
    if " " <= sign <= "~" or sign in _LATIN:
        return sign
    if "Α" <= sign <= "ω" and (greek := _GREEK.fullmatch(unicodedata.name(sign, ""))):
        return f"$\\{greek[2].lower() if greek[1] == 'SMALL' else greek[2].capitalize()}$"
    return f"{{[}}U+{ord(sign):04X}{{]}}"


_SISETUP = r"\sisetup{mode=text,reset-text-series=false,print-zero-integer=false}"


_NO_LABEL = re.compile(r"[\\{}%#&~^$]")


def render(table: Grid) -> str:
    r"""Return a table environment; it needs ``booktabs``, and ``siunitx`` if asked for."""
    source = f"% {' '.join(table.source.split())}"
    caption = rf"\caption{{{table.caption_latex or escape(table.caption or table.title)}}}"
    label = rf"\label{{{_NO_LABEL.sub('-', table.label)}}}"
    setup = [r"\setlength{\tabcolsep}{4pt}", *([_SISETUP] if table.siunitx else [])]
    specification, head, body = _rows(table)
    if table.long:
        lines = [source, r"\begingroup\small", r"\setlength{\LTcapwidth}{\linewidth}", *setup]
        lines += [rf"\begin{{longtable}}{{{specification}}}", rf"{caption}{label}\\"]
        lines += [*head, r"\endfirsthead", *head, r"\endhead", r"\bottomrule", r"\endfoot"]
        lines += [*body, r"\end{longtable}"]
        lines += [rf"\noindent{{\footnotesize {escape(note)}\par}}" for note in table.notes]
        return "\n".join([*lines, r"\endgroup", ""])
    environment = "table*" if table.wide else "table"
    lines = [source, rf"\begin{{{environment}}}[tb]", r"\centering"]
    lines += [r"\setlength{\belowcaptionskip}{4pt}", caption, label, r"\small", *setup]
    lines += [rf"\begin{{tabular}}{{{specification}}}", *head, *body]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [r"\par\smallskip\raggedright\footnotesize"] if table.notes else []
    lines += [rf"{escape(note)}\par" for note in table.notes]
    return "\n".join([*lines, rf"\end{{{environment}}}", ""])


def _rows(table: Grid) -> tuple[str, list[str], list[str]]:
    """Return the specification of the columns, the lines of the heading, and those of the rows."""
    kind = _NumberColumn if table.siunitx else _Column
    columns = [kind([row[index] for row in table.rows]) for index in range(1, len(table.columns))]
    head = [r"\toprule"]
    if table.blocks:
        titles = [rf"\multicolumn{{{n}}}{{c}}{{{escape(title)}}}" for title, n in table.blocks]
        head.append(_line(["", *titles]))
        ends = accumulate((n for _, n in table.blocks), initial=1)
        rules = zip(ends, table.blocks, strict=False)
        head.append("".join(rf"\cmidrule(lr){{{end + 1}-{end + n}}}" for end, (_, n) in rules))
    titled = zip(columns, table.columns[1:], strict=True)
    headings = [kind.heading(column.title, kind is columns[-1]) for kind, column in titled]
    head += [_line([escape(table.columns[0].title), *headings]), r"\midrule"]
    body = []
    for place, group in enumerate(table.groups):
        if place:
            body.append(r"\midrule" if group.title else r"\addlinespace")
        if group.title:
            title = rf"\emph{{{escape(group.title)}}}"
            body.append(rf"\multicolumn{{{len(table.columns)}}}{{@{{}}l}}{{{title}}} \\")
        for name, *cells in group.rows:
            texts = [kind.shown(cell) for kind, cell in zip(columns, cells, strict=True)]
            body.append(_line([escape(name.text + name.sign) + _in_math(name.above), *texts]))
    specification = f"@{{}}l{''.join(kind.specification for kind in columns)}@{{}}"
    return specification, head, body


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells).lstrip() + r" \\"


class _Column:
    """One column: its signs and intervals are in boxes of one width, so that numbers align."""

    def __init__(self, cells: Sequence[GridCell]) -> None:
        self.cells = cells
        self.widest = max((text for cell in cells for text in (cell.above, cell.below)), key=len)
        self.after_number = max(map(_after_number, cells), key=len)

    specification = "r"

    def shown(self, cell: GridCell) -> str:
        """Return a cell."""
        text = _number(cell.text)
        if cell.bold:
            text = rf"\textbf{{{text}}}"
        elif cell.underlined:
            text = rf"\underline{{{text}}}"
        return text + self.boxed(cell) + _box(_after_number(cell), self.after_number)

    def heading(self, title: str, is_last: bool) -> str:
        """Return a heading above the numbers, also if their signs make the column wide."""
        if 0.7 * len(self.widest) <= len(title):
            return escape(title)
        return rf"\multicolumn{{1}}{{l{'@{}' if is_last else ''}}}{{{escape(title)}}}"

    def boxed(self, cell: GridCell) -> str:
        """Return the signs of a cell in a box that is as wide as the widest of the column."""
        signs = _in_math(cell.above, cell.below)
        is_widest = self.widest in (cell.above, cell.below)
        return signs if is_widest else _box(signs, _in_math(self.widest))


class _NumberColumn(_Column):
    """A column of siunitx."""

    @property
    def specification(self) -> str:  # type: ignore[override]
        """The column's specification in a tabular."""
        numbers = [cell.text for cell in self.cells if cell.text != UNDEFINED]
        if not numbers or not all(map(_is_number, numbers)):
            return "r"
        n_digits = max(len(text.lstrip("-").partition(".")[0]) for text in numbers)
        decimals = max(len(text.partition(".")[2]) for text in numbers)
        sign = "-" if any(text.startswith("-") for text in numbers) else ""
        options = [f"table-format={sign}{max(n_digits, 1)}" + (f".{decimals}" if decimals else "")]
        widest = max((_after_number(cell) for cell in self.cells if _is_number(cell.text)), key=len)
        if after := _in_math(self.widest) + _medium(widest):
            options.append(f"table-space-text-post={{{after}}}")
        return f"S[{','.join(options)}]"

    def heading(self, title: str, is_last: bool) -> str:
        """Return a heading in braces, which siunitx takes for text."""
        return f"{{{escape(title)}}}"

    def shown(self, cell: GridCell) -> str:
        """Return a cell: a number, and what follows it in braces."""
        extra = _after_number(cell)
        if not _is_number(cell.text):
            return f"{{{_number(cell.text)}{extra}}}"
        # a line below the number takes no room, so that siunitx still aligns what is above it
        line = rf"\llap{{\underline{{\phantom{{{_number(cell.text)}}}}}}}"
        after = line if cell.underlined else ""
        after += self.boxed(cell) if extra else _in_math(cell.above, cell.below)
        after += _medium(extra)
        return (r"\bfseries " if cell.bold else "") + cell.text + (f"{{{after}}}" if after else "")


def _in_math(above: str, below: str = "") -> str:
    """Return letters or daggers above and below the line."""
    texts = ["".join(_SIGNS.get(sign, sign) for sign in signs) for signs in (above, below)]
    text = "".join(f"{mark}{{{signs}}}" for mark, signs in zip("^_", texts, strict=True) if signs)
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


def _medium(extra: str) -> str:
    """Text after a number; it is not bold even if the number is."""
    return rf"\mdseries{extra}" if extra else ""


def _after_number(cell: GridCell) -> str:
    parts = [cell.spread.replace("-", "−"), f"({cell.note})" if cell.note else ""]
    return "".join("~" + escape(part).replace(" ", "~") for part in parts if part)


def _texts(row: Iterable[GridCell]) -> list[str]:
    return [f"{cell.text}{cell.above}{_after_number(cell)}" for cell in row]


_A4 = (598.0, 845.0)
"""Width and height of a page, in points."""


def document(table: Grid) -> str:
    """Return a document that holds nothing but the table, on a page that it fits, A4 at least."""
    lines = 30 + sum(len(group.rows) + 2 for group in table.groups)
    columns = zip([column.title for column in table.columns], *map(_texts, table.rows), strict=True)
    wide = sum(10 + 5.5 * max(map(len, column)) for column in columns)
    paper = max(_A4[0], wide + 86)
    tall = _A4[1] if table.long else max(_A4[1], 13.0 * lines)
    body = render(replace(table, wide=False)).replace("[tb]", "[!h]", 1).rstrip()
    package = r"\usepackage{siunitx}" if table.siunitx else "%"
    return rf"""\documentclass{{article}}
\usepackage[T1]{{fontenc}}
\usepackage[utf8]{{inputenc}}
\usepackage[paperwidth={paper:.0f}pt,paperheight={tall:.0f}pt,margin=43pt]{{geometry}}
\IfFileExists{{lmodern.sty}}{{\usepackage{{lmodern}}}}{{\usepackage{{mathptmx}}}}
\usepackage{{booktabs,longtable}}
{package}
\pagestyle{{empty}}
\begin{{document}}
{body}
\end{{document}}
"""
