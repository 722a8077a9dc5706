"""The command line: one file per command, which parses, calls and prints."""

import sys

if not hasattr(sys.modules[__name__.partition(".")[0]], "_HOME"):
    sys.stderr.write(
        "error: the package 'harness' does not belong to ranking-harness\n"
        "  fix:   pip uninstall harness, then install ranking-harness again\n"
    )
    sys.exit(2)
