"""Plots of results: ``plot.py`` has settings and style, the other modules the kinds."""
