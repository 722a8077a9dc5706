"""Cells (one run on one dataset) evaluated: from the cache, here, or on other machines."""
