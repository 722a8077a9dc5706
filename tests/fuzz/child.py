"""One target under atheris, in a process of its own: ``... tests.fuzz.child TARGET FOLDER LENGTH``.

What a target raises is written down, one input for each place in the code, and fuzzing goes on;
only a hang, too much memory or a crash of the interpreter ends the process.
"""

from __future__ import annotations

import hashlib
import sys
import time
import traceback
from pathlib import Path

from tests.fuzz.longer import longer

SLOW = 5.0
"""Seconds of the processor for one input, instrumented, above which it is a finding."""
LONG = 4096
"""Bytes above which inputs are made long to begin with, as mutations hardly make them so."""


def place_of(error: BaseException) -> str:
    """A key for an exception: its type and the last line of the project's own on its way."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/harness/" in f.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}-{Path(last.filename).stem}-{last.name}-{last.lineno}"


def main() -> None:
    """Fuzz one target; the arguments after it and the length of an input are libFuzzer's."""
    import atheris  # here, as this module is looked through for doctests where it is not there

    with atheris.instrument_imports(include=["harness"]):
        from tests.fuzz.targets import TARGETS
    name, folder, length = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    target, found = TARGETS[name], folder / "findings"
    found.mkdir(parents=True, exist_ok=True)
    seen = {path.stem for path in found.iterdir()}

    def once(data: bytes) -> None:
        start = time.process_time()
        try:
            target(data)
            assert time.process_time() - start < SLOW, "slow"
        except Exception as error:
            key = place_of(error)
            if key not in seen:
                seen.add(key)
                (found / f"{key}.input").write_bytes(data)
                (found / f"{key}.txt").write_text(traceback.format_exc(), "utf-8", "replace")

    seeds, words = folder / f"seeds-{length}", folder / "words.dict"
    seeds.mkdir(exist_ok=True)
    long = longer(target.seeds, target.words, length) if length > LONG else ()
    for seed in (*target.seeds, *long):
        (seeds / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words if len(word) <= 64))
    known = [f"-dict={words}"] if target.words else []
    arguments = [sys.argv[0], *sys.argv[4:], *known, str(seeds)]
    atheris.Setup(arguments, once)
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main()
