"""No option is ignored: each form of a command refuses what it cannot use, and names it."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest
from command_line import called, succeeds

from harness.cli.main import COMMANDS

VALUES = {
    "draws": "99", "p": ".8", "depth": "3", "near": ".5", "level": ".1", "max_per_query": "5",
    "max_runs": "2", "top": "1", "rankings": "3", "jobs": "2", "worker_timeout": "5",
    "relevance_level": "2", "names": "one=two", "bins": "length=5", "margins": ".1", "digits": "2",
    "teams": "(.*)",
    "overrides": "policy.ties=stable",
}  # fmt: skip
"""Values of options that take no text and have no choices."""
POLICY = "relevance_level depth ties convention overrides duplicates qrels_format group plugins"
FORMS: dict[str, list[tuple[str, str]]] = {
    "run": [
        ("c.yaml --dry-run", "jobs scheduler worker_timeout force strict format"),
        ("c.yaml", "worker_timeout"), ("c.yaml --scheduler tcp://127.0.0.1:9", "jobs"),
    ],
    "check": [
        ("c.yaml", "duplicates qrels_format run_format group docnos tag_pattern max_runs"),
        ("q.txt one.run", "overrides"),
        ("one.run --topics topics.txt", "overrides qrels_format group notes by"),
        ("c.yaml -f json", "notes by"),
    ],
    "compare": [
        ("one.run two.run --qrels q.txt -m map", "dataset results"),
        ("one two --results out", f"groups bins qrels {POLICY}"),
    ],
    "gate": [
        ("one.run two.run --qrels q.txt -m map --margin .1", "names"),
        ("out out --margin .1", f"groups bins {POLICY}"),
        ("c.yaml", "qrels metrics margins names level correction groups bins depth ties group"),
    ],
    "diff": [
        ("out out", "keys lower"),
        ("out out/leaderboard.csv", "test correction level overrides"),
    ],
    "similarity": [("out", "metrics draws"), ("out --metrics", "measure p depth near picture")],
    "conventions": [("out --match .5 -f html", "match")],
    "table": [
        ("out --sweep x", "names sort digits percent spread marks average extras width overrides "
         "standalone methods bibtex baselines test correction"),
        ("out --methods", "digits percent average extras width sort standalone"),
        ("out -f text", "standalone"),
    ],
    "page": [("out --participant one", "rankings")],
    "plot": [("out heatmap", "baseline over"), ("out distribution -o pictures", "force over")],
    "export": [("out --to json", "project")],
    "pool": [("one.run", "qrels metrics")],
    "init": [("--print", "force output")],
    "verify": [("out", "worker_timeout"), ("out --scheduler tcp://127.0.0.1:9", "jobs")],
    "evaluate": [("q.txt one.run -m map", "bins")],
}  # fmt: skip
"""Forms of commands, and the parameters that each cannot use."""


def commands() -> dict[str, click.Command]:
    return {name: import_module(f"harness.cli.{name}").command for name in COMMANDS}


def cases() -> Iterator[tuple[str, str, str]]:
    for name, forms in FORMS.items():
        for words, unused in forms:
            for parameter in unused.split():
                yield name, words, parameter


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("options")
    qids = ("1", "2", "10")
    rows = [f"{qid} 0 {doc} {grade}" for qid in qids for doc, grade in (("b", 0), ("a", 2))]
    (place / "q.txt").write_text("\n".join(rows) + "\n")
    for run, scores in (("one", (1.5, 0.5)), ("two", (0.25, 1.0))):
        rows = [
            f"{qid} Q0 {doc} 0 {score} {run}"
            for qid in reversed(qids)
            for doc, score in zip("ab", scores, strict=True)
        ]
        (place / f"{run}.run").write_text("\n".join(rows) + "\n")
    (place / "topics.txt").write_text("\n".join(qids) + "\n")
    (place / "c.yaml").write_text(
        "datasets: {d: q.txt}\nruns: {one: one.run, two: two.run}\nmetrics: [map, ndcg@1]\n"
        "output: out\ngate: {baseline: one, rules: {map: {margin: 0.9}}}\n"
    )
    succeeds("run", "c.yaml", cwd=place)
    return place


@pytest.mark.parametrize(("name", "form", "parameter"), [*cases()])
def test_an_option_that_a_form_cannot_use_is_refused(
    here: Path, name: str, form: str, parameter: str
) -> None:
    (option,) = [one for one in commands()[name].params if one.name == parameter]
    words = [name, *form.split(), option.opts[0]]
    is_flag = isinstance(option, click.Option) and option.is_flag
    if isinstance(option.type, click.Choice):
        words.append(next(one for one in option.type.choices if one != option.default))
    elif not is_flag:
        words.append(VALUES.get(parameter, "x"))
    if form.endswith("html"):  # the form itself has the option twice
        words = words[:-2]
    done = called(*words, cwd=here)
    assert done.code == 2, (words, done)
    named = {*option.opts, parameter}
    assert any(text in done.err for text in named), (words, done.err)
    assert "Traceback" not in done.err


def test_every_command_with_forms_is_here() -> None:
    """Commands of one form have no option that depends on another."""
    one_form = {"metrics", "trace", "trec_eval"}
    assert {*FORMS} | one_form == {*COMMANDS}


def test_no_command_has_more_than_22_options() -> None:
    counts = {
        name: sum(isinstance(one, click.Option) for one in command.params)
        for name, command in commands().items()
    }
    assert max(counts.values()) <= 22, counts
    assert len(counts) == 18


def test_a_flag_has_one_meaning() -> None:
    """A short or long option belongs to one parameter, but for those of few words."""
    meaning: dict[str, set[str]] = {}
    for command in commands().values():
        for option in command.params:
            if isinstance(option, click.Option):
                for flag in option.opts:
                    if flag.startswith("-"):
                        meaning.setdefault(flag, set()).add(str(option.name).rstrip("s"))
    several = {flag: names for flag, names in meaning.items() if len(names) > 1}
    assert several == {"--convention": {"convention", "tool"}}  # one, or each of several
