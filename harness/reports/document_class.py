"""Widths and heights of a page in the document classes of conferences, and of text on it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple


class Page(NamedTuple):
    r"""A page in points: its column, width and height; size and line of ``\small``, and its font.

    `blank` is the extra width of a blank, as a share of the size.
    """

    column: float
    width: float
    height: float
    size: float
    line: float
    font: str = "times"
    blank: float = 0.0

    @lru_cache(maxsize=4096)  # noqa: B019 - pages are constants
    def text(self, text: str, *, bold: bool = False) -> float:
        """Return the width of a text in points.

        >>> round(PAGES["ieee"].text("LambdaMART Linear regression"))
        122
        """
        widths, wider, of_signs = _FONTS[self.font]
        share = self.blank * text.count(" ") + sum(
            0.02 * (ord(widths[ord(sign) - 32]) - 33)
            if " " <= sign <= "~"
            else of_signs * _SIGNS.get(sign, 0.55)
            for sign in text
        )
        return share * self.size * (wider if bold else 1)

    def smaller(self, points: float) -> Page:
        """Return the page with smaller text; Computer Modern is wider for its size then."""
        share = 0.75 if self.font == "computer modern" else 1
        return self._replace(size=self.size - share * points)

    def signs(self, signs: str) -> float:
        """Return the width of letters, daggers or stars above the line in points.

        >>> PAGES["ieee"].signs(""), round(PAGES["ieee"].signs("a,b"), 1)
        (0.0, 10.3)
        """
        return sum(_RAISED.get(sign, 0.42) for sign in signs) * self.size + 0.5 * bool(signs)


PAGES = {
    "acmart": Page(241.1, 506.3, 626, 8, 10, "libertine"),
    "ieee": Page(252, 516, 672, 9, 10, "times", 0.12),
    "llncs": Page(347.1, 347.1, 549, 9, 11, "computer modern"),
    "acl": Page(219, 455.2, 702, 10, 12),
    "neurips": Page(397.5, 397.5, 650, 9, 10),
    "article": Page(229.5, 469, 550, 9, 11, "computer modern"),
}
"""Pages by document class: acmart sigconf, IEEEtran conference, article in two columns."""
_FONTS = {
    "times": (
        "-25::KH,22:=,1-/:::::::::://===7OEBBE@=EE24E@MEE=EB=@EEPEE@2/28::7:7:70:://:/H::::24/:"
        ":E::79+9<", 1.0, 1.0,
    ),
    "computer modern": (
        "2/;L;LI,55;I,2/;;;;;;;;;;;//III9IHEFHDCIH5;IAPHIDIG>FHHVHH@/;/@I;;>8>80;>/1</L><><555><"
        "F<<8;/;@", 1.15, 1.0,
    ),
    "libertine": (
        "/-288AD*003<*-,18888888888--<<<7ND>AD=9CE01A;KDD<D>9ACCRB??3/3;9<8:6:80:<//;.H<;;:441<;"
        "G:;6/+/7", 1.1, 0.9,
    ),
}  # fmt: skip
"""Widths of the characters from blank to ``~``, as ``chr(33 + n)`` for n / 50 of the size, how
much wider bold digits are, and how wide other signs than in Times; measured by LaTeX."""
_SIGNS = {"−": 0.79, "±": 0.79, "×": 0.79, "≤": 0.79, "≥": 0.79, "…": 1.0, "–": 0.5}
_RAISED = {",": 0.25, "†": 0.385, "‡": 0.385, "§": 0.385, "¶": 0.51, "‖": 0.43, "*": 0.41}
"""Widths of signs that are not letters in shares of the size of the text."""
