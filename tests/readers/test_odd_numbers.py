"""Every way to write a number, in every format that has numbers: read as documented, or refused."""

from __future__ import annotations

import io
import locale
import math
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from harness.config import load as config
from harness.core.names import parse
from harness.core.tables import Qrels
from harness.errors import ConfigError, InputError, UnknownNameError
from harness.readers import read_qrels, read_run

NAN = math.nan
# text, as it stands in text formats; what a score is; what it is in JSON, where that differs
# (NAN: refused); a grade is refused too where it is no whole number
NUMBERS: list[tuple[str, float, float | None]] = [
    ("12", 12, None),
    ("-0.0", -0.0, None),
    ("1e3", 1000, None),
    ("1E+3", 1000, None),
    ("1e-400", 0, None),  # too small for a float: 0, as C's strtod has it
    ("4.9e-324", 5e-324, None),
    ("0.30000000000000004", 0.1 + 0.2, None),
    ("+1.5", 1.5, NAN),  # JSON has no plus sign, no bare point, no leading zeros
    (".5", 0.5, NAN),
    ("5.", 5, NAN),
    ("007", 7, NAN),
    ("1e400", NAN, None),
    ("-1e400", NAN, None),
    ("nan", NAN, None),
    ("NaN", NAN, None),
    ("nan(123)", NAN, None),
    ("inf", NAN, None),
    ("Infinity", NAN, None),
    ("-Infinity", NAN, None),
    ("0x1p3", NAN, None),
    ("0x10", NAN, None),
    ("0b1", NAN, None),
    ("1_000", NAN, None),
    ("1,000", NAN, None),
    ("1.000,5", NAN, None),
    ("1,5", NAN, None),
    ("1'000", NAN, None),
    ("1d3", NAN, None),
    ("1f", NAN, None),
    ("1e", NAN, None),
    ("--1", NAN, None),
    ("1-", NAN, None),
    ("−1", NAN, None),  # U+2212 minus
    ("１２", NAN, None),  # full-width digits
    ("٣", NAN, None),  # Arabic-Indic
    ("½", NAN, None),
    ("1\u00a0000", NAN, None),
    ("9" * 400, NAN, None),
    ("true", NAN, None),
    ("null", NAN, None),
]
DATASET = Qrels.from_dict({"1": {"A": 2, "B": 0}})
RUNS = {
    "trec": "1 Q0 A 1 {} t\n1 Q0 B 1 0.25 t\n",
    "scores": "{}\n0.25\n",
    "ranklib": "1\t0\t{}\n1\t1\t0.25\n",
    "table": "qid,docno,score\n1,A,{}\n1,B,0.25\n",
    "jsonl": '{{"qid":"1","docno":"A","score":{}}}\n{{"qid":"1","docno":"B","score":0.25}}\n',
    "json": '{{"1":{{"A":{},"B":0.25}}}}\n',
}
QRELS = {
    "trec": "1 0 A {}\n1 0 B 1\n",
    "letor": "{} qid:1 1:1 # A\n1 qid:1 1:1 # B\n",
    "beir": "query-id\tcorpus-id\tscore\n1\tA\t{}\n1\tB\t1\n",
    "table": "qid\tdocno\tgrade\n1\tA\t{}\n1\tB\t1\n",
    "json": '{{"1":{{"A":{},"B":1}}}}\n',
}


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A locale with a decimal comma: made for the test, where the machine can."""
    compile_it = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")]
    try:
        subprocess.run(compile_it, check=False, capture_output=True)
    except OSError:
        pytest.skip("no localedef")
    monkeypatch.setenv("LOCPATH", str(tmp_path))
    old = locale.setlocale(locale.LC_NUMERIC)
    try:
        locale.setlocale(locale.LC_NUMERIC, "de_DE.UTF-8")
    except locale.Error:
        pytest.skip("no locale with a decimal comma")
    assert locale.localeconv()["decimal_point"] == ","
    yield
    locale.setlocale(locale.LC_NUMERIC, old)


def check(path: Path, kind: str, format: str, text: str, expected: float) -> None:
    template = (RUNS if kind == "run" else QRELS)[format]
    path.write_text(template.format(text), "utf-8")
    if kind == "run":

        def read() -> float:
            return read_run(path, format=format, dataset=DATASET).to_dict()["1"]["A"]
    else:

        def read() -> float:
            return read_qrels(path, format=format).to_dict()["1"]["A"]

    if math.isnan(expected) or (kind == "qrels" and expected != int(expected)):
        with pytest.raises(InputError) as error:
            read()
        # the line; for a mapping the query and the docno
        assert re.match(rf"{re.escape(str(path))}:( query '1', docno 'A'|\d)", str(error.value))
        assert len(str(error.value)) < 2000
    else:
        found = read()
        assert (found, math.copysign(1, found)) == (
            expected, math.copysign(1, expected if kind == "run" else abs(expected))
        )  # fmt: skip


@pytest.mark.parametrize(("text", "expected", "in_json"), NUMBERS, ids=[n[0] for n in NUMBERS])
def test_numbers(tmp_path: Path, text: str, expected: float, in_json: float | None) -> None:
    for kind, formats in (("run", RUNS), ("qrels", QRELS)):
        for format in formats:
            if format == "table" and kind == "run" and "," in text:
                continue  # a further field, and refused as such: below
            alike = in_json if format.startswith("json") and in_json is not None else expected
            check(tmp_path / f"{kind}.{format}", kind, format, text, alike)


@pytest.mark.parametrize("text", [one for one, number, _ in NUMBERS if math.isnan(number)])
@pytest.mark.parametrize("n_sound", [0, 1, 2])
@pytest.mark.parametrize("first", [True, False])
def test_a_wrong_number_is_named_where_the_format_is_guessed(
    tmp_path: Path, text: str, n_sound: int, first: bool
) -> None:
    """In files of so few lines that it could hide the format: before sound rows, and after."""
    rows = {
        ("run", "trec"): "1 Q0 d{} {} {} t\n",
        ("run", "ranklib"): "1\t{}\t{}\n",
        ("run", "scores"): "{}\n",
        ("qrels", "trec"): "1 0 d{} {}\n",
        ("qrels", "letor"): "{} qid:1 1:0.5\n",
    }
    for (kind, format), row in rows.items():
        numbers = ["1"] * n_sound
        numbers.insert(0 if first else n_sound, text)
        counts = row.count("{}") - 1
        lines = [row.format(*[at] * counts, one) for at, one in enumerate(numbers)]
        path = tmp_path / f"{kind}.txt"
        path.write_text("".join(lines), "utf-8")
        with pytest.raises(InputError) as guessed:
            read_run(path, dataset=DATASET) if kind == "run" else read_qrels(path)
        with pytest.raises(InputError) as named:
            (read_run(path, dataset=DATASET, format=format) if kind == "run" else
             read_qrels(path, format=format))  # fmt: skip
        assert str(guessed.value).startswith(f"{path}:{1 if first else n_sound + 1}: "), format
        assert str(guessed.value) == str(named.value)


@pytest.mark.usefixtures("german")
def test_the_locale_changes_nothing(tmp_path: Path) -> None:
    for kind, formats in (("run", RUNS), ("qrels", QRELS)):
        for format in formats:
            check(tmp_path / "x", kind, format, "1.5", 1.5)
            if format != "table":
                check(tmp_path / "x", kind, format, "1,5", NAN)
    assert parse("rbo(p=0.5)") == parse("rbo(p=.5)")


@pytest.mark.parametrize("text", ["1,000", "1,5"])
def test_a_separator_is_one_more_field_of_a_csv_or_refused_in_quotes(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(RUNS["table"].format(text))
    with pytest.raises(InputError, match=r"a.csv:2: 4 fields where 3 belong"):
        read_run(path)
    path.write_text(RUNS["table"].format(f'"{text}"'))
    with pytest.raises(InputError, match=f"a.csv:2: score '{text}' is not a number"):
        read_run(path)


def test_a_number_gone_wrong_in_the_first_line_is_no_header(tmp_path: Path) -> None:
    """Nobody is told to delete the line that holds it."""
    path = tmp_path / "a.run"
    path.write_text(RUNS["trec"].format("1_000"))
    with pytest.raises(InputError) as error:
        read_run(path, format="trec")
    assert "header" not in str(error.value)
    path.write_text("qid Q0 docno rank score tag\n" + RUNS["trec"].format("1"))
    with pytest.raises(InputError, match="score 'score' is not a number; it looks like a header"):
        read_run(path, format="trec")


def test_grades_end_where_identifiers_begin(tmp_path: Path) -> None:
    path = tmp_path / "a.qrels"
    for text in ("2147483648", "99999999999", "99999999999999999999", "-2147483648", "1e40"):
        for format in ("trec", "letor", "beir", "table"):
            path.write_text(QRELS[format].format(text))
            line = 1 if format in ("trec", "letor") else 2
            value = re.escape(f"{float(text):.17g}" if format == "table" else text)
            said = f":{line}: grade '{value}' is not a number between -2147483647 and 2147483647\n"
            with pytest.raises(InputError, match=said):
                read_qrels(path, format=format)
        path.write_text(QRELS["json"].format(text))
        with pytest.raises(InputError, match="1 grade is not between -2147483647 and 2147483647: "):
            read_qrels(path, format="json")
    for format in ("trec", "letor", "beir", "table", "json"):
        for text in ("2147483647", "-2147483647"):
            path.write_text(QRELS[format].format(text))
            assert read_qrels(path, format=format).to_dict()["1"]["A"] == int(text)


@pytest.mark.parametrize("format", ["scores", None])
@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        ("0,199312", ", or a decimal comma", "write 0.199312; or, if there is an index, write it"),
        ("-0,5", ", or a decimal comma", "write -0.5; or"),
        ("1.234,5", ", or a decimal comma", "write 1234.5; or"),
        ("1,234.5", ", or a separator of thousands", "write 1234.5; or"),
        ("7,0.25", "", "write it without the index, as series.to_csv"),
        ("7\t0.25", "", "write it without the index, as series.to_csv"),
    ],
)
def test_commas_and_second_columns_of_predictions(
    tmp_path: Path, text: str, what: str, fix: str, format: str | None
) -> None:
    path = tmp_path / "comma.pred"
    path.write_text(f"# of a model\n{text}\n{text}\n")
    said = f"{path}:2: 2 columns where one number a line belongs{what}"
    with pytest.raises(InputError) as error:
        read_run(path, format=format, dataset=DATASET)
    first = error.value.problems[0]
    assert (f"{first.where}: {first.what}", first.found) == (said, text)
    assert first.fix.startswith(fix)


def test_a_separator_of_millions(tmp_path: Path) -> None:
    path = tmp_path / "comma.pred"
    path.write_text("1,234,567\n2,345,678\n")
    with pytest.raises(InputError, match=r"3 columns .*, or a separator of thou(?s:.)*1234567"):
        read_run(path, dataset=DATASET)


@pytest.mark.parametrize("text", ["1_0", "１", "1e1", "0x1", "-1", "1.0", "9" * 5000])
def test_group_sizes(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_text("1 1:1\n0 1:1\n")
    (tmp_path / "sizes").write_text(f"{text}\n1\n", "utf-8")
    with pytest.raises(InputError, match=r"sizes(:1: group size '.*' is not a|: 2 group sizes)"):
        read_qrels(tmp_path / "a.txt", format="letor", group=tmp_path / "sizes")


@pytest.mark.parametrize(
    "text", ["1_0", "１０", "٣", "1e400", "nan", "inf", "0x10", "1,5", "9" * 5000]
)
def test_parameters_of_metrics(text: str) -> None:
    for name in (f"ndcg@{text}", f"rbo(p={text})", f"rbp(p={text})", f"map(rel={text})"):
        if name == "ndcg@1,5":
            continue  # two cutoffs
        with pytest.raises(UnknownNameError):
            parse(name)


@pytest.mark.parametrize(
    "text", ["1_000", "0x10", "010", "0b1", "1:30", "１０", "1e400", ".nan", ".inf"]
)
def test_numbers_of_a_config(text: str) -> None:
    """YAML 1.1 would read 010 as 8, and 1:30 as 90."""
    with pytest.raises(ConfigError, match=r"\$.policy.depth \(line 1\)"):
        config.loads(f"policy: {{depth: {text}}}")


@pytest.mark.parametrize("dtype", ["<f8", ">f4", "<f2", "<i4", ">i8", "|u1"])
def test_numpy_numbers_of_any_width_and_order(tmp_path: Path, dtype: str) -> None:
    np.save(tmp_path / "a.npy", np.array([3, 1], dtype))
    found = read_run(tmp_path / "a.npy", format="npy", dataset=DATASET)
    assert found.scores.tolist() == [3.0, 1.0]


@pytest.mark.parametrize("dtype", ["<U3", "|S3", "<c8", "<M8[s]", "|b1", "<f8,<f8"])
def test_what_is_no_number_of_numpys(tmp_path: Path, dtype: str) -> None:
    np.save(tmp_path / "a.npy", np.zeros(2, dtype))
    with pytest.raises(InputError, match=r"a.npy: an array of shape \(2,\) and type"):
        read_run(tmp_path / "a.npy", format="npy", dataset=DATASET)


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (exec, ("raise SystemExit('unpickled')",))

    np.save(tmp_path / "a.npy", np.array([Trap(), Trap()], object), allow_pickle=True)
    with pytest.raises(InputError) as error:
        read_run(tmp_path / "a.npy", format="npy", dataset=DATASET)
    assert str(error.value) == (
        f"{tmp_path / 'a.npy'}: holds Python objects\n"
        "  fix:   save plain numbers: np.save(path, scores.astype(float))"
    )
    file = io.BytesIO()
    np.savez(file, qids=np.array([Trap()], object), n=[1], scores=[1.0])
    (tmp_path / "a.npz").write_bytes(file.getvalue())
    with pytest.raises(InputError, match=r"a.npz: holds Python objects"):
        read_run(tmp_path / "a.npz", format="batch")
