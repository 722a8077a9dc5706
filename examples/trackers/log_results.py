"""Run the quickstart, then log its means: python log_results.py mlflow|wandb|json."""

import sys

import harness
from harness.experiment import export

results = harness.run("configs/quickstart.yaml")
tracker = sys.argv[1]
if tracker == "json":
    print(export.to_json(results))
else:
    print("logged to", export.log(results, tracker, "quickstart"))
