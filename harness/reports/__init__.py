"""Renderings: leaderboards, comparisons, paper tables, methods text, plots."""
