"""The public names of Python: what they are called, what they show, and what they raise."""

import importlib
import inspect
import json
import random
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest
from command_line import succeeds
from refusals import refuses

import harness
from harness.audit.convention_match import Matches

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"a": 0, "b": 1}}
RUN = {"q1": {"d1": 0.2, "d2": 0.9}, "q2": {"a": 0.3, "b": 0.5}}
PUBLIC_MODULES = ["harness", "harness.batch", "harness.compat", "harness.compat.pytrec_eval"]


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_dir_shows_what_is_public(name: str) -> None:
    module = importlib.import_module(name)
    own = {"torch"} if name == "harness" else set[str]()  # which the star does not import
    assert module.__all__
    assert {*dir(module)} == {*module.__all__} | own


@pytest.mark.parametrize("name", ["rr@10", "MRR@10", "recip_rank@10"])
def test_a_metric_is_found_under_the_name_it_was_asked_by(name: str) -> None:
    found = harness.evaluate(QRELS, RUN, ["rr@10", "ndcg@5"])
    assert found.column(name).tolist() == [0.5, 1.0]
    assert found.summary()[name] == found.summary().get(name) == 0.75
    assert name in found.summary()
    assert "map" not in found.summary()
    assert found.n()[name] == 2
    assert found.to_dict()["q1"][name] == 0.5


def test_a_metric_that_is_not_held_is_named_with_the_nearest() -> None:
    summary = harness.evaluate(QRELS, RUN, ["ndcg@5"]).summary()
    with refuses("", suggests="ndcg@5"):
        summary["ndgc@5"]
    with pytest.raises(KeyError):
        summary["map"]


SNAPSHOT = Path(__file__).parent / "golden" / "python_api.txt"
BASES = (BaseException, dict, tuple)


def public_api() -> str:
    lines = []
    for module in PUBLIC_MODULES:
        for name in dir(importlib.import_module(module)):
            value = getattr(importlib.import_module(module), name)
            lines.append(f"{module}.{name}{_signature(value)}")
            if inspect.isclass(value) and not issubclass(value, BASES):
                lines += [f"  .{one}{_signature(vars_of(value)[one])}" for one in members(value)]
    return "\n".join(lines) + "\n"


def vars_of(kind: type) -> dict[str, Any]:
    return {name: one for each in reversed(kind.__mro__) for name, one in vars(each).items()}


def members(kind: type) -> list[str]:
    return sorted(name for name in vars_of(kind) if not name.startswith("_"))


def _signature(value: Any) -> str:
    if not callable(value):
        return ""
    parts = [
        f"{'*' * (one.kind is one.VAR_POSITIONAL) or '**' * (one.kind is one.VAR_KEYWORD)}{name}"
        + ("" if one.default is one.empty else f"={shown(one.default)}")
        for name, one in inspect.signature(value).parameters.items()
        if name != "self"
    ]
    keyword = [one.kind for one in inspect.signature(value).parameters.values()]
    only = [at for at, kind in enumerate(keyword) if kind is inspect.Parameter.KEYWORD_ONLY]
    if only and inspect.Parameter.VAR_POSITIONAL not in keyword:
        parts.insert(len(parts) - (len(keyword) - only[0]), "*")
    return f"({', '.join(parts)})"


def shown(default: Any) -> str:
    return "..." if " object at " in repr(default) or "factory" in repr(default) else repr(default)


def test_public_names_and_signatures_are_those_of_the_snapshot() -> None:
    """If you mean the change: python -m tests.test_python_api writes the snapshot again."""
    assert public_api() == SNAPSHOT.read_text(encoding="utf-8")


def test_every_public_name_is_in_the_reference() -> None:
    page = (Path(__file__).parents[1] / "docs/reference/python.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\(python/\w+\.md#harness\.(\w+)\)", page))
    assert shown == {*dir(harness)} - {"__version__"}


ENTRY = re.compile(r"(\*{0,2}\w+(?:, \w+)*)(?: : (?:\{(.+)\}|(.+)))?$")


def documented(value: Any) -> Iterator[tuple[list[str], str, str]]:
    """Names, type and shown default of each entry below Parameters, as the pages have it."""
    text = inspect.getdoc(value) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, re.S | re.M)
    lines = [line for line in (section[1] if section else "").splitlines() if line]
    for line in lines:
        if not line.startswith(" "):
            entry = ENTRY.fullmatch(line)
            assert entry, line
            names, choices, kind = entry.groups()
            yield names.split(", "), choices or kind or "", (choices or "").split(", ")[0]


