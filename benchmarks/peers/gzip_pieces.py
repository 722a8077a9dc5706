"""Python's gzip module unpacks a file in pieces of 1 MB, and throws them away: ``FILE``."""

import gzip
import sys

with gzip.open(sys.argv[1]) as file:
    while file.read(1 << 20):
        pass
