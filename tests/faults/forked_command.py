"""A warm interpreter that forks a `harness` command for each line of JSON on standard input.

Starting Python and importing what a sweep needs takes ten times as long as the sweep. Here it is
done once; what is forked from it is a process of its own, with its own session, limits and user,
and can be killed like any other. Each line asks for one command, and is answered by one line.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

EVENTS = {
    "open", "os.chmod", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir",
    "os.scandir", "tempfile.mkstemp", "fcntl.flock",
}  # fmt: skip
"""What is counted by `event`: Python's own notes of what it asks of the file system."""


def warm(config: str) -> None:
    """Import what a run of `config` imports, without any of its threads."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        with contextlib.suppress(SystemExit):
            harness_main(["run", config])
        names = [name for name in sys.modules if not name.startswith("__")]
        with os.fdopen(writer, "w") as file:
            file.write("\n".join(names))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        names = file.read().split("\n")
    os.waitpid(child, 0)
    # another user may not read Python's own files
    for name in [*names, "harness.experiment.annotate", "gettext"]:
        with contextlib.suppress(ImportError, AttributeError):
            importlib.import_module(name)


def harness_main(arguments: list[str]) -> None:
    from harness.cli.main import main

    main(arguments)


def command(asked: dict[str, Any]) -> None:
    """Be the command that is asked for; never comes back."""
    os.setsid()
    os.dup2(os.open(asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.dup2(os.open(asked["err"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for name, most in asked["limits"].items():
        resource.setrlimit(getattr(resource, name), (most, most))
    if asked["user"]:
        os.setgroups([])
        os.setgid(asked["user"])
        os.setuid(asked["user"])
    if asked["clock"]:
        set_clock(*asked["clock"])
    strike = at_call(*asked["call"]) if asked["call"] else at_event(asked["event"])
    strike(lambda: act(asked["act"]))
    let_in_when_handled()
    code: Any = 0
    try:
        harness_main(asked["arguments"])
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)  # as Python does where nobody catches it
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 70
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def set_clock(start: float, speed: float) -> None:
    """Let the clock of this process start elsewhere, and run at another speed: backwards too."""
    real, began = time.time_ns, time.time_ns()

    def time_ns() -> int:
        return int((began / 1e9 + start) * 1e9) + int((real() - began) * speed)

    time.time_ns, time.time = time_ns, lambda: time_ns() / 1e9  # type: ignore[assignment]


def let_in_when_handled() -> None:
    """Let Ctrl-C, which is held back here, reach the command when that can handle it."""
    set_handler = signal.signal

    def then(number: int, handler: Any) -> Any:
        before = set_handler(number, handler)
        signal.signal = set_handler  # type: ignore[assignment]
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return before

    signal.signal = then  # type: ignore[assignment]


def act(what: list[Any]) -> None:
    """Do what strikes: a signal to itself, or a change of files."""
    kind, *rest = what
    if kind == "signal":
        os.kill(os.getpid(), rest[0])
    elif kind == "signal group":
        os.killpg(0, rest[0])
    elif kind == "delete":
        import shutil

        shutil.rmtree(rest[0])
    elif kind == "write":
        Path(rest[0]).write_text(rest[1], encoding="utf-8")
        os.utime(rest[0], (rest[2], rest[2]))
    elif kind == "remove":
        os.remove(rest[0])
    elif kind == "truncate":
        os.truncate(rest[0], rest[1])
    elif kind == "kill a worker":
        import multiprocessing

        multiprocessing.active_children()[0].kill()
    elif kind == "exhaust memory":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize()
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
        try:
            bytearray(64 << 20)  # as a large file would ask for
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)


Strike = Callable[[Callable[[], None]], None]


def at_event(number: int | None) -> Strike:
    """Strike at the so many-th thing asked of the file system."""

    def strike(what: Callable[[], None]) -> None:
        left = number

        def hook(event: str, _: tuple[Any, ...]) -> None:
            nonlocal left
            if left is not None and event in EVENTS:
                left -= 1
                if left < 0:
                    left = None
                    what()

        if number is not None:
            sys.addaudithook(hook)

    return strike


def at_call(module: str, name: str, number: int = 0) -> Strike:
    """Strike where a function is called for the so many-th time, from 0."""

    def strike(what: Callable[[], None]) -> None:
        *classes, last = name.split(".")
        home: Any = importlib.import_module(module)
        for one in classes:
            home = getattr(home, one)
        original, left = getattr(home, last), number

        def called(*given: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == -1:
                what()
            return original(*given, **named)

        setattr(home, last, called)

    return strike


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Fork a command, kill it when it is asked for, and say how it ended."""
    began = time.monotonic()
    child = os.fork()
    if not child:
        command(asked)
    limit = began + 60
    strikes = [*asked["strikes"]]  # seconds, and what comes then
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        now = time.monotonic()
        if pid:
            break
        if strikes and now - began >= strikes[0][0]:
            _, (kind, number) = strikes.pop(0)
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if kind == "signal group" else os.kill)(child, number)
        if now > limit:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.0005 if strikes else 0.005)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "seconds": now - began,
        "session": child,
        "hung": now > limit,
    }


def main() -> None:
    warm(sys.argv[1])
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    print(json.dumps({"ready": tempfile.gettempdir()}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