def public_callables(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Public function; or a class and its public methods; or those of a module."""
    if inspect.ismodule(value):
        for name in getattr(value, "__all__", vars(value)):
            inner = getattr(value, name)
            if not inspect.ismodule(inner) and getattr(inner, "__module__", "") == value.__name__:
                yield from public_callables(f"{place}.{name}", inner)
    elif callable(value):
        yield place, value
        for name in members(value) if inspect.isclass(value) else ():
            if inspect.isfunction(vars_of(value)[name]):
                yield f"{place}.{name}", vars_of(value)[name]


def test_documented_parameters_have_their_own_types_and_defaults() -> None:
    """The reference gives all names of an entry its type, and the first of `{...}` as default."""
    wrong = []
    for public_name in dir(harness):
        for place, value in public_callables(public_name, getattr(harness, public_name)):
            for names, kind, shown_default in documented(value):
                known = inspect.signature(value).parameters
                defaults = {repr(known[one].default) for one in names if one in known}
                is_default = shown_default.replace('"', "'") in ("", *defaults)
                if len(defaults) > 1 or (len(names) > 1 and not kind) or not is_default:
                    wrong.append((place, names, defaults))
    assert wrong == []


EXTRAS = {
    "catboost", "dask", "datasets", "distributed", "fsspec", "ir_datasets", "lightgbm",
    "matplotlib", "mlflow", "pandas", "polars", "pytrec_eval", "pytrec_eval_ext", "s3fs", "sklearn",
    "torch", "torchmetrics", "wandb", "xgboost",
}  # fmt: skip
WITHOUT_EXTRAS = """
import contextlib, inspect, io, pydoc, sys
sys.modules.update(dict.fromkeys({extras!r}))
import harness
from harness.audit.convention_match import Matches
pages = [harness, *(getattr(harness, name) for name in dir(harness) if name != "__version__")]
assert all(hasattr(harness, name) for name in dir(harness))
with contextlib.redirect_stdout(io.StringIO()) as shown:
    for value in pages:
        inspect.getmembers(value)
        pydoc.render_doc(value)
        if callable(value) or inspect.ismodule(value):
            help(value)
assert "early_stopping" in shown.getvalue()
qrels, run = {qrels!r}, {run!r}
evaluation = harness.evaluate(qrels, run, ["map"])
compared = harness.compare(qrels, {{"a": run, "b": run}}, ["map"])
for call in (evaluation.to_pandas, compared.to_pandas,
             lambda: harness.xgboost.feval("map"),
             lambda: harness.xgboost.early_stopping("map", 2)):
    try:
        call()
    except harness.HarnessError as error:
        print(error.problems[0].what, "|", error.problems[0].fix)
"""


def test_everything_is_shown_without_any_optional_package() -> None:
    code = WITHOUT_EXTRAS.format(extras=sorted(EXTRAS), qrels=QRELS, run=RUN)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [f"{name} is not installed | pip install {name}" for name in ("pandas", "xgboost")]
    assert done.stdout.splitlines() == [lines[0]] * 2 + [lines[1]] * 2


def test_a_warning_is_given_once_at_the_line_that_called(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "misnamed.run.gz"
    qrels.write_text("".join(f"q{n} 0 d{at} {at % 3}\n" for n in range(30) for at in range(9)))
    run.write_text("".join(f"q{n} Q0 d{at} {at} {-at} x\n" for n in range(30) for at in range(9)))
    config = tmp_path / "c.yaml"
    parts = {"datasets": {"web": {"path": "qrels.txt"}}, "runs": {"a": {"path": run.name}}}
    config.write_text(json.dumps({"output": "out", "metrics": ["map"], **parts}))
    draw = random.Random(1)
    grades = [draw.randrange(4) for _ in range(600)]
    rows, shifted = ([f"q{n // 20}" for n in range(600)], grades), [*grades[1:], grades[0]]
    scores = [grade + draw.random() / 10 for grade in shifted]
    calls: dict[str, tuple[Callable[[], object], int]] = {
        "read_run": (lambda: harness.read_run(run), 1),
        "evaluate a file": (lambda: harness.evaluate(qrels, run, ["map"]), 1),
        "evaluate rows": (lambda: harness.evaluate(rows, scores, ["map"]), 1),
        "gate": (
            lambda: harness.gate(rows, {"a": scores, "b": scores}, ["map"], baseline="a",
                                 margin=0.1), 2,
        ),
        "run": (lambda: harness.run(config), 1),
    }  # fmt: skip
    for name, (call, times) in calls.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        texts = [str(one.message) for one in caught]
        assert len({*texts}) == len(texts) == times, (name, texts)
        assert {one.filename for one in caught} == {__file__}, name


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> harness.Results:
    folder = tmp_path_factory.mktemp("results")
    qids = [f"q{number}" for number in range(8)]
    lines = [f"{qid} 0 d{at} {at % 3}\n" for qid in qids for at in range(6)]
    (folder / "qrels.txt").write_text("".join(lines))
    for run in range(25):
        scores = random.Random(run)
        lines = [f"{q} Q0 d{at} 1 {scores.random()} x\n" for q in qids for at in range(6)]
        (folder / f"s{run:02}.run").write_text("".join(lines))
    config = {
        "output": "out", "datasets": {"web": {"path": "qrels.txt"}},
        "runs": {"{system}": {"path": "{system}.run"}},
        "metrics": ["ndcg@3", "rr@10"], "compare": {"baseline": "s00"},
    }  # fmt: skip
    (folder / "c.yaml").write_text(json.dumps(config))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return harness.run(folder / "c.yaml")


def test_results_have_rows_frames_and_a_flat_dict(results: harness.Results) -> None:
    assert repr(results) == f"<Results: 25 entries in {results.folder}>"
    values = [row["ndcg@3"] for row in results.rows]
    assert values == sorted(values, reverse=True)
    assert len(results.to_pandas()) == 25
    flat = results.to_flat_dict()
    assert len(flat) == 50
    (row,) = (one for one in results.rows if one["run"] == "s03")
    assert flat["web/s03/ndcg@3"] == row["ndcg@3"]


def test_comparisons_have_rows_frames_and_a_flat_dict(results: harness.Results) -> None:
    found = results.comparisons
    first = found.rows[0]
    assert found.is_significant(first) == (first.p_adjusted <= 0.05)
    assert len(found.to_pandas()) == len(found.rows) == 48
    key = f"web/{first.run} against s00/ndcg@3"
    assert found.to_flat_dict()[f"{key}/difference"] == first.difference
    assert found.to_flat_dict()[f"{key}/p_adjusted"] == first.p_adjusted


def test_a_notebook_shows_the_first_rows_of_a_long_leaderboard(results: harness.Results) -> None:
    for shown, total in ((results.leaderboard, 25), (results.comparisons, 48)):
        page = shown._repr_html_()  # type: ignore[union-attr]
        assert "color" not in page  # so the colours are those of the notebook, light or dark
        assert page.count('<tr><th scope="row"') == 20
        assert f"{total - 20} more " in page
    assert "s24" in str(results.leaderboard)
    assert repr(results.leaderboard) == "<Leaderboard: 25 rows, ndcg@3, recip_rank@10>"


@pytest.mark.parametrize("as_path", [False, True])
def test_table_is_that_of_the_command(results: harness.Results, as_path: bool) -> None:
    given = str(results.folder) if as_path else results
    found = harness.table(given, metrics="rr@10", runs=["s0*"], digits=2, names={"s01": "New"})
    options = ["-m", "rr@10", "--run", "s0*", "--digits", "2", "--name", "s01=New"]
    command = ["table", str(results.folder), *options]
    assert succeeds(*command).split() == str(found).split()
    assert succeeds(*command, "--format", "latex") == found.render("latex")
    assert "<table" in found._repr_html_()
    assert [row["name"] for row in found.rows][:2] == ["s00", "New"]
    assert len(found.to_pandas()) == 10
    assert "t-test" in found.methods()
    assert "@" in found.bibtex()


def test_plots_show_themselves_and_are_saved(results: harness.Results, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = harness.plot(results, ["heatmap", "effects"], metrics="ndcg@3", runs=["s00", "s01"])
    names = ["heatmap-web-ndcg-3.svg", "effects-web-ndcg-3.svg"]
    assert str(found).splitlines() == names
    assert found._repr_html_().count("data:image/svg+xml;base64,") == 2
    with refuses("plots: sweep"):
        harness.plot(results, "sweep", over="lr")
    assert "background: white" in found._repr_html_()
    assert found.save(tmp_path / "new") == [tmp_path / "new" / name for name in names]
    assert (tmp_path / "new" / names[0]).read_bytes() == found.files[names[0]]


def test_check_is_that_of_the_command(results: harness.Results) -> None:
    folder = results.folder.parent
    files = [str(folder / "qrels.txt"), str(folder / "s01.run")]
    for arguments in ([files[0], [files[1]]], [str(folder / "c.yaml")]):
        found = harness.check(*arguments)
        assert found.count("error") == 0
        assert len(found.to_pandas()) == len(found.findings)
        assert "(1 dataset" in str(found)
        assert repr(found).startswith("<Checked: 1 dataset")
        assert (
            found._repr_html_() == f'<pre style="font-family: monospace">{escape(str(found))}</pre>'
        )
    assert harness.check(folder / "none.yaml").findings[0].rule == "missing-file"


def test_conventions_are_those_of_the_command(results: harness.Results) -> None:
    (row,) = (one for one in results.rows if one["run"] == "s01")
    value = f"{row['ndcg@3']:.4f}"
    found = harness.conventions(results, "ndcg@3", match=value, run="s01")
    words = ("conventions", results.folder, "--match", value, "--run", "s01", "-m", "ndcg@3")
    assert succeeds(*words) == f"{found}\n"
    assert isinstance(found, Matches)
    assert found.rows[0]["metric"] == "ndcg@3"
    assert len(found.to_pandas()) == len(found.fits)
    compared = harness.conventions(results, "ndcg@3", tools="lightgbm")
    assert str(compared).startswith("web, nDCG@3: lightgbm ranks the systems ")


def test_trace_is_that_of_the_command(results: harness.Results) -> None:
    found = harness.trace(results, "s01", "RR@10", query="q1")
    options = ["--run", "s01", "-m", "RR@10", "--query", "q1"]
    assert succeeds("trace", results.folder, *options) == f"{found}\n"
    assert found.is_confirmed
    assert "q1" in found._repr_html_()
    assert repr(found).startswith("<Account: recip_rank@10 of s01 on web: ")


WRONG: list[tuple[Callable[[Any], Any], str]] = [  # call, place
    (lambda r: harness.table(r, metric="map"), "metric"),
    (lambda r: harness.table(r, sort=3), "sort"),
    (lambda r: harness.table(r, metrics="ndgc@3"), "tables.table.metrics"),
    (lambda r: harness.table(r.folder.parent / "nothing"), "nothing"),
    (lambda r: harness.table(3), "results"),  # type: ignore[arg-type]
    (lambda r: harness.table(r).render("latx"), "format"),  # type: ignore[arg-type]
    (lambda r: harness.plot(r, "heatmpa"), ""),
    (lambda r: harness.plot(r, "heatmap", width="x"), "width"),  # type: ignore[arg-type]
    (lambda r: harness.trace(r, "s1", "rr@10"), "run"),
    (lambda r: harness.trace(r, "s01", "rr@10", where=3), "where"),  # type: ignore[arg-type]
    (lambda r: harness.check(3), "first"),  # type: ignore[arg-type]
    (lambda r: harness.check("a", [3]), "runs"),  # type: ignore[list-item]
    (lambda r: harness.check("a", "b", duplicates="x"), "duplicates"),  # type: ignore[arg-type]
    (lambda r: harness.conventions(r, match=[1]), "match"),  # type: ignore[arg-type]
    (lambda r: harness.conventions(r, tools="lightbgm"), ""),
    (lambda r: harness.evaluate(QRELS, RUN, ["rbo(reference=x)"]), ""),
    (lambda r: harness.conventions(r, match="x"), "--match"),
    (lambda r: harness.metric_name("ndcg@1,2"), "metric"),
]


@pytest.mark.parametrize(("call", "where"), WRONG)
def test_wrong_arguments_are_errors_of_the_harness(
    call: Callable[[Any], Any], where: str, results: harness.Results
) -> None:
    with refuses(where):
        call(results)


if __name__ == "__main__":
    SNAPSHOT.write_text(public_api(), encoding="utf-8")


def test_notes_are_no_warnings(tmp_path: Path) -> None:
    path = tmp_path / "scattered.txt"
    path.write_text("2 0 a 1\n10 0 b 1\n2 0 c 0\n1 0 a 2\n10 0 a 0\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(harness.read_qrels(path).qids) == 3


def test_the_star_imports_no_framework() -> None:
    code = (
        "import sys; from harness import *; evaluate, lightgbm, xgboost, sklearn, catboost\n"
        "import harness; assert not {'torch', 'torchmetrics', 'matplotlib'} & {*sys.modules}\n"
        "assert 'torch' in dir(harness)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
