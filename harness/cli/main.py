"""Where the program starts: signals, warnings and errors."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
import warnings
from typing import Any

from .. import errors as internal_errors
from .. import files as output
from ..errors import ConfigError, HarnessError, HarnessWarning, VerificationError
from .app import app


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; the entry point of ``harness`` and ``python -m harness``."""
    gc.set_threshold(100_000)  # imports make no garbage: 10 % of a small `harness evaluate`
    # before numpy is imported, whose threads for products of matrices take another 10 %
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from ..config.plugins import NO_PLUGINS, allow_plugins

    words = list(sys.argv[1:] if arguments is None else arguments)
    command = words[0] if words else ""
    if command != "trec_eval":  # which takes no plugins
        allow_plugins(NO_PLUGINS not in words)
        words = [word for word in words if word != NO_PLUGINS]
    is_debugged = "--debug" in words
    warnings.simplefilter("always", HarnessWarning)
    warnings.showwarning = _show_warning
    internal_errors.show_tracebacks(is_debugged)
    try:
        signal.signal(signal.SIGINT, _stop)
        with output.written(_end_by_signal if command == "trec_eval" else sys.exit):
            app.main(words, prog_name="harness")
    except HarnessError as error:
        if is_debugged:
            traceback.print_exc()
        by_cell = command == "run" and not isinstance(error, ConfigError)
        for text in error.texts if by_cell else [str(error)]:
            output.show(f"error: {text}\n", error=True)
        sys.exit(1 if isinstance(error, VerificationError) else 2)
    except _Stopped:
        sys.unraisablehook = lambda _: None  # a bar that was half made says it cannot be closed
        hint = "; the same command goes on where it was" if command == "run" else ""
        output.show(f"stopped; nothing is left half written{hint}\n", error=True)
        sys.exit(130)
    except Exception as error:
        problem = output.problem(error)
        if problem is None or is_debugged:
            raise
        output.show(f"error: {problem}\n", error=True)
        sys.exit(2)
    finally:
        gc.freeze()  # nor is any looked for when the process ends


def _end_by_signal() -> None:
    from ..readers.source import forget

    forget()  # removes the file that keeps standard input, which the signal would leave
    output.end_by_signal()


class _Stopped(BaseException):
    """Ctrl-C; derives from BaseException so that no handler takes it for an error."""


def _stop(*_: Any) -> None:
    raise _Stopped


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    output.show(f"warning: {message}\n", error=True)
