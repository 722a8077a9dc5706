"""Print the findings of ``harness check --format json`` by team, without names of other runs."""

import csv
import json
import re
import sys
from pathlib import Path

with open(sys.argv[1]) as file:
    verdicts = json.load(file)["verdicts"]
with open(sys.argv[2]) as file:
    teams = {row["run"]: row["team"] for row in csv.DictReader(file)}
for verdict in verdicts:
    verdict["name"] = Path(verdict["run"]).name.partition(".")[0]
    verdict["team"] = teams.get(verdict["name"], "unknown team")
for verdict in sorted(verdicts, key=lambda verdict: verdict["team"]):
    if verdict["verdict"] != "OK":
        reason = re.sub("(as in|that of) [^;]*", r"\1 another run", verdict["reason"])
        print("{team}: {name}: {verdict}:".format(**verdict), reason)
