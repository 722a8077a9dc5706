"""Widths and heights of a page in the document classes of conferences, and of text on it."""

from __future__ import annotations

from typing import NamedTuple


class Page(NamedTuple):
    r"""A page in points: its column, its width and height, and text of the size ``\small``.

    `wide` is how wide letters are in relation to Times.
    """

    column: float
    width: float
    height: float
    size: float
    line: float
    wide: float = 1.0

    def text(self, text: str) -> float:
        """Return the width of a text in points, about.

        >>> round(PAGES["ieee"].text("LambdaMART Linear regression"))
        121
        """
        return sum(_WIDTHS.get(sign, 500) for sign in text) * self.size * self.wide / 1000


PAGES = {
    "acmart": Page(241.1, 506.3, 626, 8, 10, 0.97),
    "ieee": Page(252, 516, 672, 9, 10),
    "llncs": Page(347.1, 347.1, 549, 9, 11, 1.08),
    "acl": Page(219, 455.2, 702, 10, 12),
    "neurips": Page(397.5, 397.5, 650, 9, 10),
    "article": Page(229.5, 469, 550, 9, 11, 1.08),
}
"""Pages by document class: acmart sigconf, IEEEtran conference, article in two columns."""
_GROUPS = {
    200: "|'", 278: "ijlt/\\.,:; ", 333: "fr()[]-I", 389: "sJ", 444: "acez", 556: "FPS±",
    611: "ELTZ", 667: "BCR", 722: "ADGHKNOQUVXYw", 778: "m&", 833: "%", 889: "M",
    921: "@", 944: "W",
}  # fmt: skip
_WIDTHS = {sign: width for width, signs in _GROUPS.items() for sign in signs}
"""Widths of Times in thousandths of its size; others have 500, as digits do."""
