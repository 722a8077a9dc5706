r"""LaTeX with booktabs, to be \input."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from .document_class import PAGES, Page
from .grid import Column, Grid, GridCell
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


_UNBROKEN = re.compile(
    r" (?:\$\\leq\$|=) |\$\\times\$ (?=\d)|(?:\$\\(?:dd?agger|Vert)\$|(?<= )\*{1,3}|\\[SP]\{\}) "
)
"""Signs in notes that belong to the next word."""


_NO_LABEL = re.compile(r"[\\{}%#&~^$]")


class _Step(NamedTuple):
    """Points on each side of a column, points that text is smaller, and headings in two lines."""

    gap: float = 4.0
    smaller: int = 0
    is_broken: bool = False


_STEPS = _Step(), _Step(3.0), _Step(3.0, 0, True), _Step(2.0, 0, True), _Step(2.0, 1, True)
"""Steps to fit a table: the first one that fits is used; in a column only the first two."""
_SLACK = 6.0
"""Points by which the width of a table may be underestimated."""
_NARROW = {False: (0.65, 0.85), True: (0.5, 0.65)}
"""Shares of a column, and of a page: narrower tables than the first are spread over the second."""


def render(table: Grid) -> str:
    r"""Return a table environment; it needs ``booktabs`` and ``threeparttable``.

    A `long` grid also needs ``longtable``.
    """
    comments = [f"% {line}" for line in table.source.splitlines()]
    caption = rf"\caption{{{table.caption_latex or escape(table.caption or table.title)}}}"
    label = rf"\label{{{_NO_LABEL.sub('-', table.label)}}}"
    layout = layout_of(table)
    page = PAGES[table.document_class]
    gap, smaller, is_broken = layout.step
    size = rf"\fontsize{{{page.size - smaller}}}{{{page.line - smaller}}}\selectfont"
    setup = [size if smaller else r"\small", rf"\setlength{{\tabcolsep}}{{{gap:g}pt}}"]
    specification, head, body = _rows(table, is_broken)
    notes = _UNBROKEN.sub(lambda m: m[0].replace(" ", "~"), " ".join(map(escape, table.notes)))
    if table.long:
        lines = [*comments, r"\begingroup", *setup, r"\setlength{\LTcapwidth}{\linewidth}"]
        lines += [rf"\begin{{longtable}}{{{specification}}}", rf"{caption}{label}\\"]
        lines += [*head, r"\endfirsthead", *head, r"\endhead", r"\bottomrule", r"\endfoot"]
        lines += [*body, r"\end{longtable}"]
        lines += [rf"\noindent{{\footnotesize\raggedright {notes}\par}}"] if notes else []
        return "\n".join([*lines, r"\endgroup", ""])
    environment = "table*" if layout.is_wide else "table"
    begin, end = rf"\begin{{tabular}}{{{specification}}}", r"\end{tabular}"
    least, share = _NARROW[layout.is_wide]
    if layout.width < least * layout.room:
        filled = rf"{{{share:g}\linewidth}}{{@{{\extracolsep{{\fill}}}}"
        begin, end = rf"\begin{{tabular*}}{filled}{specification}}}", r"\end{tabular*}"
    lines = [*comments, rf"\begin{{{environment}}}[tb]", r"\centering"]
    lines += [r"\setlength{\belowcaptionskip}{4pt}", caption, label, *setup]
    lines += [r"\begin{threeparttable}", begin, *head, *body, r"\bottomrule", end]
    if notes:
        lines += [r"\begin{tablenotes}[flushleft,para]", r"\footnotesize\raggedright"]
        lines += [notes, r"\end{tablenotes}"]
    return "\n".join([*lines, r"\end{threeparttable}", rf"\end{{{environment}}}", ""])


class Layout(NamedTuple):
    """Layout of a table: over the page or in a column, with its width and room in points."""

    is_wide: bool
    step: _Step
    width: float
    room: float

    @property
    def fits(self) -> bool:
        """Whether it has room even if its width is a few points more than estimated."""
        return self.width + _SLACK <= self.room


def layout_of(table: Grid) -> Layout:
    """Return the first layout that a table fits, or the narrowest one."""
    page = PAGES[table.document_class]
    rooms = [(False, page.column), (True, page.width)]
    rooms = rooms[:1] if table.long or len({*rooms}) == 1 else rooms
    if table.wide is not None and not table.long:
        rooms = [(table.wide, page.width if table.wide else page.column)]
    for is_wide, room in rooms:
        is_last = (is_wide, room) == rooms[-1]
        for step in _STEPS if is_last else _STEPS[:2]:
            layout = Layout(is_wide, step, _natural_width(table, step), room)
            if layout.fits:
                return layout
    return layout


def _natural_width(table: Grid, step: _Step) -> float:
    """Return about how many points wide a table is in its document class."""
    page, gap = PAGES[table.document_class].smaller(step.smaller), step.gap
    widths = [column.width for column in _columns(table, page, step.is_broken)]
    starts = list(accumulate((n for _, n in table.blocks), initial=1))
    for start, (title, n) in zip(starts, table.blocks, strict=False):
        room = sum(widths[start : start + n]) + 2 * gap * (n - 1)
        widths[start] += max(0.0, page.text(title) - room)
    parts = sum(column.left for column in table.columns[1:])
    # two quads of the text between parts side by side, in place of a gap
    return sum(widths) + 2 * gap * (len(widths) - 1) + parts * 2 * (page.size - gap)


def misfits(table: Grid) -> Iterator[str]:
    """Yield the reasons why a table does not fit its page, with fixes."""
    page, layout = PAGES[table.document_class], layout_of(table)
    room = layout.room
    if (over := layout.width - room) > 0:
        place = "the page" if layout.is_wide or page.width == page.column else "a column"
        fixes = ["drop columns", "shorten names"]
        fits_page = not layout.is_wide and room + over <= page.width
        is_split = any(column.left for column in table.columns[1:])
        fixes += ["set width: page"] if fits_page else ["set top"] if is_split else []
        yield f"it is about {over:.0f} pt wider than {place} of {table.document_class} " + (
            f"({room:.0f} pt): {', '.join(fixes[:-1])} or {fixes[-1]}"
        )
    lines = len(table.rows) + sum(bool(group.title) for group in table.groups) + 3
    notes = sum(map(page.text, table.notes)) / min(room, max(layout.width, room / 2))
    over = (lines + notes + 3) * page.line - page.height
    if over > 0 and not table.long:
        yield f"it is about {over:.0f} pt taller than the page of {table.document_class} " + (
            f"({page.height:.0f} pt): show the first rows with top, or set columns"
        )


def _columns(table: Grid, page: Page, is_broken: bool) -> list[_TextColumn]:
    columns = []
    for index, column in enumerate(table.columns):
        kind = _TextColumn if column.left or not index else _Column
        columns.append(kind(column, [row[index] for row in table.rows], page, is_broken))
    return columns


def _rows(table: Grid, is_broken: bool) -> tuple[str, list[str], list[str]]:
    columns = _columns(table, PAGES[table.document_class], is_broken)
    head = [r"\toprule"]
    if table.blocks:
        titles = [
            rf"\multicolumn{{{n}}}{{c}}{{{escape(title)}}}" if title else " & ".join([""] * n)
            for title, n in table.blocks
        ]
        head.append(_line(["", *titles]))
        ends = accumulate((n for _, n in table.blocks), initial=1)
        rules = [(end, n, title) for end, (title, n) in zip(ends, table.blocks, strict=False)]
        head.append("".join(rf"\cmidrule(lr){{{e + 1}-{e + n}}}" for e, n, title in rules if title))
    head += [_line(column.heading for column in columns), r"\midrule"]
    body = []
    for place, group in enumerate(table.groups):
        if place:
            body.append(r"\midrule" if group.title else r"\addlinespace")
        if group.title:
            title = rf"\emph{{{escape(group.title)}}}"
            body.append(rf"\multicolumn{{{len(table.columns)}}}{{@{{}}l}}{{{title}}} \\")
        for row in group.rows:
            texts = (column.shown(cell) for column, cell in zip(columns, row, strict=True))
            body.append(_line(texts))
    gaps = ["@{}", *(r"@{\qquad}" if column.left else "" for column in table.columns[1:])]
    gaps = gaps if table.columns[0].left else ["@{}", *[""] * (len(columns) - 1)]
    specifications = (gap + column.specification for gap, column in zip(gaps, columns, strict=True))
    return "".join([*specifications, "@{}"]), head, body


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells).lstrip() + r" \\"


_WORD = re.compile(r" (?=\S{2})")
_PART = re.compile(r" (?=\S{2})|(?<=[-+_/])(?=\w{2})")


def _in_lines(title: str, page: Page) -> list[str]:
    """Return a heading in two lines if it has several words, or is long and has several parts.

    An arrow belongs to the last word.

    >>> _in_lines("Pairwise log loss ↓", PAGES["ieee"]), _in_lines("R-prec ↑", PAGES["ieee"])
    (['Pairwise', 'log loss ↓'], ['R-prec ↑'])
    """
    parts = (_PART if len(title) > LONG else _WORD).finditer(title)
    lines = ([title[: part.start()], title[part.end() :]] for part in parts)
    return min(lines, key=lambda pair: max(map(page.text, pair)), default=[title])


LONG = 12
"""Characters of a heading above which it is also broken behind hyphens and the like."""


class _TextColumn:
    specification = "l"

    def __init__(
        self, column: Column, cells: Sequence[GridCell], page: Page, is_broken: bool
    ) -> None:
        self.column = column
        self.cells = [cell for cell in cells if cell.text]
        self.page = page
        self.lines = _in_lines(column.title, page) if is_broken else [column.title]

    @property
    def heading(self) -> str:
        """The heading, with its sign and citation."""
        text = r" \\ ".join(map(escape, self.lines))
        text += _in_math(self.column.above) + self.column.citation
        return (
            text
            if len(self.lines) == 1
            else rf"\begin{{tabular}}[b]{{@{{}}c@{{}}}}{text}\end{{tabular}}"
        )

    @property
    def width(self) -> float:
        """Points that the widest of its cells and the heading take."""
        cells = (
            self.page.text(cell.text + cell.sign) + self.page.signs(cell.above) + self._cited(cell)
            for cell in self.cells
        )
        return max([self._heading_width, *cells])

    @property
    def _heading_width(self) -> float:
        column, *before, last = self.column, *map(self.page.text, self.lines)
        return max([*before, last + self.page.signs(column.above) + self._cited(column)])

    def _cited(self, cell: GridCell | Column) -> float:
        """Return the width of a citation in points, with numbers of two digits."""
        cited = len(re.findall(r"[^{},]+", cell.citation.partition("{")[2]))
        return self.page.text(" [" + ", ".join(["00"] * cited) + "]") if cited else 0.0

    def shown(self, cell: GridCell) -> str:
        """Return a cell."""
        text = escape(cell.text + cell.sign)
        text = rf"\emph{{{text}}}" if cell.italic else text
        return text + _in_math(cell.above) + cell.citation


class _Column(_TextColumn):
    """A column of numbers, padded to one width, so that they align below a centred heading."""

    specification = "c"

    def __init__(
        self, column: Column, cells: Sequence[GridCell], page: Page, is_broken: bool
    ) -> None:
        super().__init__(column, cells, page, is_broken)
        signs = (text for cell in self.cells for text in (cell.above, cell.below))
        self.widest = max(signs, key=len, default="")
        longest = max(self.cells, key=lambda c: page.text(_plainly_after(c)), default=GridCell(""))
        self.after_number = _after_number(longest)
        self.after_width = page.text(_plainly_after(longest))
        numbers = [cell.text for cell in self.cells if _is_number(cell.text)]
        self.has_point = any("." in number for number in numbers)
        numbers = list(filter(self.is_aligned, numbers))
        self.before, self.behind = (max(map(len, part), default=0) for part in _halves(numbers))
        self.is_signed = any(text.startswith("-") for text in numbers)
        widest_number = max(map(page.text, numbers), default=0.0)
        self.free = max(map(page.text, self.lines)) - widest_number
        # a heading that is wider than the numbers gives signs their room
        self.is_free = self.free / 2 > page.signs(self.widest) - 4 and not self.after_number

    @property
    def heading(self) -> str:
        """The heading, in the middle of the numbers without their signs."""
        phantom = rf"\hphantom{{{_in_math(self.widest)}}}"
        return super().heading + (phantom if self._has_phantom else "")

    @property
    def _has_phantom(self) -> bool:
        return not (self.free > 0 or self.after_number or not self.widest)

    @property
    def width(self) -> float:
        """Points that the widest of its cells and the heading take, with the room for signs."""
        page, bold = self.page, any(cell.bold for cell in self.cells)
        texts = [cell.text for cell in self.cells if not self.is_aligned(cell.text)]
        number = "−" * self.is_signed + "0" * self.before + "." * (self.behind > 0)
        number += "0" * (self.behind - 1)
        signs = page.signs(self.widest)
        content = max([page.text(number, bold=bold), *map(page.text, texts)])
        content += (0.0 if self.is_free else signs) + self.after_width
        return max(content, self._heading_width + signs * self._has_phantom)

    def shown(self, cell: GridCell) -> str:
        """Return a cell."""
        if not cell.text:
            return ""
        text = _number(cell.text)
        if cell.bold:
            text = rf"\textbf{{{text}}}"
        elif cell.underlined:
            text = rf"\underline{{{text}}}"
        before, behind = self._padding(cell.text)
        after = _after_number(cell)
        if not _is_number(cell.text) or self.is_aligned(cell.text):
            after = _box(after, self.after_number)
        return before + text + behind + self.boxed(cell) + after

    def _padding(self, text: str) -> tuple[str, str]:
        """Return the room that a number leaves before and behind it to the widest of its column."""
        if not self.is_aligned(text):
            return "", ""
        (before,), (behind,) = _halves([text])
        lacks_sign = self.is_signed and not text.startswith("-")
        pads = "$-$" * lacks_sign + "0" * (self.before - len(before))
        missing = self.behind - len(behind)
        ends = ("" if behind or not missing else ".") + "0" * (missing - (not behind))
        return tuple(rf"\hphantom{{{pad}}}" if pad else "" for pad in (pads, ends))  # type: ignore[return-value]

    def is_aligned(self, text: str) -> bool:
        """Whether a text is a number, and no count among means, which is centred."""
        return _is_number(text) and ("." in text or not self.has_point)

    def boxed(self, cell: GridCell) -> str:
        """Return the signs of a cell in a box that is as wide as the widest of the column."""
        signs = _in_math(cell.above, cell.below)
        if self.is_free or (_is_number(cell.text) and not self.is_aligned(cell.text)):
            return rf"\rlap{{{signs}}}" if signs else ""
        is_widest = self.widest in (cell.above, cell.below)
        return signs if is_widest else _box(signs, _in_math(self.widest))


def _halves(numbers: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the digits before the point of some numbers, and the point with those behind it."""
    parts = [text.lstrip("-").partition(".") for text in numbers]
    return [before for before, _, _ in parts], [point + behind for _, point, behind in parts]


