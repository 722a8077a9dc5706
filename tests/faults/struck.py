"""Runs `harness` and strikes it when a function is called: ``struck.py JSON arguments...``.

The JSON has ``call`` (module, name, how many calls before), ``act`` and ``limits``.
"""

import importlib
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
from typing import Any


def act(kind: str, *rest: Any) -> None:
    """Do what strikes: a signal to itself, or a change of files."""
    if kind == "signal":
        os.kill(os.getpid(), rest[0])
    elif kind == "delete":
        shutil.rmtree(rest[0])
    elif kind == "copy":
        shutil.copyfile(*rest)
    elif kind == "kill a worker":
        multiprocessing.active_children()[0].kill()
    elif kind == "raise":
        raise PermissionError(13, "Permission denied", rest[0])
    elif kind == "exhaust memory":
        raise MemoryError


def strike(module: str, name: str, left: int, what: list[Any]) -> None:
    """Let a function act after it was called `left` times."""
    *classes, last = name.split(".")
    home: Any = importlib.import_module(module)
    for one in classes:
        home = getattr(home, one)
    original = getattr(home, last)

    def called(*given: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left == -1:
            act(*what)
        return original(*given, **named)

    setattr(home, last, called)


def main() -> None:
    asked = json.loads(sys.argv[1])
    from harness.cli.main import main as command

    if "call" in asked:
        strike(*asked["call"], asked["act"])
    for name, most in asked.get("limits", {}).items():
        resource.setrlimit(getattr(resource, name), (most, most))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    command(sys.argv[2:])


if __name__ == "__main__":
    main()
