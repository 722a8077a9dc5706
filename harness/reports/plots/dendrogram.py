"""Which runs are alike: a tree whose branches join at their distance."""

from __future__ import annotations

from ...stats.run_similarity import Similarity
from . import plot


def draw(found: Similarity, format: plot.Format, trace: str = "") -> bytes:
    """Return the picture of a tree of runs, one row each."""
    plot.check_installed()
    from scipy.cluster.hierarchy import dendrogram

    n = len(found.runs)
    with plot.styled():
        figure = plot.figure("column" if n <= 40 else "page", 0.5 + 0.13 * n)
        axes = figure.subplots()
        tree = dendrogram(found.tree, no_plot=True)
        for x, y in zip(tree["dcoord"], tree["icoord"], strict=True):
            axes.plot(x, [(at - 5) / 10 for at in y], color=plot.COLOURS[0], linewidth=0.8)
        plot.label_rows(axes, found.runs)
        axes.yaxis.tick_right()
        axes.spines["left"].set_visible(False)
        axes.set_xlim(left=axes.get_xlim()[1], right=0)
        axes.set_xlabel(f"1 - {found.measure}, average of joined runs")
        return plot.save(figure, format, f"similarity of {found.dataset}", trace, {})
