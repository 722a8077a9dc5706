"""One target under atheris, in a process of its own: ``python -m tests.fuzz.child TARGET FOLDER``.

What a target raises is written down, one input for each place in the code, and fuzzing goes on;
only a hang, too much memory or a crash of the interpreter ends the process.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from pathlib import Path


def place_of(error: BaseException) -> str:
    """A key for an exception: its type and the last line of the project's own on its way."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/harness/" in f.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}-{Path(last.filename).stem}-{last.name}-{last.lineno}"


def main() -> None:
    """Fuzz one target; the arguments after it and its folder are libFuzzer's."""
    import atheris  # here, as this module is looked through for doctests where it is not there

    with atheris.instrument_imports(include=["harness"]):
        from tests.fuzz.targets import TARGETS
    name, folder = sys.argv[1], Path(sys.argv[2])
    target, found = TARGETS[name], folder / "findings"
    found.mkdir(parents=True, exist_ok=True)
    seen = {path.stem for path in found.iterdir()}

    def once(data: bytes) -> None:
        try:
            target(data)
        except Exception as error:
            key = place_of(error)
            if key not in seen:
                seen.add(key)
                (found / f"{key}.input").write_bytes(data)
                (found / f"{key}.txt").write_text(traceback.format_exc(), "utf-8", "replace")

    seeds, words = folder / "seeds", folder / "words.dict"
    seeds.mkdir(exist_ok=True)
    for seed in target.seeds:
        (seeds / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words if len(word) <= 64))
    known = [f"-dict={words}"] if target.words else []
    arguments = [sys.argv[0], *sys.argv[3:], *known, str(seeds)]
    atheris.Setup(arguments, once)
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main()
