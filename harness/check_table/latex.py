"""Tables of a LaTeX file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .grid import Cell, Grid, grid_of
from .latex_text import Macro, expanded, group, macros, optional, pieces, without_comments
from .limits import EXPANDED, BeyondError

_ENVIRONMENTS = ("tabular", "tabular*", "tabularx", "tabulary", "longtable", "tblr")
_BEGIN = re.compile(r"\\begin\{(" + "|".join(map(re.escape, _ENVIRONMENTS)) + r")\}")
_RULE = re.compile(
    r"\\(hline|toprule|midrule|bottomrule|addlinespace|specialrule|cmidrule|cline|endfirsthead|"
    r"endhead|endfoot|endlastfoot|noalign|rowcolor|morecmidrules|hhline|arrayrulecolor|caption|"
    r"label|Xhline|thickhline)(?![A-Za-z])\*?"
)
_ARGUMENTS = {
    "specialrule": 3, "cmidrule": 1, "cline": 1, "noalign": 1, "rowcolor": 1, "hhline": 1,
    "arrayrulecolor": 1, "caption": 1, "label": 1, "Xhline": 1,
}  # fmt: skip
_SPAN = re.compile(r"\s*\\multicolumn\s*")
_DOWN = re.compile(r"\\multirow\s*")
_TWO_ARGUMENTS = {"tabular*", "tabularx", "tabulary"}


def grids(text: str) -> list[Grid]:
    """Return the tables of a LaTeX file, in order; one within a cell is part of it."""
    plain = without_comments(text)
    known = macros(plain)
    found, at = [], 0
    while (begin := _BEGIN.search(plain, at)) is not None:
        name = begin[1]
        end = _end(plain, begin.end(), name)
        start = begin.end()
        if name in _TWO_ARGUMENTS:
            _, start = group(plain, start)
        _, start = optional(plain, start)
        _, start = group(plain, start)
        after = plain.find("\\end{table", end)
        around = plain[end : after if after >= 0 else end]
        if "\\begin{" in around:
            around = ""
        before = _opening(plain, at, begin.start())
        label = re.search(r"\\label\{([^}]*)\}", around + before + plain[start:end])
        header, rows = _rows(plain[start:end], plain.count("\n", 0, start) + 1, known)
        one = grid_of(
            rows, header, plain.count("\n", 0, begin.start()) + 1,
            label[1] if label else "", text_between(text, plain, at, end, around),
            caption=_caption(around + before + plain[start:end]),
        )  # fmt: skip
        found += [one] if one else []
        at = end
    return found


def _caption(text: str) -> str:
    found = re.search(r"\\caption\*?\s*", text)
    if found is None:
        return ""
    _, at = optional(text, found.end())
    return Cell(pieces(group(text, at)[0])).whole


def text_between(text: str, plain: str, start: int, end: int, around: str) -> str:
    """Return the lines of the file, comments and all, that a part of it without them came from."""
    first = plain.count("\n", 0, start)
    last = plain.count("\n", 0, end + len(around)) + 1
    return "\n".join(text.split("\n")[first:last])


def _opening(plain: str, start: int, end: int) -> str:
    """Return what stands between the beginning of the floating table and its rows."""
    found = plain.rfind("\\begin{table", start, end)
    return plain[found:end] if found >= 0 else ""


def _end(plain: str, at: int, name: str) -> int:
    """Return where an environment ends, over others of its name within it."""
    depth = 1
    for match in re.compile(r"\\(begin|end)\{" + re.escape(name) + r"\}").finditer(plain, at):
        depth += 1 if match[1] == "begin" else -1
        if not depth:
            return match.start()
    return len(plain)


@dataclass
class _Reading:
    """Rows read so far, and what rules said of them."""

    rows: list[list[Cell]] = field(default_factory=list)
    header: int | None = None
    lines: int = 0

    def rule(self, name: str) -> None:
        """Note a rule: the headings end at the first one below a row."""
        if name == "endfirsthead":
            self.header = len(self.rows)
        elif name == "endhead":
            if self.header is None:
                self.header = len(self.rows)
            del self.rows[self.header :]
        elif name in ("endfoot", "endlastfoot"):
            del self.rows[self.header or 0 :]
        elif name in ("midrule", "hline", "specialrule") and self.rows and not self.lines:
            self.lines = len(self.rows)


def _rows(body: str, line: int, known: Mapping[str, Macro]) -> tuple[int | None, list[list[Cell]]]:
    reading = _Reading()
    row: list[Cell] = []
    here, counted = line, 0
    for kind, text, at in _tokens(body):
        begin = at + len(text) - len(text.lstrip())
        here += body.count("\n", counted, begin)  # from the start each time would take the square
        counted = begin
        if kind == "rule":
            reading.rule(text)
            continue
        try:
            row.append(_cell(expanded(text, known), here))
        except OverflowError:
            what = f"line {here} has a cell of which macros make more than {EXPANDED:,} characters"
            raise BeyondError(what) from None
        if kind != "cell":
            if len(row) > 1 or row[0].whole:
                reading.rows.append(row)
            row = []
    return reading.header or reading.lines or None, reading.rows


def _tokens(body: str) -> Iterator[tuple[str, str, int]]:
    """Yield the rules, and the cells: the last of a row is its end."""
    at = start = depth = 0
    while at < len(body):
        rule = _RULE.match(body, at) if not depth and not body[start:at].strip() else None
        if rule is not None:
            at = _skip(body, rule)
            start = at
            yield "rule", rule[1], rule.start()
            continue
        sign = body[at]
        if sign == "\\":
            ends = re.compile(r"\\\\\*?(\s*\[[^\]\n]*\])?|\\tabularnewline(?![A-Za-z])").match(
                body, at
            )
            if ends and not depth:
                yield "end", body[start:at], start
                at = start = ends.end()
                continue
            at += 2
            if body.startswith("begin{", at - 1):
                depth += 1
            elif body.startswith("end{", at - 1):
                depth -= 1
            continue
        depth += (sign == "{") - (sign == "}")
        if sign == "&" and not depth:
            yield "cell", body[start:at], start
            start = at + 1
        at += 1
    if body[start:].strip():
        yield "end", body[start:], start


def _skip(body: str, rule: re.Match[str]) -> int:
    _, at = optional(body, rule.end())
    if body.startswith("(", at):
        at = body.find(")", at) + 1
    for _ in range(_ARGUMENTS.get(rule[1], 0)):
        _, at = group(body, at)
    if body.startswith("(", at):
        at = body.find(")", at) + 1
    return at


def _cell(text: str, line: int) -> Cell:
    columns = rows = 1
    text = text.strip()
    while text.startswith("{") and group(text, 0)[1] == len(text):
        text = text[1:-1].strip()
    if (match := _SPAN.match(text)) is not None:
        count, at = group(text, match.end())
        _, at = group(text, at)
        inner, at = group(text, at)
        columns = int(count) if re.fullmatch(r"\s*[0-9]{1,3}\s*", count) else 1
        text = inner + text[at:]
    if (down := _DOWN.search(text)) is not None:
        _, at = optional(text, down.end())
        count, at = group(text, at)
        rows = abs(int(count)) if re.fullmatch(r"\s*-?[0-9]{1,3}\s*", count) else 1
    return Cell(pieces(text), line, columns, rows)
