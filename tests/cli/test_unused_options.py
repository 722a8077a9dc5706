"""No option is ignored: each form of a command refuses what it cannot use, and names it."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest
from command_line import called, refused, succeeds

from harness.cli.main import COMMANDS

VALUES = {
    "draws": "99", "p": ".8", "depth": "3", "near": ".5", "level": ".1", "max_per_query": "5",
    "max_runs": "2", "top": "1", "rankings": "3", "jobs": "2", "worker_timeout": "5",
    "relevance_level": "2", "names": "one=two", "margins": ".1", "digits": "2",
    "teams": "(.*)", "columns": "qid=1",
    "fuse": "rrf",
    "overrides": "policy.ties=stable",
}  # fmt: skip
"""Values of options that take no text and have no choices."""
READING = "qrels_format run_format columns order"
POLICY = f"relevance_level depth ties convention {READING}"
OF_FILES = f"{POLICY} groups plugins"
"""What changes how run files are read and evaluated."""
OF_RUNS = "run_format columns order overrides"
SUBMITTED = (
    f"strict topics docnos max_per_query tag_pattern all_topics max_runs teams {OF_RUNS} format"
)
COMPARED = "baselines test correction"
PLOTTED = "metrics datasets runs format width overrides output force"
TITLED = "title description organiser date link metric"
ROWS = "metrics runs datasets sort top spread delta marks names methods bibtex"
SHAPE = "digits columns overrides sweep"
FORMS: dict[str, dict[str, str]] = {
    "init": {".": "output prints force", "--print": ""},
    "run": {
        "c.yaml": "overrides dry_run jobs scheduler force strict sort format",
        "c.yaml --dry-run": "overrides",
        "c.yaml --scheduler tcp://127.0.0.1:9":
            "overrides dry_run worker_timeout force strict sort format",
    },
    "evaluate": {
        "q.txt one.run -m map": f"{OF_FILES} overrides per_query "
        "sort format",
    },
    "check": {
        "c.yaml": "strict notes verbose topics overrides format",
        "c.yaml -f json": "strict topics overrides",
        "q.txt one.run": f"strict notes verbose topics docnos max_per_query tag_pattern "
        f"all_topics max_runs teams {READING} format",
        "one.run --topics topics.txt": f"{SUBMITTED} notes verbose",
        "one.run --topics topics.txt -f json": SUBMITTED,
    },
    "metrics": {"": "conventions", "ndcg": "conventions"},
    "table": {
        "out": f"{ROWS} {COMPARED} {SHAPE} format",
        "out -f latex":
            f"{ROWS} {COMPARED} {SHAPE} width cite",
        "out -f markdown": f"{ROWS} {COMPARED} {SHAPE}",
        "out -f csv": f"{ROWS} {COMPARED} overrides sweep",
        "out --methods": f"metrics runs datasets names marks bibtex format {COMPARED}",
        "out --methods -f latex": f"metrics runs datasets names marks cite bibtex {COMPARED}",
        "out --bibtex": f"metrics runs datasets marks methods {COMPARED}",
        "out --sweep x": "metrics runs datasets names digits top format",
    },
    "plot": {
        "out": f"{PLOTTED} baseline",
        "out heatmap": PLOTTED,
        "out pareto": f"{PLOTTED} over",
        "out precision-recall": PLOTTED.replace("metrics ", ""),
        "out distribution": PLOTTED,
        "out distribution -o pictures": PLOTTED.replace(" force", ""),
        "out differences": f"{PLOTTED} baseline",
        "out effects": f"{PLOTTED} baseline",
        "out critical-difference": PLOTTED,
        "out scatter": PLOTTED,
        "out cutoffs": PLOTTED,
        "out sweep": f"{PLOTTED} over",
    },
    "page": {
        "out": f"output rankings participant force {TITLED}",
        "out --participant one": f"output teams force {TITLED}",
    },
    "export": {
        "out": "to", "out --to mlflow": "project", "out --to dvc": "project", "out --to json": "",
    },
    "compare": {
        "one.run two.run --qrels q.txt -m map":
            f"{OF_FILES} {COMPARED} overrides all_pairs level format",
        "one.run two.run --qrels q.txt -m map --all-pairs":
            f"{OF_FILES} overrides test correction level format",
        "one two --results out": f"{COMPARED} metrics dataset all_pairs level format",
        "one two --results out --all-pairs": "metrics dataset test correction level format",
    },
    "gate": {
        "one.run two.run --qrels q.txt -m map --margin .1":
            f"{OF_FILES} overrides level correction on_undecided format",
        "out out --margin .1": "qrels metrics names level correction on_undecided format",
        "c.yaml": "on_undecided overrides format",
    },
    "diff": {
        "out out": f"{COMPARED} metrics dataset tolerance any_change names p reproduction level "
        "overrides format",
        "out old.csv": "metrics dataset tolerance any_change names keys lower p reproduction "
        "baselines format",
        "out out/leaderboard.csv": "metrics dataset tolerance any_change names lower p "
        "reproduction baselines format",
        "out results --history": "history output metrics dataset tolerance level format",
    },
    "similarity": {
        "out": "measure p depth near datasets of_metrics format",
        "out --metrics": "metrics datasets draws format",
    },
    "trace": {"out --run one -m map": "query dataset where inputs full"},
    "conventions": {
        "out": "metrics tools match run dataset overrides format details",
        "out --match .5": "metrics tools run dataset overrides format details",
        "out --match .5 -f html": "metrics tools run dataset overrides details",
    },
    "verify": {
        "out": "jobs scheduler inputs plugins format",
        "out --scheduler tcp://127.0.0.1:9": "worker_timeout inputs plugins format",
    },
    "pool": {
        "one.run": f"depth teams {OF_RUNS} contributors unit qrels format per_query",
        "one.run -f csv": f"depth {OF_RUNS} contributors unit qrels with_runs",
        "one.run two.run --leave-out run --qrels q.txt -m map":
            f"depth {OF_RUNS} contributors format",
        "one.run two.run --leave-out team --teams . --qrels q.txt -m map":
            f"depth {OF_RUNS} contributors format",
    },
    "trec_eval": {},
}  # fmt: skip
"""Forms of each command, and the options that each can use besides its own. `trec_eval` has
trec_eval's options, each of which it uses."""


