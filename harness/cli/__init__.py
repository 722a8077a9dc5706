"""The command line: one file per command, which parses, calls and prints."""

import sys

if not hasattr(sys.modules[__name__.partition(".")[0]], "_HOME"):
    sys.stderr.write(
        "error: the package 'harness' is of another distribution than ranking-harness\n"
        "  fix:   pip uninstall harness, then pip install --force-reinstall ranking-harness\n"
    )
    sys.exit(2)
