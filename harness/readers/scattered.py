"""The signal that a run cannot be read in parts."""


class ScatteredQueries(Exception):  # noqa: N818 - a signal, not an error of the file
    """A query came back in a later part; the run has to be read whole."""
