"""The format of manifests, apart from the models of all that one holds, which take time to load."""

FORMAT = 3
"""Of the manifests that are written now."""

FROM_CONFIG = 3
"""The first whose paths of inputs start at the config's folder; before, at the one above it."""
