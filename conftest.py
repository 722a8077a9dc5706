"""Keep pytest from rewriting the modules of packages that bring a plugin, as this one does.

They have no asserts to explain, and rewriting them takes seconds in each process.
"""

import sys

for finder in sys.meta_path:
    getattr(finder, "_must_rewrite", set()).clear()
