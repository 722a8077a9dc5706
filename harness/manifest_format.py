"""The format of manifests, apart from the models of all that one holds, which take time to load."""

FORMAT = 3
"""Of the manifests that are written now."""
