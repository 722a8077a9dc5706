"""Text and numbers in every format: any script, any white space, every way to write a number."""

import json
import math
import re
from pathlib import Path

import pytest

from harness.core.qrels_and_runs import Qrels
from harness.errors import InputError
from harness.readers import read_qrels, read_run

SCRIPTS = (
    "документ", "文書", "مستند", "दस्तावेज़", "אבג", "😀", "e\u0301", "\u00e9", "d\u200b1",
    "\ufeffd", "d\u2028e", "d\u00a0e", "d\u0085e", "d\u3000e", "\x1cd", "=1+1", "𐀀", "\uffff",
)  # fmt: skip
"""One field each: none of these is white space to C."""


def written(folder: Path, data: bytes | str) -> Path:
    path = folder / "a"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize("name", SCRIPTS, ids=ascii)
def test_names_of_any_script(tmp_path: Path, name: str) -> None:
    run, quoted = {name: {name: 1.0, "x": 0.5}}, json.dumps(name)
    files = {
        "trec": f"{name} Q0 {name} 1 1 t\n{name} Q0 x 2 .5 t\n",
        "json": json.dumps(run, ensure_ascii=False),
        "jsonl": f'{{"qid":{quoted},"docno":{quoted},"score":1}}\n'
        f'{{"qid":{quoted},"docno":"x","score":0.5}}\n',
        "table": f'qid,docno,score\n"{name}","{name}",1\n"{name}",x,0.5\n',
    }
    for format, text in files.items():
        # a mark at the very beginning is the file's own
        path = written(tmp_path, ("\ufeff" if name[0] == "\ufeff" else "") + text)
        assert read_run(path, format=format).to_dict() == run, format
    path = written(tmp_path, f"2 qid:{name} 1:1 # {name}\n0 qid:{name} 1:1 # x\n")
    assert read_qrels(path, format="letor").to_dict() == {name: {name: 2, "x": 0}}


NAN = math.nan
NUMBERS: list[tuple[str, float, float | None]] = [
    # text; what a score is, NAN if it is refused; what it is in JSON if that differs
    ("12", 12, None), ("-0.0", -0.0, None), ("1E+3", 1000, None), ("1e-400", 0, None),
    ("4.9e-324", 5e-324, None), ("0.30000000000000004", 0.1 + 0.2, None),
    ("+1.5", 1.5, NAN), (".5", 0.5, NAN), ("5.", 5, NAN), ("007", 7, NAN),
    *((text, NAN, None) for text in (
        "1e400", "nan", "NaN", "nan(123)", "-Infinity", "0x1p3", "0b1", "1_000", "1.000,5", "1,5",
        "1'000", "1d3", "1f", "1e", "--1", "1-", "−1", "１２", "٣", "½", "1\u00a0000",
        "9" * 400, "true", "null",
    )),
]  # fmt: skip
DATASET = Qrels.from_dict({"1": {"A": 2, "B": 0}})
RUNS = {
    "trec": "1 Q0 A 1 {} t\n1 Q0 B 1 0.25 t\n",
    "scores": "{}\n0.25\n",
    "ranklib": "1\t0\t{}\n1\t1\t0.25\n",
    "table": "qid\tdocno\tscore\n1\tA\t{}\n1\tB\t0.25\n",
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


@pytest.mark.parametrize(("text", "expected", "in_json"), NUMBERS, ids=[n[0] for n in NUMBERS])
def test_numbers(tmp_path: Path, text: str, expected: float, in_json: float | None) -> None:
    for kind, templates in (("run", RUNS), ("qrels", QRELS)):
        for format, template in templates.items():
            value = in_json if format.startswith("json") and in_json is not None else expected
            path = written(tmp_path, template.format(text))
            if math.isnan(value):
                with pytest.raises(InputError) as error:
                    _read(path, kind, format)
                # the line; for a mapping the query and the docno
                place = rf"{re.escape(str(path))}:( query '1', docno 'A'|\d)"
                assert re.match(place, str(error.value)), format
                assert len(str(error.value)) < 2000
            else:
                found = _read(path, kind, format)
                sign = math.copysign(1, value if kind == "run" else abs(value))
                assert (found, math.copysign(1, found)) == (value, sign), format


def _read(path: Path, kind: str, format: str) -> float:
    if kind == "run":
        return read_run(path, format=format, dataset=DATASET).to_dict()["1"]["A"]
    return read_qrels(path, format=format).to_dict()["1"]["A"]
