"""The program ``harness``, also as ``python -m harness``."""

from __future__ import annotations

import os
import signal


def main() -> None:
    """Run the command line; Ctrl-C during its imports ends without a traceback."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from .cli.main import main as run

    run()


if __name__ == "__main__":
    main()