def commands() -> dict[str, click.Command]:
    return {name: import_module(f"harness.cli.{name}").command for name in COMMANDS}


def cases() -> Iterator[tuple[str, str, str]]:
    """Each form with each option that is neither its own nor one that it can use."""
    for name, forms in FORMS.items():
        options = [one for one in commands()[name].params if isinstance(one, click.Option)]
        for form, used in forms.items():
            for option in options:
                own = {*option.opts} & {*form.split()}
                if not own and option.name not in used.split():
                    yield name, form, str(option.name)


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
    (place / "old.csv").write_text("System,map\none,0.5\ntwo,0.25\n")
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
    done = called(*words, cwd=here)
    assert done.code == 2, (words, done)
    named = {*option.opts, parameter}
    assert any(text in done.err for text in named), (words, done.err)
    assert "Traceback" not in done.err


ONLY_LATEX = "longtable caption_latex label document_class formats"
KEYS = {
    "table out": f"table: {ONLY_LATEX}",
    "table out -f html": f"table: {ONLY_LATEX}",
    "table out -f csv": f"table: {ONLY_LATEX} caption leading_zero percent arrows transpose",
    "table out -f latex": "table: formats",
    "table out --methods": f"table: {ONLY_LATEX} groups leading_zero caption percent extras",
    "table out --bibtex": "table: formats groups leading_zero caption label",
    "table out --sweep x": f"table: {ONLY_LATEX} groups caption average",
    "plot out": "plot: kind formats",
    "plot out heatmap": "plot: kind formats baseline",
    "compare one two --results out": "policy: judged_only empty_queries",
    "gate out out --margin .1": "policy: judged_only empty_queries",
    "compare one two --results out -m map": "run: duplicates documents",
    "check q.txt one.run": "policy: ties",
    "check one.run --topics topics.txt": "dataset: duplicates columns group",
    "diff out out/leaderboard.csv": "compare: family interval draws seed",
}
"""Keys of --set that a form of a command cannot use."""


@pytest.mark.parametrize("form", KEYS)
def test_a_key_that_a_form_cannot_use_is_refused(here: Path, form: str) -> None:
    section, keys = KEYS[form].split(": ")
    for key in keys.split():
        err = refused(*form.split(), "--set", f"{section}.{key}=[a]", cwd=here)
        assert err.startswith("error: --set"), (key, err)
        assert f"{key}: " not in err  # its value is not the mistake


def test_a_wrong_value_of_a_key_is_refused_by_its_option(here: Path) -> None:
    err = refused("table", "out", "--set", "table.extras=[wins]", cwd=here)
    assert err.startswith("error: --set table.extras: ")


def test_every_command_and_option_is_here() -> None:
    for name in {*COMMANDS} - {*FORMS}:
        pytest.fail(f"give FORMS in this file an entry for the forms of {name}")
    assert {*FORMS} == {*COMMANDS}
    for name, forms in FORMS.items():
        options = {str(one.name) for one in commands()[name].params}
        for form, used in forms.items():
            assert {*used.split()} <= options, (name, form)


def test_no_command_has_more_than_22_options() -> None:
    counts = {
        name: sum(isinstance(one, click.Option) for one in command.params)
        for name, command in commands().items()
    }
    assert max(counts.values()) <= 22, counts
    assert len(counts) == 18, "a new command needs a reason in docs/decisions/16-commands.md"


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


def single_options() -> Iterator[tuple[str, str]]:
    """Each option of a command that takes one value."""
    for name, command in commands().items():
        for option in command.params:
            is_single = isinstance(option, click.Option) and not option.multiple
            if is_single and not option.is_flag and name != "trec_eval":
                yield name, str(option.name)


@pytest.mark.parametrize(("name", "parameter"), [*single_options()])
def test_an_option_of_one_value_is_refused_twice(here: Path, name: str, parameter: str) -> None:
    (option,) = [one for one in commands()[name].params if one.name == parameter]
    form, value = next(iter(FORMS[name])), VALUES.get(parameter, "1")
    if isinstance(option.type, click.Choice):
        value = option.type.choices[-1]
    err = refused(name, *form.split(), option.opts[0], value, option.opts[-1], value, cwd=here)
    assert err.startswith(f"error: {option.opts[0]}: ")
    assert err.count("\n") == 2
