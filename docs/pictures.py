"""Draw the pictures of the docs: plots, the report page and the table.

Run ``python -m docs.pictures`` after a change to what they show. It needs the extras ``plots`` and
``test``, a Chromium on the path, and LaTeX with pdftoppm for the table.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from docs.outputs import ROOT, run

PICTURES = ROOT / "docs" / "pictures"
PLOTS = ("cutoffs-letor-ndcg", "differences-letor-map", "distribution-letor-ndcg-10",
         "critical-difference-letor-ndcg-10", "effects-letor-map", "scatter-letor-ndcg-10-arp",
         "heatmap-letor-ndcg-10")  # fmt: skip
VIEWS = {
    "page": "#d=trec",
    "page-system": "#v=system&d=trec&a=tfidf",
    "page-pair": "#v=pair&d=trec&a=bm25&b=tfidf",
    "page-queries": "#v=queries&d=trec",
    "page-query": "#v=queries&d=trec&q=10&a=bm25&b=tfidf",
    "page-about": "#v=about",
}
SIZES = {"": (1440, 760), "-phone": (390, 844)}
THEMES = {"": "light", "-dark": "dark"}
"""Sizes and themes of the pictures of each view, by the ends of their names."""
COLOURS = 160
"""Colours of a picture of a page, which keep its file small."""
LATEX = r"""\documentclass{article}
\usepackage[paperwidth=19cm, paperheight=9cm, margin=7mm]{geometry}
\usepackage{booktabs, threeparttable, mathptmx}
\pagestyle{empty}
\begin{document}
\input{main}
\end{document}
"""


def main() -> None:
    """Draw every picture again."""
    with tempfile.TemporaryDirectory() as name, browser() as chromium:
        folder = Path(name)
        for part in ("configs", "runs"):
            shutil.copytree(ROOT / part, folder / part)
        run(
            "harness run configs/quickstart.yaml --set compare={} --set output=../results/page",
            folder,
        )
        page = (folder / "results/page/page.html").as_uri()
        for (picture, view), (end, size), (dark, scheme) in itertools.product(
            VIEWS.items(), SIZES.items(), THEMES.items()
        ):
            shoot(chromium, page + view, size, scheme, PICTURES / f"{picture}{end}{dark}.png")
        run("harness run configs/pictures.yaml", folder)
        for plot in PLOTS:
            kind = plot.partition("-letor")[0]
            shutil.copy(folder / f"results/pictures/plots/{plot}.svg", PICTURES / f"{kind}.svg")
        run("harness run configs/paper.yaml", folder)
        draw_table(folder / "results/paper/tables")


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Start the system's Chromium."""
    with sync_playwright() as driver:
        yield driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )


def shoot(chromium: Any, address: str, size: tuple[int, int], scheme: str, path: Path) -> None:
    """Save the upper part of a view of a report page."""
    width, height = size
    viewport = {"width": width, "height": height}
    tab = chromium.new_context(viewport=viewport, color_scheme=scheme).new_page()
    tab.goto(address)
    tab.wait_for_selector("html[data-ready]")
    tab.wait_for_load_state("networkidle")
    picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
    few = picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def draw_table(tables: Path) -> None:
    """Compile a LaTeX table."""
    (tables / "paper.tex").write_text(LATEX, encoding="utf-8")
    for command in (
        ["pdflatex", "-interaction=batchmode", "paper.tex"],
        ["pdftoppm", "-r", "130", "-singlefile", "-png", "paper.pdf", str(PICTURES / "table")],
    ):
        subprocess.run(command, cwd=tables, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
