"""Where the program starts: signals, warnings and errors, and which command reads its words."""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from typing import Any

from . import output, system
from .errors import ConfigError, HarnessError, HarnessWarning, VerificationError
from .trust import NO_PLUGINS, allow_plugins


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; the entry point of ``harness`` and ``python -m harness``."""
    given = _trusted(sys.argv[1:] if arguments is None else arguments)
    gc.set_threshold(100_000)  # what is imported is no garbage; not looking for any: 18 ms
    # numpy would start a thread a core for products of matrices, of which there are none: 30 ms
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    system.allocate_sparingly()
    warnings.simplefilter("always", HarnessWarning)
    warnings.showwarning = _show_warning
    try:
        signal.signal(signal.SIGINT, _stop)
        with output.written(_gone if given[:1] == ["trec_eval"] else output.end_quietly):
            _run(given)
    except HarnessError as error:
        if "--debug" in given:
            raise
        several = given[:1] == ["run"] and not isinstance(error, ConfigError)
        for said in error.texts if several else [error]:
            output.show(f"error: {said}\n", error=True)
        sys.exit(1 if isinstance(error, VerificationError) else 2)
    except _Stopped:
        sys.unraisablehook = lambda _: None  # a bar that was half made says it cannot be closed
        again = "; the same command goes on where it was" if given[:1] == ["run"] else ""
        output.show(f"stopped; nothing is left half written{again}\n", error=True)
        sys.exit(130)
    except Exception as error:
        refused = system.problem(error)
        if refused is None or "--debug" in given:
            raise
        if given[:1] in (["run"], ["verify"]):
            refused = system.or_fewer_jobs(refused)
        output.show(f"error: {refused}\n", error=True)
        sys.exit(2)
    finally:
        gc.freeze()  # nor when the process ends: 27 ms


def _trusted(given: list[str]) -> list[str]:
    """Take ``--no-plugins`` in, wherever it stands, and return the other words."""
    asked = NO_PLUGINS in given and given[:1] != ["trec_eval"]  # which takes no plugins
    allow_plugins(not asked)
    return [word for word in given if word != NO_PLUGINS] if asked else given


def _run(given: list[str]) -> None:
    """Give the words to who reads them; Typer, 60 ms to import, only where nobody else can."""
    if given[:1] and not given[0].startswith("-"):
        system.check_memory()
    if given[:1] == ["trec_eval"]:  # its options are read as getopt reads them
        from . import trec_eval

        sys.exit(trec_eval.main(given[1:]))
    if given[:1] == ["evaluate"]:
        from . import plain

        asked = plain.arguments(given[1:])
        if asked is not None:
            plain.evaluate(**asked)
            sys.exit(0)
    if given[:1] == ["run"]:
        from . import running

        asked = running.arguments(given[1:])
        if asked is not None:
            sys.exit(0 if running.run(**asked) else 1)
    from .cli import app

    app(args=given, prog_name="harness", standalone_mode=True)


def _gone() -> None:
    from .readers.spool import forget

    forget()  # what standard input gave is in a file that the signal would leave there
    output.end_by_signal()


class _Stopped(BaseException):
    """Ctrl-C: no handler on the way may take it for something else."""


def _stop(*_: Any) -> None:
    raise _Stopped


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    output.show(f"warning: {message}\n", error=True)
