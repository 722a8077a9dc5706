"""How every picture looks: sizes, type, a system's colour; and a figure's bytes."""

from __future__ import annotations

import importlib.util
import io
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.metric import Metric
from ...errors import HarnessError, Problem, legible
from ..numbers import ARROWS
from ._settings import Format, Width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

INCHES: dict[Width, float] = {"column": 3.3, "page": 7.0}
"""Widths of a column and of a page of a two-column paper."""
ROW = 0.165
"""Inches that one line of text takes."""
POINTS = 8
INSTALL = 'pip install "ranking-harness[plots]"  (in a checkout: pip install -e ".[plots]")'
GREY = "#8c8c8c"
PALE = "#d9d9d9"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette without its yellow, which is hard to see on white paper."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
LINES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (6, 1.5, 1, 1.5)), (0, (1, 1)))
_GLYPH = re.compile(r"Glyph (\d+) ")
"""How matplotlib's warning of a missing letter begins."""
_RC: dict[str, Any] = {
    "font.size": POINTS,
    "font.family": ["DejaVu Sans"],
    "axes.titlesize": POINTS,
    "axes.labelsize": POINTS,
    "xtick.labelsize": POINTS,
    "ytick.labelsize": POINTS,
    "legend.fontsize": POINTS,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.columnspacing": 1.2,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "hatch.linewidth": 0.5,
    "pdf.fonttype": 42,  # publishers refuse type 3
    "svg.fonttype": "path",
    "svg.hashsalt": "ranking-harness",  # else ids in an SVG are random
    "savefig.dpi": 300,
    "text.parse_math": False,  # a name may hold dollar signs
    "text.usetex": False,
}


@dataclass(frozen=True)
class Look:
    """How a system is told from others: colour, marker, and dashes as matplotlib takes them."""

    colour: str
    marker: str
    line: Any


def look(place: int) -> Look:
    """Return the look of the system that stands at `place` among the runs of a study.

    Colours come again after 7 systems, then with another marker and other dashes; no two of the
    first 308 look the same.

    >>> look(0).colour == look(7).colour, look(0).marker == look(7).marker
    (True, False)
    """
    line = LINES[place // len(COLOURS) % len(LINES)]
    return Look(COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)], line)


def check_installed() -> None:
    """Raise where matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        what = "pictures need matplotlib, which is not installed"
        raise HarnessError(Problem("plots", what, fix=INSTALL))


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the harness's style within, whatever matplotlib was told outside."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        parameters: Any = matplotlib.rcParams
        parameters.update(_RC)
        yield


def figure(width: Width, height: float) -> Figure:
    """Return an empty figure of that height in inches, which is no part of pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=(INCHES[width], height), layout="constrained")
    engine: Any = made.get_layout_engine()
    engine.set(w_pad=0.02, h_pad=0.03)
    FigureCanvasAgg(made)
    return made


def lighter(colour: str, strength: float) -> str:
    """Return a colour mixed with white.

    >>> lighter("#0072B2", 0.5)
    '#80b8d8'
    """
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - strength * (255 - part)):02x}" for part in parts)


def characters(width: Width, share: float = 1.0) -> int:
    """Return about how many characters fit into a share of the width.

    >>> characters("column"), characters("page", 0.5)
    (48, 51)
    """
    return int(INCHES[width] * share * 14.7)


def label_below(figure: Figure, text: str, width: Width) -> None:
    """Put text in the middle below the axes, in as many lines as it needs."""
    lines = (
        textwrap.fill(line, characters(width), break_on_hyphens=False) for line in text.splitlines()
    )
    figure.supxlabel("\n".join(lines), fontsize=POINTS)


def legend_columns(labels: Sequence[str], width: Width) -> int:
    """Return how many columns of a legend fit.

    >>> legend_columns(["bm25", "dense", "hybrid"], "column")
    3
    """
    longest = max(map(len, labels), default=0)
    most = max(1, min(len(labels), characters(width) // (longest + 7)))
    rows = -(-len(labels) // most)
    return -(-len(labels) // max(rows, 1))


def legend_height(labels: Sequence[str], width: Width) -> float:
    """Return the inches that a legend takes."""
    return ROW * -(-len(labels) // max(1, legend_columns(labels, width)))


def legend(
    figure: Figure, handles: Sequence[Artist], labels: Sequence[str], width: Width
) -> None:  # fmt: skip
    """Put a legend below the axes, in as many columns as fit."""
    if not labels:
        return
    figure.legend(
        handles, [_shown(label) for label in labels], ncols=legend_columns(labels, width),
        loc="outside lower center", borderaxespad=0.2, handletextpad=0.5,
    )  # fmt: skip


def _shown(label: str) -> str:
    """Return a label that matplotlib does not take for hidden, as it does one with `_` first."""
    return f"\u2009{label}" if label.startswith("_") else label


def save(figure: Figure, format: Format, title: str, trace: str, missing: dict[str, None]) -> bytes:
    """Return a figure's bytes: the same for the same figure, with no date in them.

    `trace` is the SHA-256 of the manifest of its results; `missing` takes the letters that the
    font does not have.
    """
    source = f"manifest.json sha256:{trace}" if trace else "no manifest"
    title = legible(title)
    metadata: dict[str, Any] = {"Title": title, "Creator": "ranking-harness"}
    if format == "svg":
        metadata |= {"Date": None, "Source": source}
    elif format == "pdf":
        metadata |= {"CreationDate": None, "Producer": None, "Subject": source}
    else:
        metadata = {"Title": title, "Software": "ranking-harness", "Source": source}
    buffer = io.BytesIO()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(buffer, format=format, metadata=metadata)
    for one in caught:
        if glyph := _GLYPH.match(str(one.message)):
            missing[chr(int(glyph[1]))] = None
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return buffer.getvalue()


def better(metric: Metric) -> str:
    """Return the arrow of the way that is better, after a blank; nothing where there is none."""
    return f" {ARROWS[metric.definition.direction]}".rstrip()