def _in_math(above: str, below: str = "") -> str:
    texts = ["".join(_SIGNS.get(sign, sign) for sign in signs) for signs in (above, below)]
    text = "".join(f"{mark}{{{signs}}}" for mark, signs in zip("^_", texts, strict=True) if signs)
    return f"${text}$" if text else ""


def _box(text: str, widest: str) -> str:
    r"""Return text that takes as much room as the widest.

    >>> print(_box("b", "ab"), _box("", "ab"), _box("ab", "ab"))
    \rlap{b}\hphantom{ab} \hphantom{ab} ab
    """
    if re.sub(r"\d", "0", text) == re.sub(r"\d", "0", widest):  # digits are of one width
        return text
    return (rf"\rlap{{{text}}}" if text else "") + rf"\hphantom{{{widest}}}"


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdigit()


def _number(text: str) -> str:
    if text == UNDEFINED:
        return "--"
    return f"$-${text[1:]}" if text.startswith("-") and _is_number(text) else escape(text)


def _plainly_after(cell: GridCell) -> str:
    """Return the spread, change or note that follows a number, as it is printed."""
    parts = [cell.spread.replace("-", "−"), f"({cell.note})" if cell.note else ""]
    return "".join(f" {part}" for part in parts if part)


def _after_number(cell: GridCell) -> str:
    text = _plainly_after(cell)
    return "~" + escape(text).replace(" ", "~") if text else ""
