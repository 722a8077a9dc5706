"""Plots of results: ``plot.py`` has settings and style, the other modules one or two kinds each."""
