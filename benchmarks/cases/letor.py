"""Learning-to-rank files."""

from __future__ import annotations

from pathlib import Path

from .case import LIST_METRICS, Case, Command, Setup, Target, harness, module, silent

N_QUERIES = 6300


def letor(setup: Setup) -> Case:
    """A file of 6,300 x 120 x 136, read alone and with predictions and metrics."""
    n_queries, part = setup.queries(N_QUERIES), setup.queries(N_QUERIES / 10)
    whole, tenth = _files(setup, n_queries), _files(setup, part)
    reading = Command("harness: read_qrels alone, imports not counted",
                      module("ours.letor_read", whole[0]), reported=True)  # fmt: skip
    everything = Command("harness evaluate, with predictions", harness(whole, LIST_METRICS))
    lines = Command("wc -l", silent("wc", "-l", whole[0]))
    loads, all_in_all = (
        _scikit_learn(setup, label, name, whole, tenth, n_queries / part)
        for label, name in (
            ("load_svmlight_file alone", "sklearn_load"),
            ("load_svmlight_file, dicts, pytrec_eval", "sklearn_pytrec_eval"),
        )
    )
    return Case(
        "LETOR file of 700 MB, 6,300 queries x 120 documents x 136 features, twelve metrics",
        "Whole processes, but for the row of reading alone. scikit-learn's time grows faster than "
        "the file, since it also keeps all features.",
        (everything, reading, lines, *loads, *all_in_all),
        (
            Target(reading, 8, lines),
            Target(everything, 8, lines),
            Target(reading, 1 / 100, loads[0]),
            Target(everything, 1 / 100, all_in_all[0]),
            Target(everything, 1, all_in_all[0], by="memory"),
        ),
    )


def _scikit_learn(
    setup: Setup, label: str, name: str,
    whole: tuple[str, str], tenth: tuple[str, str], scale: float,
) -> list[Command]:  # fmt: skip
    """Return scikit-learn on the whole file, where all is asked for, and on a tenth of it."""
    label = f"scikit-learn {label}"
    metrics = LIST_METRICS if "pytrec_eval" in name else ()
    commands = [
        Command(f"{label}: a tenth of the file, time x 10", _peer(name, tenth, metrics),
                scale=scale)
    ]  # fmt: skip
    if setup.full:
        digits = 9 if metrics else 0
        commands.insert(0, Command(label, _peer(name, whole, metrics), repeats=1, digits=digits))
    return commands


def _peer(name: str, files: tuple[str, str], metrics: tuple[str, ...]) -> tuple[str, ...]:
    return module(f"peers.{name}", *(files if metrics else files[:1]), *metrics)


def _files(setup: Setup, n_queries: int) -> tuple[str, str]:
    at: Path = setup.data("letor", n_queries)
    return str(at / "test.txt"), str(at / "predictions.txt")
