r"""LaTeX with booktabs, to be \input as it stands."""

from __future__ import annotations

from collections.abc import Iterable

from .latex_cells import Column
from .latex_text import escape, in_math
from .latex_width import width
from .model import PaperTable, Row

suffix = ".tex"
_A4 = (598.0, 845.0)
"""Width and height of a page, in points."""
_MARGIN = 43.0
_LINE = 13.0
_SISETUP = r"\sisetup{mode=text,reset-text-series=false,print-zero-integer=false}"


def render(table: PaperTable, *, siunitx: bool = False, wide: bool = False) -> str:
    r"""Return a table environment; it needs ``booktabs``, and ``siunitx`` where asked for.

    Parameters
    ----------
    table : PaperTable
    siunitx : bool
        Numbers in S columns, aligned at the decimal point.
    wide : bool
        ``table*``, over both columns of the page.
    """
    environment = "table*" if wide else "table"
    own = table.own_latex or escape(table.own_caption)
    caption = " ".join(filter(None, (own, escape(" ".join(table.said)))))
    lines = [
        f"% {_comment(str(table.trace))}",
        rf"\begin{{{environment}}}[tb]",
        r"\centering",
        r"\setlength{\belowcaptionskip}{4pt}",
        rf"\caption{{{caption}}}",
        rf"\label{{{table.label}}}",
        r"\small",
        r"\setlength{\tabcolsep}{4pt}",
        *([_SISETUP] if siunitx else []),
        *_tabular(table, siunitx),
    ]
    if table.footnotes:
        lines += [r"\par\smallskip\raggedright\footnotesize", *map(_note, table.footnotes)]
    return "\n".join([*lines, rf"\end{{{environment}}}", ""])


def document(text: str, table: PaperTable, *, siunitx: bool = False) -> str:
    """Return a document that holds nothing but the rendered table, on a page that it fits."""
    paper, tall = (f"{each:.0f}pt" for each in _page(table))
    packages = ["booktabs", *(["siunitx"] if siunitx else [])]
    return "\n".join(
        [
            r"\documentclass{article}",
            r"\usepackage[T1]{fontenc}",
            r"\usepackage[utf8]{inputenc}",
            rf"\usepackage[paperwidth={paper},paperheight={tall},margin={_MARGIN:.0f}pt]{{geometry}}",
            r"\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{\usepackage{mathptmx}}",
            *(rf"\usepackage{{{name}}}" for name in packages),
            r"\pagestyle{empty}",
            r"\begin{document}",
            text.replace("{table*}", "{table}").replace("[tb]", "[!h]", 1).rstrip(),
            r"\end{document}",
            "",
        ]
    )


def _page(table: PaperTable) -> tuple[float, float]:
    """Return width and height of a page that the table fits, A4 at least."""
    lines = 30 + sum(len(group.rows) + 2 for group in table.groups)
    return max(_A4[0], 1.1 * width(table) + 2 * _MARGIN), max(_A4[1], _LINE * lines)


def _tabular(table: PaperTable, siunitx: bool) -> Iterable[str]:
    cells = ([row.cells[place] for row in table.rows] for place in range(len(table.columns)))
    columns = [Column(each, siunitx, table.joined) for each in cells]
    spec = "".join(column.specification for column in columns)
    yield rf"\begin{{tabular}}{{@{{}}l{spec}@{{}}}}"
    yield r"\toprule"
    if table.has_blocks:
        yield from _blocks(table)
    last = len(columns) - 1
    titles = [
        columns[place].heading(one.title, place == last) for place, one in enumerate(table.columns)
    ]
    yield " & ".join(["", *titles]).lstrip() + r" \\"
    for place, group in enumerate(table.groups):
        yield r"\midrule" if place == 0 or group.title else r"\addlinespace"
        if group.title:
            title = rf"\emph{{{escape(group.title)}}}"
            yield rf"\multicolumn{{{len(columns) + 1}}}{{@{{}}l}}{{{title}}} \\"
        for row in group.rows:
            shown = [each.shown(cell) for each, cell in zip(columns, row.cells, strict=True)]
            yield " & ".join([_name(row), *shown]) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _blocks(table: PaperTable) -> Iterable[str]:
    titles, rules, at = [], [], 2
    for title, size in table.blocks:
        titles.append(rf"\multicolumn{{{size}}}{{c}}{{{escape(title)}}}")
        rules.append(rf"\cmidrule(lr){{{at}-{at + size - 1}}}")
        at += size
    yield " & ".join(["", *titles]).lstrip() + r" \\"
    yield "".join(rules)


def _name(row: Row) -> str:
    sign = rf"$^{{{in_math(row.sign)}}}$" if row.sign else ""
    return escape(row.title) + sign


def _note(text: str) -> str:
    return escape(text) + r"\par"


def _comment(text: str) -> str:
    return " ".join(text.split())
