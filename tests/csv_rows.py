"""The rows of a CSV file, or of the text of one."""

import csv
import io
from pathlib import Path


def csv_rows(given: Path | str) -> list[dict[str, str]]:
    text = given if isinstance(given, str) else given.read_bytes().decode()
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
