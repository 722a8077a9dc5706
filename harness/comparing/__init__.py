"""Renderings of comparisons: as CSV, JSON lines, text, Markdown and HTML. Pure."""
